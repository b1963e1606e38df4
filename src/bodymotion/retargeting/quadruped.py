"""A recorded person, or a quadruped, as a quadruped robot.

Two legs become two diagonal pairs, and a walk becomes a trot.

Of a person, where h is the height of the robot's hips when it stands:

    path, heading     those of the hips, times s = h over the height of the person's hips when upright; they begin at the origin, along x
    height            s times that of the hips, within `HEIGHTS`·h
    roll, pitch       those of the chest, within ±`MAX_LEAN`
    steps             the left foot is the front left and the hind right one, the right foot the others: they are on the ground when it is,
                      each where the middle of its stance phase would have it at rest
                      under its hip, and swing as high as s times the ankle
    body              at most `MAX_AWAY`·h from above the middle of its feet

Arms and head have no counterpart. Of a quadruped, with s the length of the robot's legs
over the source's:

    body              the frame of the four hips, its path times s
    feet              s times the source's from the middle of its hips, moved within its heading by what distances of hips (x) and feet
                      (y) differ; pinned in stance phases (`source`), and changed in
                      swings by what both phases next to them are

Inverse kinematics brings a robot as near to this plan as its limits allow, feet first.
A knee bends where its limits allow more, and backwards where they allow both.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices, runs
from bodymotion.kernels.feet import lowest
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.motion.components import Timeline
from bodymotion.motion.filters import smooth_upper_bound
from bodymotion.motion.interpolation.lowpass import bump, inner_shares, quintic
from bodymotion.retargeting.roles import (
    LEGS,
    SIDES,
    BendSide,
    Figure,
    bent,
    find_hinge,
    foot_cloud,
    free_to_walk,
)
from bodymotion.retargeting.skeletons import motion_of_joints
from bodymotion.retargeting.source import (
    MovingFigure,
    ground_height,
    lowest_of_links,
    moving_figure,
    phases_of_contact,
    recorded,
    smoothed,
)
from bodymotion.retargeting.speeds import CALMING_TIME, calmed, within_speeds
from bodymotion.skeleton import Skeleton

HIP_HEIGHT = 0.73  # Of a robot that stands, in lengths of its legs.
# In heights of the hips; a swing is within LIFTS.
HEIGHTS = (2 / 3, 25 / 24)
MAX_AWAY = 1 / 6
LIFTS = (1 / 12, 1 / 4)
MAX_LEAN = 0.25  # [rad]
# [Hz] of the low-pass filters of the body, for persons and for quadrupeds.
CUTOFF = 2.0
FAST_CUTOFF = 6.0
PAIRS = (0, 1, 1, 0)  # For each leg the foot of the person: 0 left, 1 right.
BENT = 1.5
MIN_BENT = 0.1
BOTH_WAYS = 0.5
"""[rad] How far knees are bent where the search begins, and at least.

And the difference of the ranges to both sides that counts.
"""
# The weights of goals, and that [1/rad] of the posture.
FOOT = 10.0
TRUNK = 1.0
POSTURE = 0.002
# Steps of inverse kinematics in the first pass and the second; start poses.
FIRST_STEPS = 60
STEPS = 3
RESTARTS = 20


Stand: TypeAlias = tuple[float, Floats]
"""How a quadruped stands.

The height [m] of its hips, and the positions of its feet (4, 3) from their middle.
"""


class Plan(NamedTuple):
    """What a quadruped does in T frames, on the ground at z = 0.

    `body` (T, 3) [m] is the middle of its hips, from the height of its feet; `rpy` (T,
    3) [rad] its roll, pitch and yaw; `feet` (T, 4, 3)
    are the positions of the feet, and `contact` (T, 4) whether they are on the ground.
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


def planned(
    source: Skeleton | Motion,
    source_body: Body | None,
    source_roles: Mapping[str, str] | None,
    stand: Stand,
) -> Plan:
    """Return the plan for a quadruped that stands so.

    Parameters and errors as `retarget`.
    """
    moving = moving_figure(source, source_body, source_roles)
    if moving.figure.is_quadruped:
        return _plan_of_quadruped(moving, stand)
    nominal, nominal_feet = stand
    recording = recorded(source, source_body, source_roles)
    times = recording.times
    points = recording.points
    hips = 0.5 * (points["left hip"] + points["right hip"])
    scale = nominal / float(np.quantile(hips[:, 2], 0.95))
    yaw = np.unwrap(rotations.to_rpy(recording.frames["pelvis"])[:, 2])
    path = smoothed(np.column_stack([scale * hips, yaw]), times, CUTOFF)
    yaw = path[:, 3] - path[0, 3]
    zero = np.zeros_like(yaw)
    back = rotations.from_rpy([0.0, 0.0, -path[0, 3]])
    path = rotations.rotate(back, (path[:, :3] - path[0, :3]) * [1, 1, 0]) + path[
        :, 2:3
    ] * [0, 0, 1]
    heading = rotations.from_rpy(np.column_stack([zero, zero, yaw]))
    upper = recording.frames.get("chest", recording.frames["pelvis"])
    lean = rotations.to_rpy(
        rotations.multiply(
            rotations.conjugate(heading), rotations.multiply(back, upper)
        )
    )
    lean = np.clip(smoothed(lean[:, :2], times, CUTOFF), -MAX_LEAN, MAX_LEAN)
    on = recording.on_ground[:, list(PAIRS)]
    at_rest = path[:, None] * [1, 1, 0] + rotations.rotate(
        heading[:, None], nominal_feet * [1, 1, 0]
    )
    ankles = [points[f"{side} ankle"][:, 2] for side in SIDES]
    lifts = [scale * (ankles[foot] - ankles[foot].min()) for foot in PAIRS]
    limits = np.array(LIFTS) * nominal
    feet = np.stack(
        [_steps(at_rest[:, k], on[:, k], lift, limits) for k, lift in enumerate(lifts)],
        axis=1,
    )
    middle = (feet - at_rest).mean(axis=1) + path
    away = (path - middle)[:, :2]
    far = np.linalg.norm(away, axis=1, keepdims=True)
    body = middle[:, :2] + away * np.minimum(
        1.0, MAX_AWAY * nominal / np.maximum(far, 1e-9)
    )
    height = np.clip(path[:, 2:], *np.array(HEIGHTS) * nominal)
    body = smoothed(np.column_stack([body, height]), times, CUTOFF)
    return Plan(recording.timeline, body, np.column_stack([lean, yaw]), feet, on)


def _plan_of_quadruped(moving: MovingFigure, stand: Stand) -> Plan:
    """Return the plan for a quadruped that stands so, of another quadruped that moves."""
    figure, placed, timeline = moving
    times = timeline.times
    own = stand_of(figure)
    leg = own[0] / HIP_HEIGHT
    scale = stand[0] / own[0]
    hips, feet = (
        np.stack([figure.at(f"{name} {part}", placed) for name in LEGS])
        for part in ("hip", "foot")
    )
    ground = np.array([0.0, 0.0, ground_height([*feet], times, leg)])
    on = np.stack(
        [phases_of_contact(foot, ground[2], times, leg) for foot in feet], axis=1
    )
    frames = _frames(hips.swapaxes(0, 1))
    body = np.concatenate([scale * (hips.mean(axis=0) - ground), frames], axis=1)
    heading = rotations.from_rpy(rotations.to_rpy(frames) * [0, 0, 1])
    wider = rotations.rotate(
        heading, ((stand[1] - scale * own[1]) * [1, 1, 0])[:, None]
    )
    paths = zip(scale * (feet - ground) + wider, on.T, strict=True)
    body = smoothed(body, times, FAST_CUTOFF, are_poses=True)
    rpy = np.unwrap(rotations.to_rpy(body[:, 3:]), axis=0)
    return Plan(
        timeline,
        body[:, :3],
        rpy,
        np.stack([_pinned(*path) for path in paths], axis=1),
        on,
    )


def _frames(hips: Floats) -> Floats:
    """Return the orientations (..., 4) of the frames of hips (..., 4, 3).

    X from the hind to the front ones, y to the left.
    """
    x = hips[..., :2, :].sum(axis=-2) - hips[..., 2:, :].sum(axis=-2)
    z = np.cross(x, hips[..., ::2, :].sum(axis=-2) - hips[..., 1::2, :].sum(axis=-2))
    axes = np.stack([x, np.cross(z, x), z], axis=-1)
    return rotations.from_matrix(
        axes / np.maximum(np.linalg.norm(axes, axis=-2, keepdims=True), 1e-9)
    )


def level_frame(figure: Figure) -> Floats:
    """Return the orientation (4,) of the frame of the hips of a quadruped in its upright pose, where they are level."""
    return _frames(np.array([figure.rest[f"{leg} hip"] for leg in LEGS]) * [1, 1, 0])


def stand_of(figure: Figure) -> Stand:
    """Return how a quadruped stands.

    With its feet ahead or behind where its hips are, and as wide as in the upright
    pose.
    """
    hips, knees, feet = (
        np.array([figure.rest[f"{leg} {part}"] for leg in LEGS])
        for part in ("hip", "knee", "foot")
    )
    inside = rotations.conjugate(level_frame(figure))
    hips, knees, feet = (
        rotations.rotate(inside, points - hips.mean(axis=0))
        for points in (hips, knees, feet)
    )
    legs = sum(
        np.linalg.norm((b - a)[:, ::2], axis=1)
        for a, b in ((hips, knees), (knees, feet))
    )
    return HIP_HEIGHT * float(np.mean(legs)), np.column_stack(
        [hips[:, 0], feet[:, 1], np.zeros(4)]
    )


def as_quadruped(plan: Plan, body: Body, figure: Figure) -> Motion:
    """Return the motion of a body with four legs, whose figure is known, that does what is planned."""
    walker = free_to_walk(body, figure)
    reference = figure.reference
    trunk = figure.points["trunk"][0]
    middle = np.array(
        [
            *np.mean([figure.rest[f"{leg} hip"] for leg in LEGS], axis=0),
            *level_frame(figure),
        ]
    )
    soles = soles_of(body, figure)
    depth = contact_depths(body, figure, reference[None])
    at = (
        np.column_stack([plan.body, rotations.from_rpy(plan.rpy)])
        + depth.mean() * np.eye(7)[2]
    )
    moved = poses.compose(at, poses.inverse(middle))
    points = [figure.points[f"{leg} foot"] for leg in LEGS]
    columns = body.columns_above(trunk, *(link for link, _ in points))
    rest, lower, upper = bent(walker, _sides(walker, figure), MIN_BENT, BENT)
    moving, *bounds, _ = ik.search_space(walker, not walker.is_mounted, columns, 0.0)
    space = (
        moving,
        np.r_[bounds[0][:6], lower],
        np.r_[bounds[1][:6], upper],
        POSTURE * moving.astype(np.float64),
    )
    q = rest
    if not walker.is_mounted:
        root = poses.compose(moved[0], reference[0])
    else:
        root = np.asarray(walker.root_pose)
    for restarts, steps in ((RESTARTS, FIRST_STEPS), (0, STEPS)):
        # Where a foot touches the ground depends on the orientation of its shin.
        problem = ik.TaskList(walker, q, root, rest)
        problem.add_task(
            ik.FrameTask(trunk, poses.compose(moved, reference[trunk]), TRUNK, TRUNK)
        )
        for k, (link, point) in enumerate(points):
            goal = plan.feet[:, k] + depth[:, k, None] * [0, 0, 1]
            problem.add_task(ik.FrameTask(link, goal, FOOT, point=point))
        problem.add_loops()
        found = ik.solve(problem, space, restarts, steps)
        q = found.q
        root = found.root
        depth = contact_depths(body, figure, walker.forward_kinematics(q, root))
    held = np.zeros(q.shape, dtype=bool)
    for (link, _), on in zip(points, plan.contact.T, strict=True):
        held[:, walker.columns_above(link)] |= on[:, None]
    q, root = calmed(
        walker, within_speeds(walker, q, plan.times, held), root, plan.times, columns
    )
    q = within_speeds(walker, q, plan.times, held)
    if not walker.is_mounted:
        placed = walker.forward_kinematics(q, root)
        low = lowest(placed[:, soles[0]], *soles[1:], 0.0)[..., 0].min(axis=1)
        low = np.minimum(low, lowest_of_links(body, placed))
        root[:, 2] += smooth_upper_bound(
            np.maximum(-low, 0.0), plan.times, CALMING_TIME
        )
    return motion_of_joints(body, q, root, plan.timeline)


def _sides(body: Body, figure: Figure) -> Iterator[BendSide]:
    """Yield the knees, with the sides to which they bend."""
    rest = figure.rest
    forward = sum(
        rest[f"front {side} hip"] - rest[f"hind {side} hip"] for side in SIDES
    )
    for leg in LEGS:
        roles = [f"{leg} {part}" for part in ("hip", "knee", "foot")]
        hinge = find_hinge(body, figure, *roles)
        has_one_side = abs(hinge.wider_side) > BOTH_WAYS
        ahead = float(hinge.end_velocity @ forward)
        sign = np.sign(hinge.wider_side if has_one_side else ahead) or 1.0
        yield BendSide(hinge.column, hinge.straight, sign)


def soles_of(body: Body, figure: Figure) -> tuple[list[int], Floats, Indices]:
    """Return the links of the feet, the points (P, 3) with which they can touch the ground, in their frames, and the first one of each."""
    links = []
    clouds = []
    for leg in LEGS:
        link, point = figure.points[f"{leg} foot"]
        cloud = poses.transform_points(
            poses.inverse(figure.reference[link]),
            foot_cloud(body, figure, f"{leg} foot"),
        )
        links.append(link)
        clouds.append(cloud if len(cloud) else point[None])
    return links, np.concatenate(clouds), np.cumsum([0, *map(len, clouds)])


def contact_depths(body: Body, figure: Figure, placed: Floats) -> Floats:
    """Return how far (T, 4) [m] the points of the role foot are above the lowest points of the feet, for poses (T, L, 7) of the links."""
    links, cloud, edges = soles_of(body, figure)
    at = np.stack([figure.at(f"{leg} foot", placed)[:, 2] for leg in LEGS], axis=1)
    return np.asarray(at - lowest(placed[:, links], cloud, edges, 0.0)[..., 0])


def _steps(at_rest: Floats, on: Bools, lift: Floats, limits: Floats) -> Floats:
    """Return the path (T, 3) of a foot.

    In each stance phase where `at_rest` (T, 3) has it in the middle, and swings in
    between.
    """
    out = np.array(at_rest)
    for a, b in runs(on):
        out[a:b] = at_rest[(a + b) // 2]
    for a, b in runs(~on):
        before = out[max(a - 1, 0)]
        after = out[min(b, len(on) - 1)]
        share = inner_shares(b - a)
        out[a:b] = before + quintic(share)[:, None] * (after - before)
        out[a:b, 2] += np.clip(lift[a:b].max(), *limits) * bump(share)
    return out


def _pinned(path: Floats, on: Bools) -> Floats:
    """Return the path (T, 3) of a foot that is at one point of the ground in each stance phase."""
    change = np.zeros_like(path)
    for a, b in runs(on):
        change[a:b] = path[a:b].mean(axis=0) * [1, 1, 0] - path[a:b]
    for a, b in runs(~on):
        known = [change[k] for k in (a - 1, b) if 0 <= k < len(on)] or [np.zeros(3)]
        change[a:b] = known[0] + quintic(inner_shares(b - a))[:, None] * (
            known[-1] - known[0]
        )
    return np.maximum(path + change, [-np.inf, -np.inf, 0.0])
