"""Joints of MJCF as joints of a Body, and back."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Item, finite
from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Joint, JointType
from bodymotion.model.motors import armature

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.defaults import Settings
    from bodymotion.formats.xml.tree import Element

__all__ = ["DYNAMICS", "JointRead", "ball_parts", "beyond", "plain_joint", "read_joints", "unit_axis", "with_kept"]

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


TYPES = {"hinge": "rotate", "slide": "slide", "ball": "ball", "free": "free"}


@dataclass(frozen=True)
class JointRead:
    """A joint of one value: `anchor` (3,) is the point it turns about, in the body's frame, and `rest` the value at which the body is where
    its pose says.
    """

    joint: Joint
    anchor: Floats
    rest: float
    element: Element


def read_joints(items: list[Item], settings: Settings) -> list[JointRead]:
    """Return the joints of a body in the order in which they move it; of a ball joint three.

    Raises
    ------
    FormatError
        For a type that MJCF does not have, an axis without length, and numbers that are none.
    """
    found: list[JointRead] = []
    for item in items:
        element = item.element
        kind = "free" if element.name == "freejoint" else element.get("type", "hinge")
        if kind not in TYPES:
            element.report(
                rules.JOINT_TYPE, f"the type of a joint is {kind!r:.60}, none of {', '.join(TYPES)}", "type", fatal=True
            )
            kind = "hinge"
        name = element.get("name")
        if kind == "free":
            # A <freejoint> takes no defaults of joints; <joint type="free"> does, and may be damped.
            alone = {
                key: value for key, value in element.attributes.items() if key not in ("name", "class", "pos", "axis")
            }
            joint = Joint(name=name, type="free", extra={"mjcf": alone} if alone else {})
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
    """Return the attributes of a ball joint that are not of its place, angles in radians."""
    said = {k: v for k, v in element.attributes.items() if k not in ("name", "class", "type", "pos", "axis", "ref")}
    if "range" in said:
        said["range"] = number_text(np.array(element.numbers("range", 2)) * settings.angle)
    return said


def _of_one_value(item: Item, kind: JointType, anchor: Floats, settings: Settings) -> JointRead:
    element = item.element
    unit = settings.angle if kind == "rotate" else 1.0
    axis = finite(element, "axis", 3, (0.0, 0.0, 1.0))
    axis = np.zeros(3) if np.linalg.norm(axis) < 1e-10 else unit_axis(axis)
    if item.frame is not None:
        axis = rotations.rotate(rotations.normalized(item.frame[3:]), axis)
    lower, upper = _limits(element, unit, settings)
    extra = beyond(element, unit)
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
        element.wrong(f"limited of <joint> is {limited!r:.60}, not true, false or auto", "limited")
    if low > high and limited == "true":
        message = f"the range of joint {element.get('name')!r:.60} is {low:g} {high:g}; expected the lower limit first"
        element.report(rules.LIMITS, message, "range")
        element.faulty |= {"range"}
        return -np.inf, np.inf
    # MuJoCo ignores a range in reverse order elsewhere; it is kept as read, and BODY112 reports it.
    if low == high or limited == "false" or (limited == "auto" and not settings.autolimits):
        return -np.inf, np.inf
    return low * unit, high * unit


def with_kept(joint: Joint, kept: object) -> Joint:
    """Return a joint with the fields that the file keeps of it beside; what the file itself says of a motor's inertia counts more."""
    if not isinstance(kept, dict):
        return joint
    given: dict[str, object] = {}
    for field in fields(Joint):
        value = kept.get(field.name)
        default = getattr(joint, field.name)
        if isinstance(default, float) and isinstance(value, (int, float)) and not isinstance(value, bool):
            given[field.name] = float(value)
        elif field.name == "axis" and isinstance(value, list) and len(value) == 3:
            numbers = [float(n) for n in value if isinstance(n, (int, float))]
            if len(numbers) == 3 and np.isfinite(numbers).all():
                given["axis"] = frozen(numbers)
        elif (field.name == "name" and isinstance(value, str)) or (field.name == "extra" and isinstance(value, dict)):
            given[field.name] = value
        elif field.name == "id" and isinstance(value, int) and not isinstance(value, bool) and -1 <= value <= 9999:
            given["id"] = value
        elif (
            field.name == "type"
            and value in ("rotate", "slide", "free", "fixed", "crawler")
            and joint.type in ("fixed", "free")
        ):
            given["type"] = value
    if "extra" in given:
        without = kept.get("without")
        gone = {key for key in without if isinstance(key, str)} if isinstance(without, list) else set()
        left = {key: value for key, value in joint.extra.items() if key not in gone}
        given["extra"] = {**given["extra"], **left}  # type: ignore[dict-item]
    told = armature(joint)
    if joint.lower > -np.inf or joint.upper < np.inf:
        for name in ("lower", "upper"):
            if name in given and abs(float(given[name]) - getattr(joint, name)) > 1e-9:  # type: ignore[arg-type]
                del given[name]
    whole = replace(joint, **given)  # type: ignore[arg-type]
    if (
        joint.type in ("rotate", "slide")
        and not np.isclose(armature(whole), told, rtol=1e-9, atol=0.0)
        and armature(whole) >= 0
    ):
        gear = whole.gear_ratio or 1.0
        extra = {key: value for key, value in whole.extra.items() if key != "equivalentInertia"}
        whole = replace(whole, rotor_inertia=told / gear**2, extra=extra)
    return whole
