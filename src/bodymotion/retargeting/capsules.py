"""Keep forearms and hands apart from the rest of a robot.

Capsules in its links, and the pairs of them that come near in a motion.

Along the longest side of the box of a link lie one to `MAX_BESIDE` capsules beside each
other. The box is the smallest along the axes of one of its shapes. Their radius is
between that of the box and that of the farthest point. Those of two links stay apart,
or as far as they are at rest, where that is less.
"""

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import in_slices
from bodymotion.kernels.inverse_kinematics import distances
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.model.collision_points import CollisionPoints, rest_values
from bodymotion.retargeting.roles import DIGITS, SIDES, Figure

MAX_BESIDE = 4
FLAT_FACTOR = 0.8
"""Maximum number of capsules of a link.

It has ceil(FLAT_FACTOR · width / thickness).
"""
OUTER_SHARE = 0.4
ROUND_SHARE = 0.6
"""The share of the farthest point in the radius, and of the radius in the length by which the round ends are outside of the box."""
WEIGHT = (
    3.0  # [1/m] Of the distance of two capsules among the tasks of inverse kinematics.
)
MARGIN = 0.06  # [m] Capsules that come nearer in a motion are kept apart.
NESTED_SHARE = 0.5  # Of the sum of the radii: capsules nearer at rest are those of links next to each other.


def kept_apart(body: Body, figure: Figure, placed: Floats) -> list[ik.Task]:
    """Return the tasks that keep each forearm and hand apart from the links near them in poses (T, L, 7) of the links."""
    shapes = CollisionPoints(body, visuals=True)
    elbows = [
        figure.points[f"{side} elbow"][0]
        for side in SIDES
        if f"{side} elbow" in figure.points
    ]
    if not len(shapes.shapes) or not elbows:
        return []
    table = _capsules(shapes, figure)
    owners = table[:, 0].astype(np.intp)
    starts = table[:, 1:4]
    along = table[:, 4:7]
    radii = table[:, 7]
    links = shapes.shapes[owners]
    arms = np.array(
        [
            [elbow in body.path_to_root(link) for elbow in elbows]
            for link in links.tolist()
        ]
    )
    rest = np.round(body.forward_kinematics(rest_values(body)), DIGITS)
    partners = np.zeros((len(shapes.shapes), len(shapes.shapes)), dtype=bool)
    for shape in np.unique(owners).tolist():
        partners[shape, shapes.partners(shape)] = True
    pairs = np.argwhere(
        partners[owners[:, None], owners] & (arms[:, None] ^ arms).any(axis=2)
    )
    both = radii[pairs].sum(axis=1)
    reach = 0.5 * np.linalg.norm(along, axis=1)[pairs].sum(axis=1)

    def distances_in(frames: Floats) -> Floats:
        at = np.ascontiguousarray(frames[:, links].swapaxes(0, 1))
        found = np.empty((len(pairs), len(frames)))
        ways = rotations.rotate(at[..., 3:], along[:, None])
        begins = poses.transform_points(at, starts[:, None])
        distances(begins, ways, pairs, reach + both + MARGIN, found)
        return found

    at_rest = distances_in(rest[None])[:, 0]
    apart = np.where(at_rest > NESTED_SHARE * both, np.minimum(at_rest, both), -np.inf)
    near = np.empty((len(pairs), len(placed)), dtype=bool)

    def work(begin: int, end: int) -> None:
        near[:, begin:end] = distances_in(placed[begin:end]) < apart[:, None] + MARGIN

    in_slices(len(placed), work)
    tasks: list[ik.Task] = []
    for n in np.flatnonzero(near.any(axis=1)):
        one, two = pairs[n].tolist()
        # Where they are far from each other, any distance is enough.
        ends = (
            int(links[one]),
            int(links[two]),
            np.where(near[n], apart[n], 0.0),
            WEIGHT,
            starts[one],
            starts[two],
        )
        tasks.append(
            ik.DistanceTask(*ends, at_least=True, along=along[one], to_along=along[two])
        )
    return tasks


def _capsules(shapes: CollisionPoints, figure: Figure) -> Floats:
    """Return rows for capsules, symmetric in trunk and head.

    First shape of the link, begin and way (3,) in its frame, radius [m].
    """
    rows = []
    hips = [figure.rest[f"{side} hip"] for side in SIDES]
    lateral = (hips[0] - hips[1]) / np.linalg.norm(hips[0] - hips[1])
    trunk = {
        k
        for role in ("chest", "head")
        for k in shapes.body.path_to_root(figure.points.get(role, (0,))[0])
    }
    for shape in np.unique(shapes.shapes, return_index=True)[1].tolist():
        link = shapes.shapes[shape]
        cloud = shapes.points[shapes.links == link]
        if link in trunk:
            placed = poses.transform_points(figure.reference[link], cloud)
            placed -= (
                2 * (placed - 0.5 * (hips[0] + hips[1])) @ lateral[:, None] * lateral
            )
            cloud = np.concatenate(
                [
                    cloud,
                    poses.transform_points(
                        poses.inverse(figure.reference[link]), placed
                    ),
                ]
            )
        boxes = shapes.axes[shapes.shapes == link]
        axes = min(
            boxes,
            key=lambda box: round(float(np.ptp(cloud @ box, axis=0).prod()), DIGITS),
        )
        axes = axes[:, np.argsort(-np.ptp(cloud @ axes, axis=0))]
        cloud = cloud @ axes
        middle, (long, wide, thin) = (
            0.5 * (cloud.min(axis=0) + cloud.max(axis=0)),
            0.5 * np.ptp(cloud, axis=0),
        )
        count = int(
            np.clip(np.ceil(FLAT_FACTOR * wide / max(thin, 1e-9)), 1, MAX_BESIDE)
        )
        if count > 1:
            sides = np.linspace(thin - wide, wide - thin, count)
        else:
            sides = np.zeros(1)
        across = np.abs(cloud[:, 1:2] - middle[1] - sides).min(axis=1)
        radius = (1 - OUTER_SHARE) * thin + OUTER_SHARE * np.hypot(
            across, cloud[:, 2] - middle[2]
        ).max()
        tip = max(long - (1 - ROUND_SHARE) * radius, 0.0)
        for side in sides:
            rows.append(
                (
                    shape,
                    *(axes @ np.add(middle, [-tip, side, 0.0])),
                    *(2 * tip * axes[:, 0]),
                    radius,
                )
            )
    return np.array(rows)
