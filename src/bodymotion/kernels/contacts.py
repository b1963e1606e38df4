"""Feet on the ground: their lowest points, the polygon that they span, and how far inside it a point is."""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.forward_kinematics import Indices
from bodymotion.kernels.link_motion import rotation
from bodymotion.kernels.slices import as_rows, in_slices

__all__ = ["hulls", "lowest", "margins"]


def lowest(poses: Floats, points: Floats, edges: Indices, patch: float) -> Floats:
    """Return for feet of poses (T, K, 7) the height of the lowest point, and the middle of all points up to `patch` above it: (T, K, 4).

    `points` (P, 3) in the feet's frames; those of foot k are `edges[k]`…`edges[k + 1]`.
    """
    table = as_rows(poses, poses.shape)
    out = np.empty((*poses.shape[:2], 4))
    in_slices(len(poses), lambda a, b: _lowest(table[a:b], points, edges, patch, out[a:b]), few=64)
    return out


def hulls(
    poses: Floats, points: Floats, edges: Indices, standing: Floats, heights: Floats, patch: float
) -> tuple[Floats, Indices]:
    """Return the corners (T, M, 2), counter-clockwise, and their numbers (T,) of the convex hull of the standing feet's lowest points.

    Of a foot with `standing` (T, K) not 0 these are the points up to `patch` above its lowest one, at `heights` (T, K). Corners that a
    hull does not have are NaN.
    """
    table = as_rows(poses, poses.shape)
    corners = np.full((len(poses), max(len(points), 1), 2), np.nan)
    counts = np.zeros(len(poses), dtype=np.int64)

    def work(a: int, b: int) -> None:
        s = slice(a, b)
        _hulls(table[s], points, edges, standing[s], heights[s], patch, corners[s], counts[s])

    in_slices(len(poses), work, few=64)
    return corners[:, : max(int(counts.max(initial=0)), 1)].copy(), counts


def margins(corners: Floats, counts: Indices, points: Floats) -> Floats:
    """Return by how much points (T, 2) are inside polygons (negative outside), and of each polygon the nearest point: (T, 3).

    The nearest point of a polygon to one that is inside is that one itself. Without corners all is NaN.
    """
    out = np.empty((len(points), 3))
    _margins(as_rows(corners, corners.shape), counts, as_rows(points, points.shape), out)
    return out


@inlined
def _world(pose: Floats, turn: Floats, point: Floats, out: Floats) -> None:
    for k in range(3):
        out[k] = pose[k] + turn[k, 0] * point[0] + turn[k, 1] * point[1] + turn[k, 2] * point[2]


@kernel
def _lowest(poses: Floats, points: Floats, edges: Indices, patch: float, out: Floats) -> None:
    turn = np.empty((3, 3))
    place = np.empty(3)
    for t in range(poses.shape[0]):
        for foot in range(poses.shape[1]):
            rotation(poses[t, foot], turn)
            least = np.inf
            for n in range(edges[foot], edges[foot + 1]):
                height = poses[t, foot, 2]
                for k in range(3):
                    height += turn[2, k] * points[n, k]
                least = min(least, height)
            count = 0
            for k in range(4):
                out[t, foot, k] = 0.0
            for n in range(edges[foot], edges[foot + 1]):
                _world(poses[t, foot], turn, points[n], place)
                if place[2] <= least + patch:
                    count += 1
                    for k in range(3):
                        out[t, foot, 1 + k] += place[k]
            out[t, foot, 0] = least
            for k in range(3):
                out[t, foot, 1 + k] /= count


@inlined
def _turns_left(a: Floats, b: Floats, x: float, y: float) -> bool:
    return bool((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) > 0.0)


@kernel
def _hulls(
    poses: Floats,
    points: Floats,
    edges: Indices,
    standing: Floats,
    heights: Floats,
    patch: float,
    corners: Floats,
    counts: Indices,
) -> None:
    turn = np.empty((3, 3))
    place = np.empty(3)
    found = np.empty((points.shape[0], 2))
    chain = np.empty((2 * points.shape[0] + 2, 2))
    for t in range(poses.shape[0]):
        count = 0
        for foot in range(poses.shape[1]):
            if standing[t, foot] == 0.0:
                continue
            rotation(poses[t, foot], turn)
            for n in range(edges[foot], edges[foot + 1]):
                _world(poses[t, foot], turn, points[n], place)
                if place[2] <= heights[t, foot] + patch:
                    # Kept in order of x, then y, as they come.
                    spot = count
                    while spot > 0 and (
                        found[spot - 1, 0] > place[0]
                        or (found[spot - 1, 0] == place[0] and found[spot - 1, 1] > place[1])
                    ):
                        found[spot, 0] = found[spot - 1, 0]
                        found[spot, 1] = found[spot - 1, 1]
                        spot -= 1
                    found[spot, 0] = place[0]
                    found[spot, 1] = place[1]
                    count += 1
        # Andrew's monotone chain: below from left to right, then above from right to left.
        size = 0
        floor = 2
        for step in range(2 * count - 1):
            n = step if step < count else 2 * count - 2 - step
            if step == count:
                floor = size + 1
            x, y = found[n, 0], found[n, 1]
            while size >= floor and not _turns_left(chain[size - 2], chain[size - 1], x, y):
                size -= 1
            chain[size, 0] = x
            chain[size, 1] = y
            size += 1
        if size > 1:
            size -= 1
        if size == 2 and chain[0, 0] == chain[1, 0] and chain[0, 1] == chain[1, 1]:
            size = 1
        counts[t] = size
        for n in range(size):
            corners[t, n, 0] = chain[n, 0]
            corners[t, n, 1] = chain[n, 1]


@kernel
def _margins(corners: Floats, counts: Indices, points: Floats, out: Floats) -> None:
    for t in range(points.shape[0]):
        count = counts[t]
        x, y = points[t, 0], points[t, 1]
        if count == 0 or not (np.isfinite(x) and np.isfinite(y)):
            for k in range(3):
                out[t, k] = np.nan
            continue
        nearest = np.inf
        inside = count > 2
        for n in range(count):
            ax, ay = corners[t, n, 0], corners[t, n, 1]
            other = (n + 1) % count
            ex = corners[t, other, 0] - ax
            ey = corners[t, other, 1] - ay
            inside = inside and ex * (y - ay) - ey * (x - ax) >= 0.0
            square = ex * ex + ey * ey
            along = ((x - ax) * ex + (y - ay) * ey) / square if square > 0.0 else 0.0
            along = min(max(along, 0.0), 1.0)
            px, py = ax + along * ex, ay + along * ey
            distance = np.sqrt((x - px) * (x - px) + (y - py) * (y - py))
            if distance < nearest:
                nearest = distance
                out[t, 1] = px
                out[t, 2] = py
        if inside:
            out[t, 0] = nearest
            out[t, 1] = x
            out[t, 2] = y
        else:
            out[t, 0] = -nearest
