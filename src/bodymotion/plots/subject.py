"""What is plotted: a motion on a body, or a motion alone.

Its time span, joints, groups of joints, and units.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain, product
from os.path import commonprefix
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
from bodymotion.model.trees import children_of
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.plots.parts import number_text
from bodymotion.scene.music import Music

# Branches with fewer joints on one link are one group: wheels of a vehicle, fingers
# of a hand.
MIN_BRANCH = 4
# Characters between the words of a name.
SEPARATORS = "_-./ "
# [s] A frame that rounding puts just outside of a time span is in it.
ROUNDING = 1e-9
# [m] Lengths from here on are in metres, not in millimetres.
MIN_METRES = 0.5


@dataclass(frozen=True)
class JointGroup:
    """A group of joints: its name, and its columns from the root outwards."""

    name: str
    columns: tuple[int, ...]


def joint_groups(body: Body, labels: Sequence[str]) -> tuple[JointGroup, ...]:
    """Return the joint columns of a body in groups such as arms and legs.

    `labels` (J,) are their names. Each column is in one group.

    A group continues from joint to joint along a chain of links. Where chains branch,
    those with fewer than four joints form one group.
    """

    def labels_of(group: Sequence[int]) -> list[str]:
        return [labels[column] for column in group]

    columns = sorted(_group_columns(body), key=min)
    names = [name_of(labels_of(group)) for group in columns]
    groups = []
    for name, group in zip(names, columns, strict=True):
        if names.count(name) > 1:
            name = _ends(labels_of(group))
        groups.append(JointGroup(name, tuple(group)))
    without_link = set(range(len(labels))).difference(*columns)
    if without_link:
        group = sorted(without_link)
        groups.append(JointGroup("columns without a link", tuple(group)))
    return tuple(groups)


class _Limbs:
    """The columns of a body by its links, and the tree of links.

    Attributes
    ----------
    children:
        By link.
    columns:
        The column of each link with a joint.
    below:
        By link, its column and those of all links below it.
    """

    def __init__(self, body: Body) -> None:
        self.children = children_of([link.parent for link in body.links])
        self.columns = {link: column for column, link in enumerate(body.joint_links)}
        # Children have higher indices than parents: from the last link up each list is
        # whole.
        self.below: list[list[int]] = [[] for _ in body.links]
        for link in reversed(range(len(body.links))):
            below = self.below[link]
            if link in self.columns:
                below.append(self.columns[link])
            for child in self.children[link]:
                below += self.below[child]

    def follow(self, link: int) -> tuple[list[int], list[int]]:
        """Return the columns of a chain from a link on, and the links behind it."""
        limb = []
        # Follow the chain as long as it does not branch.
        branches = [link]
        while len(branches) == 1:
            link = branches[0]
            if link in self.columns:
                limb.append(self.columns[link])
            # Branches without joints do not count.
            branches = [child for child in self.children[link] if self.below[child]]
        # A hand belongs to its arm.
        if limb and self.is_hand(branches):
            limb += self.join(branches)
            branches = []
        return limb, branches

    def is_hand(self, branches: Sequence[int]) -> bool:
        """Return whether all branches are short, as fingers of a gripper are."""
        sizes = [len(self.below[link]) for link in branches]
        return max(sizes, default=0) < MIN_BRANCH and sum(sizes) <= 2 * MIN_BRANCH

    def join(self, branches: Sequence[int]) -> list[int]:
        """Return the columns of several branches."""
        return list(chain.from_iterable(self.below[link] for link in branches))


def _group_columns(body: Body) -> list[list[int]]:
    """Return the columns of each group, from the root outwards."""
    limbs = _Limbs(body)
    groups = []
    # Parts of the tree by the links where they begin: one, or several short branches.
    parts = [[0]] if body.links else []
    while parts:
        starts = parts.pop(0)
        if len(starts) > 1:
            groups.append(limbs.join(starts))
            continue
        limb, branches = limbs.follow(starts[0])
        if limb:
            groups.append(limb)
        # Several short branches at one link form one group.
        short = [link for link in branches if len(limbs.below[link]) < MIN_BRANCH]
        if len(short) < 2:
            short = []
        inner = [[link] for link in branches if link not in short]
        if short:
            inner.append(short)
        parts = inner + parts
    return groups


def name_of(labels: Sequence[str]) -> str:
    """Return the name of a group.

    The common beginning of its names, or its first and last.
    """
    if len(labels) == 1:
        return labels[0]
    # The common prefix of all is that of the first and the last in order.
    start = commonprefix([min(labels), max(labels)])  # noqa: RUF071 - of characters
    # Up to the end of a word: "L_HIP_", not "L_HIP_R".
    end_of_word = max(start.rfind(mark) for mark in SEPARATORS)
    if end_of_word > 0:
        start = start[:end_of_word]
    else:
        start = start.rstrip("0123456789")
    # One letter is no name.
    if len(start.strip(SEPARATORS)) >= 2:
        return start.rstrip(SEPARATORS)
    return _ends(labels)


def _ends(labels: Sequence[str]) -> str:
    """Return the first and the last of some names."""
    if len(labels) > 1:
        return f"{labels[0]} … {labels[-1]}"
    return labels[0]


T = TypeVar("T")


@dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """A motion to be plotted.

    Attributes
    ----------
    measures:
        The motion on a body; None for a motion alone.
    motion:
        The motion itself.
    title, about:
        Title of a plot: the robot, and the motion.
    joints:
        Names or patterns (`*`, `?`) of the joints that are shown; None for all.
    start, end:
        [s] Only frames in this time span are shown.
    radians:
        Use SI units instead of degrees and millimetres.
    notes:
        Remarks on the motion.
    files:
        Files that were read.
    music:
        What sounds from time 0 on.
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
        columns: set[int] = set()
        for pattern in self.joints:
            matching = [
                column
                for column, label in enumerate(labels)
                if label == pattern or fnmatchcase(label, pattern)
            ]
            if not matching:
                raise WrongUseError(
                    f"no joint matches {pattern!r}; {choices(pattern, labels)}"
                )
            # Each column once, in the order of joint arrays.
            columns.update(matching)
        return tuple(sorted(columns))

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
        """Return a quantity of `bodymotion.dynamics.QUANTITIES` as it is shown.

        It has the times, joints and units that are shown.
        """
        quantity = series(self.measured, name)
        if quantity.of == "joint" and self.joints is not None:
            quantity = quantity.select([quantity.labels[k] for k in self.columns])
        return self.fit(quantity)

    def fit(self, whole: Series) -> Series:
        """Return a series within the time span, in the units that are shown."""
        fitted = whole
        if self.start is not None or self.end is not None:
            inside = self.inside(whole.times)
            fitted = replace(
                whole,
                times=frozen(whole.times[inside]),
                values=frozen(whole.values[inside]),
            )
        if self.radians:
            return fitted
        return fitted.in_degrees()

    def inside(self, times: Floats) -> Bools:
        """Return which of the times (T,) are shown.

        Raises WrongUseError when none is.
        """
        start = -np.inf if self.start is None else self.start
        end = np.inf if self.end is None else self.end
        # Rounding: bounds include the frames that they name.
        is_inside = (times >= start - ROUNDING) & (times <= end + ROUNDING)
        if len(times) and not is_inside.any():
            raise WrongUseError(
                f"no frame {self._span_text()}; the motion is from "
                f"{moment(times[0])} s to {moment(times[-1])} s"
            )
        return np.asarray(is_inside)

    def _span_text(self) -> str:
        """Return the time span in words."""
        begin = ""
        if self.start is not None:
            begin = f"from {moment(self.start)} s "
        if self.end is None:
            return f"{begin}on"
        return f"{begin or 'up '}to {moment(self.end)} s"

    @cached_property
    def components(self) -> tuple[Series, ...]:
        """The series of a motion alone, by component."""
        shown: list[Series] = []
        for component in self.motion.timed:
            if component.num_frames:
                shown += map(self.fit, _series_of_component(component))
        return tuple(shown)

    @cached_property
    def times(self) -> Floats:
        """All shown times [s]."""
        if self.measures is not None:
            times = self.measures.times
            return np.asarray(times[self.inside(times)])
        every = [one.times for one in self.components]
        # Components may have timelines of their own: all times of any of them.
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
        factor, unit = (1.0, "m") if abs(value) >= MIN_METRES else self.small_length
        return f"{number_text(value * factor)} {unit}"


def _labels(
    component: MultiValueSeq | MultiSE3Seq | Vector3Seq, kind: str
) -> tuple[str, ...]:
    """Return different names for the parts of a component of a kind, such as joint."""
    count = component.values.shape[1]
    names = [name.strip() for name in component.part_labels[:count]]
    return distinct(names + [""] * (count - len(names)), kind)


def _series_of_component(
    component: MultiValueSeq | MultiSE3Seq | Vector3Seq,
) -> Sequence[Series]:
    """Return the series of a component: its values, or positions and orientations."""
    times = component.timeline.times
    values = component.values
    title = component.content
    if isinstance(component, MultiSE3Seq):
        return _series_of_poses(component)
    if isinstance(component, Vector3Seq):
        if component.is_root_relative:
            title += " (in the root's frame)"
        unit = "m" if component.content == "ZMP" else ""
        axes = ("x", "y", "z")
        vectors = series_of(
            component.content, title, axes, unit, times, values, of="axis"
        )
        return (vectors,)
    if component.content != "JointDisplacement":
        labels = _labels(component, "part")
        return (series_of(component.content, title, labels, "", times, values),)
    # Without a body it is unknown which joints rotate and which slide.
    unit = "m or rad"
    labels = _labels(component, "joint")
    joints = series_of(
        component.content, title, labels, unit, times, values, of="joint"
    )
    return (joints,)


def _series_of_poses(component: MultiSE3Seq) -> tuple[Series, Series]:
    """Return the positions and the orientations of links."""
    times = component.timeline.times
    title = component.content
    parts = _labels(component, "link")
    angles = to_rpy(component.values[..., 3:])
    # Without jumps by full turns.
    if len(times):
        angles = np.unwrap(angles, axis=0)
    positions = series_of(
        title,
        f"{title}: position",
        tuple(map(" ".join, product(parts, "xyz"))),
        "m",
        times,
        component.values[..., :3].reshape(len(times), -1),
    )
    orientations = series_of(
        title,
        f"{title}: orientation",
        tuple(map(" ".join, product(parts, ("roll", "pitch", "yaw")))),
        "rad",
        times,
        angles.reshape(len(times), -1),
    )
    return positions, orientations


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
