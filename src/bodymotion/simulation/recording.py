"""What is recorded of a simulation: from states and sensors of MuJoCo to joints, contacts and readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Problem, Rule
from bodymotion.diagnostics.text import counted
from bodymotion.dynamics.sensors import limited_reading
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.links import Device, ForceSensor
from bodymotion.simulation import rules
from bodymotion.simulation.result import Simulation, fallen

if TYPE_CHECKING:
    from bodymotion.simulation.stepping import Run


def device_values(device: Device, values: Floats) -> Floats:
    """Return what a device reads without its limits, of MuJoCo's sensor data (..., 3 or 6).

    The force sensor of MuJoCo is what the parent exerts on the link, that of OpenHRP what the link exerts on its parent.
    """
    return -values if isinstance(device, ForceSensor) else values


def recorded(run: Run, frame_rate: float | None) -> Simulation:
    """Return what was simulated so far."""
    run.sense()
    world, plan, count = run.world, run.plan, run.done + 1
    states, sensed = run.states[:count, 1:], run.sensors[:count]
    q, effort = columns_or_zeros(states, world.qpos), columns_or_zeros(sensed, world.effort)
    dq = columns_or_zeros(states, np.where(world.dofs >= 0, world.model.nq + world.dofs, -1))
    for column, _, _ in world.crawlers:
        q[:, column] = plan.q[:count, column]
    root = run.roots(slice(count))
    down = fallen(world.body, root, plan.root[:count])
    times: Floats = np.asarray(plan.timestep * np.arange(count), dtype=np.float64)
    found = sorted(run.contacts)
    contacts = np.stack([run.contacts[k][:count] for k in found], axis=1) if found else np.zeros((count, 0, 9))
    # MuJoCo has the force on what touches the link.
    contacts[..., :6] *= -1.0
    devices = world.body.devices
    readings = tuple(
        limited_reading(devices[number], times, device_values(devices[number], sensed[:, columns]))
        for number, columns in world.sensors.items()
    )
    limits = np.tile([-np.inf, np.inf], (2, len(world.actuators), 1))
    limited = [
        k for k, number in enumerate(world.actuators) if number >= 0 and world.model.actuator_forcelimited[number]
    ]
    limits[0, limited] = world.model.actuator_forcerange[world.actuators[limited]]
    for column, joint in enumerate(world.body.joints):
        if joint.velocity_lower < joint.velocity_upper:
            limits[1, column] = joint.velocity_lower, joint.velocity_upper
    (lowest, highest), (slowest, fastest) = limits.transpose(0, 2, 1)
    saturated, too_fast = (effort <= lowest) | (effort >= highest), (dq < slowest) | (dq > fastest)
    at_limits = [
        *_limit_problems(world.body, rules.SATURATED, "motor", "at the limit of effort", saturated),
        *_limit_problems(world.body, rules.TOO_FAST, "joint", "faster than the limit of velocity", too_fast),
    ]
    return Simulation(
        body=world.body,
        model=world.model,
        times=times,
        q=q,
        dq=dq,
        root=root,
        effort=effort,
        states=states,
        bodies=world.bodies,
        touching=tuple(world.touching[k] for k in found),
        contact_forces=contacts,
        command=plan.q[:count],
        planned_root=plan.root[:count],
        readings=readings,
        frame_rate=min(frame_rate or plan.frame_rate, 1.0 / plan.timestep),
        interrupted=run.interrupted,
        diverged=run.diverged,
        problems=(*world.problems, *plan.problems, *at_limits),
        scenery=world.scenery,
        fall=float(times[np.argmax(down)]) if down.any() else None,
    )


def columns_or_zeros(table: Floats, indices: npt.NDArray[np.int64]) -> Floats:
    """Return columns (N, J) of a table; 0 where the index is -1."""
    there = indices >= 0
    if there.all():
        return table.take(indices, axis=1)
    found = np.zeros((len(table), len(indices)))
    found[:, there] = table[:, indices[there]]
    return found


def _limit_problems(body: Body, rule: Rule, kind: str, how: str, wrong: npt.NDArray[np.bool_]) -> list[Problem]:
    """Return a problem for the joints with their shares of the time, none where none is `wrong` (N, J)."""
    shares = {
        joint.name or f"joint {column}": share
        for column, (joint, share) in enumerate(zip(body.joints, wrong.mean(axis=0).tolist(), strict=True))
        if share > 0
    }
    worst = sorted(shares.items(), key=lambda item: -item[1])
    listed = ", ".join(f"{name} {100 * share:.2g} %" for name, share in worst[:6]) + (" …" if len(worst) > 6 else "")
    message = f"{counted(len(shares), kind)} {how} for a part of the time: {listed}"
    return [rule.problem(message, data={"joints": shares})] if shares else []
