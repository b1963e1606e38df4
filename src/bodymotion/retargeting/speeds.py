"""Keep the velocity limits of joints, and remove sudden changes from a motion."""

from collections.abc import Sequence

import numpy as np

from bodymotion.geometry.arrays import Bools, Floats, median_step
from bodymotion.geometry.poses import changed_pose, pose_difference
from bodymotion.model.body import Body
from bodymotion.motion.filters import smooth_upper_bound
from bodymotion.retargeting.roles import DIGITS
from bodymotion.retargeting.source import round_low_passed

# Of the velocity limits of joints, which are kept.
SPEED_SHARE = 0.999
# [rad/s] A change of speed from frame to frame is sudden above this, and what follows.
# The rules MOT301 to MOT305 report little more.
MAX_CHANGE = 1.9
# [rad/s²] Times the time between frames; it is added to `MAX_CHANGE`.
MAX_ACCELERATION = 190.0
# The root is sudden at half the change of a joint.
ROOT_FACTOR = 2.0
# [rad/m] A sliding joint is sudden at this part of the change of a joint.
SLIDE_FACTOR = 4.0
# What is more sudden by this share is filtered in full, and what is between in part. So
# little differences have little effect.
RAMP = 0.04
# [Hz] Of the low-pass filters of what is sudden, one after another.
CUTOFFS = (5.0, 4.0, 3.0, 2.0)
# [s] How much longer the filters last before and after what is sudden.
CALMING_TIME = 0.05


def limit_velocities(
    body: Body,
    q: Floats,
    times: Floats,
    held: Bools,
) -> Floats:
    """Return the joint values (T, J) nearest to `q` that keep velocity limits.

    They are the nearest ones in the maximum norm. Values `held` (T, J) come before
    others.

    With v the limit, the nearest ones are the mean of the bounds min q(s) + v·|t − s|
    and max q(s) − v·|t − s| over all times s; before that, q is kept within these
    bounds for the times s that are held.
    """
    limits = np.array(
        [min(abs(j.velocity_lower), abs(j.velocity_upper)) for j in body.joints]
    )
    limited = np.flatnonzero((limits > 0) & (limits < np.inf))
    # v·t of each limited joint: how far it gets since the first frame.
    reach = SPEED_SHARE * limits[limited] * (times - times[0])[:, None]
    values = q[:, limited]
    is_held = held[:, limited]
    upper = _upper_bound(np.where(is_held, values, np.inf), reach)
    lower = -_upper_bound(np.where(is_held, -values, np.inf), reach)
    values = np.clip(values, np.minimum(upper, lower), np.maximum(upper, lower))
    nearest = 0.5 * (_upper_bound(values, reach) - _upper_bound(-values, reach))
    result = q.copy()
    result[:, limited] = np.round(nearest, DIGITS)
    return result


def _upper_bound(values: Floats, reach: Floats) -> Floats:
    """Return min q(s) + v·|t − s| over all times s, for values q (T, N), v·t (T, N).

    Times s before and after t are two running minima.
    """
    from_before = np.minimum.accumulate(values - reach) + reach
    from_after = np.minimum.accumulate((values + reach)[::-1])[::-1] - reach
    return np.asarray(np.minimum(from_before, from_after))


def filter_sudden_changes(
    body: Body,
    q: Floats,
    root: Floats,
    times: Floats,
    legs: Sequence[int],
) -> tuple[Floats, Floats]:
    """Return joints (T, J) and root poses (T, 7) without sudden changes.

    A stronger low-pass filter removes them: no posture reaches the goals there. The
    joints of `legs` and trunk are filtered where one of them or the root is sudden, any
    other joint where it is.
    """
    step = median_step(times) if len(times) > 2 else 0.0
    if not step:
        return q, root
    count = body.num_joints
    together = [*legs, *range(count, count + 6)]
    others = [column for column in range(count + 6) if column not in together]
    for cutoff in CUTOFFS:
        sudden = _measure_suddenness(body, q, root, step)
        sudden[:, together] = sudden[:, together].max(axis=1, keepdims=True)
        if not sudden.any():
            break
        share = np.zeros((len(q), count + 6))
        share[:, together] = _filter_share(sudden[:, together[0]], times)[:, None]
        for column in others:
            share[:, column] = _filter_share(sudden[:, column], times)
        q = q + share[:, :count] * (round_low_passed(q, times, cutoff) - q)
        filtered = round_low_passed(root, times, cutoff, are_poses=True)
        change = share[:, count:] * pose_difference(filtered, root)
        root = changed_pose(root, change)
    return q, root


def _measure_suddenness(
    body: Body,
    q: Floats,
    root: Floats,
    step: float,
) -> Floats:
    """Return how sudden (T − 2, J + 6) joints and root are: 0 not at all, 1 fully.

    `step` [s] is the time between frames.
    """
    factors = np.array(
        [SLIDE_FACTOR if joint.type == "slide" else 1.0 for joint in body.joints]
    )
    joint_steps = factors * np.diff(q, axis=0)
    root_steps = ROOT_FACTOR * pose_difference(root[1:], root[:-1])
    speeds = np.concatenate([joint_steps, root_steps], axis=1) / step
    limit = MAX_CHANGE + MAX_ACCELERATION * step
    excess = np.abs(np.diff(speeds, axis=0)) / limit - 1.0
    return np.asarray(np.clip(excess / RAMP, 0.0, 1.0))


def _filter_share(sudden: Floats, times: Floats) -> Floats:
    """Return the share (T,) of the filter where a joint is sudden (T − 2,)."""
    if not sudden.any():
        return np.zeros(len(times))
    bound = smooth_upper_bound(np.pad(sudden, 1), times, CALMING_TIME)
    return np.asarray(np.minimum(bound, 1.0))
