"""What is plotted: a motion on a body, measured, or a motion alone; from when to when, which joints, in which units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.text import distinct, moment
from bodymotion.dynamics import Measures, Series, series
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.rotations import to_rpy
from bodymotion.motion import MultiSE3Seq, Vector3Seq
from bodymotion.plots.limbs import Limb, limbs, name_of
from bodymotion.plots.words import number

if TYPE_CHECKING:
    from bodymotion.dynamics.quantities import Of
    from bodymotion.motion import Motion, MultiValueSeq

__all__ = ["Subject"]

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
        What stands above a plot: what moves, and which motion.
    joints:
        Names or patterns (`*`, `?`) of the joints that are shown; None for all.
    start, end:
        [s] Only frames from then to then are shown.
    radians:
        SI units also where people read degrees and millimetres.
    notes:
        What is to be known about the motion.
    files:
        What was read for it.
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
    _made: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Make a part once, however often sheets are made of it to find one that fits."""
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The joint columns that were asked for.

        Raises
        ------
        WrongUseError
            When no joint has such a name; the message lists those there are.
        """
        labels = self.joint_labels
        if self.joints is None:
            return tuple(range(len(labels)))
        found: set[int] = set()
        for pattern in self.joints:
            hits = [k for k, label in enumerate(labels) if label == pattern or fnmatchcase(label, pattern)]
            if not hits:
                there = ", ".join(labels) or "none"
                raise WrongUseError(f"there is no joint {pattern!r}; there are: {there}")
            found.update(hits)
        return tuple(sorted(found))

    @cached_property
    def joint_labels(self) -> tuple[str, ...]:
        """The names of all J joint columns."""
        if self.measures is not None:
            return series(self.measures, "joint_displacements").labels if self.measures.body.num_joints else ()
        joints = self.motion.joint_displacement
        return () if joints is None else _labels(joints, "joint")

    @cached_property
    def limbs(self) -> tuple[Limb, ...]:
        """The joints in groups."""
        if self.measures is not None:
            return limbs(self.measures.body, self.joint_labels)
        names = list(self.joint_labels)
        return (Limb(name_of(names), tuple(range(len(names)))),) if names else ()

    def series(self, name: str) -> Series:
        """Return a quantity of `bodymotion.dynamics.QUANTITIES` as it is shown: its times, its joints, its units."""
        assert self.measures is not None
        found = series(self.measures, name)
        if found.of == "joint" and self.joints is not None:
            found = found.select([found.labels[k] for k in self.columns])
        return self.fit(found)

    def fit(self, found: Series) -> Series:
        """Return a series within the times that are shown, in units for people."""
        if self.start is not None or self.end is not None:
            inside = self.inside(found.times)
            found = replace(found, times=frozen(found.times[inside]), values=frozen(found.values[inside]))
        return found if self.radians else found.in_degrees()

    def inside(self, times: Floats) -> npt.NDArray[np.bool_]:
        """Say which of these times (T,) are shown.

        Raises
        ------
        WrongUseError
            When none is.
        """
        kept = np.ones(len(times), dtype=bool)
        if self.start is not None:
            kept &= times >= self.start - 1e-9
        if self.end is not None:
            kept &= times <= self.end + 1e-9
        if len(times) and not kept.any():
            begin = "" if self.start is None else f"from {moment(self.start)} s "
            asked = f"{begin}on" if self.end is None else f"{begin or 'up '}to {moment(self.end)} s"
            raise WrongUseError(
                f"there is no frame {asked}; the motion lasts from {moment(times[0])} s to {moment(times[-1])} s"
            )
        return kept

    @cached_property
    def components(self) -> tuple[Series, ...]:
        """What a motion alone has, component by component."""
        return tuple(self.fit(one) for component in self.motion.timed if component.num_frames for one in _of(component))

    @cached_property
    def times(self) -> Floats:
        """All times [s] that are shown."""
        if self.measures is not None:
            times = self.measures.times
            return np.asarray(times[self.inside(times)])
        every = [one.times for one in self.components]
        return np.unique(np.concatenate(every)) if every else np.zeros(0)

    def angle(self, unit: str) -> str:
        """Return the unit in which angles are shown."""
        return unit if self.radians else unit.replace("rad", "°")

    @property
    def length(self) -> tuple[float, str]:
        """How small lengths are shown: factor and unit."""
        return (1.0, "m") if self.radians else (1000.0, "mm")

    def length_text(self, value: float) -> str:
        """Write a length [m] for people."""
        factor, unit = (1.0, "m") if abs(value) >= 0.5 else self.length
        return f"{number(value * factor)} {unit}"


def _labels(component: MultiValueSeq | MultiSE3Seq | Vector3Seq, kind: str) -> tuple[str, ...]:
    count = component.values.shape[1]
    names = [*component.part_labels][:count]
    return distinct([name.strip() for name in names] + [""] * (count - len(names)), kind)


def _of(component: MultiValueSeq | MultiSE3Seq | Vector3Seq) -> Sequence[Series]:
    """Return the series that a component is: its values, or places and orientations."""
    times, values, title = component.timeline.times, component.values, component.content
    if isinstance(component, MultiSE3Seq):
        parts = _labels(component, "link")
        places = tuple(f"{part} {axis}" for part in parts for axis in "xyz")
        turns = tuple(f"{part} {axis}" for part in parts for axis in ("roll", "pitch", "yaw"))
        angles = to_rpy(values[..., 3:])
        angles = np.unwrap(angles, axis=0) if len(times) else angles
        size = (len(times), -1)
        return (
            _series(title, f"{title}: position", places, "m", times, values[..., :3].reshape(size)),
            _series(title, f"{title}: orientation", turns, "rad", times, angles.reshape(size)),
        )
    if isinstance(component, Vector3Seq):
        title += " (in the root's frame)" if component.is_root_relative else ""
        unit = "m" if component.content == "ZMP" else ""
        return (_series(component.content, title, ("x", "y", "z"), unit, times, values, of="axis"),)
    is_joints = component.content == "JointDisplacement"
    labels = _labels(component, "joint" if is_joints else "part")
    # Without a body nobody says which joints turn and which slide: their numbers stay as they are.
    unit = "m or rad" if is_joints else ""
    return (_series(component.content, title, labels, unit, times, values, of="joint" if is_joints else "link"),)


def _series(
    name: str, title: str, labels: tuple[str, ...], unit: str, times: Floats, values: Floats, of: Of = "link"
) -> Series:
    return Series(
        name=name,
        title=title,
        of=of,
        labels=labels,
        units=(unit,) * len(labels),
        times=times,
        values=frozen(np.asarray(values, dtype=np.float64)),
    )
