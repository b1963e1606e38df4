"""What someone wants of a picture, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.geometry.arrays import Floats
from bodymotion.rendering.camera import FIELD_OF_VIEW, PRESETS, Camera, fitted, looking
from bodymotion.rendering.surroundings import LOOKS

__all__ = ["BACKGROUNDS", "LARGEST", "OVERLAYS", "Background", "Settings"]

Background = Literal["light", "dark", "transparent"]
BACKGROUNDS: tuple[Background, ...] = ("light", "dark", "transparent")
OVERLAYS = ("time", "frame", "title")
SMALLEST, LARGEST = 16, 8192
"""Pixels of an edge."""


@dataclass(frozen=True)
class Settings:
    """How a picture is taken.

    Attributes
    ----------
    size:
        Width and height in pixels.
    camera:
        The name of a preset, or a place (3,) [m] in the world.
    look_at:
        The place (3,) [m] that a camera at a place looks at; None for the middle of the robot.
    overlay:
        What is written into the picture: of `OVERLAYS`.
    stand, follow:
        Whether the robot is put on the ground, and the camera goes along; None where that fits the motion.
    """

    size: tuple[int, int] = (1280, 720)
    camera: str | tuple[float, float, float] = "corner"
    look_at: tuple[float, float, float] | None = None
    background: Background = "light"
    ground: bool = True
    overlay: tuple[str, ...] = ()
    stand: bool | None = None
    follow: bool | None = None

    def __post_init__(self) -> None:
        if len(self.size) != 2 or not all(SMALLEST <= edge <= LARGEST for edge in self.size):
            raise WrongUseError(f"a picture is {SMALLEST} to {LARGEST} pixels wide and high, not {_times(self.size)}")
        if isinstance(self.camera, str) and self.camera not in PRESETS:
            raise WrongUseError(f"there is no camera {self.camera!r}, but {', '.join(PRESETS)} and a place x,y,z")
        if isinstance(self.camera, str) and self.look_at is not None:
            raise WrongUseError("what a camera looks at can be said of one at a place x,y,z, not of a preset")
        if self.background not in BACKGROUNDS:
            raise WrongUseError(f"there is no background {self.background!r}, but {', '.join(BACKGROUNDS)}")
        for name in self.overlay:
            if name not in OVERLAYS:
                raise WrongUseError(f"{name!r} cannot be written into a picture; there are: {', '.join(OVERLAYS)}")

    @property
    def look(self) -> str:
        """The name of the colours in `LOOKS`."""
        return self.background if self.background in LOOKS else "light"

    def camera_for(self, points: Floats, field_of_view: float = FIELD_OF_VIEW) -> Camera:
        """Return the camera for what comes to points (N, 3) [m]; the field of view [rad] is that of presets."""
        if isinstance(self.camera, str):
            return fitted(points, PRESETS[self.camera], self.size, field_of_view=field_of_view)
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        try:
            return looking(self.camera, middle if self.look_at is None else np.array(self.look_at))
        except ValueError as error:
            raise WrongUseError(str(error)) from None


def _times(size: Sequence[int]) -> str:
    return "×".join(map(str, size))
