"""What a file does not hold, counted by its kind: one problem for each, with the names that it concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem, Rule

__all__ = ["Tally"]

MOST_NAMES = 8


class Tally:
    """Collects names under a rule and a sentence."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[Rule, dict[str, None]]] = {}

    def add(self, rule: Rule, words: str, name: str) -> None:
        """Note that `words` goes for the thing called `name`."""
        self._found.setdefault((rule.code, words), (rule, {}))[1][name] = None

    @property
    def problems(self) -> list[Problem]:
        """One problem for each kind, in order of codes."""
        found = sorted(self._found.items(), key=lambda item: item[0])
        return [rule.problem(f"{words}: {_listed(list(names))}") for (_, words), (rule, names) in found]


def _listed(names: list[str]) -> str:
    shown = ", ".join(name[:60] or "''" for name in names[:MOST_NAMES])
    return shown + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
