"""Reading a VRML97 text does not end at the first fault: each planted one is reported at its location, and one fault is one problem."""

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
    "1 1 0 ]": "1 1 ]",
    "[ 0 1 2 -1 ]": "[ 0 1 2.5 -1 ]",
    "solid FALSE": "solid PERHAPS",
    "offset 0 0 1": "offset",
    "weight 2.5": "weight 2.5 6",
    'description "a place"': "description place",
}
"""What stands in the text, and what does not belong there: each by itself is a fault."""


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
def test_one_fault_is_one_problem_and_that_of_the_reader(right):
    text = TEXT.replace(right, FAULTS[right], 1)
    (problem,) = survey(text)
    assert problem == first(text).problem
    assert (
        problem.location.line == line_of(text, FAULTS[right]) or right == "offset 0 0 1"
    )


def test_all_of_them_in_one_run():
    text = TEXT
    for right, wrong in FAULTS.items():
        text = text.replace(right, wrong, 1)
    found = [problem.location.line for problem in errors(text)]
    expected = [line_of(TEXT, right) + (right == "offset 0 0 1") for right in FAULTS]
    assert found == expected


@given(st.sets(st.sampled_from(sorted(FAULTS)), min_size=1))
def test_and_any_of_them(chosen):
    text = TEXT
    for right in chosen:
        text = text.replace(right, FAULTS[right], 1)
    found = errors(text)
    assert len(found) == len(chosen)
    assert first(text).problem in found


@pytest.mark.parametrize("taken", "{}[]")
def test_a_bracket_that_is_missing_is_one_problem_with_hardly_more(taken):
    counts = []
    for found in re.finditer(re.escape(taken), TEXT):
        text = TEXT[: found.start()] + TEXT[found.end() :]
        try:
            parse_vrml(text.encode())
        except FormatError as error:
            said = errors(text)
            assert error.problem in said
            counts.append(len(said))
    assert max(counts) <= 3
    assert sum(counts) <= 1.35 * len(counts)


@pytest.mark.parametrize("put", "{}[]")
def test_so_is_one_too_many(put):
    counts = []
    for found in re.finditer(r"[A-Za-z0-9]+", TEXT[20:]):
        text = TEXT[: 20 + found.start()] + put + " " + TEXT[20 + found.start() :]
        try:
            parse_vrml(text.encode())
        except FormatError as error:
            said = errors(text)
            assert error.problem in said
            counts.append(len(said))
    assert sum(counts) <= 1.6 * len(counts)


def test_a_bracket_for_another():
    for right, wrong in (
        ("] }\n      coord", "} }\n      coord"),
        ("{ size 1 2 3 }", "{ size 1 2 3 ]"),
        ("{ size", "[ size"),
    ):
        text = TEXT.replace(right, wrong, 1)
        if text != TEXT:
            assert len(errors(text.replace("solid FALSE", "solid PERHAPS"))) == 2


def test_faults_after_a_bracket_that_is_missing_are_said():
    text = TEXT.replace("{ size 1 2 3 }", "{ size 1 2 3", 1).replace(
        "weight 2.5", "weight heavy", 1
    )
    assert [problem.location.line for problem in errors(text)][-1] == line_of(
        TEXT, "weight 2.5"
    )


def test_names_in_what_is_passed_over_may_be_used():
    text = TEXT.replace(
        "appearance Appearance { material DEF",
        "appearance ? Appearance { material DEF",
        1,
    )
    assert len(errors(text)) == 1


def test_a_string_without_its_second_quote_is_said_once_and_it_goes_on():
    text = TEXT.replace('"there.wrl"', '"there.wrl', 1)
    assert len(errors(text)) == 1
    assert first(text).problem in survey(text)
    more = errors(text.replace("weight 2.5", "weight heavy", 1))
    assert [problem.location.line for problem in more] == [
        line_of(text, '"there.wrl'),
        line_of(text, "weight 2.5"),
    ]


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
def test_strings_that_lack_a_quote_are_told_where_they_begin(word):
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


def test_two_strings_that_lack_a_quote_are_both_told():
    text = SPEAKING.replace('one"', "one").replace('six"', "six")
    assert [problem.location.line for problem in errors(text)] == [2, 5]


def test_a_string_that_never_ends_is_looked_through_once():
    """A search that begins again at each of its quotes takes more than the time of this whole file of tests."""
    text = '#VRML V2.0 utf8\nWorldInfo { title "' + 'a\\"' * 1_000_000
    (problem,) = errors(text)
    assert (problem.rule, str(problem.location)) == ("VRML103", "2:19")


def test_what_is_cut_off_is_said_once():
    lines = TEXT.splitlines()
    for count in range(2, len(lines)):
        text = "\n".join(lines[:count])
        assert len(errors(text)) <= 1


def test_each_fault_is_a_problem():
    nodes = "Transform { translation 0 0 up }\n" * 100
    problems = survey(f"#VRML V2.0 utf8\n{nodes}")
    assert [problem.location.line for problem in problems] == list(range(2, 102))


def test_very_many_end_it():
    nodes = "Transform { translation 0 0 up }\n" * 5000
    problems = survey(f"#VRML V2.0 utf8\n{nodes}")
    assert len(problems) == 1000
    assert sum(problem.count for problem in problems) == 2000


def test_other_languages_end_it():
    for text in ("#VRML V1.0 ascii\nSeparator { }", "#X3D V3.0 utf8\nGroup { }"):
        assert read_scene(text.encode()).value is None
        assert [problem.rule for problem in survey(text)] == ["VRML101"]


def test_nesting_ends_it():
    problems = survey(
        "#VRML V2.0 utf8\nTransform { scale x }\n" + "Group { children [ " * 300
    )
    assert [problem.rule for problem in problems] == ["VRML102", "FMT009"]


@settings(max_examples=tries(150), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6))
def test_whatever_is_changed_it_is_read(seed, count):
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


@given(st.text(alphabet=' \n{}[]"#0.-aDEFUSIPROTNL', max_size=60))
def test_any_text(text):
    result = read_scene(text.encode())
    assert result.value is not None or any(
        problem.severity == "error" for problem in result.problems
    )
