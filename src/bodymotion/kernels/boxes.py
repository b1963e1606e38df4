"""Boxes around links and their shapes that overlap."""

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.kinematics import Indices
from bodymotion.kernels.vectors import Vector, dot, multiply, plus, product


@kernel
def find_deep(
    pairs: Indices,
    placed: tuple[Floats, ...],
    boxes: tuple[Floats, ...],
    edges: Indices,
    limit: float,
    found: npt.NDArray[np.bool_],
) -> None:
    """Set `found` (T,) in frames in which boxes of shapes of one of the `pairs` (N, 2) of links overlap by more than `limit`.

    `placed`: rotations (3, 3, K, T) and origins (3, K, T) of the links, middles (3, K, T) of their boxes, and how far these reach along the
    world's axes, less half the limit. `boxes`: half sizes (K, 3) of the links' boxes; axes (S, 3, 3), as columns, middles and half sizes
    (S, 3) of those of the shapes, in the frames of the links. The shapes of link k are `edges[k]`…`edges[k + 1]`.
    """
    turns, origins, middles, reach = placed
    halves, axes, shape_middles, shape_halves = boxes
    turn, own, cosines = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    near = np.empty(found.shape[0], dtype=np.bool_)
    for n in range(pairs.shape[0]):
        one, two = pairs[n, 0], pairs[n, 1]
        near[:] = ~found
        for i in range(3):
            for frame in range(found.shape[0]):
                apart = abs(middles[i, one, frame] - middles[i, two, frame])
                near[frame] &= apart < reach[i, one, frame] + reach[i, two, frame]
        for t in np.flatnonzero(near):
            # The second link in the frame of the first.
            first = turns[:, :, one, t]
            multiply(first.T, turns[:, :, two, t], turn)
            way = product(first.T, plus(middles[:, two, t], middles[:, one, t], -1.0))
            if not _overlap(turn, way, halves[one], halves[two], limit):
                continue
            place = product(first.T, plus(origins[:, two, t], origins[:, one, t], -1.0))
            for a in range(edges[one], edges[one + 1]):
                multiply(turn.T, axes[a], own)
                for b in range(edges[two], edges[two + 1]):
                    multiply(own.T, axes[b], cosines)
                    way = product(axes[a].T, plus(place, shape_middles[a], -1.0))
                    way = plus(way, product(own.T, shape_middles[b]))
                    found[t] = found[t] or _overlap(cosines, way, shape_halves[a], shape_halves[b], limit)


@inlined
def _overlap(cosines: Floats, way: Vector, half_a: Floats, half_b: Floats, limit: float) -> bool:
    """Return whether two boxes overlap by more than a limit, as `geometry.meshes.box_overlap`; all in the frame of the first."""
    for i in range(3):
        reach_a, reach_b = half_a[i], half_b[i]
        for j in range(3):
            reach_a += half_b[j] * abs(cosines[i, j])
            reach_b += half_a[j] * abs(cosines[j, i])
        if reach_a - abs(way[i]) <= limit or reach_b - abs(dot(way, cosines[:, i])) <= limit:
            return False
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            reach = half_a[i1] * abs(cosines[i2, j]) + half_a[i2] * abs(cosines[i1, j])
            reach += half_b[j1] * abs(cosines[i, j2]) + half_b[j2] * abs(cosines[i, j1])
            sine = np.sqrt(max(1.0 - cosines[i, j] ** 2, 0.0))
            if sine > 1e-3 and reach - abs(way[i2] * cosines[i1, j] - way[i1] * cosines[i2, j]) <= limit * sine:
                return False
    return True
