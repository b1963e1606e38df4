"""The devices of a body as <sensor> elements of Gazebo, in the words of SDFormat, and as entries of <bodymotion>."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import FormatError, losses
from bodymotion.formats.urdf.devices import (
    CAMERA,
    CAMERAS,
    DEVICE_TO_GAZEBO,
    FORCE_CONVENTION,
    KINDS,
    LIDARS,
    MAX_RAYS,
    read_sensor,
    rotation_pose,
    sensor_key,
    sensor_type,
    set_text,
)
from bodymotion.formats.urdf.elements import roll_pitch_yaw
from bodymotion.formats.urdf.extension_writer import quiet_differences, unique_names
from bodymotion.formats.xml.tree import Element, number_text, parse_xml, to_xml
from bodymotion.geometry import poses
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
    from bodymotion.formats.urdf.extension_writer import ExtensionWriter, LossReport
    from bodymotion.model.body import Body


def groups(devices: Sequence[Device]) -> list[list[int]]:
    """Return the indices of the devices of each sensor, in the order of the first ones.

    An accelerometer and a gyro with the same name, link and pose are one IMU.
    """
    found: list[list[int]] = []
    open_halves: dict[object, list[int]] = {}
    for number, device in enumerate(devices):
        if isinstance(device, (AccelerationSensor, Gyro)):
            other = Gyro if isinstance(device, AccelerationSensor) else AccelerationSensor
            index = (device.link, device.name, device.pose.tobytes(), str(device.extra.get("sdf")))
            half = open_halves.pop((other.__name__, *index), None)
            if half is not None:
                half.append(number)
                continue
            found.append([number])
            open_halves[(device.kind, *index)] = found[-1]
        else:
            found.append([number])
    return found


def sensor_element(device: Device, name: str) -> Element | None:
    """Return the <sensor> of a device, called `name`; None where Gazebo has none of its kind. An accelerometer or a gyro is an IMU."""
    kept = device.extra.get("sdf")
    base = _parsed(kept) if isinstance(kept, str) else None
    if isinstance(device, OtherDevice):
        if base is None or base.name != "sensor":
            return None
        base.attributes["name"] = name
        return base
    sensor = base if base is not None and base.name == "sensor" else Element("sensor")
    pose = device.pose
    if isinstance(device, VisionSensor):
        pose = poses.compose(pose, rotation_pose(DEVICE_TO_GAZEBO))
        _put_rate(sensor, device.frame_rate, VisionSensor.frame_rate)
        horizontal = angle_over(device.field_of_view, min(device.width, device.height), device.width)
        set_text(sensor, horizontal, "camera", "horizontal_fov")
        for name_of_field, (path, _) in CAMERA.items():
            set_text(sensor, getattr(device, name_of_field), *path)
    elif isinstance(device, RangeSensor):
        pose = poses.compose(pose, rotation_pose(DEVICE_TO_GAZEBO))
        scanner = "lidar" if sensor.first("lidar") else "ray"
        rays, side = _rays(device, sensor.first(scanner, "scan", "horizontal", "samples"))
        _put_rate(sensor, device.scan_rate, RangeSensor.scan_rate)
        scan = {"samples": rays, "resolution": 1, "min_angle": -side, "max_angle": side}
        for part, value in scan.items():
            set_text(sensor, value, scanner, "scan", "horizontal", part)
        if sensor.first(scanner, "range", "min") is None:
            set_text(sensor, 0, scanner, "range", "min")
        set_text(sensor, device.max_distance, scanner, "range", "max")
    elif isinstance(device, ForceSensor):
        for setting, (_, ours) in FORCE_CONVENTION.items():
            if sensor.first("force_torque", setting) is None:
                set_text(sensor, ours, "force_torque", setting)
    elif not isinstance(device, (AccelerationSensor, Gyro)):
        return None
    kept_type = sensor.attributes.pop("type", "")
    same = kept_type in LIDARS or (isinstance(device, VisionSensor) and CAMERAS.get(kept_type) == device.type)
    sensor.attributes = {"name": name, "type": kept_type if same else sensor_type(device), **sensor.attributes}
    six = np.concatenate([pose[:3], roll_pitch_yaw(pose[3:])])
    if six.any():
        sensor.children.insert(0, Element("pose", text=number_text(six)))
    return sensor


def _rays(device: RangeSensor, kept: Element | None) -> tuple[int, float]:
    """Return the number of rays, and the angle [rad] of the last one; `kept` is the even number that the device was read with."""
    even = kept.text_numbers(1)[0] if kept is not None else 0.0
    if 2 <= even <= MAX_RAYS and even % 2 == 0:
        span = device.scan_step * (even - 1)
        if 0 < device.scan_angle < math.inf and abs(span - device.scan_angle) <= 1e-9 * device.scan_angle:
            return int(even), 0.5 * device.scan_angle
    rays = device.num_rays if device.num_rays <= MAX_RAYS else 1
    return rays, (rays // 2) * device.scan_step if rays > 1 else 0.0


def _put_rate(sensor: Element, rate: float, default: float) -> None:
    """Set the update_rate; a kept one ("as often as possible") stays where the device has the default rate."""
    if sensor.first("update_rate") is None or rate != default:
        set_text(sensor, rate, "update_rate")


def _parsed(text: str) -> Element | None:
    try:
        return parse_xml(text.encode("utf-8", "replace"))
    except FormatError:
        return None


@dataclass(frozen=True)
class DeviceWriter:
    """Writes the devices of a body; `names` and `joint_names` are those of links and joints in the file, losses are added to `lost`."""

    body: Body
    names: Sequence[str]
    joint_names: Sequence[str]
    extension: ExtensionWriter
    lost: LossReport

    def elements(self) -> list[Element]:
        """Return the <gazebo> elements of the devices that Gazebo has; keep the others, and their order, in <bodymotion>."""
        found: list[Element] = []
        written: dict[int, tuple[str, Device, int]] = {}
        """By index of a device: its key in <bodymotion>, the device that the <sensor> is read as, and its id."""
        counts: dict[str, int] = {}
        numbers: dict[tuple[str, str], int] = {}
        sensors = groups(self.body.devices)
        absent: list[str] = []
        for indices, name in zip(sensors, self._sensor_names(sensors), strict=True):
            devices = {self.body.devices[index].kind: index for index in indices}
            first = self.body.devices[indices[0]]
            of_joint = isinstance(first, ForceSensor)
            sensor = None if of_joint and first.link == 0 else sensor_element(first, name)
            read = read_sensor(parse_xml(to_xml(sensor))) if sensor is not None else []
            if sensor is None or not devices.keys() <= {base.kind for base in read}:
                continue
            link = self.names[first.link]
            block = Element("gazebo", {"reference": self.joint_names[first.link] if of_joint else link})
            block.children.append(sensor)
            found.append(block)
            for base in read:
                numbers[link, name] = numbers.get((link, name), 0) + 1
                key = sensor_key(link, name, numbers[link, name])
                if base.kind not in devices:
                    absent.append(key)
                    self.extension.note(f"that an IMU is only a {first.kind}", first.name)
                else:
                    counts[base.kind] = counts.get(base.kind, -1) + 1
                    written[devices[base.kind]] = key, base, counts[base.kind]
        for index, device in enumerate(self.body.devices):
            if index in written:
                self._keep_sensor(device, *written[index])
            else:
                self._keep_device(device, self.names[device.link])
        for key in absent:
            self.extension.put("device", {"sensor": key, "meant": "no"}, {}, always=True)
        return found

    def _sensor_names(self, sensors: list[list[int]]) -> list[str]:
        """Return a name for each sensor that is unique on its link, as SDFormat requires."""
        firsts = [self.body.devices[indices[0]] for indices in sensors]
        names = [unique_names([first.name], first.kind)[0] for first in firsts]
        of_links: dict[int, list[int]] = {}
        for number, first in enumerate(firsts):
            of_links.setdefault(first.link, []).append(number)
        for mine in of_links.values():
            for number, name in zip(mine, unique_names([names[k] for k in mine], "sensor"), strict=True):
                names[number] = name
        return names

    def _keep_sensor(self, device: Device, key: str, base: Device, number: int) -> None:
        values = self.extension.differences(base, device, device.name, ("id", "link"), f"{device.kind} ")
        if device.id != number:
            values = {"id": device.id, **values}
            self.extension.note(f"{device.kind} id", device.name)
        self.extension.put("device", {"sensor": key}, values, always=True)

    def _keep_device(self, device: Device, link: str) -> None:
        base = KINDS[device.kind]() if device.kind in KINDS else OtherDevice(type=device.kind)
        message = f"URDF and Gazebo have no {device.kind}"
        if isinstance(device, ForceSensor):
            message = "a ForceSensor measures at a joint, which the root does not have"
        rule = losses.DEVICE.as_note if device.kind in EFFECTS else losses.DEVICE
        self.lost.add(rule, message, device.name)
        values = quiet_differences(base, device)
        values = {"id": device.id, **values} if device.id >= 0 else values
        self.extension.put("device", {"kind": device.kind, "link": link}, values, always=True)
