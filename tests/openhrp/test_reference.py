"""All sample models against the answers of the reference program: links, joints, devices, closed loops, shapes, poses."""

from __future__ import annotations

import numpy as np
import pytest
from reference_answers import (
    CORPUS,
    answer,
    body_of,
    box_of_boxes,
    device_differences,
    differences,
    exact_box,
)

from bodymotion import rotations

GOLDENS = sorted((CORPUS / "golden").glob("wrl__*.json"))
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
"""Links with turned Transforms in turned Transforms: there the reference takes boxes of boxes of boxes, each larger than what is in it."""


def model(path):
    """Give the body of an answer's model, and the answer."""
    golden = answer(path)
    return body_of(CORPUS / golden["file"]), golden


@pytest.fixture(autouse=True)
def _samples(corpus):
    """Skip, or fail where CI=true, without the samples."""


def test_all_answers_are_there(corpus):
    assert len(GOLDENS) >= 116
    assert len(MOVED) >= 51


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem.removeprefix("wrl__"))
def test_links_and_devices(path):
    body, golden = model(path)
    assert differences(body, golden) == []
    assert device_differences(body, golden) == []
    assert body.mass == pytest.approx(golden["mass"], abs=1e-9)


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem.removeprefix("wrl__"))
def test_extra_joints(path):
    body, golden = model(path)
    assert len(body.extra_joints) == len(golden["extraJoints"])
    for ours, theirs in zip(body.extra_joints, golden["extraJoints"], strict=True):
        assert ours.type == theirs["type"]
        assert [body.links[index].name for index in ours.links] == [theirs["link1"], theirs["link2"]]
        assert np.allclose(ours.positions, [theirs["point1"], theirs["point2"]], atol=1e-9)
        assert np.allclose(ours.axis, theirs["axis"], atol=1e-9)


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem.removeprefix("wrl__"))
def test_bounding_boxes(path):
    body, golden = model(path)
    for link, theirs in zip(body.links, golden["links"], strict=True):
        for shapes, name in ((link.visuals, "visualBoundingBox"), (link.collisions, "collisionBoundingBox")):
            given = theirs[name]
            box = exact_box(shapes)
            assert (box is None) == (given is None), f"{link.name} {name}"
            if box is None:
                continue
            reference = np.array([given["min"], given["max"]])
            tolerance = 1e-5 * np.linalg.norm(reference[1] - reference[0])
            assert (box[0] >= reference[0] - tolerance).all() and (box[1] <= reference[1] + tolerance).all(), link.name
            if ((CORPUS / golden["file"]).name, link.name) not in NESTED:
                assert np.abs(box_of_boxes(shapes) - reference).max() <= tolerance, f"{link.name} {name}"


@pytest.mark.parametrize("path", MOVED, ids=lambda path: path.stem.removeprefix("wrl__"))
def test_forward_kinematics(path):
    body, golden = model(path)
    configurations, results = golden["fk"]["configs"], golden["fk"]["result"]["configs"]
    q = np.array([given["q"] for given in configurations], dtype=float).reshape(len(configurations), -1)
    root = np.array([given["p"] + given["quat"] for given in configurations])
    poses = body.forward_kinematics(q, root)
    positions = np.array([[link["p"] for link in result["links"]] for result in results])
    turns = np.array([[link["R"] for link in result["links"]] for result in results])
    assert np.abs(poses[..., :3] - positions).max() <= 1e-12
    assert np.abs(rotations.to_matrix(poses[..., 3:]) - turns).max() <= 1e-12
    if body.mass > 0:
        centers = np.array([result["com"] for result in results])
        assert np.abs(body.center_of_mass(poses) - centers).max() <= 1e-12
