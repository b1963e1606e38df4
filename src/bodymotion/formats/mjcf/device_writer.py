"""Devices as sites, sensors and cameras."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.mjcf.devices import LIMITS, SENSORS, TURNED
from bodymotion.formats.mjcf.geom_writer import pose_attributes
from bodymotion.formats.only_mjcf import of_mjcf, texts
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, same
from bodymotion.model.devices import (
    AccelerationSensor,
    Device,
    ForceSensor,
    Gyro,
    OtherDevice,
    RangeSensor,
    VisionSensor,
    angle_over,
)

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.mjcf.writer import Names

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
    sites: dict[str, tuple[int, Floats]] = field(default_factory=dict)
    """Where (link, pose) the sites are that stand for devices."""
    order: dict[int, int] = field(default_factory=dict)
    """The place that a sensor had among all of its file, by the id of its element."""

    def write(self, body: Element, device: Device, order: int | None) -> None:
        """Put a device into the body of its link; `order` is its place among all devices, where the tree tells another one."""
        wanted = device.name or f"{device.kind}_{max(device.id, 0)}"
        if isinstance(device, VisionSensor):
            name = self.names.free("camera", wanted)
            alone = texts(of_mjcf(device.extra).get("camera"))
            image = _image(device)
            if (device.width, device.height) != (VisionSensor.width, VisionSensor.height):
                alone.pop("resolution", None)
            if "sensorsize" in alone or "focal" in alone or "focalpixel" in alone:
                image.pop("fovy", None)
            body.add("camera", {"name": name, **pose_attributes(device.pose), **image, **alone})
        elif self._as_told(body, device, order):
            return
        else:
            name = self.names.free("site", wanted)
            alone = {k: v for k, v in texts(of_mjcf(device.extra).get("site")).items() if k != "name"}
            body.add("site", {"name": name, **pose_attributes(device.pose), **alone})
            self.sites[name] = device.link, device.pose
            self._sense(body, device, name)
        said: dict[str, object] = {"kind": device.kind, "id": device.id}
        if device.name != name:
            said["name"] = device.name
        default = type(device)()
        for each in fields(device):
            value = getattr(device, each.name)
            if each.name not in _COMMON and not same(value, getattr(default, each.name)):
                said[each.name] = value
        extra = {key: value for key, value in device.extra.items() if key != "mjcf"}
        if extra:
            said["extra"] = extra
        if order is not None:
            said["order"] = order
        self.kept.add("device", name, said)

    def _as_told(self, body: Element, device: Device, order: int | None) -> bool:
        """Write a device as the site and the sensors of MJCF that it was made of; False where it is of none, or another one by now."""
        alone = of_mjcf(device.extra)
        site, sensors = texts(alone.get("site")), alone.get("sensors")
        kind = None if isinstance(device, OtherDevice) else device.kind
        name = site.get("name", "")
        told = [one for one in sensors if isinstance(one, Mapping)] if isinstance(sensors, (list, tuple)) else []
        if not name or bool(told) != bool(kind) or any(SENSORS.get(str(one.get("element"))) != kind for one in told):
            return False
        place = device.pose
        if kind == "RangeSensor":
            turn = rotations.multiply(rotations.normalized(place[3:]), rotations.conjugate(TURNED))
            place = poses.from_parts(place[:3], turn)
        there = self.sites.get(name)
        if there is None:
            if self.names.free("site", name) != name:
                self.names.give_back("site", name)
                return False
            self.sites[name] = device.link, place
            body.add("site", {**site, **pose_attributes(place)})
        elif there[0] != device.link or not np.allclose(there[1], place, rtol=0, atol=1e-9):
            return False
        again: Device = type(device)()
        for one in told:
            attributes = {key: value for key, value in texts(one).items() if key != "element"}
            limit = _limit_of(device, str(one["element"]))
            if limit != _limit_said(attributes.get("cutoff"), again, str(one["element"])):
                attributes["cutoff"] = number_text(limit)
            if "name" in attributes:
                attributes["name"] = self.names.free("sensor", attributes["name"])
            element = self.sensors.add(str(one["element"]), {**attributes, "site": name})
            place_in_file = one.get("order")
            if isinstance(place_in_file, int):
                self.order[id(element)] = place_in_file
        named = next((str(one.get("name")) for one in told[:1] if one.get("name")), name)
        said: dict[str, object] = {"id": device.id}
        if device.name != named:
            said["name"] = device.name
        for each in fields(device):
            value = getattr(device, each.name)
            if each.name not in _COMMON and not same(value, getattr(again, each.name)):
                said[each.name] = value
        extra = {key: value for key, value in device.extra.items() if key != "mjcf"}
        if extra:
            said["extra"] = extra
        if order is not None:
            said["order"] = order
        if said != {"id": -1}:
            self.kept.add("sensing", f"{name} {kind}" if kind else name, said)
        return True

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
    """Return the pose of a ray's site, which looks along its z, for a sensor that looks along its −z and scans about its y."""
    turn = rotations.multiply(rotations.from_axis_angle([0.0, 1.0, 0.0], angle), [0.0, 1.0, 0.0, 0.0])
    return poses.from_parts(pose[:3], rotations.multiply(rotations.normalized(pose[3:]), turn))


def _cutoff(limit: Floats) -> float:
    """Return the limit of a sensor where it is one number for all directions, as MuJoCo has it; else 0, none."""
    first = float(limit[0])
    return first if np.isfinite(first) and first > 0 and (limit == first).all() else 0.0


def _limit_of(device: Device, sensor: str) -> float:
    """Return the limit of one of a device's sensors, 0 where there is none."""
    if isinstance(device, RangeSensor):
        return device.max_distance if np.isfinite(device.max_distance) and device.max_distance > 0 else 0.0
    return _cutoff(getattr(device, LIMITS[sensor]))


def _limit_said(cutoff: str | None, default: Device, sensor: str) -> float:
    """Return the limit that our reader makes of a cutoff; that of a new device where there is none."""
    try:
        limit = float(cutoff or "0")
    except ValueError:
        limit = 0.0
    return limit if 0 < limit < np.inf else _limit_of(default, sensor)


def _image(device: VisionSensor) -> dict[str, str]:
    width, height = int(device.width), int(device.height)
    # MuJoCo's field of view is that of the height, ours, as Choreonoid has it, that of the shorter side.
    angle = angle_over(device.field_of_view, min(width, height), height)
    given = {"fovy": number_text(np.degrees(angle))} if 0 < angle < np.pi else {}
    if width > 0 and height > 0:
        given["resolution"] = f"{width} {height}"
    return given
