"""Names that a file cannot hold, and the names that are written in their place."""

from __future__ import annotations

from bodymotion.diagnostics import Location, Problem, Rule
from bodymotion.diagnostics.losses import RENAMED
from bodymotion.diagnostics.text import listed

# Names that a message lists; the data of the problem has all of them.
MAX_SHOWN = 6
# Kinds whose names no motion, controller or other file refers to. Their losses are
# notes.
ONLY_SHOWN = frozenset({"model", "segment", "shape", "viewpoint", "device type"})


class Renamings:
    """Collects the names that a writer changes: one problem for each kind of part.

    The `data` of a problem has the `kind` and `names`: pairs of the name before and
    the name in the file, which is empty where none is written. With `unnamed` a name
    that is given to a part without one is reported, too.
    """

    def __init__(
        self,
        rule: Rule = RENAMED,
        location: Location | None = None,
        *,
        unnamed: bool = False,
    ) -> None:
        self._rule = rule
        self._unnamed = unnamed
        self._location = location or Location()
        self._pairs: dict[str, dict[tuple[str, str], None]] = {}

    def add(self, kind: str, name: str, written: str) -> str:
        """Record the name in the file if it differs; return it."""
        is_reported = bool(name) or self._unnamed
        if is_reported and name != written:
            self._pairs.setdefault(kind, {})[name, written] = None
        return written

    @property
    def problems(self) -> tuple[Problem, ...]:
        """One problem for each kind of part."""
        return tuple(self._problem(kind) for kind in self._pairs)

    def _problem(self, kind: str) -> Problem:
        pairs = tuple(self._pairs[kind])
        texts = []
        for before, after in pairs:
            change = f"is written as {after!r:.60}" if after else "is not written"
            texts.append(f"{before!r:.60} {change}")
        rule = self._rule.as_note if kind in ONLY_SHOWN else self._rule
        return rule.problem(
            f"the {kind} {listed(texts, MAX_SHOWN)}",
            self._location,
            data={"kind": kind, "names": pairs},
        )
