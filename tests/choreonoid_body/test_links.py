"""Links and joints: spellings, units, ranges, axes, masses, the tree, SubBodies, tracks, closed loops; every fault with its place."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from body_files import HEAD, all_rules, link_with, parsed, rules, with_links

from bodymotion.diagnostics import FormatError
from bodymotion.formats.choreonoid_body import read_body
from bodymotion.geometry import rotations

MASS = "mass: 1, inertia: [ 1, 0, 0, 1, 0, 1 ]"
NEW = """\
format: ChoreonoidBody
format_version: 2.0
name: Arm
root_link: BASE
links:
  - { name: BASE, joint_type: fixed }
  -
    name: ARM
    parent: BASE
    translation: [ 0, 0, 0.1 ]
    rotation: [ 0, 0, 1, 90 ]
    joint_name: shoulder
    joint_type: revolute
    joint_id: 2
    joint_axis: -Y
    joint_range: [ -45, 90 ]
    max_joint_velocity: 180
    max_joint_effort: 12
    joint_angle: 30
    gear_ratio: 100
    rotor_inertia: 1e-5
    mass: 2.5
    center_of_mass: [ 0, 0, 0.2 ]
    inertia: [ 1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 2.5 ]
    material: Steel
"""
OLD = (
    NEW.replace("2.0", "1.0")
    .replace("format_version", "formatVersion")
    .replace("root_link", "rootLink")
    .replace("joint_name", "jointName")
    .replace("joint_type", "jointType")
    .replace("joint_id", "jointId")
    .replace("joint_axis", "jointAxis")
    .replace("joint_range", "jointRange")
    .replace("max_joint_velocity", "maxJointVelocity")
    .replace("max_joint_effort", "maxJointEffort")
    .replace("joint_angle", "jointAngle")
    .replace("gear_ratio", "gearRatio")
    .replace("rotor_inertia", "rotorInertia")
    .replace("center_of_mass", "centerOfMass")
)


@pytest.mark.parametrize("text", [NEW, OLD], ids=["2.0", "1.0"])
def test_both_spellings(text):
    body = parsed(text)
    assert body.name == "Arm" and body.source.version in ("1.0", "2.0")
    link = body.links[1]
    joint = link.joint
    assert (link.name, link.parent, joint.name, joint.type, joint.id) == (
        "ARM",
        0,
        "shoulder",
        "rotate",
        2,
    )
    assert joint.axis.tolist() == [0, -1, 0]
    assert (joint.lower, joint.upper) == (math.radians(-45), math.radians(90))
    assert (joint.velocity_lower, joint.velocity_upper) == (-math.pi, math.pi)
    assert (joint.gear_ratio, joint.rotor_inertia) == (100, 1e-5)
    assert joint.extra == {
        "joint_effort_range": [-12.0, 12.0],
        "joint_displacement": pytest.approx(math.radians(30)),
        "material": "Steel",
    }
    assert np.allclose(
        link.offset, [0, 0, 0.1, math.sqrt(0.5), 0, 0, math.sqrt(0.5)], atol=1e-15
    )
    assert (link.mass, link.center_of_mass.tolist()) == (2.5, [0, 0, 0.2])
    assert link.inertia.tolist() == [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]]
    assert "BODY118" in all_rules(body) and not rules(body)


def test_old_and_new_are_equal():
    assert parsed(NEW).links == parsed(OLD).links


def test_radians():
    text = NEW.replace(
        "format_version: 2.0", "formatVersion: 1.0\nangleUnit: radian"
    ).replace("90 ]", "1.5 ]")
    body = parsed(text)
    assert body.links[1].joint.upper == 1.5
    assert np.allclose(rotations.to_axis_angle(body.links[1].offset[3:])[1], 1.5)
    assert "BDY104" in rules(
        parsed(text.replace("formatVersion: 1.0", "formatVersion: 2.0"))
    )
    with pytest.raises(FormatError, match="angle_unit is 'grad'"):
        parsed(text.replace("radian", "grad"))


@pytest.mark.parametrize(
    ("kind", "given", "ends"),
    [
        ("revolute", "[ -90, 45 ]", (-math.pi / 2, math.pi / 4)),
        ("revolute", "180", (-math.pi, math.pi)),
        ("revolute", "unlimited", (-math.inf, math.inf)),
        ("revolute", "[ unlimited, 90 ]", (-math.inf, math.pi / 2)),
        ("revolute", "[ 0, inf ]", (0.0, math.inf)),
        ("prismatic", "[ -0.5, 0.25 ]", (-0.5, 0.25)),
        ("prismatic", "4", (-4.0, 4.0)),
    ],
)
def test_ranges(kind, given, ends):
    body = link_with(
        f"joint_type: {kind}\njoint_axis: Z\njoint_range: {given}\njoint_velocity_range: {given}"
    )
    joint = body.links[0].joint
    assert (joint.lower, joint.upper) == pytest.approx(ends)
    assert (joint.velocity_lower, joint.velocity_upper) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("given", "axis", "said"),
    [
        ("X", [1, 0, 0], []),
        ("-Z", [0, 0, -1], []),
        ("[ 0, 1, 0 ]", [0, 1, 0], []),
        ("[ 0, 3, 4 ]", [0, 0.6, 0.8], ["BODY110"]),
        ("-y", [0, -1, 0], ["BDY131"]),
        ("[ 0, 0, 0 ]", [0, 0, 1], ["BODY111"]),
    ],
)
def test_axes(given, axis, said):
    body = link_with(
        f"joint_type: revolute\njoint_axis: {given}\n{MASS.replace(', i', chr(10) + 'i')}"
    )
    assert np.allclose(body.links[0].joint.axis, axis, atol=1e-15)
    assert rules(body) == said


@pytest.mark.parametrize(
    ("key", "rule", "words"),
    [
        ("joint_type: ball", "BDY130", "'ball'"),
        ("joint_axis: W", "BDY131", "'W'"),
        ("joint_axis: [ 1, 0 ]", "YAML104", "2 numbers; expected 3"),
        ("joint_range: [ 1, 2, 3 ]", "YAML104", "3 numbers; expected 2"),
        ("joint_id: 0.5", "YAML104", "a whole number"),
        ("joint_id: 1e300", "YAML104", "a whole number of 64 bits"),
        (
            "elements: { type: RateGyroSensor, id: -1e20 }",
            "YAML104",
            "a whole number of 64 bits",
        ),
        ("inertia: [ 1, 2, 3 ]", "BDY141", "3 numbers"),
        ("mass: heavy", "YAML104", "'heavy'"),
        ("mass: [ 1 ]", "YAML104", "a list"),
        ("translation: 1", "YAML104", "a list of numbers"),
        ("translation: [ 1, [ 0, 0, 0 ] ]", "YAML104", "lists of numbers"),
        ("rotation: [ 0, 0, 1 ]", "YAML104", "3 numbers; expected 4"),
        ("type: Limb", "BDY126", "'Limb'"),
        ("name: []", "YAML104", "a text"),
        ("elements: 5", "BDY150", "'5'"),
    ],
)
def test_wrong_values_are_refused_with_their_place(key, rule, words):
    with pytest.raises(FormatError, match=words) as caught:
        link_with(f"{key}")
    problem = caught.value.problem
    assert problem.rule == rule
    assert problem.location.line in (6, 7) and problem.location.column


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("joint_id: 10000000", "BODY123"),
        ("joint_type: revolute\njoint_id: 0\njoint_range: [ 1, -1 ]", "BODY112"),
        ("joint_range: nan", "BODY105"),
        ("rotation: [ 0, 0, 0, 90 ]", "BODY107"),
        ("rotation: [ 0, 0, 2, 90 ]", "BODY106"),
        ("translation: [ 0, inf, 0 ]", "BODY105"),
        ("mass: -1", "BODY130"),
        ("mass: nan", "BODY105"),
        (
            "joint_type: free\nmass: 1\ninertia: [ 1, 2, 0, 0, 1, 0, 0, 0, 1 ]",
            "BODY134",
        ),
        ("inertia: [ 1, inf, 0, 0, 1, 0 ]", "BODY105"),
        ("joinType: revolute", "YAML106"),
        ("max_joint_velocty: 3", "YAML106"),
        (
            "elements: [ { type: Shape, apearance: {}, geometry: { type: Box, size: [ 1, 1, 1 ] } } ]",
            "YAML106",
        ),
    ],
)
def test_odd_values_are_read_with_a_problem(key, rule):
    assert rule in all_rules(link_with(key))


def test_physics_that_simulators_refuse():
    body = with_links(
        "  - { name: A, joint_type: free, mass: 1, inertia: [ 1, 0, 0, 1, 0, 3 ] }\n"
        "  - { name: B, parent: A, joint_type: revolute, joint_id: 0, mass: 0 }\n"
        "  - { name: B, parent: A, joint_type: revolute, joint_id: 0 }\n"
        "  - { name: C, parent: A, joint_type: fixed }\n"
    )
    assert rules(body) == ["BDY142"]
    assert {"BODY101", "BODY117", "BODY133", "BODY131"} <= all_rules(body)
    assert [link.mass for link in body.links] == [1, 0, 1, 1]
    assert body.joint_links == (1,)


def test_several_rotations_and_translations():
    """The last rotation is applied first: x turned about x stays, about z by 90° becomes y."""
    body = link_with(
        "rotation: [ [ 0, 0, 1, 90 ], [ 1, 0, 0, 90 ] ]\ntranslation: [ [ 1, 0, 0 ], [ [ 0, 2, 0 ], [ 0, 0, 3 ] ] ]"
    )
    turn = rotations.to_matrix(body.links[0].offset[3:])
    assert np.allclose(turn @ [1, 0, 0], [0, 1, 0]) and np.allclose(
        turn @ [0, 1, 0], [0, 0, 1]
    )
    assert body.links[0].offset[:3].tolist() == [1, 2, 3]
    assert np.array_equal(body.root_pose, body.links[0].offset)


def test_links_are_in_depth_first_order():
    links = [
        ("ROOT", ""),
        ("A", "ROOT"),
        ("B", "ROOT"),
        ("A1", "A"),
        ("B1", "B"),
        ("A2", "A"),
        ("A11", "A1"),
    ]
    body = with_links(
        "".join(
            f"  - {{ name: {name}, parent: {parent or '~'}, {MASS} }}\n"
            for name, parent in links
        )
    )
    assert [link.name for link in body.links] == [
        "ROOT",
        "A",
        "A1",
        "A11",
        "A2",
        "B",
        "B1",
    ]
    assert [link.parent for link in body.links] == [-1, 0, 1, 2, 1, 0, 5]


def test_roots():
    two = f"  - {{ name: A, {MASS} }}\n  - {{ name: B, {MASS} }}\n"
    body = with_links(two)
    assert [link.name for link in body.links] == ["A"] and rules(body) == ["BODY125"]
    text = f"{HEAD}root_link: B\nlinks:\n{two}"
    assert [link.name for link in parsed(text).links] == ["B"]
    with pytest.raises(FormatError, match="root_link is 'C'"):
        parsed(text.replace("root_link: B", "root_link: C"))
    with pytest.raises(FormatError, match="the parent of link 'B' is 'C'"):
        with_links("  - { name: A }\n  - { name: B, parent: C }\n")
    ring = with_links("  - { name: A, parent: B }\n  - { name: B, parent: A }\n")
    assert [link.name for link in ring.links] == ["A", "B"] and "BDY124" in rules(ring)


def test_merged_and_imported_keys():
    text = f"{HEAD}SPEC: &spec {{ joint_type: prismatic, joint_axis: X, {MASS} }}\nlinks:\n"
    body = parsed(
        f"{text}  - {{ name: A, mass: 2, <<: *spec }}\n  - {{ name: B, parent: A, import: *spec, joint_axis: Y }}\n"
    )
    assert [link.mass for link in body.links] == [2, 1]
    assert [link.joint.axis.tolist() for link in body.links] == [[1, 0, 0], [0, 1, 0]]
    assert body.extra["SPEC"]["joint_axis"] == "X"


def test_unknown_keys_are_kept():
    body = parsed(
        f"{HEAD}standard_pose: [ 0, 30 ]\nlinks: [ {{ name: A, density: 1.5, note: 'no 5', old: ~ }} ]\n"
    )
    assert body.extra == {"standard_pose": [0, 30]}
    assert body.links[0].joint.extra == {"density": 1.5, "note": "no 5", "old": None}


def test_inertia_at_the_joint_axis():
    body = link_with("joint_type: revolute\njoint_axis_inertia: 0.05")
    assert body.links[0].joint.extra["equivalentInertia"] == 0.05


def test_continuous_track():
    body = with_links(
        f"  - {{ name: BASE, {MASS} }}\n"
        "  - { type: ContinuousTrack, name: T, parent: BASE, num_joints: 3, joint_axis: Y, joint_offset: [ 0.1, 0, 0 ],\n"
        f"      translation: [ 1, 0, 0 ], initial_joint_angles: [ 30, 60, 90 ], elements: {{ RigidBody: {{ {MASS} }} }} }}\n"
    )
    assert [link.name for link in body.links] == ["BASE", "T0", "T1", "T2"]
    assert [link.parent for link in body.links] == [-1, 0, 1, 2]
    assert [link.joint.type for link in body.links[1:]] == ["free", "rotate", "rotate"]
    assert [link.offset[0] for link in body.links[1:]] == [1, 0.1, 0.1]
    assert [link.joint.extra.get("joint_displacement") for link in body.links[1:]] == [
        None,
        pytest.approx(math.pi / 6),
        pytest.approx(math.pi / 3),
    ]
    with pytest.raises(FormatError, match="num_joints"):
        with_links("  - { type: ContinuousTrack, name: T, num_joints: 1000000 }\n")


ARM = f"""\
{HEAD.replace("Test", "Arm")}note: of the arm
links:
  - {{ name: L0, joint_type: revolute, joint_axis: X, joint_id: 0, translation: [ 9, 9, 9 ], {MASS},
      elements: {{ ForceSensor: {{ name: F, id: 0 }} }} }}
  - {{ name: L1, parent: L0, joint_type: revolute, joint_axis: Y, joint_id: 1, {MASS} }}
extra_joints: [ {{ link1_name: L0, link2_name: L1, joint_type: ball }} ]
"""


def test_sub_bodies(tmp_path):
    (tmp_path / "arm.body").write_text(ARM)
    body = with_links(
        f"  - {{ name: BASE, joint_type: free, {MASS} }}\n"
        "  - { type: SubBody, uri: arm.body, parent: BASE, prefix: A_, device_prefix: D_, translation: [ 1, 0, 0 ] }\n"
        "  - { type: SubBody, uri: arm.body, parent: A_L1, suffix: _2, joint_id_offset: 2, joint_type: fixed, name: ANY,\n"
        "      elements: [ { type: Camera, name: EYE } ] }\n",
        folder=tmp_path,
    )
    assert [link.name for link in body.links] == [
        "BASE",
        "A_L0",
        "A_L1",
        "L0_2",
        "L1_2",
    ]
    assert [link.parent for link in body.links] == [-1, 0, 1, 2, 3]
    assert [link.joint.id for link in body.links] == [-1, 0, 1, 2, 3]
    assert [link.joint.type for link in body.links] == [
        "free",
        "rotate",
        "rotate",
        "fixed",
        "rotate",
    ]
    assert body.links[1].offset[:3].tolist() == [1, 0, 0] and body.links[3].offset[
        :3
    ].tolist() == [9, 9, 9]
    assert [(d.kind, d.name, d.link) for d in body.devices] == [
        ("ForceSensor", "D_F", 1),
        ("ForceSensor", "F", 3),
        ("VisionSensor", "EYE", 3),
    ]
    assert [joint.links for joint in body.extra_joints] == [(1, 2), (3, 4)]
    assert body.extra["note"] == "of the arm" and body.name == "Test"
    assert rules(body) == []


def test_sub_bodies_that_are_not_there(tmp_path):
    (tmp_path / "self.body").write_text(
        f"{HEAD}links:\n  - {{ name: A }}\n  - {{ type: SubBody, uri: self.body, parent: A }}\n"
    )
    body = read_body(tmp_path / "self.body").require()
    assert [link.name for link in body.links] == ["A"]
    assert rules(body) == ["BDY127"]
    (tmp_path / "bad.body").write_text(f"{HEAD}links: [ {{ name: A, mass: x }} ]\n")
    links = f"  - {{ name: A, {MASS} }}\n  - {{ type: SubBody, uri: NAME, parent: A }}\n  - {{ name: B, parent: HAND }}\n"
    for name in ("none.body", "../up.body", "bad.body"):
        body = with_links(links.replace("NAME", name), folder=tmp_path)
        assert [link.name for link in body.links] == ["A"]
        missing, follows = (
            p for p in body.problems if Path(p.location.path).name != "bad.body"
        )
        assert (missing.rule, missing.severity, missing.location.line) == (
            "BDY127",
            "error",
            6,
        )
        assert name in missing.message
        assert (follows.rule, follows.severity, follows.location.line) == (
            "BODY125",
            "warning",
            7,
        )
        assert "'B'" in follows.message
        assert {p.rule for p in body.problems} - {"BDY127", "BODY125"} == (
            {"YAML104"} if name == "bad.body" else set()
        )


def test_files_outside_of_the_folder(tmp_path):
    (tmp_path / "robot").mkdir()
    (tmp_path / "arm.body").write_text(ARM)
    links = "  - { type: SubBody, uri: ../arm.body }\n"
    with pytest.raises(FormatError) as caught:
        with_links(links, folder=tmp_path / "robot", allow_outside=False)
    assert "allow_outside" in caught.value.problem.hint
    more = (
        f"  - {{ name: A, {MASS} }}\n{links}  - {{ name: B, parent: L1 }}\n  - {{ name: C, parent: B }}\nextra_joints:\n"
        "  - { link1_name: A, link2_name: L1, joint_type: ball }\n"
    )
    problems = with_links(more, folder=tmp_path / "robot", allow_outside=False).problems
    assert {problem.severity for problem in problems} == {"warning"}, (
        "what is not opened by our own rule is no fault"
    )
    assert sorted(problem.rule for problem in problems) == [
        "BODY125",
        "BODY160",
        "VRML131",
    ]
    body = with_links(links, folder=tmp_path / "robot")
    assert [link.name for link in body.links] == ["L0", "L1"]


def test_extra_joints():
    links = f"links:\n  - {{ name: A, {MASS} }}\n  - {{ name: B, parent: A, joint_type: fixed, {MASS} }}\n"
    body = parsed(
        f"{HEAD}{links}extra_joints:\n"
        "  - { name: LOOP, link1_name: A, link2_name: B, joint_type: hinge, axis: -X, link1_local_pos: [ 1, 2, 3 ], stiff: true }\n"
        "  - { link1Name: B, link2Name: A, jointType: piston, jointAxis: [ 0, 0, 2 ], link2LocalPos: [ 4, 5, 6 ] }\n"
        "  - { link1_name: A, link2_name: NONE, joint_type: ball }\n"
        "  - { link1_name: A, link2_name: B, joint_type: glue }\n"
    )
    hinge, piston = body.extra_joints
    assert (hinge.name, hinge.type, hinge.links, hinge.axis.tolist()) == (
        "LOOP",
        "hinge",
        (0, 1),
        [-1, 0, 0],
    )
    assert hinge.positions.tolist() == [[1, 2, 3], [0, 0, 0]] and hinge.extra == {
        "stiff": True
    }
    assert (piston.type, piston.links, piston.axis.tolist()) == (
        "piston",
        (1, 0),
        [0, 0, 1],
    )
    assert piston.positions.tolist() == [[0, 0, 0], [4, 5, 6]]
    assert sorted(rules(body)) == ["BDY171", "BODY110", "BODY160"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("format: ChoreonoidScene\nlinks: []\n", "BDY102"),
        ("name: x\n", "BDY102"),
        (HEAD, "BODY108"),
        (f"{HEAD}links: []\n", "BODY108"),
        (f"{HEAD}links: [ {{ type: Skip }} ]\n", "BODY108"),
        (f"{HEAD}links: [ A ]\n", "YAML104"),
        (f"{HEAD}links: [ {{ name: A }} ]\nextra_joints: [ 1 ]\n", "YAML104"),
    ],
)
def test_files_that_are_no_bodies(text, rule):
    with pytest.raises(FormatError) as caught:
        parsed(text)
    assert caught.value.problem.rule == rule


def test_headers_that_are_odd():
    assert rules(parsed(f"links: [ {{ name: A, {MASS} }} ]\n")) == ["BDY102"]
    body = parsed(
        f"format: ChoreonoidBody\nformat_version: 3.0\nlinks: [ {{ {MASS} }} ]\n"
    )
    assert rules(body) == ["BDY103"] and "BODY104" in all_rules(body)
    assert body.name == "test"


def test_masses_that_overflow_together_are_said():
    body = link_with(
        "joint_type: free\nmass: 1\nelements:\n  - { type: RigidBody, mass: 1, center_of_mass: [ 1e200, 0, 0 ] }"
    )
    said = [problem for problem in body.problems if problem.rule == "BODY105"]
    assert len(said) == 1 and "BASE" in said[0].message


def test_a_root_with_a_column_that_moves_nothing_is_said():
    assert "BODY119" in all_rules(link_with("joint_type: revolute\njoint_id: 0"))
    assert "BODY119" not in all_rules(link_with("joint_type: revolute"))
    assert "BODY119" not in all_rules(link_with("joint_type: free"))


def test_defaults_of_the_reference(tmp_path):
    """A link without inertia has the identity, a RigidBody in it zero; a fixed joint with a moving surface is a track."""
    body = with_links(
        "  - { name: A, joint_type: fixed, mass: 2 }\n"
        "  - { name: B, parent: A, jointType: fixed, actuationMode: jointSurfaceVelocity, joint_axis: Y }\n"
        "  - { name: C, parent: A, joint_type: fixed, elements: [ { type: RigidBody, mass: 3 } ] }\n",
        folder=tmp_path,
    )
    assert np.array_equal(body.links[0].inertia, np.eye(3)) and body.links[0].mass == 2
    assert [link.joint.type for link in body.links] == ["fixed", "crawler", "fixed"]
    assert not body.links[2].inertia.any() and body.links[2].mass == 3
