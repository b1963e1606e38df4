"""Read YAML as a tree of nodes with their locations, safely and bounded.

Nothing is constructed from tags. An alias is the node that it stands for, never a copy.
All values stay texts until a format reads them by its own rules. Nesting is bounded,
through aliases too, and so is the number of nodes that aliases unfold to: code may walk
through a tree without further care.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection as AnyCollection
from collections.abc import Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from bodymotion.diagnostics import Diagnostics, FormatError, Location, Rule
from bodymotion.diagnostics.spelling import camel, unusual_character
from bodymotion.formats.limits import ITEMS_BETWEEN_CLOCKS, LIMITS, check_time
from bodymotion.formats.text import Text
from bodymotion.formats.yaml.rules import (
    ALIAS,
    KEY_TWICE,
    NOT_USED,
    NOT_YAML,
    WRONG_VALUE,
)
from bodymotion.geometry.arrays import without_collections

if TYPE_CHECKING:
    import yaml

MAX_DEPTH = LIMITS.depth
"""Levels of nesting."""
MAX_MERGED_KEYS = 1_000_000
"""Keys that the merge keys of one file copy."""
FREE_ALIASES = 100_000
"""Nodes that aliases may unfold to in a file of any size."""
ALIAS_GROWTH = 16
"""Nodes of unfolded aliases by those of the text, beside `FREE_ALIASES`."""
LONG_LIST = 40
"""[characters] A longer list of plain numbers does not go through the YAML parser.

That is so where mappings are merged: the parser is slow.
"""

_HEIGHT = attrgetter("height")
_NODES = attrgetter("nodes")
_CORE = "tag:yaml.org,2002:"
_TAGS = ("str", "int", "float", "bool", "null", "seq", "map")
# A list of numbers and nothing else; never backtracks.
_LIST = re.compile(r"\[(\s*+(?:[-+.0-9eE]++\s*+,\s*+)++(?:[-+.0-9eE]++\s*+)?+)\]")
_TOKEN = re.compile(r"[^\s,]+")
# What libyaml's messages mean for an author.
_WORDS = {
    "did not find expected '-' indicator": (
        "the line is not indented like the other items of its list, or there is one "
        "bracket too many"
    ),
    "did not find expected key": "the line is not indented like the keys around it",
    "mapping values are not allowed in this context": (
        "the line is indented deeper than the one before, or has one ':' too many"
    ),
    "could not find expected ':'": "a ':' followed by a space is missing",
    "found a tab character that violates indentation": (
        "there is a tab in the indentation"
    ),
    "found character that cannot start any token": (
        "no value can begin with this character (a tab, '@', '`' or '%')"
    ),
    "did not find expected ',' or ']'": "a ',' or ']' is missing",
    "did not find expected ',' or '}'": "a ',' or '}' is missing",
    "found unexpected end of stream": "the quote that opens here is not closed",
}

_BEGUN_BEFORE = ("while scanning a quoted scalar", "while scanning a simple key")
"""What a parser was reading when it stopped behind the fault."""


class PiecedText:
    """A text that is put together of pieces, each from a line and column of a file."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._starts: list[int] = []
        self._pieces: list[tuple[str, int, int]] = []
        self._line_ends: dict[int, list[int]] = {}
        """Of the pieces of which a location was asked for, by their index."""
        self.length = 0

    def add(self, text: str, line: int, column: int) -> None:
        """Append a piece whose first character is at a line and column (from 1)."""
        # Pieces follow one another in the text, but not in the file.
        self._starts.append(self.length)
        self._pieces.append((text, line, column))
        self.length += len(text)

    def pieces(self) -> Iterator[tuple[int, str, int, int]]:
        """Return offset, text, line and column of each piece."""
        for start, piece in zip(self._starts, self._pieces, strict=True):
            yield start, *piece

    @property
    def data(self) -> str:
        """The whole text."""
        return "".join(piece for piece, _, _ in self._pieces)

    def location(self, offset: int, inside: str | None = None) -> Location:
        """Return line and column in the file of an offset of the text."""
        if not self._pieces:
            return Location(self.path, 1, 1, inside)
        # The last piece that begins at or before the offset.
        k = max(bisect_right(self._starts, offset) - 1, 0)
        text, line, column = self._pieces[k]
        offset -= self._starts[k]
        # Any of the three line ends: of a \r\n, at its second character.
        if k not in self._line_ends:
            self._line_ends[k] = [
                found.end() - 1 for found in re.finditer("\r\n?|\n", text)
            ]
        ends = self._line_ends[k]
        # The number of line ends before the offset, in this piece.
        if above := bisect_left(ends, offset):
            return Location(self.path, line + above, offset - ends[above - 1], inside)
        return Location(self.path, line, column + offset, inside)


Positions: TypeAlias = (
    Text | PiecedText
)  # What finds in a file the characters of a text.


class _Node:
    __slots__ = ("offset", "text")

    def __init__(self, text: Positions, offset: int) -> None:
        self.text = text
        self.offset = offset

    @property
    def location(self) -> Location:
        """The first character of the node in the file."""
        return self.text.location(self.offset)


class Scalar(_Node):
    """A single value as its text.

    `quoted`: it is in quotes, is a block of text, or has a tag that makes it a string;
    then it is no number and no truth value.
    """

    __slots__ = ("quoted", "value")
    height = 0
    nodes = 1

    # Without a call of the base class: most nodes are scalars.
    def __init__(self, text: Positions, offset: int, value: str, quoted: bool) -> None:
        self.text = text
        self.offset = offset
        self.value = value
        self.quoted = quoted


class MissingAlias(Scalar):
    """An empty value in place of an alias that names nothing, which is reported."""

    __slots__ = ()


class Sequence(_Node):
    """A list of nodes.

    Attributes
    ----------
    flow:
        Whether it is written in brackets.
    numbers, numbers_offset:
        Of a long list of plain numbers its text between the brackets, and where that
        begins; nodes are made of it when `items` is read.
    height, nodes:
        How deep it is nested, and how many nodes it has in all, aliases unfolded.
    """

    __slots__ = ("_items", "flow", "height", "nodes", "numbers", "numbers_offset")

    def __init__(self, text: Positions, offset: int, flow: bool) -> None:
        super().__init__(text, offset)
        self.flow = flow
        self.height = 0
        self.nodes = 1
        self.numbers = ""
        self.numbers_offset = 0
        self._items: list[Node] = []

    @property
    def items(self) -> list[Node]:
        """The nodes."""
        # Made when they are needed: most long lists are read as a whole.
        if self.numbers and not self._items:
            found = _TOKEN.finditer(self.numbers)
            self._items = [
                Scalar(
                    self.text, self.numbers_offset + token.start(), token.group(), False
                )
                for token in found
            ]
        return self._items

    @items.setter
    def items(self, items: list[Node]) -> None:
        self._items = items


class Mapping(_Node):
    """Keys with values.

    Attributes
    ----------
    flow, height, nodes:
        As of a Sequence.
    pairs:
        Keys and values as the file has them, repeated keys and merge keys included.
    items:
        Values by key, of repeated keys the last, merged ones behind the others; filled
        where the dialect merges.
    offsets:
        Where the keys of the mapping itself are.
    """

    __slots__ = ("flow", "height", "items", "nodes", "offsets", "pairs")

    def __init__(self, text: Positions, offset: int, flow: bool = False) -> None:
        super().__init__(text, offset)
        self.flow = flow
        self.height = 0
        self.nodes = 1
        self.pairs: list[tuple[Node, Node]] = []
        self.items: dict[str, Node] = {}
        self.offsets: dict[str, int] = {}

    def location_of(self, key: str) -> Location:
        """Return the location of a key, in either spelling.

        That of the mapping where the key is merged into it or missing.
        """
        # Files have either has_frame_time or hasFrameTime.
        return self.text.location(
            self.offsets.get(key, self.offsets.get(camel(key), self.offset))
        )


Node: TypeAlias = Scalar | Sequence | Mapping


def key_text(node: Node) -> str:
    """Return the name of a key.

    A key that is no scalar gets one that shows it.
    """
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return "[…]"
    return "{…}"


@dataclass(frozen=True)
class Dialect:
    """How a format differs from others that are written in YAML.

    Attributes
    ----------
    empty:
        The rule that a text without content breaks.
    tag:
        The rule that tags other than YAML's own break; a text with one is refused if
        that is an error.
    merges:
        Whether `Mapping.items` is filled, with the keys of `<<` merged, and long lists
        of numbers are left as text.
    """

    empty: Rule = NOT_YAML
    tag: Rule = NOT_USED
    merges: bool = True


@dataclass
class Document:
    """A parsed text.

    Attributes
    ----------
    root:
        The top node.
    anchors:
        Nodes by the name of their anchor; of several of one name the last.
    has_aliases:
        Whether there is an alias.
    next_document:
        Where a second document begins; None where the text has one.
    """

    root: Node
    anchors: dict[str, Node]
    has_aliases: bool = False
    next_document: int | None = None


def parse_yaml(
    data: str,
    text: Positions,
    found: Diagnostics,
    anchors: AnyMapping[str, Node] | None = None,
    dialect: Dialect = Dialect(),
) -> Document:
    """Parse a text.

    Parameters
    ----------
    data, text:
        The characters, and where they are in the file.
    found:
        Gets all faults with which the tree is still right in its other parts.
    anchors:
        Those of a file that includes this one: aliases may name them.
    dialect:
        That of the format.

    Raises
    ------
    FormatError
        When it is no YAML, is nested too deep, is empty, or its aliases unfold to too
        many nodes.
    """
    # A copy: the caller's anchors stay as they are.
    known = dict(anchors or {})
    # First with blanks in place of long lists, since libyaml is slow for many numbers.
    if dialect.merges and len(data) > LONG_LIST:
        blanked, lists = _without_long_lists(data)
        trial = Diagnostics(found.path)
        document = _parse(
            blanked, text, _Builder(text, dialect, trial, dict(known), lists)
        )
        # All lists were found as sequences: the numbers were where they seemed.
        if not lists:
            found.extend(trial.problems)
            found.refusal = found.refusal or trial.refusal
            return document
        # Not all of them were lists: some are in strings or comments.
    return _parse(data, text, _Builder(text, dialect, found, known, {}))


def _without_long_lists(data: str) -> tuple[str, dict[int, str]]:
    """Return the text with blanks in long lists of numbers, and their numbers.

    These by the offset of the list's bracket.
    """
    lists: dict[int, str] = {}
    pieces: list[str] = []
    done = 0
    for match in _LIST.finditer(data):
        if match.end() - match.start() > LONG_LIST:
            numbers = match[1]
            lists[match.start()] = numbers
            # Blanks of the same length, and line ends, keep all offsets and lines.
            blanks = [" " * len(line) for line in numbers.split("\n")]
            pieces += [data[done : match.start(1)], "\n".join(blanks)]
            done = match.end(1)
    return "".join([*pieces, data[done:]]), lists


def _unusual_before(data: str, offset: int, text: Positions) -> str:
    """Return a remark on a character that looks like one of ASCII.

    In the line of a fault or the one before it; "" without one.
    """
    # The fault is often in the line before the one in which it is noticed.
    line_start = max(data.rfind("\n", 0, offset), 0)
    start = data.rfind("\n", 0, line_start) + 1
    end = data.find("\n", offset)
    if end < 0:
        end = len(data)
    lines = data[start:end].split("\n")[-2:]
    for offset_in_line, line in zip((start, offset), lines, strict=False):
        # A comment may have any character.
        unusual = unusual_character(line.partition(" #")[0])
        if unusual:
            number = text.location(offset_in_line).line
            return f"; line {number} has the character {unusual}"
    return ""


def _parse(data: str, text: Positions, builder: _Builder) -> Document:
    """Parse a text with PyYAML, and build its tree."""
    import yaml

    # PyYAML may be built without libyaml; its own parser is slower.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # A tree has many nodes and no cycles: collecting garbage would only cost time.
        with without_collections():
            root, more = builder.build(yaml.parse(data, Loader=loader))
    except yaml.MarkedYAMLError as error:
        message, offset = in_words(error)
        message += _unusual_before(data, offset, text)
        raise builder.error(NOT_YAML, message, offset) from None
    except yaml.reader.ReaderError as error:
        # The C parser counts bytes of UTF-8 here, the Python one characters.
        head = data.encode("utf-8", "surrogatepass")[: error.position]
        if loader is not yaml.SafeLoader:
            offset = len(head.decode("utf-8", "replace"))
        else:
            offset = error.position
        raise builder.error(NOT_YAML, f"not YAML: {error.reason}", offset) from None
    except FormatError:
        raise
    except (yaml.YAMLError, UnicodeError, ValueError) as error:
        raise builder.error(NOT_YAML, f"not YAML: {error}", 0) from None
    if root is None:
        raise builder.error(builder.dialect.empty, "the file is empty", 0)
    return Document(root, builder.anchors, builder.has_aliases, more)


def in_words(error: yaml.MarkedYAMLError) -> tuple[str, int]:
    """Return what a parser did not expect, and at which character.

    Of quotes without an end, where they open; of a key without a colon, where it is.
    """
    # Some errors have only the mark of their context.
    mark = error.problem_mark or error.context_mark
    if error.context in _BEGUN_BEFORE and error.context_mark is not None:
        mark = error.context_mark
    offset = 0
    if mark is not None:
        offset = mark.index
    message = ", ".join(part for part in (error.context, error.problem) if part)
    plain = _WORDS.get(error.problem or "")
    if plain is not None:
        message = f"{plain} ({message})"
    return f"not YAML: {message}", offset


class _Builder:
    def __init__(
        self,
        text: Positions,
        dialect: Dialect,
        found: Diagnostics,
        anchors: dict[str, Node],
        lists: dict[int, str],
    ) -> None:
        self.text = text
        self.dialect = dialect
        self.found = found
        self.anchors = anchors
        self.lists = lists
        self.incomplete: set[str] = set()
        """Names of anchors whose nodes have not ended yet."""
        # Events, about one for each node: a measure of the size of the text.
        self.events = 0
        self.unfolded = 0
        """Nodes that the aliases so far stand for."""
        self.merged = 0
        """Keys that merge keys have brought in."""
        self.has_aliases = False

    def error(self, rule: Rule, message: str, offset: int) -> FormatError:
        return rule.error(message, self.text.location(offset))

    def build(self, events: Iterator[object]) -> tuple[Node | None, int | None]:
        """Return the root of the first document, and where another one begins."""
        import yaml

        root: Node | None = None
        is_done = False
        stack: list[_Open] = []
        for event in events:
            self.events += 1
            if self.events % ITEMS_BETWEEN_CLOCKS == 0:
                check_time(Location(self.found.path))
            # By the exact type: an isinstance takes longer, and there are many events.
            kind = type(event)
            node: Node
            if kind is yaml.ScalarEvent:
                node = self.scalar(cast("yaml.ScalarEvent", event))
            elif kind in (yaml.SequenceStartEvent, yaml.MappingStartEvent):
                start = cast("yaml.CollectionStartEvent", event)
                stack.append(_Open(self.opened(start, len(stack)), start.anchor, []))
                continue
            elif kind in (yaml.SequenceEndEvent, yaml.MappingEndEvent):
                node = self.closed(*stack.pop())
            elif kind is yaml.AliasEvent:
                node = self.alias(cast("yaml.AliasEvent", event))
            elif kind is yaml.DocumentStartEvent and is_done:
                return root, _offset(cast("yaml.Event", event))
            else:
                is_done = is_done or kind is yaml.DocumentEndEvent
                continue
            if stack:
                stack[-1].children.append(node)
            else:
                root = node
        return root, None

    def scalar(self, event: yaml.ScalarEvent) -> Scalar:
        offset = _offset(event)
        # A tag of YAML decides whether a quoted text is one.
        tag = None if event.tag is None else self.tag(event.tag, offset)
        is_text = bool(event.style) and tag not in ("int", "float", "bool")
        is_quoted = is_text or tag in ("!", "str")
        node = Scalar(self.text, offset, event.value, is_quoted)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def tag(self, tag: str, offset: int) -> str:
        """Return the name of one of YAML's own tags.

        Report another one.
        """
        # "!" means a text, whatever it looks like.
        if tag == "!":
            return tag
        # A local tag has no such prefix.
        name = tag.removeprefix(_CORE)
        if name == tag or name not in _TAGS:
            message = f"the tag {tag[:60]!r} has no meaning in this format"
            if self.dialect.tag.severity == "error":
                self.found.refuse(self.error(self.dialect.tag, message, offset))
            else:
                self.found.report(self.dialect.tag, message, self.text.location(offset))
            return ""
        return name

    def opened(
        self, event: yaml.CollectionStartEvent, depth: int
    ) -> Sequence | Mapping:
        """Return the empty list or mapping that an event begins."""
        import yaml

        offset = _offset(event)
        is_flow = bool(event.flow_style)
        if event.tag is not None:
            self.tag(event.tag, offset)
        # Deeper trees would exceed Python's calls in recursive walks.
        if depth >= MAX_DEPTH:
            message = f"nodes are nested more than {MAX_DEPTH} deep"
            raise self.error(NOT_YAML, message, offset)
        node: Sequence | Mapping
        if isinstance(event, yaml.MappingStartEvent):
            node = Mapping(self.text, offset, is_flow)
        else:
            node = Sequence(self.text, offset, is_flow)
            # The start event of a list ends behind its bracket.
            if self.lists and event.end_mark:
                bracket = event.end_mark.index - 1
                if bracket in self.lists:
                    node.numbers = self.lists.pop(bracket)
                    node.numbers_offset = bracket + 1
        if event.anchor is not None:
            # An anchor inside its own node would be a cycle.
            self.anchors.pop(event.anchor, None)
            self.incomplete.add(event.anchor)
        return node

    def closed(
        self, node: Sequence | Mapping, anchor: str | None, children: list[Node]
    ) -> Node:
        """Return a list or mapping with its children."""
        inside: AnyCollection[Node] = children
        if isinstance(node, Mapping):
            # Children are key, value, key, value ….
            node.pairs = list(zip(children[::2], children[1::2], strict=True))
            if self.dialect.merges:
                self.merge(node)
                inside = node.items.values()
        elif not node.numbers:
            node.items = children
        # Height and number of nodes grow with aliases too: an alias is its node.
        below = max(map(_HEIGHT, children), default=0)
        # Merged values count as well.
        if inside is not children:
            below = max(below, max(map(_HEIGHT, inside), default=0))
        node.height = 1 + below
        node.nodes = 1 + sum(map(_NODES, inside))
        if node.height > MAX_DEPTH:
            # Nodes of the text itself are not nested deeper: see `opened`.
            message = f"aliases nest nodes more than {MAX_DEPTH} deep"
            raise self.error(ALIAS, message, node.offset)
        if anchor is not None:
            self.anchors[anchor] = node
            self.incomplete.discard(anchor)
        return node

    def alias(self, event: yaml.AliasEvent) -> Node:
        """Return the node that an alias stands for."""
        name = event.anchor or ""
        offset = _offset(event)
        self.has_aliases = True
        node = self.anchors.get(name)
        if node is None:
            state = "names no node before it"
            if name in self.incomplete:
                state = "is inside of the node that it names"
            message = f"the alias *{name[:60]} {state}"
            self.found.refuse(self.error(ALIAS, message, offset))
            # Its contents count at each use: aliases of aliases grow exponentially.
            return MissingAlias(self.text, offset, "", False)
        self.unfolded += node.nodes
        # The limit grows with the text: a short file must not expand to many nodes.
        limit = FREE_ALIASES + ALIAS_GROWTH * self.events
        if self.unfolded > limit:
            message = (
                f"*{name[:60]} and the aliases before it expand to {self.unfolded} "
                f"nodes, more than {limit}"
            )
            raise self.error(ALIAS, message, offset)
        return node

    def merge(self, mapping: Mapping) -> None:
        """Fill the items of a mapping.

        Its own, and those that merge keys bring in.
        """
        sources: list[Node] = []
        for key, value in mapping.pairs:
            if not isinstance(key, Scalar):
                message = "a key is a list or a mapping: it is left out"
                self.found.report(WRONG_VALUE, message, key.location)
            elif key.value == "<<" and not key.quoted:
                # `<<` takes a mapping, or a list of them.
                sources += value.items if isinstance(value, Sequence) else [value]
            else:
                name = key.value
                if name in mapping.items:
                    message = f"the key {name[:60]} occurs a second time in its mapping"
                    self.found.report(KEY_TWICE, message, key.location)
                mapping.items[name] = value
                mapping.offsets[name] = key.offset
        # Keys of the mapping itself win over merged ones, and earlier sources over
        # later ones.
        for source in sources:
            if isinstance(source, Mapping):
                self.merge_items(source, mapping)
            elif not isinstance(source, MissingAlias):
                message = "<< must name a mapping, whose keys are merged"
                self.found.refuse(self.error(ALIAS, message, mapping.offset))

    def merge_items(self, source: Mapping, mapping: Mapping) -> None:
        # A chain of merges copies all keys at each step.
        self.merged += len(source.items)
        if self.merged > MAX_MERGED_KEYS:
            message = f"<< merges more than {MAX_MERGED_KEYS} keys"
            raise self.error(ALIAS, message, mapping.offset)
        for name, value in source.items.items():
            mapping.items.setdefault(name, value)


class _Open(NamedTuple):
    """A list or mapping whose end is not read yet."""

    node: Sequence | Mapping
    anchor: str | None
    children: list[Node]


def _offset(event: yaml.Event) -> int:
    if event.start_mark:
        return int(event.start_mark.index)
    return 0
