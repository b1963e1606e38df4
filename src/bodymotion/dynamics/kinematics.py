"""How fast links move, how that changes, and how it follows from the joints."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.rows import table, tables
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.system.memory import check_memory

__all__ = ["jacobian", "jacobians", "link_accelerations", "link_velocities", "point_velocities"]


def link_velocities(
    body: Body, link_poses: npt.ArrayLike, joint_velocities: npt.ArrayLike, root_velocity: npt.ArrayLike = 0.0
) -> Floats:
    """Return the velocities (..., L, 6) of all links: v of the link's origin [m/s], then ω [rad/s], both along the world's axes.

    Parameters
    ----------
    link_poses:
        (..., L, 7) in the world, as `Body.forward_kinematics` gives them.
    joint_velocities:
        (..., J) [rad/s or m/s], in order of joint columns.
    root_velocity:
        (..., 6) v and ω of the root link, along the world's axes.

    Batch axes of the velocities broadcast to those of the poses.

    Raises
    ------
    ValueError
        When a shape is another one; the message names it.
    """
    from bodymotion.kernels import kinematics

    poses, batch = tables(body, link_poses)
    dq = table(joint_velocities, batch, body.num_joints, "joint velocities")
    root = table(root_velocity, batch, 6, "root velocity")
    return kinematics.velocities(body.tree, poses, dq, root).reshape(*batch, len(body.links), 6)


def link_accelerations(
    body: Body,
    link_poses: npt.ArrayLike,
    joint_velocities: npt.ArrayLike,
    joint_accelerations: npt.ArrayLike,
    root_velocity: npt.ArrayLike = 0.0,
    root_acceleration: npt.ArrayLike = 0.0,
) -> tuple[Floats, Floats]:
    """Return velocities and accelerations (..., L, 6) of all links.

    Accelerations are the second derivative of the origin's place [m/s²] and the derivative of ω [rad/s²], along the world's axes, as the
    motion has them: gravity is not in them. `root_acceleration` (..., 6) alike; all else is as for `link_velocities`.
    """
    from bodymotion.kernels import kinematics

    poses, batch = tables(body, link_poses)
    parts = (
        table(joint_velocities, batch, body.num_joints, "joint velocities"),
        table(joint_accelerations, batch, body.num_joints, "joint accelerations"),
        table(root_velocity, batch, 6, "root velocity"),
        table(root_acceleration, batch, 6, "root acceleration"),
    )
    first, second = kinematics.accelerations(body.tree, poses, *parts)
    shape = (*batch, len(body.links), 6)
    return first.reshape(shape), second.reshape(shape)


def point_velocities(link_velocities: npt.ArrayLike, arms: npt.ArrayLike) -> Floats:
    """Return the velocities (..., 3) [m/s] of points `arms` (..., 3) from the origins of links that move with (..., 6), all in the world."""
    moving = np.asarray(link_velocities, dtype=np.float64)
    return np.asarray(moving[..., :3] + np.cross(moving[..., 3:], np.asarray(arms, dtype=np.float64)))


def jacobian(body: Body, link_poses: npt.ArrayLike, link: int | str, point: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
    """Return the Jacobian (..., 6, 6 + J) of a point on a link.

    It takes the speeds u = (v₀, ω₀, q̇) to the point's velocity and the link's angular velocity, all along the world's axes: v₀ is that of
    the root link's origin, ω₀ the root's angular velocity, q̇ those of the joints in order of columns. Columns that move no link are 0.

    Parameters
    ----------
    link_poses:
        (..., L, 7) in the world.
    link:
        Its index or name.
    point:
        (..., 3) [m] in the link's frame; the link's origin when not given.
    """
    from bodymotion.kernels import kinematics

    poses, batch = tables(body, link_poses)
    index = body.link(link).index if isinstance(link, str) else range(len(body.links))[link]
    points = table(point, batch, 3, "point")
    return kinematics.jacobian(body.tree, poses, body.num_joints, index, points).reshape(*batch, 6, 6 + body.num_joints)


def jacobians(body: Body, link_poses: npt.ArrayLike) -> Floats:
    """Return the Jacobians (..., L, 6, 6 + J) of the origins of all links; see `jacobian`.

    Raises
    ------
    MemoryError
        When they would not fit into memory; the message says how large they are.
    """
    poses, batch = tables(body, link_poses)
    width = 6 + body.num_joints
    check_memory(
        len(poses) * len(body.links) * 6 * width * 8, f"the Jacobians of {len(body.links)} links in {len(poses)} frames"
    )
    out = np.empty((len(poses), len(body.links), 6, width))
    for index in range(len(body.links)):
        out[:, index] = jacobian(body, poses, index)
    return out.reshape(*batch, *out.shape[1:])
