"""What triangles cover of a picture, all of one colour."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import kernel

__all__ = ["cover"]

Corners: TypeAlias = npt.NDArray[np.int64]


def cover(points: Floats, faces: Corners, out: npt.NDArray[np.uint8]) -> None:
    """Set to 255 what triangles touch of `out` (H, W): `faces` (F, 3) of points (N, 2), column and row in pixels."""
    _cover(np.ascontiguousarray(points, dtype=np.float64), np.ascontiguousarray(faces, dtype=np.int64), out)


@kernel
def _cover(points: Floats, faces: Corners, out: npt.NDArray[np.uint8]) -> None:
    rows, columns = out.shape
    for f in range(len(faces)):
        ax, ay = points[faces[f, 0], 0], points[faces[f, 0], 1]
        bx, by = points[faces[f, 1], 0], points[faces[f, 1], 1]
        cx, cy = points[faces[f, 2], 0], points[faces[f, 2], 1]
        low, high = min(ay, by, cy), max(ay, by, cy)
        if not (low < rows and high >= 0.0):
            continue
        for i in range(max(int(low), 0), min(int(high), rows - 1) + 1):
            # The row's middle, or what of the triangle is next to it.
            y = min(max(i + 0.5, low), high)
            left, right = np.inf, -np.inf
            for side in range(3):
                if side == 0:
                    x0, y0, x1, y1 = ax, ay, bx, by
                elif side == 1:
                    x0, y0, x1, y1 = bx, by, cx, cy
                else:
                    x0, y0, x1, y1 = cx, cy, ax, ay
                if min(y0, y1) <= y <= max(y0, y1):
                    x = x0 + (x1 - x0) * (y - y0) / (y1 - y0) if y0 != y1 else x0
                    left, right = min(left, x), max(right, x)
                    if y0 == y1:
                        left, right = min(left, x1), max(right, x1)
            if right >= 0.0 and left < columns:
                for j in range(max(int(left), 0), min(int(right), columns - 1) + 1):
                    out[i, j] = 255
