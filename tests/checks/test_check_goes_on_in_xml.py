"""A check of URDF and MJCF reports each fault of meaning in its line, and none twice."""

from __future__ import annotations

import random
import tempfile
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.diagnostics.problem import MAX_LISTED
from sample_files import tries

URDF = """\
<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base">
    <inertial>
      <mass value="3"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.5"/>
      <geometry><box size="1 2 3"/></geometry>
      <material name="red"/>
    </visual>
    <visual><geometry><sphere radius="0.25"/></geometry></visual>
  </link>
  <link name="arm"/>
  <link name="hand"/>
  <link name="lamp"/>
  <link name="far"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="9" velocity="2"/>
  </joint>
  <joint name="wrist" type="prismatic">
    <parent link="arm"/><child link="hand"/>
    <origin rpy="0 0 1"/>
    <limit lower="-1" upper="1" effort="8" velocity="2"/>
    <dynamics damping="0.5"/>
  </joint>
  <joint name="mount" type="fixed">
    <parent link="hand"/>
    <child link="lamp"/>
  </joint>
  <joint name="neck" type="continuous"><parent link="lamp"/><child link="far"/></joint>
  <transmission name="t">
    <joint name="shoulder"/>
    <actuator name="m"><mechanicalReduction>10</mechanicalReduction></actuator>
  </transmission>
</robot>
"""
URDF_FAULTS = (
    ('rgba="1 0 0 1"', 'rgba="1 0"', "XML104"),
    ('value="3"', 'value="heavy"', "XML104"),
    ('ixz="0" iyy="0.1"', 'ixz="0" iyy="0,1"', "XML104"),
    ('xyz="0 0 0.5"', 'xyz="0 0"', "XML104"),
    ('size="1 2 3"', 'size="1 2 x"', "XML104"),
    ('radius="0.25"', 'radios="0.25"', "XML106"),
    ('name="shoulder" type="revolute"', 'name="shoulder" type="revolve"', "URDF120"),
    ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0 0"/>', "XML104"),
    ('effort="9" velocity="2"', 'effort="9" velocity="fast"', "XML104"),
    ('<joint name="wrist" type="prismatic">', '<joint name="wrist">', "XML105"),
    ('rpy="0 0 1"', 'rpy="0 0 NaN"', "XML104"),
    ('lower="-1" upper="1" effort="8"', 'lower="-1" upper="" effort="8"', "XML104"),
    ('damping="0.5"', 'damping="0.5 1"', "XML104"),
    ('<child link="lamp"/>', '<child link="lump"/>', "URDF112"),
    ('<joint name="neck"', '<joint name="mount"', "URDF111"),
    ("<mechanicalReduction>10", "<mechanicalReduction>ten", "XML104"),
)
MJCF = """\
<mujoco model="m">
  <compiler angle="radian" eulerseq="xyz"/>
  <default>
    <geom rgba="0.5 0.5 0.5 1"/>
    <default class="small"><geom type="sphere" size="0.1"/></default>
    <default class="odd"><joint damping="1"/></default>
  </default>
  <asset>
    <texture name="wood" builtin="flat" type="2d" width="8" height="8"/>
    <material name="plain" rgba="1 1 1 1"/>
    <material name="shiny" texture="wood"/>
    <mesh name="tent" vertex="0 0 0  1 0 0  0 1 0  0 0 1" face="0 2 1  0 1 3  1 2 3  0 3 2"/>
  </asset>
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom class="small"/>
      <geom class="small" pos="0 0 0.5"/>
      <geom class="small" group="1"/>
      <geom type="box" size="1 2 3" material="plain"/>
      <geom type="capsule" size="0.1" fromto="0 0 0 0 0 1"/>
      <geom type="mesh" mesh="tent" material="shiny"/>
      <body name="arm" quat="1 0 0 0">
        <joint name="shoulder" class="odd" range="0 1"/>
        <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
        <site name="tip" pos="0 0 0.5"/>
        <body name="hand" euler="0 0 1">
          <joint name="wrist" axis="0 1 0" armature="0.5"/>
          <inertial pos="0 0 0" mass="1" fullinertia="0.1 0.1 0.1 0 0 0"/>
          <camera name="eye" fovy="40"/>
          <body name="finger"><joint name="knuckle" type="slide"/><geom class="small" friction="1 1 1"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor>
    <gyro site="tip"/>
    <accelerometer site="tip" cutoff="9"/>
  </sensor>
  <actuator><motor joint="shoulder" gear="50" forcerange="-1 1"/></actuator>
  <equality>
    <connect body1="base" body2="hand" anchor="0 0 1"/>
  </equality>
</mujoco>
"""
MJCF_FAULTS = (
    ('angle="radian"', 'angle="radians"', "XML104"),
    ('rgba="0.5 0.5 0.5 1"', 'rgba="0.5 0.5 0.5"', "XML104"),
    ('type="sphere" size="0.1"', 'type="sphere" size="big"', "XML104"),
    ('<default class="odd">', "<default>", "MJCF105"),
    ('name="plain" rgba="1 1 1 1"', 'name="plain" rgba="1 1 1 one"', "XML104"),
    ('texture="wood"', 'texture="woods"', "MJCF142"),
    ('vertex="0 0 0  1', 'vertex="0 0  1', "XML104"),
    ('name="base" pos="0 0 1"', 'name="base" pos="0 1"', "XML104"),
    ('<geom class="small" group="1"/>', '<geom class="small" group="one"/>', "XML104"),
    ('size="1 2 3"', 'size="1 0 3"', "MJCF141"),
    ('fromto="0 0 0 0 0 1"', 'fromto="0 0 0 0 0 0"', "MJCF141"),
    ('quat="1 0 0 0"', 'quat="0 0 0 0"', "BODY107"),
    ('mass="1" diag', 'mas="1" diag', "XML106"),
    ('axis="0 1 0"', 'axis="0 0 0"', "BODY111"),
    ('armature="0.5"', 'armature="a"', "XML104"),
    ('euler="0 0 1"', 'euler="0 0 1e300"', "BODY105"),
    ('fullinertia="0.1 0.1 0.1 0 0 0"', 'fullinertia="0.1 0.1 0.1"', "XML104"),
    ('fovy="40"', 'fovy="wide"', "XML104"),
    ('type="slide"', 'type="sliding"', "MJCF114"),
    ('<gyro site="tip"/>', '<gyro site="top"/>', "MJCF152"),
    ('cutoff="9"', 'cutoff="9m"', "XML104"),
    ('gear="50"', 'gear="5O"', "XML104"),
    ('body2="hand"', 'body2="hend"', "MJCF152"),
)
MODELS = {".urdf": (URDF, URDF_FAULTS), ".xml": (MJCF, MJCF_FAULTS)}
CASES = [
    pytest.param(suffix, fault, id=f"{suffix[1:]}: {fault[1]}")
    for suffix, (_, faults) in MODELS.items()
    for fault in faults
]


def planted(text, fault):
    old, new, _ = fault
    assert text.count(old) == 1, old
    return text.replace(old, new)


def line_of(text, fault):
    return text[: text.index(fault[0])].count("\n") + 1


def report_of(data, suffix, tmp_path):
    path = Path(tmp_path) / f"robot{suffix}"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path, bm.check(path)


def errors_of(text, suffix, tmp_path):
    return [
        (p.rule, p.location.line) for p in report_of(text, suffix, tmp_path)[1].errors
    ]


@pytest.mark.parametrize("suffix", MODELS)
def test_the_sound_ones_have_no_errors(suffix, tmp_path):
    assert errors_of(MODELS[suffix][0], suffix, tmp_path) == []


@pytest.mark.parametrize(("suffix", "fault"), CASES)
def test_one_fault_is_one_error(suffix, fault, tmp_path):
    """In its line; nothing else is wrong because of it; and reading says the same."""
    text, _ = MODELS[suffix]
    path, report = report_of(planted(text, fault), suffix, tmp_path)
    assert [(p.rule, p.location.line) for p in report.errors] == [
        (fault[2], line_of(text, fault))
    ]
    assert report.errors[0].location.column is not None
    if fault[2] in ("BODY111", "XML106") or fault[0].startswith("<gyro"):
        bm.load(path)
        return
    with pytest.raises(bm.FormatError) as raised:
        bm.load(path)
    assert raised.value.problem == report.errors[0]


@pytest.mark.parametrize("suffix", MODELS)
def test_all_faults_are_said_in_one_run(suffix, tmp_path):
    text, faults = MODELS[suffix]
    expected = sorted((fault[2], line_of(text, fault)) for fault in faults)
    assert (
        sorted(errors_of(reduce(planted, faults, text), suffix, tmp_path)) == expected
    )


@pytest.mark.parametrize("suffix", MODELS)
@given(data=st.data())
@settings(max_examples=tries(15), deadline=None)
def test_so_are_some_of_them(suffix, data):
    text, faults = MODELS[suffix]
    some = data.draw(st.lists(st.sampled_from(faults), unique=True, min_size=2))
    expected = sorted((fault[2], line_of(text, fault)) for fault in some)
    with tempfile.TemporaryDirectory() as folder:
        assert (
            sorted(errors_of(reduce(planted, some, text), suffix, folder)) == expected
        )


@pytest.mark.parametrize("suffix", MODELS)
def test_a_syntax_fault_is_the_only_finding(suffix, tmp_path):
    text, faults = MODELS[suffix]
    broken = reduce(planted, faults[:3], text)
    cut = broken[: broken.index("<joint name=")] + "<joint <"
    assert errors_of(cut, suffix, tmp_path) == [("XML101", cut.count("\n") + 1)]


def test_an_entity_is_the_only_finding(tmp_path):
    text, faults = MODELS[".urdf"]
    broken = '<!DOCTYPE robot [ <!ENTITY m "5"> ]>' + reduce(planted, faults, text)
    assert errors_of(broken, ".urdf", tmp_path) == [("XML102", 1)]


def test_names_of_a_part_that_can_not_be_read_are_no_faults(tmp_path):
    """What is included and missing may have the classes, meshes and sites that the rest names."""
    text = MJCF.replace("<default>", '<include file="defaults.xml"/>\n<default>', 1)
    for name in (
        'class="odd" range',
        'mesh="tent" material',
        'site="tip"/>',
        'body2="hand"',
    ):
        text = text.replace(name, name.replace('="', '="other_'))
    assert [rule for rule, _ in errors_of(text, ".xml", tmp_path)] == ["MJCF102"]


def test_an_included_file_is_checked_in_its_own_lines(tmp_path):
    (tmp_path / "part.xml").write_text(
        '<mujocoinclude>\n<body name="b" pos="1"><geom size="x"/></body>\n</mujocoinclude>'
    )
    text = '<mujoco><worldbody>\n<include file="part.xml"/>\n</worldbody><compiler angle="x"/></mujoco>'
    _, report = report_of(text, ".xml", tmp_path)
    places = [
        (p.rule, Path(p.location.path).name, p.location.line) for p in report.errors
    ]
    assert places == [
        ("XML104", "robot.xml", 3),
        ("XML104", "part.xml", 2),
        ("XML104", "part.xml", 2),
    ]


def test_a_name_that_nobody_has_is_said_once(tmp_path):
    """The link that three joints mean is one mistake, and so is a class, a mesh or a material of many geoms."""
    text = URDF.replace('<link name="arm"/>', '<link name="amr"/>')
    assert errors_of(text, ".urdf", tmp_path) == [("URDF112", 20)]
    for old, rule in (
        ('class="small"/>', "MJCF105"),
        ('mesh="tent"', "MJCF142"),
        ('material="plain"', "MJCF142"),
    ):
        twice = MJCF.replace(
            '<geom type="mesh" mesh="tent" material="shiny"/>',
            '<geom type="mesh" mesh="tent"/>' * 2,
        )
        text = twice.replace(old, old.replace('="', '="x'))
        assert [code for code, _ in errors_of(text, ".xml", tmp_path)] == [rule], old


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("<robot name='r'/>", ["BODY108"]),
        ('<robot><link name="a"/><link name="b"/></robot>', ["BODY125"]),
        (
            '<robot><link name="a"/><link name="b"/><link name="c"/><link name="d"/>'
            '<joint name="1" type="fixed"><parent link="b"/><child link="c"/></joint>'
            '<joint name="2" type="fixed"><parent link="c"/><child link="b"/><origin xyz="1"/></joint>'
            '<joint name="3" type="fixed"><parent link="a"/><child link="d"/><origin xyz="2"/></joint></robot>',
            ["BODY125", "XML104", "XML104"],
        ),
        (
            '<robot><link name="a"/><link name="b"><inertial><mass value="q"/><inertia ixx="1"/></inertial></link><link name="c"/>'
            '<joint name="1" type="fixed"><parent link="a"/><child link="b"/></joint>'
            '<joint name="2" type="fixed"><parent link="c"/><child link="b"/></joint></robot>',
            ["URDF113", "XML104", "URDF130"],
        ),
        (
            '<robot xmlns:xacro="x"><xacro:arg name="a"/><link name="${n}"/><joint/></robot>',
            ["URDF102"],
        ),
    ],
)
def test_trees_that_are_none(text, rules, tmp_path):
    assert sorted(rule for rule, _ in errors_of(text, ".urdf", tmp_path)) == sorted(
        rules
    )


@pytest.mark.parametrize("suffix", MODELS)
def test_very_many_faults_are_counted(suffix, tmp_path):
    many = 2 * MAX_LISTED
    if suffix == ".urdf":
        text = URDF.replace(
            '<link name="arm"/>',
            '<link name="arm">'
            + '<visual><origin xyz="x"/></visual>' * many
            + "</link>",
        )
    else:
        text = MJCF.replace('<geom class="small"/>', '<geom size="x"/>' * many)
    _, report = report_of(text, suffix, tmp_path)
    listed = [p for p in report.problems if p.rule == "XML104"]
    assert len(listed) == MAX_LISTED
    assert sum(problem.count for problem in listed) == many


def changed(text, by):
    """Return a text with some of its values and pieces changed at random."""
    for _ in range(by.randrange(1, 5)):
        at = by.randrange(len(text))
        words = (
            "",
            "x",
            "0",
            "nan",
            '"',
            "<",
            "/>",
            " 1",
            "1e400",
            "base",
            "<joint/>",
            '<body name="b"/>',
            "\0",
            "&#1;",
        )
        text = text[:at] + by.choice(words) + text[at + by.choice((0, 1, 1, 5, 30)) :]
    return text


@pytest.mark.parametrize("suffix", MODELS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=tries(60), deadline=None)
def test_check_says_what_reading_raises(suffix, seed):
    """Whatever the file: no exception of a check, and its errors have the one that reading stops at. What can be read has no faults."""
    text = changed(MODELS[suffix][0], random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"robot{suffix}"
        path.write_bytes(text.encode("utf-8", "replace"))
        name = {".urdf": "urdf", ".xml": "mjcf"}[suffix]
        report = bm.check(path, format=name)
        try:
            body = bm.load(path, format=name)
        except bm.FormatError as error:
            assert error.problem.rule in {
                p.rule for p in report.errors if p.location == error.problem.location
            }
        else:
            # A misspelt name (XML106) is understood.
            assert {p.rule for p in report.problems if p.rule.startswith("XML")} <= {
                "XML106"
            }
            assert set(body.problems) <= set(report.problems)
