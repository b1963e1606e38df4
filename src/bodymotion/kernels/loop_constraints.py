"""The equations of closed loops: how far a mechanism is from closing, and the derivatives by its joints.

A mechanism is a tuple of arrays; `bodymotion.model.closed_loops` makes it:

    parents, kinds, variables (n,)      of its n moving and fixed links: the number of the parent (−1: the common base), 0 none, 1 rotate,
                                        2 slide, and which of the v variables moves it (−1: none)
    turns (n, 3, 3), places (n, 3)      each link's pose in its parent at joint value 0
    axes (n, 3)                         of the joints, unit vectors in the link's frame
    units (v,)                          joint value = unit · variable: 1 for angles, the mechanism's size for lengths
    ends (m, 2)                         for each of the m equations its first and second link (−1: the common base)
    tips (m, 2, 3)                      points in these links; of an equation of axes, the second one is the second link's axis
    directions (m, 3)                   unit vectors in the first link's frame
    of_axes (m,)                        0: an equation of points, 1: of axes
    sides (m, n)                        1 where link j carries only the second link, −1 where only the first one, else 0
    size (1,)                           [m] distances are divided by it, so that all numbers have the magnitude of angles

An equation of points: d · (P₂ − P₁) / size = 0. An equation of axes: d · a₂ = 0. All in the base's frame; d moves with the first link.
Its derivative by the rotation of a joint with axis ω through o is ± d · ω × (P₂ − o) / size or ± d · ω × a₂, by a translation ± d · ω: +
where the joint moves the second link, − where it moves the first one, in whose frame d is.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined
from bodymotion.kernels.vectors import cross, dot, multiply, plus, product, put, times

Indices: TypeAlias = npt.NDArray[np.int64]
Chain: TypeAlias = tuple[Indices, Indices, Indices, Floats, Floats, Floats, Floats]
"""The first seven arrays: links, offsets and axes."""
Mechanism: TypeAlias = tuple[
    Indices, Indices, Indices, Floats, Floats, Floats, Floats, Indices, Floats, Floats, Indices, Indices, Floats
]


@inlined
def length(values: Floats) -> float:
    """Return the Euclidean length of a vector."""
    square = 0.0
    for value in values:
        square += value * value
    return float(np.sqrt(square))


@inlined
def place_links(chain: Chain, x: Floats, turns: Floats, places: Floats, axes: Floats) -> None:
    """Compute rotations (n + 1, 3, 3) and positions (n + 1, 3) in the base's frame, last those of the base, and joint axes (n, 3)."""
    parents, kinds, variables, offset_turns, offset_places, own_axes, units = chain
    at_zero = np.empty((3, 3))
    for a in range(3):
        places[-1, a] = 0.0
        for b in range(3):
            turns[-1, a, b] = 1.0 if a == b else 0.0
    for i in range(parents.shape[0]):
        up, u = parents[i], own_axes[i]
        multiply(turns[up], offset_turns[i], at_zero)
        place, axis = plus(places[up], product(turns[up], offset_places[i])), product(at_zero, u)
        value = units[variables[i]] * x[variables[i]] if kinds[i] else 0.0
        c, s = (np.cos(value), np.sin(value)) if kinds[i] == 1 else (1.0, 0.0)
        put(plus(place, axis, value if kinds[i] == 2 else 0.0), places[i])
        put(axis, axes[i])
        for a in range(3):
            # Rodrigues' rotation of a row r: c·r + (1 − c)·(r·u)·u + s·(r × u).
            row = at_zero[a]
            put(plus(plus(times(row, c), u, (1.0 - c) * axis[a]), cross(row, u), s), turns[i, a])


@inlined
def constrain(
    mechanism: Mechanism, x: Floats, turns: Floats, places: Floats, axes: Floats, residual: Floats, jacobian: Floats
) -> None:
    """Compute the equations' residual (m,) and its derivatives (m, v) at variables x (v,); the other arrays are as in `place_links`."""
    place_links(mechanism[:7], x, turns, places, axes)
    kinds, variables = mechanism[1], mechanism[2]
    ends, tips, directions, of_axes, sides, size = mechanism[7:]
    for k in range(ends.shape[0]):
        first, second = ends[k, 0], ends[k, 1]
        is_point, scale = (0.0, 1.0) if of_axes[k] else (1.0, 1.0 / size[0])
        d = product(turns[first], directions[k])
        tip = plus(product(turns[second], tips[k, 1]), places[second], is_point)
        start = plus(product(turns[first], tips[k, 0]), places[first])
        residual[k] = scale * dot(d, plus(tip, start, -is_point))
        for j in range(jacobian.shape[1]):
            jacobian[k, j] = 0.0
        for i in range(kinds.shape[0]):
            if kinds[i] == 0 or sides[k, i] == 0:
                continue
            slope = is_point * dot(d, axes[i])
            if kinds[i] == 1:
                slope = scale * dot(d, cross(axes[i], plus(tip, places[i], -is_point)))
            jacobian[k, variables[i]] += sides[k, i] * slope
