"""Keep forearms and hands apart from the rest of a robot.

Capsules in its links, and the pairs of them that come near in a motion.

Along the longest side of the box of a link lie one to `MAX_BESIDE` capsules beside each
other. The box is the smallest along the axes of one of its shapes. Their radius is
between that of the box and that of the farthest point. Those of two links stay apart,
or as far as they are at rest, where that is less.
"""

from typing import NamedTuple

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.kernels.compiling import in_slices
from bodymotion.kernels.inverse_kinematics import distances
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.model.collision_points import CollisionPoints, rest_values
from bodymotion.retargeting.roles import DIGITS, SIDES, Figure

# Capsules beside each other in a link, at most.
MAX_BESIDE = 4
# A link has ceil(FLAT_FACTOR · width / thickness) capsules.
FLAT_FACTOR = 0.8
# The share of the farthest point in the radius; the rest is that of the box.
OUTER_SHARE = 0.4
# Of the radius: the length by which the round ends are outside of the box.
ROUND_SHARE = 0.6
# [1/m] Of the distance of two capsules among the tasks of inverse kinematics.
WEIGHT = 3.0
# [m] Capsules that come nearer in a motion are kept apart.
MARGIN = 0.06
# Of the sum of the radii: capsules nearer at rest are of links next to each other.
NESTED_SHARE = 0.5


class _Capsules(NamedTuple):
    """N capsules: the first shape (N,) of their links, and segments with radii.

    `starts` and `along` (N, 3) [m] are the begin and the vector of the segment in the
    frame of the link, `radii` (N,) [m].
    """

    shapes: Indices
    starts: Floats
    along: Floats
    radii: Floats


def separate_arms(
    body: Body,
    figure: Figure,
    link_poses: Floats,
) -> list[ik.Task]:
    """Return the tasks that keep each forearm and hand apart from the links near them.

    They are near in poses (T, L, 7) of the links.
    """
    shapes = CollisionPoints(body, visuals=True)
    elbows = []
    for side in SIDES:
        if f"{side} elbow" in figure.points:
            elbows.append(figure.link_of(f"{side} elbow"))
    if not len(shapes.shapes) or not elbows:
        return []
    capsules = _build_capsules(shapes, figure)
    links = shapes.shapes[capsules.shapes]
    pairs = _find_pairs(shapes, capsules, elbows)
    radii = capsules.radii[pairs].sum(axis=1)
    half_lengths = 0.5 * np.linalg.norm(capsules.along, axis=1)[pairs].sum(axis=1)
    reach = half_lengths + radii + MARGIN

    def measure_distances(frames: Floats) -> Floats:
        """Return the distances (P, F) [m] of the pairs, exact within their reach."""
        capsule_poses = np.ascontiguousarray(frames[:, links].swapaxes(0, 1))
        along = rotations.rotate(capsule_poses[..., 3:], capsules.along[:, None])
        starts = poses.transform_points(capsule_poses, capsules.starts[:, None])
        out = np.empty((len(pairs), len(frames)))
        distances(starts, along, pairs, reach, out)
        return out

    rest = np.round(body.forward_kinematics(rest_values(body)), DIGITS)
    at_rest = measure_distances(rest[None])[:, 0]
    is_separate = at_rest > NESTED_SHARE * radii
    min_distance = np.where(is_separate, np.minimum(at_rest, radii), -np.inf)
    near = np.empty((len(pairs), len(link_poses)), dtype=bool)

    def mark_near(begin: int, end: int) -> None:
        frame_distances = measure_distances(link_poses[begin:end])
        near[:, begin:end] = frame_distances < min_distance[:, None] + MARGIN

    in_slices(len(link_poses), mark_near)
    tasks: list[ik.Task] = []
    for number in np.flatnonzero(near.any(axis=1)):
        first, second = pairs[number].tolist()
        # In frames where they are far from each other, any distance is enough.
        task = ik.DistanceTask(
            int(links[first]),
            int(links[second]),
            np.where(near[number], min_distance[number], 0.0),
            WEIGHT,
            capsules.starts[first],
            capsules.starts[second],
            at_least=True,
            along=capsules.along[first],
            to_along=capsules.along[second],
        )
        tasks.append(task)
    return tasks


def _find_pairs(
    shapes: CollisionPoints,
    capsules: _Capsules,
    elbows: list[int],
) -> Indices:
    """Return the pairs (P, 2) of capsules that can collide.

    One of them is in a forearm, or its hand, in which the other is not.
    """
    count = len(shapes.shapes)
    can_collide = np.zeros((count, count), dtype=bool)
    for shape in np.unique(capsules.shapes).tolist():
        can_collide[shape, shapes.partners(shape)] = True
    in_forearm = np.zeros((len(capsules.shapes), len(elbows)), dtype=bool)
    for number, link in enumerate(shapes.shapes[capsules.shapes].tolist()):
        path = shapes.body.path_to_root(link)
        for column, elbow in enumerate(elbows):
            in_forearm[number, column] = elbow in path
    one_in_forearm = (in_forearm[:, None] ^ in_forearm).any(axis=2)
    return np.argwhere(
        can_collide[capsules.shapes[:, None], capsules.shapes] & one_in_forearm
    )


def _build_capsules(shapes: CollisionPoints, figure: Figure) -> _Capsules:
    """Return the capsules of all links, symmetric in trunk and head."""
    to_left = figure.rest["left hip"] - figure.rest["right hip"]
    lateral = to_left / np.linalg.norm(to_left)
    middle = 0.5 * (figure.rest["left hip"] + figure.rest["right hip"])
    trunk: set[int] = {0}
    for role in ("chest", "head"):
        if role in figure.points:
            trunk.update(shapes.body.path_to_root(figure.link_of(role)))
    owners = []
    starts = []
    along = []
    radii = []
    for shape in np.unique(shapes.shapes, return_index=True)[1].tolist():
        link = shapes.shapes[shape]
        cloud = shapes.points[shapes.links == link]
        if link in trunk:
            link_pose = figure.reference[link]
            mirrored = poses.transform_points(link_pose, cloud)
            mirrored -= 2 * (mirrored - middle) @ lateral[:, None] * lateral
            mirrored = poses.transform_points(poses.inverse(link_pose), mirrored)
            cloud = np.concatenate([cloud, mirrored])
        axes = _smallest_box(cloud, shapes.axes[shapes.shapes == link])
        for start, vector, radius in _fill_box(cloud, axes):
            owners.append(shape)
            starts.append(start)
            along.append(vector)
            radii.append(radius)
    return _Capsules(
        np.array(owners, dtype=np.intp),
        np.array(starts),
        np.array(along),
        np.array(radii),
    )


def _smallest_box(cloud: Floats, boxes: Floats) -> Floats:
    """Return the axes (3, 3) of the smallest box around points (N, 3).

    The longest side comes first. `boxes` (B, 3, 3) are the axes to choose from.
    """

    def volume(axes: Floats) -> float:
        return round(float(np.ptp(cloud @ axes, axis=0).prod()), DIGITS)

    axes = min(boxes, key=volume)
    return np.asarray(axes[:, np.argsort(-np.ptp(cloud @ axes, axis=0))])


def _fill_box(cloud: Floats, axes: Floats) -> list[tuple[Floats, Floats, float]]:
    """Return the begin and vector (3,), and radius [m] of each capsule in a box.

    The box is the one around points (N, 3), with `axes` (3, 3).
    """
    in_box = cloud @ axes
    middle = 0.5 * (in_box.min(axis=0) + in_box.max(axis=0))
    long, wide, thin = 0.5 * np.ptp(in_box, axis=0)
    count = np.ceil(FLAT_FACTOR * wide / max(thin, 1e-9))
    count = int(np.clip(count, 1, MAX_BESIDE))
    sides = np.zeros(1)
    if count > 1:
        sides = np.linspace(thin - wide, wide - thin, count)
    beside = np.abs(in_box[:, 1:2] - middle[1] - sides).min(axis=1)
    farthest = np.hypot(beside, in_box[:, 2] - middle[2]).max()
    radius = (1 - OUTER_SHARE) * thin + OUTER_SHARE * farthest
    half_length = max(long - (1 - ROUND_SHARE) * radius, 0.0)
    capsules = []
    for side in sides:
        start = axes @ np.add(middle, [-half_length, side, 0.0])
        capsules.append((start, 2 * half_length * axes[:, 0], radius))
    return capsules
