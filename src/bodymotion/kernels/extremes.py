"""What the columns of a long table reach, in one pass over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import kernel

__all__ = ["extremes"]


@kernel
def extremes(values: Floats) -> Any:  # noqa: ANN401
    """Return the lowest and highest value of each column of (N, C), N > 0, and the longest step from one row to the next.

    Each is (C,); NaN where the column has one.
    """
    rows, columns = values.shape
    lowest, highest = values[0].copy(), values[0].copy()
    longest = np.zeros(columns)
    bad = np.isnan(values[0])
    for i in range(1, rows):
        for k in range(columns):
            value = values[i, k]
            step = abs(value - values[i - 1, k])
            lowest[k] = min(value, lowest[k])
            highest[k] = max(value, highest[k])
            longest[k] = max(step, longest[k])
            bad[k] |= value != value
    for k in range(columns):
        if bad[k]:
            lowest[k] = highest[k] = longest[k] = np.nan
    return lowest, highest, longest
