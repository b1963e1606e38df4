"""How far a point is outside the feet that stand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

__all__ = ["outside"]


def outside(points: Floats, feet: Floats, stance: npt.NDArray[np.bool_]) -> Floats:
    """Return how far (T,) [m] points (T, 2) are outside the polygon of feet (T, 4, 2) in stance (T, 4); inside it is 0, without feet nan.

    Two feet are a line, one is a point.
    """
    result = np.full(len(points), np.nan)
    patterns = stance @ (1 << np.arange(4))
    for pattern in np.unique(patterns[patterns > 0]):
        rows = patterns == pattern
        legs = [leg for leg in range(4) if pattern >> leg & 1]
        result[rows] = _from_polygon(points[rows], feet[rows][:, legs])
    return result


def _from_polygon(points: Floats, corners: Floats) -> Floats:
    """Return the distance of points (N, 2) from the convex hull of corners (N, K, 2): from the nearest line between two, or 0.

    Up to four corners make no more than four triangles; a point is in the hull when it is in one of these.
    """
    count = corners.shape[1]
    if count == 1:
        return np.asarray(np.linalg.norm(points - corners[:, 0], axis=1))
    pairs = [(a, b) for a in range(count) for b in range(a)]
    nearest = np.min([_from_segment(points, corners[:, a], corners[:, b]) for a, b in pairs], axis=0)
    inside = np.zeros(len(points), dtype=bool)
    for a in range(count):
        for b in range(a):
            for c in range(b):
                turns = [
                    _cross(corners[:, j] - corners[:, i], points - corners[:, i]) for i, j in ((a, b), (b, c), (c, a))
                ]
                inside |= np.all(np.array(turns) >= 0, axis=0) | np.all(np.array(turns) <= 0, axis=0)
    return np.where(inside, 0.0, nearest)


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def _from_segment(points: Floats, a: Floats, b: Floats) -> Floats:
    along = b - a
    length = np.maximum(np.einsum("ij,ij->i", along, along), 1e-18)
    share = np.clip(np.einsum("ij,ij->i", points - a, along) / length, 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - a - share[:, None] * along, axis=1))
