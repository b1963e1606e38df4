"""Boxes around links and their shapes that overlap."""

import numpy as np

from bodymotion.geometry.arrays import Bools, Floats, Indices
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.vectors import Vector, dot, multiply, norm, plus, product


@kernel
def find_deep(
    pairs: Indices,
    starts: Indices,
    placed: tuple[Floats, ...],
    boxes: tuple[Floats, ...],
    edges: Indices,
    limit: float,
    found: Bools,
) -> None:
    """Set `found` (T,) in frames in which links overlap by more than `limit`.

    Boxes of shapes of one of the `pairs` (N, 2) of links are compared.

    `placed`: rotations (3, 3, K, T) and origins (3, K, T) of the links, the lowest and
    highest coordinates (3, K, T) of their boxes, and
    those (3, K, B) in frames `starts[b]`…`starts[b + 1]` together. `boxes`: axes (S, 3,
    3), as columns, middles and half sizes (S, 3) of those of the shapes, in the frames
    of the links, and how far they reach from the origins (S,). The shapes of link k are
    `edges[k]`…`edges[k + 1]`.

    Links that lack some distance of overlapping are compared again when they have moved
    that far to each other.
    """
    turns, origins, low, high, lowest, highest = placed
    axes, middles, halves, radii = boxes
    turn = np.empty((3, 3))
    own = np.empty((3, 3))
    cosines = np.empty((3, 3))
    last_turn = np.empty((3, 3))
    for n in range(pairs.shape[0]):
        one = pairs[n, 0]
        two = pairs[n, 1]
        # No point of the second link's boxes is farther from its origin: a rotation
        # moves it by at most this times the matrix's change.
        radius = np.max(radii[edges[two] : edges[two + 1]])
        lacking = 0.0
        last_place = (0.0, 0.0, 0.0)
        # Blocks of frames first: most pairs are apart in whole blocks.
        for block in range(starts.shape[0] - 1):
            if _apart(lowest[:, :, block], highest[:, :, block], one, two):
                continue
            for t in range(starts[block], starts[block + 1]):
                if found[t] or _apart(low[:, :, t], high[:, :, t], one, two):
                    continue
                # The second link in the frame of the first.
                first = turns[:, :, one, t]
                multiply(first.T, turns[:, :, two, t], turn)
                place = product(
                    first.T, plus(origins[:, two, t], origins[:, one, t], -1.0)
                )
                # The distance of two rotations, as the norm of the difference of their
                # matrices.
                twist = 0.0
                for i in range(3):
                    for j in range(3):
                        twist += (turn[i, j] - last_turn[i, j]) ** 2
                # They moved to each other by less than was lacking: still apart.
                if (
                    norm(plus(place, last_place, -1.0)) + np.sqrt(twist) * radius
                    < lacking
                ):
                    continue
                last_turn[:], last_place, lacking = turn, place, np.inf
                # Each shape of the one with each of the other; the smallest lack
                # decides.
                for a in range(edges[one], edges[one + 1]):
                    multiply(turn.T, axes[a], own)
                    for b in range(edges[two], edges[two + 1]):
                        multiply(own.T, axes[b], cosines)
                        # From middle to middle, along the axes of the first box.
                        way = product(axes[a].T, plus(place, middles[a], -1.0))
                        way = plus(way, product(own.T, middles[b]))
                        lacking = min(
                            lacking, _lacking(cosines, way, halves[a], halves[b], limit)
                        )
                found[t] = lacking <= 0.0


@inlined
def _apart(low: Floats, high: Floats, one: int, two: int) -> bool:
    apart = False
    for i in range(3):
        apart |= low[i, one] >= high[i, two] or low[i, two] >= high[i, one]
    return apart


@inlined
def _lacking(
    cosines: Floats, way: Vector, half_a: Floats, half_b: Floats, limit: float
) -> float:
    """Return how much two boxes lack of overlapping by a limit.

    As `geometry.meshes.box_overlap`.

    All in the frame of the first.
    """
    most = -np.inf
    # The six axes of the boxes: the distance of the middles less both reaches.
    for i in range(3):
        reach_a = half_a[i]
        reach_b = half_b[i]
        for j in range(3):
            reach_a += half_b[j] * abs(cosines[i, j])
            reach_b += half_a[j] * abs(cosines[j, i])
        most = max(most, abs(way[i]) - reach_a, abs(dot(way, cosines[:, i])) - reach_b)
    # Apart along an axis of a box: the nine products of axes need not be tried.
    if most + limit > 0.0:
        return float(most + limit)
    for i in range(3):
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        for j in range(3):
            j1 = (j + 1) % 3
            j2 = (j + 2) % 3
            reach = half_a[i1] * abs(cosines[i2, j]) + half_a[i2] * abs(cosines[i1, j])
            reach += half_b[j1] * abs(cosines[i, j2]) + half_b[j2] * abs(cosines[i, j1])
            sine = np.sqrt(max(1.0 - cosines[i, j] ** 2, 0.0))
            lacking = (
                limit * sine
                - reach
                + abs(way[i2] * cosines[i1, j] - way[i1] * cosines[i2, j])
            )
            # The product of nearly parallel axes is no direction.
            if sine > 1e-3 and lacking > 0.0:
                return float(lacking)
    return 0.0
