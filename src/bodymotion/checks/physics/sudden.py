"""What is sudden: jumps of place and jumps of speed, of joints and of the root.

Between frames k − 1 and k the speed is v_k = (q_k − q_(k−1))/Δt. A frame is sudden where, together,

- the speed changes by more than `speed` + `acceleration`·Δt: what a body would need is more than strong motors give, at any frame rate;
- that change makes more than `step` of way in one frame: what fewer digits do to a motion of many frames a second is not sudden;
- it is `RATIO` times the middle one (median) of the changes in the frames around: a motion that is quick everywhere is not.

Where the last is not so, and the other two are for `LONG` seconds, in every second frame or more, it trembles.

What is left over of the way when that of the frames before and after goes on through it tells a jump (it stays away) from a spike (it comes
back, or there is just a corner).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.checks.physics.moments import MOST, Run, runs
from bodymotion.geometry.arrays import Floats

__all__ = ["ANGLES", "PLACES", "SLIDES", "TURNS", "Scale", "Sudden", "sudden", "trembling"]

RATIO = 8.0
NEAR, FAR = 3, 10
"""Frames from the third to the tenth on both sides are those around: jump and spike themselves take three."""


LONG = 0.1
"""[s] So long it takes to tell trembling from a spike."""


@dataclass(frozen=True)
class Scale:
    """From where on a change of speed is sudden; see above. `speed` [unit/s], `acceleration` [unit/s²], `step` [unit]."""

    speed: float
    acceleration: float
    step: float


ANGLES = Scale(2.0, 200.0, 0.01)
"""For joints that turn [rad]: humanoids' joints reach some 10 rad/s in some 0.1 s; ten times what they can do."""
SLIDES = Scale(0.5, 50.0, 0.002)
"""For joints that slide [m]: as much as a joint gives that turns an arm of 0.25 m."""
PLACES = Scale(1.0, 100.0, 0.005)
"""For the root's place [m]: ten times gravity, and the speed of a fall from 5 cm."""
TURNS = Scale(2.0, 200.0, 0.01)
"""For the root's orientation [rad]."""


@dataclass(frozen=True)
class Sudden:
    """Something sudden in frames `first` to `last`, worst in frame `worst`.

    `jump`: how far it goes and stays away from where it was going, 0 for a spike. `before` is the frame before the largest step. `change`
    is that of the speed, `amount` the same as a multiple of what is let pass, and `usual` what is usual around.
    """

    first: int
    last: int
    worst: int
    before: int
    jump: float
    change: float
    amount: float
    usual: float


def sudden(steps: Floats, gaps: Floats, scale: Scale) -> list[Sudden]:
    """Return what is sudden in a motion of steps (T − 1, N) that take `gaps` (T − 1,) [s]; at most `MOST`, the worst, in order of time."""
    if len(steps) < 2:
        return []
    speeds = steps / gaps[:, None]
    change, allowed, loud = _loud(speeds, gaps, scale)
    if not len(loud):
        return []
    usual = _around(change, loud)
    alone = change[loud] > RATIO * usual
    loud, usual = loud[alone], usual[alone]
    if not len(loud):
        return []
    cuts = np.flatnonzero(np.diff(loud) > 2) + 1
    starts, ends = np.concatenate([[0], cuts]), np.concatenate([cuts, [len(loud)]])
    amount = change[loud] / allowed[loud]
    tops = np.maximum.reduceat(amount, starts)
    chosen = np.arange(len(starts))
    if len(chosen) > MOST:
        chosen = np.sort(np.argsort(-tops, kind="stable")[:MOST])
    found = []
    for k in chosen:
        first, last = int(loud[starts[k]]), int(loud[ends[k] - 1])
        worst = int(starts[k] + np.argmax(amount[starts[k] : ends[k]]))
        jump, before = _jump(steps, speeds, gaps, first, last, scale)
        at = int(loud[worst])
        found.append(
            Sudden(first + 1, last + 1, at + 1, before, jump, float(change[at]), float(tops[k]), float(usual[worst]))
        )
    return found


def trembling(steps: Floats, gaps: Floats, times: Floats, scale: Scale) -> tuple[list[Run], int]:
    """Return where a motion of T frames at `times` (T,) trembles: runs of frames, as `runs` gives them."""
    amount = np.zeros(len(times))
    if len(steps) > 1:
        change, allowed, loud = _loud(steps / gaps[:, None], gaps, scale)
        if len(loud) > 4:
            loud = loud[change[loud] <= RATIO * _around(change, loud)]
            amount[loud + 1] = change[loud] / allowed[loud]
            # Every second frame will do.
            between = (amount[1:-1] == 0) & (amount[2:] > 0) & (amount[:-2] > 0)
            amount[1:-1][between] = np.nextafter(1.0, 2.0)
    return runs(amount, times, least=LONG)


def _loud(speeds: Floats, gaps: Floats, scale: Scale) -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
    """Return by how much speeds (T − 1, N) change from step to step, how much is let pass, and where it is more."""
    change = _length(np.diff(speeds, axis=0))
    allowed = scale.speed + scale.acceleration * 0.5 * (gaps[1:] + gaps[:-1])
    shorter = np.minimum(gaps[1:], gaps[:-1])
    return change, allowed, np.flatnonzero((change > allowed) & (change * shorter > scale.step))


def _jump(steps: Floats, speeds: Floats, gaps: Floats, first: int, last: int, scale: Scale) -> tuple[float, int]:
    """Return how far it jumps in steps `first` to `last + 1`, 0 where it does not stay away, and the frame before the largest step."""
    inside = slice(first, last + 2)
    around = [speeds[k] for k in (first - 1, last + 2) if 0 <= k < len(speeds)]
    expected = np.mean(around, axis=0) if around else np.zeros(steps.shape[1])
    left = steps[inside] - expected * gaps[inside, None]
    sizes = _length(left)
    whole = float(_length(left.sum(axis=0)))
    before = first + int(np.argmax(sizes))
    return (whole if whole > max(0.5 * float(sizes.max()), scale.step) else 0.0), before


def _around(change: Floats, frames: npt.NDArray[np.intp]) -> Floats:
    """Return the median of `change` in the frames around each of `frames`; 0 where there are none."""
    away = np.concatenate([-np.arange(NEAR, FAR + 1), np.arange(NEAR, FAR + 1)])
    place = frames[:, None] + away
    there = (place >= 0) & (place < len(change))
    values = np.where(there, change[np.clip(place, 0, len(change) - 1)], np.nan)
    values[~np.isfinite(values).any(axis=1)] = 0.0
    return np.asarray(np.nanmedian(values, axis=1))


def _length(vectors: Floats) -> Floats:
    return np.asarray(np.sqrt(np.sum(vectors * vectors, axis=-1)))
