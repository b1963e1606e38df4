"""Each rule has a file, or a thing that is done, that breaks it, and a near twin that does not.

A new rule needs an `example` where it stands, and a pair in the module of its family here: `examples(...)` where the example is a piece of
a file, `files(...)`, `folders(...)` or `calls(...)` where it takes more. Where files of several formats break it, the others have the key
"CODE .extension" (`in_format(...)`).
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import bodymotion as bm
from bodymotion.diagnostics.catalogue import catalogue
from bodymotion.formats.registry import FORMATS
from rules.pairs import RULES, Pair

PAIRS: dict[str, Pair] = {}
for module in sorted(Path(__file__).parent.glob("pairs_*.py")):
    for code, pair in importlib.import_module(f"rules.{module.stem}").PAIRS.items():
        assert code not in PAIRS, f"{code} has two pairs"
        PAIRS[code] = pair


def test_every_rule_has_a_pair():
    assert sorted(RULES.keys() - PAIRS.keys()) == [], (
        "add pairs to tests/rules/pairs_….py"
    )
    assert sorted({key.split()[0] for key in PAIRS} - RULES.keys()) == [], (
        "no rule has this code"
    )


def test_every_rule_of_the_catalogue_is_one_of_them():
    assert catalogue().items() <= RULES.items()


def test_every_rule_has_an_example():
    assert [code for code, rule in RULES.items() if rule.example is None] == []


def test_the_halves_of_an_example_differ():
    for rule in RULES.values():
        assert rule.example is not None
        wrong, right = rule.example
        assert wrong and right and wrong != right, rule.code


@pytest.mark.parametrize("row", FORMATS, ids=[row.name for row in FORMATS])
def test_each_reader_reports_a_folder_as_unreadable(row, tmp_path):
    folder = tmp_path / f"a{row.extensions[0] if row.extensions else ''}"
    folder.mkdir()
    with pytest.raises(bm.FormatError) as caught:
        bm.load(folder, format=row.name)
    assert (caught.value.problem.rule, caught.value.problem.location.path) == (
        "FMT002",
        str(folder),
    )


@pytest.mark.parametrize("row", FORMATS, ids=[row.name for row in FORMATS])
def test_a_file_that_is_not_there_is_a_missing_file_in_each_format(row, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        bm.load(tmp_path / "a", format=row.name)
    assert (caught.value.problem.rule, caught.value.filename) == (
        "FMT002",
        str(tmp_path / "a"),
    )


@pytest.mark.parametrize("key", sorted(PAIRS))
def test_the_one_breaks_the_rule_and_the_twin_does_not(key, tmp_path):
    code = key.split()[0]
    rule, pair = RULES[code], PAIRS[key]
    (tmp_path / "wrong").mkdir()
    (tmp_path / "right").mkdir()
    problems = tuple(pair.wrong(tmp_path / "wrong"))
    found = [problem for problem in problems if problem.rule == code]
    assert found, problems
    # A loss that does not matter is a note, though others of its rule are warnings.
    assert found[0].severity in (
        rule.severity,
        "error",
        *(["note"] if code.startswith("LOSS") else []),
    )
    assert found[0].message
    if pair.place:
        assert found[0].location.line is not None, found
    if code.startswith(("BVH", "ASF")):
        for path, line, column in (
            (one.location.path, one.location.line, one.location.column) for one in found
        ):
            row = (
                Path(path).read_text("latin-1").splitlines()[line - 1]
                if path and line
                else "x"
            )
            assert line is None or (
                column and not row[column - 1 : column].isspace()
            ), found
    twin = tuple(pair.right(tmp_path / "right"))
    assert code not in {problem.rule for problem in twin}, twin
    assert {
        problem.rule for problem in twin if problem.severity == "error"
    } <= pair.still, twin


@pytest.mark.parametrize("suffix", [".wrl", ".body", ".urdf"])
def test_the_length_of_an_axis_is_data_in_all_formats(suffix, tmp_path):
    (problem,) = (
        one
        for one in PAIRS[f"BODY110 {suffix}"].wrong(tmp_path)
        if one.rule == "BODY110"
    )
    assert problem.data["length"] == 2.0
