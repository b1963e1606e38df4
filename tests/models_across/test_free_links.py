"""Robots that float in a world, objects beside robots, and quaternions of URDF 1.1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.formats.mjcf import read_mjcf
from bodymotion.formats.urdf import read_urdf
from bodymotion.geometry import poses
from bodymotion.model.body import Body
from bodymotion.motion.components import JOINT_DISPLACEMENT

GRAVITY = 9.81  # [m/s²] As MuJoCo has it.
INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" '
    'iyz="0" izz="0.01"/></inertial>'
)
BOX = '<visual><geometry><box size="5 5 0.1"/></geometry></visual>'
ARM_AND_BALL = """<mujoco><worldbody>
    <body name="base"><geom size="0.1" mass="3"/>
      <body name="upper" pos="0 0 0.1"><joint name="shoulder" axis="0 1 0"/><geom size="0.05" mass="2"/>
        <body name="fore" pos="0 0 0.3" euler="10 20 30"><joint name="elbow" axis="0 1 0"/><geom size="0.05" mass="1"/></body>
      </body>
    </body>
    <body name="ball" pos="0.4 0 9"><freejoint/><geom size="0.04" mass="0.1"/><body name="dent" pos="0 0 0.04"/></body>
    </worldbody></mujoco>"""


def link(name: str, content: str = INERTIAL) -> str:
    return f'<link name="{name}">{content}</link>'


def joint(kind: str, parent: str, child: str, xyz: str = "0 0 0.5") -> str:
    return (
        f'<joint name="{child}_joint" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="0 0 0.3"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )


ROBOT = link("pelvis") + link("thigh") + joint("revolute", "pelvis", "thigh")
BALL = link("ball")


def urdf(folder: Path, *parts: str) -> Body:
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    return read_urdf(path).require()


def kinds(body: Body) -> list[tuple[str, str, int]]:
    return [(each.name, each.joint.type, each.parent) for each in body.links]


FREE_ROBOT = [("pelvis", "free", -1), ("thigh", "rotate", 0)]
CASES = {
    "a link without mass": (
        link("world", "") + ROBOT + joint("floating", "world", "pelvis"),
        FREE_ROBOT,
        {"URDF116"},
    ),
    "of any name": (
        link("odom", "") + ROBOT + joint("floating", "odom", "pelvis"),
        FREE_ROBOT,
        {"URDF116"},
    ),
    "below a fixed frame": (
        link("world", "")
        + link("odom", "")
        + ROBOT
        + joint("fixed", "world", "odom", "0 0 0")
        + joint("floating", "odom", "pelvis"),
        FREE_ROBOT,
        {"URDF116"},
    ),
    "a ground with a shape": (
        link("world", BOX) + ROBOT + joint("floating", "world", "pelvis"),
        FREE_ROBOT,
        {"URDF117"},
    ),
    "a robot and an object": (
        link("world", "")
        + BALL
        + ROBOT
        + joint("floating", "world", "ball")
        + joint("floating", "world", "pelvis"),
        FREE_ROBOT,
        {"URDF117"},
    ),
    "a fixed robot and an object": (
        link("world", "")
        + ROBOT
        + BALL
        + joint("fixed", "world", "pelvis")
        + joint("floating", "world", "ball"),
        [
            ("world", "fixed", -1),
            ("pelvis", "fixed", 0),
            ("thigh", "rotate", 1),
            ("ball", "free", 0),
        ],
        set(),
    ),
    "two objects": (
        link("map", "")
        + BALL
        + link("box")
        + joint("floating", "map", "ball")
        + joint("floating", "map", "box"),
        [("map", "fixed", -1), ("ball", "free", 0), ("box", "free", 0)],
        set(),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_root_of_a_urdf_with_floating_joints(case, tmp_path):
    content, expected, rules = CASES[case]
    body = urdf(tmp_path, content)
    assert kinds(body) == expected
    found = {problem.rule for problem in body.problems}
    assert found & {"URDF116", "URDF117"} == rules
    moved = [name for name, kind, _ in expected if kind == "rotate"]
    assert body.num_joints == len(moved)
    bm.save(body, tmp_path / "again.urdf")
    again = read_urdf(tmp_path / "again.urdf").require()
    assert kinds(again) == expected
    # The limits of a floating joint have no meaning, and are not written.
    names = [[each.joint.name for each in read.links] for read in (again, body)]
    assert names[0] == names[1]


def test_the_pose_of_a_root_below_a_fixed_frame(tmp_path):
    """Two rotations of 0.3 rad about z, and 0.5 m of height from each joint."""
    body = urdf(
        tmp_path,
        link("world", BOX),
        link("odom", ""),
        ROBOT,
        joint("fixed", "world", "odom"),
        joint("floating", "odom", "pelvis"),
    )
    expected = [0, 0, 1, np.cos(0.3), 0, 0, np.sin(0.3)]
    np.testing.assert_allclose(body.root_pose, expected, atol=1e-12)
    assert [shape.geometry.size for shape in body.environment] == [(5, 5, 0.1)]


def test_a_floating_root_is_that_of_the_robot_without_a_world(strangers, tmp_path):
    """Simulated, both move alike; the columns of a motion are those of the joints that move."""
    pytest.importorskip("mujoco")
    text = (strangers / "03/world_floating.urdf").read_text()
    start, end = text.index('<joint name="floating'), text.index('<joint name="hip"')
    without = text.replace('<link name="world"/>', "")
    without = without.replace(text[start:end], "")
    (tmp_path / "r.urdf").write_text(without)
    motion = bm.load_motion(strangers / "03/m.csv")
    results = [
        bm.simulate(bm.load_body(path), motion)
        for path in (strangers / "03/world_floating.urdf", tmp_path / "r.urdf")
    ]
    for name in ("q", "root", "effort"):
        one, other = (getattr(result, name) for result in results)
        np.testing.assert_array_equal(one, other)


def test_a_fixed_arm_and_a_free_object(tmp_path):
    """All bodies are read, at the poses that MuJoCo gives them."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "scene.xml"
    path.write_text(ARM_AND_BALL)
    body = read_mjcf(path).require()
    model = mujoco.MjModel.from_xml_path(str(path))
    assert [each.name for each in body.links] == [
        model.body(k).name for k in range(model.nbody)
    ]
    assert [each.name for each in body.joints] == ["shoulder", "elbow"]
    assert body.mass == pytest.approx(model.body_mass.sum())
    assert body.is_mounted
    data = mujoco.MjData(model)
    q = np.array([0.3, -0.7])
    data.qpos[:2] = q
    mujoco.mj_kinematics(model, data)
    found = body.forward_kinematics(q)
    np.testing.assert_allclose(found[:, :3], data.xpos, atol=1e-12)


def test_an_object_falls_beside_a_fixed_arm(tmp_path):
    path = tmp_path / "scene.xml"
    path.write_text(ARM_AND_BALL)
    pytest.importorskip("mujoco")
    joints = bm.MultiValueSeq(
        content=JOINT_DISPLACEMENT,
        timeline=bm.Timeline.uniform(51, 100.0),
        values=np.zeros((51, 2)),
    )
    result = bm.simulate(bm.load_body(path), bm.Motion((joints,)))
    links = result.motion.link_position
    times = np.arange(links.num_frames) / result.frame_rate
    ball, dent = links.values[:, 4], links.values[:, 5]
    fallen = 9.0 - 0.5 * GRAVITY * times**2
    # MuJoCo's steps of 1 ms add g·dt/2 per second to the velocity.
    np.testing.assert_allclose(ball[:, 2], fallen, atol=3e-3)
    np.testing.assert_allclose(dent[:, 2], ball[:, 2] + 0.04, atol=1e-9)


def test_an_object_of_a_urdf_is_free_in_mujoco(tmp_path):
    """A free joint is in the world in MuJoCo; the file is read as the same body again."""
    mujoco = pytest.importorskip("mujoco")
    base = link("world", "") + joint("fixed", "world", "pelvis", "1 2 3")
    body = urdf(tmp_path, base, ROBOT, BALL, joint("floating", "pelvis", "ball"))
    lost = bm.save(body, tmp_path / "robot.xml").losses
    assert not lost
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    free = model.body("ball").jntadr[0]
    assert model.jnt_type[free] == mujoco.mjtJoint.mjJNT_FREE
    at_rest = body.forward_kinematics(np.zeros(1))[3]
    np.testing.assert_allclose(model.qpos0[-7:], at_rest, atol=1e-12)
    assert read_mjcf(tmp_path / "robot.xml").require() == body


FIXED = joint("fixed", "world", "pelvis", "1 2 3")
WORLDS = {
    "a fixed robot": link("world", "") + ROBOT + FIXED,
    "a sensor of the world": link("world", "")
    + ROBOT
    + FIXED
    + '<gazebo reference="world"><sensor name="eye" type="camera"/></gazebo>',
    "a joint of the world": link("world", "")
    + ROBOT
    + joint("revolute", "world", "pelvis"),
    "two robots": link("world", "")
    + ROBOT
    + FIXED
    + BALL
    + joint("fixed", "world", "ball"),
}


@pytest.mark.parametrize("content", WORLDS.values(), ids=WORLDS)
def test_a_world_without_mass_is_that_of_mujoco(content, tmp_path):
    """It has no body of its own, and no other name; written twice, the file is read as the same body still."""
    mujoco = pytest.importorskip("mujoco")
    body = urdf(tmp_path, content)
    before = body
    for name in ("robot.xml", "again.xml"):
        lost = bm.save(before, tmp_path / name).losses
        assert "LOSS032" not in {problem.rule for problem in lost}
        model = mujoco.MjModel.from_xml_path(str(tmp_path / name))
        bodies = [model.body(k).name for k in range(model.nbody)]
        assert bodies == [each.name for each in body.links]
        before = read_mjcf(tmp_path / name).require()
        assert before == body


@pytest.mark.parametrize("content", [BOX, INERTIAL], ids=["shape", "mass"])
def test_a_world_with_more_than_a_name_is_a_body_of_mujoco(content, tmp_path):
    body = urdf(tmp_path, link("world", content), ROBOT, FIXED)
    lost = bm.save(body, tmp_path / "robot.xml").losses
    assert [problem.rule for problem in lost] == ["LOSS032"]
    assert read_mjcf(tmp_path / "robot.xml").require() == body


def test_what_is_free_below_a_link_that_moves(tmp_path):
    body = urdf(tmp_path, ROBOT, BALL, joint("floating", "thigh", "ball"))
    lost = bm.save(body, tmp_path / "robot.xml")
    assert [(problem.rule, problem.location.inside) for problem in lost.losses] == [
        ("LOSS033", "links[2]")
    ]


@pytest.mark.parametrize("holder", ["joint", "visual", "collision", "inertial"])
def test_a_quaternion_is_the_rotation_of_the_same_angles(holder, tmp_path):
    """Half a turn about x, then 90° about z."""
    half = np.sqrt(0.5)
    angles = f'rpy="{np.pi} 0 {np.pi / 2}"'
    quaternion = f'quat_xyzw="{2 * half} {2 * half} 0 0"'
    solid = '<geometry><box size="1 2 3"/></geometry>'
    found = []
    for orientation in (angles, quaternion):
        origin = f'<origin xyz="1 2 3" {orientation}/>'
        places = dict.fromkeys(("joint", "visual", "collision", "inertial"), "")
        places[holder] = origin
        content = (
            f"<visual>{places['visual']}{solid}</visual>"
            f"<collision>{places['collision']}{solid}</collision>"
            f'<inertial>{places["inertial"]}<mass value="1"/><inertia ixx="0.3" ixy="0" '
            'ixz="0" iyy="0.2" iyz="0" izz="0.1"/></inertial>'
        )
        path = tmp_path / "r.urdf"
        path.write_text(
            f'<robot name="r" version="1.1">{link("a", "")}{link("b", content)}<joint name="j" type="fixed">'
            f'<parent link="a"/><child link="b"/>{places["joint"]}</joint></robot>'
        )
        body = read_urdf(path).require()
        assert not body.problems
        last = body.links[1]
        shapes = [shape.transform for shape in (*last.visuals, *last.collisions)]
        found.append([poses.to_matrix(last.offset), *shapes, last.inertia])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize(
    ("origin", "version", "expected"),
    [
        ('quat_xyzw="0 0 1 1"', "1.0", ("URDF118", "warning")),
        ('rpy="0 0 1" quat_xyzw="0 0 1 1"', "1.1", ("URDF118", "error")),
        ('quat_xyzw="0 0 0 0"', "1.1", ("BODY107", "error")),
        ('quat_xyzw="0 0 1"', "1.1", ("XML104", "error")),
    ],
)
def test_quaternions_that_other_programs_refuse(origin, version, expected, tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(
        f'<robot name="r" version="{version}">{link("a", "")}{link("b", "")}\n<joint name="j" type="fixed">'
        f'<parent link="a"/><child link="b"/><origin {origin}/></joint></robot>'
    )
    result = read_urdf(path)
    found = [(problem.rule, problem.severity) for problem in result.problems]
    assert found == [expected]
    assert result.problems[0].location.line == 2
