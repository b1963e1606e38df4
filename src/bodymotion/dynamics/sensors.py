"""Compute what the sensors of a body read along a motion.

Sensors are those that the OpenHRP document defines; range sensors and cameras measure
an environment.

- AccelerationSensor [m/s²]: proper acceleration, that of the sensor's origin less
  gravity, so at rest it reads 1 g upwards.
- Gyro [rad/s]: the angular velocity of the link.
- ForceSensor [N, Nm]: force and moment about the sensor's origin that the sensor's
  link, and all links from there on, exert on the link before it. At an ankle they are
  those of the ground, less the foot's weight and inertia.
- RangeSensor [m]: distance to the environment along each ray, `scan_rate` times a
  second; inf beyond `max_distance`.

All are along the sensor's own axes. Readings are limited to the sensor's max… values,
axis by axis; a negative one is no limit.

A VisionSensor has frames (`camera_frames`). It looks along its −z axis with +y up. Its
field of view is the angle over the shorter side of the image. Row 0 is at the top,
column 0 on the left. A pixel shows what the ray through its centre hits first, of the
environment and of the body itself. Faces are visible from outside, two-sided ones from
both sides. Nothing is visible outside of the clip planes.

Depth is measured along the camera's axis, as in a depth buffer: a wall straight ahead
has the same depth everywhere. It is inf where nothing is visible.

Colours follow the lighting equation of VRML97 (ISO/IEC 14772-1, 4.14.4) with two
parallel white lights, one along the camera's axis (0.7) and one from straight above
(0.4), and ambient light (0.5). There are no shadows, and the background is black. What
is more than half transparent is invisible, all else is opaque.

The rays are those of range sensors (`bodymotion.kernels.rays`): depths agree with
geometry to 1e-9, those of VTK's z-buffer only to 1e-3, and no window and no extra is
needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import ShortRepr
from bodymotion.diagnostics.text import with_article
from bodymotion.dynamics.trees import point_velocities
from bodymotion.dynamics.visible_shapes import VisibleShapes
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import (
    Bools,
    ContentEquality,
    Floats,
    check_memory,
    frozen,
)
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
UNITS = {
    AccelerationSensor: ("m/s²",) * 3,
    Gyro: ("rad/s",) * 3,
    ForceSensor: ("N",) * 3 + ("Nm",) * 3,
}

MAX_SCANS = 10_000_000  # Of one range sensor.
GROUND_SIZE = 1000.0  # [m] Side length of the ground that sensors see.

# Frames of cameras.
Bytes = npt.NDArray[np.uint8]
# Memory of the frames that are drawn together.
BLOCK_BYTES = 64 * 2**20
BYTES_PER_PIXEL = 8 + 3
# Weights of red, green and blue in grey (ITU-R BT.601).
LUMA = np.array([0.299, 0.587, 0.114])


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
        (N, C) whether a value is at the sensor's limit, or beyond the range of a range
        sensor.
    columns:
        C names: x y z; fx fy fz tx ty tz; of a range sensor the angles in radians.
    units:
        One for each column.
    """

    device: Device
    times: Floats
    values: Floats
    saturated: Bools
    columns: tuple[str, ...]
    units: tuple[str, ...]


def read_sensor(
    measures: Measures, device: Device, scenery: Scenery | Iterable[Thing] = ()
) -> Reading:
    """Return the readings of a sensor of the body along the motion.

    The device is an AccelerationSensor, Gyro, ForceSensor or RangeSensor.

    `scenery` is what range sensors measure: meshes, shapes and bodies in the world,
    without the body itself.

    Raises
    ------
    ValueError
        For any other device, or one on a link that does not exist.
    """
    if not 0 <= device.link < len(measures.body.links):
        raise ValueError(
            f"{device.kind} {device.name!r} is on link {device.link}; the body has "
            f"{len(measures.body.links)} links"
        )
    if isinstance(device, RangeSensor):
        return _ranges(
            measures,
            device,
            scenery if isinstance(scenery, Scenery) else Scenery(scenery),
        )
    # Poses (T, 7) of the sensor in the world, and the rotations into its axes.
    placed = poses.compose(measures.link_poses[:, device.link], device.pose)
    into = rotations.conjugate(rotations.normalized(placed[:, 3:]))
    if isinstance(device, Gyro):
        values = rotations.rotate(into, measures.link_velocities[:, device.link, 3:])
        return limited_reading(device, measures.times, values)
    # From the link's origin to the sensor, along the world's axes.
    arm = placed[:, :3] - measures.link_poses[:, device.link, :3]
    if isinstance(device, AccelerationSensor):
        moving = measures.link_velocities[:, device.link]
        gaining = measures.link_accelerations[:, device.link]
        # ω × (ω × r): the sensor is not at the link's origin.
        centripetal = np.cross(moving[:, 3:], np.cross(moving[:, 3:], arm))
        # Proper acceleration: free fall reads 0, rest 1 g upwards.
        proper = point_velocities(gaining, arm) + centripetal - measures.gravity
        return limited_reading(device, measures.times, rotations.rotate(into, proper))
    if isinstance(device, ForceSensor):
        # What the link exerts on its parent is opposite to what the parent exerts.
        wrench = -measures.transmitted_wrench(device.link)
        force = wrench[:, :3]
        # From the moment about the link's origin to that about the sensor's.
        moment = wrench[:, 3:] - np.cross(arm, wrench[:, :3])
        values = np.concatenate(
            [rotations.rotate(into, force), rotations.rotate(into, moment)], axis=1
        )
        return limited_reading(device, measures.times, values)
    raise ValueError(
        f"{with_article(device.kind)} cannot be read; accelerometers, gyros, force "
        "and range sensors can"
    )


def limited_reading(device: Device, times: Floats, values: Floats) -> Reading:
    """Return the limited reading of an accelerometer, gyro or force sensor.

    Values (N, 3 or 6) are limited to its max… values.
    """
    limit = reading_limits(device)
    names: tuple[str, ...] = AXES
    if len(limit) == 6:  # forces, then torques
        names = tuple("f" + axis for axis in AXES) + tuple("t" + axis for axis in AXES)
    return Reading(
        device,
        times,
        np.clip(values, -limit, limit),
        np.abs(values) >= limit,
        names,
        UNITS[type(device)],
    )


def reading_limits(device: Device) -> Floats:
    """Return the limits (3,) or (6,) of a sensor's readings.

    Of an accelerometer, gyro or force sensor; inf where there is none.
    """
    most = np.concatenate(
        [
            np.broadcast_to(getattr(device, name), 3)
            for name in SENSOR_LIMITS[type(device)]
        ]
    )
    # A negative maximum is no limit.
    return np.where(most < 0, np.inf, most)


def _ranges(measures: Measures, device: RangeSensor, scenery: Scenery) -> Reading:
    """Return the readings of a range sensor, one row for each scan."""
    times = scan_times(device, measures.times)
    link = measures.link_poses[:, device.link : device.link + 1]
    # Scans are between the frames, at a rate of their own.
    if len(times):
        placed = poses.compose(
            sampled(link, measures.times, times, "cubic")[:, 0], device.pose
        )
    else:
        placed = link[:, 0]
    rays = ray_directions(device)
    # About ten numbers for each ray.
    check_memory(
        10 * 8 * len(times) * len(rays),
        f"{len(times)} scans of {device.name!r} with {len(rays)} rays",
    )
    ways = rotations.rotate(rotations.normalized(placed[:, None, 3:]), rays)
    # 0 or less: no largest distance.
    if device.max_distance > 0:
        longest = device.max_distance
    else:
        longest = np.inf
    values = scenery.distances(placed[:, None, :3], ways, longest)
    columns = tuple(f"{angle:.6g}" for angle in device.ray_angles)
    return Reading(
        device, times, values, np.isinf(values), columns, ("m",) * len(columns)
    )


Thing: TypeAlias = Mesh | Shape | Body


def level_ground(point: npt.ArrayLike) -> Shape:
    """Return level ground for cameras and range sensors.

    It is around and at the height of a point (3,) [m].
    """
    under = np.eye(4)
    # The box is 1 m thick; its upper face is at the point.
    under[:3, 3] = np.asarray(point) - (0.0, 0.0, 0.5)
    return Shape(Box((GROUND_SIZE, GROUND_SIZE, 1.0)), under)


class Scenery:
    """The environment of range sensors and cameras.

    `things`: meshes and shapes in the world's frame; bodies, at their `root_pose` with
    all joints at 0, with their visuals. Lines
    and points are ignored.
    """

    def __init__(self, things: Iterable[Thing] = ()) -> None:
        self.shapes: tuple[Shape, ...] = tuple(
            chain.from_iterable(map(_shapes, things))
        )

    @cached_property
    def _triangles(self) -> Floats:
        meshes = [
            shape.to_mesh()
            for shape in self.shapes
            if not isinstance(shape.geometry, (Lines, Points))
        ]
        triangles = np.concatenate(
            [np.zeros((0, 3, 3)), *(mesh.vertices[mesh.faces] for mesh in meshes)]
        )
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

    def distances(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, longest: float = np.inf
    ) -> Floats:
        """Return the distances (...) [m] along rays to the nearest triangle.

        Rays go from `origins` (..., 3) in `directions` (..., 3).

        Directions have any length but 0. Triangles have two sides; inf where there is
        none up to `longest`. Batch axes broadcast.
        """
        from bodymotion.kernels.rays import cast

        starts = np.asarray(origins, dtype=np.float64)
        ways = np.asarray(directions, dtype=np.float64)
        # Depths count in lengths of the direction, so it has unit length.
        with np.errstate(invalid="ignore"):
            ways = ways / np.linalg.norm(ways, axis=-1, keepdims=True)
        starts, ways = (
            np.broadcast_to(one, np.broadcast_shapes(starts.shape, ways.shape))
            for one in (starts, ways)
        )
        # The kernel finds what is nearer than this: a wall at `longest` exactly counts.
        depths = np.full((ways.size // 3, 1), np.nextafter(longest, np.inf))
        numbers = np.full(depths.shape, -1, dtype=np.intp)
        cast(
            self._tree,
            np.eye(3, 4),
            starts.reshape(-1, 1, 3),
            ways.reshape(-1, 1, 3),
            0.0,
            depths,
            numbers,
        )
        return np.where(numbers < 0, np.inf, depths).reshape(ways.shape[:-1])


def ray_directions(device: RangeSensor) -> Floats:
    """Return the unit directions (N, 3) of a range sensor's rays.

    In its own frame, in order of `ray_angles`.

    They lie in the XZ plane: angle 0 is along −z, the others are rotated about +y (to
    the left, towards −x, for positive angles).
    """
    angles = device.ray_angles
    return np.stack([-np.sin(angles), np.zeros_like(angles), -np.cos(angles)], axis=-1)


def scan_times(device: RangeSensor | VisionSensor, times: Floats) -> Floats:
    """Return the times (S,) [s] of scans.

    `scan_rate` or `frame_rate` times a second from the first frame to the last one.

    Without a rate there is one for every frame.

    Raises
    ------
    ValueError
        When there would be more than ten million.
    """
    if isinstance(device, RangeSensor):
        field = "scanRate"
    else:
        field = "frameRate"
    if isinstance(device, RangeSensor):
        rate = device.scan_rate
    else:
        rate = device.frame_rate
    if not len(times) or not 0 < rate < np.inf:
        return times
    # The margin keeps a scan at the last frame, whose time may be rounded.
    count = float(np.floor((times[-1] - times[0]) * rate + 1e-6)) + 1
    if count > MAX_SCANS:
        raise ValueError(
            f"{device.name or 'a sensor'} would scan {count:.0f} times, more than "
            f"{MAX_SCANS}; check its {field} of {rate:g} Hz"
        )
    return np.asarray(np.minimum(times[0] + np.arange(int(count)) / rate, times[-1]))


def _shapes(thing: Thing) -> list[Shape]:
    if isinstance(thing, Body):
        # Bodies of the environment stand with all joints at 0.
        placed = poses.to_matrix(thing.forward_kinematics(np.zeros(thing.num_joints)))
        shapes: list[Shape] = []
        for link in thing.links:
            shapes += [shape.moved(placed[link.index]) for shape in link.visuals]
        return shapes
    return [thing if isinstance(thing, Shape) else Shape(thing)]


@dataclass(frozen=True, eq=False)
class CameraFrame(ShortRepr):
    """One frame at `time` [s].

    `color` (H, W, 3) in 0…255 and `depth` (H, W) [m], each None where the sensor does
    not have it.
    """

    time: float
    color: Bytes | None
    depth: Floats | None


@dataclass(frozen=True, eq=False, kw_only=True)
class CameraFrames(ShortRepr):
    """The frames of one camera, drawn when they are read.

    `for frame in frames`, `frames[3]`, `frames[10:20].depth`.

    Attributes
    ----------
    device:
        The camera.
    times:
        (N,) [s] of the frames: `frame_rate` times a second from the first frame of the
        motion on.
    """

    device: VisionSensor
    times: Floats
    measures: Measures = field(repr=False)
    scenery: Scenery = field(repr=False)

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, chosen: int) -> CameraFrame: ...
    @overload
    def __getitem__(self, chosen: slice) -> CameraFrames: ...
    def __getitem__(self, chosen: int | slice) -> CameraFrame | CameraFrames:
        """Return one frame, or those of a slice, which are not drawn yet."""
        if isinstance(chosen, slice):
            return self.at(self.times[chosen])
        index = range(len(self))[chosen]
        return next(iter(self.at(self.times[index : index + 1])))

    def __iter__(self) -> Iterator[CameraFrame]:
        """Draw the frames, some megabytes at a time."""
        # As many frames at once as need `BLOCK_BYTES`.
        many = max(
            1, BLOCK_BYTES // (BYTES_PER_PIXEL * self.device.width * self.device.height)
        )
        for start in range(0, len(self), many):
            some = slice(start, start + many)
            color, depth = self._drawn(self.times[some])
            for k, time in enumerate(self.times[some]):
                yield CameraFrame(
                    float(time),
                    None if color is None else color[k],
                    None if depth is None else depth[k],
                )

    def at(self, times: npt.ArrayLike) -> CameraFrames:
        """Return the frames at these times [s] of the motion.

        Before its start and after its end the camera rests.
        """
        return replace(
            self,
            times=frozen(
                np.atleast_1d(np.asarray(times, dtype=np.float64)), (None,), "times"
            ),
        )

    @property
    def has_color(self) -> bool:
        """Whether the sensor's type has colours; those of MONO are grey."""
        return "COLOR" in self.device.type or "MONO" in self.device.type

    @property
    def has_depth(self) -> bool:
        """Whether the sensor's type has depths; that of a POINT_CLOUD does."""
        return "DEPTH" in self.device.type or "POINT_CLOUD" in self.device.type

    @property
    def color(self) -> Bytes | None:
        """(N, H, W, 3) in 0…255 of all frames, None where the sensor has no colours.

        Raises
        ------
        MemoryError
            When they do not fit into memory; read a slice, or one after the other.
        """
        return self._all[0]

    @property
    def depth(self) -> Floats | None:
        """(N, H, W) [m] depths along the camera's axis.

        Inf where nothing is visible, None for a sensor without depths.

        Errors as `color`.
        """
        return self._all[1]

    @cached_property
    def _all(self) -> tuple[Bytes | None, Floats | None]:
        return self._drawn(self.times)

    def _drawn(self, times: Floats) -> tuple[Bytes | None, Floats | None]:
        """Return colours (N, H, W, 3) and depths (N, H, W) at times (N,) [s]."""
        device = self.device
        if not (self.has_color or self.has_depth):
            return None, None
        shape = (len(times), device.height, device.width)
        check_memory(
            BYTES_PER_PIXEL * int(np.prod(shape, dtype=np.int64)),
            f"{len(times)} frames of {device.name!r}",
        )
        depths = np.empty(shape)
        if self.has_color:
            colors = np.zeros((*shape, 3), dtype=np.uint8)
        else:
            colors = None
        right, up = device.half_size
        # Rays through the centres of pixels (H, W, 3), with −1 along z, so that a
        # length along a ray is a depth.
        rays = np.full((*shape[1:], 3), -1.0)
        rays[..., 0] = right * (
            (2.0 * np.arange(device.width) + 1.0) / device.width - 1.0
        )
        rays[..., 1] = up * (
            1.0 - (2.0 * np.arange(device.height)[:, None] + 1.0) / device.height
        )
        own = self.measures.visible_shapes
        for k, views in enumerate(self._views(times)):
            # The body and the environment are drawn into the same depths; faces of the
            # environment have the numbers after those of the body.
            layers = (
                (own, 0, views),
                (self.scenery.visible_shapes, own.num_faces, views[-1:]),
            )
            owners = np.full(shape[1:], -1, dtype=np.intp)
            # A face exactly at the back clip plane is visible.
            depths[k] = np.nextafter(device.back_clip_distance, np.inf)
            for shapes, first, placed in layers:
                shapes.draw(
                    first, placed, rays, device.front_clip_distance, depths[k], owners
                )
            depths[k][owners < 0] = np.inf
            # Shading comes last: only faces that are visible in the end are shaded.
            if colors is not None:
                for shapes, first, placed in layers:
                    shapes.shade(first, placed, rays, owners, colors[k])
        if colors is not None:
            if "MONO" in device.type:
                colors[...] = np.rint(colors @ LUMA)[..., None]
            colors.flags.writeable = False
        depths.flags.writeable = False
        return colors, depths if self.has_depth else None

    def _views(self, times: Floats) -> Floats:
        """Return matrices (N, L + 1, 3, 4) from the camera to other frames.

        They take points of the camera to the frames of the links and of the world (the
        last one).
        """
        links = self.measures.link_poses
        check_memory(
            2 * links[0].nbytes * len(times),
            f"the poses of {links.shape[1]} links in {len(times)} frames",
        )
        # A single frame cannot be interpolated: all times have its poses.
        if len(links) > 1:
            placed = sampled(links, self.measures.times, times, "cubic")
        else:
            placed = links[[0] * len(times)]
        camera = poses.compose(placed[:, self.device.link], self.device.pose)
        camera[:, 3:] = rotations.normalized(camera[:, 3:])
        world = np.broadcast_to(poses.IDENTITY, (len(times), 1, 7))
        together = np.concatenate([placed, world], axis=1)
        return np.asarray(
            # link⁻¹ · camera.
            poses.to_matrix(poses.compose(poses.inverse(together), camera[:, None]))[
                ..., :3, :
            ]
        )


def check_camera(device: VisionSensor) -> None:
    """Raise ValueError when a camera makes no image.

    It has no pixels, or an invalid field of view or clip distances.
    """
    # Reading it raises for images without pixels and invalid fields of view.
    device.half_size  # noqa: B018
    if not 0 < device.front_clip_distance < device.back_clip_distance:
        raise ValueError(
            f"{device.name or 'a camera'}: expected clip distances that are positive "
            "and increase, got "
            f"{device.front_clip_distance:g} and {device.back_clip_distance:g} m"
        )


def camera_frames(
    measures: Measures, device: VisionSensor, scenery: Scenery | Iterable[Thing] = ()
) -> CameraFrames:
    """Return the frames of a camera of the body along the motion.

    They are drawn when they are read.

    Parameters
    ----------
    scenery:
        Meshes, shapes and bodies in the world.

    Raises
    ------
    ValueError
        When the image has no pixels, the field of view is not between 0 and π, or the
        clip distances are not positive and increasing.
    """
    if not 0 <= device.link < len(measures.body.links):
        raise ValueError(
            f"camera {device.name!r} is on link {device.link}; the body has "
            f"{len(measures.body.links)} links"
        )
    check_camera(device)
    return CameraFrames(
        device=device,
        times=frozen(scan_times(device, measures.times)),
        measures=measures,
        scenery=scenery if isinstance(scenery, Scenery) else Scenery(scenery),
    )
