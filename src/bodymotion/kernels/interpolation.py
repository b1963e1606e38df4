"""Interpolate between rows.

Straight lines, cubics and their slopes, SLERP, smooth curves through orientations, and
low-pass filters.
"""

from collections.abc import Callable

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.kernels.compiling import as_rows, in_slices, is_small, kernel
from bodymotion.kernels.kinematics import unit_pose

# Squared distance of two unit quaternions (rotations 28° apart) up to which SLERP is
# computed by a power series.
MAX_SERIES_DISTANCE = 0.24

TERMS = 12  # Terms of that series; the first one left out is below 1e-16.


def lines(values: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill `out` (N, P) with rows on the straight lines between rows (T, P)."""

    def work(a: int, b: int) -> None:
        i = before[a:b]
        f = fraction[a:b, None]
        after = np.minimum(i + 1, len(values) - 1)
        # A row at its own time is copied: with the formula, a value that is not finite
        # in the next row would spoil it (0 · inf = NaN).
        out[a:b] = np.where(
            f == 0.0, values[i], values[i] + f * (values[after] - values[i])
        )

    in_slices(len(before), work)


def hermite(
    values: Floats,
    slopes: Floats,
    gaps: Floats,
    before: Indices,
    fraction: Floats,
    out: Floats,
) -> None:
    """Fill `out` (N, P) with rows on the cubics between rows.

    Rows (T, P) have `slopes` (T, P) and are `gaps` (T - 1,) apart.
    """

    def work(a: int, b: int) -> None:
        i = before[a:b]
        f = fraction[a:b, None]
        after = np.minimum(i + 1, len(values) - 1)
        # The last row has no gap after it; its fraction is 0, so that any will do.
        gap = gaps[np.minimum(i, len(gaps) - 1), None]
        # Hermite's cubic: y₀ + f²·(3 − 2f)·(y₁ − y₀) + f·(1 − f)²·h·m₀ − f²·(1 −
        # f)·h·m₁. It is computed in place, as the arrays are large.
        first = values[i]
        found = values[after]
        found -= first
        found *= f * f * (3.0 - 2.0 * f)
        found += first
        found += f * (1.0 - f) ** 2 * gap * slopes[i]
        found += -f * f * (1.0 - f) * gap * slopes[after]
        # At a row's own time it is copied, as for `lines`.
        np.copyto(found, first, where=f == 0.0)
        out[a:b] = found

    in_slices(len(before), work)


@np.errstate(all="ignore")
def slerp(poses: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill `out` (N, L, 7), contiguous, with poses between `poses` (T, L, 7).

    Positions on lines, orientations on the shorter arcs.

    A pose at fraction 0 is copied as it is; all other quaternions have unit length.
    """
    if is_small(_slerp, len(before) * poses.shape[1]):
        # Few poses: NumPy instead of compiled code.
        q = poses[..., 3:]
        # Only poses between frames are mixed; the others stay as they are, not
        # normalized.
        mixed = fraction != 0.0
        first = before[mixed]
        lines(
            poses.reshape(len(poses), -1), before, fraction, out.reshape(len(out), -1)
        )
        out[mixed, :, 3:] = rotations.slerp(
            q[first], q[first + 1], fraction[mixed, None]
        )
        return
    # Several threads share the rows of `out`.
    table = as_rows(poses, poses.shape)
    in_slices(
        len(before), lambda a, b: _slerp(table, before[a:b], fraction[a:b], out[a:b])
    )


@kernel
def _slerp(poses: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill in positions, and sums of quaternions.

    Their weights are sin((1−t)Ω)/sin Ω and sin(tΩ)/sin Ω (Shoemake, 1985).

    With x = cos Ω − 1, sin(tΩ)/sin Ω = t·(1 + a₁x + a₂x² + …), aᵢ = aᵢ₋₁·(t² −
    i²)/(i·(2i + 1)) (Eberly, 2011). x = −|b − a|²/2 has its full precision for near
    orientations, and the series needs neither roots nor angles.
    """
    a = np.empty(7)
    b = np.empty(7)
    for n in range(before.shape[0]):
        i = before[n]
        t = fraction[n]
        for link in range(poses.shape[1]):
            if t == 0.0:
                for k in range(7):
                    out[n, link, k] = poses[i, link, k]
                continue
            unit_pose(poses[i, link], a)
            unit_pose(poses[i + 1, link], b)
            for k in range(3):
                out[n, link, k] = a[k] + t * (b[k] - a[k])
            # q and −q are one orientation: the nearer sign gives the shorter arc.
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
                # Horner's scheme, from the last term on: aᵢ/aᵢ₋₁ = u·t² − v.
                for m in range(TERMS, 0, -1):
                    u = 1.0 / (m * (2.0 * m + 1.0))
                    v = m / (2.0 * m + 1.0)
                    weight_a = 1.0 + (u * s * s - v) * x * weight_a
                    weight_b = 1.0 + (u * t * t - v) * x * weight_b
                weight_a *= s
                weight_b *= t
            else:
                # Ω = 2·atan2(|b − a|, |b + a|) is exact for near and for opposite
                # orientations, where the arc cosine of the dot product is not.
                sum_square = 0.0
                for k in range(3, 7):
                    sum_square += (b[k] + a[k]) * (b[k] + a[k])
                omega = 2.0 * np.arctan2(np.sqrt(apart), np.sqrt(sum_square))
                sine = np.sin(omega)
                weight_a = np.sin(s * omega) / sine
                weight_b = np.sin(t * omega) / sine
            # The sum has unit length but for rounding; scaling it keeps errors from
            # adding up.
            square = 0.0
            for k in range(3, 7):
                a[k] = weight_a * a[k] + weight_b * b[k]
                square += a[k] * a[k]
            scale = 1.0 / np.sqrt(square)
            for k in range(3, 7):
                out[n, link, k] = a[k] * scale


def unit_quaternions(quaternions: Floats) -> Floats:
    """Return quaternions (T, L, 4) scaled to unit length.

    Each has the sign that is nearer to the frame before; one at a right angle to that
    keeps the sign it came with. Unusable ones become the identity.
    """
    units = rotations.normalized(quaternions)
    # Negative where a quaternion's sign differs from that of the frame before.
    side = np.sum(units[1:] * units[:-1], axis=-1)
    # The sign of a frame depends on the number of changes up to it.
    flips = np.cumsum(side < 0.0, axis=0)
    # One at a right angle to the frame before keeps its sign.
    flips -= np.maximum.accumulate(np.where(side == 0.0, flips, 0), axis=0)
    units[1:] *= np.where(flips % 2, -1.0, 1.0)[..., None]
    return units


def filtered(values: Floats, taps: Floats, step: int) -> Floats:
    """Return the sums (N, P) of `taps` (K,) over K rows of (T, P).

    They are taken from every `step`-th row on.

    N = (T - K) // step + 1.
    """
    count = (len(values) - len(taps)) // step + 1
    out = np.zeros((count, values.shape[1]))

    def work(a: int, b: int) -> None:
        # One tap at a time over all rows: a few long additions instead of many short
        # ones.
        for j, tap in enumerate(taps):
            out[a:b] += tap * values[a * step + j : (b - 1) * step + j + 1 : step]

    # Several threads help from about a million multiplications on.
    in_slices(
        count,
        work,
        one_thread=max(1_000_000 // max(len(taps) * values.shape[1], 1), 64),
    )
    return out


def block_tridiagonal(
    lower: Floats, diagonal: Floats, upper: Floats
) -> Callable[[Floats], Floats]:
    """Return the function that solves a block tridiagonal system.

    It solves lower_i·x_(i−1) + diagonal_i·x_i + upper_i·x_(i+1) = b_i, i = 0 … N − 1,
    for b (N, …, k, m).

    The blocks are (N, …, k, k), N > 0; the first lower and the last upper one are not
    used. Cyclic reduction (Buzbee, Golub and Nielson,
    1970): all odd rows are eliminated at once, and what is left is a system of the same
    kind for the even ones.
    """
    # Odd rows: x_i = D_i⁻¹·(b_i − lower_i·x_(i−1) − upper_i·x_(i+1)).
    inverse = _inverse(diagonal[1::2])
    odd = len(inverse)
    # Even rows after the first: each has an odd row before it.
    later = len(diagonal) - len(inverse) - 1
    if not odd:
        whole = _inverse(diagonal)
        return lambda b: np.asarray(whole @ b)
    # Couplings of odd rows with the even rows on both sides.
    near = lower[1::2]
    far = upper[1::2]
    # Factors with which odd rows are subtracted from the even rows after and before
    # them.
    before = lower[2::2] @ inverse[:later]
    after = upper[: 2 * odd : 2] @ inverse
    # The system of the even rows, with half as many blocks.
    middle, (low, high) = np.array(diagonal[::2]), np.zeros((2, *diagonal[::2].shape))
    middle[1:] -= before @ far[:later]
    middle[:odd] -= after @ near
    low[1:], high[:odd] = -before @ near[:later], -after @ far
    solve_even = block_tridiagonal(low, middle, high)

    def solve(b: Floats) -> Floats:
        # Forward: eliminate the odd rows from the right sides.
        even = np.array(b[::2])
        rest = np.array(b[1::2])
        x = np.empty(b.shape)
        even[1:] -= before @ rest[:later]
        even[:odd] -= after @ rest
        x[::2] = even = solve_even(even)
        # Back: the odd rows from the even ones on both sides.
        rest -= near @ even[:odd]
        rest[:later] -= far[:later] @ even[1:]
        x[1::2] = inverse @ rest
        return x

    return solve


def _inverse(blocks: Floats) -> Floats:
    """Return the inverses of blocks (..., k, k).

    NaN where one has none, as between times that are 1e16 times as far apart as others.
    """
    try:
        return np.asarray(np.linalg.inv(blocks))
    except np.linalg.LinAlgError:
        return np.asarray(
            np.linalg.inv(
                np.where(np.linalg.det(blocks)[..., None, None] == 0.0, np.nan, blocks)
            )
        )


@np.errstate(all="ignore")
def spline_slopes(values: Floats, gaps: Floats) -> Floats:
    """Return the slopes (T, P) of the cubic spline through rows (T, P).

    The rows are `gaps` (T - 1,) apart.

    Its first and second derivatives are continuous; at the second row and at the last
    but one its third derivative is, too ("not a knot", de Boor, 1978). Through three
    rows it is a parabola, through two a line.
    """
    if len(values) < 2:
        return np.zeros(values.shape)
    gap = gaps[:, None]
    rises = np.diff(values, axis=0) / gap
    if len(values) == 2:
        return np.repeat(rises, 2, axis=0)
    if len(values) == 3:
        # Half the second derivative of the parabola; r₀ is its slope amid the first gap.
        bend = (rises[1] - rises[0]) / (gap[0] + gap[1])
        return np.stack(
            [
                rises[0] - gap[0] * bend,
                rises[0] + gap[0] * bend,
                rises[1] + gap[1] * bend,
            ]
        )
    # Inner rows: h₁·m₀ + 2·(h₀ + h₁)·m₁ + h₀·m₂ = 3·(h₁·r₀ + h₀·r₁), r the slopes of
    # the chords: the second derivative is continuous.
    both = gap[:-1] + gap[1:]
    right = np.empty(values.shape)
    right[1:-1] = 3.0 * (gap[1:] * rises[:-1] + gap[:-1] * rises[1:])
    # "Not a knot" at both ends, reduced to two unknowns: h₁·m₀ + (h₀ + h₁)·m₁ = ((h₀ +
    # 2·(h₀ + h₁))·h₁·r₀ + h₀²·r₁)/(h₀ + h₁).
    for end, near, far in ((0, 0, 1), (-1, -1, -2)):
        steep = (gap[near] + 2.0 * both[end]) * gap[far] * rises[near] + gap[
            near
        ] ** 2 * rises[far]
        right[end] = steep / both[end]
    lower = np.concatenate([gap[:1], gap[1:], both[-1:]])
    diagonal = np.concatenate([gap[1:2], 2.0 * both, gap[-2:-1]])
    upper = np.concatenate([both[:1], gap[:-1], gap[-1:]])
    return block_tridiagonal(lower[..., None], diagonal[..., None], upper[..., None])(
        right[:, None]
    )[:, 0]


@np.errstate(all="ignore")
def pchip_slopes(values: Floats, gaps: Floats) -> Floats:
    """Return the slopes (T, P) of monotone cubics through rows (T, P).

    The cubics never leave the range of the two rows they run between.

    Between rising and falling the slope is 0, elsewhere the weighted harmonic mean of
    the slopes on both sides (Fritsch and Butland, 1984); at the ends a three-point
    estimate that keeps the shape (Moler, 2004).
    """
    if len(values) < 2:
        return np.zeros(values.shape)
    rises = np.diff(values, axis=0) / gaps[:, None]
    if len(values) == 2:
        return np.repeat(rises, 2, axis=0)
    before = gaps[:-1, None]
    after = gaps[1:, None]
    # Weights of the harmonic mean: the slope of the shorter interval counts more.
    w0 = 2.0 * after + before
    w1 = after + 2.0 * before
    m0 = rises[:-1]
    m1 = rises[1:]
    inner = np.where(
        ((m0 > 0) & (m1 > 0)) | ((m0 < 0) & (m1 < 0)),
        # Division by a slope of 0 is not chosen: the condition holds for equal signs
        # only.
        (w0 + w1) / (w0 / m0 + w1 / m1),
        0.0,
    )
    ends = [
        _end_slopes(gaps[near], gaps[far], rises[near], rises[far])
        for near, far in ((0, 1), (-1, -2))
    ]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _end_slopes(near: float, far: float, m_near: Floats, m_far: Floats) -> Floats:
    """Return the slopes (P,) at an end.

    Of the rises (P,) in the intervals `near` it and `far` from it.
    """
    # The slope at the end of the parabola through three rows.
    slope = ((2.0 * near + far) * m_near - near * m_far) / (near + far)
    # Where the curve turns in between, three times the chord's slope is the most that
    # keeps the cubic within its rows; a slope against the chord's would overshoot.
    limited = np.where(
        (m_near * m_far <= 0.0) & (np.abs(slope) > 3.0 * np.abs(m_near)),
        3.0 * m_near,
        slope,
    )
    return np.where(slope * m_near <= 0.0, 0.0, limited)


# A smooth curve through orientations: its angular velocity and angular acceleration are
# continuous.
#
# From orientation R₀ to R₁ in time h the curve is R₀·exp(θ(t)), θ a cubic with θ(0) =
# 0, θ(h) = φ = log(R₀⁻¹R₁). With ω the angular velocity in the body's frame and J(θ) =
# 1 − (1 − cos|θ|)/|θ|²·[θ] + (|θ| − sin|θ|)/|θ|³·[θ]² we have ω = J(θ)·θ'. So θ'(0) =
# ω₀, θ'(h) = J(φ)⁻¹·ω₁, and the angular acceleration is θ''(0) at the start and
# J(φ)·θ''(h) + J'·θ'(h) at the end. That the two agree at each inner orientation is a
# system of 3×3 blocks for the ω, with three blocks per row; the term with J' is
# nonlinear and is taken from the iteration before. At both ends ω is φ/h, unless it is
# prescribed.

# The curve passes through all orientations with a continuous ω after any number of
# iterations.
MAX_ITERATIONS = 10

TOLERANCE = 1e-12  # Relative change of ω at which the iteration ends.

MAX_BLOCKS = (
    200_000  # Frames times links that are solved together, which bounds the memory.
)


@np.errstate(all="ignore")
def angular_velocities(
    quaternions: Floats, gaps: Floats, ends: Floats | None = None
) -> Floats:
    """Return ω (T, L, 3) [rad/s] in each link's own frame.

    Of unit quaternions (T, L, 4), `gaps` (T - 1,) seconds apart.

    `ends` (2, L, 3): prescribed values at the first and the last of them.
    """
    rates = np.zeros((*quaternions.shape[:2], 3))
    some = max(MAX_BLOCKS // max(len(quaternions), 1), 1)
    for first in range(0, quaternions.shape[1] if len(gaps) else 0, some):
        part = slice(first, first + some)
        rates[:, part] = _velocities(
            quaternions[:, part], gaps, None if ends is None else ends[:, part]
        )
    return rates


def _velocities(quaternions: Floats, gaps: Floats, ends: Floats | None) -> Floats:
    """Return what `angular_velocities` returns, for at least two frames."""
    vectors = rotation_vectors(quaternions[:-1], quaternions[1:])
    gap = gaps[:, None, None]
    forward, back = jacobians(vectors)
    steps = vectors / gap
    # A first estimate: constant velocity in each interval; at both ends φ/h.
    rates = np.concatenate([steps[:1], steps])
    if ends is not None:
        rates[[0, -1]] = ends
    if len(gaps) == 1:
        return rates
    # Row i is that of orientation i + 1: J of the segment before it on its left, J⁻¹ of
    # the one after it on its right.
    left = 2.0 * forward[:-1] / gap[:-1, ..., None]
    right = 2.0 * back[1:] / gap[1:, ..., None]
    diagonal = 4.0 * (1.0 / gap[:-1] + 1.0 / gap[1:])[..., None] * np.eye(3)
    solve = block_tridiagonal(left, np.broadcast_to(diagonal, left.shape), right)
    # 6·(φ₀/h₀² + φ₁/h₁²) on the right; known velocities at both ends move there.
    scaled = vectors / (gap * gap)
    constant = 6.0 * (scaled[:-1] + scaled[1:])
    constant[0] -= applied(left[0], rates[0])
    constant[-1] -= applied(right[-1], rates[-1])
    for _ in range(MAX_ITERATIONS):
        # The nonlinear term, from the velocities of the iteration before.
        unsteady = _unsteady(vectors[:-1], applied(back[:-1], rates[1:-1]))
        found = solve((constant - unsteady)[..., None])[..., 0]
        converged = bool(
            (np.abs(found - rates[1:-1]) <= TOLERANCE * (1.0 + np.abs(found))).all()
        )
        rates[1:-1] = found
        if converged:
            break
    return rates


def rotation_curve(
    quaternions: Floats,
    rates: Floats,
    gaps: Floats,
    before: Indices,
    fraction: Floats,
    out: Floats,
) -> None:
    """Fill the quaternions of `out` (N, L, 7) with those on the curve.

    It goes through unit quaternions (T, L, 4) with angular velocities (T, L, 3).
    """

    def work(first: int, last: int) -> None:
        i = before[first:last]
        f = fraction[first:last, None, None]
        after = np.minimum(i + 1, len(quaternions) - 1)
        gap = gaps[np.minimum(i, len(gaps) - 1), None, None]
        vectors = rotation_vectors(quaternions[i], quaternions[after])
        # θ'(h) = J(φ)⁻¹·ω₁.
        end = applied(jacobians(vectors)[1], rates[after])
        g = 1.0 - f
        # Hermite's cubic from θ(0) = 0 to θ(h) = φ.
        theta = f * f * (3.0 - 2.0 * f) * vectors + gap * (
            f * g * g * rates[i] - f * f * g * end
        )
        turned = rotations.multiply(
            quaternions[i],
            rotations.from_axis_angle(theta, np.linalg.norm(theta, axis=-1)),
        )
        out[first:last, :, 3:] = np.where(f == 0.0, quaternions[i], turned)

    in_slices(len(before), work)


def applied(matrix: Floats, vectors: Floats) -> Floats:
    """Return the products (..., 3) of matrices (..., 3, 3) and vectors (..., 3)."""
    return np.asarray((matrix @ vectors[..., None])[..., 0])


def rotation_vectors(a: Floats, b: Floats) -> Floats:
    """Return log(a⁻¹·b) (..., 3).

    Axis times angle, along the shorter arc, in the frame of a.
    """
    axis, angle = rotations.to_axis_angle(rotations.multiply(rotations.conjugate(a), b))
    return np.asarray(axis * angle[..., None])


def jacobians(vectors: Floats) -> tuple[Floats, Floats]:
    """Return J(φ) and J(φ)⁻¹ (..., 3, 3) of vectors φ (..., 3).

    J(φ)⁻¹ = 1 + ½·[φ] + c·[φ]², c = (1 − ½|φ|·cot(½|φ|))/|φ|².
    """
    square = np.sum(vectors * vectors, axis=-1)[..., None, None]
    # Below this the closed forms lose digits by cancellation; their series are exact.
    near = square < 1e-3
    safe = np.where(near, 1.0, square)
    angle = np.sqrt(safe)
    # a = (1 − cos φ)/φ².
    a = np.where(
        near,
        0.5 - square / 24.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0)),
        (1.0 - np.cos(angle)) / safe,
    )
    # b = (φ − sin φ)/φ³.
    b = np.where(
        near,
        1.0 / 6.0 - square / 120.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0)),
        (angle - np.sin(angle)) / (safe * angle),
    )
    c = np.where(
        near,
        1.0 / 12.0 + square / 720.0 * (1.0 + square / 42.0 * (1.0 + square / 40.0)),
        (1.0 - 0.5 * angle * np.cos(0.5 * angle) / np.sin(0.5 * angle)) / safe,
    )
    x, y, z = np.moveaxis(vectors, -1, 0)
    # [φ] (..., 3, 3), the matrix of the cross product.
    zero = np.zeros_like(x)
    skew = np.stack(
        [
            np.stack([zero, -z, y], axis=-1),
            np.stack([z, zero, -x], axis=-1),
            np.stack([-y, x, zero], axis=-1),
        ],
        axis=-2,
    )
    twice = skew @ skew
    return np.eye(3) - a * skew + b * twice, np.eye(3) + 0.5 * skew + c * twice


def _unsteady(vectors: Floats, speeds: Floats) -> Floats:
    """Return J'·θ' (..., 3) at θ = φ (..., 3), θ' = `speeds` (..., 3)."""
    square = np.sum(vectors * vectors, axis=-1, keepdims=True)
    # As in `jacobians`; these quotients lose more digits, so the series is used for
    # longer.
    near = square < 1e-2
    safe = np.where(near, 1.0, square)
    angle = np.sqrt(safe)
    sine = np.sin(angle)
    cosine = np.cos(angle)
    # Derivatives of a and b by the angle, divided by it.
    a_rate = np.where(
        near,
        -1.0 / 12.0 + square / 180.0 * (1.0 - square * 3.0 / 112.0),
        (angle * sine - 2.0 * (1.0 - cosine)) / (safe * safe),
    )
    b = np.where(
        near,
        1.0 / 6.0 - square / 120.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0)),
        (angle - sine) / (safe * angle),
    )
    b_rate = np.where(
        near,
        -1.0 / 60.0 + square / 1260.0 * (1.0 - square / 48.0),
        (3.0 * sine - angle * cosine - 2.0 * angle) / (safe * safe * angle),
    )
    # J = 1 − a·[θ] + b·[θ]², and [θ']·θ' = 0, so J'·θ' =
    # −a'·[θ]·θ' + b'·[θ]²·θ' + b·[θ']·[θ]·θ', with a' = `a_rate`·(θ·θ') and so b'.
    along = np.sum(vectors * speeds, axis=-1, keepdims=True)
    across = np.cross(vectors, speeds)
    twice = np.cross(vectors, across)
    return np.asarray(
        -a_rate * along * across + b_rate * along * twice + b * np.cross(speeds, across)
    )
