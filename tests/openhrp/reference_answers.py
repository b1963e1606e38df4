"""What the reference program (Choreonoid's loader) says about sample models, and how a Body is compared with it."""

from __future__ import annotations

import itertools
import json
import os
from functools import cache
from pathlib import Path

import numpy as np

from bodymotion import meshing, rotations
from bodymotion.body import Body
from bodymotion.formats.openhrp import read_openhrp

CORPUS = Path(os.environ.get("BODYMOTION_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
TYPES = {
    "revolute": "rotate",
    "prismatic": "slide",
    "free": "free",
    "fixed": "fixed",
    "pseudo_continuous_track": "crawler",
}
DEVICES = {
    "Camera": "VisionSensor",
    "RangeCamera": "VisionSensor",
    "RateGyroSensor": "Gyro",
    "SpotLight": "SpotLightDevice",
}
UNKNOWN_TO_REFERENCE = ("PressureSensor", "PhotoInterrupter", "TorqueSensor")
NO_LIMIT = 1e300


@cache
def answer(path: Path) -> dict:
    return json.loads(path.read_text())


@cache
def body_of(path: Path) -> Body:
    """Read a model; the reference opens parts outside of the model's folder, too."""
    return read_openhrp(path, allow_outside=True)


def close(ours, theirs, tolerance=1e-9) -> bool:
    return bool(np.allclose(ours, theirs, rtol=tolerance, atol=tolerance))


def infinite(number: float) -> float:
    return np.sign(number) * np.inf if abs(number) > NO_LIMIT else number


def differences(body: Body, golden: dict) -> list[str]:
    """List everything about links and joints in which a body and the reference's answer differ."""
    found = []
    if body.name != golden["modelName"]:
        found.append(f"name {body.name!r}, reference {golden['modelName']!r}")
    if body.info["info"] != golden["info"]["humanoid info"].removesuffix("\n"):
        found.append(f"info {body.info['info']!r}")
    if list(body.joint_links) != golden["jointIdToLinkIndex"]:
        found.append(f"columns {body.joint_links}, reference {golden['jointIdToLinkIndex']}")
    if [link.name for link in body.links] != [link["name"] for link in golden["links"]]:
        return [*found, "names of links"]
    for link, theirs in zip(body.links, golden["links"], strict=True):
        joint = link.joint
        moves = theirs["jointType"] in ("revolute", "prismatic")
        axis = np.array(theirs["jointAxis"])
        rotor = joint.extra.get("equivalentInertia") or joint.gear_ratio**2 * joint.rotor_inertia
        motor = {
            "gearRatio": joint.gear_ratio,
            "rotorInertia": joint.rotor_inertia,
            "rotorResistor": joint.rotor_resistor,
            "torqueConst": joint.torque_const,
            "encoderPulse": joint.encoder_pulse,
            "climit": np.ravel(joint.extra.get("climit", 1.79769e308))[0],
        }
        same = {
            "parent": link.parent == theirs["parent"],
            "type": joint.type == TYPES[theirs["jointType"]],
            "id": joint.id == theirs["jointId"],
            "axis": not moves or close(joint.axis, axis / np.linalg.norm(axis)),
            "position": close(link.offset[:3], theirs["offsetTranslation"]),
            "rotation": close(rotations.to_matrix(link.offset[3:]), theirs["offsetRotation"]),
            "mass": close(link.mass, theirs["mass"]),
            "center of mass": close(link.center_of_mass, theirs["centerOfMass"]),
            "inertia": close(link.inertia, theirs["inertia"]),
            "limits": all(
                ours == infinite(theirs[name]) or close(ours, infinite(theirs[name]))
                for ours, name in (
                    (joint.lower, "q_lower"),
                    (joint.upper, "q_upper"),
                    (joint.velocity_lower, "dq_lower"),
                    (joint.velocity_upper, "dq_upper"),
                )
            ),
            "rotor": close(rotor, theirs["Jm2"]),
            "motor": all(f"{value:.6g}" == theirs["info"][name] for name, value in motor.items()),
        }
        found += [f"{link.name}: {name}" for name, equal in same.items() if not equal]
    return found


def device_differences(body: Body, golden: dict) -> list[str]:
    """List everything about devices in which a body and the reference's answer differ, but for the reference's known faults."""
    ours = [device for device in body.devices if device.kind not in UNKNOWN_TO_REFERENCE]
    theirs = golden["devices"]
    expected = [(DEVICES.get(d["type"], d["type"]), d["name"], d["id"], d["linkIndex"]) for d in theirs]
    if [(d.kind, d.name, d.id, d.link) for d in ours] != expected:
        return [f"devices {[(d.kind, d.name, d.id, d.link) for d in ours]}, reference {expected}"]
    found = []
    for device, other in zip(ours, theirs, strict=True):
        same = parameters(device, other["type"], other["params"])
        same["position"] = close(device.pose[:3], other["localTranslation"])
        same["rotation"] = close(rotations.to_matrix(device.pose[3:]), other["localRotation"])
        found += [f"{device.name}: {name}" for name, equal in same.items() if not equal]
    return found


def parameters(device, kind: str, given: dict) -> dict[str, bool]:
    match device.kind:
        case "Gyro":
            return {"w_max": close(device.max_angular_velocity, given["w_max"])}
        case "ForceSensor":
            return {"F_max": close([*device.max_force, *device.max_torque], given["F_max"])}
        case "RangeSensor":
            return {
                "scan_angle": close(0.5 * device.scan_angle, given["maxYawAngle"]),
                "scan_step": close(device.scan_step, given["yawStep"]),
                "scan_rate": close(device.scan_rate, given["scanRate"]),
                "max_distance": close(device.max_distance, given["maxDistance"]),
            }
        case "VisionSensor":
            image = {
                "COLOR": ("Camera", "COLOR_IMAGE"),
                "DEPTH": ("RangeCamera", "NO_IMAGE"),
                # The reference takes NONE for COLOR. The document: no image, and no depths.
                "NONE": ("Camera", "COLOR_IMAGE"),
            }
            return {
                "type": (kind, given["imageType"]) == image.get(device.type, ("RangeCamera", "COLOR_IMAGE")),
                "size": (device.width, device.height) == (given["resolutionX"], given["resolutionY"]),
                "field_of_view": close(device.field_of_view, given["fieldOfView"]),
                "front_clip": close(device.front_clip_distance, given["nearClipDistance"]),
                "back_clip": close(device.back_clip_distance, given["farClipDistance"]),
                "frame_rate": close(device.frame_rate, given["frameRate"]),
            }
        case "SpotLightDevice":
            single = 1e-6
            names = ("constantAttenuation", "linearAttenuation", "quadraticAttenuation")
            return {
                "attenuation": close(device.extra["attenuation"], [given[name] for name in names], single),
                "cutOffAngle": close(device.extra["cutOffAngle"], given["cutOffAngle"], single),
                **{
                    name: close(device.extra[name], given[name], single)
                    for name in ("beamWidth", "color", "direction", "intensity")
                },
            }
    # The reference takes the limit of an AccelerationSensor from maxAngularVelocity: nothing to compare.
    return {}


def exact_box(shapes) -> np.ndarray | None:
    """Give lowest and highest corner (2, 3) of the box around shapes."""
    boxes = np.array([shape.bounds for shape in shapes if shape.bounds is not None])
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)]) if len(boxes) else None


def box_of_boxes(shapes) -> np.ndarray | None:
    """Give the box around the shapes' own boxes, turned as the shapes are: what the reference calls a bounding box."""
    corners = []
    for shape in shapes:
        points = meshing.used_vertices(shape.geometry)
        if len(points):
            ends = points.min(axis=0), points.max(axis=0)
            own = np.array([[ends[k][i] for i, k in enumerate(which)] for which in itertools.product((0, 1), repeat=3)])
            corners.append(own @ shape.transform[:3, :3].T + shape.transform[:3, 3])
    points = np.concatenate(corners) if corners else np.zeros((0, 3))
    return np.stack([points.min(axis=0), points.max(axis=0)]) if len(points) else None
