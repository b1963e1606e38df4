"""The robot of the examples is a complete OpenHRP model, and a body that could exist."""

from __future__ import annotations

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.geometry import poses


def test_nothing_is_odd(body):
    assert body.problems == ()
    assert body.name == "BIPED"


def test_the_joints_are_numbered_without_gaps_depth_first(body):
    assert [link.joint.id for link in body.links[1:]] == list(range(32))
    assert body.links[0].name == "WAIST"
    assert body.links[0].joint.type == "free"
    assert body.links[0].joint.id == -1
    assert {link.joint.type for link in body.links[1:]} == {"rotate"}
    assert body.num_joints == 32


def test_every_joint_has_limits_and_every_drive_a_motor(body):
    for joint in body.joints:
        assert -np.pi - 1e-6 <= joint.lower < 0 < joint.upper <= np.pi, joint.name
        assert joint.velocity_lower == -joint.velocity_upper < 0
        driven = "FINGERS" not in joint.name and "ROCKER" not in joint.name
        assert (joint.rotor_inertia > 0) == driven
        assert (joint.gear_ratio > 1) == driven
        if driven:
            assert joint.gear_efficiency == 0.85
            assert joint.encoder_pulse == 4096


def test_it_has_the_five_sensors(body):
    kinds = [device.kind for device in body.devices]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "AccelerationSensor": 1,
        "Gyro": 1,
        "ForceSensor": 4,
        "VisionSensor": 1,
        "RangeSensor": 1,
    }
    forces = sorted(
        (device for device in body.devices if isinstance(device, bm.model.ForceSensor)),
        key=lambda d: d.id,
    )
    assert [body.links[device.link].name for device in forces] == [
        "R_ANKLE_ROLL",
        "L_ANKLE_ROLL",
        "R_WRIST",
        "L_WRIST",
    ]
    assert [device.id for device in forces] == [0, 1, 2, 3]
    camera = next(
        device for device in body.devices if isinstance(device, bm.model.VisionSensor)
    )
    assert (camera.type, camera.width, camera.height) == ("COLOR_DEPTH", 640, 480)


@pytest.mark.parametrize("kind", [bm.model.VisionSensor, bm.model.RangeSensor])
def test_camera_and_scanner_look_ahead(body, kind):
    """A device looks along its −z with +y up: here along x of the robot, with z up."""
    device = next(device for device in body.devices if isinstance(device, kind))
    turn = poses.to_matrix(device.pose)[:3, :3]
    np.testing.assert_allclose(-turn[:, 2], [1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(turn[:, 1], [0, 0, 1], atol=1e-9)
    bounds = [shape.bounds for shape in body.links[device.link].visuals]
    assert (
        device.pose[0]
        >= max(
            b[1][0]
            for b in bounds
            if b[0][1] < 0 < b[1][1] and b[0][2] < device.pose[2] < b[1][2]
        )
        - 0.03
    )


def test_it_is_of_a_size_and_weight_that_fit(body):
    straight = body.forward_kinematics(np.zeros(32))
    points = _points(body, straight)
    low, high = points.min(axis=0), points.max(axis=0)
    assert 1.2 < high[2] < 1.5
    assert low[2] == pytest.approx(0, abs=1e-9), (
        "with straight legs the soles stand on the ground"
    )
    assert low[1] == pytest.approx(-high[1], abs=1e-3)
    assert 35 < body.mass < 45
    center = body.center_of_mass(straight)
    assert 0.5 * high[2] < center[2] < 0.6 * high[2]
    assert abs(center[1]) < 1e-4


def _points(body, link_poses):
    return np.concatenate(
        [
            poses.transform_points(link_poses[link.index], shape.to_mesh().vertices)
            for link in body.links
            for shape in link.visuals
        ]
    )


def test_every_link_is_a_body_that_could_exist(body):
    """Mass; an inertia that is positive and keeps the triangle inequality; the centre of mass inside what is seen."""
    for link in body.links:
        assert link.mass > 0.03
        np.testing.assert_allclose(link.inertia, link.inertia.T, atol=1e-12)
        a, b, c = np.linalg.eigvalsh(link.inertia)
        assert 0 < a <= b <= c < a + b, link.name
        corners = np.array([shape.bounds for shape in link.visuals])
        low, high = corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)
        assert np.all(low < link.center_of_mass) and np.all(
            link.center_of_mass < high
        ), link.name
        farthest = link.mass / 4 * np.sum((high - low) ** 2)
        assert 0.02 * farthest < np.trace(link.inertia) / 2 < farthest, (
            "all mass in the corners would be the most"
        )


def test_left_and_right_are_mirror_images(body):
    for link in body.links:
        if link.name.startswith("R_"):
            other = body.link("L_" + link.name[2:])
            assert other.mass == pytest.approx(link.mass, rel=1e-6)
            np.testing.assert_allclose(
                other.center_of_mass, link.center_of_mass * [1, -1, 1], atol=2e-6
            )
            np.testing.assert_allclose(
                other.offset[:3], link.offset[:3] * [1, -1, 1], atol=1e-12
            )


def test_the_legs_have_closed_form(body):
    """Hip and ankle: joints with one centre, as the document shows joints of several degrees of freedom."""
    for side in "RL":
        for name in ("HIP_ROLL", "HIP_PITCH", "ANKLE_ROLL"):
            np.testing.assert_array_equal(body.link(f"{side}_{name}").offset[:3], 0)


def test_the_shapes_are_closed_and_face_outwards(body):
    """The volume inside the triangles is positive: what is drawn is a solid with its outside outside."""
    for link in body.links:
        for shape in link.visuals:
            mesh = shape.to_mesh()
            a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
            volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
            low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
            box = np.prod(high - low)
            assert 0.4 * box < volume <= box * (1 + 1e-9), (
                link.name,
                type(shape.geometry).__name__,
            )


def test_loops_and_segments(body):
    assert [(loop.name, loop.type) for loop in body.extra_joints] == [
        ("R_HAND_LOOP", "xyz"),
        ("L_HAND_LOOP", "xyz"),
    ]
    for loop, side in zip(body.extra_joints, "RL", strict=True):
        assert [body.links[k].name for k in loop.links] == [
            f"{side}_FINGER_ROCKER",
            f"{side}_FINGERS",
        ]
    assert [segment.name for segment in body.link("CHEST_PITCH").segments] == [
        "CHEST_PITCH_LINK",
        "BATTERY",
    ]


def test_it_says_what_it_is_and_from_where_to_look(body):
    assert body.info["version"] == "1.0"
    assert "humanoid" in str(body.info["info"])
    assert [view.description for view in body.viewpoints] == [
        "Three quarters",
        "Front",
        "Left side",
        "Back",
    ]
    for view in body.viewpoints:
        ahead = poses.to_matrix(view.pose)[:3, :3] @ [0, 0, -1]
        to_robot = np.array([0, 0, 0.66]) - view.pose[:3]
        assert ahead @ to_robot == pytest.approx(np.linalg.norm(to_robot), rel=1e-6)
