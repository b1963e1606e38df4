"""The zero moment point of a motion without gaps, and without what is too fast."""

import numpy as np

from bodymotion.dynamics import Measures
from bodymotion.geometry.arrays import Floats
from bodymotion.motion.filters import low_pass_filter

# [Hz] of the low-pass filter of the zero moment point. What is faster does not tilt a
# body, and is not balanced.
ZMP_CUTOFF = 8.0


def known_zmp(measures: Measures) -> Floats:
    """Return the zero moment point (T, 3) [m], on straight lines through flights."""
    zmp = measures.zmp.copy()
    known = np.isfinite(zmp).all(axis=1)
    if not known.any():
        return np.zeros(zmp.shape)
    times = measures.times
    for axis in range(3):
        zmp[:, axis] = np.interp(times, times[known], measures.zmp[known, axis])
    return zmp


def smooth_zmp(measures: Measures) -> Floats:
    """Return x and y (T, 2) [m] of the zero moment point below `ZMP_CUTOFF`."""
    return low_pass_filter(known_zmp(measures)[:, :2], measures.times, ZMP_CUTOFF)
