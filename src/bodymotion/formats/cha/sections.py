"""The three sections of a file: where each begins, and the lines of the first two."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bodymotion.animation import GROUPS
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.findings import Findings, Place
from bodymotion.formats.cha.rows import NUMBER
from bodymotion.formats.cha.text import Line, line_at
from bodymotion.formats.cha.words import COLUMNS, OPTIONS, PARAMETERS

__all__ = ["Sections", "split"]

MOST_LINES = 5000
"""Options and parameters take no more lines."""

_BLANK_LINES = re.compile(rb"(?:[ \t]*+\n)*+")

OPTION, PARAMETER, BODY = range(3)


@dataclass
class Sections:
    """The lines of options and parameters, the line of columns with the comments above it, and the byte at which keyframes begin."""

    options: list[Line] = field(default_factory=list)
    parameters: list[Line] = field(default_factory=list)
    above_header: list[Line] = field(default_factory=list)
    header: Line | None = None
    rows_begin: int = 0


def split(data: bytes, findings: Findings) -> Sections:
    """Find the sections of a text; what is wrong with the blank lines between them goes to `findings`."""
    found = Sections()
    begin, number, expected = 0, 1, OPTION
    seen: set[int] = set()
    block: list[Line] = []
    kind: int | None = None
    blanks = blank = options_end = 0
    while begin < len(data):
        line, begin = line_at(data, begin, number)
        number += 1
        line.look_for_odd_characters(findings)
        if line.is_blank:
            if block and kind is None:
                findings.add(rules.COMMENT_SECTION, "a section of comments only", block[0].place)
                _keep_comments(found, block, expected)
            block, kind = [], None
            more = _BLANK_LINES.match(data, begin)
            end = begin if more is None else more.end()
            count = data.count(b"\n", begin, end)
            blank = line.number
            begin, number, blanks = end, number + count, blanks + 1 + count
            continue
        if line.number > MOST_LINES:
            findings.add(rules.TOO_LONG, f"no columns in the first {MOST_LINES} lines", line.place)
            break
        if not block:
            _say_blanks(blanks, number == blanks + 2, line, findings)
            blanks = 0
        if line.words and kind is not None and options_end < line.number:
            begun, until = _begins(line, kind, data, begin)
            options_end = max(options_end, until)
            if begun:
                section = "parameters" if begun == PARAMETER else "columns"
                findings.add(rules.BLANK_MISSING, f"the {section} begin here, without a blank line before", line.place)
                block, kind, expected = [], None, max(expected, begun)
        if line.words and kind is None:
            kind = _kind(line, expected)
            if kind < expected and kind in seen:
                said = "options" if kind == OPTION else "parameters"
                findings.add(rules.SECTIONS, f"further {said} stand below this blank line", Place(blank, 1))
            _say_missing(kind, seen, line, findings)
            seen.add(kind)
            expected = max(expected, min(kind + 1, BODY))
            if kind == BODY:
                found.above_header, found.header, found.rows_begin = block, line, begin
                return found
            (found.options if kind == OPTION else found.parameters).extend(block)
        block.append(line)
        if kind is not None:
            (found.options if kind == OPTION else found.parameters).append(line)
    if block and kind is None:
        findings.add(rules.COMMENT_SECTION, "a section of comments only", block[0].place)
        _keep_comments(found, block, expected)
    found.rows_begin = len(data)
    last = Place(max(number - 1, 1), 1)
    if OPTION not in seen:
        findings.add(rules.OPTIONS_MISSING, "there are no options", last)
    if PARAMETER not in seen:
        findings.add(rules.PARAMETERS_MISSING, "there is no section of parameters", last)
    findings.add(rules.BODY_MISSING, "there are no columns and no keyframes", last)
    return found


def _keep_comments(found: Sections, block: list[Line], expected: int) -> None:
    (found.options if expected == OPTION else found.parameters).extend(block)


def _say_blanks(blanks: int, at_top: bool, line: Line, findings: Findings) -> None:
    if at_top and blanks:
        findings.add(rules.LEADING_BLANK, "a blank line stands before the options", Place(1, 1))
    elif blanks > 1:
        findings.add(rules.BLANK_LINES, f"{blanks} blank lines, one after the other", Place(line.number - 1, 1))


def _kind(line: Line, expected: int) -> int:
    """Say to which section a block belongs, by its first line, and by its place where that does not tell."""
    words = [word.text for word in line.words]
    first = words[0].lower()
    if first in COLUMNS or first in GROUPS or sum(w in COLUMNS or w in GROUPS for w in words) * 2 > len(words):
        return BODY
    if first in OPTIONS:
        return OPTION
    if first in PARAMETERS or [word.lower() for word in words[:2]] == ["no", "parameters"]:
        return PARAMETER
    return expected


def _begins(line: Line, kind: int, data: bytes, begin: int) -> tuple[int, int]:
    """Say which section begins with a line in the midst of another one, 0 for none.

    The second number says up to which line of the block there are options, so that none can begin before.
    """
    if line.words[0].text in COLUMNS or line.words[0].text in GROUPS:
        words = line_at(data, begin, line.number + 1)[0].words
        return (BODY if words and all(NUMBER.fullmatch(word.text) for word in words) else 0), 0
    if kind != OPTION or line.words[0].text in OPTIONS or _kind(line, OPTION) != PARAMETER:
        return 0, 0
    options_end, number = 0, line.number
    while begin < len(data) and number < MOST_LINES:
        number += 1
        other, begin = line_at(data, begin, number)
        if other.is_blank:
            break
        if other.words and other.words[0].text in OPTIONS:
            options_end = number
    # Where the parameters have their section, this is only one that went astray.
    while begin < len(data) and number < MOST_LINES and not options_end:
        number += 1
        other, begin = line_at(data, begin, number)
        if other.words:
            return (0 if _kind(other, BODY) == PARAMETER else PARAMETER), number
    return (0 if options_end else PARAMETER), options_end


def _say_missing(kind: int, seen: set[int], line: Line, findings: Findings) -> None:
    if kind > OPTION and OPTION not in seen:
        findings.add(rules.OPTIONS_MISSING, "there are no options before this line", line.place)
        seen.add(OPTION)
    if kind > PARAMETER and PARAMETER not in seen:
        findings.add(rules.PARAMETERS_MISSING, "there is no section of parameters before this line", line.place)
        seen.add(PARAMETER)
