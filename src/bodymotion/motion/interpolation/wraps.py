"""Angles that jump by a full turn: 3.1 rad, then −3.1. A joint that is interpolated would rotate back through zero."""

from dataclasses import dataclass, replace

import numpy as np

from bodymotion.diagnostics import Location, Problem
from bodymotion.geometry.arrays import Floats
from bodymotion.motion.rules import WRAPPED

FULL_TURN = 2 * np.pi
MAX_STEP = 1.0
"""[rad] A jump this close to full turns counts as a wrap: a joint may have moved that much between two frames."""


@dataclass(frozen=True)
class Wrap:
    """A jump by `turns` full turns (signed) of column `part` from the frame before `frame` to it."""

    frame: int
    part: int
    turns: int


def _jumps(values: Floats) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(values, axis=0)
        turns = np.rint(steps / FULL_TURN)
        wraps = (turns != 0) & (np.abs(steps - turns * FULL_TURN) <= MAX_STEP) & (np.abs(turns) < 1e6)
    return np.asarray(np.where(wraps, turns, 0.0))


def find_wraps(values: Floats) -> tuple[Wrap, ...]:
    """Return the jumps of angles (T, P) [rad] by full turns (within 1 rad) from one frame to the next, in order of frames."""
    jumps = _jumps(np.asarray(values, dtype=np.float64))
    return tuple(Wrap(int(t) + 1, int(p), int(jumps[t, p])) for t, p in np.argwhere(jumps))


def unwrapped(values: Floats) -> Floats:
    """Return angles (T, P) [rad] without those jumps: each column continues where it was, beyond ±π if necessary."""
    values = np.asarray(values, dtype=np.float64)
    jumps = _jumps(values)
    if not jumps.any():
        return values
    out = np.array(values)
    out[1:] -= FULL_TURN * np.cumsum(jumps, axis=0)
    return out


def wrap_problem(wraps: tuple[Wrap, ...], content: str, where: str = "") -> Problem | None:
    """Return one problem for all wraps of a component, counted and naming the first (`where`: its frame by default); None without wraps."""
    if not wraps:
        return None
    first = wraps[0]
    turns = "a full turn" if abs(first.turns) == 1 else f"{abs(first.turns)} full turns"
    message = f"{content} jumps by {turns} in column {first.part} {where or f'at frame {first.frame}'}"
    data = {"frame": first.frame, "part": first.part, "turns": first.turns}
    return replace(WRAPPED.problem(message, Location(inside=content), data=data), count=len(wraps))
