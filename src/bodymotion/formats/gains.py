"""Gains of joint servos as text: a line for each joint, `kp kd` in order of joint ids, as in the PD gain files of hrpsys and Choreonoid,
or `name kp kd` in any order; `#` begins a comment.
"""

from __future__ import annotations

from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location
from bodymotion.diagnostics.text import counted
from bodymotion.formats.resources import file_bytes
from bodymotion.formats.rules import GAINS
from bodymotion.formats.text import decode, parsed
from bodymotion.geometry.arrays import Floats

if TYPE_CHECKING:
    from bodymotion.model.body import Body

MAX_BYTES = 1 << 20


def read_gains(path: str | Path, body: Body) -> Floats:
    """Read the gains kp, kd (J, 2) of the joints of a body [N m/rad and N m s/rad, or N/m and N s/m].

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
    columns: dict[str, int] = {}
    for column, (joint, index) in enumerate(
        zip(body.joints, body.joint_links, strict=True)
    ):
        for name in (joint.name, body.links[index].name if index >= 0 else ""):
            columns.setdefault(name, column)
    found = np.zeros((body.num_joints, 2))
    rows: list[tuple[float, float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        location = Location(str(path), number, 1)
        named = not isfinite(parsed(words[0]))
        if named:
            numbers = words[1:]
        else:
            numbers = words
        if len(numbers) < 2 or not all(0 <= parsed(word) < inf for word in numbers[:2]):
            raise GAINS.error(
                f"{line.strip()!r:.60} has no pair of gains; expected `kp kd` or "
                "`name kp kd`",
                location,
            )
        gains = float(numbers[0]), float(numbers[1])
        if not named:
            rows.append(gains)
        elif words[0] in columns:
            found[columns[words[0]]] = gains
        else:
            names = ", ".join(sorted(name for name in columns if name))
            raise GAINS.error(
                f"there is no joint {words[0]!r:.60}; the joints are {names:.300}",
                location,
            )
    if rows and len(rows) != body.num_joints:
        message = f"the file has {counted(len(rows), 'line')} without names, {body.name or 'the body'} has {body.num_joints} joints"
        raise GAINS.error(message, Location(str(path)))
    if rows:
        return np.array(rows)
    return found
