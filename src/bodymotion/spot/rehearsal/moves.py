"""A move of a sequence: how long its animation is by itself, and the parameters that the move sets."""

from __future__ import annotations

from typing import Any

from bodymotion.animation import Animation
from bodymotion.spot.playback.parameters import settings
from bodymotion.spot.playback.timing import timing

__all__ = ["move_parameters", "natural_slices", "set_parameter", "unset_parameter"]


def natural_slices(animation: Animation, bpm: float) -> int:
    """Return how many slices an animation takes by itself at a tempo; at least one."""
    values = settings(animation)
    return max(timing(animation, bpm=bpm, speed=values["speed"], frame_rate=1.0).natural, 1)


def move_parameters(move: Any) -> dict[str, float]:  # noqa: ANN401
    """Return the parameters that are set in a move's AnimateParams, under the document's names."""
    found: dict[str, float] = {}

    def collect(message: Any, prefix: str) -> None:  # noqa: ANN401
        for field, value in message.ListFields():
            if field.message_type is None:
                continue
            if field.message_type.full_name.startswith("google.protobuf."):
                found[f"{prefix}{field.name}"] = float(value.value)
            else:
                collect(value, f"{prefix}{field.name}.")

    collect(move.animate_params, "")
    return found


def set_parameter(move: Any, name: str, value: float) -> None:  # noqa: ANN401
    """Set a parameter of a move's AnimateParams."""
    message = move.animate_params
    for part in name.split("."):
        message = getattr(message, part)
    message.value = type(message.value)(value)


def unset_parameter(move: Any, name: str) -> None:  # noqa: ANN401
    """Take a parameter out of a move's AnimateParams."""
    message = move.animate_params
    *path, last = name.split(".")
    for part in path:
        message = getattr(message, part)
    message.ClearField(last)
