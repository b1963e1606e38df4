"""The settings of an image, and their checks."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.geometry.arrays import Floats
from bodymotion.scene.camera import FIELD_OF_VIEW, PRESETS, Camera, fitted, looking
from bodymotion.scene.theme import DARK, LIGHT, Theme

Background = Literal["light", "dark", "transparent"]
BACKGROUNDS: tuple[Background, ...] = ("light", "dark", "transparent")
OVERLAYS = ("time", "frame", "title")
# Smallest and largest width and height in pixels.
MIN_EDGE = 16
MAX_EDGE = 8192


@dataclass(frozen=True)
class Settings:
    """How an image is drawn.

    See `bodymotion.render`. None for `stand` and `follow`: depends on the motion.
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
        """Raise WrongUseError for values that cannot be drawn."""
        if len(self.size) != 2 or not all(
            MIN_EDGE <= edge <= MAX_EDGE for edge in self.size
        ):
            raise WrongUseError(
                f"size {'×'.join(map(str, self.size))}: width and height must be "
                f"{MIN_EDGE} to {MAX_EDGE} pixels"
            )
        if isinstance(self.camera, str) and self.camera not in PRESETS:
            raise WrongUseError(
                f"unknown camera {self.camera!r}; use {', '.join(PRESETS)}, or a "
                "position x,y,z"
            )
        if isinstance(self.camera, str) and self.look_at is not None:
            raise WrongUseError(
                "look_at needs a camera position x,y,z; a preset has its own direction"
            )
        if self.background not in BACKGROUNDS:
            raise WrongUseError(
                f"unknown background {self.background!r}; use {', '.join(BACKGROUNDS)}"
            )
        for name in self.overlay:
            if name not in OVERLAYS:
                raise WrongUseError(
                    f"unknown overlay {name!r}; use {', '.join(OVERLAYS)}"
                )

    @property
    def theme(self) -> Theme:
        """The colours."""
        return DARK if self.background == "dark" else LIGHT

    def camera_for(
        self, points: Floats, field_of_view: float = FIELD_OF_VIEW
    ) -> Camera:
        """Return the camera that sees points (N, 3) [m].

        `field_of_view` [rad] is that of presets.
        """
        if isinstance(self.camera, str):
            return fitted(
                points, PRESETS[self.camera], self.size, field_of_view=field_of_view
            )
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        try:
            return looking(
                self.camera, middle if self.look_at is None else np.array(self.look_at)
            )
        except ValueError as error:
            raise WrongUseError(str(error)) from None
