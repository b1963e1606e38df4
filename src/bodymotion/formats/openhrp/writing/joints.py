"""A link's joint as the fields of a Joint node."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.losses import NUMBER_RANGE, PLACE
from bodymotion.formats.openhrp.nodes import JOINT_TYPES, MAX_ID
from bodymotion.formats.openhrp.writing.kept import as_value
from bodymotion.formats.vrml.writing import rotation_value
from bodymotion.model.links import Joint

if TYPE_CHECKING:
    from collections.abc import Callable

    from bodymotion.diagnostics import Rule
    from bodymotion.formats.vrml import Value
    from bodymotion.geometry.arrays import Floats

    Tell = Callable[[Rule, str], None]

__all__ = ["WRITTEN", "finite", "joint_fields", "pose_fields", "vector_fields"]

DEFAULT = Joint()
MOTOR = {
    "gear_ratio": "gearRatio",
    "gear_efficiency": "gearEfficiency",
    "rotor_inertia": "rotorInertia",
    "rotor_resistor": "rotorResistor",
    "torque_const": "torqueConst",
    "encoder_pulse": "encoderPulse",
}
LIMITS = {
    "lower": ("llimit", -math.inf),
    "upper": ("ulimit", math.inf),
    "velocity_lower": ("lvlimit", -math.inf),
    "velocity_upper": ("uvlimit", math.inf),
}
WRITTEN = (
    *("jointType", "jointId", "jointAxis", "translation", "rotation", "children"),
    *(name for name, _ in LIMITS.values()),
    *MOTOR.values(),
)


def joint_fields(joint: Joint, offset: Floats, title: str, tell: Tell) -> dict[str, Value]:
    """Return the fields of a Joint, but for those that are only kept; what is the document's default is left out."""
    fields: dict[str, Value] = {"jointType": _type(joint)}
    if -1 < joint.id <= MAX_ID:
        fields["jointId"] = joint.id
    elif joint.id != -1:
        tell(NUMBER_RANGE, f"{title} has the id {joint.id}: left out")
    axis = _axis(joint)
    if joint.type in ("rotate", "slide", "crawler") or not np.array_equal(axis, DEFAULT.axis):
        if np.isfinite(axis).all():
            fields["jointAxis"] = axis
        else:
            tell(NUMBER_RANGE, f"{title}: an axis that is not finite is left out")
    fields |= pose_fields(offset, title, tell)
    for ours, (name, none) in LIMITS.items():
        value = float(getattr(joint, ours))
        given, types = as_value(joint.extra.get(name))
        if "MFFloat" in types and isinstance(given, np.ndarray) and len(given) > 1 and given[0] == value:
            fields[name] = given
        elif math.isfinite(value):
            fields[name] = np.array([value])
        elif value != none:
            tell(NUMBER_RANGE, f"{title}: {name} {value} is left out")
    for ours, name in MOTOR.items():
        default = getattr(DEFAULT, ours)
        value = finite(float(getattr(joint, ours)), default, f"{title}: {name}", tell)
        if value != default:
            fields[name] = value
    return fields


def _type(joint: Joint) -> str:
    """Return the type by the name that the file had for it."""
    kept = joint.extra.get("jointType")
    return kept if isinstance(kept, str) and JOINT_TYPES.get(kept) == joint.type else joint.type


def _axis(joint: Joint) -> Floats:
    """Return the axis as the file had it, which need not have been of length 1."""
    kept = joint.extra.get("jointAxis")
    if isinstance(kept, np.ndarray) and kept.shape == (3,) and np.isfinite(kept).all():
        largest = np.abs(kept).max()
        unit = kept / largest if largest > 0 else DEFAULT.axis
        if np.abs(unit / np.linalg.norm(unit) - joint.axis).max() <= 1e-12:
            return kept
    return joint.axis


def pose_fields(pose: Floats, title: str, tell: Tell) -> dict[str, Value]:
    """Return translation and rotation of a pose (7,); those that do nothing are left out."""
    fields = vector_fields({"translation": pose[:3]}, title, tell)
    quaternion = pose[3:]
    if not np.isfinite(quaternion).all() or not quaternion.any():
        tell(PLACE, f"{title}: the orientation {quaternion.tolist()} is none, and left out")
        return fields
    if abs(np.linalg.norm(quaternion) - 1.0) > 1e-12:
        tell(PLACE, f"{title}: the quaternion of length {np.linalg.norm(quaternion):.9g} is written as its turn")
    rotation = rotation_value(quaternion)
    if rotation is not None:
        fields["rotation"] = rotation
    return fields


def vector_fields(
    vectors: dict[str, Floats], title: str, tell: Tell, default: tuple[float, ...] = (0.0, 0.0, 0.0)
) -> dict[str, Value]:
    """Return vectors (3,) that are not the default as fields."""
    fields: dict[str, Value] = {}
    for name, vector in vectors.items():
        if not np.isfinite(vector).all():
            tell(NUMBER_RANGE, f"{title}: {name} {vector.tolist()} is left out")
        elif vector.tolist() != list(default):
            fields[name] = vector
    return fields


def finite(value: float, default: float, what: str, tell: Tell) -> float:
    """Return a number, `default` where it is not finite, and say so."""
    if math.isfinite(value):
        return value
    tell(NUMBER_RANGE, f"{what} {value} is left out")
    return default
