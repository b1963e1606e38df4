"""What a `<joint>` of MJCF says of a joint by itself: the reader and the writer agree on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.arrays import frozen
from bodymotion.links import Joint, JointType

if TYPE_CHECKING:
    from bodymotion.formats.xml_tree import Element

__all__ = ["plain_joint"]


def plain_joint(element: Element | None, link_name: str, number: int) -> Joint:
    """Make a joint of what our writer writes: lengths in metres and angles in radians, ranges that count. None is a fixed joint.

    `number` is the id of a joint that has one value.
    """
    if element is None:
        return Joint(name=link_name)
    if element.name == "freejoint":
        return Joint(name=element.get("name"), type="free")
    kind: JointType = "slide" if element.get("type") == "slide" else "rotate"
    lower, upper = element.numbers("range", 2, (-np.inf, np.inf))
    return Joint(
        name=element.get("name"),
        type=kind,
        id=number,
        axis=frozen(element.numbers("axis", 3, (0.0, 0.0, 1.0))),
        lower=lower,
        upper=upper,
        rotor_inertia=element.number("armature", 0.0),
    )
