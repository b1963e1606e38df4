"""What an animation means for the robot: Spot as a body, its kinematics, playback, validation, and animations made from motions."""

from bodymotion.spot.playback.dimensions import JOINT_NAMES
from bodymotion.spot.playback.playing import needs_arm, play
from bodymotion.spot.playback.recording import FOOT_CONTACT, REACH_ERROR, last_pose
from bodymotion.spot.playback.robot import spot_body
from bodymotion.spot.playback.stance import SpotPose, sit, stand
from bodymotion.spot.playback.validation import validate

__all__ = [
    "FOOT_CONTACT",
    "JOINT_NAMES",
    "REACH_ERROR",
    "SpotPose",
    "last_pose",
    "needs_arm",
    "play",
    "sit",
    "spot_body",
    "stand",
    "validate",
]
