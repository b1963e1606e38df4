"""The problems of rows: the first ones of each rule in each component, and how many more there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from bodymotion.diagnostics import Location, Problem, Rule

__all__ = ["SHOWN", "Listing", "first_of_each"]

SHOWN = 20
"""So many problems of one rule are listed of a component; the last of them says how many more there are."""
MOST = 2000
"""So many are listed of all components together."""

OF_HEADERS = 200
"""So many problems of one rule are listed of all headers together."""


class Listing:
    """Collects problems; where a problem is, is asked only for those that are listed."""

    def __init__(self) -> None:
        self._found: list[tuple[tuple[str, str], Problem]] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._cut: set[str] = set()

    def add(
        self,
        rule: Rule,
        component: str,
        message: str,
        where: Callable[[], Location],
        hint: str | None = None,
        count: int = 1,
    ) -> None:
        """Note that a rule is broken in a component; `count` times, at the place that is named for the first time."""
        key = (rule.code, component)
        if not self.full(rule, component):
            self._found.append((key, rule.problem(message, where(), hint)))
            self._counts[key] += 1
            count -= 1
        self._counts[key] += count

    def full(self, rule: Rule, component: str) -> bool:
        """Whether further problems of this rule in this component are only counted."""
        return self._counts[rule.code, component] >= SHOWN or len(self._found) >= MOST

    def count(self, rule: Rule, component: str) -> int:
        """Return how many problems of a rule were met in a component."""
        return self._counts[rule.code, component]

    def merge(self, other: Listing) -> None:
        """Take over what another one has collected, of components that this one does not know."""
        self._found += other._found[: max(MOST - len(self._found), 0)]
        self._counts += other._counts
        self._cut |= other._cut

    def cut(self, component: str) -> None:
        """Note that the rest of a component was not looked at."""
        self._cut.add(component)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All of them, in the order in which they were met."""
        listed = Counter(key for key, _ in self._found)
        last = {key: place for place, (key, _) in enumerate(self._found)}
        of_rule = {key[0]: place for place, (key, _) in enumerate(self._found)}
        elsewhere: Counter[str] = Counter()
        for key, count in self._counts.items():
            if key not in listed:
                elsewhere[key[0]] += count
        said = []
        for place, (key, problem) in enumerate(self._found):
            more = self._counts[key] - listed[key]
            if more and last[key] == place:
                least = "; and more like this: the rest of the component was not looked at"
                tail = least if key[1] in self._cut else f"; and {more} more like this"
                problem = replace(problem, message=problem.message + tail)
            if elsewhere[key[0]] and of_rule[key[0]] == place:
                tail = f"; and {elsewhere[key[0]]} more like this in other components"
                problem = replace(problem, message=problem.message + tail)
            said.append(problem)
        return tuple(said)


def first_of_each(problems: Iterable[Problem]) -> list[Problem]:
    """Return the first problems of each rule; the last of them says how many more there are."""
    counts: Counter[str] = Counter()
    found: list[Problem] = []
    last: dict[str, int] = {}
    for problem in problems:
        counts[problem.rule] += 1
        if counts[problem.rule] <= OF_HEADERS:
            last[problem.rule] = len(found)
            found.append(problem)
    for rule, place in last.items():
        more = counts[rule] - OF_HEADERS
        if more > 0:
            found[place] = replace(found[place], message=f"{found[place].message}; and {more} more like this")
    return found
