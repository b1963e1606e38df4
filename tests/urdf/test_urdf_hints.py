"""What to do is told where it helps, in the words of the command and of Python."""

from __future__ import annotations

import pytest

import bodymotion as bm

ROBOT = """\
<robot name="r">
  <link name="a">
    <visual><geometry><mesh filename="hand.stl"/></geometry></visual>
  </link>
  <link name="b"/>
  <joint name="j" type="revolute">
    <parent link="a"/>
    <child link="b"/>
    <limit lower="-1" upper="1" effort="9" velocity="5"/>
  </joint>
</robot>
"""


def said_of(text, tmp_path, rule):
    (tmp_path / "model").mkdir(exist_ok=True)
    path = tmp_path / "model" / "r.urdf"
    path.write_text(text)
    return [problem for problem in bm.check(path).problems if problem.rule == rule]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("link.stl", "--allow-outside (allow_outside=True)"),
        ("package://hands/hand.stl", "--package-path (package_paths=…)"),
        ("hnad.stl", ""),
    ],
)
def test_missing_meshes(name, words, tmp_path):
    (tmp_path / "hand.stl").write_text("solid")
    (tmp_path / "model").mkdir()
    (tmp_path / "model/link.stl").symlink_to(tmp_path / "hand.stl")
    (problem,) = said_of(ROBOT.replace("hand.stl", name), tmp_path, "FMT020")
    assert words in problem.hint
    assert bool(problem.hint) == bool(words)
    assert (problem.location.line, problem.location.column) == (3, 29)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ('lower="-35" upper="20"', True),
        ('lower="-60" upper="60"', True),
        ('lower="0" upper="90"', True),
        ('lower="-6.2832" upper="6.2832"', False),
        ('lower="-12.566" upper="12.566"', False),
        ('lower="-31.4" upper="31.4"', False),
        ('lower="-10" upper="10"', False),
    ],
)
def test_limits_in_degrees(limits, told, tmp_path):
    problems = said_of(
        ROBOT.replace('lower="-1" upper="1"', limits), tmp_path, "BODY115"
    )
    assert bool(problems) == told
