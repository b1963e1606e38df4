"""A motion: its components, access to them by name and by time, and resampling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Problem, Source
from bodymotion.diagnostics.spelling import choices
from bodymotion.diagnostics.text import listed
from bodymotion.geometry.arrays import ContentEquality, Floats, frozen, real_numbers
from bodymotion.motion.components import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Component,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    TimedComponent,
    Timeline,
    Vector3Seq,
)
from bodymotion.motion.interpolation import Method, frames_needed, sampled
from bodymotion.motion.interpolation.resampling import common_rate, resampled_components
from bodymotion.motion.rules import unknown_component
from bodymotion.system.deferred import NotebookDisplay

__all__ = ["Motion"]

# Types of joints: mjtJoint.
FREE = 0
SLIDE = 2
HINGE = 3

_S = TypeVar("_S", MultiValueSeq, MultiSE3Seq, Vector3Seq)


@dataclass(frozen=True, eq=False)
class Motion(NotebookDisplay, ContentEquality):
    """Components over time.

    - ``motion["R_KNEE"]``: the values of the part with that label, (T,) of a joint or
      (T, 7) of a link;
    - ``motion["ZMP"]``: the component with that content;
    - ``motion[10:200]``: the motion in frames 10 to 199;
    - ``motion[1.0:2.5]``: the motion from 1.0 s to 2.5 s, both included, as `between`
      returns it.

    Attributes
    ----------
    components:
        In the order of the file. Two may have the same content: both are kept, and the
        shortcuts return the last one.
    extra:
        Keys of the file's top node that the document does not define.
    source, problems:
        Where the motion came from, and what was found there; not part of `==`.
    """

    components: tuple[Component, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    source: Source = field(default_factory=Source, compare=False)
    problems: tuple[Problem, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", tuple(self.components))

    def _summary(self) -> str:
        contents = [
            c.content
            + (
                f" {' x '.join(map(str, c.values.shape[1:]))}"
                if not isinstance(c, OtherSeq)
                else ""
            )
            for c in self.components
        ]
        timelines = {str(c.timeline): None for c in self.timed}
        texts = (listed(contents) or "no components", listed(timelines, 2))
        return f"Motion({'; '.join(filter(None, texts))})"

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
        """Return a motion made from arrays.

        Parameters
        ----------
        q:
            Joint displacements (T, J) [rad or m], in order of joint id.
        frame_rate, times:
            Either a rate [Hz], or the time (T,) [s] of each frame, increasing.
        root:
            Pose (T, 7) of the root link in the world: x y z [m], then the quaternion w
            x y z; or one pose (7,) for all frames.
        zmp:
            Zero moment point (T, 3) [m], in the world's frame or, with
            `zmp_is_root_relative`, in the root link's.
        joint_names:
            J names, kept as the part labels of the joint displacements. With a body the
            columns go by them (`Body.joint_columns`).

        Raises
        ------
        ValueError
            When shapes do not fit together; the message names them. Also for anything
            but regular arrays of real numbers, for a rate that is not positive and
            finite, and for names that are not texts.
        """
        values = real_numbers(q, "q")
        if values.ndim != 2:
            raise ValueError(f"q: expected shape (frames, joints), got {values.shape}")
        timeline = _timeline_for(len(values), frame_rate, times)
        labels = _names(joint_names, "joint", "q", values)
        components: list[Component] = []
        if root is not None:
            components.append(
                _root_component(real_numbers(root, "root"), values, timeline)
            )
        joints = MultiValueSeq(
            content=JOINT_DISPLACEMENT,
            timeline=timeline,
            values=values,
            part_labels=labels,
        )
        components.append(joints)
        if zmp is not None:
            points = real_numbers(zmp, "zmp")
            if points.shape != (len(values), 3):
                message = (
                    f"zmp: expected shape {(len(values), 3)} for q of shape "
                    f"{values.shape}, got {points.shape}"
                )
                raise ValueError(message)
            relative = zmp_is_root_relative
            components.append(
                Vector3Seq(
                    content=ZMP,
                    timeline=timeline,
                    values=points,
                    is_root_relative=relative,
                )
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
        """Return a motion made from the poses (T, L, 7) of links in the world.

        X y z [m], then the quaternion w x y z.

        Links are in order of link index, the root link first. Times, names and errors
        are as for `from_joints`.
        """
        values = real_numbers(poses, "poses")
        if values.ndim != 3 or values.shape[2] != 7:
            raise ValueError(
                f"poses: expected shape (frames, links, 7), got {values.shape}"
            )
        labels = _names(link_names, "link", "poses", values)
        _check_quaternions(values, "poses")
        # All links share one timeline.
        timeline = _timeline_for(len(values), frame_rate, times)
        return cls(
            (
                MultiSE3Seq(
                    content=LINK_POSITION,
                    timeline=timeline,
                    values=values,
                    part_labels=labels,
                ),
            )
        )

    @classmethod
    def from_mujoco(
        cls,
        model: Any,  # noqa: ANN401
        qpos: npt.ArrayLike,
        frame_rate: float | None = None,
        *,
        times: npt.ArrayLike | None = None,
        prefix: str = "",
    ) -> Motion:
        """Return a motion made from positions (T, nq) of a `mujoco.MjModel`.

        The first free joint is the root; columns have the names of hinges and slides,
        so with a body they go by them (`Body.joint_columns`). `prefix` selects the
        joints whose names begin with it, as of one robot in a scene. Times are as for
        `from_joints`.

        Raises
        ------
        ValueError
            As `from_joints`; also for another width of `qpos`, for ball joints and for
            several free joints.
        """
        table = np.asarray(qpos, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != model.nq:
            raise ValueError(f"qpos: expected shape (T, {model.nq}), got {table.shape}")
        # Kinds of MuJoCo's joints: the first free one is the root, all others have one
        # number.
        root: Floats | None = None
        columns = []
        names = []
        for joint in map(model.joint, range(model.njnt)):
            kind = int(joint.type[0])
            start = int(joint.qposadr[0])
            if not joint.name.startswith(prefix):
                continue
            if kind == FREE and root is None:
                # Position x y z and quaternion w x y z, in MuJoCo as here.
                root = table[:, start : start + 7]
            elif kind in (SLIDE, HINGE):
                columns.append(start)
                names.append(joint.name[len(prefix) :])
            else:
                message = (
                    f"joint {joint.name!r} is a ball, or a second free joint, which a "
                    f"motion does not hold"
                )
                raise ValueError(message)
        return cls.from_joints(
            table[:, columns], frame_rate, times=times, root=root, joint_names=names
        )

    def last(self, kind: type[_S], content: str) -> _S | None:
        """Return the last component of a type with a content.

        Programs use the last one where there are several.

        None without one.
        """
        found = [
            c for c in self.components if isinstance(c, kind) and c.content == content
        ]
        if found:
            return found[-1]
        return None

    @property
    def joint_displacement(self) -> MultiValueSeq | None:
        """The joint displacements (T, P) [rad or m] in order of joint id, or None."""
        return self.last(MultiValueSeq, JOINT_DISPLACEMENT)

    @property
    def link_position(self) -> MultiSE3Seq | None:
        """The poses (T, P, 7) of links in the world, the root link's first, or None."""
        return self.last(MultiSE3Seq, LINK_POSITION)

    @property
    def zmp(self) -> Vector3Seq | None:
        """The zero moment point (T, 3) [m], or None."""
        return self.last(Vector3Seq, ZMP)

    @property
    def timed(self) -> tuple[TimedComponent, ...]:
        """The components that have frames: all but those of unknown types."""
        return tuple(c for c in self.components if not isinstance(c, OtherSeq))

    @overload
    def __getitem__(self, key: str) -> Floats | Component: ...
    @overload
    def __getitem__(self, key: slice) -> Motion: ...
    def __getitem__(self, key: str | slice) -> Floats | Component | Motion:
        """Return the values of one part, one component, or some of the frames.

        Parameters
        ----------
        key:
            A text: the part label of a joint or link, whose values (T,) [rad or m] or
            poses (T, 7) are returned, searched in the joint displacements, the link
            poses and then all other components; else the content of a component, which
            is returned itself. A slice of whole numbers: frames, counted from 0, the
            last one not included, with a positive step. A slice of floats: times [s],
            as for `between`.

        Raises
        ------
        KeyError
            When no part and no component has that name; the message lists those that
            exist.
        ValueError
            When components that do not share a timeline are sliced by frame, or no
            frame is in the slice.
        TypeError
            For any other key.
        """
        if isinstance(key, str):
            return self._named(key)
        if not isinstance(key, slice):
            raise TypeError(
                "a motion has names and slices ([10:11] for one frame), not the key "
                f"{key!r}"
            )
        # Frames or seconds: bounds decide by their types.
        bounds = [key.start, key.stop, key.step]
        bounds = [bound for bound in bounds if bound is not None]
        # Whole numbers, and [:], which keeps all.
        if all(isinstance(bound, Integral) for bound in bounds):
            count = self.num_frames
            # A motion without frames has an empty slice, too.
            if count and not range(count)[key]:
                raise ValueError(
                    f"no frame in [{key.start}:{key.stop}]: the motion has frames 0 "
                    f"to {count - 1}"
                )
            return self._parts({id(c): c.part(key) for c in self.timed})
        if key.step is not None or not all(isinstance(bound, Real) for bound in bounds):
            raise TypeError(
                "a motion is sliced by frames [10:200:2] or by seconds [1.0:2.5], "
                "which have no step"
            )
        return self.between(key.start, key.stop)

    def __contains__(self, name: object) -> bool:
        with suppress(KeyError):
            return isinstance(name, str) and self._named(name) is not None
        return False

    __iter__ = None
    """A motion has names and slices, and no items in an order."""

    def _named(self, name: str) -> Floats | Component:
        """Return the part or the component of that name."""
        # Joint displacements first: joints and links may have the same names.
        for component in self._by_preference():
            if name in component.part_labels and not isinstance(component, Vector3Seq):
                return frozen(component.values[:, component.part_labels.index(name)])
        # Of several components with one content the last one counts.
        contents = {component.content: component for component in self.components}
        if name in contents:
            return contents[name]
        labels: dict[str, None] = {}
        for component in self.timed:
            labels |= dict.fromkeys(filter(None, component.part_labels))
        hint = ""
        if not labels:
            hint = " (no part has a label: see Body.joint_columns)"
        names = [*labels, *(component.content for component in self.components)]
        raise KeyError(
            f"no part and no component {name!r}; {choices(name, names)}{hint}"
        )

    def _by_preference(self) -> Iterator[TimedComponent]:
        """Yield the components in the order in which names of parts are searched."""
        if self.joint_displacement is not None:
            yield self.joint_displacement
        if self.link_position is not None:
            yield self.link_position
        yield from self.timed

    def between(self, start: float | None = None, end: float | None = None) -> Motion:
        """Return the frames from time `start` to time `end` [s], both included.

        None is the beginning or the end.

        Each component keeps its frames with start ≤ t ≤ end, within a microsecond. At a
        fixed rate the first of them becomes frame 0; time stamps count from `start` on.
        Components of unknown types stay whole, as `problems` notes.

        Raises
        ------
        ValueError
            When `end` is before `start`, or a component with frames has none in
            between; the message names the times of its frames.
        """
        # `not >=` also refuses NaN.
        if start is not None and end is not None and not end >= start:
            raise ValueError(f"the end, {end:g} s, is before the start, {start:g} s")
        parts: dict[int, TimedComponent] = {}
        for component in self.timed:
            # Nothing can be cut from a component without frames.
            if not component.num_frames:
                continue
            frames = component.timeline.frames_between(start, end)
            times = component.timeline.times
            if frames.start >= frames.stop:
                raise ValueError(
                    f"{component.content} has no frame there: its frames are from "
                    f"{times[0]:g} s to {times[-1]:g} s"
                )
            # By identity: several components may be equal.
            parts[id(component)] = component.part(frames, start or 0.0)
        return self._parts(parts)

    def _parts(self, parts: Mapping[int, TimedComponent]) -> Motion:
        """Return the motion with parts in place of the components with those ids."""
        others = (c for c in self.components if isinstance(c, OtherSeq))
        unchanged = (unknown_component(c.type, c.content, "trimmed") for c in others)
        return self.mapped(lambda c: parts.get(id(c), c), unchanged)

    @property
    def timeline(self) -> Timeline:
        """The timeline that all components share.

        Raises
        ------
        ValueError
            When there is no component with frames, or when they differ; the message
            names the lengths and rates.
        """
        timed = self.timed
        if not timed:
            raise ValueError(
                "the motion has no component with frames, so it has no timeline"
            )
        first = timed[0].timeline
        if any(c.timeline != first for c in timed[1:]):
            found = "; ".join(f"{c.content} has {c.timeline}" for c in timed)
            raise ValueError(
                f"the components do not share one timeline: {found}. Use "
                "Motion.on_common_timeline()"
            )
        return first

    @property
    def frame_rate(self) -> float | None:
        """Frames per second [Hz] of all components.

        None when their frames have time stamps.
        """
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
        method: Method = "linear",
        *,
        antialias: bool = False,
        unwrap: bool = False,
        start: float = 0.0,
    ) -> Motion:
        """Return the motion with every component at a fixed frame rate.

        Each is sampled over its own time.

        Parameters
        ----------
        frame_rate:
            [Hz]; when not given, the rate that the file requests for its time-stamped
            frames, else the highest rate of the components.
        method:
            "linear", "cubic" and "pchip" interpolate. "after", "nearest" or "before"
            hold values until the next frame, as the .seq document describes the import
            of time-stamped frames: then frames repeat. See
            `bodymotion.motion.interpolation`.
        antialias:
            Apply a low-pass filter at half the new rate before going down to it
            (`bodymotion.motion.interpolation.lowpass`).
        unwrap:
            Remove jumps by full turns from joint displacements first. Otherwise methods
            that interpolate report them in `problems`.
        start:
            The time [s] of frame 0.

        Raises
        ------
        ValueError
            When no rate is given and the motion has none; when time stamps do not
            increase; when a component has no frame from `start` on.
        MemoryError
            When the result would not fit into memory; the message has its size.
        """
        # The rate that was asked for, or what files request, or the highest one.
        rate = common_rate(
            (c.timeline.frame_rate or c.timeline.import_rate for c in self.timed),
            frame_rate,
        )
        # Each component has its own length.
        counts = [frames_needed(c.timeline, rate, method, start) for c in self.timed]
        return self._at_rate(rate, counts, method, antialias, unwrap, start)

    def on_common_timeline(
        self,
        frame_rate: float | None = None,
        method: Method = "linear",
        *,
        antialias: bool = False,
        unwrap: bool = False,
        start: float = 0.0,
    ) -> Motion:
        """Return the motion with all components on one timeline.

        A shorter one keeps its last value to the end; otherwise as `resample`.

        Raises
        ------
        ValueError
            As `resample`; also when a component has no frames at all and others have
            some.
        """
        timelines = [c.timeline for c in self.timed]
        rate = common_rate(
            (t.frame_rate or t.import_rate for t in timelines), frame_rate
        )
        self._check_all_or_no_frames()
        longest = max(
            (frames_needed(t, rate, method, start) for t in timelines), default=0
        )
        return self._at_rate(
            rate, [longest] * len(timelines), method, antialias, unwrap, start
        )

    def synchronized(
        self, method: Literal["before", "linear", "cubic", "pchip"] = "before"
    ) -> Motion:
        """Return the motion with all components on `Timeline.shared`.

        This needs no rate.

        Values hold ("before") or are interpolated.

        Raises
        ------
        ValueError
            When a component has no frames at all and others have some, or, for
            interpolation, time stamps do not increase.
        """
        # The time stamps of all components together.
        timeline = Timeline.shared(c.timeline for c in self.timed)
        self._check_all_or_no_frames()

        # Shorter components hold their last value.
        def placed(component: TimedComponent) -> Component:
            if component.timeline == timeline or not component.num_frames:
                return component
            own = component.timeline
            at = timeline.times
            held = method == "before"
            if held:
                values = component.values[own.frames_at(at)]
            else:
                values = sampled(component.values, own.times, at, method)
            return replace(component, timeline=timeline, values=values)

        return self.mapped(placed)

    def _check_all_or_no_frames(self) -> None:
        empty = [c.content for c in self.timed if not c.num_frames]
        if empty and len(empty) < len(self.timed):
            raise ValueError(
                f"{', '.join(empty)} has no frames, the other components have some"
            )

    def _at_rate(
        self,
        frame_rate: float,
        counts: list[int],
        method: Method,
        antialias: bool,
        unwrap: bool,
        start: float,
    ) -> Motion:
        """Return the motion at a rate [Hz], each component with its count of frames."""
        components, found = resampled_components(
            self.components,
            frame_rate,
            counts,
            method,
            antialias=antialias,
            unwrap=unwrap,
            start=start,
        )
        return self.replaced(*components, problems=found)

    def replaced(
        self, *components: Component, problems: Iterable[Problem] = ()
    ) -> Motion:
        """Return the motion with other components, and with further problems."""
        return replace(
            self, components=components, problems=(*self.problems, *problems)
        )

    def mapped(
        self,
        change: Callable[[TimedComponent], Component],
        problems: Iterable[Problem] = (),
    ) -> Motion:
        """Return the motion with `change(component)` for its components.

        Only those that have frames are changed.

        Then `problems` are added to its own.
        """
        changed = tuple(
            c if isinstance(c, OtherSeq) else change(c) for c in self.components
        )
        return self.replaced(*changed, problems=problems)


def _timeline_for(
    count: int, frame_rate: float | None, times: npt.ArrayLike | None
) -> Timeline:
    """Return the timeline of `count` frames at a rate or at time stamps."""
    # Exactly one of both.
    if (frame_rate is None) == (times is None):
        raise ValueError(
            "expected either a frame_rate [Hz] or the times [s] of the frames; give "
            "exactly one of them"
        )
    if times is None:
        # NumPy's own numbers and arrays of one number are accepted.
        is_scalar = (
            isinstance(frame_rate, (np.ndarray, np.generic)) and not frame_rate.ndim
        )
        if is_scalar:
            rate = np.asarray(frame_rate).item()
        else:
            rate = frame_rate
        # `True` is an integer in Python, but no rate.
        if isinstance(rate, bool) or not isinstance(rate, Real):
            raise ValueError(
                f"frame_rate: expected a real number of Hz, got {frame_rate!r}"
            )
        return Timeline.uniform(count, float(rate))
    stamps = real_numbers(times, "times")
    if stamps.shape != (count,):
        raise ValueError(
            f"times: expected shape {(count,)}, one for each of {count} frames, got "
            f"{stamps.shape}"
        )
    increasing = np.diff(stamps) > 0
    # For one frame there is nothing to increase.
    if not np.isfinite(stamps).all() or not increasing.all():
        raise ValueError(
            f"times must increase; after frame {int(np.argmin(increasing))} they do not"
        )
    return Timeline.stamped(stamps)


def _names(names: Sequence[str], kind: str, of: str, values: Floats) -> tuple[str, ...]:
    """Return the names of the second axis of values.

    There may be none.
    """
    # A text is a sequence of texts, too: each letter would be a name.
    if isinstance(names, (str, bytes)):
        raise ValueError(
            f"{kind}_names: expected a sequence of names, got the one text {names!r}"
        )
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise ValueError(f"{kind}_names: expected texts, got {name!r}")
    if found and len(found) != values.shape[1]:
        raise ValueError(f"{len(found)} {kind} names for {of} of shape {values.shape}")
    return tuple(map(str, found))


def _root_component(root: Floats, q: Floats, timeline: Timeline) -> MultiSE3Seq:
    # One pose holds for all frames.
    if root.shape == (7,):
        root = np.tile(root, (len(q), 1))
    if root.shape != (len(q), 7):
        raise ValueError(
            f"root: expected shape {(len(q), 7)} for q of shape {q.shape}, got "
            f"{root.shape}"
        )
    _check_quaternions(root, "root")
    return MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=root[:, None])


def _check_quaternions(poses: Floats, what: str) -> None:
    """Raise ValueError for anything far from a unit quaternion.

    Mostly another order of numbers, or angles.
    """
    # Frames in rows, also for one link per frame.
    lengths = np.atleast_2d(np.linalg.norm(poses[..., 3:], axis=-1).T).T
    # Files round quaternions; a length off by more than 1e-3 is something else.
    far = np.abs(lengths - 1) > 1e-3
    if far.any():
        frame = int(np.argmax(far.any(axis=1)))
        raise ValueError(
            f"{what}: the last four numbers of a pose must be a unit quaternion w x y "
            f"z; in frame {frame} its length is "
            f"{lengths[frame][far[frame]][0]:.6g}"
        )
