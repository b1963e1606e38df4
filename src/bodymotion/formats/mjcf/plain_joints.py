"""What a `<joint>` of MJCF says of a joint by itself: the reader and the writer agree on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.arrays import Floats, frozen
from bodymotion.links import Joint, JointType

if TYPE_CHECKING:
    from bodymotion.formats.xml_tree import Element

__all__ = ["plain_joint", "unit_axis"]


def unit_axis(axis: Floats) -> Floats:
    """Bring an axis that has a length to length 1; one that has it already stays as it is."""
    length = np.linalg.norm(axis)
    return axis if abs(length - 1.0) <= 1e-12 else axis / length


def plain_joint(element: Element | None, link_name: str, number: int) -> Joint:
    """Make a joint of what our writer writes: lengths in metres and angles in radians, ranges that count. None is a fixed joint.

    `number` is the id of a joint that has one value.
    """
    if element is None:
        return Joint(name=link_name)
    if element.name == "freejoint":
        return Joint(name=element.get("name"), type="free")
    kind: JointType = "slide" if element.get("type") == "slide" else "rotate"
    axis = np.array(element.numbers("axis", 3, (0.0, 0.0, 1.0)))
    lower, upper = element.numbers("range", 2, (-np.inf, np.inf))
    return Joint(
        name=element.get("name"),
        type=kind,
        id=number,
        axis=frozen(unit_axis(axis)),
        lower=lower,
        upper=upper,
        rotor_inertia=element.number("armature", 0.0),
    )
