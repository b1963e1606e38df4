"""Singular values of small matrices, and least squares with them, for use inside kernels.

One-sided Jacobi (Hestenes, 1958): columns are turned in pairs until all are orthogonal; their lengths then are the singular values, exact
to the last digits also where they are small (Demmel and Veselić, 1992). NumPy's own routine inside kernels would need SciPy.
"""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined

__all__ = ["decompose", "solve"]

SWEEPS = 40


@inlined
def decompose(w: Floats, v: Floats, s: Floats, near: bool) -> None:
    """Turn the columns of `w` (r, c), r ≥ c, in place into u·σ, largest first; `v` (c, c) and `s` (c,) get the right vectors and σ.

    `near`: `v` holds the right vectors of a matrix near this one, from where there is little left to turn.
    """
    rows, count = w.shape
    if near:
        row = np.empty(count)
        for k in range(rows):
            for j in range(count):
                row[j] = 0.0
            for i in range(count):
                for j in range(count):
                    row[j] += w[k, i] * v[i, j]
            for j in range(count):
                w[k, j] = row[j]
    else:
        for i in range(count):
            for j in range(count):
                v[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        turned = False
        for i in range(count - 1):
            for j in range(i + 1, count):
                a = 0.0
                b = 0.0
                g = 0.0
                for k in range(rows):
                    a += w[k, i] * w[k, i]
                    b += w[k, j] * w[k, j]
                    g += w[k, i] * w[k, j]
                if abs(g) <= 1e-15 * np.sqrt(a * b) or g == 0.0:
                    continue
                turned = True
                zeta = (b - a) / (2.0 * g)
                t = (1.0 if zeta >= 0.0 else -1.0) / (abs(zeta) + np.sqrt(1.0 + zeta * zeta))
                c = 1.0 / np.sqrt(1.0 + t * t)
                z = c * t
                for k in range(rows):
                    x = w[k, i]
                    w[k, i] = c * x - z * w[k, j]
                    w[k, j] = z * x + c * w[k, j]
                for k in range(count):
                    x = v[k, i]
                    v[k, i] = c * x - z * v[k, j]
                    v[k, j] = z * x + c * v[k, j]
        if not turned:
            break
    for j in range(count):
        square = 0.0
        for k in range(rows):
            square += w[k, j] * w[k, j]
        s[j] = np.sqrt(square)
    for i in range(count - 1):
        best = i
        for j in range(i + 1, count):
            if s[j] > s[best]:
                best = j
        if best != i:
            s[i], s[best] = s[best], s[i]
            for k in range(rows):
                w[k, i], w[k, best] = w[k, best], w[k, i]
            for k in range(count):
                v[k, i], v[k, best] = v[k, best], v[k, i]


@inlined
def solve(
    w: Floats, v: Floats, s: Floats, transposed: bool, right: Floats, damping: float, cut: float, out: Floats
) -> None:
    """Return the shortest x (n,) that makes |A·x − right|² + (damping·|x|)² least, for A (m, n) as `decompose` left it.

    `transposed`: Aᵀ was decomposed. Singular values not above `cut` count as 0.
    """
    for i in range(out.shape[0]):
        out[i] = 0.0
    for j in range(s.shape[0]):
        if not s[j] > cut:
            continue
        dot = 0.0
        if transposed:
            for k in range(v.shape[0]):
                dot += v[k, j] * right[k]
        else:
            for k in range(w.shape[0]):
                dot += w[k, j] * right[k]
        dot /= s[j] * s[j] + damping * damping
        if transposed:
            for k in range(w.shape[0]):
                out[k] += dot * w[k, j]
        else:
            for k in range(v.shape[0]):
                out[k] += dot * v[k, j]
