"""The joints that come nearest to a goal within their limits: damped Newton steps, for many frames at once.

A joint on its limit that would have to go beyond is left out of a step (an active set). Each try has a damping of its own, which grows when
a step makes things worse (Levenberg, 1944; Marquardt, 1963), and is left alone when it has settled. Of several starts for each frame the
most promising ones are followed, as a guard against valleys; the best end counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

__all__ = ["Errors", "nearest_within_limits"]

Errors: TypeAlias = Callable[[Floats, npt.NDArray[np.intp]], tuple[Floats, Floats, Floats]]
"""From joints (M, J) and the frames (M,) that they are for to errors (M, E), their derivatives (M, E, J), and Σ error · second derivative
(M, J, J)."""

STEPS = 40
FOLLOWED = 3
"""So many of a frame's starts are followed: those with the smallest errors."""
SETTLED = 1e-7
"""[rad] A try whose step is smaller has arrived."""
STUCK = 1e2
"""So is one whose damping is larger, since no step makes it better."""
PIECE = 20_000
"""So many frames at once, so that the memory is bounded."""


def nearest_within_limits(errors: Errors, starts: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return for each of N frames the joints (N, J) with the smallest sum of squared errors that was found from its starts (N, K, J)."""
    result = np.empty((len(starts), starts.shape[-1]))
    for first in range(0, len(starts), PIECE):
        frames = np.arange(first, min(first + PIECE, len(starts)))
        result[frames] = _nearest(errors, starts[frames], frames, lower, upper)
    return result


def _nearest(errors: Errors, starts: Floats, frames: npt.NDArray[np.intp], lower: Floats, upper: Floats) -> Floats:
    count, tries, joints = starts.shape
    rows = np.repeat(frames, tries)
    q = np.clip(starts, lower, upper).reshape(-1, joints)
    error, derivative, bend = errors(q, rows)
    cost = np.einsum("me,me->m", error, error).reshape(count, tries)
    if tries > FOLLOWED:
        first = np.argpartition(cost, FOLLOWED, axis=1)[:, :FOLLOWED]
        kept = (np.arange(count)[:, None] * tries + first).ravel()
        q, rows, error, derivative, bend = q[kept], rows[kept], error[kept], derivative[kept], bend[kept]
        tries = FOLLOWED
    cost = np.einsum("me,me->m", error, error)
    damping = np.full(len(q), 1e-4)
    active = np.arange(len(q))
    for _ in range(STEPS):
        if not len(active):
            break
        step = _step(q[active], error[active], derivative[active], bend[active], damping[active], lower, upper)
        tried = np.clip(q[active] - step, lower, upper)
        tried_error, tried_derivative, tried_bend = errors(tried, rows[active])
        tried_cost = np.einsum("me,me->m", tried_error, tried_error)
        better = tried_cost < cost[active]
        moved = np.abs(tried - q[active]).max(axis=1)
        won = active[better]
        q[won], error[won] = tried[better], tried_error[better]
        derivative[won], bend[won] = tried_derivative[better], tried_bend[better]
        cost[won] = tried_cost[better]
        damping[active] = np.clip(damping[active] * np.where(better, 0.2, 8.0), 1e-7, 1e6)
        active = active[(moved > SETTLED) & (better | (damping[active] < STUCK))]
    best = np.argmin(cost.reshape(count, tries), axis=1)
    return np.asarray(q[np.arange(count) * tries + best])


def _step(
    q: Floats, error: Floats, derivative: Floats, bend: Floats, damping: Floats, lower: Floats, upper: Floats
) -> Floats:
    slope = np.einsum("mej,me->mj", derivative, error)
    held = ((q <= lower) & (slope > 0)) | ((q >= upper) & (slope < 0))
    free = np.where(held, 0.0, 1.0)
    square = np.swapaxes(derivative, 1, 2) @ derivative + bend
    square *= free[:, :, None] * free[:, None, :]
    square += damping[:, None, None] * np.eye(q.shape[1])
    # A held joint would leave a row of nearly nothing.
    square += (1.0 - free)[:, None, :] * np.eye(q.shape[1])
    return np.asarray(np.linalg.solve(square, (slope * free)[..., None])[..., 0])
