"""How high a body stands: the lowest point of its shapes, for any pose and without going through all vertices each time.

Of each link only those vertices are kept that lie farthest out in one of `DIRECTIONS` directions spread over the sphere. The lowest
vertex in the true direction is missed by at most the link's radius times 1 − cos of the angle to the next direction: about 1 %;
for parts with corners (feet, boxes) by nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion import rotations
from bodymotion.arrays import Floats
from bodymotion.body import Body
from bodymotion.shapes import Lines, Mesh, Points, Shape

__all__ = ["Footprint", "shape_points"]

DIRECTIONS = 512
BLOCK = 32
"""So many directions are looked in at once: for clouds of a million points, less than a gigabyte."""


def shape_points(shape: Shape) -> Floats:
    """Give the points (N, 3) of a shape in the frame of the thing that has it; those that are not finite are left out."""
    geometry = shape.geometry
    if isinstance(geometry, (Lines, Points)):
        points = geometry.vertices @ shape.transform[:3, :3].T + shape.transform[:3, 3]
    else:
        mesh = shape.to_mesh()
        points = (
            mesh.vertices[np.unique(mesh.faces)] if isinstance(mesh, Mesh) and len(mesh.faces) else np.zeros((0, 3))
        )
    return np.asarray(points[np.isfinite(points).all(axis=1)])


class Footprint:
    """The outermost points of a body's links: `points` (N, 3) in the frames of the links `links` (N,)."""

    def __init__(self, body: Body) -> None:
        found: list[Floats] = []
        owners: list[npt.NDArray[np.intp]] = []
        directions = _directions(DIRECTIONS)
        for link in body.links:
            points = [shape_points(shape) for shape in link.visuals]
            cloud = np.concatenate(points) if points else np.zeros((0, 3))
            if not len(cloud):
                continue
            outermost = cloud if len(cloud) <= 64 else cloud[_farthest(cloud, directions)]
            found.append(outermost)
            owners.append(np.full(len(outermost), link.index))
        self.points: Floats = np.concatenate(found) if found else np.zeros((0, 3))
        self.links: npt.NDArray[np.intp] = np.concatenate(owners) if owners else np.zeros(0, dtype=np.intp)

    def placed(self, link_poses: npt.ArrayLike) -> Floats:
        """Give the points (N, 3) in the world for link poses (L, 7)."""
        poses = np.asarray(link_poses, dtype=np.float64)[self.links]
        return np.asarray(poses[:, :3] + rotations.rotate(rotations.normalized(poses[:, 3:]), self.points))

    def lowest(self, link_poses: npt.ArrayLike) -> Floats:
        """Give the height (...) [m] of the lowest point for link poses (..., L, 7); 0 for a body without shapes."""
        poses = np.asarray(link_poses, dtype=np.float64)
        if not len(self.points):
            return np.zeros(poses.shape[:-2])
        w, x, y, z = np.moveaxis(rotations.normalized(poses[..., 3:]), -1, 0)
        down = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)
        heights = poses[..., self.links, 2] + np.einsum("...nk,nk->...n", down[..., self.links, :], self.points)
        return np.asarray(heights.min(axis=-1))

    def bounds(self, link_poses: npt.ArrayLike) -> Floats | None:
        """Give the lowest and highest corner (2, 3) of the box around the body for link poses (L, 7); None without shapes."""
        placed = self.placed(link_poses)
        return np.stack([placed.min(axis=0), placed.max(axis=0)]) if len(placed) else None


def _farthest(cloud: Floats, directions: Floats) -> npt.NDArray[np.intp]:
    """Give the indices of the points (N, 3) that are the farthest in one of the directions (D, 3)."""
    blocks = [directions[start : start + BLOCK] for start in range(0, len(directions), BLOCK)]
    return np.unique(np.concatenate([np.argmax(cloud @ block.T, axis=0) for block in blocks]))


def _directions(count: int) -> Floats:
    """Spread unit vectors (count + 6, 3) over the sphere: a Fibonacci lattice, and the six along the axes."""
    i = np.arange(count) + 0.5
    z = 1 - 2 * i / count
    angle = np.pi * (1 + np.sqrt(5)) * i
    radius = np.sqrt(1 - z * z)
    lattice = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    return np.concatenate([lattice, np.eye(3), -np.eye(3)])
