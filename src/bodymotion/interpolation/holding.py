"""Values held until the next one: at which destination frame each source frame takes effect."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import Floats
from bodymotion.interpolation.methods import Method, check_method
from bodymotion.timeline import ON_FRAME, Timeline

__all__ = ["frames_needed", "held_frames", "taking_effect"]


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
    """Count the frames at `frame_rate` [Hz] from time `start` [s] up to the one at which the last source frame takes effect."""
    if timeline.num_frames == 0:
        return 0
    return int(max(taking_effect(timeline.times[-1:] - start, frame_rate, method)[0], 0)) + 1


def held_frames(
    timeline: Timeline, frame_rate: float, num_frames: int, method: Method, start: float = 0.0
) -> npt.NDArray[np.intp]:
    """Give the source frame (num_frames,) in force at each destination frame 0, 1, 2, … of `frame_rate` [Hz], frame 0 at `start` [s]."""
    if timeline.num_frames == 0:
        raise ValueError("there are no frames")
    effect = taking_effect(timeline.times - start, frame_rate, method)
    index = np.searchsorted(effect, np.arange(num_frames), side="right") - 1
    return np.clip(index, 0, timeline.num_frames - 1)
