"""Run a simulation: commands, start, steps, and what is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import counted
from bodymotion.dynamics import Measures, Reading, measure
from bodymotion.formats.mjcf.standing import SelfCollision, home_posture, lowest_point
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.links import ForceSensor
from bodymotion.model.motors import default_gains, passive_joints
from bodymotion.motion import Motion
from bodymotion.motion.components import JOINT_EFFORT, MultiValueSeq
from bodymotion.motion.interpolation import sampled
from bodymotion.simulation import rules
from bodymotion.simulation.result import Simulation, fall_time
from bodymotion.simulation.world import World, build_world
from bodymotion.system.extras import need
from bodymotion.system.memory import check_memory

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.model.body import Body

__all__ = ["Controller", "ControllerError", "Push", "RobotState", "simulate"]

CHUNK = 0.25
"""[s] Steps are taken in chunks of this length; between them a fall is noticed and Ctrl-C takes effect."""
DEFAULT_SECONDS = 5.0
"""[s] Length of a simulation without a motion and without an end."""
MAX_LIFT = 0.1
"""[m] A start pose whose lowest point is at most this far from the ground is put on it."""


@dataclass(frozen=True)
class Push:
    """A force (3,) [N] in the world's axes on the centre of mass of a link, from `time` [s] for `duration` [s]."""

    time: float
    link: str
    force: tuple[float, float, float]
    duration: float = 0.1


@dataclass(frozen=True)
class RobotState:
    """What a controller gets at each step.

    Attributes
    ----------
    time:
        [s] since the start.
    q, dq:
        (J,) joint values and velocities, in order of joint columns.
    command:
        (J,) the joint values of the motion at this time.
    sensors:
        By the name of a device, what it reads: (3,) of a gyro and an accelerometer, (6,) of a force sensor. Values are those of the
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
    """A controller raised an error or returned something else than finite torques (J,); the message has the time."""


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
    progress: Callable[[float, float], None] | None = None,
) -> Simulation:
    """Simulate a body that follows a motion, or that stands without one.

    Parameters
    ----------
    motion:
        What the joints are to do. Without poses of the root, it is placed on its feet (`bodymotion.dynamics.root_on_feet`); the simulated
        robot starts at the first pose, on the ground, with the velocity of the motion.
    gains:
        kp and kd (J, 2) of the joints; by default `bodymotion.model.motors.default_gains`.
    drive:
        "servo": position actuators of MuJoCo, torque = kp · (q_cmd − q) + kd · (q̇_cmd − q̇), damping integrated implicitly. "torque": the
        same law computed at each step, as a controller with a torque interface does. "effort": the torques of the motion's JointEffort.
    controller:
        An object with `step(state: RobotState) -> torques (J,)`; it replaces `drive`.
    root:
        "fixed" holds the root at its start pose, "free" releases it; by default as the body has it.
    start, end:
        [s] The part of the motion; without a motion, `end` is the length, by default 5 s.
    timestep, frame_rate:
        [s] of a step; [Hz] of the frames of the result, by default that of the motion, and 100 Hz without one.
    floor, friction:
        Whether there is level ground at z = 0, by default if the root is free; and its coefficient of sliding friction.
    objects:
        Further bodies, each with the pose (7,) in the world of the frame of its model. Joints of these have no motors.
    pushes, limits, sensors:
        Forces on links; whether limits of joints and efforts are kept; whether devices are read.
    self_collision:
        As for `write_mjcf`; "touching" also excludes pairs that overlap in the first pose of the motion.
    until_fall:
        End at a fall. Its rule is that of `Simulation.fall`.
    progress:
        Called with the simulated time and the whole time [s].

    Returns
    -------
    Simulation

    Raises
    ------
    ImportError
        Without the extra `sim`.
    ValueError
        When the motion does not fit the body, or an argument is out of its range; the message names it.
    ControllerError
        When the controller fails; `partial` of the exception is the simulation so far.
    FormatError
        When the body cannot be written for MuJoCo.
    """
    if not 0 < timestep <= 0.02:
        raise ValueError(f"timestep: expected more than 0 and at most 0.02 s, got {timestep:g}")
    if root is not None and body.links:
        joint = replace(body.links[0].joint, type="free" if root == "free" else "fixed")
        body = replace(body, links=(replace(body.links[0], joint=joint), *body.links[1:]))
    floor = not body.is_mounted if floor is None else floor
    plan = None if motion is None else measure(body, motion, derivative="central")
    command = _Command(body, plan, start, end, timestep, floor=floor)
    posture = _start_posture(body, command, floor=floor)
    table = np.array(default_gains(body) if gains is None else gains, dtype=np.float64)
    if table.shape != (body.num_joints, 2) or not np.isfinite(table).all() or (table < 0).any():
        raise ValueError(
            f"gains: expected finite kp and kd ({body.num_joints}, 2) of at least 0, got shape {table.shape}"
        )
    table[list(passive_joints(body))] = 0.0
    efforts = None
    if controller is None and drive != "servo":
        efforts = _efforts(body, motion, command) if drive == "effort" else None
        controller = controller if efforts is not None else _TorqueServo(table, command)
    servo = controller is None and efforts is None
    world = build_world(
        body,
        gains=table if servo else None,
        posture=posture,
        timestep=timestep,
        self_collision=self_collision,
        friction=friction,
        floor=floor,
        objects=objects,
        limits=limits,
        sensors=sensors,
    )
    run = _Run(world, command, posture, _pushed(world, pushes, command))
    if servo:
        control = run.servo_control(table)
    elif efforts is not None:
        control = run.torque_control(efforts)
    try:
        while run.done < command.steps:
            last = min(run.done + max(round(CHUNK / timestep), 1), command.steps)
            if controller is not None:
                run.controlled(controller, last)
            else:
                run.forward(control, last)
            if progress is not None:
                progress(run.done * timestep, command.steps * timestep)
            if run.diverged:
                break
            if until_fall and run.result(frame_rate, plan).fall is not None:
                break
    except KeyboardInterrupt:
        run.interrupted = True
    except ControllerError as error:
        error.partial = run.result(frame_rate, plan)  # type: ignore[attr-defined]
        raise
    return run.result(frame_rate, plan)


class _Command:
    """The joint values and root poses of the plan at each step k, at the times k·timestep."""

    def __init__(
        self, body: Body, plan: Measures | None, start: float, end: float | None, timestep: float, *, floor: bool
    ) -> None:
        if plan is not None:
            first, last = float(plan.times[0]), float(plan.times[-1])
            start = max(start, first)
            end = last if end is None else end
        else:
            end = DEFAULT_SECONDS if end is None else end
        if not start < end < start + 1e5:
            raise ValueError(
                f"the simulation would last from {start:g} s to {end:g} s; expected an end after the start"
            )
        self.start, self.timestep, self.has_plan = start, timestep, plan is not None
        self.steps = max(round((end - start) / timestep), 1)
        check_memory(self.steps * 8 * (4 * body.num_joints + 500), f"a simulation of {self.steps} steps")
        times = start + timestep * np.arange(-1, self.steps + 1)
        if plan is None:
            q, root = home_posture(body)
            root = root if floor else np.array(body.root_pose)
            self.q, self.root = np.tile(q, (self.steps + 1, 1)), np.tile(root, (self.steps + 1, 1))
            self.dq = np.zeros_like(self.q)
            return
        method: Literal["linear", "cubic"] = "cubic" if len(plan.times) > 3 else "linear"
        values = sampled(np.ascontiguousarray(plan.joint_displacements), plan.times, times, method)
        self.q, self.dq = values[1:], np.diff(values, axis=0) / timestep
        if start <= plan.times[0]:
            self.dq[0] = self.dq[1]
        roots = np.ascontiguousarray(plan.root_poses)[:, None]
        self.root = sampled(roots, plan.times, times[1:], "linear")[:, 0]


def _start_posture(body: Body, command: _Command, *, floor: bool) -> tuple[Floats, Floats]:
    """Return joint values (J,) and a root pose (7,) to start from: loops closed, and the feet on the ground."""
    q, root = command.q[0], np.array(command.root[0])
    root[3:] = rotations.normalized(root[3:])
    if body.extra_joints:
        from bodymotion.model.closed_loops import close_loops

        q = close_loops(body, q).q
    if floor and not body.is_mounted:
        low = lowest_point(body, q, root)
        if low is not None and (abs(low) <= MAX_LIFT or not command.has_plan):
            command.root[:, 2] -= low
            root[2] -= low
    return q, root


def _efforts(body: Body, motion: Motion | None, command: _Command) -> Floats:
    found = (
        []
        if motion is None
        else [c for c in motion.components if isinstance(c, MultiValueSeq) and c.content == JOINT_EFFORT]
    )
    if not found:
        raise ValueError(f"drive='effort' needs a motion with the component {JOINT_EFFORT}")
    values = np.ascontiguousarray(body.joint_values(found[-1]))
    times = command.start + command.timestep * np.arange(command.steps)
    return sampled(values, found[-1].timeline.times, times, "linear")


class _TorqueServo:
    """The law of the servo as a controller of torques."""

    def __init__(self, gains: Floats, command: _Command) -> None:
        self.gains, self.command = gains, command

    def step(self, state: RobotState) -> Floats:
        k = min(round(state.time / self.command.timestep), self.command.steps)
        kp, kd = self.gains.T
        return np.asarray(kp * (self.command.q[k] - state.q) + kd * (self.command.dq[k] - state.dq))


def _pushed(world: World, pushes: Sequence[Push], command: _Command) -> list[tuple[int, int, int, Floats]]:
    """Return the first and last step of each push, its MuJoCo body, and its force."""
    found = []
    for push in pushes:
        index = world.body.link(push.link).index
        first, last = (round((t - command.start) / command.timestep) for t in (push.time, push.time + push.duration))
        found.append((first, last, int(world.bodies[index]), np.array(push.force, dtype=np.float64)))
    return found


class _Run:
    """The steps of one simulation, and what is recorded of each: the state before it, and the sensors in that state."""

    def __init__(
        self,
        world: World,
        command: _Command,
        posture: tuple[Floats, Floats],
        pushes: list[tuple[int, int, int, Floats]],
    ) -> None:
        self.mujoco = need("mujoco", "sim", "the simulation")
        self.world, self.command, self.pushes = world, command, pushes
        model, moving = world.model, world.qpos >= 0
        self.data = data = self.mujoco.MjData(model)
        data.qpos[world.qpos[moving]] = posture[0][moving]
        data.qvel[world.dofs[moving]] = command.dq[0][moving]
        if world.root >= 0:
            data.qpos[world.root : world.root + 7] = posture[1]
            turn = rotations.multiply(command.root[1, 3:], rotations.conjugate(command.root[0, 3:]))
            axis, angle = rotations.to_axis_angle(turn)
            dof = model.joint(model.body_jntadr[world.bodies[0]]).dofadr[0]
            data.qvel[dof : dof + 3] = (command.root[1, :3] - command.root[0, :3]) / command.timestep
            data.qvel[dof + 3 : dof + 6] = rotations.rotate(
                rotations.conjugate(posture[1][3:]), axis * angle / command.timestep
            )
        self.kind = self.mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.states = np.zeros((command.steps + 1, self.mujoco.mj_stateSize(model, self.kind)))
        self.sensors = np.zeros((command.steps + 1, model.nsensordata))
        self.mujoco.mj_getState(model, data, self.states[0], self.kind)
        self.done = 0
        self.interrupted = False

    def servo_control(self, gains: Floats) -> Floats:
        """Return the controls (steps, nu) of position actuators: force = kp · (u − q) − kd · q̇, so u = q_cmd + kd/kp · q̇_cmd."""
        kp, kd = gains.T
        lead = np.divide(kd, kp, out=np.zeros_like(kd), where=kp > 0)
        return self.torque_control(self.command.q[:-1] + lead * self.command.dq[:-1])

    def torque_control(self, values: Floats) -> Floats:
        """Return values (steps, J) of joints as controls (steps, nu)."""
        driven = self.world.actuators >= 0
        control = np.zeros((self.command.steps, self.world.model.nu))
        control[:, self.world.actuators[driven]] = values[:, driven]
        return control

    def forward(self, control: Floats, last: int) -> None:
        """Step to step `last`, by `mujoco.rollout` where nothing but controls and pushes changes."""
        model, data = self.world.model, self.data
        if self.world.crawlers:
            for k in range(self.done, last):
                data.ctrl[:] = control[k]
                self._step(k)
            return
        rollout = need("mujoco.rollout", "sim", "the simulation")
        spec, rows = self.mujoco.mjtState.mjSTATE_CTRL, control[self.done : last]
        if any(first < last and until > self.done for first, until, _, _ in self.pushes):
            spec |= self.mujoco.mjtState.mjSTATE_XFRC_APPLIED
            rows = np.concatenate([rows, np.stack([self._forces(k).ravel() for k in range(self.done, last)])], axis=1)
        before = slice(self.done, last)
        states, sensors = rollout.rollout(
            model,
            data,
            self.states[self.done][None],
            rows[None],
            control_spec=int(spec),
            initial_warmstart=np.array(data.qacc_warmstart)[None],
        )
        self.states[self.done + 1 : last + 1], self.sensors[before] = states[0], sensors[0]
        self.done = last
        if self.diverged:
            # After a divergence, the rest of a rollout repeats one state.
            late = (
                np.abs(self.states[: last + 1, 0] - self.command.timestep * np.arange(last + 1))
                > 0.5 * self.command.timestep
            )
            self.done = max(int(np.argmax(late)) - 2, 0) if late.any() else last

    def controlled(self, controller: Controller, last: int) -> None:
        """Step to step `last` with the torques of a controller."""
        world, data = self.world, self.data
        driven, moving = world.actuators >= 0, world.qpos >= 0
        names = {number: world.body.devices[number].name or f"device {number}" for number in world.sensors}
        for k in range(self.done, last):
            q, dq = np.zeros((2, len(world.qpos)))
            q[moving], dq[moving] = data.qpos[world.qpos[moving]], data.qvel[world.dofs[moving]]
            sensed = {
                name: _signed(world, number, data.sensordata[world.sensors[number]]) for number, name in names.items()
            }
            time = k * self.command.timestep
            try:
                torques = np.asarray(
                    controller.step(RobotState(time, q, dq, self.command.q[k], sensed)), dtype=np.float64
                )
            except Exception as error:
                raise ControllerError(
                    f"the controller failed at {time:g} s: {type(error).__name__}: {error}"
                ) from error
            if torques.shape != q.shape or not np.isfinite(torques).all():
                what = "numbers that are not finite" if torques.shape == q.shape else f"shape {torques.shape}"
                raise ControllerError(f"the controller returned {what} at {time:g} s; expected {len(q)} finite torques")
            data.ctrl[world.actuators[driven]] = torques[driven]
            self._step(k)
            if self.diverged:
                self.done = max(k - 1, 0)
                return

    def _step(self, k: int) -> None:
        for column, geoms, ahead in self.world.crawlers:
            self.world.model.geom_surfacevel[geoms, :3] = self.command.dq[k, column] * ahead
        if self.pushes:
            self.data.xfrc_applied[:] = self._forces(k)
        self.mujoco.mj_step(self.world.model, self.data)
        self.sensors[k] = self.data.sensordata
        self.mujoco.mj_getState(self.world.model, self.data, self.states[k + 1], self.kind)
        self.done = k + 1

    @property
    def diverged(self) -> bool:
        """Whether MuJoCo met numbers that are not finite, or huge."""
        kinds = self.mujoco.mjtWarning
        return any(
            self.data.warning[kind].number
            for kind in (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC)
        )

    def _forces(self, k: int) -> Floats:
        forces = np.zeros((self.world.model.nbody, 6))
        for first, until, body, force in self.pushes:
            if first <= k < until:
                forces[body, :3] += force
        return forces

    def result(self, frame_rate: float | None, plan: Measures | None) -> Simulation:
        """Return what was simulated so far."""
        self.mujoco.mj_setState(self.world.model, self.data, self.states[self.done], self.kind)
        warm = np.array(self.data.qacc_warmstart)
        self.mujoco.mj_forward(self.world.model, self.data)
        self.data.qacc_warmstart[:] = warm
        self.sensors[self.done] = self.data.sensordata
        return _recorded(self, frame_rate, plan)


def _signed(world: World, number: int, values: Floats) -> Floats:
    """Return what a device reads, limited, of MuJoCo's sensor data (..., 3 or 6).

    The force sensor of MuJoCo is what the parent exerts on the link, that of OpenHRP what the link exerts on its parent.
    """
    device = world.body.devices[number]
    values = -values if isinstance(device, ForceSensor) else values
    most = [np.ravel(getattr(device, name)) for name in LIMITS if hasattr(device, name)]
    limit = np.concatenate(most)
    limit = np.where(limit < 0, np.inf, limit)
    return np.clip(values, -limit, limit)


LIMITS = ("max_acceleration", "max_angular_velocity", "max_force", "max_torque")
"""The fields of devices that limit what they read."""


def _recorded(run: _Run, frame_rate: float | None, plan: Measures | None) -> Simulation:
    world, command, count = run.world, run.command, run.done + 1
    states, sensed = run.states[:count, 1:], run.sensors[:count]
    q = np.zeros((count, len(world.qpos)))
    q[:, world.qpos >= 0] = states[:, world.qpos[world.qpos >= 0]]
    for column, _, _ in world.crawlers:
        q[:, column] = command.q[:count, column]
    dq = np.zeros_like(q)
    dq[:, world.dofs >= 0] = states[:, world.model.nq + world.dofs[world.dofs >= 0]]
    root = states[:, world.root : world.root + 7] if world.root >= 0 else np.tile(world.body.root_pose, (count, 1))
    effort = np.zeros_like(q)
    effort[:, world.effort >= 0] = sensed[:, world.effort[world.effort >= 0]]
    times: Floats = np.asarray(command.timestep * np.arange(count), dtype=np.float64)
    contacts = -sensed[:, world.contacts][..., 1:]
    contacts[..., 6:] *= -1.0
    readings = []
    for number, columns in world.sensors.items():
        device = world.body.devices[number]
        values = _signed(world, number, sensed[:, columns])
        names = tuple(kind + axis for kind in "ft" for axis in "xyz") if values.shape[1] == 6 else tuple("xyz")
        units = {6: ("N",) * 3 + ("Nm",) * 3}.get(values.shape[1]) or (
            ("m/s²",) if hasattr(device, LIMITS[0]) else ("rad/s",)
        ) * 3
        readings.append(Reading(device, times, values, np.abs(values) < np.abs(sensed[:, columns]), names, units))
    default = 100.0
    if plan is not None and len(plan.times) > 1:
        default = (len(plan.times) - 1) / float(plan.times[-1] - plan.times[0])
    return Simulation(
        body=world.body,
        model=world.model,
        times=times,
        q=q,
        dq=dq,
        root=np.array(root),
        effort=effort,
        states=states,
        link_names=tuple(link.name for link in world.body.links),
        bodies=world.bodies,
        touching=world.touching,
        contact_forces=contacts,
        command=command.q[:count],
        planned_root=command.root[:count],
        readings=tuple(readings),
        frame_rate=min(frame_rate or default, 1.0 / command.timestep),
        interrupted=run.interrupted,
        diverged=run.diverged,
        problems=(*world.problems, *(() if plan is None else plan.problems), *_saturated(world, effort)),
        fall=fall_time(world.body, times, np.array(root), command.root[:count]),
    )


def _saturated(world: World, effort: Floats) -> list[Problem]:
    """Return a problem for the motors that were at their limits; `effort` (N, J) is that of the joints."""
    found: dict[str, float] = {}
    for column, number in enumerate(world.actuators):
        if number >= 0 and world.model.actuator_forcelimited[number]:
            low, high = world.model.actuator_forcerange[number]
            share = float(np.mean((effort[:, column] <= low) | (effort[:, column] >= high)))
            if share > 0:
                found[world.body.joints[column].name or f"joint {column}"] = share
    if not found:
        return []
    worst = sorted(found.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name} {100 * share:.2g} %" for name, share in worst[:6]) + (" …" if len(worst) > 6 else "")
    message = f"{counted(len(found), 'motor')} at the limit of effort for a part of the time: {shown}"
    return [rules.SATURATED.problem(message, data={"joints": found})]
