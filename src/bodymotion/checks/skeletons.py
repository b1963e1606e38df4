"""Rules about recorded motion: its unit and up axis, and jumps."""

from __future__ import annotations

import numpy as np

from bodymotion.checks import rules
from bodymotion.diagnostics import Diagnostics, Problem
from bodymotion.geometry import rotations
from bodymotion.skeleton import Skeleton

MAX_ANGLE = np.radians(45)
"""[rad] Between two frames; a smaller angle is no jump, however fast."""
MAX_TURN_SPEED = 100.0
"""[rad/s] About twice that of the fastest limbs in recordings."""
MAX_ROOT_SPEED = 20.0
"""[m/s]"""


def check_skeleton(skeleton: Skeleton) -> tuple[Problem, ...]:
    """Return the problems of a recorded motion."""
    found = Diagnostics(skeleton.source.path)
    locate = skeleton.source.locations.locate
    if not (skeleton.unit_is_known and skeleton.up_is_known):
        assumed = [*([] if skeleton.unit_is_known else ["centimetres"]), *([] if skeleton.up_is_known else ["Y up"])]
        found.report(rules.ASSUMED, f"unit or up axis cannot be found from the poses; assumed: {', '.join(assumed)}")
    turns = skeleton.local_rotations()
    roots = skeleton.joint_positions()[:, [joint for joint, parent in enumerate(skeleton.parents) if parent < 0]]
    with np.errstate(all="ignore"):
        angles = rotations.angle_between(turns[:-1], turns[1:])
        speeds = np.linalg.norm(np.diff(roots, axis=0), axis=2).max(axis=1, initial=0) * skeleton.frame_rate
    for frame, joint in np.argwhere((angles > MAX_ANGLE) & (angles * skeleton.frame_rate > MAX_TURN_SPEED)).tolist():
        name, angle = skeleton.joints[joint].name[:60], np.degrees(angles[frame, joint])
        message = f"joint {name!r} rotates by {angle:.0f}° from frame {frame} to frame {frame + 1}"
        subject = ("frames", frame + 1)
        found.report(
            rules.SKELETON_JUMP, message, locate(subject), subject=subject, data={"joint": joint, "angle": angle}
        )
    for frame in np.flatnonzero(speeds > MAX_ROOT_SPEED).tolist():
        message = f"the root moves at {speeds[frame]:.3g} m/s from frame {frame} to frame {frame + 1}"
        subject = ("frames", frame + 1)
        found.report(rules.SKELETON_JUMP, message, locate(subject), subject=subject, data={"speed": speeds[frame]})
    return found.problems
