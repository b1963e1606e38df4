"""Simulate one body that follows one motion, or many of them at once.

Of each step the state before it is kept, and what the sensors of the model read in that
state.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import signature
from threading import Lock
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import ShortRepr, WrongUseError
from bodymotion.diagnostics.spelling import choices
from bodymotion.dynamics.sensors import reading_limits
from bodymotion.formats.mjcf.writer import SelfCollision
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.links import Device, passive_joints
from bodymotion.motion import Motion
from bodymotion.simulation.plan import (
    Controller,
    ControllerError,
    Plan,
    RobotState,
    TorqueServo,
    torques,
)
from bodymotion.simulation.result import (
    SimulationResult,
    columns_or_zeros,
    device_values,
    fallen,
    recorded,
)
from bodymotion.simulation.world import (
    CONTACT_COLUMNS,
    World,
    WorldOptions,
    robot_of,
)
from bodymotion.system.deferred import need

# [s] Steps are taken in chunks of this length. Between them a fall is noticed and
# Ctrl-C takes effect.
CHUNK = 0.5


@dataclass(frozen=True)
class Push(ShortRepr):
    """A force (3,) [N] on the centre of mass of a link, in the world's axes.

    From `time` [s] for `duration` [s].

    Raises ValueError where these are not finite numbers, or the duration is negative.
    """

    time: float
    link: str
    force: tuple[float, float, float]
    duration: float = 0.1

    def __post_init__(self) -> None:
        numbers = [self.time, *self.force, self.duration]
        is_finite = len(self.force) == 3 and np.isfinite(numbers).all()
        if not is_finite or self.duration < 0:
            raise ValueError(
                f"{self}: expected finite numbers, a force (3,) and a duration of at "
                "least 0"
            )


class _Warnings:
    """Keep MuJoCo from writing its warnings into a file MUJOCO_LOG.TXT.

    In a `with` block of any thread; the file would be in the user's folder. The result
    reports a divergence. A handler that the user has set stays.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.users = 0

    def __enter__(self) -> None:
        mujoco = need("mujoco", "sim", "the simulation")
        with self.lock:
            # Handlers of MuJoCo are global: the first user sets it, the last one
            # removes it.
            self.users += 1
            if mujoco.get_mju_user_warning() is None:
                mujoco.set_mju_user_warning(_ignore)

    def __exit__(self, *_: object) -> None:
        mujoco = need("mujoco", "sim", "the simulation")
        with self.lock:
            self.users -= 1
            if not self.users and mujoco.get_mju_user_warning() is _ignore:
                mujoco.set_mju_user_warning(None)


def _ignore(_: str) -> None:
    """Do nothing with a warning."""


UNLOGGED = _Warnings()


class _Reading(NamedTuple):
    """The name of a device, its columns of the sensor data, and its limit."""

    name: str
    device: Device
    columns: slice
    limit: Floats


class _Force(NamedTuple):
    """A force (3,) [N] on a MuJoCo body from step `first` up to step `end`."""

    first: int
    end: int
    body: int
    force: Floats


class Run:
    """The steps of one simulation, and what is recorded of each.

    The state before it, and the sensors in that state.
    """

    def __init__(self, world: World, plan: Plan, pushes: Sequence[Push]) -> None:
        """Set the start of the plan, and allocate what is recorded."""
        self.mujoco = need("mujoco", "sim", "the simulation")
        self.world = world
        self.plan = plan
        self.pushes = [
            _Force(
                # Times become steps once, so that a push lasts for a whole number of
                # them.
                plan.step_at(push.time),
                plan.step_at(push.time + push.duration),
                int(world.bodies[world.body.link(push.link).index]),
                np.array(push.force, dtype=np.float64),
            )
            for push in pushes
        ]
        model = world.model
        self.data = self.mujoco.MjData(model)
        self._set_start()
        self.kind = self.mujoco.mjtState.mjSTATE_FULLPHYSICS
        size = self.mujoco.mj_stateSize(model, self.kind)
        # One row per step, allocated before: rollouts write into it.
        self.states = np.empty((plan.steps + 1, size))
        self.sensors = np.empty((plan.steps + 1, world.contacts))
        # Contacts by link, allocated when a link first touches: most links never do.
        self.contacts: dict[int, Floats] = {}
        self.mujoco.mj_getState(model, self.data, self.states[0], self.kind)
        self.done = 0
        self.interrupted = False
        self._lost = False

    def _set_start(self) -> None:
        """Set positions and velocities to those of the plan."""
        world = self.world
        plan = self.plan
        data = self.data
        joints, root = plan.posture
        # Columns without a joint in the model have −1.
        moving = world.qpos >= 0
        data.qpos[world.qpos[moving]] = joints[moving]
        data.qvel[world.dofs[moving]] = plan.dq[0][moving]
        # A fixed root has no position.
        if world.root < 0:
            return
        data.qpos[world.root : world.root + 7] = root
        model = world.model
        dof = model.joint(model.body_jntadr[world.bodies[0]]).dofadr[0]
        # The root's velocity is that of the first step of the motion.
        step = plan.root[1, :3] - plan.root[0, :3]
        data.qvel[dof : dof + 3] = step / plan.timestep
        # MuJoCo has angular velocities of a free root in its own frame.
        back = rotations.conjugate(plan.root[0, 3:])
        # The rotation of one step, along the world's axes.
        axis, angle = rotations.to_axis_angle(
            rotations.multiply(plan.root[1, 3:], back)
        )
        data.qvel[dof + 3 : dof + 6] = rotations.rotate(
            rotations.conjugate(root[3:]), axis * angle / plan.timestep
        )

    def control(self, values: Floats) -> Floats:
        """Return values (steps, J) of joints as controls (steps, nu)."""
        # Joint columns of the actuators: MuJoCo's order is not that of the body.
        driven = self.world.actuators >= 0
        columns = np.full(self.world.model.nu, -1)
        columns[self.world.actuators[driven]] = np.flatnonzero(driven)
        return columns_or_zeros(values, columns)

    def forward(self, control: Floats, last: int) -> None:
        """Step to step `last` with controls (steps, nu).

        By `mujoco.rollout` where nothing but these and pushes changes.
        """
        # The speed of belts is set before each step, which a rollout cannot.
        if self.world.crawlers:
            for k in range(self.done, last):
                self.data.ctrl[:] = control[k]
                self._step(k)
            return
        rollout = need("mujoco.rollout", "sim", "the simulation")
        spec = self.mujoco.mjtState.mjSTATE_CTRL
        # The controls of this chunk, one row per step.
        rows = control[self.done : last]
        # Forces are columns beside the controls.
        if any(push.first < last and push.end > self.done for push in self.pushes):
            spec |= self.mujoco.mjtState.mjSTATE_XFRC_APPLIED
            forces = [self.forces(k).ravel() for k in range(self.done, last)]
            rows = np.concatenate([rows, np.stack(forces)], axis=1)
        _, sensed = rollout.rollout(
            self.world.model,
            self.data,
            # A rollout writes the states after each step into `state`, and returns
            # sensor data of the states before.
            self.states[self.done][None],
            rows[None],
            control_spec=int(spec),
            initial_warmstart=np.array(self.data.qacc_warmstart)[None],
            state=self.states[None, self.done + 1 : last + 1],
        )
        self._keep(self.done, sensed[0])
        self.done = last
        if self.diverged:
            # After a divergence, the rest of a rollout repeats one state.
            # The first number of a state is its time: it stands still after a
            # divergence.
            steps = self.states[: last + 1, 0] / self.plan.timestep
            is_late = np.abs(steps - np.arange(last + 1)) > 0.5
            if is_late.any():
                self.done = max(int(np.argmax(is_late)) - 2, 0)

    def controlled(self, controller: Controller, last: int) -> None:
        """Step to step `last` with the torques of a controller."""
        data = self.data
        driven = self.world.actuators >= 0
        readings = []
        for number, columns in self.world.sensors.items():
            device = self.world.body.devices[number]
            name = device.name or f"device {number}"
            readings.append(_Reading(name, device, columns, reading_limits(device)))
        for k in range(self.done, last):
            state = self._robot_state(k, readings)
            data.ctrl[self.world.actuators[driven]] = torques(controller, state)[driven]
            self._step(k)
            # The step that diverged, and the one before, are not kept.
            if self.diverged:
                self.done = max(k - 1, 0)
                return

    def _robot_state(self, k: int, readings: Sequence[_Reading]) -> RobotState:
        """Return what a controller knows at step `k`."""
        world = self.world
        moving = world.qpos >= 0
        # Joints that MuJoCo does not move have 0.
        q, dq = np.zeros((2, len(world.qpos)))
        q[moving] = self.data.qpos[world.qpos[moving]]
        dq[moving] = self.data.qvel[world.dofs[moving]]
        sensed = {}
        for reading in readings:
            values = device_values(
                reading.device, self.data.sensordata[reading.columns]
            )
            # As the sensors' `max…` values limit them.
            sensed[reading.name] = np.clip(values, -reading.limit, reading.limit)
        return RobotState(k * self.plan.timestep, q, dq, self.plan.q[k], sensed)

    def _step(self, k: int) -> None:
        """Take one step with belts and pushes, and keep its states and sensors."""
        # Belts move at the speed of their joint.
        for column, geoms, velocities in self.world.crawlers:
            surface = self.plan.dq[k, column] * velocities
            self.world.model.geom_surfacevel[geoms, :3] = surface
        if self.pushes:
            self.data.xfrc_applied[:] = self.forces(k)
        self.mujoco.mj_step(self.world.model, self.data)
        self._keep(k, self.data.sensordata[None])
        self.mujoco.mj_getState(
            self.world.model, self.data, self.states[k + 1], self.kind
        )
        self.done = k + 1

    def keep(self, first: int, qpos: Floats, qvel: Floats, sensed: Floats) -> None:
        """Keep what follows N steps from step `first` on.

        Positions (N, nq) and velocities (N, nv) after each, and sensor data (N, …) of
        the states before. Of a run that has ended or diverged, nothing more is kept.
        """
        count = 0
        if first == self.done:
            count = min(len(qpos), self.plan.steps - first)
        # A device returns positions and velocities alone; the first number of a state
        # is the time.
        times = self.plan.timestep * np.arange(first + 1, first + len(qpos) + 1)
        values = np.concatenate([times[:, None], qpos, qvel], axis=1)
        # Single precision overflows to inf, or becomes NaN.
        is_lost = ~np.isfinite(values[:count]).all(axis=1)
        if is_lost.any():
            count = int(np.argmax(is_lost))
            self._lost = True
        rows = slice(first + 1, first + count + 1)
        self.states[rows, : values.shape[1]] = values[:count]
        self._keep(first, sensed[:count])
        self.done += count

    def _keep(self, first: int, sensed: Floats) -> None:
        """Keep sensor data (N, …) of the states from step `first` on.

        Those of contacts where there are any.
        """
        rows = slice(first, first + len(sensed))
        # Contacts are the last columns, `CONTACT_COLUMNS` for each link.
        num_columns = self.world.contacts
        self.sensors[rows] = sensed[:, :num_columns]
        contacts = sensed[:, num_columns:].reshape(len(sensed), -1, CONTACT_COLUMNS)
        # The first number is that of the contacts found.
        for number in np.flatnonzero(contacts[..., 0].any(axis=0)).tolist():
            if number not in self.contacts:
                shape = self.plan.steps + 1, CONTACT_COLUMNS - 1
                self.contacts[number] = np.zeros(shape)
            self.contacts[number][rows] = contacts[:, number, 1:]

    @property
    def diverged(self) -> bool:
        """Whether MuJoCo met numbers that are not finite, or huge."""
        kinds = self.mujoco.mjtWarning
        return self._lost or any(
            self.data.warning[kind].number
            for kind in (
                kinds.mjWARN_BADQPOS,
                kinds.mjWARN_BADQVEL,
                kinds.mjWARN_BADQACC,
            )
        )

    def forces(self, k: int) -> Floats:
        """Return forces [N] and torques [N m] (B, 6) on the B bodies at step `k`.

        Those of the pushes, in the world's axes.
        """
        forces = np.zeros((self.world.model.nbody, 6))
        for push in self.pushes:
            if push.first <= k < push.end:
                forces[push.body, :3] += push.force
        return forces

    def roots(self, rows: slice) -> Floats:
        """Return the poses (N, 7) of the root in the world at some of the steps."""
        states = self.states[rows]
        # The first number of a state is the time.
        # Without a free root `root` is −1, so the start is 0.
        start = self.world.root + 1
        if start:
            return states[:, start : start + 7].copy()
        return np.tile(self.world.body.root_pose, (len(states), 1))

    def sense(self) -> None:
        """Read the sensors in the last state."""
        self.mujoco.mj_setState(
            self.world.model, self.data, self.states[self.done], self.kind
        )
        # The forward pass would change the start of the next step's solver.
        warm = np.array(self.data.qacc_warmstart)
        self.mujoco.mj_forward(self.world.model, self.data)
        self.data.qacc_warmstart[:] = warm
        self._keep(self.done, self.data.sensordata[None])


@contextmanager
def _reported_memory() -> Iterator[None]:
    """Turn the error of MuJoCo about its own memory into MemoryError."""
    fatal = need("mujoco", "sim", "the simulation").FatalError
    try:
        yield
    except fatal as error:
        raise MemoryError(
            f"the simulation needs more memory than MuJoCo reserves: {error}; "
            "simulate fewer bodies"
        ) from error


@_reported_memory()
def simulate(
    body: Body,
    motion: Motion | None = None,
    *,
    gains: npt.ArrayLike | None = None,
    drive: Literal["servo", "torque", "effort"] = "servo",
    controller: Controller | None = None,
    root: Literal["free", "fixed"] | None = None,
    start: float = 0.0,
    end: float | None = None,
    timestep: float = 1e-3,
    frame_rate: float | None = None,
    floor: bool | None = None,
    friction: float = 1.0,
    objects: Sequence[tuple[Body, npt.ArrayLike]] = (),
    pushes: Sequence[Push] = (),
    self_collision: SelfCollision = "touching",
    limits: bool = True,
    sensors: bool = True,
    until_fall: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> SimulationResult:
    """Simulate a body that follows a motion, or holds its rest pose without one.

    Parameters
    ----------
    motion:
        The motion of the joints. Without poses of the root, it is placed on its feet
        (`bodymotion.dynamics.root_on_feet`); the simulated robot starts at the first
        pose, on the ground, with the velocity of the motion.
    gains:
        kp and kd (J, 2) of the joints; by default
        `bodymotion.model.links.default_gains`. Servos with a kd need a kp.
    drive:
        "servo": position actuators of MuJoCo, torque = kp · (q_cmd − q) + kd · (q̇_cmd
        − q̇), damping integrated implicitly. "torque": the same law computed at each
        step, as a controller with a torque interface does. "effort": the torques of the
        motion's JointEffort.
    controller:
        An object with `step(state: RobotState) -> torques (J,)`; it replaces `drive`.
    root:
        "fixed" holds the root at its start pose, "free" releases it; by default as the
        body has it.
    start, end:
        [s] The part of the motion; without a motion, `end` is the length, by default 5
        s.
    timestep, frame_rate:
        [s] of a step; [Hz] of the frames of the result, by default that of the motion,
        and 100 Hz without one.
    floor, friction:
        Whether there is level ground at z = 0, by default if the root is free; and its
        coefficient of sliding friction.
    objects:
        Further bodies, each with the pose (7,) in the world of the frame of its model.
        Joints of these have no motors.
    pushes, limits, sensors:
        Forces on links; whether limits of joints and efforts are kept; whether devices
        are read.
    self_collision:
        As for `write_mjcf`; "touching" also excludes pairs that overlap in the first
        pose of the motion.
    until_fall:
        End at a fall. Its rule is that of `SimulationResult.fall`.
    progress:
        Called with the number of simulated steps, and of all steps.

    Returns
    -------
    SimulationResult

    Raises
    ------
    ImportError
        Without the extra `sim`.
    ValueError
        When the motion does not fit the body, or an argument is out of its range; the
        message names it.
    ControllerError
        When the controller fails; `partial` of the exception is the simulation so far.
    FormatError
        When the body cannot be written for MuJoCo.
    """
    # All arguments but those of the loop.
    setup = {
        name: value
        for name, value in locals().items()
        if name not in ("until_fall", "progress")
    }
    run, control, controller = _start(**setup)
    world = run.world
    plan = run.plan
    try:
        while run.done < plan.steps:
            first = run.done
            # At least one step, for time steps longer than a chunk.
            last = min(first + max(round(CHUNK / timestep), 1), plan.steps)
            with UNLOGGED:
                if control is not None:
                    run.forward(control, last)
                elif controller is not None:
                    run.controlled(controller, last)
            if progress is not None:
                progress(run.done, plan.steps)
            if run.diverged:
                break
            # The fall is sought in the new steps only.
            if until_fall:
                recent = slice(first, run.done + 1)
                if fallen(world.body, run.roots(recent), plan.root[recent]).any():
                    break
    except KeyboardInterrupt:
        run.interrupted = True
    # What was simulated until the controller failed is not lost.
    except ControllerError as error:
        error.partial = recorded(run, frame_rate)
        raise
    return recorded(run, frame_rate)


def _start(
    body: Body,
    motion: Motion | None,
    *,
    gains: npt.ArrayLike | None,
    drive: str,
    controller: Controller | None,
    root: Literal["free", "fixed"] | None,
    start: float,
    end: float | None,
    timestep: float,
    frame_rate: float | None,
    floor: bool | None,
    friction: float,
    objects: Sequence[tuple[Body, npt.ArrayLike]],
    pushes: Sequence[Push],
    self_collision: SelfCollision,
    limits: bool,
    sensors: bool,
) -> tuple[Run, Floats | None, Controller | None]:
    """Return a run at its start with its controls (steps, nu) or its controller.

    Checks the arguments of `simulate`.
    """
    _check_range("timestep", timestep, 1e-7, 0.02)
    _check_range("friction", friction, 0.0, 1e9)
    if frame_rate is not None:
        _check_range("frame_rate", frame_rate, 1e-9, 1e9)
    _check_word("drive", drive, ("servo", "torque", "effort"))
    _check_word("root", root, (None, "free", "fixed"))
    _check_word("self_collision", self_collision, get_args(SelfCollision))
    _check_objects(objects)
    # What depends on the body alone is computed once for all its simulations.
    robot = robot_of(body, root)
    body = robot.body
    links = [link.name for link in body.links]
    for push in pushes:
        if push.link not in links:
            raise ValueError(
                f"pushes: no link {push.link!r}; {choices(push.link, links)}"
            )
    # A mounted robot needs no ground.
    if floor is None:
        floor = not body.is_mounted
    plan = Plan(body, motion, start, end, timestep, robot.points, floor=floor)
    is_servo = controller is None and drive == "servo"
    used_gains = _check_gains(
        body, robot.default_gains if gains is None else gains, is_servo
    )
    options = WorldOptions(
        gains=used_gains if is_servo else None,
        timestep=timestep,
        self_collision=self_collision,
        friction=friction,
        floor=floor,
        limits=limits,
        sensors=sensors,
    )
    run = Run(robot.world(options, plan.posture, objects), plan, pushes)
    if is_servo:
        # The force of position actuators is kp · (u − q) − kd · q̇, so u = q_cmd +
        # kd/kp · q̇_cmd.
        kp, kd = used_gains.T
        # Joints without kp have no motors: their control is 0.
        control = plan.dq[:-1] * np.divide(kd, kp, out=np.zeros_like(kd), where=kp > 0)
        control += plan.q[:-1]
        return run, run.control(control), None
    if controller is None and drive == "effort":
        return run, run.control(plan.efforts(body, motion)), None
    return run, None, controller or TorqueServo(used_gains, plan)


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name}: expected {low:g} to {high:g}, got {value:g}")


def _check_word(name: str, word: str | None, words: Sequence[str | None]) -> None:
    if word not in words:
        expected = ", ".join(map(str, words))
        raise ValueError(f"{name}: expected one of {expected}, got {word!r}")


def _check_objects(objects: Sequence[tuple[Body, npt.ArrayLike]]) -> None:
    for thing, pose in objects:
        numbers = np.asarray(pose, dtype=np.float64)
        is_pose = numbers.shape == (7,) and np.isfinite(numbers).all()
        if not is_pose or not numbers[3:].any():
            raise ValueError(
                f"objects: {thing.name!r}: expected a pose of 7 finite numbers, "
                "position and quaternion"
            )


def _check_gains(body: Body, gains: npt.ArrayLike, is_servo: bool) -> Floats:
    """Return kp and kd (J, 2), which are 0 for joints without motors."""
    checked = np.array(gains, dtype=np.float64)
    is_shape = checked.shape == (body.num_joints, 2)
    if not is_shape or not np.isfinite(checked).all() or (checked < 0).any():
        raise ValueError(
            f"gains: expected finite kp and kd ({body.num_joints}, 2) of at least 0, "
            f"got shape {checked.shape}"
        )
    # Passive joints have no motors, whatever gains they are given.
    checked[list(passive_joints(body))] = 0.0
    kp, kd = checked.T
    # The control of a servo divides kd by kp.
    without_kp = np.flatnonzero((kp == 0) & (kd > 0))
    if is_servo and len(without_kp):
        name = body.joints[without_kp[0]].name
        raise ValueError(
            f"gains: joint {name!r} has a kd and no kp; give kp, or use drive='torque'"
        )
    return checked


def simulate_many(
    bodies: Body | Sequence[Body],
    motions: Sequence[Motion],
    *,
    workers: int | None = None,
    device: str | None = None,
    **options: Any,  # noqa: ANN401
) -> tuple[SimulationResult, ...]:
    """Simulate many motions, of one body or of one body each, at once.

    Each simulation is one of `simulate`, on a thread of its own: MuJoCo takes the steps
    without the lock of the interpreter. The model of a body is made once. With a
    `device`, all simulations of one model take their steps together, in single
    precision.

    Parameters
    ----------
    bodies:
        One body for all motions, or one for each.
    workers:
        The number of threads; by default that of the cores.
    device:
        A device of Warp, such as "cuda" or "cpu": MuJoCo Warp takes the steps (extra
        `gpu`), without controllers, crawlers and `until_fall`.
    options:
        Those of `simulate`, the same for all.

    Raises
    ------
    WrongUseError
        When the number of bodies is not that of the motions, `workers` is less than 1,
        or a device does not support an option; other errors are those of `simulate`.
    """
    if isinstance(bodies, Body):
        several = [bodies] * len(motions)
    else:
        several = list(bodies)
    if len(several) != len(motions):
        raise WrongUseError(
            f"bodies: expected one, or one for each of {len(motions)} motions, got "
            f"{len(several)}"
        )
    count = (os.cpu_count() or 1) if workers is None else workers
    if count < 1:
        raise WrongUseError(f"workers: expected at least 1, got {workers}")
    if device is None:
        with ThreadPoolExecutor(count) as pool:
            return tuple(pool.map(partial(simulate, **options), several, motions))
    return _simulate_on_device(several, motions, device, options)


def _simulate_on_device(
    bodies: Sequence[Body],
    motions: Sequence[Motion],
    device: str,
    options: Mapping[str, Any],
) -> tuple[SimulationResult, ...]:
    """Simulate motions with MuJoCo Warp, those of one model together."""
    from bodymotion.simulation.warp import step_together

    # The defaults of `simulate` hold here, too.
    settings = {
        name: parameter.default
        for name, parameter in signature(simulate).parameters.items()
    }
    settings.update(options)
    frame_rate = settings["frame_rate"]
    until_fall = settings.pop("until_fall")
    progress = settings.pop("progress") or (lambda done, total: None)
    runs = []
    # Runs of one model share what is known of it.
    groups: dict[int, list[tuple[Run, Floats]]] = {}
    for body, motion in zip(bodies, motions, strict=True):
        settings |= {"body": body, "motion": motion}
        run, control, _ = _start(**settings)
        if control is None or run.world.crawlers or until_fall:
            raise WrongUseError(
                f"device {device!r}: expected no controller, drive 'servo' or "
                "'effort', no crawlers, and no until_fall"
            )
        runs.append(run)
        groups.setdefault(id(run.world.effort), []).append((run, control))
    for group in groups.values():
        step_together(group, device, progress)
    return tuple(recorded(run, frame_rate) for run in runs)
