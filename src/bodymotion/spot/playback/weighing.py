"""Where the body is when an animation says where the centre of mass is."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.spot.playback.legs import leg_joints
from bodymotion.spot.playback.robot import spot_body
from bodymotion.spot.playback.standing import stand

if TYPE_CHECKING:
    from bodymotion.spot.playback.standing import Standing
    from bodymotion.spot.playback.tracks import Tracks

__all__ = ["body_places", "center_of_mass", "nominal_center"]

ROUNDS = 60
SETTLED = 1e-10
"""[m] The centre of mass is that near to where it should be; or `ROUNDS` are over, where legs are too short for it."""


def center_of_mass(body: Floats, legs: Floats, arm: Floats | None) -> Floats:
    """Return Spot's centre of mass (T, 3) of body poses (T, 7), joints of legs (T, 4, 3) and arm (T, 6); None: without arm."""
    joints = [legs.reshape(len(legs), 12)]
    if arm is not None:
        joints += [np.broadcast_to(arm, (len(legs), 6)), np.zeros((len(legs), 1))]
    robot = spot_body(arm=arm is not None)
    return robot.center_of_mass(robot.forward_kinematics(np.hstack(joints), body))


@cache
def nominal_center(arm: bool) -> float:
    """Return the height [m] of the centre of mass over the feet's centres in a nominal stand."""
    pose = stand(poses.IDENTITY)
    center = center_of_mass(pose.body[None], pose.legs[None], pose.arm[None] if arm else None)
    return float(center[0, 2])


def body_places(
    tracks: Tracks, at: Floats, centers: Floats, turns: Floats, arm: Floats | None, before: Standing
) -> Floats:
    """Return where the body's origin is (T, 3), so that the centre of mass is at `centers` (T, 3), in the animation frame.

    Legs that are given by joints go with the body; of the others the feet stay where they should be, so that the answer is found in
    rounds: each moves the body by what is missing. The arm weighs as it is by its joints (by those before the move, where the hand's pose
    is given).
    """
    place = np.array(centers)
    by_joints = tracks.legs_by_joints
    given = tracks.leg_joints(at) if by_joints.any() else None
    feet = tracks.feet(at, poses.from_parts(place, turns))
    for _ in range(ROUNDS):
        body = poses.from_parts(place, turns)
        legs = leg_joints(poses.transform_points(poses.inverse(body)[:, None], feet), before.legs, nearest=False).joints
        if given is not None:
            legs[:, by_joints] = given[:, by_joints]
        missing = centers - center_of_mass(body, legs, arm)
        place += missing
        if np.abs(missing).max(initial=0.0) < SETTLED:
            break
    return place
