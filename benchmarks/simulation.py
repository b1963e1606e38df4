"""Simulating SR1's walk at 1 ms with everything recorded, against plain loops over `mj_step`; many simulations on one and on two cores.

The first two rows are times of the processor, on one core, in the same run. All come in turns, and a ratio is the median of those of the
turns, as other programs slow down all that runs at the same time. The second loop records what `SimulationResult` has,
and what it records is compared with that. The third row is by the clock, on a quiet machine only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

REPEATS = 8
MANY, MANY_SECONDS = 64, 5.0


def in_turns(runs: dict[str, Callable[[], object]]) -> dict[str, np.ndarray]:
    """Return the times [s] of several rounds of each."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(REPEATS):
        for name, run in runs.items():
            start = time.process_time()
            run()
            times[name].append(time.process_time() - start)
    return {name: np.array(values) for name, values in times.items()}


def compared(ours: np.ndarray, peer: np.ndarray) -> tuple[float, float, float]:
    """Return the least times [s] of both, and the median of peer/ours."""
    return float(ours.min()), float(peer.min()), float(np.median(peer / ours))


def contact_forces(
    mujoco: Any, model: Any, data: Any, rows: dict[int, int]
) -> np.ndarray:
    """Return the net force, torque and centre (C, 9) of the contacts on each body in `rows`: its row by its number."""
    found, weights, force = np.zeros((len(rows), 9)), np.zeros(len(rows)), np.zeros(6)
    contacts = []
    for number in range(data.ncon):
        contact = data.contact[number]
        mujoco.mj_contactForce(model, data, number, force)
        axes = contact.frame.reshape(3, 3).T
        for geom, sign in zip(contact.geom.tolist(), (-1.0, 1.0), strict=True):
            row = rows.get(int(model.geom_bodyid[geom]))
            if row is not None:
                size = float(np.linalg.norm(force[:3]))
                contacts.append(
                    (
                        row,
                        sign * (axes @ force[:3]),
                        sign * (axes @ force[3:]),
                        contact.pos,
                    )
                )
                found[row, 6:] += size * contact.pos
                weights[row] += size
    found[:, 6:] /= np.where(weights > 0, weights, 1.0)[:, None]
    for row, push, twist, at in contacts:
        found[row, :3] += push
        found[row, 3:6] += twist + np.cross(at - found[row, 6:], push)
    return found


def main() -> list[tuple[str, float, float, float, str]]:
    """Print rows; return (name, ours [s], peer [s], ratio, target) for each."""
    import mujoco

    import bodymotion as bm
    from benchmarks.samples import sample
    from bodymotion.model.links import default_gains

    body = bm.load(sample("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"))
    motion = bm.load(
        sample("seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern1.seq")
    )
    found = bm.simulate(body, motion)
    model, steps = found.model, len(found.times) - 1
    table = np.zeros((steps, model.nu))
    rates = (
        np.diff(
            found.command[:-1],
            axis=0,
            prepend=2 * found.command[:1] - found.command[1:2],
        )
        / 1e-3
    )
    for column, (joint, (kp, kd)) in enumerate(
        zip(body.joints, default_gains(body), strict=True)
    ):
        table[:, model.actuator(f"robot/{joint.name}").id] = (
            found.command[:-1, column] + kd / kp * rates[:, column]
        )
    rows = {int(found.bodies[index]): row for row, index in enumerate(found.touching)}
    devices = slice(
        model.nu, model.nu + sum(reading.values.shape[1] for reading in found.readings)
    )

    def loop(record: bool) -> dict[str, np.ndarray]:
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = (
            found.states[0, : model.nq],
            found.states[0, model.nq :],
        )
        kept: dict[str, list[np.ndarray]] = {
            name: [] for name in ("qpos", "qvel", "effort", "read", "poses", "contacts")
        }
        for k in range(steps):
            data.ctrl[:] = table[k]
            mujoco.mj_step(model, data)
            kept["qpos"].append(data.qpos.copy())
            if record:
                kept["qvel"].append(data.qvel.copy())
                kept["effort"].append(data.actuator_force.copy())
                kept["read"].append(data.sensordata[devices].copy())
                kept["contacts"].append(contact_forces(mujoco, model, data, rows))
                if k % 2 == 0:
                    kept["poses"].append(np.hstack([data.xpos, data.xquat]))
        return {name: np.array(values) for name, values in kept.items() if values}

    same = loop(True)
    # In both, sensors are those of the state before the step.
    assert np.abs(same["qpos"][:100] - found.states[1:101, : model.nq]).max() < 1e-9
    assert np.abs(same["contacts"][:100] - found.contact_forces[:100]).max() < 1e-6
    times = in_turns(
        {
            "bare": lambda: loop(False),
            "ours": lambda: bm.simulate(body, motion).motion,
            "recording": lambda: loop(True),
        }
    )
    ours, bare, recording = times["ours"], times["bare"], times["recording"]
    motions = [motion.between(0.0, MANY_SECONDS + 0.01 * k) for k in range(MANY)]
    clock = []
    for workers in (1, 2):
        start = time.perf_counter()
        bm.simulation.simulate_many(body, motions, workers=workers)
        clock.append(time.perf_counter() - start)
    return [
        (
            "SR1's walk at 1 ms, all recorded, against a loop that stores qpos",
            *compared(ours, bare),
            ">= 0.9",
        ),
        (
            "the same, against a loop that records as much in Python",
            *compared(ours, recording),
            ">= 2",
        ),
        (
            f"{MANY} simulations on two threads, against one",
            clock[1],
            clock[0],
            clock[0] / clock[1],
            ">= 1.8",
        ),
    ]


if __name__ == "__main__":
    for row in main():
        print(row)
