"""The result of a simulation, and what is recorded for it.

From states and sensors of MuJoCo to joints, contacts and readings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.diagnostics import Problem, Rule
from bodymotion.diagnostics.text import counted
from bodymotion.dynamics import CameraFrames, Measures, Reading, camera_frames, measure
from bodymotion.dynamics.contacts import longest_slip
from bodymotion.dynamics.sensors import (
    Thing,
    limited_reading,
    ray_directions,
    scan_times,
)
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, ContentEquality, Floats, Indices
from bodymotion.model.body import Body
from bodymotion.model.links import (
    Device,
    ForceSensor,
    RangeSensor,
    VisionSensor,
    floats_in_world,
)
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Timeline, Vector3Seq
from bodymotion.motion.components import (
    JOINT_DISPLACEMENT,
    JOINT_EFFORT,
    LINK_POSITION,
    ZMP,
)
from bodymotion.simulation import rules
from bodymotion.system.deferred import need

if TYPE_CHECKING:
    from bodymotion.simulation.simulating import Run
    from bodymotion.simulation.world import World

# [rad] A root that is tilted by more than this has fallen. Against its planned
# orientation.
FALL_ANGLE = np.pi / 4
# A root that is lower than this share of its planned height has fallen. If it is also
# lower than planned by more than `MIN_FALL`.
FALL_HEIGHT = 0.5
# [m] Roots are planned lower than this where the model has them at its soles.
MIN_FALL = 0.02
# [N] There is a ZMP where the ground pushes upwards with at least this force.
MIN_FORCE = 1.0


# The numbers of a contact: force (3,), torque (3,) and position (3,).
CONTACT_NUMBERS = 9


@dataclass(frozen=True, eq=False)
class SimulationResult(ContentEquality):
    """The result of a simulation.

    N steps, at times 0, timestep, …, of a body with L links and J joint columns.

    Attributes
    ----------
    times:
        (N,) [s] since the start of the simulation.
    q, dq, effort:
        (N, J) joint values, velocities, and the torques [N m] (forces [N]) of the
        motors.
    root, planned_root:
        (N, 7) poses of the root link in the world: simulated, and of the motion.
    command:
        (N, J) joint values of the motion.
    states, bodies:
        (N, S) positions and velocities of everything in the MuJoCo model `model`; (L,)
        the numbers of the links there.
    contact_forces:
        (N, C, 9) for each link that touched anything, those in `touching`: the net
        force [N] and torque [N m] on it from all its contacts, in the world's axes and
        about the point that follows: the centre of the contacts [m].
    readings:
        The readings of gyros, accelerometers and force sensors at each step.
    fall:
        [s] The time of the fall, None without a fall: its root is tilted by more than
        45° against the plan, or below it by more than half of its planned height and
        more than 2 cm. A fixed root never falls.
    scenery:
        The environment that cameras see: the ground, and the further bodies at their
        start poses.
    planned_time:
        [s] The time that was to be simulated; less was after a divergence, an
        interruption, or a fall with `until_fall`.
    interrupted, diverged:
        Whether Ctrl-C ended the simulation, and whether it ended because numbers were
        not finite or huge.
    """

    body: Body
    model: Any = field(repr=False)
    times: Floats
    q: Floats
    dq: Floats
    root: Floats
    effort: Floats
    states: Floats
    bodies: Indices
    touching: tuple[int, ...]
    contact_forces: Floats
    command: Floats
    planned_root: Floats
    readings: tuple[Reading, ...]
    frame_rate: float
    fall: float | None = None
    interrupted: bool = False
    diverged: bool = False
    problems: tuple[Problem, ...] = ()
    planned_time: float | None = None
    scenery: tuple[Thing, ...] = field(default=(), repr=False)

    def _summary(self) -> str:
        if self.fall is None:
            ended = ""
        else:
            ended = f", falls at {self.fall:.3f} s"
        if self.diverged:
            ended += f", diverges at {self.times[-1]:.3f} s"
        return (
            f"SimulationResult({self.body.name!r}: {self.times[-1]:g} s in "
            f"{len(self.times)} steps{ended})"
        )

    @property
    def has_failed(self) -> bool:
        """Whether the robot falls or the simulation diverges."""
        return self.diverged or self.fall is not None

    @property
    def end_text(self) -> str:
        """How the simulation ends, in words.

        Whether the robot falls, and whether less was simulated than planned.
        """
        parts = []
        if self.fall is not None:
            parts.append(f"falls at {self.fall:.3f} s")
        if self.diverged:
            parts.append(
                f"diverges at {self.times[-1]:.3f} s: numbers are no longer finite"
            )
        if self.interrupted:
            parts.append("interrupted")
        if not parts:
            parts.append("does not fall")
        if self.planned_time is not None and self.is_short:
            parts.append(f"{self.planned_time:.3f} s were planned")
        return "; ".join(parts)

    @property
    def is_short(self) -> bool:
        """Whether less was simulated than planned, by more than one step."""
        if self.planned_time is None or len(self.times) < 2:
            return self.planned_time is not None and self.planned_time > 0
        # The time of the second state is the step.
        step = float(self.times[1])
        return float(self.times[-1]) < self.planned_time - 1.5 * step

    @cached_property
    def zmp(self) -> Floats:
        """(N, 3) [m] the zero moment point on the ground z = 0 of the contact forces.

        The point before where nothing is carried.

        For the sum of forces f and of torques τ about the origin: x = −τ_y/f_z, y =
        τ_x/f_z.
        """
        # Forces and torques on the links and the points where they act (N, K), from
        # contacts.
        fx, fy, fz, about_x, about_y, _, x, y, z = np.moveaxis(
            self.contact_forces, -1, 0
        )
        total = fz.sum(axis=1)
        found = np.zeros((len(total), 3))
        # In flight there is no such point.
        carried = total > MIN_FORCE
        np.divide(
            (x * fz - z * fx - about_y).sum(axis=1),
            total,
            out=found[:, 0],
            where=carried,
        )
        np.divide(
            (about_x + y * fz - z * fy).sum(axis=1),
            total,
            out=found[:, 1],
            where=carried,
        )
        # The last step before in which something was carried.
        last = np.maximum.accumulate(np.where(carried, np.arange(len(found)), 0))
        return found[last]

    def _link_poses(self, rows: Indices) -> Floats:
        """Return the poses (N, L, 7) of all links in the world at some of the steps."""
        found = self.body.forward_kinematics(self.q[rows], self.root[rows])
        # A link that floats in the world is where the simulator has it: its free joint
        # has no joint column.
        for link in self.body.links:
            if not floats_in_world(self.body, link.index):
                continue
            joint = self.model.body_jntadr[self.bodies[link.index]]
            start = self.model.jnt_qposadr[joint]
            simulated = self.states[rows, start : start + 7]
            # All that the free link carries moves with it.
            moved = poses.compose(simulated, poses.inverse(found[:, link.index]))
            for other in self.body.links[link.index :]:
                if link.index in self.body.path_to_root(other.index):
                    at_rest = found[:, other.index]
                    found[:, other.index] = poses.compose(moved, at_rest)
        return found

    @cached_property
    def motion(self) -> Motion:
        """The simulated motion at `frame_rate`.

        Joint displacements, poses of all links, ZMP, joint efforts.
        """
        if len(self.times) > 1:
            step = float(self.times[1])
        else:
            step = 1.0
        # The margin keeps a frame at the very end from being lost by rounding.
        count = int(np.floor(self.times[-1] * self.frame_rate + 1e-6)) + 1
        # The nearest step to each frame.
        rows = np.minimum(
            np.rint(np.arange(count) / self.frame_rate / step).astype(int),
            len(self.times) - 1,
        )
        timeline = Timeline.uniform(count, self.frame_rate)
        names = tuple(joint.name for joint in self.body.joints)
        links = tuple(link.name for link in self.body.links)
        link_poses = self._link_poses(rows)
        return Motion(
            (
                MultiValueSeq(
                    content=JOINT_DISPLACEMENT,
                    timeline=timeline,
                    values=self.q[rows],
                    part_labels=names,
                ),
                MultiSE3Seq(
                    content=LINK_POSITION,
                    timeline=timeline,
                    values=link_poses,
                    part_labels=links,
                ),
                Vector3Seq(content=ZMP, timeline=timeline, values=self.zmp[rows]),
                MultiValueSeq(
                    content=JOINT_EFFORT,
                    timeline=timeline,
                    values=self.effort[rows],
                    part_labels=names,
                ),
            )
        )

    @cached_property
    def measures(self) -> Measures:
        """The measures of the simulated motion, such as velocities, contacts and slip.

        See `bodymotion.dynamics.measure`.
        """
        return measure(self.body, self.motion, ground=0.0)

    def read(self, device: Device) -> Reading:
        """Return what a sensor read at each step, or a range sensor at each scan.

        Gyros, accelerometers and force sensors.

        Rays meet everything in the model but the sensor's own link; they are as
        `bodymotion.dynamics.ray_directions` has them.

        Raises
        ------
        ValueError
            For any other device, or where the simulation was without sensors.
        """
        for reading in self.readings:
            if reading.device == device:
                return reading
        if not isinstance(device, RangeSensor):
            raise ValueError(
                f"{device.kind} {device.name!r} was not read; gyros, accelerometers, "
                "force and range sensors can be"
            )
        mujoco = need("mujoco", "sim", "the simulation")
        data = mujoco.MjData(self.model)
        times = scan_times(device, self.times)
        rays = ray_directions(device)
        # The first step not before the scan.
        steps = np.searchsorted(self.times, times - 1e-9)
        links = self._link_poses(steps)
        placed = poses.compose(links[:, device.link], device.pose)
        values = np.zeros((len(times), len(rays)))
        geom = np.zeros(len(rays), dtype=np.int32)
        found = np.zeros(len(rays))
        for row, step in enumerate(steps):
            # Kinematics alone place the geoms; no step is taken.
            data.qpos[:] = self.states[step, : self.model.nq]
            mujoco.mj_kinematics(self.model, data)
            ways = np.ascontiguousarray(rotations.rotate(placed[row, 3:], rays))
            link = int(self.bodies[device.link])
            if device.max_distance > 0:
                longest = device.max_distance
            else:
                longest = 1e9
            mujoco.mj_multiRay(
                self.model,
                data,
                placed[row, :3],
                ways.ravel(),
                None,
                # All geom groups; static geoms, too; not the sensor's own link.
                1,
                link,
                geom,
                found,
                None,
                len(rays),
                longest,
            )
            # −1: the ray meets nothing.
            values[row] = np.where((found < 0) | (found > longest), np.inf, found)
        columns = tuple(f"{angle:.6g}" for angle in device.ray_angles)
        return Reading(
            device, times, values, np.isinf(values), columns, ("m",) * len(columns)
        )

    def camera_frames(self, device: VisionSensor) -> CameraFrames:
        """Return the frames of a camera of the body along the simulated motion.

        At its frame rate; see `bodymotion.dynamics.camera_frames`.
        """
        return camera_frames(self.measures, device, self.scenery)

    @cached_property
    def joint_errors(self) -> Floats:
        """(J,) root mean square of command − q [rad or m]."""
        return np.asarray(np.sqrt(np.mean((self.command - self.q) ** 2, axis=0)))

    @cached_property
    def root_error(self) -> float:
        """The largest distance [m] of the root from its planned position."""
        return float(
            np.linalg.norm(self.root[:, :3] - self.planned_root[:, :3], axis=1).max()
        )

    @property
    def root_error_at_end(self) -> float:
        """The distance [m] of the root from its planned position at the end."""
        return float(np.linalg.norm(self.root[-1, :3] - self.planned_root[-1, :3]))

    @cached_property
    def slip(self) -> float:
        """The largest distance [m] that a foot slips while it is in contact.

        See `bodymotion.dynamics.foot_slips`.

        0 without feet.
        """
        return longest_slip(self.measures.contacts, self.measures.times)

    @cached_property
    def energy(self) -> float:
        """The mechanical work [J] of the motors, positive or negative.

        Σ |effort · dq| · dt.
        """
        if len(self.times) > 1:
            step = float(self.times[1])
        else:
            step = 0.0
        return float(np.abs(self.effort * self.dq).sum() * step)

    @cached_property
    def worst_contact(self) -> tuple[str, float, float]:
        """The link with the largest contact force, this force [N], and its time [s].

        `("", 0, 0)` without contacts.
        """
        sizes = np.linalg.norm(self.contact_forces[..., :3], axis=-1)
        if not sizes.size or not sizes.any():
            return "", 0.0, 0.0
        row, column = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
        return (
            self.body.links[self.touching[column]].name,
            float(sizes[row, column]),
            float(self.times[row]),
        )


def fallen(body: Body, root: Floats, planned: Floats) -> Bools:
    """Return in which steps (N,) a robot has fallen, from root poses (N, 7).

    The rule is that of `SimulationResult.fall`.
    """
    if body.is_mounted:
        return np.zeros(len(root), dtype=np.bool_)
    up = np.array([0.0, 0.0, 1.0])
    # The cosine of the angle between the root's up and that of the plan.
    tilt = np.einsum(
        "ni,ni->n",
        rotations.rotate(root[:, 3:], up),
        rotations.rotate(planned[:, 3:], up),
    )
    # A low robot falls by little: the limit is a share of its height, but at least
    # `MIN_FALL`.
    below = planned[:, 2] - root[:, 2]
    return np.asarray(
        (tilt < np.cos(FALL_ANGLE))
        | (below > np.maximum(FALL_HEIGHT * np.abs(planned[:, 2]), MIN_FALL))
    )


def device_values(device: Device, values: Floats) -> Floats:
    """Return what a device reads without its limits, of sensor data (..., 3 or 6).

    The force sensor of MuJoCo is what the parent exerts on the link, that of OpenHRP
    what the link exerts on its parent.
    """
    if isinstance(device, ForceSensor):
        return -values
    return values


def recorded(run: Run, frame_rate: float | None) -> SimulationResult:
    """Return what was simulated so far."""
    # The last state has no sensor data yet.
    run.sense()
    world = run.world
    plan = run.plan
    count = run.done + 1
    states = run.states[:count, 1:]
    sensed = run.sensors[:count]
    q = columns_or_zeros(states, world.qpos)
    effort = columns_or_zeros(sensed, world.effort)
    # Velocities follow the positions in a state.
    dq = columns_or_zeros(
        states, np.where(world.dofs >= 0, world.model.nq + world.dofs, -1)
    )
    # A belt has no position in MuJoCo: it follows its command.
    for column, _, _ in world.crawlers:
        q[:, column] = plan.q[:count, column]
    root = run.roots(slice(count))
    down = fallen(world.body, root, plan.root[:count])
    times: Floats = np.asarray(plan.timestep * np.arange(count), dtype=np.float64)
    touching = sorted(run.contacts)
    contacts = np.zeros((count, len(touching), CONTACT_NUMBERS))
    for k, number in enumerate(touching):
        contacts[:, k] = run.contacts[number][:count]
    # MuJoCo has the force on what touches the link.
    contacts[..., :6] *= -1.0
    devices = world.body.devices
    readings = tuple(
        limited_reading(
            devices[number], times, device_values(devices[number], sensed[:, columns])
        )
        for number, columns in world.sensors.items()
    )
    at_limits = _check_limits(world, dq, effort)
    if run.diverged:
        # Limits that are exceeded then have the same cause.
        at_limits = [_divergence(world.body, dq[-1], float(times[-1]))]
    return SimulationResult(
        body=world.body,
        model=world.model,
        times=times,
        q=q,
        dq=dq,
        root=root,
        effort=effort,
        states=states,
        bodies=world.bodies,
        touching=tuple(world.touching[k] for k in touching),
        contact_forces=contacts,
        command=plan.q[:count],
        planned_root=plan.root[:count],
        readings=readings,
        # No more frames than steps.
        frame_rate=min(frame_rate or plan.frame_rate, 1.0 / plan.timestep),
        interrupted=run.interrupted,
        diverged=run.diverged,
        planned_time=plan.steps * plan.timestep,
        problems=(*world.problems, *plan.problems, *at_limits),
        scenery=world.scenery,
        fall=float(times[np.argmax(down)]) if down.any() else None,
    )


def _check_limits(world: World, dq: Floats, effort: Floats) -> list[Problem]:
    """Return the problems of joints at limits of effort, or beyond velocity limits."""
    num_joints = len(world.actuators)
    effort_limits = np.tile([-np.inf, np.inf], (num_joints, 1))
    velocity_limits = effort_limits.copy()
    model = world.model
    for column, joint in enumerate(world.body.joints):
        actuator = world.actuators[column]
        if actuator >= 0 and model.actuator_forcelimited[actuator]:
            # MuJoCo's own range is what the motors were limited to.
            effort_limits[column] = model.actuator_forcerange[actuator]
        if joint.velocity_lower < joint.velocity_upper:
            velocity_limits[column] = joint.velocity_lower, joint.velocity_upper
    lowest, highest = effort_limits.T
    slowest, fastest = velocity_limits.T
    # A saturated motor has exactly its limit.
    saturated = (effort <= lowest) | (effort >= highest)
    too_fast = (dq < slowest) | (dq > fastest)
    return [
        *_limit_problems(
            world.body, rules.SATURATED, "motor", "at the limit of effort", saturated
        ),
        *_limit_problems(
            world.body,
            rules.TOO_FAST,
            "joint",
            "faster than the limit of velocity",
            too_fast,
        ),
    ]


def columns_or_zeros(table: Floats, indices: Indices) -> Floats:
    """Return columns (N, J) of a table.

    0 where the index is -1.
    """
    there = indices >= 0
    if there.all():
        return table.take(indices, axis=1)
    found = np.zeros((len(table), len(indices)))
    found[:, there] = table[:, indices[there]]
    return found


def _divergence(body: Body, speeds: Floats, time: float) -> Problem:
    """Return the problem that a simulation has ended at a time [s].

    With the joint that was fastest then, of speeds (J,).
    """
    message = f"the simulation diverges at {time:.4g} s: numbers are no longer finite"
    data: dict[str, object] = {"time": time}
    if len(speeds):
        fastest = int(np.argmax(np.abs(speeds)))
        joint = body.joints[fastest].name or f"joint {fastest}"
        unit = "m/s" if body.joints[fastest].type == "slide" else "rad/s"
        message += f"; {joint} is fastest, at {abs(speeds[fastest]):.3g} {unit}"
        data["joint"] = joint
    return rules.DIVERGED.problem(message, data=data)


def _limit_problems(
    body: Body, rule: Rule, kind: str, how: str, wrong: Bools
) -> list[Problem]:
    """Return a problem for the joints with their shares of the time.

    None where none is `wrong` (N, J).
    """
    shares = {
        joint.name or f"joint {column}": share
        for column, (joint, share) in enumerate(
            zip(body.joints, wrong.mean(axis=0).tolist(), strict=True)
        )
        if share > 0
    }
    worst = sorted(shares.items(), key=lambda item: -item[1])
    listed = ", ".join(f"{name} {100 * share:.2g} %" for name, share in worst[:6]) + (
        " …" if len(worst) > 6 else ""
    )
    message = f"{counted(len(shares), kind)} {how} for a part of the time: {listed}"
    if shares:
        return [rule.problem(message, data={"joints": shares})]
    return []
