"""Momentum, energy and centre of mass of a whole body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.rows import GRAVITY, gravity_vector, mass_arrays, rotor_inertias, table, tables
from bodymotion.geometry.arrays import ContentEquality, Floats
from bodymotion.model.body import Body

__all__ = ["Momentum", "momentum", "potential_energy", "rotor_energy"]


@dataclass(frozen=True, eq=False)
class Momentum(ContentEquality):
    """What a moving body has, along the world's axes.

    Attributes
    ----------
    linear:
        (..., 3) [kg m/s] Σ m·ċ.
    angular:
        (..., 3) [kg m²/s] about the body's centre of mass.
    kinetic_energy:
        (...) [J] of the links; rotors are not in it (`rotor_energy`).
    center_of_mass, center_of_mass_velocity:
        (..., 3) [m] and [m/s] in the world; that of a body without mass is at its root, and its velocity 0.
    """

    linear: Floats
    angular: Floats
    kinetic_energy: Floats
    center_of_mass: Floats
    center_of_mass_velocity: Floats


def momentum(body: Body, link_poses: npt.ArrayLike, link_velocities: npt.ArrayLike) -> Momentum:
    """Return momentum and kinetic energy of link poses (..., L, 7) in the world and their velocities (..., L, 6) (`link_velocities`)."""
    from bodymotion.kernels import rigid_bodies

    poses, batch = tables(body, link_poses)
    moving = np.asarray(link_velocities, dtype=np.float64)
    if moving.shape != (*batch, len(body.links), 6):
        raise ValueError(f"link velocities: expected shape {(*batch, len(body.links), 6)}, got {moving.shape}")
    found = rigid_bodies.momentum(mass_arrays(body), poses, moving.reshape(-1, len(body.links), 6)).reshape(*batch, 10)
    linear = found[..., :3]
    velocity = linear / body.mass if body.mass else np.zeros_like(linear)
    return Momentum(linear, found[..., 3:6], found[..., 9], found[..., 6:9], velocity)


def potential_energy(body: Body, link_poses: npt.ArrayLike, *, gravity: float | npt.ArrayLike = GRAVITY) -> Floats:
    """Return the energy (...) [J] of the weight, −m·g·c: 0 where the centre of mass is at the height of the world's origin."""
    return np.asarray(-body.mass * (body.center_of_mass(link_poses) @ gravity_vector(gravity)))


def rotor_energy(body: Body, joint_velocities: npt.ArrayLike) -> Floats:
    """Return the kinetic energy (...) [J] of the joints' rotors, Σ ½·J·q̇² (J as `rotor_inertias` gives it), of velocities (..., J)."""
    dq = np.asarray(joint_velocities, dtype=np.float64)
    table(dq, dq.shape[:-1], body.num_joints, "joint velocities")
    return np.asarray(0.5 * (dq * dq) @ rotor_inertias(body))
