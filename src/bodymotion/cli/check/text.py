"""What a check has found, as text like a compiler's: place, severity, rule, message, the line with a caret, the hint."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bodymotion.cli.text import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from bodymotion.diagnostics import Problem

__all__ = ["counted", "summary", "text_of"]

MOST = 20
"""So many problems of one rule are shown of a file; the others are counted."""

COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}


def text_of(problems: Sequence[Problem], color: bool = False) -> str:
    """Return the text of a file's problems."""
    shown: list[Problem] = []
    count: Counter[str] = Counter()
    for problem in problems:
        count[problem.rule] += 1
        if count[problem.rule] <= MOST:
            shown.append(problem)
    lines = _lines_of(shown)
    text = "".join(_one(problem, lines, color) for problem in shown)
    for rule, total in count.items():
        if total > MOST:
            text += f"and {total - MOST} more of {rule}; --json lists all\n"
    return text


def _one(problem: Problem, lines: dict[tuple[str, int], str], color: bool) -> str:
    from bodymotion.cli.messages import excerpt_of

    at = problem.location
    place = str(at)
    inside = f" ({at.inside})" if at.inside and at.inside != place else ""
    head = one_line(f"{place}{': ' if place else ''}")
    kind: str = problem.severity
    if color:
        import typer

        head, kind = typer.style(head, bold=True), typer.style(kind, fg=COLORS[kind], bold=True)
    text = f"{head}{kind} {problem.rule} {one_line(problem.message + inside)}\n"
    line = lines.get((at.path or "", at.line or 0))
    if line is not None:
        text += "".join(f"{part}\n" for part in excerpt_of(at, line))
    if problem.hint:
        text += f"  hint: {one_line(problem.hint)}\n"
    return text


def _lines_of(problems: Iterable[Problem]) -> dict[tuple[str, int], str]:
    """Get the lines that problems are about; each file is gone through once."""
    from bodymotion.cli.messages import lines_of

    wanted: defaultdict[str, set[int]] = defaultdict(set)
    for problem in problems:
        if problem.location.path is not None and problem.location.line is not None:
            wanted[problem.location.path].add(problem.location.line)
    return {
        (path, number): line for path, numbers in wanted.items() for number, line in lines_of(path, numbers).items()
    }


def counted(problems: Iterable[Problem]) -> dict[str, int]:
    """Count the problems of each severity."""
    count = Counter(problem.severity for problem in problems)
    return {"error": count["error"], "warning": count["warning"], "note": count["note"]}


def summary(found: Sequence[tuple[Path, tuple[Problem, ...]]]) -> str:
    """Say in a line what there is in all files together."""
    count = counted(problem for _, problems in found for problem in problems)
    files = "1 file" if len(found) == 1 else f"{len(found)} files"
    said = ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in count.items() if n)
    bad = sum(any(p.severity == "error" for p in problems) for _, problems in found)
    with_errors = f", errors in {bad} of them" if bad and len(found) > 1 else ""
    return f"{files} checked: {said or 'nothing to be said'}{with_errors}\n"
