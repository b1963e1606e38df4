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
from bodymotion.kernels.compiling import in_slices
from bodymotion.kernels.interpolation import block_tridiagonal
from bodymotion.kernels.kinematics import Indices

MAX_ITERATIONS = 10
"""The curve passes through all orientations with a continuous ω after any number of iterations."""

TOLERANCE = 1e-12
"""Relative change of ω at which the iteration ends."""

MAX_BLOCKS = 200_000
"""Frames times links that are solved together, which bounds the memory."""


@np.errstate(all="ignore")
def angular_velocities(quaternions: Floats, gaps: Floats, ends: Floats | None = None) -> Floats:
    """Return ω (T, L, 3) [rad/s] in each link's own frame, of unit quaternions (T, L, 4), `gaps` (T - 1,) seconds apart.

    `ends` (2, L, 3): prescribed values at the first and the last of them.
    """
    rates = np.zeros((*quaternions.shape[:2], 3))
    some = max(MAX_BLOCKS // max(len(quaternions), 1), 1)
    for first in range(0, quaternions.shape[1] if len(gaps) else 0, some):
        part = slice(first, first + some)
        rates[:, part] = _velocities(quaternions[:, part], gaps, None if ends is None else ends[:, part])
    return rates


def _velocities(quaternions: Floats, gaps: Floats, ends: Floats | None) -> Floats:
    """Return what `angular_velocities` returns, for at least two frames."""
    vectors, gap = _vectors_between(quaternions[:-1], quaternions[1:]), gaps[:, None, None]
    forward, back = _jacobians(vectors)
    steps = vectors / gap
    rates = np.concatenate([steps[:1], steps])
    if ends is not None:
        rates[[0, -1]] = ends
    if len(gaps) == 1:
        return rates
    # Row i is that of orientation i + 1: J of the segment before it on its left, J⁻¹ of the one after it on its right.
    left, right = 2.0 * forward[:-1] / gap[:-1, ..., None], 2.0 * back[1:] / gap[1:, ..., None]
    diagonal = 4.0 * (1.0 / gap[:-1] + 1.0 / gap[1:])[..., None] * np.eye(3)
    solve = block_tridiagonal(left, np.broadcast_to(diagonal, left.shape), right)
    scaled = vectors / (gap * gap)
    constant = 6.0 * (scaled[:-1] + scaled[1:])
    constant[0] -= _applied(left[0], rates[0])
    constant[-1] -= _applied(right[-1], rates[-1])
    for _ in range(MAX_ITERATIONS):
        unsteady = _unsteady(vectors[:-1], _applied(back[:-1], rates[1:-1]))
        found = solve((constant - unsteady)[..., None])[..., 0]
        converged = bool((np.abs(found - rates[1:-1]) <= TOLERANCE * (1.0 + np.abs(found))).all())
        rates[1:-1] = found
        if converged:
            break
    return rates


def curve(quaternions: Floats, rates: Floats, gaps: Floats, before: Indices, fraction: Floats, out: Floats) -> None:
    """Fill the quaternions of `out` (N, L, 7) with those on the curve through unit ones (T, L, 4) with angular velocities (T, L, 3)."""

    def work(first: int, last: int) -> None:
        i, f = before[first:last], fraction[first:last, None, None]
        after, gap = np.minimum(i + 1, len(quaternions) - 1), gaps[np.minimum(i, len(gaps) - 1), None, None]
        vectors = _vectors_between(quaternions[i], quaternions[after])
        end = _applied(_jacobians(vectors)[1], rates[after])
        g = 1.0 - f
        theta = f * f * (3.0 - 2.0 * f) * vectors + gap * (f * g * g * rates[i] - f * f * g * end)
        turned = rotations.multiply(quaternions[i], rotations.from_axis_angle(theta, np.linalg.norm(theta, axis=-1)))
        out[first:last, :, 3:] = np.where(f == 0.0, quaternions[i], turned)

    in_slices(len(before), work)


def _applied(matrix: Floats, vectors: Floats) -> Floats:
    """Return the products (..., 3) of matrices (..., 3, 3) and vectors (..., 3)."""
    return np.asarray((matrix @ vectors[..., None])[..., 0])


def _vectors_between(a: Floats, b: Floats) -> Floats:
    """Return log(a⁻¹·b) (..., 3): axis times angle, along the shorter arc, in the frame of a."""
    axis, angle = rotations.to_axis_angle(rotations.multiply(rotations.conjugate(a), b))
    return np.asarray(axis * angle[..., None])


def _jacobians(vectors: Floats) -> tuple[Floats, Floats]:
    """Return J(φ) and J(φ)⁻¹ = 1 + ½·[φ] + c·[φ]², c = (1 − ½|φ|·cot(½|φ|))/|φ|² (..., 3, 3), of vectors φ (..., 3)."""
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


def _unsteady(vectors: Floats, speeds: Floats) -> Floats:
    """Return J'·θ' (..., 3) at θ = φ (..., 3), θ' = `speeds` (..., 3)."""
    square = np.sum(vectors * vectors, axis=-1, keepdims=True)
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
    along = np.sum(vectors * speeds, axis=-1, keepdims=True)
    across = np.cross(vectors, speeds)
    return np.asarray(
        -a_rate * along * across + b_rate * along * np.cross(vectors, across) + b * np.cross(speeds, across)
    )
