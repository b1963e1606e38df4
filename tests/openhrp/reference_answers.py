"""What the reference program says about OpenHRP models beyond what all models have, and its known faults."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

import goldens
from bodymotion.formats.openhrp import read_openhrp
from bodymotion.model.body import Body
from goldens import camera_parameters, close

DEVICES = {
    "Camera": "VisionSensor",
    "RangeCamera": "VisionSensor",
    "RateGyroSensor": "Gyro",
    "SpotLight": "SpotLightDevice",
}
UNKNOWN_TO_REFERENCE = ("PressureSensor", "PhotoInterrupter", "TorqueSensor")


@cache
def body_of(path: Path) -> Body:
    """Read a model; the reference opens parts outside of the model's folder, too."""
    return read_openhrp(path, allow_outside=True).require()


def differences(body: Body, golden: dict) -> list[str]:
    """List everything about links and joints in which a body and the reference's answer differ."""
    found = goldens.link_differences(body, golden)
    if body.info["info"] != golden["info"]["humanoid info"].removesuffix("\n"):
        found.append(f"info {body.info['info']!r}")
    for link, theirs in zip(body.links, golden["links"], strict=False):
        joint = link.joint
        motor = {
            "gearRatio": joint.gear_ratio,
            "rotorInertia": joint.rotor_inertia,
            "rotorResistor": joint.rotor_resistor,
            "torqueConst": joint.torque_const,
            "encoderPulse": joint.encoder_pulse,
            "climit": np.ravel(joint.extra.get("climit", 1.79769e308))[0],
        }
        if any(f"{value:.6g}" != theirs["info"][name] for name, value in motor.items()):
            found.append(f"{link.name}: motor")
    return found


def device_differences(body: Body, golden: dict) -> list[str]:
    """List everything about devices in which a body and the reference's answer differ, but for the reference's known faults."""
    ours = [
        device for device in body.devices if device.kind not in UNKNOWN_TO_REFERENCE
    ]
    return goldens.device_differences(ours, golden, DEVICES, parameters)


def parameters(device, kind: str, given: dict) -> dict[str, bool]:
    match device.kind:
        case "Gyro":
            return {"w_max": close(device.max_angular_velocity, given["w_max"])}
        case "ForceSensor":
            return {
                "F_max": close([*device.max_force, *device.max_torque], given["F_max"])
            }
        case "RangeSensor":
            return {
                "scan_angle": close(0.5 * device.scan_angle, given["maxYawAngle"]),
                "scan_step": close(device.scan_step, given["yawStep"]),
                "scan_rate": close(device.scan_rate, given["scanRate"]),
                "max_distance": close(device.max_distance, given["maxDistance"]),
            }
        case "VisionSensor":
            return camera_parameters(device, kind, given)
        case "SpotLightDevice":
            single = 1e-6
            names = ("constantAttenuation", "linearAttenuation", "quadraticAttenuation")
            return {
                "attenuation": close(
                    device.extra["attenuation"], [given[name] for name in names], single
                ),
                "cutOffAngle": close(
                    device.extra["cutOffAngle"], given["cutOffAngle"], single
                ),
                **{
                    name: close(device.extra[name], given[name], single)
                    for name in ("beamWidth", "color", "direction", "intensity")
                },
            }
    # The reference takes the limit of an AccelerationSensor from maxAngularVelocity: nothing to compare.
    return {}
