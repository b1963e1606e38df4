"""Low-pass filters and smooth bounds of values over time."""

import numpy as np

from bodymotion.geometry.arrays import Floats, median_step
from bodymotion.motion.interpolation.lowpass import (
    all_low_passed,
    gaussian,
    smooth_bound,
)

# Frames of the shortest clip that is filtered.
MIN_FILTERED = 3
# [s] A motion slows down over this time before a joint would be too fast.
EASING_TIME = 0.2


def low_pass_filter(
    values: Floats, times: Floats, cutoff: float, *, are_poses: bool = False
) -> Floats:
    """Return values (T, …) without frequencies above a cutoff [Hz].

    Clips of fewer than 3 frames are returned as they are.
    """
    if len(times) < MIN_FILTERED:
        return values
    cycles_per_frame = cutoff * median_step(times)
    weights = gaussian(float(np.clip(cycles_per_frame, 1.0 / len(values), 0.5)))
    return all_low_passed(values, weights, poses=are_poses)


def smooth_upper_bound(
    values: Floats, times: Floats, seconds: float = EASING_TIME
) -> Floats:
    """Return a smooth upper bound (T,) of values (T,) over time.

    It rises `seconds` before the values do.
    """
    if len(times) < MIN_FILTERED:
        return values
    span = int(np.clip(seconds / median_step(times) + 0.5, 1, len(times)))
    return smooth_bound(values, span)
