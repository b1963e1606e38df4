"""Tables of Parquet and Arrow, as pandas, Polars and pyarrow write them: a row is a frame.

A column of dates or durations is the time; dates count from the first one. Columns of texts, lists and structs are not read.
"""

import re
from collections.abc import Iterable
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError, Location
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.csv import rules
from bodymotion.formats.rules import UNPACKED, UNREADABLE
from bodymotion.formats.tables.number_table import CELL, Table
from bodymotion.system.deferred import need
from bodymotion.system.files import open_file

MAX_BYTES, MAX_RATIO, MAX_ADDRESS = 64 << 20, 100, 1 << 47
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_NUMBER = re.compile(
    r"(?:dictionary<values=)?(?:u?int\d+|halffloat|float|double|bool|decimal\d+\(.*\)|(?:timestamp|duration)\[[^]]*\])(?:, .*)?"
)
# What is compressed in a file of Arrow (zstd, lz4) has these bytes after a first one, and before that 8 bytes with its unpacked size.
FRAMES = rb"\xb5\x2f\xfd", rb"\x2a\x4d\x18", rb"\x22\x4d\x18"


def arrow(module: str = "") -> Any:  # noqa: ANN401
    """Import a module of pyarrow."""
    return need(
        f"pyarrow{module}", "data", "reading and writing tables of Parquet and Arrow"
    )


def opened(source: Any, **options: Any) -> Any:  # noqa: ANN401
    """Open a file: that of Parquet has a `schema_arrow`, one of Arrow or a stream of Arrow a `schema`."""
    head = source.read(6)
    source.seek(0)
    if head.startswith(b"PAR1"):
        return arrow(".parquet").ParquetFile(source)
    if head.startswith(b"FEA1"):
        raise ValueError("a table of Feather 1; write it again, as Feather 2 (Arrow)")
    return (
        arrow(".ipc").open_file if head == b"ARROW1" else arrow(".ipc").open_stream
    )(source, **options)


def schema_of(reader: Any) -> Any:  # noqa: ANN401
    """Return the schema of Arrow of an opened file."""
    return reader.schema_arrow if hasattr(reader, "schema_arrow") else reader.schema


def names_in(schema: Any) -> list[str]:  # noqa: ANN401
    """Return the names of the columns of numbers and times, those of the index of pandas first."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    return sorted(
        (one.name for one in schema if _NUMBER.fullmatch(str(one.type))),
        key=lambda name: name not in index,
    )


def read_arrow(path: str | Path, found: Diagnostics) -> Table | None:
    """Read the columns of numbers; report nulls. None where there is no table."""
    try:
        with open_file(path) as file:
            return _read(file.read(), found)
    except FormatError as error:
        found.extend(error.problems)
    except ImportError:
        raise
    except Exception as error:  # what pyarrow raises for damaged files is of many types
        found.report(
            UNREADABLE, str(error).partition("\n")[0][:200] or type(error).__name__
        )
    return None


def _read(content: bytes, found: Diagnostics) -> Table:
    reader, path = opened(BytesIO(content)), str(found.path)
    schema = schema_of(reader)
    names, limit = names_in(schema), max(MAX_BYTES, MAX_RATIO * len(content))
    wanted = {*names}
    if not names or "episode_index" in names or len({*schema.names}) < len(schema):
        raise rules.NO_MOTION.error(
            f"the columns are {listed(schema.names, 12)}", Location(path)
        )
    if unread := sorted({*schema.names} - wanted):
        found.report(rules.UNREAD, f"columns that are not read: {listed(unread, 8)}")

    def check(sizes: Iterable[int]) -> None:
        if any(size > limit for size in accumulate(sizes)):
            raise UNPACKED.error(
                f"it unpacks to more than {limit >> 20} MB", Location(path)
            )

    if hasattr(reader, "schema_arrow"):
        leaves = map(reader.schema.column, range(len(reader.schema)))
        kept = [
            k
            for k, leaf in enumerate(leaves)
            if leaf.name == leaf.path and leaf.name in wanted
        ]
        groups = map(reader.metadata.row_group, range(reader.num_row_groups))
        chunks = [group.column(k) for group in groups for k in kept]
        if sum(chunk.total_compressed_size for chunk in chunks) > len(content):
            raise ValueError("the columns overlap")
        check(
            max(
                8 * chunk.num_values,
                chunk.total_uncompressed_size,
                _unpacked(content, chunk),
            )
            for chunk in chunks
        )
        table = reader.reader.read_all(column_indices=kept, use_threads=False)
    else:
        starts = (
            match.start() - 9
            for frame in FRAMES
            for match in re.finditer(frame, content)
        )
        sizes = (
            int.from_bytes(content[max(at, 0) : at + 8], "little") for at in starts
        )
        check(size for size in sizes if size < MAX_ADDRESS)
        kept = [k for k, name in enumerate(schema.names) if name in wanted]
        options = arrow(".ipc").IpcReadOptions(included_fields=kept, use_threads=False)
        reader = opened(BytesIO(content), options=options)
        if hasattr(
            reader, "num_record_batches"
        ):  # the same one may be named many times
            check(
                reader.get_batch(k).get_total_buffer_size()
                for k in range(reader.num_record_batches)
            )
        table = reader.read_all()
        table.validate(full=True)
    check([8 * len(names) * table.num_rows])
    values, bad = (
        np.empty((table.num_rows, len(names))),
        np.zeros(table.num_rows, np.bool_),
    )
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for k, name in enumerate(names):
        cells, factor = columns[name], 1.0
        kind = cells.type
        if hasattr(kind, "value_type"):  # categories
            kind = kind.value_type
            cells = cells.cast(kind)
        if hasattr(kind, "unit"):
            cells, names[k], factor = cells.cast("int64"), "time [s]", UNITS[kind.unit]
            if str(kind).startswith("timestamp"):
                cells = arrow(".compute").subtract(cells, arrow(".compute").min(cells))
        elif name == "__index_level_0__" or (
            name == "index" and "int" in str(kind)
        ):  # numbers of rows
            names[k] = "frame"
        values[:, k] = cells.cast("float64", safe=False).to_numpy() * factor
        if cells.null_count:
            missing = cells.is_null().to_numpy()
            row, bad = int(missing.argmax()), bad | missing
            message = f"{counted(cells.null_count, 'null')} in column {name!r}, the first one in row {row}"
            found.report(
                CELL,
                message,
                Location(path, inside=f"row {row}"),
                data={"row": row, "column": name},
            )
    # What makes tables of arrays numbers their columns.
    named = (
        None
        if names == [str(k) for k in range(len(names))]
        else tuple(name.strip() for name in names)
    )
    return Table(
        path,
        values,
        np.zeros(0, np.int64),
        named,
        None,
        tuple(np.flatnonzero(bad).tolist()),
    )


def _unpacked(content: bytes, chunk: Any) -> int:  # noqa: ANN401
    """Return the unpacked size of a column chunk by the headers of its pages, which pyarrow believes where the footer states less."""
    starts = (
        chunk.data_page_offset,
        chunk.dictionary_page_offset if chunk.has_dictionary_page else 0,
    )
    at, size = min(start for start in starts if start > 0), 0
    end = at + chunk.total_compressed_size
    while at < end:
        fields, at = _struct(content, at)
        # PageHeader of parquet.thrift: 2 is `uncompressed_page_size`, 3 is `compressed_page_size`.
        if min(fields.get(2, -1), fields.get(3, -1)) < 0:
            raise ValueError("the header of a page has no size")
        size, at = size + fields[2], at + fields[3]
    return size


def _struct(content: bytes, at: int, depth: int = 0) -> tuple[dict[int, int], int]:
    """Return the integers of a structure of Thrift's compact protocol by their ids, and where it ends."""
    fields: dict[int, int] = {}
    number = 0
    while kind := content[at]:
        number, at = number + (kind >> 4), at + 1
        if not kind >> 4:
            number, at = _integer(content, at)
        kind &= 15
        if kind == 12 and depth < 4:
            at = _struct(content, at, depth + 1)[1]
        elif kind == 8:  # bytes
            value, at = _integer(content, at)
            at += 2 * value if value >= 0 else -2 * value - 1
        elif kind in (4, 5, 6):
            fields[number], at = _integer(content, at)
        elif kind not in (1, 2):  # truth values have no bytes of their own
            raise ValueError(f"the header of a page has a field of kind {kind}")
    return fields, at + 1


def _integer(content: bytes, at: int) -> tuple[int, int]:
    """Return an integer of Thrift: 7 bits a byte, the sign in the lowest bit; and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        value |= (content[at + shift // 7] & 127) << shift
        if content[at + shift // 7] < 128:
            return value >> 1 ^ -(value & 1), at + shift // 7 + 1
    raise ValueError("an integer has more than 64 bits")
