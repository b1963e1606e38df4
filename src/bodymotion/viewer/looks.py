"""Light and dark: the colours of what is around the robot, and of the panel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import viser

__all__ = ["DARK", "LIGHT", "Look", "apply_theme", "look_of"]

Rgb = tuple[int, int, int]


@dataclass(frozen=True)
class Look:
    """Colours of the sky at its top and bottom, of the floor and how it glows, of the lines on it, and what trails fade into.

    The floor glows `glow` times brighter than its colour, so that it has it after the browser's tone mapping.
    """

    dark: bool
    sky_top: Rgb
    sky_bottom: Rgb
    floor: tuple[float, float, float]
    glow: float
    cells: Rgb
    sections: Rgb
    fade: Rgb
    shadow: float


LIGHT = Look(
    False,
    (226, 233, 241),
    (245, 247, 249),
    (0.992, 0.996, 1.0),
    2.4,
    (205, 208, 214),
    (165, 170, 180),
    (243, 245, 247),
    0.28,
)
DARK = Look(
    True,
    (18, 21, 27),
    (38, 43, 51),
    (0.145, 0.16, 0.185),
    1.25,
    (62, 68, 79),
    (96, 104, 118),
    (38, 42, 49),
    0.5,
)


def look_of(dark: bool) -> Look:
    """Return the dark look, or the light one."""
    return DARK if dark else LIGHT


def apply_theme(gui: viser.GuiApi, dark: bool) -> None:
    """Return the panel its look."""
    gui.configure_theme(
        show_logo=False, show_share_button=False, control_width="large", dark_mode=dark, brand_color=(28, 110, 190)
    )
