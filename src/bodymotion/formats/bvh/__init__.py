"""Recorded motion of skeletons (.bvh): text; a tree of joints, then a row of numbers for each frame.

The shape of a file::

    HIERARCHY
    ROOT Hips
    {
        OFFSET 0.0 92.1 0.0
        CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
        JOINT LeftUpLeg
        {
            OFFSET 10.5 -1.8 0.1
            CHANNELS 3 Zrotation Yrotation Xrotation
            End Site
            {
                OFFSET 0.0 -43.5 0.0
            }
        }
    }
    MOTION
    Frames: 2
    Frame Time: 0.033333
    193.6 90.2 358.2 90.7 -0.04 80.8 169.4 -5.0 164.9
    193.5 90.1 358.3 90.6 -0.05 80.9 169.3 -5.1 164.8

A row has the channels of all joints in the order of the file: degrees, and the file's unit of length. Rotations are applied in the order
written, about moving axes. Position channels replace OFFSET, on any joint. Neither the unit nor the up axis is in the file.

`reader` makes a `Skeleton` of a file, `writer` a file of one.
"""

from bodymotion.formats.bvh.reader import read_bvh
from bodymotion.formats.bvh.writer import write_bvh

__all__ = ["read_bvh", "write_bvh"]
