"""Between the rows of a table: straight lines, Hermite cubics, SLERP, and weighted sums of neighbouring rows.

Where a value is asked for is given as `before` (N,), the row at or before it, and `fraction` (N,) of the way to the next row; at fraction 0
the row itself is given, whatever the next one holds.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.slices import as_rows, in_slices

__all__ = ["filtered", "hermite", "lines", "slerp", "unit_quaternions"]

Indices: TypeAlias = npt.NDArray[np.int64]

NEAR = 0.24
"""Square of the distance of two unit quaternions (28° of turn apart each way) up to which SLERP is a power series."""

TERMS = 12
"""Terms of that series; the first one left out is below 1e-16."""


def lines(values: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill `out` (N, P) with rows on the straight lines between rows (T, P)."""
    table = as_rows(values, values.shape)
    in_slices(len(before), lambda a, b: _lines(table, before[a:b], fraction[a:b], out[a:b]))


def hermite(values: Floats, slopes: Floats, gaps: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill `out` (N, P) with rows on the cubics between rows (T, P) that have `slopes` (T, P) there and are `gaps` (T - 1,) apart."""
    table, steep = as_rows(values, values.shape), as_rows(slopes, slopes.shape)
    in_slices(len(before), lambda a, b: _hermite(table, steep, gaps, before[a:b], fraction[a:b], out[a:b]))


def slerp(poses: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill the quaternions of `out` (N, L, 7) with orientations on the shorter arcs between those of `poses` (T, L, 7).

    An orientation at fraction 0 is copied as it is; all others are of unit length.
    """
    table = as_rows(poses, poses.shape)
    in_slices(len(before), lambda a, b: _slerp(table, before[a:b], fraction[a:b], out[a:b]))


def unit_quaternions(quaternions: Floats) -> Floats:
    """Return quaternions (T, L, 4) scaled to unit length, of the two signs the one nearer to the frame before."""
    out = np.empty(quaternions.shape)
    _unit_quaternions(as_rows(quaternions, quaternions.shape), out)
    return out


def filtered(values: Floats, taps: Floats, step: int) -> Floats:
    """Return the sums (N, P) of `taps` (K,) over K rows of (T, P), from every `step`-th row on: N = (T - K) // step + 1."""
    count = (len(values) - len(taps)) // step + 1
    table = as_rows(values, values.shape)
    out = np.zeros((count, values.shape[1]))
    in_slices(count, lambda a, b: _filtered(table[a * step :], taps, step, out[a:b]), few=64)
    return out


@kernel
def _lines(values: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    for n in range(before.shape[0]):
        i = before[n]
        f = fraction[n]
        if f == 0.0:
            for p in range(values.shape[1]):
                out[n, p] = values[i, p]
        else:
            for p in range(values.shape[1]):
                out[n, p] = values[i, p] + f * (values[i + 1, p] - values[i, p])


@kernel
def _hermite(values: Floats, slopes: Floats, gaps: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    for n in range(before.shape[0]):
        i = before[n]
        f = fraction[n]
        if f == 0.0:
            for p in range(values.shape[1]):
                out[n, p] = values[i, p]
        else:
            g = 1.0 - f
            start = f * g * g * gaps[i]
            end = -f * f * g * gaps[i]
            rise = f * f * (3.0 - 2.0 * f)
            for p in range(values.shape[1]):
                step = values[i + 1, p] - values[i, p]
                out[n, p] = values[i, p] + rise * step + start * slopes[i, p] + end * slopes[i + 1, p]


@inlined
def _unit(q: Floats, out: Floats) -> None:
    """Scale a quaternion to unit length; one without a finite, positive length becomes the identity."""
    largest = 0.0
    finite = True
    for k in range(4):
        finite = finite and np.isfinite(q[k])
        largest = max(largest, abs(q[k]))
    if finite and largest > 0.0:
        square = 0.0
        for k in range(4):
            out[k] = q[k] / largest
            square += out[k] * out[k]
        scale = 1.0 / np.sqrt(square)
        for k in range(4):
            out[k] *= scale
    else:
        out[0] = 1.0
        out[1] = 0.0
        out[2] = 0.0
        out[3] = 0.0


@kernel
def _slerp(poses: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Take weights sin((1−t)Ω)/sin Ω and sin(tΩ)/sin Ω (Shoemake, 1985).

    With x = cos Ω − 1, sin(tΩ)/sin Ω = t·(1 + a₁x + a₂x² + …), aᵢ = aᵢ₋₁·(t² − i²)/(i·(2i + 1)) (Eberly, 2011). x = −|b − a|²/2 has all
    its digits for near orientations, and the series needs neither roots nor angles.
    """
    a = np.empty(4)
    b = np.empty(4)
    for n in range(before.shape[0]):
        i = before[n]
        t = fraction[n]
        for link in range(poses.shape[1]):
            if t == 0.0:
                for k in range(3, 7):
                    out[n, link, k] = poses[i, link, k]
                continue
            _unit(poses[i, link, 3:], a)
            _unit(poses[i + 1, link, 3:], b)
            if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0.0:
                for k in range(4):
                    b[k] = -b[k]
            apart = 0.0
            for k in range(4):
                apart += (b[k] - a[k]) * (b[k] - a[k])
            s = 1.0 - t
            if apart < NEAR:
                x = -0.5 * apart
                weight_a = 1.0
                weight_b = 1.0
                for m in range(TERMS, 0, -1):
                    u = 1.0 / (m * (2.0 * m + 1.0))
                    v = m / (2.0 * m + 1.0)
                    weight_a = 1.0 + (u * s * s - v) * x * weight_a
                    weight_b = 1.0 + (u * t * t - v) * x * weight_b
                weight_a *= s
                weight_b *= t
            else:
                sum_square = 0.0
                for k in range(4):
                    sum_square += (b[k] + a[k]) * (b[k] + a[k])
                omega = 2.0 * np.arctan2(np.sqrt(apart), np.sqrt(sum_square))
                sine = np.sin(omega)
                weight_a = np.sin(s * omega) / sine
                weight_b = np.sin(t * omega) / sine
            square = 0.0
            for k in range(4):
                a[k] = weight_a * a[k] + weight_b * b[k]
                square += a[k] * a[k]
            scale = 1.0 / np.sqrt(square)
            for k in range(4):
                out[n, link, k + 3] = a[k] * scale


@kernel
def _unit_quaternions(quaternions: Floats, out: Floats) -> None:
    for t in range(quaternions.shape[0]):
        for link in range(quaternions.shape[1]):
            _unit(quaternions[t, link], out[t, link])
            if t > 0:
                side = 0.0
                for k in range(4):
                    side += out[t, link, k] * out[t - 1, link, k]
                if side < 0.0:
                    for k in range(4):
                        out[t, link, k] = -out[t, link, k]


@kernel
def _filtered(values: Floats, taps: Floats, step: int, out: Floats) -> None:
    for n in range(out.shape[0]):
        for j in range(taps.shape[0]):
            for p in range(values.shape[1]):
                out[n, p] += taps[j] * values[n * step + j, p]
