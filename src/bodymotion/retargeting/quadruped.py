"""A recorded person as Spot: `retarget_to_spot`. Two legs become two diagonal pairs, and a walk becomes a trot.

    path, heading     those of the hips, times s = Spot's height over that of the person's hips when upright
    height            s times that of the hips, within `HEIGHTS`
    roll, pitch       those of the chest, within ±`MAX_LEAN`
    steps             the left foot is the front left and the hind right one, the right foot the others: they are on the ground when it is,
                      each where the middle of its stance phase would have it at rest under its hip, and swing as high as s times the ankle
    body              at most `MAX_AWAY` from above the middle of its feet

Arms and head have no counterpart.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bodymotion.animation import GROUPS, Animation, Keyframes, Parameter
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, runs
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.motion.interpolation.lowpass import bump, inner_shares, quintic
from bodymotion.retargeting.roles import SIDES
from bodymotion.retargeting.source import recorded, smoothed
from bodymotion.skeleton import Skeleton
from bodymotion.spot.playback.dimensions import NOMINAL_FEET, NOMINAL_HEIGHT

HEIGHTS = (0.32, 0.5)  # [m]
MAX_LEAN = 0.25  # [rad]
MAX_AWAY = 0.08  # [m]
LIFTS = (0.04, 0.12)  # [m] A swing is at least and at most so high.
CUTOFF = 2.0  # [Hz] of the low-pass filters of the body.
KEY_TIME = 0.05  # [s] between keyframes.
PAIRS = (0, 1, 1, 0)  # For each leg of Spot the foot of the person: 0 left, 1 right.


def retarget_to_spot(
    source: Skeleton | Motion, *, source_body: Body | None = None, source_roles: Mapping[str, str] | None = None
) -> Animation:
    """Return an animation of Spot, without its arm, that steps and leans as a recorded figure does; `bm.play` makes it a motion.

    Parameters and errors are those of `retarget`. The animation begins at its origin, facing along x.
    """
    recording = recorded(source, source_body, source_roles)
    times, points = recording.times, recording.points
    hips = 0.5 * (points["left hip"] + points["right hip"])
    scale = NOMINAL_HEIGHT / float(np.quantile(hips[:, 2], 0.95))
    yaw = np.unwrap(rotations.to_rpy(recording.frames["pelvis"])[:, 2])
    path = smoothed(np.column_stack([scale * hips, yaw]), times, CUTOFF)
    yaw = path[:, 3] - path[0, 3]
    zero = np.zeros_like(yaw)
    back = rotations.from_rpy([0.0, 0.0, -path[0, 3]])
    path = rotations.rotate(back, (path[:, :3] - path[0, :3]) * [1, 1, 0]) + path[:, 2:3] * [0, 0, 1]
    heading = rotations.from_rpy(np.column_stack([zero, zero, yaw]))
    upper = recording.frames.get("chest", recording.frames["pelvis"])
    lean = rotations.to_rpy(rotations.multiply(rotations.conjugate(heading), rotations.multiply(back, upper)))
    lean = np.clip(smoothed(lean[:, :2], times, CUTOFF), -MAX_LEAN, MAX_LEAN)
    on = np.asarray(recording.contact.any(axis=2))[:, list(PAIRS)]
    at_rest = path[:, None] * [1, 1, 0] + rotations.rotate(heading[:, None], NOMINAL_FEET * [1, 1, 0])
    ankles = [points[f"{side} ankle"][:, 2] for side in SIDES]
    lifts = [scale * (ankles[foot] - ankles[foot].min()) for foot in PAIRS]
    feet = np.stack([_steps(at_rest[:, k], on[:, k], lift) for k, lift in enumerate(lifts)], axis=1)
    middle = (feet - at_rest).mean(axis=1) + path
    away = (path - middle)[:, :2]
    far = np.linalg.norm(away, axis=1, keepdims=True)
    body = middle[:, :2] + away * np.minimum(1.0, MAX_AWAY / np.maximum(far, 1e-9))
    height = np.clip(path[:, 2:], *HEIGHTS)
    body = smoothed(np.column_stack([body, height]), times, CUTOFF)
    keys: Floats = np.arange(0.0, times[-1] - times[0] + 1e-9, KEY_TIME, dtype=np.float64)
    rows = np.searchsorted(times - times[0], keys - 1e-9).clip(0, len(times) - 1)
    table = (feet.reshape(-1, 12), on.astype(np.float64), body, np.column_stack([lean, yaw]))
    groups = ("foot_pos", "contact", "body_pos", "body_euler_rpy")
    keyframes = Keyframes(
        columns=tuple(name for group in groups for name in GROUPS[group]),
        values=np.round(np.concatenate(table, axis=1)[rows], 4),
        times=np.asarray(np.round(keys, 4)),
        header=("time", *groups),
    )
    entry = {"body_entry_slices": Parameter(0.0, 1.0, 4.0)}
    options = {"controls": ("legs", "body")}
    return Animation(options=options, parameters=entry, keyframes=keyframes)


def _steps(at_rest: Floats, on: npt.NDArray[np.bool_], lift: Floats) -> Floats:
    """Return the path (T, 3) of a foot: in each stance phase where `at_rest` (T, 3) has it in the middle, and swings in between."""
    out = np.array(at_rest)
    for a, b in runs(on):
        out[a:b] = at_rest[(a + b) // 2]
    for a, b in runs(~on):
        before, after = out[max(a - 1, 0)], out[min(b, len(on) - 1)]
        share = inner_shares(b - a)
        out[a:b] = before + quintic(share)[:, None] * (after - before)
        out[a:b, 2] += np.clip(lift[a:b].max(), *LIFTS) * bump(share)
    return out
