"""Names that MJCF does not have are told, and those that it has are not."""

from __future__ import annotations

import re

import mujoco
import pytest

import bodymotion as bm
from bodymotion.diagnostics.problem import MAX_LISTED
from bodymotion.formats.mjcf.names import vocabulary

MODEL = """\
<mujoco model="r">
  <default> <geom rgba="1 0 0 1"/> </default>
  <worldbody>
    <body name="base">
      <freejoint/>
      <geom size="0.1"/>
      <body name="arm" pos="0 0 0.3">
        <joint name="hip"
               axis="0 1 0"/>
        <geom size="0.1"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
NAMES = ("XML106", "MJCF116")


def said_of(text, tmp_path):
    path = tmp_path / "r.xml"
    path.write_text(text)
    return [problem for problem in bm.check(path).problems if problem.rule in NAMES]


def schema():
    """Return depth, name and attributes of each element as MuJoCo lists them."""
    found: list[tuple[int, str, set[str]]] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        head, attributes = line[:30].rstrip(), set(line[30:].split())
        if head:
            name = re.match(r"\s*(?:\(world\))?(\w+) \(.\)", head)
            assert name, line
            found.append(((len(head) - len(head.lstrip())) // 3, name[1], attributes))
        else:
            found[-1][2].update(attributes)
    return found


def test_all_that_mujoco_has_is_known():
    listed = schema()
    assert len(listed) > 150
    assert any("diaginertia" in attributes for _, _, attributes in listed)
    stack = []
    for depth, name, attributes in listed:
        del stack[depth:]
        above = stack[-1].elements if stack else vocabulary()
        if name == "body":
            above = above["worldbody"].elements
        assert name in above, name
        assert attributes <= above[name].attributes, (
            name,
            attributes - above[name].attributes,
        )
        stack.append(above[name])


@pytest.mark.parametrize(
    ("right", "wrong", "line", "column", "word"),
    [
        ('axis="0 1 0"', 'axs="0 1 0"', 9, 16, "'axis'"),
        ('name="arm"', 'nam="arm"', 7, 13, "'name'"),
        ("<freejoint/>", "<freejont/>", 5, 7, "<freejoint>"),
        ('<geom size="0.1"/>\n      <', '<geoom size="0.1"/>\n      <', 6, 7, "<geom>"),
        ('rgba="1', 'rgb="1', 2, 19, "'rgba'"),
        ("<worldbody>", "<worldbdy>", 3, 3, "<worldbody>"),
        ('pos="0', 'ops="0', 7, 24, "'pos'"),
    ],
)
def test_slips_are_told_at_their_place(right, wrong, line, column, word, tmp_path):
    text = MODEL.replace(right, wrong, 1).replace(
        right.replace("<", "</"), wrong.replace("<", "</")
    )
    with pytest.raises(ValueError, match=r"(?i)unrecognized"):
        mujoco.MjSpec.from_string(text)
    (problem,) = said_of(text, tmp_path)
    assert (problem.rule, problem.severity) == ("XML106", "error")
    assert (problem.location.line, problem.location.column) == (line, column)
    assert f"did you mean {word}?" in problem.message


def test_what_is_right_is_passed_over(tmp_path):
    mujoco.MjSpec.from_string(MODEL)
    assert said_of(MODEL, tmp_path) == []


def test_what_only_other_versions_of_mujoco_have_is_passed_over(tmp_path):
    old = MODEL.replace(
        "<default>",
        '<option collision="all" mpr_iterations="5"> <flag passive="enable"/> </option> <default>',
    )
    assert said_of(old, tmp_path) == []


def test_what_is_near_nothing_is_a_warning(tmp_path):
    (problem,) = said_of(MODEL.replace('name="arm"', 'name="arm" owner="me"'), tmp_path)
    assert (problem.rule, problem.severity) == ("MJCF116", "warning")
    assert "'owner'" in problem.message
    assert problem.location.column == 24


def test_names_in_included_files_are_told_there(tmp_path):
    (tmp_path / "leg.xml").write_text(
        '<mujocoinclude>\n <body name="leg">\n  <geom sise="0.1"/>\n </body>\n</mujocoinclude>\n'
    )
    text = MODEL.replace("<freejoint/>", '<freejoint/> <include file="leg.xml"/>')
    problems = said_of(text, tmp_path)
    assert [(problem.location.path, problem.location.line) for problem in problems] == [
        (str(tmp_path / "leg.xml"), 3)
    ]


def test_slips_do_not_hide_what_else_is_wrong(tmp_path):
    path = tmp_path / "r.xml"
    path.write_text(
        MODEL.replace('axis="0 1 0"', 'axs="x"').replace('pos="0 0 0.3"', 'pos="0 0 x"')
    )
    assert {problem.rule for problem in bm.check(path).errors} == {"XML106", "XML104"}


def test_very_many_names_are_counted(tmp_path):
    many = " ".join(f'naem{k}="1"' for k in range(3000))
    text = MODEL.replace("<freejoint/>", f"<freejoint/> {f'<site {many}/>' * 10}")
    problems = said_of(text, tmp_path)
    assert len(problems) == MAX_LISTED
    assert sum(problem.count for problem in problems) == 30_000
