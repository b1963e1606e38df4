"""YAML as a tree of nodes that know their place, made from the parser's events.

Nothing is constructed from tags, depth is bounded, an alias is the very node it stands for (nothing is copied), and all values
stay texts until someone who knows their meaning reads them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bodymotion.diagnostics import FormatError, Location, Rule
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.numbers import plain_scalar
from bodymotion.formats.yaml.faults import in_words

if TYPE_CHECKING:
    import yaml

__all__ = ["Mapping", "Node", "Places", "Scalar", "Sequence", "Tree", "key_text", "plain", "read_tree"]

MAX_DEPTH = 64
_CORE = "tag:yaml.org,2002:"
_TAGS = ("str", "int", "float", "bool", "null", "seq", "map")


class Scalar:
    """A text; `quoted` when it stood in quotes or as a block, or was tagged as a string: then it is no number and no truth value."""

    __slots__ = ("index", "quoted", "text")

    def __init__(self, index: int, text: str, quoted: bool) -> None:
        self.index, self.text, self.quoted = index, text, quoted


class Sequence:
    """A list of nodes."""

    __slots__ = ("flow", "index", "items")

    def __init__(self, index: int, flow: bool) -> None:
        self.index, self.flow = index, flow
        self.items: list[Node] = []


class Mapping:
    """Pairs of nodes, in the order of the text, with repeated keys."""

    __slots__ = ("flow", "index", "pairs")

    def __init__(self, index: int, flow: bool) -> None:
        self.index, self.flow = index, flow
        self.pairs: list[tuple[Node, Node]] = []


Node: TypeAlias = Scalar | Sequence | Mapping


class Places:
    """Where in the file the characters of a text are: the text is put together of pieces, each from a line and column of the file."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._starts: list[int] = []
        self._pieces: list[tuple[str, int, int]] = []
        self._newlines: list[list[int] | None] = []
        self.length = 0

    def add(self, text: str, line: int, column: int) -> None:
        """Append a piece of the text whose first character is at `line`, `column` of the file (both from 1)."""
        self._starts.append(self.length)
        self._pieces.append((text, line, column))
        self._newlines.append(None)
        self.length += len(text)

    def pieces(self) -> Iterator[tuple[int, str, int, int]]:
        """Return the pieces as they were added, each with the index of its first character before it."""
        for start, piece in zip(self._starts, self._pieces, strict=True):
            yield start, *piece

    @property
    def text(self) -> str:
        """All pieces."""
        return "".join(piece for piece, _, _ in self._pieces)

    def location(self, index: int, inside: str | None = None) -> Location:
        """Say where the character at `index` is."""
        k = max(bisect_right(self._starts, index) - 1, 0)
        text, line, column = self._pieces[k] if self._pieces else ("", 1, 1)
        offset = index - self._starts[k] if self._pieces else 0
        breaks = self._newlines[k] if self._pieces else []
        if breaks is None:
            mark = "\n" if "\n" in text or "\r" not in text else "\r"
            breaks = self._newlines[k] = [i for i, c in enumerate(text) if c == mark]
        passed = bisect_right(breaks, offset - 1)
        if passed:
            return Location(self.path, line + passed, offset - breaks[passed - 1], inside)
        return Location(self.path, line, column + offset, inside)


@dataclass
class Tree:
    """A document: its root, how many nodes it has, whether aliases are used, and where more documents begin."""

    root: Node
    size: int
    aliased: bool
    next_document: int | None


def _index(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


class _Builder:
    def __init__(self, where: Places) -> None:
        self.where = where
        self.anchors: dict[str, Node | None] = {}
        self.size = 0
        self.aliased = False

    def error(self, rule: Rule, message: str, index: int) -> FormatError:
        return rule.error(message, self.where.location(index))

    def tagged(self, tag: str | None, index: int) -> str | None:
        if tag is None or tag == "!":
            return tag
        name = tag.removeprefix(_CORE)
        if name == tag or name not in _TAGS:
            raise self.error(rules.TAG, f"the tag {tag[:60]!r} is of no use in a motion", index)
        return name

    def build(self, events: Iterator[object]) -> tuple[Node | None, int | None]:
        """Build the first document; the second value is where another one begins."""
        import yaml

        root: Node | None = None
        done = False
        # Each open node: the node, its anchor, and for mappings the key that waits for its value.
        stack: list[tuple[Sequence | Mapping, str | None]] = []
        keys: list[Node | None] = []
        for event in events:
            kind = type(event)
            node: Node
            if kind is yaml.ScalarEvent:
                assert isinstance(event, yaml.ScalarEvent)
                index = _index(event)
                tag = self.tagged(event.tag, index)
                quoted = (bool(event.style) and tag not in ("int", "float", "bool")) or tag in ("!", "str")
                node = Scalar(index, event.value, quoted)
                if event.anchor is not None:
                    self.anchors[event.anchor] = node
            elif kind in (yaml.SequenceStartEvent, yaml.MappingStartEvent):
                assert isinstance(event, yaml.CollectionStartEvent)
                index = _index(event)
                self.tagged(event.tag, index)
                if len(stack) >= MAX_DEPTH:
                    raise self.error(rules.NOT_YAML, f"nodes are nested more than {MAX_DEPTH} deep", index)
                opened = (Sequence if kind is yaml.SequenceStartEvent else Mapping)(index, bool(event.flow_style))
                if event.anchor is not None:
                    self.anchors[event.anchor] = None
                stack.append((opened, event.anchor))
                keys.append(None)
                continue
            elif kind in (yaml.SequenceEndEvent, yaml.MappingEndEvent):
                node, anchor = stack.pop()
                keys.pop()
                if anchor is not None:
                    self.anchors[anchor] = node
            elif kind is yaml.AliasEvent:
                assert isinstance(event, yaml.AliasEvent) and event.anchor is not None
                index = _index(event)
                target = self.anchors.get(event.anchor)
                if target is None:
                    state = "stands inside of what it names" if event.anchor in self.anchors else "names nothing"
                    raise self.error(rules.ALIASES, f"the alias *{event.anchor[:60]} {state}", index)
                self.aliased = True
                node = target
            elif kind is yaml.DocumentStartEvent:
                if done:
                    assert isinstance(event, yaml.DocumentStartEvent)
                    return root, _index(event)
                continue
            else:
                done = done or kind is yaml.DocumentEndEvent
                continue
            self.size += 1
            if not stack:
                root = node
            elif isinstance(stack[-1][0], Sequence):
                stack[-1][0].items.append(node)
            elif keys[-1] is None:
                keys[-1] = node
            else:
                stack[-1][0].pairs.append((keys[-1], node))
                keys[-1] = None
        return root, None


def read_tree(where: Places) -> Tree:
    """Parse the text of `where` as YAML, or, where it begins as JSON and is no YAML, as JSON.

    Raises
    ------
    FormatError
        SEQ002 where it is not YAML, is nested too deep, or is empty; SEQ006 for aliases that name nothing; SEQ007 for foreign tags.
    """
    text = where.text
    try:
        return _yaml_tree(text, where)
    except FormatError as error:
        if not text.lstrip().startswith("{") or error.problem.rule != rules.NOT_YAML.code:
            raise
        from bodymotion.formats.seq.json_tree import json_tree

        try:
            root, size = json_tree(text)
        except ValueError:
            raise error from None
        return Tree(root, size, False, None)


def _yaml_tree(text: str, where: Places) -> Tree:
    import yaml

    builder = _Builder(where)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root, more = builder.build(yaml.parse(text, Loader=loader))
    except FormatError:
        raise
    except yaml.MarkedYAMLError as error:
        raise builder.error(rules.NOT_YAML, *in_words(error)) from None
    except yaml.reader.ReaderError as error:
        # The C parser counts bytes of UTF-8 here, the Python one characters.
        head = text.encode("utf-8", "surrogatepass")[: error.position]
        index = len(head.decode("utf-8", "replace")) if loader is not yaml.SafeLoader else error.position
        raise builder.error(rules.NOT_YAML, f"not YAML: {error.reason}", index) from None
    except (yaml.YAMLError, UnicodeError, ValueError) as error:
        raise builder.error(rules.NOT_YAML, f"not YAML: {error}", 0) from None
    if root is None:
        raise builder.error(rules.NOT_A_MOTION, "the file is empty", 0)
    return Tree(root, builder.size, builder.aliased, more)


def plain(node: Node, where: Places, limit: int) -> object:
    """Return a node as plain values (dict, list, str, int, float, bool, None), for keys and types that no document knows.

    Raises
    ------
    FormatError
        SEQ006 when aliases make more than `limit` values of it.
    """
    left = limit

    def convert(node: Node, depth: int) -> object:
        nonlocal left
        left -= 1
        if left < 0 or depth > 2 * MAX_DEPTH:
            raise rules.ALIASES.error("aliases make too many values of it", where.location(node.index))
        if isinstance(node, Scalar):
            return node.text if node.quoted else plain_scalar(node.text)
        if isinstance(node, Sequence):
            return [convert(item, depth + 1) for item in node.items]
        return {key_text(key): convert(value, depth + 1) for key, value in node.pairs}

    return convert(node, 0)


def key_text(node: Node) -> str:
    """Return the name of a key; keys that are no scalars get one that says so."""
    return node.text if isinstance(node, Scalar) else "[…]" if isinstance(node, Sequence) else "{…}"
