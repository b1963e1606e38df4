"""The parameters of an animation with the values they have while it plays."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bodymotion.animation import Animation

__all__ = ["NEUTRAL", "as_number", "settings"]

_OFFSETS = tuple(f"{name}_offset" for name in ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1"))

NEUTRAL: Mapping[str, float] = MappingProxyType(
    {
        "speed": 1.0,
        "offset_slices": 0.0,
        "body_entry_slices": 0.0,
        "body_exit_slices": 0.0,
        **{f"translation_multiplier.{axis}": 1.0 for axis in "xyz"},
        **{f"rotation_multiplier.{axis}": 1.0 for axis in ("roll", "pitch", "yaw")},
        "body_tracking_stiffness": 5.0,
        "arm_entry_slices": 0.0,
        **dict.fromkeys(_OFFSETS, 0.0),
        "gripper_offset": 0.0,
        "gripper_multiplier": 1.0,
        "gripper_strength_fraction": 1.0,
        "arm_dance_frame_id": 0.0,
    }
)
"""Every parameter of the document, and the value with which it changes nothing: what counts where an animation does not have it."""

LARGEST = 1e6
"""No parameter is meant to be larger."""

OFFSETS = _OFFSETS
"""The parameters that are added to the arm's joints, in the joints' order."""


def as_number(what: str, value: object) -> float:
    """Return a number that a caller gave. Raises ValueError, with its name, when it is none."""
    if isinstance(value, (Real, np.number)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return np.inf
    raise ValueError(f"{what} is a number, not {value!r}")


def settings(animation: Animation, given: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return the value of every parameter: the given one, else the animation's default, else the neutral one.

    Raises
    ------
    ValueError
        For a name that is no parameter, a value that is no finite number, outside the animation's limits or absurdly large, and a
        speed that is not positive.
    """
    values = dict(NEUTRAL)
    for name, parameter in animation.parameters.items():
        if name in values and parameter.default is not None:
            values[name] = float(parameter.default)
    for name, value in (given or {}).items():
        if name not in values:
            raise ValueError(f"there is no parameter {name!r}; there are: {', '.join(NEUTRAL)}")
        number = as_number(name, value)
        limits = animation.parameters.get(name)
        low = limits.minimum if limits is not None else None
        high = limits.maximum if limits is not None else None
        if not np.isfinite(number) or (low is not None and number < low) or (high is not None and number > high):
            between = f" between {low:g} and {high:g}" if low is not None and high is not None else ""
            raise ValueError(f"{name} is a finite number{between} in this animation, not {value}")
        values[name] = number
    for name, value in values.items():
        if not np.isfinite(value):
            raise ValueError(f"the default of {name} is {value}, which is no finite number")
        if abs(value) > LARGEST:
            raise ValueError(f"{name} is {value:g}: nothing about a robot is so large")
    if values["speed"] <= 0:
        raise ValueError(f"speed is a positive number, not {values['speed']:g}")
    return values
