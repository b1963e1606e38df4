"""Colours of the environment in light and dark mode, and of overlays in both."""

from dataclasses import dataclass
from typing import Any, TypeAlias

Rgb: TypeAlias = tuple[int, int, int]

ROTATION_AXIS = (190, 0, 110)
SLIDE_AXIS = (0, 90, 170)
CRAWLER_AXIS = (30, 140, 60)

# Each colour has one meaning, in the scene, on the timeline, and in plots.
MASS_COLOR = (230, 190, 0)  # The centre of mass.
ZMP_COLOR = (156, 90, 26)  # The recorded ZMP; `recorded` of plots.
PATH_COLOR = (120, 60, 220)  # The path of a link.
# Blue and orange are safe for colour blindness.
STANCE = (0, 104, 192)  # A foot in stance.
SWING = (245, 145, 20)  # A foot in swing.
MISSED = (200, 0, 140)  # A foot that does not reach its target.
MOVE = (98, 112, 132)  # A move of a dance.
FINDING = (211, 18, 47)  # A violation of a rule; `bad` of plots.
_BOTH: dict[str, tuple[Any, Any]] = {  # in light mode, in dark mode
    "dark": (False, True),
    "sky_top": ((226, 233, 241), (18, 21, 27)),
    "sky_bottom": ((245, 247, 249), (38, 43, 51)),
    "floor": ((0.992, 0.996, 1.0), (0.145, 0.16, 0.185)),
    "glow": (2.4, 1.25),
    "cells": ((205, 208, 214), (62, 68, 79)),
    "sections": ((165, 170, 180), (96, 104, 118)),
    "fade": ((243, 245, 247), (38, 42, 49)),
    "text": ((40, 46, 56), (232, 236, 242)),
    "halo": ((255, 255, 255), (20, 23, 29)),
    "shadow": (0.28, 0.5),
}


@dataclass(frozen=True)
class Theme:
    """Colours of the environment.

    Attributes
    ----------
    sky_top, sky_bottom:
        The two ends of the gradient of the sky.
    floor, glow:
        The colour of the floor (0 to 1), and the factor of its emission that keeps this
        colour after the browser's tone mapping.
    cells, sections:
        The thin and the thick lines of the grid.
    fade:
        The colour of the oldest end of trails.
    text, halo:
        The colours of letters in images, and around them.
    shadow:
        The opacity of shadows (0 to 1).
    """

    dark: bool
    sky_top: Rgb
    sky_bottom: Rgb
    floor: tuple[float, float, float]
    glow: float
    cells: Rgb
    sections: Rgb
    fade: Rgb
    text: Rgb
    halo: Rgb
    shadow: float


LIGHT = Theme(**{name: pair[0] for name, pair in _BOTH.items()})
DARK = Theme(**{name: pair[1] for name, pair in _BOTH.items()})
