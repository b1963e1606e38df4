"""The poses of the feet of a balanced motion.

In contact a foot is pinned, in the swing phase it is on a smooth path.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bodymotion.dynamics import Measures
from bodymotion.dynamics.contacts import MAX_PATCH_HEIGHT
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, runs, without_short_runs
from bodymotion.geometry.poses import changed_pose, pose_difference
from bodymotion.kernels.feet import hulls, lowest
from bodymotion.motion.filters import smooth_upper_bound
from bodymotion.motion.interpolation.lowpass import bump, quintic
from bodymotion.system.deferred import need

# Contacts.
# [s] A shorter stance phase, or a shorter gap in one, is none.
MIN_PHASE = 0.04
# [m] A foot that is higher at the begin or end of a stance phase still comes down, or
# lifts off, if another one is in contact.
MAX_RISE = 2e-4
# Of the weight: a robot that needs more in the air does not fly ...
MAX_CARRIED = 0.5
# [m] ... if its feet rise by less than this, or than ...
MIN_HOP = 0.03
# ... this part of what they would rise in such a flight.
MIN_HOP_SHARE = 0.5
# [m] Then its lowest feet, within this distance, stay on the ground.
MAX_UNEVEN = 0.005

# Poses in contact.
# [m] Points of a sole that are nearer to each other are one.
MIN_EDGE = 0.005
# [rad] A sole that is tilted by less is put flat on the ground.
MAX_TILT = 0.15
# [m] A foot whose points are on average so much higher above the lowest one rolls.
FLATNESS = 0.002
# Feet whose legs have fewer joints are points: their orientation is left free.
MIN_ORIENTED = 5

# Swings.
# [m] A foot that is put elsewhere rises so high ...
SWING_HEIGHT = 0.015
# [m] ... if it is put down farther away than this.
MIN_STEP = 0.002
# [m] A foot that is lower touches the ground.
CLEARANCE = 0.0015
# [m, rad] A foot that touches the ground and moves more is held. It catches up
# afterwards.
MAX_SLIP = 5e-4
# [s]
CATCH_UP_TIME = 0.28
# Of this time: a foot begins to catch up before it is clear.
CATCH_UP_LEAD = 0.2
# Of the rest of a swing.
MAX_CATCH_UP_SHARE = 0.6
# [s] A foot rises so much before it would be below the ground.
LIFT_TIME = 0.05
# [m/s] A foot that is faster when it is put down or lifted is slowed down there.
MAX_LANDING_SPEED = 0.15
# [s] over which it is, at least.
MIN_LANDING_TIME = 0.05
# [m/s²] A foot that rolls over its toe is high when it is lifted. It is flat until
# then, and must reach that height smoothly.
MAX_LANDING_ACCELERATION = 20.0
# Of a swing, which each of its ends may take.
MAX_LANDING_SHARE = 0.4

# Support polygons.
# [s] A foot has no load after landing and before lift-off while another is in contact.
CAUTION_TIME = 0.02
# Of the distance of an edge from the middle of its polygon.
MAX_MARGIN_SHARE = 0.8
# A support polygon with more corners is replaced by one ...
MAX_CORNERS = 12
# ... with so many sides.
DIRECTIONS = 24
# [m] A polygon whose edges are nearer to its middle has no inside.
MIN_INNER = 1e-6


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
    """Plan where the feet of a motion should be.

    `smooth` (T, L, 7) are the poses of all links, low-pass filtered.

    In each stance phase a foot is pinned, flat and on the ground, at the mean pose of
    its flat frames. In between, the foot's path is moved and rotated by what both
    phases next to it are, in a smooth transition. At its ends it rises before it moves
    sideways. A swing that goes below the ground is lifted.
    """
    feet = measures.feet
    links = list(feet.links)
    contact = _planned_contact(measures)
    targets = smooth[:, links].copy()
    points = np.empty((len(links), 3))
    for k in range(len(links)):
        sole = feet.points[feet.edges[k] : feet.edges[k + 1]]
        path = targets[:, k]
        _pin_stances(path, sole, contact[:, k], measures.ground)
        if contact[:, k].any():
            _add_swings(path, smooth[:, links[k]], measures.times, contact[:, k])
        _lift_swings(path, sole, contact[:, k], measures)
        # The first frame in contact, or the first one.
        points[k] = _patch_middle(path[int(contact[:, k].argmax())], sole)
    moved = poses.transform_points(targets, points)
    moved -= poses.transform_points(measures.link_poses[:, links], points)
    body = measures.body
    oriented = tuple(len(body.columns_above(link)) >= MIN_ORIENTED for link in links)
    shifts = np.linalg.norm(moved, axis=-1)
    return FootPlan(feet.links, points, oriented, targets, contact, shifts)


def _planned_contact(measures: Measures) -> Bools:
    """Return in which frames (T, K) feet are to be in contact."""
    contacts = measures.contacts
    contact = np.array(contacts.in_contact)
    for k, column in enumerate(contacts.in_contact.T):
        contact[:, k] = without_short_runs(column, measures.times, MIN_PHASE)
    others = contact.sum(axis=1, keepdims=True) - contact > 0
    for k in range(contact.shape[1]):
        rolls = _rising_ends(contact[:, k], contacts.heights[:, k])
        contact[:, k] &= ~(rolls & others[:, k])
    _ground_floating_feet(contact, measures)
    return contact


def _rising_ends(contact: Bools, heights: Floats) -> Bools:
    """Return where (T,) a foot in contact comes down or lifts off."""
    rising = np.zeros(len(contact), dtype=bool)
    for first, after in runs(contact):
        inside = heights[first:after]
        level = np.flatnonzero(inside <= np.median(inside) + MAX_RISE) + first
        rising[first : level[0]] = True
        rising[level[-1] + 1 : after] = True
    return rising


def _ground_floating_feet(contact: Bools, measures: Measures) -> None:
    """Put the lowest feet on the ground where all feet rise without a flight."""
    gravity = -measures.gravity[2]
    carried = measures.root_wrench[:, 2] / (measures.body.mass * gravity)
    for first, after in runs(np.asarray(~contact.any(axis=1))):
        highest = measures.contacts.heights[first:after].max(axis=0)
        seconds = measures.times[after - 1] - measures.times[first]
        # In a flight of t seconds all that keeps its shape rises by g·t²/8.
        rise = gravity * seconds**2 / 8.0
        is_carried = carried[first:after].mean() > MAX_CARRIED
        if is_carried and highest.min() < max(MIN_HOP, MIN_HOP_SHARE * rise):
            contact[first:after] |= highest <= highest.min() + MAX_UNEVEN


def _pin_stances(
    path: Floats,
    sole: Floats,
    contact: Bools,
    ground: Floats,
) -> None:
    """Pin the poses (T, 7) of a foot in each of its stance phases."""
    for first, after in runs(contact):
        level = float(ground[first:after].mean())
        path[first:after] = _pin_pose(path[first:after], sole, level)


def _pin_pose(
    path: Floats,
    sole: Floats,
    ground: float,
) -> Floats:
    """Return the pose (7,) of a foot in contact that is at poses (T, 7).

    It is the mean of the poses in which the foot is flat, as far as it is, with its
    sole on the ground. While a foot rolls over its toe, its middle is elsewhere.
    """
    heights = poses.transform_points(path[:, None], sole)[..., 2]
    raised = heights.mean(axis=1) - heights.min(axis=1)
    pose = _mean_pose(path[raised <= raised.min() + FLATNESS])
    world = poses.transform_points(pose, sole)
    pivot = world[world[:, 2].argmin()]
    rotation = _onto_face(world - pivot)
    tilt = 2.0 * np.arccos(min(abs(rotation[0]), 1.0))
    if tilt < MAX_TILT:
        pose[:3] = pivot + rotations.rotate(rotation, pose[:3] - pivot)
        pose[3:] = rotations.multiply(rotation, pose[3:])
    pose[2] += ground - poses.transform_points(pose, sole)[:, 2].min()
    return pose


def _mean_pose(path: Floats) -> Floats:
    """Return the mean pose (7,) of poses (T, 7) that are near to each other."""
    middle = path[len(path) // 2, 3:]
    # A quaternion and its negative are the same orientation.
    signs = np.sign(path[:, 3:] @ middle)
    orientation = rotations.normalized((path[:, 3:] * signs[:, None]).sum(axis=0))
    return np.concatenate([path[:, :3].mean(axis=0), orientation])


def _onto_face(points: Floats) -> Floats:
    """Return the rotation that puts a foot on three of its points (N, 3).

    It stands on its lowest point, at the origin. It falls about that point to the next
    one, and then about the edge between both.
    """
    rotation = np.array([1.0, 0.0, 0.0, 0.0])
    edge = None
    for _ in range(2):
        away = points[:, :2]
        if edge is not None:
            away = away - np.outer(away @ edge, edge)
        distance = np.linalg.norm(away, axis=1)
        slope = points[:, 2] / np.maximum(distance, 1e-9)
        far = np.flatnonzero(distance > MIN_EDGE)
        if not len(far):
            break
        next_point = far[slope[far].argmin()]
        edge = away[next_point] / distance[next_point]
        axis = [-edge[1], edge[0], 0.0]
        fall = rotations.from_axis_angle(axis, np.arctan(slope[next_point]))
        points = rotations.rotate(fall, points)
        rotation = rotations.multiply(fall, rotation)
    return rotation


def _patch_middle(pose: Floats, sole: Floats) -> Floats:
    """Return the middle (3,) of what touches the ground, in the foot's frame."""
    height = poses.transform_points(pose, sole)[:, 2]
    return np.asarray(sole[height <= height.min() + MAX_PATCH_HEIGHT].mean(axis=0))


class _End(NamedTuple):
    """One end of a swing: the pinned pose there, its frame, and its time [s]."""

    pose: Floats
    frame: int
    time: float


class _Swing(NamedTuple):
    """Frames `first` to before `after` of a foot between two contacts.

    At an end of the motion there is no contact, and `begin` or `end` is None.
    """

    first: int
    after: int
    begin: _End | None
    end: _End | None


def _find_swings(
    path: Floats,
    times: Floats,
    contact: Bools,
) -> Iterator[_Swing]:
    """Return the swings of a foot with poses (T, 7)."""
    for first, after in runs(~contact):
        begin = None
        end = None
        if first:
            begin = _End(path[first - 1], first - 1, times[first - 1])
        if after < len(path):
            end = _End(path[after], after, times[after])
        yield _Swing(first, after, begin, end)


def _add_swings(
    path: Floats,
    old: Floats,
    times: Floats,
    contact: Bools,
) -> None:
    """Fill the swings of a foot between its pinned poses in `path` (T, 7)."""
    for swing in _find_swings(path, times, contact):
        frames = slice(swing.first, swing.after)
        start = times[max(swing.first - 1, 0)]
        stop = times[min(swing.after, len(times) - 1)]
        seconds = stop - start
        share = (times[frames] - start) / max(seconds, 1e-9)
        ends = [end for end in (swing.begin, swing.end) if end is not None]
        changes = [pose_difference(end.pose, old[end.frame]) for end in ends]
        change = changes[0] + quintic(share)[:, None] * (changes[-1] - changes[0])
        foot = changed_pose(old[frames], change)
        if swing.begin is not None and swing.end is not None:
            _raise_step(foot, swing.begin.pose, swing.end.pose, share)
        # From its contact on, a foot is treated in the same way at both ends.
        if swing.begin is not None:
            away = times[frames] - swing.begin.time
            _leave_contact(foot, swing.begin.pose, away, seconds)
        if swing.end is not None:
            away = swing.end.time - times[frames]
            _leave_contact(foot[::-1], swing.end.pose, away[::-1], seconds)
        path[frames] = foot


def _raise_step(
    path: Floats,
    begin: Floats,
    end: Floats,
    share: Floats,
) -> None:
    """Raise a foot (N, 7) that is put elsewhere to `SWING_HEIGHT`."""
    is_step = np.abs(pose_difference(begin, end)).max() > MIN_STEP
    lack = SWING_HEIGHT + 0.5 * (begin[2] + end[2]) - path[:, 2].max()
    if is_step and lack > 0:
        path[:, 2] += lack * bump(share)


def _leave_contact(
    path: Floats,
    pinned: Floats,
    away: Floats,
    swing: float,
) -> None:
    """Let a foot (N, 7) rise smoothly from its pinned pose before it moves sideways.

    `away` (N,) [s] is the time since the contact, `swing` [s] that of the whole swing.
    """
    height = path[:, 2] - pinned[2]
    if abs(height[0]) > MAX_LANDING_SPEED * away[0]:
        seconds = _landing_time(height, away, swing)
        height = height * quintic(np.minimum(away / seconds, 1.0))
        path[:, 2] = pinned[2] + height
    clear = int(np.searchsorted(np.maximum.accumulate(height), CLEARANCE))
    clear = min(clear, len(path) - 1)
    change = pose_difference(path, np.broadcast_to(pinned, path.shape))
    sideways = change[: clear + 1, [0, 1, 3, 4, 5]]
    if np.abs(sideways).max() <= MAX_SLIP:
        return
    begin = max(away[clear] - CATCH_UP_LEAD * CATCH_UP_TIME, 0.0)
    seconds = min(CATCH_UP_TIME, MAX_CATCH_UP_SHARE * (swing - begin))
    weight = quintic(np.clip((away - begin) / seconds, 0.0, 1.0))[:, None]
    path[:, :2] = pinned[:2] + weight * change[:, :2]
    turn = rotations.from_vector(weight * change[:, 3:])
    path[:, 3:] = rotations.multiply(turn, pinned[3:])


def _landing_time(
    heights: Floats,
    away: Floats,
    swing: float,
) -> float:
    """Return the time [s] in which a foot that is put down is slowed down.

    Its heights (N,) [m] are known at times (N,) [s] since the contact.
    """
    near = away <= MIN_LANDING_TIME
    speed = np.max(np.abs(heights[near]) / away[near], initial=0.0)
    seconds = 2.0 * speed / MAX_LANDING_ACCELERATION
    return float(max(min(seconds, MAX_LANDING_SHARE * swing), MIN_LANDING_TIME))


def _lift_swings(
    path: Floats,
    sole: Floats,
    contact: Bools,
    measures: Measures,
) -> None:
    """Lift the swings of a foot (T, 7) that go below the ground."""
    edges = np.array([0, len(sole)])
    heights = lowest(path[:, None], sole, edges, 0.0)[:, 0, 0] - measures.ground
    for first, after in runs(~contact):
        depths = np.maximum(-heights[first:after], 0.0)
        path[first:after, 2] += _lift(depths, measures.times, slice(first, after))


def _lift(
    depths: Floats,
    times: Floats,
    swing: slice,
) -> Floats:
    """Return how much higher (N,) a foot of some depths (N,) is to be in its swing.

    As much as needed, and no more: at its ends, where it is put down, it may stay
    below.
    """
    if not depths.any():
        return depths
    swing_times = times[swing]
    share = np.ones(len(swing_times))
    if swing.start:
        since = swing_times - times[swing.start - 1]
        share = np.minimum(share, since / LIFT_TIME)
    if swing.stop < len(times):
        left = times[swing.stop] - swing_times
        share = np.minimum(share, left / LIFT_TIME)
    return smooth_upper_bound(depths, swing_times, LIFT_TIME) * quintic(share)


class HalfPlanes(NamedTuple):
    """The edges n·p ≤ d of a convex polygon: normals (N, 2), and limits (N,) [m]."""

    normals: Floats
    limits: Floats


class SupportEdges(NamedTuple):
    """The support polygons of T frames: `numbers` has that of each, −1 in the air."""

    polygons: list[HalfPlanes]
    numbers: list[int]


def support_edges(
    plan: FootPlan,
    measures: Measures,
    margin: float,
) -> SupportEdges:
    """Return the support polygons of planned feet, smaller by a margin [m].

    The margin is at most 80 % of the distance of an edge from the middle.
    """
    feet = measures.feet
    carries = _loaded_feet(plan.contact, measures.times)
    landings = np.diff(plan.contact.astype(int), axis=0, prepend=0) > 0
    phases = np.cumsum(landings, axis=0)
    # The polygon is the same as long as the same feet are in the same stance phases.
    key = np.where(carries, phases, 0)
    starts = np.flatnonzero((np.diff(key, axis=0, prepend=-1) != 0).any(axis=1))
    polygons: list[HalfPlanes] = []
    numbers = np.full(len(key), -1)
    for first, after in zip(starts, [*starts[1:], len(key)], strict=True):
        if not carries[first].any():
            continue
        target = plan.targets[first : first + 1]
        touches = carries[first : first + 1].astype(np.float64)
        heights = lowest(target, feet.points, feet.edges, 0.0)[..., 0]
        corners, counts = hulls(
            target, feet.points, feet.edges, touches, heights, MAX_PATCH_HEIGHT
        )
        numbers[first:after] = len(polygons)
        polygons.append(half_planes(corners[0, : counts[0]], margin))
    return SupportEdges(polygons, numbers.tolist())


def _loaded_feet(contact: Bools, times: Floats) -> Bools:
    """Return which feet in contact (T, K) carry the body.

    A foot that has just been put down, or is about to be lifted, does only if no other
    one does.
    """
    # The window of frames around each frame, which is never empty.
    window = np.searchsorted(times, times[:, None] + (-CAUTION_TIME, CAUTION_TIME))
    first = window[:, 0]
    after = np.maximum(window[:, 1], first + 1)
    # A foot carries if it is in contact in all frames of the window. Their number is a
    # difference of running sums.
    start = np.zeros((1, contact.shape[1]), int)
    running_sum = np.concatenate((start, np.cumsum(contact, axis=0)))
    num_contacts = running_sum[after] - running_sum[first]
    carries = num_contacts == (after - first)[:, None]
    return np.where(carries.any(axis=1, keepdims=True), carries, contact)


def half_planes(corners: Floats, margin: float) -> HalfPlanes:
    """Return the edges of a convex polygon (C, 2) [m], moved inwards by a margin."""
    normals = _edge_normals(corners)
    middle = normals @ corners.mean(axis=0)
    inner = (corners @ normals.T).max(axis=0) - middle
    inner -= np.minimum(margin, MAX_MARGIN_SHARE * np.maximum(inner, 0.0))
    if inner.min() <= MIN_INNER:
        return HalfPlanes(normals, middle + inner)
    spatial: Any = need("scipy.spatial", "opt", "balancing")
    # Of the dual polygon, corners are the edges that no others make needless.
    needed = spatial.ConvexHull(normals / inner[:, None]).vertices
    return HalfPlanes(normals[needed], (middle + inner)[needed])


def _edge_normals(corners: Floats) -> Floats:
    """Return the outward normals (N, 2) of the edges of a polygon (C, 2).

    A line has four, a point and a polygon with many corners have one in each of
    `DIRECTIONS`.
    """
    edges = np.roll(corners, -1, axis=0) - corners
    if 3 <= len(corners) <= MAX_CORNERS:
        normals = np.stack((edges[:, 1], -edges[:, 0]), axis=1)
        return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))
    angles = np.arange(DIRECTIONS) * (2.0 * np.pi / DIRECTIONS)
    if len(corners) == 2:
        along = np.arctan2(edges[0, 1], edges[0, 0])
        angles = along + np.arange(4) * (0.5 * np.pi)
    return np.stack((np.cos(angles), np.sin(angles)), axis=1)
