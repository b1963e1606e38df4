"""Edit motions (trim, join, hold, change speed, reverse, mirror, smooth, fill gaps, move, convert) and bodies (scale, reroot).

Each function takes a motion, or a body, and returns a new one. Unknown components, keys and labels of a motion are kept. What is lost, or
cannot be done, is added to its `problems`.
"""

from bodymotion.editing.combinations import Residual, fill_link_poses, keep_root_pose, recover_joints
from bodymotion.editing.frames import move, start_at, zmp_to_root, zmp_to_world
from bodymotion.editing.joining import hold, insert, join, loop, seamless
from bodymotion.editing.mirroring import mirror
from bodymotion.editing.rerooting import reroot
from bodymotion.editing.retiming import change_length, change_speed, reverse, within_limits
from bodymotion.editing.selecting import drop, keep, trim, trim_frames
from bodymotion.editing.smoothing import change_joint, fill_gaps, smooth, unwrap
from bodymotion.model.scaling import scale

__all__ = [
    "Residual",
    "change_joint",
    "change_length",
    "change_speed",
    "drop",
    "fill_gaps",
    "fill_link_poses",
    "hold",
    "insert",
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
    "seamless",
    "smooth",
    "start_at",
    "trim",
    "trim_frames",
    "unwrap",
    "within_limits",
    "zmp_to_root",
    "zmp_to_world",
]
