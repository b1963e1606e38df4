"""Fixes of a Spot animation.

The byte order mark, blank lines, irregular blanks, a missing section, quaternions.

A comment between blank lines belongs to the section above it or to the one below. It
can belong to only one section above the options and below the last keyframe.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bodymotion.checks.checking import most_common_end
from bodymotion.checks.fixing.edits import Edit, Lines, unit_texts
from bodymotion.diagnostics import Diagnostics, Problem, Rule
from bodymotion.motion.rules import MAX_LENGTH_ERROR, MOTION_QUATERNION, ROUNDING
from bodymotion.spot.animation import GROUPS
from bodymotion.spot.cha import parse_cha, rules
from bodymotion.spot.cha.head import read_header
from bodymotion.spot.cha.rows import COMMENT, MAX_LINE_BYTES, NUMBER, read_text
from bodymotion.spot.cha.sections import split

_BOM = b"\xef\xbb\xbf"
_IRREGULAR_BLANK = re.compile(r"[^\S \t\r\n]")
# Characters of ASCII that `_IRREGULAR_BLANK` matches: a line without them is fine.
_ASCII_IRREGULAR_BLANKS = (11, 12, 28, 29, 30, 31)
_WORD = re.compile(r"\S+")


def edits_of(data: bytes, path: Path) -> Iterator[Edit]:
    """Yield the edits; none for a text that is not UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return
    problems = parse_cha(data, path).problems
    yield from _Fixing(data, problems).edits()


class _Fixing:
    """The edits of one text for its problems."""

    def __init__(self, data: bytes, problems: Sequence[Problem]) -> None:
        self.data = data
        self.lines = Lines(data, any_end=True)
        self.problems = problems
        self.codes = {problem.rule for problem in problems}
        self.line_end = most_common_end(data)

    def edits(self) -> Iterator[Edit]:
        """Yield the edits of all rules that are broken."""
        yield from self._byte_order_marks()
        yield from self._leading_blank_lines()
        yield from self._comments_alone()
        for number in self._lines_with(rules.BLANK_LINES):
            yield from self._repeated_blank_lines(number)
        for number in self._lines_with(rules.BLANK_MISSING):
            start, _ = self.lines.span(number)
            yield Edit(start, start, self.line_end, rules.BLANK_MISSING.code)
        for number in self._lines_with(rules.PARAMETERS_MISSING):
            yield from self._missing_parameters(number)
        if rules.BLANKS.code in self.codes:
            yield from self._irregular_blanks()
        if MOTION_QUATERNION.code in self.codes:
            yield from self._quaternions()

    def _lines_with(self, rule: Rule) -> list[int]:
        """Return the lines in which a rule is broken."""
        return [
            problem.location.line
            for problem in self.problems
            if problem.rule == rule.code and problem.location.line is not None
        ]

    def _byte_order_marks(self) -> Iterator[Edit]:
        """Remove all byte order marks at the start."""
        size = 0
        while self.data.startswith(_BOM, size):
            size += len(_BOM)
        if size and rules.BOM.code in self.codes:
            yield Edit(0, size, b"", rules.BOM.code)

    def _leading_blank_lines(self) -> Iterator[Edit]:
        """Remove the blank lines before the options."""
        if rules.LEADING_BLANK.code not in self.codes:
            return
        starts = self.lines.starts
        first = 1
        while first < len(starts) and self._is_blank(first):
            first += 1
        # A mark behind them would become one at the start.
        if not self.data.startswith(_BOM, starts[first - 1]):
            yield Edit(starts[0], starts[first - 1], b"", rules.LEADING_BLANK.code)

    def _comments_alone(self) -> Iterator[Edit]:
        """Join sections of comments only to the options or to the keyframes."""
        alone = self._lines_with(rules.COMMENT_SECTION)
        has_all = not self.codes & {
            rules.OPTIONS_MISSING.code,
            rules.BODY_MISSING.code,
        }
        if not alone or not has_all:
            return
        first = 1
        last = len(self.lines.starts)
        while first < last and self._is_no_content(first):
            first += 1
        while last > first and self._is_no_content(last):
            last -= 1
        between: list[int] = []
        if min(alone) < first:
            comment = next(k for k in range(1, first) if self._is_comment(k))
            between += range(comment, first)
        if max(alone) > last:
            end = len(self.lines.starts)
            comment = next(k for k in range(end, last, -1) if self._is_comment(k))
            between += range(last + 1, comment)
        for number in between:
            if self._is_blank(number):
                span = self.lines.span(number)
                yield Edit(*span, b"", rules.COMMENT_SECTION.code)

    def _repeated_blank_lines(self, number: int) -> Iterator[Edit]:
        """Leave one of the blank lines that end at a line."""
        first = number
        while first > 1 and self._is_blank(first - 1):
            first -= 1
        if first < number and self._is_blank(number):
            start = self.lines.span(first)[1]
            stop = self.lines.span(number)[1]
            yield Edit(start, stop, b"", rules.BLANK_LINES.code)

    def _missing_parameters(self, number: int) -> Iterator[Edit]:
        """Add a section "no parameters" before the columns in a line."""
        if rules.BODY_MISSING.code in self.codes:
            return
        # A blank line is put before it by the edit for BLANK_MISSING.
        is_joined = number in self._lines_with(rules.BLANK_MISSING)
        first = number
        while first > 1 and not is_joined and self._is_comment(first - 1):
            first -= 1
        if first > 1 and (is_joined or self._is_blank(first - 1)):
            start, _ = self.lines.span(first)
            section = b"no parameters" + 2 * self.line_end
            yield Edit(start, start, section, rules.PARAMETERS_MISSING.code)

    def _irregular_blanks(self) -> Iterator[Edit]:
        """Replace characters that look like blanks by blanks, outside of comments."""
        for number in range(1, len(self.lines.starts) + 1):
            raw = self.lines.text(number)
            if raw.isascii() and not any(
                code in raw for code in _ASCII_IRREGULAR_BLANKS
            ):
                continue
            for blank in _IRREGULAR_BLANK.finditer(_content(raw)):
                start = self.lines.offset(number, blank.start() + 1)
                stop = start + len(blank[0].encode())
                yield Edit(start, stop, b" ", rules.BLANKS.code)

    def _quaternions(self) -> Iterator[Edit]:
        """Give quaternions that are rounded too coarsely the length 1."""
        text = read_text(self.data, Diagnostics()).data
        header = split(text, Diagnostics()).header
        if header is None:
            return
        names = read_header(header, Diagnostics()).values
        groups = []
        for part in ("body", "hand"):
            columns = GROUPS[f"{part}_quat_wxyz"]
            if set(columns) <= set(names):
                groups.append([names.index(column) for column in columns])
        for number in range(header.number + 1, len(self.lines.starts) + 1):
            raw = self.lines.text(number)
            if len(raw) > MAX_LINE_BYTES:
                continue
            words = list(_WORD.finditer(_content(raw)))
            is_row = all(NUMBER.fullmatch(word[0]) for word in words)
            if is_row and len(words) == len(names):
                for group in groups:
                    yield from self._unit_quaternion(number, [words[k] for k in group])

    def _unit_quaternion(
        self, number: int, words: list[re.Match[str]]
    ) -> Iterator[Edit]:
        """Change the numbers of a quaternion in a line so that its length is 1."""
        texts = [word[0] for word in words]
        values = list(map(float, texts))
        error = abs(float(np.sqrt(np.sum(np.square(values)))) - 1)
        # A shorter error is that of rounding, a larger one another fault.
        if not ROUNDING < error <= MAX_LENGTH_ERROR:
            return
        for k, text in unit_texts(texts, values):
            start = self.lines.offset(number, words[k].start() + 1)
            stop = start + len(texts[k])
            yield Edit(start, stop, text.encode(), MOTION_QUATERNION.code)

    def _is_no_content(self, number: int) -> bool:
        return self._is_blank(number) or self._is_comment(number)

    def _is_blank(self, number: int) -> bool:
        return not self.lines.text(number).decode("utf-8", "replace").strip()

    def _is_comment(self, number: int) -> bool:
        return (
            not self._is_blank(number) and not _content(self.lines.text(number)).strip()
        )


def _content(raw: bytes) -> str:
    """Return the text of a line without its comment."""
    return COMMENT.split(raw.decode("utf-8", "replace"), maxsplit=1)[0]
