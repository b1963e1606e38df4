"""Where the root is when feet do not slip: the foot that stands stays where it is, until another one would sink below it."""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.forward_kinematics import Indices
from bodymotion.kernels.link_motion import rotation
from bodymotion.kernels.slices import as_rows

__all__ = ["roots"]

SUNK = 1e-4
"""[m] A foot that would be lower than the one that stands by more than this takes its place."""


def roots(feet: Floats, points: Floats, edges: Indices, start: Floats) -> tuple[Floats, Floats]:
    """Return root poses (T, 7), the first being `start` (7,), of poses (T, K, 7) of the feet in the root's frame, K > 0.

    The second array is the height (T,) of the lowest foot's lowest point then. `points` (P, 3) in the feet's frames; those of foot k are
    `edges[k]`…`edges[k + 1]`.
    """
    out, ground = np.empty((len(feet), 7)), np.empty(len(feet))
    if len(feet):
        _roots(as_rows(feet, feet.shape), points, edges, as_rows(start, start.shape), out, ground)
    return out, ground


@inlined
def _times(a: Floats, b: Floats, out: Floats) -> None:
    """Fill in the pose of C in A from that of B in A and that of C in B, with unit quaternions."""
    aw, ax, ay, az = a[3], a[4], a[5], a[6]
    tx = 2.0 * (ay * b[2] - az * b[1])
    ty = 2.0 * (az * b[0] - ax * b[2])
    tz = 2.0 * (ax * b[1] - ay * b[0])
    out[0] = a[0] + b[0] + aw * tx + ay * tz - az * ty
    out[1] = a[1] + b[1] + aw * ty + az * tx - ax * tz
    out[2] = a[2] + b[2] + aw * tz + ax * ty - ay * tx
    out[3] = aw * b[3] - ax * b[4] - ay * b[5] - az * b[6]
    out[4] = aw * b[4] + ax * b[3] + ay * b[6] - az * b[5]
    out[5] = aw * b[5] - ax * b[6] + ay * b[3] + az * b[4]
    out[6] = aw * b[6] + ax * b[5] - ay * b[4] + az * b[3]
    length = np.sqrt(out[3] * out[3] + out[4] * out[4] + out[5] * out[5] + out[6] * out[6])
    for k in range(3, 7):
        out[k] /= length


@inlined
def _back(a: Floats, out: Floats) -> None:
    """Fill in the pose of A in B from that of B in A, with unit quaternions."""
    w, x, y, z = a[3], -a[4], -a[5], -a[6]
    tx = 2.0 * (y * a[2] - z * a[1])
    ty = 2.0 * (z * a[0] - x * a[2])
    tz = 2.0 * (x * a[1] - y * a[0])
    out[0] = -(a[0] + w * tx + y * tz - z * ty)
    out[1] = -(a[1] + w * ty + z * tx - x * tz)
    out[2] = -(a[2] + w * tz + x * ty - y * tx)
    out[3] = w
    out[4] = x
    out[5] = y
    out[6] = z


@inlined
def _heights(root: Floats, feet: Floats, points: Floats, edges: Indices, out: Floats) -> int:
    """Fill in the heights of the lowest points of feet (K, 7) in the root's frame, and give the lowest foot."""
    turn = np.empty((3, 3))
    placed = np.empty(7)
    lowest = 0
    for foot in range(feet.shape[0]):
        _times(root, feet[foot], placed)
        rotation(placed, turn)
        out[foot] = np.inf
        for n in range(edges[foot], edges[foot + 1]):
            height = placed[2]
            for k in range(3):
                height += turn[2, k] * points[n, k]
            out[foot] = min(out[foot], height)
        if out[foot] < out[lowest]:
            lowest = foot
    return lowest


@kernel
def _roots(feet: Floats, points: Floats, edges: Indices, start: Floats, out: Floats, ground: Floats) -> None:
    back = np.empty(7)
    held = np.empty(7)
    heights = np.empty(feet.shape[1])
    stands = -1
    for t in range(feet.shape[0]):
        for k in range(7):
            out[t, k] = start[k]
        if t > 0:
            _back(feet[t, stands], back)
            _times(held, back, out[t])
        lowest = _heights(out[t], feet[t], points, edges, heights)
        if stands < 0:
            stands = lowest
            _times(out[t], feet[t, stands], held)
        elif heights[lowest] < heights[stands] - SUNK:
            # It stands where it was one frame ago, before it would have sunk.
            stands = lowest
            _times(out[t - 1], feet[t - 1, stands], held)
            _back(feet[t, stands], back)
            _times(held, back, out[t])
            lowest = _heights(out[t], feet[t], points, edges, heights)
        ground[t] = heights[lowest]
