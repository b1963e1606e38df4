"""Each rule of the catalogue has a file that breaks it, and a near twin that does not."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from bodymotion.checks import catalogue
from rules.pairs import RULES, Pair

PAIRS: dict[str, Pair] = {}
for module in sorted(Path(__file__).parent.glob("pairs_*.py")):
    for code, pair in importlib.import_module(f"rules.{module.stem}").PAIRS.items():
        assert code not in PAIRS, f"{code} has two pairs"
        PAIRS[code] = pair


def test_every_rule_has_a_pair():
    assert set(RULES) == set(PAIRS)


def test_every_rule_of_the_catalogue_is_one_of_them():
    assert catalogue().items() <= RULES.items()


def test_every_rule_has_an_example():
    assert not [code for code, rule in RULES.items() if rule.example is None]


@pytest.mark.parametrize("code", sorted(PAIRS))
def test_the_one_breaks_the_rule_and_the_twin_does_not(code, tmp_path):
    rule, pair = RULES[code], PAIRS[code]
    (tmp_path / "wrong").mkdir()
    (tmp_path / "right").mkdir()
    said = tuple(pair.wrong(tmp_path / "wrong"))
    found = [problem for problem in said if problem.rule == code]
    assert found, said
    assert found[0].severity in (rule.severity, "error")
    assert found[0].message
    if pair.place:
        assert found[0].location.line is not None, found
    twin = tuple(pair.right(tmp_path / "right"))
    assert code not in {problem.rule for problem in twin}, twin
    assert {problem.rule for problem in twin if problem.severity == "error"} <= pair.still, twin
