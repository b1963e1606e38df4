"""What is plotted: a motion on a body, or a motion alone.

Its time span, joints, groups of joints, and units.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.spelling import choices
from bodymotion.diagnostics.text import distinct, moment
from bodymotion.dynamics import Measures, Series, series
from bodymotion.dynamics.quantities import Of
from bodymotion.geometry.arrays import Bools, Floats, frozen
from bodymotion.geometry.rotations import to_rpy
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.plots.parts import number_text
from bodymotion.scene.music import Music

MIN_BRANCH = 4  # Branches with fewer joints on one link are one group: wheels of a vehicle, fingers of a hand.


@dataclass(frozen=True)
class JointGroup:
    """A group of joints: its name, and its columns from the root outwards."""

    name: str
    columns: tuple[int, ...]


def joint_groups(body: Body, labels: Sequence[str]) -> tuple[JointGroup, ...]:
    """Return the J joint columns of a body with names `labels` (J,) in groups such as arms and legs.

    Each column is in one group.

    A group continues from joint to joint along a chain of links. Where chains branch,
    those with fewer than four joints form one group.
    """
    column_of = {
        index: column for column, index in enumerate(body.joint_links) if index >= 0
    }
    children: dict[int, list[int]] = {}
    below: list[list[int]] = [[] for _ in body.links]
    for link in reversed(body.links):
        children.setdefault(link.parent, []).insert(0, link.index)
        if link.index in column_of:
            own = [column_of[link.index]]
        else:
            own = []
        below[link.index] = own + [
            k for child in children.get(link.index, []) for k in below[child]
        ]
    groups: list[list[int]] = []
    todo: list[list[int]] = [[index] for index in children.get(-1, [])]
    while todo:
        starts = todo.pop(0)
        if len(starts) > 1:
            groups.append([k for start in starts for k in below[start]])
            continue
        group = list[int]()
        onwards = starts
        while len(onwards) == 1:
            at = onwards[0]
            group += [column_of[at]] if at in column_of else []
            onwards = [child for child in children.get(at, []) if below[child]]
        short = [child for child in onwards if len(below[child]) < MIN_BRANCH]
        if (
            group
            and len(short) == len(onwards)
            and sum(len(below[child]) for child in short) <= 2 * MIN_BRANCH
        ):
            group += [k for child in onwards for k in below[child]]
            onwards = short = []
        groups += [group] if group else []
        long = [[child] for child in onwards if child not in short or len(short) == 1]
        todo = [*long, *([short] if len(short) > 1 else []), *todo]
    left = sorted(
        {*range(len(labels))} - {column for group in groups for column in group}
    )
    groups.sort(key=min)
    names = [name_of([labels[k] for k in group]) for group in groups]
    found = tuple(
        JointGroup(
            name if names.count(name) == 1 else _ends([labels[k] for k in group]),
            tuple(group),
        )
        for name, group in zip(names, groups, strict=True)
    )
    if left:
        return (*found, JointGroup("columns without a link", tuple(left)))
    return found


def name_of(labels: Sequence[str]) -> str:
    """Return the name of a group.

    The common beginning of its names, or its first and last.
    """
    if len(labels) == 1:
        return labels[0]
    first = min(labels)
    last = max(labels)
    start = first[
        : next(
            (k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b),
            len(first),
        )
    ]
    cut = max(start.rfind(mark) for mark in "_-./ ")
    if cut > 0:
        whole = start[:cut]
    else:
        whole = start.rstrip("0123456789")
    if len(whole.strip("_-./ ")) >= 2:
        return whole.rstrip("_-./ ")
    return _ends(labels)


def _ends(labels: Sequence[str]) -> str:
    if len(labels) > 1:
        return f"{labels[0]} … {labels[-1]}"
    return labels[0]


T = TypeVar("T")


@dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """A motion to be plotted.

    `measures`: the motion on a body; None for a motion alone. `motion`: the motion
    itself. `title`, `about`: Title of a plot: the robot,
    and the motion. `joints`: Names or patterns (`*`, `?`) of the joints that are shown;
    None for all. `start`, `end`: [s] Only frames in this time span are shown.
    `radians`: Use SI units instead of degrees and millimetres. `notes`: Remarks on the
    motion. `files`: Files that were read. `music`: what sounds from time 0 on.
    """

    measures: Measures | None
    motion: Motion
    title: str
    about: str = ""
    joints: tuple[str, ...] | None = None
    start: float | None = None
    end: float | None = None
    radians: bool = False
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    music: Music | None = None
    _made: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def measured(self) -> Measures:
        """The measures of a motion on a body."""
        assert self.measures is not None
        return self.measures

    def cached(self, key: object, make: Callable[[], T]) -> T:
        """Return a part, made only once although a chart may be laid out many times."""
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The selected joint columns.

        Raises WrongUseError when no joint has such a name; the message lists all.
        """
        labels = self.joint_labels
        if self.joints is None:
            return tuple(range(len(labels)))
        found: set[int] = set()
        for pattern in self.joints:
            hits = [
                k
                for k, label in enumerate(labels)
                if label == pattern or fnmatchcase(label, pattern)
            ]
            if not hits:
                raise WrongUseError(
                    f"no joint matches {pattern!r}; {choices(pattern, labels)}"
                )
            found.update(hits)
        return tuple(sorted(found))

    @cached_property
    def joint_labels(self) -> tuple[str, ...]:
        """The names of all J joint columns."""
        if self.measures is not None:
            if self.measures.body.num_joints:
                return series(self.measures, "joint_displacements").labels
            return ()
        joints = self.motion.joint_displacement
        if joints is None:
            return ()
        return _labels(joints, "joint")

    @cached_property
    def joint_groups(self) -> tuple[JointGroup, ...]:
        """The joints in groups."""
        if self.measures is not None:
            return joint_groups(self.measures.body, self.joint_labels)
        names = list(self.joint_labels)
        if names:
            return (JointGroup(name_of(names), tuple(range(len(names)))),)
        return ()

    def series(self, name: str) -> Series:
        """Return a quantity of `bodymotion.dynamics.QUANTITIES` with the times, joints and units that are shown."""
        found = series(self.measured, name)
        if found.of == "joint" and self.joints is not None:
            found = found.select([found.labels[k] for k in self.columns])
        return self.fit(found)

    def fit(self, found: Series) -> Series:
        """Return a series within the time span, in the units that are shown."""
        if self.start is not None or self.end is not None:
            inside = self.inside(found.times)
            found = replace(
                found,
                times=frozen(found.times[inside]),
                values=frozen(found.values[inside]),
            )
        if self.radians:
            return found
        return found.in_degrees()

    def inside(self, times: Floats) -> Bools:
        """Return which of the times (T,) are shown.

        Raises WrongUseError when none is.
        """
        kept = np.ones(len(times), dtype=bool)
        if self.start is not None:
            kept &= times >= self.start - 1e-9
        if self.end is not None:
            kept &= times <= self.end + 1e-9
        if len(times) and not kept.any():
            if self.start is None:
                begin = ""
            else:
                begin = f"from {moment(self.start)} s "
            if self.end is None:
                span = f"{begin}on"
            else:
                span = f"{begin or 'up '}to {moment(self.end)} s"
            raise WrongUseError(
                f"no frame {span}; the motion is from {moment(times[0])} s to "
                f"{moment(times[-1])} s"
            )
        return kept

    @cached_property
    def components(self) -> tuple[Series, ...]:
        """The series of a motion alone, by component."""
        return tuple(
            self.fit(one)
            for component in self.motion.timed
            if component.num_frames
            for one in _of(component)
        )

    @cached_property
    def times(self) -> Floats:
        """All shown times [s]."""
        if self.measures is not None:
            times = self.measures.times
            return np.asarray(times[self.inside(times)])
        every = [one.times for one in self.components]
        if every:
            return np.unique(np.concatenate(every))
        return np.zeros(0)

    @property
    def small_length(self) -> tuple[float, str]:
        """Factor and unit of small lengths: margins and differences."""
        if self.radians:
            return (1.0, "m")
        return (1000.0, "mm")

    def length_text(self, value: float) -> str:
        """Return a length [m] as text."""
        factor, unit = (1.0, "m") if abs(value) >= 0.5 else self.small_length
        return f"{number_text(value * factor)} {unit}"


def _labels(
    component: MultiValueSeq | MultiSE3Seq | Vector3Seq, kind: str
) -> tuple[str, ...]:
    count = component.values.shape[1]
    names = [*component.part_labels][:count]
    return distinct(
        [name.strip() for name in names] + [""] * (count - len(names)), kind
    )


def _of(component: MultiValueSeq | MultiSE3Seq | Vector3Seq) -> Sequence[Series]:
    """Return the series of a component: its values, or positions and orientations."""
    times = component.timeline.times
    values = component.values
    title = component.content
    if isinstance(component, MultiSE3Seq):
        parts = _labels(component, "link")
        positions = tuple(f"{part} {axis}" for part in parts for axis in "xyz")
        orientations = tuple(
            f"{part} {axis}" for part in parts for axis in ("roll", "pitch", "yaw")
        )
        angles = to_rpy(values[..., 3:])
        if len(times):
            angles = np.unwrap(angles, axis=0)
        size = (len(times), -1)
        return (
            series_of(
                title,
                f"{title}: position",
                positions,
                "m",
                times,
                values[..., :3].reshape(size),
            ),
            series_of(
                title,
                f"{title}: orientation",
                orientations,
                "rad",
                times,
                angles.reshape(size),
            ),
        )
    if isinstance(component, Vector3Seq):
        title += " (in the root's frame)" if component.is_root_relative else ""
        unit = "m" if component.content == "ZMP" else ""
        return (
            series_of(
                component.content,
                title,
                ("x", "y", "z"),
                unit,
                times,
                values,
                of="axis",
            ),
        )
    is_joints = component.content == "JointDisplacement"
    labels = _labels(component, "joint" if is_joints else "part")
    # Without a body it is unknown which joints rotate and which slide.
    unit = "m or rad" if is_joints else ""
    return (
        series_of(
            component.content,
            title,
            labels,
            unit,
            times,
            values,
            of="joint" if is_joints else "link",
        ),
    )


def series_of(
    name: str,
    title: str,
    labels: tuple[str, ...],
    unit: str,
    times: Floats,
    values: Floats,
    of: Of = "link",
) -> Series:
    """Return a series whose columns have one unit."""
    units = (unit,) * len(labels)
    values = frozen(values)
    return Series(
        name=name,
        title=title,
        of=of,
        labels=labels,
        units=units,
        times=times,
        values=values,
    )
