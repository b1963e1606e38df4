"""Faults of models: the first ends the reading of a file, or, where all are wanted, is noted like any other problem."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bodymotion.diagnostics import FormatError, Problem

__all__ = ["Faults", "fault", "with_first"]

SHOWN = 20
"""So many faults of one rule are listed of a file; the last of them says how many more there are."""
MOST = 2000
"""After so many faults the reading ends."""


class Faults(list[Problem]):
    """The problems of a file whose reader is to go on after a fault; given a plain list, it stops at the first."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[Problem] = set()
        self._counts: Counter[str] = Counter()
        self._last: dict[str, Problem] = {}

    def fault(self, error: FormatError) -> None:
        """Note a fault, once.

        Raises
        ------
        FormatError
            When there are very many already.
        """
        problem = error.problem
        if problem in self._seen:
            return
        if len(self._seen) >= MOST:
            raise error
        self._seen.add(problem)
        self._counts[problem.rule] += 1
        if self._counts[problem.rule] <= SHOWN:
            self._last[problem.rule] = problem
            self.append(problem)

    @property
    def any(self) -> bool:
        """Whether there was a fault."""
        return bool(self._seen)

    def told(self) -> tuple[Problem, ...]:
        """Return all problems, each once; the last fault of a rule that is broken very often says how often."""
        more = {
            problem: f"{problem.message}; and {self._counts[rule] - SHOWN} more like this"
            for rule, problem in self._last.items()
            if self._counts[rule] > SHOWN
        }
        return tuple(replace(p, message=more[p]) if p in more else p for p in dict.fromkeys(self))


def fault(problems: list[Problem], error: FormatError) -> None:
    """Note a fault where all are wanted, else raise it.

    Raises
    ------
    FormatError
        When `problems` is a plain list: the first fault ends the reading.
    """
    if not isinstance(problems, Faults):
        raise error
    problems.fault(error)


def with_first(error: FormatError, found: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return what was found in a file with what a reader that stops at the first fault says of it."""
    first = error.problem
    if any((problem.rule, problem.location) == (first.rule, first.location) for problem in found):
        return found
    return (first, *found)
