"""Write a motion as a table of comma-separated values."""

import csv
import io
import math
from pathlib import Path
from typing import Literal

import numpy as np

from bodymotion.diagnostics import Location, Problem, Rule, losses
from bodymotion.formats.csv.arrow import arrow
from bodymotion.formats.csv.columns import AXES, OWN_COLUMNS, column
from bodymotion.formats.csv.reader import UNITREE_RATE
from bodymotion.formats.tables.columns import (
    MAX_ANGLE,
    SharedTime,
    column_names,
    is_plain,
    largest_size,
    on_one_timeline,
    renamed_labels,
)
from bodymotion.formats.tables.number_table import write_rows
from bodymotion.formats.text import rounded
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq
from bodymotion.motion.feet import FOOT_CONTACT, LEGS
from bodymotion.system.files import whole_file


def write_csv(
    motion: Motion,
    path: str | Path,
    *,
    layout: Literal["unitree"] | None = None,
    body: Body | None = None,
    degrees: bool = False,
    digits: int | None = None,
) -> tuple[Problem, ...]:
    """Write a motion as a table.

    Return what the table cannot hold.

    Parameters
    ----------
    motion, path:
        The motion, and the file to write.
    layout:
        "unitree" for a table without names: root pose x y z, qx qy qz qw, then joints;
        to be read at 30 frames/s.
    body:
        The names of its joints are used where the motion has none. Columns with names
        of its joints are put in order of joint id (`Body.joint_columns`).
    degrees:
        Write joint angles in degrees, with the unit in their names. Sliding joints,
        which only a body shows, stay in metres.
    digits:
        Round values to this number of significant digits (1 to 15).

    Raises
    ------
    ValueError
        For an unknown layout; when the motion lacks what the layout needs; when only
        some joints are the body's.
    """
    if layout not in (None, "unitree"):
        raise ValueError(f"the layouts are 'unitree', not {layout!r}")
    # The layout has no columns for contacts.
    contents = () if layout is not None else (FOOT_CONTACT,)
    shared = on_one_timeline(
        motion, body=body, nameless=layout is not None, contents=contents
    )
    table = _Table(shared, body, degrees, unitree=layout == "unitree")
    if digits is not None:
        # Rounded times would not increase evenly.
        table.columns = [
            values if name == "time" else rounded(values, digits)
            for name, values in zip(table.names, table.columns, strict=True)
        ]
    if table.columns:
        values = np.column_stack(table.columns)
    else:
        values = np.zeros((0, 0))
    with whole_file(path) as stream:
        if layout is None:
            header = io.StringIO()
            csv.writer(header, lineterminator="\n").writerow(table.names)
            stream.write(header.getvalue().encode())
        return (*table.problems, *write_rows(stream, values, b","))


def write_parquet(
    motion: Motion, path: str | Path, *, body: Body | None = None, degrees: bool = False
) -> tuple[Problem, ...]:
    """Write a motion as a table of Parquet, or of Arrow with an extension of that.

    Parameters and result as for `write_csv`.
    """
    found = _Table(
        on_one_timeline(motion, body=body, contents=(FOOT_CONTACT,)),
        body,
        degrees,
        unitree=False,
    )
    # Feather 2 is Arrow.
    is_arrow = Path(path).suffix.lower() in (".arrow", ".feather")
    with whole_file(path) as stream:
        if is_arrow:
            write = arrow(".feather").write_feather
        else:
            write = arrow(".parquet").write_table
        write(arrow().table(found.columns, found.names), stream)
    return tuple(found.problems)


class _Table:
    """The columns of a motion and their names."""

    def __init__(
        self, shared: SharedTime, body: Body | None, degrees: bool, unitree: bool
    ) -> None:
        self.problems = list(shared.problems)
        self.names: list[str] = []
        self.columns: list[Floats] = []
        self.body = body
        timeline = shared.timeline
        if unitree:
            if shared.links is None or shared.joints is None:
                raise ValueError(
                    "the layout 'unitree' needs the root's pose and joint "
                    "displacements; the motion lacks one of them"
                )
            # Unitree's order is x y z w.
            for values in shared.links.values[:, 0, [0, 1, 2, 4, 5, 6, 3]].T:
                self.add("", values)
            if timeline.frame_rate != UNITREE_RATE:
                if timeline.frame_rate is None:
                    rate = "time stamps"
                else:
                    rate = f"{timeline.frame_rate:g} Hz"
                assumed = f"readers assume {UNITREE_RATE:g} Hz, the motion has {rate}"
                self.lost(losses.RATE, f"the layout holds no rate; {assumed}")
            if shared.links.num_parts > 1:
                self.lost(
                    losses.COMPONENT, "the layout holds the pose of the root link only"
                )
            if shared.zmp is not None:
                self.lost(losses.COMPONENT, "the layout holds no zero moment point")
        else:
            self.add("time", timeline.times)
            self.problems += shared.time_losses()
            if shared.links is not None:
                self.link_columns(shared.links)
        if shared.joints is not None:
            self.joint_columns(shared, degrees, unitree)
        if shared.zmp is not None and not unitree:
            if shared.zmp.is_root_relative:
                prefix = "root_relative_zmp"
            else:
                prefix = "zmp"
            for k, axis in enumerate("xyz"):
                self.add(f"{prefix}_{axis}", shared.zmp.values[:, k])
        for contacts in shared.others:
            for k, foot in enumerate(LEGS):
                self.add(f"{foot}_contact", contacts.values[:, k])

    def lost(self, rule: Rule, message: str) -> None:
        self.problems.append(rule.problem(message, Location()))

    def add(self, name: str, values: Floats) -> None:
        self.names.append(name)
        self.columns.append(values)

    def link_columns(self, links: MultiSE3Seq) -> None:
        """Add the columns of link poses."""
        labels = links.part_labels
        # Names of links are used only where each can be a part of a column's name.
        usable = (
            len(labels) == links.num_parts
            and len(set(labels)) == len(labels)
            and all(map(is_plain, labels))
        )
        if not (usable and links.num_parts > 1):
            self.problems.extend(renamed_labels("link", labels))
        for part in range(links.num_parts):
            if usable:
                label = labels[part]
            else:
                label = str(part)
            for k, axis in enumerate(AXES):
                # The root's columns are root_x …; other links carry their name or
                # number.
                if part or (usable and links.num_parts > 1):
                    name = f"link/{label}/{axis}"
                else:
                    name = f"root_{axis}"
                self.add(name, links.values[:, part, k])

    def joint_columns(self, shared: SharedTime, degrees: bool, unitree: bool) -> None:
        """Add the columns of joints, with units where needed."""
        joints = shared.joints
        assert joints is not None

        def plain(label: str) -> bool:
            if is_plain(label):
                found = column(label)
            else:
                found = None
            # A name such as "time", or one with a unit, would be read as something
            # else.
            return found is not None and (found.kind, found.name) == ("joint", label)

        names, lost = column_names(
            joints, self.body, (lambda label: False) if unitree else plain
        )
        self.problems.extend(lost)
        # Joints of the body that slide stay in metres.
        slides = set()
        if self.body is not None:
            columns = self.body.joint_columns(joints)
            slides = {
                k
                for k, joint in zip(columns, self.body.joints, strict=True)
                if joint.type == "slide"
            }
        # Behind a time and a root pose, readers know our own tables: radians.
        own = self.names[: len(OWN_COLUMNS)] == OWN_COLUMNS
        for k in range(joints.num_parts):
            name = names[k]
            values = joints.values[:, k]
            if degrees and k not in slides:
                name = f"{name} [deg]"
                values = values * (180 / math.pi)
            elif not own or largest_size(values) > MAX_ANGLE:
                # Many turns of a wheel would look like degrees without a unit.
                unit = "m" if k in slides else "rad"
                # Without a body it is not known whether a joint slides.
                if self.body is None:
                    unit = "rad|m"
                name = f"{name} [{unit}]"
            self.add("" if unitree else name, values)
