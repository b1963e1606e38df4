"""Compressed files, known by their first bytes.

Zlib, gzip, bzip2, xz, lzma and lz4, as joblib writes them, and zstd.
"""

import bz2
import lzma
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from bodymotion.system.deferred import need

PIECE = 1 << 20  # [bytes] What is unpacked at once.
# [bytes] Memory for unpacking xz. Its level 9 needs 65 MB, and joblib's 3 needs 5 MB.
MAX_DICTIONARY = 80 << 20
# The window of zlib with which it tells its own header from that of gzip.
ZLIB_OR_GZIP = 32 + zlib.MAX_WBITS


def compression_of(head: bytes) -> str:
    """Return the name of the compression of a file with these first bytes.

    Empty for others.
    """
    signs = {
        "gzip": b"\x1f\x8b\x08",
        "bzip2": b"BZh",
        "xz": b"\xfd7zXZ\0",
        "lzma": b"]\0\0",
        "lz4": b"\x04\x22\x4d\x18",
        "zstd": b"\x28\xb5\x2f\xfd",
    }
    for name, sign in signs.items():
        if head.startswith(sign):
            return name
    # The two bytes of a zlib header, read as one number, are a multiple of 31.
    is_zlib = head[:1] == b"\x78" and int.from_bytes(head[:2], "big") % 31 == 0
    return "zlib" if is_zlib else ""


def unpacked(data: bytes, size: int = PIECE) -> Iterator[bytes]:
    """Return the content of a compressed file in pieces of at most `size` bytes.

    Raises
    ------
    ValueError
        When it is damaged or ends early.
    ImportError
        For lz4 and zstd without the extra `lake`.
    """
    name = compression_of(data)
    try:
        if name in ("zlib", "gzip"):
            yield from _inflated(data, size)
            return
        if name == "lz4":
            stream = need("lz4.frame", "lake", "reading lz4").open(BytesIO(data))
            while piece := stream.read(size):
                yield piece
            return
        if name == "zstd":
            yield from _unpacked_zstd(data, size)
            return
        machine: Any = bz2.BZ2Decompressor()
        if name != "bzip2":
            machine = lzma.LZMADecompressor(memlimit=MAX_DICTIONARY)
        while not machine.eof:
            given = data if machine.needs_input else b""
            data = b"" if machine.needs_input else data
            piece = machine.decompress(given, size)
            if piece:
                yield piece
            elif not machine.eof and machine.needs_input and not data:
                raise EOFError("it ends before its last byte")
    except (zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError) as error:
        raise ValueError(f"damaged {name}: {error}") from error


def _unpacked_zstd(data: bytes, size: int) -> Iterator[bytes]:
    """Return the content of zstd; a file may have several frames."""
    zstandard = need("zstandard", "lake", "reading zstd")
    machine = zstandard.ZstdDecompressor(max_window_size=MAX_DICTIONARY)
    stream = machine.stream_reader(BytesIO(data), read_across_frames=True)
    try:
        while piece := stream.read(size):
            yield piece
    except zstandard.ZstdError as error:
        raise ValueError(f"damaged zstd: {error}") from error


def _inflated(data: bytes, size: int) -> Iterator[bytes]:
    """Return the content of zlib or gzip.

    A gzip file may have several members.
    """
    while data:
        machine = zlib.decompressobj(ZLIB_OR_GZIP)
        while not machine.eof:
            piece = machine.decompress(data, size)
            data = machine.unconsumed_tail
            if piece:
                yield piece
            elif not machine.eof and not data:
                raise EOFError("it ends before its last byte")
        data = machine.unused_data
        if compression_of(data) != "gzip":
            return
