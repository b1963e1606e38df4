"""The nearest triangles along rays.

Triangles are in a tree of boxes, each with half of the triangles of the one above; a
ray enters only boxes that are nearer than the nearest triangle known so far. The
intersection with a triangle is that of Möller and Trumbore (1997), from either side.
"""

from typing import TypeAlias

import numpy as np

from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.kernels.compiling import as_rows, in_slices, inlined, kernel
from bodymotion.kernels.vectors import Vector, cross, dot, plus, product

# Triangles (F, 3, 3) in the order of the leaves, `LEAF` in each; lowest and highest
# corner (N, 2, 3) of each box of a complete binary tree: the halves of box k are 2·k +
# 1 and 2·k + 2; the numbers (F,) that the triangles had before they were sorted.
Boxes: TypeAlias = tuple[Floats, Floats, Indices]

LEAF = 4  # Triangles in a box at the end of the tree.
ONE_THREAD_RAYS = 256  # Rays that one thread casts at least.


def boxes(triangles: Floats) -> Boxes:
    """Return the tree of boxes of triangles (F, 3, 3).

    The last triangle is repeated to fill the leaves.
    """
    if not len(triangles):
        return triangles, np.empty((0, 2, 3)), np.empty(0, dtype=np.intp)
    # A complete tree: 2^levels leaves with `LEAF` triangles each.
    levels = max(int(np.ceil(np.log2(len(triangles) / LEAF))), 0)
    order = np.minimum(np.arange(LEAF << levels), len(triangles) - 1)
    # Three times the middles, which have the same order.
    middles = triangles.sum(axis=1)
    # Each box is halved at the median, along the axis in which its triangles extend
    # most: so all leaves have the same depth, and boxes are compact.
    for level in range(levels):
        groups = order.reshape(1 << level, -1)
        axes = np.ptp(middles[groups], axis=1).argmax(axis=1)
        order = np.take_along_axis(
            groups, np.argsort(middles[groups, axes[:, None]], axis=1), axis=1
        )
    sorted_triangles = triangles[order.ravel()]
    corners = sorted_triangles.reshape(-1, 3 * LEAF, 3)
    # From the leaves upwards: a box is the union of its two halves.
    rows = [np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1)]
    while len(rows[0]) > 1:
        low = rows[0][:, 0].reshape(-1, 2, 3)
        high = rows[0][:, 1].reshape(-1, 2, 3)
        rows.insert(0, np.stack([low.min(axis=1), high.max(axis=1)], axis=1))
    return sorted_triangles, np.concatenate(rows), order.ravel()


def cast(
    tree: Boxes,
    frame: Floats,
    origins: Floats,
    directions: Floats,
    near: float,
    depths: Floats,
    numbers: Indices,
    first: int = 0,
    two_sided: bool = True,
) -> None:
    """Find the nearest triangle along each ray.

    Change `depths` and `numbers` (H, W) where it is nearer than what was found before.

    The rays start at `origins` (H, W, 3) in `directions` (H, W, 3); `frame` (3, 4)
    takes them to the frame of the triangles. A depth counts in lengths of the
    direction, from `near` on; numbers begin with `first`. Triangles are
    counter-clockwise seen from outside, and visible from there, with `two_sided` from
    both sides.
    """
    if len(tree[1]):
        scene = (*tree, frame, near, first, two_sided)
        one_thread = ONE_THREAD_RAYS // max(depths.shape[1], 1)
        starts = as_rows(origins, origins.shape)
        ways = as_rows(directions, directions.shape)

        def work(a: int, b: int) -> None:
            # A window of an image is not contiguous, and the kernel would be compiled
            # once more for it: it fills copies.
            found = (
                np.ascontiguousarray(depths[a:b]),
                np.ascontiguousarray(numbers[a:b]),
            )
            _cast(*scene, starts[a:b], ways[a:b], *found)
            depths[a:b], numbers[a:b] = found

        in_slices(len(depths), work, one_thread)


@inlined
def _hits_box(bounds: Floats, origin: Vector, inverse: Floats, nearest: float) -> bool:
    """Return whether a ray hits a box (2, 3) before the depth `nearest`."""
    # The ray is inside all three pairs of planes between `enter` and `leave`.
    enter = 0.0
    leave = nearest
    for k in range(3):
        # Parallel to these planes: it is between them everywhere or nowhere.
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
def _distance_to(
    triangle: Floats, origin: Vector, way: Vector, two_sided: bool
) -> float:
    """Return the distance to a triangle, negative or NaN where the ray misses it."""
    # Möller and Trumbore (1997): e, f the edges from corner 0, t from corner 0 to the
    # origin; origin + d·way = corner 0 + u·e + v·f.
    e = plus(triangle[1], triangle[0], -1.0)
    f = plus(triangle[2], triangle[0], -1.0)
    p = cross(way, f)
    t = plus(origin, triangle[0], -1.0)
    q = cross(t, e)
    scale = dot(e, p)
    # The sign of the determinant tells the side that the ray comes from.
    if scale == 0.0 or (scale < 0.0 and not two_sided):
        return -1.0
    u = dot(t, p) / scale
    v = dot(way, q) / scale
    # The edge between two triangles belongs to both: rounding must not open a gap.
    if u < -1e-12 or v < -1e-12 or u + v > 1.0 + 1e-12:
        return -1.0
    return dot(f, q) / scale


@kernel
def _cast(
    triangles: Floats,
    bounds: Floats,
    order: Indices,
    frame: Floats,
    near: float,
    first: int,
    two_sided: bool,
    origins: Floats,
    directions: Floats,
    depths: Floats,
    numbers: Indices,
) -> None:
    """Fill in depths and numbers of the nearest triangles along rays; see `cast`."""
    # Each level adds one box to the stack: 256 are enough for any tree that fits in
    # memory.
    stack = np.empty(256, dtype=np.int64)
    inverse = np.empty(3)
    # Boxes from this number on are leaves: there is one more of them than inner boxes.
    leaves = bounds.shape[0] // 2
    for row in range(depths.shape[0]):
        for column in range(depths.shape[1]):
            start = plus(product(frame, origins[row, column]), frame[:, 3])
            way = product(frame, directions[row, column])
            for k in range(3):
                inverse[k] = 1.0 / way[k] if way[k] != 0.0 else np.inf
            nearest = depths[row, column]
            stack[0] = 0
            height = 1
            while height > 0:
                height -= 1
                box = stack[height]
                # Boxes behind the nearest triangle found so far are skipped, too.
                if not _hits_box(bounds[box], start, inverse, nearest):
                    continue
                if box >= leaves:
                    for i in range(LEAF * (box - leaves), LEAF * (box - leaves + 1)):
                        distance = _distance_to(triangles[i], start, way, two_sided)
                        if near <= distance < nearest:
                            nearest = depths[row, column] = distance
                            numbers[row, column] = first + order[i]
                else:
                    stack[height] = 2 * box + 1
                    stack[height + 1] = 2 * box + 2
                    height += 2
