"""Forces, torques, momentum and energy of a motion, and mass matrices.

Links form a tree here: where a body has closed loops, the forces of its extra joints are not known from the motion alone, and are assumed
to be zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.kinematics import GRAVITY, gravity_vector, mass_arrays, rotor_inertias, table, tables
from bodymotion.geometry.arrays import ContentEquality, Floats
from bodymotion.model.body import Body
from bodymotion.system.memory import check_memory


@dataclass(frozen=True, eq=False)
class InverseDynamics(ContentEquality):
    """The result of `inverse_dynamics`.

    Attributes
    ----------
    torques:
        (..., J) [Nm, for slides N] of each joint, in order of joint columns; 0 for joints that move no link, and for crawlers.
    root_wrench:
        (..., 6) force [N] and moment [Nm] about the root link's origin, along the world's axes, that the world exerts on the body: by the
        ground on a walking robot, all feet together; by the mount on a fixed one.
    link_wrenches:
        (..., L, 6) force and moment about the link's origin, along the world's axes, that each parent exerts on its link when nothing else
        touches the links from there on; the root's is `root_wrench`. None unless requested.
    """

    torques: Floats
    root_wrench: Floats
    link_wrenches: Floats | None = None


def inverse_dynamics(
    body: Body,
    link_poses: npt.ArrayLike,
    joint_velocities: npt.ArrayLike = 0.0,
    joint_accelerations: npt.ArrayLike = 0.0,
    root_velocity: npt.ArrayLike = 0.0,
    root_acceleration: npt.ArrayLike = 0.0,
    *,
    gravity: float | npt.ArrayLike = GRAVITY,
    rotors: bool = True,
    wrenches: bool = False,
) -> InverseDynamics:
    """Return forces and torques by the recursive Newton–Euler algorithm (Luh, Walker and Paul, 1980), in one pass over all frames.

    All external forces act on the root link; `Measures.torques` includes contacts at the feet.

    Parameters
    ----------
    link_poses:
        (..., L, 7) in the world.
    joint_velocities, joint_accelerations:
        (..., J) [rad/s, m/s and rad/s², m/s²], in order of joint columns.
    root_velocity, root_acceleration:
        (..., 6) of the root link's origin, then angular ones, along the world's axes; the acceleration is that of the motion, without
        gravity.
    gravity:
        [m/s²] downwards along z, or the acceleration (3,) of free fall.
    rotors:
        Whether to add the torques of the joints' rotors: gear_ratio² · rotor_inertia (or `equivalentInertia` where a file has it)
        times the joint's acceleration.
    wrenches:
        Whether to compute `link_wrenches`.

    Raises
    ------
    ValueError
        When a shape is wrong; the message has the expected one.
    """
    from bodymotion.kernels import rigid_bodies

    poses, batch = tables(body, link_poses)
    joints = body.num_joints
    motion = (
        poses,
        table(joint_velocities, batch, joints, "joint velocities"),
        table(joint_accelerations, batch, joints, "joint accelerations"),
        table(root_velocity, batch, 6, "root velocity"),
        table(root_acceleration, batch, 6, "root acceleration"),
    )
    inertia = rotor_inertias(body) * bool(rotors)
    torques, found = rigid_bodies.inverse_dynamics(
        body.tree, mass_arrays(body), inertia, motion, gravity_vector(gravity), wrenches
    )
    all_links = found.reshape(*batch, len(body.links), 6) if wrenches else None
    return InverseDynamics(torques.reshape(*batch, joints), found[:, 0].reshape(*batch, 6), all_links)


def mass_matrix(body: Body, link_poses: npt.ArrayLike, *, rotors: bool = True) -> Floats:
    """Return the mass matrix M (..., 6 + J, 6 + J): the kinetic energy is ½·uᵀ·M·u of the velocities u = (v₀, ω₀, q̇), see `jacobian`.

    Composite rigid bodies (Walker and Orin, 1982). With `rotors` those of the joints are added to the diagonal. Rows 0 … 2 are the Jacobian
    of the centre of mass, times the mass. Columns that move no link are 0.

    Raises
    ------
    MemoryError
        When it would not fit into memory; the message has its size.
    """
    from bodymotion.kernels import rigid_bodies

    poses, batch = tables(body, link_poses)
    size = 6 + body.num_joints
    check_memory(len(poses) * size * size * 8, f"mass matrices of {size} velocities in {len(poses)} frames")
    found = rigid_bodies.mass_matrix(body.tree, mass_arrays(body), rotor_inertias(body) * bool(rotors), poses)
    return found.reshape(*batch, size, size)


@dataclass(frozen=True, eq=False)
class Momentum(ContentEquality):
    """Momentum, energy and centre of mass of a moving body, along the world's axes.

    Attributes
    ----------
    linear:
        (..., 3) [kg m/s] Σ m·ċ.
    angular:
        (..., 3) [kg m²/s] about the body's centre of mass.
    kinetic_energy:
        (...) [J] of the links, without rotors (`rotor_energy`).
    center_of_mass, center_of_mass_velocity:
        (..., 3) [m] and [m/s] in the world; for a body without mass it is at its root, with velocity 0.
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
    """Return the potential energy (...) [J] of the weight, −m·g·c: 0 where the centre of mass is at the height of the world's origin."""
    return np.asarray(-body.mass * (body.center_of_mass(link_poses) @ gravity_vector(gravity)))


def rotor_energy(body: Body, joint_velocities: npt.ArrayLike) -> Floats:
    """Return the kinetic energy (...) [J] of the joints' rotors, Σ ½·J·q̇² (J: `rotor_inertias`), for joint velocities (..., J)."""
    dq = np.asarray(joint_velocities, dtype=np.float64)
    table(dq, dq.shape[:-1], body.num_joints, "joint velocities")
    return np.asarray(0.5 * (dq * dq) @ rotor_inertias(body))
