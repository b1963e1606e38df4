"""OpenHRP's plain text motions.

Several files of one name, one frame a line, numbers between blanks, the time [s] first.

========== ============================================================================================
``.pos``   time, joint displacements in order of joint id [rad or m]
``.waist`` time, position of the root link x y z [m], its orientation roll pitch yaw
[rad] (or the nine
           numbers of its rotation matrix, row by row, which Choreonoid reads; older
           ones write its linear and angular velocities behind these, which are not
           read)
``.hip``   time, orientation of the root link roll pitch yaw [rad]
``.zmp``   time, zero moment point x y z [m], in the root link's frame
========== ============================================================================================

Any one of them names all: the others are found beside it. Times may begin anywhere;
where the first is 0 and all are evenly apart, the motion gets their rate, else it keeps
them as time stamps, with the rate that they follow as the one for resampling.
"""

from pathlib import Path

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    Location,
    Problem,
    ReadResult,
    Rule,
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

SUFFIXES = (".pos", ".waist", ".hip", ".zmp")

MAX_DIFFERENCE = 1e-3  # [rad] The difference between the orientations of .waist and .hip: files have few decimals.


def siblings(path: Path) -> dict[str, Path]:
    """Return the files that belong to one of them, by suffix.

    The one that is given is always among them.
    """
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

    def _rows(
        self, suffix: str, widths: tuple[int, ...] | None
    ) -> tuple[Table, Floats, Timeline] | None:
        """Return the table of a file, its numbers after the time, and its timeline.

        None where there is none, or it cannot be read.
        """
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
                raise WIDTH.error("the first line is not a row of numbers", location)
            if columns < 0 or (widths is not None and columns not in widths):
                wanted = " or ".join(map(str, widths or ()))
                raise WIDTH.error(
                    f"{columns} numbers after the time, where a {path.suffix} has "
                    f"{wanted}",
                    location,
                )
            times = table.values[:, 0]
            check_unit(times, self.found, location)
            timeline = table.timeline(times, self.found, None, self.from_zero)
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
                self.found.report(JOINTS, message, Location(table.path))
                self.found.mark_unknown(("components", "all"))
                return
        joints = MultiValueSeq(
            content=JOINT_DISPLACEMENT, timeline=timeline, values=q, part_labels=labels
        )
        self._add(table, joints)

    def read_zmp(self) -> None:
        rows = self._rows(".zmp", (3,))
        if rows is not None:
            table, points, timeline = rows
            self._add(
                table,
                Vector3Seq(
                    content=ZMP, timeline=timeline, values=points, is_root_relative=True
                ),
            )

    def read_root(self) -> None:
        hip = self._rows(".hip", (3,))
        if ".waist" not in self.files:
            if hip is not None:
                table, angles, timeline = hip
                self.found.report(
                    POSITION, "there is no .waist beside it", Location(table.path)
                )
                self._add_root(
                    table,
                    np.zeros((len(angles), 3)),
                    rotations.from_rpy(angles),
                    timeline,
                )
            return
        waist = self._rows(".waist", (3, 6, 12, 18))
        if waist is None:
            return
        table, rows, timeline = waist
        if rows.shape[1] == 6:
            orientations = rotations.from_rpy(rows[:, 3:])
        elif rows.shape[1] in (12, 18):
            orientations = rotations.from_matrix(rows[:, 3:12].reshape(-1, 3, 3))
            if rows[:, 12:].any():
                message = "columns 14 to 19, the velocities of the root"
                self.found.report(VELOCITIES, message, Location(table.path))
        elif hip is not None and len(hip[1]) == len(rows):
            orientations = rotations.from_rpy(hip[1])
        else:
            message = "the .waist has positions only, and there is no .hip of as many lines beside it"
            self.found.report(WIDTH, message, Location(table.path))
            self.found.mark_unknown(("components", "all"))
            return
        if hip is not None and rows.shape[1] > 3:
            self._compare_hip(hip[0], hip[1], orientations)
        self._add_root(table, rows[:, :3], orientations, timeline)

    def _add_root(
        self, table: Table, positions: Floats, orientations: Floats, timeline: Timeline
    ) -> None:
        poses = np.concatenate([positions, orientations], axis=-1)[:, None]
        self._add(
            table, MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=poses)
        )

    def _compare_hip(self, hip: Table, angles: Floats, orientations: Floats) -> None:
        """Report a .hip, which is not read as the .waist has orientations (T, 4), whose orientations are others."""
        name = Path(hip.path).name
        if len(angles) != len(orientations):
            message = f"{name} has {len(angles)} lines, the .waist {len(orientations)}"
            self.found.report(ORIENTATIONS_DIFFER, message, Location(hip.path))
            return
        known = np.isfinite(angles).all(axis=-1) & np.isfinite(orientations).all(
            axis=-1
        )
        difference = np.zeros(len(orientations))
        difference[known] = rotations.angle_between(
            rotations.from_rpy(angles[known]), orientations[known]
        )
        if difference.max(initial=0.0) > MAX_DIFFERENCE:
            frame = int(np.argmax(difference))
            degrees = np.degrees(difference[frame])
            message = f"{name} is {degrees:.3g}° off the orientation of the .waist in frame {frame}"
            self.found.report(ORIENTATIONS_DIFFER, message, hip.row(frame))


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
    shared = on_one_timeline(motion, body=body, nameless=True)
    problems = [*shared.problems, *shared.time_losses()]

    def lost(rule: Rule, message: str) -> None:
        problems.append(rule.problem(message))

    tables: dict[str, Floats] = {}
    timeline = shared.timeline
    if shared.joints is not None:
        tables[".pos"] = shared.joints.values
        problems += renamed_labels("joint", shared.joints.part_labels)
    if shared.links is not None and shared.links.num_parts:
        root = shared.links.values[:, 0]
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(root[:, 3:], axis=-1)
        off = int(np.count_nonzero(~(np.abs(lengths - 1) <= 1e-9)))
        if off:
            lost(
                losses.ORIENTATION,
                f"quaternions of the root whose length is not 1: {off}",
            )
        angles = rotations.to_rpy(root[:, 3:])
        tables[".waist"] = np.concatenate([root[:, :3], angles], axis=-1)
        tables[".hip"] = angles
        if shared.links.num_parts > 1:
            lost(
                losses.COMPONENT,
                f"of {shared.links.num_parts} link poses that of the root is written",
            )
        problems += renamed_labels("link", shared.links.part_labels)
    if shared.zmp is not None:
        points = shared.zmp.values
        if not shared.zmp.is_root_relative:
            if shared.links is None or not shared.links.num_parts:
                raise ValueError(
                    "a .zmp is in the root link's frame; the motion's ZMP is in the "
                    "world's, and it has no pose of the root"
                )
            root = shared.links.values[:, 0]
            problems.append(
                CONVERTED.problem(
                    "the ZMP is converted from the world's frame to the root link's"
                )
            )
            points = rotations.rotate(
                rotations.conjugate(rotations.normalized(root[:, 3:])),
                points - root[:, :3],
            )
        tables[".zmp"] = points
    if path.suffix.lower() not in tables:
        held = ", ".join(path.with_suffix(suffix).name for suffix in tables)
        raise ValueError(
            f"the motion has no data for a {path.suffix}; name one of {held}"
        )
    paths = [
        path if suffix == path.suffix.lower() else path.with_suffix(suffix)
        for suffix in tables
    ]
    for suffix, other in siblings(path).items():
        if suffix not in tables and other.is_file():
            problems.append(
                STALE.problem(
                    f"the motion has no data for it, and {other.name} existed before",
                    Location(str(other)),
                )
            )
    with whole_files(*paths) as streams:
        for stream, values in zip(streams, tables.values(), strict=True):
            if digits is not None:
                values = rounded(values, digits)
            problems.extend(
                write_rows(stream, np.column_stack([timeline.times, values]), b" ")
            )
    return tuple(problems)
