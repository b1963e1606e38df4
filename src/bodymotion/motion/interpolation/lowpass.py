"""The low-pass before a lower frame rate: what the new rate cannot hold is taken out, not folded into slower movement.

The filter is a sinc under a Kaiser window, symmetric, so nothing is delayed. Relative to the new rate f: up to 0.35·f movement passes
(within 0.1 %), at 0.425·f half of it, from 0.5·f on a thousandth (60 dB). Values are first put on a grid at a whole multiple of the new
rate that is at least as fine as the old one, by the method that was asked for; where the old rate is such a multiple, that changes
nothing. They are filtered there, and every m-th row is kept. Beyond the ends, movement is continued by reflection through the end.

Orientations are filtered as four numbers with the signs chosen so that there is no jump, then scaled to unit length. A turn at constant
speed stays one, and turning the world before or after filtering is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats

Rows: TypeAlias = Callable[[int, int, Floats], None]

__all__ = ["gaussian", "low_passed", "taps"]

BETA = 5.653
"""Of the Kaiser window, for 60 dB: 0.1102 · (60 − 8.7)."""

HALF_WIDTH = 12
"""Of the filter, in frames of the new rate: (60 − 7.95) / (2.285 · 2π · 0.15) on both sides together."""


def taps(fine: int) -> Floats:
    """Return the weights (2·12·fine + 1,), whose sum is 1, for a grid `fine` times finer than the new frame rate."""
    frames = np.arange(-HALF_WIDTH * fine, HALF_WIDTH * fine + 1) / fine
    window = np.i0(BETA * np.sqrt(np.clip(1 - (frames / HALF_WIDTH) ** 2, 0, None)))
    weights = np.sinc(2 * 0.425 * frames) * window
    return np.asarray(weights / weights.sum())


def gaussian(cutoff: float) -> Floats:
    """Return the weights (2·half + 1,), whose sum is 1, of a bell that damps `cutoff` [cycles a row] by 3 dB, to 1/√2."""
    width = np.sqrt(np.log(2)) / (2 * np.pi * cutoff)
    half = int(np.ceil(5 * width))
    weights = np.exp(-0.5 * (np.arange(-half, half + 1) / width) ** 2)
    return np.asarray(weights / weights.sum())


def low_passed(
    ask: Rows,
    out: Floats,
    weights: Floats,
    *,
    step: int = 1,
    ends: tuple[int, int],
    piece: int = 1 << 16,
    poses: bool = False,
) -> None:
    """Fill `out` (N, …) with the rows 0, step, 2·step, … of a grid, each the sum of the rows around it times `weights` (2·half + 1,).

    `ask(first, last, rows)` fills in rows first…last−1 of the grid. Movement runs from row ends[0] to ends[1]; before and after that it
    stands still. About `piece` rows are asked for at a time.
    """
    from bodymotion.kernels import interpolation

    half = len(weights) // 2
    lowest, highest = ends
    begin, end = min(-(-lowest // step), len(out)), min(highest // step + 1, len(out))
    at_once = max(piece // step, 1)
    for first in range(begin, end, at_once):
        stop = min(first + at_once, end)
        span = (first * step - half, (stop - 1) * step + half + 1)
        table = reflected(ask, out.shape[1:], span, ends, poses)
        rows = interpolation.filtered(table.reshape(len(table), -1), weights, step)
        out[first:stop] = rows.reshape(stop - first, *out.shape[1:])
        if poses:
            out[first:stop, ..., 3:] = rotations.normalized(out[first:stop, ..., 3:])
    for still, row in ((out[:begin], lowest), (out[end:], highest)):
        if len(still):
            ask(row, row + 1, still[:1])
            still[1:] = still[0]


def reflected(ask: Rows, shape: tuple[int, ...], span: tuple[int, int], ends: tuple[int, int], poses: bool) -> Floats:
    """Return rows (…, *shape) of a grid from span[0] to before span[1]; beyond its ends (first and last row) it goes on by reflection.

    A number x beyond an end at e is 2e − x′, x′ being as far inside; an orientation is turned on by what it takes to come from x′ to e.
    Quaternions are given as one curve without jumps of sign.
    """
    from bodymotion.kernels import interpolation

    lowest, highest = ends
    before, after = max(lowest - span[0], 0), max(span[1] - 1 - highest, 0)
    first = max(min(span[0], highest - after), lowest)
    last = min(max(span[1] - 1, lowest + before), highest)
    table = np.empty((last + 1 - first, *shape))
    ask(first, last + 1, table)
    if poses:
        table[..., 3:] = interpolation.unit_quaternions(table[..., 3:])
    if before:
        table, first = _continued(table[::-1], before, poses)[::-1], first - before
    if after:
        table = _continued(table, after, poses)
    return table[span[0] - first : span[1] - first]


def _continued(table: Floats, count: int, poses: bool) -> Floats:
    """Add `count` rows by reflection through the last one; where rows run out, through the last one of these, and so on."""
    while count:
        end = table[-1]
        inside = table[-2 : -2 - count : -1] if len(table) > 1 else table[-1:]
        more = 2 * end - inside
        if poses:
            q, e = inside[..., 3:], end[..., 3:]
            more[..., 3:] = 2 * np.sum(q * e, axis=-1, keepdims=True) * e - q
        table = np.concatenate([table, more])
        count -= len(more)
    return table
