"""The points of a robot with which it can touch the ground."""

from dataclasses import dataclass, field

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.feet import product
from bodymotion.model.body import Body
from bodymotion.retargeting.foot_shapes import foot_cloud
from bodymotion.retargeting.part_frames import part_axes
from bodymotion.retargeting.roles import Figure

# Of the length of the leg: toe and heel of a foot without shapes.
BOX_X = (0.15, -0.1)
# Of the length of the leg: the sides of a foot without shapes.
BOX_Y = (0.05, -0.05)
# Of the length of the leg: an ankle of a foot without shapes is lower.
MAX_BOX_DEPTH = 0.15
# Of the length of the leg: the depth of a foot whose ankle is not so low.
BOX_DEPTH = 0.1
# Of the length of a foot: points up to this height above the lowest are the sole.
SOLE_DEPTH = 0.1


@dataclass(frozen=True, eq=False)
class Sole:
    """The points (P, 3) [m] of a foot that can touch the ground, in its frame.

    `front`, `back`, `depth` below, `left` and `right` are how far [m] the lowest ones
    reach from the ankle.
    """

    points: Floats = field(repr=False)
    front: float
    back: float
    depth: float
    left: float
    right: float

    @property
    def length(self) -> float:
        """The length [m] from heel to toe."""
        return self.front + self.back


def sole_points(
    body: Body,
    figure: Figure,
    side: str,
) -> Floats:
    """Return the points (N, 3) with which a foot can touch the ground.

    They are in the frame of the link of the ankle: the contact points of the foot and
    what it carries. A foot without shapes is a box, as long as a quarter of the leg,
    and as deep as the ankle is above z = 0 in the robot's own pose, where that is below
    0.15 legs.
    """
    role = f"{side} ankle"
    foot, ankle = figure.points[role]
    cloud = foot_cloud(body, figure, role)
    if len(cloud):
        return poses.transform_points(poses.inverse(figure.reference[foot]), cloud)
    leg = figure.length(f"{side} hip", f"{side} knee", role)
    depth = float(figure.rest[role][2])
    if not 0 < depth < MAX_BOX_DEPTH * leg:
        depth = BOX_DEPTH * leg
    box = []
    for x in BOX_X:
        for y in BOX_Y:
            box.append([x * leg, y * leg, -depth])
    return ankle + rotations.rotate(part_axes(figure)[f"{side} foot"], np.array(box))


def measure_sole(
    body: Body,
    figure: Figure,
    side: str = "left",
) -> Sole:
    """Return the points of a foot, and the box of the lowest ones."""
    axes = part_axes(figure)[f"{side} foot"]
    ankle = figure.points[f"{side} ankle"].offset
    cloud = sole_points(body, figure, side) - ankle
    cloud = rotations.rotate(rotations.conjugate(axes), cloud)
    heights = cloud[:, 2]
    lowest = cloud[heights <= heights.min() + SOLE_DEPTH * np.ptp(cloud[:, 0])]
    front, left, _ = lowest.max(axis=0).tolist()
    back, right, depth = (-lowest.min(axis=0)).tolist()
    return Sole(cloud, front, back, depth, left, right)


def lowest_of_links(
    body: Body,
    link_poses: Floats,
    below: float = 0.0,
) -> Floats:
    """Return the height (T,) [m] of the lowest contact point of all links.

    It is exact where it is `below`. Elsewhere it is that of the lowest box around the
    points of a link. `link_poses` (T, L, 7).
    """
    lowest = np.full(len(link_poses), np.inf)
    for link in body.links:
        points = link.contact_points
        if not len(points):
            continue
        origin_height = link_poses[:, link.index, 2]
        to_link = rotations.conjugate(link_poses[:, link.index, 3:])
        up = rotations.rotate(to_link, [0.0, 0.0, 1.0])
        middle = 0.5 * (points.max(axis=0) + points.min(axis=0))
        half_size = 0.5 * np.ptp(points, axis=0)
        # A box with half sides s reaches |u|·s below its middle, for the up axis u.
        height = origin_height + up @ middle - np.abs(up) @ half_size
        rows = height < below
        depths = product(up[rows], points.T).min(axis=1, initial=np.inf)
        height[rows] = origin_height[rows] + depths
        lowest = np.minimum(lowest, height)
    return lowest
