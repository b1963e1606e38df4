"""Devices as sites, sensors and cameras."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, losses
from bodymotion.formats.kept_json import differences
from bodymotion.formats.mjcf.devices import LIMITS, RAY_ROTATION, SENSORS
from bodymotion.formats.mjcf.geom_writer import pose_attributes
from bodymotion.formats.mjcf_extra import attributes_of, mjcf_values
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.links import (
    EFFECTS,
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
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.mjcf.writer import Names

MAX_RAYS = 2000
"""A range sensor with more rays is written without them."""
_COMMON = tuple(field.name for field in fields(Device))


@dataclass
class DeviceWriter:
    """Writes the devices of a body; sensors are added to `sensors` in the order of the body's devices."""

    sensors: Element
    names: Names
    kept: Kept
    problems: Diagnostics
    sites: dict[str, tuple[int, Floats]] = field(default_factory=dict)
    """By name, link and pose of the sites of devices."""
    order: dict[int, int] = field(default_factory=dict)
    """By id of an element, the position of a sensor in the file that the body was read from."""

    def write(self, body: Element, device: Device, order: int | None) -> None:
        """Add a device to the body of its link; `order` is its number among all devices, where that of the tree differs."""
        wanted = device.name or f"{device.kind}_{max(device.id, 0)}"
        if isinstance(device, VisionSensor):
            name = self.names.free("camera", wanted)
            own = attributes_of(mjcf_values(device.extra).get("camera"))
            image = _image(device)
            if (device.width, device.height) != (VisionSensor.width, VisionSensor.height):
                own.pop("resolution", None)
            if "sensorsize" in own or "focal" in own or "focalpixel" in own:
                image.pop("fovy", None)
            body.add("camera", {"name": name, **pose_attributes(device.pose), **image, **own})
        elif self._as_read(body, device, order):
            return
        else:
            name = self.names.free("site", wanted)
            own = {k: v for k, v in attributes_of(mjcf_values(device.extra).get("site")).items() if k != "name"}
            body.add("site", {"name": name, **pose_attributes(device.pose), **own})
            self.sites[name] = device.link, device.pose
            self._sense(body, device, name)
        values = {"kind": device.kind, **_kept_values(device, name, type(device)(), order)}
        self.kept.add("device", name, values)

    def _as_read(self, body: Element, device: Device, order: int | None) -> bool:
        """Write a device as the site and sensors that it was read from; False where it was read from none, or has changed."""
        own = mjcf_values(device.extra)
        site, sensors = attributes_of(own.get("site")), own.get("sensors")
        kind = None if isinstance(device, OtherDevice) else device.kind
        name = site.get("name", "")
        sensor_entries = (
            [one for one in sensors if isinstance(one, Mapping)] if isinstance(sensors, (list, tuple)) else []
        )
        if (
            not name
            or bool(sensor_entries) != bool(kind)
            or any(SENSORS.get(str(one.get("element"))) != kind for one in sensor_entries)
        ):
            return False
        pose = device.pose
        if kind == "RangeSensor":
            rotation = rotations.multiply(rotations.normalized(pose[3:]), rotations.conjugate(RAY_ROTATION))
            pose = poses.from_parts(pose[:3], rotation)
        known_site = self.sites.get(name)
        if known_site is None:
            if self.names.free("site", name) != name:
                self.names.release("site", name)
                return False
            self.sites[name] = device.link, pose
            body.add("site", {**site, **pose_attributes(pose)})
        elif known_site[0] != device.link or not np.allclose(known_site[1], pose, rtol=0, atol=1e-9):
            return False
        read_back: Device = type(device)()
        for one in sensor_entries:
            attributes = {key: value for key, value in attributes_of(one).items() if key != "element"}
            limit = _limit_of(device, str(one["element"]))
            if limit != _limit_of_cutoff(attributes.get("cutoff"), read_back, str(one["element"])):
                attributes["cutoff"] = number_text(limit)
            if "name" in attributes:
                attributes["name"] = self.names.free("sensor", attributes["name"])
            element = self.sensors.add(str(one["element"]), {**attributes, "site": name})
            file_order = one.get("order")
            if isinstance(file_order, int):
                self.order[id(element)] = file_order
        named = next((str(one.get("name")) for one in sensor_entries[:1] if one.get("name")), name)
        values = _kept_values(device, named, read_back, order)
        if values != {"id": -1}:
            self.kept.add("sensing", f"{name} {kind}" if kind else name, values)
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
                self._report(device, f"MuJoCo has no {device.kind}: only its pose is written, as a site")

    def _rays(self, body: Element, device: RangeSensor, site: str) -> None:
        if device.num_rays > MAX_RAYS:
            self._report(device, f"it has {device.num_rays} rays, more than {MAX_RAYS}: they are not written")
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

    def _report(self, device: Device, message: str) -> None:
        message = f"{device.kind} {device.name}: {message}"
        rule = losses.DEVICE.as_note if device.kind in EFFECTS else losses.DEVICE
        self.problems.add(rule.problem(message, Location(inside=f"link {device.link}")))


def _kept_values(device: Device, name: str, base: Device, order: int | None) -> dict[str, object]:
    """Return what the elements called `name` do not hold of a device, which is read from them as `base`."""
    extra = {key: value for key, value in device.extra.items() if key != "mjcf"}
    return {
        "id": device.id,
        **({"name": device.name} if device.name != name else {}),
        **differences(device, base, skip=_COMMON),
        **({"extra": extra} if extra else {}),
        **({"order": order} if order is not None else {}),
    }


def ray_pose(pose: Floats, angle: float) -> Floats:
    """Return the pose of a ray's site, which measures along z, for a sensor that measures along −z and scans about y."""
    rotation = rotations.multiply(rotations.from_axis_angle([0.0, 1.0, 0.0], angle), [0.0, 1.0, 0.0, 0.0])
    return poses.from_parts(pose[:3], rotations.multiply(rotations.normalized(pose[3:]), rotation))


def _cutoff(limit: Floats) -> float:
    """Return the limit of a sensor where it is one number for all directions, as in MuJoCo; else 0, none."""
    first = float(limit[0])
    return first if np.isfinite(first) and first > 0 and (limit == first).all() else 0.0


def _limit_of(device: Device, sensor: str) -> float:
    """Return the limit of one of a device's sensors, 0 where there is none."""
    if isinstance(device, RangeSensor):
        return device.max_distance if np.isfinite(device.max_distance) and device.max_distance > 0 else 0.0
    return _cutoff(getattr(device, LIMITS[sensor]))


def _limit_of_cutoff(cutoff: str | None, default: Device, sensor: str) -> float:
    """Return the limit that our reader makes of a cutoff; without one, that of a new device."""
    try:
        limit = float(cutoff or "0")
    except ValueError:
        limit = 0.0
    return limit if 0 < limit < np.inf else _limit_of(default, sensor)


def _image(device: VisionSensor) -> dict[str, str]:
    width, height = int(device.width), int(device.height)
    # The field of view is that of the height in MuJoCo, that of the shorter side in a Body, as in Choreonoid.
    angle = angle_over(device.field_of_view, min(width, height), height)
    attributes = {"fovy": number_text(np.degrees(angle))} if 0 < angle < np.pi else {}
    if width > 0 and height > 0:
        attributes["resolution"] = f"{width} {height}"
    return attributes
