"""Problems as people read them: ``path:line:column: RULE ×count message``, the line with a caret below the column, a hint.

Problems of one rule in one file are one entry: the first in full, then the locations of the next ones.
"""

import io
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from itertools import islice
from pathlib import Path

from bodymotion.cli.output import one_line, say
from bodymotion.diagnostics import Group, Location, Problem, grouped
from bodymotion.system.open_files import pipe_seen

MAX_FILE = 256 << 20  # [bytes] Lines of larger files are not shown.
BEFORE, AFTER = 60, 40  # Characters of a line that are shown before and after the location.
MAX_FURTHER = 5  # Locations that are listed after the first of one rule.
COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}


def show_problems(problems: Sequence[Problem], every: bool = False) -> None:
    """Print problems on stderr, grouped by rule, or with `every` one by one."""
    if problems:
        say(text_of(problems, severity=False, every=every).removesuffix("\n"))


def text_of(problems: Sequence[Problem], *, severity: bool = True, color: bool = False, every: bool = False) -> str:
    """Return the text of problems, grouped by rule, or with `every` one by one; notes, or all, with their severity."""
    groups = [group for problem in problems for group in grouped([problem])] if every else grouped(problems)
    lines = _lines_of(group.problems[0].location for group in groups)
    return "".join(f"{line}\n" for group in groups for line in _entry(group, lines, severity, color))


def _entry(group: Group, lines: dict[tuple[str, int], str], severity: bool, color: bool) -> list[str]:
    problem = group.problems[0]
    at = problem.location
    head, inside = str(at), at.inside
    inside = f" ({inside})" if inside and inside != head else ""
    head = one_line(f"{head}: ") if head else ""
    kind: str = f"{problem.severity} " if severity or problem.severity == "note" else ""
    if color:
        import click

        head, kind = click.style(head, bold=True), click.style(kind, fg=COLORS[problem.severity], bold=True)
    entry = [f"{head}{kind}{group.title} {one_line(problem.message + inside)}"]
    if (at.path or "", at.line or 0) in lines:
        entry += excerpt_of(at, lines[at.path or "", at.line or 0])
    entry += _further(group)
    if problem.hint:
        entry.append(f"  hint: {one_line(problem.hint)}")
    return entry


def _further(group: Group) -> list[str]:
    """Return lines with the next locations of a rule; with the next messages where the file has one location for all."""
    if group.count == 1 or "missing" in group.problems[0].data:
        return []
    first, *others = group.locations(1 + MAX_FURTHER)
    if others:
        also = [_short(location, first.path) for location in others]
        left = group.count - 1 - len(also)
        return [one_line(f"  also at {', '.join(also)}{f' and {left} more' if left > 0 else ''}")]
    messages = list(dict.fromkeys(problem.message for problem in group.problems))[1 : 1 + MAX_FURTHER]
    left = group.count - 1 - len(messages)
    return [*(one_line(f"  also: {message}") for message in messages), *([f"  and {left} more"] if left > 0 else [])]


def _short(location: Location, path: str | None) -> str:
    if location.path != path:
        beside = path and location.path and os.path.relpath(location.path, Path(path).parent)
        return str(location if not beside or beside.startswith("..") else replace(location, path=beside))
    return ":".join(str(n) for n in (location.line, location.column) if n is not None) or location.inside or "the file"


def excerpt_of(location: Location, text: str) -> list[str]:
    """Return the line of a location, cut to what is near the column, and a caret below it."""
    from rich.cells import cell_len

    number = str(location.line)
    column = None if location.column is None else min(location.column - 1, len(text))
    start = max(0, (column or 0) - BEFORE)
    end = max(start, column or 0) + AFTER
    before = "…" if start else ""
    lines = [f"  {number} | {before}{one_line(text[start:end])}{'…' if end < len(text) else ''}"]
    if column is not None and column >= 0:
        lines.append(f"  {' ' * len(number)} | {' ' * cell_len(before + one_line(text[start:column]))}^")
    return lines


def _lines_of(locations: Iterable[Location]) -> dict[tuple[str, int], str]:
    """Return the lines of locations by path and number; each file is read once."""
    wanted: defaultdict[str, set[int]] = defaultdict(set)
    for location in locations:
        if location.path is not None and location.line is not None:
            wanted[location.path].add(location.line)
    return {
        (path, number): line for path, numbers in wanted.items() for number, line in lines_of(path, numbers).items()
    }


def lines_of(name: str, numbers: Set[int]) -> dict[int, str]:
    """Return the lines of a file with these numbers, counted from 1; those that cannot be read are left out."""
    try:
        path = Path(name)
        about = path.stat()
        content = pipe_seen(path)
        if content is None and (not stat.S_ISREG(about.st_mode) or about.st_size > MAX_FILE):
            return {}
        with path.open("rb") if content is None else io.BytesIO(content) as file:
            return {
                number: _decoded(raw.rstrip(b"\r\n")).replace("\t", " ")
                for number, raw in enumerate(islice(file, max(numbers, default=0)), 1)
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
        # cp932 reads accented letters of Latin-1 as first halves of characters in the private use area.
        if not any("\ue000" <= letter <= "\uf8ff" for letter in text):
            return text
    return raw.decode("latin-1")
