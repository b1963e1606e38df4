"""A motion: its components, the shortcuts to them, the time they share, and another rate for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy.typing as npt

from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.source import Source
from bodymotion.geometry.arrays import ContentEquality, Floats
from bodymotion.motion.components import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Component,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    Vector3Seq,
    in_words,
)
from bodymotion.motion.from_arrays import of_joints, of_link_poses
from bodymotion.motion.interpolation import Method, frames_needed
from bodymotion.motion.rates import put_on_rate, wished_rate
from bodymotion.motion.timeline import Timeline
from bodymotion.system.display import Shown

__all__ = ["Motion"]

_S = TypeVar("_S", MultiValueSeq, MultiSE3Seq, Vector3Seq)


@dataclass(frozen=True, eq=False)
class Motion(Shown, ContentEquality):
    """Components over time.

    Attributes
    ----------
    components:
        In the order of the file. Two may have the same content: both are kept, the shortcuts give the last one.
    extra:
        Keys of the file's top node that the document does not know.
    source, problems:
        Where it came from and what was odd there; not part of `==`.
    """

    components: tuple[Component, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    source: Source = field(default_factory=Source, compare=False)
    problems: tuple[Problem, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", tuple(self.components))

    @classmethod
    def from_joints(
        cls,
        q: npt.ArrayLike,
        frame_rate: float | None = None,
        *,
        times: npt.ArrayLike | None = None,
        root: npt.ArrayLike | None = None,
        zmp: npt.ArrayLike | None = None,
        zmp_is_root_relative: bool = False,
        joint_names: Sequence[str] = (),
    ) -> Motion:
        """Make a motion from arrays.

        Parameters
        ----------
        q:
            Joint displacements (T, J) [rad or m], in order of joint id.
        frame_rate, times:
            Either a rate [Hz], or the time (T,) [s] of each frame, increasing.
        root:
            Pose (T, 7) of the root link in the world: x y z [m], then the quaternion w x y z; or one pose (7,) for all frames.
        zmp:
            Zero moment point (T, 3) [m], in the world's frame or, with `zmp_is_root_relative`, in the root link's.
        joint_names:
            J names, kept as the part labels of the joint displacements. With a body the columns go by them (`Body.joint_columns`).

        Raises
        ------
        ValueError
            When shapes do not fit together; the message names them. Also for what is no regular array of real numbers, a rate that is
            none, and names that are no texts.
        """
        components = of_joints(
            q,
            frame_rate,
            times,
            root=root,
            zmp=zmp,
            zmp_is_root_relative=zmp_is_root_relative,
            joint_names=joint_names,
        )
        return cls(components)

    @classmethod
    def from_link_poses(
        cls,
        poses: npt.ArrayLike,
        frame_rate: float | None = None,
        *,
        times: npt.ArrayLike | None = None,
        link_names: Sequence[str] = (),
    ) -> Motion:
        """Make a motion from the poses (T, L, 7) of links in the world: x y z [m], then the quaternion w x y z.

        Links stand in order of link index, the root link first. Times, names and errors are as for `from_joints`.
        """
        return cls(of_link_poses(poses, frame_rate, times, link_names))

    def _last(self, kind: type[_S], content: str) -> _S | None:
        found = [c for c in self.components if isinstance(c, kind) and c.content == content]
        return found[-1] if found else None

    @property
    def joint_displacement(self) -> MultiValueSeq | None:
        """The joint displacements (T, P) [rad or m] in order of joint id, if there are any."""
        return self._last(MultiValueSeq, JOINT_DISPLACEMENT)

    @property
    def link_position(self) -> MultiSE3Seq | None:
        """The poses (T, P, 7) of links in the world, the root link's first, if there are any."""
        return self._last(MultiSE3Seq, LINK_POSITION)

    @property
    def zmp(self) -> Vector3Seq | None:
        """The zero moment point (T, 3) [m], if there is one."""
        return self._last(Vector3Seq, ZMP)

    @property
    def timed(self) -> tuple[MultiValueSeq | MultiSE3Seq | Vector3Seq, ...]:
        """The components that have frames: all but those of unknown types."""
        return tuple(c for c in self.components if not isinstance(c, OtherSeq))

    @property
    def timeline(self) -> Timeline:
        """The timeline that all components share.

        Raises
        ------
        ValueError
            When there is no component with frames, or when they differ; the message names the lengths and rates.
        """
        timed = self.timed
        if not timed:
            raise ValueError("the motion has no component with frames, so it has no time")
        first = timed[0].timeline
        for component in timed[1:]:
            if component.timeline != first:
                raise ValueError(
                    "the components do not share one timeline: "
                    + "; ".join(f"{c.content} has {in_words(c.timeline)}" for c in timed)
                    + ". Motion.on_common_timeline() puts them on one"
                )
        return first

    @property
    def frame_rate(self) -> float | None:
        """Frames per second [Hz] of all components; None when their frames have time stamps."""
        return self.timeline.frame_rate

    @property
    def num_frames(self) -> int:
        """The number of frames of all components."""
        return self.timeline.num_frames

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last one, of all components."""
        return self.timeline.duration

    @property
    def times(self) -> Floats:
        """The time (T,) [s] of each frame, of all components."""
        return self.timeline.times

    def resample(
        self,
        frame_rate: float | None = None,
        method: Method = "after",
        *,
        antialias: bool = False,
        unwrap: bool = False,
        start: float = 0.0,
    ) -> Motion:
        """Put every component on a fixed frame rate, over its own time.

        Parameters
        ----------
        frame_rate:
            [Hz]; when not given, the rate that the file wishes for its time-stamped frames, else the highest rate of the components.
        method:
            "after", "nearest" or "before" hold values until the next frame, as the .seq document describes the import of
            time-stamped frames; "linear", "cubic" and "pchip" interpolate: see `bodymotion.motion.interpolation`.
        antialias:
            Take out what is faster than half the new rate before going down to it (`bodymotion.motion.interpolation.lowpass`).
        unwrap:
            Take jumps by full turns out of joint displacements first. When not, a method that interpolates reports them in `problems`.
        start:
            The time [s] that frame 0 is at.

        Raises
        ------
        ValueError
            When no rate is given and the motion has none; when time stamps do not increase; when a component has no frame from `start` on.
        MemoryError
            When the result would not fit into memory; the message says how large it is.
        """
        rate = wished_rate([c.timeline for c in self.timed], frame_rate)
        counts = [frames_needed(c.timeline, rate, method, start) for c in self.timed]
        return self._on_rate(rate, counts, method, antialias, unwrap, start)

    def on_common_timeline(
        self,
        frame_rate: float | None = None,
        method: Method = "after",
        *,
        antialias: bool = False,
        unwrap: bool = False,
        start: float = 0.0,
    ) -> Motion:
        """Put all components on one timeline: a shorter one keeps its last value to the end. All else is as for `resample`.

        Raises
        ------
        ValueError
            As `resample`; also when a component has no frames at all and others have some.
        """
        timelines = [c.timeline for c in self.timed]
        rate = wished_rate(timelines, frame_rate)
        empty = [c.content for c in self.timed if not c.num_frames]
        if empty and any(t.num_frames for t in timelines):
            raise ValueError(f"{', '.join(empty)} has no frames, the other components have some")
        longest = max((frames_needed(t, rate, method, start) for t in timelines), default=0)
        return self._on_rate(rate, [longest] * len(timelines), method, antialias, unwrap, start)

    def _on_rate(
        self, frame_rate: float, counts: list[int], method: Method, antialias: bool, unwrap: bool, start: float
    ) -> Motion:
        components, noticed = put_on_rate(
            self.components, frame_rate, counts, method, antialias=antialias, unwrap=unwrap, start=start
        )
        return replace(self, components=components, problems=(*self.problems, *noticed))

    def replaced(self, *components: Component) -> Motion:
        """Return the motion with other components."""
        return replace(self, components=components)
