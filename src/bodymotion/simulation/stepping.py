"""The steps of a simulation, and what is kept of each: the state before it, and what the sensors of the model read in that state."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bodymotion.dynamics.sensors import reading_limits
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.simulation.controllers import Controller, RobotState, torques
from bodymotion.simulation.plan import Plan
from bodymotion.simulation.result import columns_or_zeros, device_values
from bodymotion.simulation.world import World
from bodymotion.system.extras import need


@dataclass(frozen=True)
class Push:
    """A force (3,) [N] in the world's axes on the centre of mass of a link, from `time` [s] for `duration` [s].

    Raises ValueError where these are not finite numbers, or the duration is negative.
    """

    time: float
    link: str
    force: tuple[float, float, float]
    duration: float = 0.1

    def __post_init__(self) -> None:
        finite = len(self.force) == 3 and np.isfinite([self.time, *self.force, self.duration]).all()
        if not finite or self.duration < 0:
            raise ValueError(f"{self}: expected finite numbers, a force (3,) and a duration of at least 0")


class Run:
    """The steps of one simulation, and what is recorded of each: the state before it, and the sensors in that state."""

    def __init__(self, world: World, plan: Plan, pushes: Sequence[Push]) -> None:
        self.mujoco = need("mujoco", "sim", "the simulation")
        self.world, self.plan, posture = world, plan, plan.posture
        # First and last step, MuJoCo body, and force.
        self.pushes = [
            (
                plan.step_at(push.time),
                plan.step_at(push.time + push.duration),
                int(world.bodies[world.body.link(push.link).index]),
                np.array(push.force, dtype=np.float64),
            )
            for push in pushes
        ]
        model, moving = world.model, world.qpos >= 0
        self.data = data = self.mujoco.MjData(model)
        data.qpos[world.qpos[moving]] = posture[0][moving]
        data.qvel[world.dofs[moving]] = plan.dq[0][moving]
        if world.root >= 0:
            data.qpos[world.root : world.root + 7] = posture[1]
            turn = rotations.multiply(plan.root[1, 3:], rotations.conjugate(plan.root[0, 3:]))
            axis, angle = rotations.to_axis_angle(turn)
            dof = model.joint(model.body_jntadr[world.bodies[0]]).dofadr[0]
            data.qvel[dof : dof + 3] = (plan.root[1, :3] - plan.root[0, :3]) / plan.timestep
            data.qvel[dof + 3 : dof + 6] = rotations.rotate(
                rotations.conjugate(posture[1][3:]), axis * angle / plan.timestep
            )
        self.kind = self.mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.states = np.empty((plan.steps + 1, self.mujoco.mj_stateSize(model, self.kind)))
        self.sensors = np.empty((plan.steps + 1, world.contacts))
        self.contacts: dict[int, Floats] = {}
        self.mujoco.mj_getState(model, data, self.states[0], self.kind)
        self.done = 0
        self.interrupted = self._lost = False

    def control(self, values: Floats) -> Floats:
        """Return values (steps, J) of joints as controls (steps, nu)."""
        driven, columns = self.world.actuators >= 0, np.full(self.world.model.nu, -1)
        columns[self.world.actuators[driven]] = np.flatnonzero(driven)
        return columns_or_zeros(values, columns)

    def forward(self, control: Floats, last: int) -> None:
        """Step to step `last` with controls (steps, nu), by `mujoco.rollout` where nothing but these and pushes changes."""
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
            rows = np.concatenate([rows, np.stack([self.forces(k).ravel() for k in range(self.done, last)])], axis=1)
        _, sensed = rollout.rollout(
            model,
            data,
            self.states[self.done][None],
            rows[None],
            control_spec=int(spec),
            initial_warmstart=np.array(data.qacc_warmstart)[None],
            state=self.states[None, self.done + 1 : last + 1],
        )
        self._keep(self.done, sensed[0])
        self.done = last
        if self.diverged:
            # After a divergence, the rest of a rollout repeats one state.
            late = (
                np.abs(self.states[: last + 1, 0] - self.plan.timestep * np.arange(last + 1)) > 0.5 * self.plan.timestep
            )
            self.done = max(int(np.argmax(late)) - 2, 0) if late.any() else last

    def controlled(self, controller: Controller, last: int) -> None:
        """Step to step `last` with the torques of a controller."""
        world, data = self.world, self.data
        driven, moving = world.actuators >= 0, world.qpos >= 0
        devices = [(number, world.body.devices[number], columns) for number, columns in world.sensors.items()]
        read = [(one.name or f"device {k}", one, columns, reading_limits(one)) for k, one, columns in devices]
        for k in range(self.done, last):
            q, dq = np.zeros((2, len(world.qpos)))
            q[moving], dq[moving] = data.qpos[world.qpos[moving]], data.qvel[world.dofs[moving]]
            sensed = {
                name: np.clip(device_values(device, data.sensordata[columns]), -limit, limit)
                for name, device, columns, limit in read
            }
            state = RobotState(k * self.plan.timestep, q, dq, self.plan.q[k], sensed)
            data.ctrl[world.actuators[driven]] = torques(controller, state)[driven]
            self._step(k)
            if self.diverged:
                self.done = max(k - 1, 0)
                return

    def _step(self, k: int) -> None:
        for column, geoms, ahead in self.world.crawlers:
            self.world.model.geom_surfacevel[geoms, :3] = self.plan.dq[k, column] * ahead
        if self.pushes:
            self.data.xfrc_applied[:] = self.forces(k)
        self.mujoco.mj_step(self.world.model, self.data)
        self._keep(k, self.data.sensordata[None])
        self.mujoco.mj_getState(self.world.model, self.data, self.states[k + 1], self.kind)
        self.done = k + 1

    def keep(self, first: int, qpos: Floats, qvel: Floats, sensed: Floats) -> None:
        """Keep positions (N, nq) and velocities (N, nv) after each of N steps from `first` on, and sensor data (N, …) of the states before.

        Of a run that has ended or diverged, nothing more is kept.
        """
        count = min(len(qpos), self.plan.steps - first) if first == self.done else 0
        values = np.concatenate(
            [self.plan.timestep * np.arange(first + 1, first + len(qpos) + 1)[:, None], qpos, qvel], axis=1
        )
        bad = ~np.isfinite(values[:count]).all(axis=1)
        if bad.any():
            count = int(np.argmax(bad))
            self._lost = True
        self.states[first + 1 : first + count + 1, : values.shape[1]] = values[:count]
        self._keep(first, sensed[:count])
        self.done += count

    def _keep(self, first: int, sensed: Floats) -> None:
        """Keep sensor data (N, …) of the states from step `first` on, of contacts where there are any."""
        rows = slice(first, first + len(sensed))
        self.sensors[rows] = sensed[:, : self.world.contacts]
        contacts = sensed[:, self.world.contacts :].reshape(len(sensed), -1, 10)
        for number in np.flatnonzero(contacts[..., 0].any(axis=0)).tolist():
            if number not in self.contacts:
                self.contacts[number] = np.zeros((self.plan.steps + 1, 9))
            self.contacts[number][rows] = contacts[:, number, 1:]

    @property
    def diverged(self) -> bool:
        """Whether MuJoCo met numbers that are not finite, or huge."""
        kinds = self.mujoco.mjtWarning
        return self._lost or any(
            self.data.warning[kind].number
            for kind in (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC)
        )

    def forces(self, k: int) -> Floats:
        """Return forces [N] and torques [N m] (B, 6) on the B bodies of MuJoCo at step `k`, in the world's axes: those of the pushes."""
        forces = np.zeros((self.world.model.nbody, 6))
        for first, until, body, force in self.pushes:
            if first <= k < until:
                forces[body, :3] += force
        return forces

    def roots(self, rows: slice) -> Floats:
        """Return the poses (N, 7) of the root in the world at some of the steps."""
        states, at = self.states[rows], self.world.root + 1
        return states[:, at : at + 7].copy() if at else np.tile(self.world.body.root_pose, (len(states), 1))

    def sense(self) -> None:
        """Read the sensors in the last state."""
        self.mujoco.mj_setState(self.world.model, self.data, self.states[self.done], self.kind)
        warm = np.array(self.data.qacc_warmstart)
        self.mujoco.mj_forward(self.world.model, self.data)
        self.data.qacc_warmstart[:] = warm
        self._keep(self.done, self.data.sensordata[None])
