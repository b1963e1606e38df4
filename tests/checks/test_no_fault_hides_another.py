"""One fault hides no other: a fault of meaning removes no finding, and a fault of syntax removes none before it."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.motion.components import Timeline
from sample_files import tries

NOT_YET_FOR_ERRORS: frozenset[str] = frozenset()
"""Formats whose readers give no partial value yet: an error of reading hides what the rules about bodies and motions find."""

URDF = """\
<robot name="r">
  <link name="base">
    <inertial>
      <mass value="3"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <link name="arm">
    <inertial>
      <mass value="2"/>
      <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/>
    </inertial>
  </link>
  <link name="hand">
    <inertial>
      <mass value="1"/>
      <inertia ixx="0.3" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.3"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="9" velocity="2"/>
  </joint>
  <joint name="wrist" type="prismatic">
    <parent link="arm"/><child link="hand"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="8" velocity="3"/>
  </joint>
</robot>
"""
SHAPE = '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
MJCF = """\
<mujoco model="m">
  <compiler angle="radian"/>
  <worldbody>
    <body name="base">
      <freejoint/>
      <inertial pos="0 0 0" mass="3" diaginertia="0.1 0.1 0.1"/>
      <geom type="sphere" size="0.3"/>
      <body name="arm">
        <joint name="shoulder" axis="0 1 0" range="-1 1"/>
        <inertial pos="0 0 0" mass="2" diaginertia="0.2 0.2 0.2"/>
        <geom type="sphere" size="0.2"/>
        <body name="hand">
          <joint name="wrist" type="slide" axis="0 0 1" range="-2 2"/>
          <inertial pos="0 0 0" mass="1" diaginertia="0.3 0.3 0.3"/>
          <geom type="sphere" size="0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
BODY = """\
format: ChoreonoidBody
format_version: 2.0
name: r
links:
  -
    name: BASE
    joint_type: free
    mass: 3.0
    inertia: [0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1]
  -
    name: ARM
    parent: BASE
    joint_type: revolute
    joint_id: 0
    joint_axis: [0, 1, 0]
    joint_range: [-60, 60]
    mass: 2.0
    inertia: [0.2, 0, 0, 0, 0.2, 0, 0, 0, 0.2]
  -
    name: HAND
    parent: ARM
    joint_type: prismatic
    joint_id: 1
    joint_axis: [0, 0, 1]
    joint_range: [-2, 2]
    mass: 1.0
    inertia: [0.3, 0, 0, 0, 0.3, 0, 0, 0, 0.3]
"""
SEQ = """\
type: CompositeSeq
content: BodyMotion
formatVersion: 2
frameRate: 100
numFrames: 3
components:
  -
    type: MultiValueSeq
    content: JointDisplacement
    numParts: 2
    numFrames: 3
    frames:
      - [ 0.1, 0.2 ]
      - [ 0.11, 0.2 ]
      - [ 0.12, 0.2 ]
  -
    type: MultiSE3Seq
    content: LinkPosition
    numParts: 1
    numFrames: 3
    SE3Format: XYZQWQXQYQZ
    frames:
      - [ [ 0, 0, 0.71, 1, 0, 0, 0 ] ]
      - [ [ 0, 0, 0.72, 1, 0, 0, 0 ] ]
      - [ [ 0, 0, 0.73, 1, 0, 0, 0 ] ]
"""
CHA = """\
controls body gripper
bpm 120

speed 0.5 1 2

time body_pos gripper
0.0  0 0 0.48  0
0.5  0 0 0.47  -0.5
1.0  0 0 0.46  0
"""
WRL = """\
#VRML V2.0 utf8
PROTO Joint [ exposedField SFString jointType "" exposedField SFInt32 jointId -1 exposedField SFVec3f jointAxis 0 0 1
  exposedField MFFloat llimit [ ] exposedField MFFloat ulimit [ ] exposedField SFVec3f translation 0 0 0
  exposedField MFNode children [ ] ] { }
PROTO Segment [ exposedField SFFloat mass 0 exposedField SFVec3f centerOfMass 0 0 0
  exposedField MFFloat momentsOfInertia [ ] exposedField MFNode children [ ] ] { }
PROTO Humanoid [ exposedField MFNode humanoidBody [ ] exposedField MFNode joints [ ] exposedField MFNode segments [ ]
  exposedField SFString name "" exposedField SFString version "" ] { }
DEF R Humanoid {
  version "1.0"
  humanoidBody [
    DEF BASE Joint {
      jointType "free"
      children [
        DEF BASE_S Segment { mass 3
          momentsOfInertia [ 0.1 0 0 0 0.1 0 0 0 0.1 ] }
        DEF ARM Joint {
          jointType "rotate" jointId 0
          jointAxis 0 1 0
          llimit [ -1 ] ulimit [ 1 ]
          children [
            DEF ARM_S Segment { mass 2
              momentsOfInertia [ 0.2 0 0 0 0.2 0 0 0 0.2 ] }
            DEF HAND Joint {
              jointType "slide" jointId 1
              jointAxis 0 0 1
              llimit [ -2 ] ulimit [ 2 ]
              children [
                DEF HAND_S Segment { mass 1
                  momentsOfInertia [ 0.3 0 0 0 0.3 0 0 0 0.3 ] }
              ]
            }
          ]
        }
      ]
    }
  ]
  joints [ USE BASE USE ARM USE HAND ]
  segments [ USE BASE_S USE ARM_S USE HAND_S ]
}
"""
CSQ = """\
name: "dance"
slices_per_minute: 300
moves {
  type: "step"
  requested_slices: 4
  step_params { foot: LEG_FRONT_LEFT offset { x { value: 0.1 } } }
}
moves {
  type: "sway"
  start_slice: 4
  requested_slices: 8
  sway_params { vertical { value: 0.01 } }
}
moves {
  type: "trot"
  start_slice: 14
  requested_slices: 4
}
moves {
  type: "twerk"
  start_slice: 20
  requested_slices: 12
}
moves {
  type: "turn_2step"
  start_slice: 32
  requested_slices: 4
}
"""
CAP = """\
name: "wave"
controls_body: true
controls_gripper: true
bpm: 60
""" + "".join(
    f"""\
animation_keyframes {{
  time: {(k - 1) / 2}
  gripper {{ gripper_angle {{ value: -0.{k} }} }}
  body {{ body_pos {{ z {{ value: 0.4{k} }} }} }}
}}
"""
    for k in range(1, 9)
)

STOPS = {".urdf", ".xml", ".wrl", ".body"}
"""Suffixes of formats whose readers stop at the first fault of syntax."""

# Each fault: what stands in the sound file, what replaces it, the rule, and whether the reader cannot read a part because of it.
FAULTS: dict[str, tuple[str, tuple[tuple[str, str, str, bool], ...], str]] = {
    ".urdf": (
        URDF,
        (
            ('lower="-1" upper="1"', 'lower="-90" upper="90"', "BODY115", False),
            ('lower="-2" upper="2"', 'lower="2" upper="-2"', "BODY112", False),
            ('iyy="0.2"', 'iyy="2"', "BODY133", False),
            ('<mass value="2"/>', '<mass value="-2"/>', "BODY130", False),
            ('<joint name="wrist"', '<joint nam="wrist"', "XML106", False),
            ('type="revolute"', 'type="revolut"', "URDF120", True),
            ('<axis xyz="0 1 0"/>', '<axis xyz="0 3 0"/>', "BODY110", False),
            ('<mass value="3"/>', '<mass value="-3"/>', "BODY130", False),
            ('effort="8" velocity="3"', 'effort="8" velocity="fast"', "XML104", True),
            ('ixx="0.3"', 'ixx="x"', "XML104", True),
            ('<child link="hand"/>', '<child link="han"/>', "URDF112", True),
            ('<child link="arm"/>', '<child link="upper"/>', "URDF112", True),
            (
                '  </link>\n  <link name="hand">',
                f'{SHAPE}</link>\n  <link name="hand">',
                "BODY143",
                False,
            ),
        ),
        "<unclosed",
    ),
    ".xml": (
        MJCF,
        (
            ('range="-1 1"', 'range="-90 90"', "BODY115", False),
            ('range="-2 2"', 'range="2 -2"', "BODY112", False),
            ('"0.2 0.2 0.2"', '"0.2 2 0.2"', "BODY133", False),
            ('mass="3"', 'mass="-3"', "BODY130", False),
            ('size="0.1"', 'size="x"', "XML104", True),
            ('type="slide"', 'type="slid"', "MJCF114", True),
            ('<joint name="shoulder"', '<joint nme="shoulder"', "XML106", False),
        ),
        "<unclosed",
    ),
    ".body": (
        BODY,
        (
            ("joint_range: [-2, 2]", "joint_range: [2, -2]", "BODY112", False),
            ("[0.2, 0, 0, 0, 0.2,", "[0.2, 0, 0, 0, 2,", "BODY133", False),
            ("joint_axis: [0, 1, 0]", "joint_axis: [0, 3, 0]", "BODY110", False),
            ("mass: 3.0", "mass: -3.0", "BODY130", False),
            ("joint_id: 1", "joint_id: 0", "BODY117", False),
            ("mass: 1.0", "mass: heavy", "YAML104", True),
            ("[0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1]", "[0.1, 0, 0]", "BDY141", True),
            ("links:", "link:", "YAML106", True),
            ("format: ChoreonoidBody", "format: ChoreonoidBod", "BDY102", True),
        ),
        "  - [",
    ),
    ".wrl": (
        WRL,
        (
            (
                "llimit [ -1 ] ulimit [ 1 ]",
                "llimit [ -90 ] ulimit [ 90 ]",
                "BODY115",
                False,
            ),
            (
                "llimit [ -2 ] ulimit [ 2 ]",
                "llimit [ 2 ] ulimit [ -2 ]",
                "BODY112",
                False,
            ),
            ("0.2 0 0 0 0.2 0", "0.2 0 0 0 2 0", "BODY133", False),
            ("jointAxis 0 1 0", "jointAxis 0 3 0", "BODY110", False),
            ("mass 3", "mass -3", "BODY130", False),
            ("jointId 1", "jointId 0", "BODY117", False),
            ('version "1.0"', "version 1", "VRML201", True),
            ("[ 0.1 0 0 0 0.1 0 0 0 0.1 ]", "[ 0.1 0 0 ]", "WRL140", True),
            ("ARM Joint", "ARM Jont", "VRML112", False),
            ("R Humanoid", "R Humanoi", "VRML112", False),
        ),
        "Shape {",
    ),
    ".seq": (
        SEQ,
        (
            ("0, 0, 0.71, 1, 0,", "0, 0, 0.71, 1.05, 0,", "MOT102", False),
            ("0, 0, 0.72, 1, 0,", "0, 0, 0.72, 0, 0,", "MOT103", False),
            ("0, 0, 0.73, 1, 0,", "0, 0, 0.73, 7, 0,", "MOT104", False),
            ("content: BodyMotion", "content: BodyMotoin", "SEQ204", False),
            ("[ 0.12, 0.2 ]", "[ 0.12, x ]", "SEQ111", True),
            ("[ 0.11, 0.2 ]", "[ 0.11 ]", "SEQ110", True),
        ),
        "      - [ [",
    ),
    ".cha": (
        CHA,
        (
            ("bpm 120", "bpm -120", "CHA130", True),
            ("speed 0.5 1 2", "speed 3 1 2", "CHA155", True),
            ("-0.5\n", "-2.5\n", "CHA213", False),
            ("0 0 0.46", "0 x 0.46", "CHA204", True),
            ("controls body", "Controls body", "CHA125", True),
        ),
        "1.5 0 0 0.4",
    ),
    ".csq": (
        CSQ,
        (
            ('name: "dance"', 'nme: "dance"', "CAP101", False),
            ("slices_per_minute: 300", "slices_per_minute: fast", "CAP002", True),
            ("foot: LEG_FRONT_LEFT", "foot: LEG_FRONT_LEF", "CAP002", True),
            ("x { value: 0.1 }", "q { value: 0.1 }", "CAP101", False),
            ("start_slice: 14", "start_slice 14", "CAP002", True),
            ("requested_slices: 12", "requested_slices: -12", "SPOT105", False),
            (
                "vertical { value: 0.01 }",
                "vertical { value: 0.01 value: 0.02 }",
                "CAP002",
                True,
            ),
            (
                "start_slice: 32\n  requested_slices: 4\n}",
                "start_slice: 32\n  requested_slices: 4",
                "CAP002",
                True,
            ),
        ),
        "moves {",
    ),
    ".cap": (
        CAP,
        (
            ('name: "wave"', 'names: "wave"', "CAP101", False),
            ("bpm: 60", "bpm: soon", "CAP002", True),
            ("time: 0.5", "time: 0.5 times: 2", "CAP101", False),
            ("value: -0.2", "value: -2.2", "CHA213", False),
            ("time: 2.0", "time: soon", "CAP002", True),
            ("time: 3.5", "time", "CAP002", True),
        ),
        "animation_keyframes {",
    ),
}


def planted(text: str, fault: tuple[str, str, str, bool]) -> str:
    assert text.count(fault[0]) == 1, fault[0]
    return text.replace(fault[0], fault[1])


def found(text: str, suffix: str, folder: Path) -> dict[str, set[int | None]]:
    """Return the lines of the findings in a file, by rule."""
    path = folder / f"robot{suffix}"
    path.write_text(text)
    lines: dict[str, set[int | None]] = {}
    for problem in bm.check(path).problems:
        lines.setdefault(problem.rule, set()).add(problem.location.line)
    return lines


@pytest.mark.parametrize("suffix", FAULTS)
def test_the_sound_file_has_no_problems(suffix, tmp_path):
    assert found(FAULTS[suffix][0], suffix, tmp_path) == {}


@pytest.mark.parametrize("suffix", FAULTS)
def test_each_fault_is_found(suffix, tmp_path):
    text, faults, _ = FAULTS[suffix]
    for fault in faults:
        assert fault[2] in found(planted(text, fault), suffix, tmp_path)


@pytest.mark.parametrize("suffix", FAULTS)
@given(data=st.data())
@settings(max_examples=tries(40), deadline=None)
def test_a_fault_of_meaning_removes_no_finding(suffix, data):
    text, faults, _ = FAULTS[suffix]
    chosen = data.draw(st.lists(st.sampled_from(faults), unique=True, min_size=1))
    if suffix in NOT_YET_FOR_ERRORS:
        chosen = [fault for fault in chosen if not fault[3]] or chosen[:1]
    with tempfile.TemporaryDirectory() as folder:
        assert {fault[2] for fault in chosen} <= found(
            reduce(planted, chosen, text), suffix, Path(folder)
        ).keys()


@pytest.mark.parametrize("suffix", [each for each in FAULTS if each not in STOPS])
@given(data=st.data())
@settings(max_examples=tries(20), deadline=None)
def test_a_fault_of_syntax_removes_no_finding_before_it(suffix, data):
    text, faults, end = FAULTS[suffix]
    chosen = data.draw(st.lists(st.sampled_from(faults), unique=True, min_size=1))
    if suffix in NOT_YET_FOR_ERRORS:
        chosen = []
    with tempfile.TemporaryDirectory() as folder:
        report = found(f"{reduce(planted, chosen, text)}{end}\n", suffix, Path(folder))
        assert {fault[2] for fault in chosen} <= report.keys()


@pytest.mark.parametrize(
    "fault",
    [
        ('version "1.0"', 'version "1.0'),
        ('jointType "free"', 'jointType "free'),
        ('jointType "slide" jointId 4', 'jointType "slide jointId 4'),
    ],
)
def test_an_open_string_of_a_model_is_found_where_it_begins(fault, tmp_path):
    """It is a fault of syntax: the gap of the ids behind it is not looked for."""
    text = WRL.replace("jointId 1", "jointId 4")
    assert found(text, ".wrl", tmp_path) == {"BODY118": {25}}
    line = text.count("\n", 0, text.index(fault[0])) + 1
    assert found(text.replace(*fault), ".wrl", tmp_path) == {"VRML103": {line}}


FIVE = """\
<robot name="r">
  <link name="base"/>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
  </link>
  <link name="hand"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/>
    <limit lower="-90" upper="90" effort="9" velocity="2"/>
  </joint>
  <joint name="wrist" type="revolve">
    <parent link="arm"/><child link="hand"/>
  </joint>
</robot>
"""


def test_five_faults_of_a_urdf(tmp_path):
    """Limits in degrees, an impossible inertia and an unrelated joint of an unknown type: all are found."""
    path = tmp_path / "robot.urdf"
    path.write_text(FIVE)
    report = bm.check(path)
    lines = {(problem.rule, problem.location.line) for problem in report.problems}
    assert ("URDF120", 12) in lines
    if ".urdf" not in NOT_YET_FOR_ERRORS:
        assert {("BODY115", 10), ("BODY133", 4)} <= lines and len(
            report.problems
        ) == 5, report


@pytest.fixture(scope="module", params=["by rate", "stamped"])
def spoiled(request, examples, tmp_path_factory):
    """Return a walk with faults of many kinds, its findings on its body, and the body."""
    motion, body = bm.load(examples / "biped_walk.seq"), bm.load(examples / "biped.wrl")
    places, joints, zmp = (component.values.copy() for component in motion.components)
    joints[200:, 3] += 1  # A jump.
    joints[700, 5] += 2  # A spike beyond the limit.
    places[400, 0, 0] += 0.3
    zmp[500:600, 1] += 0.5
    values = [bm.MultiSE3Seq, bm.MultiValueSeq, bm.Vector3Seq]
    assert [type(component) for component in motion.components] == values
    components = [
        replace(one, values=new)
        for one, new in zip(motion.components, (places, joints, zmp), strict=True)
    ]
    if request.param == "stamped":
        components = [
            replace(one, timeline=Timeline.stamped(one.timeline.times))
            for one in components
        ]
    path = tmp_path_factory.mktemp("spoiled") / "walk.seq"
    bm.save(replace(motion, components=tuple(components)), path)
    found = {
        (problem.rule, problem.data.get("frame"))
        for problem in bm.check(path, body=body).problems
    }
    assert len({rule for rule, _ in found if rule.startswith("MOT3")}) >= 5
    return path.read_text(), body, found


@given(data=st.data())
@settings(max_examples=tries(12), deadline=None)
def test_a_frame_that_cannot_be_read_hides_no_finding_and_adds_none(spoiled, data):
    """Frames away from all that is found become unreadable: the rules look at the others."""
    text, body, was = spoiled
    lines = text.split("\n")
    rows = [k for k, line in enumerate(lines) if line.lstrip().startswith("- [")]
    frames = data.draw(
        st.lists(st.integers(800, 990), min_size=1, max_size=3) | st.just([0, 1])
    )
    for frame in frames:
        row = rows[data.draw(st.integers(0, 2)) * (len(rows) // 3) + frame]
        lines[row] = (
            f"{lines[row].partition('[')[0]}{data.draw(st.sampled_from(['[ x ]', '[ 1 ]', '[ [ 0, 1 ], x ]']))}"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "walk.seq"
        path.write_text("\n".join(lines))
        problems = bm.check(path, body=body).problems
    now = {
        (problem.rule, problem.data.get("frame"))
        for problem in problems
        if not problem.rule.startswith("SEQ")
    }
    assert now == was


@pytest.mark.parametrize(
    ("column", "cell", "rules"),
    [
        ("time", "0.5", {"MOT105"}),
        ("time", "1.198", {"MOT105"}),
        ("time", "nan", {"MOT105"}),
        ("time", "x", {"TAB004"}),
        ("root_qw", "7", {"MOT104"}),
        ("root_qy", "-45", {"MOT104"}),
        ("root_qy", "1e200", {"MOT104"}),
        ("root_qw", "inf", {"MOT101"}),
        ("HEAD_PAN", "13", {"MOT204", "MOT303"}),
        ("HEAD_PAN", "nan", {"MOT101"}),
    ],
)
def test_a_wrong_cell_leaves_the_other_frames_to_be_checked(
    column, cell, rules, examples, tmp_path
):
    """A walk has a fast joint, one beyond its limit and a jump of the root, long before and after a wrong cell."""
    body, motion = bm.load(examples / "biped.wrl"), bm.load(examples / "biped_walk.seq")
    path = tmp_path / "walk.csv"
    bm.save(motion, path, body=body)
    names, *lines = path.read_text().splitlines()
    rows = [line.split(",") for line in lines]
    at = names.split(",").index
    for frame, where, amount in (
        (50, "R_HIP_ROLL", 0.6),
        (200, "L_ANKLE_ROLL", 3.5),
        (900, "root_x", 1.0),
    ):
        rows[frame][at(where)] = str(float(rows[frame][at(where)]) + amount)

    def found() -> set[tuple[str, int]]:
        path.write_text("\n".join([names, *map(",".join, rows)]) + "\n")
        return {
            (p.rule, p.location.line or 0) for p in bm.check(path, body=body).problems
        }

    was = found()
    assert {rule for rule, _ in was} >= {"MOT204", "MOT302", "MOT305"}
    rows[600][at(column)] = cell
    now = found()
    assert was <= now and {rule for rule, _ in now - was} == rules


def test_a_zero_moment_point_that_cannot_be_read_hides_no_finding(examples, tmp_path):
    """Speeds and collisions do not need it."""
    body, motion = bm.load(examples / "biped.wrl"), bm.load(examples / "biped_walk.seq")
    joints = motion.joint_displacement
    values = np.array(joints.values)
    values[200, 11] += 3.5
    spoiled = motion.replaced(
        *(
            replace(joints, values=values) if c is joints else c
            for c in motion.components
        )
    )
    path = tmp_path / "walk.npz"
    bm.save(spoiled, path)
    was = {p.rule for p in bm.check(path, body=body).problems}
    assert was >= {"MOT204", "MOT302"}
    arrays = dict(np.load(path))
    np.savez(path, **{**arrays, "zmp": arrays["zmp"][:, :2]})
    assert {p.rule for p in bm.check(path, body=body).problems} == was | {"NPZ102"}
