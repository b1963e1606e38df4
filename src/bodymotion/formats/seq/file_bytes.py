"""The bytes of a .seq file: read where they are needed, a piece at a time, and searched for characters in bulk.

Reading a file twice is cheaper than holding it in memory.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location
from bodymotion.formats.seq import rules
from bodymotion.system.open_files import pipe_content

Offsets: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]

MAX_TRANSCODED = 256 << 20
"""[bytes] Larger texts in UTF-16 or UTF-32, or with carriage returns as line ends, are refused: they are changed as a whole."""
_HEAD = 1 << 16  # [bytes] The part of a file that shows how its lines end.
_DECODED_PIECE = 1 << 19
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_COMMENT = re.compile(rb"(?:^|(?<=\s))#[^\r\n]*", re.MULTILINE)


def without_comments(text: bytes) -> bytes:
    """Put spaces in place of comments, so that all offsets stay."""
    return _COMMENT.sub(lambda found: b" " * len(found[0]), text) if b"#" in text else text


def decoded(part: bytes) -> tuple[str, str | None]:
    """Return bytes of a file as text, and the encoding where it is not UTF-8."""
    try:
        return part.decode("utf-8"), None
    except UnicodeDecodeError:
        return part.decode("cp932", "replace"), "cp932"


class UnusualError(Exception):
    """A text in an irregular shape: only a YAML parse of the whole file can read it.

    Its cause is a `FormatError` where the result of a full parse is known.
    """

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location or Location()


class ByteSource(AbstractContextManager["ByteSource"]):
    """Random access to the bytes of a file, or of a text in memory.

    Where lines end with carriage returns alone, line feeds are returned in their place.

    Attributes
    ----------
    path, size:
        The file, and its size [bytes].
    start:
        Where the text begins, behind a byte order mark.
    encoding:
        That of the byte order mark, else "utf-8".
    """

    def __init__(self, file: BinaryIO | None, data: bytes | None, path: str | None) -> None:
        self.path = path
        self.encoding = "utf-8"
        self.start = 0
        self._file = file
        self._data = data
        assert file is not None or data is not None
        self.size = file.seek(0, 2) if file is not None else len(data or b"")
        head = self.read(0, _HEAD)
        wide = next((encoding for mark, encoding in _WIDE if head.startswith(mark)), None)
        if head.startswith(codecs.BOM_UTF8):
            self.start, self.encoding = 3, "utf-8-sig"
        if wide is not None:
            self.encoding = wide
            self._replace(f"in {wide}", "UTF-8", lambda data: data.decode(wide, "replace").encode("utf-8", "replace"))
            head = self.read(0, _HEAD)
        lone = _LONE_RETURN.search(head)
        if lone is not None and lone.end() < len(head) and b"\n" not in head[: lone.start()]:
            expected = "lines that end with line feeds"
            self._replace("with carriage returns only", expected, partial(_LONE_RETURN.sub, b"\n"))

    def _replace(self, what: str, expected: str, change: Callable[[bytes], bytes]) -> None:
        """Read the whole text, changed, into memory."""
        if self.size > MAX_TRANSCODED:
            message = f"the text has {self.size} bytes {what}; more than {MAX_TRANSCODED} are read only with {expected}"
            raise rules.TOO_LARGE.error(message, Location(self.path), f"save it with {expected}")
        self._data = change(self.read(0, self.size))
        self.size = len(self._data)

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
            file = Path(path).open("rb")  # noqa: SIM115
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

    def read(self, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`, fewer at the end.

        Raises
        ------
        FormatError
            SEQ001 when the file cannot be read there.
        """
        if self._data is not None:
            return self._data[offset : offset + size]
        assert self._file is not None
        size = max(min(size, self.size - offset), 0)
        try:
            self._file.seek(offset)
            part = self._file.read(size)
        except OSError as error:
            raise rules.UNREADABLE.error(f"cannot be read: {_reason(error)}", Location(self.path), "") from error
        if len(part) < size:
            raise rules.UNREADABLE.error("the file became shorter while it was read", Location(self.path), "")
        return part

    @contextmanager
    def reopened(self) -> Iterator[None]:
        """Open a file that was closed once more, for the block.

        Raises
        ------
        FormatError
            SEQ001 when it is gone, or has another size now.
        """
        if self._data is not None or (self._file is not None and not self._file.closed):
            yield
            return
        with ByteSource.open(self.path or "") as other:
            if other.size != self.size or other._file is None:
                raise rules.UNREADABLE.error("the file has changed", Location(self.path), "")
            self._file = other._file
            try:
                yield
            finally:
                self._file = None

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def first_non_utf8_byte(source: ByteSource) -> tuple[int, int, int] | None:
    """Return line, column and value of the first byte of a file that is not UTF-8; None where there is none."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    at, line, column = source.start, 1, 1
    while at < source.size:
        part = source.read(at, _DECODED_PIECE)
        at += len(part)
        try:
            text, wrong = decoder.decode(part, not part or at >= source.size), None
        except UnicodeDecodeError as error:
            text, wrong = error.object[: error.start].decode("utf-8"), error.object[error.start]
        lines = text.count("\n")
        line, column = line + lines, (1 if lines else column) + len(text) - (text.rfind("\n") + 1)
        if wrong is not None:
            return line, column, wrong
        if not part:
            break
    return None


def lines(text: bytes, indent: int) -> tuple[Offsets, Mask]:
    """Return where lines begin, and which of them begin with `indent` spaces, a dash and a space."""
    starts = np.flatnonzero(np.frombuffer(b"\n" + text, np.uint8) == 10)
    starts = starts[: len(starts) - (not text or text.endswith(b"\n"))]
    return starts, begin_with(text, starts, b" " * indent + b"- ")


def begin_with(text: bytes, starts: Offsets, prefix: bytes) -> Mask:
    """Return at which of `starts` a prefix is."""
    codes, found = np.frombuffer(text + bytes(len(prefix)), np.uint8), np.ones(len(starts), np.bool_)
    for k, code in enumerate(prefix):
        found &= codes[starts + k] == code
    return found
