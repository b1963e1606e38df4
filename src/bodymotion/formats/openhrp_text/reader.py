"""Reading the files of one name together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, Problem, Rule
from bodymotion.diagnostics.source import Source
from bodymotion.formats.tables.joint_names import joint_names
from bodymotion.formats.tables.number_table import read_table
from bodymotion.formats.tables.times import check_increasing, timeline_of
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
from bodymotion.motion.timeline import Timeline

if TYPE_CHECKING:
    from bodymotion.model.body import Body

__all__ = ["SUFFIXES", "read_openhrp_text", "siblings"]

SUFFIXES = (".pos", ".waist", ".hip", ".zmp")

WIDTH = Rule(
    "OTX001",
    "error",
    "A file has the columns of its kind: .pos t and joints, .waist t x y z r p y, .hip t r p y, .zmp t x y z.",
    example=("0.0 0 0 0.8 0 0", "0.0 0 0 0.8 0 0 0"),
)
TIME_ORDER = Rule(
    "OTX002",
    "error",
    "The time of each line is greater than that of the line before it.",
    "judgement",
    example=("0.0 0 0 0.9 0 0 0", "0.1 0 0 0.9 0 0 0"),
)
JOINTS = Rule(
    "OTX003",
    "error",
    "A .pos has as many joints as the model that is given.",
    "judgement",
    example=("0.0 0.1 0.2 0.3", "0.0 0.1 0.2"),
)
POSITION = Rule(
    "OTX004",
    "warning",
    "The orientation of a .hip comes with the positions of a .waist.",
    "judgement",
    "read as standing at 0 0 0",
    example=("a .hip alone", "a .hip beside a .waist"),
)
SUFFIX = Rule(
    "OTX005", "error", "The files of a motion end in .pos, .waist, .hip and .zmp.", example=("walk.pose", "walk.pos")
)
IGNORED = Rule(
    "OTX006",
    "warning",
    "The .waist and the .hip of a motion say the same of the root's orientation.",
    "judgement",
    "that of the .waist is read; remove the file that does not belong to the motion",
    example=("a .waist and a .hip of other turns", "a .waist and a .hip of the same turns"),
)
CLOSE = 1e-3
"""[rad] Up to here the two say the same: files have few decimals."""

STAYS = Rule(
    "OTX101",
    "warning",
    "Files of an older motion of the same name are read with the ones that are written.",
    "judgement",
    "remove the file if it does not belong to the motion",
    example=("saving joints as walk.pos where a walk.zmp is", "saving joints as walk.pos where none is"),
)

TURNED = Rule(
    "OTX102",
    "note",
    "A .zmp is in the root link's frame.",
    example=("saving a ZMP in the world's frame", "saving a ZMP that is root-relative"),
)


def siblings(path: Path) -> dict[str, Path]:
    """Find the files that belong to one of them, by suffix; the one that is given is there in any case."""
    found = {suffix: path.with_suffix(suffix) for suffix in SUFFIXES}
    found = {suffix: other for suffix, other in found.items() if other.is_file()}
    return {**found, path.suffix.lower(): path}


def read_openhrp_text(path: str | Path, *, body: Body | None = None, from_zero: bool = False) -> Motion:
    """Read the .pos, .waist, .hip and .zmp of one name.

    Parameters
    ----------
    path:
        Any one of the files.
    body:
        Its number of joints is checked, and their names become the part labels.
    from_zero:
        Take the first time off all times of each file.

    Raises
    ------
    FormatError
        When a file is no table of numbers of its kind, with line and column.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise SUFFIX.error(f"the file ends in {path.suffix!r}, not in .pos, .waist, .hip or .zmp", Location(str(path)))
    found = siblings(path)
    problems: list[Problem] = []
    components: list[Component] = []
    if ".waist" in found or ".hip" in found:
        components.append(_root(found, problems, from_zero))
    if ".pos" in found:
        q, timeline = _rows(found[".pos"], None, from_zero)
        labels: tuple[str, ...] = ()
        if body is not None:
            labels = joint_names(body)
            if len(labels) != q.shape[1]:
                said = f"{q.shape[1]} joints; {body.name} has {len(labels)}: {', '.join(labels)}"
                raise JOINTS.error(said, Location(str(found[".pos"])))
        components.append(MultiValueSeq(content=JOINT_DISPLACEMENT, timeline=timeline, values=q, part_labels=labels))
    if ".zmp" in found:
        points, timeline = _rows(found[".zmp"], (3,), from_zero)
        components.append(Vector3Seq(content=ZMP, timeline=timeline, values=points, is_root_relative=True))
    return Motion(tuple(components), source=Source("openhrp-text", path, encoding="ascii"), problems=tuple(problems))


def _rows(path: Path, widths: tuple[int, ...] | None, from_zero: bool) -> tuple[Floats, Timeline]:
    table = read_table(path, " ")
    columns = table.values.shape[1] - 1
    where = Location(table.path, table.header_line)
    if table.names is not None:
        raise WIDTH.error("the first line is no row of numbers", where)
    if columns < 0 or (widths is not None and columns not in widths):
        wanted = " or ".join(map(str, widths or ()))
        raise WIDTH.error(f"{columns} numbers after the time, where a {path.suffix} has {wanted}", where)
    check_increasing(table.values[:, 0], TIME_ORDER, where)
    return table.values[:, 1:], timeline_of(table.values[:, 0], None, from_zero)


def _root(found: dict[str, Path], problems: list[Problem], from_zero: bool) -> MultiSE3Seq:
    hip = _rows(found[".hip"], (3,), from_zero) if ".hip" in found else None
    if ".waist" not in found:
        assert hip is not None
        angles, timeline = hip
        problems.append(POSITION.problem("there is no .waist beside it", Location(str(found[".hip"]))))
        positions, turns = np.zeros((len(angles), 3)), rotations.from_rpy(angles)
    else:
        rows, timeline = _rows(found[".waist"], (3, 6, 12), from_zero)
        positions = rows[:, :3]
        if rows.shape[1] == 6:
            turns = rotations.from_rpy(rows[:, 3:])
        elif rows.shape[1] == 12:
            turns = rotations.from_matrix(rows[:, 3:].reshape(-1, 3, 3))
        elif hip is not None and len(hip[0]) == len(rows):
            turns = rotations.from_rpy(hip[0])
        else:
            message = "the .waist has positions only, and there is no .hip of as many lines beside it"
            raise WIDTH.error(message, Location(str(found[".waist"])))
        if hip is not None and rows.shape[1] > 3:
            problems += _other_hip(found[".hip"], hip[0], turns)
    poses = np.concatenate([positions, turns], axis=-1)[:, None]
    return MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=poses)


def _other_hip(path: Path, angles: Floats, turns: Floats) -> list[Problem]:
    """Say when a .hip that is not read, as the .waist has the orientation (T, 4), says something else."""
    if len(angles) != len(turns):
        message = f"{path.name} has {len(angles)} lines, the .waist {len(turns)}"
        return [IGNORED.problem(message, Location(str(path)))]
    known = np.isfinite(angles).all(axis=-1) & np.isfinite(turns).all(axis=-1)
    if not known.any():
        return []
    apart = np.zeros(len(turns))
    apart[known] = rotations.angle_between(rotations.from_rpy(angles[known]), turns[known])
    if apart.max() <= CLOSE:
        return []
    frame = int(np.argmax(apart))
    message = f"{path.name} is {np.degrees(apart[frame]):.3g}° off the orientation of the .waist in frame {frame}"
    return [IGNORED.problem(message, Location(str(path), frame + 1))]
