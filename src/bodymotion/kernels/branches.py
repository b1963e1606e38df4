"""Which of several solutions to take, frame after frame, so that joints do not jump."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import kernel

__all__ = ["nearest_branches"]


def nearest_branches(solutions: Floats, fits: npt.NDArray[np.bool_], start: Floats) -> npt.NDArray[np.int64]:
    """Return for each frame (T,) the index of the solution to take.

    Parameters
    ----------
    solutions:
        (T, B, J) joints of B solutions.
    fits:
        (T, B) which of them may be taken; where none may, all are looked at.
    start:
        (J,) joints before the first frame.

    Of those that may be taken it is the one nearest to the one taken before (smallest sum of squared differences).
    """
    taken = np.zeros(len(solutions), dtype=np.int64)
    _nearest(np.ascontiguousarray(solutions), np.ascontiguousarray(fits), np.ascontiguousarray(start), taken)
    return taken


@kernel
def _nearest(solutions: Floats, fits: npt.NDArray[np.bool_], start: Floats, taken: npt.NDArray[np.int64]) -> None:
    before = start.copy()
    for t in range(solutions.shape[0]):
        some = False
        for b in range(solutions.shape[1]):
            some = some or fits[t, b]
        least = np.inf
        for b in range(solutions.shape[1]):
            if some and not fits[t, b]:
                continue
            distance = 0.0
            for j in range(solutions.shape[2]):
                step = solutions[t, b, j] - before[j]
                distance += step * step
            if distance < least:
                least = distance
                taken[t] = b
        for j in range(solutions.shape[2]):
            before[j] = solutions[t, taken[t], j]
