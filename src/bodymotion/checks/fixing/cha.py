"""What has one right answer in a Spot animation: the byte order mark, blank lines, odd blanks, a missing section, quaternions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bodymotion.animation import GROUPS
from bodymotion.checks.fixing.edits import Edit, Lines
from bodymotion.checks.fixing.numbers import unit_texts
from bodymotion.checks.line_ends import most_common_end
from bodymotion.diagnostics import Problem
from bodymotion.formats.cha import examine, rules
from bodymotion.formats.cha.columns import read_header
from bodymotion.formats.cha.findings import Findings
from bodymotion.formats.cha.keyframes import NO_LENGTH, UNIT
from bodymotion.formats.cha.rows import NUMBER
from bodymotion.formats.cha.sections import split
from bodymotion.formats.cha.text import COMMENT, LONGEST, read_text

__all__ = ["edits_of"]

_BOM = b"\xef\xbb\xbf"
_ODD_BLANK = re.compile(r"[^\S \t\r\n]")
_WORD = re.compile(r"\S+")


def edits_of(data: bytes, path: Path) -> tuple[Edit, ...]:
    """Give what is to be changed; nothing in a text that is not in UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return ()
    problems = examine(data, path)[1]
    lines = Lines(data, any_end=True)
    return tuple(_edits(data, lines, problems))


def _edits(data: bytes, lines: Lines, problems: tuple[Problem, ...]) -> Iterator[Edit]:
    codes = {problem.rule for problem in problems}
    if rules.BOM.code in codes and data.startswith(_BOM):
        count = next(k for k in range(1, len(data) + 1) if not data.startswith(_BOM, k * len(_BOM)))
        yield Edit(0, count * len(_BOM), b"", rules.BOM.code)
    if rules.LEADING_BLANK.code in codes:
        stop = next((k for k in range(1, len(lines.starts) + 1) if not _is_blank(lines, k)), 1)
        if not data.startswith(_BOM, lines.starts[stop - 1]):
            yield Edit(lines.starts[0], lines.starts[stop - 1], b"", rules.LEADING_BLANK.code)
    for problem in problems:
        number = problem.location.line
        if number is None:
            continue
        if problem.rule == rules.BLANK_LINES.code:
            first = number
            while first > 1 and _is_blank(lines, first - 1):
                first -= 1
            if first < number and _is_blank(lines, number):
                yield Edit(lines.span(first)[1], lines.span(number)[1], b"", rules.BLANK_LINES.code)
        elif problem.rule == rules.PARAMETERS_MISSING.code and number > 1 and _is_blank(lines, number - 1):
            start = lines.span(number)[0]
            yield Edit(start, start, b"no parameters" + 2 * most_common_end(data), rules.PARAMETERS_MISSING.code)
    if rules.BLANKS.code in codes:
        yield from _blanks(lines)
    if rules.QUATERNION_UNIT.code in codes:
        yield from _quaternions(data, lines)


def _is_blank(lines: Lines, number: int) -> bool:
    return not lines.text(number).decode("utf-8", "replace").strip()


def _blanks(lines: Lines) -> Iterator[Edit]:
    """Write blanks for the characters that only look like some, outside of comments."""
    for number in range(1, len(lines.starts) + 1):
        raw = lines.text(number)
        if raw.isascii() and not any(code in raw for code in (11, 12, 28, 29, 30, 31)):
            continue
        text = raw.decode("utf-8", "replace")
        comment = COMMENT.search(text)
        for found in _ODD_BLANK.finditer(text, 0, len(text) if comment is None else comment.start()):
            at = lines.offset(number, found.start() + 1)
            yield Edit(at, at + len(found[0].encode()), b" ", rules.BLANKS.code)


def _quaternions(data: bytes, lines: Lines) -> Iterator[Edit]:
    sections = split(read_text(data, Findings()).data, Findings())
    if sections.header is None:
        return
    names = read_header(sections.header, Findings()).values
    groups = [
        [names.index(column) for column in GROUPS[f"{part}_quat_wxyz"]]
        for part in ("body", "hand")
        if all(column in names for column in GROUPS[f"{part}_quat_wxyz"])
    ]
    for number in range(sections.header.number + 1, len(lines.starts) + 1):
        raw = lines.text(number)
        if len(raw) > LONGEST:
            continue
        text = raw.decode("utf-8", "replace")
        comment = COMMENT.search(text)
        words = list(_WORD.finditer(text, 0, len(text) if comment is None else comment.start()))
        if len(words) != len(names) or not all(NUMBER.fullmatch(word[0]) for word in words):
            continue
        for group in groups:
            values = [float(words[k][0]) for k in group]
            length = float(np.sqrt(np.sum(np.square(values))))
            if not 4 * NO_LENGTH < length < np.inf or abs(length - 1) <= UNIT:
                continue
            texts = unit_texts([words[k][0] for k in group], values)
            for k, new in zip(group, texts or (), strict=bool(texts)):
                if new != words[k][0]:
                    at = lines.offset(number, words[k].start() + 1)
                    yield Edit(at, at + len(words[k][0]), new.encode(), rules.QUATERNION_UNIT.code)
