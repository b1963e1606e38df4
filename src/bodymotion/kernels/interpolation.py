"""Rows between rows: straight lines, cubics and their slopes, SLERP, and low-pass filters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import as_rows, in_slices, is_small, kernel
from bodymotion.kernels.kinematics import Indices, unit_pose

MAX_SERIES_DISTANCE = 0.24
"""Squared distance of two unit quaternions (rotations 28° apart) up to which SLERP is computed by a power series."""

TERMS = 12
"""Terms of that series; the first one left out is below 1e-16."""


def lines(values: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill `out` (N, P) with rows on the straight lines between rows (T, P)."""

    def work(a: int, b: int) -> None:
        i, f = before[a:b], fraction[a:b, None]
        after = np.minimum(i + 1, len(values) - 1)
        out[a:b] = np.where(f == 0.0, values[i], values[i] + f * (values[after] - values[i]))

    in_slices(len(before), work)


def hermite(values: Floats, slopes: Floats, gaps: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill `out` (N, P) with rows on the cubics between rows (T, P) that have `slopes` (T, P) there and are `gaps` (T - 1,) apart."""

    def work(a: int, b: int) -> None:
        i, f = before[a:b], fraction[a:b, None]
        after, gap = np.minimum(i + 1, len(values) - 1), gaps[np.minimum(i, len(gaps) - 1), None]
        first = values[i]
        found = values[after]
        found -= first
        found *= f * f * (3.0 - 2.0 * f)
        found += first
        found += f * (1.0 - f) ** 2 * gap * slopes[i]
        found += -f * f * (1.0 - f) * gap * slopes[after]
        np.copyto(found, first, where=f == 0.0)
        out[a:b] = found

    in_slices(len(before), work)


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


@kernel
def _slerp(poses: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill in the sums with the weights sin((1−t)Ω)/sin Ω and sin(tΩ)/sin Ω (Shoemake, 1985).

    With x = cos Ω − 1, sin(tΩ)/sin Ω = t·(1 + a₁x + a₂x² + …), aᵢ = aᵢ₋₁·(t² − i²)/(i·(2i + 1)) (Eberly, 2011). x = −|b − a|²/2 has its
    full precision for near orientations, and the series needs neither roots nor angles.
    """
    a = np.empty(7)
    b = np.empty(7)
    for n in range(before.shape[0]):
        i = before[n]
        t = fraction[n]
        for link in range(poses.shape[1]):
            if t == 0.0:
                for k in range(3, 7):
                    out[n, link, k] = poses[i, link, k]
                continue
            unit_pose(poses[i, link], a)
            unit_pose(poses[i + 1, link], b)
            if a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6] < 0.0:
                for k in range(3, 7):
                    b[k] = -b[k]
            apart = 0.0
            for k in range(3, 7):
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
                for k in range(3, 7):
                    sum_square += (b[k] + a[k]) * (b[k] + a[k])
                omega = 2.0 * np.arctan2(np.sqrt(apart), np.sqrt(sum_square))
                sine = np.sin(omega)
                weight_a = np.sin(s * omega) / sine
                weight_b = np.sin(t * omega) / sine
            square = 0.0
            for k in range(3, 7):
                a[k] = weight_a * a[k] + weight_b * b[k]
                square += a[k] * a[k]
            scale = 1.0 / np.sqrt(square)
            for k in range(3, 7):
                out[n, link, k] = a[k] * scale


def unit_quaternions(quaternions: Floats) -> Floats:
    """Return quaternions (T, L, 4) scaled to unit length, each with the sign that is nearer to the frame before."""
    units = rotations.normalized(quaternions)
    side = np.sum(units[1:] * units[:-1], axis=-1)
    flips = np.cumsum(side < 0.0, axis=0)
    # One at a right angle to the frame before keeps its sign.
    flips -= np.maximum.accumulate(np.where(side == 0.0, flips, 0), axis=0)
    units[1:] *= np.where(flips % 2, -1.0, 1.0)[..., None]
    return units


def filtered(values: Floats, taps: Floats, step: int) -> Floats:
    """Return the sums (N, P) of `taps` (K,) over K rows of (T, P), from every `step`-th row on: N = (T - K) // step + 1."""
    count = (len(values) - len(taps)) // step + 1
    out = np.zeros((count, values.shape[1]))

    def work(a: int, b: int) -> None:
        for j, tap in enumerate(taps):
            out[a:b] += tap * values[a * step + j : (b - 1) * step + j + 1 : step]

    in_slices(count, work, few=64)
    return out


def block_tridiagonal(lower: Floats, diagonal: Floats, upper: Floats) -> Callable[[Floats], Floats]:
    """Return the function that solves lower_i·x_(i−1) + diagonal_i·x_i + upper_i·x_(i+1) = b_i, i = 0 … N − 1, for b (N, …, k, m).

    The blocks are (N, …, k, k), N > 0; the first lower and the last upper one are not used. Cyclic reduction (Buzbee, Golub and Nielson,
    1970): all odd rows are eliminated at once, and what is left is a system of the same kind for the even ones.
    """
    inverse = _inverse(diagonal[1::2])
    odd, later = len(inverse), len(diagonal) - len(inverse) - 1
    if not odd:
        whole = _inverse(diagonal)
        return lambda b: np.asarray(whole @ b)
    near, far = lower[1::2], upper[1::2]
    before, after = lower[2::2] @ inverse[:later], upper[: 2 * odd : 2] @ inverse
    middle, (low, high) = np.array(diagonal[::2]), np.zeros((2, *diagonal[::2].shape))
    middle[1:] -= before @ far[:later]
    middle[:odd] -= after @ near
    low[1:], high[:odd] = -before @ near[:later], -after @ far
    solve_even = block_tridiagonal(low, middle, high)

    def solve(b: Floats) -> Floats:
        even, rest, x = np.array(b[::2]), np.array(b[1::2]), np.empty(b.shape)
        even[1:] -= before @ rest[:later]
        even[:odd] -= after @ rest
        x[::2] = even = solve_even(even)
        rest -= near @ even[:odd]
        rest[:later] -= far[:later] @ even[1:]
        x[1::2] = inverse @ rest
        return x

    return solve


def _inverse(blocks: Floats) -> Floats:
    """Return the inverses of blocks (..., k, k); NaN where one has none, as between times that are 1e16 times as far apart as others."""
    try:
        return np.asarray(np.linalg.inv(blocks))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.inv(np.where(np.linalg.det(blocks)[..., None, None] == 0.0, np.nan, blocks)))


@np.errstate(all="ignore")
def spline_slopes(values: Floats, gaps: Floats) -> Floats:
    """Return the slopes (T, P) of the cubic spline through rows (T, P) that are `gaps` (T - 1,) apart.

    Its first and second derivatives are continuous; at the second row and at the last but one its third derivative is, too ("not a
    knot", de Boor, 1978). Through three rows it is a parabola, through two a line.
    """
    if len(values) < 2:
        return np.zeros(values.shape)
    gap = gaps[:, None]
    rises = np.diff(values, axis=0) / gap
    if len(values) == 2:
        return np.repeat(rises, 2, axis=0)
    if len(values) == 3:
        bend = (rises[1] - rises[0]) / (gap[0] + gap[1])
        return np.stack([rises[0] - gap[0] * bend, rises[0] + gap[0] * bend, rises[1] + gap[1] * bend])
    both = gap[:-1] + gap[1:]
    right = np.empty(values.shape)
    right[1:-1] = 3.0 * (gap[1:] * rises[:-1] + gap[:-1] * rises[1:])
    for end, near, far in ((0, 0, 1), (-1, -1, -2)):
        steep = (gap[near] + 2.0 * both[end]) * gap[far] * rises[near] + gap[near] ** 2 * rises[far]
        right[end] = steep / both[end]
    lower, diagonal = np.concatenate([gap[:1], gap[1:], both[-1:]]), np.concatenate([gap[1:2], 2.0 * both, gap[-2:-1]])
    upper = np.concatenate([both[:1], gap[:-1], gap[-1:]])
    return block_tridiagonal(lower[..., None], diagonal[..., None], upper[..., None])(right[:, None])[:, 0]


@np.errstate(all="ignore")
def pchip_slopes(values: Floats, gaps: Floats) -> Floats:
    """Return the slopes (T, P) of the cubics through rows (T, P) that never leave the range of the two rows they run between.

    Between rising and falling the slope is 0, elsewhere the weighted harmonic mean of the slopes on both sides (Fritsch and Butland, 1984);
    at the ends a three-point estimate that keeps the shape (Moler, 2004).
    """
    if len(values) < 2:
        return np.zeros(values.shape)
    rises = np.diff(values, axis=0) / gaps[:, None]
    if len(values) == 2:
        return np.repeat(rises, 2, axis=0)
    before, after = gaps[:-1, None], gaps[1:, None]
    w0, w1 = 2.0 * after + before, after + 2.0 * before
    m0, m1 = rises[:-1], rises[1:]
    inner = np.where(((m0 > 0) & (m1 > 0)) | ((m0 < 0) & (m1 < 0)), (w0 + w1) / (w0 / m0 + w1 / m1), 0.0)
    ends = [_end_slopes(gaps[near], gaps[far], rises[near], rises[far]) for near, far in ((0, 1), (-1, -2))]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _end_slopes(near: float, far: float, m_near: Floats, m_far: Floats) -> Floats:
    """Return the slopes (P,) at an end from the rises (P,) in the intervals `near` it and `far` from it."""
    slope = ((2.0 * near + far) * m_near - near * m_far) / (near + far)
    limited = np.where((m_near * m_far <= 0.0) & (np.abs(slope) > 3.0 * np.abs(m_near)), 3.0 * m_near, slope)
    return np.where(slope * m_near <= 0.0, 0.0, limited)
