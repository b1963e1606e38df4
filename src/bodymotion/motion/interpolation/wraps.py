"""Angles that jump by a full turn: 3.1 rad, then −3.1. Interpolated, the joint would spin back through zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bodymotion.diagnostics import Location, Problem
from bodymotion.geometry.arrays import Floats
from bodymotion.motion.interpolation.rules import WRAPPED

__all__ = ["Wrap", "find_wraps", "unwrapped", "wrap_problem"]

TURN = 2 * np.pi
NEAR = 1.0
"""[rad] A jump this near to whole turns counts as a wrap: that much a joint may have moved between two frames."""


@dataclass(frozen=True)
class Wrap:
    """A jump by `turns` full turns (signed) of column `part` from the frame before `frame` to it."""

    frame: int
    part: int
    turns: int


def _jumps(values: Floats) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(values, axis=0)
        turns = np.rint(steps / TURN)
        wraps = (turns != 0) & (np.abs(steps - turns * TURN) <= NEAR) & (np.abs(turns) < 1e6)
    return np.asarray(np.where(wraps, turns, 0.0))


def find_wraps(values: Floats) -> tuple[Wrap, ...]:
    """Return the places where angles (T, P) [rad] jump by full turns (give or take 1 rad) from one frame to the next, in order of frames."""
    jumps = _jumps(np.asarray(values, dtype=np.float64))
    return tuple(Wrap(int(t) + 1, int(p), int(jumps[t, p])) for t, p in np.argwhere(jumps))


def unwrapped(values: Floats) -> Floats:
    """Return angles (T, P) [rad] with those jumps taken out: each column goes on where it was, beyond ±π if need be."""
    values = np.asarray(values, dtype=np.float64)
    jumps = _jumps(values)
    if not jumps.any():
        return values
    out = np.array(values)
    out[1:] -= TURN * np.cumsum(jumps, axis=0)
    return out


def wrap_problem(wraps: tuple[Wrap, ...], content: str, place: str = "") -> Problem | None:
    """Say, if a component has wraps, where the first is (`place`, by default its frame) and how many there are."""
    if not wraps:
        return None
    first = wraps[0]
    turns = "a full turn" if abs(first.turns) == 1 else f"{abs(first.turns)} full turns"
    more = "" if len(wraps) == 1 else f", and {len(wraps) - 1} more jumps"
    message = f"{content} jumps by {turns} in column {first.part} {place or f'at frame {first.frame}'}{more}"
    return WRAPPED.problem(message, Location(inside=content))
