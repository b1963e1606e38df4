"""Recorded motion of a person or a robot, made a motion of another robot."""

from bodymotion.retargeting.retargeting import retarget

__all__ = ["retarget"]
