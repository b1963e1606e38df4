"""Rows of numbers in bulk: what a row looks like (`Layout`), and a parser that turns pieces of rows into arrays.

A piece of rows is turned into JSON (a comma for the dash) and parsed by simdjson, which checks that it is valid and returns all numbers in
one flat buffer. That each row has its numbers, nested as they must be, follows from the brackets, commas and dashes alone, which are the
same for all rows. Number texts that are not in JSON (`.5`, `+1`, `nan`) are read one by one by `scalars.number`. Where anything else is
irregular, the parser returns nothing, and `rows` reads the piece.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.formats.seq.file_bytes import Offsets, lines
from bodymotion.formats.seq.names import SE3_SIZES
from bodymotion.formats.seq.scalars import number
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats

_UNCLEAR_ROW_START = re.compile(rb"\x01[^\[]*(?:\t|\r(?!\n))")
"""Characters between a dash (here 1) and its row with which YAML sees something else than a row."""
_BESIDES = bytes({*range(256)} - {*b"[],\1"})
_NEGATIVE_ZERO = re.compile(rb"-0(?=[\s,\]])")  # In JSON it is the whole number 0, which has no sign.
_TIME_AS_POSE = re.compile(rb"(\[[^\[\],]*)\],\[")
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

    @property
    def pattern(self) -> bytes:
        """The brackets and commas of a row."""
        pose = b"[" + b"," * (self.pose_size - 1) + b"]" if self.order else b""
        return b"[" + b",".join([b""] * self.stamped + [pose] * self.parts) + b"]"

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

    def __init__(self) -> None:
        import simdjson

        # Once a block of this size was freed, the C library keeps those of pieces for the next piece instead of returning their pages.
        np.empty(1 << 24, np.uint8)
        self._parser = simdjson.Parser()

    def parse(self, text: bytes, indent: int | None, layout: Layout) -> Floats | None:
        """Return the numbers (N, width) of a piece of whole rows without comments; None where anything in it is irregular.

        The rows are lines of `indent` blanks and a dash, or (None) elements of a flow sequence.
        """
        if not layout.width or 2 * layout.width > len(text):
            return None
        if indent is not None and text.startswith(b"- - ", indent):
            text, indent = _flow_of_block(text, indent, layout), None
        json = bytearray(b"[%b]" % text)
        codes = np.frombuffer(json, np.uint8)
        row = layout.pattern
        if indent is None:
            brackets = json.translate(None, _BESIDES)[1:-1]
            count = (len(brackets) + 1) // (len(row) + 1)
            if not count or brackets != b",".join([row] * count):
                return None
        else:
            starts, is_row = lines(text, indent)
            dashes = starts[is_row] + indent + 1
            codes[dashes] = 1
            count = len(dashes)
            if not count or json.translate(None, _BESIDES) != b"[" + (b"\1" + row) * count + b"]":
                return None
            if (b"\t" in text or b"\r" in text) and _UNCLEAR_ROW_START.search(json):
                return None
            codes[dashes] = 44
            codes[dashes[0]] = 32
        flat = self._numbers(json, count * layout.width)
        if flat is None:
            return None
        if not flat.all():
            zeros = [at for at in map(re.Match.start, _NEGATIVE_ZERO.finditer(json)) if json[at - 1] not in b"eE"]
            flat = flat.copy()
            flat[np.cumsum(codes == 44)[zeros]] = -0.0
        return flat.reshape(count, layout.width)

    def _numbers(self, json: bytearray, count: int) -> Floats | None:
        flat = self._parse(json, count)
        if flat is not None:
            return flat
        # Texts that are no numbers of JSON may be numbers all the same: with 0 in their places the rest must be JSON.
        texts = _WORD.findall(json)
        if len(texts) != count:
            return None
        values = [number(text.decode("latin-1")) for text in texts]
        if None in values or self._parse(_WORD.sub(b"0", json), count) is None:
            return None
        return np.array(values, np.float64)

    def _parse(self, json: bytes | bytearray, count: int) -> Floats | None:
        try:
            # No name for the parsed array: the parser can be used again only when nothing refers to what it parsed.
            flat = np.frombuffer(self._parser.parse(json).as_buffer(of_type="d"))  # type: ignore[union-attr]
        except (ValueError, TypeError, RuntimeError):
            return None
        return flat if flat.size == count else None


def _flow_of_block(text: bytes, indent: int, layout: Layout) -> bytes:
    """Return rows in nested block lists, as YAML libraries write them by default, in flow style; other rows as what is no JSON.

    ::

        - - 0.1            [0.1            - - - 0.1          [[0.1
          - 0.2            ,0.2              - 0.2            ,0.2
        - - 0.3            ],[0.3          - - - 0.3          ]],[[0.3
          - 0.4            ,0.4]             - 0.4            ,0.4]]

    Each level is two columns further in.
    """

    def line(level: int, dashes: int) -> bytes:
        return b"\n" + b" " * (indent + 2 * level) + b"- " * dashes

    steps, closing = [(line(0, 2), b"],["), (line(1, 1), b",")], b"]"
    if layout.order:
        steps = [(line(0, 3), b"]],[["), (line(0, 2), b"]],["), (line(1, 2), b"],["), (line(2, 1), b",")]
        closing = b"]]"
    text = b"\n" + text
    for old, new in steps:
        text = text.replace(old, new)
    if layout.order and layout.stamped:
        text = _TIME_AS_POSE.sub(rb"\1,[", text)
    return text.removeprefix(closing + b",") + closing
