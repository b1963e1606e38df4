"""When feet stand: from their heights above the ground and their speeds over it."""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.slices import as_rows

__all__ = ["stances"]

RISE = 0.001
"""[m] A foot that goes so far above the height at which it stood, and on, leaves."""
AMONG = 0.002
"""[m] A foot so far above the lowest one, or less, is as low as that."""
TOUCHING = 1e-5
"""[m] A foot that is no higher than this touches the ground, whatever else it does."""
LASTING = 0.1
"""[s] What is at one height for so long rests there; what slides for so long does not land or leave."""


def stances(
    heights: Floats, speeds: Floats, times: Floats, height: tuple[float, float], speed: tuple[float, float]
) -> Floats:
    """Return where feet of `heights` (T, K) [m] above the ground and `speeds` (T, K) [m/s] over it stand: (T, K), 1 or 0.

    A foot is low from where it is below `height[0]` until it is above `height[1]`. Of that time it does not stand

    - while it leaves or comes down: the climb at the end, back to 1 mm above the height at which it stood, or to where it stayed at one
      height for 0.1 s; and likewise the way down at the beginning;
    - while it is fast (from above `speed[1]` until below `speed[0]`) and does not slide: on the mean more than 1 mm above the height at
      which it stands, or 2 mm above the lowest foot; or for less than 0.1 s just after it came down or before it leaves. On the ground,
      or below it, it slides in any case.
    """
    out = np.zeros(heights.shape)
    limits = np.array([*height, *speed])
    _stances(as_rows(heights, heights.shape), as_rows(speeds, speeds.shape), as_rows(times, times.shape), limits, out)
    return out


@inlined
def _level(heights: Floats, first: int, after: int) -> float:
    """Return the height at which a foot stands that is low in frames `first` … `after` - 1: the mean of those that are not above the mean."""
    mean = 0.0
    for t in range(first, after):
        mean += heights[t]
    mean /= after - first
    total = 0.0
    count = 0
    for t in range(first, after):
        if heights[t] <= mean + 1e-12:
            total += heights[t]
            count += 1
    return total / count


@inlined
def _foot_of_climb(heights: Floats, times: Floats, top: int, last: int, step: int, level: float) -> int:
    """Return the frame, going from `top` by `step` to `last`, in which the way down that begins there ends."""
    low = top
    other = top
    t = top
    while True:
        if heights[t] > heights[low] + RISE:
            return low
        if heights[t] < heights[low]:
            low = t
        if heights[t] <= level + RISE:
            return low
        while other != t and abs(times[other + step] - times[t]) >= LASTING - 1e-9:
            other += step
        if abs(times[other] - times[t]) >= LASTING - 1e-9 and heights[other] - heights[t] < RISE:
            return other
        if t == last:
            return low
        t += step


@inlined
def _slides(heights: Floats, lowest: Floats, times: Floats, begin: int, end: int, level: float, inside: bool) -> bool:
    """Say whether a foot that is fast in frames `begin` … `end` - 1 slides: as low as where it stands, and not just landing or leaving."""
    if not inside and times[end - 1] - times[begin] < LASTING - 1e-9:
        return False
    mean = 0.0
    above = 0.0
    for t in range(begin, end):
        mean += heights[t]
        above += heights[t] - lowest[t]
    return mean / (end - begin) <= level + RISE and above / (end - begin) <= AMONG


@kernel
def _stances(heights: Floats, speeds: Floats, times: Floats, limits: Floats, out: Floats) -> None:
    count = heights.shape[0]
    lowest = np.empty(count)
    own = np.empty(count)
    for t in range(count):
        lowest[t] = np.inf
        for k in range(heights.shape[1]):
            lowest[t] = min(lowest[t], heights[t, k])
    for k in range(heights.shape[1]):
        for t in range(count):
            own[t] = heights[t, k] if speeds[t, k] >= 0.0 else np.nan
        after = 0
        while after < count:
            first = after
            after += 1
            if not (own[first] < limits[0] or (first == 0 and own[first] <= limits[1])):
                continue
            while after < count and own[after] <= limits[1]:
                after += 1
            level = max(_level(own, first, after), 0.0)  # What is below the ground touches it.
            begin = first
            if (first > 0 and own[first - 1] > limits[0]) or own[first] >= limits[0]:
                begin = _foot_of_climb(own, times, first, after - 1, 1, level)
            last = after - 1
            if (after < count and own[after] > limits[1]) or own[last] >= limits[0]:
                last = _foot_of_climb(own, times, last, first, -1, level)
            end = last + 1
            for t in range(begin, end):
                out[t, k] = 1.0
            slow = speeds[begin, k] < limits[2] or (begin == 0 and speeds[begin, k] <= limits[3])
            fast = begin
            for t in range(begin, end + 1):
                now = t == end or speeds[t, k] < limits[2] or (slow and speeds[t, k] <= limits[3])
                if now and not slow:
                    inside = (fast > begin or begin == 0) and (t < end or end == count)
                    if not _slides(own, lowest, times, fast, t, level, inside):
                        for n in range(fast, t):
                            if own[n] > TOUCHING:
                                out[n, k] = 0.0
                if slow and not now:
                    fast = t
                slow = now
