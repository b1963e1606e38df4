"""Steps of many simulations together on a device of Warp: MuJoCo Warp computes them in single precision, a world for each."""

from collections.abc import Callable, Sequence

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.simulation.stepping import Run
from bodymotion.system.extras import need

CHUNK = 100  # Steps whose states stay on the device until they are copied from it.
CONTACTS = (64, 1024)  # The most contacts of a world: 8 for each shape that collides, between these.


def step_together(runs: Sequence[tuple[Run, Floats]], device: str, progress: Callable[[float, float], None]) -> None:
    """Take all steps of runs of one model, each with its controls (steps, nu); shorter ones stay at their last control.

    Raises
    ------
    ImportError
        Without the extra `gpu`.
    RuntimeError
        When Warp does not have the device, or a step has more contacts or constraints than expected.
    """
    warp = need("warp", "gpu", "a simulation on a device")
    mjwarp = need("mujoco_warp", "gpu", "a simulation on a device")
    warp.config.quiet = True
    first = runs[0][0]
    model, count, steps = first.world.model, len(runs), max(run.plan.steps for run, _ in runs)
    max_contacts = int(np.clip(8 * ((model.geom_contype | model.geom_conaffinity) > 0).sum(), *CONTACTS))
    max_constraints = 4 * max_contacts + 6 * model.neq + 2 * model.nv
    widths = {"qpos": model.nq, "qvel": model.nv, "sensordata": model.nsensordata}
    with warp.ScopedDevice(device):
        worlds = mjwarp.put_model(model)
        data = mjwarp.put_data(model, first.data, nworld=count, nconmax=max_contacts, njmax=max_constraints)
        for name in ("qpos", "qvel"):
            getattr(data, name).assign(np.array([getattr(run.data, name) for run, _ in runs], dtype=np.float32))
        kept = {name: warp.empty((CHUNK, count, max(width, 1)), dtype=warp.float32) for name, width in widths.items()}
        counts = {"nacon": (1, data.naconmax), "nefc": (count, max_constraints)}
        counted = {name: warp.empty((CHUNK, width), dtype=warp.int32) for name, (width, _) in counts.items()}
        graph = None
        for begin in range(0, steps, CHUNK):
            length = min(CHUNK, steps - begin)
            for k in range(length):
                data.ctrl.assign(
                    np.array([control[min(begin + k, len(control) - 1)] for _, control in runs], dtype=np.float32)
                )
                if first.pushes:
                    data.xfrc_applied.assign(np.array([run.forces(begin + k) for run, _ in runs], dtype=np.float32))
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
                        kept[name], getattr(data, name), dest_offset=k * count * max(width, 1), count=count * width
                    )
                for name, (width, _) in counts.items():
                    warp.copy(counted[name], getattr(data, name), dest_offset=k * width, count=width)
            for name, (_, most) in counts.items():
                if (found_most := counted[name].numpy()[:length].max()) > most:
                    raise RuntimeError(f"device {device!r}: {name} is {found_most} in a step, expected at most {most}")
            found = {name: array.numpy()[:length].astype(np.float64) for name, array in kept.items()}
            for number, (run, _) in enumerate(runs):
                run.keep(begin, *(found[name][:, number] for name in widths))
            progress((begin + length) * first.plan.timestep, steps * first.plan.timestep)
    for run, control in runs:
        run.data.ctrl[:] = control[max(run.done - 1, 0)]
