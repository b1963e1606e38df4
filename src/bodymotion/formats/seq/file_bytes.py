"""The bytes of a .seq file: read where they are needed, a piece at a time, and searched for characters in bulk.

Reading a file twice is cheaper than holding it in memory.
"""

from __future__ import annotations

import codecs
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location
from bodymotion.formats.seq import rules
from bodymotion.system.open_files import pipe_content

Bytes: TypeAlias = npt.NDArray[np.uint8]
Offsets: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]

MAX_TRANSCODED = 256 << 20
"""[bytes] Larger texts in UTF-16 or UTF-32 are refused: they are turned into UTF-8 as a whole."""
_HEAD = 1 << 16
"""[bytes] The part of a file that shows how its lines end."""
_DECODED_PIECE = 1 << 19
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_COMMENT = re.compile(rb"(?:^|(?<=\s))#[^\r\n]*", re.MULTILINE)
_BEFORE, _SLACK, _BEHIND = 8, 8, 88
"""[bytes] Beside a page: for a bracket, for a few more characters, for words that are read beyond its end."""


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


class Closing(ABC):
    """What is closed at the end of a `with`."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class ByteSource(Closing):
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
        lone = _LONE_RETURN.search(head)
        self._returns = lone is not None and lone.end() < len(head) and b"\n" not in head[: lone.start()]
        if self._returns and self._data is not None:
            self._data = _LONE_RETURN.sub(b"\n", self._data)

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
                if self.size > MAX_TRANSCODED:
                    raise rules.TOO_LARGE.error(
                        f"the text has {self.size} bytes in {encoding}; more than {MAX_TRANSCODED} are read in UTF-8 only",
                        Location(self.path),
                        "save it as UTF-8",
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
        """Read bytes from `offset` on into `target` and return how many: fewer than its length at the end. Raises as `read` does."""
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
            target[:done] = memoryview(_LONE_RETURN.sub(b"\n", text + more))[:done]
        return done

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


class Page:
    """A piece of a file in memory that is used again for the next piece.

    Fresh arrays of this size would cost more time in page faults than is spent on their contents.
    """

    def __init__(self) -> None:
        self._allocate(0)
        self.size = 0

    def _allocate(self, size: int) -> None:
        self.memory = bytearray(_BEFORE + size + _BEHIND)
        self._all: Bytes = np.frombuffer(self.memory, np.uint8)
        self._mask = np.empty(size + _SLACK, np.bool_)
        self._spare = np.empty(size + _SLACK, np.uint8)

    @property
    def text(self) -> Bytes:
        """The bytes, writable."""
        return self._all[_BEFORE : _BEFORE + self.size]

    def load(self, source: ByteSource, offset: int, size: int) -> None:
        """Load up to `size` bytes of a file from `offset` on."""
        size = max(min(size, source.size - offset), 0)
        if len(self._mask) < size + _SLACK:
            self._allocate(size)
        self.size = source.read_into(offset, memoryview(self.memory)[_BEFORE : _BEFORE + size])
        self._all[_BEFORE + self.size : _BEFORE + self.size + _BEHIND] = 0

    def copy(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return a copy of some of the bytes."""
        return bytes(self.memory[_BEFORE + start : _BEFORE + (self.size if stop is None else stop)])

    def has(self, byte: bytes) -> bool:
        """Return whether a byte occurs."""
        return self.memory.find(byte, _BEFORE, _BEFORE + self.size) >= 0

    def blank_comments(self) -> None:
        """Put spaces in place of comments."""
        if self.has(b"#"):
            self.text[:] = np.frombuffer(without_comments(self.copy()), np.uint8)

    def extend(self, size: int) -> None:
        """Make the piece longer by a few of the bytes behind it."""
        assert size <= len(self._mask)
        self.size = size

    def list_text(self, start: int, stop: int) -> memoryview:
        """Return `[` + the bytes from start to stop + `]`, in place: the bytes beside them are overwritten."""
        self._all[_BEFORE + start - 1] = 91
        self._all[_BEFORE + stop] = 93
        return memoryview(self.memory)[_BEFORE + start - 1 : _BEFORE + stop + 1]

    def offsets_of(self, byte: int) -> Offsets:
        """Return where a byte is."""
        mask = self._mask[: self.size]
        return np.flatnonzero(np.equal(self.text, np.uint8(byte), out=mask))

    def brackets(self) -> Offsets:
        """Return where `[` and `]` are (and `Y` and `_`, which no row of numbers has)."""
        mask, spare = self._mask[: self.size], self._spare[: self.size]
        np.bitwise_and(self.text, np.uint8(0xF9), out=spare)
        return np.flatnonzero(np.equal(spare, np.uint8(0x59), out=mask))

    def counter(self, byte: int) -> Callable[[Offsets], Offsets]:
        """Return a function that counts how many times a byte occurs before given offsets, thousands at once."""
        bits = np.zeros((self.size // 64 + 2) * 8, np.uint8)
        mask = np.equal(self.text, np.uint8(byte), out=self._mask[: self.size])
        bits[: (self.size + 7) // 8] = np.packbits(mask, bitorder="little")
        words = bits.view("<u8")
        total = np.cumsum(np.bitwise_count(words), dtype=np.intp)

        def before(offsets: Offsets) -> Offsets:
            from_here = words[offsets >> 6] >> (offsets & 63).astype(np.uint64)
            return np.asarray(total[offsets >> 6] - np.bitwise_count(from_here))

        return before

    def count(self, byte: int) -> int:
        """Return how many times a byte occurs."""
        return int(np.count_nonzero(np.equal(self.text, np.uint8(byte), out=self._mask[: self.size])))

    def begin_with(self, starts: Offsets, prefix: bytes) -> Mask:
        """Return at which of `starts` a prefix (of up to 72 bytes) is."""
        words = np.ndarray((self.size + 64,), "<u8", self.memory, _BEFORE, (1,))  # the eight bytes from each byte on
        found = np.ones(len(starts), np.bool_)
        for at in range(0, len(prefix), 8):
            part = prefix[at : at + 8]
            mask = np.uint64((1 << 8 * len(part)) - 1)
            found &= (words[starts + at] & mask) == np.uint64(int.from_bytes(part, "little"))
        return found

    def lines(self, indent: int) -> tuple[Offsets, Mask]:
        """Return where lines begin, and which of them begin with `indent` spaces, a dash and a space."""
        ends = self.offsets_of(10)
        starts = np.empty(len(ends) + (self.size > 0 and (not len(ends) or int(ends[-1]) != self.size - 1)), np.intp)
        starts[:1] = 0
        starts[1:] = ends[: len(starts) - 1] + 1
        return starts, self.begin_with(starts, b" " * indent + b"- ")
