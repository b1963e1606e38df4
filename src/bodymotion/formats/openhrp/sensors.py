"""Sensor nodes: the five of the document, and others that are kept with all their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.formats.openhrp import values
from bodymotion.formats.openhrp.rules import (
    CLIP,
    FIELD_OF_VIEW,
    IMAGE,
    NOT_FINITE,
    NOT_IN_DOCUMENT,
    SCAN,
    SENSOR_SCALED,
    VISION_TYPE,
)
from bodymotion.formats.openhrp.segments import is_rigid
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.nodes import Node
from bodymotion.formats.vrml.scene import IDENTITY
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

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem

__all__ = ["is_sensor", "read_sensor"]

PLACE = {"translation", "rotation", "sensorId", "children"}
UNLIMITED = (-1.0, -1.0, -1.0)

OTHERS = ("PressureSensor", "PhotoInterrupter", "SpotLightDevice", "TorqueSensor")
"""Sensors that files have and the document has not."""

VECTORS: dict[type[Device], dict[str, str]] = {
    AccelerationSensor: {"max_acceleration": "maxAcceleration"},
    Gyro: {"max_angular_velocity": "maxAngularVelocity"},
    ForceSensor: {"max_force": "maxForce", "max_torque": "maxTorque"},
}
NUMBERS: dict[type[Device], dict[str, str]] = {
    VisionSensor: {
        "field_of_view": "fieldOfView",
        "front_clip_distance": "frontClipDistance",
        "back_clip_distance": "backClipDistance",
        "frame_rate": "frameRate",
    },
    RangeSensor: {
        "scan_angle": "scanAngle",
        "scan_step": "scanStep",
        "scan_rate": "scanRate",
        "max_distance": "maxDistance",
    },
}
CLASSES: dict[str, type[Device]] = {
    "AccelerationSensor": AccelerationSensor,
    "Gyro": Gyro,
    # The document's heading has this name for it.
    "GyroSensor": Gyro,
    "ForceSensor": ForceSensor,
    "VisionSensor": VisionSensor,
    "RangeSensor": RangeSensor,
}


def is_sensor(node: Node) -> bool:
    """Whether a node is a sensor: one of the known ones, or any other with a sensorId, in its prototype or undeclared."""
    fields = node.fields if node.proto is None else node.proto.fields
    return node.type in CLASSES or node.type in OTHERS or "sensorId" in fields


def read_sensor(node: Node, link: int, transform: Floats, problems: list[Problem]) -> Device:
    """Make a device of a sensor node that stands at `transform` (4, 4) in link number `link`."""
    if not is_rigid(transform):
        problems.append(
            SENSOR_SCALED.problem(f"{values.label(node)} stands under a Transform with a scale", node.location)
        )
    own = values.own_pose(node, problems)
    values.say_more(node, "sensorId", 1, problems)
    common: dict[str, Any] = {
        "name": node.name,
        "id": access.integer(node, "sensorId", -1),
        "link": link,
        "pose": own if transform is IDENTITY else _placed(node, transform, own, problems),
    }
    kind = CLASSES.get(node.type)
    if kind is None:
        if node.type not in OTHERS:
            problems.append(
                NOT_IN_DOCUMENT.problem(
                    f"{values.label(node)} is of a type that the document does not have: kept as it is", node.location
                )
            )
        declared = {} if node.proto is None else node.proto.fields
        fields = {
            name: values.plain(item.value)
            for name, item in declared.items()
            if item.access in ("field", "exposedField") and name not in PLACE
        }
        return OtherDevice(**common, type=node.type, extra=fields | values.rest(node, PLACE))
    default = kind()
    used = dict(VECTORS.get(kind, {}))
    given: dict[str, Any] = {
        ours: frozen(values.finite(node, name, UNLIMITED, problems)) for ours, name in VECTORS.get(kind, {}).items()
    }
    for ours, name in NUMBERS.get(kind, {}).items():
        used[ours] = name
        given[ours] = values.finite(node, name, (getattr(default, ours),), problems)[0]
    if isinstance(default, VisionSensor):
        used |= {"type": "type", "width": "width", "height": "height"}
        given["type"] = access.text(node, "type", default.type)
        given["width"] = access.integer(node, "width", default.width)
        given["height"] = access.integer(node, "height", default.height)
    device = kind(**common, **given, extra=values.rest(node, PLACE | set(used.values())))
    _check(device, node, problems)
    return device


def _placed(node: Node, transform: Floats, own: Floats, problems: list[Problem]) -> Floats:
    """Return the pose in the link of a sensor that has the pose `own` in the frame at `transform`."""
    whole = transform @ poses.to_matrix(own)
    if np.isfinite(whole).all():
        return poses.from_matrix(poses.nearest_rigid(whole))
    problems.append(NOT_FINITE.problem(f"the place of {values.label(node)} is not finite", node.location))
    return own


def _check(device: Device, node: Node, problems: list[Problem]) -> None:
    title = values.label(node)
    if isinstance(device, VisionSensor):
        if device.type not in ("COLOR", "DEPTH", "COLOR_DEPTH", "NONE"):
            problems.append(
                VISION_TYPE.problem(
                    f"type of {title} is {device.type!r}, none of COLOR, DEPTH, COLOR_DEPTH, NONE",
                    node.location_of("type"),
                )
            )
        if not 0 < device.field_of_view < np.pi:
            problems.append(
                FIELD_OF_VIEW.problem(
                    f"fieldOfView of {title} is {device.field_of_view:g}, not between 0 and 3.14 rad",
                    node.location_of("fieldOfView"),
                )
            )
        if not 0 < device.front_clip_distance < device.back_clip_distance:
            shown = f"{device.front_clip_distance:g} and {device.back_clip_distance:g}"
            problems.append(
                CLIP.problem(
                    f"frontClipDistance and backClipDistance of {title} are {shown}, not two distances in order",
                    node.location,
                )
            )
        if min(device.width, device.height) < 1 or device.frame_rate <= 0:
            shown = f"{device.width} × {device.height} at {device.frame_rate:g} Hz"
            problems.append(IMAGE.problem(f"the image of {title} is {shown}", node.location))
    if isinstance(device, RangeSensor) and not (
        0 <= device.scan_angle <= 2 * np.pi + 1e-3
        and (device.scan_step > 0 or device.scan_angle == 0)
        and min(device.scan_rate, device.max_distance) > 0
    ):
        problems.append(
            SCAN.problem(
                f"{title} scans {device.scan_angle:g} rad in steps of {device.scan_step:g}, {device.scan_rate:g} times a second, "
                f"up to {device.max_distance:g} m",
                node.location,
            )
        )
