"""Poses of Spot, the animation frame, and foot contacts.

And the distance of a point from the support polygon.

The animation frame has its origin in the centre of the four feet at the start of a
move; its yaw is that of the robot, its z axis points up. The position of a foot is the
centre of its ball, so in a nominal stand the origin is a foot's radius above the floor.
In the world the floor is at z = 0.

Where no column has the contacts, they are inferred from the heights and speeds of the
feet; how the robot infers them is not published. At a keyframe a foot is in contact
when it is on the floor, at most `MAX_CONTACT_HEIGHT` above the lowest foot of the first
keyframe, and no faster than `MAX_CONTACT_SPEED` on its curve, whose speed is zero where
the foot reverses and where a step begins or ends. At the first and the last keyframe
being on the floor is enough. Between two keyframes a foot is in contact when it is so
at both, and its mean speed is at most `MAX_CONTACT_SPEED`. Where only the angles of
legs are known, heights are relative to a level body: a foot is in contact at a keyframe
when it is at most `MAX_CONTACT_HEIGHT` above the lowest foot there, and speeds do not
count.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, ContentEquality, Floats
from bodymotion.spot.playback.dimensions import (
    FOOT_RADIUS,
    NOMINAL_FEET,
    NOMINAL_HEIGHT,
    SITTING_HEIGHT,
    STOWED,
)
from bodymotion.spot.playback.legs import foot_positions, leg_joints

MAX_CONTACT_HEIGHT = 0.02  # [m] A foot up to this height above the floor is on it.
MAX_CONTACT_SPEED = 0.25  # [m/s] A foot that is no faster is in contact.


@dataclass(frozen=True, eq=False)
class SpotPose(ContentEquality, body=(7,), legs=(4, 3), arm=(6,)):
    """A pose of Spot in the world.

    `body` (7,) of its origin; joints of the `legs` (4, 3), the `arm` (6,) and the
    `gripper` [rad].
    """

    body: Floats
    legs: Floats
    arm: Floats = field(default_factory=lambda: STOWED)
    gripper: float = 0.0

    @property
    def feet(self) -> Floats:
        """The feet's centres (4, 3) in the world."""
        return feet_in_world(self.body, self.legs)

    @property
    def frame(self) -> Floats:
        """The pose (7,) of the animation frame of a move that starts here."""
        return footprint(self.feet)


def feet_in_world(body: npt.ArrayLike, legs: npt.ArrayLike) -> Floats:
    """Return the feet's centres (..., 4, 3) in the frame of body poses.

    Poses (..., 7), for leg joints (..., 4, 3).
    """
    return poses.transform_points(
        np.asarray(body, dtype=np.float64)[..., None, :], foot_positions(legs)
    )


def footprint(feet: npt.ArrayLike) -> Floats:
    """Return the frame (..., 7) in the centre of feet (..., 4, 3).

    x is from the middle of the hind feet to the middle of the front feet.
    """
    feet = np.asarray(feet, dtype=np.float64)
    # fl, fr minus hl, hr: the direction does not depend on how far apart the legs are.
    forward = feet[..., :2, :].mean(axis=-2) - feet[..., 2:, :].mean(axis=-2)
    yaw = np.arctan2(forward[..., 1], forward[..., 0])
    zero = np.zeros_like(yaw)
    return poses.from_parts(
        feet.mean(axis=-2), rotations.from_rpy(np.stack([zero, zero, yaw], axis=-1))
    )


def stand(
    frame: npt.ArrayLike | None = None, height: float = NOMINAL_HEIGHT
) -> SpotPose:
    """Return the nominal stand over an animation frame (7,).

    By default over the world's origin.
    """
    # The feet of the world's stand touch the floor at z = 0.
    if frame is None:
        base = np.array([0.0, 0.0, FOOT_RADIUS, 1.0, 0.0, 0.0, 0.0])
    else:
        base = np.asarray(frame)
    # Goals of the feet relative to the body, which is `height` above their centre.
    joints = leg_joints((NOMINAL_FEET - [0.0, 0.0, height])[None]).joints[0]
    return SpotPose(poses.compose(base, [0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0]), joints)


def sit(frame: npt.ArrayLike | None = None) -> SpotPose:
    """Return the sitting pose over an animation frame (7,)."""
    return stand(frame, SITTING_HEIGHT)


def inferred_contacts(times: Floats, feet: Floats, *, relative: bool = False) -> Bools:
    """Return which feet (N, 4) are in contact at keyframes.

    With times (N,) [s], of feet (N, 4, 3) [m].

    `relative`: positions are relative to the body, so that only heights at the same
    keyframe are compared.
    """
    # (N, 4) [m] heights of the feet's centres.
    height = feet[:, :, 2]
    if relative or not len(times):
        return np.asarray(
            height - height.min(axis=1, keepdims=True, initial=np.inf)
            <= MAX_CONTACT_HEIGHT
        )
    from bodymotion.kernels.interpolation import pchip_slopes

    # Speeds at keyframes are those of the curves that are played (PCHIP).
    speed = np.linalg.norm(
        pchip_slopes(feet.reshape(-1, 12), np.diff(times)).reshape(-1, 4, 3), axis=-1
    )
    # At both ends being on the floor is enough: a curve has a one-sided slope there.
    speed[[0, -1]] = 0.0
    # The floor is the lowest foot of the first keyframe.
    return np.asarray(
        (height <= height[0].min() + MAX_CONTACT_HEIGHT) & (speed <= MAX_CONTACT_SPEED)
    )


def distance_outside(points: Floats, feet: Floats, contacts: Bools) -> Floats:
    """Return the distance (T,) [m] of points outside the support polygon.

    Points (T, 2); feet (T, 4, 2) in contact (T, 4).

    It is 0 inside, and nan without feet. Two feet are a line, one is a point.
    """
    from bodymotion.kernels.feet import hulls, margins

    # The kernel takes frames of feet with points: here each foot is one point at height
    # 0, in the frame of its own position.
    placed = poses.from_parts(
        np.pad(feet, ((0, 0), (0, 0), (0, 1))), rotations.IDENTITY
    )
    heights = np.zeros(contacts.shape)
    corners, counts = hulls(
        placed,
        np.zeros((4, 3)),
        np.arange(5),
        contacts.astype(np.float64),
        heights,
        0.0,
    )
    # Margins are positive inside.
    return np.maximum(-margins(corners, counts, points)[:, 0], 0.0)
