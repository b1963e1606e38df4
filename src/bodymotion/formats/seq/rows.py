"""Rows of numbers: from bytes to arrays.

A piece of rows is turned into JSON in place (a comma for the line break before a dash, a space for the dash) and given to simdjson,
which checks that it is valid and gives all numbers in one flat buffer. That each row has its numbers, nested as they must be, is seen
from the brackets and from counts of commas at them, for all rows at once. Number texts that JSON does not know (`.5`, `+1`, `nan`)
are read one by one by `numbers.number`. A piece in which anything is odd is walked token by token by `careful_rows`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Rule
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.bits import Bytes, Places, Rank, after, before, bit_map, places
from bodymotion.formats.seq.layout import Layout
from bodymotion.formats.seq.nodes import Node, Scalar, Sequence
from bodymotion.formats.seq.numbers import number
from bodymotion.formats.seq.scan import brackets, line_starts, without_comments
from bodymotion.formats.seq.source_bytes import UnusualError

__all__ = ["RowFaultError", "RowParser", "careful_rows", "row_numbers"]

_TOKEN = re.compile(rb"[\[\],]|[^ \t\r\n,\[\]]+")
_WORD = re.compile(rb"[^ \t\r\n,\[\]]+")
_PLAIN = re.compile(rb"[-+.]*[0-9A-Za-z_~][-+.0-9A-Za-z_~#]*")
"""Texts that are surely one plain scalar of YAML."""


class RowParser:
    """Parses pieces of rows; one simdjson parser is used for all of them."""

    def __init__(self) -> None:
        import simdjson

        self._parser = simdjson.Parser()

    def parse(self, text: bytes, indent: int | None, layout: Layout) -> npt.NDArray[np.float64] | None:
        """Give the numbers (N, width) of a piece of whole rows, or None where anything in it is odd."""
        if not layout.width:
            return None
        text = without_comments(text)
        if indent is None:
            found = self._flow(np.frombuffer(text, np.uint8), layout)
        else:
            found = self._block(text, indent, layout)
        if found is None:
            return None
        a, starts, ends, nested = found
        base, stop = int(starts[0]), int(ends[-1]) + 1
        if a[:base].tobytes().strip(b" \t\r\n") or a[stop:].tobytes().strip(b" \t\r\n"):
            return None
        a, count = a[base:stop], len(starts)
        commas = bit_map(a == 44)
        rank = Rank(commas)
        width = layout.width
        first = np.arange(count) * width
        if nested is None:
            if (rank(starts - base) != first).any() or (rank(ends - base) != first + (width - 1)).any():
                return None
        else:
            pattern, inner = layout.pattern
            nested = nested - base
            if (a[nested] != pattern).any() or (
                rank(nested.ravel()).reshape(nested.shape) != first[:, None] + inner
            ).any():
                return None
        json = b"[" + a.tobytes() + b"]"
        flat = self._numbers(json, count * width)
        if flat is None or flat.size != count * width:
            return None
        zeros = _negative_zeros(a, commas)
        if len(zeros):
            flat = flat.copy()
            flat[rank(zeros)] = -0.0
        return flat.reshape(count, width)

    def _numbers(self, json: bytes, count: int) -> npt.NDArray[np.float64] | None:
        try:
            # No name for the parsed array: the parser can be used again only when nothing refers to what it parsed.
            return np.frombuffer(self._parser.parse(json).as_buffer(of_type="d"))
        except (ValueError, TypeError, RuntimeError):
            pass
        texts: list[bytes] = []

        def note(found: re.Match[bytes]) -> bytes:
            texts.append(found[0])
            return b"0"

        zeros = _WORD.sub(note, json)
        if len(texts) != count:
            return None
        values = [number(text.decode("latin-1")) for text in texts]
        if None in values:
            return None
        try:
            flat = np.frombuffer(self._parser.parse(zeros).as_buffer(of_type="d"))
        except (ValueError, TypeError, RuntimeError):
            return None
        return np.array(values, np.float64) if flat.size == count else None

    def _block(self, text: bytes, indent: int, layout: Layout) -> _Found | None:
        room, starts, is_row = line_starts(text, indent)
        usual = bool(is_row.all())
        begins = starts if usual else starts[is_row]
        if not len(begins):
            return None
        size = len(text)
        room[begins[1:] - 1] = 44
        room[begins + indent] = 32
        a = room[:size]
        if usual and layout.order is None:
            # The usual case by far: each line is a row, from the same column to the end of the line.
            head = text[indent + 1 : indent + 17]
            opening = begins + (indent + 1 + len(head) - len(head.lstrip(b" ")))
            closing = np.empty_like(opening)
            closing[:-1] = begins[1:] - 2
            closing[-1] = size - 2 if text.endswith(b"\n") else size - 1
            closing -= room[closing] == 13
            if (
                opening[-1] < size
                and (room[opening] == 91).all()
                and (room[closing] == 93).all()
                and np.count_nonzero(a == 91) == len(begins)
                and (closing > opening).all()
            ):
                return a, opening, closing, None
        found = self._flow(a, layout)
        if found is None or len(found[1]) != len(begins):
            return None
        _, opening, closing, _ = found
        if (opening < begins).any() or (closing[:-1] >= begins[1:]).any():
            return None
        return found

    def _flow(self, a: Bytes, layout: Layout) -> _Found | None:
        at = brackets(a)
        per_row = len(layout.pattern[0])
        if not len(at) or len(at) % per_row:
            return None
        nested = at.reshape(-1, per_row)
        return a, nested[:, 0], nested[:, -1], nested


_Found: TypeAlias = tuple[Bytes, Places, Places, Places | None]


def _negative_zeros(a: Bytes, commas: npt.NDArray[np.uint64]) -> Places:
    """Find the texts `-0`: JSON knows them as the whole number 0, which has no sign."""
    zero = bit_map(a == 48) & after(bit_map(a == 45))
    zero &= before(commas | bit_map((a <= 32) | (a == 93)))
    found = places(zero)
    if len(found):
        found = found[(found < 2) | ((a[found - 2] | 32) != 101)]  # not the end of 1e-0
    return found


class RowFaultError(Exception):
    """A row that is not as its layout says; `index` is where."""

    def __init__(self, rule: Rule, message: str, index: int) -> None:
        super().__init__(message)
        self.rule, self.message, self.index = rule, message, index


def row_numbers(row: Node, layout: Layout) -> list[float]:
    """Give the numbers of one row, in the order of the text.

    Raises
    ------
    RowFaultError
        Where it has not the numbers that the layout says, or something that is no number.
    """
    if not isinstance(row, Sequence):
        raise RowFaultError(rules.ROW, "is not a row [ … ] of numbers", row.index)
    items = row.items
    wanted = layout.stamped + layout.parts
    what = "poses" if layout.order else "numbers"
    if len(items) != wanted:
        time = "its time and " if layout.stamped else ""
        parts = wanted - layout.stamped
        found = f"{len(items)} elements" if layout.stamped and layout.order else f"{len(items)} {what}"
        raise RowFaultError(
            rules.ROW, f"has {found} instead of {wanted}{f' ({time}{parts} {what})' if time else ''}", row.index
        )
    if not layout.order:
        return [_number(item) for item in items]
    values = [_number(item) for item in items[: layout.stamped]]
    for k, pose in enumerate(items[layout.stamped :]):
        if not isinstance(pose, Sequence):
            raise RowFaultError(rules.ROW, f"has no list of {layout.pose_size} numbers for pose {k}", pose.index)
        if len(pose.items) != layout.pose_size:
            raise RowFaultError(
                rules.ROW, f"has {len(pose.items)} numbers instead of {layout.pose_size} in pose {k}", pose.index
            )
        values += [_number(item) for item in pose.items]
    return values


def _number(item: Node) -> float:
    if not isinstance(item, Scalar):
        raise RowFaultError(rules.ROW, "has a list where a number is wanted", item.index)
    value = None if item.quoted else number(item.text)
    if value is None:
        shown = f'"{item.text[:40]}"' if item.quoted else item.text[:40]
        raise RowFaultError(rules.NUMBER, f"has {shown}, which is no plain decimal number", item.index)
    return value


def careful_rows(text: bytes, indent: int | None) -> Iterator[Sequence]:
    """Walk through a piece of whole rows token by token; the `index` of each node is its place in the piece.

    Raises
    ------
    UnusualError
        At anything that is not a list of plain texts.
    """
    text = without_comments(text)
    dashes: set[int] = set()
    if indent is not None:
        _, starts, is_row = line_starts(text, indent)
        dashes = set((starts[is_row] + indent).tolist())
    stack: list[Sequence] = []
    filled = False  # whether a value has come since the last comma, dash or opening bracket
    ready = indent is None  # whether a row may begin here
    for found in _TOKEN.finditer(text):
        at, token = found.start(), found[0]
        if token == b"[":
            if filled or not (stack or ready):
                raise UnusualError("a comma is missing")
            stack.append(Sequence(at, True))
            ready = indent is None
        elif token == b"]" and stack:
            done = stack.pop()
            if not filled and done.items and text[:at].rstrip()[-1:] != b",":
                raise UnusualError("a value is missing")
            filled = True
            if stack:
                stack[-1].items.append(done)
            else:
                yield done
        elif token == b"," and filled and (stack or indent is None):
            filled = False
        elif not stack and token == b"-" and at in dashes and not ready:
            ready, filled = True, False
        elif stack and not filled and _PLAIN.fullmatch(token):
            stack[-1].items.append(Scalar(at, token.decode("ascii"), False))
            filled = True
        else:
            raise UnusualError("there is something but numbers in a row")
    if stack or (indent is not None and ready):
        raise UnusualError("a row does not end")
