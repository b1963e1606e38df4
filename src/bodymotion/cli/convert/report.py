"""What a conversion has to say at its end: some problems of each kind, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem

__all__ = ["show_grouped", "show_reading"]

SHOWN = 5
"""So many problems of a rule are shown, unless all are asked for."""


def show_grouped(problems: Sequence[Problem], every: bool = False) -> None:
    """Show problems rule by rule, in the order in which the rules were met first; of many of one rule a few, and the count."""
    from bodymotion.cli.messages import say, show_problem

    groups: dict[str, list[Problem]] = {}
    for problem in problems:
        groups.setdefault(problem.rule, []).append(problem)
    for rule, group in groups.items():
        shown = group if every or len(group) <= SHOWN else group[: SHOWN - 1]
        for problem in shown:
            show_problem(problem)
        if len(shown) < len(group):
            say(f"and {len(group) - len(shown)} more of {rule}; --all names them")


def show_reading(source: Path, problems: Sequence[Problem], every: bool = False) -> None:
    """Show the errors of a file that was read all the same, and what was left out of it; count the rest."""
    from bodymotion.cli.messages import say
    from bodymotion.cli.text import one_line

    show_grouped([problem for problem in problems if problem.severity == "error" or problem.leaves_out], every)
    counts = {kind: sum(p.severity == kind for p in problems) for kind in ("warning", "note")}
    said = ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in counts.items() if n)
    if counts["warning"]:
        say(one_line(f"{source}: {said} while it was read; `bodymotion check {source}` tells them"))
