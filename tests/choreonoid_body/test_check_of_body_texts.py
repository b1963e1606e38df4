"""Each slip in a Choreonoid model is one problem, in plain words, where it is.

What follows from it is not reported.
"""

from __future__ import annotations

import pytest

import bodymotion as bm
from bodymotion.formats.choreonoid_body import read_body

MODEL = """\
format: ChoreonoidBody
format_version: 2.0
name: robot
root_link: BASE
links:
  - name: BASE
    joint_type: free
    mass: 5
    inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]
    elements:
      - { type: Group }
  - name: HIP
    parent: BASE
    joint_type: revolute
    joint_axis: [ 0, 1, 0 ]
    joint_range: [ -90, 80 ]
    joint_id: 0
    mass: 1
    inertia: [ 0.01, 0, 0, 0.01, 0, 0.01 ]
  - name: KNEE
    parent: HIP
    joint_type: prismatic
    joint_axis: Y
    joint_id: 1
    mass: 2
    inertia: [ 0.02, 0, 0, 0.02, 0, 0.02 ]
  - name: TOE
    parent: KNEE
    joint_type: revolute
    joint_id: 2
    mass: 1
    inertia: [ 0.1, 0, 0, 0.1, 0, 0.1 ]
"""


def written(text, folder):
    path = folder / "robot.body"
    path.write_text(text)
    return path


def checked(text, folder):
    return read_body(written(text, folder)).problems


def test_the_model_is_sound(tmp_path):
    assert checked(MODEL, tmp_path) == ()


@pytest.mark.parametrize(
    ("right", "wrong", "line", "column", "named"),
    [
        ("[ 0, 1, 0 ]", "[ 0, 1, 0", 16, 16, "']'"),
        ("[ 0, 1, 0 ]", "[ 0, 1, 0 ]]", 15, 28, "line"),
        ("{ type: Group }", "{ type: Group", 12, 9, "'}'"),
        ("joint_type: prismatic", "joint_type prismatic", 22, 5, "':'"),
        ("joint_id: 1", "joint_id:1", 24, 5, "':'"),
        ("links:\n", "links\n", 5, 1, "':'"),
        ("    joint_axis: Y", "\tjoint_axis: Y", 23, 1, "tab"),
        ("name: KNEE", 'name: "KNEE', 20, 11, "quote"),
    ],
)
def test_what_is_no_yaml_is_one_error(right, wrong, line, column, named, tmp_path):
    text = MODEL.replace(right, wrong, 1)
    (problem,) = checked(text, tmp_path)
    assert (problem.rule, problem.location.line, problem.location.column) == (
        "YAML101",
        line,
        column,
    )
    assert named in problem.message


def test_an_indentation_that_does_not_fit(tmp_path):
    (problem,) = checked(
        MODEL.replace("    joint_axis: Y", "   joint_axis: Y"), tmp_path
    )
    assert (problem.rule, problem.location.line) == ("YAML101", 23)


def test_parents_in_a_circle_are_told_once(tmp_path):
    (problem,) = checked(MODEL.replace("parent: BASE", "parent: KNEE"), tmp_path)
    assert (problem.rule, problem.severity, problem.location.line) == (
        "BODY125",
        "error",
        13,
    )
    assert "HIP → KNEE → HIP" in problem.message and "1 link below" in problem.message


def test_links_without_a_parent_are_told_with_those_below(tmp_path):
    (problem,) = checked(MODEL.replace("    parent: BASE\n", ""), tmp_path)
    assert (problem.rule, problem.location.line) == ("BODY125", 12)
    assert "link 'HIP'" in problem.message and "2 links below" in problem.message


@pytest.mark.parametrize(
    ("right", "wrong", "line", "severity"),
    [
        ("mass: 2", "Mass: 2", 25, "warning"),
        ("mass: 2", "masss: 2", 25, "warning"),
        ("joint_axis: Y", "jointaxis: Y", 23, "warning"),
        ("format_version", "format_verison", 2, "warning"),
        ("root_link", "rootlink", 4, "warning"),
        ("links:", "link:", 5, "error"),
        ("name: HIP", "nameQ: HIP", 12, "error"),
    ],
)
def test_a_key_that_is_misspelt_is_all_that_is_said(
    right, wrong, line, severity, tmp_path
):
    (problem,) = bm.check(
        written(MODEL.replace(right, wrong, 1), tmp_path), ignore=["BODY143"]
    ).problems
    assert (problem.rule, problem.severity, problem.location.line) == (
        "YAML106",
        severity,
        line,
    )
    assert f"did you mean {right.partition(':')[0]!r}?" in problem.message


def test_swapped_limits_are_located_at_their_key(tmp_path):
    path = written(MODEL.replace("[ -90, 80 ]", "[ 90, -80 ]"), tmp_path)
    (problem,) = bm.check(path, select=["BODY112"]).problems
    assert (problem.location.line, problem.location.column) == (16, 5)


def test_degrees_in_a_file_of_radians(tmp_path):
    text = MODEL.replace(
        "format_version: 2.0", "format_version: 1.0\nangle_unit: radian"
    ).replace("    joint_id: 2\n", "    joint_id: 2\n    joint_range: [ -60, 60 ]\n")
    problem, *_ = bm.check(written(text, tmp_path), ignore=["BODY143"]).problems
    assert (problem.rule, problem.location.line) == ("BODY115", 17)
    sound = text.replace("-90, 80", "-1.5, 1.4").replace("-60, 60", "-1, 1")
    assert bm.check(written(sound, tmp_path), ignore=["BODY143"]).problems == ()
