"""Motions changed: cut, joined, faster, backwards, mirrored, smoothed, moved, told in another way; and bodies: scaled, re-rooted.

Each function takes a motion, or a body, and gives a new one. Components, keys and labels of a motion that it does not know stay; what gets
lost or could not be done is added to the motion's `problems`.
"""

from __future__ import annotations

from bodymotion.editing.angles import unwrap
from bodymotion.editing.combinations import Residual, fill_link_poses, keep_root_pose, recover_joints
from bodymotion.editing.components import drop, keep
from bodymotion.editing.frames import move, start_at
from bodymotion.editing.joining import join, loop
from bodymotion.editing.mirroring import mirror
from bodymotion.editing.rerooting import reroot
from bodymotion.editing.retiming import change_speed, reverse
from bodymotion.editing.scaling import scale
from bodymotion.editing.smoothing import smooth
from bodymotion.editing.trimming import trim, trim_frames
from bodymotion.editing.zmp import zmp_to_root, zmp_to_world

__all__ = [
    "Residual",
    "change_speed",
    "drop",
    "fill_link_poses",
    "join",
    "keep",
    "keep_root_pose",
    "loop",
    "mirror",
    "move",
    "recover_joints",
    "reroot",
    "reverse",
    "scale",
    "smooth",
    "start_at",
    "trim",
    "trim_frames",
    "unwrap",
    "zmp_to_root",
    "zmp_to_world",
]
