"""Findings as people read them: those of one rule together, the motion's before the model's, errors first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bodymotion.diagnostics.problem import Location, Problem, Severity

__all__ = ["Group", "grouped"]

_ORDER = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True)
class Group:
    """All problems of one rule and severity in one file."""

    problems: tuple[Problem, ...]

    @property
    def rule(self) -> str:
        """The code of the rule."""
        return self.problems[0].rule

    @property
    def severity(self) -> Severity:
        """The severity that all of them have."""
        return self.problems[0].severity

    @property
    def count(self) -> int:
        """How many times the rule is broken."""
        return sum(problem.count for problem in self.problems)

    def locations(self, number: int) -> tuple[Location, ...]:
        """Return the first different locations, at most `number`."""
        return tuple(dict.fromkeys(problem.location for problem in self.problems))[:number]


def grouped(*findings: Sequence[Problem] | Iterable[Problem]) -> tuple[Group, ...]:
    """Group problems by file, rule and severity.

    Parameters
    ----------
    findings:
        Several lists, the most important first: those of the motion, then those of the model.

    Returns
    -------
    The groups of each list in turn, in it errors before warnings before notes, in these by the first problem.
    """
    groups: dict[tuple[int, int, str | None, str], list[Problem]] = {}
    for number, problems in enumerate(findings):
        for problem in problems:
            key = (number, _ORDER[problem.severity], problem.location.path, problem.rule)
            groups.setdefault(key, []).append(problem)
    ordered = sorted(groups.items(), key=lambda item: item[0][:2])
    return tuple(Group(tuple(problems)) for _, problems in ordered)
