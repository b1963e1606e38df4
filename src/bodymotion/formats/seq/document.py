"""A file as the tree of its headers, with the rows of each component beside it: in the bytes of the file, or in the tree itself."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Diagnostics, FormatError, Location
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.bulk_rows import Layout, RowParser
from bodymotion.formats.seq.file_bytes import ByteSource, Page, UnusualError, decoded, without_comments
from bodymotion.formats.seq.names import OLD_TYPES
from bodymotion.formats.seq.rows import (
    SingleRow,
    elements,
    plain_rows,
    row_starts,
    rows_by_yaml,
    single_row,
)
from bodymotion.formats.seq.scan import Scan, Span, scan
from bodymotion.formats.seq.values import parse_text, plain
from bodymotion.formats.yaml.tree import Document as Tree
from bodymotion.formats.yaml.tree import Mapping, Node, PiecedText, Scalar, Sequence, key_text

MAX_WHOLE = 64 << 20
"""[bytes] Files up to this size are parsed as YAML as a whole when their rows are in an irregular shape."""
MAX_VALUES = 1 << 25
"""Rows of components of unknown types are kept as plain values, no more than about this many."""
_BESIDES_NUMBERS = re.compile(rb"[*&\x80-\xff]")
_BLOCK = 4096
"""Rows of a tree that are read at a time."""


@dataclass(frozen=True)
class RowPiece:
    """Some rows of a component.

    Attributes
    ----------
    first_row, num_rows:
        Which rows.
    block:
        Their numbers (num_rows, width) if each has those of its layout, else None: then the nodes have the faults.
    nodes:
        Returns the rows as nodes; raises UnusualError where only a parse of the whole file can read them.
    location:
        Returns the location of an offset of a node, with the given path inside of the document.
    offset:
        Added to the offset of a node, the offset in the bytes of the file; None in a tree.
    singles:
        Returns the rows one by one, each by itself, where they are on lines of their own.
    """

    first_row: int
    num_rows: int
    block: npt.NDArray[np.float64] | None
    nodes: Callable[[], list[Node]]
    location: Callable[[int, str | None], Location]
    offset: int | None = None
    singles: Callable[[], Iterator[SingleRow]] | None = None


class Frames(Protocol):
    """The rows of one component."""

    num_rows: int

    def row(self, number: int) -> Node:
        """Return a row; raises UnusualError where only a parse of the whole file can read it."""

    def pieces(self, layout: Layout) -> Iterator[RowPiece]:
        """Return all rows, some at a time."""

    def location(self, row: int, element: int | None, inside: str) -> Location:
        """Return where a row begins, or a number of it, counted without nesting."""

    def locator(self) -> Callable[[int, int | None, str], Location | None]:
        """Return a function that does the same after the file is closed, and holds no row; it returns None where the file is gone."""

    def plain(self) -> list[object]:
        """Return the rows as plain values."""


class _SpanFrames:
    """Rows in the bytes of a file."""

    def __init__(self, source: ByteSource, span: Span, parser: RowParser | None) -> None:
        self._source, self._span, self._parser = source, span, parser
        self.num_rows = span.num_rows
        self._located: tuple[int, bytes, list[tuple[int, int]]] | None = None
        """The piece in which a row was located last: its number, its text, where its rows are."""
        self._parsed: tuple[int, list[Node]] | None = None
        """The same for rows that share lines: the number of the piece, and its rows."""

    def _nodes(self, k: int) -> list[Node]:
        piece = self._span.pieces[k]
        text = without_comments(self._source.read(piece.offset, piece.size))
        where = PiecedText(self._source.path)
        try:
            found = rows_by_yaml(decoded(text)[0], self._span.indent, where, piece.line, piece.column)
            if not text.isascii():  # offsets would be those of characters
                raise UnusualError("a row has something besides numbers")
        except UnusualError as error:
            wrong = _BESIDES_NUMBERS.search(text)
            raise UnusualError(str(error), self._location(k, wrong.start() if wrong else 0, None)) from None
        except FormatError as error:
            fault = error if error.problem.rule == rules.NOT_YAML.code else None
            raise UnusualError(error.problem.message, error.problem.location) from fault
        if len(found) != piece.rows:
            raise UnusualError("the rows do not end with their lines", Location(self._source.path, piece.line))
        return found

    def pieces(self, layout: Layout) -> Iterator[RowPiece]:
        assert self._parser is not None
        for k, piece in enumerate(self._span.pieces):
            block = self._parser.parse(self._source, piece.offset, piece.size, self._span.indent, layout)
            yield RowPiece(
                piece.first_row,
                piece.rows,
                block if block is not None and len(block) == piece.rows else None,
                partial(self._nodes, k),
                partial(self._location, k),
                piece.offset,
                None if self._span.indent is None else partial(self._singles, k, self._span.indent),
            )

    def _singles(self, k: int, indent: int) -> Iterator[SingleRow]:
        piece = self._span.pieces[k]
        text = without_comments(self._source.read(piece.offset, piece.size))
        for start, stop in row_starts(text, indent):
            yield single_row(text[start:stop], indent, start)

    def _location(self, k: int, offset: int, inside: str | None) -> Location:
        piece = self._span.pieces[k]
        head = self._source.read(piece.offset, offset)
        last = head.rfind(b"\n")
        column = offset - last if last >= 0 else piece.column + offset
        return Location(self._source.path, piece.line + head.count(b"\n"), column, inside)

    def _find(self, number: int) -> tuple[int, int, Node | None]:
        """Return the piece that a row is in, the offset in it from which its nodes count, and the row; None where it is no YAML."""
        k = max(bisect_right(self._span.pieces, number, key=lambda piece: piece.first_row) - 1, 0)
        piece = self._span.pieces[k]
        if self._span.indent is not None:
            if self._located is None or self._located[0] != k:
                text = without_comments(self._source.read(piece.offset, piece.size))
                self._located = k, text, row_starts(text, self._span.indent)
            _, text, starts = self._located
            if number - piece.first_row < len(starts) == piece.rows:
                start, stop = starts[number - piece.first_row]
                found = single_row(text[start:stop], self._span.indent, start)
                return k, start, found.node
        if self._parsed is None or self._parsed[0] != k:
            self._parsed = k, self._nodes(k)
        return k, 0, self._parsed[1][number - piece.first_row]

    def row(self, number: int) -> Node:
        _, _, node = self._find(number)
        if node is None:
            raise UnusualError("the rows do not end with their lines")
        return node

    def location(self, row: int, element: int | None, inside: str) -> Location:
        k, start, node = self._find(row)
        return self._location(k, start + _offset(node, element), f"{inside}.frames[{row}]".lstrip("."))

    def locator(self) -> Callable[[int, int | None, str], Location | None]:
        source, frames = self._source, _SpanFrames(self._source, self._span, None)

        def locate(row: int, element: int | None, inside: str) -> Location | None:
            try:
                with source.reopened():
                    return frames.location(row, element, inside)
            except (FormatError, UnusualError, IndexError):
                return None

        return locate

    def plain(self) -> list[object]:
        rows: list[object] = []
        count = 0
        for k, piece in enumerate(self._span.pieces):
            text = self._source.read(piece.offset, piece.size)
            count += sum(text.count(mark) for mark in (b"[", b",", b"- "))
            if count > MAX_VALUES:
                where = Location(self._source.path, self._span.pieces[0].line, self._span.pieces[0].column)
                raise UnusualError("the frames of a component of unknown type have too many values", where)
            known = plain_rows(text, self._span.indent)
            rows += [plain(node) for node in self._nodes(k)] if known is None else known
            if len(rows) != piece.first_row + piece.rows:
                raise UnusualError("the rows do not end with their lines", Location(self._source.path, piece.line))
        return rows


class _NodeFrames:
    """Rows that are the items of a node."""

    def __init__(self, node: Sequence, text: PiecedText) -> None:
        self._node, self._text = node, text
        self.num_rows = len(node.items)

    def row(self, number: int) -> Node:
        return self._node.items[number]

    def pieces(self, layout: Layout) -> Iterator[RowPiece]:
        for at in range(0, self.num_rows, _BLOCK):
            nodes = self._node.items[at : at + _BLOCK]
            yield RowPiece(at, len(nodes), None, partial(list, nodes), self._text.location)

    def location(self, row: int, element: int | None, inside: str) -> Location:
        offset = _offset(self._node.items[row], element)
        return self._text.location(offset, f"{inside}.frames[{row}]".lstrip("."))

    def locator(self) -> Callable[[int, int | None, str], Location | None]:
        offsets, text = np.array([row.offset for row in self._node.items]), self._text

        def locate(row: int, element: int | None, inside: str) -> Location | None:
            if not 0 <= row < len(offsets):
                return None
            return text.location(int(offsets[row]), f"{inside}.frames[{row}]".lstrip("."))

        return locate

    def plain(self) -> list[object]:
        return [plain(node) for node in self._node.items]


def _offset(row: Node | None, element: int | None) -> int:
    if row is None or element is None:
        return 0 if row is None else row.offset
    found = list(elements(row))
    return found[element].offset if element < len(found) else row.offset


class Document:
    """The headers of a file as a tree, and the rows that they name.

    Attributes
    ----------
    source:
        The bytes of the file.
    tree, text:
        The headers, and where their characters are in the file.
    encoding:
        That of the text.
    marks:
        The rows that were taken out of the text, by the offset of their mark in it.
    faults:
        Those of the tree.

    Raises
    ------
    FormatError
        When the text is no YAML.
    """

    def __init__(
        self,
        source: ByteSource,
        text: PiecedText,
        marks: dict[int, Span] | None = None,
        encoding: str = "",
        page: Page | None = None,
    ) -> None:
        self.faults = Diagnostics(source.path)
        self.source, self.text, self.marks = source, text, marks or {}
        self.encoding = encoding or source.encoding
        self.tree: Tree = parse_text(text, self.faults)
        self._frames: dict[int, Frames] = {}
        self._parser = RowParser(page or Page()) if marks else None

    def location(self, node: Node, inside: str | None = None) -> Location:
        """Return where a node begins."""
        return self.text.location(node.offset, inside)

    def span(self, node: Node) -> Span | None:
        """Return the rows that were taken out of a sequence, if they were."""
        if isinstance(node, Sequence) and len(node.items) == 1 and isinstance(node.items[0], Scalar):
            return self.marks.get(node.items[0].offset)
        return None

    def frames(self, node: Sequence) -> Frames:
        """Return the rows of a sequence; the same object for the same node."""
        known = self._frames.get(id(node))
        if known is None:
            span = self.span(node)
            parser = self._parser if span else None
            known = _SpanFrames(self.source, span, parser) if span and parser else _NodeFrames(node, self.text)
            self._frames[id(node)] = known
        return known

    def plain(self, node: Node) -> object:
        """Return a node as plain values, its frames included."""
        if isinstance(node, Mapping) and self.marks:
            return {key_text(key): self.plain(value) for key, value in node.pairs}
        if isinstance(node, Sequence) and self.span(node):
            return self.frames(node).plain()
        return plain(node)

    def check_marks(self) -> None:
        """Check that YAML sees rows wherever rows were taken out.

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
                    if isinstance(key, Scalar) and key.value == "frames" and self.span(value):
                        assert isinstance(value, Sequence)
                        spans.add(value.items[0].offset)
                    else:
                        stack += [key, value]
            elif isinstance(node, Sequence):
                stack += node.items
        if spans != self.marks.keys() or self.tree.next_document is not None:
            raise UnusualError("there are rows where YAML sees none")

    def marks_of_components(self) -> set[int]:
        """Return the marks of the rows that are the frames of a component: those, and only those, are read."""
        root = self.tree.root
        kind, components = _value(root, "type"), _value(root, "components")
        if isinstance(kind, Scalar) and kind.value in OLD_TYPES:  # the top node is a component itself
            mappings = [root]
        else:
            mappings = components.items if isinstance(components, Sequence) else []
        frames = [_value(mapping, "frames") for mapping in mappings]
        return {node.items[0].offset for node in frames if isinstance(node, Sequence) and self.span(node)}


def _value(node: Node, name: str) -> Node | None:
    """Return the value of a key; the last one where there are several."""
    pairs = node.pairs if isinstance(node, Mapping) else []
    return next((value for key, value in reversed(pairs) if isinstance(key, Scalar) and key.value == name), None)


def open_document(source: ByteSource) -> Document:
    """Read the headers of a file, leaving its rows where they are.

    Raises
    ------
    UnusualError
        When that cannot be done; `whole_document` then can.
    FormatError
        When the file has no rows and is no YAML.
    """
    page = Page()
    scanned = scan(source, page)
    document = _document_of(source, scanned, page)
    wanted = document.marks_of_components()
    if wanted != scanned.marks.keys():
        # Rows elsewhere have a meaning that the format does not define: they are kept, and checked, as the YAML that they are.
        others = [span for mark, span in scanned.marks.items() if mark not in wanted]
        if sum(span.stop - span.start for span in others) > MAX_WHOLE:
            where = Location(source.path, others[0].pieces[0].line)
            raise UnusualError("too many rows belong to no component", where)
        document = _document_of(source, scanned.with_rows(source, wanted), page)
        if document.marks_of_components() != document.marks.keys():
            raise UnusualError("there are rows where YAML sees none")
    return document


def _document_of(source: ByteSource, scanned: Scan, page: Page) -> Document:
    try:
        document = Document(source, scanned.text, scanned.marks, scanned.encoding, page)
    except FormatError as error:
        if not scanned.marks:
            raise
        raise UnusualError(error.problem.message, error.problem.location) from error
    if scanned.marks:
        if document.tree.has_aliases:
            raise UnusualError("there are aliases")
        document.check_marks()
    return document


def whole_document(source: ByteSource, why: UnusualError) -> Document:
    """Parse a whole file as YAML.

    Raises
    ------
    FormatError
        When it is no YAML, or (SEQ005) too large for that.
    """
    if source.size > MAX_WHOLE:
        if isinstance(why.__cause__, FormatError):
            raise why.__cause__
        size = f"a file of {source.size / 1e6:.0f} MB is read only with rows in a regular shape"
        raise rules.TOO_LARGE.error(f"{size}, and {why}", why.location)
    characters, other = decoded(source.read(source.start, source.size))
    text = PiecedText(source.path)
    text.add(characters, 1, 1)
    return Document(source, text, encoding=other or "")
