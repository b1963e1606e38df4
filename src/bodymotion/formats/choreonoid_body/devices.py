"""Devices: the sensors that the OpenHRP document knows as well, and others, kept with all their keys.

A camera or a range sensor may be given in another frame (`optical_frame`, `optical_frame_rotation`): its `pose` here always is that of
a device which looks along −z with +y up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.fields import Fields, forgiving
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.devices import (
    AccelerationSensor,
    Device,
    ForceSensor,
    Gyro,
    OtherDevice,
    RangeSensor,
    VisionSensor,
)

__all__ = ["DEVICES", "read_device"]

SENSORS: dict[str, type[Device]] = {
    "AccelerationSensor": AccelerationSensor,
    "Accelerometer": AccelerationSensor,
    "RateGyroSensor": Gyro,
    "Gyro": Gyro,
    "ForceSensor": ForceSensor,
    "Camera": VisionSensor,
    "RangeCamera": VisionSensor,
    "RangeSensor": RangeSensor,
}
OTHERS = ("Attachment", "DigitalIO", "Holder", "IMU", "Imu", "PointLight", "SpotLight")
"""Devices of Choreonoid itself that are not in the OpenHRP document."""
DEVICES = (*SENSORS, *OTHERS)
"""The types of nodes that Choreonoid itself knows as devices."""

PLACE = ("type", "translation", "rotation", "elements")

FRAMES = {
    "gl": (1.0, 0.0, 0.0, 0.0),
    # x to the right, y down, z forward
    "cv": (0.0, 1.0, 0.0, 0.0),
    # x forward, y to the left, z up
    "robotics": (0.5, 0.5, -0.5, -0.5),
}

UNLIMITED = (-1.0, -1.0, -1.0)


def read_device(fields: Fields, kind: str, link: int, transform: Floats) -> Device:
    """Make a device of a node that stands at `transform` (4, 4), its own pose included, in link number `link`."""
    if not poses.is_rigid(transform):
        fields.tell(rules.SCALED, f"{fields.title} stands under a Transform with a scale")
    found = SENSORS.get(kind)
    pose = poses.from_matrix(poses.nearest_rigid(transform))
    if found in (VisionSensor, RangeSensor):
        pose = poses.compose(pose, poses.from_parts(np.zeros(3), _optical(fields)))
    common: dict[str, Any] = {
        "name": fields.text("name"),
        "id": fields.integer("id", default=-1),
        "link": link,
        "pose": frozen(pose),
    }
    given: dict[str, Any] = {}
    if found is AccelerationSensor:
        given = {"max_acceleration": _limit(fields, "max_acceleration")}
    elif found is Gyro:
        given = {"max_angular_velocity": _limit(fields, "max_angular_velocity")}
    elif found is ForceSensor:
        given = {name: _limit(fields, name) for name in ("max_force", "max_torque")}
    elif found is VisionSensor:
        given = _camera(fields)
    elif found is RangeSensor:
        given = _scanner(fields)
    extra = fields.rest(PLACE)
    if found is None:
        return OtherDevice(**common, type=kind, extra=extra)
    device: Device = found(**common, **given, extra=extra)
    return device


@forgiving((1.0, 0.0, 0.0, 0.0))
def _optical(fields: Fields) -> tuple[float, ...]:
    turn = fields.rotation("optical_frame_rotation")
    if turn is not None:
        return turn
    name = fields.text("optical_frame", default="gl")
    if name not in FRAMES:
        wrong = f"optical_frame of {fields.title} is {name!r:.60}: gl, cv and robotics are known"
        raise rules.WRONG_VALUE.error(wrong, fields.place("optical_frame"))
    return FRAMES[name]


def _limit(fields: Fields, name: str) -> Floats:
    return frozen(fields.vector(name, default=UNLIMITED))


def _camera(fields: Fields) -> dict[str, Any]:
    given: dict[str, Any] = {
        "type": fields.text("format", default="COLOR"),
        "width": fields.integer("width", default=640),
        "height": fields.integer("height", default=480),
        "field_of_view": fields.angle("field_of_view", default=0.785398),
        "front_clip_distance": fields.number("near_clip_distance", default=0.04),
        "back_clip_distance": fields.number("far_clip_distance", default=200.0),
        "frame_rate": fields.number("frame_rate", default=30.0),
    }
    title = fields.title
    if given["type"] not in ("COLOR", "DEPTH", "COLOR_DEPTH", "POINT_CLOUD", "COLOR_POINT_CLOUD", "NONE"):
        fields.tell(rules.CAMERA, f"format of {title} is {given['type']!r:.60}, which is not known", "format")
    wide = fields.text("lens_type", default="NORMAL") != "NORMAL"
    fields.used -= {"lens_type", "lensType"}
    if not 0 < given["field_of_view"] < (2 * math.pi + 1e-3 if wide else math.pi):
        fields.tell(
            rules.CAMERA,
            f"field_of_view of {title} is {given['field_of_view']:g} rad, too wide or not above 0",
            "field_of_view",
        )
    near, far = given["front_clip_distance"], given["back_clip_distance"]
    if not 0 < near < far:
        fields.tell(rules.CAMERA, f"clip distances of {title} are {near:g} and {far:g}, not two distances in order")
    if min(given["width"], given["height"]) < 1 or given["frame_rate"] <= 0:
        image = f"{given['width']} × {given['height']} at {given['frame_rate']:g} Hz"
        fields.tell(rules.CAMERA, f"the image of {title} is {image}")
    return given


def _scanner(fields: Fields) -> dict[str, Any]:
    default = RangeSensor()
    given = {
        "scan_angle": fields.angle("yaw_range", "scan_angle", default=math.radians(120.0)),
        "scan_step": fields.angle("yaw_step", "scan_step", default=math.radians(1.0)),
        "scan_rate": fields.number("scan_rate", default=default.scan_rate),
        "max_distance": fields.number("max_distance", default=default.max_distance),
    }
    if not (
        0 <= given["scan_angle"] <= 2 * math.pi + 1e-3
        and (given["scan_step"] > 0 or given["scan_angle"] == 0)
        and min(given["scan_rate"], given["max_distance"]) > 0
    ):
        shown = ", ".join(f"{name} {value:g}" for name, value in given.items())
        fields.tell(rules.SCAN, f"{fields.title} has {shown}")
    return given
