"""From bytes to lines: encodings, line ends, comments, words and where they stand."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cached_property

from bodymotion.formats.cha import rules
from bodymotion.formats.cha.findings import Findings, Place

__all__ = ["COMMENT", "Line", "Text", "Word", "is_no_text", "line_at", "read_text"]

COMMENT = re.compile("#|//")
"""What a comment begins with, wherever it stands."""

LONGEST = 100_000
"""Lines of more bytes are cut there; the longest line that means something has some thousand."""

_WORD = re.compile(r"\S+")
_ODD_BLANK = re.compile(r"[^\S \t]")
_CONTROLS = bytes(code for code in (*range(9), *range(14, 28), 127))
"""Control characters; 11, 12 and 28 to 31 are odd blanks."""
_HEAD = 1 << 16
_FEW = 8
"""So many control characters may be in any text, as damage."""
_TO_BLANKS = bytes.maketrans(_CONTROLS, b" " * len(_CONTROLS))


@dataclass(frozen=True)
class Word:
    """A word and where it stands."""

    text: str
    place: Place


@dataclass(frozen=True)
class Line:
    """A line: its `number` from 1, its `text` before any comment, and the `comment` with its sign."""

    number: int
    text: str
    comment: str = ""
    too_long: bool = False
    control: tuple[int, int] | None = None
    """The code and the column of the first control character; they all stand as blanks in the text."""

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of the text."""
        return tuple(Word(m.group(), Place(self.number, m.start() + 1)) for m in _WORD.finditer(self.text))

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing, not even a comment."""
        return not self.comment and not self.text.strip()

    @property
    def place(self) -> Place:
        """Where the line's first word stands, or else its comment."""
        return self.words[0].place if self.words else Place(self.number, len(self.text) + 1)

    @property
    def end(self) -> Place:
        """The place behind the last word."""
        return Place(self.number, len(self.text.rstrip()) + 1)

    def look_for_odd_characters(self, findings: Findings) -> bool:
        """Say where a line is too long, holds what is no text, or its words stand apart by something other than blanks and tabs."""
        odd = _ODD_BLANK.search(self.text.rstrip(" \t"))
        if self.too_long:
            findings.add(rules.LINE_LONG, f"more than {LONGEST} characters", Place(self.number, 1))
        if self.control is not None:
            code, column = self.control
            findings.add(rules.CONTROL, f"a character of code {code} is no text", Place(self.number, column))
        if odd:
            name = f"U+{ord(odd.group()):04X}"
            findings.add(
                rules.BLANKS, f"the character {name} stands here for a blank", Place(self.number, odd.start() + 1)
            )
        return self.too_long or self.control is not None or odd is not None


@dataclass(frozen=True)
class Text:
    """The text of a file in UTF-8, with line feeds for line ends, and how it was written."""

    data: bytes
    encoding: str
    newline: str


def is_no_text(data: bytes) -> bool:
    """Whether bytes are no text at all: many of the first ones are control characters, or most of them no letters of UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    head = data[:_HEAD]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > _FEW and controls * 50 > len(head):
        return True
    beyond = len(head) - len(head.translate(None, bytes(range(128, 256))))
    # A few bytes of a letter may be cut off at the end.
    return beyond * 2 > len(head) > _FEW and "\ufffd" in head.decode("utf-8", "replace")[:-4]


def read_text(data: bytes, findings: Findings) -> Text:
    """Decode a file, whatever it is written in."""
    data, encoding = _decoded(data, findings)
    newline = "\n"
    if b"\r" in data:
        newline = "\r\n" if b"\r\n" in data else "\r"
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return Text(data, encoding, newline)


def _decoded(data: bytes, findings: Findings) -> tuple[bytes, str]:
    if data.startswith(codecs.BOM_UTF8):
        findings.add(rules.BOM, "the file begins with a byte order mark", Place(1, 1))
        data = data[3:]
    for mark, name in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            findings.add(rules.ENCODING, "the file is UTF-16", Place(1, 1))
            return data[2:].decode(name, "replace").encode("utf-8", "replace"), "utf-16"
    if data.isascii():
        return data, "utf-8"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        findings.add(
            rules.ENCODING, f"the byte {data[error.start]:#x} is not UTF-8; read as Latin-1", Place(line, column)
        )
        return data.decode("latin-1").encode("utf-8"), "latin-1"
    return data, "utf-8"


def line_at(data: bytes, begin: int, number: int) -> tuple[Line, int]:
    """Return the line that begins at a byte, and where the next one begins."""
    end = data.find(b"\n", begin)
    end = len(data) if end < 0 else end
    raw = data[begin : min(end, begin + LONGEST)]
    control, clean = None, raw.translate(_TO_BLANKS)
    if clean != raw:
        at = next(place for place, (a, b) in enumerate(zip(raw, clean, strict=True)) if a != b)
        control = raw[at], len(raw[:at].decode("utf-8", "replace")) + 1
    text, too_long = clean.decode("utf-8", "replace"), end - begin > LONGEST
    mark = COMMENT.search(text)
    if mark is None:
        return Line(number, text, "", too_long, control), end + 1
    return Line(number, text[: mark.start()], text[mark.start() :].rstrip(), too_long, control), end + 1
