"""Rows between rows: straight lines, cubics and their slopes, SLERP, and low-pass filters."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import as_rows, in_slices, inlined, interpreted, is_small, kernel

Indices: TypeAlias = npt.NDArray[np.int64]

MAX_SERIES_DISTANCE = 0.24
"""Squared distance of two unit quaternions (rotations 28° apart) up to which SLERP is computed by a power series."""

TERMS = 12
"""Terms of that series; the first one left out is below 1e-16."""


@np.errstate(all="ignore")
def lines(values: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill `out` (N, P) with rows on the straight lines between rows (T, P)."""
    if is_small(_lines, out.size):
        after, f = np.minimum(before + 1, len(values) - 1), fraction[:, None]
        out[:] = np.where(f == 0.0, values[before], values[before] + f * (values[after] - values[before]))
        return
    table = as_rows(values, values.shape)
    in_slices(len(before), lambda a, b: _lines(table, before[a:b], fraction[a:b], out[a:b]))


@np.errstate(all="ignore")
def hermite(values: Floats, slopes: Floats, gaps: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill `out` (N, P) with rows on the cubics between rows (T, P) that have `slopes` (T, P) there and are `gaps` (T - 1,) apart."""
    if is_small(_hermite, out.size):
        after, f = np.minimum(before + 1, len(values) - 1), fraction[:, None]
        gap = gaps[np.minimum(before, len(gaps) - 1), None]
        step = values[after] - values[before]
        start, end = f * (1.0 - f) ** 2 * gap * slopes[before], -f * f * (1.0 - f) * gap * slopes[after]
        out[:] = np.where(f == 0.0, values[before], values[before] + f * f * (3.0 - 2.0 * f) * step + start + end)
        return
    table, steep = as_rows(values, values.shape), as_rows(slopes, slopes.shape)
    in_slices(len(before), lambda a, b: _hermite(table, steep, gaps, before[a:b], fraction[a:b], out[a:b]))


@np.errstate(all="ignore")
def slerp(poses: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill the quaternions of `out` (N, L, 7) with orientations on the shorter arcs between those of `poses` (T, L, 7).

    An orientation at fraction 0 is copied as it is; all others have unit length.
    """
    if is_small(_slerp, len(before) * poses.shape[1]):
        after, q = np.minimum(before + 1, len(poses) - 1), poses[..., 3:]
        mixed = rotations.slerp(q[before], q[after], fraction[:, None])
        out[..., 3:] = np.where(fraction[:, None, None] == 0.0, q[before], mixed)
        return
    table = as_rows(poses, poses.shape)
    in_slices(len(before), lambda a, b: _slerp(table, before[a:b], fraction[a:b], out[a:b]))


@np.errstate(all="ignore")
def unit_quaternions(quaternions: Floats) -> Floats:
    """Return quaternions (T, L, 4) scaled to unit length, each with the sign that is nearer to the frame before."""
    if is_small(_unit_quaternions, quaternions.size):
        units = rotations.normalized(quaternions)
        side = np.sum(units[1:] * units[:-1], axis=-1)
        if (side != 0.0).all():
            units[1:] *= np.cumprod(np.sign(side), axis=0)[..., None]
            return units
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
    """Fill in the sums with the weights sin((1−t)Ω)/sin Ω and sin(tΩ)/sin Ω (Shoemake, 1985).

    With x = cos Ω − 1, sin(tΩ)/sin Ω = t·(1 + a₁x + a₂x² + …), aᵢ = aᵢ₋₁·(t² − i²)/(i·(2i + 1)) (Eberly, 2011). x = −|b − a|²/2 has its
    full precision for near orientations, and the series needs neither roots nor angles.
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
            if apart < MAX_SERIES_DISTANCE:
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


@np.errstate(all="ignore")
def spline_slopes(values: Floats, gaps: Floats) -> Floats:
    """Return the slopes (T, P) of the cubic spline through rows (T, P) that are `gaps` (T - 1,) apart.

    Its first and second derivatives are continuous; at the second row and at the last but one its third derivative is, too ("not a
    knot", de Boor, 1978). Through three rows it is a parabola, through two a line.
    """
    slopes = np.zeros(values.shape)
    if len(values) > 1:
        work = interpreted(_spline_slopes) if is_small(_spline_slopes, 8 * values.size) else _spline_slopes
        work(as_rows(values, values.shape), gaps, slopes)
    return slopes


@np.errstate(all="ignore")
def pchip_slopes(values: Floats, gaps: Floats) -> Floats:
    """Return the slopes (T, P) of the cubics through rows (T, P) that never leave the range of the two rows they run between.

    Between rising and falling the slope is 0, elsewhere the weighted harmonic mean of the slopes on both sides (Fritsch and Butland, 1984);
    at the ends a three-point estimate that keeps the shape (Moler, 2004).
    """
    slopes = np.zeros(values.shape)
    if len(values) > 2 and is_small(_pchip_slopes, values.size):
        return _small_pchip_slopes(values, gaps)
    if len(values) > 1:
        _pchip_slopes(as_rows(values, values.shape), gaps, slopes)
    return slopes


def _small_pchip_slopes(values: Floats, gaps: Floats) -> Floats:
    """Return what `pchip_slopes` returns, with NumPy, for at least three rows."""
    rises = np.diff(values, axis=0) / gaps[:, None]
    before, after = gaps[:-1, None], gaps[1:, None]
    w0, w1 = 2.0 * after + before, after + 2.0 * before
    m0, m1 = rises[:-1], rises[1:]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inner = np.where(((m0 > 0) & (m1 > 0)) | ((m0 < 0) & (m1 < 0)), (w0 + w1) / (w0 / m0 + w1 / m1), 0.0)
    ends = [_end_slopes(gaps[near], gaps[far], rises[near], rises[far]) for near, far in ((0, 1), (-1, -2))]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _end_slopes(near: float, far: float, m_near: Floats, m_far: Floats) -> Floats:
    """Return what `_end_slope` returns, for arrays."""
    slope = ((2.0 * near + far) * m_near - near * m_far) / (near + far)
    limited = np.where((m_near * m_far <= 0.0) & (np.abs(slope) > 3.0 * np.abs(m_near)), 3.0 * m_near, slope)
    return np.where(slope * m_near <= 0.0, 0.0, limited)


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
            second = (m1 - m0) / (gaps[0] + gaps[1])
            slopes[0, p] = m0 - gaps[0] * second
            slopes[1, p] = m0 + gaps[0] * second
            slopes[2, p] = m1 + gaps[1] * second
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
