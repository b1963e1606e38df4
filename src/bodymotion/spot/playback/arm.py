"""The arm's kinematics: in closed form where a hand pose can be reached, else as near as the limits allow.

The axes of sh0 (z) and sh1 (y) meet in the shoulder, those of el1 (x), wr0 (y) and wr1 (x) in the wrist, and el0 is parallel to sh1. So
the wrist's place gives sh0, sh1, el0 (turned towards the goal or away from it, elbow up or down), and the rest of the turn el1, wr0, wr1
(wr0 either way): eight solutions (Pieper, 1968).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.spot.playback.measures import ARM_LIMITS, FOREARM, HAND, SHOULDER, STOWED, UPPER_ARM
from bodymotion.spot.playback.reaching import nearest_within_limits

__all__ = ["Arm", "arm_joints", "hand_poses", "solutions"]

REACH = float(np.hypot(FOREARM[0], FOREARM[2]))
RISE = float(np.arctan2(FOREARM[2], FOREARM[0]))
X, Y, Z = np.eye(3)
AXES = (Z, Y, Y, X, Y, X)
BEFORE = (SHOULDER, np.zeros(3), UPPER_ARM * X, FOREARM, np.zeros(3), np.zeros(3))
"""From each joint to the next, in the frame of the former."""

TURN_WEIGHT = 0.1
"""[m/rad] What a wrong turn of the hand counts against a wrong place where not both can be had."""

STRAIGHT = 1e-9
"""Of the sine of wr0: below it the axes of el1 and wr1 are one line, and only the sum of the two is known."""


class Arm(NamedTuple):
    """What inverse kinematics gives: `joints` (T, 6); `miss` (T,) [m] and `turn_miss` (T,) [rad], how far the hand stays from its goal."""

    joints: Floats
    miss: Floats
    turn_miss: Floats

    @property
    def reached(self) -> npt.NDArray[np.bool_]:
        """Whether the hand is where it should be (T,)."""
        return np.asarray((self.miss == 0) & (self.turn_miss == 0))


def hand_poses(joints: npt.ArrayLike) -> Floats:
    """Return the hand's poses (..., 7) in the body's frame of the arm's joints (..., 6) [rad]. Raises ValueError for other shapes."""
    joints = np.asarray(joints, dtype=np.float64)
    if joints.shape[-1:] != (6,):
        raise ValueError(f"joints: expected shape (..., 6), got {joints.shape}")
    return _chain(joints)[0]


def _chain(joints: Floats) -> tuple[Floats, list[Floats], list[Floats]]:
    """Return the hand's poses, and in the body's frame where the joints are and their axes."""
    turn = np.broadcast_to(rotations.IDENTITY, (*joints.shape[:-1], 4))
    place = np.zeros((*joints.shape[:-1], 3))
    places, axes = [], []
    for k, (step, axis) in enumerate(zip(BEFORE, AXES, strict=True)):
        place = place + rotations.rotate(turn, step)
        places.append(place)
        axes.append(rotations.rotate(turn, axis))
        turn = rotations.multiply(turn, rotations.from_axis_angle(axis, joints[..., k]))
    return poses.from_parts(place + rotations.rotate(turn, HAND * X), turn), places, axes


def solutions(hands: npt.ArrayLike) -> Floats:
    """Return the eight solutions (T, 8, 6) for the hand's poses (T, 7) in the body's frame.

    They need not be within the limits; where the wrist cannot be reached, they are for a point on the way to it. Where el1 and wr1 turn
    about one line, el1 is that of the nearest frame in which they do not.
    """
    hands = np.asarray(hands, dtype=np.float64)
    turn = rotations.to_matrix(hands[:, 3:])
    wrist = hands[:, :3] - HAND * turn[:, :, 0] - SHOULDER
    out = np.hypot(wrist[:, 0], wrist[:, 1])
    square = out * out + wrist[:, 2] ** 2
    cosine = np.clip((square - UPPER_ARM**2 - REACH**2) / (2 * UPPER_ARM * REACH), -1.0, 1.0)
    bend = np.arctan2(np.sqrt((1 - cosine) * (1 + cosine)), cosine)
    result = np.empty((len(hands), 8, 6))
    for branch in range(8):
        away, down, flipped = branch & 1, branch & 2, branch & 4
        sign = -1.0 if away else 1.0
        sh0 = np.where(out > 0, np.arctan2(sign * wrist[:, 1], sign * wrist[:, 0]), 0.0)
        el0 = RISE + (-bend if down else bend)
        along = UPPER_ARM + FOREARM[0] * np.cos(el0) + FOREARM[2] * np.sin(el0)
        above = -FOREARM[0] * np.sin(el0) + FOREARM[2] * np.cos(el0)
        sh1 = np.arctan2(sign * out, wrist[:, 2]) - np.arctan2(along, above)
        inner = rotations.multiply(rotations.from_axis_angle(Z, sh0), rotations.from_axis_angle(Y, sh1 + el0))
        rest = np.swapaxes(rotations.to_matrix(inner), -1, -2) @ turn
        result[:, branch, :3] = np.stack([sh0, sh1, el0], axis=-1)
        result[:, branch, 3:] = _wrist(rest, -1.0 if flipped else 1.0)
    middle = ARM_LIMITS.mean(axis=1)
    return np.asarray(middle + (result - middle + np.pi) % (2 * np.pi) - np.pi)


def _wrist(rest: Floats, sign: float) -> Floats:
    """Return el1, wr0, wr1 (T, 3) of turns (T, 3, 3) = Rx(el1)·Ry(wr0)·Rx(wr1); `sign` is that of wr0."""
    sine = np.hypot(rest[:, 0, 1], rest[:, 0, 2])
    el1 = np.arctan2(sign * rest[:, 1, 0], -sign * rest[:, 2, 0])
    wr1 = np.arctan2(sign * rest[:, 0, 1], sign * rest[:, 0, 2])
    straight = sine < STRAIGHT
    if straight.any():
        bent = np.flatnonzero(~straight)
        nearest = np.searchsorted(bent, np.flatnonzero(straight)) if len(bent) else np.zeros(0, int)
        known = el1[bent[np.clip(nearest, 0, len(bent) - 1)]] if len(bent) else 0.0
        both = np.arctan2(rest[straight, 2, 1], rest[straight, 1, 1])
        # Where wr0 is half a turn, not zero, el1 and wr1 turn against each other.
        el1[straight] = known
        wr1[straight] = np.where(rest[straight, 0, 0] > 0, both - known, known - both)
    return np.stack([el1, np.arctan2(sign * sine, rest[:, 0, 0]), wr1], axis=-1)


def arm_joints(hands: npt.ArrayLike, before: npt.ArrayLike = STOWED) -> Arm:
    """Return the joints that bring the hand where it should be, over frames.

    Parameters
    ----------
    hands:
        (T, 7) [m, unit quaternion w x y z] where the hand's frame should be, in the body's frame.
    before:
        (6,) joints before the first frame.

    Of the solutions within the limits the one nearest to the frame before is taken. Where there is none, the hand comes as near as the
    limits allow, a radian of a wrong turn counting as much as a decimetre.

    Raises
    ------
    ValueError
        When an array has another shape.
    """
    from bodymotion.kernels.branches import nearest_branches

    hands = frozen(hands, (None, 7), "hands")
    before = frozen(before, (6,), "before")
    found = solutions(hands)
    lower, upper = ARM_LIMITS.T
    inside = ((found >= lower - 1e-9) & (found <= upper + 1e-9)).all(axis=-1)
    off, angle = _apart(hand_poses(found), hands[:, None])
    fits = inside & (off <= 1e-9) & (angle <= 1e-7)
    taken = nearest_branches(found, fits, before)
    joints = found[np.arange(len(found)), taken]
    miss, turn_miss = np.zeros(len(hands)), np.zeros(len(hands))
    lost = ~fits.any(axis=1)
    if lost.any():
        goal = hands[lost]

        def errors(q: Floats, frames: npt.NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
            return _errors(q, goal[frames])

        joints[lost] = nearest_within_limits(errors, found[lost], lower, upper)
        miss[lost], turn_miss[lost] = _apart(hand_poses(joints[lost]), goal)
    return Arm(joints, miss, turn_miss)


def _apart(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    return np.linalg.norm(a[..., :3] - b[..., :3], axis=-1), rotations.angle_between(a[..., 3:], b[..., 3:])


def _errors(q: Floats, goal: Floats) -> tuple[Floats, Floats, Floats]:
    hand, places, axes = _chain(q)
    axis, angle = rotations.to_axis_angle(rotations.multiply(hand[..., 3:], rotations.conjugate(goal[..., 3:])))
    error = np.concatenate([hand[..., :3] - goal[..., :3], TURN_WEIGHT * axis * angle[..., None]], axis=-1)
    derivative = np.stack(
        [
            np.concatenate([np.cross(along, hand[..., :3] - place), TURN_WEIGHT * along], axis=-1)
            for place, along in zip(places, axes, strict=True)
        ],
        axis=-1,
    )
    # As for the legs; how the error of the turn bends is left out.
    bend = np.empty((len(q), 6, 6))
    for k, along in enumerate(axes):
        row = np.einsum("me,mej->mj", np.cross(error[:, :3], along), derivative[:, :3])
        bend[:, k, k:], bend[:, k:, k] = row[:, k:], row[:, k:]
    return error, derivative, bend
