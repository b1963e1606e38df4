"""The names of the methods, their requirements on time stamps, and the frame at which a held value takes effect."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.motion.components import ON_FRAME, Timeline

Method: TypeAlias = Literal["after", "nearest", "before", "linear", "cubic", "pchip"]

HOLDING = ("after", "nearest", "before")
"""The methods that hold a value until the next one."""

MAX_FRAME = 2.0**53
"""Above this number, consecutive frame numbers are the same double."""


def check_method(method: Method) -> None:
    """Raise ValueError, listing those that exist, when there is no such method."""
    if method not in get_args(Method):
        raise ValueError(f"no method {method!r}; there are: {', '.join(get_args(Method))}")


def check_rate(frame_rate: float) -> None:
    """Raise ValueError when a frame rate is not a positive, finite number."""
    if not 0 < frame_rate < np.inf:
        raise ValueError(f"frame rate: expected a positive, finite number of Hz, got {frame_rate}")


def check_increasing(times: Floats) -> None:
    """Raise ValueError, naming the first fault, when times (T,) are not finite or do not increase strictly, as the document requires."""
    finite = np.isfinite(times)
    if not finite.all():
        frame = int(np.argmin(finite))
        raise ValueError(f"frame {frame} has no finite time stamp but {times[frame]}")
    rising = np.diff(times) > 0
    if not rising.all():
        frame = int(np.argmin(rising)) + 1
        raise ValueError(
            f"time stamps must increase; frame {frame} is at {times[frame]:g} s and the one before it at {times[frame - 1]:g} s"
        )


def taking_effect(times: Floats, frame_rate: float, method: Method) -> Floats:
    """Return the destination frame at which a source frame at each time [s] takes effect; methods that interpolate count as `before`."""
    check_method(method)
    exact = times * frame_rate
    whole = np.rint(exact)
    # At most a tenth of a frame, so that rates above 100 kHz are not governed by a tolerance in seconds.
    on_frame = np.abs(exact - whole) <= np.clip(ON_FRAME * frame_rate, ON_FRAME, 0.1)
    if method == "after":
        off_frame = np.ceil(exact)
    elif method == "nearest":
        off_frame = np.floor(exact + 0.5)
    else:
        off_frame = np.floor(exact)
    return np.where(on_frame, whole, off_frame)


def frames_needed(timeline: Timeline, frame_rate: float, method: Method, start: float = 0.0) -> int:
    """Return the number of frames at `frame_rate` [Hz] from time `start` [s] up to the one at which the last source frame takes effect.

    Raises
    ------
    ValueError
        When `start` is not finite, or after the last frame; when that has no finite time, or there would be more frames than can be
        counted.
    """
    if not np.isfinite(start):
        raise ValueError(f"the time of frame 0: expected a finite number of seconds, got {start}")
    if timeline.num_frames == 0:
        return 0
    last = timeline.times[-1:]
    check_increasing(last)
    with np.errstate(over="ignore", invalid="ignore"):
        frame = taking_effect(last - start, frame_rate, method)[0]
    if start > last[0] + ON_FRAME:
        raise ValueError(f"there is no frame at or after {start:g} s: the last one is at {last[0]:g} s")
    if not frame < MAX_FRAME:
        raise ValueError(
            f"from {start:g} s to the last frame at {last[0]:g} s there are more frames at {frame_rate:g} Hz than can be counted; "
            "remove the time before the first frame: start=… of Motion.resample(), or `retime --start first`"
        )
    return int(max(frame, 0)) + 1


def held_frames(
    timeline: Timeline, frame_rate: float, num_frames: int, method: Method, start: float = 0.0
) -> npt.NDArray[np.intp]:
    """Return the source frame (num_frames,) in force at each destination frame 0, 1, 2, … of `frame_rate` [Hz], frame 0 at `start` [s]."""
    if timeline.num_frames == 0:
        raise ValueError("the timeline has no frames")
    effect = taking_effect(timeline.times - start, frame_rate, method)
    index = np.searchsorted(effect, np.arange(num_frames), side="right") - 1
    return np.clip(index, 0, timeline.num_frames - 1)
