"""The three sections of an animation file.

Options, parameters, and columns with keyframes.

Blank lines separate them. Where one is missing, the words of a line show its section.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bodymotion.diagnostics import Diagnostics, Location
from bodymotion.spot.animation import GROUPS
from bodymotion.spot.cha import rules
from bodymotion.spot.cha.keywords import COLUMNS, OPTIONS, PARAMETERS
from bodymotion.spot.cha.rows import NUMBER, Line, line_at

# Lines of options and parameters that are read: more are no animation.
MAX_HEAD_LINES = 5000

_BLANK_LINES = re.compile(rb"(?:[ \t]*+\n)*+")
OPTION, PARAMETER, BODY = range(3)
_MISSING = {
    OPTION: (rules.OPTIONS_MISSING, "are no options"),
    PARAMETER: (rules.PARAMETERS_MISSING, "is no section of parameters"),
}


@dataclass
class Sections:
    """The sections of a text.

    Attributes
    ----------
    options, parameters:
        The lines of the sections.
    above_header:
        The comments above the line of columns.
    header:
        The line of columns; None where there is none.
    rows_begin:
        The byte at which the keyframes begin.
    """

    options: list[Line] = field(default_factory=list)
    parameters: list[Line] = field(default_factory=list)
    above_header: list[Line] = field(default_factory=list)
    header: Line | None = None
    rows_begin: int = 0


def split(data: bytes, found: Diagnostics) -> Sections:
    """Find the sections of a text.

    Report missing sections, and blank lines that are missing or too many.
    """
    return _Splitter(data, found).split()


class _Splitter:
    """The state while the lines of a text are assigned to sections.

    A block is the lines between two blank lines. Its section is unknown (None) until a
    line has words.
    """

    def __init__(self, data: bytes, found: Diagnostics) -> None:
        """Begin at the first line, where options are expected."""
        self._data = data
        self._found = found
        self._sections = Sections()
        self._begin = 0
        self._number = 1
        self._block: list[Line] = []
        self._section: int | None = None
        self._expected = OPTION
        self._seen: set[int] = set()
        self._num_blank_lines = 0
        self._last_blank_line = 0
        # No section begins before this line.
        self._options_end = 0

    def split(self) -> Sections:
        """Return the sections; it ends at the line of columns."""
        # Line by line up to the header: what follows is read much faster by
        # `read_rows`.
        while self._begin < len(self._data):
            line, self._begin = line_at(self._data, self._begin, self._number)
            self._number += 1
            line.report_characters(self._found)
            if line.is_blank:
                self._end_block()
                self._skip_blank_lines(line)
                continue
            # A text without a header is no such file: it must not be read to its end.
            if line.number > MAX_HEAD_LINES:
                message = f"no columns in the first {MAX_HEAD_LINES} lines"
                self._found.report(rules.TOO_LONG, message, line.location)
                break
            self._take(line)
            if self._sections.header is not None:
                return self._sections
        self._end_block()
        self._report_missing_at_end()
        self._sections.rows_begin = len(self._data)
        return self._sections

    def _lines_of(self, section: int) -> list[Line]:
        if section == OPTION:
            return self._sections.options
        return self._sections.parameters

    def _end_block(self) -> None:
        """End a block; one of comments only belongs to the section that is expected."""
        if self._block and self._section is None:
            message = "this section has only comments"
            location = self._block[0].location
            self._found.report(rules.COMMENT_SECTION, message, location)
            self._lines_of(self._expected).extend(self._block)
        self._block = []
        self._section = None

    def _skip_blank_lines(self, line: Line) -> None:
        """Pass over all blank lines that follow a blank line, and count them."""
        # One regular expression skips a million blank lines at once.
        more = _BLANK_LINES.match(self._data, self._begin)
        assert more is not None  # The pattern matches an empty text, too.
        count = self._data.count(b"\n", self._begin, more.end())
        self._begin = more.end()
        self._number += count
        self._num_blank_lines += 1 + count
        self._last_blank_line = line.number

    def _take(self, line: Line) -> None:
        """Assign a line that is not blank to its section."""
        if not self._block:
            # Only the first line of a block can follow blank lines.
            self._check_blank_lines(line)
        if line.words:
            # A line in the middle of a block may begin another section: one whose blank
            # line is missing. Lines known to be before an option are skipped.
            if self._section is not None and self._options_end < line.number:
                self._end_at_next_section(line)
            if self._section is None:
                self._begin_section(line)
        # The header: its comments above, and the rows begin after it.
        if self._section == BODY:
            self._sections.above_header = self._block
            self._sections.header = line
            self._sections.rows_begin = self._begin
            return
        self._block.append(line)
        # Before its first line with words, lines wait in the block.
        if self._section is not None:
            self._lines_of(self._section).append(line)

    def _check_blank_lines(self, line: Line) -> None:
        """Report blank lines above the first line of a block that are too many."""
        # All lines so far were blank: they are before the options.
        if self._num_blank_lines and self._number == self._num_blank_lines + 2:
            message = "there is a blank line before the options"
            self._found.report(rules.LEADING_BLANK, message, Location(None, 1, 1))
        elif self._num_blank_lines > 1:
            message = f"found {self._num_blank_lines} blank lines, expected one"
            location = Location(None, line.number - 1, 1)
            self._found.report(rules.BLANK_LINES, message, location)
        self._num_blank_lines = 0

    def _end_at_next_section(self, line: Line) -> None:
        """End the section of a block where a line begins another one."""
        assert self._section is not None
        begun, options_end = _begins(line, self._section, self._data, self._begin)
        self._options_end = max(self._options_end, options_end)
        if not begun:
            return
        name = "parameters" if begun == PARAMETER else "columns"
        message = f"the {name} begin here without a blank line before them"
        self._found.report(rules.BLANK_MISSING, message, line.location)
        self._block = []
        self._section = None
        self._expected = max(self._expected, begun)

    def _begin_section(self, line: Line) -> None:
        """Find the section of a block by its first line with words."""
        section = _section_of(line, self._expected)
        self._section = section
        # A section that was there already: a blank line splits it.
        if section < self._expected and section in self._seen:
            name = "options" if section == OPTION else "parameters"
            message = f"there are more {name} below this blank line"
            location = Location(None, self._last_blank_line, 1)
            self._found.report(rules.SECTIONS, message, location)
        # Sections that are skipped are reported once, here.
        for earlier, (rule, text) in _MISSING.items():
            if earlier < section and earlier not in self._seen:
                message = f"there {text} before this line"
                self._found.report(rule, message, line.location)
                self._seen.add(earlier)
        self._seen.add(section)
        # BODY is the last section: never expect more.
        self._expected = max(self._expected, min(section + 1, BODY))
        if section != BODY:
            self._lines_of(section).extend(self._block)

    def _report_missing_at_end(self) -> None:
        """Report the sections that a text without columns lacks, at its last line."""
        last = Location(None, max(self._number - 1, 1), 1)
        for section, (rule, text) in _MISSING.items():
            if section not in self._seen:
                self._found.report(rule, f"there {text}", last)
        message = "there are no columns and no keyframes"
        self._found.report(rules.BODY_MISSING, message, last)


def _section_of(line: Line, expected: int) -> int:
    """Return the section of a block by its first line.

    It is the expected one where the line leaves it open.
    """
    # Keywords in capitals still tell the section.
    words = [word.text for word in line.words]
    first = words[0].lower()
    num_columns = sum(map(_is_column, words))
    # A line of columns may have misspelt ones: most words decide.
    if _is_column(first) or 2 * num_columns > len(words):
        return BODY
    if first in OPTIONS:
        return OPTION
    is_no_parameters = [word.lower() for word in words[:2]] == ["no", "parameters"]
    if first in PARAMETERS or is_no_parameters:
        return PARAMETER
    return expected


def _is_column(word: str) -> bool:
    return word in COLUMNS or word in GROUPS


def _begins(line: Line, section: int, data: bytes, begin: int) -> tuple[int, int]:
    """Return the section that begins with a line in the middle of another one.

    It is 0 where none begins. The second number is the last line of the block with an
    option: no section can begin before it.
    """
    first = line.words[0].text
    if _is_column(first):
        next_line, _ = line_at(data, begin, line.number + 1)
        words = next_line.words
        # The line of columns is followed by numbers.
        is_header = words and all(NUMBER.fullmatch(word.text) for word in words)
        return (BODY if is_header else 0), 0
    may_be_parameter = _section_of(line, OPTION) == PARAMETER
    if section != OPTION or first in OPTIONS or not may_be_parameter:
        return 0, 0
    return _parameters_among_options(line.number, data, begin)


def _parameters_among_options(number: int, data: bytes, begin: int) -> tuple[int, int]:
    """Return what `_begins` does for a parameter below options."""
    # A parameter among options: options below it mean that the line is misplaced, not
    # that the parameters begin.
    options_end = 0
    while begin < len(data) and number < MAX_HEAD_LINES:
        number += 1
        line, begin = line_at(data, begin, number)
        # A blank line ends the block.
        if line.is_blank:
            break
        if line.words and line.words[0].text in OPTIONS:
            options_end = number
    if options_end:
        return 0, options_end
    # Where the parameters have their own section, this is one in the wrong section.
    while begin < len(data) and number < MAX_HEAD_LINES:
        number += 1
        line, begin = line_at(data, begin, number)
        if line.words:
            have_section = _section_of(line, BODY) == PARAMETER
            return (0 if have_section else PARAMETER), number
    return PARAMETER, 0
