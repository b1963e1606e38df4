"""What a simulation is to do.

Joint values and root poses at each step, the posture that it starts in, and what
computes the torques.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Problem, ShortRepr, WrongUseError
from bodymotion.dynamics.measures import ON_FEET, Configurations, configurations
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, check_memory
from bodymotion.model.body import Body
from bodymotion.model.collision_points import CollisionPoints
from bodymotion.motion import Motion
from bodymotion.motion.components import JOINT_EFFORT, MultiValueSeq
from bodymotion.motion.interpolation import sampled
from bodymotion.simulation.rules import HELD

if TYPE_CHECKING:
    from bodymotion.simulation.result import SimulationResult

# [s] Length of a simulation without a motion and without an end.
DEFAULT_SECONDS = 5.0
# [s] The longest simulation.
MAX_SECONDS = 1e5
# [m] A start pose whose lowest point is within this of the ground is put on it.
MAX_LIFT = 0.1
# [Hz] of the frames of the result, without a motion.
FRAME_RATE = 100.0
# Numbers kept of each joint and step: of plan, states, sensors and results.
NUMBERS_OF_JOINT = 10
# Numbers kept of each link with shapes and step. Its contact, twice: while steps are
# taken, and in the result.
NUMBERS_OF_CONTACT = 18
# Numbers kept of each step besides, at most.
OTHER_NUMBERS = 500


def _adapt_hints(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems of placing a motion, with hints for a simulation."""
    adapted = []
    for problem in problems:
        if problem.rule == ON_FEET.code:
            # Its hint is an option that a simulation does not have.
            hint = "add the pose of the root to the motion"
            problem = replace(problem, hint=hint)
        adapted.append(problem)
    return tuple(adapted)


class Plan:
    """The plan at the times k·timestep.

    Joint values `q` and velocities `dq` (steps + 1, J), and root poses `root` (steps +
    1, 7).

    `posture` has the joint values (J,) and the root pose (7,) of the start: loops
    closed, and on the ground if there is a `floor`.
    """

    def __init__(
        self,
        body: Body,
        motion: Motion | None,
        start: float,
        end: float | None,
        timestep: float,
        points: CollisionPoints,
        *,
        floor: bool,
    ) -> None:
        """Sample the motion from `start` to `end` [s], or hold the rest pose."""
        placed = None if motion is None else configurations(body, motion)
        self.problems: tuple[Problem, ...] = ()
        self.frame_rate = FRAME_RATE
        if placed is None:
            end = DEFAULT_SECONDS if end is None else end
        else:
            self.problems = _adapt_hints(placed.problems)
            times = placed.times
            start = max(start, float(times[0]))
            last = float(times[-1])
            end = last if end is None else end
            # A time is rounded to whole steps.
            if end > last + timestep:
                message = (
                    f"the motion ends at {last:g} s: its last pose is held until "
                    f"{end:g} s"
                )
                data = {"motion_end": last, "end": end}
                self.problems += (HELD.problem(message, data=data),)
            if len(times) > 1:
                self.frame_rate = (len(times) - 1) / float(last - times[0])
        if not start < end < start + MAX_SECONDS:
            raise WrongUseError(
                f"the simulation would last from {start:g} s to {end:g} s; expected "
                "an end after the start, by at most 1e5 s"
            )
        self.start = start
        self.timestep = timestep
        self.steps = max(round((end - start) / timestep), 1)
        num_shaped = sum(bool(link.collisions) for link in body.links)
        numbers = (
            NUMBERS_OF_JOINT * body.num_joints
            + NUMBERS_OF_CONTACT * num_shaped
            + OTHER_NUMBERS
        )
        check_memory(self.steps * 8 * numbers, f"a simulation of {self.steps} steps")
        if placed is None:
            q, root = points.home()
            if not floor:
                root = np.array(body.root_pose)
            # Without a motion, the body holds one posture at rest.
            self.q = np.tile(q, (self.steps + 1, 1))
            self.root = np.tile(root, (self.steps + 1, 1))
            self.dq = np.zeros_like(self.q)
        else:
            self._sample(placed)
        self.posture = self._start(body, points, floor=floor, moves=placed is not None)

    def _sample(self, placed: Configurations) -> None:
        """Set the joint values, their velocities and root poses of all steps."""
        # One step more, for the velocity of the first.
        times = self.start + self.timestep * np.arange(-1, self.steps + 1)
        # A cubic spline needs four frames.
        method: Literal["linear", "cubic"] = "linear"
        if len(placed.times) > 3:
            method = "cubic"
        joints = np.ascontiguousarray(placed.joint_displacements)
        values = sampled(joints, placed.times, times, method)
        self.q = values[1:]
        # Velocities of the commands over one step: those that the servo follows.
        self.dq = np.diff(values, axis=0)
        self.dq /= self.timestep
        # Before the first frame there is no velocity: the first step's holds.
        if self.start <= placed.times[0]:
            self.dq[0] = self.dq[1]
        roots = np.ascontiguousarray(placed.root_poses)[:, None]
        self.root = sampled(roots, placed.times, times[1:], "linear")[:, 0]
        self._check_finite("joint displacements", self.q)
        self._check_finite("root poses", self.root)

    def _start(
        self, body: Body, points: CollisionPoints, *, floor: bool, moves: bool
    ) -> tuple[Floats, Floats]:
        """Return the posture of the start: joint values (J,) and a root pose (7,)."""
        q = self.q[0]
        root = np.array(self.root[0])
        root[3:] = rotations.normalized(root[3:])
        # Commands may leave loops slightly open; the simulation starts with closed
        # ones.
        if body.extra_joints:
            from bodymotion.model.closed_loops import close_loops

            q = close_loops(body, q).q
        if floor and not body.is_mounted:
            low = points.lowest(q, root)
            # A motion that begins higher than `MAX_LIFT` stays at its height.
            if low is not None and (abs(low) <= MAX_LIFT or not moves):
                self.root[:, 2] -= low
                root[2] -= low
        return q, root

    def step_at(self, time: float) -> int:
        """Return the number of the step that begins at a time [s] of the motion.

        The first or last one for times beyond.
        """
        return round(min(max((time - self.start) / self.timestep, 0.0), self.steps))

    def efforts(self, body: Body, motion: Motion | None) -> Floats:
        """Return the JointEffort of a motion (steps, J).

        Raises ValueError when it has none, or they are not finite.
        """
        if motion is None:
            found = None
        else:
            found = motion.last(MultiValueSeq, JOINT_EFFORT)
        if found is None:
            raise ValueError(
                f"drive='effort' needs a motion with the component {JOINT_EFFORT}"
            )
        # By names, as joint displacements.
        values = np.ascontiguousarray(body.joint_values(found))
        times = self.start + self.timestep * np.arange(self.steps)
        efforts = sampled(values, found.timeline.times, times, "linear")
        self._check_finite("joint efforts", efforts)
        return efforts

    def _check_finite(self, name: str, values: Floats) -> None:
        """Raise ValueError where values (steps, …) of the motion are not finite.

        MuJoCo would set all controls to 0.
        """
        wrong = ~np.isfinite(values).all(axis=1)
        if wrong.any():
            time = self.start + self.timestep * int(np.argmax(wrong))
            raise ValueError(
                f"motion: {name} are not finite at {time:g} s; fill them first (`edit "
                "--fill-gaps`)"
            )


@dataclass(frozen=True)
class RobotState(ShortRepr):
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
        By the name of a device, its reading: (3,) of a gyro and an accelerometer, (6,)
        of a force sensor. Values are those of the step before.
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
    """A controller raised an error or returned something else than finite torques (J,).

    The message has the time.

    `partial` is the simulation so far.
    """

    partial: SimulationResult | None = None


class TorqueServo:
    """The law of the servo as a controller of torques.

    Kp · (q_cmd − q) + kd · (q̇_cmd − q̇), for gains (J, 2).
    """

    def __init__(self, gains: Floats, plan: Plan) -> None:
        self.gains = gains
        self.plan = plan

    def step(self, state: RobotState) -> Floats:
        """Return the torques (J,)."""
        k = min(round(state.time / self.plan.timestep), self.plan.steps)
        kp, kd = self.gains.T
        return np.asarray(
            kp * (self.plan.q[k] - state.q) + kd * (self.plan.dq[k] - state.dq)
        )


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
        raise ControllerError(
            f"the controller failed at {state.time:g} s: {type(error).__name__}: "
            f"{error}"
        ) from error
    if found.shape != state.q.shape or not np.isfinite(found).all():
        if found.shape == state.q.shape:
            what = "numbers that are not finite"
        else:
            what = f"shape {found.shape}"
        raise ControllerError(
            f"the controller returned {what} at {state.time:g} s; expected "
            f"{len(state.q)} finite torques"
        )
    return found
