"""The kinematics of a leg in closed form.

Over arrays of any batch shape (..., 3); the nearest joints where a goal is unreachable.

Joint hx rotates about x, hy and kn about y. Let (X, d, Z) be the foot seen from joint
hx with the rotation of hx removed, d the width of the hip. Then y² + z² = d² + Z², so
there are two solutions for hx: with the foot below (Z < 0) or above the hip. In the
plane (X, Z) the upper and the lower leg are a triangle with a given third side. Of its
two solutions only the one with the knee bent backwards is within the limits.

Where a goal cannot be reached, damped Gauss-Newton steps find the joints within their
limits that come nearest, for many frames at once. A joint on its limit that would have
to go beyond is left out of a step (an active set). Each search has a damping of its
own, which grows when a step increases the error (Levenberg, 1944; Marquardt, 1963), and
ends when it has converged. Of several starting points of each frame the most promising
ones are followed, against local minima; the best result counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import ShortRepr
from bodymotion.geometry.arrays import Bools, Floats, Indices, frozen
from bodymotion.spot.playback.dimensions import (
    HIP_WIDTH,
    HIPS,
    KNEE,
    LEG_LIMITS,
    SHIN,
    SIDES,
)

THIGH = float(np.hypot(KNEE[0], KNEE[2]))
# [rad] Angle of the knee in front of the vertical line through joint hy.
BEND = float(np.arctan2(KNEE[0], -KNEE[2]))

# Frames that are solved at once: their arrays fit into a processor's cache.
BLOCK = 4096

# [rad] An angle beyond a limit by less than this counts as on it.
LIMIT_TOLERANCE = 1e-9

MAX_STEPS = 40  # Of a search for joint values within the limits.
# Starting points of a frame that are followed: those with the smallest errors.
MAX_FOLLOWED = 3
# [rad] A search whose step is smaller has converged.
STEP_TOLERANCE = 1e-7
# A search with a larger damping ends: no step reduces its error.
MAX_DAMPING = 1e2
# Frames that are searched at once, which limits the memory.
SEARCH_BLOCK = 20_000


@dataclass(frozen=True, eq=False)
class Legs(ShortRepr):
    """A result of inverse kinematics.

    `joints` (..., 4, 3) hx hy kn [rad], `miss` (..., 4) [m] the distance from the goal.
    """

    joints: Floats
    miss: Floats

    @property
    def reached(self) -> Bools:
        """Whether each foot reaches its goal (..., 4)."""
        return np.asarray(self.miss == 0)


def foot_positions(joints: npt.ArrayLike) -> Floats:
    """Return the feet's centres (..., 4, 3) [m] in the body's frame.

    For joints hx hy kn (..., 4, 3) [rad].

    ValueError for other shapes.
    """
    joints = np.asarray(joints, dtype=np.float64)
    if joints.shape[-2:] != (4, 3):
        raise ValueError(f"joints: expected shape (..., 4, 3), got {joints.shape}")
    return np.asarray(HIPS + _from_hip(joints, SIDES * HIP_WIDTH))


def _from_hip(joints: Floats, width: Floats) -> Floats:
    """Return the feet (..., 3) seen from the joints hx; `width` is signed."""
    hx, hy, kn = np.moveaxis(joints, -1, 0)
    # In the plane of the leg: Ry(hy)·KNEE + Ry(hy + kn)·(0, 0, −SHIN), where Ry(a) maps
    # (x, z) to (x cos a + z sin a, −x sin a + z cos a).
    x = KNEE[0] * np.cos(hy) + KNEE[2] * np.sin(hy) - SHIN * np.sin(hy + kn)
    z = -KNEE[0] * np.sin(hy) + KNEE[2] * np.cos(hy) - SHIN * np.cos(hy + kn)
    # Then Rx(hx) of (x, width, z): the hip is a lever of `width` along y.
    return np.stack(
        [x, width * np.cos(hx) - z * np.sin(hx), width * np.sin(hx) + z * np.cos(hx)],
        axis=-1,
    )


def _jacobian(joints: Floats, width: Floats) -> Floats:
    """Return the derivatives (..., 3, 3) of `_from_hip`: coordinates by joints."""
    hx, hy, kn = np.moveaxis(joints, -1, 0)
    foot = _from_hip(joints, width)
    # z of the foot before the rotation of hx; ∂x/∂hy is this z, and ∂z/∂hy is −x.
    z = -KNEE[0] * np.sin(hy) + KNEE[2] * np.cos(hy) - SHIN * np.cos(hy + kn)
    # kn moves the shin only: ∂x/∂kn and ∂z/∂kn of its part in `_from_hip`.
    x_knee = -SHIN * np.cos(hy + kn)
    z_knee = SHIN * np.sin(hy + kn)
    result = np.zeros((*hx.shape, 3, 3))
    # Column hx: e_x × foot = (0, −z, y) with the rotated coordinates.
    result[..., 1, 0], result[..., 2, 0] = -foot[..., 2], foot[..., 1]
    # Columns hy and kn: motion (dx, 0, dz) in the plane, rotated by hx about x.
    for column, (dx, dz) in ((1, (z, -foot[..., 0])), (2, (x_knee, z_knee))):
        result[..., 0, column] = dx
        result[..., 1, column] = -dz * np.sin(hx)
        result[..., 2, column] = dz * np.cos(hx)
    return result


def solutions(feet: npt.ArrayLike) -> Floats:
    """Return both solutions (..., 4, 2, 3) for feet (..., 4, 3) in the body's frame.

    Foot below its hip, foot above.

    They need not be within the limits. Where a foot is out of reach, they are for a
    point on the line to it.
    """
    # From here on the feet are seen from their joints hx.
    x, y, z = np.moveaxis(np.asarray(feet, dtype=np.float64) - HIPS, -1, 0)
    width = SIDES * HIP_WIDTH
    # The leg's extent from joint hy within its plane, Z² = y² + z² − width². Feet
    # inside of the circle that the hip describes are taken to lie on it.
    depth = np.sqrt(np.maximum(y * y + z * z - width * width, 0.0))
    result = np.empty((*x.shape, 2, 3))
    # Law of cosines, thigh and shin: |foot|² = THIGH² + SHIN² +
    # 2·THIGH·SHIN·cos(angle). Clipping moves feet out of reach to the nearest one on
    # the line.
    cosine = np.clip(
        (x * x + depth * depth - THIGH**2 - SHIN**2) / (2 * THIGH * SHIN), -1.0, 1.0
    )
    # sin = √((1 − cos)(1 + cos)) is accurate near a straight leg, where 1 − cos²
    # cancels. The negative root bends the knee backwards; BEND is the offset of KNEE.
    kn = -np.arctan2(np.sqrt((1 - cosine) * (1 + cosine)), cosine) - BEND
    # The foot in the frame of joint hy at hy = 0; hy is the difference of two angles.
    knee_x = KNEE[0] - SHIN * np.sin(kn)
    knee_z = KNEE[2] - SHIN * np.cos(kn)
    # First the foot below its hip (Z = −depth), then above it.
    for branch, down in enumerate((-depth, depth)):
        result[..., branch, 0] = _wrapped(
            np.arctan2(z, y) - np.arctan2(down, width), 0.0
        )
        # Angles about +y are measured from z to x, hence arctan2(x, z).
        result[..., branch, 1] = _wrapped(
            np.arctan2(x, down) - np.arctan2(knee_x, knee_z),
            float(LEG_LIMITS[1].mean()),
        )
        result[..., branch, 2] = kn
    return result


def _wrapped(angle: Floats, around: float) -> Floats:
    """Return the angle shifted by full turns to within π of `around`."""
    return np.asarray(around + (angle - around + np.pi) % (2 * np.pi) - np.pi)


def leg_joints(
    feet: npt.ArrayLike, before: npt.ArrayLike | None = None, *, nearest: bool = True
) -> Legs:
    """Return the joints that bring the feet to their goals, over frames.

    Parameters
    ----------
    feet:
        (T, 4, 3) [m] goals of the feet's centres, in the body's frame.
    before:
        (4, 3) joints before the first frame; by default with the feet below their hips.
    nearest:
        Whether to search the nearest joints for unreachable goals, which takes time;
        otherwise joints are only clipped to their limits.

    The solution within the limits is chosen; of two, the one nearer to the frame
    before.

    Raises
    ------
    ValueError
        When an array has another shape.
    """
    feet = frozen(feet, (None, 4, 3), "feet")
    lower, upper = LEG_LIMITS.T
    found = np.empty((*feet.shape[:-1], 2, 3))
    fits = np.empty((*feet.shape[:-1], 2), dtype=bool)
    for first in range(0, len(feet), BLOCK):
        # Blocks keep the intermediate arrays of the closed form in the cache.
        block = slice(first, first + BLOCK)
        found[block], fits[block] = _solved(feet[block])
    # By default the first frame counts from the solution with the feet below the hips.
    if len(found):
        below = found[0, :, 0]
    else:
        below = np.zeros((4, 3))
    before = frozen(below if before is None else before, (4, 3), "before")
    joints = np.empty(feet.shape)
    miss = np.zeros(feet.shape[:-1])
    for leg in range(4):
        chosen = nearest_branches(found[:, leg], fits[:, leg], before[leg])
        joints[:, leg] = found[np.arange(len(found)), leg, chosen]
        # Only frames without a usable solution take the search, which is slow.
        unreachable = ~fits[:, leg].any(axis=1)
        # `goal` and `width` are bound as defaults: the closure must not see the next
        # leg's.
        if unreachable.any():
            goal = feet[unreachable, leg] - HIPS[leg]
            width = np.asarray(SIDES[leg] * HIP_WIDTH)

            def errors(
                q: Floats, frames: Indices, goal: Floats = goal, width: Floats = width
            ) -> tuple[Floats, Floats]:
                return _from_hip(q, width) - goal[frames], _jacobian(q, width)

            if nearest:
                starts = _starts(found[unreachable, leg])
                joints[unreachable, leg] = nearest_within_limits(
                    errors, starts, lower, upper
                )
            else:
                joints[unreachable, leg] = np.clip(
                    joints[unreachable, leg], lower, upper
                )
            # What is left after search or clipping; 0 for all frames that are reached.
            miss[unreachable, leg] = np.linalg.norm(
                _from_hip(joints[unreachable, leg], width) - goal, axis=-1
            )
    return Legs(joints, miss)


def _solved(feet: Floats) -> tuple[Floats, Bools]:
    """Return both solutions (..., 4, 2, 3), and which are usable.

    Those (..., 4, 2) within the limits that reach the goals.
    """
    found = solutions(feet)
    # The joints are checked by forward kinematics: unreachable goals have clipped
    # angles, whose foot is off the goal.
    off = (
        _from_hip(found, (SIDES * HIP_WIDTH)[:, None])
        + HIPS[:, None]
        - feet[..., None, :]
    )
    # 1e-18 m² is a distance of 1e-9 m: rounding, not a miss.
    fits = off[..., 0] ** 2 + off[..., 1] ** 2 + off[..., 2] ** 2 <= 1e-18
    for joint, (lower, upper) in enumerate(LEG_LIMITS):
        fits &= (found[..., joint] >= lower - LIMIT_TOLERANCE) & (
            found[..., joint] <= upper + LIMIT_TOLERANCE
        )
    return found, fits


def nearest_branches(solutions: Floats, fits: Bools, start: Floats) -> Indices:
    """Return the solutions that are nearest to those before.

    For each frame (T,) the index, of (T, B, J); at first nearest to `start` (J,).

    `fits` (T, B): which of them may be chosen; where none may, all are considered. So
    joints do not jump.
    """
    # Where no branch may be chosen, all may, so that a joint angle exists everywhere.
    allowed = fits | ~fits.any(axis=1, keepdims=True)
    # (T, B, J) the solutions of the frame before; the first row stands for `start`.
    before = np.concatenate(
        [np.broadcast_to(start, (1, *solutions.shape[1:])), solutions[:-1]]
    )
    chosen: list[int] = [0]
    for first in range(0, len(solutions), BLOCK):
        block = slice(first, first + BLOCK)
        # Distances (T, B before, B now) for all pairs, so that the loop over frames,
        # which depends on the choice before, is left with one look-up each.
        # For each solution of the frame before, the nearest one.
        distances = np.sum(
            (solutions[block, None] - before[block, :, None]) ** 2, axis=-1
        )
        # A distance of NaN must not win argmin.
        for row in (
            np.where(allowed[block, None] & ~np.isnan(distances), distances, np.inf)
            .argmin(axis=2)
            .tolist()
        ):
            chosen.append(row[chosen[-1]])
    return np.array(chosen[1:], dtype=np.intp)


def _starts(found: Floats) -> Floats:
    """Return the starting joints (N, K, 3) of the search.

    For the nearest reachable points.

    Both solutions, and poses all over the range.
    """
    lower, upper = LEG_LIMITS.T
    # 3 · 4 · 3 poses: hx at zero and both limits, hy and kn spread over their ranges.
    hx, hy, kn = np.meshgrid(
        [0.0, *LEG_LIMITS[0]], [-0.8, 0.2, 1.2, 2.2], [-2.6, -1.4, -0.3], indexing="ij"
    )
    poses = np.stack([hx, hy, kn], axis=-1).reshape(-1, 3)
    spread = np.broadcast_to(poses, (len(found), *poses.shape)).copy()
    # The first third (hx = 0) takes hx of the closed form instead: the plane of the leg
    # that contains the goal.
    spread[:, : len(poses) // 3, 0] = np.clip(found[:, :1, 0], lower[0], upper[0])
    return np.concatenate([np.clip(found, lower, upper), spread], axis=1)


# Takes joints (M, J) and their frames (M,). Returns errors (M, E) and derivatives (M,
# E, J).
Errors: TypeAlias = Callable[[Floats, Indices], tuple[Floats, Floats]]


def nearest_within_limits(
    errors: Errors, starts: Floats, lower: Floats, upper: Floats
) -> Floats:
    """Return the joints (N, J) with the smallest sum of squared errors.

    Within limits (J,), for each of N frames, from starts (N, K, J).
    """
    result = np.empty((len(starts), starts.shape[-1]))
    for first in range(0, len(starts), SEARCH_BLOCK):
        frames = np.arange(first, min(first + SEARCH_BLOCK, len(starts)))
        result[frames] = _nearest(errors, starts[frames], frames, lower, upper)
    return result


def _nearest(
    errors: Errors, starts: Floats, frames: Indices, lower: Floats, upper: Floats
) -> Floats:
    """Return the nearest joints (N, J) of one block of frames."""
    count, searches, joints = starts.shape
    # Searches are flat, (N · K, J): `rows` has the frame of each.
    rows = np.repeat(frames, searches)
    q = np.clip(starts, lower, upper).reshape(-1, joints)
    # Rank the starting points of each frame by their errors, follow the best ones.
    cost = np.square(errors(q, rows)[0]).sum(axis=1).reshape(count, searches)
    if searches > MAX_FOLLOWED:
        first = np.argpartition(cost, MAX_FOLLOWED, axis=1)[:, :MAX_FOLLOWED]
        kept = (np.arange(count)[:, None] * searches + first).ravel()
        q = q[kept]
        rows = rows[kept]
        searches = MAX_FOLLOWED
    error, derivative = errors(q, rows)
    cost = np.square(error).sum(axis=1)
    # Damping per search: small at first, like plain Gauss-Newton.
    damping = np.full(len(q), 1e-4)
    # Indices of the searches that have not converged.
    active = np.arange(len(q))
    for _ in range(MAX_STEPS):
        if not len(active):
            break
        step = _step(
            q[active], error[active], derivative[active], damping[active], lower, upper
        )
        # Projected step: joints stay within their limits.
        candidate = np.clip(q[active] - step, lower, upper)
        new_error, new_derivative = errors(candidate, rows[active])
        new_cost = np.square(new_error).sum(axis=1)
        # A step that increases the error is not taken, only its damping grows.
        better = new_cost < cost[active]
        step_size = np.abs(candidate - q[active]).max(axis=1)
        improved = active[better]
        for known, new in (
            (q, candidate),
            (error, new_error),
            (derivative, new_derivative),
            (cost, new_cost),
        ):
            known[improved] = new[better]
        # Factors 1/5 and 8: quick growth after failure, slow trust after success.
        damping[active] = np.clip(
            damping[active] * np.where(better, 0.2, 8.0), 1e-7, 1e6
        )
        # A search ends after a tiny step, or when even strong damping brings no
        # progress.
        active = active[
            (step_size > STEP_TOLERANCE) & (better | (damping[active] < MAX_DAMPING))
        ]
    # The best of the K searches of each frame; `q` is ordered by frame.
    best = np.argmin(cost.reshape(count, searches), axis=1)
    return np.asarray(q[np.arange(count) * searches + best])


def _step(
    q: Floats,
    error: Floats,
    derivative: Floats,
    damping: Floats,
    lower: Floats,
    upper: Floats,
) -> Floats:
    """Return damped Gauss-Newton steps (M, J) of joints that are free to move."""
    # Gradient of half the squared error: Jᵀe.
    slope = np.einsum("mej,me->mj", derivative, error)
    # A step is −gradient: a joint at a limit whose gradient points inwards would leave
    # its range.
    held = ((q <= lower) & (slope > 0)) | ((q >= upper) & (slope < 0))
    free = np.where(held, 0.0, 1.0)
    # (JᵀJ + λI)·step = Jᵀe, with rows and columns of held joints set to zero.
    square = np.swapaxes(derivative, 1, 2) @ derivative
    square *= free[:, :, None] * free[:, None, :]
    square += damping[:, None, None] * np.eye(q.shape[1])
    # The row of a held joint would be almost zero.
    square += (1.0 - free)[:, None, :] * np.eye(q.shape[1])
    return np.asarray(np.linalg.solve(square, (slope * free)[..., None])[..., 0])
