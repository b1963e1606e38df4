"""All sample models that the reference program has answered for: links, joints, devices, closed loops, shapes, poses."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from bodymotion.formats.choreonoid_body import read_body
from goldens import (
    CORPUS,
    answer,
    box_differences,
    camera_parameters,
    close,
    device_differences,
    extra_joint_differences,
    infinite,
    link_differences,
)
from sample_files import sampled

GOLDENS = sorted((CORPUS / "golden").glob("body__*.json"))

NOT_LOADED = "choreonoid+choreonoid__share__model__Labo1__Labo1.body"
"""A part of a SubBody of this model is missing, for which the reference leaves out the whole SubBody; here only the part is left out."""

NESTED = {
    "unevenground.body": {"Base"},
    "simple_unitree_g1_29dof_mode_15.body": {
        *(
            f"{side}_hip_{axis}_link"
            for side in ("left", "right")
            for axis in ("roll", "yaw")
        ),
        *(
            f"{side}_shoulder_{axis}_link"
            for side in ("left", "right")
            for axis in ("pitch", "roll", "yaw")
        ),
        *(
            f"{side}_wrist_{axis}_link"
            for side in ("left", "right")
            for axis in ("pitch", "roll", "yaw")
        ),
        *(
            f"{side}_{part}"
            for side in ("left", "right")
            for part in ("elbow_link", "rubber_hand")
        ),
    },
}
"""Links with turned Transforms in turned Transforms, where the reference's boxes are larger than what is in them."""

DEVICES = {
    "Camera": "VisionSensor",
    "RangeCamera": "VisionSensor",
    "RateGyroSensor": "Gyro",
    "Imu": "IMU",
    "HolderDevice": "Holder",
    "AttachmentDevice": "Attachment",
    "DigitalIoDevice": "DigitalIO",
}

names = pytest.mark.parametrize(
    "path", sampled(GOLDENS), ids=lambda path: path.stem.removeprefix("body__")
)


@pytest.fixture(autouse=True)
def _samples(corpus):
    """Skip, or fail where CI=true, without the samples."""


@cache
def model(path):
    """Return the body of an answer's model, and the answer."""
    golden = answer(path)
    return read_body(CORPUS / golden["file"], allow_outside=True).require(), golden


def test_all_answers_are_there():
    assert len(GOLDENS) >= 112


@names
def test_links(path):
    body, golden = model(path)
    if path.stem.endswith(NOT_LOADED):
        assert (
            body.links[0].name == golden["links"][0]["name"]
            and len(body.links) > golden["numLinks"] == 1
        )
        assert "wall1.wrl is missing" in " ".join(
            problem.message for problem in body.problems
        )
        return
    assert link_differences(body, golden) == []
    assert body.mass == pytest.approx(golden["mass"], abs=1e-9)
    for link, theirs in zip(body.links, golden["links"], strict=True):
        assert link.joint.name == theirs["jointName"]
        assert link.joint.extra.get("joint_displacement", 0.0) == pytest.approx(
            theirs["q_initial"], abs=1e-12
        )
        efforts = link.joint.extra.get("joint_effort_range", [-np.inf, np.inf])
        assert efforts == [infinite(theirs["u_lower"]), infinite(theirs["u_upper"])]


@names
def test_devices(path):
    body, golden = model(path)
    strange = {p.data["type"] for p in body.problems if p.rule == "BDY151"}
    # The reference leaves out what belongs to plugins that are not there.
    known = [device for device in body.devices if device.kind not in strange]
    assert device_differences(known, golden, DEVICES, parameters) == []
    assert strange <= {"StdActionController"}


def parameters(device, kind: str, given: dict) -> dict[str, bool]:
    match device.kind:
        case "VisionSensor":
            return camera_parameters(device, kind, given)
        case "Gyro":
            return {"w_max": no_limits(device.max_angular_velocity, given["w_max"])}
        case "AccelerationSensor":
            return {"dv_max": no_limits(device.max_acceleration, given["dv_max"])}
        case "ForceSensor":
            return {
                "F_max": no_limits(
                    [*device.max_force, *device.max_torque], given["F_max"]
                )
            }
        case "SpotLight":
            extra = device.extra
            names = ("constantAttenuation", "linearAttenuation", "quadraticAttenuation")
            beam = extra.get("beam_width", extra.get("beamWidth"))
            return {
                "attenuation": close(
                    extra["attenuation"], [given[name] for name in names], 1e-6
                ),
                "direction": close(extra["direction"], given["direction"]),
                "beamWidth": close(np.radians(beam), given["beamWidth"], 1e-6),
            }
    return {}


def no_limits(ours, theirs) -> bool:
    return all(a == -1 for a in ours) and all(infinite(b) == np.inf for b in theirs)


@names
def test_extra_joints(path):
    body, golden = model(path)
    assert extra_joint_differences(body, golden) == []


@names
def test_bounding_boxes(path):
    body, golden = model(path)
    if not path.stem.endswith(NOT_LOADED):
        assert (
            box_differences(
                body, golden, NESTED.get((CORPUS / golden["file"]).name, set())
            )
            == []
        )


@names
def test_center_of_mass_where_the_joints_stand_at_first(path):
    body, golden = model(path)
    if path.stem.endswith(NOT_LOADED):
        return
    owners = [
        body.links[index].joint.extra if index >= 0 else {}
        for index in body.joint_links
    ]
    q = [extra.get("joint_displacement", 0.0) for extra in owners]
    center = body.center_of_mass(body.forward_kinematics(q))
    assert np.abs(center - golden["centerOfMassAtInitialPosition"]).max() <= 1e-12
