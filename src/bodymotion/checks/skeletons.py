"""Rules of recorded motions.

Jumps that no person makes, and an unknown unit or up axis.
"""

import numpy as np

from bodymotion.checks import rules
from bodymotion.diagnostics import Diagnostics, Problem
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.skeleton import Skeleton, SkeletonJoint

# [rad] Between two frames; a smaller angle is no jump, however fast.
MAX_ANGLE = np.radians(45)
# [rad/s] About twice that of the fastest limbs in recordings.
MAX_TURN_SPEED = 100.0
# [m/s] Twice that of the fastest sprinters.
MAX_ROOT_SPEED = 20.0
# Characters of a joint's name that a message shows.
MAX_NAME_LENGTH = 60


def check_skeleton(skeleton: Skeleton) -> tuple[Problem, ...]:
    """Return the problems of a recorded motion."""
    found = Diagnostics(skeleton.source.path)
    # The reader reports numbers that are not finite.
    values = np.where(np.isfinite(skeleton.values), skeleton.values, np.nan)
    if not np.isnan(values).any():
        _check_assumptions(found, skeleton)
    root_speeds = np.zeros(max(skeleton.num_frames - 1, 0))
    with np.errstate(all="ignore"):
        for index, joint in enumerate(skeleton.joints):
            if not joint.channels:
                continue
            steps = np.diff(values[:, skeleton.columns(index)], axis=0)
            _check_rotations(found, skeleton, index, steps)
            if joint.parent < 0:
                shifts = steps[:, _channels_of(joint, "position")]
                distances = np.linalg.norm(shifts, axis=1) * skeleton.unit
                root_speeds = np.fmax(root_speeds, distances * skeleton.frame_rate)
    for frame in np.flatnonzero(root_speeds > MAX_ROOT_SPEED).tolist():
        message = f"the root moves at {root_speeds[frame]:.3g} m/s"
        _report_jump(found, skeleton, frame, message)
    return found.problems


def _check_assumptions(found: Diagnostics, skeleton: Skeleton) -> None:
    """Report a unit and an up axis that are assumed."""
    assumed = []
    if not skeleton.unit_is_known:
        assumed.append("centimetres")
    if not skeleton.up_is_known:
        assumed.append("Y up")
    if assumed:
        found.report(
            rules.ASSUMED,
            "unit or up axis cannot be found from the poses; assumed: "
            f"{', '.join(assumed)}",
        )


def _channels_of(joint: SkeletonJoint, kind: str) -> list[bool]:
    """Return which channels of a joint are positions or rotations."""
    return [channel.endswith(kind) for channel in joint.channels]


def _check_rotations(
    found: Diagnostics, skeleton: Skeleton, index: int, steps: Floats
) -> None:
    """Report the jumps of a joint, from steps (T − 1, C) of its channels."""
    joint = skeleton.joints[index]
    angles = np.zeros(len(steps))
    # A rotation is no larger than the sum of those about its axes.
    about_axes = steps[:, _channels_of(joint, "rotation")]
    without_turns = np.abs(about_axes - 360.0 * np.rint(about_axes / 360.0))
    far = np.flatnonzero(without_turns.sum(axis=1) > np.degrees(MAX_ANGLE))
    if len(far):
        before = skeleton.local_rotation(index, far)
        after = skeleton.local_rotation(index, far + 1)
        angles[far] = rotations.angle_between(before, after)
    is_fast = angles * skeleton.frame_rate > MAX_TURN_SPEED
    for frame in np.flatnonzero((angles > MAX_ANGLE) & is_fast).tolist():
        angle = float(np.degrees(angles[frame]))
        name = joint.name[:MAX_NAME_LENGTH]
        message = f"joint {name!r} rotates by {angle:.0f}°"
        _report_jump(found, skeleton, frame, message, {"joint": index})


def _report_jump(
    found: Diagnostics,
    skeleton: Skeleton,
    frame: int,
    message: str,
    data: dict[str, object] | None = None,
) -> None:
    """Report a jump from a frame to the next one, at that in the file."""
    subject = ("frames", frame + 1)
    found.report(
        rules.SKELETON_JUMP,
        f"{message} from frame {frame} to frame {frame + 1}",
        skeleton.source.locations.locate(subject),
        subject=subject,
        data=data,
    )
