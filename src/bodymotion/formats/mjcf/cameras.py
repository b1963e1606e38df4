"""Fields of view: MuJoCo's is that of the image's height, ours (as Choreonoid has it) that of its shorter side."""

from __future__ import annotations

import math

__all__ = ["field_of_view", "vertical_field_of_view"]


def vertical_field_of_view(shorter: float, width: int, height: int) -> float:
    """Give the angle [rad] over the height of an image from that over its shorter side."""
    if not 0 < width < height or not 0 < shorter < math.pi:
        return shorter
    return 2.0 * math.atan(math.tan(0.5 * shorter) * height / width)


def field_of_view(vertical: float, width: int, height: int) -> float:
    """Give the angle [rad] over the shorter side of an image from that over its height."""
    if not 0 < width < height or not 0 < vertical < math.pi:
        return vertical
    return 2.0 * math.atan(math.tan(0.5 * vertical) * width / height)
