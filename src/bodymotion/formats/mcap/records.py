"""Records of a file of MCAP, in chunks or not, up to where the file is cut.

A record is its kind (1 byte), its length (8 bytes) and its content. A chunk holds
further records, compressed as a whole. What is left of a chunk that is cut is unpacked,
so that a recording that was killed in its first chunk is read, as `mcap recover` does.
The kind 0 is not defined: zeros are the end of a file that was allocated and never
written.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from io import BytesIO
from typing import BinaryIO, NamedTuple

from bodymotion.diagnostics import Location
from bodymotion.formats.limits import Budget
from bodymotion.system.deferred import need

__all__ = ["MCAP", "CutError", "Kind", "Message", "Record", "all_records", "message_of"]

MCAP = b"\x89MCAP"
MAGIC_BYTES = 8
LENGTH_BYTES = 8  # Of the length of a chunk's data, before the data.
_HEAD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<HIQQ")
_CHUNK = struct.Struct("<QQQII")
_FEATURE = "reading logs of robots"


class Kind(IntEnum):
    """Kinds of records."""

    FOOTER = 2
    SCHEMA = 3
    CHANNEL = 4
    MESSAGE = 5
    CHUNK = 6


class Record(NamedTuple):
    """A record, whose content may be cut if it is a chunk: `is_whole`."""

    kind: int
    content: bytes
    is_whole: bool = True


class Message(NamedTuple):
    """A record of a message.

    The number of its channel, the time of the log [ns] and the data.
    """

    channel: int
    time: int
    data: bytes


class CutError(ValueError):
    """A file of MCAP ends before its last record."""


def all_records(file: BinaryIO, budget: Budget, location: Location) -> Iterator[Record]:
    """Yield the records in a file, those in chunks included.

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
    for record in _records(file, budget, location):
        # The last kind shows whether the file has its end.
        kind = record.kind
        if kind != Kind.CHUNK:
            yield record
            continue
        unpacked = BytesIO(_unpacked(record.content, budget, location))
        try:
            yield from _records(unpacked, budget, location)
        except CutError:
            # A whole chunk with half a record is damaged, not cut.
            if record.is_whole:
                raise ValueError("a chunk ends in the middle of a record") from None
        if not record.is_whole:
            raise CutError("the file ends in a chunk")
    if kind != Kind.FOOTER or not file.read(MAGIC_BYTES).startswith(MCAP):
        raise CutError("the file ends before its last record")


def message_of(content: bytes) -> Message:
    """Return the message in the content of a record.

    ValueError where it is too short.
    """
    if len(content) < _MESSAGE.size:
        raise ValueError("a message is shorter than its head")
    # Channel, sequence number, log time, publish time.
    channel, _, time, _ = _MESSAGE.unpack_from(content)
    return Message(channel, time, content[_MESSAGE.size :])


def _records(stream: BinaryIO, budget: Budget, location: Location) -> Iterator[Record]:
    """Yield the records of a stream up to the footer.

    Of a chunk that is cut, what is left is yielded.

    Raises
    ------
    CutError
        Where the stream is cut in another record.
    """
    start = stream.tell()
    # The size of the stream: lengths beyond it are cut.
    size = stream.seek(0, 2)
    stream.seek(start)
    kind = 0
    while kind != Kind.FOOTER and (head := stream.read(_HEAD.size)):
        budget.take_items(1, "records", location)
        # Zeros, or less than a head, where a recording was killed.
        if len(head) < _HEAD.size or head[0] == 0:
            raise CutError("the file ends before its last record")
        kind, length = _HEAD.unpack(head)
        left = size - stream.tell()
        if length > left and kind != Kind.CHUNK:
            raise CutError("the file ends in a record")
        # A cut chunk has some of its records.
        content = stream.read(min(length, left))
        yield Record(kind, content, is_whole=length <= left)
        if length > left:
            return


def _unpacked(content: bytes, budget: Budget, location: Location) -> bytes:
    """Return the records of a chunk, or of the part of it that is there.

    No more than it states.
    """
    if len(content) < _CHUNK.size:
        return b""
    # Start and end time, size, checksum, and the length of the compression's name.
    *_, size, _, name_length = _CHUNK.unpack_from(content)
    start = _CHUNK.size + name_length + LENGTH_BYTES
    compression = content[_CHUNK.size :][:name_length].decode("utf-8", "replace")
    data = content[start:]
    # The stated size is counted before anything is unpacked.
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
