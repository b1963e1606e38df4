"""What an archive stands for, counted before its members are used.

A few bytes of an archive may unpack to gigabytes, and each member is copied to the disk when it is used.
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
from pathlib import Path
from typing import IO, Any

from bodymotion.formats.compression import compression_of
from bodymotion.formats.limits import Budget, budget_for

__all__ = ["check_archive"]

OPENERS: dict[str, Callable[[Path], Any]] = {
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
}
"""How a compressed file is opened, by the name of its compression."""


def check_archive(path: Path, kind: str) -> None:
    """Raise FormatError where the members of an archive are too many or too large (FMT009, FMT010).

    Parameters
    ----------
    path:
        The archive.
    kind:
        "zip" or "tar".

    Raises
    ------
    ValueError, EOFError, OSError, BadZipFile, TarError
        When it is damaged.
    """
    with budget_for(path) as budget:
        if kind == "zip":
            _count_zip(path, budget)
        else:
            _count_tar(path, budget)


def _count_zip(path: Path, budget: Budget) -> None:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    budget.take_items(len(members), "members")
    budget.take_bytes(sum(member.file_size for member in members))


def _count_tar(path: Path, budget: Budget) -> None:
    with path.open("rb") as file:
        head = file.read(6)
    opener = OPENERS.get(compression_of(head))
    stream: IO[bytes] = path.open("rb") if opener is None else opener(path)
    try:
        with (
            stream,
            tarfile.open(fileobj=_Counted(stream, budget), mode="r|") as archive,
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
