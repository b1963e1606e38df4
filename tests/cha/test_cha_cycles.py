"""Gait cycles without contact columns: the document's rules hold for the contacts that playback infers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from cha_texts import FEET, LEG, legs

from bodymotion import check
from bodymotion.diagnostics import Problem
from bodymotion.spot.cha import parse_cha

UP = "0 1 -2"
"""A leg that is raised."""


def angles(*raised: str, columns: str = "time leg_joints") -> str:
    """Return a cycle of leg joints, a second from keyframe to keyframe, each with these legs raised."""
    rows = [
        " ".join(UP if leg in up else LEG for leg in ("fl", "fr", "hl", "hr"))
        for up in map(str.split, raised)
    ]
    text = "".join(f"{k} {row}\n" for k, row in enumerate(rows))
    return legs(columns, text, options="custom_gait_cycle")


def feet(*raised: Sequence[int]) -> str:
    """Return a cycle of feet, half a second from keyframe to keyframe, each with these feet raised by 0.1 m."""
    rows = ""
    for k, up in enumerate(raised):
        places = [float(value) for value in FEET.split()]
        for leg in up:
            places[3 * leg + 2] += 0.1
        rows += f"{k / 2} {' '.join(map(str, places))}\n"
    return legs("time foot_pos", rows, options="custom_gait_cycle")


def problems_of(text: str) -> tuple[Problem, ...]:
    """Return all problems of a text; where it can be read, those of the motion that is played too."""
    read = parse_cha(text.encode(), "move.cha")
    has_errors = any(problem.severity == "error" for problem in read.problems)
    return (
        read.problems
        if has_errors or read.value is None
        else check(read.value).problems
    )


def cycle_errors(text: str) -> list[tuple[str, int | None, int | None]]:
    return [
        (p.rule, p.location.line, p.location.column)
        for p in problems_of(text)
        if p.severity == "error"
    ]


@pytest.mark.parametrize(
    "text", [angles("", "fl hr", "", "fr hl", ""), feet([], [0, 3], [1, 2], [])]
)
def test_a_cycle_with_feet_that_swing_is_fine(text):
    assert cycle_errors(text) == []
    (note,) = [p for p in problems_of(text) if p.rule.startswith("CHA22")]
    assert (note.rule, note.severity) == ("CHA225", "note")


def test_a_foot_that_never_swings():
    assert cycle_errors(angles("", "fl", "", "fr hl", "")) == [("CHA223", 6, 6)]
    assert cycle_errors(feet([], [0, 3], [1], [])) == [("CHA223", 6, 6)]


def test_a_foot_that_swings_three_times():
    found = cycle_errors(feet([], [0, 3], [1, 2], [3], [], [3], []))
    assert found == [("CHA224", 12, 46)], "where the third swing begins"


def test_a_foot_in_the_air_at_both_ends():
    found = cycle_errors(angles("hl", "fl hr", "fr", "hl"))
    assert found == [("CHA222", 7, 25), ("CHA222", 10, 25)]


def test_what_can_not_be_played_is_no_cycle_to_look_at():
    text = legs("time foot_pos", f"0 {FEET}\n0 {FEET}\n", options="custom_gait_cycle")
    assert {rule for rule, _, _ in cycle_errors(text)} <= {"MOT105"}
