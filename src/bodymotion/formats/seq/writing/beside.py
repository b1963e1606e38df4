"""Text is made and written side by side: while the system writes, the interpreter makes the next piece."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Queue
from threading import Thread
from typing import BinaryIO

__all__ = ["write_beside"]

WRITTEN = 1 << 20
"""About so many bytes are written at once."""


def write_beside(texts: Iterator[bytes], stream: BinaryIO) -> None:
    """Write texts while the next ones are made; a fault of the writing is raised here."""
    pieces = _joined(texts)
    stream.write(next(pieces, b""))
    second = next(pieces, None)
    if second is None:
        return
    queue: Queue[bytes | None] = Queue(4)
    failed: list[BaseException] = []

    def work() -> None:
        while (piece := queue.get()) is not None:
            if not failed:
                try:
                    stream.write(piece)
                except BaseException as error:
                    failed.append(error)

    thread = Thread(target=work, name="bodymotion-write", daemon=True)
    thread.start()
    try:
        queue.put(second)
        for piece in pieces:
            queue.put(piece)
            if failed:
                break
    finally:
        queue.put(None)
        thread.join()
    if failed:
        raise failed[0]


def _joined(texts: Iterator[bytes]) -> Iterator[bytes]:
    """Put texts together into pieces that are worth a call to the system."""
    found: list[bytes] = []
    size = 0
    for text in texts:
        found.append(text)
        size += len(text)
        if size >= WRITTEN:
            yield b"".join(found)
            found, size = [], 0
    if found:
        yield b"".join(found)
