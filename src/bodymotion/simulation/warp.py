"""Many simulations, or many frames, together on a device of Warp.

MuJoCo Warp computes in single precision, with a world for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.dynamics.trees import GRAVITY, gravity_vector
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.simulation.world import WorldOptions, robot_of
from bodymotion.system.deferred import need

if TYPE_CHECKING:
    from bodymotion.simulation.simulating import Run

# Steps whose states stay on the device until they are copied from it.
CHUNK = 100
# The most frames that are computed together.
FRAMES = 4096
CONTACTS_OF_SHAPE = 8
MIN_CONTACTS = 64
# The most contacts of a world: 8 for each shape that collides, between these.
MAX_CONTACTS = 1024


def step_together(
    runs: Sequence[tuple[Run, Floats]],
    device: str,
    progress: Callable[[int, int], None],
) -> None:
    """Take all steps of runs of one model, each with its controls (steps, nu).

    Shorter ones stay at their last control.

    Raises
    ------
    ImportError
        Without the extra `gpu`.
    RuntimeError
        When Warp does not have the device, or a step has more contacts or constraints
        than expected.
    """
    warp, _ = _modules()
    # Runs of different lengths: the shorter ones go on, and nothing more is kept of
    # them.
    steps = max(run.plan.steps for run, _ in runs)
    with warp.ScopedDevice(device):
        stepper = _Stepper(runs, device)
        for begin in range(0, steps, CHUNK):
            length = min(CHUNK, steps - begin)
            for k in range(length):
                stepper.set_controls(begin + k)
                stepper.step()
                stepper.record(k)
            stepper.keep(begin, length)
            progress(begin + length, steps)
    for run, control in runs:
        # The servo's last control stands in the data when sensors are read at the end.
        run.data.ctrl[:] = control[max(run.done - 1, 0)]


class _Stepper:
    """The worlds of runs of one model on the current device."""

    def __init__(self, runs: Sequence[tuple[Run, Floats]], device: str) -> None:
        """Put the worlds of all runs on the device, and allocate the results."""
        self._warp, self._mjwarp = _modules()
        self._runs = runs
        self._device = device
        self._count = len(runs)
        first = runs[0][0]
        model = first.world.model
        collides = (model.geom_contype | model.geom_conaffinity) > 0
        max_contacts = CONTACTS_OF_SHAPE * collides.sum()
        max_contacts = int(np.clip(max_contacts, MIN_CONTACTS, MAX_CONTACTS))
        # Four rows for a contact, six for a weld, two for the limits of a joint.
        max_constraints = 4 * max_contacts + 6 * model.neq + 2 * model.nv
        self._worlds = self._mjwarp.put_model(model)
        self._data = self._mjwarp.put_data(
            model,
            first.data,
            nworld=self._count,
            nconmax=max_contacts,
            njmax=max_constraints,
        )
        # All worlds begin with the first run's data; positions and velocities differ.
        for name in ("qpos", "qvel"):
            values = [getattr(run.data, name) for run, _ in runs]
            self._assign(name, values)
        # The steps as they are recorded on the device, once it is known that kernels
        # are loaded.
        self._graph: Any = None
        self._is_loaded = False
        # The results of a chunk of steps, by the name in the data.
        self._widths = {
            "qpos": model.nq,
            "qvel": model.nv,
            "sensordata": model.nsensordata,
        }
        self._results = {
            name: self._empty((self._count, max(width, 1)), self._warp.float32)
            for name, width in self._widths.items()
        }
        # Numbers of contacts and constraints, with the largest that has room.
        self._limits = {"nacon": self._data.naconmax, "nefc": max_constraints}
        self._numbers = {
            "nacon": self._empty((1,), self._warp.int32),
            "nefc": self._empty((self._count,), self._warp.int32),
        }

    def _empty(self, shape: tuple[int, ...], dtype: Any) -> Any:  # noqa: ANN401
        return self._warp.empty((CHUNK, *shape), dtype=dtype)

    def _assign(self, name: str, values: Sequence[Floats]) -> None:
        getattr(self._data, name).assign(np.array(values, dtype=np.float32))

    def set_controls(self, k: int) -> None:
        """Set the controls and pushes of step `k`."""
        # Beyond its end a run keeps its last control.
        controls = [control[min(k, len(control) - 1)] for _, control in self._runs]
        self._assign("ctrl", controls)
        if self._runs[0][0].pushes:
            self._assign("xfrc_applied", [run.forces(k) for run, _ in self._runs])

    def step(self) -> None:
        """Take a step in all worlds.

        The first step compiles and loads the kernels. Later ones are recorded once, on
        a device that can, as launching each kernel takes longer than running it.
        """
        can_record = self._is_loaded and self._warp.get_device().is_cuda
        if self._graph is None and can_record:
            with self._warp.ScopedCapture() as capture:
                self._mjwarp.step(self._worlds, self._data)
            self._graph = capture.graph
        if self._graph is not None:
            self._warp.capture_launch(self._graph)
        else:
            self._mjwarp.step(self._worlds, self._data)
        self._is_loaded = True

    def record(self, k: int) -> None:
        """Copy the results of a step to row `k` of those on the device."""
        # Copies on the device: reading each step would wait for it.
        for name, width in self._widths.items():
            self._warp.copy(
                self._results[name],
                getattr(self._data, name),
                dest_offset=k * self._count * max(width, 1),
                count=self._count * width,
            )
        for name, numbers in self._numbers.items():
            width = numbers.shape[1]
            self._warp.copy(
                numbers, getattr(self._data, name), dest_offset=k * width, count=width
            )

    def keep(self, begin: int, length: int) -> None:
        """Keep the results of a chunk of steps in the runs."""
        # More than was allocated: the results would lack contacts.
        for name, limit in self._limits.items():
            largest = self._numbers[name].numpy()[:length].max()
            if largest > limit:
                raise RuntimeError(
                    f"device {self._device!r}: {name} is {largest} in a step, "
                    f"expected at most {limit}"
                )
        results = [
            self._results[name].numpy()[:length].astype(np.float64)
            for name in self._widths
        ]
        # Results are (steps, runs, …).
        for number, (run, _) in enumerate(self._runs):
            run.keep(begin, *(values[:, number] for values in results))


def frames_together(
    body: Body, q: Floats, root: Floats, rates: Sequence[Floats], device: str
) -> tuple[Floats, Floats, Floats]:
    """Return link poses (..., L, 7), torques (..., J) and root wrenches (..., 6).

    The latter with `rates`, as `inverse_dynamics` returns them. Inertias are those that
    MuJoCo accepts; see `MujocoModel.problems`.

    Parameters
    ----------
    q, root:
        Joint values (..., J), and poses (..., 7) of the root link in the world.
    rates:
        Velocities and accelerations of the joints (..., J), then of the root (..., 6),
        as for `inverse_dynamics`.

    Raises
    ------
    ImportError
        Without the extra `gpu`.
    RuntimeError
        When Warp does not have the device.
    """
    warp, mjwarp = _modules()
    options = WorldOptions(
        None, 0.01, "none", friction=1.0, floor=False, limits=False, sensors=False
    )
    world = robot_of(body, "free").world(
        options, (np.zeros(body.num_joints), body.root_pose)
    )
    batch = q.shape[:-1]
    q = q.reshape(-1, q.shape[-1])
    root = root.reshape(-1, 7)
    # Rows (N, …) of all batch axes.
    rates = [values.reshape(len(q), -1) for values in rates]
    model = world.model
    moving = world.qpos >= 0
    start = world.root
    # The six velocities of the free root.
    free = int(model.jnt_dofadr[model.jnt_qposadr == start][0]) + np.arange(6)
    orientations = rotations.normalized(root[:, 3:])
    back = rotations.conjugate(orientations)
    model.opt.gravity[:] = gravity_vector(GRAVITY)
    states = {"qpos": np.tile(model.qpos0, (len(q), 1))}
    states["qpos"][:, start : start + 7] = root
    states["qpos"][:, world.qpos[moving]] = q[:, moving]
    if rates:
        velocities, accelerations, root_velocities, root_accelerations = rates
        for name, joints, base in (
            ("qvel", velocities, root_velocities),
            ("qacc", accelerations, root_accelerations),
        ):
            # MuJoCo has angular rates of a free root in its own frame.
            angular = rotations.rotate(back, base[:, 3:])
            values = np.zeros((len(q), model.nv))
            values[:, free] = np.concatenate([base[:, :3], angular], axis=1)
            values[:, world.dofs[moving]] = joints[:, moving]
            states[name] = values
    placed = np.empty((len(q), len(body.links), 7))
    forces = np.zeros((len(q), model.nv))
    with warp.ScopedDevice(device):
        worlds = mjwarp.put_model(model)
        # A bounded number of frames at once, each a world of its own.
        for first in range(0, len(q), FRAMES):
            part = slice(first, first + FRAMES)
            count = len(q[part])
            # No contacts are computed, so there is room for one.
            data = mjwarp.make_data(model, nworld=count, nconmax=1, njmax=1)
            for name, values in states.items():
                getattr(data, name).assign(values[part].astype(np.float32))
            mjwarp.kinematics(worlds, data)
            placed[part, :, :3] = data.xpos.numpy()[:, world.bodies]
            placed[part, :, 3:] = data.xquat.numpy()[:, world.bodies]
            # Inverse dynamics need positions and velocities of centres of mass first.
            if rates:
                mjwarp.com_pos(worlds, data)
                mjwarp.com_vel(worlds, data)
                mjwarp.rne(worlds, data, flg_acc=True)
                # `rne` leaves out the rotors.
                armature = model.dof_armature * states["qacc"][part]
                forces[part] = data.qfrc_bias.numpy() + armature
    torques = np.zeros(q.shape)
    torques[:, moving] = forces[:, world.dofs[moving]]
    wrench = forces[:, free]
    # MuJoCo has the moment of a free root in its own frame; the answer is along the
    # world's axes.
    wrench[:, 3:] = rotations.rotate(orientations, wrench[:, 3:])
    return (
        placed.reshape(*batch, -1, 7),
        torques.reshape(*batch, -1),
        wrench.reshape(*batch, 6),
    )


def _modules() -> tuple[Any, Any]:
    warp = need("warp", "gpu", "computing on a device")
    mjwarp = need("mujoco_warp", "gpu", "computing on a device")
    warp.config.quiet = True
    return warp, mjwarp
