"""Many keyframes at once: compiled code reads plain lines, and `rows` reads those with anything odd about them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.formats.cha.rows import Rows
from bodymotion.kernels.number_rows import BLANK_BEFORE, COMMENT, LONGEST, read_lines

if TYPE_CHECKING:
    from bodymotion.formats.cha.rows import OddLines
    from bodymotion.geometry.arrays import Floats

__all__ = ["read_bulk"]

_ROOM = 1 << 16


def read_bulk(data: bytes, start: int, width: int, lines: OddLines) -> Rows:
    """Read keyframes from byte `start` to the end, just as `read_rows` does."""
    text = np.frombuffer(data, np.uint8)
    # Each value takes two bytes at least, so there are not more rows than this.
    most = (len(data) - start + 1) // (2 * width) + 1
    values, zeros = np.empty((most, width)), np.empty((most, width), np.bool_)
    begins = np.empty(most, np.int64)
    said = np.empty((1024, 4), np.int64)
    rounded, digits = np.empty(_ROOM + width, np.int64), np.empty(_ROOM * 24 + width * (LONGEST + 12), np.uint8)
    rows = Rows(data, values, zeros, begins)
    odd = _OddRows(lines)
    at, row, blanks, seen = start, 0, 0, 0
    while at < len(data) and not lines.given_up:
        at, row, blanks, seen, num_said, num_rounded, num_digits = read_lines(
            text, at, len(data), width, values, zeros, begins, row, blanks, seen, said, rounded, digits
        )
        if num_rounded:
            values.ravel()[rounded[:num_rounded]] = _rounded(digits[: num_digits - 1].tobytes())
        odd.read(said[:num_said].tolist())
    rows.values, rows.zeros, rows.begins = values[:row], zeros[:row], begins[:row]
    found = odd.put_into(rows)
    lines.after_all(int(found.begins[-1]) if len(found.begins) else start)
    return found


def _rounded(texts: bytes) -> Floats:
    import simdjson

    array: Any = simdjson.Parser().parse(b"[" + texts + b"]")
    return np.frombuffer(array.as_buffer(of_type="d"), np.float64)


class _OddRows:
    """Lines that have something odd: reads those, and puts the ones that are keyframes after all in their places."""

    def __init__(self, lines: OddLines) -> None:
        self._lines = lines
        self._places: list[int] = []
        self._values: list[list[float]] = []
        self._zeros: list[list[bool]] = []
        self._begins: list[int] = []
        self._counted, self._number, self._seen = 0, 1, 0

    def read(self, said: list[list[int]]) -> None:
        """Read the lines of which `read_lines` says something."""
        lines = self._lines
        for kind, begin, row, blanks in said:
            if kind != BLANK_BEFORE and lines.is_full and (kind == COMMENT or lines.is_passed_over(begin)):
                continue
            self._number += lines.data.count(b"\n", self._counted, begin)
            self._counted = begin
            if kind != BLANK_BEFORE:
                read = lines.read(begin, self._number, row + len(self._places))
                if lines.given_up:
                    return
                if kind == COMMENT or read is None:
                    continue
                self._places.append(row)
                self._values.append(read[0])
                self._zeros.append(read[1])
                self._begins.append(begin)
            if blanks > self._seen:
                lines.after_blank(begin, self._number)
                self._seen = blanks

    def put_into(self, rows: Rows) -> Rows:
        """Return the rows with those of the odd lines among them."""
        whole = self._with_odd(rows) if self._places else rows
        lines = self._lines
        return replace(whole, comments=lines.comments, left_out=lines.left_out, begins_late=lines.begins_late)

    def _with_odd(self, rows: Rows) -> Rows:
        return Rows(
            rows.data,
            np.insert(rows.values, self._places, np.array(self._values), axis=0),
            np.insert(rows.zeros, self._places, np.array(self._zeros), axis=0),
            np.insert(rows.begins, self._places, np.array(self._begins)),
        )
