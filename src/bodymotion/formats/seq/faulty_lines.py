"""A text that is no YAML, without the lines that make it none: to see what else is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from bodymotion.diagnostics import FormatError, Problem
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.source_bytes import ByteSource

__all__ = ["without_faulty_lines"]

EFFORT = 6 << 20
"""So many bytes are parsed in all: each try may be a YAML parse of the whole."""
MOST = 10
"""So many lines are taken out."""

_DOUBTFUL = {
    rule.code
    for rule in (
        rules.NOT_A_MOTION,
        rules.COMPONENT_TYPE,
        rules.FRAME_RATE_MISSING,
        rules.VERSION_MISSING,
        rules.TOP_TYPE,
        rules.TOP_CONTENT,
        rules.NO_COMPONENTS,
        rules.CONTENT_MISSING,
        rules.NUM_PARTS_MISSING,
        rules.NUM_FRAMES,
        rules.SE3_FORMAT_MISSING,
        rules.FRAMES_MISSING,
        rules.LENGTHS,
    )
}
"""What is missing may have stood in a line that was taken out."""

Attempt = Callable[[ByteSource], "tuple[Problem, ...] | FormatError"]
"""Gives all problems of a text, or the error that says why it is no YAML."""


@dataclass(frozen=True)
class _Trial:
    data: bytes
    line: int
    found: tuple[Problem, ...] | FormatError

    @property
    def worth(self) -> tuple[float, int]:
        """How far a parser comes, and if to the end, how little is wrong then."""
        if isinstance(self.found, FormatError):
            return float(self.found.problem.location.line or 0), 0
        return float("inf"), -sum(problem.severity == "error" for problem in self.found)


def without_faulty_lines(source: ByteSource, error: FormatError, attempt: Attempt) -> tuple[Problem, ...]:
    """Say why a text is no YAML, each time that it is none, and what else is wrong with it.

    A parser stops at the faulty line or at the one after it: the one is taken out with which it comes further. What may be missing only
    because of that is not spoken of.
    """
    said = list(error.problems)
    if source.encoding not in ("utf-8", "utf-8-sig"):
        return tuple(said)
    data, line = source.read(0, source.size), error.problem.location.line
    left = EFFORT
    for _ in range(MOST):
        left -= 3 * source.size
        if line is None or left < 0:
            break
        trials = [
            _Trial(trial, number, attempt(ByteSource(None, trial, source.path)))
            for trial, number in _shorter(data, line)
        ]
        best = max(trials, key=lambda trial: trial.worth, default=None)
        if best is None or best.worth[0] <= line:
            break
        hint = f"without line {best.line} the text could be read on"
        said[-1] = replace(said[-1], hint=hint)
        if not isinstance(best.found, FormatError):
            return (*said, *(problem for problem in best.found if problem.rule not in _DOUBTFUL))
        said.append(best.found.problem)
        data, line = best.data, best.found.problem.location.line
    return tuple(said)


def _shorter(data: bytes, line: int) -> Iterator[tuple[bytes, int]]:
    """Give a text with blanks in place of a line, and in place of the one before that is not blank."""
    lines = data.split(b"\n")
    for number in (line, line - 1, line - 2):
        if 1 <= number <= len(lines) and lines[number - 1].strip():
            blank = b" " * len(lines[number - 1].rstrip(b"\r"))
            yield b"\n".join([*lines[: number - 1], blank, *lines[number:]]), number
        if number < line and 1 <= number <= len(lines) and lines[number - 1].strip():
            return
