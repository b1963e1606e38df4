"""What drives a motion: torques of the joints, and forces and moments between links, by inverse dynamics.

Links make a tree here: where a body has closed loops, what its extra joints transmit is not known from the motion alone, and is taken
as none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from bodymotion.dynamics.rows import GRAVITY, gravity_vector, mass_arrays, rotor_inertias, table, tables
from bodymotion.geometry.arrays import ContentEquality, Floats
from bodymotion.model.body import Body
from bodymotion.system.memory import check_memory

__all__ = ["InverseDynamics", "inverse_dynamics", "mass_matrix"]


@dataclass(frozen=True, eq=False)
class InverseDynamics(ContentEquality):
    """What `inverse_dynamics` gives.

    Attributes
    ----------
    torques:
        (..., J) [Nm, for slides N] that each joint has to bear, in order of joint columns; 0 for what moves no link, also for crawlers.
    root_wrench:
        (..., 6) force [N] and moment [Nm] about the root link's origin, along the world's axes, which the world exerts on the body: the
        ground's on a walking robot, all feet together; the mount's on one that is fixed.
    link_wrenches:
        (..., L, 6) force and moment about the link's origin, along the world's axes, which each link gets from its parent when nothing else
        touches it or what hangs on it; the root's is `root_wrench`. None unless asked for.
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
    """Return what drives a motion, by the recursive Newton–Euler algorithm (Luh, Walker and Paul, 1980), in one pass over all frames.

    All outer forces act on the root link: contacts elsewhere would change the torques of the joints between (`Measures.contact_torques`).

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
        [m/s²] downwards along z, or the acceleration (3,) of what falls.
    rotors:
        Whether to add what it takes to turn the joints' rotors: gear_ratio² · rotor_inertia (or `equivalentInertia` where a file gives it)
        times the joint's acceleration.
    wrenches:
        Whether to give `link_wrenches`.

    Raises
    ------
    ValueError
        When a shape is another one; the message names it.
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
    """Return the mass matrix M (..., 6 + J, 6 + J): the kinetic energy is ½·uᵀ·M·u of the speeds u = (v₀, ω₀, q̇) that `jacobian` explains.

    Composite rigid bodies (Walker and Orin, 1982). With `rotors` the joints' rotors are in it, on the diagonal. Rows 0 … 2 are the Jacobian
    of the centre of mass, times the mass. Columns that move no link are 0.

    Raises
    ------
    MemoryError
        When it would not fit into memory; the message says how large it is.
    """
    from bodymotion.kernels import rigid_bodies

    poses, batch = tables(body, link_poses)
    size = 6 + body.num_joints
    check_memory(len(poses) * size * size * 8, f"mass matrices of {size} speeds in {len(poses)} frames")
    found = rigid_bodies.mass_matrix(body.tree, mass_arrays(body), rotor_inertias(body) * bool(rotors), poses)
    return found.reshape(*batch, size, size)
