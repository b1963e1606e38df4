"""The distance between two convex hulls, and how far boxes overlap."""

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


def box_overlap(one: tuple[Floats, ...], two: tuple[Floats, ...], enough: float = -np.inf) -> Floats:
    """Return the least distances (…) by which one of two boxes must be moved to be apart, negative where they are.

    Where a direction gives at most `enough`, no others may have been tried.
    A box has axes (3, 3, …), as columns, half sizes (3, …) and a middle (3, …). Gottschalk, Lin and Manocha (1996): the directions to be
    tried are the axes of both, and the products of two of them.
    """
    (a, half_a, middle_a), (b, half_b, middle_b) = one, two
    between = middle_b - middle_a
    cosines = np.einsum("ij...,ik...->jk...", a, b)
    along = np.abs(cosines)
    to_a, to_b = np.einsum("i...,ij...->j...", between, a), np.einsum("i...,ij...->j...", between, b)
    least = np.minimum(
        (half_a + np.einsum("jk...,k...->j...", along, half_b) - np.abs(to_a)).min(axis=0),
        (half_b + np.einsum("jk...,j...->k...", along, half_a) - np.abs(to_b)).min(axis=0),
    )
    left = least > enough
    rest = least[left]
    half_a, half_b = (np.broadcast_to(half, to_a.shape)[..., left] for half in (half_a, half_b))
    to_a, to_b, cosines, along = (one[..., left] for one in (to_a, to_b, cosines, along))
    for i, j in np.ndindex(3, 3):
        i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
        reach_a = half_a[i1] * along[i2, j] + half_a[i2] * along[i1, j]
        reach_b = half_b[j1] * along[i, j2] + half_b[j2] * along[i, j1]
        overlap = reach_a + reach_b - np.abs(to_a[i2] * cosines[i1, j] - to_a[i1] * cosines[i2, j])
        sine = np.sqrt(np.maximum(1.0 - cosines[i, j] ** 2, 0.0))
        # Products of parallel axes are no directions.
        rest = np.minimum(rest, np.divide(overlap, sine, out=np.full_like(sine, np.inf), where=sine > 1e-3))
    least[left] = rest
    return np.asarray(least)
