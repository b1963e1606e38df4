"""The kinematics of the arm.

In closed form where a hand pose can be reached, else as near as the limits allow.

The axes of sh0 (z) and sh1 (y) meet in the shoulder, those of el1 (x), wr0 (y) and wr1
(x) in the wrist, and el0 is parallel to sh1. So the position of the wrist determines
sh0, sh1 and el0 (facing the goal or away from it, elbow up or down), and the remaining
rotation determines el1, wr0 and wr1 (wr0 positive or negative): eight solutions
(Pieper, 1968).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import ShortRepr
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, frozen
from bodymotion.spot.playback.dimensions import (
    ARM_LIMITS,
    FOREARM,
    HAND,
    SHOULDER,
    STOWED,
    UPPER_ARM,
)
from bodymotion.spot.playback.legs import nearest_branches, nearest_within_limits

# The forearm as a straight line from el0 to the wrist: its length, and its angle [rad]
# above the x axis of joint el0.
REACH = float(np.hypot(FOREARM[0], FOREARM[2]))
RISE = float(np.arctan2(FOREARM[2], FOREARM[0]))
X, Y, Z = np.eye(3)
AXES = (Z, Y, Y, X, Y, X)
# The positions (3,) [m] of the joints, each in the frame of the joint before it.
OFFSETS = (SHOULDER, np.zeros(3), UPPER_ARM * X, FOREARM, np.zeros(3), np.zeros(3))

# [m/rad] Weight of an orientation error against a position error. Of the hand, where
# not both can be zero.
ROTATION_WEIGHT = 0.1

# Below this sine of wr0 the axes of el1 and wr1 coincide. Then only the sum of the two
# angles is known.
MIN_SINE = 1e-9


@dataclass(frozen=True, eq=False)
class Arm(ShortRepr):
    """A result of inverse kinematics.

    `joints` (T, 6) [rad]; `miss` (T,) [m] and `rotation_miss` (T,) [rad], the errors of
    the hand.
    """

    joints: Floats
    miss: Floats
    rotation_miss: Floats

    @property
    def reached(self) -> Bools:
        """Whether the hand reaches its goal (T,)."""
        return np.asarray((self.miss == 0) & (self.rotation_miss == 0))


def hand_poses(joints: npt.ArrayLike) -> Floats:
    """Return the hand's poses (..., 7) in the body's frame.

    For joints (..., 6) [rad] of the arm.

    ValueError for other shapes.
    """
    joints = np.asarray(joints, dtype=np.float64)
    if joints.shape[-1:] != (6,):
        raise ValueError(f"joints: expected shape (..., 6), got {joints.shape}")
    return _chain(joints)[0]


def _chain(joints: Floats) -> tuple[Floats, list[Floats], list[Floats]]:
    """Return the hand's poses (..., 7), and the joints, in the body's frame.

    Positions and axes (..., 3) of the joints.
    """
    rotation = np.broadcast_to(rotations.IDENTITY, (*joints.shape[:-1], 4))
    position = np.zeros((*joints.shape[:-1], 3))
    positions = []
    axes = []
    # Offsets and axes are fixed in the frame of the joint before; `rotation` carries
    # them into the body's frame.
    for k, (step, axis) in enumerate(zip(OFFSETS, AXES, strict=True)):
        position = position + rotations.rotate(rotation, step)
        positions.append(position)
        axes.append(rotations.rotate(rotation, axis))
        rotation = rotations.multiply(
            rotation, rotations.from_axis_angle(axis, joints[..., k])
        )
    # After the last joint the hand's frame is HAND ahead along x.
    return (
        poses.from_parts(position + rotations.rotate(rotation, HAND * X), rotation),
        positions,
        axes,
    )


def solutions(hands: npt.ArrayLike) -> Floats:
    """Return the eight solutions (T, 8, 6) for poses of the hand.

    Poses (T, 7) in the body's frame.

    They need not be within the limits. Where the wrist is out of reach, they are for a
    point on the line to it. Where the axes of el1 and wr1 coincide, el1 is that of the
    nearest frame in which they do not.
    """
    hands = np.asarray(hands, dtype=np.float64)
    # The hand lies on the axis of wr1, which is the hand's x axis: go back along it to
    # the wrist, seen from the shoulder.
    rotation = rotations.to_matrix(hands[:, 3:])
    wrist = hands[:, :3] - HAND * rotation[:, :, 0] - SHOULDER
    horizontal = np.hypot(wrist[:, 0], wrist[:, 1])
    # Law of cosines in the vertical plane of the arm, with the upper arm and the
    # straight line REACH to the wrist.
    distance_2 = horizontal * horizontal + wrist[:, 2] ** 2
    cosine = np.clip(
        (distance_2 - UPPER_ARM**2 - REACH**2) / (2 * UPPER_ARM * REACH), -1.0, 1.0
    )
    # √((1 − cos)(1 + cos)) does not cancel near the stretched arm, as √(1 − cos²)
    # would.
    bend = np.arctan2(np.sqrt((1 - cosine) * (1 + cosine)), cosine)
    result = np.empty((len(hands), 8, 6))
    # Bits of `branch`: 1 facing away from the goal, 2 elbow down, 4 wr0 flipped.
    for branch in range(8):
        away = branch & 1
        down = branch & 2
        flipped = branch & 4
        if away:
            sign = -1.0
        else:
            sign = 1.0
        # Straight above the shoulder every sh0 will do; 0 is chosen.
        sh0 = np.where(
            horizontal > 0, np.arctan2(sign * wrist[:, 1], sign * wrist[:, 0]), 0.0
        )
        # `bend` is the angle of the straight line to the wrist, and the x axis of joint
        # el0 is RISE below that line.
        el0 = RISE + (-bend if down else bend)
        # The wrist in the frame of sh1 at sh1 = 0: Ry(el0)·FOREARM behind UPPER_ARM·x.
        along = UPPER_ARM + FOREARM[0] * np.cos(el0) + FOREARM[2] * np.sin(el0)
        above = -FOREARM[0] * np.sin(el0) + FOREARM[2] * np.cos(el0)
        # sh1 is the difference of two angles about +y, measured from z to x.
        sh1 = np.arctan2(sign * horizontal, wrist[:, 2]) - np.arctan2(along, above)
        # What sh0, sh1 and el0 leave over: R = Rz(sh0)·Ry(sh1 + el0)·Rx·Ry·Rx, so the
        # wrist has innerᵀ·R. sh1 and el0 add up because their axes are parallel.
        inner = rotations.multiply(
            rotations.from_axis_angle(Z, sh0), rotations.from_axis_angle(Y, sh1 + el0)
        )
        remaining = np.swapaxes(rotations.to_matrix(inner), -1, -2) @ rotation
        result[:, branch, :3] = np.stack([sh0, sh1, el0], axis=-1)
        result[:, branch, 3:] = _wrist(remaining, -1.0 if flipped else 1.0)
    # Shift each angle by full turns into the turn around the middle of its limits.
    # Otherwise a usable solution may look as if it were beyond them.
    middle = ARM_LIMITS.mean(axis=1)
    return np.asarray(middle + (result - middle + np.pi) % (2 * np.pi) - np.pi)


def _wrist(remaining: Floats, sign: float) -> Floats:
    """Return el1, wr0, wr1 (T, 3) of rotations (T, 3, 3) = Rx(el1)·Ry(wr0)·Rx(wr1).

    `sign` is that of wr0.
    """
    # R = Rx(a)·Ry(b)·Rx(c) has the first row (cos b, sin b sin c, sin b cos c) and the
    # first column (cos b, sin a sin b, −cos a sin b): hence sin b, a and c.
    sine = np.hypot(remaining[:, 0, 1], remaining[:, 0, 2])
    el1 = np.arctan2(sign * remaining[:, 1, 0], -sign * remaining[:, 2, 0])
    wr1 = np.arctan2(sign * remaining[:, 0, 1], sign * remaining[:, 0, 2])
    singular = sine < MIN_SINE
    # el1 of the nearest regular frame: the joint must not jump for single frames.
    if singular.any():
        regular = np.flatnonzero(~singular)
        if len(regular):
            nearest = np.searchsorted(regular, np.flatnonzero(singular))
        else:
            nearest = np.zeros(0, int)
        known = (
            el1[regular[np.clip(nearest, 0, len(regular) - 1)]] if len(regular) else 0.0
        )
        # The block (1:, 1:) is a rotation about x by el1 ± wr1.
        both = np.arctan2(remaining[singular, 2, 1], remaining[singular, 1, 1])
        # Where wr0 is π, not zero, the difference of el1 and wr1 is known instead of
        # their sum.
        el1[singular] = known
        wr1[singular] = np.where(
            remaining[singular, 0, 0] > 0, both - known, known - both
        )
    return np.stack([el1, np.arctan2(sign * sine, remaining[:, 0, 0]), wr1], axis=-1)


def arm_joints(hands: npt.ArrayLike, before: npt.ArrayLike = STOWED) -> Arm:
    """Return the joints that bring the hand to its goal, over frames.

    Parameters
    ----------
    hands:
        (T, 7) [m, unit quaternion w x y z] goals of the hand's frame, in the body's
        frame.
    before:
        (6,) joints before the first frame.

    Of the solutions within the limits the one nearest to the frame before is chosen.
    Where there is none, the hand comes as near as the limits allow, an orientation
    error of 1 rad counting as much as 0.1 m.

    Raises
    ------
    ValueError
        When an array has another shape.
    """
    hands = frozen(hands, (None, 7), "hands")
    before = frozen(before, (6,), "before")
    found = solutions(hands)
    lower, upper = ARM_LIMITS.T
    # 1e-9 rad: a solution at its limit counts as within it.
    inside = ((found >= lower - 1e-9) & (found <= upper + 1e-9)).all(axis=-1)
    # Forward kinematics tell solutions that reach the goal from those for a clipped
    # one.
    distance, angle = _distances(hand_poses(found), hands[:, None])
    fits = inside & (distance <= 1e-9) & (angle <= 1e-7)
    chosen = nearest_branches(found, fits, before)
    joints = found[np.arange(len(found)), chosen]
    miss = np.zeros(len(hands))
    rotation_miss = np.zeros(len(hands))
    unreachable = ~fits.any(axis=1)
    if unreachable.any():
        goal = hands[unreachable]
        # All eight solutions are starting points, after clipping to the limits.
        starts = found[unreachable]
        joints[unreachable] = nearest_within_limits(
            lambda q, frames: _errors(q, goal[frames]), starts, lower, upper
        )
        miss[unreachable], rotation_miss[unreachable] = _distances(
            hand_poses(joints[unreachable]), goal
        )
    return Arm(joints, miss, rotation_miss)


def _distances(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the distances (...) [m] and angles (...) [rad] between poses (..., 7)."""
    return np.linalg.norm(a[..., :3] - b[..., :3], axis=-1), rotations.angle_between(
        a[..., 3:], b[..., 3:]
    )


def _errors(q: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """Return the errors (M, 6) of hands, and their derivatives (M, 6, 6) by joints."""
    hand, positions, axes = _chain(q)
    # Errors of position [m], then of orientation [rad], weighted into metres.
    rotated = ROTATION_WEIGHT * rotations.difference(hand[..., 3:], goal[..., 3:])
    error = np.concatenate([hand[..., :3] - goal[..., :3], rotated], axis=-1)
    # Geometric Jacobian: a joint moves the hand by axis × lever, and rotates it by
    # axis.
    columns = [
        np.concatenate(
            [np.cross(along, hand[..., :3] - position), ROTATION_WEIGHT * along],
            axis=-1,
        )
        for position, along in zip(positions, axes, strict=True)
    ]
    return error, np.stack(columns, axis=-1)
