"""The world around a body, how far its range sensors see in it, and when sensors that have a rate of their own look."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.seen import Seen
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Lines, Mesh, Points, Shape
from bodymotion.model.body import Body
from bodymotion.model.devices import RangeSensor, VisionSensor

if TYPE_CHECKING:
    from bodymotion.kernels.rays import Boxes

__all__ = ["Scenery", "Thing", "ray_directions", "scan_times"]

Thing: TypeAlias = Mesh | Shape | Body
MOST_SCANS = 10_000_000


class Scenery:
    """What stands in the world, for the rays of range sensors to meet and for cameras to see.

    `things`: meshes and shapes, in the world's frame as they are; bodies, which stand at their `root_pose` with all joints at 0, as they
    look (visuals). Lines and points are not met.
    """

    def __init__(self, things: Iterable[Thing] = ()) -> None:
        self.shapes: tuple[Shape, ...] = tuple(shape for thing in things for shape in _shapes(thing))

    @cached_property
    def _tree(self) -> Boxes:
        from bodymotion.kernels.rays import boxes

        meshes = [shape.to_mesh() for shape in self.shapes if not isinstance(shape.geometry, (Lines, Points))]
        triangles = np.concatenate([np.zeros((0, 3, 3)), *(mesh.vertices[mesh.faces] for mesh in meshes)])
        return boxes(np.ascontiguousarray(triangles[np.isfinite(triangles).all(axis=(1, 2))]))

    @cached_property
    def seen(self) -> Seen:
        """The shapes as cameras see them."""
        return Seen((shape, 0) for shape in self.shapes)

    @property
    def num_triangles(self) -> int:
        """How many triangles there are."""
        return len(self._tree[0])

    def distances(self, origins: npt.ArrayLike, directions: npt.ArrayLike, longest: float = np.inf) -> Floats:
        """Return how far (...) [m] rays from `origins` (..., 3) go along `directions` (..., 3), of any length but 0, to the nearest triangle.

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
    """Return the unit directions (N, 3) of a range sensor's rays in its own frame, in order of `ray_angles`.

    They lie in the XZ plane: angle 0 is along −z, the others are turned about +y (to the left, towards −x, where the angle is positive).
    """
    angles = device.ray_angles
    return np.stack([-np.sin(angles), np.zeros_like(angles), -np.cos(angles)], axis=-1)


def scan_times(device: RangeSensor | VisionSensor, times: Floats) -> Floats:
    """Return when (S,) [s] a sensor looks: `scan_rate` or `frame_rate` times a second from the first frame on, up to the last one.

    Without a rate it looks at every frame.

    Raises
    ------
    ValueError
        When that would be more than ten million times.
    """
    rate, field = (
        (device.scan_rate, "scanRate") if isinstance(device, RangeSensor) else (device.frame_rate, "frameRate")
    )
    if not len(times) or not 0 < rate < np.inf:
        return times
    count = float(np.floor((times[-1] - times[0]) * rate + 1e-6)) + 1
    if count > MOST_SCANS:
        raise ValueError(
            f"{device.name or 'a sensor'} would scan {count:.0f} times: is its {field} of {rate:g} Hz meant?"
        )
    return np.asarray(np.minimum(times[0] + np.arange(int(count)) / rate, times[-1]))


def _shapes(thing: Thing) -> list[Shape]:
    if isinstance(thing, Body):
        placed = poses.to_matrix(thing.forward_kinematics(np.zeros(thing.num_joints)))
        return [shape.moved(placed[link.index]) for link in thing.links for shape in link.visuals]
    return [thing if isinstance(thing, Shape) else Shape(thing)]
