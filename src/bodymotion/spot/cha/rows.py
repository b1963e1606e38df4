"""The lines of a file, and its keyframes.

Many plain lines at once, every other line by itself with all that is wrong with it.

From bytes to lines: encodings, line ends, comments, and words with their locations.
"""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location
from bodymotion.diagnostics.spelling import number_slip
from bodymotion.diagnostics.text import counted
from bodymotion.formats.encodings import in_utf8, wide_encoding
from bodymotion.formats.limits import check_time
from bodymotion.formats.rules import ENCODING, TOO_LARGE
from bodymotion.formats.text import numbers_of_rows
from bodymotion.geometry.arrays import Bools, Floats, Indices
from bodymotion.spot.cha import rules

NUMBER = re.compile(
    r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?", re.ASCII
)  # A decimal number.
_NOT_FINITE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.IGNORECASE)
_PLAIN_LINE = re.compile(
    rb"(?:[ \t]*+[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?(?![^ \t]))*+[ \t]*+"
)
_PLAIN_CHARACTERS = b"0123456789+-.eE \t\n"
_COMMENT_LINE = re.compile(rb"[ \t]*+(?:#|//)")

CHUNK_BYTES = 1 << 21
MIN_PLAIN_BYTES = 1 << 14  # Shorter files are read line by line.
MAX_FAULTY_LINES = 10_000  # Reading stops after this number of faulty lines.
MAX_COMMENTS = 50_000

_Table = tuple[Floats, Bools, Indices]

# Lines.
# The beginning of a comment.
COMMENT = re.compile("#|//")

# Longer lines are cut there. The longest line with a meaning has some thousand bytes.
MAX_LINE_BYTES = 100_000

_WORD = re.compile(r"\S+")
_OTHER_BLANK = re.compile(r"[^\S \t]")
# Control characters; 11, 12 and 28 to 31 count as blanks.
_CONTROLS = bytes(code for code in (*range(9), *range(14, 28), 127))
_HEAD_BYTES = 1 << 16
_MAX_CONTROLS_OF_TEXT = 8  # Maximum number of control characters in a damaged text.
_TO_BLANKS = bytes.maketrans(_CONTROLS, b" " * len(_CONTROLS))


@dataclass(frozen=True)
class Word:
    """A word and its location."""

    text: str
    location: Location


@dataclass(frozen=True)
class Line:
    """A line of a file.

    Its `number` from 1, its `text` before any comment, and the `comment` with its sign.
    """

    number: int
    text: str
    comment: str = ""
    too_long: bool = False
    control: tuple[int, int] | None = None
    """The code and the column of the first control character.

    All of them are blanks in the text.
    """

    def at(self, column: int = 1) -> Location:
        """Return the location of a column of the line."""
        return Location(None, self.number, column)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of the text."""
        return tuple(
            Word(m.group(), self.at(m.start() + 1)) for m in _WORD.finditer(self.text)
        )

    @property
    def is_blank(self) -> bool:
        """Whether the line is empty, without even a comment."""
        return not self.comment and not self.text.strip()

    @property
    def location(self) -> Location:
        """The location of the first word, or else of the comment."""
        if self.words:
            return self.words[0].location
        return self.at(len(self.text) + 1)

    @property
    def end(self) -> Location:
        """The location behind the last word."""
        return self.at(len(self.text.rstrip()) + 1)

    def report_characters(self, found: Diagnostics) -> bool:
        """Report a line that is too long, or has irregular characters.

        These are control characters, and blanks other than space and tab.

        Return whether there is one.
        """
        blank = _OTHER_BLANK.search(self.text.rstrip(" \t"))
        if self.too_long:
            found.report(
                TOO_LARGE,
                f"the line has more than {MAX_LINE_BYTES} characters",
                self.at(),
            )
        if self.control is not None:
            code, column = self.control
            found.report(
                rules.CONTROL,
                f"found a control character (code {code})",
                self.at(column),
            )
        if blank:
            name = f"U+{ord(blank.group()):04X}"
            found.report(
                rules.BLANKS,
                f"the character {name} is used as a blank",
                self.at(blank.start() + 1),
            )
        return self.too_long or self.control is not None or blank is not None


@dataclass(frozen=True)
class Text:
    """The text of a file in UTF-8 with line feeds as line ends.

    Its own encoding and line end.
    """

    data: bytes
    encoding: str
    newline: str


def is_no_text(data: bytes) -> bool:
    """Return whether bytes are no text at all.

    Many are control characters, or most of those beyond ASCII are not UTF-8.
    """
    # UTF-16 and UTF-32 are full of zero bytes.
    if wide_encoding(data):
        return False
    # A sample from the start decides: a file of a gigabyte is not searched.
    head = data[:_HEAD_BYTES]
    # translate(None, …) deletes: the difference in length counts characters.
    controls = len(head) - len(head.translate(None, _CONTROLS))
    # More than 2 % control characters, and more than a damaged text has.
    if controls > _MAX_CONTROLS_OF_TEXT and controls * 50 > len(head):
        return True
    # Text that is mostly beyond ASCII (Japanese descriptions) is fine as UTF-8.
    beyond = len(head) - len(head.translate(None, bytes(range(128, 256))))
    # A few bytes of a letter may be cut off at the end.
    return (
        beyond * 2 > len(head) > _MAX_CONTROLS_OF_TEXT
        and "\ufffd" in head.decode("utf-8", "replace")[:-4]
    )


def read_text(data: bytes, found: Diagnostics) -> Text:
    """Decode a file of any supported encoding."""
    data, encoding = _decoded(data, found)
    newline = "\n"
    if b"\r" in data:
        # The writer keeps the line ends of the file; readers see line feeds only.
        newline = "\r\n" if b"\r\n" in data else "\r"
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return Text(data, encoding, newline)


def _decoded(data: bytes, found: Diagnostics) -> tuple[bytes, str]:
    """Return the content as UTF-8, and its former encoding."""
    start = Location(None, 1, 1)
    # The mark is removed, else it would be part of the first keyword.
    if data.startswith(codecs.BOM_UTF8):
        found.report(rules.BOM, "the file begins with a byte order mark", start)
        data = data[3:]
    narrow, wide = in_utf8(data)
    if wide:
        found.report(ENCODING, f"the text is {wide}", start)
        return narrow.removeprefix(codecs.BOM_UTF8), wide
    if data.isascii():
        return data, "utf-8"
    # Latin-1 reads any byte: a comment with an umlaut must not hide the animation.
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = (
            f"the byte {data[error.start]:#x} is not UTF-8; the file is read as Latin-1"
        )
        found.report(ENCODING, message, Location(None, line, column))
        return data.decode("latin-1").encode("utf-8"), "latin-1"
    return data, "utf-8"


def line_at(data: bytes, begin: int, number: int) -> tuple[Line, int]:
    """Return the line that begins at a byte, and the byte where the next one begins."""
    end = data.find(b"\n", begin)
    if end < 0:
        end = len(data)
    # Longer lines are cut here, and reported by `report_characters`.
    raw = data[begin : min(end, begin + MAX_LINE_BYTES)]
    control = None
    # Control characters become blanks one for one, so that columns stay.
    clean = raw.translate(_TO_BLANKS)
    if clean != raw:
        first = next(
            k for k, (a, b) in enumerate(zip(raw, clean, strict=True)) if a != b
        )
        # The column counts characters; multi-byte letters before it are one each.
        control = raw[first], len(raw[:first].decode("utf-8", "replace")) + 1
    text = clean.decode("utf-8", "replace")
    too_long = end - begin > MAX_LINE_BYTES
    mark = COMMENT.search(text)
    if mark is None:
        return Line(number, text, "", too_long, control), end + 1
    return Line(
        number, text[: mark.start()], text[mark.start() :].rstrip(), too_long, control
    ), end + 1


@dataclass(frozen=True)
class LineComments:
    """The comments of a line, each with its sign.

    The lines `before` it, and the one `after` it in the same line.
    """

    before: tuple[str, ...] = ()
    after: str = ""


@dataclass(frozen=True)
class Comments:
    """The comments of a file, kept from reading to writing.

    Those of options and parameters are stored by keyword ("" for `no parameters`),
    those of keyframes by time, and those after the last line of each of the three
    sections in `ends`.
    """

    options: Mapping[str, LineComments] = field(default_factory=dict)
    parameters: Mapping[str, LineComments] = field(default_factory=dict)
    header: LineComments = LineComments()
    rows: Mapping[float, LineComments] = field(default_factory=dict)
    ends: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())


@dataclass
class Rows:
    """The keyframes of a file.

    `values` (N, W), which `zeros` (N, W) are the bare text 0, and the byte at which
    each line `begins` (N,).
    """

    data: bytes
    values: Floats
    zeros: Bools
    begins: Indices
    comments: list[tuple[int, str, bool]] = field(default_factory=list)
    """Comments of rows, with the row before which they stand.

    Or in which, where the last item is True.
    """
    left_out: list[int] = field(default_factory=list)
    """For each line that is no keyframe because of faults, the row before which it is.
    """
    too_long: list[int] = field(default_factory=list)
    """The rows that have too many values."""
    common_width: int = 0
    """The number of values in each line, where it is not the number of columns.

    Then no line is a keyframe.
    """

    @property
    def gaps(self) -> set[int]:
        """The rows at which faults are: nothing is known of the motion around them."""
        return {*self.left_out, *self.too_long}

    def location(self, row: int, value: int = 0) -> Location:
        """Return the location of a value."""
        words = line_at(self.data, int(self.begins[row]), int(self.line_numbers[row]))[
            0
        ].words
        return words[min(value, len(words) - 1)].location

    @cached_property
    def line_numbers(self) -> Indices:
        """The line (N,) of each row, from 1."""
        # Line feeds before a byte are the lines before it.
        line_ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n"))
        return np.searchsorted(line_ends, self.begins) + 1


def common_width(data: bytes, start: int, width: int) -> int:
    """Return the number of values in each line, where all have another one.

    From byte `start` on; 0 unless two or more lines have one number that is not
    `width`.

    Else 0.

    Reads no more than the first `MAX_FAULTY_LINES` lines: after that number of faulty
    ones reading stops.
    """
    begin = start
    found = count = 0
    # Bounded: beyond this number of faults reading stops anyway.
    while begin < len(data) and count < MAX_FAULTY_LINES:
        line, begin = line_at(data, begin, 1)
        if not line.words:
            continue
        # One regular line, or two of different widths: the lines are at fault.
        if (
            line.too_long
            or len(line.words) == width
            or (found and len(line.words) != found)
        ):
            return 0
        # A line with other words is faulty by itself and says nothing about the header.
        if not all(
            NUMBER.fullmatch(word.text) or _NOT_FINITE.fullmatch(word.text)
            for word in line.words
        ):
            return 0
        found = len(line.words)
        count = count + 1
    # A single line may just as well be faulty itself.
    return found if count > 1 else 0


def read_rows(
    data: bytes, start: int, width: int, names: tuple[str, ...], found: Diagnostics
) -> Rows:
    """Read keyframes from byte `start` to the end.

    Parameters
    ----------
    data:
        The text, in UTF-8 with line feeds.
    width, names:
        The number of values of a keyframe, and their names for messages.
    found:
        Gets faults: lines of another length, words that are no numbers, and keyframes
        after a blank line.
    """
    reader = _RowReader(data, width, names, found)
    begin = start
    # Line numbers are counted once per chunk, not per line.
    number = data.count(b"\n", 0, start) + 1
    at_once = len(data) - start >= MIN_PLAIN_BYTES and width > 0
    while begin < len(data) and not reader.given_up:
        # The caller may have limited the time for an untrusted file.
        check_time()
        # Chunks end at a line end; `or` covers a last line without one.
        end = data.find(b"\n", begin + CHUNK_BYTES) + 1 or len(data)
        # At once or line by line: NumPy reads many plain lines much faster, but cannot
        # say what is wrong with others.
        if at_once:
            plain = _plain_rows(data[begin:end], width)
        else:
            plain = None
        if plain is None:
            reader.read_lines(begin, end, number)
        else:
            reader.add_plain(plain, begin)
        number += data.count(b"\n", begin, end)
        begin = end
    return reader.rows()


def _plain_rows(chunk: bytes, width: int) -> _Table | None:
    """Read lines that all have `width` decimal numbers and nothing else.

    None where one has not.
    """
    # A single character beyond numbers and blanks: a comment, a word, a fault.
    if chunk.translate(None, _PLAIN_CHARACTERS):
        return None
    # Line feeds at both ends: each number then has a separator on both sides.
    letters = np.frombuffer(b"\n%b\n" % chunk, np.uint8)
    is_separator = letters <= ord(" ")
    # Numbers begin where a separator is followed by something else.
    begins = np.flatnonzero(is_separator[:-1] & ~is_separator[1:]) + 1
    if len(begins):
        values = numbers_of_rows(chunk, width)
    else:
        values = None
    if values is None:
        return None
    # The byte at which each line begins, for locations.
    line_begins = np.concatenate(([0], np.flatnonzero(letters[1:-1] == ord("\n")) + 1))[
        : len(values)
    ]
    # A bare 0: the digit alone between two separators. The converter treats it unlike
    # 0.0.
    zeros = (letters[begins] == ord("0")) & is_separator[begins + 1]
    return values, zeros.reshape(values.shape), line_begins


class _RowReader:
    """Collects rows; reads lines one by one and reports their faults."""

    def __init__(
        self, data: bytes, width: int, names: tuple[str, ...], found: Diagnostics
    ) -> None:
        """Prepare reading rows of `width` values."""
        self.data = data
        self.width = width
        self.names = names
        self.found = found
        self.given_up = False
        self._count = self._faults = 0
        self._left_out: list[int] = []
        self._too_long: list[int] = []
        self._blank: Line | None = None
        """The first blank line since the last keyframe or faulty line, if any."""
        self._apart: Line | None = None
        """The first comment behind it."""
        self._comments: list[tuple[int, str, bool]] = []
        self._tables: list[_Table] = []

    def rows(self) -> Rows:
        """Return all rows; report comments apart behind the last one."""
        empty = np.zeros((0, self.width))
        # An empty table first: concatenate() fails without any array.
        values = np.concatenate([empty, *(table[0] for table in self._tables)])
        zeros = np.concatenate([empty > 0, *(table[1] for table in self._tables)])
        begins = np.concatenate(
            [np.zeros(0, np.int64), *(table[2] for table in self._tables)]
        )
        # Comments behind a blank line, with no keyframe after them.
        if self._apart:
            self.found.report(
                rules.COMMENT_SECTION,
                "this section has only comments",
                self._apart.location,
            )
        return Rows(
            self.data,
            values,
            zeros,
            begins,
            self._comments,
            self._left_out,
            self._too_long,
        )

    def add_plain(self, table: _Table, begin: int) -> None:
        """Add the rows of plain lines that begin at byte `begin`."""
        # A blank line before these rows is now one among keyframes.
        self._keyframe_follows()
        self._tables.append((table[0], table[1], table[2] + begin))
        self._count += len(table[0])

    def read_lines(self, begin: int, stop: int, number: int) -> None:
        """Read the lines from byte `begin` to byte `stop`.

        The first of them is line `number`.
        """
        read: list[tuple[list[float], list[bool], int]] = []
        while begin < stop:
            end = self.data.find(b"\n", begin)
            if end < 0:
                end = len(self.data)
            raw = self.data[begin:end]
            # The fast way for a faultless line: split, count, match.
            words = raw.split()
            row: tuple[list[float], list[bool]] | None = None
            if words and len(words) == self.width and _PLAIN_LINE.fullmatch(raw):
                row = [float(word) for word in words], [word == b"0" for word in words]
            # After too many comments, lines with only a comment are skipped.
            elif len(self._comments) < MAX_COMMENTS or not _COMMENT_LINE.match(
                self.data, begin
            ):
                row = self._read_line(begin, number, self._count)
                if self.given_up:
                    break
            if row is not None:
                self._keyframe_follows()
                read.append((*row, begin))
                self._count += 1
            begin = end + 1
            number = number + 1
        # One table per call keeps the rows in order with those of `add_plain`.
        if read:
            values, zeros, begins = zip(*read, strict=True)
            shape = len(read), self.width
            table = (
                np.array(values, np.float64).reshape(shape),
                np.array(zeros, np.bool_).reshape(shape),
            )
            self._tables.append((*table, np.array(begins, np.int64)))

    def _keyframe_follows(self) -> None:
        """Report a blank line before a keyframe.

        It is at the first one behind the last keyframe.
        """
        if self._blank is not None:
            self.found.report(
                rules.SECTIONS,
                "there is a blank line among the keyframes",
                self._blank.at(),
            )
        self._blank = self._apart = None

    def _read_line(
        self, begin: int, number: int, row: int
    ) -> tuple[list[float], list[bool]] | None:
        """Read a line that would be row `row`.

        None where it has not all values. Further values are not used.
        """
        line = line_at(self.data, begin, number)[0]
        is_irregular = line.report_characters(self.found)
        if line.too_long:
            # Count, leave out: the row is unknown, and the words were cut.
            self._count_fault(number)
            self._left_out.append(row)
            return None
        self._note_blank_lines(line)
        if line.comment and len(self._comments) < MAX_COMMENTS:
            # is_behind: a comment in a line with values belongs to that row.
            self._comments.append((row, line.comment, bool(line.words)))
        if not line.words:
            return None
        # Values beyond the width are not read, but reported by `_has_width`.
        words = line.words[: self.width]
        values = [self._value(k, word) for k, word in enumerate(words)]
        # A word that is no number is None, nan and inf are numbers here: rules report
        # them.
        known = [value for value in values if value is not None]
        are_numbers = len(known) == len(values) and all(map(isfinite, known))
        if not self._has_width(line) or is_irregular or not are_numbers:
            self._count_fault(number)
        if len(known) < self.width:
            # The row does not exist: its comment stands before the next one.
            if line.comment and self._comments:
                self._comments[-1] = (*self._comments[-1][:2], False)
            self._left_out.append(row)
            return None
        if len(line.words) > self.width:
            self._too_long.append(row)
        # Which of the values are the bare text 0.
        return known, [word.text == "0" for word in words]

    def _note_blank_lines(self, line: Line) -> None:
        """Note the first blank line, and the first comment behind it.

        They are faults only if a keyframe follows.
        """
        if line.words:
            self._apart = None
        elif not line.comment:
            self._blank = self._blank or line
        elif self._blank is not None:
            self._apart = self._apart or line

    def _count_fault(self, number: int) -> None:
        """Count a faulty line, and stop after too many of them."""
        self._faults += 1
        if self._faults > MAX_FAULTY_LINES and not self.given_up:
            message = (
                f"more than {MAX_FAULTY_LINES} keyframes are faulty; the lines from "
                "here on were not checked"
            )
            self.found.report(rules.GIVEN_UP, message, Location(None, number, 1))
            self.given_up = True

    def _value(self, k: int, word: Word) -> float | None:
        """Return a value as a number; report it and return None otherwise."""
        if NUMBER.fullmatch(word.text) or _NOT_FINITE.fullmatch(word.text):
            return float(word.text)
        slip = number_slip(word.text)
        message = (
            f"the value of {self.names[k]}, {word.text[:40]!r}, is not a "
            f"number{f': {slip}' if slip else ''}"
        )
        self.found.report(rules.NUMBER, message, word.location)
        return None

    def _has_width(self, line: Line) -> bool:
        """Report a line with too few or too many values; return whether it has all."""
        count = len(line.words)
        if count == self.width:
            return True
        message = (
            f"found {counted(count, 'value')}, expected {self.width} for the columns"
        )
        if count > self.width:
            self.found.report(rules.ROW_LONG, message, line.words[self.width].location)
        else:
            first = f"{message}; the first without a value is {self.names[count]}"
            self.found.report(rules.ROW_SHORT, first, line.end)
        return False
