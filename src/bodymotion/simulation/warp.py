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

CHUNK = 100  # Steps whose states stay on the device until they are copied from it.
FRAMES = 4096  # The most frames that are computed together.
CONTACTS = (
    64,
    1024,
)  # The most contacts of a world: 8 for each shape that collides, between these.


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
    warp, mjwarp = _modules()
    first = runs[0][0]
    model = first.world.model
    count = len(runs)
    steps = max(run.plan.steps for run, _ in runs)
    max_contacts = int(
        np.clip(
            8 * ((model.geom_contype | model.geom_conaffinity) > 0).sum(), *CONTACTS
        )
    )
    max_constraints = 4 * max_contacts + 6 * model.neq + 2 * model.nv
    widths = {"qpos": model.nq, "qvel": model.nv, "sensordata": model.nsensordata}
    with warp.ScopedDevice(device):
        worlds = mjwarp.put_model(model)
        data = mjwarp.put_data(
            model, first.data, nworld=count, nconmax=max_contacts, njmax=max_constraints
        )
        for name in ("qpos", "qvel"):
            getattr(data, name).assign(
                np.array([getattr(run.data, name) for run, _ in runs], dtype=np.float32)
            )
        kept = {
            name: warp.empty((CHUNK, count, max(width, 1)), dtype=warp.float32)
            for name, width in widths.items()
        }
        counts = {"nacon": (1, data.naconmax), "nefc": (count, max_constraints)}
        counted = {
            name: warp.empty((CHUNK, width), dtype=warp.int32)
            for name, (width, _) in counts.items()
        }
        graph = None
        for begin in range(0, steps, CHUNK):
            length = min(CHUNK, steps - begin)
            for k in range(length):
                controls = [
                    control[min(begin + k, len(control) - 1)] for _, control in runs
                ]
                data.ctrl.assign(np.array(controls, dtype=np.float32))
                if first.pushes:
                    data.xfrc_applied.assign(
                        np.array(
                            [run.forces(begin + k) for run, _ in runs], dtype=np.float32
                        )
                    )
                if graph is not None:
                    warp.capture_launch(graph)
                elif warp.get_device().is_cuda and begin + k:
                    # The first step has compiled and loaded the kernels.
                    with warp.ScopedCapture() as capture:
                        mjwarp.step(worlds, data)
                    graph = capture.graph
                    warp.capture_launch(graph)
                else:
                    mjwarp.step(worlds, data)
                for name, width in widths.items():
                    warp.copy(
                        kept[name],
                        getattr(data, name),
                        dest_offset=k * count * max(width, 1),
                        count=count * width,
                    )
                for name, (width, _) in counts.items():
                    warp.copy(
                        counted[name],
                        getattr(data, name),
                        dest_offset=k * width,
                        count=width,
                    )
            for name, (_, most) in counts.items():
                if (found_most := counted[name].numpy()[:length].max()) > most:
                    raise RuntimeError(
                        f"device {device!r}: {name} is {found_most} in a step, "
                        f"expected at most {most}"
                    )
            found = {
                name: array.numpy()[:length].astype(np.float64)
                for name, array in kept.items()
            }
            for number, (run, _) in enumerate(runs):
                run.keep(begin, *(found[name][:, number] for name in widths))
            progress(begin + length, steps)
    for run, control in runs:
        run.data.ctrl[:] = control[max(run.done - 1, 0)]


def frames_together(
    body: Body, q: Floats, root: Floats, rates: Sequence[Floats], device: str
) -> tuple[Floats, Floats, Floats]:
    """Return link poses (..., L, 7), and with `rates` the torques (..., J) and root wrenches (..., 6) that `inverse_dynamics` returns.

    Inertias are those that MuJoCo accepts; see `MujocoModel.problems`.

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
    rates = [values.reshape(len(q), -1) for values in rates]
    model = world.model
    moving = world.qpos >= 0
    start = world.root
    free = int(model.jnt_dofadr[model.jnt_qposadr == start][0]) + np.arange(6)
    orientations = rotations.normalized(root[:, 3:])
    back = rotations.conjugate(orientations)
    model.opt.gravity[:] = gravity_vector(GRAVITY)
    states = {"qpos": np.tile(model.qpos0, (len(q), 1))}
    states["qpos"][:, start : start + 7], states["qpos"][:, world.qpos[moving]] = (
        root,
        q[:, moving],
    )
    for name, (joints, base) in (
        {"qvel": rates[::2], "qacc": rates[1::2]}.items() if rates else ()
    ):
        states[name] = np.zeros((len(q), model.nv))
        # MuJoCo has angular rates of a free root in its own frame.
        states[name][:, free] = np.concatenate(
            [base[:, :3], rotations.rotate(back, base[:, 3:])], axis=1
        )
        states[name][:, world.dofs[moving]] = joints[:, moving]
    placed = np.empty((len(q), len(body.links), 7))
    forces = np.zeros((len(q), model.nv))
    with warp.ScopedDevice(device):
        worlds = mjwarp.put_model(model)
        for part in (slice(k, k + FRAMES) for k in range(0, len(q), FRAMES)):
            count = len(q[part])
            data = mjwarp.make_data(model, nworld=count, nconmax=1, njmax=1)
            for name, values in states.items():
                getattr(data, name).assign(values[part].astype(np.float32))
            mjwarp.kinematics(worlds, data)
            placed[part, :, :3] = data.xpos.numpy()[:, world.bodies]
            placed[part, :, 3:] = data.xquat.numpy()[:, world.bodies]
            if rates:
                mjwarp.com_pos(worlds, data)
                mjwarp.com_vel(worlds, data)
                mjwarp.rne(worlds, data, flg_acc=True)
                forces[part] = (
                    data.qfrc_bias.numpy() + model.dof_armature * states["qacc"][part]
                )
    torques = np.zeros(q.shape)
    torques[:, moving] = forces[:, world.dofs[moving]]
    wrench = forces[:, free]
    wrench[:, 3:] = rotations.rotate(orientations, wrench[:, 3:])
    return (
        placed.reshape(*batch, -1, 7),
        torques.reshape(*batch, -1),
        wrench.reshape(*batch, 6),
    )


def _modules() -> tuple[Any, Any]:
    warp, mjwarp = (
        need(name, "gpu", "computing on a device") for name in ("warp", "mujoco_warp")
    )
    warp.config.quiet = True
    return warp, mjwarp
