"""A piece of a file in memory that is used again for the next piece, and what is asked of its bytes."""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.formats.seq.bits import Bytes, Places, Words, bit_map
from bodymotion.formats.seq.source_bytes import ByteSource

__all__ = ["Mask", "Page", "without_comments"]

Mask: TypeAlias = npt.NDArray[np.bool_]

_BEFORE, _MORE, _BEHIND = 8, 8, 88
_COMMENT = re.compile(rb"(?:^|(?<=\s))#[^\r\n]*", re.MULTILINE)


def without_comments(text: bytes) -> bytes:
    """Put spaces in place of comments, so that all places stay."""
    return _COMMENT.sub(lambda found: b" " * len(found[0]), text) if b"#" in text else text


class Page:
    """The bytes `text` of a piece. Fresh arrays of this size would cost more in page faults than what is done with them."""

    def __init__(self) -> None:
        self._room(0)
        self.size = 0

    def _room(self, size: int) -> None:
        self.memory = bytearray(_BEFORE + size + _BEHIND)
        self._all: Bytes = np.frombuffer(self.memory, np.uint8)
        self._mask = np.empty(size + _MORE, np.bool_)
        self._spare = np.empty(size + _MORE, np.uint8)

    @property
    def text(self) -> Bytes:
        """The bytes, writable."""
        return self._all[_BEFORE : _BEFORE + self.size]

    def load(self, source: ByteSource, offset: int, size: int) -> None:
        """Take up to `size` bytes of a file from `offset` on."""
        size = max(min(size, source.size - offset), 0)
        if len(self._mask) < size + _MORE:
            self._room(size)
        self.size = source.read_into(offset, memoryview(self.memory)[_BEFORE : _BEFORE + size])
        self._all[_BEFORE + self.size : _BEFORE + self.size + _BEHIND] = 0

    def put(self, text: bytes) -> None:
        """Put other bytes in place of the first ones."""
        self._all[_BEFORE : _BEFORE + len(text)] = np.frombuffer(text, np.uint8)

    def copy(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return a copy of some of the bytes."""
        return bytes(self.memory[_BEFORE + start : _BEFORE + (self.size if stop is None else stop)])

    def has(self, byte: bytes) -> bool:
        """Whether a byte occurs."""
        return self.memory.find(byte, _BEFORE, _BEFORE + self.size) >= 0

    def blank_comments(self) -> None:
        """Put spaces in place of comments."""
        if self.has(b"#"):
            self.put(without_comments(self.copy()))

    def extend(self, size: int) -> None:
        """Take a few of the bytes behind the text into it."""
        assert size <= len(self._mask)
        self.size = size

    def list_text(self, start: int, stop: int) -> memoryview:
        """Return `[` + the bytes from start to stop + `]`, in place: what stood beside them is lost."""
        self._all[_BEFORE + start - 1] = 91
        self._all[_BEFORE + stop] = 93
        return memoryview(self.memory)[_BEFORE + start - 1 : _BEFORE + stop + 1]

    def places(self, byte: int) -> Places:
        """List where a byte is."""
        mask = self._mask[: self.size]
        return np.flatnonzero(np.equal(self.text, np.uint8(byte), out=mask))

    def brackets(self) -> Places:
        """List where `[` and `]` are (and `Y` and `_`, which no row of numbers has)."""
        mask, spare = self._mask[: self.size], self._spare[: self.size]
        np.bitwise_and(self.text, np.uint8(0xF9), out=spare)
        return np.flatnonzero(np.equal(spare, np.uint8(0x59), out=mask))

    def count(self, byte: int) -> int:
        """Count a byte."""
        return int(np.count_nonzero(np.equal(self.text, np.uint8(byte), out=self._mask[: self.size])))

    def count_after(self, byte: int, letters: bytes) -> int:
        """Count a byte where one of some letters is before it."""
        mask, text = self._mask[: self.size - 1], self.text
        total = 0
        for letter in letters:
            if self.has(bytes([letter])):
                np.equal(text[:-1], np.uint8(letter), out=mask)
                total += int(np.count_nonzero(mask & (text[1:] == byte)))
        return total

    def bits(self, byte: int) -> Words:
        """Map where a byte is."""
        return bit_map(np.equal(self.text, np.uint8(byte), out=self._mask[: self.size]))

    def bits_up_to(self, byte: int) -> Words:
        """Map where the bytes up to `byte` are."""
        return bit_map(np.less_equal(self.text, np.uint8(byte), out=self._mask[: self.size]))

    def begin_with(self, starts: Places, prefix: bytes) -> Mask:
        """Say at which of `starts` a prefix (of up to 72 bytes) stands."""
        words = np.ndarray((self.size + 64,), "<u8", self.memory, _BEFORE, (1,))  # the eight bytes from each byte on
        found = np.ones(len(starts), np.bool_)
        for at in range(0, len(prefix), 8):
            part = prefix[at : at + 8]
            mask = np.uint64((1 << 8 * len(part)) - 1)
            found &= (words[starts + at] & mask) == np.uint64(int.from_bytes(part, "little"))
        return found

    def lines(self, indent: int) -> tuple[Places, Mask]:
        """Return where lines begin, and which of them begin with `indent` spaces, a dash and a space."""
        ends = self.places(10)
        starts = np.empty(len(ends) + (self.size > 0 and (not len(ends) or int(ends[-1]) != self.size - 1)), np.intp)
        starts[:1] = 0
        starts[1:] = ends[: len(starts) - 1] + 1
        return starts, self.begin_with(starts, b" " * indent + b"- ")
