"""Read devices: the sensors that the OpenHRP document defines, and others.

These are kept with all their keys.

A camera or a range sensor may be in another frame (`optical_frame`,
`optical_frame_rotation`): its `pose` here is always that of a device that looks along
−z with +y up.
"""

import math
from typing import Any

import numpy as np

from bodymotion.formats.choreonoid_body.fields import Fields
from bodymotion.formats.yaml.rules import WRONG_VALUE
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import (
    SENSOR_LIMITS,
    AccelerationSensor,
    Device,
    ForceSensor,
    Gyro,
    OtherDevice,
    RangeSensor,
    VisionSensor,
)
from bodymotion.model.rules import CAMERA, SCALED

# The names of Choreonoid's nodes, and those of OpenHRP for the same sensors.
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
DEVICES = (
    *SENSORS,
    "Attachment",
    "DigitalIO",
    "Holder",
    "IMU",
    "Imu",
    "PointLight",
    "SpotLight",
)
"""The types of nodes that Choreonoid itself has as devices."""

KEYS_OF_DEVICE: dict[str, tuple[str, ...]] = {
    "pose": ("translation", "rotation"),
    "front_clip_distance": ("near_clip_distance",),
    "back_clip_distance": ("far_clip_distance",),
    "scan_angle": ("yaw_range", "scan_angle"),
    "scan_step": ("yaw_step", "scan_step"),
    "scan_rate": ("scan_rate",),
    "max_distance": ("max_distance",),
    "field_of_view": ("field_of_view",),
    "type": ("format", "type"),
    **{name: (name,) for name in ("name", "id", "width", "height", "frame_rate")},
}
"""By the attributes of a device, the keys that hold them."""

# Rotations w x y z from the frame of the file to −z forward, +y up.
OPTICAL_FRAMES = {
    "gl": (1.0, 0.0, 0.0, 0.0),
    # x to the right, y down, z forward
    "cv": (0.0, 1.0, 0.0, 0.0),
    # x forward, y to the left, z up
    "robotics": (0.5, 0.5, -0.5, -0.5),
}
IMAGE_FORMATS = (
    "COLOR",
    "DEPTH",
    "COLOR_DEPTH",
    "POINT_CLOUD",
    "COLOR_POINT_CLOUD",
    "NONE",
)


def read_device(fields: Fields, kind: str, link: int, transform: Floats) -> Device:
    """Return the device of a node.

    `transform` (4, 4) is its pose in link number `link`.
    """
    if not poses.is_rigid(transform):
        fields.report(SCALED, f"{fields.title} is inside of a Transform with a scale")
    sensor = SENSORS.get(kind)
    pose = poses.from_matrix(poses.nearest_rigid(transform))
    # Only for these does a direction of looking matter.
    if sensor in (VisionSensor, RangeSensor):
        pose = poses.compose(
            pose, poses.from_parts(np.zeros(3), _optical_frame(fields))
        )
    common: dict[str, Any] = {
        "name": fields.text("name"),
        "id": fields.integer("id", default=-1),
        "link": link,
        "pose": frozen(pose),
    }
    values: dict[str, Any] = {}
    if sensor is VisionSensor:
        values = _camera(fields)
    elif sensor is RangeSensor:
        values = _range_sensor(fields)
    elif sensor is not None:
        # The limits of each axis; −1 means none.
        for name in SENSOR_LIMITS.get(sensor, ()):
            limit = fields.vector(name, default=(-1.0, -1.0, -1.0))
            values[name] = frozen(limit)
    extra = fields.rest(("type", "translation", "rotation", "elements"))
    if sensor is None:
        return OtherDevice(**common, type=kind, extra=extra)
    device: Device = sensor(**common, **values, extra=extra)
    return device


def _range_sensor(fields: Fields) -> dict[str, Any]:
    scan_angle = math.radians(120.0)
    scan_step = math.radians(1.0)
    values: dict[str, Any] = {
        "scan_angle": fields.angle("yaw_range", "scan_angle", default=scan_angle),
        "scan_step": fields.angle("yaw_step", "scan_step", default=scan_step),
    }
    for name in ("scan_rate", "max_distance"):
        values[name] = fields.number(name, default=getattr(RangeSensor, name))
    return values


def _optical_frame(fields: Fields) -> tuple[float, ...]:
    rotation = fields.rotation("optical_frame_rotation")
    if rotation is not None:
        return rotation
    name = fields.text("optical_frame") or "gl"
    if name not in OPTICAL_FRAMES:
        message = (
            f"optical_frame of {fields.title} is {name!r:.60}; "
            "expected gl, cv or robotics"
        )
        fields.reject(WRONG_VALUE, message, "optical_frame")
    return OPTICAL_FRAMES.get(name, OPTICAL_FRAMES["gl"])


def _camera(fields: Fields) -> dict[str, Any]:
    """Return the attributes of a camera."""
    image_format = fields.text("format", default="COLOR")
    if image_format not in IMAGE_FORMATS:
        message = (
            f"format of {fields.title} is {image_format!r:.60}; "
            f"expected one of {', '.join(IMAGE_FORMATS)}"
        )
        fields.context.found.report(
            WRONG_VALUE, message, fields.location("format"), severity="warning"
        )
    # Wide lenses may see more than π.
    is_wide = fields.text("lens_type", default="NORMAL") != "NORMAL"
    # `lens_type` was only looked at: it stays in `extra`.
    fields.used -= {"lens_type", "lensType"}
    field_of_view = fields.angle("field_of_view", default=0.785398)
    if not is_wide and not 0 < field_of_view < math.pi:
        fields.unknown.add("field_of_view")
        message = (
            f"field_of_view of {fields.title} is {field_of_view:g} rad; "
            "that of a normal lens is between 0 and π"
        )
        fields.report(CAMERA, message, "field_of_view")
    return {
        "type": image_format,
        "width": fields.integer("width", default=640),
        "height": fields.integer("height", default=480),
        "field_of_view": field_of_view,
        "front_clip_distance": fields.number("near_clip_distance", default=0.04),
        "back_clip_distance": fields.number("far_clip_distance", default=200.0),
        "frame_rate": fields.number("frame_rate", default=30.0),
    }
