"""The values of the parameters of an animation during playback."""

import re
from collections.abc import Mapping
from numbers import Real
from types import MappingProxyType

import numpy as np

from bodymotion.animation import Animation
from bodymotion.diagnostics.spelling import choices
from bodymotion.formats.cha.keywords import PARAMETERS

OFFSETS = tuple(name for name in PARAMETERS if re.fullmatch(r"[a-z]+_[01]_offset", name))
"""The parameters that are added to the arm's joints, in the joints' order."""

NEUTRAL: Mapping[str, float] = MappingProxyType(
    {
        **{name: 1.0 if "_multiplier" in name else 0.0 for name in PARAMETERS},
        **{"speed": 1.0, "body_tracking_stiffness": 5.0, "gripper_strength_fraction": 1.0},
    }
)
"""Every parameter of the document with its neutral value, which applies where an animation does not have the parameter."""

NOT_SIMULATED = ("body_tracking_stiffness", "gripper_strength_fraction", "arm_dance_frame_id")
"""Parameters for the robot's controller, or its dance frames; they change no motion here."""

MAX_VALUE = 1e6  # Larger parameters are rejected as mistakes.


def as_number(what: str, value: object) -> float:
    """Return an argument of a caller as a float. Raises ValueError, with its name `what`, when it is not a number."""
    if isinstance(value, (Real, np.number)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return np.inf
    raise ValueError(f"{what}: expected a number, got {value!r}")


def settings(animation: Animation, values: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return the value of every parameter: that of `values`, else the animation's default, else the neutral one.

    Raises ValueError for an unknown parameter, a value that is not finite, outside the animation's limits or larger than `MAX_VALUE`, and a
    speed that is not positive.
    """
    result = dict(NEUTRAL)
    for name, parameter in animation.parameters.items():
        if name in result and parameter.default is not None:
            result[name] = float(parameter.default)
    for name, value in (values or {}).items():
        if name not in result:
            raise ValueError(f"there is no parameter {name!r}; {choices(name, NEUTRAL)}")
        number = as_number(name, value)
        limits = animation.parameters.get(name)
        low = limits.minimum if limits is not None else None
        high = limits.maximum if limits is not None else None
        if not np.isfinite(number) or (low is not None and number < low) or (high is not None and number > high):
            between = f" between {low:g} and {high:g}" if low is not None and high is not None else ""
            raise ValueError(f"{name}: expected a finite number{between}, got {value}")
        result[name] = number
    for name, value in result.items():
        if not np.isfinite(value):
            raise ValueError(f"{name}: expected a finite default, got {value}")
        if abs(value) > MAX_VALUE:
            raise ValueError(f"{name}: {value:g} is above the largest value, {MAX_VALUE:g}")
    if result["speed"] <= 0:
        raise ValueError(f"speed: expected a positive number, got {result['speed']:g}")
    return result
