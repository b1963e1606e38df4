"""How high a body stands: the lowest point of its shapes, for any pose and without going through all vertices each time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import outermost_points
from bodymotion.model.body import Body

__all__ = ["Footprint"]


class Footprint:
    """The outermost points of a body's links: `points` (N, 3) in the frames of the links `links` (N,)."""

    def __init__(self, body: Body) -> None:
        found: list[Floats] = []
        owners: list[npt.NDArray[np.intp]] = []
        for link in body.links:
            outermost = outermost_points(link.visuals)
            found.append(outermost)
            owners.append(np.full(len(outermost), link.index))
        self.points: Floats = np.concatenate(found) if found else np.zeros((0, 3))
        self.links: npt.NDArray[np.intp] = np.concatenate(owners) if owners else np.zeros(0, dtype=np.intp)

    def placed(self, link_poses: npt.ArrayLike) -> Floats:
        """Return the points (N, 3) in the world for link poses (L, 7)."""
        poses = np.asarray(link_poses, dtype=np.float64)[self.links]
        return np.asarray(poses[:, :3] + rotations.rotate(rotations.normalized(poses[:, 3:]), self.points))

    def lowest(self, link_poses: npt.ArrayLike) -> Floats:
        """Return the height (...) [m] of the lowest point for link poses (..., L, 7); 0 for a body without shapes."""
        poses = np.asarray(link_poses, dtype=np.float64)
        if not len(self.points):
            return np.zeros(poses.shape[:-2])
        w, x, y, z = np.moveaxis(rotations.normalized(poses[..., 3:]), -1, 0)
        down = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)
        heights = poses[..., self.links, 2] + np.einsum("...nk,nk->...n", down[..., self.links, :], self.points)
        return np.asarray(heights.min(axis=-1))

    def bounds(self, link_poses: npt.ArrayLike) -> Floats | None:
        """Return the lowest and highest corner (2, 3) of the box around the body for link poses (L, 7); None without shapes."""
        placed = self.placed(link_poses)
        return np.stack([placed.min(axis=0), placed.max(axis=0)]) if len(placed) else None
