"""What range sensors see of given scenery."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion import poses
from bodymotion.arrays import Floats
from bodymotion.body import Body
from bodymotion.devices import RangeSensor
from bodymotion.shapes import Lines, Mesh, Points, Shape

__all__ = ["Scenery", "Thing", "ray_directions", "scan_times"]

Thing: TypeAlias = Mesh | Shape | Body
MOST_SCANS = 10_000_000


class Scenery:
    """Triangles in the world that rays meet.

    `things`: meshes and shapes, in the world's frame as they are; bodies, which stand at their `root_pose` with all joints at 0, as they
    look (visuals). Lines and points are not met.
    """

    def __init__(self, things: Iterable[Thing] = ()) -> None:
        from bodymotion.kernels.rays import boxes

        found = [corners for thing in things for corners in _triangles(thing)]
        triangles = np.concatenate(found) if found else np.zeros((0, 3, 3))
        self._tree = boxes(np.ascontiguousarray(triangles[np.isfinite(triangles).all(axis=(1, 2))]))

    @property
    def num_triangles(self) -> int:
        """How many triangles there are."""
        return len(self._tree[0])

    def distances(self, origins: npt.ArrayLike, directions: npt.ArrayLike, longest: float = np.inf) -> Floats:
        """Give how far (...) [m] rays from `origins` (..., 3) go along `directions` (..., 3), of any length but 0, to the nearest triangle.

        It counts from either side; inf where there is none up to `longest`. Batch axes broadcast.
        """
        from bodymotion.kernels.rays import distances

        starts, ways = np.broadcast_arrays(
            np.asarray(origins, dtype=np.float64), np.asarray(directions, dtype=np.float64)
        )
        with np.errstate(invalid="ignore"):
            ways = ways / np.linalg.norm(ways, axis=-1, keepdims=True)
        return distances(self._tree, starts.reshape(-1, 3), ways.reshape(-1, 3), float(longest)).reshape(
            starts.shape[:-1]
        )


def ray_directions(device: RangeSensor) -> Floats:
    """Give the unit directions (N, 3) of a range sensor's rays in its own frame, in order of `ray_angles`.

    They lie in the XZ plane: angle 0 is along −z, the others are turned about +y (to the left, towards −x, where the angle is positive).
    """
    angles = device.ray_angles
    return np.stack([-np.sin(angles), np.zeros_like(angles), -np.cos(angles)], axis=-1)


def scan_times(device: RangeSensor, times: Floats) -> Floats:
    """Give when (S,) [s] a sensor scans: `scan_rate` times a second from the first frame on, up to the last; at every frame without a rate.

    Raises
    ------
    ValueError
        When there would be more than ten million scans.
    """
    if not len(times) or not 0 < device.scan_rate < np.inf:
        return times
    count = float(np.floor((times[-1] - times[0]) * device.scan_rate + 1e-6)) + 1
    if count > MOST_SCANS:
        raise ValueError(
            f"{device.name or 'a range sensor'} would scan {count:.0f} times: is its scanRate of {device.scan_rate:g} Hz meant?"
        )
    return np.asarray(np.minimum(times[0] + np.arange(int(count)) / device.scan_rate, times[-1]))


def _triangles(thing: Thing) -> list[Floats]:
    if isinstance(thing, Body):
        placed = poses.to_matrix(thing.forward_kinematics(np.zeros(thing.num_joints)))
        shapes = [shape.moved(placed[link.index]) for link in thing.links for shape in link.visuals]
        return [corners for shape in shapes for corners in _triangles(shape)]
    if isinstance(thing, Shape) and isinstance(thing.geometry, (Lines, Points)):
        return []
    mesh = thing.to_mesh() if isinstance(thing, Shape) else thing
    return [np.asarray(mesh.vertices[mesh.faces])]
