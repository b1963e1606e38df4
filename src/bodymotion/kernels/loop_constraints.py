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
    """Compute each link's rotation (n, 3, 3), position (n, 3) and joint axis (n, 3) in the base's frame."""
    parents, kinds, variables, offset_turns, offset_places, own_axes, units = chain
    at_zero = np.empty((3, 3))
    joint = np.empty((3, 3))
    for i in range(parents.shape[0]):
        parent = parents[i]
        for a in range(3):
            if parent < 0:
                places[i, a] = offset_places[i, a]
                for b in range(3):
                    at_zero[a, b] = offset_turns[i, a, b]
            else:
                places[i, a] = places[parent, a]
                for b in range(3):
                    places[i, a] += turns[parent, a, b] * offset_places[i, b]
                    at_zero[a, b] = 0.0
                    for k in range(3):
                        at_zero[a, b] += turns[parent, a, k] * offset_turns[i, k, b]
        for a in range(3):
            axes[i, a] = 0.0
            for b in range(3):
                axes[i, a] += at_zero[a, b] * own_axes[i, b]
        value = units[variables[i]] * x[variables[i]] if kinds[i] else 0.0
        if kinds[i] == 2:
            for a in range(3):
                places[i, a] += value * axes[i, a]
        c, s = (np.cos(value), np.sin(value)) if kinds[i] == 1 else (1.0, 0.0)
        ux, uy, uz = own_axes[i, 0], own_axes[i, 1], own_axes[i, 2]
        joint[0, 0] = c + ux * ux * (1.0 - c)
        joint[0, 1] = ux * uy * (1.0 - c) - uz * s
        joint[0, 2] = ux * uz * (1.0 - c) + uy * s
        joint[1, 0] = uy * ux * (1.0 - c) + uz * s
        joint[1, 1] = c + uy * uy * (1.0 - c)
        joint[1, 2] = uy * uz * (1.0 - c) - ux * s
        joint[2, 0] = uz * ux * (1.0 - c) - uy * s
        joint[2, 1] = uz * uy * (1.0 - c) + ux * s
        joint[2, 2] = c + uz * uz * (1.0 - c)
        for a in range(3):
            for b in range(3):
                turns[i, a, b] = 0.0
                for k in range(3):
                    turns[i, a, b] += at_zero[a, k] * joint[k, b]


@inlined
def constrain(
    mechanism: Mechanism, x: Floats, turns: Floats, places: Floats, axes: Floats, residual: Floats, jacobian: Floats
) -> None:
    """Compute the equations' residual (m,) and its derivatives (m, v) at variables x (v,); the other arrays are work space."""
    place_links(mechanism[:7], x, turns, places, axes)
    kinds, variables = mechanism[1], mechanism[2]
    ends, tips, directions, of_axes, sides, size = mechanism[7:]
    d = np.empty(3)
    tip = np.empty(3)
    lever = np.empty(3)
    for k in range(ends.shape[0]):
        first, second = ends[k, 0], ends[k, 1]
        scale = 1.0 if of_axes[k] else 1.0 / size[0]
        residual[k] = 0.0
        for a in range(3):
            d[a] = directions[k, a]
            if first >= 0:
                d[a] = 0.0
                for b in range(3):
                    d[a] += turns[first, a, b] * directions[k, b]
            tip[a] = tips[k, 1, a]
            if second >= 0:
                tip[a] = 0.0 if of_axes[k] else places[second, a]
                for b in range(3):
                    tip[a] += turns[second, a, b] * tips[k, 1, b]
            start = 0.0
            if not of_axes[k]:
                start = tips[k, 0, a]
                if first >= 0:
                    start = places[first, a]
                    for b in range(3):
                        start += turns[first, a, b] * tips[k, 0, b]
            residual[k] += scale * d[a] * (tip[a] - start)
        for j in range(jacobian.shape[1]):
            jacobian[k, j] = 0.0
        for i in range(kinds.shape[0]):
            if kinds[i] == 0 or sides[k, i] == 0:
                continue
            if kinds[i] == 2:
                slope = 0.0
                if not of_axes[k]:
                    slope = d[0] * axes[i, 0] + d[1] * axes[i, 1] + d[2] * axes[i, 2]
            else:
                for a in range(3):
                    lever[a] = tip[a] if of_axes[k] else tip[a] - places[i, a]
                slope = scale * (
                    d[0] * (axes[i, 1] * lever[2] - axes[i, 2] * lever[1])
                    + d[1] * (axes[i, 2] * lever[0] - axes[i, 0] * lever[2])
                    + d[2] * (axes[i, 0] * lever[1] - axes[i, 1] * lever[0])
                )
            jacobian[k, variables[i]] += sides[k, i] * slope
