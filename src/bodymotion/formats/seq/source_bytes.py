"""The bytes of a file, read where they are asked for: reading twice is cheaper than holding a file in memory."""

from __future__ import annotations

import codecs
import re
from io import FileIO
from pathlib import Path
from types import TracebackType

from bodymotion.diagnostics import Location
from bodymotion.formats.seq import rules
from bodymotion.system.open_files import pipe_content

__all__ = ["ByteSource", "UnusualError"]

TRANSCODED = 256 << 20
"""UTF-16 and UTF-32 texts are turned into UTF-8 as a whole, up to this many bytes."""
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONE = re.compile(rb"\r(?!\n)")
_HEAD = 1 << 16


class UnusualError(Exception):
    """The text is not in the shape that the fast reader knows: only a full YAML parse can tell what it is.

    Its cause is a `FormatError` where it is known what a full parse would say. `index` is a place in the piece that is looked at.
    """

    def __init__(self, message: str, location: Location | None = None, index: int = 0) -> None:
        super().__init__(message)
        self.location = location or Location()
        self.index = index


class ByteSource:
    """Random access to the bytes of a file or of a text in memory; `start` is where the text begins (after a byte order mark).

    Where lines end in carriage returns alone, line feeds are given in place of those.
    """

    def __init__(self, file: FileIO | None, data: bytes | None, path: str | None) -> None:
        self.path = path
        self.encoding = "utf-8"
        self.start = 0
        self._file = file
        self._data = data
        if data is None:
            assert file is not None
            self.size = file.seek(0, 2)
        else:
            self.size = len(data)
        self._returns = False
        self._decode_wide()
        head = self.read(self.start, _HEAD)
        lone = _LONE.search(head)
        self._returns = lone is not None and lone.end() < len(head) and b"\n" not in head[: lone.start()]
        if self._returns and self._data is not None:
            self._data = _LONE.sub(b"\n", self._data)

    @classmethod
    def open(cls, path: str | Path) -> ByteSource:
        """Open a file; a pipe is read as a whole.

        Raises
        ------
        FormatError
            SEQ001 when that fails.
        """
        try:
            content = pipe_content(path)
            if content is not None:
                return cls(None, content, str(path))
            file = Path(path).open("rb", buffering=0)  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise rules.UNREADABLE.error(f"cannot be opened: {_reason(error)}", Location(str(path)), "") from error
        try:
            return cls(file, None, str(path))
        except OSError as error:
            file.close()
            raise rules.UNREADABLE.error(f"cannot be read: {_reason(error)}", Location(str(path)), "") from error
        except BaseException:
            file.close()
            raise

    def _decode_wide(self) -> None:
        head = self.read(0, 4)
        if head.startswith(codecs.BOM_UTF8):
            self.start, self.encoding = 3, "utf-8-sig"
            return
        for mark, encoding in _WIDE:
            if head.startswith(mark):
                if self.size > TRANSCODED:
                    raise rules.TOO_LARGE.error(
                        f"a text of {self.size} bytes in {encoding}", Location(self.path), "write it as UTF-8"
                    )
                text = self.read(0, self.size).decode(encoding, "replace")
                self._data = text.encode("utf-8", "replace")
                self.size, self.encoding = len(self._data), encoding
                return

    def read(self, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`, fewer at the end.

        Raises
        ------
        FormatError
            SEQ001 when the file cannot be read there.
        """
        if self._data is not None:
            return self._data[offset : offset + size]
        part = bytearray(max(min(size, self.size - offset), 0))
        self.read_into(offset, memoryview(part))
        return bytes(part)

    def read_into(self, offset: int, target: memoryview) -> int:
        """Put bytes from `offset` on into `target`; gives how many, fewer than its length at the end. Raises as `read` does."""
        if self._data is not None:
            part = memoryview(self._data)[offset : offset + len(target)]
            target[: len(part)] = part
            return len(part)
        assert self._file is not None
        wanted = max(min(len(target), self.size - offset), 0)
        done = 0
        try:
            self._file.seek(offset)
            while done < wanted:
                count = self._file.readinto(target[done:wanted])
                if not count:
                    raise rules.UNREADABLE.error("the file became shorter while it was read", Location(self.path), "")
                done += count
        except OSError as error:
            raise rules.UNREADABLE.error(f"cannot be read: {_reason(error)}", Location(self.path), "") from error
        if self._returns and b"\r" in (text := bytes(target[:done])):
            more = self._file.read(1) or b"" if text.endswith(b"\r") else b""
            target[:done] = memoryview(_LONE.sub(b"\n", text + more))[:done]
        return done

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> ByteSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
