"""Values put on a fixed frame rate, with a low-pass before the rate goes down where that is wished."""

from __future__ import annotations

import numpy as np

from bodymotion.diagnostics import Location, Problem
from bodymotion.geometry.arrays import Floats
from bodymotion.motion.interpolation.holding import held_frames
from bodymotion.motion.interpolation.lowpass import low_passed, taps
from bodymotion.motion.interpolation.methods import HOLDING, Method, check_increasing, check_rate
from bodymotion.motion.interpolation.rules import BRIDGED
from bodymotion.motion.interpolation.sampling import are_poses, bridged, sampler
from bodymotion.motion.timeline import Timeline

__all__ = ["bridge_problem", "resampled"]

PIECE = 1 << 22
"""About how many numbers are worked on at a time, so that what stands beside the result in memory stays small."""


def resampled(
    values: Floats,
    timeline: Timeline,
    frame_rate: float,
    num_frames: int,
    method: Method,
    *,
    antialias: bool = False,
    start: float = 0.0,
) -> Floats:
    """Return the values (num_frames, …) at `start` + 0, 1/frame_rate, … seconds of values (T, …) on `timeline`.

    Parameters
    ----------
    values:
        (T, …); with three axes, the last of 7 numbers, they are poses: x y z and the quaternion w x y z.
    method:
        One of the module's table.
    antialias:
        Take out what is faster than half the new rate before going down to it: see `bodymotion.motion.interpolation.lowpass`.

    Raises
    ------
    ValueError
        When there are no frames, or when time stamps do not increase.
    """
    check_rate(frame_rate)
    check_increasing(timeline.times)
    fine = _fineness(timeline, frame_rate) if antialias else 1
    if method in HOLDING and fine == 1:
        return np.asarray(values[held_frames(timeline, frame_rate, num_frames, method, start)])
    missing = None
    if fine > 1:
        values, missing = bridged(values)
    out = np.empty((num_frames, *values.shape[1:]))
    piece = max(PIECE // max(int(np.prod(values.shape[1:], dtype=np.int64)), 1), 64)
    if method in HOLDING:
        grid = max(int((timeline.times[-1] - start) * frame_rate * fine + 0.5), 0) + 1
        held = held_frames(timeline, frame_rate * fine, grid, method, start)

        def ask(first: int, last: int, rows: Floats) -> None:
            rows[:] = values[held[first:last]]
    else:
        fill = sampler(values, timeline.times, method)

        def ask(first: int, last: int, rows: Floats) -> None:
            fill(start + np.arange(first, last) / (frame_rate * fine), rows)

    if fine == 1:
        for first in range(0, num_frames, piece):
            last = min(first + piece, num_frames)
            ask(first, last, out[first:last])
        return out
    ends = (timeline.times[[0, -1]] - start) * frame_rate * fine
    lowest, highest = max(int(np.ceil(ends[0] - 1e-6)), 0), max(int(np.floor(ends[1] + 1e-6)), 0)
    low_passed(
        ask, out, taps(fine), step=fine, ends=(min(lowest, highest), highest), piece=piece, poses=are_poses(values)
    )
    if missing is not None:
        out[missing[held_frames(timeline, frame_rate, num_frames, "nearest", start)]] = np.nan
    return out


def bridge_problem(values: Floats, timeline: Timeline, frame_rate: float, content: str) -> Problem | None:
    """Say, if the low-pass of `resampled` will go across numbers that are not finite, how many there are.

    ValueError as there, when time stamps do not increase.
    """
    check_increasing(timeline.times)
    count = int(values.size - np.count_nonzero(np.isfinite(values)))
    if not count or _fineness(timeline, frame_rate) == 1:
        return None
    return BRIDGED.problem(f"{count} numbers of {content} are not finite", Location(inside=content))


def _fineness(timeline: Timeline, frame_rate: float) -> int:
    """Return how many times finer than `frame_rate` the grid must be that holds all frames: 1 where the rate does not go down.

    Of frames with time stamps the middle one of their distances counts, but the grid has no more than four rows for each of them. What is
    over before the second frame of the new rate needs no filter, which would be longer than it by far.
    """
    if timeline.num_frames < 2 or timeline.duration * frame_rate < 1:
        return 1
    rate = timeline.frame_rate
    if rate is None:
        rate = min(1.0 / float(np.median(np.diff(timeline.times))), 4 * (timeline.num_frames - 1) / timeline.duration)
    return max(int(np.ceil(rate / frame_rate * (1 - 1e-9))), 1)
