"""Messages about files, on stderr: ``path:line:column: RULE message``, then the line itself with a caret under the place, and a hint."""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Set
from itertools import islice
from pathlib import Path

from bodymotion.cli.text import one_line, width
from bodymotion.diagnostics import Location, Problem
from bodymotion.system.open_files import pipe_seen

__all__ = ["excerpt_of", "headline", "lines_of", "say", "show_problem"]

READABLE = 256 << 20
"""In a larger file the line is not looked for."""
BEFORE, AFTER = 60, 40
"""How much of a line is shown on either side of the place."""


def say(text: str) -> None:
    """Print a line on stderr."""
    print(text, file=sys.stderr, flush=True)


def headline(problem: Problem) -> str:
    """Return ``path:line:column: RULE message (path inside the document)`` on one line, safe to print."""
    place = str(problem.location)
    inside = problem.location.inside
    tail = f" ({inside})" if inside and inside != place else ""
    return one_line(f"{place}{': ' if place else ''}{problem.rule} {problem.message}{tail}")


def show_problem(problem: Problem) -> None:
    """Print a problem on stderr with the line that it is about."""
    say(headline(problem))
    for line in _excerpt(problem.location):
        say(line)
    if problem.hint:
        say(f"  hint: {one_line(problem.hint)}")


def _excerpt(location: Location) -> list[str]:
    if location.path is None or location.line is None:
        return []
    text = lines_of(location.path, {location.line}).get(location.line)
    return [] if text is None else excerpt_of(location, text)


def excerpt_of(location: Location, text: str) -> list[str]:
    """Return the line that is at a place, cut to what is near it, and a caret under the column."""
    number = str(location.line)
    column = None if location.column is None else min(location.column - 1, len(text))
    start = max(0, (column or 0) - BEFORE)
    end = max(start, column or 0) + AFTER
    before = "…" if start else ""
    shown = before + one_line(text[start:end]) + ("…" if end < len(text) else "")
    lines = [f"  {number} | {shown}"]
    if column is not None and column >= 0:
        lines.append(f"  {' ' * len(number)} | {' ' * width(before + one_line(text[start:column]))}^")
    return lines


def lines_of(name: str, numbers: Set[int]) -> dict[int, str]:
    """Return the lines of a file that have these numbers, counted from 1; those that cannot be had are left out."""
    last = max(numbers, default=0)
    try:
        path = Path(name)
        about = path.stat()
        content = pipe_seen(path)
        if content is None and (not stat.S_ISREG(about.st_mode) or about.st_size > READABLE):
            return {}
        with path.open("rb") if content is None else io.BytesIO(content) as file:
            return {
                number: _decoded(raw.rstrip(b"\r\n")).replace("\t", " ")
                for number, raw in enumerate(islice(file, last), 1)
                if number in numbers
            }
    except (OSError, ValueError):
        return {}


def _decoded(raw: bytes) -> str:
    for encoding in ("utf-8", "cp932"):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        # Letters with accents of Latin-1 are, to cp932, the first halves of characters that nobody has defined.
        if not any("\ue000" <= letter <= "\uf8ff" for letter in text):
            return text
    return raw.decode("latin-1")
