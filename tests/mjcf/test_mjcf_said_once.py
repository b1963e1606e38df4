"""What MuJoCo refuses is an error, told once and at its place; what only looks wrong is a warning."""

from __future__ import annotations

import math

import mujoco
import pytest

import bodymotion as bm

MODEL = """\
<mujoco>
  <asset> <mesh name="hand" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/> </asset>
  <worldbody>
    <body name="base">
      <freejoint/>
      <geom size="0.1"/>
      <body name="arm">
        <inertial pos="0 0 0"
                  mass="1" diaginertia="0.1 0.1 0.1"/>
        <joint name="hip" range="-45 45"/>
        <geom type="mesh" mesh="hand"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
RANGE = 'range="-45 45"'


def said_of(text, tmp_path):
    path = tmp_path / "r.xml"
    path.write_text(text)
    return [
        problem for problem in bm.check(path).problems if problem.severity != "note"
    ]


def taken(text):
    """Whether MuJoCo takes a model."""
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return False
    return True


def test_what_is_right_is_passed_over(tmp_path):
    assert taken(MODEL)
    assert said_of(MODEL, tmp_path) == []


@pytest.mark.parametrize(
    ("right", "wrong", "rule", "line", "column"),
    [
        ('mass="1"', 'mass="-1"', "BODY130", 9, 19),
        ('vertex="0 0 0 1 0 0 0 1 0 0 0 1"', 'file="hand.stl"', "FMT020", 2, 29),
        (RANGE, 'range="45 -45" limited="true"', "BODY112", 10, 27),
    ],
)
def test_what_mujoco_refuses_is_told_once(right, wrong, rule, line, column, tmp_path):
    text = MODEL.replace(right, wrong)
    assert not taken(text)
    (problem,) = said_of(text, tmp_path)
    assert (problem.rule, problem.severity) == (rule, "error")
    assert (problem.location.line, problem.location.column) == (line, column)
    bm.load(tmp_path / "r.xml")


@pytest.mark.parametrize(
    ("wrong", "rules"),
    [
        ('range="45 -45"', ["BODY112"]),
        ('range="-0.785 0.785"', ["MJCF125"]),
        ('range="-1.57 3"', ["MJCF125"]),
        ('range="-5 5"', []),
        ('range="-0.5 30"', []),
        ('range="-0.05 0.05" type="slide"', []),
    ],
)
def test_ranges(wrong, rules, tmp_path):
    text = MODEL.replace(RANGE, wrong)
    assert taken(text)
    assert [
        (problem.rule, problem.severity) for problem in said_of(text, tmp_path)
    ] == [(r, "warning") for r in rules]


@pytest.mark.parametrize("limited", ["true", "false", "auto"])
def test_a_range_in_reverse_order_is_the_finding_of_other_formats(limited, tmp_path):
    (problem,) = said_of(
        MODEL.replace(RANGE, f'range="90 -90" limited="{limited}"'), tmp_path
    )
    assert (problem.rule, problem.location.line) == ("BODY112", 10)
    assert problem.data == pytest.approx({"lower": math.pi / 2, "upper": -math.pi / 2})
    assert bm.check(tmp_path / "r.xml", select=["MJCF153"]).problems == (problem,)


def test_radians_are_right_where_the_compiler_says_so(tmp_path):
    text = MODEL.replace(RANGE, 'range="-0.785 0.785"').replace(
        "<asset>", '<compiler angle="radian"/> <asset>'
    )
    assert said_of(text, tmp_path) == []


def test_one_joint_with_a_range_of_degrees_is_enough(tmp_path):
    more = '<body name="hand"> <joint name="turn" range="-90 90"/> <geom size="0.1"/> </body> </body>'
    text = MODEL.replace(RANGE, 'range="-0.785 0.785"').replace("</body>", more, 1)
    assert said_of(text, tmp_path) == []
    assert [
        problem.rule
        for problem in said_of(text.replace("-90 90", "-1.57 1.57"), tmp_path)
    ] == ["MJCF125"]


def test_a_file_outside_is_told_how_to_be_allowed(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "hand.stl").write_text("solid")
    (tmp_path / "model" / "hand.stl").symlink_to(tmp_path / "hand.stl")
    text = MODEL.replace('vertex="0 0 0 1 0 0 0 1 0 0 0 1"', 'file="hand.stl"')
    (problem,) = said_of(text, tmp_path / "model")
    assert "--allow-outside (allow_outside=True)" in problem.hint
    (problem,) = said_of(text.replace("hand", "hnad"), tmp_path / "model")
    assert "outside" not in problem.hint
    (problem,) = said_of(
        MODEL.replace("<freejoint/>", '<freejoint/> <include file="r.xml"/>'), tmp_path
    )
    assert (problem.rule, problem.hint) == ("MJCF102", "")
