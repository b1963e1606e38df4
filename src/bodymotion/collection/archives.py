"""What an archive stands for, counted before its members are used.

A few bytes of an archive may unpack to gigabytes, and each member is copied to the disk
when it is used.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, Any

from bodymotion.formats.compression import compression_of
from bodymotion.formats.limits import Budget, budget_for

__all__ = ["check_archive"]

# How a compressed file is opened, by the name of its compression.
OPENERS: dict[str, Callable[[IO[bytes]], Any]] = {
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
}


def check_archive(
    open_archive: Callable[[], IO[bytes]], address: str, size: int, kind: str
) -> None:
    """Raise FormatError where the members of an archive are too many or too large.

    FMT009 and FMT010.

    Parameters
    ----------
    open_archive:
        Returns a stream of the archive that can be searched, in a file or at an
        address.
    address, size:
        Its path or address, for messages, and its size [bytes].
    kind:
        "zip" or "tar".

    Raises
    ------
    ValueError, EOFError, OSError, BadZipFile, TarError
        When it is damaged.
    """
    with budget_for(address, size) as budget, open_archive() as stream:
        if kind == "zip":
            _count_zip(stream, budget)
        else:
            _count_tar(stream, budget)


def _count_zip(stream: IO[bytes], budget: Budget) -> None:
    with zipfile.ZipFile(stream) as archive:
        # The directory of a .zip states the size of each member, unpacked.
        members = archive.infolist()
    budget.take_items(len(members), "members")
    budget.take_bytes(sum(member.file_size for member in members))


def _count_tar(stream: IO[bytes], budget: Budget) -> None:
    """Count the members of an archive, within limits."""
    head = stream.read(6)
    stream.seek(0)
    opener = OPENERS.get(compression_of(head))
    # Unpacked piece by piece, and counted: a small archive may unpack to any size.
    unpacked: IO[bytes] = stream if opener is None else opener(stream)
    try:
        with (
            unpacked,
            tarfile.open(fileobj=_Counted(unpacked, budget), mode="r|") as archive,
        ):
            for member in archive:
                budget.take_items(1, "members")
                if member.issparse():  # its holes are not in the archive
                    budget.take_bytes(member.size)
    except (lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"the archive is damaged: {error}") from None


class _Counted(io.RawIOBase):
    """A stream whose bytes are counted in a budget."""

    def __init__(self, stream: IO[bytes], budget: Budget) -> None:
        self._stream = stream
        self._budget = budget

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self._budget.take_bytes(len(content))
        return content
