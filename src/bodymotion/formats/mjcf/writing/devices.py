"""Devices as sites, sensors and cameras."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from bodymotion import losses, poses, rotations
from bodymotion.arrays import Floats, same
from bodymotion.devices import AccelerationSensor, Device, ForceSensor, Gyro, OtherDevice, RangeSensor, VisionSensor
from bodymotion.diagnostics import Location
from bodymotion.formats.mjcf.cameras import vertical_field_of_view
from bodymotion.formats.mjcf.writing.geoms import pose_attributes
from bodymotion.formats.xml_tree import Element, number_text

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.mjcf.writing.names import Names

__all__ = ["MOST_RAYS", "DeviceWriter"]

MOST_RAYS = 2000
"""A range sensor with more rays than this gets none."""
_COMMON = {field.name for field in fields(Device)}


@dataclass
class DeviceWriter:
    """Writes the devices of a body; sensors come into `sensors` in the order of the body's devices."""

    sensors: Element
    names: Names
    kept: Kept
    problems: list[Problem]

    def write(self, body: Element, device: Device, order: int | None) -> None:
        """Put a device into the body of its link; `order` is its place among all devices, where the tree tells another one."""
        wanted = device.name or f"{device.kind}_{max(device.id, 0)}"
        if isinstance(device, VisionSensor):
            name = self.names.free("camera", wanted)
            body.add("camera", {"name": name, **pose_attributes(device.pose), **_image(device)})
        else:
            name = self.names.free("site", wanted)
            body.add("site", {"name": name, **pose_attributes(device.pose)})
            self._sense(body, device, name)
        said: dict[str, object] = {"kind": device.kind, "id": device.id}
        if device.name != name:
            said["name"] = device.name
        default = type(device)()
        for field in fields(device):
            value = getattr(device, field.name)
            if field.name not in _COMMON and not same(value, getattr(default, field.name)):
                said[field.name] = value
        if device.extra:
            said["extra"] = device.extra
        if order is not None:
            said["order"] = order
        self.kept.add("device", name, said)

    def _sense(self, body: Element, device: Device, site: str) -> None:
        match device:
            case AccelerationSensor():
                self._sensor("accelerometer", site, site, _cutoff(device.max_acceleration))
            case Gyro():
                self._sensor("gyro", site, site, _cutoff(device.max_angular_velocity))
            case ForceSensor():
                self._sensor("force", f"{site}_force", site, _cutoff(device.max_force))
                self._sensor("torque", f"{site}_torque", site, _cutoff(device.max_torque))
            case RangeSensor():
                self._rays(body, device, site)
            case OtherDevice(type="site"):
                pass
            case _:
                self._less(device, f"MuJoCo has no {device.kind}: only its place is there, as a site")

    def _rays(self, body: Element, device: RangeSensor, site: str) -> None:
        if device.num_rays > MOST_RAYS:
            self._less(device, f"it has {device.num_rays} rays, more than {MOST_RAYS}: none is written")
            return
        for number, angle in enumerate(device.ray_angles.tolist()):
            name = self.names.free("site", f"{site}_ray{number}")
            body.add("site", {"name": name, **pose_attributes(ray_pose(device.pose, angle))})
            reach = device.max_distance
            self._sensor("rangefinder", name, name, reach if np.isfinite(reach) and reach > 0 else 0.0)

    def _sensor(self, kind: str, name: str, site: str, cutoff: float) -> None:
        attributes = {"name": self.names.free("sensor", name), "site": site}
        if cutoff > 0:
            attributes["cutoff"] = number_text(cutoff)
        self.sensors.add(kind, attributes)

    def _less(self, device: Device, message: str) -> None:
        words = f"{device.kind} {device.name}: {message}"
        self.problems.append(losses.DEVICE.problem(words, Location(inside=f"link {device.link}")))


def ray_pose(pose: Floats, angle: float) -> Floats:
    """Give the pose of a ray's site, which looks along its z, for a sensor that looks along its −z and scans about its y."""
    turn = rotations.multiply(rotations.from_axis_angle([0.0, 1.0, 0.0], angle), [0.0, 1.0, 0.0, 0.0])
    return poses.from_parts(pose[:3], rotations.multiply(rotations.normalized(pose[3:]), turn))


def _cutoff(limit: Floats) -> float:
    """Give the limit of a sensor where it is one number for all directions, as MuJoCo has it; else 0, none."""
    first = float(limit[0])
    return first if np.isfinite(first) and first > 0 and (limit == first).all() else 0.0


def _image(device: VisionSensor) -> dict[str, str]:
    width, height = int(device.width), int(device.height)
    angle = vertical_field_of_view(device.field_of_view, width, height)
    given = {"fovy": number_text(np.degrees(angle))} if 0 < angle < np.pi else {}
    if width > 0 and height > 0:
        given["resolution"] = f"{width} {height}"
    return given
