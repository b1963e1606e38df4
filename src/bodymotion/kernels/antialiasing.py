"""Stairs along edges of a picture smoothed out afterwards, from the colours alone.

A pixel of much contrast lies at an edge. How far the edge runs level to either side says how far the true edge is away from the pixel's
own border, and so how much of the neighbour's colour belongs into it: the idea of Lottes's FXAA (2009), for the processor.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.kernels.compiling import inlined, kernel

__all__ = ["smooth_edges"]

Bytes: TypeAlias = npt.NDArray[np.uint8]
Light: TypeAlias = npt.NDArray[np.int16]

LEAST = 24 * 8
"""Less contrast than this, in eighths of a step of brightness, is no edge."""
FARTHEST = 10
"""So many pixels an edge is followed to either side."""


def smooth_edges(picture: Bytes, out: Bytes) -> None:
    """Write a picture (H, W, 3), the lowest row first, to `out`, another array, the highest row first and with smooth edges."""
    out[:] = picture[::-1]
    rows, columns = picture.shape[:2]
    _smooth(picture.reshape(-1), np.empty((rows, columns), dtype=np.int16), np.empty(columns, dtype=np.uint8), out)


@kernel
def _smooth(picture: Bytes, light: Light, edge: Bytes, out: Bytes) -> None:
    rows, columns = light.shape
    flat = light.reshape(-1)
    for i in range(flat.size):
        flat[i] = 2 * np.int16(picture[3 * i]) + 5 * np.int16(picture[3 * i + 1]) + np.int16(picture[3 * i + 2])
    for i in range(1, rows - 1):
        above, here, below = light[i - 1], light[i], light[i + 1]
        # Without branches, so that the compiler looks at many pixels at once.
        for j in range(1, columns - 1):
            high = max(max(max(here[j], here[j - 1]), max(here[j + 1], above[j])), below[j])
            low = min(min(min(here[j], here[j - 1]), min(here[j + 1], above[j])), below[j])
            edge[j] = high - low > LEAST
        for j in range(1, columns - 1):
            if edge[j]:
                _mix(picture, flat, columns, rows, i, j, out)


@inlined
def _mix(picture: Bytes, light: Light, columns: int, rows: int, i: int, j: int, out: Bytes) -> None:
    """Mix a pixel at an edge with the neighbour beyond the edge; `light` is flat."""
    at = i * columns + j
    here = light[at]
    n, s, w, e = light[at - columns], light[at + columns], light[at - 1], light[at + 1]
    nw, ne, sw, se = light[at - columns - 1], light[at - columns + 1], light[at + columns - 1], light[at + columns + 1]
    across = 2 * abs(n + s - 2 * here) + abs(nw + sw - 2 * w) + abs(ne + se - 2 * e)
    along = 2 * abs(w + e - 2 * here) + abs(nw + ne - 2 * n) + abs(sw + se - 2 * s)
    level = across >= along
    first, second = (n, s) if level else (w, e)
    over, step = (columns, 1) if level else (1, columns)
    ahead_room, back_room = (columns - 2 - j, j - 1) if level else (rows - 2 - i, i - 1)
    if abs(first - here) >= abs(second - here):
        over = -over
        beyond = first
    else:
        beyond = second
    both = here + beyond
    enough = abs(beyond - here) // 2
    back, back_end = _run(light, at, -step, over, min(back_room, FARTHEST), both, enough)
    ahead, ahead_end = _run(light, at, step, over, min(ahead_room, FARTHEST), both, enough)
    end = back_end if back < ahead else ahead_end
    share = 0.0
    if abs(end) >= enough and (end < 0) != (here < beyond):
        share = 0.5 - min(back, ahead) / (back + ahead)
    # What is lone, as a dot or a thin line is, is mixed more the less it is like what is around it.
    mean = (2 * (n + s + w + e) + nw + ne + sw + se) / 12.0
    span = max(max(max(here, n), max(s, w)), e) - min(min(min(here, n), min(s, w)), e)
    lone = min(abs(mean - here) / span, 1.0)
    lone = (3.0 - 2.0 * lone) * lone * lone
    part = np.int64(256 * max(share, 0.6 * lone * lone))
    own, other = 3 * at, 3 * (at + over)
    for k in range(3):
        value = np.int64(picture[own + k])
        out[rows - 1 - i, j, k] = np.uint8(value + ((part * (np.int64(picture[other + k]) - value) + 128) >> 8))


@inlined
def _run(light: Light, at: int, step: int, over: int, most: int, both: int, enough: int) -> tuple[int, int]:
    """Follow an edge; give how many pixels far, and twice the difference to its own mean brightness there."""
    end = 0
    for count in range(1, most + 1):
        at += step
        end = light[at] + light[at + over] - both
        if abs(end) >= enough:
            return count, end
    return most + 1, end
