"""Many keyframes at once: compiled code reads plain lines, and `rows` reads those with anything odd about them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.formats.cha.rows import Rows
from bodymotion.kernels.number_rows import BLANK_BEFORE, COMMENT, LONGEST, read_lines

if TYPE_CHECKING:
    from bodymotion.arrays import Floats
    from bodymotion.formats.cha.rows import OddLines

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
    at, row, blanks, seen = start, 0, 0, 0
    found: list[tuple[int, ...]] = []
    while at < len(data):
        at, row, blanks, seen, num_said, num_rounded, num_digits = read_lines(
            text, at, len(data), width, values, zeros, begins, row, blanks, seen, said, rounded, digits
        )
        found += map(tuple, said[:num_said].tolist())
        if num_rounded:
            values.ravel()[rounded[:num_rounded]] = _rounded(digits[: num_digits - 1].tobytes())
    rows = Rows(data, values[:row], zeros[:row], begins[:row])
    return _with_odd(rows, found, lines) if found else rows


def _rounded(texts: bytes) -> Floats:
    import simdjson

    array: Any = simdjson.Parser().parse(b"[" + texts + b"]")
    return np.frombuffer(array.as_buffer(of_type="d"), np.float64)


def _with_odd(rows: Rows, found: list[tuple[int, ...]], lines: OddLines) -> Rows:
    """Read the lines that have something odd, and put those that are keyframes after all in their places."""
    places: list[int] = []
    values: list[list[float]] = []
    zeros: list[list[bool]] = []
    begins: list[int] = []
    counted, number, seen = 0, 1, 0
    for kind, begin, row, blanks in found:
        number += rows.data.count(b"\n", counted, begin)
        counted = begin
        if kind != BLANK_BEFORE:
            read = lines.read(begin, number, row + len(places))
            if lines.given_up:
                break
            if kind == COMMENT or read is None:
                continue
            places.append(row)
            values.append(read[0])
            zeros.append(read[1])
            begins.append(begin)
        if blanks > seen:
            lines.after_blank(number)
            seen = blanks
    if not places:
        return replace(rows, comments=lines.comments)
    return Rows(
        rows.data,
        np.insert(rows.values, places, np.array(values), axis=0),
        np.insert(rows.zeros, places, np.array(zeros), axis=0),
        np.insert(rows.begins, places, np.array(begins)),
        lines.comments,
    )
