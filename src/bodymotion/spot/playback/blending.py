"""From one pose smoothly into another: the weights of entry and exit, and poses between poses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.spot.playback.timing import Timing

__all__ = ["blended", "entering", "leaving"]


def entering(times: Timing, slices: float) -> Floats:
    """Return the weight (T,) of the animation over the pose before: from 0 at the start to 1 after so many slices, smoothly."""
    return _smooth(times.timeline.times / times.slice, 0.0, slices)


def leaving(times: Timing, slices: float) -> Floats:
    """Return the weight (T,) of the pose after over the animation: from 0 to 1 in the last so many slices of the move; 0 slices: none."""
    if slices <= 0:
        return np.zeros(times.timeline.num_frames)
    return _smooth(times.timeline.times / times.slice, times.slices - slices, times.slices)


def _smooth(now: Floats, start: float, end: float) -> Floats:
    if end <= start:
        return np.ones(len(now))
    fraction = np.clip((now - start) / (end - start), 0.0, 1.0)
    return np.asarray(fraction * fraction * (3.0 - 2.0 * fraction))


def blended(a: npt.ArrayLike, b: npt.ArrayLike, weight: Floats) -> Floats:
    """Return poses (T, 7) from `a` (…, 7), at weight 0, to `b` (…, 7), at weight 1: places in a line, orientations by SLERP."""
    if (weight == 1.0).all() and np.shape(b) == (len(weight), 7):
        return np.asarray(b, dtype=np.float64)
    if (weight == 0.0).all() and np.shape(a) == (len(weight), 7):
        return np.asarray(a, dtype=np.float64)
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    shape = (len(weight), 7)
    a, b = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
    place = a[:, :3] + weight[:, None] * (b[:, :3] - a[:, :3])
    mixed = poses.from_parts(place, rotations.slerp(a[:, 3:], b[:, 3:], weight))
    return np.where(weight[:, None] == 1.0, b, np.where(weight[:, None] == 0.0, a, mixed))
