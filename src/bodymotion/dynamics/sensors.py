"""What the sensors of a body read along a motion, as defined by the OpenHRP document, and the environment that they measure.

==================== ================================================================================================== ==============
AccelerationSensor   proper acceleration: that of the sensor's origin less gravity, so at rest it reads 1 g upwards      m/s²
Gyro                 the angular velocity of the link                                                                   rad/s
ForceSensor          force and moment about the sensor's origin that the sensor's link, and all links from there on,     N, Nm
                     exert on the link before it: at an ankle, those of the ground, less the foot's weight and inertia
RangeSensor          distance to the environment along each ray, `scan_rate` times a second; inf beyond `max_distance`   m
==================== ================================================================================================== ==============

All are along the sensor's own axes. Readings are limited to the sensor's max… values, axis by axis; a negative one is no limit. The
frames of a VisionSensor are in `cameras.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.trees import point_velocities
from bodymotion.dynamics.visible_shapes import VisibleShapes
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import ContentEquality, Floats, check_memory
from bodymotion.geometry.shapes import Box, Lines, Mesh, Points, Shape
from bodymotion.model.body import Body
from bodymotion.model.links import (
    SENSOR_LIMITS,
    AccelerationSensor,
    Device,
    ForceSensor,
    Gyro,
    RangeSensor,
    VisionSensor,
)
from bodymotion.motion.interpolation import sampled

if TYPE_CHECKING:
    from bodymotion.dynamics.measures import Measures
    from bodymotion.kernels.rays import Boxes

READABLE = (AccelerationSensor, Gyro, ForceSensor, RangeSensor)
AXES = ("x", "y", "z")
UNITS = {AccelerationSensor: ("m/s²",) * 3, Gyro: ("rad/s",) * 3, ForceSensor: ("N",) * 3 + ("Nm",) * 3}


@dataclass(frozen=True, eq=False)
class Reading(ContentEquality):
    """The readings of one sensor.

    Attributes
    ----------
    times:
        (N,) [s] of each row: the frames of the motion, or the scans of a range sensor.
    values:
        (N, C) along the sensor's own axes.
    saturated:
        (N, C) whether a value is at the sensor's limit, or beyond the range of a range sensor.
    columns:
        C names: x y z; fx fy fz tx ty tz; of a range sensor the angles in radians.
    units:
        One for each column.
    """

    device: Device
    times: Floats
    values: Floats
    saturated: npt.NDArray[np.bool_]
    columns: tuple[str, ...]
    units: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Reading({self.device.name!r}: {len(self.times)} rows of {len(self.columns)} columns)"


def read_sensor(measures: Measures, device: Device, scenery: Scenery | Iterable[Thing] = ()) -> Reading:
    """Return the readings of an AccelerationSensor, Gyro, ForceSensor or RangeSensor of the body along the motion.

    `scenery` is what range sensors measure: meshes, shapes and bodies in the world, without the body itself.

    Raises
    ------
    ValueError
        For any other device, or one on a link that does not exist.
    """
    if not 0 <= device.link < len(measures.body.links):
        raise ValueError(
            f"{device.kind} {device.name!r} is on link {device.link}; the body has {len(measures.body.links)} links"
        )
    if isinstance(device, RangeSensor):
        return _ranges(measures, device, scenery if isinstance(scenery, Scenery) else Scenery(scenery))
    placed = poses.compose(measures.link_poses[:, device.link], device.pose)
    into = rotations.conjugate(rotations.normalized(placed[:, 3:]))
    if isinstance(device, Gyro):
        values = rotations.rotate(into, measures.link_velocities[:, device.link, 3:])
        return limited_reading(device, measures.times, values)
    arm = placed[:, :3] - measures.link_poses[:, device.link, :3]
    if isinstance(device, AccelerationSensor):
        moving, gaining = measures.link_velocities[:, device.link], measures.link_accelerations[:, device.link]
        centripetal = np.cross(moving[:, 3:], np.cross(moving[:, 3:], arm))
        proper = point_velocities(gaining, arm) + centripetal - measures.gravity
        return limited_reading(device, measures.times, rotations.rotate(into, proper))
    if isinstance(device, ForceSensor):
        wrench = -measures.transmitted_wrench(device.link)
        force, moment = wrench[:, :3], wrench[:, 3:] - np.cross(arm, wrench[:, :3])
        values = np.concatenate([rotations.rotate(into, force), rotations.rotate(into, moment)], axis=1)
        return limited_reading(device, measures.times, values)
    raise ValueError(f"a {device.kind} cannot be read; accelerometers, gyros, force and range sensors can")


def limited_reading(device: Device, times: Floats, values: Floats) -> Reading:
    """Return the reading of an accelerometer, gyro or force sensor of values (N, 3 or 6), limited to its max… values."""
    limit = reading_limits(device)
    names = AXES if len(limit) == 3 else tuple(kind + axis for kind in "ft" for axis in AXES)
    return Reading(device, times, np.clip(values, -limit, limit), np.abs(values) >= limit, names, UNITS[type(device)])


def reading_limits(device: Device) -> Floats:
    """Return the limits (3,) or (6,) of an accelerometer, gyro or force sensor, inf where there is none."""
    most = np.concatenate([np.broadcast_to(getattr(device, name), 3) for name in SENSOR_LIMITS[type(device)]])
    return np.where(most < 0, np.inf, most)


def _ranges(measures: Measures, device: RangeSensor, scenery: Scenery) -> Reading:
    times = scan_times(device, measures.times)
    link = measures.link_poses[:, device.link : device.link + 1]
    placed = (
        poses.compose(sampled(link, measures.times, times, "cubic")[:, 0], device.pose) if len(times) else link[:, 0]
    )
    rays = ray_directions(device)
    check_memory(10 * 8 * len(times) * len(rays), f"{len(times)} scans of {device.name!r} with {len(rays)} rays")
    ways = rotations.rotate(rotations.normalized(placed[:, None, 3:]), rays)
    longest = device.max_distance if device.max_distance > 0 else np.inf
    values = scenery.distances(placed[:, None, :3], ways, longest)
    columns = tuple(f"{angle:.6g}" for angle in device.ray_angles)
    return Reading(device, times, values, np.isinf(values), columns, ("m",) * len(columns))


Thing: TypeAlias = Mesh | Shape | Body
MAX_SCANS = 10_000_000


GROUND_SIZE = 1000.0
"""[m] Side length of the ground that sensors see."""


def level_ground(point: npt.ArrayLike) -> Shape:
    """Return level ground around and at the height of a point (3,) [m], for cameras and range sensors."""
    under = np.eye(4)
    under[:3, 3] = np.asarray(point) - (0.0, 0.0, 0.5)
    return Shape(Box((GROUND_SIZE, GROUND_SIZE, 1.0)), under)


class Scenery:
    """The environment of range sensors and cameras.

    `things`: meshes and shapes in the world's frame; bodies, at their `root_pose` with all joints at 0, with their visuals. Lines
    and points are ignored.
    """

    def __init__(self, things: Iterable[Thing] = ()) -> None:
        self.shapes: tuple[Shape, ...] = tuple(shape for thing in things for shape in _shapes(thing))

    @cached_property
    def _triangles(self) -> Floats:
        meshes = [shape.to_mesh() for shape in self.shapes if not isinstance(shape.geometry, (Lines, Points))]
        triangles = np.concatenate([np.zeros((0, 3, 3)), *(mesh.vertices[mesh.faces] for mesh in meshes)])
        return np.asarray(triangles[np.isfinite(triangles).all(axis=(1, 2))])

    @cached_property
    def _tree(self) -> Boxes:
        from bodymotion.kernels.rays import boxes

        return boxes(self._triangles)

    @cached_property
    def visible_shapes(self) -> VisibleShapes:
        """The shapes as cameras see them."""
        return VisibleShapes((shape, 0) for shape in self.shapes)

    @property
    def num_triangles(self) -> int:
        """The number of triangles."""
        return len(self._triangles)

    def distances(self, origins: npt.ArrayLike, directions: npt.ArrayLike, longest: float = np.inf) -> Floats:
        """Return the distances (...) [m] along rays from `origins` (..., 3) in `directions` (..., 3) to the nearest triangle.

        Directions have any length but 0. Triangles have two sides; inf where there is none up to `longest`. Batch axes broadcast.
        """
        from bodymotion.kernels.rays import cast

        starts, ways = np.asarray(origins, dtype=np.float64), np.asarray(directions, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            ways = ways / np.linalg.norm(ways, axis=-1, keepdims=True)
        starts, ways = (np.broadcast_to(one, np.broadcast_shapes(starts.shape, ways.shape)) for one in (starts, ways))
        depths = np.full((ways.size // 3, 1), np.nextafter(longest, np.inf))
        numbers = np.full(depths.shape, -1, dtype=np.intp)
        cast(self._tree, np.eye(3, 4), starts.reshape(-1, 1, 3), ways.reshape(-1, 1, 3), 0.0, depths, numbers)
        return np.where(numbers < 0, np.inf, depths).reshape(ways.shape[:-1])


def ray_directions(device: RangeSensor) -> Floats:
    """Return the unit directions (N, 3) of a range sensor's rays in its own frame, in order of `ray_angles`.

    They lie in the XZ plane: angle 0 is along −z, the others are rotated about +y (to the left, towards −x, for positive angles).
    """
    angles = device.ray_angles
    return np.stack([-np.sin(angles), np.zeros_like(angles), -np.cos(angles)], axis=-1)


def scan_times(device: RangeSensor | VisionSensor, times: Floats) -> Floats:
    """Return the times (S,) [s] of scans: `scan_rate` or `frame_rate` times a second from the first frame to the last one.

    Without a rate there is one for every frame.

    Raises
    ------
    ValueError
        When there would be more than ten million.
    """
    rate, field = (
        (device.scan_rate, "scanRate") if isinstance(device, RangeSensor) else (device.frame_rate, "frameRate")
    )
    if not len(times) or not 0 < rate < np.inf:
        return times
    count = float(np.floor((times[-1] - times[0]) * rate + 1e-6)) + 1
    if count > MAX_SCANS:
        raise ValueError(
            f"{device.name or 'a sensor'} would scan {count:.0f} times, more than {MAX_SCANS}; check its {field} of {rate:g} Hz"
        )
    return np.asarray(np.minimum(times[0] + np.arange(int(count)) / rate, times[-1]))


def _shapes(thing: Thing) -> list[Shape]:
    if isinstance(thing, Body):
        placed = poses.to_matrix(thing.forward_kinematics(np.zeros(thing.num_joints)))
        return [shape.moved(placed[link.index]) for link in thing.links for shape in link.visuals]
    return [thing if isinstance(thing, Shape) else Shape(thing)]
