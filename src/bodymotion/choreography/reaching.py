"""The joints that come nearest to a goal within their limits: damped Gauss-Newton steps, for many frames at once.

A joint on its limit that would have to go beyond is left out of a step (an active set). Each frame has a damping of its own, which grows
when a step makes things worse (Levenberg, 1944; Marquardt, 1963). Of several starts for each frame the most promising ones are followed,
as a guard against valleys; the best end counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from bodymotion.arrays import Floats

__all__ = ["Errors", "nearest_within_limits"]

Errors: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
"""From joints (N, K, J) to errors (N, K, E) and their derivatives (N, K, E, J)."""

STEPS = 60
FOLLOWED = 4
"""So many of a frame's starts are followed: those with the smallest errors."""


def nearest_within_limits(errors: Errors, starts: Floats, lower: Floats, upper: Floats, steps: int = STEPS) -> Floats:
    """Give for each of N frames the joints (N, J) with the smallest sum of squared errors that was found from its starts (N, K, J)."""
    q = np.clip(starts, lower, upper)
    error, derivative = errors(q)
    cost = np.einsum("...e,...e", error, error)
    if q.shape[1] > FOLLOWED:
        first = np.argpartition(cost, FOLLOWED, axis=1)[:, :FOLLOWED]
        q = np.take_along_axis(q, first[..., None], axis=1)
        error, derivative = errors(q)
        cost = np.einsum("...e,...e", error, error)
    damping = np.full(cost.shape, 1e-4)
    eye = np.eye(q.shape[-1])
    for _ in range(steps):
        slope = np.einsum("...ej,...e->...j", derivative, error)
        held = ((q <= lower) & (slope > 0)) | ((q >= upper) & (slope < 0))
        free = np.where(held, 0.0, 1.0)
        active = derivative * free[..., None, :]
        square = np.einsum("...ei,...ej->...ij", active, active) + damping[..., None, None] * eye
        step = np.linalg.solve(square, (slope * free)[..., None])[..., 0]
        tried = np.clip(q - step, lower, upper)
        tried_error, tried_derivative = errors(tried)
        tried_cost = np.einsum("...e,...e", tried_error, tried_error)
        better = tried_cost < cost
        moved = np.abs(np.where(better[..., None], tried - q, 0.0)).max(initial=0.0)
        q = np.where(better[..., None], tried, q)
        error = np.where(better[..., None], tried_error, error)
        derivative = np.where(better[..., None, None], tried_derivative, derivative)
        cost = np.where(better, tried_cost, cost)
        damping = np.clip(np.where(better, damping * 0.2, damping * 8.0), 1e-12, 1e6)
        if moved < 1e-13 and (damping > 1e2).all():
            break
    best = np.argmin(cost, axis=1)
    return np.asarray(q[np.arange(len(q)), best])
