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

import numpy as np

from bodymotion.arrays import Floats

__all__ = ["decimated", "reflected", "taps"]

BETA = 5.653
"""Of the Kaiser window, for 60 dB: 0.1102 · (60 − 8.7)."""

HALF_WIDTH = 12
"""Of the filter, in frames of the new rate: (60 − 7.95) / (2.285 · 2π · 0.15) on both sides together."""


def taps(fine: int) -> Floats:
    """Give the weights (2·12·fine + 1,), whose sum is 1, for a grid `fine` times finer than the new frame rate."""
    frames = np.arange(-HALF_WIDTH * fine, HALF_WIDTH * fine + 1) / fine
    window = np.i0(BETA * np.sqrt(np.clip(1 - (frames / HALF_WIDTH) ** 2, 0, None)))
    weights = np.sinc(2 * 0.425 * frames) * window
    return np.asarray(weights / weights.sum())


def decimated(
    ask: Callable[[int, int], Floats], out: Floats, fine: int, lowest: int, highest: int, piece: int, poses: bool
) -> None:
    """Fill `out` (N, …) with every `fine`-th filtered row of a grid.

    `ask(first, last)` gives rows first…last−1 of the grid, on which movement runs from row `lowest` to `highest`; about `piece` rows of it
    are asked for at a time.
    """
    from bodymotion.kernels import interpolation

    weights = taps(fine)
    half = len(weights) // 2
    step = max(piece // fine, 1)
    for first in range(0, len(out), step):
        stop = min(first + step, len(out))
        table = reflected(ask, first * fine - half, (stop - 1) * fine + half + 1, lowest, highest, poses)
        rows = interpolation.filtered(table.reshape(len(table), -1), weights, fine)
        out[first:stop] = rows.reshape(stop - first, *out.shape[1:])
    if poses:
        units = out[..., 3:]
        units /= np.linalg.norm(units, axis=-1, keepdims=True)
    still = -(-lowest // fine)
    out[:still] = ask(lowest, lowest + 1)


def reflected(
    ask: Callable[[int, int], Floats], first: int, last: int, lowest: int, highest: int, poses: bool
) -> Floats:
    """Give rows first…last−1 of a grid that goes from `lowest` to `highest`, continued beyond both ends by reflection.

    A number x beyond an end at e is 2e − x′, x′ being as far inside; an orientation is turned on by what it takes to come from x′ to e.
    Quaternions are given as one curve without jumps of sign.
    """
    from bodymotion.kernels import interpolation

    rows = np.arange(first, last)
    inside = np.clip(
        np.where(rows < lowest, 2 * lowest - rows, np.where(rows > highest, 2 * highest - rows, rows)), lowest, highest
    )
    start, stop = int(inside.min()), int(inside.max()) + 1
    known: Floats = np.array(ask(start, stop))
    if poses:
        known[..., 3:] = interpolation.unit_quaternions(known[..., 3:])
    table: Floats = known[inside - start]
    for beyond, end in ((rows < lowest, lowest), (rows > highest, highest)):
        if not beyond.any():
            continue
        pivot = known[end - start] if start <= end < stop else np.array(ask(end, end + 1))[0]
        mirrored = 2 * pivot - table[beyond]
        if poses:
            q, e = table[beyond][..., 3:], pivot[..., 3:]
            mirrored[..., 3:] = 2 * np.sum(q * e, axis=-1, keepdims=True) * e - q
        table[beyond] = mirrored
    return table
