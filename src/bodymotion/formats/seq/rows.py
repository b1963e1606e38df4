"""Rows of numbers: from bytes to arrays.

A piece of rows is turned into JSON in place (a comma for the line break before a dash, a space for the dash) and given to simdjson,
which checks that it is valid and gives all numbers in one flat buffer. That each row has its numbers, nested as they must be, is seen
from the brackets and from counts of commas at them, for all rows at once. Number texts that JSON does not know (`.5`, `+1`, `nan`)
are read one by one by `numbers.number`. A piece in which anything is odd is walked token by token by `careful_rows`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Rule
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.bits import Places, Rank, Words, after, before, places
from bodymotion.formats.seq.block_rows import flow_of_block
from bodymotion.formats.seq.layout import Layout
from bodymotion.formats.seq.nodes import Node, Scalar, Sequence
from bodymotion.formats.seq.numbers import number
from bodymotion.formats.seq.page import Page, without_comments
from bodymotion.formats.seq.source_bytes import ByteSource, UnusualError
from bodymotion.formats.text.number_slips import number_slip

__all__ = ["RowFaultError", "RowParser", "careful_rows", "decimal_commas", "row_numbers"]

_TOKEN = re.compile(rb"[\[\],]|[^ \t\r\n,\[\]]+")
_WORD = re.compile(rb"[^ \t\r\n,\[\]]+")
_UNCLEAR = re.compile(rb"\t|\r(?!\n)")
"""What makes of a dash and a row after it something else for YAML."""
_PLAIN = re.compile(rb"[-+.]*[0-9A-Za-z_~][-+.0-9A-Za-z_~#]*")
"""Texts that are surely one plain scalar of YAML."""

_WHOLE, _DIGITS = re.compile(r"[-+]?[0-9]+"), re.compile(r"[0-9]+")


class RowParser:
    """Parses pieces of rows; one simdjson parser is used for all of them."""

    def __init__(self, page: Page) -> None:
        import simdjson

        # Once a block of this size was freed, the C library keeps those of pieces for the next piece instead of giving their pages back.
        np.empty(1 << 24, np.uint8)
        self._parser = simdjson.Parser()
        self._page = page

    def parse(
        self, source: ByteSource, offset: int, size: int, indent: int | None, layout: Layout
    ) -> npt.NDArray[np.float64] | None:
        """Return the numbers (N, width) of a piece of whole rows, or None where anything in it is odd."""
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
        commas = page.bits(44)
        rank = Rank(commas)
        width, count = layout.width, len(starts)
        first = np.arange(count) * width
        if nested is None:
            good = (rank(starts) == first).all() and (rank(ends) == first + (width - 1)).all()
        else:
            pattern, inner = layout.pattern
            good = (page.text[nested] == pattern).all()
            good = good and (rank(nested.ravel()).reshape(nested.shape) == first[:, None] + inner).all()
        if not good:
            return None
        flat = self._numbers(page.list_text(base, stop), count * width)
        if flat is None:
            return None
        # JSON knows -0 as the whole number 0, which has no sign. Every minus is that of a negative value, or of an exponent.
        if page.count(45) != np.count_nonzero(np.signbit(flat)) + page.count_after(45, b"eE"):
            flat = flat.copy()
            flat[rank(self._negative_zeros(commas))] = -0.0
        return flat.reshape(count, width)

    def _lines(self, indent: int, layout: Layout) -> _Found | None:
        """Find rows that are lines, and make them elements of one list: a comma before each, nothing for its dash."""
        page = self._page
        begins, is_row = page.lines(indent)
        usual = bool(is_row.all())
        if not usual:
            begins = begins[is_row]
        if not len(begins):
            return None
        text, head = page.text, page.copy(int(begins[0]), int(begins[0]) + indent + 16)
        if head.startswith(b"- - ", indent):
            return self._nested(layout) if flow_of_block(page, indent) else None
        column = head.find(b"[")
        alike = (
            usual
            and b"\r" not in head[: max(column, 0)]
            and layout.order is None
            and column > 0
            and page.begin_with(begins, head[: column + 1]).all()
        )
        text[begins[1:] - 1] = 44
        text[begins + indent] = 32
        if alike:
            # The usual case by far: each line is a row, from the same column to the end of the line.
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
            _UNCLEAR.search(page.copy(begin, stop))
            for begin, stop in zip(begins.tolist(), opening.tolist(), strict=True)
        ):
            return None
        return found

    def _nested(self, layout: Layout) -> _Found | None:
        """Find rows by their brackets alone."""
        at = self._page.brackets()
        per_row = len(layout.pattern[0])
        if not len(at) or len(at) % per_row:
            return None
        nested = at.reshape(-1, per_row)
        return nested[:, 0], nested[:, -1], nested

    def _negative_zeros(self, commas: Words) -> Places:
        """Find the texts `-0`."""
        page = self._page
        zero = page.bits(48)
        zero &= after(page.bits(45))
        ends = page.bits_up_to(32)
        ends |= commas
        ends |= page.bits(93)
        zero &= before(ends)
        found = places(zero)
        return np.asarray(found[(found < 2) | ((page.text[found - 2] | 32) != 101)])  # not the end of 1e-0

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


_Found: TypeAlias = tuple[Places, Places, Places | None]
"""Where rows begin and end, and for nested ones where all brackets of each are."""


class RowFaultError(Exception):
    """A row that is not as its layout says; `index` is where."""

    def __init__(self, rule: Rule, message: str, index: int) -> None:
        super().__init__(message)
        self.rule, self.message, self.index = rule, message, index


def row_numbers(row: Node, layout: Layout) -> list[float]:
    """Return the numbers of one row, in the order of the text.

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
        _check_texts(items, wanted)
        time = "its time and " if layout.stamped else ""
        parts = wanted - layout.stamped
        kind = "elements" if layout.stamped and layout.order else what
        found = f"{len(items)} {kind if len(items) != 1 else kind[:-1]}"
        plain = [item for item in items if isinstance(item, Scalar)]
        comma = ": a decimal comma?" if len(plain) == len(items) and decimal_commas(plain, wanted) else ""
        raise RowFaultError(
            rules.ROW, f"has {found} instead of {wanted}{f' ({time}{parts} {what})' if time else ''}{comma}", row.index
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


def decimal_commas(items: list[Scalar], wanted: int) -> bool:
    """Whether a row is as wide as `wanted` numbers are, some with a decimal comma: one without a blank, among others that have one."""
    tight = [after.index == item.index + len(item.text) + 1 for item, after in itertools.pairwise(items)]
    pairs = at = 0
    while at < len(tight):
        both = tight[at] and _WHOLE.fullmatch(items[at].text) and _DIGITS.fullmatch(items[at + 1].text)
        pairs += bool(both)
        at += 2 if both else 1
    return 0 < pairs == len(items) - wanted and (not all(tight) or len(tight) == 1)


def _check_texts(items: list[Node], wanted: int) -> None:
    """Where a row has too few or too many elements for a text among them, say that."""
    texts = [item for item in items if isinstance(item, Scalar) and not item.quoted and number(item.text) is None]
    if texts and len(items) - len(texts) == wanted:
        raise RowFaultError(
            rules.ROW, f"has {texts[0].text[:40]!r}, which is no number, beside its numbers", texts[0].index
        )
    for item in texts:
        parts = re.split(r"\s*;\s*|\s+", item.text.strip())
        if len(parts) > 1 and all(number(part) is not None for part in parts):
            wrong = "';' where a comma belongs" if ";" in item.text else "no comma between its numbers"
            raise RowFaultError(rules.ROW, f"has {item.text[:40]!r}: {wrong}", item.index)


def _number(item: Node) -> float:
    if not isinstance(item, Scalar):
        raise RowFaultError(rules.ROW, "has a list where a number is wanted", item.index)
    value = None if item.quoted else number(item.text)
    if value is None:
        shown = f'"{item.text[:40]}"' if item.quoted else item.text[:40]
        if not item.quoted and not any(letter.isdigit() for letter in shown):
            raise RowFaultError(rules.NUMBER, f"has {shown!r}, which is no number", item.index)
        slip = number_slip(item.text)
        said = f"has {shown}, which is no plain decimal number{f': {slip}' if slip else ''}"
        raise RowFaultError(rules.NUMBER, said, item.index)
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
        prefix = b" " * indent + b"- "
        lines = [0, *(found.end() for found in re.finditer(b"\n", text))]
        dashes = {at + indent for at in lines if text.startswith(prefix, at)}
    stack: list[Sequence] = []
    filled = False  # whether a value has come since the last comma, dash or opening bracket
    ready = indent is None  # whether a row may begin here
    dash = 0
    for found in _TOKEN.finditer(text):
        at, token = found.start(), found[0]
        if token == b"[":
            if filled or not (stack or ready):
                raise UnusualError("a comma is missing", index=at)
            if not stack and indent is not None and _UNCLEAR.search(text, dash, at):
                raise UnusualError("there is a tab or a line end before a row", index=dash)
            stack.append(Sequence(at, True))
            ready = indent is None
        elif token == b"]" and stack:
            done = stack.pop()
            filled = True
            if stack:
                stack[-1].items.append(done)
            else:
                yield done
        elif token == b"," and filled and (stack or indent is None):
            filled = False
        elif not stack and token == b"-" and at in dashes and not ready:
            ready, filled, dash = True, False, at
        elif stack and not filled and _PLAIN.fullmatch(token):
            stack[-1].items.append(Scalar(at, token.decode("ascii"), False))
            filled = True
        else:
            raise UnusualError("there is something but numbers in a row", index=at)
    if stack or (indent is not None and ready):
        raise UnusualError("a row does not end", index=stack[0].index if stack else dash)
