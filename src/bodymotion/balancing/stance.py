"""The poses of the feet of a balanced motion: pinned in contact, on smooth paths in the swing phase."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bodymotion.balancing.filtering import eased
from bodymotion.dynamics import Measures
from bodymotion.dynamics.contacts import MAX_PATCH_HEIGHT
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, runs, without_short_runs
from bodymotion.kernels.feet import hulls, lowest
from bodymotion.motion.interpolation.lowpass import bump, quintic
from bodymotion.system.deferred import need

MIN_PHASE = 0.04  # [s] A shorter stance phase, or a shorter gap in one, is none.
MAX_RISE = 2e-4
"""[m] A foot that is higher at the begin or end of a stance phase still comes down, or lifts off, if another one is in contact."""
MAX_CARRIED, MIN_HOP, MAX_UNEVEN = 0.5, 0.03, 0.005
"""A robot in the air that needs more than the first part of its weight, and whose feet rise by less than the second [m] or half of what
they would in a flight, does not fly: its lowest feet, within the third [m], stay on the ground."""
MIN_EDGE = 0.005  # [m] Points of a sole that are nearer to each other are one.
MAX_TILT = 0.15  # [rad] A sole that is tilted by less is put flat on the ground.
FLATNESS = 0.002
"""[m] A foot whose points are on average so much higher above the lowest one rolls."""
SWING_HEIGHT, MIN_STEP = (
    0.015,
    0.002,
)  # [m] A foot that is put elsewhere, by more than the second, rises so high.
CLEARANCE, MAX_SLIP = 0.0015, 5e-4
"""[m] Feet that move more than the second [m, rad] while they are lower than the first are held, and catch up afterwards."""
CATCH_UP_TIME = 0.28  # [s]
LIFT_TIME = 0.05  # [s] A foot rises so much before it would be below the ground.
MAX_LANDING_SPEED = 0.15
"""[m/s] A foot that is faster when it is put down or lifted is slowed down there."""
MIN_LANDING_TIME = 0.05  # [s] over which it is, at least.
MAX_LANDING_ACCELERATION = 20.0
"""[m/s²] A foot that rolls over its toe is high when it is lifted: it is flat until
then, and must reach that height smoothly."""
MAX_LANDING_SHARE = 0.4  # Of a swing, which each of its ends may take.
CAUTION_TIME = 0.02  # [s] A foot has no load after landing and before lift-off while another is in contact.
MIN_ORIENTED = 5  # Feet whose legs have fewer joints are points: where they are tilted is left free.
MAX_CORNERS, DIRECTIONS = (
    12,
    24,
)  # A support polygon with more corners is replaced by one with DIRECTIONS sides.


@dataclass(frozen=True, eq=False)
class FootPlan:
    """K feet over T frames.

    Attributes
    ----------
    links:
        The links of the feet.
    points:
        (K, 3) [m] in the feet's frames: the middle of what touches the ground.
    oriented:
        (K,) whether a foot's orientation is planned, too.
    targets:
        (T, K, 7) poses of the links in the world.
    contact:
        (T, K) whether a foot is in contact, and pinned.
    shifts:
        (T, K) [m] how far the point of a foot is moved.
    """

    links: tuple[int, ...]
    points: Floats
    oriented: tuple[bool, ...]
    targets: Floats
    contact: Bools
    shifts: Floats


def plan_feet(measures: Measures, smooth: Floats) -> FootPlan:
    """Return where the feet of a motion should be: pinned, flat and on the ground in each stance phase.

    A stance phase has the mean pose of its frames. In between, the foot's path is moved and rotated by what both phases next to it are, in
    a smooth transition; at its ends it rises before it moves sideways. A swing that goes below the ground gets a bump;
    frames next to its ends may stay below. Where all feet rise a little and the body does not fall, the lowest ones stay in contact.
    """
    times, feet, ground = measures.times, measures.feet, measures.ground
    old = smooth[:, list(feet.links)]
    contacts = measures.contacts
    cleaned = [
        without_short_runs(column, times, MIN_PHASE) for column in contacts.in_contact.T
    ]
    contact = np.stack(cleaned, axis=1)
    for k, others in enumerate(contact.sum(axis=1) - contact.T):
        for a, b in runs(contact[:, k]):
            level = (
                contacts.heights[a:b, k]
                <= np.median(contacts.heights[a:b, k]) + MAX_RISE
            )
            first, last = np.flatnonzero(level)[[0, -1]]
            rises = np.ones(b - a, dtype=bool)
            rises[first : last + 1] = False
            contact[a:b, k] &= ~(rises & (others[a:b] > 0))
    carried = measures.root_wrench[:, 2] / (measures.body.mass * -measures.gravity[2])
    for a, b in runs(np.asarray(~contact.any(axis=1))):
        highest = contacts.heights[a:b].max(axis=0)
        # In a flight of t seconds all that keeps its shape rises by g·t²/8.
        rise = -measures.gravity[2] * (times[b - 1] - times[a]) ** 2 / 8.0
        if carried[a:b].mean() > MAX_CARRIED and highest.min() < max(
            MIN_HOP, 0.5 * rise
        ):
            contact[a:b] |= highest <= highest.min() + MAX_UNEVEN
    targets, points = np.array(old), []
    for k in range(len(feet.links)):
        own = feet.points[feet.edges[k] : feet.edges[k + 1]]
        phases = runs(contact[:, k])
        for a, b in phases:
            targets[a:b, k] = _pinned(old[a:b, k], own, float(ground[a:b].mean()))
        if phases:
            _add_swings(targets[:, k], old[:, k], times, contact[:, k])
        heights = (
            lowest(targets[:, k : k + 1], own, np.array([0, len(own)]), 0.0)[:, 0, 0]
            - ground
        )
        for a, b in runs(~contact[:, k]):
            depth = np.maximum(-heights[a:b], 0.0)
            targets[a:b, k, 2] += _lift(depth, times, slice(a, b))
        frame = phases[0][0] if phases else 0
        height = (poses.transform_points(targets[frame, k], own))[:, 2]
        points.append(own[height <= height.min() + MAX_PATCH_HEIGHT].mean(axis=0))
    chosen = np.array(points)
    moved = poses.transform_points(targets, chosen[None])
    moved -= poses.transform_points(
        measures.link_poses[:, list(feet.links)], chosen[None]
    )
    oriented = tuple(
        len(measures.body.columns_above(link)) >= MIN_ORIENTED for link in feet.links
    )
    return FootPlan(
        feet.links, chosen, oriented, targets, contact, np.linalg.norm(moved, axis=-1)
    )


def _lift(depths: Floats, times: Floats, swing: slice) -> Floats:
    """Return how much higher (N,) a foot of some depths (N,) is to be in its swing.

    As much as needed, and no more: at its ends, where it is put down, it may stay below.
    """
    if not depths.any():
        return depths
    own = times[swing]
    share = np.ones(len(own))
    if swing.start:
        share = np.minimum(share, (own - times[swing.start - 1]) / LIFT_TIME)
    if swing.stop < len(times):
        share = np.minimum(share, (times[swing.stop] - own) / LIFT_TIME)
    return eased(depths, own, LIFT_TIME) * quintic(share)


def support_edges(
    plan: FootPlan, measures: Measures, margin: float
) -> tuple[list[tuple[Floats, Floats]], list[int]]:
    """Return the support polygons as half-planes n·p ≤ d (N, 2) and (N,), and which of them each frame has; −1 in the air.

    Polygons are smaller by `margin` [m] on each side, or by 80 % of the distance of that edge from the middle.
    """
    feet, last = measures.feet, None
    near = np.searchsorted(
        measures.times, measures.times[:, None] + (-CAUTION_TIME, CAUTION_TIME)
    )
    total = np.concatenate(
        (np.zeros((1, len(feet.links)), int), np.cumsum(plan.contact, axis=0))
    )
    before, after = near[:, 0], np.maximum(near[:, 1], near[:, 0] + 1)
    carries = total[after] - total[before] == (after - before)[:, None]
    carries = np.where(carries.any(axis=1, keepdims=True), carries, plan.contact)
    found: list[tuple[Floats, Floats]] = []
    numbers: list[int] = []
    phase = np.cumsum(np.diff(plan.contact.astype(int), axis=0, prepend=0) > 0, axis=0)
    for t, (on, number) in enumerate(
        zip(carries.tolist(), phase.tolist(), strict=True)
    ):
        key = [
            (k, n)
            for k, (touches, n) in enumerate(zip(on, number, strict=True))
            if touches
        ]
        if key != last:
            last, target = key, plan.targets[t : t + 1]
            heights = lowest(target, feet.points, feet.edges, 0.0)[..., 0]
            corners, counts = hulls(
                target,
                feet.points,
                feet.edges,
                carries[t : t + 1] * 1.0,
                heights,
                MAX_PATCH_HEIGHT,
            )
            if key:
                found.append(_half_planes(corners[0, : counts[0]], margin))
        numbers.append(len(found) - 1 if key else -1)
    return found, numbers


def _half_planes(corners: Floats, margin: float) -> tuple[Floats, Floats]:
    """Return the edges n·p ≤ d, (N, 2) and (N,) [m], of a convex polygon with corners (C, 2) [m], moved inwards by the margin [m]."""
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.stack((edges[:, 1], -edges[:, 0]), axis=1)
    if not 3 <= len(corners) <= MAX_CORNERS:
        angles = np.arange(DIRECTIONS) * (2.0 * np.pi / DIRECTIONS)
        if len(corners) == 2:
            angles = np.arctan2(edges[0, 1], edges[0, 0]) + np.arange(4) * (0.5 * np.pi)
        normals = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    middle = normals @ corners.mean(axis=0)
    inner = (corners @ normals.T).max(axis=0) - middle
    inner -= np.minimum(margin, 0.8 * np.maximum(inner, 0.0))
    kept = np.arange(len(inner))
    if (
        inner.min() > 1e-6
    ):  # Of the dual polygon, corners are the edges that no others make needless.
        spatial: Any = need("scipy.spatial", "opt", "balancing")
        kept = spatial.ConvexHull(normals / inner[:, None]).vertices
    return normals[kept], (middle + inner)[kept]


def _pinned(old: Floats, points: Floats, ground: float) -> Floats:
    """Return the pose (7,) of a foot in contact that is at poses (T, 7).

    It is the mean of the poses in which the foot is flat, as far as it is, with its sole
    on the ground. While a foot rolls over its toe, its middle is elsewhere.
    """
    heights = poses.transform_points(old[:, None], points)[..., 2]
    raised = heights.mean(axis=1) - heights.min(axis=1)
    old = old[raised <= raised.min() + FLATNESS]
    middle = np.array(old[len(old) // 2])
    signs = np.sign(old[:, 3:] @ middle[3:])
    middle[:3] = old[:, :3].mean(axis=0)
    middle[3:] = rotations.normalized((old[:, 3:] * signs[:, None]).sum(axis=0))
    world = poses.transform_points(middle, points)
    pivot = world[world[:, 2].argmin()]
    rotation = _onto_face(world - pivot)
    if 2.0 * np.arccos(min(abs(rotation[0]), 1.0)) < MAX_TILT:
        middle[:3] = pivot + rotations.rotate(rotation, middle[:3] - pivot)
        middle[3:] = rotations.multiply(rotation, middle[3:])
    middle[2] += ground - poses.transform_points(middle, points)[:, 2].min()
    return middle


def _onto_face(points: Floats) -> Floats:
    """Return the rotation that puts a foot, which stands on its lowest point at the origin, on three of its points (N, 3).

    It falls about that point to the next one, and then about the edge between both.
    """
    rotation = np.array([1.0, 0.0, 0.0, 0.0])
    edge = None
    for _ in range(2):
        away = (
            points[:, :2]
            if edge is None
            else points[:, :2] - np.outer(points[:, :2] @ edge, edge)
        )
        distance = np.linalg.norm(away, axis=1)
        slope = points[:, 2] / np.maximum(distance, 1e-9)
        far = np.flatnonzero(distance > MIN_EDGE)
        if not len(far):
            break
        next_one = far[slope[far].argmin()]
        edge = away[next_one] / distance[next_one]
        fall = rotations.from_axis_angle(
            [-edge[1], edge[0], 0.0], np.arctan(slope[next_one])
        )
        points, rotation = (
            rotations.rotate(fall, points),
            rotations.multiply(fall, rotation),
        )
    return rotation


def _add_swings(out: Floats, old: Floats, times: Floats, contact: Bools) -> None:
    """Fill the swings of a foot between its pinned poses in `out` (T, 7)."""
    count = len(old)
    for a, b in runs(~contact):
        before, after = out[a - 1] if a else None, out[b] if b < count else None
        first, last = times[max(a - 1, 0)], times[min(b, count - 1)]
        share = ((times[a:b] - first) / max(last - first, 1e-9))[:, None]
        nearby = ((before, a - 1), (after, min(b, count - 1)))
        known = [
            pose_difference(goal, old[at]) for goal, at in nearby if goal is not None
        ]
        change = known[0] + quintic(share) * (known[-1] - known[0])
        out[a:b] = changed_pose(old[a:b], change)
        near = [goal for goal, _ in nearby if goal is not None]
        low = SWING_HEIGHT + np.mean([goal[2] for goal in near]) - out[a:b, 2].max()
        if (
            len(near) == 2
            and low > 0
            and np.abs(pose_difference(*near)).max() > MIN_STEP
        ):
            out[a:b, 2] += low * bump(share[:, 0])
        for end, way in ((before, 1), (after, -1)):
            if end is None:
                continue
            height = (out[a:b, 2] - end[2])[::way]
            away = np.abs(times[a:b] - times[a - 1 if way == 1 else b])[::way]
            if abs(height[0]) > MAX_LANDING_SPEED * away[0]:
                seconds = _landing_time(height, away, last - first)
                height *= quintic(np.minimum(away / seconds, 1.0))
                out[a:b, 2] = end[2] + height[::way]
            clear = min(
                int(np.searchsorted(np.maximum.accumulate(height), CLEARANCE)),
                b - a - 1,
            )
            change = pose_difference(out[a:b], np.broadcast_to(end, (b - a, 7)))
            if np.abs(change[::way][: clear + 1, [0, 1, 3, 4, 5]]).max() > MAX_SLIP:
                begin = max(away[clear] - 0.2 * CATCH_UP_TIME, 0.0)
                length = min(CATCH_UP_TIME, 0.6 * (last - first - begin))
                weight = quintic(np.clip((away - begin) / length, 0.0, 1.0))[
                    ::way, None
                ]
                out[a:b, :2] = end[:2] + weight * change[:, :2]
                out[a:b, 3:] = rotations.multiply(
                    rotations.from_vector(weight * change[:, 3:]), end[3:]
                )


def _landing_time(heights: Floats, times: Floats, swing: float) -> float:
    """Return the time [s] in which a foot that is put down is slowed down.

    Its heights (N,) [m] are known at times (N,) [s] from the contact on.
    """
    near = times <= MIN_LANDING_TIME
    speed = np.max(np.abs(heights[near]) / times[near], initial=0.0)
    seconds = 2.0 * speed / MAX_LANDING_ACCELERATION
    return float(max(min(seconds, MAX_LANDING_SHARE * swing), MIN_LANDING_TIME))


def changed_pose(pose: Floats, change: Floats) -> Floats:
    """Return poses (..., 7) moved by a change (..., 6) as `pose_difference` returns it."""
    rotated = rotations.multiply(rotations.from_vector(change[..., 3:]), pose[..., 3:])
    return np.concatenate([pose[..., :3] + change[..., :3], rotated], axis=-1)


def pose_difference(pose: Floats, other: Floats) -> Floats:
    """Return how (..., 6) a pose differs from another: x y z, and the rotation vector, in the world."""
    rotated = rotations.difference(pose[..., 3:], other[..., 3:])
    return np.concatenate((pose[..., :3] - other[..., :3], rotated), axis=-1)
