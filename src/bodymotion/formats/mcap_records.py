"""Records of a file of MCAP, in chunks or not, up to where the file is cut.

A record is its kind (1 byte), its length (8 bytes) and its content. A chunk holds further records, compressed as a whole. What is left
of a chunk that is cut is unpacked, so that a recording that was killed in its first chunk is read, as `mcap recover` does. The kind 0 is
not defined: zeros are the end of a file that was allocated and never written.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from bodymotion.diagnostics import Location
from bodymotion.formats.limits import Budget
from bodymotion.system.deferred import need

__all__ = ["CutError", "all_records", "message_of"]

MCAP = b"\x89MCAP"
MAGIC_BYTES = 8
LENGTH_BYTES = 8  # Of the length of a chunk's data, before the data.
FOOTER_RECORD, SCHEMA_RECORD, CHANNEL_RECORD, MESSAGE_RECORD, CHUNK_RECORD = (
    2,
    3,
    4,
    5,
    6,
)
"""Kinds of records."""
_HEAD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<HIQQ")
_CHUNK = struct.Struct("<QQQII")
_FEATURE = "reading logs of robots"


class CutError(ValueError):
    """A file of MCAP ends before its last record."""


def all_records(
    file: BinaryIO, budget: Budget, location: Location
) -> Iterator[tuple[int, bytes]]:
    """Return the kind and content of each record in a file, those in chunks included.

    Raises
    ------
    CutError
        Where the file is cut.
    ValueError
        For a damaged chunk.
    FormatError
        Where the budget is spent.
    """
    file.seek(MAGIC_BYTES)
    kind = 0
    for kind, content, is_whole in _records(file, budget, location):
        if kind != CHUNK_RECORD:
            yield kind, content
            continue
        unpacked = BytesIO(_unpacked(content, budget, location))
        try:
            for inner_kind, inner_content, _ in _records(unpacked, budget, location):
                yield inner_kind, inner_content
        except CutError:
            if is_whole:
                raise ValueError("a chunk ends in the middle of a record") from None
        if not is_whole:
            raise CutError("the file ends in a chunk")
    if kind != FOOTER_RECORD or not file.read(MAGIC_BYTES).startswith(MCAP):
        raise CutError("the file ends before its last record")


def message_of(content: bytes) -> tuple[int, int, bytes]:
    """Return the channel, the time of the log [ns] and the data of a record of a message."""
    if len(content) < _MESSAGE.size:
        raise ValueError("a message is shorter than its head")
    channel, _, time, _ = _MESSAGE.unpack_from(content)
    return channel, time, content[_MESSAGE.size :]


def _records(
    stream: BinaryIO, budget: Budget, location: Location
) -> Iterator[tuple[int, bytes, bool]]:
    """Return kind and content of each record of a stream up to the footer, and whether the content is whole.

    Only of a chunk a part is returned; else CutError is raised where the content is not whole.
    """
    start = stream.tell()
    size = stream.seek(0, 2)
    stream.seek(start)
    kind = 0
    while kind != FOOTER_RECORD and (head := stream.read(_HEAD.size)):
        budget.take_items(1, "records", location)
        if len(head) < _HEAD.size or head[0] == 0:
            raise CutError("the file ends before its last record")
        kind, length = _HEAD.unpack(head)
        left = size - stream.tell()
        if length > left and kind != CHUNK_RECORD:
            raise CutError("the file ends in a record")
        yield kind, stream.read(min(length, left)), length <= left
        if length > left:
            return


def _unpacked(content: bytes, budget: Budget, location: Location) -> bytes:
    """Return the records of a chunk, or of the part of it that is there; no more than it states."""
    if len(content) < _CHUNK.size:
        return b""
    *_, size, _, name_length = _CHUNK.unpack_from(content)
    start = _CHUNK.size + name_length + LENGTH_BYTES
    compression = content[_CHUNK.size :][:name_length].decode("utf-8", "replace")
    data = content[start:]
    budget.take_bytes(size, location)
    if compression == "zstd":
        module = need("zstandard", "lake", _FEATURE)
        reader = module.ZstdDecompressor().stream_reader(data)
        return bytes(reader.read(size))
    if compression == "lz4":
        decompressor = need("lz4.frame", "lake", _FEATURE).LZ4FrameDecompressor()
        return bytes(decompressor.decompress(data, max_length=size))
    if compression:
        raise ValueError(f"the compression {compression!r:.20} is unknown")
    return data
