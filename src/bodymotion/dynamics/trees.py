"""Kinematics and dynamics of a body's tree of links.

Velocities, accelerations and Jacobians, the forces of a motion, mass matrices.

Of forces: torques, momentum, energy, the zero moment point, and the ground's force on
each foot. Where a body has closed loops, the forces of its extra joints are not known
from the motion alone, and are assumed to be zero. `table` to `gravity_vector` make the
kernels' arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import WrongUseError
from bodymotion.geometry.arrays import ContentEquality, Floats, check_memory
from bodymotion.model.body import Body
from bodymotion.model.links import armature

if TYPE_CHECKING:
    from bodymotion.dynamics.contacts import Contacts
    from bodymotion.kernels.kinematics import Masses

GRAVITY = 9.80665
"""[m/s²] Standard gravity."""
# Share of the weight on the ground below which the body is airborne and has no zero
# moment point.
MIN_LOAD = 0.01


def table(
    values: npt.ArrayLike, batch: tuple[int, ...], width: int, what: str
) -> Floats:
    """Return `values` (..., width) over the `batch` axes as (N, width).

    The axes broadcast.
    """
    array = np.asarray(values, dtype=np.float64)
    try:
        count = int(np.prod(batch, dtype=np.int64))
        return np.ascontiguousarray(
            np.broadcast_to(array, (*batch, width)).reshape(count, width)
        )
    except ValueError:
        shape = ", ".join(map(str, (*batch, width)))
        raise ValueError(
            f"{what}: expected shape ({shape}), got {array.shape}"
        ) from None


def tables(body: Body, link_poses: npt.ArrayLike) -> tuple[Floats, tuple[int, ...]]:
    """Return link poses (..., L, 7) as (N, L, 7), and their batch axes."""
    poses = np.asarray(link_poses, dtype=np.float64)
    count = len(body.links)
    if poses.ndim < 2 or poses.shape[-2:] != (count, 7):
        raise ValueError(
            f"link poses: expected shape (..., {count}, 7), got {poses.shape}"
        )
    frames = int(np.prod(poses.shape[:-2], dtype=np.int64))
    return poses.reshape(frames, count, 7), poses.shape[:-2]


def mass_arrays(body: Body) -> Masses:
    """Return masses (L,), centres of mass (L, 3) and inertias (L, 3, 3).

    Centres and inertias about them are in the links' frames; of inertias it is the
    symmetric part.
    """
    inertias = np.array([link.inertia for link in body.links]).reshape(-1, 3, 3)
    return (
        np.array([link.mass for link in body.links], dtype=np.float64),
        np.array([link.center_of_mass for link in body.links]).reshape(-1, 3),
        # Files may have matrices that are symmetric only up to their last digits.
        np.ascontiguousarray(0.5 * (inertias + np.swapaxes(inertias, 1, 2))),
    )


def rotor_inertias(body: Body) -> Floats:
    """Return the inertia (J,) [kg m² or kg] that rotors add to the joints.

    `equivalentInertia`, else gear_ratio² · rotor_inertia.

    It is 0 for joints that move no link.
    """
    _, kinds, _, _, _ = body.tree
    links = body.links
    of_joints = body.joint_links
    # Joint columns without a movable link have no rotor.
    return np.array(
        [armature(links[i].joint) if i >= 0 and kinds[i] else 0.0 for i in of_joints],
        dtype=np.float64,
    )


def gravity_vector(gravity: float | npt.ArrayLike) -> Floats:
    """Return the acceleration (3,) [m/s²] of free fall.

    A single number is its magnitude, downwards along z.
    """
    array = np.asarray(gravity, dtype=np.float64)
    if not np.isfinite(array).all():
        raise WrongUseError(f"gravity: expected finite numbers, got {array}")
    # One number is the magnitude; z is upwards in the world.
    if array.shape == ():
        return np.array([0.0, 0.0, -float(array)])
    if array.shape != (3,):
        raise WrongUseError(
            f"gravity: expected one number or shape (3,), got shape {array.shape}"
        )
    return array


def link_velocities(
    body: Body,
    link_poses: npt.ArrayLike,
    joint_velocities: npt.ArrayLike,
    root_velocity: npt.ArrayLike = 0.0,
) -> Floats:
    """Return the velocities (..., L, 6) of all links.

    V of the link's origin [m/s], then ω [rad/s], both along the world's axes.

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
    return link_accelerations(body, link_poses, joint_velocities, 0.0, root_velocity)[0]


def link_accelerations(
    body: Body,
    link_poses: npt.ArrayLike,
    joint_velocities: npt.ArrayLike,
    joint_accelerations: npt.ArrayLike,
    root_velocity: npt.ArrayLike = 0.0,
    root_acceleration: npt.ArrayLike = 0.0,
) -> tuple[Floats, Floats]:
    """Return velocities and accelerations (..., L, 6) of all links.

    Accelerations are the second derivative of the origin's position [m/s²] and the
    derivative of ω [rad/s²], along the world's axes, without gravity; so is
    `root_acceleration` (..., 6). The rest is as for `link_velocities`.
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
    """Return velocities (..., 3) [m/s] of points in the world.

    `arms` (..., 3) [m] go from the origins of links with velocities (..., 6) to the
    points.
    """
    moving = np.asarray(link_velocities, dtype=np.float64)
    return np.asarray(
        moving[..., :3] + np.cross(moving[..., 3:], np.asarray(arms, dtype=np.float64))
    )


def jacobian(
    body: Body,
    link_poses: npt.ArrayLike,
    link: int | str,
    point: npt.ArrayLike = (0.0, 0.0, 0.0),
) -> Floats:
    """Return the Jacobian (..., 6, 6 + J) of a point on a link.

    It maps the velocities u = (v₀, ω₀, q̇) to the point's velocity and the link's
    angular velocity, all along the world's axes: v₀ is that of the root link's origin,
    ω₀ the root's angular velocity, q̇ those of the joints in order of columns. Columns
    that move no link are 0.

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
    if isinstance(link, str):
        index = body.link(link).index
    else:
        # Indexing a range raises IndexError for numbers out of range, and counts
        # negative ones from the end.
        index = range(len(body.links))[link]
    points = table(point, batch, 3, "point")
    return kinematics.jacobian(
        body.tree, poses, body.num_joints, index, points
    ).reshape(*batch, 6, 6 + body.num_joints)


def jacobians(body: Body, link_poses: npt.ArrayLike) -> Floats:
    """Return the Jacobians (..., L, 6, 6 + J) of the origins of all links.

    See `jacobian`.

    Raises
    ------
    MemoryError
        When they would not fit into memory; the message has their size.
    """
    poses, batch = tables(body, link_poses)
    width = 6 + body.num_joints
    # Eight bytes per number; a long motion of a large body would be many gigabytes.
    check_memory(
        len(poses) * len(body.links) * 6 * width * 8,
        f"the Jacobians of {len(body.links)} links in {len(poses)} frames",
    )
    out = np.empty((len(poses), len(body.links), 6, width))
    for index in range(len(body.links)):
        out[:, index] = jacobian(body, poses, index)
    return out.reshape(*batch, *out.shape[1:])


@dataclass(frozen=True, eq=False)
class InverseDynamics(ContentEquality):
    """The result of `inverse_dynamics`.

    Attributes
    ----------
    torques:
        (..., J) [Nm, for slides N] of each joint, in order of joint columns; 0 for
        joints that move no link, and for crawlers.
    root_wrench:
        (..., 6) force [N] and moment [Nm] about the root link's origin, along the
        world's axes, that the world exerts on the body: by the ground on a walking
        robot, all feet together; by the mount on a fixed one.
    link_wrenches:
        (..., L, 6) force and moment about the link's origin, along the world's axes,
        that each parent exerts on its link when nothing else touches the links from
        there on; the root's is `root_wrench`. None unless requested.
    link_velocities:
        (..., L, 6) as `link_velocities` returns them.
    """

    torques: Floats
    root_wrench: Floats
    link_wrenches: Floats | None
    link_velocities: Floats


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
    """Return forces and torques of a motion.

    By the recursive Newton–Euler algorithm (Luh, Walker and Paul, 1980), in one pass
    over all frames.

    All external forces act on the root link; `Measures.torques` includes contacts at
    the feet.

    Parameters
    ----------
    link_poses:
        (..., L, 7) in the world.
    joint_velocities, joint_accelerations:
        (..., J) [rad/s, m/s and rad/s², m/s²], in order of joint columns.
    root_velocity, root_acceleration:
        (..., 6) of the root link's origin, then angular ones, along the world's axes;
        the acceleration is that of the motion, without gravity.
    gravity:
        [m/s²] downwards along z, or the acceleration (3,) of free fall.
    rotors:
        Whether to add the torques of the joints' rotors: gear_ratio² · rotor_inertia
        (or `equivalentInertia` where a file has it) times the joint's acceleration.
    wrenches:
        Whether to compute `link_wrenches`.

    Raises
    ------
    ValueError
        When a shape is wrong; the message has the expected one.
    """
    from bodymotion.kernels import kinematics

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
    torques, found, velocities = kinematics.inverse_dynamics(
        body.tree, mass_arrays(body), inertia, motion, gravity_vector(gravity), wrenches
    )
    shape = (*batch, len(body.links), 6)
    # Without `wrenches` the kernel returns the root's alone, (N, 1, 6).
    if wrenches:
        all_links = found.reshape(shape)
    else:
        all_links = None
    root = found[:, 0].reshape(*batch, 6)
    return InverseDynamics(
        torques.reshape(*batch, joints), root, all_links, velocities.reshape(shape)
    )


def mass_matrix(
    body: Body, link_poses: npt.ArrayLike, *, rotors: bool = True
) -> Floats:
    """Return the mass matrix M (..., 6 + J, 6 + J).

    The kinetic energy is ½·uᵀ·M·u of the velocities u = (v₀, ω₀, q̇), see `jacobian`.

    Composite rigid bodies (Walker and Orin, 1982). With `rotors` those of the joints
    are added to the diagonal. Rows 0 … 2 are the Jacobian of the centre of mass, times
    the mass. Columns that move no link are 0.

    Raises
    ------
    MemoryError
        When it would not fit into memory; the message has its size.
    """
    from bodymotion.kernels import kinematics

    poses, batch = tables(body, link_poses)
    size = 6 + body.num_joints
    check_memory(
        len(poses) * size * size * 8,
        f"mass matrices of {size} velocities in {len(poses)} frames",
    )
    found = kinematics.mass_matrix(
        body.tree, mass_arrays(body), rotor_inertias(body) * bool(rotors), poses
    )
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
        (..., 3) [m] and [m/s] in the world; for a body without mass it is at its root,
        with velocity 0.
    """

    linear: Floats
    angular: Floats
    kinetic_energy: Floats
    center_of_mass: Floats
    center_of_mass_velocity: Floats


def momentum(
    body: Body, link_poses: npt.ArrayLike, link_velocities: npt.ArrayLike
) -> Momentum:
    """Return momentum and kinetic energy.

    Of link poses (..., L, 7) in the world and their velocities (..., L, 6)
    (`link_velocities`).
    """
    from bodymotion.kernels import kinematics

    poses, batch = tables(body, link_poses)
    moving = np.asarray(link_velocities, dtype=np.float64)
    if moving.shape != (*batch, len(body.links), 6):
        raise ValueError(
            f"link velocities: expected shape {(*batch, len(body.links), 6)}, got "
            f"{moving.shape}"
        )
    found = kinematics.momentum(
        mass_arrays(body), poses, moving.reshape(-1, len(body.links), 6)
    ).reshape(*batch, 10)
    linear = found[..., :3]
    if body.mass:
        velocity = linear / body.mass
    else:
        velocity = np.zeros_like(linear)
    return Momentum(linear, found[..., 3:6], found[..., 9], found[..., 6:9], velocity)


def potential_energy(
    body: Body, link_poses: npt.ArrayLike, *, gravity: float | npt.ArrayLike = GRAVITY
) -> Floats:
    """Return the potential energy (...) [J] of the weight, −m·g·c.

    0 where the centre of mass is at the height of the world's origin.
    """
    return np.asarray(
        -body.mass * (body.center_of_mass(link_poses) @ gravity_vector(gravity))
    )


def rotor_energy(body: Body, joint_velocities: npt.ArrayLike) -> Floats:
    """Return the kinetic energy (...) [J] of the joints' rotors, Σ ½·J·q̇² (J:
    `rotor_inertias`), for joint velocities (..., J).
    """
    dq = np.asarray(joint_velocities, dtype=np.float64)
    table(dq, dq.shape[:-1], body.num_joints, "joint velocities")
    return np.asarray(0.5 * (dq * dq) @ rotor_inertias(body))


def zero_moment_point(
    root_wrench: npt.ArrayLike,
    root_position: npt.ArrayLike,
    ground: npt.ArrayLike = 0.0,
    *,
    weight: float = 0.0,
) -> Floats:
    """Return the zero moment point (..., 3) [m] on level ground.

    About it, the force of the ground has no horizontal moment.

    With F and N the force and the moment about the root's origin r that the world
    exerts on the body, and h the ground's height:

        x = r_x − (N_y + (r_z − h)·F_x)/F_z        y = r_y + (N_x − (r_z − h)·F_y)/F_z
        z = h

    Parameters
    ----------
    root_wrench:
        (..., 6) F [N] and N [Nm], along the world's axes, of `inverse_dynamics`.
    root_position:
        (..., 3) [m] of the root link's origin in the world.
    ground:
        (...) [m] height of the ground.
    weight:
        [N] Where F_z is below 1 % of it, the body is airborne and the point is NaN.
    """
    wrench = np.asarray(root_wrench, dtype=np.float64)
    root = np.asarray(root_position, dtype=np.float64)
    force = wrench[..., :3]
    moment = wrench[..., 3:]
    height = np.broadcast_to(np.asarray(ground, dtype=np.float64), force.shape[:-1])
    carried = np.where(
        force[..., 2] > max(MIN_LOAD * weight, 1e-12), force[..., 2], np.nan
    )
    above = root[..., 2] - height
    x = root[..., 0] - (moment[..., 1] + above * force[..., 0]) / carried
    y = root[..., 1] + (moment[..., 0] - above * force[..., 1]) / carried
    return np.stack([x, y, np.where(np.isnan(carried), np.nan, height)], axis=-1)


def load_shares(
    points: npt.ArrayLike, in_contact: npt.ArrayLike, target: npt.ArrayLike
) -> Floats:
    """Return the shares (T, K) of the force on K feet.

    Feet are at `points` (T, K, 2), for a centre of pressure `target` (T, 2).

    `in_contact` (T, K): which feet are in contact. The shares w are non-negative, sum
    to 1 and bring Σ w·point as near to the target as
    possible; of those, they are the most even ones. With one foot, or on the line
    between two, they are unique. They are 0 without contact.
    """
    positions = np.asarray(points, dtype=np.float64)
    on = np.array(in_contact, dtype=bool)
    count = on.shape[1]
    weights = np.zeros(on.shape)
    away = positions - np.asarray(target, dtype=np.float64)[:, None]
    away = np.where(on[..., None] & np.isfinite(away), away, 0.0)
    # Scaled, so that the equations are regular for a far target, and for feet that
    # coincide.
    farthest = np.abs(away).max(axis=(1, 2), initial=1e-6)
    away = away / farthest[:, None, None]
    spread = np.maximum(np.sum(away * away, axis=(1, 2)), 1e-6)
    for _ in range(count):
        size = count + 1
        matrix = np.zeros((len(on), size, size))
        matrix[:, :count, :count] = away @ np.swapaxes(away, 1, 2)
        matrix[:, :count, :count] += np.eye(count) * (1e-6 * spread)[:, None, None]
        matrix[:, :count, count] = matrix[:, count, :count] = 1.0
        off = np.concatenate([~on, ~on.any(axis=1, keepdims=True)], axis=1)
        # Feet that are not loaded have no equation: a row of the identity keeps the
        # matrix regular, and gives them the weight 0.
        matrix[off[:, :, None] | off[:, None, :]] = 0.0
        rows, columns = np.nonzero(off)
        matrix[rows, columns, columns] = 1.0
        right = np.zeros((len(on), size, 1))
        right[:, count, 0] = on.any(axis=1)
        weights = np.linalg.solve(matrix, right)[:, :count, 0]
        negative = on & (weights < 0)
        if not negative.any():
            break
        # A negative share would pull the foot towards the ground. The most negative one
        # of a frame is taken out, and the others are solved again.
        worst = np.argmin(np.where(on, weights, 0.0), axis=1)
        drop = negative.any(axis=1)
        on[drop, worst[drop]] = False
        away = np.where(on[..., None], away, 0.0)
    return np.asarray(np.where(on, weights, 0.0))


def contact_wrenches(
    contacts: Contacts,
    root_wrench: npt.ArrayLike,
    root_position: npt.ArrayLike,
    zmp: npt.ArrayLike,
) -> Floats:
    """Return the force and moment (T, K, 6) of the ground on each foot.

    Force [N] and moment [Nm] about its contact point, along the world's axes.

    Their sum is the total force and moment of the ground (`root_wrench` (T, 6), about
    the root at `root_position` (T, 3)). For two feet or more the distribution is not
    unique; here a foot has the share w of `load_shares` for the zero moment point `zmp`
    (T, 3): of the force, and of the remaining moment about the common point Σ w·point.
    In frames without contact they are 0.
    """
    wrench = np.asarray(root_wrench, dtype=np.float64)
    root = np.asarray(root_position, dtype=np.float64)
    target = np.asarray(zmp, dtype=np.float64)[:, :2]
    # Without a zero moment point (airborne), the middle of the feet stands in for it;
    # the force is small there.
    if contacts.links:
        middle = contacts.points[..., :2].mean(axis=1)
    else:
        middle = np.zeros_like(target)
    part = load_shares(
        contacts.points[..., :2],
        contacts.in_contact,
        np.where(np.isnan(target), middle, target),
    )
    # (T, 3) Σ w·point: about it, what the shared force leaves of the moment is shared,
    # too.
    common = np.einsum("tk,tkc->tc", part, contacts.points)
    left = wrench[:, 3:] + np.cross(root - common, wrench[:, :3])
    return np.asarray(
        part[..., None] * np.concatenate([wrench[:, :3], left], axis=1)[:, None]
    )
