"""A file as a tree of headers, with the frames of each component beside it: out of the bytes, or of the YAML nodes themselves."""

from __future__ import annotations

from bodymotion.diagnostics import FormatError, Location
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.frames import ALIAS_GROWTH, Frames, frames_of_node, frames_of_span
from bodymotion.formats.seq.layout import OLD_TYPES
from bodymotion.formats.seq.nodes import Mapping, Node, Places, Scalar, Sequence, Tree, key_text, plain, read_tree
from bodymotion.formats.seq.page import Page
from bodymotion.formats.seq.rows import RowParser
from bodymotion.formats.seq.scan import Scan, Span, decoded, scan
from bodymotion.formats.seq.source_bytes import ByteSource, UnusualError

__all__ = ["WHOLE", "Document", "open_document", "whole_document"]

WHOLE = 64 << 20
"""Files up to this many bytes are parsed as YAML as a whole when their rows are in an unusual shape."""


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
        """Return the rows that were taken out of a sequence, if they were."""
        if isinstance(node, Sequence) and len(node.items) == 1 and isinstance(node.items[0], Scalar):
            return self.marks.get(node.items[0].index)
        return None

    def frames(self, node: Sequence) -> Frames:
        """Return the rows of a sequence; the same object for the same node."""
        known = self._frames.get(id(node))
        if known is None:
            span = self.span(node)
            parser = self._parser if span else None
            known = frames_of_span(self.source, span, parser) if span and parser else frames_of_node(node, self)
            self._frames[id(node)] = known
        return known

    def plain(self, node: Node) -> object:
        """Return a node as plain values, its frames included."""
        if isinstance(node, Mapping) and self.marks:
            return {key_text(key): self.plain(value) for key, value in node.pairs}
        if isinstance(node, Sequence) and self.span(node):
            return self.frames(node).plain()
        return plain(node, self.where, ALIAS_GROWTH * self.tree.size + 1000)

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
        """Return the marks of the rows that are the frames of a component: someone will read those, and only those."""
        root = self.tree.root
        kind, components = _value(root, "type"), _value(root, "components")
        if isinstance(kind, Scalar) and kind.text in OLD_TYPES:  # the top node is a component itself
            mappings = [root]
        else:
            mappings = components.items if isinstance(components, Sequence) else []
        frames = [_value(mapping, "frames") for mapping in mappings]
        return {node.items[0].index for node in frames if isinstance(node, Sequence) and self.span(node)}


def _value(node: Node, name: str) -> Node | None:
    """Return the value of a key; the last one where there are several."""
    pairs = node.pairs if isinstance(node, Mapping) else []
    return next((value for key, value in reversed(pairs) if isinstance(key, Scalar) and key.text == name), None)


def open_document(source: ByteSource) -> Document:
    """Read the headers of a file, leaving its rows where they are.

    Raises
    ------
    UnusualError
        When that cannot be done: `whole_document` then can.
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
