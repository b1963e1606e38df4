"""Gains of joint servos as text.

A line for each joint, `kp kd` in order of joint ids, as in the PD gain files of hrpsys
and Choreonoid, or `name kp kd` in any order; `#` begins a comment.
"""

from __future__ import annotations

from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bodymotion.diagnostics import Location
from bodymotion.diagnostics.text import counted
from bodymotion.formats.resources import file_bytes
from bodymotion.formats.rules import GAINS
from bodymotion.formats.text import decode, parsed
from bodymotion.geometry.arrays import Floats

if TYPE_CHECKING:
    from bodymotion.model.body import Body

# [bytes] A line for each joint takes some tens.
MAX_BYTES = 1 << 20


class Gains(NamedTuple):
    """The gains of a servo [N m/rad and N m s/rad, or N/m and N s/m]."""

    kp: float
    kd: float


def read_gains(path: str | Path, body: Body) -> Floats:
    """Read the gains kp, kd (J, 2) of the joints of a body.

    They are in N m/rad and N m s/rad, or N/m and N s/m.

    A line may hold further numbers, which hrpsys uses for limits of the torque. `name`
    is the name of a joint or of its link; joints that the file does not name have the
    gains 0.

    Raises
    ------
    FormatError
        When a line is no pair of gains, a name is unknown, or the count of lines
        without names is not that of the joints (FMT005); when the file cannot be read
        (FMT002), or is too large (FMT009).
    """
    text, _ = decode(file_bytes(path, MAX_BYTES))
    columns = _columns_of(body)
    by_name = np.zeros((body.num_joints, 2))
    in_order: list[Gains] = []
    for number, line in enumerate(text.splitlines(), start=1):
        # A comma between numbers is read as a blank.
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        location = Location(str(path), number, 1)
        # A line that begins with a number has no name.
        if isfinite(parsed(words[0])):
            in_order.append(_gains(words, line, location))
            continue
        name = words[0]
        gains = _gains(words[1:], line, location)
        if name not in columns:
            names = ", ".join(sorted(filter(None, columns)))
            raise GAINS.error(
                f"there is no joint {name!r:.60}; the joints are {names:.300}", location
            )
        by_name[columns[name]] = gains
    # Names and lines without names in one file: those without names count.
    if not in_order:
        return by_name
    if len(in_order) != body.num_joints:
        raise GAINS.error(
            f"the file has {counted(len(in_order), 'line')} without names, "
            f"{body.name or 'the body'} has {body.num_joints} joints",
            Location(str(path)),
        )
    return np.array(in_order)


def _columns_of(body: Body) -> dict[str, int]:
    """Return the column of each name of a joint, or of its link."""
    columns: dict[str, int] = {}
    for column, (joint, link) in enumerate(
        zip(body.joints, body.joint_links, strict=True)
    ):
        # The name of the joint goes before that of a link.
        columns.setdefault(joint.name, column)
        # A placeholder has no link.
        if link >= 0:
            columns.setdefault(body.links[link].name, column)
    return columns


def _gains(numbers: list[str], line: str, location: Location) -> Gains:
    """Return the gains that a line begins with, after its name."""
    pair = [parsed(number) for number in numbers[:2]]
    if len(pair) < 2 or not all(0 <= gain < inf for gain in pair):
        raise GAINS.error(
            f"{line.strip()!r:.60} has no pair of gains; expected `kp kd` or "
            "`name kp kd`",
            location,
        )
    return Gains(*pair)
