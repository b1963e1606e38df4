"""What a target is: a reader, its seeds, and how an input becomes files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MAX_INPUT", "Target", "split", "write_bytes"]

MAX_INPUT = 1 << 14
"""[bytes] Maximum length of inputs, unless the seeds of a target are longer."""


def _no_files() -> dict[str, bytes]:
    return {}


def write_bytes(data: bytes, path: Path) -> None:
    """Write an input as one file."""
    path.write_bytes(data)


def split(*lines: str) -> tuple[bytes, ...]:
    """Return the words of a language."""
    return tuple(word.encode() for line in lines for word in line.split())


@dataclass(frozen=True)
class Target:
    """A reader and how it is tried.

    An input becomes `file`, and is read as `format` through `opened` (another file of the folder, if that names `file`). The value is
    written to `written` as `write`; if the format holds all of it, it must read back `equal`. `how` is the kind of change that makes new
    inputs: "text", "bytes", "zip", or "folder". An input has at most `most` bytes.

    `put` makes `file` of the input, where that is more than its bytes. `read` is the reader, where it is none of a format: its value is
    not written.
    """

    name: str
    file: str
    format: str = ""
    written: str = ""
    write: str = ""
    seeds: Callable[[], tuple[bytes, ...]] = tuple
    words: tuple[bytes, ...] = ()
    how: str = "text"
    opened: str = ""
    equal: bool = False
    beside: Callable[[], dict[str, bytes]] = _no_files
    most: int = MAX_INPUT
    put: Callable[[bytes, Path], None] = write_bytes
    read: Callable[[Path], object] | None = None
