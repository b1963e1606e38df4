"""Where a file of XML is checked as a whole: its reader notes a fault, puts something else in its place, and goes on.

The same code reads and checks: a tree that is parsed with `XmlFaults` has them at each element, and `Element.fault` asks them. Without, the
first fault is raised.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from bodymotion.diagnostics import FormatError
from bodymotion.formats.faults import Faults, with_first

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem, Rule

__all__ = ["XmlFaults", "stand_in"]


class XmlFaults(Faults):
    """All problems of one file, as far as it was read."""

    def __init__(self) -> None:
        super().__init__()
        self.incomplete = False
        """Whether a part of the file could not be read: what is named and not found may stand there."""
        self._first: Problem | None = None
        self._known: set[tuple[str | None, int | None, int | None, str]] = set()

    def note(self, problem: Problem, what: str) -> None:
        """Take down a fault; `what` is the attribute that is wrong, or the message: of one thing of one element there is one fault.

        Raises
        ------
        FormatError
            When there are very many already.
        """
        at = problem.location
        key = at.path, at.line, at.column, what
        if key not in self._known:
            self._known.add(key)
            self._first = self._first or problem
            self.fault(FormatError(problem))

    def stop(self) -> None:
        """Raise FormatError if there was any fault: from here on the whole is needed."""
        if self._first is not None:
            raise FormatError(self._first)

    def all(
        self, last: FormatError, need_all: Collection[Rule] = (), beside: Collection[Rule] = ()
    ) -> tuple[Problem, ...]:
        """Return all that was found, and with it the fault that ended the reading.

        `need_all` are the rules that say something only of a file that was read as a whole, `beside` those that say nothing where
        another has spoken of the same place: a name that is misspelt is told there, too.
        """
        found = with_first(last, self.told())
        spoken = {rule.code for rule in beside}
        told = {problem.location for problem in found if problem.rule == "XML105"}
        found = tuple(problem for problem in found if problem.rule not in spoken or problem.location not in told)
        if not self.incomplete:
            return found
        codes = {rule.code for rule in need_all}
        return tuple(problem for problem in found if problem.rule not in codes)


def stand_in(count: int | Sequence[int] | None, default: Sequence[float] | None) -> tuple[float, ...]:
    """Return numbers to go on with where a file has none: the default, or some that nobody could find fault with.

    Those rise to 1, which makes sizes, masses, colours, two axes that are not parallel, and two points that are not one.
    """
    if default is not None:
        return tuple(default)
    size = 1 if count is None else count if isinstance(count, int) else count[0]
    return tuple((k + 1) / size for k in range(size))
