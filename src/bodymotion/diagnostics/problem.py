"""What is found in a file or a value.

Where (Location), what (Problem, by a Rule), all of it (Findings, Diagnostics), and
FormatError.

A `Rule` is one sentence of a format's document, or of our judgement, with a stable code
such as ``SEQ103``; each package keeps its rules in its `rules.py`. A `Problem` is one
location where a rule is broken. Programs read its `rule`, `subject` and `data`, people
its message.

A reader never raises at the first fault. It reports it to a `Diagnostics`, marks the
part that it does not know as unknown, and goes on::

    def read(path, **options) -> ReadResult[Body]:
        found = Diagnostics(path)
        for number, element in enumerate(elements):
            with found.recover(("links", number)):      # a FormatError in here is
            recorded; the link is unknown
                links.append(read_link(element, found))
        return ReadResult(body, found.problems)

`load` raises where there was an error (`ReadResult.require`); `check` runs the rules
about meaning on the value, partial or not. A rule
reports nothing about a part that is unknown (`Diagnostics.is_known`), so no fault has
follow-up findings.

The `Source` of a value holds what a save needs to write it back alike, and where its
parts are in the file. It is never part of `==`.
"""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack

from bodymotion.diagnostics.representation import ShortRepr
from bodymotion.diagnostics.text import severities

Severity: TypeAlias = Literal["error", "warning", "note"]
# The part of a value that a problem is about. ("links", 3, "mass"), ("components", 0,
# "frames", 17); empty for the whole.
Subject: TypeAlias = tuple[str | int, ...]

# Problems of one rule that are kept one by one; of the others only their number is, in
# the `count` of the last one kept.
MAX_LISTED = 1000
_NO_DATA: Mapping[str, object] = MappingProxyType({})

T = TypeVar("T")


@dataclass(frozen=True)
class Location(ShortRepr):
    """A location in a file.

    `line` and `column` count from 1; `inside` is the path inside the document.
    """

    path: str | None = None
    line: int | None = None
    column: int | None = None
    inside: str | None = None

    def __str__(self) -> str:
        # path:line:column, as compilers write it and editors find it.
        text = ":".join(
            str(part)
            for part in (self.path, self.line, self.column)
            if part is not None
        )
        return text or self.inside or ""


@dataclass(frozen=True)
class Problem(ShortRepr):
    """One location where a rule is broken.

    Attributes
    ----------
    leaves_out:
        Something that the file has there is not part of the value that was read.
    subject:
        The part of the value that the problem is about.
    data:
        Numbers and names from the message, for programs; not part of equality.
    count:
        How many occurrences it stands for, where a file has more than are listed one by
        one.
    """

    rule: str
    severity: Severity
    message: str
    location: Location = field(default_factory=Location)
    hint: str = ""
    leaves_out: bool = False
    subject: Subject = ()
    data: Mapping[str, object] = field(
        default_factory=lambda: _NO_DATA, compare=False, repr=False
    )
    count: int = 1

    def __str__(self) -> str:
        place = str(self.location)
        if self.location.inside and self.location.inside != place:
            inside = f" ({self.location.inside})"
        else:
            inside = ""
        if self.hint:
            hint = f" [{self.hint}]"
        else:
            hint = ""
        if self.count > 1:
            more = f" ×{self.count}"
        else:
            more = ""
        return (
            f"{place}{': ' if place else ''}{self.rule}{more} "
            f"{self.message}{inside}{hint}"
        )

    def __reduce__(self) -> tuple[type[Problem], tuple[object, ...]]:
        # A MappingProxyType cannot be pickled.
        fields = (
            self.rule,
            self.severity,
            self.message,
            self.location,
            self.hint,
            self.leaves_out,
            self.subject,
        )
        return Problem, (*fields, dict(self.data), self.count)


class FormatError(ValueError):
    """A file that no value can be made of, or that its document forbids.

    `problem` has location and reason.

    `problems` are all that were found in the file, `problem` and warnings among them.
    """

    def __init__(self, problem: Problem, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(str(problem))
        self.problem = problem
        # The problem is always among them, as the last one where it was not reported.
        if problem in problems:
            self.problems = problems
        else:
            self.problems = (*problems, problem)

    def __reduce__(
        self,
    ) -> tuple[type[FormatError], tuple[Problem, tuple[Problem, ...]]]:
        return type(self), (self.problem, self.problems)


class MissingFileError(FormatError, FileNotFoundError):
    """A file that does not exist.

    Both a FormatError and a FileNotFoundError, with `errno` and `filename`.
    """

    def __init__(self, problem: Problem, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(problem, problems)
        self.errno = errno.ENOENT
        self.strerror = problem.message
        self.filename = problem.location.path

    def __str__(self) -> str:
        return str(self.problem)


class WrongUseError(ValueError):
    """A request that makes no sense, whatever the files hold."""


@dataclass(frozen=True)
class Rule(ShortRepr):
    """A rule that problems break.

    Its stable code, its usual severity, one sentence with the reason, and what to do.

    Attributes
    ----------
    source:
        Where the rule is from: our judgement, the document of a format, or the program
        of reference (see `RuleSource`).
    fixable:
        What breaks it has, mostly, one right answer, which `bodymotion check --fix`
        writes (see `bodymotion.checks.fixing`).
    leaves_out:
        Where a reader finds it, something in the file does not become part of the
        value, so a save loses it.
    example:
        What breaks it, and what does not: a piece of a file in two ways, or a few words
        where it takes more than a piece.
    """

    code: str
    severity: Severity
    sentence: str
    hint: str = ""
    source: str = "judgement"
    fixable: bool = False
    leaves_out: bool = False
    example: tuple[str, str] | None = None

    @property
    def as_note(self) -> Rule:
        """The rule as a note, for what breaks it without consequences."""
        return replace(self, severity="note")

    @property
    def as_error(self) -> Rule:
        """The rule as an error, for what makes the file unusable for other programs."""
        return replace(self, severity="error")

    def problem(
        self,
        message: str,
        location: Location | None = None,
        hint: str | None = None,
        *,
        subject: Subject = (),
        data: Mapping[str, object] | None = None,
    ) -> Problem:
        """Return the problem of this rule at `location`."""
        hint = self.hint if hint is None else hint
        where = location or Location()
        found = _NO_DATA if data is None else data
        return Problem(
            self.code,
            self.severity,
            message,
            where,
            hint,
            self.leaves_out,
            subject,
            found,
        )

    def error(
        self,
        message: str,
        location: Location | None = None,
        hint: str | None = None,
        *,
        subject: Subject = (),
        data: Mapping[str, object] | None = None,
    ) -> FormatError:
        """Return the exception for a problem of this rule.

        Its severity is error, whatever the rule's own.
        """
        return FormatError(
            replace(
                self.problem(message, location, hint, subject=subject, data=data),
                severity="error",
            )
        )


class RuleOptions(TypedDict, total=False):
    """What a rule may have besides code, severity, sentence and hint.

    See `Rule`.
    """

    fixable: bool
    leaves_out: bool
    example: tuple[str, str]


@dataclass(frozen=True)
class RuleSource:
    """Where rules are from.

    Makes rules of each severity: `document.error("SEQ103", "Each component …", …)`.
    """

    name: str

    def error(
        self, code: str, sentence: str, hint: str = "", **more: Unpack[RuleOptions]
    ) -> Rule:
        """Return a rule that is an error to break."""
        return Rule(code, "error", sentence, hint, self.name, **more)

    def warning(
        self, code: str, sentence: str, hint: str = "", **more: Unpack[RuleOptions]
    ) -> Rule:
        """Return a rule whose breaking is a warning."""
        return Rule(code, "warning", sentence, hint, self.name, **more)

    def note(
        self, code: str, sentence: str, hint: str = "", **more: Unpack[RuleOptions]
    ) -> Rule:
        """Return a rule whose breaking is a note."""
        return Rule(code, "note", sentence, hint, self.name, **more)


# The document that defines a format.
document = RuleSource("document")
# The program of reference, where the document has no definition.
reference = RuleSource("reference")
# Our own judgement.
judgement = RuleSource("judgement")


@dataclass(frozen=True)
class Findings(ShortRepr):
    """All problems found while one thing was done."""

    problems: tuple[Problem, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that are errors."""
        return tuple(
            problem for problem in self.problems if problem.severity == "error"
        )

    @property
    def losses(self) -> tuple[Problem, ...]:
        """The problems that report what is lost.

        What a save could not keep (rules LOSS…), or what was not read in the first
        place.
        """
        return tuple(
            problem
            for problem in self.problems
            if problem.rule.startswith("LOSS") or problem.leaves_out
        )

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)

    def _summary(self) -> str:
        return f"{type(self).__name__}({severities(self.problems) or 'no problems'})"


# Returns the location of a part of an object, given by the rest of its subject.
# ("mass",), ("frames", 17).
Locator: TypeAlias = Callable[[Subject], Location | None]


class SourceMap:
    """Locations of the parts of a value in its file, by subject.

    An entry is a Location, or a function that finds the locations of an object's own
    fields when asked: most are never needed.

    Parameters
    ----------
    entries:
        By subject: ("links", 3), ("devices", 0), ("extra_joints", 1), ("components", 2)
        and so on.
    unknown:
        Parts that the file has and that could not be read.
    """

    def __init__(
        self,
        entries: Mapping[Subject, Location | Locator] | None = None,
        unknown: Iterable[Subject] = (),
    ) -> None:
        self._entries = dict(entries or {})
        self.unknown = frozenset(unknown)

    def __bool__(self) -> bool:
        return bool(self._entries)

    def with_unknown(self, unknown: Iterable[Subject]) -> SourceMap:
        """Return the map with further parts that could not be read."""
        return SourceMap(self._entries, {*self.unknown, *unknown})

    def locate(self, subject: Subject) -> Location | None:
        """Return the location of a part.

        Or else of the smallest part around it with a known location; None where none is
        known.
        """
        # From the part itself to all that it is in; () is the value as a whole.
        for length in range(len(subject), -1, -1):
            entry = self._entries.get(subject[:length])
            # A field without a location of its own has that of its object.
            if callable(entry):
                entry = entry(subject[length:]) or entry(())
            if entry is not None:
                return entry
        return None

    def is_known(self, subject: Subject) -> bool:
        """Return whether a part, and everything that it is inside of, was read."""
        return _is_known(subject, self.unknown)

    def __reduce__(
        self,
    ) -> tuple[type[SourceMap], tuple[dict[Subject, Location], frozenset[Subject]]]:
        # Functions hold the parsed file; what goes to another process takes plain
        # locations only.
        locations = {}
        for subject in self._entries:
            location = self.locate(subject)
            if location is not None:
                locations[subject] = location
        return SourceMap, (locations, self.unknown)


@dataclass(frozen=True)
class Source(ShortRepr):
    """Where a value is from.

    `format` ("seq", "openhrp", …), `path`, `version` as in the file, text
    `encoding`, and the format's `options`.
    """

    format: str = ""
    path: Path | None = None
    version: str = ""
    encoding: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    parts: tuple[Path, ...] = ()
    """Other files that were read for this one."""
    locations: SourceMap = field(default_factory=SourceMap, repr=False, compare=False)
    """Where the parts of the value are in the file."""


class Diagnostics:
    """Collect the problems of one file, or of one value.

    Each is kept once, in the order in which they are reported.

    Parameters
    ----------
    path:
        The file that locations without a path are in.
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        if path is None:
            self.path = None
        else:
            self.path = fspath(path)
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
        """Record that a rule is broken at a location.

        The severity is the rule's, unless another is given. A `fatal` problem is an
        error for which `load` returns no value (see `result`).
        """
        problem = rule.problem(
            message, location or Location(self.path), hint, subject=subject, data=data
        )
        severity = "error" if fatal else severity
        self.add(
            problem if severity is None else replace(problem, severity=severity),
            fatal=fatal,
        )

    def add(self, problem: Problem, *, fatal: bool = False) -> None:
        """Record a problem."""
        if fatal and self.refusal is None:
            self.refusal = problem
        if problem in self._found:
            return
        # One fault in each of a million rows must not fill the memory: further problems
        # are counted only.
        if self._listed[problem.rule] >= MAX_LISTED:
            self._more[problem.rule] += problem.count
            return
        self._listed[problem.rule] += 1
        self._found[problem] = None

    def refuse(self, error: FormatError) -> None:
        """Record an error for which `load` returns no value.

        The reader goes on, to find further problems.
        """
        self.extend(error.problems)
        self.refusal = self.refusal or error.problem

    def extend(self, problems: Iterable[Problem]) -> None:
        """Record several problems."""
        for problem in problems:
            self.add(problem)

    def count_more(self, rule: Rule, number: int = 1) -> None:
        """Count occurrences of a rule that need no entry of their own.

        One must have been reported before.
        """
        self._more[rule.code] += number

    def is_full(self, rule: Rule) -> bool:
        """Return whether further problems of the rule are only counted.

        Then their messages need not be made.
        """
        return self._listed[rule.code] >= MAX_LISTED

    def mark_unknown(self, *subjects: Subject) -> None:
        """Mark parts of the value that could not be read.

        Rules report nothing about them, nor about what is inside of them.
        """
        self.unknown.update(subjects)

    def is_known(self, subject: Subject) -> bool:
        """Return whether a part of the value was read.

        And everything that it is inside of.
        """
        return _is_known(subject, self.unknown)

    @contextmanager
    def recover(self, *unknown: Subject) -> Iterator[None]:
        """Record a FormatError that the block raises, and go on behind the block.

        Parts that it would have read are marked as `unknown`.
        """
        try:
            yield
        except FormatError as error:
            # What follows in the file is read, but without the lost part there is no
            # whole value.
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
        """Return a value, partial or None, as what was read.

        Whole unless a fatal problem was recorded.

        For readers that record errors which leave a whole value (a missing mesh) beside
        fatal ones.
        """
        return ReadResult(
            value, self.problems, whole=self.refusal is None, refusal=self.refusal
        )

    @property
    def has_errors(self) -> bool:
        """Whether an error was reported."""
        return any(problem.severity == "error" for problem in self._found)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All of them, in the order in which they were reported."""
        if not self._more:
            return tuple(self._found)
        # Occurrences that were only counted go to the last listed problem of their
        # rule, so that counts add up.
        last_of = {problem.rule: problem for problem in self._found}
        last = {
            problem: self._more[rule]
            for rule, problem in last_of.items()
            if self._more[rule]
        }
        return tuple(
            replace(p, count=p.count + last[p]) if p in last else p for p in self._found
        )


def _is_known(subject: Subject, unknown: Set[Subject]) -> bool:
    return not unknown or not any(
        subject[:length] in unknown for length in range(len(subject) + 1)
    )


@dataclass(frozen=True)
class ReadResult(Generic[T]):
    """What a reader makes of a file.

    Its value, partial or None where the file is faulty, and all problems in order of
    the file.
    """

    value: T | None
    problems: tuple[Problem, ...] = ()
    whole: bool = False
    """Whether the value is complete in spite of errors (a missing mesh, a negative
    mass).

    `load` then returns it.
    """
    refusal: Problem | None = None
    """The error for which `load` returns no value, where it is not the first one."""

    def require(self) -> T:
        """Return the value.

        Raises
        ------
        FormatError
            When a problem is an error and the value is not `whole`; `problem` of the
            exception is `refusal` or else the first error, and
            `problems` are all of them.
        """
        # A fatal problem may come after errors that leave a whole value, such as a
        # missing mesh: the exception must name the fatal one.
        error = self.refusal or next(
            (problem for problem in self.problems if problem.severity == "error"), None
        )
        if error is not None and not (self.whole and self.value is not None):
            raise FormatError(error, self.problems)
        assert self.value is not None, "a reader without a value reports an error"
        return self.value
