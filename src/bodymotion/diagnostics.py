"""What is said about a file: where (Location), what (Problem, by a Rule), all of it (Report), and FormatError.

A `Rule` is one sentence of a format's document, or of our judgement, with a stable code such as ``SEQ103``; the rooms of
the formats keep theirs in a `rules.py`. A `Problem` is one place where a rule is broken. A WrongUseError is
about no file, but about what was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]

__all__ = ["FormatError", "Location", "Problem", "Report", "Rule", "Severity", "WrongUseError"]


@dataclass(frozen=True)
class Location:
    """A place in a file: `line` and `column` count from 1; `inside` is the path inside the document."""

    path: str | None = None
    line: int | None = None
    column: int | None = None
    inside: str | None = None

    def __str__(self) -> str:
        text = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        return text or self.inside or ""


@dataclass(frozen=True)
class Problem:
    """One place where a rule is broken; `leaves_out`: something that the file has there is not in what was read."""

    rule: str
    severity: Severity
    message: str
    location: Location = field(default_factory=Location)
    hint: str = ""
    leaves_out: bool = False

    def __str__(self) -> str:
        place = str(self.location)
        inside = f" ({self.location.inside})" if self.location.inside and self.location.inside != place else ""
        hint = f" [{self.hint}]" if self.hint else ""
        return f"{place}{': ' if place else ''}{self.rule} {self.message}{inside}{hint}"


class FormatError(ValueError):
    """A file of which nothing can be made, or that its document forbids; `problem` says where and why.

    `problems` are all that were found in the file, that one and warnings among them, where its reader goes on after a fault.
    """

    def __init__(self, problem: Problem, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(str(problem))
        self.problem = problem
        self.problems = problems if problem in problems else (*problems, problem)

    def __reduce__(self) -> tuple[type[FormatError], tuple[Problem, tuple[Problem, ...]]]:
        return FormatError, (self.problem, self.problems)


class WrongUseError(ValueError):
    """What was asked for makes no sense, whatever the files hold."""


@dataclass(frozen=True)
class Rule:
    """A rule of a format: its stable code, its usual severity, one sentence with the reason, and what to do.

    `fixable`: what breaks it has, mostly, one right answer, which `bodymotion check --fix` writes (see `bodymotion.checks.fixing`).
    `leaves_out`: where a reader meets it, something in the file does not become a part of what is read, so that a save has lost it.
    `example`: what breaks it, and what does not: a piece of a file in two ways, or a few words where it takes more than a piece.
    """

    code: str
    severity: Severity
    sentence: str
    source: str = "document"
    hint: str = ""
    fixable: bool = False
    leaves_out: bool = False
    example: tuple[str, str] | None = None

    def problem(self, message: str, location: Location | None = None, hint: str | None = None) -> Problem:
        """Say that the rule is broken at `location`."""
        hint = self.hint if hint is None else hint
        return Problem(self.code, self.severity, message, location or Location(), hint, self.leaves_out)

    def error(self, message: str, location: Location | None = None, hint: str | None = None) -> FormatError:
        """Make the exception that says so: what a file is refused for is an error, also by a rule that is a warning elsewhere."""
        return FormatError(replace(self.problem(message, location, hint), severity="error"))


@dataclass(frozen=True)
class Report:
    """All problems met while one thing was done."""

    problems: tuple[Problem, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that are errors."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def losses(self) -> tuple[Problem, ...]:
        """The problems that say what a save could not keep (the rules of `bodymotion.losses`), or what was not read in the first place."""
        return tuple(problem for problem in self.problems if problem.rule.startswith("LOSS") or problem.leaves_out)

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)
