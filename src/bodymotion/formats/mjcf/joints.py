"""Joints of MJCF as joints of a Body."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.frames import Item, finite
from bodymotion.formats.mjcf.plain_joints import ball_parts, beyond, unit_axis
from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Joint, JointType
from bodymotion.model.motors import armature

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.mjcf.settings import Settings
    from bodymotion.formats.xml.tree import Element

__all__ = ["JointRead", "read_joints", "with_kept"]

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


def read_joints(items: list[Item], settings: Settings, problems: list[Problem]) -> list[JointRead]:
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
            element.fault(rules.JOINT_TYPE, f"the type of a joint is {kind!r:.60}, none of {', '.join(TYPES)}", "type")
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
            problems.append(
                rules.BALL.problem(f"joint {name!r:.60} is a ball: it is read as three joints", element.location)
            )
            for part in ball_parts(name, _of_ball(element, settings)):
                found.append(JointRead(part, anchor, 0.0, element))
            continue
        found.append(_of_one_value(item, "rotate" if kind == "hinge" else "slide", anchor, settings, problems))
    return found


def _of_ball(element: Element, settings: Settings) -> dict[str, str]:
    """Return the attributes of a ball joint that are not of its place, angles in radians."""
    said = {k: v for k, v in element.attributes.items() if k not in ("name", "class", "type", "pos", "axis", "ref")}
    if "range" in said:
        said["range"] = number_text(np.array(element.numbers("range", 2)) * settings.angle)
    return said


def _of_one_value(
    item: Item, kind: JointType, anchor: Floats, settings: Settings, problems: list[Problem]
) -> JointRead:
    element = item.element
    unit = settings.angle if kind == "rotate" else 1.0
    axis = finite(element, "axis", 3, (0.0, 0.0, 1.0))
    if np.linalg.norm(axis) < 1e-10:
        element.fault(rules.AXIS, f"the axis of joint {element.get('name')!r:.60} is zero", "axis")
        axis = np.array([0.0, 0.0, 1.0])
    axis = unit_axis(axis)
    if item.frame is not None:
        axis = rotations.rotate(rotations.normalized(item.frame[3:]), axis)
    lower, upper = _limits(element, unit, settings, problems)
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


def _limits(element: Element, unit: float, settings: Settings, problems: list[Problem]) -> tuple[float, float]:
    """Return the limits that hold: those of a range where `limited` is true, or auto and the range is one."""
    low, high = element.numbers("range", 2, (0.0, 0.0))
    limited = element.get("limited", "auto")
    if limited not in ("true", "false", "auto"):
        element.wrong(f"limited of <joint> is {limited!r:.60}, not true, false or auto", "limited")
    given = low < high
    if "range" in element.attributes and low > high:
        words = f"the range of joint {element.get('name')!r:.60} is {low:g} {high:g}: it has no limits"
        said = rules.LIMITS.problem(words, element.place("range"))
        # MuJoCo passes over such a range, unless it is told that there are limits.
        problems.append(replace(said, severity="error") if limited == "true" else said)
    if not given or limited == "false" or (limited == "auto" and not settings.autolimits):
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
