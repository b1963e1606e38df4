"""What the sensors of a body read along a motion, as the OpenHRP document has them.

==================== ================================================================================================== ==============
AccelerationSensor   what a mass in it feels: the acceleration of the sensor's origin less gravity, so at rest it shows   m/s²
                     1 g upwards
Gyro                 the angular velocity of the link                                                                   rad/s
ForceSensor          force and moment about the sensor's origin that the sensor's link, and what hangs on it, exerts on N, Nm
                     the link before it: at an ankle, what the ground gives, less the foot's own weight and inertia
RangeSensor          how far it is to the scenery along each ray, `scan_rate` times a second; inf beyond `max_distance`  m
==================== ================================================================================================== ==============

All are along the sensor's own axes. Beyond the sensor's max… values readings stay at them, axis by axis; a negative one is no limit. The
pictures of a VisionSensor are those of `pictures.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.kinematics import point_velocities
from bodymotion.dynamics.ranging import Scenery, Thing, ray_directions, scan_times
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import ContentEquality, Floats
from bodymotion.model.devices import AccelerationSensor, Device, ForceSensor, Gyro, RangeSensor
from bodymotion.motion.interpolation import sampled

if TYPE_CHECKING:
    from bodymotion.dynamics.measures import Measures

__all__ = ["READABLE", "Reading", "read_sensor"]

READABLE = (AccelerationSensor, Gyro, ForceSensor, RangeSensor)
AXES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Reading(ContentEquality):
    """What one sensor reads.

    Attributes
    ----------
    times:
        (N,) [s] of each row: the motion's frames; the scans of a range sensor.
    values:
        (N, C) along the sensor's own axes.
    saturated:
        (N, C) whether a value is at the sensor's limit, or beyond what a range sensor can see.
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


def read_sensor(measures: Measures, device: Device, scenery: Scenery | Iterable[Thing] = ()) -> Reading:
    """Return what an AccelerationSensor, Gyro, ForceSensor or RangeSensor of the body reads along the motion.

    `scenery` is what range sensors see: meshes, shapes and bodies in the world. They do not see the body itself.

    Raises
    ------
    ValueError
        For any other device, or one on a link that is not there.
    """
    if not 0 <= device.link < len(measures.body.links):
        raise ValueError(
            f"{device.kind} {device.name!r} is on link {device.link}, the body has {len(measures.body.links)}"
        )
    if isinstance(device, RangeSensor):
        return _ranges(measures, device, scenery if isinstance(scenery, Scenery) else Scenery(scenery))
    placed = poses.compose(measures.link_poses[:, device.link], device.pose)
    into = rotations.conjugate(rotations.normalized(placed[:, 3:]))
    if isinstance(device, Gyro):
        values = rotations.rotate(into, measures.link_velocities[:, device.link, 3:])
        return _limited(measures, device, values, device.max_angular_velocity, AXES, ("rad/s",) * 3)
    arm = placed[:, :3] - measures.link_poses[:, device.link, :3]
    if isinstance(device, AccelerationSensor):
        moving, gaining = measures.link_velocities[:, device.link], measures.link_accelerations[:, device.link]
        whirl = np.cross(moving[:, 3:], np.cross(moving[:, 3:], arm))
        felt = point_velocities(gaining, arm) + whirl - measures.gravity
        return _limited(measures, device, rotations.rotate(into, felt), device.max_acceleration, AXES, ("m/s²",) * 3)
    if isinstance(device, ForceSensor):
        wrench = -measures.transmitted_wrench(device.link)
        force, moment = wrench[:, :3], wrench[:, 3:] - np.cross(arm, wrench[:, :3])
        values = np.concatenate([rotations.rotate(into, force), rotations.rotate(into, moment)], axis=1)
        names = tuple(kind + axis for kind in "ft" for axis in AXES)
        most = np.concatenate([device.max_force, device.max_torque])
        return _limited(measures, device, values, most, names, ("N",) * 3 + ("Nm",) * 3)
    raise ValueError(f"a {device.kind} is not read; accelerations, angular velocities, forces and ranges are")


def _limited(
    measures: Measures, device: Device, values: Floats, most: Floats, columns: tuple[str, ...], units: tuple[str, ...]
) -> Reading:
    limit = np.where(np.asarray(most) < 0, np.inf, most)
    return Reading(device, measures.times, np.clip(values, -limit, limit), np.abs(values) >= limit, columns, units)


def _ranges(measures: Measures, device: RangeSensor, scenery: Scenery) -> Reading:
    times = scan_times(device, measures.times)
    link = measures.link_poses[:, device.link : device.link + 1]
    placed = (
        poses.compose(sampled(link, measures.times, times, "cubic")[:, 0], device.pose) if len(times) else link[:, 0]
    )
    rays = ray_directions(device)
    ways = rotations.rotate(rotations.normalized(placed[:, None, 3:]), rays)
    longest = device.max_distance if device.max_distance > 0 else np.inf
    values = scenery.distances(placed[:, None, :3], ways, longest)
    columns = tuple(f"{angle:.6g}" for angle in device.ray_angles)
    return Reading(device, times, values, np.isinf(values), columns, ("m",) * len(columns))
