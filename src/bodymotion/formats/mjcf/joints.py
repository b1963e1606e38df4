"""Joints of MJCF as joints of a Body, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.kept_json import usable
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Item, Settings, finite
from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Joint, JointType
from bodymotion.model.motors import armature

if TYPE_CHECKING:
    from bodymotion.formats.xml.tree import Element

MAX_ID = 9999
DYNAMICS = ("damping", "stiffness", "frictionloss", "springref", "margin")
"""Attributes that a Joint has no field for, kept in `extra` under their names, in rad or m."""
_FIELDS = frozenset(("name", "class", "type", "pos", "axis", "range", "limited", "armature", "ref", *DYNAMICS))


def unit_axis(axis: Floats) -> Floats:
    """Return an axis with length 1; one that has it already is kept to the bit."""
    length = np.linalg.norm(axis)
    return axis if abs(length - 1.0) <= 1e-12 else axis / length


def joint_extra(element: Element, unit: float) -> dict[str, object]:
    """Return the attributes of a `<joint>` with one value that a Joint has no field for, as its `extra`.

    Those that only MJCF has are under "mjcf", as text. `unit` is an angle of 1 in radians, or 1 for lengths.
    """
    extra: dict[str, object] = {}
    for key in DYNAMICS:
        if key in element.attributes:
            numbers = element.numbers(key)
            # The margin is no angle for MuJoCo's compiler, whatever its unit.
            value = [number * unit for number in numbers] if key == "springref" else list(numbers)
            extra[key] = value[0] if len(value) == 1 else value
    rest_attributes = {key: value for key, value in element.attributes.items() if key not in _FIELDS}
    rest = element.number("ref", 0.0) * unit
    if rest:
        rest_attributes["ref"] = number_text(rest)
    forces = element.numbers("actuatorfrcrange", 2) if "actuatorfrcrange" in element.attributes else (0.0, 0.0)
    if forces[0] < forces[1] and element.get("actuatorfrclimited", "auto") != "false":
        extra["joint_effort_range"] = list(forces)
    if rest_attributes:
        extra["mjcf"] = rest_attributes
    return extra


def ball_parts(name: str, attributes: dict[str, str]) -> list[Joint]:
    """Return the three joints that a ball joint is read as; each keeps the attributes of the ball joint."""
    attributes_of_ball = {"name": name, **attributes}
    return [
        Joint(
            name=f"{name or 'ball'}_{letter}",
            type="rotate",
            axis=frozen(axis),
            extra={"mjcf": {"ball": attributes_of_ball}},
        )
        for letter, axis in zip("xyz", np.eye(3), strict=True)
    ]


def plain_joint(element: Element | None, link_name: str, number: int) -> Joint:
    """Return the joint that the reader makes of an element of our writer, with angles in radians; of None a fixed joint.

    `number` is the id of a joint with one value.
    """
    if element is None:
        return Joint(name=link_name)
    (read,) = read_joints([Item(element, None, "")], Settings(angle=1.0))
    return read.joint if read.joint.type == "free" else replace(read.joint, id=number)


TYPES = {"hinge": "rotate", "slide": "slide", "ball": "ball", "free": "free"}


@dataclass(frozen=True)
class JointRead:
    """A joint of one value.

    Attributes
    ----------
    anchor:
        (3,) [m] The point that it rotates about, in the body's frame.
    rest:
        [rad or m] Its value where the body has the pose of the file (`ref`).
    """

    joint: Joint
    anchor: Floats
    rest: float
    element: Element


def read_joints(items: list[Item], settings: Settings) -> list[JointRead]:
    """Return the joints of a body in the order in which they move it; three for a ball joint."""
    found: list[JointRead] = []
    for item in items:
        element = item.element
        kind = "free" if element.name == "freejoint" else element.get("type", "hinge")
        if kind not in TYPES:
            element.report(
                rules.JOINT_TYPE,
                f"a joint has the type {kind!r:.60}; expected one of {', '.join(TYPES)}",
                "type",
                fatal=True,
            )
            kind = "hinge"
        name = element.get("name")
        if kind == "free":
            # A <freejoint> has no defaults; <joint type="free"> has, and may be damped.
            rest_attributes = {
                key: value for key, value in element.attributes.items() if key not in ("name", "class", "pos", "axis")
            }
            joint = Joint(name=name, type="free", extra={"mjcf": rest_attributes} if rest_attributes else {})
            found.append(JointRead(joint, np.zeros(3), 0.0, element))
            continue
        anchor = finite(element, "pos", 3, (0.0, 0.0, 0.0))
        if item.frame is not None:
            anchor = poses.transform_points(item.frame, anchor)
        if kind == "ball":
            element.report(rules.BALL, f"joint {name!r:.60} is a ball: it is read as three joints")
            for part in ball_parts(name, _of_ball(element, settings)):
                found.append(JointRead(part, anchor, 0.0, element))
            continue
        found.append(_of_one_value(item, "rotate" if kind == "hinge" else "slide", anchor, settings))
    return found


def _of_ball(element: Element, settings: Settings) -> dict[str, str]:
    """Return the attributes of a ball joint without those of its pose, angles in radians."""
    attributes_of_ball = {
        k: v for k, v in element.attributes.items() if k not in ("name", "class", "type", "pos", "axis", "ref")
    }
    if "range" in attributes_of_ball:
        attributes_of_ball["range"] = number_text(np.array(element.numbers("range", 2)) * settings.angle)
    return attributes_of_ball


def _of_one_value(item: Item, kind: JointType, anchor: Floats, settings: Settings) -> JointRead:
    element = item.element
    unit = settings.angle if kind == "rotate" else 1.0
    axis = finite(element, "axis", 3, (0.0, 0.0, 1.0))
    axis = np.zeros(3) if np.linalg.norm(axis) < 1e-10 else unit_axis(axis)
    if item.frame is not None:
        axis = rotations.rotate(rotations.normalized(item.frame[3:]), axis)
    lower, upper = _limits(element, unit, settings)
    extra = joint_extra(element, unit)
    joint = Joint(
        name=element.get("name"),
        type=kind,
        axis=frozen(axis),
        lower=lower,
        upper=upper,
        rotor_inertia=element.number("armature", 0.0),
        extra=extra,
    )
    rest = float(finite(element, "ref", 1, (0.0,))[0]) * unit
    return JointRead(joint, anchor, rest, element)


def _limits(element: Element, unit: float, settings: Settings) -> tuple[float, float]:
    """Return the limits that apply: those of range, where limited is "true", or "auto" and the compiler has autolimits."""
    low, high = element.numbers("range", 2, (0.0, 0.0))
    limited = element.get("limited", "auto")
    if limited not in ("true", "false", "auto"):
        element.wrong(f"limited of <joint> is {limited!r:.60}; expected true, false or auto", "limited")
    if low > high:
        message = f"the range of joint {element.get('name')!r:.60} is {low:g} {high:g}; expected the lower limit first"
        element.report(rules.LIMITS, message, "range", severity="error" if limited == "true" else None)
        if limited == "true":
            element.faulty |= {"range"}
    # MuJoCo ignores a range in reverse order.
    if low >= high or limited == "false" or (limited == "auto" and not settings.autolimits):
        return -np.inf, np.inf
    return low * unit, high * unit


def with_kept(joint: Joint, kept: object) -> Joint:
    """Return a joint with the fields that <custom> keeps of it; armature in the <joint> itself takes precedence."""
    if not isinstance(kept, dict):
        return joint
    values = usable(joint, kept, skip=() if joint.type in ("fixed", "free") else ("type",))
    if not -1 <= values.get("id", -1) <= MAX_ID:
        del values["id"]
    if "extra" in values:
        without = kept.get("without")
        gone = {key for key in without if isinstance(key, str)} if isinstance(without, list) else set()
        left = {key: value for key, value in joint.extra.items() if key not in gone}
        values["extra"] = {**values["extra"], **left}
    inertia = armature(joint)
    if joint.lower > -np.inf or joint.upper < np.inf:
        for name in ("lower", "upper"):
            if name in values and abs(values[name] - getattr(joint, name)) > 1e-9:
                del values[name]
    whole = replace(joint, **values)
    if (
        joint.type in ("rotate", "slide")
        and not np.isclose(armature(whole), inertia, rtol=1e-9, atol=0.0)
        and armature(whole) >= 0
    ):
        gear = whole.gear_ratio or 1.0
        extra = {key: value for key, value in whole.extra.items() if key != "equivalentInertia"}
        whole = replace(whole, rotor_inertia=inertia / gear**2, extra=extra)
    return whole
