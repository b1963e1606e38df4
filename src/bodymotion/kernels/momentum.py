"""Momentum and energy of all links together, from their poses and velocities."""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import kernel
from bodymotion.kernels.link_motion import cross, rotation
from bodymotion.kernels.newton_euler import Masses
from bodymotion.kernels.slices import as_rows, in_slices

__all__ = ["momentum"]


def momentum(masses: Masses, poses: Floats, velocities: Floats) -> Floats:
    """Return (T, 10) of poses (T, L, 7) and v, ω (T, L, 6): momentum, angular momentum about the centre of mass, that centre, kinetic energy.

    The centre of mass of what has no mass is at the root.
    """
    poses, velocities = as_rows(poses, poses.shape), as_rows(velocities, velocities.shape)
    out = np.empty((len(poses), 10))
    in_slices(len(poses), lambda a, b: _momentum(*masses, poses[a:b], velocities[a:b], out[a:b]))
    return out


@kernel
def _momentum(
    masses: Floats, centers: Floats, inertias: Floats, poses: Floats, velocities: Floats, out: Floats
) -> None:
    turn = np.empty((3, 3))
    arm = np.empty(3)
    place = np.empty(3)
    swept = np.empty(3)
    push = np.empty(3)
    moment = np.empty(3)
    local = np.empty(3)
    spin = np.empty(3)
    weighted = np.empty(3)
    total = 0.0
    for i in range(masses.shape[0]):
        total += masses[i]
    for t in range(poses.shape[0]):
        energy = 0.0
        for k in range(10):
            out[t, k] = 0.0
        for k in range(3):
            weighted[k] = 0.0
        # Moments are taken about the root first: about the world's origin they lose digits far away from it.
        for i in range(poses.shape[1]):
            mass = masses[i]
            rotation(poses[t, i], turn)
            for k in range(3):
                arm[k] = turn[k, 0] * centers[i, 0] + turn[k, 1] * centers[i, 1] + turn[k, 2] * centers[i, 2]
                place[k] = poses[t, i, k] + arm[k] - poses[t, 0, k]
            rate = velocities[t, i, 3:6]
            cross(rate, arm, swept)
            for k in range(3):
                push[k] = mass * (velocities[t, i, k] + swept[k])
                energy += 0.5 * push[k] * (velocities[t, i, k] + swept[k])
                local[k] = turn[0, k] * rate[0] + turn[1, k] * rate[1] + turn[2, k] * rate[2]
            for k in range(3):
                spin[k] = 0.0
                for m in range(3):
                    spin[k] += inertias[i, k, m] * local[m]
                energy += 0.5 * spin[k] * local[k]
            cross(place, push, moment)
            for k in range(3):
                out[t, k] += push[k]
                out[t, 3 + k] += moment[k] + turn[k, 0] * spin[0] + turn[k, 1] * spin[1] + turn[k, 2] * spin[2]
                weighted[k] += mass * place[k]
        for k in range(3):
            weighted[k] = weighted[k] / total if total > 0.0 else 0.0
            out[t, 6 + k] = poses[t, 0, k] + weighted[k]
        cross(weighted, out[t, :3], moment)
        for k in range(3):
            out[t, 3 + k] -= moment[k]
        out[t, 9] = energy
