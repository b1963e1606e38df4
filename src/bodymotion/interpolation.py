"""What a trajectory is between its frames: put on a fixed frame rate by holding values, or by straight lines.

The .seq document holds: a source frame takes effect at a destination frame and lasts until the next one takes over. Which destination
frame that is, the document says in two ways and the reference program in a third; all are here by name:

========= ==================================================== ==============================
after     the nearest one at or after the source frame's time  Japanese original; the default
nearest   the nearest one                                      English translation
before    the nearest one at or before it                      what the reference program does
========= ==================================================== ==============================

A source frame within `ON_FRAME` of a destination frame counts as on it. Of two sources on one destination the later one counts; before
the first source frame its value holds too. `linear` goes in straight lines, for orientations along the shorter arc (SLERP).
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from bodymotion import rotations
from bodymotion.arrays import Floats
from bodymotion.timeline import ON_FRAME, Timeline

__all__ = ["Method", "frames_needed", "held_frames", "resampled"]

Method: TypeAlias = Literal["after", "nearest", "before", "linear"]


def _destinations(timeline: Timeline, frame_rate: float, method: Method) -> npt.NDArray[np.int64]:
    """Say at which destination frame each source frame takes effect; `linear` counts as `before` here."""
    if method not in get_args(Method):
        raise ValueError(f"no method {method!r}; there are: {', '.join(get_args(Method))}")
    exact = timeline.times * frame_rate
    whole = np.rint(exact)
    on_frame = np.abs(exact - whole) <= ON_FRAME
    if method == "after":
        off_frame = np.ceil(exact)
    elif method == "nearest":
        off_frame = np.floor(exact + 0.5)
    else:
        off_frame = np.floor(exact)
    return np.where(on_frame, whole, off_frame).astype(np.int64)


def frames_needed(timeline: Timeline, frame_rate: float, method: Method) -> int:
    """Count the frames at `frame_rate` [Hz] from 0 s up to the one at which the last source frame takes effect."""
    if timeline.num_frames == 0:
        return 0
    return int(max(_destinations(timeline, frame_rate, method)[-1], 0)) + 1


def held_frames(timeline: Timeline, frame_rate: float, num_frames: int, method: Method) -> npt.NDArray[np.intp]:
    """Give the source frame (num_frames,) in force at each destination frame 0, 1, 2, … of `frame_rate` [Hz]."""
    if timeline.num_frames == 0:
        raise ValueError("there are no frames")
    taking_effect = _destinations(timeline, frame_rate, method)
    index = np.searchsorted(taking_effect, np.arange(num_frames), side="right") - 1
    return np.clip(index, 0, timeline.num_frames - 1)


def resampled(values: Floats, timeline: Timeline, frame_rate: float, num_frames: int, method: Method) -> Floats:
    """Give the values (num_frames, …) at 0, 1/frame_rate, … seconds of values (T, …) on `timeline`.

    Values whose last axis has 7 numbers and which have three axes are poses: their quaternions w x y z are interpolated by SLERP.
    """
    if method != "linear":
        return np.asarray(values[held_frames(timeline, frame_rate, num_frames, method)])
    exact, frames = timeline.times * frame_rate, np.arange(num_frames)
    before = np.clip(np.searchsorted(exact, frames + ON_FRAME, side="right") - 1, 0, timeline.num_frames - 1)
    after = np.minimum(before + 1, timeline.num_frames - 1)
    gap, elapsed = exact[after] - exact[before], frames - exact[before]
    between = (gap > 0) & (elapsed > ON_FRAME)
    fraction = np.where(between, elapsed / np.where(between, gap, 1.0), 0.0)
    weight = fraction.reshape(-1, *[1] * (values.ndim - 1))
    mixed = np.where(weight > 0, values[before] + weight * (values[after] - values[before]), values[before])
    if values.ndim == 3 and values.shape[-1] == 7:
        turned = rotations.slerp(values[before, :, 3:], values[after, :, 3:], fraction[:, None])
        mixed[..., 3:] = np.where(weight > 0, turned, values[before, :, 3:])
    return np.asarray(mixed)
