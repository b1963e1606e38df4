"""What a `<joint>` of MJCF says of a joint by itself: the reader and the writer agree on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Joint, JointType

if TYPE_CHECKING:
    from bodymotion.formats.xml.tree import Element

__all__ = ["DYNAMICS", "ball_parts", "beyond", "plain_joint", "unit_axis"]

DYNAMICS = ("damping", "stiffness", "frictionloss", "springref", "margin")
"""Attributes that a Joint has no field for, kept in `extra` under their names, in rad or m."""
_TOLD = frozenset(("name", "class", "type", "pos", "axis", "range", "limited", "armature", "ref", *DYNAMICS))


def unit_axis(axis: Floats) -> Floats:
    """Bring an axis that has a length to length 1; one that has it already stays as it is."""
    length = np.linalg.norm(axis)
    return axis if abs(length - 1.0) <= 1e-12 else axis / length


def beyond(element: Element, unit: float) -> dict[str, object]:
    """Return what a `<joint>` of one value says beyond the fields of a Joint, as its `extra`.

    What MJCF alone has stands under "mjcf", as text; `unit` is what an angle of 1 is in radians, or 1.
    """
    extra: dict[str, object] = {}
    for key in DYNAMICS:
        if key in element.attributes:
            numbers = element.numbers(key)
            # The margin is no angle for MuJoCo's compiler, whatever its unit.
            value = [number * unit for number in numbers] if key == "springref" else list(numbers)
            extra[key] = value[0] if len(value) == 1 else value
    alone = {key: value for key, value in element.attributes.items() if key not in _TOLD}
    rest = element.number("ref", 0.0) * unit
    if rest:
        alone["ref"] = number_text(rest)
    forces = element.numbers("actuatorfrcrange", 2) if "actuatorfrcrange" in element.attributes else (0.0, 0.0)
    if forces[0] < forces[1] and element.get("actuatorfrclimited", "auto") != "false":
        extra["joint_effort_range"] = list(forces)
    if alone:
        extra["mjcf"] = alone
    return extra


def ball_parts(name: str, attributes: dict[str, str]) -> list[Joint]:
    """Return the three joints that stand for a ball joint; what the file says of it is with each."""
    said = {"name": name, **attributes}
    return [
        Joint(name=f"{name or 'ball'}_{letter}", type="rotate", axis=frozen(axis), extra={"mjcf": {"ball": said}})
        for letter, axis in zip("xyz", np.eye(3), strict=True)
    ]


def plain_joint(element: Element | None, link_name: str, number: int) -> Joint:
    """Make a joint of what our writer writes: lengths in metres and angles in radians, ranges that count. None is a fixed joint.

    `number` is the id of a joint that has one value.
    """
    if element is None:
        return Joint(name=link_name)
    if element.name == "freejoint" or element.get("type") == "free":
        alone = {key: value for key, value in element.attributes.items() if key != "name"}
        return Joint(name=element.get("name"), type="free", extra={"mjcf": alone} if alone else {})
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
        extra=beyond(element, 1.0),
    )
