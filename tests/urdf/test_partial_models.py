"""A model with faults is read as far as it can be: its other findings stay, and what is unknown has none."""

from __future__ import annotations

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.formats.mjcf import parse_mjcf
from bodymotion.formats.urdf import parse_urdf

URDF = """\
<robot name="r">
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/></inertial></link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="elbow" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-90" upper="90" effort="1" velocity="1"/>
  </joint>
</robot>
"""
BAD_JOINT = '<joint name="bad" type="revolve"><parent link="arm"/><child link="hand"/></joint>\n</robot>'


def findings(text, tmp_path, name="r.urdf"):
    (tmp_path / name).write_text(text)
    return {
        (problem.rule, problem.location.line, problem.location.column)
        for problem in bm.check(tmp_path / name).problems
    }


def test_a_bad_joint_hides_no_other_finding(tmp_path):
    before = findings(URDF, tmp_path)
    assert {rule for rule, _, _ in before} == {"BODY115", "BODY133"}
    after = findings(URDF.replace("</robot>", BAD_JOINT), tmp_path)
    assert before <= after
    assert {rule for rule, _, _ in after - before} == {"URDF112", "URDF120"}


TWICE = '<link name="x"/><link name="x"/><joint name="jx" type="fixed"><parent link="base"/><child link="x"/></joint>\n'
MEANT = '<joint name="jy" type="fixed"><parent link="base"/><child link="y"/></joint>\n'


@pytest.mark.parametrize(
    ("old", "new", "more", "places"),
    [
        ('child link="forearm"', 'child link="forarm"', "", [("URDF112", 5)]),
        ('parent link="base"', 'parent link="bsae"', "", [("URDF112", 5)]),
        ('child link="forearm"', 'child link="forarm"', MEANT, [("URDF112", 5)]),
        ("", "", MEANT, []),
    ],
)
def test_two_links_of_one_name_hide_only_a_name_that_may_be_meant(
    old, new, more, places, tmp_path
):
    """A joint holds the second link by the name that it should have: nothing is found of that name, but of any other."""
    text = (
        URDF.replace("arm", "forearm")
        .replace(old, new)
        .replace("</robot>", TWICE + more + "</robot>")
    )
    found = {
        (rule, line)
        for rule, line, _ in findings(text, tmp_path)
        if rule.startswith("URDF")
    }
    assert found == {("URDF111", 7), *places}


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('link name="hand"', 'link name="arm"', ("URDF111", 4)),
        ('child link="hand"', 'child link="arm"', ("URDF113", 8)),
        ('child link="hand"', 'child link="base"', ("BODY125", 8)),
    ],
)
def test_a_joint_that_holds_no_link_is_checked(old, new, fault, tmp_path):
    """Of its link nothing is known, but its limits, axis and position are."""
    hand = URDF.splitlines()[2].replace("arm", "hand")
    joint = """<joint name="wrist" type="revolute"><parent link="arm"/><child link="hand"/>
    <origin xyz="0 0 300"/>
    <axis xyz="0 2 0"/>
    <limit lower="2" upper="1" effort="1" velocity="0"/></joint>\n</robot>"""
    text = (
        URDF.replace("  <joint", f"{hand}\n  <joint")
        .replace("</robot>", joint)
        .replace(old, new)
    )
    found = {(rule, line) for rule, line, _ in findings(text, tmp_path) if line != 3}
    expected = {("BODY142", 9), ("BODY110", 10), ("BODY112", 11), ("BODY114", 11)}
    assert {fault, *expected} <= found
    fixed = findings(
        text.replace('"wrist" type="revolute"', '"wrist" type="fixed"'), tmp_path
    )
    assert {fault, ("BODY142", 9)} <= {(rule, line) for rule, line, _ in fixed}
    right = (
        text.replace("0 0 300", "0 0 1")
        .replace("0 2 0", "0 1 0")
        .replace('"2"', '"0"')
        .replace('city="0"', 'city="1"')
    )
    assert {(rule, line) for rule, line, _ in findings(right, tmp_path)} - {
        ("BODY133", 2),
        ("BODY115", 6),
    } == {fault}


def test_a_joint_of_an_unknown_type_leaves_open_whether_its_link_needs_a_mass(tmp_path):
    text = URDF.replace('value="1"', 'value="0"').replace(
        'iyy="1" iyz="0" izz="1"', 'iyy="0" iyz="0" izz="0"'
    )
    masses = {"BODY131", "BODY132"}
    assert masses & {rule for rule, _, _ in findings(text, tmp_path)}
    for unknown in ("", ' type="glued"'):
        found = findings(text.replace(' type="revolute"', unknown), tmp_path)
        assert {
            rule for rule, line, _ in found if rule in masses and line == 3
        } == set()
    negative = text.replace('value="0"', 'value="-2"').replace(' type="revolute"', "")
    assert ("BODY130", 3) in {
        (rule, line) for rule, line, _ in findings(negative, tmp_path)
    }


def test_fields_are_located_or_unknown(tmp_path):
    text = URDF.replace('value="1"', 'value="heavy"', 1).replace(
        'xyz="0 1 0"', 'xyz="0 1"'
    )
    result = parse_urdf(text.encode(), tmp_path / "r.urdf")
    locations = result.value.source.locations
    assert np.isnan(result.value.links[0].mass)
    assert not locations.is_known(("links", 0, "mass"))
    assert not locations.is_known(("links", 1, "axis"))
    assert locations.is_known(("links", 1, "lower"))
    lower = locations.locate(("links", 1, "lower"))
    assert (lower.line, lower.column) == (5, text.splitlines()[4].index("lower=") + 1)
    with pytest.raises(bm.FormatError):
        result.require()


def test_a_model_in_mjcf_too(tmp_path):
    text = """\
<mujoco>
  <default><joint armature="x"/></default>
  <worldbody>
    <body name="base"><freejoint/><inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>
      <body name="arm"><joint name="elbow" axis="0 0 0"/><geom size="x"/></body>
    </body>
  </worldbody>
</mujoco>
"""
    result = parse_mjcf(text.encode(), tmp_path / "r.xml")
    locations = result.value.source.locations
    assert not locations.is_known(("links", 1, "rotor_inertia"))
    assert not locations.is_known(("links", 1, "mass"))
    found = findings(text, tmp_path, "r.xml")
    assert {rule for rule, _, _ in found} == {"XML104", "BODY111", "BODY130"}
