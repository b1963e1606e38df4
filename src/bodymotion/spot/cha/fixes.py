"""Fixes of a Spot animation.

The byte order mark, blank lines, irregular blanks, a missing section, quaternions.

A comment between blank lines belongs to the section above it or to the one below. It
can belong to only one section above the options and below the last keyframe.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bodymotion.checks.checking import most_common_end
from bodymotion.checks.fixing.edits import Edit, Lines, unit_texts
from bodymotion.diagnostics import Diagnostics
from bodymotion.motion.rules import MAX_LENGTH_ERROR, MOTION_QUATERNION, ROUNDING
from bodymotion.spot.animation import GROUPS
from bodymotion.spot.cha import parse_cha, rules
from bodymotion.spot.cha.head import read_header
from bodymotion.spot.cha.reader import split
from bodymotion.spot.cha.rows import COMMENT, MAX_LINE_BYTES, NUMBER, read_text

_BOM = b"\xef\xbb\xbf"
_IRREGULAR_BLANK = re.compile(r"[^\S \t\r\n]")
_WORD = re.compile(r"\S+")


def edits_of(data: bytes, path: Path) -> Iterator[Edit]:
    """Yield the edits; none for a text that is not UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return
    problems = parse_cha(data, path).problems
    lines = Lines(data, any_end=True)
    codes = {problem.rule for problem in problems}
    if rules.BOM.code in codes and data.startswith(_BOM):
        count = next(
            k
            for k in range(1, len(data) + 1)
            if not data.startswith(_BOM, k * len(_BOM))
        )
        yield Edit(0, count * len(_BOM), b"", rules.BOM.code)
    if rules.LEADING_BLANK.code in codes:
        stop = next(
            (k for k in range(1, len(lines.starts) + 1) if not _is_blank(lines, k)), 1
        )
        if not data.startswith(_BOM, lines.starts[stop - 1]):
            yield Edit(
                lines.starts[0], lines.starts[stop - 1], b"", rules.LEADING_BLANK.code
            )
    if rules.COMMENT_SECTION.code in codes and not codes & {
        rules.OPTIONS_MISSING.code,
        rules.BODY_MISSING.code,
    }:
        yield from _comments(
            lines,
            [
                p.location.line or 1
                for p in problems
                if p.rule == rules.COMMENT_SECTION.code
            ],
        )
    joined = {
        problem.location.line
        for problem in problems
        if problem.rule == rules.BLANK_MISSING.code
    }
    for problem in problems:
        number = problem.location.line
        if number is None:
            continue
        if problem.rule == rules.BLANK_LINES.code:
            first = number
            while first > 1 and _is_blank(lines, first - 1):
                first -= 1
            if first < number and _is_blank(lines, number):
                yield Edit(
                    lines.span(first)[1],
                    lines.span(number)[1],
                    b"",
                    rules.BLANK_LINES.code,
                )
        elif problem.rule == rules.BLANK_MISSING.code:
            start = lines.span(number)[0]
            yield Edit(start, start, most_common_end(data), rules.BLANK_MISSING.code)
        elif (
            problem.rule == rules.PARAMETERS_MISSING.code
            and rules.BODY_MISSING.code not in codes
        ):
            first = number
            while first > 1 and number not in joined and _is_comment(lines, first - 1):
                first -= 1
            if first > 1 and (number in joined or _is_blank(lines, first - 1)):
                start = lines.span(first)[0]
                yield Edit(
                    start,
                    start,
                    b"no parameters" + 2 * most_common_end(data),
                    rules.PARAMETERS_MISSING.code,
                )
    if rules.BLANKS.code in codes:
        yield from _blanks(lines)
    if MOTION_QUATERNION.code in codes:
        yield from _quaternions(data, lines)


def _is_blank(lines: Lines, number: int) -> bool:
    return not lines.text(number).decode("utf-8", "replace").strip()


def _is_comment(lines: Lines, number: int) -> bool:
    before, *comment = COMMENT.split(
        lines.text(number).decode("utf-8", "replace"), maxsplit=1
    )
    return bool(comment) and not before.strip()


def _comments(lines: Lines, alone: list[int]) -> Iterator[Edit]:
    """Join comments between blank lines (in the lines `alone`) to the options below them, or to the keyframes above them."""
    first = 1
    last = len(lines.starts)
    while first < last and (_is_blank(lines, first) or _is_comment(lines, first)):
        first += 1
    while last > first and (_is_blank(lines, last) or _is_comment(lines, last)):
        last -= 1
    between: list[int] = []
    if min(alone) < first:
        between += range(
            next(k for k in range(1, first) if _is_comment(lines, k)), first
        )
    if max(alone) > last:
        between += range(
            last + 1,
            next(
                k for k in range(len(lines.starts), last, -1) if _is_comment(lines, k)
            ),
        )
    for number in between:
        if _is_blank(lines, number):
            yield Edit(*lines.span(number), b"", rules.COMMENT_SECTION.code)


def _blanks(lines: Lines) -> Iterator[Edit]:
    """Replace characters that look like blanks by blanks, outside of comments."""
    for number in range(1, len(lines.starts) + 1):
        raw = lines.text(number)
        if raw.isascii() and not any(code in raw for code in (11, 12, 28, 29, 30, 31)):
            continue
        for found in _IRREGULAR_BLANK.finditer(
            COMMENT.split(raw.decode("utf-8", "replace"), maxsplit=1)[0]
        ):
            at = lines.offset(number, found.start() + 1)
            yield Edit(at, at + len(found[0].encode()), b" ", rules.BLANKS.code)


def _quaternions(data: bytes, lines: Lines) -> Iterator[Edit]:
    sections = split(read_text(data, Diagnostics()).data, Diagnostics())
    if sections.header is None:
        return
    names = read_header(sections.header, Diagnostics()).values
    groups = [
        [names.index(column) for column in GROUPS[f"{part}_quat_wxyz"]]
        for part in ("body", "hand")
        if all(column in names for column in GROUPS[f"{part}_quat_wxyz"])
    ]
    for number in range(sections.header.number + 1, len(lines.starts) + 1):
        raw = lines.text(number)
        if len(raw) > MAX_LINE_BYTES:
            continue
        words = list(
            _WORD.finditer(COMMENT.split(raw.decode("utf-8", "replace"), maxsplit=1)[0])
        )
        if len(words) != len(names) or not all(
            NUMBER.fullmatch(word[0]) for word in words
        ):
            continue
        for group in groups:
            values = [float(words[k][0]) for k in group]
            length = float(np.sqrt(np.sum(np.square(values))))
            if not ROUNDING < abs(length - 1) <= MAX_LENGTH_ERROR:
                continue
            for k, new in unit_texts([words[k][0] for k in group], values):
                word = words[group[k]]
                at = lines.offset(number, word.start() + 1)
                yield Edit(at, at + len(word[0]), new.encode(), MOTION_QUATERNION.code)
