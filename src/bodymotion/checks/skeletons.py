"""Rules of recorded motions.

Jumps that no person makes, and an unknown unit or up axis.
"""

import numpy as np

from bodymotion.checks import rules
from bodymotion.diagnostics import Diagnostics, Problem
from bodymotion.geometry import rotations
from bodymotion.skeleton import Skeleton

MAX_ANGLE = np.radians(
    45
)  # [rad] Between two frames; a smaller angle is no jump, however fast.
MAX_TURN_SPEED = 100.0  # [rad/s] About twice that of the fastest limbs in recordings.
MAX_ROOT_SPEED = 20.0  # [m/s]


def check_skeleton(skeleton: Skeleton) -> tuple[Problem, ...]:
    """Return the problems of a recorded motion."""
    found = Diagnostics(skeleton.source.path)
    locate = skeleton.source.locations.locate
    known = np.where(
        np.isfinite(skeleton.values), skeleton.values, np.nan
    )  # The reader reports the others.
    if not np.isnan(known).any() and not (
        skeleton.unit_is_known and skeleton.up_is_known
    ):
        assumed = [
            *([] if skeleton.unit_is_known else ["centimetres"]),
            *([] if skeleton.up_is_known else ["Y up"]),
        ]
        found.report(
            rules.ASSUMED,
            "unit or up axis cannot be found from the poses; assumed: "
            f"{', '.join(assumed)}",
        )
    rate = skeleton.frame_rate
    moving = np.zeros(max(skeleton.num_frames - 1, 0))
    for index, joint in enumerate(skeleton.joints):
        if not joint.channels:
            continue
        steps = np.diff(known[:, skeleton.columns(index)], axis=0)
        angles = np.zeros(len(steps))
        with np.errstate(all="ignore"):
            # A rotation is no larger than the sum of those about its axes.
            about = steps[
                :, [channel.endswith("rotation") for channel in joint.channels]
            ]
            far = np.flatnonzero(
                np.abs(about - 360.0 * np.rint(about / 360.0)).sum(axis=1)
                > np.degrees(MAX_ANGLE)
            )
            if len(far):
                angles[far] = rotations.angle_between(
                    *(skeleton.local_rotation(index, far + k) for k in (0, 1))
                )
            if joint.parent < 0:
                shifts = steps[
                    :, [channel.endswith("position") for channel in joint.channels]
                ]
                moving = np.fmax(
                    moving, np.linalg.norm(shifts, axis=1) * skeleton.unit * rate
                )
        for frame in np.flatnonzero(
            (angles > MAX_ANGLE) & (angles * rate > MAX_TURN_SPEED)
        ).tolist():
            angle = float(np.degrees(angles[frame]))
            message = f"joint {joint.name[:60]!r} rotates by {angle:.0f}° from frame {frame} to frame {frame + 1}"
            subject = ("frames", frame + 1)
            found.report(
                rules.SKELETON_JUMP,
                message,
                locate(subject),
                subject=subject,
                data={"joint": index},
            )
    for frame in np.flatnonzero(moving > MAX_ROOT_SPEED).tolist():
        message = f"the root moves at {moving[frame]:.3g} m/s from frame {frame} to frame {frame + 1}"
        subject = ("frames", frame + 1)
        found.report(rules.SKELETON_JUMP, message, locate(subject), subject=subject)
    return found.problems
