"""Tables of Parquet and Arrow that are made to harm."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyarrow import feather, ipc, parquet

from sample_files import ACCEPT

ZEROS = 1 << 27 if ACCEPT else 1 << 26  # Numbers; a gigabyte, or half of one.


def table_bytes(table: pa.Table, kind: str = "parquet", **options: object) -> bytes:
    """Return a table as the content of a file of Parquet, of Arrow (`feather`), or a stream of Arrow."""
    out = io.BytesIO()
    if kind == "stream":
        with ipc.new_stream(
            out, table.schema, options=ipc.IpcWriteOptions(**options)
        ) as writer:
            writer.write_table(table)
    elif kind == "parquet":
        parquet.write_table(table, out, **options)
    else:
        feather.write_feather(table, out, **options)
    return out.getvalue()


def zero_table(**columns: int) -> pa.Table:
    return pa.table({name: np.zeros(count) for name, count in columns.items()})


def repeated() -> bytes:
    """Return a file of Arrow whose footer names one batch, of 32 MB, a hundred times."""
    out = io.BytesIO()
    schema = zero_table(time=0).schema
    with ipc.new_file(
        out, schema, options=ipc.IpcWriteOptions(compression="zstd")
    ) as writer:
        for count in (1 << 22, *[1] * 99):
            writer.write_batch(zero_table(time=count).to_batches()[0])
    content = bytearray(out.getvalue())
    # The first batch is after the schema, whose length is stated; blocks of 24 bytes begin with the offsets of batches.
    at = content.rfind(struct.pack("<q", 16 + struct.unpack_from("<i", content, 12)[0]))
    content[at : at + 2400] = content[at : at + 24] * 100
    return bytes(content)


def lying_pages() -> bytes:
    """Return a file of Parquet whose footer states 1 number in 9 bytes; the headers of its pages state half a gigabyte."""
    count = 1 << 26  # the most numbers that pyarrow writes into a group of rows
    content = table_bytes(
        zero_table(time=count),
        row_group_size=count,
        compression="zstd",
        use_dictionary=False,
    )
    total = (
        parquet.ParquetFile(io.BytesIO(content))
        .metadata.row_group(0)
        .column(0)
        .total_uncompressed_size
    )
    start = len(content) - 8 - struct.unpack_from("<I", content, len(content) - 8)[0]
    footer = content[start:]
    for value, stated in ((count, 1), (total, 9)):
        # Integers of Thrift have 7 bits in a byte, and their sign in the lowest bit; the same number may have more bytes.
        width = -(-(2 * value).bit_length() // 7)
        old = bytes(2 * value >> 7 * k & 127 | 128 for k in range(width - 1)) + bytes(
            [2 * value >> 7 * (width - 1)]
        )
        footer = footer.replace(
            old, bytes([2 * stated | 128]) + b"\x80" * (width - 2) + b"\0"
        )
    return content[:start] + footer


BOMBS: dict[str, Callable[[], bytes]] = {
    "parquet": lambda: table_bytes(zero_table(time=ZEROS), row_group_size=ZEROS),
    "parquet zstd": lambda: table_bytes(
        zero_table(time=ZEROS), compression="zstd", use_dictionary=False
    ),
    "parquet pages": lying_pages,
    "feather zstd": lambda: table_bytes(
        zero_table(time=ZEROS), "feather", compression="zstd", chunksize=ZEROS
    ),
    "feather lz4": lambda: table_bytes(
        zero_table(time=ZEROS), "feather", compression="lz4", chunksize=ZEROS
    )[: 1 << 26],
    "arrow batches": repeated,
    "arrow stream": lambda: table_bytes(
        zero_table(time=ZEROS), "stream", compression="zstd"
    ),
}


def leaf(name: bytes) -> bytes:
    """Return the element of a schema of Parquet that is a column of doubles: type, repetition, name."""
    return b"\x15\x0a\x25\x00\x18" + bytes([len(name)]) + name + b"\x00"


def parquet_footer(*elements: bytes, children: int = 1, rows: int = 0) -> bytes:
    """Return a file of Parquet of a footer alone: a schema with elements below a root, and a number of rows."""

    def number(value: int) -> bytes:
        return (
            bytes([value & 127 | 128]) + number(value >> 7)
            if value > 127
            else bytes([value])
        )

    root = b"\x48\x01r\x15" + number(2 * children) + b"\x00"
    schema = b"\xfc" + number(1 + len(elements)) + root + b"".join(elements)
    footer = b"\x15\x02\x19" + schema + b"\x16" + number(2 * rows) + b"\x19\x0c\x00"
    return b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"


def deep_parquet(depth: int) -> bytes:
    """Return a schema of Parquet of groups in groups."""
    return parquet_footer(*[b"\x35\x00\x18\x01a\x15\x02\x00"] * depth, leaf(b"b"))
