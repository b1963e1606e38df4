"""The joints of a body, in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    Location,
    Rule,
    Severity,
    losses,
)
from bodymotion.formats.kept_json import (
    attributes_of,
    differences,
    dynamic_values,
    mjcf_values,
    usable,
)
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Item, Settings
from bodymotion.formats.mjcf.names import finite
from bodymotion.formats.xml.syntax import closest_name
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen, same
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, JointType, Link, armature, first_number
from bodymotion.model.rules import REVERSED_LIMITS

MAX_ID = 9999
# Attributes that are in `extra` under their names, in rad or m.
DYNAMICS = ("damping", "stiffness", "frictionloss", "springref", "margin")
_POSE = ("name", "class", "type", "pos", "axis")
_FIELDS = frozenset((*_POSE, "range", "limited", "armature", "ref", *DYNAMICS))

TYPES = {"hinge": "rotate", "slide": "slide", "ball": "ball", "free": "free"}
WRITTEN_TYPES = {"rotate": "hinge", "slide": "slide"}
# Joints that become fixed.
NOT_SUPPORTED = {
    # MuJoCo allows <freejoint> only in children of <worldbody>.
    "free": "is free below a link that moves",
    # A crawler is Choreonoid's joint for tracks: a surface moves, no link does.
    "crawler": "moves a belt",
}
# A shorter axis in a file has no direction.
MIN_AXIS = 1e-10
# MuJoCo refuses a shorter axis.
MIN_WRITTEN_AXIS = 1e-12
# How far a length is from 1 by rounding: such an axis is kept to the bit.
LENGTH_ROUNDING = 1e-12
# [rad or m] Limits in <custom> that differ by more were edited in the joint.
LIMIT_TOLERANCE = 1e-9


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


class Limits(NamedTuple):
    """The lower and the upper limit of a joint [rad or m]."""

    lower: float
    upper: float


def displacement(joint: Joint, value: float) -> Floats:
    """Return how a joint moves its link, as a pose (7,)."""
    # A slide moves the link along its axis, a hinge rotates it about the axis. Both are
    # in the frame of the link, as in MuJoCo.
    if joint.type == "slide":
        return poses.from_parts(value * joint.axis, rotations.IDENTITY)
    return poses.from_parts(np.zeros(3), rotations.from_axis_angle(joint.axis, value))


def ball_parts(name: str, attributes: Mapping[str, str]) -> list[Joint]:
    """Return the three joints that a ball joint is read as.

    Each keeps the attributes of the ball joint.
    """
    # The writer makes one ball joint again of three links that carry the same entry.
    extra = {"mjcf": {"ball": {"name": name, **attributes}}}
    return [
        Joint(
            name=f"{name or 'ball'}_{letter}",
            type="rotate",
            axis=frozen(axis),
            extra=extra,
        )
        for letter, axis in zip("xyz", np.eye(3), strict=True)
    ]


def read_joints(items: Sequence[Item], settings: Settings) -> list[JointRead]:
    """Return the joints of a body in the order in which they move it.

    Three for a ball joint.
    """
    joints: list[JointRead] = []
    for item in items:
        kind = _read_type(item.element)
        if kind == "free":
            joints.append(_read_free(item.element))
        elif kind == "ball":
            joints += _read_ball(item, settings)
        else:
            joints.append(_read_one_value(item, kind, settings))
    return joints


def _read_type(element: Element) -> str:
    """Return the type of a joint; a misspelled one as it is meant."""
    if element.name == "freejoint":
        return "free"
    kind = element.get("type", "hinge")
    if kind in TYPES:
        return kind
    message = f"a joint has the type {kind!r:.60}; expected one of {', '.join(TYPES)}"
    # A misspelled type is read as the type that it is closest to, so that the rest of
    # the model can be checked.
    element.report(rules.JOINT_TYPE, message, "type", fatal=True)
    meant = closest_name(kind, ("hinge", "slide"))
    if meant is not None:
        # The type is known after all: what follows from it is no guess.
        element.faulty -= {"type"}
    return meant or "hinge"


def _read_free(element: Element) -> JointRead:
    # A <freejoint> has no defaults; <joint type="free"> has, and may be damped.
    attributes = _without(element.attributes, ("name", "class", "pos", "axis"))
    extra: dict[str, object] = {"mjcf": attributes} if attributes else {}
    joint = Joint(name=element.get("name"), type="free", extra=extra)
    return JointRead(joint, np.zeros(3), 0.0, element)


def _without(attributes: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {key: value for key, value in attributes.items() if key not in names}


def _read_ball(item: Item, settings: Settings) -> list[JointRead]:
    """Return the three joints of a ball joint, which share its anchor."""
    element = item.element
    name = element.get("name")
    message = f"joint {name!r:.60} is a ball: it is read as three joints"
    anchor = _anchor(item)
    element.report(rules.BALL, message)
    attributes = _without(element.attributes, (*_POSE, "ref"))
    if "range" in attributes:
        # Kept in radians, because the writer's <compiler> has angle="radian".
        limits = np.array(element.numbers("range", 2))
        attributes["range"] = number_text(limits * settings.of(element).angle)
    parts = ball_parts(name, attributes)
    return [JointRead(part, anchor, 0.0, element) for part in parts]


def _anchor(item: Item) -> Floats:
    """Return the point (3,) that a joint rotates about, in the body's frame."""
    anchor = finite(item.element, "pos", 3, (0.0, 0.0, 0.0))
    # A <frame> has no body of its own: MuJoCo moves its contents into the body around
    # it.
    if item.frame is None:
        return anchor
    return poses.transform_points(item.frame, anchor)


def _read_one_value(item: Item, kind: str, settings: Settings) -> JointRead:
    """Read a joint that rotates or slides."""
    element = item.element
    settings = settings.of(element)
    joint_type: JointType = "rotate" if kind == "hinge" else "slide"
    unit = settings.angle if kind == "hinge" else 1.0
    anchor = _anchor(item)
    axis = _read_axis(item)
    limits = _read_limits(element, unit, settings)
    extra = _read_dynamics(element, unit)
    # What only MJCF has is kept as text.
    only_mjcf = _without(element.attributes, tuple(_FIELDS))
    # In qpos a joint has the value of ref where the body has the pose of the file.
    ref = element.number("ref", 0.0) * unit
    if ref:
        only_mjcf["ref"] = number_text(ref)
    # The effort range holds for the joint, whatever actuators act on it; a range that
    # is empty or in reverse order limits nothing.
    efforts: tuple[float, ...] = (0.0, 0.0)
    if "actuatorfrcrange" in element.attributes:
        efforts = element.numbers("actuatorfrcrange", 2)
    is_limited = element.get("actuatorfrclimited", "auto") != "false"
    if is_limited and efforts[0] < efforts[1]:
        extra["joint_effort_range"] = list(efforts)
    if only_mjcf:
        extra["mjcf"] = only_mjcf
    joint = Joint(
        name=element.get("name"),
        type=joint_type,
        axis=frozen(axis),
        lower=limits.lower,
        upper=limits.upper,
        rotor_inertia=element.number("armature", 0.0),
        extra=extra,
    )
    rest = float(finite(element, "ref", 1, (0.0,))[0]) * unit
    return JointRead(joint, anchor, rest, element)


def _read_axis(item: Item) -> Floats:
    """Return the axis (3,) in the body's frame.

    It has length 1, unless it is zero.
    """
    axis = finite(item.element, "axis", 3, (0.0, 0.0, 1.0))
    length = np.linalg.norm(axis)
    # A zero axis stays zero, for a rule to report; dividing by it would give NaN.
    if length < MIN_AXIS:
        axis = np.zeros(3)
    # `not <=` instead of `>`: an axis with NaN is divided too, and stays NaN.
    elif not abs(length - 1.0) <= LENGTH_ROUNDING:
        axis = axis / length
    if item.frame is None:
        return axis
    return rotations.rotate(rotations.normalized(item.frame[3:]), axis)


def _read_dynamics(element: Element, unit: float) -> dict[str, object]:
    """Return damping, stiffness and the like, as one number or several."""
    dynamics: dict[str, object] = {}
    for key in DYNAMICS:
        if key not in element.attributes:
            continue
        numbers = list(element.numbers(key))
        # The margin is no angle for MuJoCo's compiler, whatever its unit.
        if key == "springref":
            numbers = [number * unit for number in numbers]
        dynamics[key] = numbers[0] if len(numbers) == 1 else numbers
    return dynamics


def _read_limits(element: Element, unit: float, settings: Settings) -> Limits:
    """Return the limits that apply.

    Those of range, where limited is "true", or "auto" and the compiler has autolimits.
    """
    # MuJoCo's default 0 0 means "no range".
    low, high = element.numbers("range", 2, (0.0, 0.0))
    limited = element.get("limited", "auto")
    if limited not in ("true", "false", "auto"):
        message = f"limited of <joint> is {limited!r:.60}; expected true, false or auto"
        element.wrong(message, "limited")
    if low > high:
        _report_reversed(element, Limits(low, high), unit, limited)
    is_off = limited == "auto" and not settings.autolimits
    # MuJoCo ignores a range in reverse order.
    if low >= high or limited == "false" or is_off:
        return Limits(-np.inf, np.inf)
    return Limits(low * unit, high * unit)


def _report_reversed(
    element: Element, limits: Limits, unit: float, limited: str
) -> None:
    """Report a range in reverse order: an error where MuJoCo refuses it."""
    message = (
        f"the range of joint {element.get('name')!r:.60} is {limits.lower:g} "
        f"{limits.upper:g}; expected the lower limit first"
    )
    hint = (
        'MuJoCo refuses the model where limited="true", and ignores the range '
        "elsewhere; swap the limits if they are exchanged"
    )
    data = {"lower": limits.lower * unit, "upper": limits.upper * unit}
    severity: Severity | None = None
    if limited == "true":
        severity = "error"
        element.faulty |= {"range"}
    element.report(
        REVERSED_LIMITS, message, "range", hint=hint, severity=severity, data=data
    )


def with_kept(joint: Joint, kept: object) -> Joint:
    """Return a joint with the fields that <custom> keeps of it.

    Armature in the <joint> itself takes precedence.
    """
    if not isinstance(kept, dict):
        return joint
    whole = replace(joint, **_usable_values(joint, kept))
    # Armature is rotor inertia times gear ratio². The file holds this product, <custom>
    # its factors: they apply as long as the product is that of the file.
    inertia = armature(joint)
    kept_inertia = armature(whole)
    is_same = np.isclose(kept_inertia, inertia, rtol=1e-9, atol=0.0)
    if joint.type not in ("rotate", "slide") or is_same or not kept_inertia >= 0:
        return whole
    # The armature was edited: it is that of the rotor behind the gear.
    gear = whole.gear_ratio or 1.0
    extra = {
        key: value for key, value in whole.extra.items() if key != "equivalentInertia"
    }
    return replace(whole, rotor_inertia=inertia / gear**2, extra=extra)


def _usable_values(joint: Joint, kept: dict[str, object]) -> dict[str, Any]:
    """Return the kept fields of a joint that its element does not contradict."""
    # The element says how a joint moves, but not that a fixed one is a crawler.
    skip = () if joint.type in ("fixed", "free") else ("type",)
    values = usable(joint, kept, skip=skip)
    # An edited id could be anything; -1 is the id of a joint without a column.
    if not -1 <= values.get("id", -1) <= MAX_ID:
        del values["id"]
    if "extra" in values:
        without = kept.get("without")
        # `without` names the entries that the element gives but the body did not have.
        removed = without if isinstance(without, list) else []
        in_file = {
            key: value for key, value in joint.extra.items() if key not in removed
        }
        values["extra"] = {**values["extra"], **in_file}
    if np.isinf(joint.lower) and np.isinf(joint.upper):
        # The element of a joint with reversed limits has none.
        return values
    for name in ("lower", "upper"):
        limit = getattr(joint, name)
        if name in values and abs(values[name] - limit) > LIMIT_TOLERANCE:
            del values[name]
    return values


def joint_element(
    link: Link, name: str, problems: Diagnostics, *, top: bool
) -> Element | None:
    """Return the joint of a link, which may be in the world (`top`).

    None where it is fixed to its parent. Losses go to `problems`.
    """
    # The root is fixed to the world or free in it; its joint has no other type in MJCF.
    if link.parent < 0 or (top and link.joint.type == "free"):
        return _free_element(link.joint, name)
    lost = _JointLosses(link, problems)
    joint = link.joint
    if joint.type in NOT_SUPPORTED:
        reason = "MuJoCo has no such joint"
        if joint.type == "free":
            reason = "MuJoCo has free joints only in the world"
        lost.add(
            losses.JOINT_KIND,
            f"{NOT_SUPPORTED[joint.type]}; {reason}: it is written as fixed",
        )
    if joint.type not in WRITTEN_TYPES:
        return None
    only_mjcf = mjcf_values(joint.extra)
    # A whole ball joint is written by `LinkWriter._write_ball` and does not come here.
    if "ball" in only_mjcf:
        lost.add(
            losses.JOINT_KIND,
            "was a part of a ball joint whose other parts were removed: it is written "
            "as a hinge",
        )
    attributes = {
        "name": name,
        "type": WRITTEN_TYPES[joint.type],
        "axis": number_text(joint.axis),
    }
    if not np.linalg.norm(joint.axis) > MIN_WRITTEN_AXIS:
        attributes["axis"] = "0 0 1"
        lost.add(losses.EFFECT, "has the axis 0 0 0: it is written as 0 0 1")
    # Limits in <joint> apply without `limited`, as <compiler> has autolimits="true".
    limits = joint_limits(joint)
    if limits is not None:
        attributes["range"] = number_text(limits)
    elif np.isfinite([joint.lower, joint.upper]).any():
        problem = losses.EFFECT.problem(
            f"the lower limit of joint {joint.name}, {joint.lower:g}, is above the "
            f"upper, {joint.upper:g}: the limits are left out",
            lost.location,
        )
        problems.add(problem)
    rotor_inertia = armature(joint)
    # MuJoCo's default is 0.
    if 0 < rotor_inertia < np.inf:
        attributes["armature"] = number_text(rotor_inertia)
    attributes |= _dynamics(joint, problems, lost.location)
    # What was kept of an MJCF file must not replace what the body holds now.
    written = ("ball", "type", "pos", *attributes)
    others = {key: value for key, value in only_mjcf.items() if key not in written}
    return Element("joint", {**attributes, **attributes_of(others)})


class _JointLosses:
    """Records what a file does not hold of the joint of a link."""

    def __init__(self, link: Link, problems: Diagnostics) -> None:
        self.name = link.joint.name
        self.location = Location(inside=f"links[{link.index}]")
        self.problems = problems

    def add(self, rule: Rule, message: str) -> None:
        self.problems.add(rule.problem(f"joint {self.name} {message}", self.location))


def _free_element(joint: Joint, name: str) -> Element | None:
    """Return the joint of a link in the world.

    None where it is fixed.
    """
    if joint.type != "free":
        return None
    attributes = attributes_of(mjcf_values(joint.extra))
    attributes.pop("name", None)
    # Only <joint type="free"> may have damping and the like.
    tag = "joint" if attributes.get("type") == "free" else "freejoint"
    return Element(tag, {"name": name, **attributes})


def _dynamics(
    joint: Joint, problems: Diagnostics, location: Location
) -> dict[str, str]:
    """Return damping and the like as attributes; what MuJoCo refuses is a loss."""
    attributes: dict[str, str] = {}
    # `friction` of URDF is the frictionloss of MJCF.
    friction = {"frictionloss": joint.extra.get("friction")}
    values: dict[str, object] = {**friction, **dynamic_values(joint.extra)}
    for key in DYNAMICS:
        value = values.get(key)
        if value is None:
            continue
        # A spring may rest at any value; the others are sizes.
        minimum = -np.inf if key == "springref" else 0.0
        try:
            # One number or several, as `_read_dynamics` reads them; `extra` may hold
            # anything.
            numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        is_vector = numbers.ndim == 1 and len(numbers) > 0
        if is_vector and np.isfinite(numbers).all() and (numbers >= minimum).all():
            attributes[key] = number_text(numbers)
        else:
            message = (
                f"{key} of joint {joint.name} is {value!r:.60}, which MuJoCo refuses: "
                "it is left out"
            )
            problems.add(losses.EFFECT.problem(message, location))
    return attributes


def rest_of(joint: Joint) -> float:
    """Return the value of a joint in the pose of the file (`ref`)."""
    rest = first_number(mjcf_values(joint.extra), "ref") or 0.0
    if np.isfinite(rest) and joint.type in WRITTEN_TYPES:
        return rest
    return 0.0


def at_rest(joint: Joint, offset: Floats) -> Floats:
    """Return the pose (7,) of a link in its parent at `ref`."""
    # The pose in the file is that at `ref`, `offset` that at 0.
    rest = rest_of(joint)
    if rest:
        return poses.compose(offset, displacement(joint, rest))
    return offset


def joint_limits(joint: Joint) -> Limits | None:
    """Return the limits of a joint for MuJoCo, None where there are none.

    MuJoCo ignores equal limits: the upper one is then the next larger number.
    """
    lower = joint.lower
    upper = joint.upper
    limits = [lower, upper]
    if np.isnan(limits).any() or lower > upper or not np.isfinite(limits).any():
        return None
    if lower == upper:
        upper = float(np.nextafter(upper, np.inf))
    return Limits(lower, upper)


def kept_of_joint(joint: Joint, read_back: Joint) -> dict[str, object]:
    """Return the fields of a joint that <custom> keeps.

    They differ from those that its element gives.
    """
    kept = differences(joint, read_back, skip=("extra",))
    ours = joint.extra
    theirs = read_back.extra
    # Values under "mjcf" are written as attributes.
    equal = {"mjcf"}
    for key in ours.keys() & theirs.keys():
        if same(ours[key], theirs[key]):
            equal.add(key)
    if not ours.keys() | theirs.keys() <= equal:
        kept["extra"] = {key: value for key, value in ours.items() if key not in equal}
    without = [key for key in theirs if key not in equal]
    if without:
        kept["without"] = without
    return kept


def ball_starts(body: Body, indices: Sequence[int]) -> set[int]:
    """Return the first of each three links that were a ball joint."""
    starts: set[int] = set()
    for index in indices:
        # The three links of a ball follow one another; a link within one starts no
        # other.
        is_within = bool(starts & {index - 1, index - 2})
        if index + 2 in indices and not is_within and _is_ball(body, index):
            starts.add(index)
    return starts


def _is_ball(body: Body, start: int) -> bool:
    """Return whether three links still move as a ball joint."""
    links = body.links[start : start + 3]
    balls = [mjcf_values(link.joint.extra).get("ball") for link in links]
    if not isinstance(balls[0], Mapping) or balls != [balls[0]] * 3:
        return False
    # The axes of a ball meet in one point: the second and third link have no offset.
    if any(link.offset[:3].any() for link in links[1:]):
        return False
    # In order the axes are x, y and z, as `ball_parts` makes them.
    return all(
        link.joint.type == "rotate" and np.array_equal(link.joint.axis, axis)
        for link, axis in zip(links, np.eye(3), strict=True)
    )
