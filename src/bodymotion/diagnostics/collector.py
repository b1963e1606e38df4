"""`Diagnostics`, the one collector of problems; `Source`, where a value came from; `ReadResult`, what every reader returns.

A reader never raises at the first fault. It reports it, marks the part that it does not know as unknown, and goes on::

    def read(path, **options) -> ReadResult[Body]:
        found = Diagnostics(path)
        for number, element in enumerate(elements):
            with found.recover(("links", number)):      # a FormatError in here is recorded; the link is unknown
                links.append(read_link(element, found))
        return ReadResult(body, found.problems)

`load` raises where there was an error (`ReadResult.require`); `check` runs the rules about meaning on the value, partial or not. A rule
reports nothing about a part that is unknown (`Diagnostics.is_known`), so no fault has follow-up findings.

The `Source` of a value holds what a save needs to write it back alike, and where its parts are in the file. It is never part of `==`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from bodymotion.diagnostics.problem import FormatError, Location, Problem, Rule, Severity, Subject

Locator: TypeAlias = Callable[[Subject], Location | None]
"""Returns the location of a part of an object, given by the rest of its subject: ("mass",), ("frames", 17)."""


class SourceMap:
    """Locations of the parts of a value in its file, by subject.

    An entry is a Location, or a function that finds the locations of an object's own fields when asked: most are never needed.

    Parameters
    ----------
    entries:
        By subject: ("links", 3), ("devices", 0), ("extra_joints", 1), ("components", 2) and so on.
    unknown:
        Parts that the file has and that could not be read.
    """

    def __init__(
        self, entries: Mapping[Subject, Location | Locator] | None = None, unknown: Iterable[Subject] = ()
    ) -> None:
        self._entries = dict(entries or {})
        self.unknown = frozenset(unknown)

    def __bool__(self) -> bool:
        return bool(self._entries)

    def with_unknown(self, unknown: Iterable[Subject]) -> SourceMap:
        """Return the map with further parts that could not be read."""
        return SourceMap(self._entries, {*self.unknown, *unknown})

    def locate(self, subject: Subject) -> Location | None:
        """Return the location of a part, or of the smallest part around it with a known location; None where none is known."""
        for length in range(len(subject), -1, -1):
            entry = self._entries.get(subject[:length])
            if entry is not None:
                found = entry if isinstance(entry, Location) else entry(subject[length:]) or entry(())
                if found is not None:
                    return found
        return None

    def is_known(self, subject: Subject) -> bool:
        """Return whether a part, and everything that it is inside of, was read."""
        return _is_known(subject, self.unknown)

    def __reduce__(self) -> tuple[type[SourceMap], tuple[dict[Subject, Location], frozenset[Subject]]]:
        # Functions hold the parsed file; what goes to another process takes plain locations only.
        plain = {subject: found for subject in self._entries if (found := self.locate(subject)) is not None}
        return SourceMap, (plain, self.unknown)


@dataclass(frozen=True)
class Source:
    """`format` ("seq", "openhrp", …), `path`, `version` as in the file, text `encoding`, and the format's `options`."""

    format: str = ""
    path: Path | None = None
    version: str = ""
    encoding: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    parts: tuple[Path, ...] = ()
    """Other files that were read for this one."""
    locations: SourceMap = field(default_factory=SourceMap, repr=False, compare=False)
    """Where the parts of the value are in the file."""


MAX_LISTED = 1000  # Problems of one rule that are kept one by one; of the others only their number is, in the `count` of the last one kept.

T = TypeVar("T")


class Diagnostics:
    """Collect the problems of one file, or of one value; each is kept once, in the order in which they are reported.

    Parameters
    ----------
    path:
        The file that locations without a path are in.
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self.path = None if path is None else fspath(path)
        self.unknown: set[Subject] = set()
        """Parts of the value that the file has and that could not be read."""
        self.refusal: Problem | None = None
        """The first error for which no value is loaded: see `refuse`."""
        self._found: dict[Problem, None] = {}
        self._listed: Counter[str] = Counter()
        self._more: Counter[str] = Counter()

    def report(
        self,
        rule: Rule,
        message: str,
        location: Location | None = None,
        *,
        hint: str | None = None,
        severity: Severity | None = None,
        subject: Subject = (),
        data: Mapping[str, object] | None = None,
        fatal: bool = False,
    ) -> None:
        """Record that a rule is broken at a location, with the rule's severity unless another is given.

        A `fatal` problem is an error for which `load` returns no value (see `result`).
        """
        problem = rule.problem(message, location or Location(self.path), hint, subject=subject, data=data)
        severity = "error" if fatal else severity
        self.add(problem if severity is None else replace(problem, severity=severity), fatal=fatal)

    def add(self, problem: Problem, *, fatal: bool = False) -> None:
        """Record a problem."""
        if fatal and self.refusal is None:
            self.refusal = problem
        if problem in self._found:
            return
        if self._listed[problem.rule] >= MAX_LISTED:
            self._more[problem.rule] += problem.count
            return
        self._listed[problem.rule] += 1
        self._found[problem] = None

    def refuse(self, error: FormatError) -> None:
        """Record an error for which `load` returns no value; the reader goes on, to find further problems."""
        self.extend(error.problems)
        self.refusal = self.refusal or error.problem

    def extend(self, problems: Iterable[Problem]) -> None:
        """Record several problems."""
        for problem in problems:
            self.add(problem)

    def count_more(self, rule: Rule, number: int = 1) -> None:
        """Count occurrences of a rule that need no entry of their own; one must have been reported before."""
        self._more[rule.code] += number

    def is_full(self, rule: Rule) -> bool:
        """Return whether further problems of the rule are only counted, so that their messages need not be made."""
        return self._listed[rule.code] >= MAX_LISTED

    def mark_unknown(self, *subjects: Subject) -> None:
        """Mark parts of the value that could not be read; rules report nothing about them, nor about what is inside of them."""
        self.unknown.update(subjects)

    def is_known(self, subject: Subject) -> bool:
        """Return whether a part of the value, and everything that it is inside of, was read."""
        return _is_known(subject, self.unknown)

    @contextmanager
    def recover(self, *unknown: Subject) -> Iterator[None]:
        """Record a FormatError that the block raises, mark `unknown`, and go on behind the block."""
        try:
            yield
        except FormatError as error:
            self.refuse(error)
            self.mark_unknown(*unknown)

    def discard(self, problems: Iterable[Problem]) -> None:
        """Remove problems that are follow-up findings of another one."""
        for problem in problems:
            if problem in self._found:
                del self._found[problem]
                self._listed[problem.rule] -= 1
            if problem == self.refusal:
                self.refusal = None

    def result(self, value: T | None) -> ReadResult[T]:
        """Return a value, partial or None, as what was read: whole unless a fatal problem was recorded.

        For readers that record errors which leave a whole value (a missing mesh) beside fatal ones.
        """
        return ReadResult(value, self.problems, whole=self.refusal is None, refusal=self.refusal)

    @property
    def has_errors(self) -> bool:
        """Whether an error was reported."""
        return any(problem.severity == "error" for problem in self._found)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All of them, in the order in which they were reported."""
        if not self._more:
            return tuple(self._found)
        last_of = {problem.rule: problem for problem in self._found}
        last = {problem: self._more[rule] for rule, problem in last_of.items() if self._more[rule]}
        return tuple(replace(p, count=p.count + last[p]) if p in last else p for p in self._found)


def _is_known(subject: Subject, unknown: Set[Subject]) -> bool:
    return not unknown or not any(subject[:length] in unknown for length in range(len(subject) + 1))


@dataclass(frozen=True)
class ReadResult(Generic[T]):
    """What a reader makes of a file: its value, partial or None where the file is faulty, and all problems in order of the file."""

    value: T | None
    problems: tuple[Problem, ...] = ()
    whole: bool = False
    """Whether the value is complete in spite of errors (a missing mesh, a negative mass): `load` then returns it."""
    refusal: Problem | None = None
    """The error for which `load` returns no value, where it is not the first one."""

    def require(self) -> T:
        """Return the value.

        Raises
        ------
        FormatError
            When a problem is an error and the value is not `whole`; `problem` of the exception is `refusal` or else the first error, and
            `problems` are all of them.
        """
        error = self.refusal or next((problem for problem in self.problems if problem.severity == "error"), None)
        if error is not None and not (self.whole and self.value is not None):
            raise FormatError(error, self.problems)
        assert self.value is not None, "a reader without a value reports an error"
        return self.value
