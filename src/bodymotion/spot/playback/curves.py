"""What an animation is between its keyframes. How the robot goes from one to the next is not published; this is our choice.

Numbers follow cubics that never leave the range of the two keyframes they run between (PCHIP: Fritsch and Butland, 1984). Orientations
follow R₀·exp(θ(t)), θ a cubic, with angular velocities at the keyframes that are chosen in the same way, from the turns before and after:
a turn about a fixed axis is the PCHIP curve of its angle. Angles, of joints or of an orientation, are numbers: from 0 to 2π is a whole
turn. Between two keyframes a foot is in stance when it is so at both.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.motion.interpolation.sampling import sampled
from bodymotion.motion.interpolation.wraps import unwrapped

__all__ = ["both", "either_side", "numbers", "turns", "without_wraps"]

WRAP_SPEED = 30.0
"""[rad/s] A jump by about a whole turn that would be faster is none: a recording has gone from π to −π."""


def numbers(values: Floats, times: Floats, at: Floats) -> Floats:
    """Return values (T, C) at times `at` (T,) [s] of keyframes (N, C) at `times` (N,) [s]."""
    return sampled(values, times, at, "pchip")


def without_wraps(angles: Floats, times: Floats) -> Floats:
    """Return angles (N, C) [rad] of keyframes with the jumps by a whole turn taken out that are too fast to be turns (`WRAP_SPEED`)."""
    shifts = np.diff(unwrapped(angles) - angles, axis=0)
    if not shifts.any():
        return angles
    slow = np.abs(np.diff(angles, axis=0)) <= WRAP_SPEED * np.diff(times)[:, None]
    shifts[slow] = 0.0
    return np.concatenate([angles[:1], angles[1:] + np.cumsum(shifts, axis=0)])


def either_side(times: Floats, at: Floats) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the keyframes before and after each time (T,): one and the same at a keyframe, and outside of all."""
    after = np.clip(np.searchsorted(times, at - 1e-9, side="left"), 0, len(times) - 1)
    before = np.clip(np.searchsorted(times, at + 1e-9, side="right") - 1, 0, len(times) - 1)
    return np.minimum(before, after), after


def both(marks: npt.NDArray[np.bool_], times: Floats, at: Floats) -> npt.NDArray[np.bool_]:
    """Return marks (T, …) of keyframes (N, …): at a keyframe its own; between two, whether both have it."""
    before, after = either_side(times, at)
    return np.asarray(marks[before] & marks[after])


def turns(quaternions: npt.ArrayLike, times: Floats, at: Floats) -> Floats:
    """Return unit quaternions (T, 4) at times `at` (T,) [s] of keyframes (N, 4) at `times` (N,) [s]; always the shorter way."""
    from bodymotion.kernels import rotation_spline

    q = rotations.normalized(quaternions)
    if len(q) == 1:
        return np.tile(q, (len(at), 1))
    gaps = np.diff(times)
    axis, angle = rotations.to_axis_angle(rotations.multiply(rotations.conjugate(q[:-1]), q[1:]))
    rates = _velocities(axis * angle[:, None], gaps)
    before = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    fraction = np.clip((at - times[before]) / gaps[before], 0.0, 1.0)
    out = np.zeros((len(at), 1, 7))
    rotation_spline.curve(q[:, None], rates[:, None], gaps, before.astype(np.int64), fraction, out)
    return rotations.normalized(out[:, 0, 3:])


def _velocities(steps: Floats, gaps: Floats) -> Floats:
    """Return angular velocities (N, 3) at keyframes from the turns between them (N − 1, 3), as PCHIP takes slopes from rises."""
    from bodymotion.kernels.slopes import pchip_slopes

    # A turn is the same vector in the frame of its first and of its last orientation. PCHIP's slope in a row needs only the rises
    # beside it (at the
    # ends: the next two), so that the sum of all turns may stand for a table of values.
    return pchip_slopes(np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)]), gaps)
