"""Plans of what a quadruped does, made from a recorded person or quadruped.

Two legs become two diagonal pairs, and a walk becomes a trot.

Of a person, where h is the height of the robot's hips when it stands:

    path, heading   those of the hips, times s = h over the height of the person's hips
                    when upright; they begin at the origin, along x
    height          s times that of the hips, within `MIN_HEIGHT`·h and `MAX_HEIGHT`·h
    roll, pitch     those of the chest, within ±`MAX_LEAN`
    steps           the left foot is the front left and the hind right one, the right
                    foot the others: they are on the ground when it is, each where the
                    middle of its stance phase would have it at rest under its hip, and
                    swing as high as s times the ankle
    body            at most `MAX_SHIFT`·h from above the middle of its feet

Arms and head have no counterpart. Of a quadruped, with s the length of the robot's legs
over the source's:

    body            the frame of the four hips, its path times s
    feet            s times the source's from the middle of its hips, moved within its
                    heading by what distances of hips (x) and feet (y) differ; pinned in
                    stance phases (`contact_phases`), and changed in swings by what both
                    phases next to them are
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats, runs
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation.lowpass import bump, inner_shares, quintic
from bodymotion.retargeting.contact_phases import find_contact, find_ground_height
from bodymotion.retargeting.roles import LEGS, SIDES, Figure
from bodymotion.retargeting.source import (
    MovingFigure,
    Recording,
    find_moving_figure,
    record_figure,
    round_low_passed,
)
from bodymotion.skeleton import Skeleton

# Of a robot that stands, in lengths of its legs.
HIP_HEIGHT = 0.73
# [heights of the hips] Of the body, at least.
MIN_HEIGHT = 2 / 3
# [heights of the hips] Of the body, at most.
MAX_HEIGHT = 25 / 24
# [heights of the hips] Of the body from above the middle of its feet, at most.
MAX_SHIFT = 1 / 6
# [heights of the hips] Of a foot in a swing, at least.
MIN_LIFT = 1 / 12
# [heights of the hips] Of a foot in a swing, at most.
MAX_LIFT = 1 / 4
# [rad] Of roll and pitch.
MAX_LEAN = 0.25
# [Hz] Of the low-pass filter of the body, for the motion of a person.
PERSON_CUTOFF = 2.0
# [Hz] The same for that of a quadruped.
QUADRUPED_CUTOFF = 6.0
# Of the heights of a person's hips: where the person is upright; jumps are higher.
UPRIGHT_QUANTILE = 0.95
# For each leg the foot of the person: 0 left, 1 right.
FOOT_OF_LEG = (0, 1, 1, 0)
# Factor of vectors that leaves out their height.
LEVEL = np.array([1, 1, 0])


class Stand(NamedTuple):
    """How a quadruped stands.

    The height [m] of its hips, and the positions of its feet (4, 3) from their middle.
    """

    height: float
    feet: Floats


class Plan(NamedTuple):
    """What a quadruped does in T frames, on the ground at z = 0.

    `body` (T, 3) [m] is the middle of its hips, from the height of its feet; `rpy` (T,
    3) [rad] its roll, pitch and yaw; `feet` (T, 4, 3) are the positions of the feet,
    and `contact` (T, 4) whether they are on the ground.
    """

    timeline: Timeline
    body: Floats
    rpy: Floats
    feet: Floats
    contact: Bools

    @property
    def times(self) -> Floats:
        """The time (T,) [s] of each frame."""
        return self.timeline.times


def make_plan(
    source: Skeleton | Motion,
    source_body: Body | None,
    source_roles: Mapping[str, str] | None,
    stand: Stand,
) -> Plan:
    """Return the plan for a quadruped that stands so.

    Parameters and errors as `retarget`.
    """
    moving = find_moving_figure(source, source_body, source_roles)
    if moving.figure.is_quadruped:
        return _plan_of_quadruped(moving, stand)
    return _plan_of_person(record_figure(source, source_body, source_roles), stand)


def _plan_of_person(recording: Recording, stand: Stand) -> Plan:
    """Return the plan for a quadruped that stands so, of a person that moves."""
    times = recording.times
    points = recording.points
    hips = 0.5 * (points["left hip"] + points["right hip"])
    scale = stand.height / float(np.quantile(hips[:, 2], UPRIGHT_QUANTILE))
    yaw = np.unwrap(rotations.to_rpy(recording.frames["pelvis"])[:, 2])
    scaled = np.column_stack([scale * hips, yaw])
    scaled = round_low_passed(scaled, times, PERSON_CUTOFF)
    # The path begins at the origin, along x.
    yaw = scaled[:, 3] - scaled[0, 3]
    to_begin = rotations.from_rpy([0.0, 0.0, -scaled[0, 3]])
    path = rotations.rotate(to_begin, (scaled[:, :3] - scaled[0, :3]) * LEVEL)
    path[:, 2] += scaled[:, 2]
    zero = np.zeros_like(yaw)
    heading = rotations.from_rpy(np.column_stack([zero, zero, yaw]))
    chest = recording.frames.get("chest", recording.frames["pelvis"])
    chest = rotations.multiply(to_begin, chest)
    lean = rotations.multiply(rotations.conjugate(heading), chest)
    lean = rotations.to_rpy(lean)[:, :2]
    lean = round_low_passed(lean, times, PERSON_CUTOFF)
    lean = np.clip(lean, -MAX_LEAN, MAX_LEAN)
    # Where the feet are under their hips.
    at_rest = path[:, None] * LEVEL
    at_rest = at_rest + rotations.rotate(heading[:, None], stand.feet * LEVEL)
    contact = recording.on_ground[:, list(FOOT_OF_LEG)]
    feet = _plan_steps(recording, scale, stand, at_rest, contact)
    body = _keep_above_feet(path, (feet - at_rest).mean(axis=1), stand)
    body = round_low_passed(body, times, PERSON_CUTOFF)
    rpy = np.column_stack([lean, yaw])
    return Plan(recording.timeline, body, rpy, feet, contact)


def _plan_steps(
    recording: Recording,
    scale: float,
    stand: Stand,
    at_rest: Floats,
    contact: Bools,
) -> Floats:
    """Return the positions (T, 4, 3) of the feet, which swing as those of a person.

    `at_rest` (T, 4, 3) are those under their hips, `contact` (T, 4).
    """
    feet = np.empty_like(at_rest)
    for leg, number in enumerate(FOOT_OF_LEG):
        ankle = recording.points[f"{SIDES[number]} ankle"][:, 2]
        lift = scale * (ankle - ankle.min())
        feet[:, leg] = _step(at_rest[:, leg], contact[:, leg], lift, stand.height)
    return feet


def _step(
    at_rest: Floats,
    on_ground: Bools,
    lift: Floats,
    height: float,
) -> Floats:
    """Return the path (T, 3) of a foot in stances and swings.

    In each stance phase it is where `at_rest` (T, 3) is in the middle of the phase. In
    a swing it rises by the highest `lift` (T,) [m], within limits; `height` [m] is that
    of the hips.
    """
    path = np.array(at_rest)
    for first, stop in runs(on_ground):
        path[first:stop] = at_rest[(first + stop) // 2]
    for first, stop in runs(~on_ground):
        before = path[max(first - 1, 0)]
        after = path[min(stop, len(path) - 1)]
        share = inner_shares(stop - first)
        path[first:stop] = before + quintic(share)[:, None] * (after - before)
        highest = lift[first:stop].max()
        highest = np.clip(highest, MIN_LIFT * height, MAX_LIFT * height)
        path[first:stop, 2] += highest * bump(share)
    return path


def _keep_above_feet(
    path: Floats,
    change: Floats,
    stand: Stand,
) -> Floats:
    """Return the positions (T, 3) of the body near to its path (T, 3).

    It is not far from the middle of its feet, which is `change` (T, 3) from the path.
    """
    middle = change + path
    to_path = (path - middle)[:, :2]
    distance = np.linalg.norm(to_path, axis=1, keepdims=True)
    max_distance = MAX_SHIFT * stand.height
    share = np.minimum(1.0, max_distance / np.maximum(distance, 1e-9))
    height = np.clip(path[:, 2], MIN_HEIGHT * stand.height, MAX_HEIGHT * stand.height)
    return np.column_stack([middle[:, :2] + to_path * share, height])


def _plan_of_quadruped(moving: MovingFigure, stand: Stand) -> Plan:
    """Return the plan for a quadruped that stands so, of another one that moves."""
    figure, joint_poses, timeline = moving
    times = timeline.times
    source_stand = measure_stand(figure)
    leg_length = source_stand.height / HIP_HEIGHT
    scale = stand.height / source_stand.height
    hips = np.stack([figure.locate(f"{leg} hip", joint_poses) for leg in LEGS])
    feet = np.stack([figure.locate(f"{leg} foot", joint_poses) for leg in LEGS])
    height = find_ground_height([*feet], times, leg_length)
    ground = np.array([0.0, 0.0, height])
    contact = np.stack(
        [find_contact(foot, height, times, leg_length) for foot in feet], axis=1
    )
    frames = _frames_of_hips(hips.swapaxes(0, 1))
    body = np.concatenate([scale * (hips.mean(axis=0) - ground), frames], axis=1)
    heading = rotations.from_rpy(rotations.to_rpy(frames) * [0, 0, 1])
    difference = (stand.feet - scale * source_stand.feet) * LEVEL
    paths = scale * (feet - ground) + rotations.rotate(heading, difference[:, None])
    body = round_low_passed(body, times, QUADRUPED_CUTOFF, are_poses=True)
    rpy = np.unwrap(rotations.to_rpy(body[:, 3:]), axis=0)
    pinned = [
        _pin_foot(path, on_ground)
        for path, on_ground in zip(paths, contact.T, strict=True)
    ]
    return Plan(timeline, body[:, :3], rpy, np.stack(pinned, axis=1), contact)


def _pin_foot(path: Floats, on_ground: Bools) -> Floats:
    """Return the path (T, 3) of a foot, at one point of the ground in each stance."""
    change = np.zeros_like(path)
    for first, stop in runs(on_ground):
        mean = path[first:stop].mean(axis=0)
        change[first:stop] = mean * LEVEL - path[first:stop]
    for first, stop in runs(~on_ground):
        # Before the first phase it is the change of that, after the last one of this.
        before_row = first - 1
        after_row = stop
        if first == 0:
            before_row = min(stop, len(path) - 1)
        if stop == len(path):
            after_row = max(first - 1, 0)
        before = change[before_row]
        after = change[after_row]
        share = quintic(inner_shares(stop - first))[:, None]
        change[first:stop] = before + share * (after - before)
    return np.maximum(path + change, [-np.inf, -np.inf, 0.0])


def _frames_of_hips(hips: Floats) -> Floats:
    """Return the orientations (..., 4) of the frames of hips (..., 4, 3).

    X from the hind to the front ones, y to the left.
    """
    front = hips[..., :2, :].sum(axis=-2)
    hind = hips[..., 2:, :].sum(axis=-2)
    left = hips[..., ::2, :].sum(axis=-2)
    right = hips[..., 1::2, :].sum(axis=-2)
    x = front - hind
    z = np.cross(x, left - right)
    axes = np.stack([x, np.cross(z, x), z], axis=-1)
    lengths = np.linalg.norm(axes, axis=-2, keepdims=True)
    return rotations.from_matrix(axes / np.maximum(lengths, 1e-9))


def level_frame(figure: Figure) -> Floats:
    """Return the orientation (4,) of the level frame of the hips of a quadruped.

    It is that in the upright pose.
    """
    hips = np.array([figure.rest[f"{leg} hip"] for leg in LEGS])
    return _frames_of_hips(hips * LEVEL)


def measure_stand(figure: Figure) -> Stand:
    """Return how a quadruped stands.

    With its feet ahead or behind where its hips are, and as wide as in the upright
    pose.
    """
    hips = np.array([figure.rest[f"{leg} hip"] for leg in LEGS])
    knees = np.array([figure.rest[f"{leg} knee"] for leg in LEGS])
    feet = np.array([figure.rest[f"{leg} foot"] for leg in LEGS])
    to_frame = rotations.conjugate(level_frame(figure))
    middle = hips.mean(axis=0)
    hips = rotations.rotate(to_frame, hips - middle)
    knees = rotations.rotate(to_frame, knees - middle)
    feet = rotations.rotate(to_frame, feet - middle)
    # As seen from the side: legs that lean outwards stand as high.
    thighs = np.linalg.norm((knees - hips)[:, ::2], axis=1)
    shins = np.linalg.norm((feet - knees)[:, ::2], axis=1)
    height = HIP_HEIGHT * float(np.mean(thighs + shins))
    return Stand(height, np.column_stack([hips[:, 0], feet[:, 1], np.zeros(4)]))
