"""How a body moves: components over time, named as in the .seq document.

A component is a table with a row per frame. Joint displacements stand in order of joint id [rad or m], or in the order of their
part labels, where these are names of joints; link positions in order of link index (the order of a depth-first walk of the link tree).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import ContentEquality, Floats, frozen, real_numbers
from bodymotion.diagnostics import Location, Problem
from bodymotion.interpolation import HOLDING, Method, check_room, find_wraps, frames_needed, resampled, unwrapped
from bodymotion.interpolation.methods import check_rate
from bodymotion.interpolation.resampling import bridge_problem
from bodymotion.interpolation.wraps import wrap_problem
from bodymotion.losses import OTHER_RATE
from bodymotion.showing import Shown
from bodymotion.source import Source
from bodymotion.timeline import Timeline

__all__ = [
    "JOINT_DISPLACEMENT",
    "JOINT_EFFORT",
    "LINK_POSITION",
    "ZMP",
    "Component",
    "Motion",
    "MultiSE3Seq",
    "MultiValueSeq",
    "OtherSeq",
    "Vector3Seq",
    "left_on_rate",
]

JOINT_DISPLACEMENT = "JointDisplacement"
JOINT_EFFORT = "JointEffort"
LINK_POSITION = "LinkPosition"
ZMP = "ZMP"


@dataclass(frozen=True, eq=False, kw_only=True)
class _Seq(ContentEquality):
    content: str
    timeline: Timeline
    values: Floats
    part_labels: tuple[str, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    def _check(self, shape: tuple[int | None, ...]) -> None:
        object.__setattr__(self, "values", frozen(self.values, shape, f"values of {self.content}"))
        if len(self.values) != self.timeline.num_frames:
            raise ValueError(f"{self.content}: {len(self.values)} rows of values for {self.timeline.num_frames} frames")

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.values.shape))
        return f"{type(self).__name__}({self.content}: {shape}, {_in_words(self.timeline)})"

    @property
    def num_frames(self) -> int:
        """How many frames the component has."""
        return self.timeline.num_frames


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MultiValueSeq(_Seq):
    """Several numbers a frame: `values` (T, P). With the content JointDisplacement: P joints in order of joint id."""

    def __post_init__(self) -> None:
        self._check((None, None))

    @property
    def num_parts(self) -> int:
        """How many numbers a frame has."""
        return int(self.values.shape[1])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MultiSE3Seq(_Seq):
    """Several poses a frame: `values` (T, P, 7), each x y z [m] and the quaternion w x y z, in the world frame."""

    def __post_init__(self) -> None:
        self._check((None, None, 7))

    @property
    def num_parts(self) -> int:
        """How many poses a frame has."""
        return int(self.values.shape[1])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Vector3Seq(_Seq):
    """One vector a frame: `values` (T, 3); in the root link's frame when `is_root_relative`, else in the world's."""

    is_root_relative: bool = False

    def __post_init__(self) -> None:
        self._check((None, 3))


@dataclass(frozen=True, eq=False, kw_only=True)
class OtherSeq(ContentEquality):
    """A component of a type that the document does not know: all that the file says of it, as plain values, in `extra`."""

    type: str
    content: str
    extra: Mapping[str, object] = field(default_factory=dict)


Component: TypeAlias = MultiValueSeq | MultiSE3Seq | Vector3Seq | OtherSeq
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
        values = real_numbers(q, "q")
        if values.ndim != 2:
            raise ValueError(f"q: expected shape (frames, joints), got {values.shape}")
        timeline = _timeline_for(len(values), frame_rate, times)
        labels = _names(joint_names, "joint_names")
        if labels and len(labels) != values.shape[1]:
            raise ValueError(f"{len(labels)} joint names for q of shape {values.shape}")
        components: list[Component] = []
        if root is not None:
            components.append(_root_component(real_numbers(root, "root"), values, timeline))
        components.append(
            MultiValueSeq(content=JOINT_DISPLACEMENT, timeline=timeline, values=values, part_labels=labels)
        )
        if zmp is not None:
            points = real_numbers(zmp, "zmp")
            if points.shape != (len(values), 3):
                raise ValueError(
                    f"zmp: expected shape {(len(values), 3)} for q of shape {values.shape}, got {points.shape}"
                )
            components.append(
                Vector3Seq(content=ZMP, timeline=timeline, values=points, is_root_relative=zmp_is_root_relative)
            )
        return cls(tuple(components))

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
        values = real_numbers(poses, "poses")
        if values.ndim != 3 or values.shape[2] != 7:
            raise ValueError(f"poses: expected shape (frames, links, 7), got {values.shape}")
        labels = _names(link_names, "link_names")
        if labels and len(labels) != values.shape[1]:
            raise ValueError(f"{len(labels)} link names for poses of shape {values.shape}")
        _check_turns(values, "poses")
        timeline = _timeline_for(len(values), frame_rate, times)
        return cls((MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=values, part_labels=labels),))

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
                    + "; ".join(f"{c.content} has {_in_words(c.timeline)}" for c in timed)
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
            time-stamped frames; "linear", "cubic" and "pchip" interpolate: see `bodymotion.interpolation`.
        antialias:
            Take out what is faster than half the new rate before going down to it (`bodymotion.interpolation.lowpass`).
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
        rate = self._rate(frame_rate)
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
        rate = self._rate(frame_rate)
        empty = [c.content for c in self.timed if not c.num_frames]
        if empty and any(t.num_frames for t in timelines):
            raise ValueError(f"{', '.join(empty)} has no frames, the other components have some")
        longest = max((frames_needed(t, rate, method, start) for t in timelines), default=0)
        return self._on_rate(rate, [longest] * len(timelines), method, antialias, unwrap, start)

    def _rate(self, frame_rate: float | None) -> float:
        if frame_rate is None:
            timelines = [c.timeline for c in self.timed]
            rates = [rate for t in timelines for rate in (t.frame_rate or t.import_rate,) if rate is not None]
            if not rates:
                raise ValueError("the motion has time stamps and no frame rate: say which one is wanted")
            frame_rate = max(rates)
        check_rate(frame_rate)
        return float(frame_rate)

    def _on_rate(
        self, frame_rate: float, counts: list[int], method: Method, antialias: bool, unwrap: bool, start: float
    ) -> Motion:
        curves = sum(c.values.nbytes for c in self.timed) if method in ("cubic", "pchip") else 0
        widths = [int(np.prod(c.values.shape[1:])) for c in self.timed]
        check_room([c.timeline for c in self.timed], counts, widths, frame_rate, start, curves)
        remaining = iter(counts)
        components: list[Component] = []
        problems = list(self.problems)
        for component in self.components:
            if isinstance(component, OtherSeq):
                components.append(component)
                continue
            count = next(remaining)
            timeline = Timeline.uniform(count, frame_rate)
            values = component.values
            if component.content == JOINT_DISPLACEMENT and unwrap:
                values = unwrapped(values)
            if (component.timeline != timeline or start) and component.num_frames:
                if component.content == JOINT_DISPLACEMENT and method not in HOLDING and not unwrap:
                    problem = wrap_problem(find_wraps(values), component.content)
                    problems += [problem] if problem else []
                lost = bridge_problem(values, component.timeline, frame_rate, component.content) if antialias else None
                problems += [lost] if lost else []
                values = resampled(
                    values, component.timeline, frame_rate, count, method, antialias=antialias, start=start
                )
            components.append(replace(component, timeline=timeline, values=values))
        after = replace(self, components=tuple(components))
        if start or any(a.timeline != b.timeline for a, b in zip(self.timed, after.timed, strict=True)):
            problems += [left_on_rate(c.type, c.content) for c in components if isinstance(c, OtherSeq)]
        return replace(after, problems=tuple(problems))

    def replaced(self, *components: Component) -> Motion:
        """Give the motion with other components."""
        return replace(self, components=components)


def left_on_rate(kind: str, content: str) -> Problem:
    """Say of a component of an unknown type that it is not put on the new rate."""
    message = f"the {kind} {content!r} is not put on the new rate"
    return OTHER_RATE.problem(message, Location(inside=content or None))


def _timeline_for(count: int, frame_rate: float | None, times: npt.ArrayLike | None) -> Timeline:
    if (frame_rate is None) == (times is None):
        raise ValueError("a motion has either a frame_rate [Hz] or the times [s] of its frames: give one of them")
    if times is None:
        rate = (
            frame_rate.item()
            if isinstance(frame_rate, (np.ndarray, np.generic)) and not frame_rate.ndim
            else frame_rate
        )
        if isinstance(rate, bool) or not isinstance(rate, Real):
            raise ValueError(f"frame_rate: expected a real number of Hz, got {frame_rate!r}")
        return Timeline.uniform(count, float(rate))
    stamps = real_numbers(times, "times")
    if stamps.shape != (count,):
        raise ValueError(f"times: expected shape {(count,)}, one for each of {count} frames, got {stamps.shape}")
    increasing = np.diff(stamps) > 0
    if not np.isfinite(stamps).all() or not increasing.all():
        raise ValueError(f"times must increase; from frame {int(np.argmin(increasing))} on they do not")
    return Timeline.stamped(stamps)


def _names(names: Sequence[str], what: str) -> tuple[str, ...]:
    if isinstance(names, (str, bytes)):
        raise ValueError(f"{what}: expected a sequence of names, got the one text {names!r}")
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise ValueError(f"{what}: expected texts, got {name!r}")
    return tuple(map(str, found))


def _root_component(root: Floats, q: Floats, timeline: Timeline) -> MultiSE3Seq:
    if root.shape == (7,):
        root = np.tile(root, (len(q), 1))
    if root.shape != (len(q), 7):
        raise ValueError(f"root: expected shape {(len(q), 7)} for q of shape {q.shape}, got {root.shape}")
    _check_turns(root, "root")
    return MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=root[:, None])


def _check_turns(poses: Floats, what: str) -> None:
    """Refuse what is far from a unit quaternion: mostly another order of numbers, or angles."""
    lengths = np.linalg.norm(poses[..., 3:], axis=-1).reshape(len(poses), -1)
    far = np.abs(lengths - 1) > 1e-3
    if far.any():
        frame = int(np.argmax(far.any(axis=1)))
        raise ValueError(
            f"{what}: the last four numbers of a pose are a unit quaternion w x y z; in frame {frame} its length is "
            f"{lengths[frame][far[frame]][0]:.6g}"
        )


def _in_words(timeline: Timeline) -> str:
    frames = f"{timeline.num_frames} frames"
    if timeline.frame_rate is not None:
        return f"{frames} at {timeline.frame_rate:g} Hz"
    if not timeline.num_frames:
        return frames
    return f"{frames} with time stamps from {timeline.times[0]:g} s to {timeline.times[-1]:g} s"
