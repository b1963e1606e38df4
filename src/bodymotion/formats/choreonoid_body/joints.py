"""The joint keys of a link: type, id, axis, ranges, motor."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.document import Scalar, Sequence
from bodymotion.formats.choreonoid_body.fields import Fields, forgiving
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Joint, JointType

__all__ = ["JOINT_KEYS", "axis", "read_joint"]

TYPES: dict[str, JointType] = {
    "fixed": "fixed",
    "free": "free",
    "revolute": "rotate",
    "rotate": "rotate",
    "prismatic": "slide",
    "slide": "slide",
    "pseudo_continuous_track": "crawler",
    "pseudoContinuousTrack": "crawler",
    "pseudo-continuous-track": "crawler",
    "crawler": "crawler",
}
"""Beside the types of the manual, the names that OpenHRP has for them."""

AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}

MOTOR = {
    "gear_ratio": "gear_ratio",
    "gear_efficiency": "gear_efficiency",
    "rotor_inertia": "rotor_inertia",
    "rotor_resistor": "rotor_resistor",
    "torque_const": "torque_const",
    "encoder_pulse": "encoder_pulse",
}

JOINT_KEYS = (
    "joint_type",
    "joint_id",
    "joint_name",
    "joint_axis",
    "joint_range",
    "joint_angle",
    "joint_displacement",
    "joint_velocity_range",
    "max_joint_velocity",
    "joint_effort_range",
    "max_joint_effort",
    "joint_axis_inertia",
    *MOTOR,
)
HIGHEST_ID = 9999


def read_joint(fields: Fields, name: str, given: Joint | None = None) -> Joint:
    """Make the joint of a link called `name`; what the link does not say is taken from `given`.

    Lengths are metres and angles radians in the joint, degrees in most files. `extra` holds what has no place of its own, under its
    name of version 2.0: `joint_displacement` (where the joint stands at first), `joint_effort_range` [N or Nm]; `equivalentInertia`
    [kg m²] is joint_axis_inertia, the inertia of motor and gear at the joint.

    Raises
    ------
    FormatError
        When joint_type is none of the known ones, or a value none that its key can have.
    """
    default = given or Joint(name=name)
    extra = dict(default.extra)
    kind = _type(fields) or default.type
    unit = fields.context.angle_unit if kind == "rotate" else 1.0
    lower, upper = _range(fields, "joint_range", unit) or (default.lower, default.upper)
    velocity = _range(fields, "max_joint_velocity", unit)
    velocity = _range(fields, "joint_velocity_range", unit) or velocity
    effort = _range(fields, "max_joint_effort", 1.0)
    effort = _range(fields, "joint_effort_range", 1.0) or effort
    if effort is not None:
        extra["joint_effort_range"] = list(effort)
    angle = fields.number("joint_angle", default=math.nan) * unit
    displacement = fields.number("joint_displacement", default=angle)
    if not math.isnan(displacement):
        extra["joint_displacement"] = displacement
    inertia = fields.number("joint_axis_inertia", default=0.0)
    if inertia:
        extra["equivalentInertia"] = inertia
    return replace(
        default,
        name=fields.text("joint_name") or (default.name if given else name),
        type=kind,
        id=_id(fields, default.id),
        axis=_joint_axis(fields, kind, default.axis),
        lower=lower,
        upper=upper,
        velocity_lower=velocity[0] if velocity else default.velocity_lower,
        velocity_upper=velocity[1] if velocity else default.velocity_upper,
        extra=extra,
        **{ours: fields.number(key, default=getattr(default, ours)) for ours, key in MOTOR.items()},
    )


@forgiving(None)
def _type(fields: Fields) -> JointType | None:
    word = fields.text("joint_type")
    if word and word not in TYPES:
        raise rules.JOINT_TYPE.error(
            f"joint_type of {fields.title} is {word!r:.60}, none of {', '.join(TYPES)}", fields.place("joint_type")
        )
    return TYPES[word] if word else None


def _id(fields: Fields, default: int) -> int:
    number = fields.integer("joint_id", default=default)
    if number > HIGHEST_ID:
        fields.tell(rules.ID_RANGE, f"joint_id of {fields.title} is {number}, above {HIGHEST_ID}", "joint_id")
        return -1
    return max(number, -1)


@forgiving(None)
def _range(fields: Fields, name: str, unit: float) -> tuple[float, float] | None:
    """Return lower and upper end; one number stands for both, the word unlimited for none."""
    value = fields.find(name)
    if value is None:
        return None
    ends = value.items if isinstance(value, Sequence) else [value]
    if not 1 <= len(ends) <= 2:
        fields.count((name,), 2)
    numbers = [
        math.inf
        if isinstance(end, Scalar) and end.value.lower() == "unlimited"
        else fields.scalar_number(name, end) * unit
        for end in ends
    ]
    if isinstance(ends[0], Scalar) and ends[0].value.lower() == "unlimited":
        numbers[0] = -math.inf
    if len(numbers) == 1 and numbers[0] < 0 and name.startswith("max_"):
        fields.tell(rules.NEGATIVE, f"{name} of {fields.title} is {numbers[0] / unit:g}", name)
    lower, upper = (-abs(numbers[0]), abs(numbers[0])) if len(numbers) == 1 else numbers
    if math.isnan(lower) or math.isnan(upper):
        fields.tell(rules.NOT_FINITE, f"{name} of {fields.title} is not a number", name)
        return None
    if lower > upper:
        # In the unit of the file, so that the numbers are found there.
        measure = "" if unit == 1.0 else " deg/s" if "velocity" in name else " deg"
        ends_told = f"the lower end {lower / unit:g}{measure} is above the upper {upper / unit:g}{measure}"
        fields.tell(rules.LIMITS, f"{name} of {fields.title}: {ends_told}: swapped?", name)
    return lower, upper


def _joint_axis(fields: Fields, kind: JointType, default: Floats) -> Floats:
    found = axis(fields, "joint_axis")
    if found is None:
        return default
    if not found.any():
        if kind in ("rotate", "slide", "crawler"):
            fields.tell(rules.NO_AXIS, f"joint_axis of {fields.title} is 0 0 0", "joint_axis")
        return frozen([0.0, 0.0, 1.0])
    return found


@forgiving(None)
def axis(fields: Fields, *names: str) -> Floats | None:
    """Return an axis (3,) of length 1, or zero; a vector, or a letter with or without a sign. None where the key is not there.

    Raises
    ------
    FormatError
        When it is none of these.
    """
    value = fields.find(*names)
    if value is None:
        return None
    if isinstance(value, Scalar):
        letter = value.value.upper()
        sign = -1.0 if letter.startswith("-") else 1.0
        letter = letter.removeprefix("-").removeprefix("+")
        if letter not in AXES:
            raise rules.JOINT_AXIS.error(
                f"{names[0]} of {fields.title} is {value.value!r:.60}, neither a vector nor X, Y, Z, -X, -Y, -Z",
                value.location,
            )
        if value.value != value.value.upper():
            wrong = f"{names[0]} of {fields.title} is {value.value!r}: read as {value.value.upper()!r}"
            fields.tell(rules.JOINT_AXIS, wrong, names[0])
        return frozen(sign * np.array(AXES[letter]) + 0.0)
    vector = np.array(fields.vector(*names, default=(0.0, 0.0, 1.0)))
    largest = np.abs(vector).max()
    if largest == 0.0:
        return frozen(vector)
    length = float(np.linalg.norm(vector / largest))
    if abs(length * largest - 1.0) > 1e-6:
        shown = " ".join(f"{number:.6g}" for number in vector)
        fields.tell(rules.AXIS_LENGTH, f"{names[0]} of {fields.title} is {shown}, not of length 1", names[0])
    return frozen(vector if length * largest == 1.0 else vector / largest / length)
