"""Reading on in a text that is no YAML.

The likely fix of each faulty line is tried, to name the fault and to find what else is
wrong.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic, TypeAlias, TypeVar

from bodymotion.diagnostics import FormatError, Problem, ReadResult
from bodymotion.diagnostics.spelling import camel

MAX_PARSED_BYTES = (
    6 << 20
)  # Bytes that all attempts together parse: each may be a YAML parse of the whole text.
MAX_FIXES = 10  # Faults that are fixed in one text.
MAX_ATTEMPTS = 6  # Ways to fix one fault that are tried.
MAX_VALUE_LINES = 1000  # Lines of one value in which brackets are counted.
BRACKET_LINES = (
    3  # Lines before the one at which a parser stops in which brackets are counted.
)

T = TypeVar("T")

Attempt: TypeAlias = Callable[[bytes], "ReadResult[T] | FormatError"]
"""Reads a text, or returns the error for which it is no YAML."""

_ENTRY = re.compile(
    rb"([ \t]*(?:- +)*)([A-Za-z_][A-Za-z_0-9]*)(?![A-Za-z_0-9])([ \t]*:?)(.*)"
)
_NAMELESS = re.compile(rb"([ \t]*(?:- +)*):(?=\s|\Z)")
_QUOTED = re.compile(rb"\"(?:[^\"\\]|\\.)*+(?:(\")|\\?\Z)|'[^']*+(?:(')|\Z)|(#).*")


@dataclass(frozen=True)
class Recovered(Generic[T]):
    """What was read in spite of faulty lines.

    Attributes
    ----------
    value:
        Of the text with all faults fixed; None where one could not be.
    faults:
        Why the text is no YAML, once for each fault.
    problems:
        What else is wrong.
    lost:
        The first line that was left out, 0 where none was: what is missing may have
        been in it.
    """

    value: T | None
    faults: tuple[Problem, ...]
    problems: tuple[Problem, ...] = ()
    lost: int = 0

    @property
    def refusal(self) -> Problem:
        """The first fault."""
        return next(fault for fault in self.faults if fault.severity == "error")


@dataclass(frozen=True)
class _Fix:
    """A text that was changed in one line, and the fault there.

    `certain` where nothing else can be meant.
    """

    data: bytes
    line: int
    column: int
    message: str
    certain: bool = False
    loses: bool = False
    """Whether what the line says is not known."""


def read_or_recover(
    data: bytes, attempt: Attempt[T], names: Iterable[str]
) -> ReadResult[T] | Recovered[T]:
    """Read a text whose keys are `names`, in either spelling.

    Where it is no YAML, read what can be read of it.
    """
    result = attempt(data)
    if isinstance(result, ReadResult):
        return result
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode().encode()
    except UnicodeDecodeError:
        return ReadResult(None, result.problems, refusal=result.problem)
    keys = {spelling for name in names for spelling in (name, camel(name))}
    return read_on(text, result, attempt, keys)


def read_on(
    data: bytes, error: FormatError, attempt: Attempt[T], keys: Collection[str]
) -> Recovered[T]:
    """Read a text that is no YAML.

    Parameters
    ----------
    data:
        The text, in UTF-8.
    error:
        Why it is no YAML: a parser stops at the faulty line, or somewhere behind it.
    attempt:
        Tries to read a text.
    keys:
        Those of the format: a line that begins with one of them and has no colon lacks
        it.
    """
    faults = list(error.problems)
    left = MAX_PARSED_BYTES
    lost = 0
    for _ in range(MAX_FIXES):
        line = faults[-1].location.line
        if line is None:
            break
        fixes = list(islice(_fixes(data, line, keys), MAX_ATTEMPTS))
        left -= len(data) * (len(fixes) + 2)
        if left < 0:
            if fixes and fixes[0].certain:
                faults[-1] = _as(faults[-1], fixes[0])
            break
        best, result = _best(fixes, attempt, line)
        if best is not None:
            faults[-1] = _as(faults[-1], best)
            if best.loses:
                lost = min(lost or best.line, best.line)
        else:
            best, result = _best(list(_blanked(data, line)), attempt, line)
            if best is None:
                break
            lost = min(lost or best.line, best.line)
            faults[-1] = replace(faults[-1], hint=best.message)
        if isinstance(result, ReadResult):
            return Recovered(result.value, tuple(faults), result.problems, lost)
        assert result is not None
        faults.append(result.problem)
        data = best.data
    return Recovered(None, tuple(faults))


def _as(problem: Problem, fix: _Fix) -> Problem:
    location = replace(problem.location, line=fix.line, column=fix.column)
    return replace(problem, message=fix.message, location=location, hint="")


def _best(
    fixes: list[_Fix], attempt: Attempt[T], line: int
) -> tuple[_Fix | None, ReadResult[T] | FormatError | None]:
    """Return the fix with which a parser comes furthest beyond `line`.

    Of those that reach the end, the first with the fewest errors.
    """
    best = None
    reached = (float(line), 0)
    result: ReadResult[T] | FormatError | None = None
    for fix in fixes:
        found = attempt(fix.data)
        if isinstance(found, FormatError):
            score = float(found.problem.location.line or 0), 0
        else:
            score = (
                float("inf"),
                -sum(problem.severity == "error" for problem in found.problems),
            )
        if score[0] > line and (best is None or score > reached):
            best = fix
            reached = score
            result = found
    return best, result


def _fixes(data: bytes, line: int, keys: Collection[str]) -> Iterator[_Fix]:
    lines = data.split(b"\n")

    def changed(
        number: int, column: int, text: bytes, message: str, certain: bool = False
    ) -> _Fix:
        return _Fix(
            b"\n".join([*lines[: number - 1], text, *lines[number:]]),
            number,
            column,
            message,
            certain,
        )

    last = min(line, len(lines))
    for number in range(last, max(last - 2, 0), -1):
        if (nameless := _NAMELESS.match(lines[number - 1])) is not None:
            text = nameless[1] + b"_" + lines[number - 1][nameless.end(1) :]
            fix = changed(
                number,
                nameless.end(1) + 1,
                text,
                "the key before this ':' is missing",
                True,
            )
            yield replace(fix, loses=True)
    for number in range(last, 0, -1):
        text = lines[number - 1]
        entry = _ENTRY.match(text)
        if entry is None or (name := entry[2].decode("ascii")) not in keys:
            continue
        fixed = entry[1] + entry[2] + b": "
        rest = entry[4]
        if not entry[3].strip():
            yield changed(
                number,
                len(fixed) - 1,
                fixed + rest.strip(),
                f"':' is missing after {name!r}",
                True,
            )
        elif rest[:1].strip() and not rest.startswith((b"\r", b"/", b":")):
            yield changed(
                number, len(fixed), fixed + rest, f"a space is missing after '{name}:'"
            )
    for number in range(last, 0, -1):
        text = lines[number - 1].rstrip(b"\r")
        if b'"' not in text and b"'" not in text:
            continue
        bare = _without_quoted(text)
        for quote in (b'"', b"'"):
            at = bare.find(quote)
            if at >= 0 and (
                at == 0 or bare[at - 1 : at].strip() in (b"", b"[", b"{", b",")
            ):
                message = f"the quote {quote.decode()} that opens here is not closed"
                yield changed(number, at + 1, text + quote, message)
                stop = re.search(rb"[,\]}]", text[at:])
                if stop is not None:
                    end = at + stop.start()
                    yield changed(
                        number, at + 1, text[:end] + quote + text[end:], message
                    )
    for number in range(last, max(last - BRACKET_LINES, 0), -1):
        text = lines[number - 1].rstrip(b"\r")
        bare = _without_quoted(text)
        indent = len(text) - len(text.lstrip(b" \t"))
        if b"\t" in text[:indent]:
            for width in (2, 4, 8):
                fixed = text[:indent].replace(b"\t", b" " * width) + text[indent:]
                yield changed(
                    number,
                    text.index(b"\t") + 1,
                    fixed,
                    "there is a tab in the indentation: use spaces",
                )
        for opening, closing in ((b"[", b"]"), (b"{", b"}")):
            more = bare.count(opening) - bare.count(closing)
            if more == 1:
                column = bare.rfind(opening) + 1
                message = f"the {opening.decode()} that opens here is not closed"
                yield changed(number, column, text + b" " + closing, message)
                yield changed(
                    number, column, text[: column - 1] + text[column:], message
                )
            elif more == -1 and not _opened_before(lines, number, opening, closing):
                at = bare.rfind(closing)
                message = f"there is one {closing.decode()} too many"
                yield changed(number, at + 1, text[:at] + text[at + 1 :], message)


def _opened_before(
    lines: list[bytes], number: int, opening: bytes, closing: bytes
) -> bool:
    """Return whether the bracket that a line closes opens in a line before it, in the value of the same key."""
    missing = 1
    for text in reversed(lines[max(number - 1 - MAX_VALUE_LINES, 0) : number - 1]):
        bare = _without_quoted(text)
        missing += bare.count(closing) - bare.count(opening)
        if missing <= 0 or _ENTRY.match(text) is not None:
            break
    return missing <= 0


def _without_quoted(line: bytes) -> bytes:
    """Return a line with blanks for quoted texts and comments.

    Of quotes that are not closed, the one that opens stays.
    """
    return _QUOTED.sub(
        lambda found: (
            (b" " if found.lastindex else found[0][:1]) + b" " * (len(found[0]) - 1)
        ),
        line,
    )


def _blanked(data: bytes, line: int) -> Iterator[_Fix]:
    """Return a text with blanks for a line, and for the one before it that is not blank."""
    lines = data.split(b"\n")
    for number in (line, line - 1, line - 2):
        if 1 <= number <= len(lines) and lines[number - 1].strip():
            blank = b" " * len(lines[number - 1].rstrip(b"\r"))
            hint = f"line {number} does not fit: compare its indentation, ':', quotes and brackets with those of its neighbours"
            yield _Fix(
                b"\n".join([*lines[: number - 1], blank, *lines[number:]]),
                number,
                1,
                hint,
            )
            if number < line:
                return
