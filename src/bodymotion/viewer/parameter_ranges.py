"""What the slider of an animation's parameter covers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, isfinite, log10
from types import MappingProxyType

from bodymotion.animation import Parameter
from bodymotion.spot.playback.parameters import NEUTRAL

__all__ = ["NOT_SIMULATED", "ParameterRange", "parameter_range"]

NOT_SIMULATED = ("body_tracking_stiffness", "gripper_strength_fraction", "arm_dance_frame_id")
"""Parameters that are for the robot's controller, or its dance frames: no motion changes with them here."""

GUESSED: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "speed": (0.25, 4.0),
        "offset_slices": (0.0, 32.0),
        "body_tracking_stiffness": (1.0, 11.0),
        "gripper_strength_fraction": (0.0, 1.0),
        "gripper_offset": (-1.5708, 1.5708),
        "arm_dance_frame_id": (0.0, 10.0),
    }
)


@dataclass(frozen=True)
class ParameterRange:
    """From where to where a slider goes, its `step`, and where it is at first; `given` says whether the limits are the animation's own."""

    lowest: float
    highest: float
    step: float
    default: float
    given: bool

    @property
    def fixed(self) -> bool:
        """Whether there is nothing to choose."""
        return self.lowest >= self.highest

    def within(self, value: float) -> float:
        """Return the value that is nearest to one that somebody wants."""
        return min(max(value, self.lowest), self.highest) if isfinite(value) else self.default


def parameter_range(name: str, parameter: Parameter) -> ParameterRange:
    """Return what the slider of a parameter covers: its limits, or where it is only named, and the robot has the limits, our guess."""
    low, high = _guess(name)
    given = False
    if parameter.minimum is not None and parameter.maximum is not None:
        given = parameter.minimum <= parameter.maximum and isfinite(parameter.maximum - parameter.minimum)
        if given:
            low, high = float(parameter.minimum), float(parameter.maximum)
    default = parameter.default
    if default is None or not isfinite(default):
        default = NEUTRAL.get(name, 0.0)
    return ParameterRange(low, high, step_for(low, high), min(max(float(default), low), high), given)


def _guess(name: str) -> tuple[float, float]:
    if name in GUESSED:
        return GUESSED[name]
    if name.endswith("_slices"):
        return 0.0, 16.0
    return (-1.5, 1.5) if name.endswith("_offset") else (-2.0, 2.0)


def step_for(low: float, high: float) -> float:
    """Return a round step of which there are 100 to 250 from `low` to `high`."""
    span = (high - low) / 100
    if not span > 0:
        return 1.0
    power = 10.0 ** floor(log10(span))
    return next(factor * power for factor in (5.0, 2.0, 1.0) if factor * power <= span * (1 + 1e-9))
