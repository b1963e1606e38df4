"""The feet of a retargeted motion.

Pinned to the ground while those of the source are in contact, on smooth paths in
between.

In a stance phase the foot is flat, or has the pitch of the source, and a roll where the
ankle cannot hold it flat. Its yaw is the mean of the phase; it follows the source where
that differs by more than `FREE_YAW`. With R(t) its orientations and c(t) the middle of
what touches the ground, in its frame, it rolls without sliding: p(t + 1) − p(t) =
R(t)·c(t) − R(t + 1)·c(t). In a swing the foot is on the path of the source, moved by
quintic polynomials within `RETURN_TIME` of the phases before and after it; it is clear
of the ground (`CLEARANCE`).
"""

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.geometry.poses import changed_pose, pose_difference
from bodymotion.kernels.feet import lowest, product
from bodymotion.motion.interpolation.lowpass import quintic
from bodymotion.retargeting.soles import Sole

# [rad] A foot in contact keeps the mean yaw of its phase up to this deviation.
FREE_YAW = 0.15
# [rad] A foot in contact is flat up to this pitch of the source.
FREE_PITCH = 0.04
# [rad] The same for pitch and roll where its ankle allows no less.
FREE_TILT = 0.02
# [rad] Of a foot in contact, the toe up.
MIN_PITCH = -0.4
# [rad] Of a foot in contact, the heel up.
MAX_PITCH = 0.7
# [rad] Of a foot in contact, to both sides.
MAX_ROLL = 0.5
# Of the length of a sole: its least height above the ground in mid-swing.
CLEARANCE = 0.12
# [s] Longest time between a stance phase and the path of the source.
RETURN_TIME = 0.5
# [m] Points up to this height above the lowest one of a foot touch the ground.
PATCH = 0.003
# [s] Time in which weights grow by a factor of e in the first stance phase. Its end
# counts most: it must not depend on where the recording begins.
LATE_TIME = 0.2
# Weight of frames with a tilted foot in the means of a phase, against 1.
TILTED_SHARE = 0.001


def plan_foot(
    raw: Floats,
    times: Floats,
    contact: Bools,
    sole: Sole,
    tilted: bool = False,
) -> Floats:
    """Return the poses (T, 7) of the frame of a foot, its origin at the ankle.

    `raw` (T, 7) are those of the source at times (T,) [s], `contact` (T, 2) is that of
    ankle and toe. With `tilted`, the orientations are those that the foot can have, and
    kept but for `FREE_TILT`.
    """
    on_ground = np.asarray(contact.any(axis=1))
    stances = _plan_stances(raw, times, contact, sole, tilted)
    return join_stances(raw, times, stances, on_ground, sole)


def join_stances(
    raw: Floats,
    times: Floats,
    stances: Floats,
    on_ground: Bools,
    sole: Sole,
) -> Floats:
    """Return the poses (T, 7) of a foot in stances and swings.

    They are `stances` while it is `on_ground` (T,), and `raw` in between, moved to
    begin and end there.
    """
    stance_rows = np.flatnonzero(on_ground)
    swing = np.flatnonzero(~on_ground)
    feet = np.where(on_ground[:, None], stances, raw)
    if not len(swing):
        return feet
    clearance = np.zeros(len(swing))
    if len(stance_rows):
        # The last row of the phase before each swing frame, and the first of the next
        # one. Before the first phase and after the last both are the same.
        following = np.searchsorted(stance_rows, swing)
        before = stance_rows[np.maximum(following - 1, 0)]
        after = stance_rows[np.minimum(following, len(stance_rows) - 1)]
        duration = np.maximum(times[after] - times[before], 1e-9)
        share = np.clip((times[swing] - times[before]) / duration, 0.0, 1.0)
        return_share = np.minimum(RETURN_TIME / duration, 1.0)
        leaving = quintic(np.minimum(share / return_share, 1.0))
        coming = quintic(np.maximum((share - 1.0) / return_share + 1.0, 0.0))
        edges = np.union1d(before, after)
        offsets = np.zeros((len(on_ground), 6))
        offsets[edges] = pose_difference(stances[edges], raw[edges])
        change = (1.0 - leaving)[:, None] * offsets[before]
        change = change + coming[:, None] * offsets[after]
        feet[swing] = changed_pose(raw[swing], change)
        # A parabola that is 1 in the middle of the swing.
        clearance = CLEARANCE * sole.length * 4.0 * share * (1.0 - share)
    lowest_points = lowest_heights(feet[swing], sole)
    feet[swing, 2] += np.maximum(clearance - lowest_points, 0.0)
    return feet


def mean_of_phases(
    values: Floats,
    on_ground: Bools,
    weights: Floats,
) -> Floats:
    """Return values (T, N) with the weighted mean of each stance phase in its frames.

    Phases are those that are `on_ground` (T,); `weights` (T,).
    """
    begins = np.diff(on_ground, prepend=False) & on_ground
    first = np.flatnonzero(begins)
    if not len(first):
        return values
    weights = (weights * on_ground)[:, None]
    sums = np.add.reduceat(values * weights, first)
    means = sums / np.add.reduceat(weights, first)
    phase = np.cumsum(begins) - 1
    return np.asarray(np.where(on_ground[:, None], means[phase], values))


def roll_on_ground(
    feet: Floats,
    on_ground: Bools,
    weights: Floats,
    sole: Sole,
) -> Floats:
    """Return the poses (T, 7) of the frame of a foot that rolls in its stance phases.

    It has the orientations of `feet` (T, 7), and each phase is where their weighted
    mean is. `on_ground`, `weights` (T,).
    """
    rows = np.flatnonzero(on_ground)
    orientations = feet[rows, 3:]
    at_origin = np.concatenate([np.zeros((len(rows), 3)), orientations], axis=1)
    edges = np.array([0, len(sole.points)])
    low = lowest(at_origin[:, None], sole.points, edges, PATCH)[:, 0]
    depth = low[:, 0]
    # R(t)·c(t), and c(t) in the frame of the foot.
    touching = low[:-1, 1:]
    in_foot = rotations.rotate(rotations.conjugate(orientations[:-1]), touching)
    steps = touching - rotations.rotate(orientations[1:], in_foot)
    path = np.zeros((len(feet), 3))
    path[rows[1:]] = np.cumsum(steps, axis=0)
    path += mean_of_phases(feet[:, :3] - path, on_ground, weights)
    path[rows, 2] = -depth
    return np.concatenate([path, feet[:, 3:]], axis=1)


def lowest_heights(feet: Floats, sole: Sole) -> Floats:
    """Return the heights (T,) [m] of the lowest point of a foot at poses (T, 7)."""
    to_foot = rotations.conjugate(feet[:, 3:])
    up = rotations.rotate(to_foot, [0.0, 0.0, 1.0])
    return np.asarray(feet[:, 2] + product(up, sole.points.T).min(axis=1))


def _plan_stances(
    raw: Floats,
    times: Floats,
    contact: Bools,
    sole: Sole,
    tilted: bool,
) -> Floats:
    """Return the poses (T, 7) of a foot in its stance phases, as `plan_foot`."""
    on_ground = np.asarray(contact.any(axis=1))
    weights = _weigh_frames(times, contact)
    roll, pitch, yaw = rotations.to_rpy(raw[:, 3:]).T
    yaw = np.unwrap(yaw)
    mean_yaw = mean_of_phases(yaw[:, None], on_ground, weights)[:, 0]
    yaw = mean_yaw + _shrink(yaw - mean_yaw, FREE_YAW)
    pitch = _shrink(pitch, FREE_TILT if tilted else FREE_PITCH)
    pitch = np.clip(pitch, MIN_PITCH, MAX_PITCH)
    roll = np.clip(_shrink(roll, FREE_TILT), -MAX_ROLL, MAX_ROLL) * tilted
    orientations = rotations.from_rpy(np.stack([roll, pitch, yaw], axis=1))
    feet = np.concatenate([raw[:, :3], orientations], axis=1)
    return roll_on_ground(feet, on_ground, weights, sole)


def _weigh_frames(times: Floats, contact: Bools) -> Floats:
    """Return the weights (T,) of frames in the means of their stance phases."""
    weights = np.where(contact.all(axis=1), 1.0, TILTED_SHARE)
    in_swing = ~contact.any(axis=1)
    end = len(times)
    if in_swing.any():
        end = int(in_swing.argmax())
    weights[:end] *= np.exp((times[:end] - times[end - 1]) / LATE_TIME)
    return weights


def _shrink(angles: Floats, dead_zone: float) -> Floats:
    """Return angles (N,) reduced by a dead zone on both sides of 0."""
    return np.asarray(np.sign(angles) * np.maximum(np.abs(angles) - dead_zone, 0.0))
