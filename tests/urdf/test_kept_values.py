"""What URDF has no place for: <bodymotion> keeps joint ids, motors, loops, sensors; the rest is a loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.formats.urdf import parse_urdf, read_urdf, write_urdf
from bodymotion.geometry.shapes import Box, Material, Shape


def robot(joint=None, **values):
    joint = joint or bm.Joint(name="b", type="rotate", id=0)
    links = (
        bm.Link(name="a", joint=bm.Joint(name="a", type="free")),
        bm.Link(name="b", index=1, parent=0, joint=joint),
    )
    return bm.Body(name="r", links=links, **values)


def saved(body, folder, **options):
    """Return the problems of writing, and the body that is read."""
    report = write_urdf(body, folder / "r.urdf", **options)
    return report, read_urdf(folder / "r.urdf").require()


def words(report, code):
    return " ".join(problem.message for problem in report if problem.rule == code)


MOTOR = {
    "gear_efficiency": 0.9,
    "rotor_inertia": 1e-4,
    "rotor_resistor": 0.5,
    "torque_const": 0.02,
    "encoder_pulse": 4000.0,
}


def test_motors_and_ids_are_kept(tmp_path):
    body = robot(bm.Joint(name="b", type="rotate", id=7, **MOTOR))
    report, read = saved(body, tmp_path)
    joint = read.links[1].joint
    assert {name: getattr(joint, name) for name in MOTOR} == MOTOR
    assert joint.id == 7
    assert not read.problems
    assert "joint torque_const" in words(report, "URDF162")
    assert "joint rotor_inertia" in words(report, "LOSS040")
    report, read = saved(body, tmp_path, extension=False)
    assert read.links[1].joint.torque_const == 1.0
    assert "left out: joint torque_const" in words(report, "LOSS040")


def test_a_joint_without_id_has_none_where_others_have_one(tmp_path):
    body = robot()
    more = bm.Link(
        name="c", index=2, parent=1, joint=bm.Joint(name="c", type="slide", id=-1)
    )
    _, read = saved(replace(body, links=(*body.links, more)), tmp_path)
    assert [link.joint.id for link in read.links] == [-1, 0, -1]


def test_a_fixed_root_and_its_pose_are_kept(tmp_path):
    pose = np.array([0.0, 0.0, 0.7, 1.0, 0.0, 0.0, 0.0])
    body = robot(root_pose=pose)
    root = replace(body.links[0], joint=bm.Joint(name="a", type="fixed"), offset=pose)
    _, read = saved(replace(body, links=(root, *body.links[1:])), tmp_path)
    assert read.links[0].joint.type == "fixed"
    assert np.array_equal(read.root_pose, pose)
    assert np.array_equal(read.links[0].offset, pose)


def test_extra_joints_are_kept(tmp_path):
    loop = bm.model.ExtraJoint(
        name="loop",
        type="hinge",
        links=(0, 1),
        positions=[[1.0, 2.0, 3.0], [0.0, 0.5, 0.0]],
        axis=[0.0, 1.0, 0.0],
    )
    report, read = saved(robot(extra_joints=(loop,)), tmp_path)
    assert read.extra_joints == (loop,)
    assert "LOSS039" in {problem.rule for problem in report}


@pytest.mark.parametrize("kind", [bm.model.Gyro, bm.model.AccelerationSensor])
def test_half_of_an_imu_is_kept(kind, tmp_path):
    device = kind(name="imu", id=3, link=1)
    report, read = saved(robot(devices=(device,)), tmp_path)
    assert read.devices == (device,)
    assert "IMU is only" in words(report, "URDF162")
    _, read = saved(robot(devices=(device,)), tmp_path, extension=False)
    assert len(read.devices) == 2


def test_limits_of_sensors_are_kept(tmp_path):
    devices = (
        bm.model.AccelerationSensor(name="imu", id=0, link=1),
        bm.model.Gyro(name="imu", id=0, link=1, max_angular_velocity=[1.0, 2.0, 3.0]),
    )
    _, read = saved(robot(devices=devices), tmp_path)
    assert read.devices == devices


def test_nothing_is_written_where_nothing_is_kept(tmp_path):
    report, _ = saved(robot(), tmp_path)
    assert b"<bodymotion version" not in (tmp_path / "r.urdf").read_bytes()
    assert not report


def test_other_values_are_left_out_and_reported(tmp_path):
    red = Material(diffuse=(1.0, 0.0, 0.0), shininess=0.7)
    shape = Shape(Box((1.0, 1.0, 1.0)), material=red)
    segment = bm.Segment(
        name="part", visuals=(shape,), collisions=(shape,), extra={"by": "me"}
    )
    body = robot(info={"a": 1}, extra={"b": 2}, viewpoints=(bm.model.Viewpoint(),))
    offset = np.array([1.0, 2.0, 3.0, 2.0, 0.0, 0.0, 0.0])
    second = replace(body.links[1], segments=(segment,), offset=offset)
    report, read = saved(replace(body, links=(body.links[0], second)), tmp_path)
    left_out = words(report, "LOSS040")
    for field in (
        "info",
        "extra",
        "viewpoints",
        "segment name",
        "segment extra",
        "the length of a quaternion",
    ):
        assert f"left out: {field}" in left_out
    assert "collisions have no material" in words(report, "LOSS037")
    assert "highlights" in words(report, "LOSS037")
    assert {problem.severity for problem in report} == {"note"}
    (collision,) = read.links[1].collisions
    assert collision.material == Material()
    assert read.links[1].visuals[0].material.diffuse == red.diffuse


LINKS = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="b" type="continuous"><parent link="a"/><child link="b"/></joint>
<gazebo reference="b"><sensor name="s" type="imu">{sensor}</sensor></gazebo>
<bodymotion version="{version}" {pose}>{entries}</bodymotion></robot>"""


@pytest.mark.parametrize(
    "values",
    [
        {"version": "1"},
        {"pose": 'root_pose="0 0 0 0 0 0 0"'},
        {"pose": 'root_pose="0 0 1"'},
        {"entries": '<joint link="z" id="1"/>'},
        {"entries": '<joint link="b" id="1.5"/>'},
        {"entries": '<joint link="b" id="99999"/>'},
        {"entries": '<joint link="b" speed="9"/>'},
        {"entries": '<joint link="b" type="slide"/>'},
        {"entries": '<joint link="a" type="lose"/>'},
        {"entries": '<joint link="b" torque_const="much"/>'},
        {"entries": '<extra_joint link1="a" link2="z"/>'},
        {"entries": '<extra_joint link1="a" link2="b" type="xx"/>'},
        {"entries": '<extra_joint link1="a" link2="b" axis="0 0 inf"/>'},
        {"entries": "<device/>"},
        {"sensor": '<bodymotion kind="Gyro" speed="1"/>'},
    ],
)
def test_other_content_is_reported_and_ignored(values, tmp_path):
    given = {"version": "2", "pose": "", "entries": "", "sensor": "", **values}
    read = parse_urdf(LINKS.format(**given).encode(), tmp_path / "r.urdf").require()
    assert {problem.rule for problem in read.problems} == {"URDF160"}
    assert read.links[1].joint.torque_const == 1.0


@pytest.mark.parametrize("axis", [[0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
def test_a_joint_axis_of_another_length_is_reported(tmp_path, axis):
    report, read = saved(
        robot(bm.Joint(name="b", type="rotate", id=0, axis=axis)), tmp_path
    )
    assert ("left out: joint axis" in words(report, "LOSS040")) == any(axis)
    assert np.allclose(np.linalg.norm(read.links[1].joint.axis), any(axis))
