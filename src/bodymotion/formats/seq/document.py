"""A file as the tree of its headers, with the rows of each component beside it.

In the bytes of the file, or in the tree itself.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError, Location
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.rows import (
    SingleRow,
    elements,
    row_starts,
    rows_by_yaml,
    single_row,
)
from bodymotion.formats.seq.scan import (
    ByteSource,
    Scan,
    Span,
    UnusualError,
    decoded,
    scan,
    without_comments,
)
from bodymotion.formats.seq.values import (
    OLD_TYPES,
    Layout,
    parse_rows,
    parse_text,
    plain,
)
from bodymotion.formats.yaml.rules import NOT_YAML
from bodymotion.formats.yaml.tree import Document as Tree
from bodymotion.formats.yaml.tree import (
    Mapping,
    Node,
    PiecedText,
    Scalar,
    Sequence,
    key_text,
)
from bodymotion.geometry.arrays import Floats, Indices

MAX_WHOLE = 64 << 20
"""[bytes] Files up to this size are parsed as YAML as a whole.

That is so when their rows are in an irregular shape.
"""
MAX_VALUES = 1 << 25
"""Values of components of unknown types that are kept as plain values, about."""
_BESIDES_NUMBERS = re.compile(rb"[*&\x80-\xff]")
_DASH = re.compile(rb"\s*-\s*")
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
        Their numbers (num_rows, width) if each has those of its layout, else None: then
        the nodes have the faults.
    nodes:
        Returns the rows as nodes; raises UnusualError where only a parse of the whole
        file can read them.
    location:
        Returns the location of an offset of a node, with the given path inside of the
        document.
    offset:
        Added to the offset of a node, the offset in the bytes of the file; None in a
        tree.
    singles:
        Returns the rows one by one, each by itself, where they are on lines of their
        own.
    """

    first_row: int
    num_rows: int
    block: Floats | None
    nodes: Callable[[], list[Node]]
    location: Callable[[int, str | None], Location]
    offset: int | None = None
    singles: Callable[[], Iterator[SingleRow]] | None = None


class Frames:
    """The rows of one component: the items of a node."""

    def __init__(self, nodes: list[Node], text: PiecedText) -> None:
        # The tree holds the whole file: rows are nodes already.
        self._nodes = nodes
        self._text = text
        self.num_rows = len(nodes)

    def row(self, number: int) -> Node:
        """Return a row.

        Raises UnusualError where only a parse of the whole file can read it.
        """
        return self._nodes[number]

    def first_row(self) -> Node:
        """Return the first row.

        Where rows are read singly, the first one that is YAML by itself. Raises as
        `row`.
        """
        return self.row(0)

    def pieces(self, layout: Layout) -> Iterator[RowPiece]:
        """Return all rows, some at a time."""
        # Nodes in pieces of the same size as rows of a file.
        for at in range(0, self.num_rows, _BLOCK):
            nodes = self._nodes[at : at + _BLOCK]
            yield RowPiece(
                at, len(nodes), None, partial(list, nodes), self._text.location
            )

    def location(self, row: int, element: int | None, inside: str | None) -> Location:
        """Return where a row begins, or a number of it, counted without nesting."""
        return self._text.location(_offset(self._nodes[row], element), inside)

    def locator(self) -> Callable[[int, int | None, str], Location | None]:
        """Return a function that locates rows after the file is closed, and holds none.

        It returns None where the file was removed.
        """
        # Offsets of all rows: the nodes themselves would be held otherwise.
        offsets = np.array([row.offset for row in self._nodes])
        text = self._text

        def locate(row: int, element: int | None, inside: str) -> Location | None:
            if 0 <= row < len(offsets):
                return text.location(int(offsets[row]), inside)
            return None

        return locate

    def plain(self) -> list[object]:
        """Return the rows as plain values."""
        return [plain(node) for node in self._nodes]


class _SpanFrames(Frames):
    """Rows in the bytes of a file.

    With `singly`, each is read by itself where a piece of them is no YAML.
    """

    def __init__(self, source: ByteSource, span: Span, singly: bool = False) -> None:
        self._source = source
        self._span = span
        self._singly = singly
        self.num_rows = span.num_rows
        # Rows are located one after another, those of each joint apart: a piece of them
        # is read once.
        self._rows_by_line = lru_cache(4)(self._find_lines)
        self._rows_by_yaml = lru_cache(1)(self._parsed)

    def _read(self, k: int) -> bytes:
        # A file that was closed is opened again: locations are asked for later.
        piece = self._span.pieces[k]
        with self._source.reopened():
            return without_comments(self._source.read(piece.offset, piece.size))

    def _find_lines(self, k: int) -> tuple[bytes, list[tuple[int, int]], Indices]:
        """Return a piece, its rows on lines of their own, and its line ends."""
        text = self._read(k)
        # Rows of a flow sequence share lines: only YAML finds them.
        rows = []
        if self._span.indent is not None:
            rows = row_starts(text, self._span.indent)
        return text, rows, np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))

    def _parsed(self, k: int) -> list[Node]:
        """Return the rows of a piece as nodes, parsed as YAML."""
        piece = self._span.pieces[k]
        text = self._read(k)
        where = PiecedText(self._source.path)
        indent = self._span.indent
        # A piece of rows is a YAML list by itself.
        try:
            rows = rows_by_yaml(
                decoded(text)[0], indent, where, piece.line, piece.column
            )
            # Offsets would be those of characters.
            if not text.isascii():
                raise UnusualError("a row has something besides numbers")
        except UnusualError as error:
            # What is no number: an alias, an anchor, or a character beyond ASCII.
            wrong = _BESIDES_NUMBERS.search(text)
            location = self._location(k, wrong.start() if wrong else 0, None)
            raise UnusualError(str(error), location) from None
        except FormatError as error:
            problem = error.problem
            # The error is only known where YAML itself has refused the piece.
            cause = error if problem.rule == NOT_YAML.code else None
            raise UnusualError(problem.message, problem.location) from cause
        self._check_count(k, len(rows))
        return rows

    def _check_count(self, k: int, num_rows: int) -> None:
        piece = self._span.pieces[k]
        # The scan counted lines, YAML counted rows: both must agree.
        if num_rows != piece.rows:
            location = Location(self._source.path, piece.line)
            raise UnusualError("the rows do not end with their lines", location)

    def pieces(self, layout: Layout) -> Iterator[RowPiece]:
        can_be_single = self._singly and self._span.indent is not None
        for k, piece in enumerate(self._span.pieces):
            # The fast parser; None for anything irregular.
            block = parse_rows(self._read(k), self._span.indent, layout)
            # The bulk parser must see as many rows as the scan.
            if block is not None and len(block) != piece.rows:
                block = None
            yield RowPiece(
                piece.first_row,
                piece.rows,
                block,
                nodes=partial(self._parsed, k),
                location=partial(self._location, k),
                offset=piece.offset,
                singles=partial(self._singles, k) if can_be_single else None,
            )

    def _singles(self, k: int) -> Iterator[SingleRow]:
        text, rows, _ = self._find_lines(k)
        for start, stop in rows:
            yield single_row(text[start:stop], self._span.indent or 0, start)

    def _location(self, k: int, offset: int, inside: str | None) -> Location:
        piece = self._span.pieces[k]
        # The number of line ends before the offset.
        line_ends = self._rows_by_line(k)[2]
        num_lines = int(line_ends.searchsorted(offset))
        # In the first line of a piece the column continues that of the piece.
        column = piece.column + offset
        if num_lines:
            column = offset - int(line_ends[num_lines - 1])
        return Location(self._source.path, piece.line + num_lines, column, inside)

    def _line(self, number: int) -> tuple[int, tuple[int, int] | None]:
        """Return the piece that a row is in, and where the row is in it.

        None where it is not on lines of its own.
        """
        pieces = self._span.pieces
        # The last piece that begins at or before the row.
        num_before = bisect_right(pieces, number, key=lambda piece: piece.first_row)
        k = max(num_before - 1, 0)
        rows = self._rows_by_line(k)[1]
        number -= pieces[k].first_row
        # Lines are rows only where there are as many as were counted.
        if number < len(rows) == pieces[k].rows:
            return k, rows[number]
        return k, None

    def _find(self, number: int) -> tuple[int, int, Node | None]:
        """Return the piece that a row is in, an offset in it, and the row.

        The row counts its offsets from that one; it is None where it is no YAML.
        """
        k, span = self._line(number)
        # Rows that share lines: the piece is parsed.
        if span is None:
            return k, 0, self._rows_by_yaml(k)[number - self._span.pieces[k].first_row]
        start, stop = span
        row = self._rows_by_line(k)[0][start:stop]
        return k, start, single_row(row, self._span.indent or 0, start).node

    def row(self, number: int) -> Node:
        _, _, node = self._find(number)
        if node is None:
            raise UnusualError("the rows do not end with their lines")
        return node

    def first_row(self) -> Node:
        try:
            return self.row(0)
        except UnusualError:
            # The first row that can be read tells the shape of the others.
            if self._singly:
                for k in range(len(self._span.pieces)):
                    for row in self._singles(k):
                        if row.node is not None:
                            return row.node
            raise

    def location(self, row: int, element: int | None, inside: str | None) -> Location:
        k, span = self._line(row)
        if element is None and span is not None:
            start = span[0]
            # The row begins behind its dash.
            dash = _DASH.match(self._rows_by_line(k)[0], *span)
            if dash is not None:
                start = dash.end()
            return self._location(k, start, inside)
        _, start, node = self._find(row)
        return self._location(k, start + _offset(node, element), inside)

    def locator(self) -> Callable[[int, int | None, str], Location | None]:
        # Made anew, so that no reader and no tree is held.
        frames = _SpanFrames(self._source, self._span)

        def locate(row: int, element: int | None, inside: str) -> Location | None:
            try:
                return frames.location(row, element, inside)
            except (FormatError, UnusualError, IndexError):
                # The file may be gone or changed: no location is better than a wrong
                # one.
                return None

        return locate

    def plain(self) -> list[object]:
        rows: list[object] = []
        num_values = 0
        first = self._span.pieces[0] if self._span.pieces else None
        for k, piece in enumerate(self._span.pieces):
            text = self._source.read(piece.offset, piece.size)
            # About as many values as brackets and commas.
            num_values += text.count(b"[") + text.count(b",") + text.count(b"- ")
            if num_values > MAX_VALUES and first is not None:
                location = Location(self._source.path, first.line, first.column)
                message = (
                    "the frames of a component of unknown type have too many values"
                )
                raise UnusualError(message, location)
            rows += [plain(node) for node in self._parsed(k)]
        return rows


def _offset(row: Node | None, element: int | None) -> int:
    if row is None:
        return 0
    if element is not None:
        numbers = list(elements(row))
        # A row may have fewer numbers than its layout says.
        if element < len(numbers):
            return numbers[element].offset
    return row.offset


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

    Raises FormatError when the text is no YAML.
    """

    def __init__(self, source: ByteSource, scanned: Scan) -> None:
        self.faults = Diagnostics(source.path)
        self.source = source
        self.text = scanned.text
        self.marks = scanned.marks
        self.encoding = scanned.encoding
        # Only the headers, which are short, go through YAML.
        self.tree: Tree = parse_text(self.text, self.faults)
        self._frames: dict[int, Frames] = {}
        self._singly = False
        # Once a block of this size was freed, the C library keeps those of pieces of
        # rows for the next instead of returning their pages.
        np.empty(1 << 24, np.uint8)

    def faults_so_far(self) -> Diagnostics:
        """Return a new collector with the faults of the tree."""
        found = Diagnostics(self.source.path)
        found.extend(self.faults.problems)
        found.refusal = self.faults.refusal
        return found

    def location(self, node: Node, inside: str | None = None) -> Location:
        """Return where a node begins."""
        return self.text.location(node.offset, inside)

    # Rows leave a list with one mark in it.
    def span(self, node: Node) -> Span | None:
        """Return the rows that were taken out of a sequence, if they were."""
        if (
            isinstance(node, Sequence)
            and len(node.items) == 1
            and isinstance(node.items[0], Scalar)
        ):
            return self.marks.get(node.items[0].offset)
        return None

    def frames(self, node: Sequence) -> Frames:
        """Return the rows of a sequence.

        The same object for the same node.
        """
        if id(node) not in self._frames:
            span = self.span(node)
            if span:
                frames: Frames = _SpanFrames(self.source, span, self._singly)
            else:
                frames = Frames(node.items, self.text)
            self._frames[id(node)] = frames
        return self._frames[id(node)]

    def read_rows_singly(self) -> None:
        """Read each row by itself where a piece of them is no YAML.

        For a file that is none as a whole.
        """
        self._singly = True
        self._frames.clear()

    def plain(self, node: Node) -> object:
        """Return a node as plain values, its frames included."""
        # Only with marks there may be rows inside.
        if isinstance(node, Mapping) and self.marks:
            return {key_text(key): self.plain(value) for key, value in node.pairs}
        if isinstance(node, Sequence) and self.span(node):
            return self.frames(node).plain()
        return plain(node)

    def check_marks(self) -> None:
        """Check that YAML sees rows wherever rows were taken out.

        Raises UnusualError where it sees something else: a text, a comment, a part of
        another node.
        """
        seen: set[int] = set()
        marks: set[int] = set()
        # A walk with a stack: nodes may be nested deeply, and shared by aliases.
        stack = [self.tree.root]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, Sequence):
                stack += node.items
            elif isinstance(node, Mapping):
                for key, value in node.pairs:
                    # Rows are taken out only behind a key `frames`.
                    mark = self._mark(value) if _is_key(key, "frames") else None
                    if mark is None:
                        stack += [key, value]
                    else:
                        marks.add(mark)
        # Each mark must be seen once as a list, and by no second document.
        if marks != self.marks.keys() or self.tree.next_document is not None:
            raise UnusualError("there are rows where YAML sees none")

    def _mark(self, node: Node | None) -> int | None:
        """Return the mark of the rows that were taken out of a sequence."""
        if isinstance(node, Sequence) and self.span(node):
            return node.items[0].offset
        return None

    def marks_of_components(self) -> set[int]:
        """Return the marks of the rows that are the frames of a component.

        Those, and only those, are read.
        """
        root = self.tree.root
        top_type = _value(root, "type")
        components = _value(root, "components")
        mappings: list[Node] = []
        if isinstance(top_type, Scalar) and top_type.value in OLD_TYPES:
            # The top node is a component itself.
            mappings = [root]
        elif isinstance(components, Sequence):
            mappings = components.items
        marks: set[int] = set()
        for mapping in mappings:
            mark = self._mark(_value(mapping, "frames"))
            if mark is not None:
                marks.add(mark)
        return marks


def _value(node: Node, name: str) -> Node | None:
    """Return the value of a key.

    The last one where there are several.
    """
    # Of a repeated key the last value counts.
    if isinstance(node, Mapping):
        for key, value in reversed(node.pairs):
            if _is_key(key, name):
                return value
    return None


def _is_key(node: Node, name: str) -> bool:
    return isinstance(node, Scalar) and node.value == name


def open_document(source: ByteSource) -> Document:
    """Read the headers of a file, leaving its rows where they are.

    Raises
    ------
    UnusualError
        When that cannot be done; `whole_document` then can.
    FormatError
        When the file has no rows and is no YAML.
    """
    scanned = scan(source)
    document = _document_of(source, scanned)
    wanted = document.marks_of_components()
    # All rows belong to components in regular files.
    if wanted != scanned.marks.keys():
        # Rows elsewhere have a meaning that the format does not define: they are kept,
        # and checked, as the YAML that they are.
        others = [span for mark, span in scanned.marks.items() if mark not in wanted]
        if sum(span.stop - span.start for span in others) > MAX_WHOLE:
            where = Location(source.path, others[0].pieces[0].line)
            raise UnusualError("too many rows belong to no component", where)
        document = _document_of(source, scanned.with_rows(source, wanted))
        if document.marks_of_components() != document.marks.keys():
            raise UnusualError("there are rows where YAML sees none")
    return document


def _document_of(source: ByteSource, scanned: Scan) -> Document:
    try:
        document = Document(source, scanned)
    except FormatError as error:
        # Without rows the fault is that of the file itself.
        if not scanned.marks:
            raise
        raise UnusualError(error.problem.message, error.problem.location) from error
    if scanned.marks:
        # An alias may stand for rows, or rows for an alias: the whole file is parsed.
        if document.tree.has_aliases:
            raise UnusualError("there are aliases")
        document.check_marks()
    return document


def whole_document(source: ByteSource, why: UnusualError) -> Document:
    """Parse a whole file as YAML.

    Raises FormatError when it is no YAML, or (SEQ005) too large for that.
    """
    if source.size > MAX_WHOLE:
        # The fault is known already.
        if isinstance(why.__cause__, FormatError):
            raise why.__cause__
        size = (
            f"a file of {source.size / 1e6:.0f} MB is read only with rows in a regular "
            "shape"
        )
        raise rules.IRREGULAR_ROWS.error(f"{size}, and {why}", why.location)
    characters, other = decoded(source.read(source.start, source.size))
    text = PiecedText(source.path)
    text.add(characters, 1, 1)
    return Document(source, Scan(text, {}, other or source.encoding))
