"""Spot in one pose, where its feet are, and the frame that an animation is in.

The animation frame has its origin in the centre of the four feet as they are when the move starts, turned by yaw only, z up. Feet are the
centres of their balls, so in a nominal stand its origin is a foot's radius above the floor. In the world the floor is at z = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import ContentEquality, Floats, frozen
from bodymotion.spot.playback.legs import foot_positions, leg_joints
from bodymotion.spot.playback.measures import FOOT_RADIUS, NOMINAL_FEET, NOMINAL_HEIGHT, SITTING_HEIGHT, STOWED

if TYPE_CHECKING:
    from bodymotion.motion import Motion

__all__ = ["Standing", "feet_in_world", "footprint", "last_pose", "sit", "stand"]


@dataclass(frozen=True, eq=False)
class Standing(ContentEquality):
    """A pose of Spot in the world: `body` (7,) pose of its origin, `legs` (4, 3) and `arm` (6,) joints, `gripper` [rad]."""

    body: Floats
    legs: Floats
    arm: Floats = field(default_factory=lambda: STOWED)
    gripper: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", frozen(self.body, (7,), "body"))
        object.__setattr__(self, "legs", frozen(self.legs, (4, 3), "legs"))
        object.__setattr__(self, "arm", frozen(self.arm, (6,), "arm"))

    @property
    def feet(self) -> Floats:
        """Where the feet's centres are (4, 3) in the world."""
        return feet_in_world(self.body, self.legs)

    @property
    def frame(self) -> Floats:
        """The pose (7,) in the world of the animation frame of a move that starts here."""
        return footprint(self.feet)


def feet_in_world(body: npt.ArrayLike, legs: npt.ArrayLike) -> Floats:
    """Return the feet's centres (..., 4, 3) where the body (..., 7) is given, of leg joints (..., 4, 3)."""
    return poses.transform_points(np.asarray(body, dtype=np.float64)[..., None, :], foot_positions(legs))


def footprint(feet: npt.ArrayLike) -> Floats:
    """Return the frame (..., 7) in the centre of feet (..., 4, 3), x along the line from between the hind feet to between the front feet."""
    feet = np.asarray(feet, dtype=np.float64)
    forward = feet[..., :2, :].mean(axis=-2) - feet[..., 2:, :].mean(axis=-2)
    yaw = np.arctan2(forward[..., 1], forward[..., 0])
    zero = np.zeros_like(yaw)
    return poses.from_parts(feet.mean(axis=-2), rotations.from_rpy(np.stack([zero, zero, yaw], axis=-1)))


def stand(frame: npt.ArrayLike | None = None, height: float = NOMINAL_HEIGHT) -> Standing:
    """Return the nominal stand over an animation frame (7,); by default over the middle of the world's floor."""
    base = np.array([0.0, 0.0, FOOT_RADIUS, 1.0, 0.0, 0.0, 0.0]) if frame is None else np.asarray(frame)
    joints = leg_joints((NOMINAL_FEET - [0.0, 0.0, height])[None]).joints[0]
    return Standing(poses.compose(base, [0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0]), joints)


def sit(frame: npt.ArrayLike | None = None) -> Standing:
    """Return the sitting pose over an animation frame (7,)."""
    return stand(frame, SITTING_HEIGHT)


def last_pose(motion: Motion) -> Standing:
    """Return the pose in which a motion of Spot ends.

    Raises
    ------
    ValueError
        When it is no motion of Spot, or has no frames.
    """
    from bodymotion.spot.playback.motions import spot_arrays

    arrays = spot_arrays(motion)
    if not len(arrays.body):
        raise ValueError("the motion before has no frames")
    return Standing(arrays.body[-1], arrays.legs[-1], arrays.arm[-1], float(arrays.gripper[-1]))
