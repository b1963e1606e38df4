"""Keep the velocity limits of joints, and remove sudden changes from a motion."""

from collections.abc import Sequence

import numpy as np

from bodymotion.geometry.arrays import Bools, Floats, median_step
from bodymotion.geometry.poses import changed_pose, pose_difference
from bodymotion.model.body import Body
from bodymotion.motion.filters import smooth_upper_bound
from bodymotion.retargeting.roles import DIGITS
from bodymotion.retargeting.source import smoothed

SPEED_SHARE = 0.999  # Of the velocity limits of joints, which are kept.
MAX_CHANGE = 1.9
MAX_ACCELERATION = 190.0
"""[rad/s, rad/s²] Sudden is a change of speed from frame to frame of more than the first, and the second times the time; for the root
half as much, for a sliding joint 1/SLIDES. The rules MOT301 to MOT305 report little more."""
RAMP = 0.04  # What is more sudden by this share is filtered in full, and what is between in part: little differences have little effect.
SLIDES = 4.0
CUTOFFS = (5.0, 4.0, 3.0, 2.0)
CALMING_TIME = 0.05
"""[Hz] of the low-pass filters of what is sudden, one after another.

And [s] how much longer they last on both sides.
"""


def within_speeds(body: Body, q: Floats, times: Floats, held: Bools) -> Floats:
    """Return the joint values (T, J) nearest to `q` in the maximum norm that keep the velocity limits of the joints.

    Values `held` (T, J) come before others. With v the limit, the nearest ones are the
    mean of the bounds min q(s) + v·|t − s| and max q(s) − v·|t − s| over all times s;
    before that, q is kept within these bounds for the times s that are held.
    """
    limits = np.array(
        [min(abs(j.velocity_lower), abs(j.velocity_upper)) for j in body.joints]
    )
    limited = np.flatnonzero((limits > 0) & (limits < np.inf))
    way = SPEED_SHARE * limits[limited] * (times - times[0])[:, None]

    def upper(values: Floats) -> Floats:
        before = np.minimum.accumulate((values + way)[::-1])[::-1] - way
        return np.asarray(np.minimum(np.minimum.accumulate(values - way) + way, before))

    out = q.copy()
    values = q[:, limited]
    known = held[:, limited]
    bounds = (
        upper(np.where(known, values, np.inf)),
        -upper(np.where(known, -values, np.inf)),
    )
    values = np.clip(values, np.minimum(*bounds), np.maximum(*bounds))
    out[:, limited] = np.round(0.5 * (upper(values) - upper(-values)), DIGITS)
    return out


def calmed(
    body: Body, q: Floats, root: Floats, times: Floats, legs: Sequence[int]
) -> tuple[Floats, Floats]:
    """Return joints (T, J) and root poses (T, 7), with a stronger low-pass filter where they change suddenly.

    No posture reaches the goals.

    The joints of `legs` and trunk are filtered where one of them or the root is sudden,
    any other joint where it is.
    """
    if len(times) > 2:
        gap = median_step(times)
    else:
        gap = 0.0
    shares = np.array(
        [SLIDES if joint.type == "slide" else 1.0 for joint in body.joints]
    )
    for cutoff in CUTOFFS if gap else ():
        speeds = (
            np.concatenate(
                [
                    shares * np.diff(q, axis=0),
                    2.0 * pose_difference(root[1:], root[:-1]),
                ],
                axis=1,
            )
            / gap
        )
        limit = MAX_CHANGE + MAX_ACCELERATION * gap
        sudden = np.clip(
            (np.abs(np.diff(speeds, axis=0)) / limit - 1.0) / RAMP, 0.0, 1.0
        )
        together = [*legs, *range(q.shape[1], q.shape[1] + 6)]
        sudden[:, together] = sudden[:, together].max(axis=1, keepdims=True)
        if not sudden.any():
            break
        share = np.zeros((len(q), sudden.shape[1]))
        for columns in (
            together,
            *([column] for column in range(sudden.shape[1]) if column not in together),
        ):
            if sudden[:, columns[0]].any():
                share[:, columns] = np.minimum(
                    smooth_upper_bound(
                        np.pad(sudden[:, columns[0]], 1), times, CALMING_TIME
                    ),
                    1.0,
                )[:, None]
        q = q + share[:, : q.shape[1]] * (smoothed(q, times, cutoff) - q)
        change = share[:, -6:] * pose_difference(
            smoothed(root, times, cutoff, are_poses=True), root
        )
        root = changed_pose(root, change)
    return q, root
