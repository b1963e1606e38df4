"""A smooth curve through orientations: its angular velocity and angular acceleration are continuous.

From orientation R₀ to R₁ in time h the curve is R₀·exp(θ(t)), θ a cubic with θ(0) = 0, θ(h) = φ = log(R₀⁻¹R₁). With ω the angular
velocity in the body's frame and J(θ) = 1 − (1 − cos|θ|)/|θ|²·[θ] + (|θ| − sin|θ|)/|θ|³·[θ]² we have ω = J(θ)·θ'. So θ'(0) = ω₀,
θ'(h) = J(φ)⁻¹·ω₁, and the angular acceleration is θ''(0) at the start and J(φ)·θ''(h) + J'·θ'(h) at the end. That the two agree at each
inner orientation is a system of 3×3 blocks for the ω, with three blocks per row; the term with J' is nonlinear and is taken from the
iteration before. At both ends ω is φ/h, unless it is prescribed.
"""

from __future__ import annotations

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import as_rows, in_slices, inlined, is_small, kernel
from bodymotion.kernels.kinematics import Indices

MAX_ITERATIONS = 10
"""The curve passes through all orientations with a continuous ω after any number of iterations."""

TOLERANCE = 1e-12
"""Relative change of ω at which the iteration ends."""


@np.errstate(all="ignore")
def angular_velocities(quaternions: Floats, gaps: Floats, ends: Floats | None = None) -> Floats:
    """Return ω (T, L, 3) [rad/s] in each link's own frame, of unit quaternions (T, L, 4), `gaps` (T - 1,) seconds apart.

    `ends` (2, L, 3): prescribed values at the first and the last of them.
    """
    quaternions = as_rows(quaternions, quaternions.shape)
    rates = np.zeros((*quaternions.shape[:2], 3))
    given = ends is not None and len(gaps) > 0
    if ends is not None and given:
        rates[0], rates[-1] = ends
    if len(gaps) and is_small(_velocities, 40 * len(gaps) * quaternions.shape[1]):
        for link in range(quaternions.shape[1]):
            rates[:, link] = _small_velocities(quaternions[:, link], gaps, rates[:, link], given)
    elif len(gaps):

        def work(start: int, stop: int) -> None:
            for link in range(start, stop):
                _velocities(quaternions, link, gaps, given, rates)

        in_slices(quaternions.shape[1], work, few=1)
    return rates


@np.errstate(all="ignore")
def curve(quaternions: Floats, rates: Floats, gaps: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill the quaternions of `out` (N, L, 7) with those on the curve through unit ones (T, L, 4) with angular velocities (T, L, 3)."""
    if is_small(_curve, 4 * len(before) * quaternions.shape[1]):
        out[..., 3:] = _small_curve(quaternions, rates, gaps, before, fraction)
        return
    quaternions, rates = as_rows(quaternions, quaternions.shape), as_rows(rates, rates.shape)
    in_slices(len(before), lambda a, b: _curve(quaternions, rates, gaps, before[a:b], fraction[a:b], out[a:b]))


def _small_velocities(quaternions: Floats, gaps: Floats, ends: Floats, given: bool) -> Floats:
    """Return ω (T, 3) of one link, with NumPy; where `given`, its first and last rows are those of `ends`."""
    vectors = _vectors_between(quaternions[:-1], quaternions[1:])
    forward, back = _left_jacobians(vectors)
    steps = vectors / gaps[:, None]
    rates = np.concatenate([steps[:1], steps])
    if given:
        rates[[0, -1]] = ends[[0, -1]]
    if len(gaps) == 1:
        return rates
    # Row i is that of orientation i + 1: J of the segment before it on its left, J⁻¹ of the one after it on its right.
    left, right = 2.0 * forward[:-1] / gaps[:-1, None, None], 2.0 * back[1:] / gaps[1:, None, None]
    diagonal = 4.0 * (1.0 / gaps[:-1] + 1.0 / gaps[1:])
    inner = len(diagonal)
    pivots, above = np.empty((2, inner, 3, 3))
    for i in range(inner):
        block = diagonal[i] * np.eye(3)
        pivots[i] = np.linalg.inv(block - left[i] @ above[i - 1] if i else block)
        above[i] = pivots[i] @ right[i]
    scaled = vectors / (gaps * gaps)[:, None]
    constant = 6.0 * (scaled[:-1] + scaled[1:])
    constant[-1] -= right[-1] @ rates[-1]
    reduced = pivots @ left
    for _ in range(MAX_ITERATIONS):
        speed = np.einsum("nij,nj->ni", back[:-1], rates[1:-1])
        sides = np.einsum("nij,nj->ni", pivots, constant - _small_unsteady(vectors[:-1], speed))
        found = np.empty((inner, 3))
        before = rates[0]
        for i in range(inner):
            found[i] = before = sides[i] - reduced[i] @ before
        for i in range(inner - 2, -1, -1):
            found[i] -= above[i] @ found[i + 1]
        converged = bool((np.abs(found - rates[1:-1]) <= TOLERANCE * (1.0 + np.abs(found))).all())
        rates[1:-1] = found
        if converged:
            break
    return rates


def _small_curve(quaternions: Floats, rates: Floats, gaps: Floats, before: Indices, fraction: Floats) -> Floats:
    """Return the quaternions (N, L, 4) that `curve` fills in, with NumPy."""
    after = np.minimum(before + 1, len(quaternions) - 1)
    f, gap = fraction[:, None, None], gaps[np.minimum(before, len(gaps) - 1), None, None]
    vectors = _vectors_between(quaternions[before], quaternions[after])
    end = np.einsum("nlij,nlj->nli", _left_jacobians(vectors)[1], rates[after])
    g = 1.0 - f
    theta = f * f * (3.0 - 2.0 * f) * vectors + gap * (f * g * g * rates[before] - f * f * g * end)
    turned = rotations.multiply(quaternions[before], rotations.from_axis_angle(theta, np.linalg.norm(theta, axis=-1)))
    return np.where(f == 0.0, quaternions[before], turned)


def _vectors_between(a: Floats, b: Floats) -> Floats:
    """Return log(a⁻¹·b) (..., 3), as `_rotation_between`."""
    axis, angle = rotations.to_axis_angle(rotations.multiply(rotations.conjugate(a), b))
    return np.asarray(axis * angle[..., None])


def _left_jacobians(vectors: Floats) -> tuple[Floats, Floats]:
    """Return J(φ) and J(φ)⁻¹ (..., 3, 3) of vectors φ (..., 3), as `_jacobians`."""
    square = np.sum(vectors * vectors, axis=-1)[..., None, None]
    near = square < 1e-3
    safe = np.where(near, 1.0, square)
    angle = np.sqrt(safe)
    a = np.where(
        near, 0.5 - square / 24.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0)), (1.0 - np.cos(angle)) / safe
    )
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
    zero = np.zeros_like(x)
    skew = np.stack(
        [np.stack([zero, -z, y], axis=-1), np.stack([z, zero, -x], axis=-1), np.stack([-y, x, zero], axis=-1)], axis=-2
    )
    twice = skew @ skew
    return np.eye(3) - a * skew + b * twice, np.eye(3) + 0.5 * skew + c * twice


def _small_unsteady(vectors: Floats, speeds: Floats) -> Floats:
    """Return J'·θ' (N, 3), as `_unsteady`."""
    square = np.sum(vectors * vectors, axis=-1)[:, None]
    near = square < 1e-2
    safe = np.where(near, 1.0, square)
    angle = np.sqrt(safe)
    sine, cosine = np.sin(angle), np.cos(angle)
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
    along = np.sum(vectors * speeds, axis=-1)[:, None]
    across = np.cross(vectors, speeds)
    return np.asarray(
        -a_rate * along * across + b_rate * along * np.cross(vectors, across) + b * np.cross(speeds, across)
    )


@inlined
def _rotation_between(a: Floats, b: Floats, phi: Floats) -> None:
    """Fill `phi` with log(a⁻¹·b): axis times angle, along the shorter arc, in the frame of a."""
    w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    x = a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2]
    y = a[0] * b[2] + a[1] * b[3] - a[2] * b[0] - a[3] * b[1]
    z = a[0] * b[3] - a[1] * b[2] + a[2] * b[1] - a[3] * b[0]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = np.sqrt(x * x + y * y + z * z)
    scale = 2.0 * np.arctan2(sine, w) / sine if sine > 1e-300 else 2.0
    phi[0] = scale * x
    phi[1] = scale * y
    phi[2] = scale * z


@inlined
def _jacobians(phi: Floats, matrix: Floats, inverse: Floats) -> None:
    """Fill J(φ) and J(φ)⁻¹ = 1 + ½·[φ] + c·[φ]², c = (1 − ½|φ|·cot(½|φ|))/|φ|²."""
    square = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    if square < 1e-3:
        a = 0.5 - square / 24.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0))
        b = 1.0 / 6.0 - square / 120.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0))
        c = 1.0 / 12.0 + square / 720.0 * (1.0 + square / 42.0 * (1.0 + square / 40.0))
    else:
        angle = np.sqrt(square)
        a = (1.0 - np.cos(angle)) / square
        b = (angle - np.sin(angle)) / (square * angle)
        c = (1.0 - 0.5 * angle * np.cos(0.5 * angle) / np.sin(0.5 * angle)) / square
    for r in range(3):
        for k in range(3):
            twice = phi[r] * phi[k] - (square if r == k else 0.0)
            matrix[r, k] = (1.0 if r == k else 0.0) + b * twice
            inverse[r, k] = (1.0 if r == k else 0.0) + c * twice
    for r in range(3):
        s = (r + 1) % 3
        t = (r + 2) % 3
        # [φ] has −φ_t at (r, s) and φ_t at (s, r), for r s t in cyclic order.
        matrix[r, s] += a * phi[t]
        matrix[s, r] -= a * phi[t]
        inverse[r, s] -= 0.5 * phi[t]
        inverse[s, r] += 0.5 * phi[t]


@inlined
def _unsteady(phi: Floats, speed: Floats, out: Floats) -> None:
    """Fill J'·θ' at θ = φ, θ' = `speed`."""
    square = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    if square < 1e-2:
        a_rate = -1.0 / 12.0 + square / 180.0 * (1.0 - square * 3.0 / 112.0)
        b = 1.0 / 6.0 - square / 120.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0))
        b_rate = -1.0 / 60.0 + square / 1260.0 * (1.0 - square / 48.0)
    else:
        angle = np.sqrt(square)
        sine, cosine = np.sin(angle), np.cos(angle)
        a_rate = (angle * sine - 2.0 * (1.0 - cosine)) / (square * square)
        b = (angle - sine) / (square * angle)
        b_rate = (3.0 * sine - angle * cosine - 2.0 * angle) / (square * square * angle)
    along = phi[0] * speed[0] + phi[1] * speed[1] + phi[2] * speed[2]
    cx = phi[1] * speed[2] - phi[2] * speed[1]
    cy = phi[2] * speed[0] - phi[0] * speed[2]
    cz = phi[0] * speed[1] - phi[1] * speed[0]
    f = -a_rate * along
    g = b_rate * along
    out[0] = f * cx + g * (phi[1] * cz - phi[2] * cy) + b * (speed[1] * cz - speed[2] * cy)
    out[1] = f * cy + g * (phi[2] * cx - phi[0] * cz) + b * (speed[2] * cx - speed[0] * cz)
    out[2] = f * cz + g * (phi[0] * cy - phi[1] * cx) + b * (speed[0] * cy - speed[1] * cx)


@inlined
def _inverted(m: Floats, out: Floats) -> None:
    for r in range(3):
        for k in range(3):
            r1, r2, k1, k2 = (r + 1) % 3, (r + 2) % 3, (k + 1) % 3, (k + 2) % 3
            out[k, r] = m[r1, k1] * m[r2, k2] - m[r1, k2] * m[r2, k1]
    determinant = m[0, 0] * out[0, 0] + m[0, 1] * out[1, 0] + m[0, 2] * out[2, 0]
    for r in range(3):
        for k in range(3):
            out[r, k] /= determinant


@kernel
def _velocities(quaternions: Floats, link: int, gaps: Floats, given: bool, rates: Floats) -> None:
    segments = gaps.shape[0]
    phi = np.empty((segments, 3))
    jacobian = np.empty((segments, 3, 3))
    inverse = np.empty((segments, 3, 3))
    for i in range(segments):
        _rotation_between(quaternions[i, link], quaternions[i + 1, link], phi[i])
        _jacobians(phi[i], jacobian[i], inverse[i])
        for k in range(3):
            if i + 1 < segments or not given:
                rates[i + 1, link, k] = phi[i, k] / gaps[i]
    if not given:
        for k in range(3):
            rates[0, link, k] = phi[0, k] / gaps[0]
    if segments == 1:
        return
    inner = segments - 1
    pivots = np.empty((inner, 3, 3))
    above = np.empty((inner, 3, 3))
    block = np.empty((3, 3))
    # Row i stands for orientation i + 1: J of the segment before it on its left, J⁻¹ of the one after it on its right.
    for i in range(inner):
        for r in range(3):
            for k in range(3):
                block[r, k] = 4.0 * (1.0 / gaps[i] + 1.0 / gaps[i + 1]) if r == k else 0.0
                if i > 0:
                    for m in range(3):
                        block[r, k] -= 2.0 * jacobian[i, r, m] / gaps[i] * above[i - 1, m, k]
        _inverted(block, pivots[i])
        for r in range(3):
            for k in range(3):
                above[i, r, k] = 0.0
                for m in range(3):
                    above[i, r, k] += pivots[i, r, m] * inverse[i + 1, m, k] * 2.0 / gaps[i + 1]
    right = np.empty((inner, 3))
    speed = np.empty(3)
    unsteady = np.empty(3)
    side = np.empty(3)
    for _ in range(MAX_ITERATIONS):
        for i in range(inner):
            for r in range(3):
                speed[r] = 0.0
                for m in range(3):
                    speed[r] += inverse[i, r, m] * rates[i + 1, link, m]
            _unsteady(phi[i], speed, unsteady)
            for r in range(3):
                side[r] = (
                    6.0 * (phi[i, r] / (gaps[i] * gaps[i]) + phi[i + 1, r] / (gaps[i + 1] * gaps[i + 1])) - unsteady[r]
                )
                for m in range(3):
                    left = rates[0, link, m] if i == 0 else right[i - 1, m]
                    side[r] -= 2.0 * jacobian[i, r, m] / gaps[i] * left
                    if i == inner - 1:
                        side[r] -= 2.0 * inverse[i + 1, r, m] / gaps[i + 1] * rates[segments, link, m]
            for r in range(3):
                right[i, r] = 0.0
                for m in range(3):
                    right[i, r] += pivots[i, r, m] * side[m]
        converged = True
        for i in range(inner - 1, -1, -1):
            for r in range(3):
                if i < inner - 1:
                    for m in range(3):
                        right[i, r] -= above[i, r, m] * right[i + 1, m]
            for r in range(3):
                if not abs(right[i, r] - rates[i + 1, link, r]) <= TOLERANCE * (1.0 + abs(right[i, r])):
                    converged = False
                rates[i + 1, link, r] = right[i, r]
        if converged:
            break


@kernel
def _curve(quaternions: Floats, rates: Floats, gaps: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    phi = np.empty(3)
    jacobian = np.empty((3, 3))
    inverse = np.empty((3, 3))
    theta = np.empty(3)
    for n in range(before.shape[0]):
        i = before[n]
        f = fraction[n]
        for link in range(quaternions.shape[1]):
            a = quaternions[i, link]
            if f == 0.0:
                for k in range(4):
                    out[n, link, k + 3] = a[k]
                continue
            _rotation_between(a, quaternions[i + 1, link], phi)
            _jacobians(phi, jacobian, inverse)
            g = 1.0 - f
            square = 0.0
            for r in range(3):
                end = 0.0
                for m in range(3):
                    end += inverse[r, m] * rates[i + 1, link, m]
                start = rates[i, link, r]
                theta[r] = f * f * (3.0 - 2.0 * f) * phi[r] + gaps[i] * (f * g * g * start - f * f * g * end)
                square += theta[r] * theta[r]
            angle = np.sqrt(square)
            w = np.cos(0.5 * angle)
            scale = np.sin(0.5 * angle) / angle if angle > 1e-150 else 0.5
            x = scale * theta[0]
            y = scale * theta[1]
            z = scale * theta[2]
            out[n, link, 3] = a[0] * w - a[1] * x - a[2] * y - a[3] * z
            out[n, link, 4] = a[0] * x + a[1] * w + a[2] * z - a[3] * y
            out[n, link, 5] = a[0] * y - a[1] * z + a[2] * w + a[3] * x
            out[n, link, 6] = a[0] * z + a[1] * y - a[2] * x + a[3] * w
