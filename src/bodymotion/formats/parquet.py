"""Sizes that a file of Parquet states, read without pyarrow.

pyarrow ends the process at some damaged descriptions of columns, and unpacks pages of
any size. So the footer and the headers of the pages are read here, in the compact
protocol of Thrift, before pyarrow reads any numbers. The layout is that of
`parquet.thrift`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from bodymotion.diagnostics import Location
from bodymotion.formats.limits import Budget

__all__ = ["check_columns"]

MAGIC = b"PAR1"
TAIL_BYTES = 8  # The length of the footer, and MAGIC.
# [bytes] The header of a page is read in such pieces; statistics make it longer.
HEADER_BYTES = 4096
MAX_HEADER_BYTES = 16 << 20
MAX_DEPTH = 16  # Levels of structures in a footer; the format has fewer than 10.
NUMBER_BYTES = 8  # [bytes] A number in memory.
BYTE_ARRAY = 6  # The physical type of texts, whose values may be of any size.
FIXED_BYTE_ARRAY = 7  # The physical type of decimals and half floats.
MAX_FIXED_BYTES = 64  # [bytes] The longest decimal has 32.

# The fields of a structure of Thrift by their numbers. Integers, bytes, lists, and
# structures.
Fields: TypeAlias = dict[int, Any]


class FileMetaData(IntEnum):
    """Numbers of the fields of a footer."""

    SCHEMA = 2
    NUM_ROWS = 3
    ROW_GROUPS = 4


class SchemaElement(IntEnum):
    """Numbers of the fields of a column of the schema, or of a group of columns."""

    TYPE = 1
    TYPE_LENGTH = 2
    NUM_CHILDREN = 5


class RowGroup(IntEnum):
    """Numbers of the fields of a group of rows."""

    COLUMNS = 1
    NUM_ROWS = 3


class ColumnChunk(IntEnum):
    """Numbers of the fields of a column in a group of rows."""

    META_DATA = 3


class ColumnMetaData(IntEnum):
    """Numbers of the fields that describe a column in a group of rows."""

    NUM_VALUES = 5
    TOTAL_UNCOMPRESSED_SIZE = 6
    TOTAL_COMPRESSED_SIZE = 7
    DATA_PAGE_OFFSET = 9
    DICTIONARY_PAGE_OFFSET = 11


class PageHeader(IntEnum):
    """Numbers of the fields of the header of a page."""

    UNCOMPRESSED_SIZE = 2
    COMPRESSED_SIZE = 3
    DATA_PAGE = 5
    DATA_PAGE_V2 = 8


class DataPage(IntEnum):
    """Numbers of the fields of a page of data, of either version."""

    NUM_VALUES = 1


class Kind(IntEnum):
    """Kinds of values in the compact protocol of Thrift.

    The lowest 4 bits of the header of a field or list.
    """

    TRUE = 1
    FALSE = 2
    BYTE = 3
    INT16 = 4
    INT32 = 5
    INT64 = 6
    DOUBLE = 7
    BINARY = 8
    LIST = 9
    SET = 10
    STRUCT = 12


@dataclass(frozen=True)
class Chunk:
    """The values of one column in one group of rows.

    Attributes
    ----------
    column:
        The number of the column among the leaves of the schema.
    num_values:
        As the footer states it.
    start, size:
        [bytes] Where its pages are in the file.
    unpacked:
        [bytes] Their unpacked size, as the footer states it.
    """

    column: int
    num_values: int
    start: int
    size: int
    unpacked: int


class PageCounts(NamedTuple):
    """The number of values in some pages, and their unpacked size [bytes]."""

    num_values: int
    unpacked: int


def check_columns(
    file: BinaryIO, columns: Collection[int], budget: Budget, path: str
) -> None:
    """Count the unpacked bytes and the rows of some columns.

    `columns` are numbers among the leaves of the schema.

    Raises
    ------
    FormatError
        When they are too many (FMT009, FMT010).
    ValueError
        When the footer or the header of a page is damaged, or a column holds texts.
    """
    location = Location(path)
    footer, size = _footer(file)
    # Leaves of the schema are columns; groups have children.
    leaves = [
        element
        for element in _list(footer, FileMetaData.SCHEMA)
        if not _integer(element, SchemaElement.NUM_CHILDREN, 0)
    ]
    for column in columns:
        _check_type(leaves, column)
    groups = _list(footer, FileMetaData.ROW_GROUPS)
    rows = [_integer(group, RowGroup.NUM_ROWS) for group in groups]
    num_rows = _integer(footer, FileMetaData.NUM_ROWS)
    if any(count < 0 for count in rows) or sum(rows) != num_rows:
        raise ValueError("the footer has several numbers of rows")
    budget.take_items(sum(rows), "rows", location)
    chunks = [one for one in _chunks(footer) if one.column in columns]
    if any(one.start < 0 or one.size < 0 or one.num_values < 0 for one in chunks):
        raise ValueError("the footer has negative sizes")
    # Chunks of different columns cannot share bytes.
    if sum(one.size for one in chunks) > size:
        raise ValueError("the columns overlap")
    for chunk in chunks:
        pages = _count_pages(file, chunk, budget, location)
        # Whatever is largest: as stated, by pages, or as numbers in memory.
        in_memory = NUMBER_BYTES * max(chunk.num_values, pages.num_values)
        budget.take_bytes(max(in_memory, chunk.unpacked, pages.unpacked), location)


def _check_type(leaves: list[Fields], column: int) -> None:
    """Raise ValueError where the values of a column may be of any size."""
    if column >= len(leaves):
        raise ValueError(f"the footer has no column {column}")
    # Texts may be of any size in memory.
    kind = _integer(leaves[column], SchemaElement.TYPE)
    is_text = kind == BYTE_ARRAY
    is_long = kind == FIXED_BYTE_ARRAY and not (
        0 < _integer(leaves[column], SchemaElement.TYPE_LENGTH, 0) <= MAX_FIXED_BYTES
    )
    if is_text or is_long:
        raise ValueError(f"column {column} holds texts; expected numbers")


def _footer(file: BinaryIO) -> tuple[Fields, int]:
    """Return the footer of a file, and the size [bytes] of the file."""
    size = file.seek(0, 2)
    # The file ends with the length of the footer and the magic.
    file.seek(max(size - TAIL_BYTES, 0))
    tail = file.read(TAIL_BYTES)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or length > size - TAIL_BYTES - len(MAGIC):
        raise ValueError("the file has no footer of Parquet")
    file.seek(size - TAIL_BYTES - length)
    try:
        return _Thrift(file.read(length)).structure(), size
    except IndexError:
        raise ValueError("the footer ends too soon") from None


def _chunks(footer: Fields) -> Iterator[Chunk]:
    """Return the chunks of all columns."""
    for group in _list(footer, FileMetaData.ROW_GROUPS):
        for column, chunk in enumerate(_list(group, RowGroup.COLUMNS)):
            about = chunk.get(ColumnChunk.META_DATA)
            if not isinstance(about, dict):
                raise ValueError("the footer does not describe a column")
            # Pages of a dictionary come before those of data.
            starts = [
                _integer(about, ColumnMetaData.DATA_PAGE_OFFSET),
                _integer(about, ColumnMetaData.DICTIONARY_PAGE_OFFSET, 0),
            ]
            yield Chunk(
                column,
                num_values=_integer(about, ColumnMetaData.NUM_VALUES),
                start=min([start for start in starts if start > 0], default=-1),
                size=_integer(about, ColumnMetaData.TOTAL_COMPRESSED_SIZE),
                unpacked=_integer(about, ColumnMetaData.TOTAL_UNCOMPRESSED_SIZE),
            )


def _count_pages(
    file: BinaryIO, chunk: Chunk, budget: Budget, location: Location
) -> PageCounts:
    """Return what the pages of a chunk hold by their headers.

    pyarrow believes these.
    """
    offset = chunk.start
    num_values = 0
    unpacked = 0
    # Page by page, until the chunk ends.
    while offset < chunk.start + chunk.size:
        budget.take_items(1, "pages", location)
        header, length = _page_header(file, offset)
        page_unpacked = _integer(header, PageHeader.UNCOMPRESSED_SIZE, -1)
        page_size = _integer(header, PageHeader.COMPRESSED_SIZE, -1)
        if min(page_unpacked, page_size) < 0:
            raise ValueError("the header of a page has no size")
        unpacked += page_unpacked
        # Pages of either version have values; those of dictionaries have none.
        for number in (PageHeader.DATA_PAGE, PageHeader.DATA_PAGE_V2):
            about = header.get(number)
            if isinstance(about, dict):
                num_values += max(_integer(about, DataPage.NUM_VALUES, 0), 0)
        offset += length + page_size
    return PageCounts(num_values, unpacked)


def _page_header(file: BinaryIO, offset: int) -> tuple[Fields, int]:
    """Return the header of a page at an offset of the file, and its length [bytes]."""
    length = HEADER_BYTES
    while True:
        file.seek(offset)
        content = file.read(length)
        reader = _Thrift(content)
        try:
            return reader.structure(), reader.offset
        except IndexError:
            # Statistics in a header may be long: it is read once more, longer.
            if len(content) < length or length >= MAX_HEADER_BYTES:
                raise ValueError("the header of a page ends too soon") from None
        length = MAX_HEADER_BYTES


def _list(fields: Fields, number: int) -> list[Fields]:
    """Return a list of structures."""
    values = fields.get(number)
    if not isinstance(values, list) or not all(isinstance(v, dict) for v in values):
        raise ValueError(f"the footer has no list {number}")
    return values


def _integer(fields: Fields, number: int, default: int | None = None) -> int:
    """Return an integer of a structure."""
    value = fields.get(number, default)
    if not isinstance(value, int):
        raise ValueError(f"the description of a column has no integer {number}")
    return value


class _Thrift:
    """A reader of the compact protocol of Thrift.

    IndexError where the bytes end too soon.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.offset = 0
        # Booleans are read where the header is.
        self.readers: dict[int, Callable[[int], Any]] = {
            Kind.BYTE: lambda depth: self._bytes(1),
            Kind.INT16: self._signed,
            Kind.INT32: self._signed,
            Kind.INT64: self._signed,
            Kind.DOUBLE: lambda depth: self._bytes(8),
            Kind.BINARY: lambda depth: self._bytes(self._unsigned()),
            Kind.LIST: self._items,
            Kind.SET: self._items,
            Kind.STRUCT: self.structure,
        }

    def structure(self, depth: int = 0) -> Fields:
        """Return the fields of a structure."""
        if depth > MAX_DEPTH:
            raise ValueError(f"structures are nested more than {MAX_DEPTH} deep")
        fields: Fields = {}
        number = 0
        # A byte 0 ends a structure.
        while head := self.content[self.offset]:
            self.offset += 1
            step = head >> 4
            kind = head & 15
            # The field's number is given as a step from the one before, or by itself.
            if step:
                number = number + step
            else:
                number = self._signed(depth)
            # The value of a boolean is in its kind.
            if kind in (Kind.TRUE, Kind.FALSE):
                fields[number] = kind == Kind.TRUE
            else:
                fields[number] = self._value(kind, depth)
        self.offset += 1
        return fields

    def _value(self, kind: int, depth: int) -> Any:  # noqa: ANN401
        reader = self.readers.get(kind)
        if reader is None:
            raise ValueError(f"a field is of the unknown kind {kind}")
        return reader(depth + 1)

    def _items(self, depth: int) -> list[Any]:
        """Return the items of a list or set."""
        if depth > MAX_DEPTH:
            raise ValueError(f"lists are nested more than {MAX_DEPTH} deep")
        head = self.content[self.offset]
        self.offset += 1
        kind = head & 15
        count = head >> 4
        # Counts of 15 and more follow in a number.
        if count == 15:
            count = self._unsigned()
        if count > len(self.content) - self.offset:  # an item has at least one byte
            raise IndexError
        if kind in (Kind.TRUE, Kind.FALSE):
            return [value == Kind.TRUE for value in self._bytes(count)]
        return [self._value(kind, depth) for _ in range(count)]

    def _bytes(self, count: int) -> bytes:
        end = self.offset + count
        if end > len(self.content):
            raise IndexError
        value = self.content[self.offset : end]
        self.offset = end
        return value

    def _unsigned(self) -> int:
        """Return an integer of 7 bits a byte."""
        value = 0
        # At most 10 bytes: 64 bits.
        for shift in range(0, 70, 7):
            byte = self.content[self.offset]
            self.offset += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("an integer has more than 64 bits")

    def _signed(self, depth: int) -> int:
        """Return an integer with its sign in the lowest bit."""
        # Zigzag: 0, −1, 1, −2 … are 0, 1, 2, 3 …
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)
