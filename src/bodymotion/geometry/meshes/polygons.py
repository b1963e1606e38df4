"""Polygons to triangles, in bulk.

Convex polygons become fans, all at once. Concave ones, whatever the file claims, are cut ear by ear, in the plane of their Newell normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

MAX_EAR_TESTS = 100_000_000  # Corner tests for cutting ears in one call; remaining polygons become fans.

VECTORIZED_CORNERS = 40  # Number of corners from which testing them all at once is faster.

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Triangles:
    """The result of `triangulate`.

    `corners` (F, 3) are positions in the list of indices, `polygons` (F,) the number of each triangle's polygon (dropped ones counted);
    `out_of_range` and `too_small` count the polygons that were dropped.
    """

    corners: Indices
    polygons: Indices
    out_of_range: int = 0
    too_small: int = 0


@np.errstate(over="ignore", invalid="ignore")
def triangulate(index: npt.NDArray[np.integer], vertices: Floats) -> Triangles:
    """Return the triangles of the polygons of an indexed face set.

    Parameters
    ----------
    index:
        (N,) indices of vertices; a negative one ends a polygon (the last need not be ended).
    vertices:
        (V, 3).

    Returns
    -------
    The triangles keep the direction of rotation of their polygons. Polygons with an index beyond the vertices, or with fewer than
    three corners, are dropped and counted.
    """
    index = np.asarray(index)
    ends = np.flatnonzero(index < 0)
    if len(index) and (not len(ends) or ends[-1] != len(index) - 1):
        ends = np.append(ends, len(index))
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64) if len(ends) else np.zeros(0, dtype=np.int64)
    counts = ends - starts
    seen = np.concatenate([[0], np.cumsum(index >= len(vertices))])
    bad = seen[ends] > seen[starts]
    good = (counts >= 3) & ~bad
    out_of_range = int(np.count_nonzero(bad))
    too_small = int(np.count_nonzero((counts < 3) & (counts > 0) & ~bad))
    numbers = np.flatnonzero(good)
    starts, counts = starts[numbers], counts[numbers]

    if len(counts) and (counts == 3).all():
        return Triangles(starts[:, None] + np.arange(3), numbers, out_of_range, too_small)
    concave = _concave(index, vertices, starts, counts)
    fans = np.ones(len(counts), dtype=bool)
    fans[concave] = False
    parts = [_fans(starts[fans], counts[fans])]
    owners = [np.repeat(numbers[fans], counts[fans] - 2)]
    budget = MAX_EAR_TESTS
    for which in concave:
        start, count = int(starts[which]), int(counts[which])
        cut, budget = _cut_ears(vertices[index[start : start + count]], budget)
        parts.append(cut + start)
        owners.append(np.full(len(cut), numbers[which]))
    polygons = np.concatenate(owners)
    order = np.argsort(polygons, kind="stable") if len(concave) else slice(None)
    return Triangles(np.concatenate(parts)[order], polygons[order], out_of_range, too_small)


def _fans(starts: Indices, counts: Indices) -> Indices:
    sizes = counts - 2
    first = np.repeat(starts, sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
    step = np.arange(len(first)) - np.repeat(offsets, sizes)
    return np.stack([first, first + step + 1, first + step + 2], axis=1)


def _concave(index: npt.NDArray[np.integer], vertices: Floats, starts: Indices, counts: Indices) -> Indices:
    """Return which polygons are concave somewhere, seen along their Newell normal."""
    many = np.flatnonzero(counts > 3)
    if not len(many):
        return many
    sizes = counts[many]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owner = np.repeat(np.arange(len(many)), sizes)
    step = np.arange(len(owner)) - first[owner]
    base = starts[many][owner]
    here = vertices[index[base + step]]
    after = vertices[index[base + (step + 1) % sizes[owner]]]
    before = vertices[index[base + (step - 1) % sizes[owner]]]
    newell = np.add.reduceat(_cross(here, after), first, axis=0)
    turn = np.einsum("ij,ij->i", _cross(here - before, after - here), newell[owner])
    scale = np.maximum.reduceat(np.abs(turn), first)
    return many[np.minimum.reduceat(turn, first) < -1e-6 * scale]


def _cross(a: Floats, b: Floats) -> Floats:
    """Return the cross products of rows; for few rows several times faster than `numpy.cross`."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def _cut_ears(points: Floats, budget: int) -> tuple[Indices, int]:
    """Cut one simple polygon (n, 3) ear by ear (Meisters, 1975); return triangles (n−2, 3) of its corners, and the number of tests left.

    Only corners that turn the other way can lie in an ear. What is left when the budget is spent becomes a fan.
    """
    normal = _cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    across = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
    flat = points @ np.stack([across, np.cross(normal, across)], axis=1)
    x: list[float] = flat[:, 0].tolist()
    y: list[float] = flat[:, 1].tolist()
    after: list[int] = [*range(1, len(x)), 0]
    before: list[int] = [len(x) - 1, *range(len(x) - 1)]

    def turns_left(i: int) -> bool:
        a, c = before[i], after[i]
        return (x[i] - x[a]) * (y[c] - y[a]) > (y[i] - y[a]) * (x[c] - x[a])

    reflex = {i for i in range(len(x)) if not turns_left(i)}
    others: Indices | None = None

    def is_ear(i: int) -> bool:
        """Return whether the triangle of a corner and its neighbours is inside and contains no other corner."""
        nonlocal others
        if i in reflex:
            return False
        ends = [(x[k], y[k]) for k in (before[i], i, after[i])]
        sides = list(zip(ends, ends[1:] + ends[:1], strict=True))
        if len(reflex) <= VECTORIZED_CORNERS:
            return not any(
                (x[p], y[p]) not in ends
                and all((bx - ax) * (y[p] - ay) >= (by - ay) * (x[p] - ax) for (ax, ay), (bx, by) in sides)
                for p in reflex
            )
        others = np.array(list(reflex)) if others is None else others
        px, py = flat[others].T
        within = [(bx - ax) * (py - ay) >= (by - ay) * (px - ax) for (ax, ay), (bx, by) in sides]
        return all((x[p], y[p]) in ends for p in others[np.logical_and.reduce(within)].tolist())

    cut: list[tuple[int, int, int]] = []
    here, failures, left = 0, 0, len(points)
    while left > 3 and budget >= 0:
        a, c = before[here], after[here]
        budget -= 1 + len(reflex)
        if failures > left or is_ear(here):
            cut.append((a, here, c))
            after[a], before[c] = c, a
            settled = {k for k in (here, a, c) if k in reflex and (k == here or turns_left(k))}
            if settled:
                reflex -= settled
                others = None
            # The corner before has changed; testing it next keeps the triangles short.
            here, failures, left = a, 0, left - 1
        else:
            here, failures = c, failures + 1
    ring = [here]
    while after[ring[-1]] != here:
        ring.append(after[ring[-1]])
    cut.extend((ring[0], ring[i], ring[i + 1]) for i in range(1, len(ring) - 1))
    return np.array(cut, dtype=np.int64), budget


Point: TypeAlias = tuple[float, float]


def hull_of_sorted(points: list[Point]) -> list[Point]:
    """Return the convex hull of sorted points in a plane, counter-clockwise, by Andrew's monotone chain."""
    chain: list[Point] = []
    least = 2
    for step, (x, y) in enumerate([*points, *points[-2::-1]]):
        if step == len(points):
            least = len(chain) + 1
        while len(chain) >= least:
            (ax, ay), (bx, by) = chain[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            chain.pop()
        chain.append((x, y))
    if len(chain) > 1:
        chain.pop()
    return chain[:1] if len(chain) == 2 and chain[0] == chain[1] else chain
