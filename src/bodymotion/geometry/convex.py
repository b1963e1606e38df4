"""The distance between two convex hulls."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from bodymotion.geometry.arrays import Floats

MAX_STEPS = 60


def hull_distance(a: Floats, b: Floats, enough: float = np.inf) -> float:
    """Return the distance [m] between the convex hulls of two clouds of points (N, 3) and (M, 3); 0 where they overlap.

    The algorithm of Gilbert, Johnson and Keerthi (1988): the point v nearest to the origin in the hull of all differences a − b is
    sought in simplices of at most four of them. w is the difference farthest against v, so v·w/|v| is a lower bound of the distance;
    the search ends where it is above `enough`.
    """
    simplex = (a[:1] - b[:1]).astype(np.float64)
    v = simplex[0]
    for _ in range(MAX_STEPS):
        length = float(np.linalg.norm(v))
        if length < 1e-9:
            return 0.0
        w = a[np.argmin(a @ v)] - b[np.argmax(b @ v)]
        bound = float(v @ w) / length
        if bound > enough or length - bound <= 1e-7 * length:
            return max(bound, 0.0)
        simplex = np.vstack([simplex, w])
        v, simplex = _nearest(simplex)
    return float(np.linalg.norm(v))


def _nearest(simplex: Floats) -> tuple[Floats, Floats]:
    """Return the point (3,) nearest to the origin in the hull of points (K, 3), K ≤ 5, and those of them that span it."""
    best, spanning = simplex[-1], simplex[-1:]
    last = len(simplex) - 1
    for size in range(1, min(last, 3) + 1):
        for others in combinations(range(last), size):
            points = simplex[[*others, last]]
            edges = points[:-1] - points[-1]
            # The foot of the perpendicular from the origin: points[-1] + edgesᵀ·s with edges·(…) = 0.
            gram = edges @ edges.T
            try:
                shares = np.linalg.solve(gram, -edges @ points[-1])
            except np.linalg.LinAlgError:
                continue
            if (shares > 0).all() and shares.sum() < 1:
                found = points[-1] + shares @ edges
                if found @ found < best @ best:
                    best, spanning = found, points
    return best, spanning
