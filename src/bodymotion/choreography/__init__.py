"""What an animation means for the robot.

Spot's measures and kinematics, Spot as a body, playing an animation, what a robot would mind, and back from a motion.
"""

from __future__ import annotations

from bodymotion.choreography.measures import JOINT_NAMES
from bodymotion.choreography.minding import mind
from bodymotion.choreography.motions import FOOT_CONTACT, REACH_ERROR
from bodymotion.choreography.playing import needs_arm, play
from bodymotion.choreography.robot import spot_body
from bodymotion.choreography.rules import RULES
from bodymotion.choreography.standing import Standing, last_pose, sit, stand

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
