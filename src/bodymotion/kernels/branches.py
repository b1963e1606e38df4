"""Choice between several solutions of inverse kinematics, frame after frame, so that joints do not jump."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import interpreted, is_small, kernel


@np.errstate(all="ignore")
def nearest_branches(solutions: Floats, fits: npt.NDArray[np.bool_], start: Floats) -> npt.NDArray[np.int64]:
    """Return for each frame (T,) the index of the chosen solution.

    Parameters
    ----------
    solutions:
        (T, B, J) joints of B solutions.
    fits:
        (T, B) which of them may be chosen; where none may, all are considered.
    start:
        (J,) joints before the first frame.

    It is the one nearest to the solution before, with the smallest sum of squared differences.
    """
    chosen = np.zeros(len(solutions), dtype=np.int64)
    work = interpreted(_nearest) if is_small(_nearest, 4 * solutions.size) else _nearest
    work(np.ascontiguousarray(solutions), np.ascontiguousarray(fits), np.ascontiguousarray(start), chosen)
    return chosen


@kernel
def _nearest(solutions: Floats, fits: npt.NDArray[np.bool_], start: Floats, chosen: npt.NDArray[np.int64]) -> None:
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
                chosen[t] = b
        for j in range(solutions.shape[2]):
            before[j] = solutions[t, chosen[t], j]
