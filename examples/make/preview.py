"""Preview control of the zero moment point: Kajita et al., "Biped walking pattern generation by using preview control of
zero-moment point", ICRA 2003.

The robot is a point mass at a constant height, a "cart on a table": state (x, ẋ, ẍ), input the jerk, output the zero moment point
p = x − (height / g)·ẍ. The input is the optimal one for a reference that is known some time ahead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .solids import Array

GRAVITY = 9.80665


@dataclass(frozen=True)
class Preview:
    """A controller for a centre of mass at `height` [m], in steps of `dt` [s], that looks `ahead` [s] into the future.

    `effort` weighs the jerk against the square of the error of the zero moment point.
    """

    height: float
    dt: float = 0.01
    ahead: float = 2.0
    effort: float = 1e-6

    def model(self) -> tuple[Array, Array, Array]:
        """Return the discrete system: A (3, 3), b (3,), c (3,)."""
        t = self.dt
        return (
            np.array([[1, t, t * t / 2], [0, 1, t], [0, 0, 1]]),
            np.array([t**3 / 6, t * t / 2, t]),
            np.array([1, 0, -self.height / GRAVITY]),
        )

    def gains(self) -> tuple[Array, Array]:
        """Return the state feedback (3,) and the weights (N,) of the coming references.

        The last weight stands for all that is beyond the horizon: the reference is taken to stay where it was last seen.
        The Riccati equation is solved by the doubling algorithm: step k holds the solution over 2^k steps of time.
        """
        a, b, c = self.model()
        identity = np.eye(3)
        transfer, control, cost = a, np.outer(b, b) / self.effort, np.outer(c, c)
        for _ in range(40):
            inverse = np.linalg.inv(identity + control @ cost)
            after = transfer @ inverse
            new_cost = cost + transfer.T @ cost @ inverse @ transfer
            control = control + after @ control @ transfer.T
            transfer = after @ transfer
            done = np.allclose(new_cost, cost, rtol=1e-13, atol=0)
            cost = new_cost
            if done:
                break
        scale = 1 / (self.effort + b @ cost @ b)
        feedback = scale * (b @ cost @ a)
        closed = (a - np.outer(b, feedback)).T
        weights, column = [], c
        for _ in range(round(self.ahead / self.dt)):
            weights.append(scale * (b @ column))
            column = closed @ column
        weights[-1] += feedback[0] - sum(weights)
        return feedback, np.array(weights)

    def track(self, reference: Array) -> Array:
        """Return the centre of mass (T, K) whose zero moment point follows `reference` (T, K), from rest above its first point."""
        a, b, _ = self.model()
        feedback, weights = self.gains()
        reach = len(weights)
        future = np.concatenate(
            [reference, np.repeat(reference[-1:], reach + 1, axis=0)]
        )
        state = np.zeros((3, reference.shape[1]))
        state[0] = reference[0]
        result = np.empty_like(reference)
        for k in range(len(reference)):
            result[k] = state[0]
            jerk = weights @ future[k + 1 : k + 1 + reach] - feedback @ state
            state = a @ state + np.outer(b, jerk)
        return result
