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
from bodymotion.retargeting.source import Sole

FREE_YAW = 0.15
FREE_PITCH = 0.04
FREE_TILT = 0.02
"""[rad] Smaller deviations of a foot in contact from its mean yaw, and from flat, are removed.

FREE_TILT where its ankle allows no less.
"""
PITCHES = (-0.4, 0.7)  # [rad] Range of the pitch of a foot in contact.
CLEARANCE = 0.12  # Of the length of a sole: its minimum height above the ground in the middle of a swing.
RETURN_TIME = 0.5  # [s] Maximum time from a stance phase to the path of the source, and from that to the next one.
PATCH = 0.003  # [m] Points of a foot up to this height above its lowest one touch the ground.
LATE_TIME = (
    0.2  # [s] Time in which weights grow by a factor of e in the first stance phase.
)
TILTED_SHARE = 0.001  # Weight of frames with a tilted foot.
MAX_ROLL = 0.5  # [rad] Maximum roll of a foot in contact.


def foot_path(
    raw: Floats, times: Floats, contact: Bools, sole: Sole, tilted: bool = False
) -> Floats:
    """Return the poses (T, 7) of the frame of a foot, its origin at the ankle, for one of the source (T, 7) at times (T,) [s].

    `contact` (T, 2) of ankle and toe. With `tilted`, orientations are those that the
    foot can have, and kept but for `FREE_TILT`.
    """
    on = np.asarray(contact.any(axis=1))
    return between_stances(
        raw, times, _stances(raw, times, contact, sole, tilted), on, sole
    )


def between_stances(
    raw: Floats, times: Floats, stances: Floats, on: Bools, sole: Sole
) -> Floats:
    """Return the poses (T, 7) of a foot.

    `stances` while it is `on` the ground (T,), and `raw` in between, moved to begin and
    end there.
    """
    known = np.flatnonzero(on)
    swing = np.flatnonzero(~on)
    out = np.where(on[:, None], stances, raw)
    if not len(swing):
        return out
    clear = np.zeros(len(swing))
    if len(known):
        before = known[np.maximum(np.searchsorted(known, swing) - 1, 0)]
        after = known[np.minimum(np.searchsorted(known, swing), len(known) - 1)]
        length = np.maximum(
            times[after] - times[before], 1e-9
        )  # 0 before the first phase and after the last.
        share = np.clip((times[swing] - times[before]) / length, 0.0, 1.0)
        part = np.minimum(RETURN_TIME / length, 1.0)
        gone = quintic(np.minimum(share / part, 1.0))
        back = quintic(np.maximum((share - 1.0) / part + 1.0, 0.0))
        edges = np.union1d(before, after)
        change = np.zeros((len(on), 6))
        change[edges] = pose_difference(stances[edges], raw[edges])
        change = (1.0 - gone)[:, None] * change[before] + back[:, None] * change[after]
        out[swing] = changed_pose(raw[swing], change)
        clear = CLEARANCE * (sole.front + sole.back) * 4.0 * share * (1.0 - share)
    out[swing, 2] += np.maximum(clear - lowest_heights(out[swing], sole), 0.0)
    return out


def phase_means(values: Floats, on: Bools, weights: Floats) -> Floats:
    """Return values (T, N) with the weighted mean of each phase in its frames, those that are `on` (T,)."""
    begins = np.diff(on, prepend=False) & on
    first = np.flatnonzero(begins)
    if not len(first):
        return values
    weights = (weights * on)[:, None]
    means = np.add.reduceat(values * weights, first) / np.add.reduceat(weights, first)
    return np.asarray(np.where(on[:, None], means[np.cumsum(begins) - 1], values))


def rolling(feet: Floats, on: Bools, weights: Floats, sole: Sole) -> Floats:
    """Return the poses (T, 7) of the frame of a foot that rolls on the ground in its stance phases, with the orientations of `feet` (T, 7).

    Each phase is where the weighted mean of `feet` is.
    """
    rows = np.flatnonzero(on)
    turn = feet[rows, 3:]
    at_origin = np.concatenate([np.zeros((len(rows), 3)), turn], axis=1)
    low = lowest(
        at_origin[:, None], sole.points, np.array([0, len(sole.points)]), PATCH
    )[:, 0]
    touching = rotations.rotate(rotations.conjugate(turn[:-1]), low[:-1, 1:])
    path = np.zeros((len(feet), 3))
    path[rows[1:]] = np.cumsum(
        low[:-1, 1:] - rotations.rotate(turn[1:], touching), axis=0
    )
    path += phase_means(feet[:, :3] - path, on, weights)
    path[rows, 2] = -low[:, 0]
    return np.concatenate([path, feet[:, 3:]], axis=1)


def lowest_heights(feet: Floats, sole: Sole) -> Floats:
    """Return the heights (T,) [m] of the lowest point of a foot, for poses (T, 7) of its frame."""
    up = rotations.rotate(rotations.conjugate(feet[:, 3:]), [0.0, 0.0, 1.0])
    return np.asarray(feet[:, 2] + product(up, sole.points.T).min(axis=1))


def _stances(
    raw: Floats, times: Floats, contact: Bools, sole: Sole, tilted: bool
) -> Floats:
    """Return the poses (T, 7) of a foot in its stance phases."""
    on = np.asarray(contact.any(axis=1))
    roll, pitch, yaw = rotations.to_rpy(raw[:, 3:]).T
    weights = np.where(contact.all(axis=1), 1.0, TILTED_SHARE)
    # Of the first phase its end counts most: it must not depend on where the recording
    # begins.
    if not on.all():
        last = int((~on).argmax())
    else:
        last = len(on)
    weights[:last] *= np.exp((times[:last] - times[last - 1]) / LATE_TIME)
    yaw = np.unwrap(yaw)
    mean = phase_means(yaw[:, None], on, weights)[:, 0]
    yaw = mean + _beyond(yaw - mean, FREE_YAW)
    pitch = np.clip(_beyond(pitch, FREE_TILT if tilted else FREE_PITCH), *PITCHES)
    roll = np.clip(_beyond(roll, FREE_TILT), -MAX_ROLL, MAX_ROLL) * tilted
    turn = rotations.from_rpy(np.stack([roll, pitch, yaw], axis=1))
    return rolling(np.concatenate([raw[:, :3], turn], axis=1), on, weights, sole)


def _beyond(angles: Floats, free: float) -> Floats:
    """Return angles (N,) reduced by the dead zone ±`free`."""
    return np.asarray(np.sign(angles) * np.maximum(np.abs(angles) - free, 0.0))
