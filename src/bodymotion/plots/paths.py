"""Paths over the ground: fewer points of them, and axes on which a metre is as long along x as along y."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import Floats
from bodymotion.plots.thinning import thinned

__all__ = ["thin_path", "view_of"]

MOST_POINTS = 1500


def thin_path(times: Floats, points: Floats) -> npt.NDArray[np.intp]:
    """Give the frames of a path (T, 2) that are drawn: the outermost ones stay."""
    if len(times) <= MOST_POINTS:
        return np.arange(len(times))
    found = np.concatenate([thinned(times, points[:, k], MOST_POINTS // 2)[0] for k in range(2)])
    return np.asarray(np.searchsorted(times, np.unique(found)))


def view_of(
    shapes: list[Floats], width: float, least: float, most: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Give what the axes show so that a metre is as long along x as along y, in a frame of this width and between these heights."""
    points = np.concatenate([s.reshape(-1, 2) for s in shapes])
    points = points[np.isfinite(points).all(axis=1)]
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(2), np.ones(2))
    room = 0.06 * float(max(*(high - low), 0.05))
    low, high = low - room, high + room
    size = high - low
    height = float(np.clip(width * size[1] / size[0], least, most))
    scale = max(size[0] / width, size[1] / height)
    middle, half = (low + high) / 2, np.array([width, height]) * scale / 2
    return (float(middle[0] - half[0]), float(middle[0] + half[0])), (
        float(middle[1] - half[1]),
        float(middle[1] + half[1]),
    )
