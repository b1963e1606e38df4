"""OpenHRP's plain text motions.

Several files of one name, one frame a line, numbers between blanks, the time [s] first.

==========
============================================================================================
``.pos``   time, joint displacements in order of joint id [rad or m]
``.waist`` time, position of the root link x y z [m], its orientation roll pitch yaw
[rad] (or the nine
           numbers of its rotation matrix, row by row, which Choreonoid reads; older
           ones write its linear and angular velocities behind these, which are not
           read)
``.hip``   time, orientation of the root link roll pitch yaw [rad]
``.zmp``   time, zero moment point x y z [m], in the root link's frame
==========
============================================================================================

Any one of them names all: the others are found beside it. Times may begin anywhere;
where the first is 0 and all are evenly apart, the motion gets their rate, else it keeps
them as time stamps, with the rate that they follow as the one for resampling.
"""

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    Location,
    Problem,
    ReadResult,
    Source,
    document,
    judgement,
    losses,
)
from bodymotion.formats.tables.columns import (
    check_unit,
    joint_names,
    on_one_timeline,
    renamed_labels,
)
from bodymotion.formats.tables.number_table import (
    Table,
    read_table,
    table_motion,
    write_rows,
)
from bodymotion.formats.text import rounded
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
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
from bodymotion.system.files import whole_files

WIDTH = document.error(
    "OTX001",
    "A file has the columns of its kind: .pos t and joints, .waist t x y z r p y, "
    ".hip t r p y, .zmp t x y z.",
    example=("0.0 0 0 0.8 0 0", "0.0 0 0 0.8 0 0 0"),
)
RETIRED = {"OTX002": "MOT105"}
JOINTS = judgement.error(
    "OTX003",
    "A .pos has as many joints as the model.",
    example=("0.0 0.1 0.2 0.3", "0.0 0.1 0.2"),
)
POSITION = judgement.warning(
    "OTX004",
    "The orientation of a .hip comes with the positions of a .waist.",
    "the position is read as 0 0 0",
    example=("a .hip alone", "a .hip beside a .waist"),
)
SUFFIX = document.error(
    "OTX005",
    "The files of a motion end in .pos, .waist, .hip and .zmp.",
    example=("walk.pose", "walk.pos"),
)
ORIENTATIONS_DIFFER = judgement.warning(
    "OTX006",
    "The .waist and the .hip of a motion have the same orientation of the root.",
    "that of the .waist is read; remove the file that does not belong to the motion",
    example=(
        "a .waist and a .hip of other orientations",
        "a .waist and a .hip of the same orientations",
    ),
)
VELOCITIES = judgement.note(
    "OTX007",
    "Velocities of the root follow from its poses, and are not read.",
    example=(
        "a .waist of position, matrix and velocities",
        "a .waist of position and matrix",
    ),
)
STALE = judgement.warning(
    "OTX101",
    "Beside the written files there are none of an older motion of the same name. "
    "They would be read with the written ones.",
    "remove the file if it does not belong to the motion",
    example=(
        "saving joints as walk.pos where a walk.zmp is",
        "saving joints as walk.pos where none is",
    ),
)
CONVERTED = document.note(
    "OTX102",
    "A .zmp is in the root link's frame.",
    example=("saving a ZMP in the world's frame", "saving a ZMP that is root-relative"),
)

# Any of these suffixes names the motion.
SUFFIXES = (".pos", ".waist", ".hip", ".zmp")

# [rad] Difference of the orientations of .waist and .hip: files have few decimals.
MAX_DIFFERENCE = 1e-3
# Error of the length of a quaternion from which its loss is reported.
MAX_LENGTH_ERROR = 1e-9


def siblings(path: Path) -> dict[str, Path]:
    """Return the files that belong to one of them, by suffix.

    The one that is given is always among them.
    """
    # Only files that exist, and the one that is named in any case.
    found = {suffix: path.with_suffix(suffix) for suffix in SUFFIXES}
    found = {suffix: other for suffix, other in found.items() if other.is_file()}
    return {**found, path.suffix.lower(): path}


def read_openhrp_text(
    path: str | Path, *, body: Body | None = None, from_zero: bool = False
) -> ReadResult[Motion]:
    """Read the .pos, .waist, .hip and .zmp of one name.

    Go on after faults.

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
        found.report(SUFFIX, message, Location(str(path)))
        return ReadResult(None, found.problems)
    # The root first: it is the first component of the motion.
    reader = _Reader(siblings(path), found, from_zero)
    reader.read_root()
    reader.read_joints(body)
    reader.read_zmp()
    if not reader.components:
        return ReadResult(None, found.problems)
    source = Source("openhrp-text", path, encoding="ascii")
    return ReadResult(
        table_motion(reader.tables, reader.components, source, found), found.problems
    )


class _Rows(NamedTuple):
    """The table of a file, its numbers (T, N) after the time, and its timeline."""

    table: Table
    values: Floats
    timeline: Timeline


class _Reader:
    """The components so far, each with the table that it was read from."""

    def __init__(
        self, files: dict[str, Path], found: Diagnostics, from_zero: bool
    ) -> None:
        self.files = files
        self.found = found
        self.from_zero = from_zero
        self.components: list[Component] = []
        self.tables: list[Table] = []

    def _rows(self, suffix: str, widths: tuple[int, ...] | None) -> _Rows | None:
        """Return what a file holds.

        None where there is none, or it cannot be read.
        """
        if suffix not in self.files:
            return None
        path = self.files[suffix]
        with self.found.recover(("components", "all")):
            table = read_table(path, self.found, " ")
            # Without a table, anything may be missing in the motion.
            if table is None:
                self.found.mark_unknown(("components", "all"))
                return None
            # The first column is the time.
            columns = table.values.shape[1] - 1
            location = Location(table.path, table.header_line)
            # A line of names is no part of the format.
            if table.names is not None:
                raise WIDTH.error("the first line is not a row of numbers", location)
            if columns < 0 or (widths is not None and columns not in widths):
                wanted = " or ".join(map(str, widths or ()))
                message = (
                    f"{columns} numbers after the time, where a {path.suffix} has "
                    f"{wanted}"
                )
                raise WIDTH.error(message, location)
            times = table.values[:, 0]
            check_unit(times, self.found, location)
            timeline = table.timeline(times, self.found, None, self.from_zero)
            return _Rows(table, table.values[:, 1:], timeline)
        return None

    def _add(self, table: Table, component: Component) -> None:
        self.tables.append(table)
        self.components.append(component)

    def read_joints(self, body: Body | None) -> None:
        """Read the joints of the .pos, if there is one."""
        rows = self._rows(".pos", None)
        if rows is None:
            return
        table, values, timeline = rows
        labels: tuple[str, ...] = ()
        if body is not None:
            labels = joint_names(body)
            num_joints = values.shape[1]
            if len(labels) != num_joints:
                # Without names, columns are the body's joints by id: their number must
                # fit.
                message = (
                    f"{num_joints} joints; {body.name} has {len(labels)}: "
                    f"{', '.join(labels)}"
                )
                self.found.report(JOINTS, message, Location(table.path))
                self.found.mark_unknown(("components", "all"))
                return
        joints = MultiValueSeq(
            content=JOINT_DISPLACEMENT,
            timeline=timeline,
            values=values,
            part_labels=labels,
        )
        self._add(table, joints)

    def read_zmp(self) -> None:
        rows = self._rows(".zmp", (3,))
        if rows is None:
            return
        table, points, timeline = rows
        zmp = Vector3Seq(
            content=ZMP, timeline=timeline, values=points, is_root_relative=True
        )
        self._add(table, zmp)

    def read_root(self) -> None:
        hip = self._rows(".hip", (3,))
        if ".waist" in self.files:
            # Positions alone (old files), with angles, or with a matrix, without or
            # with velocities.
            waist = self._rows(".waist", (3, 6, 12, 18))
            if waist is not None:
                self._read_waist(waist, hip)
        elif hip is not None:
            message = "there is no .waist beside it"
            self.found.report(POSITION, message, Location(hip.table.path))
            # Without a .waist, the position of the root is not known.
            positions = np.zeros((len(hip.values), 3))
            orientations = rotations.from_rpy(hip.values)
            self._add_root(hip, positions, orientations)

    def _read_waist(self, waist: _Rows, hip: _Rows | None) -> None:
        """Read a .waist: positions, and angles, matrices or, of old ones, nothing."""
        values = waist.values
        location = Location(waist.table.path)
        width = values.shape[1]
        if width == 6:
            orientations = rotations.from_rpy(values[:, 3:])
        elif width in (12, 18):
            orientations = rotations.from_matrix(values[:, 3:12].reshape(-1, 3, 3))
            # Velocities follow from the poses; zeros are nothing that is lost.
            if values[:, 12:].any():
                message = "columns 14 to 19, the velocities of the root"
                self.found.report(VELOCITIES, message, location)
        elif hip is not None and len(hip.values) == len(values):
            # An old .waist has no orientation: the .hip beside it has.
            orientations = rotations.from_rpy(hip.values)
        else:
            message = (
                "the .waist has positions only, and there is no .hip of as many lines "
                "beside it"
            )
            self.found.report(WIDTH, message, location)
            self.found.mark_unknown(("components", "all"))
            return
        # Both files have the orientation: they must agree.
        if hip is not None and width > 3:
            self._compare_hip(hip, orientations)
        self._add_root(waist, values[:, :3], orientations)

    def _add_root(self, rows: _Rows, positions: Floats, orientations: Floats) -> None:
        # (T, 1, 7): the root is the only link.
        poses = np.concatenate([positions, orientations], axis=-1)[:, None]
        root = MultiSE3Seq(content=LINK_POSITION, timeline=rows.timeline, values=poses)
        self._add(rows.table, root)

    def _compare_hip(self, hip: _Rows, orientations: Floats) -> None:
        """Report a .hip with other orientations than the .waist (T, 4).

        It is not read where the .waist has orientations.
        """
        angles = hip.values
        path = hip.table.path
        name = Path(path).name
        if len(angles) != len(orientations):
            message = f"{name} has {len(angles)} lines, the .waist {len(orientations)}"
            self.found.report(ORIENTATIONS_DIFFER, message, Location(path))
            return
        # Frames that could not be read are equal to anything.
        are_numbers = np.isfinite(angles).all(axis=-1)
        are_numbers &= np.isfinite(orientations).all(axis=-1)
        difference = np.zeros(len(orientations))
        difference[are_numbers] = rotations.angle_between(
            rotations.from_rpy(angles[are_numbers]), orientations[are_numbers]
        )
        if difference.max(initial=0.0) > MAX_DIFFERENCE:
            frame = int(np.argmax(difference))
            degrees = np.degrees(difference[frame])
            message = (
                f"{name} is {degrees:.3g}° off the orientation of the .waist in frame "
                f"{frame}"
            )
            self.found.report(ORIENTATIONS_DIFFER, message, hip.table.row(frame))


def write_openhrp_text(
    motion: Motion,
    path: str | Path,
    *,
    body: Body | None = None,
    digits: int | None = None,
) -> tuple[Problem, ...]:
    """Write a motion as .pos, .waist, .hip and .zmp, as far as it has their content.

    Return what they cannot hold.

    Parameters
    ----------
    motion:
        A ZMP in the world's frame is turned into the root link's, by the root's poses.
    path:
        Any one of the files; the others are written beside it. All are replaced, or
        none is.
    body:
        Whose motion it is: columns with names of its joints are put in order of joint
        id (`Body.joint_columns`).
    digits:
        Round values to this number of significant digits (1 to 15).

    Raises
    ------
    ValueError
        When the motion has nothing that the file named holds, or a ZMP in the world's
        frame without a pose of the root, or no column for a joint of the body.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        path = path.with_suffix(".pos")
    # The files have no names: all joints of the body, in the order of their ids.
    shared = on_one_timeline(motion, body=body, nameless=True)
    problems = [*shared.problems, *shared.time_losses()]
    tables: dict[str, Floats] = {}
    if shared.joints is not None:
        tables[".pos"] = shared.joints.values
        problems += renamed_labels("joint", shared.joints.part_labels)
    root = None
    if shared.links is not None and shared.links.num_parts:
        root = shared.links.values[:, 0]
        problems += _root_losses(shared.links)
        angles = rotations.to_rpy(root[:, 3:])
        tables[".waist"] = np.concatenate([root[:, :3], angles], axis=-1)
        # Both have the orientation: programs read one or the other.
        tables[".hip"] = angles
    if shared.zmp is not None:
        points = shared.zmp.values
        # A .zmp is in the frame of the root.
        if not shared.zmp.is_root_relative:
            points = _in_root_frame(points, root)
            message = "the ZMP is converted from the world's frame to the root link's"
            problems.append(CONVERTED.problem(message))
        tables[".zmp"] = points
    # The file that was named must be among those written.
    if path.suffix.lower() not in tables:
        names = ", ".join(path.with_suffix(suffix).name for suffix in tables)
        raise ValueError(
            f"the motion has no data for a {path.suffix}; name one of {names}"
        )
    problems += _stale_files(path, tables)
    paths = [
        path if suffix == path.suffix.lower() else path.with_suffix(suffix)
        for suffix in tables
    ]
    with whole_files(*paths) as streams:
        for stream, values in zip(streams, tables.values(), strict=True):
            if digits is not None:
                values = rounded(values, digits)
            rows = np.column_stack([shared.timeline.times, values])
            problems.extend(write_rows(stream, rows, b" "))
    return tuple(problems)


def _root_losses(links: MultiSE3Seq) -> list[Problem]:
    """Return what the files do not hold of the poses of links."""
    problems: list[Problem] = []
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(links.values[:, 0, 3:], axis=-1)
    # `not <=` is also true for nan.
    num_wrong = int(np.count_nonzero(~(np.abs(lengths - 1) <= MAX_LENGTH_ERROR)))
    if num_wrong:
        message = f"quaternions of the root whose length is not 1: {num_wrong}"
        problems.append(losses.ORIENTATION.problem(message))
    if links.num_parts > 1:
        message = f"of {links.num_parts} link poses that of the root is written"
        problems.append(losses.COMPONENT.problem(message))
    return [*problems, *renamed_labels("link", links.part_labels)]


def _in_root_frame(points: Floats, root: Floats | None) -> Floats:
    """Return points (T, 3) of the world in the frame of the root (T, 7)."""
    if root is None:
        raise ValueError(
            "a .zmp is in the root link's frame; the motion's ZMP is in the "
            "world's, and it has no pose of the root"
        )
    # R⁻¹ · (p − position of the root).
    to_root = rotations.conjugate(rotations.normalized(root[:, 3:]))
    return rotations.rotate(to_root, points - root[:, :3])


def _stale_files(path: Path, written: Collection[str]) -> list[Problem]:
    """Report files of an older motion that would be read with the written ones."""
    problems: list[Problem] = []
    for suffix, other in siblings(path).items():
        if suffix not in written and other.is_file():
            message = f"the motion has no data for it, and {other.name} existed before"
            problems.append(STALE.problem(message, Location(str(other))))
    return problems
