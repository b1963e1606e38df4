"""The decoded text of a file, and the line and column of an offset in it."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from bodymotion.diagnostics import Location

BOM = b"\xef\xbb\xbf"  # The byte order mark of UTF-8.
LINE_BREAK = re.compile(r"\r\n?|\n")


class Lines:
    """Where the lines of a text begin: enough to locate offsets when the text itself is gone."""

    def __init__(self, data: str, path: Path | None) -> None:
        self.path = path
        self.size = len(data)
        if "\r" in data:
            self.starts = array("q", (0, *(match.end() for match in LINE_BREAK.finditer(data))))
        else:
            self.starts = array("q", accumulate((len(line) + 1 for line in data.split("\n")[:-1]), initial=0))

    def location(self, offset: int) -> Location:
        """Return line and column, both from 1, of an offset."""
        offset = min(max(offset, 0), self.size)
        line = bisect_right(self.starts, offset)
        return Location(str(self.path) if self.path else None, line, offset - self.starts[line - 1] + 1)


class Text:
    """The decoded `data` of the file at `path`. Lines end with LF, CR or CRLF; one file may have all three."""

    def __init__(self, data: str, path: Path | None = None, encoding: str = "ascii") -> None:
        self.data = data
        self.path = path
        self.encoding = encoding

    @cached_property
    def lines(self) -> Lines:
        """Where the lines begin."""
        return Lines(self.data, self.path)

    def with_data(self, data: str) -> Text:
        """Return a text of the same length whose lines begin where those of this one begin."""
        text = Text(data, self.path, self.encoding)
        text.lines = self.lines
        return text

    def location(self, offset: int) -> Location:
        """Return line and column, both from 1, of an offset."""
        return self.lines.location(offset)


def decode(data: bytes) -> tuple[str, str]:
    """Return text and encoding: ASCII, else UTF-8, else Shift-JIS as Windows writes it, else Latin-1.

    Latin-1 decodes any bytes: it means "none of the others". UTF-16 is recognised by its byte order mark.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace"), "utf-16"
    data = data.removeprefix(BOM)
    if data.isascii():
        return data.decode("ascii"), "ascii"
    for encoding in ("utf-8", "cp932"):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"
