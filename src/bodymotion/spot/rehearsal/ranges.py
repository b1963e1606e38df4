"""The ranges that the stand-in robot gives to parameters which an animation only names.

A real robot has its own, as text in its list of all moves: a block of lines that begins with `animate_params`, then a line for each
parameter with its minimum, default and maximum. These are our judgement of what a dancer wants.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["RANGES", "config_text"]

_OFFSETS = ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1")

RANGES: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "speed": (0.25, 1.0, 2.0),
        "offset_slices": (0.0, 0.0, 32.0),
        "body_entry_slices": (0.0, 1.0, 8.0),
        "body_exit_slices": (0.0, 1.0, 8.0),
        **{f"translation_multiplier.{axis}": (0.0, 1.0, 2.0) for axis in "xyz"},
        **{f"rotation_multiplier.{axis}": (0.0, 1.0, 2.0) for axis in ("roll", "pitch", "yaw")},
        "body_tracking_stiffness": (1.0, 5.0, 11.0),
        "arm_entry_slices": (0.0, 1.0, 8.0),
        **{f"{name}_offset": (-1.0, 0.0, 1.0) for name in _OFFSETS},
        "gripper_offset": (-1.0, 0.0, 1.0),
        "gripper_multiplier": (0.0, 1.0, 2.0),
        "gripper_strength_fraction": (0.0, 1.0, 1.0),
        "arm_dance_frame_id": (0.0, 0.0, 20.0),
    }
)
"""Minimum, default and maximum of each parameter of the document."""


def config_text() -> str:
    """Return the ranges as a robot tells them."""
    rows = [f"{name} {low:g} {default:g} {high:g}" for name, (low, default, high) in RANGES.items()]
    return "\n".join(["animate_params", *rows, ""])
