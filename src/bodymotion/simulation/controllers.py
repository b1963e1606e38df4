"""Controllers: what computes the torques of the joints at each step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

if TYPE_CHECKING:
    from bodymotion.simulation.plan import Plan
    from bodymotion.simulation.result import Simulation


@dataclass(frozen=True)
class RobotState:
    """The state that a controller gets at each step.

    Attributes
    ----------
    time:
        [s] since the start.
    q, dq:
        (J,) joint values and velocities, in order of joint columns.
    command:
        (J,) the joint values of the motion at this time.
    sensors:
        By the name of a device, its reading: (3,) of a gyro and an accelerometer, (6,) of a force sensor. Values are those of the
        step before.
    """

    time: float
    q: Floats
    dq: Floats
    command: Floats
    sensors: dict[str, Floats] = field(default_factory=dict)


class Controller(Protocol):
    """Computes the torques of the joints."""

    def step(self, state: RobotState) -> npt.ArrayLike:
        """Return the torque [N m] or force [N] (J,) of each joint for the next step."""
        ...


class ControllerError(RuntimeError):
    """A controller raised an error or returned something else than finite torques (J,); the message has the time.

    `partial` is the simulation so far.
    """

    partial: Simulation | None = None


class TorqueServo:
    """The law of the servo as a controller of torques: kp · (q_cmd − q) + kd · (q̇_cmd − q̇), for gains (J, 2)."""

    def __init__(self, gains: Floats, plan: Plan) -> None:
        self.gains, self.plan = gains, plan

    def step(self, state: RobotState) -> Floats:
        """Return the torques (J,)."""
        k = min(round(state.time / self.plan.timestep), self.plan.steps)
        kp, kd = self.gains.T
        return np.asarray(kp * (self.plan.q[k] - state.q) + kd * (self.plan.dq[k] - state.dq))


def torques(controller: Controller, state: RobotState) -> Floats:
    """Return the torques of a controller, checked.

    Raises
    ------
    ControllerError
        As described there.
    """
    try:
        found = np.asarray(controller.step(state), dtype=np.float64)
    except Exception as error:
        raise ControllerError(f"the controller failed at {state.time:g} s: {type(error).__name__}: {error}") from error
    if found.shape != state.q.shape or not np.isfinite(found).all():
        what = "numbers that are not finite" if found.shape == state.q.shape else f"shape {found.shape}"
        raise ControllerError(
            f"the controller returned {what} at {state.time:g} s; expected {len(state.q)} finite torques"
        )
    return found
