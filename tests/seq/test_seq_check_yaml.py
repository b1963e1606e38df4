"""A motion that is no YAML: the first fault is reported in plain words, once, where it is."""

from __future__ import annotations

import pytest
from test_seq_check_faults import checked

ROWS = "".join(f"      - [ 0.{row}, 0.5, 0.6 ]\n" for row in range(10, 60))
POINTS = "".join(f"      - [ 0.{row}, 0.7, 0.8 ]\n" for row in range(10, 60))
MOTION = f"""\
type: CompositeSeq
content: BodyMotion
formatVersion: 2
frameRate: 100
numFrames: 50
components:
  -
    type: MultiValueSeq
    content: JointDisplacement
    numParts: 3
    frames:
{ROWS}  -
    type: Vector3Seq
    content: ZMP
    isRootRelative: true
    frames:
{POINTS}"""


def test_the_motion_is_sound():
    assert checked(MOTION) == ()


@pytest.mark.parametrize(
    ("right", "wrong", "rule", "line", "column", "named"),
    [
        ("frames:", "frames", "YAML101", 11, 5, "':'"),
        ("components:", "components", "YAML101", 6, 1, "':'"),
        ("frameRate: 100", "frameRate 100", "YAML101", 4, 1, "':'"),
        ("numParts: 3", "numParts:3", "YAML101", 10, 5, "':'"),
        ("    numParts", "\tnumParts", "YAML101", 10, 1, "tab"),
        (": JointD", ': "JointD', "YAML101", 9, 14, "quote"),
        (": JointD", ": 'JointD", "YAML101", 9, 14, "quote"),
        ("[ 0.15, 0.5, 0.6 ]", "[ 0.15, 0.5, 0.6", "YAML101", 17, 25, "]"),
        ("[ 0.15, 0.5, 0.6 ]", "[ 0.15, 0.5, 0.6 ]]", "YAML101", 17, 27, "]"),
        ("0.15, 0.5", "foo, 0.5", "SEQ111", 17, 11, "'foo'"),
        ("0.15, 0.5", "foo, 0.15, 0.5", "SEQ110", 17, 11, "'foo'"),
        ("0.15, 0.5", "0.15; 0.5", "SEQ110", 17, 11, "'0.15; 0.5'"),
        ("0.15, 0.5", "0.15 0.5", "SEQ110", 17, 11, "'0.15 0.5'"),
    ],
)
def test_one_fault_is_one_problem(right, wrong, rule, line, column, named):
    (problem,) = checked(MOTION.replace(right, wrong, 1))
    assert (problem.rule, problem.location.line, problem.location.column) == (
        rule,
        line,
        column,
    )
    assert named in problem.message
    assert problem.subject == (("components", 0, "frames", 5) if line == 17 else ())


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("    numParts", "   numParts"), ("    numParts", "      numParts")],
)
def test_an_indentation_that_does_not_fit(right, wrong):
    (problem,) = checked(MOTION.replace(right, wrong))
    assert problem.location.line == 10
    assert "indented" in problem.message


def test_a_file_that_was_cut_off():
    end = MOTION.index("[ 0.33, 0.5") + 9
    (problem,) = checked(MOTION[:end])
    assert (problem.rule, problem.location.line) == ("YAML101", 35)
    assert problem.subject == ("components", 0, "frames", 23)


def test_times_are_named_where_they_stand():
    text = MOTION.replace("numParts: 3", "hasFrameTime: true\n    numParts: 2").replace(
        "0.15, 0.5", "0.13, 0.5", 1
    )
    (problem,) = checked(text)
    assert (problem.rule, problem.location.line, problem.location.column) == (
        "MOT105",
        18,
        11,
    )
