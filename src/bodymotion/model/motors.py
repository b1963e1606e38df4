"""What a motor and its gear do at a joint: the inertia it adds, and how hard it can push."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bodymotion.model.links import Joint

__all__ = ["armature", "effort_range", "first_number", "motor_range"]


def armature(joint: Joint) -> float:
    """Return the inertia [kg m² or kg] of the rotor as the joint feels it.

    That is `equivalentInertia` where a file gives it, else gear_ratio² · rotor_inertia.
    """
    given = first_number(joint.extra, "equivalentInertia")
    return given if given is not None and given != 0 else joint.gear_ratio**2 * joint.rotor_inertia


def effort_range(joint: Joint) -> tuple[float, float] | None:
    """Return the least and the most torque [Nm] (force [N]) that the motor gives at the joint, None where nothing says so.

    `.body` files say it as `joint_effort_range`, URDF as `effort`; in OpenHRP it follows from the limit of the current: climit · torque
    constant · gear ratio · gear efficiency.
    """
    given = _numbers(joint.extra.get("joint_effort_range"))
    if len(given) == 2 and given[0] < given[1] and np.isfinite(given).all():
        return given[0], given[1]
    most = first_number(joint.extra, "effort")
    if most is None:
        current = first_number(joint.extra, "climit")
        most = None if current is None else current * joint.torque_const * joint.gear_ratio * joint.gear_efficiency
    if most is None or not np.isfinite(most) or most == 0:
        return None
    return -abs(most), abs(most)


def motor_range(joint: Joint) -> tuple[float, float] | None:
    """Return `effort_range` before the gear."""
    efforts = effort_range(joint)
    gear = joint.gear_ratio
    if efforts is None or gear in (0.0, 1.0):
        return efforts
    low, high = sorted((efforts[0] / gear, efforts[1] / gear))
    return (low, high) if np.isfinite([low, high]).all() and low < high else None


def _numbers(value: object) -> list[float]:
    try:
        return [float(number) for number in np.ravel(np.asarray(value, dtype=np.float64))] if value is not None else []
    except (TypeError, ValueError):
        return []


def first_number(extra: Mapping[str, object], key: str) -> float | None:
    """Return the number, or the first of the numbers, that a file gives for a key; None where there is none."""
    numbers = _numbers(extra.get(key))
    return numbers[0] if numbers and not np.isnan(numbers[0]) else None
