"""The zero moment point, and the distribution of the ground's force among the feet."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.contacts import Contacts
from bodymotion.geometry.arrays import Floats

MIN_LOAD = 0.01
"""Share of the weight on the ground below which the body is airborne and has no zero moment point."""


def zero_moment_point(
    root_wrench: npt.ArrayLike, root_position: npt.ArrayLike, ground: npt.ArrayLike = 0.0, *, weight: float = 0.0
) -> Floats:
    """Return the point (..., 3) [m] on level ground about which the force of the ground has no horizontal moment.

    With F and N the force and the moment about the root's origin r that the world exerts on the body, and h the ground's height:

        x = r_x − (N_y + (r_z − h)·F_x)/F_z        y = r_y + (N_x − (r_z − h)·F_y)/F_z        z = h

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
    wrench, root = np.asarray(root_wrench, dtype=np.float64), np.asarray(root_position, dtype=np.float64)
    force, moment = wrench[..., :3], wrench[..., 3:]
    height = np.broadcast_to(np.asarray(ground, dtype=np.float64), force.shape[:-1])
    carried = np.where(force[..., 2] > max(MIN_LOAD * weight, 1e-12), force[..., 2], np.nan)
    above = root[..., 2] - height
    x = root[..., 0] - (moment[..., 1] + above * force[..., 0]) / carried
    y = root[..., 1] + (moment[..., 0] - above * force[..., 1]) / carried
    return np.stack([x, y, np.where(np.isnan(carried), np.nan, height)], axis=-1)


def load_shares(points: npt.ArrayLike, in_contact: npt.ArrayLike, target: npt.ArrayLike) -> Floats:
    """Return the shares (T, K) of the force on K feet at `points` (T, K, 2) for a centre of pressure `target` (T, 2).

    `in_contact` (T, K): which feet are in contact. The shares w are non-negative, sum to 1 and bring Σ w·point as near to the target as
    possible; of those, they are the most even ones. With one foot, or on the line between two, they are unique. Frames without contact
    have zeros.
    """
    positions, on = np.asarray(points, dtype=np.float64), np.array(in_contact, dtype=bool)
    count = on.shape[1]
    weights = np.zeros(on.shape)
    away = positions - np.asarray(target, dtype=np.float64)[:, None]
    away = np.where(on[..., None] & np.isfinite(away), away, 0.0)
    # Scaled, so that the equations are regular for a far target, and for feet that coincide.
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
        matrix[off[:, :, None] | off[:, None, :]] = 0.0
        rows, columns = np.nonzero(off)
        matrix[rows, columns, columns] = 1.0
        right = np.zeros((len(on), size, 1))
        right[:, count, 0] = on.any(axis=1)
        weights = np.linalg.solve(matrix, right)[:, :count, 0]
        negative = on & (weights < 0)
        if not negative.any():
            break
        worst = np.argmin(np.where(on, weights, 0.0), axis=1)
        drop = negative.any(axis=1)
        on[drop, worst[drop]] = False
        away = np.where(on[..., None], away, 0.0)
    return np.asarray(np.where(on, weights, 0.0))


def contact_wrenches(
    contacts: Contacts, root_wrench: npt.ArrayLike, root_position: npt.ArrayLike, zmp: npt.ArrayLike
) -> Floats:
    """Return force [N] and moment [Nm] (T, K, 6) of the ground on each foot, about its contact point, along the world's axes.

    Their sum is the total force and moment of the ground (`root_wrench` (T, 6), about the root at `root_position` (T, 3)). For two feet
    or more the distribution is not unique; here a foot has the share w of `load_shares` for the zero moment point `zmp` (T, 3): of the
    force, and of the remaining moment about the common point Σ w·point. In frames without contact they are 0.
    """
    wrench, root = np.asarray(root_wrench, dtype=np.float64), np.asarray(root_position, dtype=np.float64)
    target = np.asarray(zmp, dtype=np.float64)[:, :2]
    middle = contacts.points[..., :2].mean(axis=1) if contacts.links else np.zeros_like(target)
    part = load_shares(contacts.points[..., :2], contacts.in_contact, np.where(np.isnan(target), middle, target))
    common = np.einsum("tk,tkc->tc", part, contacts.points)
    left = wrench[:, 3:] + np.cross(root - common, wrench[:, :3])
    return np.asarray(part[..., None] * np.concatenate([wrench[:, :3], left], axis=1)[:, None])
