"""The rows of one component: out of the bytes of the file, or of the YAML nodes themselves."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import FormatError, Location
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.layout import Layout
from bodymotion.formats.seq.nodes import Node, Places, Sequence, plain, read_tree
from bodymotion.formats.seq.page import without_comments
from bodymotion.formats.seq.rows import RowFaultError, RowParser, careful_rows, row_numbers
from bodymotion.formats.seq.scan import Span, decoded
from bodymotion.formats.seq.source_bytes import ByteSource, UnusualError

if TYPE_CHECKING:
    from bodymotion.formats.seq.document import Document

__all__ = ["ALIAS_GROWTH", "Frames", "RowPiece", "frames_of_node", "frames_of_span", "rows_by_yaml"]

MAX_VALUES = 1 << 25
"""Rows that are kept as plain values because nobody knows what they are hold no more than about this many."""
ALIAS_GROWTH = 16
"""Aliases may make so many times as many values as there are nodes in the text."""
_BLOCK = 4096


@dataclass(frozen=True)
class RowPiece:
    """Some rows of a component, for whoever goes on where one is faulty.

    `block` holds their numbers (num_rows, width) if each has those that its layout says, else None. `nodes()` gives the rows as nodes, and
    `place(index, inside)` says where the `index` of one is; in a file's bytes that is `offset` + index, where `offset` is known.
    `text()` gives the bytes of the piece, `indent` says how far in its rows stand (None: in flow style), `line` where it begins.
    """

    first_row: int
    num_rows: int
    block: npt.NDArray[np.float64] | None
    nodes: Callable[[], Iterable[Node]]
    place: Callable[[int, str | None], Location]
    offset: int | None = None
    text: Callable[[], bytes] | None = None
    indent: int | None = None


class Frames(Protocol):
    """The rows of one component."""

    num_rows: int

    def row(self, row: int) -> Node:
        """Return a row."""

    def blocks(self, layout: Layout, inside: str) -> Iterator[npt.NDArray[np.float64]]:
        """Return the numbers (N, width) of all rows, some rows at a time."""

    def pieces(self, layout: Layout) -> Iterator[RowPiece]:
        """Return all rows, some at a time, faulty ones among them."""

    def location(self, row: int, inside: str) -> Location:
        """Say where a row begins."""

    def plain(self) -> list[object]:
        """Return the rows as plain values."""


def _fault(error: RowFaultError, row: int, location: Location) -> FormatError:
    return error.rule.error(f"frame {row} {error.message}", location)


def rows_by_yaml(text: str, indent: int | None, where: Places, line: int, column: int) -> list[Node]:
    """Parse a piece of rows, which begins at a line and column of the file, as a YAML document of its own."""
    if indent is None:
        where.add("[", line, max(column - 1, 1))
    where.add(text, line, column)
    if indent is None:
        where.add("]", *_end(text, line, column))
    tree = read_tree(where)
    if not isinstance(tree.root, Sequence) or tree.next_document is not None or tree.aliased:
        raise UnusualError("the rows are no list")
    if indent is None:
        _shift(tree.root.items)
    return tree.root.items


def _end(text: str, line: int, column: int) -> tuple[int, int]:
    last = text.rfind("\n")
    return line + text.count("\n"), len(text) - last if last >= 0 else column + len(text)


def _shift(nodes: list[Node]) -> None:
    for node in nodes:
        node.index -= 1
        if isinstance(node, Sequence):
            _shift(node.items)


def _plain_lines(text: bytes, indent: int | None) -> list[object] | None:
    """Return the rows of a piece as plain values where each is a line that JSON and YAML understand alike, else None."""
    if indent is None or b'"' in text or b"#" in text or not text.isascii():
        return None
    prefix, rows = " " * indent + "- [", []
    for line in text.decode("ascii").split("\n"):
        if line.startswith(prefix):
            try:
                row = json.loads(line[indent + 2 :])
            except (ValueError, RecursionError):
                return None
            if any(isinstance(value, list) and any(isinstance(part, list) for part in value) for value in row):
                return None
            rows.append(row)
        elif line.strip(" \r"):
            return None
    return rows


class _SpanFrames:
    def __init__(self, source: ByteSource, span: Span, parser: RowParser) -> None:
        self._source, self._span, self._parser = source, span, parser
        self.num_rows = span.num_rows

    def _rows(self, k: int) -> Iterable[Node]:
        """Return the rows of a piece as nodes whose `index` is their place in the piece."""
        piece = self._span.pieces[k]
        text = without_comments(self._source.read(piece.offset, piece.size))
        try:
            return list(careful_rows(text, self._span.indent))
        except UnusualError as error:
            return self._by_yaml(k, text, error)

    def _by_yaml(self, k: int, text: bytes, why: UnusualError) -> list[Node]:
        piece, fault = self._span.pieces[k], None
        try:
            found = rows_by_yaml(
                decoded(text)[0], self._span.indent, Places(self._source.path), piece.line, piece.column
            )
            if text.isascii():  # or else the places of the nodes would be those of characters
                return found
        except UnusualError:
            pass
        except FormatError as error:
            fault = error if error.problem.rule == rules.NOT_YAML.code else None
        raise UnusualError(str(why), self._place(k, why.index, None)) from fault

    def blocks(self, layout: Layout, inside: str) -> Iterator[npt.NDArray[np.float64]]:
        for k, piece in enumerate(self._span.pieces):
            block = self._parser.parse(self._source, piece.offset, piece.size, self._span.indent, layout)
            if block is None or len(block) != piece.rows:
                block = self._carefully(k, layout, inside)
            yield block

    def pieces(self, layout: Layout) -> Iterator[RowPiece]:
        for k, piece in enumerate(self._span.pieces):
            block = self._parser.parse(self._source, piece.offset, piece.size, self._span.indent, layout)
            yield RowPiece(
                piece.first_row,
                piece.rows,
                None if block is None or len(block) != piece.rows else block,
                partial(self._rows, k),
                partial(self._place, k),
                piece.offset,
                partial(self._source.read, piece.offset, piece.size),
                self._span.indent,
            )

    def _carefully(self, k: int, layout: Layout, inside: str) -> npt.NDArray[np.float64]:
        piece = self._span.pieces[k]
        block: list[list[float]] = []
        for number, node in enumerate(self._rows(k), piece.first_row):
            try:
                block.append(row_numbers(node, layout))
            except RowFaultError as error:
                raise _fault(error, number, self._place(k, error.index, f"{inside}.frames[{number}]")) from None
        if len(block) != piece.rows:
            raise UnusualError("the rows do not end with their lines", Location(self._source.path, piece.line))
        return np.array(block, np.float64).reshape(len(block), layout.width)

    def _place(self, k: int, offset: int, inside: str | None) -> Location:
        piece = self._span.pieces[k]
        head = self._source.read(piece.offset, offset)
        last = head.rfind(b"\n")
        column = offset - last if last >= 0 else piece.column + offset
        return Location(self._source.path, piece.line + head.count(b"\n"), column, inside)

    def _find(self, row: int) -> tuple[int, Node]:
        """Return the piece that a row is in, and the row."""
        k = max(bisect_right(self._span.pieces, row, key=lambda piece: piece.first_row) - 1, 0)
        for number, node in enumerate(self._rows(k), self._span.pieces[k].first_row):
            if number == row:
                return k, node
        raise UnusualError("the rows do not end with their lines")

    def row(self, row: int) -> Node:
        return self._find(row)[1]

    def location(self, row: int, inside: str) -> Location:
        k, node = self._find(row)
        return self._place(k, node.index, f"{inside}.frames[{row}]")

    def plain(self) -> list[object]:
        places = Places(None)
        rows: list[object] = []
        count = 0
        for k, piece in enumerate(self._span.pieces):
            text = self._source.read(piece.offset, piece.size)
            count += sum(text.count(mark) for mark in (b"[", b",", b"- "))
            if count > MAX_VALUES:
                where = Location(self._source.path, self._span.pieces[0].line, self._span.pieces[0].column)
                raise UnusualError("the frames of an unknown type are too many", where)
            known = _plain_lines(text, self._span.indent)
            rows += [plain(node, places, 1 << 40) for node in self._rows(k)] if known is None else known
            if len(rows) != piece.first_row + piece.rows:
                raise UnusualError("the rows do not end with their lines", Location(self._source.path, piece.line))
        return rows


class _NodeFrames:
    def __init__(self, node: Sequence, document: Document) -> None:
        self._node, self._document = node, document
        self.num_rows = len(node.items)

    def row(self, row: int) -> Node:
        return self._node.items[row]

    def blocks(self, layout: Layout, inside: str) -> Iterator[npt.NDArray[np.float64]]:
        for at in range(0, self.num_rows, _BLOCK):
            block: list[list[float]] = []
            for row, node in enumerate(self._node.items[at : at + _BLOCK], at):
                if row == 1:
                    self._check_growth(layout, inside)
                try:
                    block.append(row_numbers(node, layout))
                except RowFaultError as error:
                    place = self._document.where.location(error.index, f"{inside}.frames[{row}]")
                    raise _fault(error, row, place) from None
            yield np.array(block, np.float64).reshape(len(block), layout.width)

    def pieces(self, layout: Layout) -> Iterator[RowPiece]:
        if self.num_rows > 1:
            self._check_growth(layout, "")
        for at in range(0, self.num_rows, _BLOCK):
            nodes = self._node.items[at : at + _BLOCK]
            yield RowPiece(at, len(nodes), None, partial(list, nodes), self._document.where.location)

    def _check_growth(self, layout: Layout, inside: str) -> None:
        if self.num_rows * layout.width > ALIAS_GROWTH * self._document.tree.size + 1000:
            raise rules.ALIASES.error("aliases make too many numbers", self.location(1, inside))

    def location(self, row: int, inside: str) -> Location:
        return self._document.where.location(self._node.items[row].index, f"{inside}.frames[{row}]")

    def plain(self) -> list[object]:
        value = plain(self._node, self._document.where, ALIAS_GROWTH * self._document.tree.size + 1000)
        assert isinstance(value, list)
        return value


def frames_of_span(source: ByteSource, span: Span, parser: RowParser) -> Frames:
    """Return the rows that were found in the bytes of a file."""
    return _SpanFrames(source, span, parser)


def frames_of_node(node: Sequence, document: Document) -> Frames:
    """Return the rows that are the items of a node."""
    return _NodeFrames(node, document)
