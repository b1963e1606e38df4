"""A finding about a part of a link stands at the element, the key or the field that says that part, in every format of models."""

from __future__ import annotations

import pytest

import bodymotion as bm

TENSOR = 'ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"'
URDF = f"""<?xml version="1.0"?>
<!-- <link name="arm"><inertial><mass value="-1"/></inertial></link> -->
<robot name="r">
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/>
    <origin xyz="0.1 0 0"
      rpy="0 0 0"/>
    <axis xyz="0 0 1"/>
    <limit effort="1" lower="-1"
      upper="1" velocity="2"/>
  </joint>
  <link name="base"><inertial><mass value="2"/><inertia {TENSOR}/></inertial></link>
  <link name="arm">
    <inertial>
      <origin xyz="0.01 0 0"/>
      <mass value="2"/>
      <inertia {TENSOR}/>
    </inertial>
    <visual><origin xyz="0 0 0"/><geometry><box size="0.1 0.1 0.1"/></geometry></visual>
  </link>
  <transmission name="t"><joint name="shoulder"><limit velocity="9"/></joint></transmission>
</robot>
"""
MJCF = """<mujoco>
  <worldbody>
    <body name="base">
      <freejoint/>
      <inertial pos="0 0 0" mass="2" diaginertia="0.01 0.01 0.01"/>
      <body name="arm" pos="0.1 0 0">
        <body name="hand" pos="0.2 0 0">
          <inertial pos="0.01 0 0.02" mass="3"
            diaginertia="0.02 0.02 0.02"/>
          <joint name="wrist" axis="1 0 0"/>
          <geom type="box" size="0.1 0.1 0.1"/>
        </body>
        <frame>
          <joint name="shoulder" axis="0 0 1" armature="0.1" limited="true" range="-100 90"/>
          <joint name="twist" axis="0 1 0"
            range="-80 80" armature="0.2"/>
        </frame>
        <inertial pos="0.01 0 0" mass="2" diaginertia="0.01 0.01 0.01"/>
        <geom type="box" size="0.1 0.1 0.1"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
BODY = """format: ChoreonoidBody
angle_unit: radian
links:
  - { name: base, joint_type: free, mass: 2, inertia: [ 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01 ] }
  -
    name: arm
    parent: base
    jointType: revolute
    jointId: 0
    translation: [ 0.1, 0, 0 ]
    jointRange: [ -1, 1 ]
    maxJointVelocity: 2
    centerOfMass: [ 0.01, 0, 0 ]
    gearRatio: 100
    mass: 2
    inertia:
      [ 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01 ]
    elements:
      - { type: Shape, geometry: { type: Box, size: [ 0.1, 0.1, 0.1 ] } }
      - { type: RateGyroSensor, name: one, id: 0 }
      - { type: RateGyroSensor, name: two, id: 1 }
      - { type: Camera, name: eye, id: 0 }
  - { name: hand, parent: arm, jointType: revolute, jointId: 1, mass: 2, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }
"""
OPENHRP = """#VRML V2.0 utf8
DEF R Humanoid {
  humanoidBody DEF base Joint {
    jointType "free"
    children [
      DEF S Segment { mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] }
      DEF arm Joint {
        jointType "rotate"
        jointId 0
        jointAxis 0 0 1
        llimit [ -1 ] ulimit [ 1 ]
        uvlimit [ 3 ]
        lvlimit [ -3 ]
        translation 0.1 0 0
        children DEF T Segment {
          mass 1
          centerOfMass 0.01 0 0
          momentsOfInertia [ 0.01 0 0 0 0.01 0 0 0 0.01 ]
          children Shape { geometry Box { size 0.1 0.1 0.1 } }
        }
      }
    ]
  }
  joints [ USE base USE arm ] segments [ USE S USE T ]
}
"""
CASES = [
    # The name of the file, its text, what is right in it, what is put there, the rule, where that is said.
    ("r.urdf", URDF, 'lower="-1"', 'lower="-90"', "BODY115", 'lower="'),
    ("r.urdf", URDF, 'upper="1"', 'upper="180"', "BODY115", 'upper="'),
    ("r.urdf", URDF, 'velocity="2"', 'velocity="0"', "BODY114", 'velocity="0'),
    ("r.urdf", URDF, 'xyz="0.1 0 0"', 'xyz="100 0 0"', "BODY142", 'xyz="100'),
    (
        "r.urdf",
        URDF,
        '<mass value="2"/>\n      <in',
        '<mass value="0"/>\n      <in',
        "BODY131",
        'value="0"/>',
    ),
    (
        "r.urdf",
        URDF,
        f"      <inertia {TENSOR}",
        f"      <inertia {TENSOR.replace('0.01', '-1', 1)}",
        "BODY133",
        '<inertia ixx="-1',
    ),
    ("r.urdf", URDF, 'xyz="0.01 0 0"', 'xyz="10 0 0"', "BODY135", 'xyz="10 '),
    ("r.xml", MJCF, 'range="-100 90"', 'range="-9000 90"', "BODY115", 'range="-9000'),
    ("r.xml", MJCF, 'armature="0.2"', 'armature="-1"', "BODY121", 'armature="-1'),
    ("r.xml", MJCF, 'pos="0.1 0 0"', 'pos="100 0 0"', "BODY142", 'pos="100'),
    ("r.xml", MJCF, 'name="twist"', 'name="wrist"', "BODY102", 'name="wrist" axis="1'),
    ("r.xml", MJCF, 'pos="0.01 0 0"', 'pos="10 0 0"', "BODY135", 'pos="10 '),
    ("r.xml", MJCF, '"0.02 0.02 0.02"', '"90 90 90"', "BODY136", 'diaginertia="90'),
    ("r.body", BODY, "[ -1, 1 ]", "[ 1, 1 ]", "BODY113", "jointRange"),
    ("r.body", BODY, "Velocity: 2", "Velocity: 0", "BODY114", "maxJointVelocity"),
    ("r.body", BODY, "[ 0.1, 0, 0 ]", "[ 100, 0, 0 ]", "BODY142", "translation"),
    ("r.body", BODY, "gearRatio: 100", "gearRatio: 0", "BODY121", "gearRatio"),
    ("r.body", BODY, "      [ 0.01", "      [ -0.01", "BODY133", "inertia:\n"),
    ("r.body", BODY, "jointId: 1", "jointId: 0", "BODY117", "jointId: 0, mass"),
    ("r.body", BODY, "two, id: 1", "two, id:  0", "BODY151", "id:  0"),
    ("r.body", BODY, "parent: arm", "parent: arn", "BDY123", "parent: arn"),
    (
        "r.body",
        BODY,
        "centerOfMass: [ 0.01",
        "centerOfMass: [ 10",
        "BODY135",
        "centerOfMass",
    ),
    ("r.wrl", OPENHRP, "ulimit [ 1 ]", "ulimit [ 90 ]", "BODY115", "ulimit [ 9"),
    ("r.wrl", OPENHRP, "lvlimit [ -3 ]", "lvlimit [ 3 ]", "BODY114", "lvlimit"),
    ("r.wrl", OPENHRP, "translation 0.1", "translation 100", "BODY142", "translation"),
    (
        "r.wrl",
        OPENHRP,
        "centerOfMass 0.01",
        "centerOfMass 10",
        "BODY135",
        "centerOfMass",
    ),
]


def place(text: str, part: str) -> tuple[int, int]:
    at = text.index(part)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


@pytest.mark.parametrize(("name", "text", "right", "wrong", "rule", "where"), CASES)
def test_what_is_wrong_is_what_is_pointed_at(
    name, text, right, wrong, rule, where, tmp_path
):
    assert text.count(right) == 1
    (tmp_path / name).write_text(text)
    assert rule not in [problem.rule for problem in bm.check(tmp_path / name).problems]
    changed = text.replace(right, wrong)
    (tmp_path / name).write_text(changed)
    said = [
        problem
        for problem in bm.check(tmp_path / name).problems
        if problem.rule == rule
    ]
    assert [(one.location.line, one.location.column) for one in said] == [
        place(changed, where)
    ]


def test_urdf_has_one_velocity_limit(tmp_path):
    (tmp_path / "r.urdf").write_text(URDF.replace('velocity="2"', 'velocity="0"'))
    (said,) = [
        problem
        for problem in bm.check(tmp_path / "r.urdf").problems
        if problem.rule == "BODY114"
    ]
    assert (
        "velocity limit of 0 rad/s" in said.message
        and "lower" not in said.message + said.hint
    )


def test_locations_do_not_need_the_file_any_more(tmp_path):
    for suffix, text in (
        ("urdf", URDF),
        ("body", BODY),
        ("xml", MJCF),
        ("wrl", OPENHRP),
    ):
        path = tmp_path / f"r.{suffix}"
        path.write_text(text)
        body = bm.load(path)
        before = body.source.locations.locate(("links", 1, "mass"))
        path.unlink()
        assert (
            before is not None
            and body.source.locations.locate(("links", 1, "mass")) == before
        )
