"""Slips in a model: what is reported is enough to fix them, at the right location."""

from __future__ import annotations

import pytest
from test_document import DECLARED

import bodymotion as bm
from bodymotion.checks.fixing import find_fixes
from rules.pairs_wrl import ROBOT

MODEL = ROBOT.replace("#VRML V2.0 utf8\n", "#VRML V2.0 utf8\n" + DECLARED)


def reported(folder, old, new, text=MODEL):
    assert old in text
    path = folder / "robot.wrl"
    path.write_text(text.replace(old, new, 1))
    return list(bm.check(path).problems)


def line_of(words, text=MODEL):
    return text[: text.index(words)].count("\n") + 1


def test_a_field_that_is_misspelt_is_told_with_the_right_one_and_what_that_is_now(
    tmp_path,
):
    (problem,) = (
        p
        for p in reported(tmp_path, "jointAxis 0 1 0", "jointAxs 0 1 0")
        if p.rule == "VRML113"
    )
    assert problem.location.line == line_of("jointAxis 0 1 0")
    assert (
        problem.hint.startswith("did you mean 'jointAxis'?") and "0 0 1" in problem.hint
    )


def test_a_field_that_is_like_none_is_told_without_a_guess(tmp_path):
    (problem,) = (
        p
        for p in reported(tmp_path, "jointAxis 0 1 0", "colour 0 1 0")
        if p.rule == "VRML113"
    )
    assert "did you mean" not in problem.hint


@pytest.mark.parametrize(("proto", "count"), [("Joint", 3), ("Segment", 3)])
def test_a_prototype_that_is_misspelt_is_one_error_with_the_number_of_its_nodes(
    tmp_path, proto, count
):
    wrong = proto.replace("n", "")
    (found,) = (
        p
        for p in reported(tmp_path, f"PROTO {proto} [", f"PROTO {wrong} [")
        if p.rule == "VRML112"
    )
    line = line_of(f"PROTO {proto} [")
    assert (
        found.hint
        == f"did you mean {wrong!r}, or is its PROTO in line {line} misspelt?"
    )
    assert (found.location.line, found.count) == (line_of(f" {proto} {{"), count)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("HIP Joint", "HIP Jont"),
        ("HIP_LINK Segment", "HIP_LINK Segmnt"),
        ("Humanoid {", "Humanoi {"),
    ],
)
def test_a_node_that_is_misspelt_is_one_error_and_is_read_as_what_is_meant(
    tmp_path, right, wrong
):
    at = line_of(right)
    planted = [*reported(tmp_path, right, wrong)]
    (problem,) = (p for p in planted if p.rule == "VRML112")
    assert (problem.severity, problem.location.line) == ("error", at)
    assert problem.hint.startswith(
        f"did you mean {right.split()[-1 if '{' not in right else 0]!r}"
    )
    assert {p for p in planted if p != problem} == {*reported(tmp_path, right, right)}
    assert find_fixes(tmp_path / "robot.wrl", {"WRL109"}) is None


@pytest.mark.parametrize("lost", ["DEF HIP Joint", "DEF HIP_LINK Segment"])
def test_a_link_of_an_unknown_type_stays_in_the_lists(tmp_path, lost):
    """Which type is meant is not known: `--fix` would delete good entries."""
    planted = reported(tmp_path, lost, lost.rpartition(" ")[0] + " Foo")
    (problem,) = (p for p in planted if p.rule == "VRML112")
    assert (problem.severity == "error") == lost.endswith("Joint")
    assert not {"WRL109", "BODY118", "BODY131"} & {p.rule for p in planted}
    assert find_fixes(tmp_path / "robot.wrl", {"WRL109"}) is None


def test_a_number_too_many_in_a_mesh_hides_nothing_of_the_links_above(tmp_path):
    """The shapes of the link are unknown, not those of the links that it is inside of."""
    mesh = "Shape { geometry PointSet { coord Coordinate { point [ 0 0 0 1 ] } } }"
    text = MODEL.replace(
        "DEF KNEE_LINK Segment {", f"DEF KNEE_LINK Segment {{ children [ {mesh} ]"
    )
    assert text != MODEL
    wrong = ("jointId 1", "jointId 3")
    without = {p.rule for p in reported(tmp_path, *wrong)}
    assert "BODY118" in without
    assert {p.rule for p in reported(tmp_path, *wrong, text)} == {*without, "VRML105"}


def test_a_decimal_comma_leaves_the_number_unknown(tmp_path):
    before = {p.rule for p in reported(tmp_path, "mass 2", "mass 2")}
    assert {p.rule for p in reported(tmp_path, "mass 2", "mass 0,25")} - before == {
        "VRML102"
    }


def test_an_inertia_of_no_body_is_located_at_its_numbers(tmp_path):
    good = "momentsOfInertia [ 0.02 0 0 0 0.02 0 0 0 0.02 ]"
    line = line_of(good)
    column = MODEL.splitlines()[line - 1].index("momentsOf") + 1
    for wrong in ("[ 0.1 0 0 0 0.5 0 0 0 10 ]", "[ 0.1 0 0 0 0.1 0 0 0 -0.1 ]"):
        (problem,) = (
            p
            for p in reported(tmp_path, good, f"momentsOfInertia {wrong}")
            if p.rule == "BODY133"
        )
        assert (problem.location.line, problem.location.column) == (line, column)


def test_an_id_that_is_there_twice_is_reported_once(tmp_path):
    problems = [
        p for p in reported(tmp_path, "jointId 0", "jointId 1") if p.severity == "error"
    ]
    assert [p.rule for p in problems] == ["BODY117"]
    assert problems[0].location.line == line_of("jointId 1")


def test_a_missing_id_that_no_other_stands_for_is_told(tmp_path):
    assert [p.rule for p in reported(tmp_path, "jointId 1", "jointId 4")].count(
        "BODY118"
    ) == 1


def test_a_mass_that_is_no_number_is_told_and_not_what_follows(tmp_path):
    assert "mass 1" in MODEL
    ordinary = {problem.rule for problem in reported(tmp_path, "mass 1", "mass 1")}
    assert {
        problem.rule for problem in reported(tmp_path, "mass 1", "mass nan")
    } - ordinary == {"VRML118", "BODY105"}


def test_limits_that_are_swapped(tmp_path):
    (problem,) = (
        p
        for p in reported(tmp_path, "ulimit [ 1.5 ]", "ulimit [ -2 ]")
        if p.rule == "BODY112"
    )
    assert problem.location.line == line_of("llimit [ -1.5 ]")


@pytest.mark.parametrize("text", ["", "\n\n", "#VRML V2.0 utf8\n", "# nothing\n"])
def test_that_a_file_is_empty_is_told_once(tmp_path, text):
    path = tmp_path / "robot.wrl"
    path.write_text(text)
    assert [problem.rule for problem in bm.check(path).problems] == ["WRL113"]


def test_of_a_string_of_many_lines_only_the_first_is_shown(tmp_path):
    path = tmp_path / "robot.wrl"
    path.write_text(
        MODEL.replace('jointType "rotate"', 'jointType "rotate\nand\nso on"')
    )
    with pytest.raises(bm.FormatError) as caught:
        bm.load(path)
    assert "\n" not in caught.value.problem.message


def test_what_is_misspelt_all_over_takes_no_time(tmp_path):
    """Each of many words is held against each of many that are known only up to a limit."""
    fields = " ".join(f"field SFFloat name{k} 0" for k in range(20_000))
    unknown = " ".join(f"nome{k} 0" for k in range(20_000))
    path = tmp_path / "robot.wrl"
    path.write_text(
        f"#VRML V2.0 utf8\nPROTO P [ {fields} ] {{ Group {{ }} }}\nP {{ {unknown} }}\n"
    )
    assert sum(problem.rule == "VRML113" for problem in bm.check(path).problems) <= 1000
