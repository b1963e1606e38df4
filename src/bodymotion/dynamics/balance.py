"""Zero moment point, centre of pressure, and how feet share the ground's force."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.contacts import Contacts
from bodymotion.geometry.arrays import Floats

__all__ = ["contact_wrenches", "shares", "zero_moment_point"]

LEAST = 0.01
"""Where the ground carries less than this part of the weight, there is no zero moment point: the body flies."""


def zero_moment_point(
    root_wrench: npt.ArrayLike, root_position: npt.ArrayLike, ground: npt.ArrayLike = 0.0, *, weight: float = 0.0
) -> Floats:
    """Return the point (..., 3) [m] on level ground about which the force of the ground has no moment along the ground.

    With F and N the force and the moment about the root's origin r that the world exerts on the body, and h the ground's height:

        x = r_x − (N_y + (r_z − h)·F_x)/F_z        y = r_y + (N_x − (r_z − h)·F_y)/F_z        z = h

    Parameters
    ----------
    root_wrench:
        (..., 6) F [N] and N [Nm], along the world's axes, of `inverse_dynamics`.
    root_position:
        (..., 3) [m] of the root link's origin in the world.
    ground:
        (...) [m] its height.
    weight:
        [N] Where F_z is below 1 % of it, the body flies and the point is NaN.
    """
    wrench, root = np.asarray(root_wrench, dtype=np.float64), np.asarray(root_position, dtype=np.float64)
    force, moment = wrench[..., :3], wrench[..., 3:]
    height = np.broadcast_to(np.asarray(ground, dtype=np.float64), force.shape[:-1])
    carried = np.where(force[..., 2] > max(LEAST * weight, 1e-12), force[..., 2], np.nan)
    above = root[..., 2] - height
    x = root[..., 0] - (moment[..., 1] + above * force[..., 0]) / carried
    y = root[..., 1] + (moment[..., 0] - above * force[..., 1]) / carried
    return np.stack([x, y, np.where(np.isnan(carried), np.nan, height)], axis=-1)


def shares(points: npt.ArrayLike, standing: npt.ArrayLike, target: npt.ArrayLike) -> Floats:
    """Return which part (T, K) of the force each of K feet bears, that stand at `points` (T, K, 2), for a centre of pressure `target` (T, 2).

    The parts w are not negative, sum to 1 and put Σ w·point as near to the target as can be; of those that do, they are the most even
    ones. On one foot, or between two of them, there is no choice. Frames without a standing foot have zeros.
    """
    places, on = np.asarray(points, dtype=np.float64), np.array(standing, dtype=bool)
    count = on.shape[1]
    weights = np.zeros(on.shape)
    away = places - np.asarray(target, dtype=np.float64)[:, None]
    away = np.where(on[..., None] & np.isfinite(away), away, 0.0)
    # Scaled, so that neither a far target nor feet that are one point make the equations singular.
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

    Together they are the whole force and moment of the ground (`root_wrench` (T, 6), about the root at `root_position` (T, 3)). Two feet
    or more could share it in many ways; here a foot bears the part w of `shares` for the zero moment point `zmp` (T, 3): of the force,
    and of the moment that is left about the common point Σ w·point. In frames without a standing foot they are 0.
    """
    wrench, root = np.asarray(root_wrench, dtype=np.float64), np.asarray(root_position, dtype=np.float64)
    target = np.asarray(zmp, dtype=np.float64)[:, :2]
    middle = contacts.points[..., :2].mean(axis=1) if contacts.links else np.zeros_like(target)
    part = shares(contacts.points[..., :2], contacts.standing, np.where(np.isnan(target), middle, target))
    common = np.einsum("tk,tkc->tc", part, contacts.points)
    left = wrench[:, 3:] + np.cross(root - common, wrench[:, :3])
    return np.asarray(part[..., None] * np.concatenate([wrench[:, :3], left], axis=1)[:, None])
