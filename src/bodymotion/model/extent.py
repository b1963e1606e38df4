"""The extent of a body in any pose, by the outermost points of its links."""

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import listed, shown
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices
from bodymotion.geometry.meshes import outermost_points
from bodymotion.geometry.shapes import Shape
from bodymotion.model.body import Body

# Share of a body that is its bulk at least.
MIN_BULK_WEIGHT = 0.5
# A few points alone are no bulk: two boxes of a small part beside a large one.
MIN_BULK_POINTS = 4
# A point is not of the bulk if it is this many times farther away than the bulk.
BULK_GAP = 10.0
# [m] So that points at one position have a size.
MIN_BULK_SIZE = 1e-9
# Links that a sentence names.
MAX_NAMED = 3


class BodyExtent:
    """The outermost points of a body: they give its extent in any pose.

    Points far outside of the bulk of the body are left out: a vertex with a wrong
    number, a floor in the model. A body without shapes of its own has the extent of its
    environment, too.

    Parameters
    ----------
    body:
        The body.
    shapes:
        Of each link, those to use in place of its own if it has none.

    Attributes
    ----------
    points:
        (N, 3) [m] In the frames of their links.
    links:
        (N,) The indices of these links.
    far:
        The indices of the links with points that are left out.
    """

    def __init__(self, body: Body, shapes: tuple[tuple[Shape, ...], ...]) -> None:
        """Collect the outermost points of the links, without those far away."""
        points_of_links = [
            link.visual_points if link.visuals else outermost_points(of_link)
            for of_link, link in zip(shapes, body.links, strict=True)
        ]
        # A body that is nothing but a scene, such as a floor with walls.
        if body.environment and not any(link.visuals for link in body.links):
            around = outermost_points(body.environment)
            in_root = poses.transform_points(poses.inverse(body.root_pose), around)
            points_of_links[0] = np.concatenate([points_of_links[0], in_root])
        # Number of points of each link.
        counts = np.array([len(points) for points in points_of_links])
        self.points: Floats = np.concatenate([np.zeros((0, 3)), *points_of_links])
        self.links: Indices = np.repeat(np.arange(len(counts)), counts)
        self._body = body
        self.far: tuple[int, ...] = ()
        if len(self.points):
            # What is far away at rest is a wrong vertex, whatever the joints do.
            at_rest = body.forward_kinematics(np.zeros(body.num_joints))
            # Each link counts as much as any other, however fine its meshes are.
            is_near = find_bulk(self.placed(at_rest), 1.0 / counts[self.links])
            self.far = tuple(np.unique(self.links[~is_near]).tolist())
            self.points = self.points[is_near]
            self.links = self.links[is_near]

    def describe_far(self) -> str:
        """Return the links that reach far outside of the bulk, in a sentence.

        Empty where there are none.
        """
        if not self.far:
            return ""
        names = (repr(shown(self._body.links[index].name)) for index in self.far)
        return (
            f"shapes of {listed(names, MAX_NAMED)} reach more than {BULK_GAP:g} sizes "
            "of the body away: the camera shows the rest"
        )

    def placed(self, link_poses: npt.ArrayLike) -> Floats:
        """Return the points (N, 3) in the world for link poses (L, 7)."""
        of_points = np.asarray(link_poses, dtype=np.float64)[self.links]
        turns = rotations.normalized(of_points[:, 3:])
        return np.asarray(of_points[:, :3] + rotations.rotate(turns, self.points))

    def lowest(self, link_poses: npt.ArrayLike) -> Floats:
        """Return the height (...) [m] of the lowest point for link poses (..., L, 7).

        0 for a body without shapes.
        """
        link_poses = np.asarray(link_poses, dtype=np.float64)
        if not len(self.points):
            return np.zeros(link_poses.shape[:-2])
        # Only heights are needed: the last row of each rotation matrix.
        w, x, y, z = np.moveaxis(rotations.normalized(link_poses[..., 3:]), -1, 0)
        last_row = np.stack(
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1
        )
        heights = link_poses[..., self.links, 2] + np.einsum(
            "...nk,nk->...n", last_row[..., self.links, :], self.points
        )
        return np.asarray(heights.min(axis=-1))

    def bounds(self, link_poses: npt.ArrayLike) -> Floats | None:
        """Return the lowest and the highest corner (2, 3) of the box around the body.

        For link poses (L, 7); None without shapes.
        """
        placed = self.placed(link_poses)
        if not len(placed):
            return None
        return np.stack([placed.min(axis=0), placed.max(axis=0)])


def find_bulk(points: Floats, weights: npt.ArrayLike) -> Bools:
    """Return which points (N, 3) belong to the bulk.

    These are all that are not beyond a wide gap around at least half of the weights
    (N,).
    """
    weights = np.asarray(weights, dtype=np.float64)
    # The weighted median, which a few far points do not move.
    center = np.quantile(
        points,
        0.5,
        axis=0,
        weights=np.repeat(weights[:, None], 3, 1),
        method="inverted_cdf",
    )
    distances = np.linalg.norm(points - center, axis=1)
    order = np.argsort(distances)
    ordered = distances[order]
    # Weight of all points up to each one, from the middle outwards.
    weight_inside = np.cumsum(weights[order])[:-1]
    is_enough = weight_inside >= MIN_BULK_WEIGHT * weights.sum()
    # A gap is as wide as `BULK_GAP` times all that is inside.
    is_gap = ordered[1:] > BULK_GAP * np.maximum(ordered[:-1], MIN_BULK_SIZE)
    gaps = np.flatnonzero(is_enough & is_gap)
    # Few points make gaps by chance.
    gaps = gaps[gaps >= MIN_BULK_POINTS - 1]
    if not len(gaps):
        return np.ones(len(points), dtype=bool)
    return np.asarray(distances <= ordered[gaps[0]])
