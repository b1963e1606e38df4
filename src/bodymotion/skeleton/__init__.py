"""Recorded motion of a skeleton.

What it is, and which unit and up axis it has (`values`).

>>> import bodymotion as bm
>>> walk = bm.load("walk.bvh")            # doctest: +SKIP
>>> positions = walk.joint_positions()    # doctest: +SKIP
"""

from bodymotion.skeleton.values import (
    CHANNELS,
    EULER_CHANNELS,
    Skeleton,
    SkeletonJoint,
    euler_values,
)

__all__ = ["CHANNELS", "EULER_CHANNELS", "Skeleton", "SkeletonJoint", "euler_values"]
