"""Curves with fewer points, and every peak where it was."""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats

__all__ = ["thinned"]


def thinned(times: Floats, values: Floats, most: int = 1200) -> tuple[Floats, Floats]:
    """Return at most about `most` points of a curve, values (T,) over times (T,): all of those that are left were in it.

    The frames are divided into equal stretches; of each the lowest and the highest value stay, at their times. The first and the last frame
    stay, too. What is not finite becomes NaN, and where a stretch has such a frame a gap is left.
    """
    clean = np.where(np.isfinite(values), values, np.nan)
    count = len(times)
    if count <= most:
        return np.array(times), clean
    stretches = max(most // 2, 1)
    size = -(-count // stretches)
    stretches = -(-count // size)
    padded = np.full(stretches * size, np.nan)
    padded[:count] = clean
    grid = padded.reshape(stretches, size)
    gaps = np.isnan(grid)
    first = np.arange(stretches) * size
    low = first + np.where(gaps, np.inf, grid).argmin(axis=1)
    high = first + np.where(gaps, -np.inf, grid).argmax(axis=1)
    gaps.ravel()[count:] = False
    hole = first + gaps.argmax(axis=1)
    kept = [low, high, hole[gaps.any(axis=1)], [0, count - 1]]
    frames = np.unique(np.minimum(np.concatenate(kept), count - 1))
    return np.asarray(times[frames]), clean[frames]
