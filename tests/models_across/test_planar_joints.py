"""Planar joints of URDF: two that slide and one that rotates, as in MuJoCo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bodymotion as bm
from body_differences import difference
from bodymotion.formats.mjcf import read_mjcf
from bodymotion.formats.urdf import read_urdf
from bodymotion.model.body import Body

INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" '
    'iyz="0" izz="0.01"/></inertial>'
)
KEEP_ALL = '<mujoco><compiler fusestatic="false"/></mujoco>'
AXES = {
    "default": "",
    "x": "1 0 0",
    "y": "0 1 0",
    "z": "0 0 1",
    "down": "0 0 -1",
    "skew": "0.3 -0.5 0.7",
}
NAMES = ["drive_TX", "drive_TY", "drive_RZ"]


def link(name: str, content: str = INERTIAL) -> str:
    return f'<link name="{name}">{content}</link>'


def joint(
    name: str, kind: str, parent: str, child: str, axis: str = "0 0 1", more: str = ""
) -> str:
    given = f'<axis xyz="{axis}"/>' if axis else ""
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="0.1 -0.2 0.3" rpy="0.1 0.2 0.3"/>'
        f'<parent link="{parent}"/><child link="{child}"/>{given}{more}</joint>'
    )


LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
ARM = link("arm") + joint("shoulder", "revolute", "base", "arm", "0 1 0", LIMIT)
DYNAMICS = '<dynamics damping="0.5" friction="0.2"/>'


def base_in(world: str, axis: str = "0 0 1", more: str = DYNAMICS) -> str:
    drive = joint("drive", "planar", world, "base", axis, more)
    return link(world, "") + link("base") + ARM + drive


def read(folder: Path, content: str) -> Body:
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{content}{KEEP_ALL}</robot>')
    return read_urdf(path).require()


def compare_with_mujoco(body: Body, path: Path) -> None:
    """Assert that links are where MuJoCo has its bodies of the same names, at ten random values of all joints."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    generator = np.random.default_rng(8)
    for _ in range(10):
        values = generator.uniform(-1, 1, body.num_joints)
        for each, value in zip(body.joints, values, strict=True):
            data.qpos[model.joint(each.name).qposadr[0]] = value
        mujoco.mj_kinematics(model, data)
        found = body.forward_kinematics(values)
        for index in range(1, model.nbody):
            own = body.link(model.body(index).name).index
            pose = found[own]
            np.testing.assert_allclose(pose[:3], data.xpos[index], atol=1e-12)
            sign = np.sign(pose[3:] @ data.xquat[index])
            np.testing.assert_allclose(sign * pose[3:], data.xquat[index], atol=1e-12)


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_links_are_where_mujoco_has_them(axis, tmp_path):
    body = read(tmp_path, base_in("world", axis))
    assert [each.name for each in body.joints] == ["shoulder", *NAMES]
    compare_with_mujoco(body, tmp_path / "robot.urdf")


def test_a_planar_joint_between_links_that_move(tmp_path):
    """A table that moves on an arm; the root is free, as that of any robot with mass."""
    table = joint("table", "planar", "arm", "plate", "0.3 -0.5 0.7")
    body = read(tmp_path, link("base") + ARM + link("plate") + table)
    assert body.links[0].joint.type == "free"
    compare_with_mujoco(body, tmp_path / "robot.urdf")


@pytest.mark.parametrize(
    "content",
    [
        base_in("world"),
        base_in("odom"),
        link("map", "")
        + base_in("odom")
        + joint("odom_joint", "fixed", "map", "odom", ""),
    ],
    ids=["world", "odom", "below a fixed frame"],
)
def test_a_mobile_base_moves_in_the_world(content, tmp_path):
    """The whole tree is the robot, and links above the base are the world."""
    body = read(tmp_path, content)
    assert body.links[0].joint.type == "fixed"
    compare_with_mujoco(body, tmp_path / "robot.urdf")


def test_a_planar_base_and_a_floating_ball(tmp_path):
    ball = link("ball") + joint("ball_joint", "floating", "odom", "ball")
    body = read(tmp_path, base_in("odom") + ball)
    kinds = {each.name: each.joint.type for each in body.links}
    assert kinds["odom"] == "fixed"
    assert kinds["ball"] == "free"
    assert body.num_joints == 4


def test_damping_and_limits_of_a_planar_joint(tmp_path):
    """URDF has limits for revolute and prismatic joints only; MuJoCo has damping and friction at all three."""
    mujoco = pytest.importorskip("mujoco")
    body = read(tmp_path, base_in("world", more=DYNAMICS + LIMIT))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.urdf"))
    for name in NAMES:
        own = next(each for each in body.joints if each.name == name)
        dof = model.joint(name).dofadr[0]
        assert own.extra["damping"] == model.dof_damping[dof] == 0.5
        assert own.extra["friction"] == model.dof_frictionloss[dof] == 0.2
        assert (own.lower, own.upper) == (-np.inf, np.inf)
    (found,) = (each for each in body.problems if each.rule == "URDF121")
    assert (found.severity, found.data["names"]) == ("warning", tuple(NAMES))
    assert found.location.line == 1
    without = read(tmp_path, base_in("world"))
    assert [each.severity for each in without.problems if each.rule == "URDF121"] == [
        "note"
    ]


@pytest.mark.parametrize("world", ["world", "odom"])
def test_a_planar_joint_is_written_again(world, tmp_path):
    """Also what other elements have of it; links that stand for it need no mass."""
    more = (
        '<gazebo reference="drive"><sensor name="f" type="force_torque"/></gazebo>'
        '<transmission name="t"><type>x</type><joint name="drive"/><actuator name="m">'
        "<mechanicalReduction>50</mechanicalReduction></actuator></transmission>"
    )
    drive = base_in(world, "0.3 -0.5 0.7", DYNAMICS + LIMIT)
    body = read(tmp_path, drive + more)
    assert body.devices[0].link == body.link("base").index
    assert {each.rule for each in body.problems} <= {"BODY110", "URDF103", "URDF121"}
    assert not bm.save(body, tmp_path / "again.urdf").losses
    text = (tmp_path / "again.urdf").read_text()
    assert text.count('type="planar"') == 1
    assert "drive_T" not in text.partition("<bodymotion")[0]
    again = read_urdf(tmp_path / "again.urdf").require()
    assert difference(body, again, 1e-15) == ""
    assert {each.rule for each in again.problems} == {
        each.rule for each in body.problems
    }


def test_a_planar_joint_in_mjcf_is_three_of_one_body(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    body = read(tmp_path, base_in("odom", "0.3 -0.5 0.7"))
    lost = bm.save(body, tmp_path / "robot.xml").losses
    assert not {each.rule for each in lost} & {"LOSS033", "LOSS036"}
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    assert model.body("base").jntnum[0] == 3
    assert model.body_mass.sum() == 2.0
    compare_with_mujoco(body, tmp_path / "robot.xml")
    again = read_mjcf(tmp_path / "robot.xml").require()
    assert again == body
    bm.save(again, tmp_path / "again.urdf")
    last = read_urdf(tmp_path / "again.urdf").require()
    assert difference(body, last, 1e-15) == ""


def test_an_edited_planar_joint_is_written_as_three(tmp_path):
    """A limit that a planar joint cannot hold: other programs find all three joints, with the limit."""
    body = read(tmp_path, base_in("world"))
    first = body.link("base_drive_TX")
    links = list(body.links)
    links[first.index] = replace(first, joint=replace(first.joint, upper=2.0))
    edited = replace(body, links=tuple(links))
    bm.save(edited, tmp_path / "edited.urdf")
    text = (tmp_path / "edited.urdf").read_text()
    assert 'type="planar"' not in text
    found = {
        each.name: each for each in read_urdf(tmp_path / "edited.urdf").require().joints
    }
    assert found["drive_TX"].upper == 2.0


def test_names_of_planar_joints_that_exist_already(tmp_path):
    other = link("drive_TX") + joint("drive_TY", "fixed", "base", "drive_TX", "")
    body = read(tmp_path, base_in("world") + other)
    names = {each.name for each in body.joints}
    assert names == {"shoulder", "drive_TX_2", "drive_TY_2", "drive_RZ"}
    bm.save(body, tmp_path / "again.urdf")
    again = read_urdf(tmp_path / "again.urdf").require()
    assert difference(body.links, again.links, 1e-15) == ""
