"""Polygons to triangles, in bulk.

Convex polygons become fans, all at once. Concave ones, whatever the file claims, are cut at a safe diagonal (four corners)
or ear by ear (more), in the plane of their Newell normal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import Floats

__all__ = ["Triangles", "triangulate"]

EAR_BUDGET = 20_000_000
"""How many corner tests may be spent on cutting ears in one call; what is left then becomes fans."""

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Triangles:
    """What `triangulate` gives.

    `corners` (F, 3) are places in the list of indices, `polygons` (F,) which polygon a triangle is of (counted over all, also the
    dropped ones); `out_of_range` and `too_small` count the polygons that were dropped.
    """

    corners: Indices
    polygons: Indices
    out_of_range: int = 0
    too_small: int = 0

    def chosen(self, mask: npt.NDArray[np.bool_]) -> Triangles:
        """Give those triangles where `mask` (F,) is true."""
        return Triangles(self.corners[mask], self.polygons[mask], self.out_of_range, self.too_small)


def triangulate(index: npt.NDArray[np.integer], vertices: Floats) -> Triangles:
    """Cut the polygons of an indexed face set into triangles.

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
    triangles = _all_triangles(index, len(vertices))
    if triangles is not None:
        return triangles
    ends = np.flatnonzero(index < 0)
    if len(index) and (not len(ends) or ends[-1] != len(index) - 1):
        ends = np.append(ends, len(index))
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64) if len(ends) else np.zeros(0, dtype=np.int64)
    counts = ends - starts
    beyond = index >= len(vertices)
    good = counts >= 3
    out_of_range = 0
    if beyond.any():
        seen = np.concatenate([[0], np.cumsum(beyond)])
        bad = seen[ends] > seen[starts]
        good &= ~bad
        out_of_range = int(np.count_nonzero(bad))
    else:
        bad = np.zeros(len(counts), dtype=bool)
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
    budget = EAR_BUDGET
    for which in concave:
        start, count = int(starts[which]), int(counts[which])
        cut, budget = _cut_ears(vertices[index[start : start + count]], budget)
        parts.append(cut + start)
        owners.append(np.full(len(cut), numbers[which]))
    polygons = np.concatenate(owners)
    order = np.argsort(polygons, kind="stable") if len(concave) else slice(None)
    return Triangles(np.concatenate(parts)[order], polygons[order], out_of_range, too_small)


def _all_triangles(index: npt.NDArray[np.integer], count: int) -> Triangles | None:
    """Give the answer at once for the usual mesh: triangles only, each of them ended, no index out of range."""
    number, left = divmod(len(index) + 1, 4)
    if left > 1 or not number:
        return None
    if (index[3::4] >= 0).any() or index.max() >= count:
        return None
    starts = np.arange(0, 4 * number, 4)
    corners = starts[:, None] + np.arange(3)
    if index[corners].min() < 0:
        return None
    return Triangles(corners, np.arange(number))


def _fans(starts: Indices, counts: Indices) -> Indices:
    sizes = counts - 2
    first = np.repeat(starts, sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
    step = np.arange(len(first)) - np.repeat(offsets, sizes)
    return np.stack([first, first + step + 1, first + step + 2], axis=1)


def _concave(index: npt.NDArray[np.integer], vertices: Floats, starts: Indices, counts: Indices) -> Indices:
    """Say which polygons turn the other way somewhere, seen along their Newell normal."""
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
    """Give the cross products of rows; for few rows several times faster than `numpy.cross`."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def _cut_ears(points: Floats, budget: int) -> tuple[Indices, int]:
    """Cut one simple polygon (n, 3) ear by ear (Meisters, 1975); give triangles (n−2, 3) of its corners, and the budget left."""
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    drop = int(np.argmax(np.abs(normal)))
    flat = np.delete(points, drop, axis=1)
    # Left out of x, y, z, the middle one mirrors the other two.
    if (normal[drop] < 0) != (drop == 1):
        flat = flat[:, ::-1]
    x, y = flat[:, 0].tolist(), flat[:, 1].tolist()
    ring = list(range(len(points)))
    cut: list[tuple[int, int, int]] = []
    place, failures = 0, 0
    while len(ring) > 3:
        n = len(ring)
        a, b, c = ring[place - 1], ring[place % n], ring[(place + 1) % n]
        budget -= 1
        ear = _area(x, y, a, b, c) > 0
        if ear:
            budget -= n
            inside = (
                p
                for p in ring
                if p not in (a, b, c)
                and _area(x, y, a, b, p) >= 0
                and _area(x, y, b, c, p) >= 0
                and _area(x, y, c, a, p) >= 0
                and (x[p], y[p]) not in ((x[a], y[a]), (x[b], y[b]), (x[c], y[c]))
            )
            ear = next(inside, None) is None
        if ear or failures > n:
            cut.append((a, b, c))
            del ring[place % n]
            # The corner before has changed: try it next, which also keeps slivers short.
            place = (place - 1) % len(ring)
            failures = 0
        else:
            place = (place + 1) % n
            failures += 1
        if budget < 0:
            cut.extend((ring[0], ring[i], ring[i + 1]) for i in range(1, len(ring) - 2))
            ring = [ring[0], ring[-2], ring[-1]]
    cut.append((ring[0], ring[1], ring[2]))
    return np.array(cut, dtype=np.int64), budget


def _area(x: list[float], y: list[float], a: int, b: int, c: int) -> float:
    return (x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a])
