"""The zero moment point of the whole robot: every link's mass, linear and angular momentum counted."""

from __future__ import annotations

import numpy as np

from bodymotion import Body
from bodymotion.geometry import poses, rotations

from .preview import GRAVITY
from .solids import Array


def zero_moment_point(body: Body, link_poses: Array, dt: float) -> Array:
    """Return the zero moment point (T, 3) on the ground z = 0, for poses (T, L, 7) `dt` seconds apart.

    Velocities are central differences; where the moment of gravity and inertia has no horizontal part is the point.
    """
    masses = np.array([link.mass for link in body.links])
    centers = poses.transform_points(
        link_poses, np.array([link.center_of_mass for link in body.links])
    )
    velocity = np.gradient(centers, dt, axis=0)
    quaternions = link_poses[..., 3:]
    spin = np.zeros_like(centers)
    turned = rotations.multiply(quaternions[2:], rotations.conjugate(quaternions[:-2]))
    axis, angle = rotations.to_axis_angle(turned)
    spin[1:-1] = axis * angle[..., None] / (2 * dt)
    frames = rotations.to_matrix(quaternions)
    inertia = (
        frames
        @ np.array([link.inertia for link in body.links])
        @ np.swapaxes(frames, -1, -2)
    )
    momentum = np.einsum("l,tli->ti", masses, velocity)
    spinning = np.einsum("l,tli->ti", masses, np.cross(centers, velocity)) + np.einsum(
        "tlij,tlj->ti", inertia, spin
    )
    force = np.gradient(momentum, dt, axis=0)
    force[:, 2] += masses.sum() * GRAVITY
    moment = np.gradient(spinning, dt, axis=0)
    weight = masses @ centers * GRAVITY
    moment += np.stack([weight[:, 1], -weight[:, 0], np.zeros(len(weight))], axis=-1)
    return np.stack(
        [-moment[:, 1] / force[:, 2], moment[:, 0] / force[:, 2], np.zeros(len(force))],
        axis=-1,
    )
