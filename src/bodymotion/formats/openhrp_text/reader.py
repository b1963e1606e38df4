"""Read the .pos, .waist, .hip and .zmp of one name together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, ReadResult, Source
from bodymotion.formats.openhrp_text import rules
from bodymotion.formats.tables.joint_names import joint_names
from bodymotion.formats.tables.number_table import Table, read_table, table_motion
from bodymotion.formats.tables.timelines import check_increasing, timeline_of
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    Vector3Seq,
)
from bodymotion.motion.components import Timeline

if TYPE_CHECKING:
    from bodymotion.model.body import Body

SUFFIXES = (".pos", ".waist", ".hip", ".zmp")

MAX_DIFFERENCE = 1e-3
"""[rad] The difference between the orientations of .waist and .hip: files have few decimals."""


def siblings(path: Path) -> dict[str, Path]:
    """Return the files that belong to one of them, by suffix; the one that is given is always among them."""
    found = {suffix: path.with_suffix(suffix) for suffix in SUFFIXES}
    found = {suffix: other for suffix, other in found.items() if other.is_file()}
    return {**found, path.suffix.lower(): path}


def read_openhrp_text(path: str | Path, *, body: Body | None = None, from_zero: bool = False) -> ReadResult[Motion]:
    """Read the .pos, .waist, .hip and .zmp of one name; go on after faults.

    Parameters
    ----------
    path:
        Any one of the files.
    body:
        Its number of joints is checked, and their names become the part labels.
    from_zero:
        Subtract the first time of each file from all of its times.
    """
    path = Path(path)
    found = Diagnostics(path)
    if path.suffix.lower() not in SUFFIXES:
        message = f"the file ends in {path.suffix!r}, not in .pos, .waist, .hip or .zmp"
        found.report(rules.SUFFIX, message, Location(str(path)))
        return ReadResult(None, found.problems)
    reader = _Reader(siblings(path), found, from_zero)
    reader.read_root()
    reader.read_joints(body)
    reader.read_zmp()
    if not reader.components:
        return ReadResult(None, found.problems)
    source = Source("openhrp-text", path, encoding="ascii")
    return ReadResult(table_motion(reader.tables, reader.components, source, found), found.problems)


class _Reader:
    """The components so far, each with the table that it was read from."""

    def __init__(self, files: dict[str, Path], found: Diagnostics, from_zero: bool) -> None:
        self.files, self.found, self.from_zero = files, found, from_zero
        self.components: list[Component] = []
        self.tables: list[Table] = []

    def _rows(self, suffix: str, widths: tuple[int, ...] | None) -> tuple[Table, Floats, Timeline] | None:
        """Return the table of a file, its numbers after the time, and its timeline; None where there is none, or it cannot be read."""
        if suffix not in self.files:
            return None
        path = self.files[suffix]
        with self.found.recover(("components", "all")):
            table = read_table(path, self.found, " ")
            if table is None:
                self.found.mark_unknown(("components", "all"))
                return None
            columns = table.values.shape[1] - 1
            location = Location(table.path, table.header_line)
            if table.names is not None:
                raise rules.WIDTH.error("the first line is no row of numbers", location)
            if columns < 0 or (widths is not None and columns not in widths):
                wanted = " or ".join(map(str, widths or ()))
                raise rules.WIDTH.error(
                    f"{columns} numbers after the time, where a {path.suffix} has {wanted}", location
                )
            times = table.values[:, 0]
            check_increasing(times, rules.TIME_ORDER, self.found, table.row, table.unread)
            readable = self.found.is_known(("times",)) and not table.unread
            timeline = timeline_of(times, None, self.from_zero) if readable else Timeline.stamped(times)
            return table, table.values[:, 1:], timeline
        return None

    def _add(self, table: Table, component: Component) -> None:
        self.tables.append(table)
        self.components.append(component)

    def read_joints(self, body: Body | None) -> None:
        rows = self._rows(".pos", None)
        if rows is None:
            return
        table, q, timeline = rows
        labels: tuple[str, ...] = ()
        if body is not None:
            labels = joint_names(body)
            if len(labels) != q.shape[1]:
                message = f"{q.shape[1]} joints; {body.name} has {len(labels)}: {', '.join(labels)}"
                self.found.report(rules.JOINTS, message, Location(table.path))
                self.found.mark_unknown(("components", "all"))
                return
        joints = MultiValueSeq(content=JOINT_DISPLACEMENT, timeline=timeline, values=q, part_labels=labels)
        self._add(table, joints)

    def read_zmp(self) -> None:
        rows = self._rows(".zmp", (3,))
        if rows is not None:
            table, points, timeline = rows
            self._add(table, Vector3Seq(content=ZMP, timeline=timeline, values=points, is_root_relative=True))

    def read_root(self) -> None:
        hip = self._rows(".hip", (3,))
        if ".waist" not in self.files:
            if hip is not None:
                table, angles, timeline = hip
                self.found.report(rules.POSITION, "there is no .waist beside it", Location(table.path))
                self._add_root(table, np.zeros((len(angles), 3)), rotations.from_rpy(angles), timeline)
            return
        waist = self._rows(".waist", (3, 6, 12))
        if waist is None:
            return
        table, rows, timeline = waist
        if rows.shape[1] == 6:
            orientations = rotations.from_rpy(rows[:, 3:])
        elif rows.shape[1] == 12:
            orientations = rotations.from_matrix(rows[:, 3:].reshape(-1, 3, 3))
        elif hip is not None and len(hip[1]) == len(rows):
            orientations = rotations.from_rpy(hip[1])
        else:
            message = "the .waist has positions only, and there is no .hip of as many lines beside it"
            self.found.report(rules.WIDTH, message, Location(table.path))
            self.found.mark_unknown(("components", "all"))
            return
        if hip is not None and rows.shape[1] > 3:
            self._compare_hip(hip[0], hip[1], orientations)
        self._add_root(table, rows[:, :3], orientations, timeline)

    def _add_root(self, table: Table, positions: Floats, orientations: Floats, timeline: Timeline) -> None:
        poses = np.concatenate([positions, orientations], axis=-1)[:, None]
        self._add(table, MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=poses))

    def _compare_hip(self, hip: Table, angles: Floats, orientations: Floats) -> None:
        """Report a .hip, which is not read as the .waist has orientations (T, 4), whose orientations are others."""
        name = Path(hip.path).name
        if len(angles) != len(orientations):
            message = f"{name} has {len(angles)} lines, the .waist {len(orientations)}"
            self.found.report(rules.IGNORED, message, Location(hip.path))
            return
        known = np.isfinite(angles).all(axis=-1) & np.isfinite(orientations).all(axis=-1)
        difference = np.zeros(len(orientations))
        difference[known] = rotations.angle_between(rotations.from_rpy(angles[known]), orientations[known])
        if difference.max(initial=0.0) > MAX_DIFFERENCE:
            frame = int(np.argmax(difference))
            degrees = np.degrees(difference[frame])
            message = f"{name} is {degrees:.3g}° off the orientation of the .waist in frame {frame}"
            self.found.report(rules.IGNORED, message, hip.row(frame))
