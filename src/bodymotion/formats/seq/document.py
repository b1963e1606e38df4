"""A file as a tree of headers, with the frames of each component beside it: out of the bytes, or of the YAML nodes themselves."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import FormatError, Location
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.layout import OLD_TYPES, Layout
from bodymotion.formats.seq.nodes import Mapping, Node, Places, Scalar, Sequence, Tree, key_text, plain, read_tree
from bodymotion.formats.seq.page import Page, without_comments
from bodymotion.formats.seq.rows import RowFaultError, RowParser, careful_rows, row_numbers
from bodymotion.formats.seq.scan import Scan, Span, decoded, scan
from bodymotion.formats.seq.source_bytes import ByteSource, UnusualError

__all__ = ["WHOLE", "Document", "Frames", "open_document", "whole_document"]

WHOLE = 64 << 20
"""Files up to this many bytes are parsed as YAML as a whole when their rows are in an unusual shape."""
MAX_VALUES = 1 << 25
"""Rows that are kept as plain values because nobody knows what they are hold no more than about this many."""
_BLOCK = 4096
_ALIAS_GROWTH = 16


class Frames(Protocol):
    """The rows of one component."""

    num_rows: int

    def row(self, row: int) -> Node:
        """Give a row."""

    def blocks(self, layout: Layout, inside: str) -> Iterator[npt.NDArray[np.float64]]:
        """Give the numbers (N, width) of all rows, some rows at a time."""

    def location(self, row: int, inside: str) -> Location:
        """Say where a row begins."""

    def plain(self) -> list[object]:
        """Give the rows as plain values."""


def _fault(error: RowFaultError, row: int, location: Location) -> FormatError:
    return error.rule.error(f"frame {row} {error.message}", location)


def _rows_by_yaml(text: str, indent: int | None, where: Places, line: int, column: int) -> list[Node]:
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
    """Give the rows of a piece as plain values where each is a line that JSON and YAML understand alike, else None."""
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
        """Give the rows of a piece as nodes whose `index` is their place in the piece."""
        piece = self._span.pieces[k]
        text = without_comments(self._source.read(piece.offset, piece.size))
        try:
            return list(careful_rows(text, self._span.indent))
        except UnusualError as error:
            return self._by_yaml(k, text, error)

    def _by_yaml(self, k: int, text: bytes, why: UnusualError) -> list[Node]:
        piece, fault = self._span.pieces[k], None
        try:
            found = _rows_by_yaml(
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
        """Give the piece that a row is in, and the row."""
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
        tree = self._document.tree
        for at in range(0, self.num_rows, _BLOCK):
            block: list[list[float]] = []
            for row, node in enumerate(self._node.items[at : at + _BLOCK], at):
                if row == 1 and self.num_rows * layout.width > _ALIAS_GROWTH * tree.size + 1000:
                    raise rules.ALIASES.error("aliases make too many numbers", self.location(row, inside))
                try:
                    block.append(row_numbers(node, layout))
                except RowFaultError as error:
                    place = self._document.where.location(error.index, f"{inside}.frames[{row}]")
                    raise _fault(error, row, place) from None
            yield np.array(block, np.float64).reshape(len(block), layout.width)

    def location(self, row: int, inside: str) -> Location:
        return self._document.where.location(self._node.items[row].index, f"{inside}.frames[{row}]")

    def plain(self) -> list[object]:
        value = plain(self._node, self._document.where, _ALIAS_GROWTH * self._document.tree.size + 1000)
        assert isinstance(value, list)
        return value


class Document:
    """The headers of a file, and the frames that they name."""

    def __init__(
        self, source: ByteSource, tree: Tree, where: Places, marks: dict[int, Span], encoding: str, page: Page
    ) -> None:
        self.source, self.tree, self.where, self.marks, self.encoding = source, tree, where, marks, encoding
        self._frames: dict[int, Frames] = {}
        self._parser = RowParser(page) if marks else None

    def location(self, node: Node, inside: str | None = None) -> Location:
        """Say where a node begins."""
        return self.where.location(node.index, inside)

    def span(self, node: Node) -> Span | None:
        """Give the rows that were taken out of a sequence, if they were."""
        if isinstance(node, Sequence) and len(node.items) == 1 and isinstance(node.items[0], Scalar):
            return self.marks.get(node.items[0].index)
        return None

    def frames(self, node: Sequence) -> Frames:
        """Give the rows of a sequence; the same object for the same node."""
        known = self._frames.get(id(node))
        if known is None:
            span = self.span(node)
            parser = self._parser if span else None
            known = _SpanFrames(self.source, span, parser) if span and parser else _NodeFrames(node, self)
            self._frames[id(node)] = known
        return known

    def plain(self, node: Node) -> object:
        """Give a node as plain values, its frames included."""
        if isinstance(node, Mapping) and self.marks:
            return {key_text(key): self.plain(value) for key, value in node.pairs}
        if isinstance(node, Sequence) and self.span(node):
            return self.frames(node).plain()
        return plain(node, self.where, _ALIAS_GROWTH * self.tree.size + 1000)

    def check_marks(self) -> None:
        """Make sure that YAML sees rows wherever rows were taken out.

        Raises
        ------
        UnusualError
            Where it sees something else: a text, a comment, a part of another node.
        """
        seen: set[int] = set()
        spans = set()
        stack = [self.tree.root]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, Mapping):
                for key, value in node.pairs:
                    if isinstance(key, Scalar) and key.text == "frames" and self.span(value):
                        assert isinstance(value, Sequence)
                        spans.add(value.items[0].index)
                    else:
                        stack += [key, value]
            elif isinstance(node, Sequence):
                stack += node.items
        if spans != self.marks.keys() or self.tree.next_document is not None:
            raise UnusualError("there are rows where YAML sees none")

    def marks_of_components(self) -> set[int]:
        """Give the marks of the rows that are the frames of a component: someone will read those, and only those."""
        root = self.tree.root
        kind, components = _value(root, "type"), _value(root, "components")
        if isinstance(kind, Scalar) and kind.text in OLD_TYPES:  # the top node is a component itself
            mappings = [root]
        else:
            mappings = components.items if isinstance(components, Sequence) else []
        frames = [_value(mapping, "frames") for mapping in mappings]
        return {node.items[0].index for node in frames if isinstance(node, Sequence) and self.span(node)}


def _value(node: Node, name: str) -> Node | None:
    """Give the value of a key; the last one where there are several."""
    pairs = node.pairs if isinstance(node, Mapping) else []
    return next((value for key, value in reversed(pairs) if isinstance(key, Scalar) and key.text == name), None)


def open_document(source: ByteSource) -> Document:
    """Read the headers of a file, leaving its rows where they are.

    Raises
    ------
    UnusualError
        When that can not be done: `whole_document` then can.
    FormatError
        When the file is faulty.
    """
    page = Page()
    found = scan(source, page)
    document = _document_of(source, found, page)
    wanted = document.marks_of_components()
    if wanted == found.marks.keys():
        return document
    # Rows elsewhere are something that no document knows: they are kept, and checked, as the YAML that they are.
    others = [span for mark, span in found.marks.items() if mark not in wanted]
    if sum(span.stop - span.start for span in others) > WHOLE:
        where = Location(source.path, others[0].pieces[0].line)
        raise UnusualError("there are too many rows that belong to no component", where)
    document = _document_of(source, found.with_rows(source, wanted), page)
    if document.marks_of_components() != document.marks.keys():
        raise UnusualError("there are rows where YAML sees none")
    return document


def _document_of(source: ByteSource, found: Scan, page: Page) -> Document:
    try:
        document = Document(source, read_tree(found.where), found.where, found.marks, found.encoding, page)
    except FormatError as error:
        if not found.marks:
            raise
        raise UnusualError(error.problem.message, error.problem.location) from error
    if found.marks:
        if document.tree.aliased:
            raise UnusualError("there are aliases")
        document.check_marks()
    return document


def whole_document(source: ByteSource, why: UnusualError) -> Document:
    """Parse a whole file as YAML.

    Raises
    ------
    FormatError
        When it is faulty, or (SEQ005) too large for that.
    """
    if source.size > WHOLE:
        if isinstance(why.__cause__, FormatError):
            raise why.__cause__
        size = f"a file of {source.size / 1e6:.0f} MB is read only with rows in the usual shape"
        raise rules.TOO_LARGE.error(f"{size}, and {why}", why.location)
    text, said = decoded(source.read(source.start, source.size))
    where = Places(source.path)
    where.add(text, 1, 1)
    return Document(source, read_tree(where), where, {}, said or source.encoding, Page())
