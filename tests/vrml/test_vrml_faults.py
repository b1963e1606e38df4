"""The first fault of the grammar ends the reading with one error at its location.

A value that is wrong, but written correctly, does not end it.
"""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bodymotion.diagnostics import FormatError, Problem
from bodymotion.formats.vrml import parse_vrml, read_scene
from sample_files import tries

TEXT = """\
#VRML V2.0 utf8
PROTO Part [
  exposedField SFVec3f offset 0 0 0
  exposedField SFFloat weight 1.5
  exposedField MFNode children [ ]
] {
  Transform { translation IS offset children IS children }
}
DEF TOP Group { children [
  DEF A Transform {
    translation 1 2 3
    children [
      Shape {
        appearance Appearance { material DEF RED Material { diffuseColor 1 0 0 } }
        geometry Box { size 1 2 3 }
      }
      Shape {
        appearance Appearance { material USE RED }
        geometry IndexedFaceSet {
          coord Coordinate { point [ 0 0 0, 1 0 0, 1 1 0 ] }
          coordIndex [ 0 1 2 -1 ]
          solid FALSE
        }
      }
    ]
  }
  Part {
    offset 0 0 1
    weight 2.5
    children [ DEF B Group { } ]
  }
  Anchor { url "there.wrl" description "a place" }
] }
"""
FAULTS = {
    "weight 1.5": "weight 1.x5",
    "translation 1 2 3": "translation 1 two 3",
    "diffuseColor 1 0 0": "diffuseColor 1 0",
    "size 1 2 3": "size 1 2 3 4",
    "solid FALSE": "solid PERHAPS",
    "offset 0 0 1": "offset",
    "weight 2.5": "weight 2.5 6",
    'description "a place"': "description place",
}
"""Faults of the grammar: parts of the text, and what replaces them."""
WRONG_VALUES = {
    "offset 0 0 0": "offset 0x1 0 0",
    "1 1 0 ]": "1 1 ]",
    "[ 0 1 2 -1 ]": "[ 0 1 2.5 -1 ]",
    "weight 2.5": "weight 0x2",
}
"""Values that are written correctly and are wrong."""


GRAMMAR = ("VRML102", "VRML103", "FMT009")


def survey(text: str) -> tuple[Problem, ...]:
    return read_scene(text.encode()).problems


def is_refused(text: str) -> bool:
    return not read_scene(text.encode()).whole


def errors(text: str) -> list:
    return [problem for problem in survey(text) if problem.severity == "error"]


def first(text: str) -> FormatError:
    with pytest.raises(FormatError) as raised:
        parse_vrml(text.encode())
    return raised.value


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_the_text_is_whole():
    assert not survey(TEXT)
    assert not parse_vrml(TEXT.encode()).problems


@pytest.mark.parametrize("right", FAULTS)
def test_a_fault_is_one_error_at_its_location(right):
    text = TEXT.replace(right, FAULTS[right], 1)
    (problem,) = survey(text)
    assert problem == first(text).problem
    line = line_of(TEXT, right)
    # The value of `offset` is missing: the next line begins in its place.
    assert problem.location.line == line + (right == "offset 0 0 1")


@given(st.sets(st.sampled_from(sorted(FAULTS)), min_size=1))
def test_the_first_fault_ends_the_reading(chosen):
    text = TEXT
    for right in chosen:
        text = text.replace(right, FAULTS[right], 1)
    (problem,) = survey(text)
    alone = min(chosen, key=TEXT.index)
    assert (
        problem.location
        == first(TEXT.replace(alone, FAULTS[alone], 1)).problem.location
    )
    assert read_scene(text.encode()).value is None


@given(st.sets(st.sampled_from(sorted(WRONG_VALUES)), min_size=1))
def test_all_wrong_values_are_reported(chosen):
    text = TEXT
    for right in chosen:
        text = text.replace(right, WRONG_VALUES[right], 1)
    expected = sorted(line_of(TEXT, right) for right in chosen)
    assert [problem.location.line for problem in survey(text)] == expected
    result = read_scene(text.encode())
    assert not result.whole
    assert result.value is not None
    assert first(text).problem == result.refusal


def test_a_field_with_a_wrong_value_has_none():
    text = "#VRML V2.0 utf8\nIndexedFaceSet { coordIndex 0 1.5 2 solid FALSE }"
    (node,) = read_scene(text.encode()).value.nodes
    assert node.fields == {"solid": False}
    assert {*node.offsets} == {"coordIndex", "solid"}


@pytest.mark.parametrize("taken", "{}[]")
def test_a_bracket_that_is_missing_is_one_error(taken):
    for found in re.finditer(re.escape(taken), TEXT):
        text = TEXT[: found.start()] + TEXT[found.end() :]
        assert len(errors(text)) <= 1


SPEAKING = """#VRML V2.0 utf8
WorldInfo { title "one" info [ "two", "three" ] } # it's "so"
Anchor { description "four" url "five.wrl"
  children Group { } }
Viewpoint { description "six" }
Script { url "javascript: function f() {
  // a string of many lines
}" }
WorldInfo { info "a \\" and a \\" again" }
"""


@pytest.mark.parametrize("word", ["one", "two", "three", "four", "five.wrl", "six"])
def test_strings_that_lack_a_quote_are_reported_where_they_begin(word):
    text = SPEAKING.replace(f'{word}"', word)
    (problem,) = errors(text)
    assert (problem.rule, problem.location.line) == (
        "VRML103",
        line_of(SPEAKING, f'"{word}"'),
    )
    assert first(text).problem == problem
    place = text.splitlines()[problem.location.line - 1].index(f'"{word}') + 1
    assert problem.location.column == place
    assert not is_refused(SPEAKING)


def test_the_first_of_two_strings_that_lack_a_quote_is_reported():
    text = SPEAKING.replace('one"', "one").replace('six"', "six")
    assert [problem.location.line for problem in survey(text)] == [2]


def test_a_string_that_never_ends_is_looked_through_once():
    """A search that begins again at each of its quotes takes more than the time of this whole file of tests."""
    text = '#VRML V2.0 utf8\nWorldInfo { title "' + 'a\\"' * 1_000_000
    (problem,) = errors(text)
    assert (problem.rule, str(problem.location)) == ("VRML103", "2:19")


def test_what_is_cut_off_is_reported_once():
    lines = TEXT.splitlines()
    for count in range(2, len(lines)):
        text = "\n".join(lines[:count])
        assert len(errors(text)) <= 1


def test_very_many_wrong_values_are_counted():
    nodes = "Coordinate { point [ 0 ] }\n" * 5000
    problems = survey(f"#VRML V2.0 utf8\n{nodes}")
    assert [problem.location.line for problem in problems] == list(range(2, 1002))
    assert sum(problem.count for problem in problems) == 5000


def test_other_languages_end_it():
    for text in ("#VRML V1.0 ascii\nSeparator { }", "#X3D V3.0 utf8\nGroup { }"):
        assert read_scene(text.encode()).value is None
        assert [problem.rule for problem in survey(text)] == ["VRML101"]


def test_nesting_ends_it():
    problems = survey("#VRML V2.0 utf8\n" + "Group { children [ " * 300)
    assert [problem.rule for problem in problems] == ["FMT009"]


@settings(max_examples=tries(150), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6))
def test_any_change_is_read_or_reported(seed, count):
    rng = random.Random(seed)
    text = TEXT
    for _ in range(count):
        at, size = rng.randrange(16, len(text)), rng.choice((0, 1, 1, 20))
        put = rng.choice(
            [
                "{",
                "}",
                "[",
                "]",
                '"',
                "#",
                "0",
                " USE ",
                " DEF ",
                " PROTO ",
                " IS ",
                "\n",
                text[at : at + 50],
            ]
        )
        text = text[:at] + put + text[at + size :]
    result = read_scene(text.encode())
    assert result.whole == (result.refusal is None)
    assert result.value is not None or result.problems
    faults = [problem for problem in result.problems if problem.rule in GRAMMAR]
    assert len(faults) == (result.value is None)


@given(st.text(alphabet=' \n{}[]"#0.-aDEFUSIPROTNL', max_size=60))
def test_any_text(text):
    result = read_scene(text.encode())
    assert result.value is not None or any(
        problem.severity == "error" for problem in result.problems
    )
