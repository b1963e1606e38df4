"""When the frames of a trajectory happen: at a fixed frame rate, or at a time stamp each.

A stamp within `ON_FRAME` seconds of an asked time counts as on it (0.07 · 100 is not 7 in floating point).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import ContentEquality, Floats, frozen

__all__ = ["ON_FRAME", "Timeline"]

ON_FRAME = 1e-6
"""Seconds within which a time stamp counts as on a frame."""


@dataclass(frozen=True, eq=False)
class Timeline(ContentEquality):
    """The times of `num_frames` frames, in seconds.

    Attributes
    ----------
    num_frames:
        How many frames there are.
    frame_rate:
        Frames per second [Hz] of a timeline with a fixed rate, whose first frame is at 0 s; None where there are stamps.
    stamps:
        The time (T,) [s] of each frame, strictly increasing; None where there is a fixed rate.
    import_rate:
        For stamped frames, the rate [Hz] on which the file wishes them to be put; None where it gives none.
    """

    num_frames: int
    frame_rate: float | None = None
    stamps: Floats | None = None
    import_rate: float | None = None

    def __post_init__(self) -> None:
        if (self.frame_rate is None) == (self.stamps is None):
            raise ValueError("a timeline has either a frame rate or time stamps")
        if self.frame_rate is not None and not (0 < self.frame_rate < np.inf):
            raise ValueError(f"a frame rate is a positive, finite number of Hz, not {self.frame_rate}")
        if self.stamps is not None:
            object.__setattr__(self, "stamps", frozen(self.stamps, (self.num_frames,), "time stamps"))

    @classmethod
    def uniform(cls, num_frames: int, frame_rate: float) -> Timeline:
        """Make a timeline of frames at 0, 1/frame_rate, 2/frame_rate, … seconds."""
        return cls(num_frames, frame_rate=float(frame_rate))

    @classmethod
    def stamped(cls, times: npt.ArrayLike, import_rate: float | None = None) -> Timeline:
        """Make a timeline of frames at the given times (T,) [s]."""
        stamps = np.asarray(times, dtype=np.float64)
        return cls(len(stamps), stamps=stamps, import_rate=import_rate)

    @cached_property
    def times(self) -> Floats:
        """The time (T,) [s] of each frame."""
        if self.stamps is not None:
            return self.stamps
        assert self.frame_rate is not None
        return frozen(np.arange(self.num_frames) / self.frame_rate)

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last one."""
        if self.num_frames < 2:
            return 0.0
        if self.stamps is not None:
            return float(self.stamps[-1] - self.stamps[0])
        assert self.frame_rate is not None
        return (self.num_frames - 1) / self.frame_rate

    def frames_at(self, times: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Return the index of the frame that is in force at each time (...): the last one at or before it, at least the first."""
        t = np.asarray(times, dtype=np.float64) + ON_FRAME
        if self.num_frames == 0:
            raise ValueError("there are no frames")
        if self.stamps is not None:
            index = np.searchsorted(self.stamps, t, side="right") - 1
        else:
            assert self.frame_rate is not None
            index = np.floor(np.clip(t * self.frame_rate, -1, self.num_frames)).astype(np.intp)
        return np.clip(index, 0, self.num_frames - 1)
