"""Key poses: what they are (`values`), and the motion between them (`interpolation`).

>>> import bodymotion as bm
>>> poses = bm.load("dance.pseq")                      # doctest: +SKIP
>>> motion = poses.to_motion(bm.load_body("SR1.body")) # doctest: +SKIP
"""

from bodymotion.keyposes.values import KeyPose, KeyPoses, LinkKey

__all__ = ["KeyPose", "KeyPoses", "LinkKey"]
