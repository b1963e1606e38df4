"""What triangles cover: against points that are inside of them by their signs of area."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bodymotion.kernels.silhouettes import cover
from sample_files import tries

places = st.floats(-8.0, 40.0, allow_nan=False)


def inside(corners: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    a, b, c = corners
    sides = [(q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]) for p, q in ((a, b), (b, c), (c, a))]
    return np.all([side >= 0 for side in sides], axis=0) | np.all([side <= 0 for side in sides], axis=0)


@settings(max_examples=tries(60))
@given(st.lists(st.tuples(places, places), min_size=3, max_size=3).map(np.array))
def test_all_that_is_inside_is_covered_and_little_else(corners):
    out = np.zeros((30, 34), dtype=np.uint8)
    cover(corners, np.array([[0, 1, 2]]), out)
    rows, columns = np.mgrid[0:30, 0:34] + 0.5
    area = (corners[1] - corners[0])[0] * (corners[2] - corners[0])[1] - (corners[1] - corners[0])[1] * (
        corners[2] - corners[0]
    )[0]
    if abs(area) > 1e-6:
        assert (out[inside(corners, columns, rows)] == 255).all()
    low, high = np.floor(corners.min(axis=0) - 1e-9), np.floor(corners.max(axis=0) + 1e-9)
    found = np.argwhere(out)
    assert (found[:, 1] >= low[0]).all() and (found[:, 1] <= high[0]).all()
    assert (found[:, 0] >= low[1]).all() and (found[:, 0] <= high[1]).all()
    # A pixel that is touched has a part of the triangle in its row, at the height that was looked at, or is next to one.
    assert len(found) <= abs(area) / 2 + 2 * np.abs(np.diff(np.vstack([corners, corners[:1]]), axis=0)).sum() + 4


def test_broken_points_cover_nothing():
    out = np.zeros((8, 8), dtype=np.uint8)
    for wrong in (np.nan, 1e300, -1e300):
        cover(np.array([[wrong, 1.0], [2.0, wrong], [3.0, 3.0]]), np.array([[0, 1, 2]]), out)
    cover(np.zeros((0, 2)), np.zeros((0, 3)), out)
    assert out.shape == (8, 8)
