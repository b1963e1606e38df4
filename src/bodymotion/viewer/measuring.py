"""Looks into motions in the background, as soon as something that is switched on or plotted needs it; playing goes on meanwhile."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

from bodymotion.kernels.background import compile_in_background
from bodymotion.viewer.insight import Insight, look_into
from bodymotion.viewer.take import Take

__all__ = ["Measuring"]


class Measuring:
    """What is known of the take that is shown, and what is being worked out.

    `post` has work done by the viewer's thread, on which all methods are called; `learned` is called there with what was found.
    """

    def __init__(self, post: Callable[[Callable[[], object]], None], learned: Callable[[Insight], None]) -> None:
        self._post = post
        self._learned = learned
        self._job = 0
        self._running: tuple[Take, bool, frozenset[str]] | None = None
        self.insight: Insight | None = None
        self._of: Take | None = None
        self._refused: tuple[Take, bool, str] | None = None
        self._failed: frozenset[str] = frozenset()

    @property
    def running(self) -> bool:
        """Whether something is being worked out."""
        return self._running is not None

    def in_words(self) -> str:
        """Say what is going on, or why nothing can be measured."""
        if self.running:
            return "measuring …"
        if self._refused is not None:
            return f"It cannot be measured: {self._refused[2]}."
        if self.insight is not None and self.insight.why_not:
            return f"It cannot be measured: {self.insight.why_not}."
        return ""

    def known(self, take: Take, stands: bool) -> Insight | None:
        """Return what is known of a take, lifted to the ground or not; None when that is not yet worked out."""
        found = self.insight
        return found if found is not None and found.stands == stands and self._of is take else None

    def want(self, take: Take, stands: bool, quantities: frozenset[str] = frozenset()) -> None:
        """Have a take looked into, unless that is done or under way."""
        known = self.known(take, stands)
        missing = frozenset(
            name for name in quantities if (known is None or not known.has(name)) and name not in self._failed
        )
        if known is not None and (not missing or known.measures is None):
            return
        if self._refused is not None and self._refused[0] is take and self._refused[1] == stands:
            return
        key = (take, stands, missing)
        if self._running is not None and self._running[0] is take and self._running[1:] == (stands, missing):
            return
        self._job += 1
        self._running = key
        job = self._job
        compile_in_background(lambda: self._work(job, known, *key))

    def forget(self) -> None:
        """Stop what is under way, and forget what is known."""
        self._job += 1
        self._running = self.insight = self._of = self._refused = None
        self._failed = frozenset()

    def _work(self, job: int, known: Insight | None, take: Take, stands: bool, quantities: frozenset[str]) -> None:
        failed: set[str] = set()
        why = "it was given up"
        try:
            found = known if known is not None else look_into(take, stands, (), lambda: job == self._job)
            if found is not None and found.measures is not None:
                failed = {name for name in quantities if not _worked_out(found, name)}
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            found, why = None, str(error) or type(error).__name__
        if found is not None:
            self._post(lambda: self._done(job, take, found, failed))
        else:
            self._post(lambda: self._gave_up(job, take, stands, why))

    def _done(self, job: int, take: Take, found: Insight, failed: set[str]) -> None:
        if job == self._job:
            self._running, self.insight, self._of, self._refused = None, found, take, None
            self._failed |= failed
            self._learned(found)

    def _gave_up(self, job: int, take: Take, stands: bool, why: str) -> None:
        if job == self._job:
            self._running, self._refused = None, (take, stands, why)


def _worked_out(insight: Insight, name: str) -> bool:
    try:
        insight.series(name)
    except (KeyError, ValueError, MemoryError):
        return False
    return True
