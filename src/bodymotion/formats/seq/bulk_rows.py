"""Rows of numbers in bulk: what a row looks like (`Layout`), and a parser that turns pieces of rows into arrays.

A piece of rows is turned into JSON in place (a comma for the line break before a dash, a space for the dash) and parsed by simdjson,
which checks that it is valid and returns all numbers in one flat buffer. That each row has its numbers, nested as they must be, follows
from the brackets and from the counts of commas before them, for all rows at once. Number texts that are not in JSON (`.5`, `+1`,
`nan`) are read one by one by `rows.number`. Where anything else is irregular, the parser returns nothing, and `rows` reads the piece.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.formats.seq.file_bytes import Bytes, ByteSource, Offsets, Page
from bodymotion.formats.seq.names import SE3_SIZES
from bodymotion.formats.seq.scalars import number
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats

_UNCLEAR_ROW_START = re.compile(rb"\t|\r(?!\n)")
"""Characters between a dash and its row with which YAML sees something else than a row."""
_WORD = re.compile(rb"[^ \t\r\n,\[\]]+")


@dataclass(frozen=True)
class Layout:
    """A row: its time first where `stamped`, then `parts` numbers, or (with an `order`) `parts` nested poses of that order."""

    parts: int
    stamped: bool = False
    order: str | None = None

    @property
    def pose_size(self) -> int:
        """Numbers of a pose; 0 where there are no poses."""
        return SE3_SIZES[self.order] if self.order else 0

    @property
    def width(self) -> int:
        """Numbers of a row in all."""
        return self.stamped + self.parts * (self.pose_size or 1)

    @cached_property
    def pattern(self) -> tuple[Bytes, Offsets]:
        """The brackets of a row, and the number of commas of the row before each."""
        if not self.order:
            return np.frombuffer(b"[]", np.uint8), np.array([0, self.width - 1])
        size = self.pose_size
        opening = self.stamped + np.arange(self.parts) * size
        commas = np.stack([opening, opening + size - 1], axis=1).ravel()
        return (
            np.frombuffer(b"[" + b"[]" * self.parts + b"]", np.uint8),
            np.concatenate([[0], commas, [self.width - 1]]).astype(np.intp),
        )

    def unknown(self, rows: int) -> tuple[Floats, Floats | None]:
        """Return arrays of nan for the values of `rows` rows, and for their times where they have any."""
        shape = (rows, self.parts, 7) if self.order else (rows, self.parts)
        return np.full(shape, np.nan), np.full(rows, np.nan) if self.stamped else None

    def store(
        self, rows: npt.NDArray[np.float64], values: Floats, times: Floats | None, at: slice | Offsets = slice(None)
    ) -> None:
        """Copy rows (N, width) as read into some of the values and times: poses as x y z, w x y z."""
        if times is not None:
            times[at] = rows[:, 0]
            rows = rows[:, 1:]
        if self.order is None:
            values[at] = rows
            return
        poses = rows.reshape(len(rows), self.parts, self.pose_size)
        if self.order == "XYZQWQXQYQZ":
            values[at] = poses
        elif self.order == "XYZQXQYQZQW":
            values[at] = poses[..., [0, 1, 2, 6, 3, 4, 5]]
        else:
            values[at, :, :3] = poses[..., :3]
            with np.errstate(invalid="ignore"):  # an infinite angle is no rotation: nan, which the reader reports
                values[at, :, 3:] = rotations.from_rpy(poses[..., 3:])


class RowParser:
    """Parses pieces of rows; one simdjson parser is used for all of them."""

    def __init__(self, page: Page) -> None:
        import simdjson

        # Once a block of this size was freed, the C library keeps those of pieces for the next piece instead of returning their pages.
        np.empty(1 << 24, np.uint8)
        self._parser = simdjson.Parser()
        self._page = page

    def parse(
        self, source: ByteSource, offset: int, size: int, indent: int | None, layout: Layout
    ) -> npt.NDArray[np.float64] | None:
        """Return the numbers (N, width) of a piece of whole rows; None where anything in it is irregular."""
        if not layout.width or 2 * layout.width > size:
            return None
        page = self._page
        page.load(source, offset, size)
        page.blank_comments()
        found = self._nested(layout) if indent is None else self._lines(indent, layout)
        if found is None:
            return None
        starts, ends, nested = found
        base, stop = int(starts[0]), int(ends[-1]) + 1
        if page.copy(0, base).strip(b" \t\r\n") or page.copy(stop).strip(b" \t\r\n"):
            return None
        commas = page.counter(44)
        width, count = layout.width, len(starts)
        first = np.arange(count) * width
        if nested is None:
            good = (commas(starts) == first).all()
            good = good and (commas(ends) == first + (width - 1)).all()
        else:
            pattern, inner = layout.pattern
            good = (page.text[nested] == pattern).all()
            good = good and (commas(nested) == first[:, None] + inner).all()
        if not good:
            return None
        flat = self._numbers(page.list_text(base, stop), count * width)
        if flat is None:
            return None
        zeros = self._negative_zeros()
        if len(zeros):
            flat = flat.copy()
            flat[commas(zeros)] = -0.0
        return flat.reshape(count, width)

    def _lines(self, indent: int, layout: Layout) -> _Rows | None:
        """Return rows that are lines, and make them elements of one list: a comma before each, nothing for its dash."""
        page = self._page
        begins, is_row = page.lines(indent)
        all_rows = bool(is_row.all())
        if not all_rows:
            begins = begins[is_row]
        if not len(begins):
            return None
        text, head = page.text, page.copy(int(begins[0]), int(begins[0]) + indent + 16)
        if head.startswith(b"- - ", indent):
            return self._nested(layout) if _flow_of_block(page, indent) else None
        column = head.find(b"[")
        alike = (
            all_rows
            and b"\r" not in head[: max(column, 0)]
            and layout.order is None
            and column > 0
            and page.begin_with(begins, head[: column + 1]).all()
        )
        text[begins[1:] - 1] = 44
        text[begins + indent] = 32
        if alike:
            # By far the most frequent case: each line is a row, from the same column to the end of the line.
            closing = np.asarray(np.append(begins[1:], page.size + (text[-1] != 10)) - 2)
            closing -= int(text[closing[0]] == 13)
            if (text[closing] == 93).all() and page.count(91) == len(begins):
                return begins + column, closing, None
        found = self._nested(layout)
        if found is None or len(found[0]) != len(begins):
            return None
        opening, closing, _ = found
        if (opening < begins).any() or (closing[:-1] >= begins[1:]).any():
            return None
        unclear = page.has(b"\t") or (page.has(b"\r") and page.count(13) != page.copy().count(b"\r\n"))
        if unclear and any(
            _UNCLEAR_ROW_START.search(page.copy(begin, stop))
            for begin, stop in zip(begins.tolist(), opening.tolist(), strict=True)
        ):
            return None
        return found

    def _nested(self, layout: Layout) -> _Rows | None:
        """Return rows that are found by their brackets alone."""
        at = self._page.brackets()
        per_row = len(layout.pattern[0])
        if not len(at) or len(at) % per_row:
            return None
        nested = at.reshape(-1, per_row)
        return nested[:, 0], nested[:, -1], nested

    def _negative_zeros(self) -> Offsets:
        """Return where the texts `-0` begin: in JSON they are the whole number 0, which has no sign."""
        text = self._page.text
        found = np.flatnonzero((text[:-2] == 45) & (text[1:-1] == 48) & ((text[2:] <= 44) | (text[2:] == 93)))
        return np.asarray(found[(text[found - 1] | 32) != 101])  # not the end of 1e-0

    def _numbers(self, json: memoryview, count: int) -> npt.NDArray[np.float64] | None:
        flat = self._parse(json, count)
        if flat is not None:
            return flat
        # Texts that are no numbers of JSON may be numbers all the same: with 0 in their places the rest must be JSON.
        texts: list[bytes] = []

        def note(found: re.Match[bytes]) -> bytes:
            texts.append(found[0])
            return b"0"

        zeros = _WORD.sub(note, json)
        if len(texts) != count:
            return None
        values = [number(text.decode("latin-1")) for text in texts]
        if None in values or self._parse(zeros, count) is None:
            return None
        return np.array(values, np.float64)

    def _parse(self, json: bytes | memoryview, count: int) -> npt.NDArray[np.float64] | None:
        try:
            # No name for the parsed array: the parser can be used again only when nothing refers to what it parsed.
            flat = np.frombuffer(self._parser.parse(json).as_buffer(of_type="d"))  # type: ignore[union-attr]
        except (ValueError, TypeError, RuntimeError):
            return None
        return flat if flat.size == count else None


_Rows: TypeAlias = tuple[Offsets, Offsets, Offsets | None]
"""Where rows begin and end; of nested rows also where all brackets of each are."""


_LEVELS = 3
"""Levels of lists: rows, their elements, the numbers of a pose."""


def _flow_of_block(page: Page, indent: int) -> bool:
    """Turn rows in nested block lists, as YAML libraries write them by default, into flow style in place.

    ::

        - - 0.1            [ 0.1,              - - - 0.1          [ [ 0.1,
          - 0.2              0.2 ],                - 0.2              0.2 ],
        - - 0.3            [ 0.3,                - - 0.3            [ 0.3,
          - 0.4              0.4 ]                 - 0.4              0.4 ] ]

    A line is described by the level of its first dash, at `indent` for level 0, and the number of its dashes; each level is two columns
    further in. The line break before it and its dashes and blanks have space for the brackets that close what the line before left open,
    for a comma, and for the brackets that the line opens. Returns False, and leaves a page that must not be used, for other rows.
    """
    if page.has(b"\t"):
        return False
    starts, _ = page.lines(indent)
    level = np.full(len(starts), -1, np.intp)
    dashes = np.zeros(len(starts), np.intp)
    for first in range(_LEVELS):
        for count in range(1, _LEVELS - first + 1):
            found = page.begin_with(starts, b" " * (indent + 2 * first) + b"- " * count)
            level[found], dashes[found] = first, count  # of several that fit, the one with the most dashes stays
    for k in np.flatnonzero(level < 0).tolist():
        if page.copy(int(starts[k]), int(starts[k + 1]) if k + 1 < len(starts) else page.size).strip(b" \r\n"):
            return False
    known = level >= 0
    starts, level, dashes = starts[known], level[known], dashes[known]
    if not len(starts) or level[0]:
        return False
    deepest = level + dashes - 1
    closing = deepest[:-1] - level[1:]
    if (closing < 0).any() or (deepest < 1).any():
        return False
    text = page.text
    for k in range(_LEVELS):
        some = dashes > k
        text[starts[some] + indent + 2 * (level[some] + k)] = 91 if k else 32
    breaks = starts[1:] - 1
    for k in range(_LEVELS):
        text[breaks[closing > k] + k] = 93
        text[breaks[closing == k] + k] = 44
    end = page.size - 1 if text[-1] == 10 else page.size
    page.extend(end + int(deepest[-1]))
    page.text[end:] = 93
    return True
