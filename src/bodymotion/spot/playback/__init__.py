"""What an animation means for the robot.

Spot's measures and kinematics, Spot as a body, playing an animation, what a robot would mind, and back from a motion.
"""

from __future__ import annotations

from bodymotion.spot.playback.measures import JOINT_NAMES
from bodymotion.spot.playback.minding import mind
from bodymotion.spot.playback.motions import FOOT_CONTACT, REACH_ERROR
from bodymotion.spot.playback.playing import needs_arm, play
from bodymotion.spot.playback.robot import spot_body
from bodymotion.spot.playback.rules import RULES
from bodymotion.spot.playback.standing import Standing, last_pose, sit, stand

__all__ = [
    "FOOT_CONTACT",
    "JOINT_NAMES",
    "REACH_ERROR",
    "RULES",
    "Standing",
    "last_pose",
    "mind",
    "needs_arm",
    "play",
    "sit",
    "spot_body",
    "stand",
]
