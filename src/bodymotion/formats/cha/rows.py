"""The keyframes: lines of numbers, read in bulk where there are many, and one by one where there is anything odd about them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

import numpy as np
import numpy.typing as npt

from bodymotion.formats.cha import rules
from bodymotion.formats.cha.findings import Findings, Place
from bodymotion.formats.cha.text import Line, line_at
from bodymotion.formats.text.number_slips import number_slip
from bodymotion.geometry.arrays import Floats

__all__ = ["MANY", "NUMBER", "OddLines", "Rows", "common_width", "read_rows"]

NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?", re.ASCII)
"""A decimal number."""
_NOT_FINITE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.IGNORECASE)
_LINE = re.compile(rb"(?:[ \t]*+[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?(?![^ \t]))*+[ \t]*+")

MANY = 1 << 20
"""From so many bytes on compiled code reads the table; to load the compiler takes longer than to read less than that."""

MOST_FAULTS = 10_000
"""After so many wrong lines the others are not looked at."""


MOST_COMMENTS = 50_000
_COMMENT = re.compile(rb"[ \t]*+(?:#|//)")
_RUNS = re.compile(rb"(?P<blank>(?:[ \t]*+\n)++)|(?P<comment>(?:[ \t]*+(?:#|//)[^\n]*+(?:\n|\Z))++)|[^\n]*+\n?")


@dataclass
class Rows:
    """The keyframes of a file: `values` (N, W), which of them are the bare text 0, and where each line begins."""

    data: bytes
    values: Floats
    zeros: npt.NDArray[np.bool_]
    begins: npt.NDArray[np.int64]
    comments: list[tuple[int, str, bool]] = field(default_factory=list)
    """Comments: the row that they stand before (or in, where the last is True), and the text."""
    left_out: int = 0
    """How many lines are no keyframes, because of faults that were said."""
    begins_late: bool = False
    """Whether one of them stands before the first keyframe."""
    each: int = 0
    """How many values each line has, where that is not how many columns there are; then no line is a keyframe."""

    def place(self, row: int, column: int = 0) -> Place:
        """Say where a value stands."""
        begin = int(self.begins[row])
        words = line_at(self.data, begin, int(np.searchsorted(self._line_ends, begin)) + 1)[0].words
        return words[min(column, len(words) - 1)].place

    @cached_property
    def _line_ends(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n"))


def common_width(data: bytes, start: int, width: int) -> int:
    """Say how many numbers each line from byte `start` on has, where it is one count for all of two or more, and not `width`; else 0.

    Looks at no more than the first `MOST_FAULTS` lines: after so many wrong ones none is read.
    """
    begin = start
    found = count = 0
    while begin < len(data) and count < MOST_FAULTS:
        line, begin = line_at(data, begin, 1)
        if not line.words:
            continue
        if line.too_long or len(line.words) == width or (found and len(line.words) != found):
            return 0
        if not all(NUMBER.fullmatch(word.text) or _NOT_FINITE.fullmatch(word.text) for word in line.words):
            return 0
        found, count = len(line.words), count + 1
    return found if count > 1 else 0


def read_rows(data: bytes, start: int, width: int, names: tuple[str, ...], findings: Findings) -> Rows:
    """Read keyframes from byte `start` to the end.

    Parameters
    ----------
    data:
        The text, in UTF-8 with line feeds.
    width, names:
        How many values a keyframe has, and what they are, for messages.
    findings:
        Gets what is odd: lines of another length, words that are no numbers, and keyframes after a blank line.
    """
    lines = OddLines(data, width, names, findings)
    if len(data) - start >= MANY and width:
        from bodymotion.formats.cha.bulk import read_bulk

        return read_bulk(data, start, width, lines)
    values: list[list[float]] = []
    zeros: list[list[bool]] = []
    begins: list[int] = []
    number = data.count(b"\n", 0, start) + 1
    begin, blank = start, False
    while begin < len(data):
        end = data.find(b"\n", begin)
        end = len(data) if end < 0 else end
        raw = data[begin:end]
        words = raw.split()
        if words and len(words) == width and _LINE.fullmatch(raw):
            row = [float(word) for word in words]
            bare = [word == b"0" for word in words]
        else:
            found = None if lines.is_passed_over(begin) else lines.read(begin, number, len(values))
            if lines.given_up:
                break
            if found is None:
                blank = blank or lines.was_blank
                begin, number = end + 1, number + 1
                continue
            row, bare = found
        if blank:
            lines.after_blank(begin, number)
            blank = False
        values.append(row)
        zeros.append(bare)
        begins.append(begin)
        begin, number = end + 1, number + 1
    lines.after_all(begins[-1] if begins else start)
    return Rows(
        data,
        np.array(values, np.float64).reshape(len(values), width),
        np.array(zeros, np.bool_).reshape(len(values), width),
        np.array(begins, np.int64),
        lines.comments,
        lines.left_out,
        lines.begins_late,
    )


class OddLines:
    """Reads lines one by one, and says what is wrong with them."""

    def __init__(self, data: bytes, width: int, names: tuple[str, ...], findings: Findings) -> None:
        self.data, self.width, self.names, self.findings = data, width, names, findings
        self.comments: list[tuple[int, str, bool]] = []
        self.was_blank = self.given_up = self.begins_late = False
        self.left_out = 0
        self._faults = 0

    @property
    def is_full(self) -> bool:
        """Whether there are so many comments that further ones are not kept."""
        return len(self.comments) >= MOST_COMMENTS

    def is_passed_over(self, begin: int) -> bool:
        """Whether a line is only a comment that is not kept."""
        return self.is_full and _COMMENT.match(self.data, begin) is not None

    def after_blank(self, begin: int, number: int) -> None:
        """Say that the keyframe in line `number`, at byte `begin`, follows a blank line: at the first such line before it."""
        blank = number
        while begin > 0 and not self.findings.full(rules.SECTIONS):
            before = self.data.rfind(b"\n", 0, begin - 1) + 1
            is_blank = not self.data[before : begin - 1].strip(b" \t")
            if not is_blank and not _COMMENT.match(self.data, before):
                break
            begin, number = before, number - 1
            blank = number if is_blank else blank
        self.findings.add(rules.SECTIONS, "a blank line stands among the keyframes", Place(blank, 1))

    def after_all(self, begin: int) -> None:
        """Say where, after the last keyframe, which begins at byte `begin`, comments stand apart."""
        after_blank = False
        apart: int | None = None
        for run in _RUNS.finditer(self.data, begin):
            if run.start() == run.end():
                break
            if run["blank"]:
                if apart is not None:
                    break
                after_blank = True
            elif run["comment"]:
                apart = run.start() if after_blank else None
            elif run.group().strip():
                after_blank, apart = False, None
        if apart is not None:
            place = line_at(self.data, apart, self.data.count(b"\n", 0, apart) + 1)[0].place
            self.findings.add(rules.COMMENT_SECTION, "a section of comments only", place)

    def read(self, begin: int, number: int, row: int) -> tuple[list[float], list[bool]] | None:
        """Read a line that would be row `row`; None where it has not all values. Those beyond are passed over."""
        line = line_at(self.data, begin, number)[0]
        odd = line.look_for_odd_characters(self.findings)
        if line.too_long:
            self._fault(number)
            self._leave_out(row)
            return None
        self.was_blank = not line.comment and not line.text.strip(" \t")
        if line.comment and not self.is_full:
            self.comments.append((row, line.comment, bool(line.words)))
        if not line.words:
            return None
        values = [self._value(k, word.text, word.place) for k, word in enumerate(line.words[: self.width])]
        if not self._has_width(line) or odd or not all(value is not None and isfinite(value) for value in values):
            self._fault(number)
        found = [value for value in values if value is not None]
        if len(found) < self.width:
            if line.comment and self.comments:
                self.comments[-1] = (*self.comments[-1][:2], False)
            self._leave_out(row)
            return None
        return found, [word.text == "0" for word in line.words[: self.width]]

    def _leave_out(self, row: int) -> None:
        self.left_out += 1
        self.begins_late = self.begins_late or row == 0

    def _fault(self, number: int) -> None:
        self._faults += 1
        if self._faults > MOST_FAULTS and not self.given_up:
            said = f"more than {MOST_FAULTS} keyframes are wrong; what follows was not looked at"
            self.findings.add(rules.GIVEN_UP, said, Place(number, 1))
            self.given_up = True

    def _value(self, k: int, word: str, place: Place) -> float | None:
        if NUMBER.fullmatch(word) or _NOT_FINITE.fullmatch(word):
            return float(word)
        slip = number_slip(word)
        said = f"{word[:40]!r}, the value of {self.names[k]}, is no number{f': {slip}' if slip else ''}"
        self.findings.add(rules.NUMBER, said, place)
        return None

    def _has_width(self, line: Line) -> bool:
        count = len(line.words)
        if count == self.width:
            return True
        said = f"{count} value{'s' * (count != 1)}, where the columns take {self.width}"
        if count > self.width:
            self.findings.add(rules.ROW_LONG, said, line.words[self.width].place)
        else:
            self.findings.add(rules.ROW_SHORT, f"{said}; the first without a value is {self.names[count]}", line.end)
        return False
