"""The text of a file: its encoding, and where in it an offset stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from bodymotion.diagnostics import Location

__all__ = ["Text", "decode"]

BOM = b"\xef\xbb\xbf"
LINE_BREAK = re.compile(r"\r\n?|\n")


class Text:
    """The decoded `data` of the file at `path`. Lines end with LF, CR or CRLF, all three in one file if it likes."""

    def __init__(self, data: str, path: Path | None = None, encoding: str = "ascii") -> None:
        self.data = data
        self.path = path
        self.encoding = encoding

    @cached_property
    def line_starts(self) -> list[int]:
        """The offsets at which lines begin."""
        if "\r" in self.data:
            return [0, *(match.end() for match in LINE_BREAK.finditer(self.data))]
        return list(accumulate((len(line) + 1 for line in self.data.split("\n")[:-1]), initial=0))

    def with_data(self, data: str) -> Text:
        """Return a text of the same length, whose lines begin where those of this one begin."""
        text = Text(data, self.path, self.encoding)
        text.line_starts = self.line_starts
        return text

    def location(self, offset: int) -> Location:
        """Return line and column, both from 1, of a place in the text."""
        offset = min(max(offset, 0), len(self.data))
        line = bisect_right(self.line_starts, offset)
        return Location(str(self.path) if self.path else None, line, offset - self.line_starts[line - 1] + 1)


def decode(data: bytes) -> tuple[str, str]:
    """Return text and encoding: ASCII, else UTF-8 (what the standard wants), else Shift-JIS as Windows writes it, else Latin-1.

    Latin-1 takes any bytes: it stands for "none of the others". UTF-16 is known by its byte order mark.
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
