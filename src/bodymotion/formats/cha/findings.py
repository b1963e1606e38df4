"""Problems as they are found in a file: any number of them, each with its place, in the order of the file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from bodymotion.diagnostics import Location, Problem, Rule

__all__ = ["Findings", "Place"]

SHOWN = 50
"""So many problems of one rule are listed; the last of them says how many more there are."""


@dataclass(frozen=True)
class Place:
    """A place in the text, counted from 1; `inside` names it where there is no text."""

    line: int | None = None
    column: int | None = None
    inside: str | None = None


@dataclass
class Findings:
    """Collects problems; `path` is the file they are in, or None."""

    path: str | None = None
    _found: list[Problem] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, rule: Rule, message: str, place: Place | None = None, hint: str | None = None) -> None:
        """Note that a rule is broken at a place."""
        self._counts[rule.code] += 1
        if self._counts[rule.code] <= SHOWN:
            at = place or Place()
            self._found.append(rule.problem(message, Location(self.path, at.line, at.column, at.inside), hint))

    def full(self, rule: Rule) -> bool:
        """Whether further problems of this rule would only be counted."""
        return self._counts[rule.code] >= SHOWN

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All of them, in the order of the file."""
        last = {problem.rule: place for place, problem in enumerate(self._found)}
        said = [
            replace(problem, message=f"{problem.message}; and {more} more like this")
            if (more := self._counts[problem.rule] - SHOWN) > 0 and last[problem.rule] == place
            else problem
            for place, problem in enumerate(self._found)
        ]
        return tuple(sorted(said, key=lambda p: (p.location.line or 0, p.location.column or 0)))
