"""Paths over the ground: fewer points of them, and axes on which a metre is as long along x as along y."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.plots.thinning import thinned

__all__ = ["thin_path", "view_of"]

MOST_POINTS = 1500
NEAR = 0.25
"""[m] So far around what is solid a path is shown in any case."""


def thin_path(times: Floats, points: Floats) -> npt.NDArray[np.intp]:
    """Return the frames of a path (T, 2) that are drawn: the outermost ones stay."""
    if len(times) <= MOST_POINTS:
        return np.arange(len(times))
    found = np.concatenate([thinned(times, points[:, k], MOST_POINTS // 2)[0] for k in range(2)])
    return np.asarray(np.searchsorted(times, np.unique(found)))


def view_of(
    solid: Sequence[Floats], path: Floats, width: float, least: float, most: float
) -> tuple[tuple[float, float], tuple[float, float], bool]:
    """Return what axes show, a metre as long along x as along y, in a frame of this width and between these heights [inch].

    All of the `solid` points (…, 2) are shown, and of the `path` (N, 2) what is not much farther away; the third thing given says whether
    some of it is.
    """
    low, high = _box([*solid, path])
    cut = False
    if any(np.isfinite(points).all(axis=1).any() for points in solid):
        inner_low, inner_high = _box(solid)
        room = max(0.6 * float(max(inner_high - inner_low)), NEAR)
        cut = bool((low < inner_low - room).any() or (high > inner_high + room).any())
        low, high = np.maximum(low, inner_low - room), np.minimum(high, inner_high + room)
    room = 0.06 * float(max(*(high - low), 0.05))
    low, high = low - room, high + room
    size = high - low
    height = float(np.clip(width * size[1] / size[0], least, most))
    scale = max(size[0] / width, size[1] / height)
    middle, half = (low + high) / 2, np.array([width, height]) * scale / 2
    x = float(middle[0] - half[0]), float(middle[0] + half[0])
    y = float(middle[1] - half[1]), float(middle[1] + half[1])
    return x, y, cut


def _box(shapes: Sequence[Floats]) -> tuple[Floats, Floats]:
    points = np.concatenate([np.reshape(shape, (-1, 2)) for shape in shapes])
    points = points[np.isfinite(points).all(axis=1)]
    return (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(2), np.ones(2))
