"""Which moment of an animation is shown when: beats, slices, loops.

A slice is a quarter of a beat. A move takes a whole number of slices. `bpm` of an animation makes its keyframes last as many beats at the
script's tempo as at its own; without it they last as many seconds. `retime_to_integer_slices` stretches them to whole slices; without it
the last keyframe is held, or the end cut off, up to the nearest whole slice. A move that is longer than that begins anew, or holds its
last keyframe (`no_looping`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.motion.timeline import Timeline
from bodymotion.spot.playback.parameters import as_number
from bodymotion.system.memory import check_memory

if TYPE_CHECKING:
    from bodymotion.animation import Animation

__all__ = ["DEFAULT_BPM", "Timing", "smooth_rate", "timing"]

DEFAULT_BPM = 120.0
"""The script's beats per minute where neither the caller nor the animation says."""

MOST_FRAMES = 50_000_000
"""Nearly six days at 100 Hz: longer moves are a mistake."""

TEMPOS = (0.01, 100_000.0)
"""Beats per minute outside of these are a mistake."""

SMOOTH = 100.0
"""[Hz] The frame rate is at least so high, and so that a slice is a whole number of frames."""

NEARLY = 1e-9
"""Of a slice: so far off a whole number counts as on it."""


@dataclass(frozen=True)
class Timing:
    """How the time of a move becomes that of its animation.

    Attributes
    ----------
    bpm, slice:
        The script's tempo, and the seconds of a slice at it.
    natural:
        How many slices the move has by itself.
    slices:
        How many it is played for.
    seconds_per_slice:
        [s] of the animation's own time that pass in a slice at speed 1.
    timeline:
        The frames: the first at the move's start, the last at its end (or just before, at a frame rate that does not meet it).
    moments:
        (T,) [s] what is shown in each frame, in the animation's own time.
    rounds:
        (T,) how often it has begun anew.
    """

    bpm: float
    slice: float
    natural: int
    slices: float
    seconds_per_slice: float
    timeline: Timeline
    moments: Floats
    rounds: npt.NDArray[np.int64]


def smooth_rate(slice_seconds: float) -> float:
    """Return the usual frame rate [Hz]: a slice is a whole number of frames, and a frame not longer than 1 / SMOOTH."""
    return float(max(np.ceil(SMOOTH * slice_seconds), 1.0) / slice_seconds)


def timing(
    animation: Animation,
    *,
    bpm: float | None = None,
    slices: float | None = None,
    speed: float = 1.0,
    offset: float = 0.0,
    frame_rate: float | None = None,
) -> Timing:
    """Lay a move out in time.

    Parameters
    ----------
    bpm:
        The script's beats per minute; when not given, the animation's own, else 120.
    slices:
        How long the move is; by default as long as it is by itself. Longer needs `extendable`, shorter `truncatable`.
    speed, offset:
        The parameters `speed` and `offset_slices`.
    frame_rate:
        [Hz]; by default such that a slice is a whole number of frames, and at least 100 Hz.

    Raises
    ------
    ValueError
        For a tempo, length or rate that is not positive and finite, a tempo that no music has, a length that the animation does not
        allow, and when there would be more frames than there is memory for.
    """
    for what, value in (("bpm", bpm), ("slices", slices), ("frame_rate", frame_rate)):
        if value is not None and not 0 < as_number(what, value) < np.inf:
            raise ValueError(f"{what} is a positive number, not {value}")
    own = animation.bpm
    for what, value in (("bpm", bpm), ("the animation's bpm", own)):
        if value is not None and not TEMPOS[0] <= value <= TEMPOS[1]:
            raise ValueError(f"{what} is from {TEMPOS[0]:g} to {TEMPOS[1]:g} beats per minute, not {value:g}")
    tempo = float(bpm if bpm is not None else own if own is not None else DEFAULT_BPM)
    own = tempo if own is None else own
    slice_seconds = 15.0 / tempo
    duration = animation.duration
    if not 0 <= duration < np.inf:
        raise ValueError(f"the last keyframe is at {duration:g} s")
    length = duration * own / tempo / slice_seconds
    natural = max(round(min(length, 1e15)), 1)
    retimed = "retime_to_integer_slices" in animation.options and duration > 0
    per_slice = duration / natural if retimed else slice_seconds * tempo / own
    count = float(natural) if slices is None else float(slices)
    if count > natural * (1 + NEARLY) and "extendable" not in animation.options:
        raise ValueError(f"the animation takes {natural} slices, and {count:g} are asked for: it is not `extendable`")
    if count < natural * (1 - NEARLY) and "truncatable" not in animation.options:
        raise ValueError(f"the animation takes {natural} slices, and {count:g} are asked for: it is not `truncatable`")
    rate = frame_rate or smooth_rate(slice_seconds)
    frames = count * slice_seconds * rate
    what = f"a move of {count * slice_seconds:g} s at {rate:g} Hz"
    if frames > MOST_FRAMES:
        raise ValueError(f"{what} is too long: it has more than {MOST_FRAMES:,} frames")
    try:
        check_memory(int(frames) * 8 * 100, what)
    except MemoryError as error:
        raise ValueError(f"that is too long: {error}") from None
    timeline = Timeline.uniform(int(np.floor(frames + 1e-6)) + 1, rate)
    phases = offset + speed * timeline.times / slice_seconds
    looping = "no_looping" not in animation.options
    rounds = np.maximum(np.ceil(phases / natural - NEARLY) - 1, 0) if looping else np.zeros(len(phases))
    moments = np.clip((phases - natural * rounds) * per_slice, 0.0, duration)
    return Timing(float(tempo), slice_seconds, natural, count, per_slice, timeline, moments, rounds.astype(np.int64))
