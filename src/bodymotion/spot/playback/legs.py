"""A leg's kinematics in closed form, over arrays of any batch shape (..., 3).

Joint hx turns about x, hy and kn about y. With (X, d, Z) the foot seen from joint hx with its turn taken off, d the hip's width, we have
y² + z² = d² + Z²: so there are two solutions for hx, with the foot below (Z < 0) or above the hip. In the plane (X, Z) the upper and the
lower leg are a triangle with a given third side. Of its two solutions only the one with the knee bent backwards is within the limits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.spot.playback.measures import HIP_WIDTH, HIPS, KNEE, LEG_LIMITS, SHIN, SIDES
from bodymotion.spot.playback.reaching import Errors, nearest_within_limits

__all__ = ["Legs", "foot_jacobian", "foot_positions", "leg_joints", "solutions"]

THIGH = float(np.hypot(KNEE[0], KNEE[2]))
BEND = float(np.arctan2(KNEE[0], -KNEE[2]))
"""The knee is that much before the line down from joint hy [rad]."""

STARTS = 3
"""From so many poses the nearest reachable point is searched."""

PIECE = 4096
"""So many frames at once, which a processor's cache can hold."""

ON_LIMIT = 1e-9
"""[rad] So far beyond a limit counts as on it."""


class Legs(NamedTuple):
    """What inverse kinematics gives: `joints` (..., 4, 3) hx hy kn, and `miss` (..., 4) [m], how far each foot stays from its goal."""

    joints: Floats
    miss: Floats

    @property
    def reached(self) -> npt.NDArray[np.bool_]:
        """Whether each foot is where it should be (..., 4)."""
        return np.asarray(self.miss == 0)


def foot_positions(joints: npt.ArrayLike) -> Floats:
    """Return the feet's centres (..., 4, 3) [m] in the body's frame of joints hx hy kn (..., 4, 3) [rad]. ValueError for other shapes."""
    joints = np.asarray(joints, dtype=np.float64)
    if joints.shape[-2:] != (4, 3):
        raise ValueError(f"joints: expected shape (..., 4, 3), got {joints.shape}")
    return np.asarray(HIPS + _from_hip(joints, SIDES * HIP_WIDTH))


def _from_hip(joints: Floats, width: Floats) -> Floats:
    hx, hy, kn = np.moveaxis(joints, -1, 0)
    x = KNEE[0] * np.cos(hy) + KNEE[2] * np.sin(hy) - SHIN * np.sin(hy + kn)
    z = -KNEE[0] * np.sin(hy) + KNEE[2] * np.cos(hy) - SHIN * np.cos(hy + kn)
    return np.stack([x, width * np.cos(hx) - z * np.sin(hx), width * np.sin(hx) + z * np.cos(hx)], axis=-1)


def foot_jacobian(joints: npt.ArrayLike) -> Floats:
    """Return how the feet move with the joints (..., 4, 3, 3): row x y z, column hx hy kn."""
    return _jacobian(np.asarray(joints, dtype=np.float64), SIDES * HIP_WIDTH)


def _jacobian(joints: Floats, width: Floats) -> Floats:
    hx, hy, kn = np.moveaxis(joints, -1, 0)
    foot = _from_hip(joints, width)
    z = -KNEE[0] * np.sin(hy) + KNEE[2] * np.cos(hy) - SHIN * np.cos(hy + kn)
    x_knee, z_knee = -SHIN * np.cos(hy + kn), SHIN * np.sin(hy + kn)
    result = np.zeros((*hx.shape, 3, 3))
    result[..., 1, 0], result[..., 2, 0] = -foot[..., 2], foot[..., 1]
    for column, (dx, dz) in ((1, (z, -foot[..., 0])), (2, (x_knee, z_knee))):
        result[..., 0, column] = dx
        result[..., 1, column] = -dz * np.sin(hx)
        result[..., 2, column] = dz * np.cos(hx)
    return result


def solutions(feet: npt.ArrayLike) -> Floats:
    """Return both solutions (..., 4, 2, 3) for feet (..., 4, 3) in the body's frame: foot below its hip, foot above.

    They need not be within the limits; where a foot cannot be reached at all, they are for a point on the way to it.
    """
    x, y, z = np.moveaxis(np.asarray(feet, dtype=np.float64) - HIPS, -1, 0)
    width = SIDES * HIP_WIDTH
    depth = np.sqrt(np.maximum(y * y + z * z - width * width, 0.0))
    result = np.empty((*x.shape, 2, 3))
    cosine = np.clip((x * x + depth * depth - THIGH**2 - SHIN**2) / (2 * THIGH * SHIN), -1.0, 1.0)
    kn = -np.arctan2(np.sqrt((1 - cosine) * (1 + cosine)), cosine) - BEND
    knee_x, knee_z = KNEE[0] - SHIN * np.sin(kn), KNEE[2] - SHIN * np.cos(kn)
    for branch, down in enumerate((-depth, depth)):
        result[..., branch, 0] = _wrapped(np.arctan2(z, y) - np.arctan2(down, width), 0.0)
        result[..., branch, 1] = _wrapped(np.arctan2(x, down) - np.arctan2(knee_x, knee_z), float(LEG_LIMITS[1].mean()))
        result[..., branch, 2] = kn
    return result


def _wrapped(angle: Floats, around: float) -> Floats:
    """Return the angle within half a turn of `around`."""
    return np.asarray(around + (angle - around + np.pi) % (2 * np.pi) - np.pi)


def leg_joints(feet: npt.ArrayLike, before: npt.ArrayLike | None = None, *, nearest: bool = True) -> Legs:
    """Return the joints that bring the feet where they should be, over frames.

    Parameters
    ----------
    feet:
        (T, 4, 3) [m] where the feet's centres should be, in the body's frame.
    before:
        (4, 3) joints before the first frame; when not given, the feet are below their hips then.
    nearest:
        Whether what cannot be reached is brought as near as possible, which takes time; else its joints are only kept within their limits.

    Of the two solutions the one within the limits is taken; of two, the one nearer to the frame before.

    Raises
    ------
    ValueError
        When an array has another shape.
    """
    feet = frozen(feet, (None, 4, 3), "feet")
    before = None if before is None else frozen(before, (4, 3), "before")
    lower, upper = LEG_LIMITS.T
    found, fits = np.empty((*feet.shape[:-1], 2, 3)), np.empty((*feet.shape[:-1], 2), dtype=bool)
    for first in range(0, len(feet), PIECE):
        piece = slice(first, first + PIECE)
        found[piece], fits[piece] = _solved(feet[piece])
    joints = np.empty(feet.shape)
    miss = np.zeros(feet.shape[:-1])
    for leg in range(4):
        earlier = None if before is None else before[leg]
        joints[:, leg] = _chosen(found[:, leg], fits[:, leg], earlier)
        lost = ~fits[:, leg].any(axis=1)
        if lost.any():
            goal, width = feet[lost, leg] - HIPS[leg], np.asarray(SIDES[leg] * HIP_WIDTH)
            if nearest:
                joints[lost, leg] = nearest_within_limits(
                    _apart(goal, width), _starts(found[lost, leg], goal, width), lower, upper
                )
            else:
                joints[lost, leg] = np.clip(joints[lost, leg], lower, upper)
            miss[lost, leg] = np.linalg.norm(_from_hip(joints[lost, leg], width) - goal, axis=-1)
    return Legs(joints, miss)


def _solved(feet: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return both solutions (..., 4, 2, 3), and which (..., 4, 2) are within the limits and bring the feet where they should be."""
    found = solutions(feet)
    off = _from_hip(found, (SIDES * HIP_WIDTH)[:, None]) + HIPS[:, None] - feet[..., None, :]
    fits = off[..., 0] ** 2 + off[..., 1] ** 2 + off[..., 2] ** 2 <= 1e-18
    for joint, (lower, upper) in enumerate(LEG_LIMITS):
        fits &= (found[..., joint] >= lower - ON_LIMIT) & (found[..., joint] <= upper + ON_LIMIT)
    return found, fits


def _apart(goals: Floats, width: Floats) -> Errors:
    """Return what says how far feet are from their goals (N, 3), seen from joint hx, and how that changes with the joints."""

    def errors(q: Floats, frames: npt.NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
        error, slopes = _from_hip(q, width) - goals[frames], _jacobian(q, width)
        # The derivative by joints i and j, i the nearer one to the hip, is the axis of i times the derivative by j.
        zero, sine, cosine = np.zeros(len(q)), np.sin(q[:, 0]), np.cos(q[:, 0])
        across = np.stack([zero, cosine, sine], axis=-1)
        bend = np.empty((len(q), 3, 3))
        bend[:, 0] = error[:, 2, None] * slopes[:, 1] - error[:, 1, None] * slopes[:, 2]
        bend[:, 1:] = np.einsum("mk,mkj->mj", np.cross(error, across), slopes)[:, None]
        bend[:, 1:, 0], bend[:, 2, 1] = bend[:, 0, 1:], bend[:, 1, 2]
        return error, slopes, bend

    return errors


def _chosen(found: Floats, fits: npt.NDArray[np.bool_], before: Floats | None) -> Floats:
    """Take of solutions (T, 2, 3) one that fits; where both do, the one nearer to what was taken before (3,)."""
    from bodymotion.kernels.branches import nearest_branches

    start = found[0, 0] if before is None and len(found) else before
    if start is None:
        return found[:, 0]
    taken = nearest_branches(found, fits, np.asarray(start, dtype=np.float64))
    return np.asarray(found[np.arange(len(found)), taken])


def _starts(found: Floats, goals: Floats, width: Floats) -> Floats:
    """Return where to begin (N, K, 3) the search of the nearest reachable point to goals (N, 3), seen from joint hx.

    These are the most promising ones of both solutions and of poses all over the range.
    """
    lower, upper = LEG_LIMITS.T
    hx, hy, kn = np.meshgrid([0.0, *LEG_LIMITS[0]], [-0.8, 0.2, 1.2, 2.2], [-2.6, -1.4, -0.3], indexing="ij")
    poses = np.stack([hx, hy, kn], axis=-1).reshape(-1, 3)
    spread = np.broadcast_to(poses, (len(found), *poses.shape)).copy()
    spread[:, : len(poses) // 3, 0] = np.clip(found[:, :1, 0], lower[0], upper[0])
    starts = np.concatenate([np.clip(found, lower, upper), spread], axis=1)
    apart = _from_hip(starts, width) - goals[:, None]
    best = np.argpartition(np.einsum("nke,nke->nk", apart, apart), STARTS, axis=1)[:, :STARTS]
    return np.take_along_axis(starts, best[..., None], axis=1)
