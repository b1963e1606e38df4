"""Vectors of three numbers and matrices (3, 3) in kernels.

A vector is an array (3,) or, where it is computed, a tuple.
"""

from typing import TypeAlias

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined

Triple: TypeAlias = tuple[float, float, float]
Vector: TypeAlias = Triple | Floats
Rows: TypeAlias = tuple[Triple, Triple, Triple]


@inlined
def put(a: Vector, out: Floats) -> None:
    """Copy a vector to `out` (3,): assigning a tuple to an array takes longer."""
    out[0], out[1], out[2] = a[0], a[1], a[2]


@inlined
def times(a: Vector, factor: float = 1.0) -> Triple:
    """Return factor·a; without a factor, an array as a tuple."""
    return factor * a[0], factor * a[1], factor * a[2]


@inlined
def plus(a: Vector, b: Vector, factor: float = 1.0) -> Triple:
    """Return a + factor·b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@inlined
def dot(a: Vector, b: Vector) -> float:
    """Return a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def norm(a: Vector) -> float:
    """Return |a|."""
    return float(np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]))


@inlined
def cross(a: Vector, b: Vector) -> Triple:
    """Return a × b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@inlined
def product(matrix: Floats | Rows, vector: Vector) -> Triple:
    """Return matrix·vector."""
    return dot(matrix[0], vector), dot(matrix[1], vector), dot(matrix[2], vector)


@inlined
def multiply(a: Floats, b: Floats, out: Floats) -> None:
    """Fill `out` (3, 3) with a·b.

    It may be neither of them.
    """
    for i in range(3):
        for j in range(3):
            out[i, j] = dot(a[i], b[:, j])
