"""Slopes that make cubics through given rows smooth: twice differentiable (spline), or without overshoot (PCHIP)."""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.slices import as_rows

__all__ = ["pchip_slopes", "spline_slopes"]


def spline_slopes(values: Floats, gaps: Floats) -> Floats:
    """Return the slopes (T, P) of the cubic spline through rows (T, P) that are `gaps` (T - 1,) apart.

    Its first and second derivatives have no jumps; at the second row and at the last but one its third has none either ("not a knot",
    de Boor, 1978). Through three rows it is a parabola, through two a line.
    """
    slopes = np.zeros(values.shape)
    if len(values) > 1:
        _spline_slopes(as_rows(values, values.shape), gaps, slopes)
    return slopes


def pchip_slopes(values: Floats, gaps: Floats) -> Floats:
    """Return the slopes (T, P) of the cubics through rows (T, P) that never leave the range of the two rows they run between.

    Between rising and falling the slope is 0, elsewhere the weighted harmonic mean of the slopes on both sides (Fritsch and Butland, 1984);
    at the ends a three-point estimate that keeps the shape (Moler, 2004).
    """
    slopes = np.zeros(values.shape)
    if len(values) > 1:
        _pchip_slopes(as_rows(values, values.shape), gaps, slopes)
    return slopes


@kernel
def _spline_slopes(values: Floats, gaps: Floats, slopes: Floats) -> None:
    count, parts = values.shape
    if count == 2:
        for p in range(parts):
            slopes[0, p] = slopes[1, p] = (values[1, p] - values[0, p]) / gaps[0]
        return
    if count == 3:
        for p in range(parts):
            m0 = (values[1, p] - values[0, p]) / gaps[0]
            m1 = (values[2, p] - values[1, p]) / gaps[1]
            bend = (m1 - m0) / (gaps[0] + gaps[1])
            slopes[0, p] = m0 - gaps[0] * bend
            slopes[1, p] = m0 + gaps[0] * bend
            slopes[2, p] = m1 + gaps[1] * bend
        return
    # Thomas' elimination: above[i] is what is left of the coefficient right of the diagonal, the diagonal being 1.
    last = count - 1
    above = np.empty(count)
    first, second = gaps[0], gaps[1]
    both = first + second
    above[0] = both / second
    for p in range(parts):
        m0 = (values[1, p] - values[0, p]) / first
        m1 = (values[2, p] - values[1, p]) / second
        slopes[0, p] = ((first + 2.0 * both) * second * m0 + first * first * m1) / both / second
    for i in range(1, last):
        before, after = gaps[i - 1], gaps[i]
        pivot = 2.0 * (before + after) - after * above[i - 1]
        above[i] = before / pivot
        for p in range(parts):
            m0 = (values[i, p] - values[i - 1, p]) / before
            m1 = (values[i + 1, p] - values[i, p]) / after
            slopes[i, p] = (3.0 * (after * m0 + before * m1) - after * slopes[i - 1, p]) / pivot
    first, second = gaps[last - 1], gaps[last - 2]
    both = first + second
    pivot = second - both * above[last - 1]
    for p in range(parts):
        m0 = (values[last, p] - values[last - 1, p]) / first
        m1 = (values[last - 1, p] - values[last - 2, p]) / second
        right = ((first + 2.0 * both) * second * m0 + first * first * m1) / both
        slopes[last, p] = (right - both * slopes[last - 1, p]) / pivot
    for i in range(last - 1, -1, -1):
        for p in range(parts):
            slopes[i, p] -= above[i] * slopes[i + 1, p]


@inlined
def _end_slope(near: float, far: float, m_near: float, m_far: float) -> float:
    slope = ((2.0 * near + far) * m_near - near * m_far) / (near + far)
    if slope * m_near <= 0.0:
        return 0.0
    if m_near * m_far <= 0.0 and abs(slope) > 3.0 * abs(m_near):
        return 3.0 * m_near
    return slope


@kernel
def _pchip_slopes(values: Floats, gaps: Floats, slopes: Floats) -> None:
    count, parts = values.shape
    if count == 2:
        for p in range(parts):
            slopes[0, p] = slopes[1, p] = (values[1, p] - values[0, p]) / gaps[0]
        return
    last = count - 1
    for p in range(parts):
        m0 = (values[1, p] - values[0, p]) / gaps[0]
        m1 = (values[2, p] - values[1, p]) / gaps[1]
        slopes[0, p] = _end_slope(gaps[0], gaps[1], m0, m1)
        m0 = (values[last, p] - values[last - 1, p]) / gaps[last - 1]
        m1 = (values[last - 1, p] - values[last - 2, p]) / gaps[last - 2]
        slopes[last, p] = _end_slope(gaps[last - 1], gaps[last - 2], m0, m1)
    for i in range(1, last):
        before, after = gaps[i - 1], gaps[i]
        w0 = 2.0 * after + before
        w1 = after + 2.0 * before
        for p in range(parts):
            m0 = (values[i, p] - values[i - 1, p]) / before
            m1 = (values[i + 1, p] - values[i, p]) / after
            same = (m0 > 0.0 and m1 > 0.0) or (m0 < 0.0 and m1 < 0.0)
            slopes[i, p] = (w0 + w1) / (w0 / m0 + w1 / m1) if same else 0.0
