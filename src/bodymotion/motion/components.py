"""The components of a motion, named as in the .seq document.

Tables with one row per frame; and the times of their frames.

Joint displacements [rad or m] are in order of joint id, or in the order of their part
labels, where these are names of joints. Link poses are in order of link index (the
order of a depth-first walk of the link tree).

A `Timeline` has a fixed frame rate, or one time stamp per frame. A time stamp within
`ON_FRAME` seconds of a requested time counts as equal to it (0.07 · 100 is not 7 in
floating point).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import (
    Bools,
    ContentEquality,
    Floats,
    Indices,
    frozen,
    median_step,
)

ON_FRAME = 1e-6
"""[s] Tolerance within which a time stamp counts as on a frame.

At high rates at most a tenth of a frame.
"""
# Maximum ratio of the frames of a shared timeline at a fixed rate to those of its
# components.
MAX_FILL = 4

MAX_ROUNDS = 1000  # With longer parts in the wrong order, all times are wrong.

JOINT_DISPLACEMENT = "JointDisplacement"
JOINT_EFFORT = "JointEffort"
LINK_POSITION = "LinkPosition"
ZMP = "ZMP"


@dataclass(frozen=True, eq=False)
class Timeline(ContentEquality):
    """The times of `num_frames` frames, in seconds.

    Attributes
    ----------
    num_frames:
        Number of frames.
    frame_rate:
        Frames per second [Hz] of a timeline with a fixed rate, whose first frame is at
        0 s; None where there are stamps.
    stamps:
        The time (T,) [s] of each frame, strictly increasing; None where there is a
        fixed rate.
    import_rate:
        For stamped frames, the rate [Hz] that the file requests for resampling; None
        where it has none.
    """

    num_frames: int
    frame_rate: float | None = None
    stamps: Floats | None = None
    import_rate: float | None = None

    def __post_init__(self) -> None:
        if (self.frame_rate is None) == (self.stamps is None):
            raise ValueError("a timeline has either a frame rate or time stamps")
        if self.frame_rate is not None and not (0 < self.frame_rate < np.inf):
            raise ValueError(
                "frame rate: expected a positive, finite number of Hz, got "
                f"{self.frame_rate}"
            )
        if self.stamps is not None:
            object.__setattr__(
                self, "stamps", frozen(self.stamps, (self.num_frames,), "time stamps")
            )

    def _summary(self) -> str:
        return f"Timeline({self})"

    def __str__(self) -> str:
        frames = f"{self.num_frames} frame{'' if self.num_frames == 1 else 's'}"
        if self.frame_rate is not None:
            return f"{frames} at {self.frame_rate:g} Hz"
        if not self.num_frames:
            return frames
        return (
            f"{frames} with time stamps from {self.times[0]:g} s to "
            f"{self.times[-1]:g} s"
        )

    @classmethod
    def uniform(cls, num_frames: int, frame_rate: float) -> Timeline:
        """Return a timeline of frames at 0, 1/frame_rate, 2/frame_rate, … seconds."""
        return cls(num_frames, frame_rate=float(frame_rate))

    @classmethod
    def stamped(
        cls, times: npt.ArrayLike, import_rate: float | None = None
    ) -> Timeline:
        """Return a timeline of frames at the times (T,) [s]."""
        stamps = np.asarray(times, dtype=np.float64)
        return cls(len(stamps), stamps=stamps, import_rate=import_rate)

    @classmethod
    def shared(cls, timelines: Iterable[Timeline]) -> Timeline:
        """Return one timeline for components on several timelines.

        No frame is far from its own time. Fixed rates get the highest of them, up to
        the last frame of all. Where that would be many more frames than there are, and
        with time stamps, it is the timeline of the most frames, and the frames of the
        others that are more than half of its median gap apart.
        """
        filled = [timeline for timeline in timelines if timeline.num_frames]
        filled.sort(key=lambda timeline: timeline.num_frames)
        if not filled:
            return cls.stamped([])
        longest = filled[-1]
        if all(timeline == longest for timeline in filled):
            return longest
        # With time stamps the rate and the count are infinite.
        rate = max(timeline.frame_rate or np.inf for timeline in filled)
        duration = max(timeline.duration for timeline in filled)
        count = np.ceil(duration * rate - ON_FRAME) + 1
        if count <= MAX_FILL * sum(timeline.num_frames for timeline in filled):
            return cls.uniform(int(count), rate)
        times = longest.times
        half_gap = ON_FRAME
        if len(times) > 1:
            half_gap = 0.5 * median_step(times)
        for other in filled[-2::-1]:
            following = np.searchsorted(times, other.times)
            ends = np.concatenate([[-np.inf], times, [np.inf]])
            since_last = other.times - ends[following]
            until_next = ends[following + 1] - other.times
            is_apart = np.minimum(since_last, until_next) > half_gap
            times = np.union1d(times, other.times[is_apart])
        if len(times) == longest.num_frames:
            return longest
        rates = [timeline.import_rate for timeline in filled if timeline.import_rate]
        return cls.stamped(times, max(rates, default=None))

    @cached_property
    def times(self) -> Floats:
        """The time (T,) [s] of each frame."""
        if self.stamps is not None:
            return self.stamps
        assert self.frame_rate is not None
        # Divided in each frame: sums of 1/rate would drift.
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

    def part(self, frames: slice, since: float | None = None) -> Timeline:
        """Return the timeline of some of the frames.

        Parameters
        ----------
        frames:
            A slice with a positive step. At a fixed rate its first frame gets the time
            0, and the rate is divided by the step.
        since:
            The time [s] from which time stamps count afterwards; that of the slice's
            first frame when not given.

        Raises
        ------
        ValueError
            When the step is not positive.
        """
        chosen = range(self.num_frames)[frames]
        if chosen.step < 1:
            raise ValueError(
                f"frames are selected in their order, not with the step {chosen.step}"
            )
        if self.stamps is None:
            assert self.frame_rate is not None
            return replace(
                self, num_frames=len(chosen), frame_rate=self.frame_rate / chosen.step
            )
        stamps = self.stamps[frames]
        # Stamps of a part count from its first frame; of a part that begins with the
        # motion, as before.
        if since is None:
            if chosen.start and len(stamps):
                since = float(stamps[0])
            else:
                since = 0.0
        return Timeline.stamped(stamps - since, self.import_rate)

    def frames_between(self, start: float | None, end: float | None) -> slice:
        """Return the frames with start ≤ t ≤ end [s], within `ON_FRAME`.

        None is the beginning or the end.
        """
        if start is None:
            first = 0
        else:
            # The tolerance keeps frames whose stamps are rounded.
            first = int(np.searchsorted(self.times, start - ON_FRAME))
        if end is None:
            last = self.num_frames
        else:
            last = int(np.searchsorted(self.times, end + ON_FRAME, side="right"))
        return slice(first, last)

    def frames_at(self, times: npt.ArrayLike) -> Indices:
        """Return the index of the frame in force at each time (...) [s].

        The last one at or before it, at least the first.
        """
        t = np.asarray(times, dtype=np.float64)
        if self.num_frames == 0:
            raise ValueError("the timeline has no frames")
        if self.stamps is not None:
            index = np.searchsorted(self.stamps, t + ON_FRAME, side="right") - 1
        else:
            assert self.frame_rate is not None
            # At most a tenth of a frame, as in `taking_effect`.
            frames = t * self.frame_rate + min(ON_FRAME * self.frame_rate, 0.1)
            # Limited before the conversion: huge times overflow integers.
            index = np.floor(np.clip(frames, -1, self.num_frames)).astype(np.intp)
        return np.clip(index, 0, self.num_frames - 1)


def out_of_order(times: Floats) -> Bools:
    """Return which of times (T,) are not finite, or not in order.

    Of two in the wrong order, either may be wrong.
    """
    wrong: Bools = ~np.isfinite(times)
    for _ in range(MAX_ROUNDS):
        # Only those not yet marked are compared.
        rows = np.flatnonzero(~wrong)
        back = np.flatnonzero(np.diff(times[rows]) <= 0)
        if not len(back):
            return wrong
        # Both of a pair: which one is wrong cannot be known.
        wrong[rows[[*back, *(back + 1)]]] = True
    return np.ones_like(wrong)


def with_even_steps(times: Floats) -> Floats:
    """Return times (T,) with even steps in place of unknown ones.

    These are between and beyond the known ones.

    Unchanged if fewer than two are known.
    """
    known = np.flatnonzero(np.isfinite(times))
    count = len(times)
    if not 1 < len(known) < count:
        return times
    # Beyond the ends the mean step of the known times continues, `count` frames far.
    edge = count * (times[known[-1]] - times[known[0]]) / (known[-1] - known[0])
    ends = [times[known[0]] - edge, *times[known], times[known[-1]] + edge]
    return np.asarray(
        np.interp(np.arange(count), [known[0] - count, *known, known[-1] + count], ends)
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Seq(ContentEquality):
    content: str
    timeline: Timeline
    values: Floats
    part_labels: tuple[str, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    _shape: ClassVar[tuple[int | None, ...]]

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "values",
            frozen(self.values, self._shape, f"values of {self.content}"),
        )
        if len(self.values) != self.timeline.num_frames:
            raise ValueError(
                f"{self.content}: {len(self.values)} rows of values for "
                f"{self.timeline.num_frames} frames"
            )

    def _summary(self) -> str:
        shape = " x ".join(map(str, self.values.shape))
        return f"{type(self).__name__}({self.content}: {shape}, {self.timeline})"

    @property
    def num_frames(self) -> int:
        """The number of frames."""
        return self.timeline.num_frames

    def part(self, frames: slice, since: float | None = None) -> Self:
        """Return the component with some of its frames only.

        Arguments and errors are those of `Timeline.part`.
        """
        return replace(
            self, timeline=self.timeline.part(frames, since), values=self.values[frames]
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class MultiValueSeq(_Seq):
    """Several numbers per frame.

    `values` (T, P). With the content JointDisplacement: P joints in order of joint id.
    """

    _shape = (None, None)

    @property
    def num_parts(self) -> int:
        """The count of numbers in a frame."""
        return int(self.values.shape[1])


@dataclass(frozen=True, eq=False, kw_only=True)
class MultiSE3Seq(_Seq):
    """Several poses per frame.

    `values` (T, P, 7), each x y z [m] and the quaternion w x y z, in the world frame.
    """

    _shape = (None, None, 7)

    @property
    def num_parts(self) -> int:
        """The count of poses in a frame."""
        return int(self.values.shape[1])


@dataclass(frozen=True, eq=False, kw_only=True)
class Vector3Seq(_Seq):
    """One vector per frame.

    `values` (T, 3); in the root link's frame when `is_root_relative`, else in the
    world's.
    """

    is_root_relative: bool = False
    _shape = (None, 3)


@dataclass(frozen=True, eq=False, kw_only=True)
class OtherSeq(ContentEquality):
    """A component of a type that the document does not define.

    Everything that the file has there, as plain values, in `extra`.
    """

    type: str
    content: str
    extra: Mapping[str, object] = field(default_factory=dict)


TimedComponent: TypeAlias = MultiValueSeq | MultiSE3Seq | Vector3Seq
Component: TypeAlias = TimedComponent | OtherSeq
