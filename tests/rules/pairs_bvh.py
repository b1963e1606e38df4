"""Pairs for recorded motion."""

from __future__ import annotations

from fuzz.texts import BVH

import bodymotion as bm
from rules.pairs import Pair, Reported, calls, examples, files, limited

CLIP = """HIERARCHY
ROOT Hips
{
  OFFSET 0 90 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT LeftLeg
  {
    OFFSET 10 -2 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 -80 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.033333
0 90 1 0 0 0 10 20 30
0 91 1 0 0 0 10 20 31
"""
"""A sound file."""
ALONE = "HIERARCHY ROOT A { OFFSET 0 0 0 CHANNELS 1 Xrotation }\nMOTION\nFrames: 1\nFrame Time: 1\n0\n"
FILE = "walk.bvh"


def saved(name: str) -> Reported:
    """Return what is reported when a skeleton of one joint is saved."""
    joint = bm.skeleton.SkeletonJoint(name=name, channels=("Xrotation",))
    return lambda folder: (
        bm.save(bm.Skeleton(joints=(joint,), values=[[0.0]]), folder / FILE).problems
    )


PAIRS: dict[str, Pair] = {
    **examples(
        FILE,
        CLIP,
        "BVH002 BVH004 BVH101 BVH102 BVH103 BVH104 BVH105 BVH106 BVH107 BVH109",
    ),
    "FMT009 .bvh": limited(
        files(FILE, CLIP, ALONE), "bodymotion.formats.bvh.MAX_JOINTS", 1
    ),
    "SKEL101": files(FILE, CLIP, BVH, place=False),
    "SKEL102": files(FILE, BVH.replace("193.5", "9935"), BVH),
    "MOT107": files(FILE, CLIP.replace("0.033333", "30"), CLIP),
    "BVH201": calls(saved("Left Leg"), saved("LeftLeg")),
}
