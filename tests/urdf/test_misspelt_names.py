"""Names of URDF with a slip in them are told, and what is meant; those of other programs are kept and no more."""

from __future__ import annotations

import pytest

import bodymotion as bm

ROBOT = """\
<robot name="r">
  <link name="a">
    <inertial>
      <mass value="1"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
    <visual><geometry><sphere radius="0.1"/></geometry></visual>
  </link>
  <link name="b"/>
  <joint name="j" type="revolute">
    <parent link="a"/>
    <child link="b"/>
    <origin rpy="0 0 0"
            xyz="0 0 1"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="9" velocity="5"/>
  </joint>
</robot>
"""


def said_of(text, tmp_path, *rules):
    path = tmp_path / "r.urdf"
    path.write_text(text)
    return [problem for problem in bm.check(path).problems if problem.rule in rules]


@pytest.mark.parametrize(
    ("right", "wrong", "line", "column", "word"),
    [
        ("xyz=", "xzy=", 14, 13, "'xyz'"),
        ("<axis ", "<axiss ", 15, 5, "<axis>"),
        ("upper=", "uper=", 16, 23, "'upper'"),
        ("<limit ", "<limits ", 16, 5, "<limit>"),
        ("<inertial>", "<intertial>", 3, 5, "<inertial>"),
        ("<visual>", "<Visual>", 7, 5, "<visual>"),
    ],
)
def test_slips_are_told_at_their_place(right, wrong, line, column, word, tmp_path):
    name = right.strip("< =>")
    text = ROBOT.replace(right, wrong, 1).replace(
        f"</{name}>", f"</{wrong.strip('< =>')}>"
    )
    (problem,) = said_of(text, tmp_path, "URDF103", "XML106")
    assert (problem.rule, problem.severity) == ("XML106", "error")
    assert (problem.location.line, problem.location.column) == (line, column)
    assert f"did you mean {word}?" in problem.message


def test_a_joint_with_a_slip_is_told(tmp_path):
    more = '<link name="c"/><jont name="k" type="fixed"><parent link="b"/><child link="c"/></jont></robot>'
    problems = said_of(
        ROBOT.replace("</robot>", more), tmp_path, "URDF103", "XML106", "BODY125"
    )
    assert [problem.rule for problem in problems if "<joint>" in problem.message] == [
        "XML106"
    ]


@pytest.mark.parametrize(
    ("right", "more"),
    [
        ("<axis ", "<springs k='3'/><axis "),
        ("upper=", "acceleration='4' upper="),
        ("<visual>", "<self_collide/><visual>"),
        ("<visual>", "<drake:inertial/><visual>"),
        ("</robot>", "<ros2_control name='x'/></robot>"),
    ],
)
def test_words_of_other_programs_are_notes(right, more, tmp_path):
    (problem,) = said_of(ROBOT.replace(right, more, 1), tmp_path, "URDF103", "XML106")
    assert (problem.rule, problem.severity) == ("URDF103", "note")


def test_what_is_right_is_passed_over(tmp_path):
    assert said_of(ROBOT, tmp_path, "URDF103", "XML106", "XML105") == []


def test_an_attribute_that_is_needed_is_told_once(tmp_path):
    (problem,) = said_of(
        ROBOT.replace("value=", "valu="), tmp_path, "URDF103", "XML106", "XML105"
    )
    assert (problem.rule, problem.severity) == ("XML106", "error")
    assert (problem.location.line, problem.location.column) == (4, 13)
    assert "'valu'" in problem.message


def test_a_slip_of_a_shape(tmp_path):
    (problem,) = said_of(
        ROBOT.replace("<sphere", "<shpere"), tmp_path, "XML106", "URDF131"
    )
    assert "did you mean <sphere>?" in problem.message


def test_values_are_shown_where_they_stand(tmp_path):
    (problem,) = said_of(
        ROBOT.replace('xyz="0 0 1"', 'xyz="0 0 high"'), tmp_path, "XML104"
    )
    assert (problem.location.line, problem.location.column) == (14, 13)
    wrong = ROBOT.replace('lower="-1" upper="1"', 'note="é" upper="high"')
    (problem,) = said_of(wrong, tmp_path, "XML104")
    assert (problem.location.line, problem.location.column) == (16, 21)
