"""Velocities and accelerations from values over time, of numbers and of orientations.

- spline: the cubic spline through all frames ("not a knot"); of orientations a curve
  with continuous angular acceleration;
- central: the parabola through a frame and its two neighbours, or through their
  rotation vectors;
- savgol: the least-squares polynomial of a window (Savitzky and Golay, 1964), or of its
  rotation vectors: it removes noise, and some of the fast movement.

Orientations are differentiated through the logarithm. Around frame k the orientation is
R_k·exp(φ(t)), with φ(t_j) = log(R_k⁻¹·R_j) the rotation vectors to its neighbours; at φ
= 0 the angular velocity is φ' and the angular acceleration φ'', both exactly, in the
link's own frame. So a rotation at constant speed about a fixed axis has that speed and
no acceleration, at any frame rate; but the angle between a frame and the farthest one
of its window must be below π.

At the ends there are frames on one side only: central and savgol use the polynomial of
the first (last) whole window there. A window is limited to the frames that exist, and
the order of its polynomial is less than their number: two frames have one velocity and
no acceleration, a single one has neither. The spline of orientations has, at its two
ends, the angular velocity of the polynomial of order 4 through five rotation vectors.
"""

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import WrongUseError
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, Indices, median_step, real_numbers
from bodymotion.motion.interpolation.sampling import bridged, check_increasing

Derivative: TypeAlias = Literal["spline", "central", "savgol"]
DERIVATIVES = ("spline", "central", "savgol")
# Frames that are differentiated at a time where each has a window of others; it limits
# the memory.
BLOCK = 2048

Stencils: TypeAlias = tuple[Indices, Floats, Floats]

MIN_REST = 0.5
# [s] and in medians of the times between frames. Over longer times without a frame the
# robot rests, as the .seq document defines.
REST_FRAMES = 20


def stretches(times: Floats) -> list[int]:
    """Return the edges of the stretches of frames at `times` (T,) [s].

    Where frames are far apart, the robot rests between two of them.
    """
    if len(times) > 1:
        longest = max(MIN_REST, REST_FRAMES * median_step(times))
    else:
        longest = 0.0
    return [0, *(np.flatnonzero(np.diff(times) > longest) + 1).tolist(), len(times)]


def derivatives(
    values: npt.ArrayLike,
    times: npt.ArrayLike,
    method: Derivative = "spline",
    *,
    window: int = 9,
    order: int = 3,
) -> tuple[Floats, Floats]:
    """Return the first and second derivatives (T, …) of values (T, …) by time.

    `times` (T,) [s].

    Parameters
    ----------
    window, order:
        Of "savgol": number of frames (odd) of the window, and order of its polynomial.

    Numbers that are not finite have the derivative NaN; for their neighbours they are
    replaced by straight lines.

    Raises
    ------
    ValueError
        When times do not increase or their count differs from that of the values;
        `WrongUseError` for an invalid method, window or order.
    """
    values, times = (
        real_numbers(values, "values"),
        _checked(times, len(np.asarray(values))),
    )
    _check_method(method, window, order)
    # Straight lines over gaps: otherwise NaN would spread over the whole spline.
    table, missing = bridged(values.reshape(len(values), -1))
    # A single frame is at rest.
    if len(times) < 2:
        return np.zeros(values.shape), np.zeros(values.shape)
    if method == "spline":
        first, second = _spline(table, np.diff(times))
    else:
        # Central differences are the parabola through three frames.
        near, once, twice = _stencils(
            times, *((3, 2) if method == "central" else (window, order))
        )
        first = np.empty(table.shape)
        second = np.empty(table.shape)
        for part in _blocks(len(table)):
            # (N, 2, W) weights times (N, W, P) values: both derivatives in one product.
            both = np.stack([once[part], twice[part]], axis=1) @ table[near[part]]
            first[part], second[part] = both[:, 0], both[:, 1]
    if missing is not None:
        first[missing], second[missing] = np.nan, np.nan
    return first.reshape(values.shape), second.reshape(values.shape)


def pose_derivatives(
    poses: npt.ArrayLike,
    times: npt.ArrayLike,
    method: Derivative = "spline",
    *,
    window: int = 9,
    order: int = 3,
) -> tuple[Floats, Floats]:
    """Return velocities and accelerations (T, …, 6) of poses (T, …, 7).

    The poses are in the world, with times (T,) [s].

    Velocities are those of the origin [m/s], then the angular velocity [rad/s], both
    along the world's axes; so are accelerations [m/s², rad/s²]. The rest is as for
    `derivatives`.
    """
    poses = real_numbers(poses, "poses")
    if poses.ndim < 2 or poses.shape[-1] != 7:
        raise ValueError(f"poses: expected shape (T, …, 7), got {poses.shape}")
    times = _checked(times, len(poses))
    _check_method(method, window, order)
    table, missing = bridged(poses.reshape(len(poses), -1, 7))
    first, second = np.zeros((2, *table.shape[:2], 6))
    if len(times) > 1:
        first[..., :3], second[..., :3] = derivatives(
            table[..., :3], times, method, window=window, order=order
        )
        units = rotations.normalized(table[..., 3:])
        if method == "spline":
            spin, gain = _rotation_spline(units, times)
        else:
            stencils = _stencils(
                times, *((3, 2) if method == "central" else (window, order))
            )
            spin, gain = _through_logarithm(units, np.arange(len(times)), *stencils)
        # In the frames of the links so far.
        first[..., 3:], second[..., 3:] = (
            rotations.rotate(units, spin),
            rotations.rotate(units, gain),
        )
    if missing is not None:
        # One unknown number of a pose makes all of its derivatives unknown.
        wrong = missing.reshape(table.shape).any(axis=-1)
        first[wrong], second[wrong] = np.nan, np.nan
    shape = (*poses.shape[:-1], 6)
    return first.reshape(shape), second.reshape(shape)


def _checked(times: npt.ArrayLike, count: int) -> Floats:
    times = real_numbers(times, "times")
    if times.shape != (count,):
        raise ValueError(
            f"times: expected shape ({count},), one per frame, got {times.shape}"
        )
    check_increasing(times)
    return times


def _check_method(method: str, window: int, order: int) -> None:
    if method not in DERIVATIVES:
        raise WrongUseError(
            f"derivative: expected one of {', '.join(DERIVATIVES)}, got {method!r}"
        )
    if method == "savgol" and (
        window < 3 or window % 2 == 0 or not 2 <= order < window
    ):
        raise WrongUseError(
            "expected an odd window of 3 frames or more with an order from 2 to "
            f"below it, got window {window} and order {order}"
        )


def _spline(table: Floats, gaps: Floats) -> tuple[Floats, Floats]:
    """Return first and second derivatives (T, P) of the spline through rows (T, P)."""
    from bodymotion.kernels.interpolation import spline_slopes

    slopes = spline_slopes(table, gaps)
    steps = np.diff(table, axis=0)
    gap = gaps[:, None]
    # Second derivatives of Hermite's cubic at the start of each interval, and at the
    # end of the last one: (6·Δy/h − 4·m₀ − 2·m₁)/h and (−6·Δy/h + 2·m₀ + 4·m₁)/h.
    second = np.empty(table.shape)
    second[:-1] = (6.0 * steps / gap - 4.0 * slopes[:-1] - 2.0 * slopes[1:]) / gap
    second[-1] = (
        -6.0 * steps[-1] / gap[-1] + 2.0 * slopes[-2] + 4.0 * slopes[-1]
    ) / gap[-1]
    return slopes, second


def _through_logarithm(
    quaternions: Floats, frames: Indices, near: Indices, once: Floats, twice: Floats
) -> tuple[Floats, Floats]:
    """Return angular velocities and accelerations (N, L, 3) in the links' frames."""
    from bodymotion.kernels.interpolation import rotation_vectors

    first, second = np.zeros((2, len(frames), quaternions.shape[1], 3))
    # One neighbour of the window at a time, which bounds the memory.
    for part in _blocks(len(frames)):
        for k in range(near.shape[1]):
            vector = rotation_vectors(
                quaternions[frames[part]], quaternions[near[part, k]]
            )
            first[part] += once[part, k, None, None] * vector
            second[part] += twice[part, k, None, None] * vector
    return first, second


def _blocks(count: int) -> list[slice]:
    """Return slices that are all frames, and whose windows take little memory."""
    return [slice(first, first + BLOCK) for first in range(0, count, BLOCK)]


def _rotation_spline(quaternions: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Return angular velocities and accelerations (T, L, 3) in the links' frames."""
    from bodymotion.kernels.interpolation import (
        angular_velocities,
        applied,
        jacobians,
        rotation_vectors,
        unit_quaternions,
    )

    # One sign along the motion, so that the rotation vectors are those of short arcs.
    units = unit_quaternions(quaternions)
    gaps = np.diff(times)
    # The ends of the spline: the polynomial of order 4 through five rotation vectors.
    near, once, twice = _stencils(times, 5, 4)
    both = np.array([0, len(times) - 1])
    ends, _ = _through_logarithm(units, both, near[both], once[both], twice[both])
    spins = angular_velocities(units, gaps, ends)
    step = rotation_vectors(units[:-1], units[1:])
    # J(φ)⁻¹ takes ω at the end of an interval to the derivative of its rotation vector.
    back = jacobians(step)[1]
    gap = gaps[:, None, None]
    gains = np.empty(spins.shape)
    # θ''(0) of the cubic θ with θ(0) = 0, θ(h) = φ, θ'(0) = ω₀, θ'(h) = J(φ)⁻¹·ω₁; at
    # the last frame the same, looking back.
    gains[:-1] = (
        6.0 * step / gap - 4.0 * spins[:-1] - 2.0 * applied(back, spins[1:])
    ) / gap
    width = gaps[-1]
    back = jacobians(-step[-1])[1]
    gains[-1] = (
        -6.0 * step[-1] / width + 4.0 * spins[-1] + 2.0 * applied(back, spins[-2])
    ) / width
    return spins, gains


def _stencils(times: Floats, window: int, order: int) -> Stencils:
    """Return the window and the weights of both derivatives of each frame.

    The window (T, W) has numbers of frames, the weights (T, W) are those of their
    values.
    """
    count = len(times)
    window = min(window, count)
    order = min(order, window - 1)
    # At the ends the window is shifted inwards.
    first = np.clip(np.arange(count) - window // 2, 0, count - window)
    near = first[:, None] + np.arange(window)
    elapsed = times[near] - times[:, None]
    # Times are scaled to −1…1: powers of small times would make the fit inexact.
    width = np.maximum(elapsed.max(axis=1), -elapsed.min(axis=1))
    if count > 2 * window and np.ptp(np.diff(times)) <= 1e-9 * width[0]:
        # At a fixed rate all frames between the ends have the same weights.
        inner = np.concatenate(
            [
                np.arange(window // 2),
                [count // 2],
                np.arange(count - window // 2, count),
            ]
        )
        place = np.clip(np.arange(count), 0, window // 2)
        place = np.maximum(
            place, np.arange(count) - (count - window // 2) + window // 2 + 1
        )
    else:
        inner = place = np.arange(count)
    # Least squares: the pseudo-inverse of the powers 1, τ, τ² … has the coefficients of
    # the polynomial as rows; the derivatives at τ = 0 are c₁ and 2·c₂.
    powers = (elapsed / width[:, None])[inner][..., None] ** np.arange(order + 1)
    weights = np.linalg.pinv(powers)
    once = weights[:, 1] / width[inner, None]
    if order > 1:
        twice = 2.0 * weights[:, 2] / width[inner, None] ** 2
    else:
        twice = np.zeros_like(once)
    return near, once[place], twice[place]
