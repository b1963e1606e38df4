"""Tables of Parquet and Arrow, as pandas, Polars and pyarrow write them.

A row is a frame.

A column of dates or durations is the time; dates count from the first one. Columns of
texts, lists and structs are not read.
"""

import re
from collections.abc import Collection
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError, Location
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.csv import rules
from bodymotion.formats.limits import Budget, budget_for
from bodymotion.formats.parquet import check_columns
from bodymotion.formats.rules import UNREADABLE
from bodymotion.formats.tables.number_table import CELL, Table
from bodymotion.system.deferred import need
from bodymotion.system.files import open_file

MAX_ADDRESS = 1 << 47  # [bytes] A larger size is no size.
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_NUMBER = re.compile(
    r"(?:dictionary<values=)?(?:u?int\d+|halffloat|float|double|bool"
    r"|decimal\d+\(.*\)|(?:timestamp|duration)\[[^]]*\])(?:, .*)?"
)
# What is compressed in a file of Arrow (zstd, lz4) has these bytes after a first one,
# and before that 8 bytes with its unpacked size.
FRAMES = rb"\xb5\x2f\xfd", rb"\x2a\x4d\x18", rb"\x22\x4d\x18"


def arrow(module: str = "") -> Any:  # noqa: ANN401
    """Import a module of pyarrow."""
    return need(
        f"pyarrow{module}", "data", "reading and writing tables of Parquet and Arrow"
    )


def opened(source: Any, **options: Any) -> Any:  # noqa: ANN401
    """Open a file of Parquet or Arrow.

    That of Parquet has a `schema_arrow`, one of Arrow or a stream of Arrow a `schema`.
    """
    head = source.read(6)
    source.seek(0)
    if head.startswith(b"PAR1"):
        return arrow(".parquet").ParquetFile(source)
    # Feather 1 is another format than Arrow.
    if head.startswith(b"FEA1"):
        raise ValueError("a table of Feather 1; write it again, as Feather 2 (Arrow)")
    return (
        arrow(".ipc").open_file if head == b"ARROW1" else arrow(".ipc").open_stream
    )(source, **options)


def schema_of(reader: Any) -> Any:  # noqa: ANN401
    """Return the schema of Arrow of an opened file."""
    if hasattr(reader, "schema_arrow"):
        return reader.schema_arrow
    return reader.schema


def names_in(schema: Any) -> list[str]:  # noqa: ANN401
    """Return the names of the columns of numbers and times.

    Those of the index of pandas are the first.
    """
    # pandas notes in the file which columns are its index.
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    return sorted(
        (one.name for one in schema if _NUMBER.fullmatch(str(one.type))),
        key=lambda name: name not in index,
    )


def read_arrow(path: str | Path, found: Diagnostics) -> Table | None:
    """Read the columns of numbers.

    Report nulls. None where there is no table.
    """
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
    """Return the table of the columns of numbers."""
    reader = opened(BytesIO(content))
    path = str(found.path)
    schema = schema_of(reader)
    names = names_in(schema)
    wanted = {*names}
    # A table with episodes, or with two columns of one name, is no motion.
    if not names or "episode_index" in names or len({*schema.names}) < len(schema):
        raise rules.NO_MOTION.error(
            f"the columns are {listed(schema.names, 12)}", Location(path)
        )
    if unread := sorted({*schema.names} - wanted):
        found.report(rules.UNREAD, f"columns that are not read: {listed(unread, 8)}")

    # The budget limits what a small file may expand to.
    with budget_for(path, len(content)) as budget:
        if hasattr(reader, "schema_arrow"):
            table = _read_parquet(content, reader, wanted, budget, path)
        else:
            table = _read_ipc(content, schema, wanted, budget)
            budget.take_items(table.num_rows, "rows", Location(path))
    values = np.empty((table.num_rows, len(names)))
    bad = np.zeros(table.num_rows, np.bool_)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    # Each column becomes one of float64.
    for k, name in enumerate(names):
        cells = columns[name]
        factor = 1.0
        kind = cells.type
        if hasattr(kind, "value_type"):  # categories
            kind = kind.value_type
            cells = cells.cast(kind)
        # Dates and durations: whole numbers of their unit.
        if hasattr(kind, "unit"):
            cells, names[k], factor = cells.cast("int64"), "time [s]", UNITS[kind.unit]
            # Dates count from the first one.
            if str(kind).startswith("timestamp"):
                cells = arrow(".compute").subtract(cells, arrow(".compute").min(cells))
        elif name == "__index_level_0__" or (
            name == "index" and "int" in str(kind)
        ):  # numbers of rows
            names[k] = "frame"
        # safe=False: integers of 64 bits may be rounded.
        values[:, k] = cells.cast("float64", safe=False).to_numpy() * factor
        if cells.null_count:
            missing = cells.is_null().to_numpy()
            row = int(missing.argmax())
            bad = bad | missing
            message = (
                f"{counted(cells.null_count, 'null')} in column {name!r}, the first "
                f"one in row {row}"
            )
            found.report(
                CELL,
                message,
                Location(path, inside=f"row {row}"),
                data={"row": row, "column": name},
            )
    # What makes tables of arrays numbers their columns.
    if names == [str(k) for k in range(len(names))]:
        named = None
    else:
        named = tuple(name.strip() for name in names)
    return Table(
        path,
        values,
        np.zeros(0, np.int64),
        named,
        None,
        tuple(np.flatnonzero(bad).tolist()),
    )


def _read_parquet(
    content: bytes,
    reader: Any,  # noqa: ANN401
    wanted: Collection[str],
    budget: Budget,
    path: str,
) -> Any:  # noqa: ANN401
    """Return the table of the wanted columns of Parquet, if it is within the limits."""
    # Columns of structs and lists have several leaves: those are left out.
    leaves = map(reader.schema.column, range(len(reader.schema)))
    columns = [
        k
        for k, leaf in enumerate(leaves)
        if leaf.name == leaf.path and leaf.name in wanted
    ]
    check_columns(BytesIO(content), columns, budget, path)
    return reader.reader.read_all(column_indices=columns, use_threads=False)


def _read_ipc(
    content: bytes,
    schema: Any,  # noqa: ANN401
    wanted: Collection[str],
    budget: Budget,
) -> Any:  # noqa: ANN401
    """Return the table of the wanted columns of Arrow, if it is within the limits."""
    packed = 0
    for frame in FRAMES:
        # What a file states to be its unpacked size, before it is unpacked.
        for match in re.finditer(frame, content):
            start = max(match.start() - 9, 0)
            size = int.from_bytes(content[start : start + 8], "little")
            if size < MAX_ADDRESS:
                packed += size
                budget.take_bytes(size)
    columns = [k for k, name in enumerate(schema.names) if name in wanted]
    options = arrow(".ipc").IpcReadOptions(included_fields=columns, use_threads=False)
    reader = opened(BytesIO(content), options=options)
    if hasattr(reader, "num_record_batches"):  # the same one may be named many times
        total = 0
        for number in range(reader.num_record_batches):
            size = reader.get_batch(number).get_total_buffer_size()
            total += size
            # What was packed is counted already.
            budget.take_bytes(min(size, max(total - packed, 0)))
    table = reader.read_all()
    # Offsets in the file may lead anywhere: all are checked.
    table.validate(full=True)
    return table
