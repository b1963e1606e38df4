"""Smooth the edges of an image afterwards, from its brightness alone: the method FXAA (Lottes 2009) on the processor.

A pixel of high contrast is at an edge. How far the edge continues straight to both sides gives the distance of the true edge from the
border of the pixel, and so the share of the neighbour's brightness.

VTK has FXAA, too, but without a graphics card it takes twice as long as drawing itself; this takes a tenth of that.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.kernels.compiling import inlined, kernel

Light: TypeAlias = npt.NDArray[np.uint8]

MIN_CONTRAST = 27
"""Smallest difference in brightness (0 to 255) of an edge."""
MAX_DISTANCE = 10
"""[px] How far an edge is followed to each side."""


def smooth_edges(light: Light) -> Light:
    """Return brightness (H, W) with smooth edges."""
    light = np.ascontiguousarray(light)
    out = light.copy()
    _smooth(light, np.empty(light.shape[1], dtype=np.uint8), out)
    return out


@kernel
def _smooth(light: Light, edge: Light, out: Light) -> None:
    rows, columns = light.shape
    flat = light.reshape(-1)
    for i in range(1, rows - 1):
        above, here, below = light[i - 1], light[i], light[i + 1]
        # Without branches, so that the compiler vectorizes the loop.
        for j in range(1, columns - 1):
            high = max(max(max(here[j], here[j - 1]), max(here[j + 1], above[j])), below[j])
            low = min(min(min(here[j], here[j - 1]), min(here[j + 1], above[j])), below[j])
            edge[j] = np.uint8(high - low)
        for j in range(1, columns - 1):
            if edge[j] > MIN_CONTRAST:
                out[i, j] = _mixed(flat, columns, rows, i, j)


@inlined
def _at(light: Light, index: int) -> int:
    """Return a brightness as a signed integer, so that differences are right."""
    return int(np.int64(light[index]))


@inlined
def _mixed(light: Light, columns: int, rows: int, i: int, j: int) -> int:
    """Return a pixel at an edge, mixed with the neighbour beyond the edge; `light` is flat."""
    at = i * columns + j
    here = _at(light, at)
    n, s, w, e = _at(light, at - columns), _at(light, at + columns), _at(light, at - 1), _at(light, at + 1)
    nw, ne = _at(light, at - columns - 1), _at(light, at - columns + 1)
    sw, se = _at(light, at + columns - 1), _at(light, at + columns + 1)
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
    back, back_end = _run(light, at, -step, over, min(back_room, MAX_DISTANCE), both, enough)
    ahead, ahead_end = _run(light, at, step, over, min(ahead_room, MAX_DISTANCE), both, enough)
    end = back_end if back < ahead else ahead_end
    share = 0.0
    if abs(end) >= enough and (end < 0) != (here < beyond):
        share = 0.5 - min(back, ahead) / (back + ahead)
    # A single dot or a thin line is mixed more, the more it differs from its neighbours.
    mean = (2 * (n + s + w + e) + nw + ne + sw + se) / 12.0
    span = max(max(max(here, n), max(s, w)), e) - min(min(min(here, n), min(s, w)), e)
    lone = min(abs(mean - here) / span, 1.0)
    lone = (3.0 - 2.0 * lone) * lone * lone
    part = int(256 * max(share, 0.6 * lone * lone))
    return here + ((part * (beyond - here) + 128) >> 8)


@inlined
def _run(light: Light, at: int, step: int, over: int, most: int, both: int, enough: int) -> tuple[int, int]:
    """Follow an edge; return the number of pixels, and twice the difference from its mean brightness there."""
    end = 0
    for count in range(1, most + 1):
        at += step
        end = _at(light, at) + _at(light, at + over) - both
        if abs(end) >= enough:
            return count, end
    return most + 1, end
