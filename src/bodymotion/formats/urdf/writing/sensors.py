"""Devices as the <sensor> elements of Gazebo, in the words of SDFormat."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence

import numpy as np

from bodymotion.diagnostics import FormatError
from bodymotion.formats.urdf.elements import rpy_of
from bodymotion.formats.urdf.sensors import (
    CAMERAS,
    FORCE_CONVENTION,
    LIDARS,
    LOOKING,
    MOST_RAYS,
    put,
    turned,
    word_of,
)
from bodymotion.formats.xml.tree import Element, number_text, parse_xml
from bodymotion.geometry import poses
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

__all__ = ["groups", "sensor_element"]


def groups(devices: Sequence[Device]) -> list[list[int]]:
    """Return the devices, as their places in the list, by the sensors that they are written as, in the order of their first ones.

    An accelerometer and a gyro of one name, on one link and in one place, are one IMU.
    """
    found: list[list[int]] = []
    open_halves: dict[object, list[int]] = {}
    for number, device in enumerate(devices):
        if isinstance(device, (AccelerationSensor, Gyro)):
            other = Gyro if isinstance(device, AccelerationSensor) else AccelerationSensor
            place = (device.link, device.name, device.pose.tobytes(), str(device.extra.get("sdf")))
            half = open_halves.pop((other.__name__, *place), None)
            if half is not None:
                half.append(number)
                continue
            found.append([number])
            open_halves[(device.kind, *place)] = found[-1]
        else:
            found.append([number])
    return found


def sensor_element(device: Device, name: str) -> Element | None:
    """Return the <sensor> of a device, called `name`; None where Gazebo has none of its kind. An accelerometer and a gyro are an IMU each."""
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
        pose = poses.compose(pose, turned(LOOKING))
        _put_rate(sensor, device.frame_rate, VisionSensor().frame_rate)
        put(
            sensor,
            angle_over(device.field_of_view, min(device.width, device.height), device.width),
            "camera",
            "horizontal_fov",
        )
        put(sensor, device.width, "camera", "image", "width")
        put(sensor, device.height, "camera", "image", "height")
        put(sensor, device.front_clip_distance, "camera", "clip", "near")
        put(sensor, device.back_clip_distance, "camera", "clip", "far")
    elif isinstance(device, RangeSensor):
        pose = poses.compose(pose, turned(LOOKING))
        words = "lidar" if sensor.first("lidar") else "ray"
        rays, side = _rays(device, sensor.first(words, "scan", "horizontal", "samples"))
        _put_rate(sensor, device.scan_rate, RangeSensor().scan_rate)
        put(sensor, rays, words, "scan", "horizontal", "samples")
        put(sensor, 1, words, "scan", "horizontal", "resolution")
        put(sensor, -side, words, "scan", "horizontal", "min_angle")
        put(sensor, side, words, "scan", "horizontal", "max_angle")
        if sensor.first(words, "range", "min") is None:
            put(sensor, 0, words, "range", "min")
        put(sensor, device.max_distance, words, "range", "max")
    elif isinstance(device, ForceSensor):
        for word, (_, ours) in FORCE_CONVENTION.items():
            if sensor.first("force_torque", word) is None:
                put(sensor, ours, "force_torque", word)
    elif not isinstance(device, (AccelerationSensor, Gyro)):
        return None
    kept_type = sensor.attributes.pop("type", "")
    same = kept_type in LIDARS or (isinstance(device, VisionSensor) and CAMERAS.get(kept_type) == device.type)
    sensor.attributes = {"name": name, "type": kept_type if same else word_of(device), **sensor.attributes}
    six = np.concatenate([pose[:3], rpy_of(pose[3:])])
    if six.any():
        sensor.children.insert(0, Element("pose", text=number_text(six)))
    return sensor


def _rays(device: RangeSensor, kept: Element | None) -> tuple[int, float]:
    """Return how many rays there are, and the angle [rad] of the last; `kept` is the even number of them that the device was read with."""
    with contextlib.suppress(FormatError):
        even = kept.text_numbers(1)[0] if kept is not None else 0.0
        if 2 <= even <= MOST_RAYS and even % 2 == 0:
            span = device.scan_step * (even - 1)
            if 0 < device.scan_angle < math.inf and abs(span - device.scan_angle) <= 1e-9 * device.scan_angle:
                return int(even), 0.5 * device.scan_angle
    rays = device.num_rays if device.num_rays <= MOST_RAYS else 1
    return rays, (rays // 2) * device.scan_step if rays > 1 else 0.0


def _put_rate(sensor: Element, rate: float, default: float) -> None:
    """Set the update_rate; what is kept of it (as often as can be) stays where the device has the rate that it was read with."""
    if sensor.first("update_rate") is None or rate != default:
        put(sensor, rate, "update_rate")


def _parsed(text: str) -> Element | None:
    try:
        return parse_xml(text.encode("utf-8", "replace"))
    except FormatError:
        return None
