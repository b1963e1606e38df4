"""Find the three sections of a file: the lines of the first two, the line of columns, and where keyframes begin."""

import re
from dataclasses import dataclass, field

from bodymotion.animation import GROUPS
from bodymotion.diagnostics import Diagnostics, Location
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.keywords import COLUMNS, OPTIONS, PARAMETERS
from bodymotion.formats.cha.lines import Line, line_at
from bodymotion.formats.cha.rows import NUMBER

MAX_HEAD_LINES = 5000  # Maximum number of lines of options and parameters.

_BLANK_LINES = re.compile(rb"(?:[ \t]*+\n)*+")

OPTION, PARAMETER, BODY = range(3)
_MISSING = {
    OPTION: (rules.OPTIONS_MISSING, "are not options"),
    PARAMETER: (rules.PARAMETERS_MISSING, "is not a section of parameters"),
}


@dataclass
class Sections:
    """The lines of options and parameters, the line of columns with the comments above it, and the byte at which keyframes begin."""

    options: list[Line] = field(default_factory=list)
    parameters: list[Line] = field(default_factory=list)
    above_header: list[Line] = field(default_factory=list)
    header: Line | None = None
    rows_begin: int = 0


def split(data: bytes, found: Diagnostics) -> Sections:
    """Find the sections of a text; report missing sections, and blank lines that are missing or too many."""
    sections = Sections()
    lines = sections.options, sections.parameters, sections.parameters
    begin, number, expected = 0, 1, OPTION
    seen: set[int] = set()
    block: list[Line] = []
    kind: int | None = None
    blanks = blank = options_end = 0
    while begin < len(data):
        line, begin = line_at(data, begin, number)
        number += 1
        line.report_characters(found)
        if line.is_blank:
            if block and kind is None:
                found.report(rules.COMMENT_SECTION, "this section has only comments", block[0].location)
                lines[expected].extend(block)
            block, kind = [], None
            more = _BLANK_LINES.match(data, begin)
            end = begin if more is None else more.end()
            count = data.count(b"\n", begin, end)
            blank = line.number
            begin, number, blanks = end, number + count, blanks + 1 + count
            continue
        if line.number > MAX_HEAD_LINES:
            found.report(rules.TOO_LONG, f"no columns in the first {MAX_HEAD_LINES} lines", line.location)
            break
        if not block:
            if blanks and number == blanks + 2:
                found.report(rules.LEADING_BLANK, "there is a blank line before the options", Location(None, 1, 1))
            elif blanks > 1:
                where = Location(None, line.number - 1, 1)
                found.report(rules.BLANK_LINES, f"found {blanks} blank lines, expected one", where)
            blanks = 0
        if line.words and kind is not None and options_end < line.number:
            begun, until = _begins(line, kind, data, begin)
            options_end = max(options_end, until)
            if begun:
                section = "parameters" if begun == PARAMETER else "columns"
                message = f"the {section} begin here without a blank line before them"
                found.report(rules.BLANK_MISSING, message, line.location)
                block, kind, expected = [], None, max(expected, begun)
        if line.words and kind is None:
            kind = _kind(line, expected)
            if kind < expected and kind in seen:
                section = "options" if kind == OPTION else "parameters"
                message = f"there are more {section} below this blank line"
                found.report(rules.SECTIONS, message, Location(None, blank, 1))
            for earlier, (rule, what) in _MISSING.items():
                if earlier < kind and earlier not in seen:
                    found.report(rule, f"there {what} before this line", line.location)
                    seen.add(earlier)
            seen.add(kind)
            expected = max(expected, min(kind + 1, BODY))
            if kind == BODY:
                sections.above_header, sections.header, sections.rows_begin = block, line, begin
                return sections
            lines[kind].extend(block)
        block.append(line)
        if kind is not None:
            lines[kind].append(line)
    if block and kind is None:
        found.report(rules.COMMENT_SECTION, "this section has only comments", block[0].location)
        lines[expected].extend(block)
    sections.rows_begin = len(data)
    last = Location(None, max(number - 1, 1), 1)
    for kind, (rule, what) in _MISSING.items():
        if kind not in seen:
            found.report(rule, f"there {what}", last)
    found.report(rules.BODY_MISSING, "there are no columns and no keyframes", last)
    return sections


def _kind(line: Line, expected: int) -> int:
    """Return the section of a block by its first line, or the one that is expected where the line leaves it open."""
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
    """Return the section that begins with a line in the middle of another one, 0 for none.

    The second number is the last line of the block with an option, so that no section can begin before it.
    """
    if line.words[0].text in COLUMNS or line.words[0].text in GROUPS:
        words = line_at(data, begin, line.number + 1)[0].words
        return (BODY if words and all(NUMBER.fullmatch(word.text) for word in words) else 0), 0
    if kind != OPTION or line.words[0].text in OPTIONS or _kind(line, OPTION) != PARAMETER:
        return 0, 0
    options_end, number = 0, line.number
    while begin < len(data) and number < MAX_HEAD_LINES:
        number += 1
        other, begin = line_at(data, begin, number)
        if other.is_blank:
            break
        if other.words and other.words[0].text in OPTIONS:
            options_end = number
    # Where the parameters have their own section, this is only one in the wrong section.
    while begin < len(data) and number < MAX_HEAD_LINES and not options_end:
        number += 1
        other, begin = line_at(data, begin, number)
        if other.words:
            return (0 if _kind(other, BODY) == PARAMETER else PARAMETER), number
    return (0 if options_end else PARAMETER), options_end
