"""The Joint node: a link's joint, and where the link is in its parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.faults import fault
from bodymotion.formats.openhrp import values
from bodymotion.formats.openhrp.rules import (
    CENTER,
    ID_RANGE,
    JOINT_TYPE,
    LIMITS,
    MOTOR,
    NO_AXIS,
    NO_NAME,
    OBSOLETE,
    SEVERAL_LIMITS,
)
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.nodes import Node
from bodymotion.geometry.arrays import frozen
from bodymotion.model.links import Joint, JointType

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem

__all__ = ["read_joint"]

TYPES: dict[str, JointType] = {
    "rotate": "rotate",
    "slide": "slide",
    "free": "free",
    "fixed": "fixed",
    "crawler": "crawler",
    # Not in the document, but in files: other names of the same thing.
    "pseudoContinuousTrack": "crawler",
    "agx_crawler": "crawler",
}

USED = {
    "translation",
    "rotation",
    "children",
    "jointId",
    "gearRatio",
    "gearEfficiency",
    "rotorInertia",
    "rotorResistor",
    "torqueConst",
    "encoderPulse",
}
"""Fields that are read into `Joint` and `Link` as they are; the others are kept beside, or where more than one number was given."""

HIGHEST_ID = 9999
DEFAULT = Joint()


def read_joint(node: Node, problems: list[Problem]) -> Joint:
    """Make a joint of a Joint node.

    Raises
    ------
    FormatError
        When jointType is none of the known ones.
    """
    title = values.label(node)
    if not node.name:
        problems.append(NO_NAME.problem("a Joint has no name", node.location))
    extra = values.rest(node, USED)
    kind = access.text(node, "jointType")
    if kind not in TYPES:
        shown = (kind.splitlines() or [""])[0][:40]
        wrong = (
            f"jointType of {title} is {shown!r}, none of {', '.join(TYPES)}" if kind else f"{title} has no jointType"
        )
        fault(problems, JOINT_TYPE.error(wrong, node.location_of("jointType")))
        kind = "rotate"
    if TYPES[kind] == kind:
        extra.pop("jointType", None)
    else:
        extra["jointType"] = kind
    number = _id(node, problems)
    axis = values.axis(node, (0.0, 0.0, 1.0), problems)
    given = extra.pop("jointAxis", None)
    if isinstance(given, np.ndarray) and given.shape == (3,) and not np.array_equal(given, axis):
        extra["jointAxis"] = given
    if not axis.any():
        if TYPES[kind] in ("rotate", "slide"):
            problems.append(NO_AXIS.problem(f"jointAxis of {title} is 0 0 0", node.location_of("jointAxis")))
        axis = frozen([0.0, 0.0, 1.0])
    limits = {name: _limit(node, name, default, extra, problems) for name, default in _LIMITS.items()}
    for low, high in (("llimit", "ulimit"), ("lvlimit", "uvlimit")):
        if limits[low] > limits[high]:
            wrong = (
                f"the lower limit of {title}, {low} {limits[low]:g}, is above the upper one, {high} {limits[high]:g}"
            )
            swapped = f"are the two swapped? {low} is the lower one"
            problems.append(LIMITS.problem(wrong, node.location_of(low), swapped))
    _unused(node, extra, problems)
    return Joint(
        name=node.name,
        type=TYPES[kind],
        id=number,
        axis=axis,
        lower=limits["llimit"],
        upper=limits["ulimit"],
        velocity_lower=limits["lvlimit"],
        velocity_upper=limits["uvlimit"],
        extra=extra,
        **_motor(node, problems),
    )


_LIMITS = {"llimit": -np.inf, "ulimit": np.inf, "lvlimit": -np.inf, "uvlimit": np.inf, "climit": np.inf}


def _id(node: Node, problems: list[Problem]) -> int:
    number = access.integer(node, "jointId", -1)
    values.say_more(node, "jointId", 1, problems)
    if -1 <= number <= HIGHEST_ID:
        return number
    problems.append(
        ID_RANGE.problem(
            f"jointId of {values.label(node)} is {number}, neither -1 nor a number from 0 on",
            node.location_of("jointId"),
        )
    )
    return -1


def _limit(node: Node, name: str, default: float, extra: dict[str, object], problems: list[Problem]) -> float:
    """Return the first number of a limit; empty is none."""
    given = access.numbers(node, name)
    if name != "climit" and len(given) <= 1:
        extra.pop(name, None)
    if not len(given):
        if name == "climit":
            extra.pop(name, None)
        return default
    if name == "climit":
        # The current's limit has no place of its own; one that the prototype declares counts like a written one.
        extra[name] = given
    if len(given) > 1:
        problems.append(
            SEVERAL_LIMITS.problem(
                f"{name} of {values.label(node)} has {len(given)} numbers, the first counts", node.location_of(name)
            )
        )
    return default if np.isnan(given[0]) else float(given[0])


def _motor(node: Node, problems: list[Problem]) -> dict[str, float]:
    """Read the motor and its gear; the document's defaults are those of `Joint`."""
    fields = {
        "gear_ratio": "gearRatio",
        "gear_efficiency": "gearEfficiency",
        "rotor_inertia": "rotorInertia",
        "rotor_resistor": "rotorResistor",
        "torque_const": "torqueConst",
        "encoder_pulse": "encoderPulse",
    }
    motor = {ours: values.finite(node, name, (getattr(DEFAULT, ours),), problems)[0] for ours, name in fields.items()}
    odd = [
        name
        for name, value in motor.items()
        if (value == 0 if name == "gear_ratio" else value < 0 or (name == "gear_efficiency" and not 0 < value <= 1))
    ]
    if odd:
        shown = ", ".join(f"{fields[name]} {motor[name]:g}" for name in odd)
        problems.append(MOTOR.problem(f"{values.label(node)} has {shown}", node.location))
    return motor


def _unused(node: Node, extra: dict[str, object], problems: list[Problem]) -> None:
    """Warn of fields that the document has, or an older one had, and that do not do what one may expect."""
    for name, default in (("center", (0.0, 0.0, 0.0)), ("scale", (1.0, 1.0, 1.0))):
        value = access.vector(node, name, default)
        if value != default:
            shown = " ".join(f"{number:g}" for number in value)
            problems.append(CENTER.problem(f"{name} of {values.label(node)} is {shown}", node.location_of(name)))
    if access.number(node, "equivalentInertia", 0.0) != 0.0:
        extra["equivalentInertia"] = access.number(node, "equivalentInertia", 0.0)
        problems.append(
            OBSOLETE.problem(f"{values.label(node)} has an equivalentInertia", node.location_of("equivalentInertia"))
        )
