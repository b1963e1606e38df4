"""Angles and lengths of models in other units are told where they stand."""

from __future__ import annotations

import pytest

import bodymotion as bm

BODY = """\
format: ChoreonoidBody
format_version: 1.0
angleUnit: {unit}
name: robot
links:
  - {{ name: BASE, jointType: free, mass: 1, inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ] }}
  - name: ARM
    parent: BASE
    jointType: revolute
    jointId: 0
    jointAxis: [ 0, 0, 1 ]
    jointRange: {arm}
    rotation: [ 0, 0, 1, {turn} ]
    mass: 1
    inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]
  - name: HAND
    parent: ARM
    jointType: revolute
    jointId: 1
    jointAxis: [ 0, 0, 1 ]
    jointRange: {hand}
    mass: 1
    inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]
"""


def reported(tmp_path, unit="degree", arm="[ -90, 90 ]", hand="[ -10, 10 ]", turn="30"):
    path = tmp_path / "robot.body"
    path.write_text(BODY.format(unit=unit, arm=arm, hand=hand, turn=turn))
    return [
        (problem.rule, problem.location.line) for problem in bm.check(path).problems
    ]


def test_ranges_in_radians_in_a_file_in_degrees(tmp_path):
    assert reported(tmp_path, arm="[ -1.57, 1.57 ]", hand="[ -2.1, 0.5 ]") == [
        ("BDY116", 21)
    ]
    # One that is narrow beside others, whole degrees of few joints, and radians where they are the unit.
    assert reported(tmp_path, hand="[ -1.57, 1.57 ]") == []
    assert reported(tmp_path, arm="[ -5, 5 ]", hand="[ -2, 2 ]") == []
    assert (
        reported(
            tmp_path,
            unit="radian",
            arm="[ -1.57, 1.57 ]",
            hand="[ -2.1, 0.5 ]",
            turn="1.57",
        )
        == []
    )


@pytest.mark.parametrize("turn", ["1.5708", "-1.57", "3.14159", "0.785398"])
def test_a_rotation_in_radians_in_a_file_in_degrees(tmp_path, turn):
    assert reported(tmp_path, turn=turn) == [("BDY116", 13)]


@pytest.mark.parametrize("turn", ["0", "1", "1.5", "3", "-90", "360", "1e308"])
def test_rotations_in_degrees(tmp_path, turn):
    assert reported(tmp_path, turn=turn) == []


def test_a_rotation_in_degrees_in_a_file_in_radians(tmp_path):
    ranges = {"arm": "[ -1.57, 1.57 ]", "hand": "[ -2.1, 0.5 ]"}
    assert reported(tmp_path, unit="radian", turn="90", **ranges) == [("BDY116", 13)]
    assert reported(tmp_path, unit="radian", turn="6.2832", **ranges) == []


@pytest.mark.parametrize(
    ("far", "rules"),
    [(1500, ["BODY122"]), (30, ["BODY122"]), (15, []), (1000, []), (1e6, [])],
)
def test_limits_of_slides_in_millimetres(far, rules):
    """Round numbers far off, and huge ones, say that there is no limit."""
    mass = bm.Segment(mass=1.0, inertia=[[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    slide = bm.Joint(
        name="ARM", type="slide", id=0, axis=[0, 0, 1], lower=-far, upper=far
    )
    links = (
        bm.Link(name="BASE", joint=bm.Joint(type="free"), segments=(mass,)),
        bm.Link(name="ARM", index=1, parent=0, joint=slide, segments=(mass,)),
    )
    assert [
        problem.rule for problem in bm.check(bm.Body(name="r", links=links)).problems
    ] == rules
