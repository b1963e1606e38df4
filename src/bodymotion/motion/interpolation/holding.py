"""Values held until the next one: at which destination frame each source frame takes effect."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.motion.interpolation.methods import Method, check_increasing, check_method
from bodymotion.motion.timeline import ON_FRAME, Timeline

__all__ = ["frames_needed", "held_frames", "taking_effect"]

MOST = 2.0**53
"""From here on doubles do not tell one frame from the next."""


def taking_effect(times: Floats, frame_rate: float, method: Method) -> Floats:
    """Say at which destination frame a source frame at each time [s] takes effect; a method that interpolates counts as `before`."""
    check_method(method)
    exact = times * frame_rate
    whole = np.rint(exact)
    # Of a frame no more than a tenth, so that a tolerance in seconds has no say at rates above 100 kHz.
    on_frame = np.abs(exact - whole) <= np.clip(ON_FRAME * frame_rate, ON_FRAME, 0.1)
    if method == "after":
        off_frame = np.ceil(exact)
    elif method == "nearest":
        off_frame = np.floor(exact + 0.5)
    else:
        off_frame = np.floor(exact)
    return np.where(on_frame, whole, off_frame)


def frames_needed(timeline: Timeline, frame_rate: float, method: Method, start: float = 0.0) -> int:
    """Count the frames at `frame_rate` [Hz] from time `start` [s] up to the one at which the last source frame takes effect.

    Raises
    ------
    ValueError
        When `start` is not finite, or after the last frame; when that has no finite time, or there would be more frames than can be
        counted.
    """
    if not np.isfinite(start):
        raise ValueError(f"the time of frame 0 is a finite number of seconds, not {start}")
    if timeline.num_frames == 0:
        return 0
    last = timeline.times[-1:]
    check_increasing(last)
    with np.errstate(over="ignore", invalid="ignore"):
        frame = taking_effect(last - start, frame_rate, method)[0]
    if start > last[0] + ON_FRAME:
        raise ValueError(f"there is no frame at or after {start:g} s: the last one is at {last[0]:g} s")
    if not frame < MOST:
        raise ValueError(
            f"from {start:g} s to the last frame at {last[0]:g} s there are more frames at {frame_rate:g} Hz than can be counted: "
            "start=… of Motion.resample(), or `retime --start first`, takes the time before the first frame off"
        )
    return int(max(frame, 0)) + 1


def held_frames(
    timeline: Timeline, frame_rate: float, num_frames: int, method: Method, start: float = 0.0
) -> npt.NDArray[np.intp]:
    """Return the source frame (num_frames,) in force at each destination frame 0, 1, 2, … of `frame_rate` [Hz], frame 0 at `start` [s]."""
    if timeline.num_frames == 0:
        raise ValueError("there are no frames")
    effect = taking_effect(timeline.times - start, frame_rate, method)
    index = np.searchsorted(effect, np.arange(num_frames), side="right") - 1
    return np.clip(index, 0, timeline.num_frames - 1)
