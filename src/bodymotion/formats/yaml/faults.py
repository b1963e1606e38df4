"""Why a text is no YAML, in plain words; and the text with that mended, to see what else is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from bodymotion.diagnostics import FormatError, Problem

if TYPE_CHECKING:
    import yaml

__all__ = ["in_words", "read_on"]

EFFORT = 6 << 20
"""So many bytes are parsed in all: each try may be a YAML parse of the whole."""
MOST = 10
"""So many faults are mended."""
TRIALS = 6
"""So many ways to mend one fault are tried."""
NEAR = 3
"""Brackets are looked at in so many lines before the one at which a parser stops."""

Attempt = Callable[[bytes], "tuple[Problem, ...] | FormatError"]
"""Gives all problems of a text, or the error that says why it is no YAML."""

_WORDS = {
    "did not find expected '-' indicator": "the line is not indented like the list that it stands in, or a bracket is too many",
    "did not find expected key": "the line is not indented like the keys around it",
    "mapping values are not allowed in this context": "the line is indented deeper than the one before, or has a ':' too many",
    "could not find expected ':'": "a ':' with a space behind it is missing",
    "found a tab character that violates indentation": "there is a tab in the indentation",
    "found character that cannot start any token": "there is a character that nothing begins with: a tab, '@', '`' or '%'",
    "did not find expected ',' or ']'": "a ',' or ']' is missing",
    "did not find expected ',' or '}'": "a ',' or '}' is missing",
    "found unexpected end of stream": "the quote that opens here is not closed",
}
_ENTRY = re.compile(rb"([ \t]*(?:- +)*)([A-Za-z_][A-Za-z_0-9]*)(?![A-Za-z_0-9])([ \t]*:?)(.*)")
_QUOTED = re.compile(rb"\"(?:[^\"\\]|\\.)*+(?:(\")|\\?\Z)|'[^']*+(?:(')|\Z)|(#).*")


def in_words(error: yaml.MarkedYAMLError) -> tuple[str, int]:
    """Say what a parser stumbled on, and at which character; of quotes without an end, where they begin."""
    mark = error.problem_mark or error.context_mark
    if error.context == "while scanning a quoted scalar" and error.context_mark is not None:
        mark = error.context_mark
    said = ", ".join(part for part in (error.context, error.problem) if part)
    plain = _WORDS.get(error.problem or "")
    return f"not YAML: {plain} ({said})" if plain else f"not YAML: {said}", mark.index if mark else 0


@dataclass(frozen=True)
class _Mend:
    """A text that was changed in one line, and what was wrong there."""

    data: bytes
    line: int
    column: int
    message: str


def read_on(
    data: bytes, error: FormatError, attempt: Attempt, keys: Collection[str], doubtful: Collection[str]
) -> tuple[Problem, ...]:
    """Say why a text is no YAML, each time that it is none, and what else is wrong with it.

    Parameters
    ----------
    data:
        The text, in UTF-8.
    error:
        Says why it is no YAML: a parser stops at the faulty line, or somewhere behind it.
    attempt:
        Tries to read a text.
    keys:
        Those that the format knows: a line that begins with one of them, and no colon, lacks it.
    doubtful:
        The rules of what may only be missing because a line was taken out: they are not spoken of then.
    """
    said, left = list(error.problems), EFFORT
    lost = False
    for _ in range(MOST):
        line = said[-1].location.line
        if line is None:
            break
        ways = list(islice(_mends(data, line, keys), TRIALS))
        left -= len(data) * (len(ways) + 2)
        if left < 0:
            if ways and ways[0].message.startswith("':'"):
                said[-1] = _as(said[-1], ways[0])
            break
        best, found = _best(ways, attempt, line)
        if best is not None:
            said[-1] = _as(said[-1], best)
        else:
            best, found = _best(list(_blanked(data, line)), attempt, line)
            if best is None:
                break
            lost = True
            said[-1] = replace(said[-1], hint=best.message)
        if not isinstance(found, FormatError):
            return (*said, *(problem for problem in found or () if not lost or problem.rule not in doubtful))
        said.append(found.problem)
        data = best.data
    return tuple(said)


def _as(problem: Problem, mend: _Mend) -> Problem:
    place = replace(problem.location, line=mend.line, column=mend.column)
    return replace(problem, message=mend.message, location=place, hint="")


def _best(
    ways: list[_Mend], attempt: Attempt, line: int
) -> tuple[_Mend | None, tuple[Problem, ...] | FormatError | None]:
    """Return the way with which a parser comes furthest, beyond `line`; of those to the end, that with the fewest errors, or the first."""
    best, reached = None, (float(line), 0)
    said: tuple[Problem, ...] | FormatError | None = None
    for way in ways:
        found = attempt(way.data)
        if isinstance(found, FormatError):
            worth = float(found.problem.location.line or 0), 0
        else:
            worth = float("inf"), -sum(problem.severity == "error" for problem in found)
        if worth[0] > line and (best is None or worth > reached):
            best, reached, said = way, worth, found
    return best, said


def _mends(data: bytes, line: int, keys: Collection[str]) -> Iterator[_Mend]:
    """Return the text with what is likely meant in place of what stands in a line, or one before it."""
    lines = data.split(b"\n")

    def changed(number: int, column: int, text: bytes, message: str) -> _Mend:
        return _Mend(b"\n".join([*lines[: number - 1], text, *lines[number:]]), number, column, message)

    last = min(line, len(lines))
    for number in range(last, 0, -1):
        text = lines[number - 1]
        entry = _ENTRY.match(text)
        if entry is None:
            continue
        lead, key, colon, rest = entry.groups()
        name = key.decode("ascii")
        if name in keys and not colon.strip():
            after = rest.strip()
            message = f"':' is missing after {name!r}"
            yield changed(number, len(lead) + len(key) + 1, lead + key + b": " + after, message)
        elif name in keys and rest[:1].strip() and not rest.startswith((b"\r", b"/", b":")):
            message = f"a space is missing after '{name}:'"
            yield changed(number, len(lead) + len(key) + 2, lead + key + b": " + rest, message)
    for number in range(last, 0, -1):
        text = lines[number - 1].rstrip(b"\r")
        if b'"' not in text and b"'" not in text:
            continue
        bare = _bare(text)
        for quote in (b'"', b"'"):
            at = bare.find(quote)
            if at >= 0 and (at == 0 or bare[at - 1 : at].strip() in (b"", b"[", b"{", b",")):
                message = f"the quote {quote.decode()} that opens here is not closed"
                yield changed(number, at + 1, text + quote, message)
                stop = re.search(rb"[,\]}]", text[at:])
                if stop is not None:
                    end = at + stop.start()
                    yield changed(number, at + 1, text[:end] + quote + text[end:], message)
    for number in range(last, max(last - NEAR, 0), -1):
        text = lines[number - 1].rstrip(b"\r")
        bare = _bare(text)
        indent = len(text) - len(text.lstrip(b" \t"))
        if b"\t" in text[:indent]:
            for width in (2, 4, 8):
                mended = text[:indent].replace(b"\t", b" " * width) + text[indent:]
                yield changed(number, text.index(b"\t") + 1, mended, "there is a tab in the indentation: use spaces")
        for opening, closing in ((b"[", b"]"), (b"{", b"}")):
            more = bare.count(opening) - bare.count(closing)
            if more == 1:
                place = bare.rfind(opening) + 1
                message = f"the {opening.decode()} that opens here is not closed"
                yield changed(number, place, text + b" " + closing, message)
                yield changed(number, place, text[: place - 1] + text[place:], message)
            elif more == -1:
                place = bare.rfind(closing)
                message = f"there is one {closing.decode()} too many"
                yield changed(number, place + 1, text[:place] + text[place + 1 :], message)


def _bare(line: bytes) -> bytes:
    """Return a line with blanks in place of quoted texts and comments; of quotes that are not closed, the one that opens stays."""
    return _QUOTED.sub(lambda found: (b" " if found.lastindex else found[0][:1]) + b" " * (len(found[0]) - 1), line)


def _blanked(data: bytes, line: int) -> Iterator[_Mend]:
    """Return a text with blanks in place of a line, and in place of the one before that is not blank."""
    lines = data.split(b"\n")
    for number in (line, line - 1, line - 2):
        if 1 <= number <= len(lines) and lines[number - 1].strip():
            blank = b" " * len(lines[number - 1].rstrip(b"\r"))
            hint = f"line {number} is the one that does not fit: compare its indentation, ':', quotes and brackets with its neighbours"
            yield _Mend(b"\n".join([*lines[: number - 1], blank, *lines[number:]]), number, 1, hint)
            if number < line:
                return
