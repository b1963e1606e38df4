"""Whether the angles of keyframes, which are radians, look like degrees."""

from __future__ import annotations

import math

import numpy as np

from bodymotion.animation import Animation
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.findings import Findings
from bodymotion.formats.cha.places import Places
from bodymotion.formats.cha.words import COLUMNS
from bodymotion.geometry.arrays import Floats

__all__ = ["check_degrees"]

OFTEN = 0.25
"""In more keyframes than this part some angle is too large: a few wild values are something else."""


def check_degrees(
    animation: Animation, ends: tuple[Floats, Floats], places: Places, findings: Findings, tolerance: float, huge: float
) -> bool:
    """Say once, at the largest, if angles look like degrees; gives whether they do.

    They do where some are beyond a full turn, and most of those that are too large would not be as degrees. A yaw alone may be out by full
    turns. `ends` are the lowest and the highest value of each column; values above `huge` are something else.
    """
    frames, controls = animation.keyframes, animation.controls
    turn = 2 * math.pi
    wrong = 0
    kept: list[str] = []
    often = np.zeros(len(frames), dtype=bool)
    largest, at = turn, (-1, "")
    for k, name in enumerate(frames.columns):
        column = COLUMNS.get(name)
        if column is None or column.quantity not in ("joint", "angle") or (controls and column.track not in controls):
            continue
        values = frames.values[:, k]
        low, high = (
            (-turn, turn) if column.quantity == "angle" else (column.lowest - tolerance, column.highest + tolerance)
        )
        if ends[0][k] >= low and ends[1][k] <= high:
            continue
        with np.errstate(invalid="ignore"):
            beyond = (values < low) | (values > high)
            if not beyond.any():
                continue
            wrong += 1
            angles = np.radians(values)
            sizes = np.where(np.abs(values) <= huge, np.abs(values), 0.0)
            if ((angles < low) | (angles > high)).any():
                continue
        kept.append(name)
        often |= beyond
        row = int(np.argmax(sizes))
        if sizes[row] > largest:
            largest, at = float(sizes[row]), (row, name)
    row, name = at
    if row < 0 or not 2 * len(kept) > wrong or np.mean(often) <= OFTEN or all(one.endswith("_yaw") for one in kept):
        return False
    more = "" if len(kept) == 1 else f", and {len(kept) - 1} more column{'s' * (len(kept) > 2)} too large"
    value = float(frames.values[row, frames.columns.index(name)])
    said = f"{name} is {value:g} in keyframe {row + 1}{more}: these look like degrees"
    findings.add(rules.DEGREES, said, places.value(row, name))
    return True
