"""From bytes to lines: encodings, line ends, comments, and words with their locations."""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from bodymotion.diagnostics import Diagnostics, Location
from bodymotion.formats.cha import rules

COMMENT = re.compile("#|//")
"""The beginning of a comment."""

MAX_LINE_BYTES = 100_000  # Longer lines are cut there; the longest line with a meaning has some thousand bytes.

_WORD = re.compile(r"\S+")
_OTHER_BLANK = re.compile(r"[^\S \t]")
_CONTROLS = bytes(code for code in (*range(9), *range(14, 28), 127))
"""Control characters; 11, 12 and 28 to 31 count as blanks."""
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
    """A line: its `number` from 1, its `text` before any comment, and the `comment` with its sign."""

    number: int
    text: str
    comment: str = ""
    too_long: bool = False
    control: tuple[int, int] | None = None
    """The code and the column of the first control character; all of them are blanks in the text."""

    def at(self, column: int = 1) -> Location:
        """Return the location of a column of the line."""
        return Location(None, self.number, column)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of the text."""
        return tuple(Word(m.group(), self.at(m.start() + 1)) for m in _WORD.finditer(self.text))

    @property
    def is_blank(self) -> bool:
        """Whether the line is empty, without even a comment."""
        return not self.comment and not self.text.strip()

    @property
    def location(self) -> Location:
        """The location of the first word, or else of the comment."""
        return self.words[0].location if self.words else self.at(len(self.text) + 1)

    @property
    def end(self) -> Location:
        """The location behind the last word."""
        return self.at(len(self.text.rstrip()) + 1)

    def report_characters(self, found: Diagnostics) -> bool:
        """Report a line that is too long, or has control characters or blanks other than space and tab; return whether there is one."""
        blank = _OTHER_BLANK.search(self.text.rstrip(" \t"))
        if self.too_long:
            found.report(rules.LINE_LONG, f"the line has more than {MAX_LINE_BYTES} characters", self.at())
        if self.control is not None:
            code, column = self.control
            found.report(rules.CONTROL, f"found a control character (code {code})", self.at(column))
        if blank:
            name = f"U+{ord(blank.group()):04X}"
            found.report(rules.BLANKS, f"the character {name} is used as a blank", self.at(blank.start() + 1))
        return self.too_long or self.control is not None or blank is not None


@dataclass(frozen=True)
class Text:
    """The text of a file in UTF-8 with line feeds as line ends; its own encoding and line end."""

    data: bytes
    encoding: str
    newline: str


def is_no_text(data: bytes) -> bool:
    """Return whether bytes are no text at all: many are control characters, or most of those beyond ASCII are not UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    head = data[:_HEAD_BYTES]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > _MAX_CONTROLS_OF_TEXT and controls * 50 > len(head):
        return True
    beyond = len(head) - len(head.translate(None, bytes(range(128, 256))))
    # A few bytes of a letter may be cut off at the end.
    return beyond * 2 > len(head) > _MAX_CONTROLS_OF_TEXT and "\ufffd" in head.decode("utf-8", "replace")[:-4]


def read_text(data: bytes, found: Diagnostics) -> Text:
    """Decode a file of any supported encoding."""
    data, encoding = _decoded(data, found)
    newline = "\n"
    if b"\r" in data:
        newline = "\r\n" if b"\r\n" in data else "\r"
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return Text(data, encoding, newline)


def _decoded(data: bytes, found: Diagnostics) -> tuple[bytes, str]:
    start = Location(None, 1, 1)
    if data.startswith(codecs.BOM_UTF8):
        found.report(rules.BOM, "the file begins with a byte order mark", start)
        data = data[3:]
    for mark, name in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            found.report(rules.ENCODING, "the file is UTF-16", start)
            return data[2:].decode(name, "replace").encode("utf-8", "replace"), "utf-16"
    if data.isascii():
        return data, "utf-8"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"the byte {data[error.start]:#x} is not UTF-8; the file is read as Latin-1"
        found.report(rules.ENCODING, message, Location(None, line, column))
        return data.decode("latin-1").encode("utf-8"), "latin-1"
    return data, "utf-8"


def line_at(data: bytes, begin: int, number: int) -> tuple[Line, int]:
    """Return the line that begins at a byte, and the byte where the next one begins."""
    end = data.find(b"\n", begin)
    end = len(data) if end < 0 else end
    raw = data[begin : min(end, begin + MAX_LINE_BYTES)]
    control, clean = None, raw.translate(_TO_BLANKS)
    if clean != raw:
        first = next(k for k, (a, b) in enumerate(zip(raw, clean, strict=True)) if a != b)
        control = raw[first], len(raw[:first].decode("utf-8", "replace")) + 1
    text, too_long = clean.decode("utf-8", "replace"), end - begin > MAX_LINE_BYTES
    mark = COMMENT.search(text)
    if mark is None:
        return Line(number, text, "", too_long, control), end + 1
    return Line(number, text[: mark.start()], text[mark.start() :].rstrip(), too_long, control), end + 1


@dataclass(frozen=True)
class LineComments:
    """The comment lines `before` a line, and the comment `after` it, each with its sign."""

    before: tuple[str, ...] = ()
    after: str = ""


@dataclass(frozen=True)
class Comments:
    """The comments of a file, kept from reading to writing.

    Those of options and parameters are stored by keyword ("" for `no parameters`), those of keyframes by time, and those after the
    last line of each of the three sections in `ends`.
    """

    options: Mapping[str, LineComments] = field(default_factory=dict)
    parameters: Mapping[str, LineComments] = field(default_factory=dict)
    header: LineComments = LineComments()
    rows: Mapping[float, LineComments] = field(default_factory=dict)
    ends: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())
