"""Distances along rays to the nearest triangle.

Triangles are in a tree of boxes, each with half of the triangles of the one above; a ray enters only boxes that are nearer than the
nearest triangle known so far. The intersection with a triangle is that of Möller and Trumbore (1997), from either side.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import as_rows, in_slices, inlined, kernel
from bodymotion.kernels.kinematics import Indices

Boxes: TypeAlias = tuple[Floats, Floats, Indices]
"""Triangles (F, 3, 3) in the order of the leaves; lowest and highest corner (N, 2, 3) of each box; and (N, 3) its first triangle, the one
after its last, and the first of its two halves, which are next to each other (−1 for leaves)."""

MAX_LEAF = 4
ONE_THREAD_RAYS = 256


def boxes(triangles: Floats) -> Boxes:
    """Return the tree of boxes of triangles (F, 3, 3)."""
    order = np.arange(len(triangles), dtype=np.int64)
    bounds = np.empty((max(2 * len(triangles), 1), 2, 3))
    spans = np.empty((len(bounds), 3), dtype=np.int64)
    count = _divide(as_rows(triangles, triangles.shape), order, bounds, spans) if len(triangles) else 0
    return np.ascontiguousarray(triangles[order]), bounds[:count].copy(), spans[:count].copy()


def distances(tree: Boxes, origins: Floats, directions: Floats, longest: float) -> Floats:
    """Return the distances (N,) along rays from `origins` (N, 3) in unit `directions` (N, 3) to a triangle; inf beyond `longest`."""
    out = np.full(len(origins), np.inf)
    starts, ways = as_rows(origins, origins.shape), as_rows(directions, directions.shape)
    if len(tree[1]):
        in_slices(
            len(out), lambda a, b: _distances(*tree, starts[a:b], ways[a:b], longest, out[a:b]), few=ONE_THREAD_RAYS
        )
    return out


@kernel
def _divide(triangles: Floats, order: Indices, bounds: Floats, spans: Indices) -> Any:  # noqa: ANN401
    """Sort `order` into that of the leaves, fill in the boxes, and return their number."""
    spans[0, 0] = 0
    spans[0, 1] = len(order)
    count = 1
    box = 0
    while box < count:
        first, last = spans[box, 0], spans[box, 1]
        middle_low = np.full(3, np.inf)
        middle_high = np.full(3, -np.inf)
        for k in range(3):
            low = np.inf
            high = -np.inf
            for n in range(first, last):
                middle = 0.0
                for corner in range(3):
                    value = triangles[order[n], corner, k]
                    low = min(low, value)
                    high = max(high, value)
                    middle += value
                middle_low[k] = min(middle_low[k], middle)
                middle_high[k] = max(middle_high[k], middle)
            bounds[box, 0, k] = low
            bounds[box, 1, k] = high
        spans[box, 2] = -1
        if last - first > MAX_LEAF:
            axis = 0
            for k in range(1, 3):
                if middle_high[k] - middle_low[k] > middle_high[axis] - middle_low[axis]:
                    axis = k
            keys = np.empty(last - first)
            for n in range(first, last):
                keys[n - first] = (
                    triangles[order[n], 0, axis] + triangles[order[n], 1, axis] + triangles[order[n], 2, axis]
                )
            order[first:last] = order[first:last][np.argsort(keys)]
            half = (first + last) // 2
            spans[box, 2] = count
            spans[count, 0] = first
            spans[count, 1] = half
            spans[count + 1, 0] = half
            spans[count + 1, 1] = last
            count += 2
        box += 1
    return count


@inlined
def _hits_box(bounds: Floats, origin: Floats, inverse: Floats, nearest: float) -> bool:
    enter = 0.0
    leave = nearest
    for k in range(3):
        if np.isinf(inverse[k]):
            if origin[k] < bounds[0, k] or origin[k] > bounds[1, k]:
                return False
            continue
        a = (bounds[0, k] - origin[k]) * inverse[k]
        b = (bounds[1, k] - origin[k]) * inverse[k]
        enter = max(enter, min(a, b))
        leave = min(leave, max(a, b))
    # The margin keeps boxes without thickness from being missed by rounding.
    return bool(enter <= leave * (1.0 + 1e-12) + 1e-300)


@inlined
def _distance_to(triangle: Floats, origin: Floats, way: Floats) -> float:
    """Return the distance to a triangle, inf where the ray misses it."""
    ex, ey, ez = triangle[1, 0] - triangle[0, 0], triangle[1, 1] - triangle[0, 1], triangle[1, 2] - triangle[0, 2]
    fx, fy, fz = triangle[2, 0] - triangle[0, 0], triangle[2, 1] - triangle[0, 1], triangle[2, 2] - triangle[0, 2]
    px = way[1] * fz - way[2] * fy
    py = way[2] * fx - way[0] * fz
    pz = way[0] * fy - way[1] * fx
    scale = ex * px + ey * py + ez * pz
    if scale == 0.0:
        return np.inf
    tx, ty, tz = origin[0] - triangle[0, 0], origin[1] - triangle[0, 1], origin[2] - triangle[0, 2]
    u = (tx * px + ty * py + tz * pz) / scale
    # The edge between two triangles belongs to both: rounding must not open a gap.
    if u < -1e-12 or u > 1.0 + 1e-12:
        return np.inf
    qx = ty * ez - tz * ey
    qy = tz * ex - tx * ez
    qz = tx * ey - ty * ex
    v = (way[0] * qx + way[1] * qy + way[2] * qz) / scale
    if v < -1e-12 or u + v > 1.0 + 1e-12:
        return np.inf
    distance = (fx * qx + fy * qy + fz * qz) / scale
    return distance if distance >= 0.0 else np.inf


@kernel
def _distances(
    triangles: Floats,
    bounds: Floats,
    spans: Indices,
    origins: Floats,
    directions: Floats,
    longest: float,
    out: Floats,
) -> None:
    stack = np.empty(256, dtype=np.int64)
    inverse = np.empty(3)
    for n in range(origins.shape[0]):
        for k in range(3):
            inverse[k] = 1.0 / directions[n, k] if directions[n, k] != 0.0 else np.inf
        nearest = np.inf
        stack[0] = 0
        height = 1
        while height > 0:
            height -= 1
            box = stack[height]
            if not _hits_box(bounds[box], origins[n], inverse, min(nearest, longest)):
                continue
            if spans[box, 2] < 0:
                for i in range(spans[box, 0], spans[box, 1]):
                    nearest = min(nearest, _distance_to(triangles[i], origins[n], directions[n]))
            else:
                stack[height] = spans[box, 2]
                stack[height + 1] = spans[box, 2] + 1
                height += 2
        out[n] = nearest if nearest <= longest else np.inf
