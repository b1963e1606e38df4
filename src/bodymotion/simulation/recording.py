"""What is recorded of a simulation: from states and sensors of MuJoCo to joints, contacts and readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import counted
from bodymotion.dynamics import Reading
from bodymotion.geometry.arrays import Floats
from bodymotion.model.links import ForceSensor
from bodymotion.simulation import rules
from bodymotion.simulation.result import Simulation, fall_time

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem, Rule
    from bodymotion.simulation.stepping import Run
    from bodymotion.simulation.world import World


def device_readings(world: World, number: int, values: Floats) -> Floats:
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


def recorded(run: Run, frame_rate: float | None) -> Simulation:
    """Return what was simulated so far."""
    run.sense()
    world, plan, count = run.world, run.plan, run.done + 1
    states, sensed = run.states[:count, 1:], run.sensors[:count]
    q, dq, effort = (
        _columns(states, world.qpos),
        _columns(states, np.where(world.dofs >= 0, world.model.nq + world.dofs, -1)),
        _columns(sensed, world.effort),
    )
    for column, _, _ in world.crawlers:
        q[:, column] = plan.q[:count, column]
    root = run.roots(slice(count))
    times: Floats = np.asarray(plan.timestep * np.arange(count), dtype=np.float64)
    found = sorted(run.contacts)
    contacts = np.stack([run.contacts[k][:count] for k in found], axis=1) if found else np.zeros((count, 0, 9))
    # MuJoCo has the force on what touches the link.
    contacts[..., :6] *= -1.0
    readings = []
    for number, columns in world.sensors.items():
        device = world.body.devices[number]
        values = device_readings(world, number, sensed[:, columns])
        names = tuple(kind + axis for kind in "ft" for axis in "xyz") if values.shape[1] == 6 else tuple("xyz")
        units = {6: ("N",) * 3 + ("Nm",) * 3}.get(values.shape[1]) or (
            ("m/s²",) if hasattr(device, LIMITS[0]) else ("rad/s",)
        ) * 3
        readings.append(Reading(device, times, values, np.abs(values) < np.abs(sensed[:, columns]), names, units))
    return Simulation(
        body=world.body,
        model=world.model,
        times=times,
        q=q,
        dq=dq,
        root=root,
        effort=effort,
        states=states,
        link_names=tuple(link.name for link in world.body.links),
        bodies=world.bodies,
        touching=tuple(world.touching[k] for k in found),
        contact_forces=contacts,
        command=plan.q[:count],
        planned_root=plan.root[:count],
        readings=tuple(readings),
        frame_rate=min(frame_rate or plan.frame_rate, 1.0 / plan.timestep),
        interrupted=run.interrupted,
        diverged=run.diverged,
        problems=(*world.problems, *plan.problems, *_saturated(world, effort), *_too_fast(world, dq)),
        scenery=world.scenery,
        fall=fall_time(world.body, times, root, plan.root[:count]),
    )


def _columns(table: Floats, indices: npt.NDArray[np.int64]) -> Floats:
    """Return columns (N, J) of a table; 0 where the index is -1."""
    there = indices >= 0
    if there.all():
        return np.take(table, indices, axis=1)
    found = np.zeros((len(table), len(indices)))
    found[:, there] = table[:, indices[there]]
    return found


def _saturated(world: World, effort: Floats) -> list[Problem]:
    """Return a problem for the motors that were at their limits; `effort` (N, J) is that of the joints."""
    found: dict[str, float] = {}
    for column, number in enumerate(world.actuators):
        if number >= 0 and world.model.actuator_forcelimited[number]:
            low, high = world.model.actuator_forcerange[number]
            share = float(np.mean((effort[:, column] <= low) | (effort[:, column] >= high)))
            if share > 0:
                found[world.body.joints[column].name or f"joint {column}"] = share
    return _limit_problems(rules.SATURATED, "motor", "at the limit of effort", found)


def _too_fast(world: World, dq: Floats) -> list[Problem]:
    """Return a problem for the joints whose velocities (N, J) are beyond their limits."""
    found: dict[str, float] = {}
    for column, joint in enumerate(world.body.joints):
        low, high = joint.velocity_lower, joint.velocity_upper
        if low < high and len(dq):
            share = float(np.mean((dq[:, column] < low) | (dq[:, column] > high)))
            if share > 0:
                found[joint.name or f"joint {column}"] = share
    return _limit_problems(rules.TOO_FAST, "joint", "faster than the limit of velocity", found)


def _limit_problems(rule: Rule, kind: str, how: str, shares: dict[str, float]) -> list[Problem]:
    """Return a problem for joints by their shares of the time, none where there are none."""
    worst = sorted(shares.items(), key=lambda item: -item[1])
    listed = ", ".join(f"{name} {100 * share:.2g} %" for name, share in worst[:6]) + (" …" if len(worst) > 6 else "")
    message = f"{counted(len(shares), kind)} {how} for a part of the time: {listed}"
    return [rule.problem(message, data={"joints": shares})] if shares else []
