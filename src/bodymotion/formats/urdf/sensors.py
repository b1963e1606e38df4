"""Sensors as Gazebo has them: the <sensor> of a <gazebo reference="…"> block, in the words of SDFormat; `writing.sensors` is the way back.

Gazebo's cameras and lidars look along +x with +z up, devices here along −z with +y up: `LOOKING` turns between the two. The field of view
of a VisionSensor is that of the shorter side of the image (as the reference program has it), Gazebo's is horizontal.

An `imu` measures acceleration and angular velocity, whatever it says of their noise: it is two devices, and two devices of one name in
one place are written as one. What a sensor says beside what a device has (noise, rates, frames) is kept, and written back.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import FormatError
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import one_line
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
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

__all__ = ["CAMERAS", "FORCE_CONVENTION", "LIDARS", "LOOKING", "MOST_RAYS", "put", "read_sensor", "turned", "word_of"]

LOOKING: Floats = frozen(rotations.from_matrix(np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])))
"""The turn from a device's frame to Gazebo's of the same thing: its x axis is the device's −z, its z axis the device's y."""

CAMERAS = {
    "camera": "COLOR",
    "wideanglecamera": "COLOR",
    "depth": "DEPTH",
    "depth_camera": "DEPTH",
    "rgbd": "COLOR_DEPTH",
    "rgbd_camera": "COLOR_DEPTH",
}
FORCE_CONVENTION = {"frame": ("child", "sensor"), "measure_direction": ("child_to_parent", "child_to_parent")}
"""What a force_torque sensor means where it does not say, and what a ForceSensor measures: in its own frame, child on parent."""

LIDARS = ("ray", "gpu_ray", "lidar", "gpu_lidar")
MOST_RAYS = 10**6


def read_sensor(element: Element, problems: list[Problem]) -> list[Device]:
    """Return the devices of a <sensor>: an `imu` is an accelerometer and a gyro, in this order.

    What of the element has no place in a device is kept in `extra` under "sdf", as XML; a sensor of another kind is kept whole. Links
    and ids are not set.
    """
    kind, name = element.get("type"), element.get("name")
    # What is wrong with a number of a sensor is no fault of the file: it has its default, also where the file is checked.
    element = _copy(element)
    left = _copy(element)
    taken = _Taker(element, left, problems)
    pose = taken.pose()
    found: list[Device]
    if kind == "imu":
        for part in ("linear_acceleration", "angular_velocity"):
            taken.drop("imu", part)
        found = [AccelerationSensor(name=name, pose=pose), Gyro(name=name, pose=pose)]
    elif kind == "force_torque":
        taken.force_convention()
        found = [ForceSensor(name=name, pose=pose)]
    elif kind in CAMERAS:
        found = [_camera(taken, CAMERAS[kind], name, pose)]
    elif kind in LIDARS:
        found = [_lidar(taken, name, pose)]
    else:
        return [OtherDevice(name=name, type=kind, pose=pose, extra={"sdf": one_line(element)})]
    usual = {"name": element.attributes.get("name"), "type": word_of(found[0])}
    left.attributes = {
        key: value for key, value in left.attributes.items() if key != "name" and usual.get(key) != value
    }
    if left.children or left.attributes:
        found = [replace(device, extra={"sdf": one_line(left)}) for device in found]
    return found


def _camera(taken: _Taker, kind: str, name: str, pose: Floats) -> VisionSensor:
    default = VisionSensor()
    width = int(taken.number(default.width, "camera", "image", "width"))
    height = int(taken.number(default.height, "camera", "image", "height"))
    horizontal = taken.number(1.047, "camera", "horizontal_fov")
    return VisionSensor(
        name=name,
        pose=poses.compose(pose, turned(rotations.conjugate(LOOKING))),
        type=kind,
        field_of_view=angle_over(horizontal, width, min(width, height)),
        front_clip_distance=taken.number(0.1, "camera", "clip", "near"),
        back_clip_distance=taken.number(100.0, "camera", "clip", "far"),
        width=width,
        height=height,
        frame_rate=taken.rate(default.frame_rate),
    )


def _lidar(taken: _Taker, name: str, pose: Floats) -> RangeSensor:
    words = "lidar" if taken.element.first("lidar") else "ray"
    samples = taken.number(640.0, words, "scan", "horizontal", "samples")
    resolution = taken.number(1.0, words, "scan", "horizontal", "resolution")
    low = taken.number(0.0, words, "scan", "horizontal", "min_angle")
    high = taken.number(0.0, words, "scan", "horizontal", "max_angle")
    nearest = taken.element.first(words, "range", "min")
    if nearest is not None and nearest.text.strip() == "0":
        # So it is written where nothing else is known.
        taken.drop(words, "range", "min")
    rays = min(max(round(samples * resolution) if math.isfinite(samples * resolution) else 1, 1), MOST_RAYS)
    if rays % 2 == 0:
        # A RangeSensor has a ray in the middle: that this one has none is kept.
        put(taken.left, rays, words, "scan", "horizontal", "samples")
    middle = 0.5 * (low + high)
    if middle:
        pose = poses.compose(pose, turned(rotations.from_axis_angle([0.0, 0.0, 1.0], middle)))
    angle = high - low if rays > 1 else 0.0
    return RangeSensor(
        name=name,
        pose=poses.compose(pose, turned(rotations.conjugate(LOOKING))),
        scan_angle=angle,
        scan_step=angle / (rays - 1) if rays > 1 else RangeSensor().scan_step,
        scan_rate=taken.rate(RangeSensor().scan_rate),
        max_distance=taken.number(10.0, words, "range", "max"),
    )


class _Taker:
    """Takes values out of a sensor; what is taken is removed from the copy `left`."""

    def __init__(self, element: Element, left: Element, problems: list[Problem]) -> None:
        self.element, self.left, self.problems = element, left, problems

    def number(self, default: float, *path: str) -> float:
        """Return the number of the element down a path, the default where there is none that is finite."""
        found = self.element.first(*path)
        if found is None:
            return default
        self.drop(*path)
        try:
            value = found.text_numbers(1)[0]
        except FormatError as error:
            self.problems.append(rules.SENSOR.problem(error.problem.message, found.location))
            return default
        if not math.isfinite(value) or abs(value) > 1e15:
            return default
        return value

    def rate(self, default: float) -> float:
        """Return the update_rate [Hz]; the default where it is 0 or not there, which is to be as often as can be, and is kept as 0."""
        value = self.number(0.0, "update_rate")
        if value > 0:
            return value
        self.left.add("update_rate", text="0")
        return default

    def force_convention(self) -> None:
        """Keep in which frame and which way a force is measured, in full where it is not as here."""
        found = {name: self.element.first("force_torque", name) for name in FORCE_CONVENTION}
        words = {name: "" if element is None else element.text.strip() for name, element in found.items()}
        for name, (default, ours) in FORCE_CONVENTION.items():
            self.drop("force_torque", name)
            if (words[name] or default) != ours:
                inside = self.left.first("force_torque") or self.left.add("force_torque")
                inside.add(name, text=words[name] or default)

    def pose(self) -> Floats:
        found = self.element.first("pose")
        if found is None:
            return poses.IDENTITY
        self.drop("pose")
        for key in ("relative_to", "frame"):
            if found.get(key):
                wrong = f"the pose of a sensor is relative to {found.get(key)!r:.60}: it is read as in its link"
                self.problems.append(rules.POSE_FRAME.problem(wrong, found.location))
        try:
            six = found.text_numbers(6) if found.text.strip() else (0.0,) * 6
        except FormatError as error:
            self.problems.append(rules.SENSOR.problem(error.problem.message, found.location))
            return poses.IDENTITY
        if not all(map(math.isfinite, six)):
            self.problems.append(rules.SENSOR.problem("the pose of a sensor is not finite", found.location))
            return poses.IDENTITY
        rpy = np.radians(six[3:]) if found.get("degrees") == "true" else np.array(six[3:])
        return poses.from_parts(six[:3], rotations.from_rpy(rpy))

    def drop(self, *path: str) -> None:
        """Remove the first element down a path from what is left, and those around it that hold nothing else."""
        chain = [self.left]
        for name in path:
            inside = chain[-1].first(name)
            if inside is None:
                return
            chain.append(inside)
        while len(chain) > 1 and not chain[-1].children:
            gone = chain.pop()
            chain[-1].children = [child for child in chain[-1].children if child is not gone]
            if chain[-1].attributes and len(chain) > 1:
                return


def turned(quaternion: Floats) -> Floats:
    """Return the pose (7,) that turns alone."""
    return poses.from_parts(np.zeros(3), quaternion)


def _copy(element: Element) -> Element:
    children = [_copy(child) for child in element.children]
    return replace(element, attributes=dict(element.attributes), children=children, faults=None)


def word_of(device: Device) -> str:
    """Return the type of sensor that a device is written as."""
    if isinstance(device, VisionSensor):
        return {"DEPTH": "depth", "COLOR_DEPTH": "rgbd_camera"}.get(device.type, "camera")
    return {"RangeSensor": "ray", "ForceSensor": "force_torque"}.get(device.kind, "imu")


def put(sensor: Element, value: object, *path: str) -> None:
    """Set the text of the element down a path, which is made where it is not there; what is not finite is left out."""
    if isinstance(value, (int, float)) and not math.isfinite(value):
        return
    for name in path:
        found = sensor.first(name)
        sensor = sensor.add(name) if found is None else found
    sensor.text = value if isinstance(value, str) else number_text(float(value))  # type: ignore[arg-type]
