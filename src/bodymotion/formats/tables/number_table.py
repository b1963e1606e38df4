"""Text files that are tables of numbers: one row a line, cells between commas, semicolons, tabs or blanks, maybe a line of names first.

Blocks of whole lines are parsed in bulk; where that does not work, the lines of the block are looked at one by one, and the first that
is no row of numbers is named with its line and column.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bodymotion.diagnostics import FormatError, Location, Rule
from bodymotion.geometry.arrays import Floats
from bodymotion.system.open_files import open_file

__all__ = ["UNREADABLE", "Table", "read_table"]

UNREADABLE = Rule(
    "TAB001",
    "error",
    "A table can be opened and read to its end.",
    "judgement",
    example=("a folder called walk.csv", "a file called walk.csv"),
)
EMPTY = Rule(
    "TAB002",
    "error",
    "A table has at least one line.",
    "judgement",
    example=("an empty file", "a line of names, and lines of numbers"),
)
WIDTH = Rule(
    "TAB003", "error", "All lines of a table have equally many cells.", "judgement", example=("0.1,0.3", "0.1,0.3,0.4")
)
CELL = Rule(
    "TAB004",
    "error",
    "The cells of a table are plain decimal numbers.",
    "judgement",
    "no thousands separators, no units, no empty cells; a decimal comma is not read",
    example=("0.1,0.3 rad,0.4", "0.1,0.3,0.4"),
)
TOO_LONG = Rule(
    "TAB005",
    "error",
    "A line of a table has at most some million characters.",
    "judgement",
    example=("20 million characters without an end of line", "as many in lines of 100"),
)
TEXT = Rule(
    "TAB006",
    "error",
    "The names of columns are UTF-8 text.",
    "judgement",
    example=("the column 腰 in cp932", "the column 腰 in UTF-8"),
)

_BLOCK = 4 << 20
_NUMBER = re.compile(rb"\s*+[-+]?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?|nan|inf(?:inity)?)\s*+", re.IGNORECASE)
_BLANKS = b" \t\r\n"


@dataclass(frozen=True)
class Table:
    """`values` (T, N) of a file, and the `names` (N,) of its columns, where its first line has names."""

    path: str
    values: Floats
    names: tuple[str, ...] | None = None
    header_line: int = 1

    def row(self, number: int) -> Location:
        """Return the place of a row, counted from 0, where the lines of rows follow each other."""
        return Location(self.path, self.header_line + (self.names is not None) + number)


def read_table(path: str | Path, delimiter: str | None = None) -> Table:
    """Read a table.

    Parameters
    ----------
    path:
        The file. Empty lines, and lines that begin with #, are passed over; a # before the names is taken off.
    delimiter:
        "," ";" a tab, or " " for any number of blanks; by default the first line tells.

    Raises
    ------
    FormatError
        With line and column.
    """
    name = str(path)
    try:
        with open_file(path) as file:
            return _read(file, name, delimiter)
    except FormatError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UNREADABLE.error(f"cannot be opened: {reason}", Location(name)) from error


def _read(file: BinaryIO, path: str, delimiter: str | None) -> Table:
    blocks = _blocks(file, path)
    first_block = next(blocks, b"").removeprefix(b"\xef\xbb\xbf")
    number, offset, line = 1, 0, b""
    following = next((text for text in _lines(first_block) if not text.startswith(b"#")), b"")
    while offset < len(first_block):
        end = first_block.find(b"\n", offset)
        end = len(first_block) if end < 0 else end
        line = first_block[offset:end].strip()
        bare = line.lstrip(b"#").strip()
        # A comment line may hold the names; it does when it has as many cells as the numbers below.
        if line and (not line.startswith(b"#") or _holds_names(bare, following, delimiter)):
            break
        offset, number = end + 1, number + 1
    else:
        raise EMPTY.error("there is no row", Location(path))
    sign = (delimiter or _delimiter(line)).encode()
    header = None
    header_line = number
    if not all(_NUMBER.fullmatch(cell) for cell in _cells(line.lstrip(b"#").strip(), sign)):
        header = _names(line.lstrip(b"#").strip(), sign, Location(path, number))
        offset, number = min(end + 1, len(first_block)), number + 1
    width = len(header) if header else len(_cells(line, sign))
    parts = []
    for block in _with_first(first_block[offset:], blocks):
        values = _bulk(block, sign, width)
        if values is None:
            values = _line_by_line(block, sign, width, number, path)
        parts.append(values)
        number += block.count(b"\n")
    table = np.concatenate(parts) if parts else np.zeros((0, width))
    return Table(path, table, header, header_line)


def _with_first(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _blocks(file: BinaryIO, path: str) -> Iterator[bytes]:
    """Return the file in pieces that end with lines."""
    left = b""
    while piece := file.read(_BLOCK):
        left += piece
        cut = left.rfind(b"\n") + 1
        if cut:
            yield left[:cut]
            left = left[cut:]
        elif len(left) > 4 * _BLOCK:
            raise TOO_LONG.error("a line is too long", Location(path))
    if left:
        yield left


def _delimiter(line: bytes) -> str:
    return next((sign for sign in (",", ";", "\t") if sign.encode() in line), " ")


def _cells(line: bytes, sign: bytes) -> list[bytes]:
    return line.split() if sign == b" " else line.split(sign)


def _lines(block: bytes) -> Iterator[bytes]:
    """Return the lines that hold something."""
    return (text for found in re.finditer(rb"[^\n]+", block) if (text := found.group().strip()))


def _holds_names(line: bytes, following: bytes, delimiter: str | None) -> bool:
    """Whether a comment has as many cells as the row of numbers that follows it."""
    sign = (delimiter or _delimiter(following)).encode()
    cells = _cells(following, sign)
    return len(cells) > 1 and len(cells) == len(_cells(line, sign)) and all(_NUMBER.fullmatch(cell) for cell in cells)


def _names(line: bytes, sign: bytes, where: Location) -> tuple[str, ...]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TEXT.error("the names of the columns are not UTF-8", where) from error
    if sign == b" ":
        return tuple(text.split())
    try:
        return tuple(cell.strip() for cell in next(csv.reader([text], delimiter=sign.decode())))
    except csv.Error as error:
        raise TEXT.error(f"the names of the columns cannot be read: {error}", where) from error


def _bulk(block: bytes, sign: bytes, width: int) -> Floats | None:
    """Parse a block of rows; None where something in it needs a closer look."""
    text = block if block.endswith(b"\n") else block + b"\n"
    codes = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(codes == ord("\n"))
    if sign == b" ":
        blank = np.isin(codes, np.frombuffer(_BLANKS, np.uint8))
        begins = np.cumsum(~blank & np.concatenate([[True], blank[:-1]]))
        per_line = np.diff(begins[ends], prepend=0)
    else:
        found = np.cumsum(codes == sign[0])
        per_line = np.diff(found[ends], prepend=0) + 1
    if (per_line != width).any():
        return None
    joined = text if sign == b" " else text[:-1].replace(b"\r\n", sign).replace(b"\n", sign)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.fromstring(joined, np.float64, sep=sign.decode())
    except (ValueError, DeprecationWarning):
        return None
    return values.reshape(-1, width) if values.size == len(ends) * width else None


def _line_by_line(block: bytes, sign: bytes, width: int, number: int, path: str) -> Floats:
    rows = []
    for k, line in enumerate(block.split(b"\n")):
        stripped = line.strip()
        if not stripped or stripped.startswith(b"#"):
            continue
        cells = _cells(stripped, sign)
        if len(cells) != width:
            raise WIDTH.error(
                f"{len(cells)} cells, where there are {width} in the line before", Location(path, number + k, 1)
            )
        row = []
        for j, cell in enumerate(cells):
            text = cell.strip()
            if len(text) > 1 and text[:1] == text[-1:] == b'"':
                text = text[1:-1]
            if not _NUMBER.fullmatch(text):
                column = line.find(cell, sum(len(c) + 1 for c in cells[:j]) if sign != b" " else 0) + 1
                shown = text[:40].decode("utf-8", "replace")
                raise CELL.error(f"cell {j + 1} is {shown!r}, not a number", Location(path, number + k, max(column, 1)))
            row.append(float(text))
        rows.append(row)
    return np.array(rows, np.float64).reshape(len(rows), width)
