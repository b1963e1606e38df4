"""A check of an OpenHRP model reports all faults of meaning, each in its line, and nothing that follows from them.

A fault of the grammar ends the reading.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_document import DECLARED

import bodymotion as bm
from bodymotion.formats.openhrp import read_openhrp
from sample_files import tries

MODEL = (
    "#VRML V2.0 utf8\n"
    + DECLARED
    + """
DEF R Humanoid {
  name "r"
  humanoidBody [
    DEF BASE Joint {
      jointType "free"
      children [
        DEF S0 Segment {
          mass 1
          momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ]
          children [
            Transform {
              rotation 0 0 1 0.5
              children [ Shape { geometry Box { size 1 2 3 } } ]
            }
          ]
        }
        DEF J0 Joint {
          jointType "rotate"
          jointId 0
          jointAxis 0 1 0
          rotation 1 0 0 0.25
          children [
            DEF S1 Segment {
              mass 2
              momentsOfInertia [ 2 0 0 0 2 0 0 0 2 ]
            }
            DEF J1 Joint {
              jointType "slide"
              jointId 1
              jointAxis 0 0 1
              ulimit [ 1 ]
              children [
                DEF S2 Segment {
                  mass 3
                  momentsOfInertia [ 3 0 0 0 3 0 0 0 3 ]
                }
              ]
            }
          ]
        }
      ]
    }
  ]
  joints [ USE BASE USE J0 USE J1 ]
  segments [ USE S0 USE S1 USE S2 ]
}
DEF E ExtraJoint {
  link1Name "J0"
  link2Name "J1"
  link1LocalPos 0 0 0
}
"""
)
OF_THE_TEXT = {
    "ulimit [ 1 ]": "ulimit [ one ]",
    "mass 3": "mass much",
    "jointAxis 0 1 0\n": "jointAxis 0 1 up\n",
    "size 1 2 3": "size 1 2 up",
    "link1LocalPos 0 0 0\n}": "link1LocalPos 0 0 up\n}",
}
OF_VALUES = {
    "jointId 1": "jointId 1.5",
    "mass 3": "mass 0x3",
    "size 1 2 3": "size 0x1 2 3",
}
OF_THE_MODEL = {
    'jointType "rotate"': 'jointType "turn"',
    'jointType "slide"': 'jointType "glide"',
    "jointAxis 0 0 1\n": 'jointAxis "W"\n',
    "rotation 0 0 1 0.5": "rotation 0 0 0 0.5",
    "rotation 1 0 0 0.25": "rotation 0 0 0 0.25",
    "momentsOfInertia [ 2 0 0 0 2 0 0 0 2 ]": "momentsOfInertia [ 2 0 0 0 2 0 0 0 ]",
    "momentsOfInertia [ 3 0 0 0 3 0 0 0 3 ]": "momentsOfInertia [ 3 ]",
    'link1Name "J0"': 'link1Name "K0"',
    'link2Name "J1"': 'link2Name "K1"',
}
FAULTS = OF_VALUES | OF_THE_MODEL


def written(folder: Path, chosen: dict[str, str]) -> Path:
    text = MODEL
    for right, wrong in chosen.items():
        assert text.count(right) == 1, right
        text = text.replace(right, wrong)
    path = folder / "model.wrl"
    path.write_text(text, encoding="utf-8")
    return path


def line_of(part: str) -> int:
    return MODEL[: MODEL.index(part)].count("\n") + 1


def errors(path: Path) -> list:
    return [
        problem for problem in bm.check(path).problems if problem.severity == "error"
    ]


def test_the_model_is_whole(tmp_path):
    path = written(tmp_path, {})
    assert not errors(path)
    assert read_openhrp(path).problems == bm.load(path).problems


@pytest.mark.parametrize("right", FAULTS | OF_THE_TEXT)
def test_one_fault_is_one_error_and_that_of_the_reader(right, tmp_path):
    path = written(tmp_path, {right: (OF_THE_TEXT | FAULTS)[right]})
    with pytest.raises(bm.FormatError) as raised:
        bm.load(path)
    assert errors(path) == [raised.value.problem]
    assert raised.value.problem.location.line == line_of(right)


@pytest.mark.parametrize("faults", [OF_VALUES, OF_THE_MODEL], ids=["values", "model"])
def test_all_of_them_in_one_run(faults, tmp_path):
    found = errors(written(tmp_path, faults))
    assert [problem.location.line for problem in found] == sorted(map(line_of, faults))


def test_wrong_values_do_not_hide_faults_of_the_model(tmp_path):
    chosen = {
        right: FAULTS[right]
        for right in ("mass 3", 'jointType "rotate"', "rotation 0 0 1 0.5")
    }
    found = errors(written(tmp_path, chosen))
    assert [problem.location.line for problem in found] == sorted(map(line_of, chosen))


def test_a_fault_of_the_text_is_the_only_error(tmp_path):
    path = written(tmp_path, OF_THE_TEXT | OF_THE_MODEL)
    (problem,) = errors(path)
    assert problem.location.line == min(map(line_of, OF_THE_TEXT))
    assert read_openhrp(path).value is None


@settings(max_examples=tries(40), deadline=None)
@given(st.sets(st.sampled_from(sorted(FAULTS)), min_size=1))
def test_any_of_them(chosen):
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), {right: FAULTS[right] for right in chosen})
        lines = [problem.location.line for problem in errors(path)]
        assert len(lines) == len(set(lines))
        assert set(lines) <= set(map(line_of, chosen))
        assert set(lines) >= {line_of(right) for right in chosen if right in OF_VALUES}


def test_a_joint_where_none_may_be_does_not_hide_what_is_in_it(tmp_path):
    path = tmp_path / "model.wrl"
    path.write_text(
        "#VRML V2.0 utf8\n"
        + DECLARED
        + """
Humanoid { humanoidBody [ DEF A Joint { jointType "free" children [
  Transform { translation 0 0 1 children [
    DEF B Joint { jointType "rotate" jointId 0 children [
      Segment { momentsOfInertia [ 1 ] } ] } ] }
  DEF S Segment { children [
    DEF C Joint { jointType "turn" jointId 0 } ] } ] } ] }
"""
    )
    rules = [problem.rule for problem in errors(path)]
    assert rules[:2] == ["WRL104", "WRL140"]
    assert {"WRL105", "WRL120"} <= set(rules)


@pytest.mark.parametrize("inertia", ["3 0 0 0 3 0 0 0 3", "0 0 0 0 0 0 0 0 0"])
def test_a_joint_of_an_unknown_type_leaves_open_whether_its_link_needs_a_mass(
    inertia, tmp_path
):
    path = tmp_path / "model.wrl"
    text = MODEL.replace("mass 3", "mass 0").replace("3 0 0 0 3 0 0 0 3", inertia)
    for kind, is_reported in (("slide", True), ("slyde", False)):
        path.write_text(text.replace('"slide"', f'"{kind}"'))
        assert (
            "BODY131" in {problem.rule for problem in bm.check(path).problems}
        ) == is_reported


def test_a_second_root_is_looked_into(tmp_path):
    path = tmp_path / "model.wrl"
    path.write_text(
        "#VRML V2.0 utf8\n"
        + DECLARED
        + """
Humanoid { humanoidBody [
  DEF A Joint { jointType "turn" }
  DEF B Joint { jointType "rotate" jointId 0 children [
    DEF C Joint { jointType "glide" jointId 1 } ] } ] }
"""
    )
    assert [problem.rule for problem in errors(path)] == ["WRL120", "BODY125", "WRL120"]


@settings(max_examples=tries(60), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 8))
def test_whatever_is_changed_it_has_errors_where_the_reader_gives_up(seed, count):
    rng = random.Random(seed)
    text = MODEL
    for _ in range(count):
        at, size = rng.randrange(16, len(text)), rng.choice((0, 1, 1, 20))
        put = rng.choice(
            [
                "{",
                "}",
                "[",
                "]",
                '"',
                "0",
                " USE J0 ",
                " Joint { ",
                " Segment { ",
                text[at : at + 50],
            ]
        )
        text = text[:at] + put + text[at + size :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.wrl"
        path.write_text(text, encoding="utf-8")
        try:
            problems = bm.load(path).problems
        except bm.FormatError as error:
            assert error.problem in bm.check(path).errors
        else:
            assert read_openhrp(path).problems == problems


@pytest.mark.parametrize("word", ["rotate", "slide", "fixed"])
def test_a_joint_type_without_its_second_quote_is_told_once_and_where_it_is(
    tmp_path, word
):
    path = tmp_path / "model.wrl"
    text = MODEL if f'"{word}"' in MODEL else MODEL.replace('"rotate"', f'"{word}"', 1)
    broken = text.replace(f'"{word}"', f'"{word}', 1)
    path.write_text(broken, encoding="utf-8")
    before = broken[: broken.index(f'"{word}')]
    (problem,) = errors(path)
    assert (problem.rule, problem.location.line) == ("VRML103", before.count("\n") + 1)
    assert problem.location.column == len(before) - before.rfind("\n")
    with pytest.raises(bm.FormatError):
        bm.load(path)
