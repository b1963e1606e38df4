"""What is found in a file or a value: where (Location), what (Problem, by a Rule), all of it (Findings), and FormatError.

A `Rule` is one sentence of a format's document, or of our judgement, with a stable code such as ``SEQ103``; each package keeps its rules
in its `rules.py`. A `Problem` is one location where a rule is broken. Programs read its `rule`, `subject` and `data`, people its message.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias, TypedDict, Unpack

__all__ = [
    "Findings",
    "FormatError",
    "Location",
    "MissingFileError",
    "Problem",
    "Rule",
    "RuleSource",
    "Severity",
    "Subject",
    "WrongUseError",
    "document",
    "judgement",
    "reference",
]

Severity: TypeAlias = Literal["error", "warning", "note"]
Subject: TypeAlias = tuple[str | int, ...]
"""The part of a value that a problem is about: ("links", 3, "mass"), ("components", 0, "frames", 17); empty for the whole."""

_NO_DATA: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True)
class Location:
    """A location in a file: `line` and `column` count from 1; `inside` is the path inside the document."""

    path: str | None = None
    line: int | None = None
    column: int | None = None
    inside: str | None = None

    def __str__(self) -> str:
        text = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        return text or self.inside or ""


@dataclass(frozen=True)
class Problem:
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
        How many occurrences it stands for, where a file has more than are listed one by one.
    """

    rule: str
    severity: Severity
    message: str
    location: Location = field(default_factory=Location)
    hint: str = ""
    leaves_out: bool = False
    subject: Subject = ()
    data: Mapping[str, object] = field(default_factory=lambda: _NO_DATA, compare=False, repr=False)
    count: int = 1

    def __str__(self) -> str:
        place = str(self.location)
        inside = f" ({self.location.inside})" if self.location.inside and self.location.inside != place else ""
        hint = f" [{self.hint}]" if self.hint else ""
        more = f" ×{self.count}" if self.count > 1 else ""
        return f"{place}{': ' if place else ''}{self.rule}{more} {self.message}{inside}{hint}"

    def __reduce__(self) -> tuple[type[Problem], tuple[object, ...]]:
        # A MappingProxyType cannot be pickled.
        fields = (self.rule, self.severity, self.message, self.location, self.hint, self.leaves_out, self.subject)
        return Problem, (*fields, dict(self.data), self.count)


class FormatError(ValueError):
    """A file that no value can be made of, or that its document forbids; `problem` has location and reason.

    `problems` are all that were found in the file, `problem` and warnings among them.
    """

    def __init__(self, problem: Problem, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(str(problem))
        self.problem = problem
        self.problems = problems if problem in problems else (*problems, problem)

    def __reduce__(self) -> tuple[type[FormatError], tuple[Problem, tuple[Problem, ...]]]:
        return type(self), (self.problem, self.problems)


class MissingFileError(FormatError, FileNotFoundError):
    """A file that does not exist: both a FormatError and a FileNotFoundError, with `errno` and `filename`."""

    def __init__(self, problem: Problem, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(problem, problems)
        self.errno, self.strerror, self.filename = errno.ENOENT, problem.message, problem.location.path

    def __str__(self) -> str:
        return str(self.problem)


class WrongUseError(ValueError):
    """A request that makes no sense, whatever the files hold."""


@dataclass(frozen=True)
class Rule:
    """A rule: its stable code, its usual severity, one sentence with the reason, and what to do.

    Attributes
    ----------
    source:
        Where the rule is from: our judgement, the document of a format, or the program of reference (see `RuleSource`).
    fixable:
        What breaks it has, mostly, one right answer, which `bodymotion check --fix` writes (see `bodymotion.checks.fixing`).
    leaves_out:
        Where a reader finds it, something in the file does not become part of the value, so a save loses it.
    example:
        What breaks it, and what does not: a piece of a file in two ways, or a few words where it takes more than a piece.
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
        return Problem(self.code, self.severity, message, where, hint, self.leaves_out, subject, found)

    def error(
        self,
        message: str,
        location: Location | None = None,
        hint: str | None = None,
        *,
        subject: Subject = (),
        data: Mapping[str, object] | None = None,
    ) -> FormatError:
        """Return the exception for a problem of this rule; its severity is error, whatever the rule's own."""
        return FormatError(replace(self.problem(message, location, hint, subject=subject, data=data), severity="error"))


class RuleOptions(TypedDict, total=False):
    """What a rule may have besides code, severity, sentence and hint; see `Rule`."""

    fixable: bool
    leaves_out: bool
    example: tuple[str, str]


@dataclass(frozen=True)
class RuleSource:
    """Where rules are from; makes rules of each severity: `document.error("SEQ103", "Each component …", …)`."""

    name: str

    def error(self, code: str, sentence: str, hint: str = "", **more: Unpack[RuleOptions]) -> Rule:
        """Return a rule that is an error to break."""
        return Rule(code, "error", sentence, hint, self.name, **more)

    def warning(self, code: str, sentence: str, hint: str = "", **more: Unpack[RuleOptions]) -> Rule:
        """Return a rule whose breaking is a warning."""
        return Rule(code, "warning", sentence, hint, self.name, **more)

    def note(self, code: str, sentence: str, hint: str = "", **more: Unpack[RuleOptions]) -> Rule:
        """Return a rule whose breaking is a note."""
        return Rule(code, "note", sentence, hint, self.name, **more)


document = RuleSource("document")
"""The document that defines a format."""
reference = RuleSource("reference")
"""The program of reference, where the document has no definition."""
judgement = RuleSource("judgement")
"""Our own judgement."""


@dataclass(frozen=True)
class Findings:
    """All problems found while one thing was done."""

    problems: tuple[Problem, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that are errors."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def losses(self) -> tuple[Problem, ...]:
        """The problems that report what a save could not keep (rules LOSS…), or what was not read in the first place."""
        return tuple(problem for problem in self.problems if problem.rule.startswith("LOSS") or problem.leaves_out)

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)

    def __repr__(self) -> str:
        from bodymotion.diagnostics.text import severities

        return f"{type(self).__name__}({severities(self.problems) or 'no problems'})"
