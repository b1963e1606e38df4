"""Write the files of one name together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, Problem, Rule, losses
from bodymotion.formats.openhrp_text import rules
from bodymotion.formats.openhrp_text.reader import SUFFIXES, siblings
from bodymotion.formats.tables.number_table import write_rows
from bodymotion.formats.tables.timelines import on_one_timeline, timeline_of
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import Motion
from bodymotion.system.atomic_files import whole_files

if TYPE_CHECKING:
    from bodymotion.model.body import Body


def write_openhrp_text(
    motion: Motion, path: str | Path, *, body: Body | None = None, digits: int | None = None
) -> tuple[Problem, ...]:
    """Write a motion as .pos, .waist, .hip and .zmp, as far as it has their content; return what they cannot hold.

    Parameters
    ----------
    motion:
        A ZMP in the world's frame is turned into the root link's, by the root's poses.
    path:
        Any one of the files; the others are written beside it. All are replaced, or none is.
    body:
        Whose motion it is: columns with names of its joints are put in order of joint id (`Body.joint_columns`).
    digits:
        Round values to so many significant digits (1 to 15).

    Raises
    ------
    ValueError
        When the motion has nothing that the file named holds, or a ZMP in the world's frame without a pose of the root, or no column
        for a joint of the body.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        path = path.with_suffix(".pos")
    shared = on_one_timeline(motion, body=body, nameless=True)
    problems = list(shared.problems)

    def lost(rule: Rule, message: str) -> None:
        problems.append(rule.problem(message))

    tables: dict[str, Floats] = {}
    timeline = shared.timeline
    if shared.joints is not None:
        tables[".pos"] = shared.joints.values
        if shared.joints.part_labels:
            lost(losses.LABELS, "the names of the joints are not written")
    if shared.links is not None and shared.links.num_parts:
        root = shared.links.values[:, 0]
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(root[:, 3:], axis=-1)
        off = int(np.count_nonzero(~(np.abs(lengths - 1) <= 1e-9)))
        if off:
            lost(losses.ORIENTATION, f"{off} quaternions of the root are not of length 1")
        angles = rotations.to_rpy(root[:, 3:])
        tables[".waist"] = np.concatenate([root[:, :3], angles], axis=-1)
        tables[".hip"] = angles
        if shared.links.num_parts > 1:
            lost(losses.COMPONENT, f"of {shared.links.num_parts} link poses that of the root is written")
        if shared.links.part_labels:
            lost(losses.LABELS, "the names of the links are not written")
    if shared.zmp is not None:
        points = shared.zmp.values
        if not shared.zmp.is_root_relative:
            if shared.links is None or not shared.links.num_parts:
                raise ValueError(
                    "a .zmp is in the root link's frame; the motion's ZMP is in the world's, and it has no pose of the root"
                )
            root = shared.links.values[:, 0]
            problems.append(rules.CONVERTED.problem("the ZMP is taken from the world's frame to the root link's"))
            points = rotations.rotate(rotations.conjugate(rotations.normalized(root[:, 3:])), points - root[:, :3])
        tables[".zmp"] = points
    if timeline.frame_rate is not None and timeline.num_frames < 2:
        lost(losses.RATE.as_note, f"{timeline.num_frames} frames do not show the rate of {timeline.frame_rate:g} Hz")
    wished = timeline.import_rate
    if wished is not None and timeline_of(timeline.times).import_rate != wished:
        lost(losses.RATE.as_note, f"the import rate of {wished:g} Hz is not written")
    if motion.extra:
        lost(losses.EXTRA, f"keys of the top node: {', '.join(map(str, motion.extra))}")
    if path.suffix.lower() not in tables:
        held = ", ".join(path.with_suffix(suffix).name for suffix in tables)
        raise ValueError(f"the motion has nothing that a {path.suffix} holds; name one of {held}")
    paths = [path if suffix == path.suffix.lower() else path.with_suffix(suffix) for suffix in tables]
    for suffix, other in siblings(path).items():
        if suffix not in tables and other.is_file():
            problems.append(
                rules.STAYS.problem(
                    f"the motion has nothing for it, and {other.name} was there before", Location(str(other))
                )
            )
    with whole_files(*paths) as streams:
        for stream, values in zip(streams, tables.values(), strict=True):
            problems.extend(write_rows(stream, np.column_stack([timeline.times, values]), b" ", digits))
    return tuple(problems)
