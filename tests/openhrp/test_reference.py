"""All sample models against the answers of the reference program: links, joints, devices, closed loops, shapes, poses."""

from __future__ import annotations

import numpy as np
import pytest
from reference_answers import body_of, device_differences, differences

from bodymotion.geometry import rotations
from goldens import CORPUS, answer, box_differences, extra_joint_differences
from sample_files import sampled

GOLDENS = sorted((CORPUS / "golden").glob("wrl__*.json"))
SOME = sampled(GOLDENS)
MOVED = [path for path in GOLDENS if "fk" in answer(path)]

NESTED = {
    ("unevenfloor.wrl", "WAIST"),
    ("PanTilt_futaba.wrl", "TILT"),
    ("table.main.wrl", "WAIST"),
    ("HRP4Cmain.wrl", "R_KNEE_P"),
    ("HRP4Cmain.wrl", "L_KNEE_P"),
    ("HRP4Cmain.wrl", "R_SHOULDER_P"),
    ("HRP4Cmain.wrl", "L_SHOULDER_P"),
}
"""Links with turned Transforms in turned Transforms, where the reference's boxes are larger than what is in them."""


def model(path):
    """Return the body of an answer's model, and the answer."""
    golden = answer(path)
    return body_of(CORPUS / golden["file"]), golden


@pytest.fixture(autouse=True)
def _samples(corpus):
    """Skip, or fail where CI=true, without the samples."""


def test_all_answers_are_there(corpus):
    assert len(GOLDENS) >= 116
    assert len(MOVED) >= 51


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem.removeprefix("wrl__"))
def test_links_and_devices(path):
    body, golden = model(path)
    assert differences(body, golden) == []
    assert device_differences(body, golden) == []
    assert body.mass == pytest.approx(golden["mass"], abs=1e-9)


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem.removeprefix("wrl__"))
def test_extra_joints(path):
    body, golden = model(path)
    assert extra_joint_differences(body, golden) == []


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem.removeprefix("wrl__"))
def test_bounding_boxes(path):
    body, golden = model(path)
    nested = {link for name, link in NESTED if name == (CORPUS / golden["file"]).name}
    assert box_differences(body, golden, nested) == []


@pytest.mark.parametrize(
    "path", sampled(MOVED), ids=lambda path: path.stem.removeprefix("wrl__")
)
def test_forward_kinematics(path):
    body, golden = model(path)
    configurations, results = golden["fk"]["configs"], golden["fk"]["result"]["configs"]
    q = np.array([given["q"] for given in configurations], dtype=float).reshape(
        len(configurations), -1
    )
    root = np.array([given["p"] + given["quat"] for given in configurations])
    poses = body.forward_kinematics(q, root)
    positions = np.array(
        [[link["p"] for link in result["links"]] for result in results]
    )
    turns = np.array([[link["R"] for link in result["links"]] for result in results])
    assert np.abs(poses[..., :3] - positions).max() <= 1e-12
    assert np.abs(rotations.to_matrix(poses[..., 3:]) - turns).max() <= 1e-12
    if body.mass > 0:
        centers = np.array([result["com"] for result in results])
        assert np.abs(body.center_of_mass(poses) - centers).max() <= 1e-12
