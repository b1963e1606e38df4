"""Text files that are tables of numbers.

One row a line, cells between commas, semicolons, tabs or blanks, maybe a line of names
first.

Blocks of whole lines are parsed in bulk; where that does not work, the lines of the
block are read one by one, and each that is no row of numbers is reported with its line
and column.
"""

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Locator,
    Problem,
    Source,
    SourceMap,
    Subject,
    judgement,
    losses,
)
from bodymotion.diagnostics.spelling import unusual_character
from bodymotion.diagnostics.text import counted
from bodymotion.formats.encodings import SAMPLE, in_utf8, wide_encoding
from bodymotion.formats.limits import check_time, timed
from bodymotion.formats.resources import unreadable
from bodymotion.formats.rules import ENCODING, TOO_LARGE
from bodymotion.formats.tables.columns import (
    ROUNDED_TIMES,
    check_increasing,
    rate_of_rounded,
    timeline_of,
)
from bodymotion.formats.text import number_rows, numbers_of_rows
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.motion import Component, Motion
from bodymotion.motion.components import Timeline, with_even_steps
from bodymotion.system.files import open_file

EMPTY = judgement.error(
    "TAB002",
    "A table has at least one line.",
    example=("an empty file", "a line of names, and lines of numbers"),
)
WIDTH = judgement.error(
    "TAB003",
    "All lines of a table have equally many cells.",
    example=("0.1,0.3", "0.1,0.3,0.4"),
)
CELL = judgement.error(
    "TAB004",
    "The cells of a table are plain decimal numbers.",
    "no thousands separators, no units, no empty cells; a decimal comma is not read",
    example=("0.1,0.3 rad,0.4", "0.1,0.3,0.4"),
)
TEXT = judgement.error(
    "TAB006",
    "The names of columns are UTF-8 text.",
    example=("the column 腰 in cp932", "the column 腰 in UTF-8"),
)

MAX_SHOWN = 10_000  # [bytes] Of a line that are searched for unusual characters.
_BLOCK = 4 << 20
_PIECE = 1 << 18
_ROWS = 4096
# A plain decimal number, nan or inf, with blanks around it.
_NUMBER = re.compile(
    rb"\s*+[-+]?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?|nan|inf(?:inity)?)\s*+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Table:
    """The numbers of a file.

    Attributes
    ----------
    values:
        (T, N); NaN in rows and cells that could not be read.
    lines:
        (T,) the line of each row, from 1; none in a file without lines.
    names:
        (N,) the names of the columns, where the first line has names.
    unread:
        The rows that could not be read as a whole.
    comments:
        The lines that begin with #, before the names, without the #.
    """

    path: str
    values: Floats
    lines: Indices
    names: tuple[str, ...] | None = None
    header_line: int | None = 1
    unread: tuple[int, ...] = ()
    comments: tuple[str, ...] = ()

    def row(self, number: int) -> Location:
        """Return the location of a row, counted from 0."""
        line = (
            int(self.lines[number])
            if 0 <= number < len(self.lines)
            else self.header_line
        )
        return Location(
            self.path, line, inside=f"row {number}" if line is None else None
        )

    def timeline(
        self,
        times: Floats,
        found: Diagnostics,
        rate: float | None = None,
        from_zero: bool = False,
    ) -> Timeline:
        """Return the timeline of a column of times (T,) [s].

        Times that do not increase are reported; see `timeline_of`.

        Rows that could not be read are at even steps between their neighbours.
        """
        check_increasing(times, found, self.row, self.unread)
        # Rows without a time lie between their neighbours.
        times = with_even_steps(times)
        is_in_order = np.isfinite(times).all() and (np.diff(times) > 0).all()
        if not is_in_order:
            return Timeline.stamped(times)
        timeline = timeline_of(times, rate, from_zero)
        # A fixed rate or one for resampling is known.
        has_rate = timeline.stamps is None or timeline.import_rate is not None
        if has_rate or rate is not None:
            return timeline
        rounded = rate_of_rounded(times)
        if rounded is None:
            return timeline
        message = f"the times are rounded ones of {rounded:g} Hz"
        location = Location(self.path, self.header_line)
        found.report(ROUNDED_TIMES, message, location, data={"rate": rounded})
        if from_zero or times[0] == 0:
            return Timeline.uniform(len(times), rounded)
        return Timeline.stamped(times, rounded)

    def locate(self, subject: Subject) -> Location:
        """Return the location of ("frames", t, …) of a component.

        That of the row; of anything else the line of names.
        """
        if subject[:1] == ("frames",) and len(subject) > 1:
            return self.row(int(subject[1]))
        return Location(self.path, self.header_line)


def table_motion(
    tables: Sequence[Table],
    components: Sequence[Component],
    source: Source,
    found: Diagnostics,
) -> Motion:
    """Return the motion of components that were read from tables.

    There is one table for each component, or one for all. The motion has their
    locations and all problems.
    """
    entries: dict[Subject, Location | Locator] = {}
    for k in range(len(components)):
        # One table for all components, or one for each.
        table = tables[k if len(tables) == len(components) else 0]
        entries["components", k] = table.locate
        found.mark_unknown(*(("components", k, "frames", row) for row in table.unread))
    locations = SourceMap(entries, found.unknown)
    return Motion(
        tuple(components),
        source=replace(source, locations=locations),
        problems=found.problems,
    )


def write_rows(
    stream: BinaryIO, values: Floats, separator: bytes
) -> tuple[Problem, ...]:
    """Write rows (T, N), one a line.

    Return the loss of numbers that are not finite.
    """
    missing = int(values.size - np.count_nonzero(np.isfinite(values)))
    for start in range(0, len(values), _ROWS):
        # In pieces, so the text of a large table is never whole in memory.
        rows = number_rows(np.ascontiguousarray(values[start : start + _ROWS]))
        text = b"\n".join(rows).replace(b", ", separator) + b"\n"
        # `number_rows` writes `.nan` and `.inf` as in YAML; tables have nan and inf.
        stream.write(
            text.replace(b".nan", b"nan").replace(b".inf", b"inf") if missing else text
        )
    message = f"{counted(missing, 'number')} not finite, written as nan and inf"
    if missing:
        return (losses.NOT_FINITE.problem(message),)
    return ()


def read_rows(
    text: bytes, start: int, path: str, line: int, width: int, found: Diagnostics
) -> Table:
    """Read lines of `width` numbers between blanks.

    They begin at byte `start`, in line `line` of a file.

    Report each that is no such row.
    """
    rows = _Rows(path, b" ", width, found)
    while start < len(text):
        # A piece ends with a line: the last one before its end, or the next behind it.
        end = (
            text.rfind(b"\n", start, start + _PIECE) + 1
            or text.find(b"\n", start + _PIECE) + 1
            or len(text)
        )
        block = text[start:end]
        line += rows.add(block if end < len(text) else block.rstrip(), line)
        start = end
    return Table(path, *rows.arrays(), unread=tuple(rows.unread))


def read_table(
    path: str | Path, found: Diagnostics, delimiter: str | None = None
) -> Table | None:
    """Read a table; report each line that is no row of numbers.

    None where there is no table at all.

    Parameters
    ----------
    path:
        The file. Empty lines, and lines that begin with #, are passed over. A line with
        # before the rows has the names if it has as many cells as the first row; those
        before it are the `comments` of the table.
    delimiter:
        "," ";" a tab, or " " for any number of blanks; by default the first line
        decides.
    """
    name = str(path)
    try:
        with open_file(path) as file:
            # UTF-16 and UTF-32 are changed to UTF-8 first.
            wide = wide_encoding(file.read(SAMPLE))
            file.seek(0)
            if wide:
                found.report(ENCODING, f"the text is {wide}", Location(name, 1))
                file = BytesIO(in_utf8(file.read())[0])
            return _read(file, name, found, delimiter)
    except FormatError as error:
        found.extend(error.problems)
    except (OSError, ValueError) as error:
        found.extend(unreadable(error, path).problems)
    return None


def num_columns(head: bytes) -> int:
    """Return the number of columns of a table that begins with these bytes.

    0 where they hold no row of numbers.
    """
    try:
        table = _read(
            # The last character of the bytes may be cut.
            BytesIO(in_utf8(head)[0].decode("utf-8", "replace").encode()),
            "",
            Diagnostics(),
            None,
        )
    except FormatError:
        return 0
    return table.values.shape[1] if len(table.values) > len(table.unread) else 0


def _read(
    file: BinaryIO, path: str, found: Diagnostics, delimiter: str | None
) -> Table:
    """Return the table of a file of text."""
    blocks = _blocks(file, path)
    first_block = next(blocks, b"").removeprefix(b"\xef\xbb\xbf")
    number = 1
    offset = 0
    line = b""
    comments: list[str] = []
    # The first line that is no comment: it shows how many columns there are.
    lines = (found.group().strip() for found in re.finditer(rb"[^\n]+", first_block))
    following = next(
        (text for text in lines if text and not text.startswith(b"#")), b""
    )
    while offset < len(first_block):
        end = first_block.find(b"\n", offset)
        if end < 0:
            end = len(first_block)
        line = _first_line(first_block[offset:end], delimiter)
        bare = re.sub(
            rb"^#+\s*+", b"", line
        )  # A tab between # and the names is not between cells.
        # A comment line holds the names if it has as many cells as the numbers below.
        if bare.strip() and (
            not line.startswith(b"#") or _holds_names(bare, following, delimiter)
        ):
            break
        if bare.strip():
            comments.append(bare.strip().decode("utf-8", "replace"))
        offset = end + 1
        number = number + 1
    else:
        raise EMPTY.error("there is no row", Location(path))
    sign = (delimiter or _delimiter(line)).encode()
    header = None
    header_line = number
    # A line with anything but numbers has the names.
    if not all(_NUMBER.fullmatch(cell) for cell in _cells(bare.strip(), sign)):
        header = _names(bare, sign, Location(path, number))
        offset = min(end + 1, len(first_block))
        number = number + 1
    if header:
        width = len(header)
    else:
        width = len(_cells(line, sign))
    rows = _Rows(path, sign, width, found)
    # The rest of the first block, then the others.
    for block in filter(None, chain([first_block[offset:]], blocks)):
        number += rows.add(block, number)
    return Table(
        path, *rows.arrays(), header, header_line, tuple(rows.unread), tuple(comments)
    )


class _Rows:
    """The rows of a table, read block by block."""

    def __init__(self, path: str, sign: bytes, width: int, found: Diagnostics) -> None:
        self.path = path
        self.sign = sign
        self.width = width
        self.found = found
        self.values: list[Floats] = []
        self.lines: list[Indices] = []
        self.unread: list[int] = []
        self.count = 0

    def arrays(self) -> tuple[Floats, Indices]:
        """Return the numbers (T, N), and the line of each row (T,)."""
        # With an empty first array, no rows give the right shape.
        none = np.zeros((0, self.width)), np.zeros(0, np.int64)
        return np.concatenate([none[0], *self.values]), np.concatenate(
            [none[1], *self.lines]
        )

    def add(self, block: bytes, number: int) -> int:
        """Read a block of whole lines, the first of which is line `number`.

        Return how many ends of lines it has.
        """
        check_time()
        # The fast way: all numbers of a block at once.
        bulk = numbers_of_rows(block, self.width, self.sign)
        if bulk is None:
            read = None
        else:
            read = (bulk, np.arange(number, number + len(bulk)))
        values, lines = read or self._line_by_line(block, number)
        self.values.append(values)
        self.lines.append(lines)
        self.count += len(values)
        # In bulk, each line is a row; else blank lines and comments count as well.
        if read:
            return len(values)
        return block.count(b"\n")

    def _line_by_line(self, block: bytes, number: int) -> tuple[Floats, Indices]:
        """Return the rows of a block and their lines, one by one."""
        rows: list[list[float]] = []
        lines: list[int] = []
        for k, line in enumerate(timed(block.split(b"\n")), number):
            stripped = _stripped(line, self.sign.decode())
            if not stripped.strip() or stripped.startswith(b"#"):
                continue
            row = self._row(line, stripped, k)
            if row is None:
                # The row keeps its place, so times and lines of the others stay right.
                self.unread.append(self.count + len(rows))
            rows.append([math.nan] * self.width if row is None else row)
            lines.append(k)
        return np.array(rows, np.float64).reshape(len(rows), self.width), np.array(
            lines, np.int64
        )

    def _row(self, line: bytes, stripped: bytes, number: int) -> list[float] | None:
        """Return the numbers of a line.

        None where it is no row, which is reported.
        """
        cells = _cells(stripped, self.sign)
        # An unusual character may look like a separator.
        if len(cells) != self.width:
            message = (
                f"{counted(len(cells), 'number')} in the line; expected {self.width}"
            )
            shown = stripped[:MAX_SHOWN].decode("utf-8", "replace")
            if unusual := unusual_character(shown):
                message = f"{message}: it has the character {unusual}"
            self.found.report(WIDTH, message, Location(self.path, number, 1))
            return None
        row = []
        for j, cell in enumerate(cells):
            text = cell.strip()
            # A number in quotes is a number all the same.
            if len(text) > 1 and text[:1] == text[-1:] == b'"':
                text = text[1:-1]
            if _NUMBER.fullmatch(text):
                row.append(float(text))
                continue
            # The column of the cell: all before it, and the separators.
            if self.sign != b" ":
                start = sum(len(c) + 1 for c in cells[:j])
            else:
                start = 0
            location = Location(self.path, number, max(line.find(cell, start) + 1, 1))
            shown = text[:40].decode("utf-8", "replace")
            unusual = unusual_character(shown)
            if unusual:
                remark = f": it has the character {unusual}"
            else:
                remark = ""
            message = f"cell {j + 1} is {shown!r}, not a number{remark}"
            self.found.report(CELL, message, location, data={"cell": j})
        return row if len(row) == self.width else None


def _blocks(file: BinaryIO, path: str) -> Iterator[bytes]:
    """Return the file in pieces that end with lines."""
    left = b""
    while piece := file.read(_BLOCK):
        left += piece
        # Only whole lines; the rest waits for the next piece.
        cut = left.rfind(b"\n") + 1
        if cut:
            yield left[:cut]
            left = left[cut:]
        elif len(left) > 4 * _BLOCK:
            raise TOO_LARGE.error(
                f"a line has more than {4 * _BLOCK} characters", Location(path)
            )
    if left:
        yield left


def _delimiter(line: bytes) -> str:
    # The first of these in the line; blanks where there is none.
    return next((sign for sign in (",", ";", "\t") if sign.encode() in line), " ")


def _cells(line: bytes, sign: bytes) -> list[bytes]:
    if sign == b" ":
        return line.split()
    return line.split(sign)


def _stripped(line: bytes, delimiter: str | None) -> bytes:
    """Return a line without blanks and line ends around it.

    Tabs between cells are kept.
    """
    if delimiter == "\t":
        return line.strip(b" \r\n")
    return line.strip()


def _first_line(line: bytes, delimiter: str | None) -> bytes:
    """Return the first line.

    A tab before the names of other columns stays, as that of the index of pandas has no
    name.
    """
    bare = _stripped(line, delimiter)
    is_between_tabs = delimiter is None and _delimiter(bare) == "\t"
    # Blanks at the front are no cell; a tab there is one.
    if is_between_tabs:
        return line.lstrip(b" ").rstrip()
    return bare


def _holds_names(line: bytes, following: bytes, delimiter: str | None) -> bool:
    """Return whether a comment has as many cells as the row after it."""
    sign = (delimiter or _delimiter(following)).encode()
    cells = _cells(following, sign)
    return (
        len(cells) > 1
        and len(cells) == len(_cells(line, sign))
        and all(_NUMBER.fullmatch(cell) for cell in cells)
    )


def _names(line: bytes, sign: bytes, where: Location) -> tuple[str, ...]:
    """Return the names of the columns in the first line."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TEXT.error("the names of the columns are not UTF-8", where) from error
    if sign == b" ":
        return tuple(text.split())
    try:
        return tuple(
            cell.strip() for cell in next(csv.reader([text], delimiter=sign.decode()))
        )
    except csv.Error as error:
        raise TEXT.error(
            f"the names of the columns cannot be read: {error}", where
        ) from error
