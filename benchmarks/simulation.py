"""Simulating SR1's walk at 1 ms with everything recorded, against plain loops over `mj_step`; many simulations on one and on two cores.

The first two rows are times of the processor, on one core, in the same run. The third is by the clock, on a quiet machine only.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

SECONDS = 5.0
MANY = 64


def best(run: Callable[[], object], clock: Callable[[], float] = time.process_time, repeats: int = 3) -> float:
    """Return the least time [s] of several runs."""
    times = []
    for _ in range(repeats):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def main() -> list[tuple[str, float, float, float, str]]:
    """Print rows; give (name, ours [s], peer [s], ratio, target) for each."""
    import mujoco

    import bodymotion as bm
    from benchmarks.samples import sample
    from bodymotion.model.motors import default_gains

    body = bm.load(sample("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"))
    motion = bm.load(sample("seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern1.seq"))
    found = bm.simulate(body, motion, end=SECONDS)
    model, steps = found.model, len(found.times) - 1
    table = np.zeros((steps, model.nu))
    rates = np.diff(found.command, axis=0) / 1e-3
    for column, (joint, (kp, kd)) in enumerate(zip(body.joints, default_gains(body), strict=True)):
        table[:, model.actuator(f"robot/{joint.name}").id] = found.command[:-1, column] + kd / kp * rates[:, column]

    def loop(record: bool) -> None:
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = found.states[0, : model.nq], found.states[0, model.nq :]
        rows: list[object] = []
        for k in range(steps):
            data.ctrl[:] = table[k]
            mujoco.mj_step(model, data)
            rows.append(data.qpos.copy())
            if record:
                rows += [
                    data.qvel.copy(),
                    data.actuator_force.copy(),
                    data.sensordata.copy(),
                    data.xpos.copy(),
                    data.xquat.copy(),
                ]
                force = np.zeros(6)
                for number in range(data.ncon):
                    mujoco.mj_contactForce(model, data, number, force)
                    rows.append((data.contact[number].geom.copy(), data.contact[number].pos.copy(), force.copy()))

    ours = best(lambda: bm.simulate(body, motion, end=SECONDS).motion)
    bare, recording = best(lambda: loop(False)), best(lambda: loop(True))
    motions = [motion.between(0.0, 1.0 + 0.01 * k) for k in range(MANY)]
    one, two = (best(lambda n=n: bm.simulate_many(body, motions, workers=n), time.perf_counter, 1) for n in (1, 2))
    return [
        ("SR1 for 5 s at 1 ms, all recorded, against a loop that stores qpos", ours, bare, bare / ours, ">= 0.9"),
        ("the same, against a loop that records as much in Python", ours, recording, recording / ours, ">= 2"),
        (f"{MANY} simulations on two threads, against one", two, one, one / two, ">= 1.8"),
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
