"""Velocities, accelerations and Jacobians of links, and the arrays of a body that the kernels take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import WrongUseError
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.links import armature
from bodymotion.system.memory import check_memory

if TYPE_CHECKING:
    from bodymotion.kernels.kinematics import Masses

GRAVITY = 9.80665
"""[m/s²] Standard gravity."""


def table(values: npt.ArrayLike, batch: tuple[int, ...], width: int, what: str) -> Floats:
    """Return `values` (..., width) over the `batch` axes (they broadcast) as (N, width)."""
    array = np.asarray(values, dtype=np.float64)
    try:
        count = int(np.prod(batch, dtype=np.int64))
        return np.ascontiguousarray(np.broadcast_to(array, (*batch, width)).reshape(count, width))
    except ValueError:
        shape = ", ".join(map(str, (*batch, width)))
        raise ValueError(f"{what}: expected shape ({shape}), got {array.shape}") from None


def tables(body: Body, link_poses: npt.ArrayLike) -> tuple[Floats, tuple[int, ...]]:
    """Return link poses (..., L, 7) as (N, L, 7), and their batch axes."""
    poses = np.asarray(link_poses, dtype=np.float64)
    count = len(body.links)
    if poses.ndim < 2 or poses.shape[-2:] != (count, 7):
        raise ValueError(f"link poses: expected shape (..., {count}, 7), got {poses.shape}")
    frames = int(np.prod(poses.shape[:-2], dtype=np.int64))
    return poses.reshape(frames, count, 7), poses.shape[:-2]


def mass_arrays(body: Body) -> Masses:
    """Return masses (L,), centres of mass (L, 3) and inertias (L, 3, 3) about them in the links' frames, of these the symmetric part."""
    inertias = np.array([link.inertia for link in body.links]).reshape(-1, 3, 3)
    return (
        np.array([link.mass for link in body.links], dtype=np.float64),
        np.array([link.center_of_mass for link in body.links]).reshape(-1, 3),
        np.ascontiguousarray(0.5 * (inertias + np.swapaxes(inertias, 1, 2))),
    )


def rotor_inertias(body: Body) -> Floats:
    """Return the inertia (J,) [kg m² or kg] that rotors add to the joints: `equivalentInertia`, else gear_ratio² · rotor_inertia.

    It is 0 for joints that move no link.
    """
    _, kinds, _, _, _ = body.tree
    return np.array(
        [armature(body.links[i].joint) if i >= 0 and kinds[i] else 0.0 for i in body.joint_links], dtype=np.float64
    )


def gravity_vector(gravity: float | npt.ArrayLike) -> Floats:
    """Return the acceleration (3,) [m/s²] of free fall; a single number is its magnitude, downwards along z."""
    array = np.asarray(gravity, dtype=np.float64)
    if not np.isfinite(array).all():
        raise WrongUseError(f"gravity: expected finite numbers, got {array}")
    if array.shape == ():
        return np.array([0.0, 0.0, -float(array)])
    if array.shape != (3,):
        raise WrongUseError(f"gravity: expected one number or shape (3,), got shape {array.shape}")
    return array


def link_velocities(
    body: Body, link_poses: npt.ArrayLike, joint_velocities: npt.ArrayLike, root_velocity: npt.ArrayLike = 0.0
) -> Floats:
    """Return the velocities (..., L, 6) of all links: v of the link's origin [m/s], then ω [rad/s], both along the world's axes.

    Parameters
    ----------
    link_poses:
        (..., L, 7) in the world, as `Body.forward_kinematics` returns them.
    joint_velocities:
        (..., J) [rad/s or m/s], in order of joint columns.
    root_velocity:
        (..., 6) v and ω of the root link, along the world's axes.

    Batch axes of the velocities broadcast to those of the poses.

    Raises
    ------
    ValueError
        When a shape is wrong; the message has the expected one.
    """
    from bodymotion.kernels import kinematics

    poses, batch = tables(body, link_poses)
    speeds = table(joint_velocities, batch, body.num_joints, "joint velocities")
    found = kinematics.velocities(body.tree, poses, speeds, table(root_velocity, batch, 6, "root velocity"))
    return found.reshape(*batch, len(body.links), 6)


def link_accelerations(
    body: Body,
    link_poses: npt.ArrayLike,
    joint_velocities: npt.ArrayLike,
    joint_accelerations: npt.ArrayLike,
    root_velocity: npt.ArrayLike = 0.0,
    root_acceleration: npt.ArrayLike = 0.0,
) -> tuple[Floats, Floats]:
    """Return velocities and accelerations (..., L, 6) of all links.

    Accelerations are the second derivative of the origin's position [m/s²] and the derivative of ω [rad/s²], along the world's axes,
    without gravity; so is `root_acceleration` (..., 6). The rest is as for `link_velocities`.
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
    """Return velocities (..., 3) [m/s] of points, `arms` (..., 3) [m] from the origins of links with velocities (..., 6), in the world."""
    moving = np.asarray(link_velocities, dtype=np.float64)
    return np.asarray(moving[..., :3] + np.cross(moving[..., 3:], np.asarray(arms, dtype=np.float64)))


def jacobian(body: Body, link_poses: npt.ArrayLike, link: int | str, point: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
    """Return the Jacobian (..., 6, 6 + J) of a point on a link.

    It maps the velocities u = (v₀, ω₀, q̇) to the point's velocity and the link's angular velocity, all along the world's axes: v₀ is that
    of the root link's origin, ω₀ the root's angular velocity, q̇ those of the joints in order of columns. Columns that move no link are 0.

    Parameters
    ----------
    link_poses:
        (..., L, 7) in the world.
    link:
        Its index or name.
    point:
        (..., 3) [m] in the link's frame; by default the link's origin.
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
        When they would not fit into memory; the message has their size.
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
