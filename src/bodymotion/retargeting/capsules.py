"""Keep forearms and hands apart from the rest of a robot: capsules in its links, and the pairs of them that come near in a motion.

Along the longest side of the box of a link lie one to `MAX_BESIDE` capsules beside each other. Their radius is between that of the box and
that of the farthest point. Those of two links stay apart, or as far as they are at rest, where that is less.
"""

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.model.collision_points import CollisionPoints, rest_values
from bodymotion.retargeting.roles import DIGITS, SIDES, Figure

MAX_BESIDE, FLAT_FACTOR = 4, 0.8
"""Maximum number of capsules of a link; it has ceil(FLAT_FACTOR · width / thickness)."""
OUTER_SHARE, ROUND_SHARE = 0.4, 0.6
"""The share of the farthest point in the radius, and of the radius in the length by which the round ends are outside of the box."""
WEIGHT = 3.0  # [1/m] Of the distance of two capsules among the tasks of inverse kinematics.
SKIPPED, MARGIN = 8, 0.06
"""Every `SKIPPED`-th frame is searched for pairs closer than `MARGIN` [m]."""
NESTED_SHARE = 0.5  # Of the sum of the radii: capsules nearer at rest are those of links next to each other.


def kept_apart(body: Body, figure: Figure, placed: Floats) -> list[ik.DistanceTask]:
    """Return the tasks that keep each forearm and hand apart from the links near them in poses (T, L, 7) of the links."""
    shapes = CollisionPoints(body, visuals=True)
    elbows = [figure.points[f"{side} elbow"][0] for side in SIDES if f"{side} elbow" in figure.points]
    if not len(shapes.shapes) or not elbows:
        return []
    table = _capsules(shapes)
    owners, starts, along, radii = table[:, 0].astype(np.intp), table[:, 1:4], table[:, 4:7], table[:, 7]
    links = shapes.shapes[owners]
    arms = np.array([[elbow in body.path_to_root(link) for elbow in elbows] for link in links.tolist()])
    rest = np.round(body.forward_kinematics(rest_values(body)), DIGITS)
    placed = np.concatenate([rest[None], placed[::-SKIPPED]])[:, links]
    way = rotations.rotate(placed[..., 3:], along)
    begin = poses.transform_points(placed, starts)
    middle, reach = begin + 0.5 * way, 0.5 * np.linalg.norm(along, axis=1) + radii
    tasks = []
    for one, owner in enumerate(owners.tolist()):
        others = np.flatnonzero(np.isin(owners, shapes.partners(owner)) & (arms[one] ^ arms).any(axis=1))
        far = np.linalg.norm(middle[1:, others] - middle[1:, [one]], axis=2)
        for two in others[(far < reach[others] + reach[one] + MARGIN).any(axis=0)].tolist():
            gaps = _distances(begin[:, two] - begin[:, one], way[:, two], way[:, one])
            both = float(radii[one] + radii[two])
            if gaps[0] > NESTED_SHARE * both and gaps[1:].min() < min(gaps[0], both) + MARGIN:
                ends = int(links[one]), int(links[two]), min(float(gaps[0]), both), WEIGHT, starts[one], starts[two]
                tasks.append(ik.DistanceTask(*ends, at_least=True, along=along[one], to_along=along[two]))
    return tasks


def _capsules(shapes: CollisionPoints) -> Floats:
    """Return rows for capsules: the first shape of the link, begin and way to the end (3,) in the frame of the link, and radius [m]."""
    rows = []
    for shape in np.unique(shapes.shapes, return_index=True)[1].tolist():
        axes, cloud = shapes.axes[shape], shapes.points[shapes.links == shapes.shapes[shape]]
        axes = axes[:, np.argsort(-np.ptp(cloud @ axes, axis=0))]
        cloud = cloud @ axes
        middle, (long, wide, thin) = 0.5 * (cloud.min(axis=0) + cloud.max(axis=0)), 0.5 * np.ptp(cloud, axis=0)
        count = int(np.clip(np.ceil(FLAT_FACTOR * wide / max(thin, 1e-9)), 1, MAX_BESIDE))
        sides = np.linspace(thin - wide, wide - thin, count) if count > 1 else np.zeros(1)
        across = np.abs(cloud[:, 1:2] - middle[1] - sides).min(axis=1)
        radius = (1 - OUTER_SHARE) * thin + OUTER_SHARE * np.hypot(across, cloud[:, 2] - middle[2]).max()
        tip = max(long - (1 - ROUND_SHARE) * radius, 0.0)
        rows += [
            (shape, *(axes @ np.add(middle, [-tip, side, 0.0])), *(2 * tip * axes[:, 0]), radius) for side in sides
        ]
    return np.array(rows)


def _distances(apart: Floats, u: Floats, v: Floats) -> Floats:
    """Return the distances (T,) of points of segments u from segments v (T, 3), which begin `apart` (T, 3) from each other."""
    points = apart[:, None] + np.linspace(0, 1, 9)[:, None] * u[:, None]
    shares = np.einsum("tni,ti->tn", points, v) / np.maximum((v * v).sum(axis=1), 1e-12)[:, None]
    nearest = np.clip(shares, 0.0, 1.0)[..., None] * v[:, None]
    return np.asarray(np.linalg.norm(points - nearest, axis=2).min(axis=1))
