"""YAML as a tree of nodes that know their place: safe and bounded.

Nothing is constructed from tags, an alias is the very node that it stands for, and values stay texts until someone who knows their
meaning reads them. Merge keys (`<<: *NAME`, or a list of such) give the keys that the mapping itself does not have, wherever they stand
in it. Nesting, also through aliases, is at most `MAX_HEIGHT` deep, so walking through a tree needs no care; what merge keys copy is
bounded, what aliases unfold to is bounded, and what walks along them counts what it visits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bodymotion.diagnostics import FormatError, Problem
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.faults import Faults, fault
from bodymotion.formats.text.source_text import Text, decode
from bodymotion.formats.yaml.tree import in_words

if TYPE_CHECKING:
    import yaml

    from bodymotion.diagnostics import Location, Rule

__all__ = ["Document", "Mapping", "Node", "Scalar", "Sequence", "parse_document"]

MAX_HEIGHT = 100
MOST_MERGED = 1_000_000
MOST_UNFOLDED = 100_000
"""Aliases may stand for so many nodes in all, those that are in them by further aliases counted each time …"""
ALIAS_GROWTH = 16
"""… and for so many times as many as there are in the text."""

LONG = 2_000
"""Lists of numbers of so many characters do not go through the YAML parser."""

_LIST = re.compile(r"\[(\s*+(?:[-+.0-9eE]++\s*+,\s*+)++(?:[-+.0-9eE]++\s*+)?+)\]")
_TOKEN = re.compile(r"[^\s,]+")
_CORE = "tag:yaml.org,2002:"


class _Placed:
    __slots__ = ("height", "nodes", "offset", "text")

    def __init__(self, text: Text, offset: int) -> None:
        self.text = text
        self.offset = offset
        self.height = 0
        self.nodes = 1
        """How many nodes it is, with all that is in it."""

    @property
    def location(self) -> Location:
        """Where the node stands."""
        return self.text.location(self.offset)


class Scalar(_Placed):
    """A single value, as its text."""

    __slots__ = ("quoted", "value")

    def __init__(self, text: Text, offset: int, value: str, quoted: bool) -> None:
        super().__init__(text, offset)
        self.value = value
        self.quoted = quoted


class Sequence(_Placed):
    """A list of nodes.

    One of many plain numbers, `long`, is their text between the brackets, which begins at `long_at`; nodes are made of it only when
    `items` is asked for.
    """

    __slots__ = ("_items", "long", "long_at")

    def __init__(self, text: Text, offset: int) -> None:
        super().__init__(text, offset)
        self._items: list[Node] = []
        self.long = ""
        self.long_at = 0

    @property
    def items(self) -> list[Node]:
        """The nodes."""
        if self.long and not self._items:
            found = _TOKEN.finditer(self.long)
            self._items = [Scalar(self.text, self.long_at + token.start(), token.group(), False) for token in found]
        return self._items

    @items.setter
    def items(self, items: list[Node]) -> None:
        self._items = items


class Mapping(_Placed):
    """Nodes by key, in the order of the file; merged ones last. `places` says where the mapping's own keys stand."""

    __slots__ = ("items", "places")

    def __init__(self, text: Text, offset: int) -> None:
        super().__init__(text, offset)
        self.items: dict[str, Node] = {}
        self.places: dict[str, int] = {}

    def location_of(self, key: str) -> Location:
        """Return the place of a key; that of the mapping where the key is merged into it or not there."""
        return self.text.location(self.places.get(key, self.offset))


Node: TypeAlias = Scalar | Sequence | Mapping


@dataclass
class Document:
    """A parsed file: its root node, its anchors by name (of several of one name the last), what was odd in it."""

    root: Node
    anchors: dict[str, Node]
    text: Text
    problems: list[Problem] = field(default_factory=list)


def parse_document(
    data: bytes, path: Path | None = None, anchors: AnyMapping[str, Node] | None = None, *, thorough: bool = False
) -> Document:
    """Parse a YAML file.

    Parameters
    ----------
    data:
        Its bytes, in any of the encodings that model files come in.
    path:
        Where they come from: for the locations of problems, and for relative paths.
    anchors:
        Those of the file that includes this one, which may use them.
    thorough:
        Go on after aliases that name nothing: they then are empty, and the document's problems have the fault.

    Raises
    ------
    FormatError
        BDY101 where it is not YAML, is nested too deep, or is empty; BDY105 for aliases that name nothing, or blow the file up.
    """
    characters, encoding = decode(data)
    text = Text(characters.rstrip("\0\x1a"), path, encoding)
    known = dict(anchors or {})
    blanked, lists = _without_long_lists(text.data)
    document = _parse(text, blanked, _Builder(text, dict(known), lists, thorough))
    if lists:
        # Not all of them were lists: some stood in strings or comments.
        document = _parse(text, text.data, _Builder(text, known, {}, thorough))
    return document


def _without_long_lists(text: str) -> tuple[str, dict[int, str]]:
    """Return the text with the insides of long lists of numbers blanked out, and these by the place of their bracket."""
    lists: dict[int, str] = {}
    pieces: list[str] = []
    done = 0
    for found in _LIST.finditer(text) if len(text) > LONG else ():
        if found.end() - found.start() > LONG:
            lists[found.start()] = found.group(1)
            pieces += [text[done : found.start(1)], "\n".join(" " * len(line) for line in found.group(1).split("\n"))]
            done = found.end(1)
    return "".join([*pieces, text[done:]]), lists


def _parse(text: Text, blanked: str, builder: _Builder) -> Document:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = builder.build(yaml.parse(blanked, Loader=loader))
    except yaml.MarkedYAMLError as error:
        raise builder.error(rules.NOT_YAML, *in_words(error)) from None
    except yaml.reader.ReaderError as error:
        # The C parser counts bytes of UTF-8 here.
        index = len(text.data.encode("utf-8", "surrogatepass")[: error.position].decode("utf-8", "replace"))
        raise builder.error(rules.NOT_YAML, str(error.reason), index) from None
    except FormatError as error:
        if isinstance(builder.problems, Faults):
            raise FormatError(error.problem, builder.problems.told()) from error
        raise
    except (yaml.YAMLError, UnicodeError, ValueError) as error:
        raise builder.error(rules.NOT_YAML, str(error), 0) from None
    if root is None:
        raise builder.error(rules.NOT_YAML, "the file is empty", 0)
    return Document(root, builder.anchors, text, builder.problems)


class _Builder:
    def __init__(self, text: Text, anchors: dict[str, Node], lists: dict[int, str], thorough: bool) -> None:
        self.text = text
        self.lists = lists
        self.anchors = anchors
        self.open: set[str] = set()
        self.problems: list[Problem] = Faults() if thorough else []
        self.merged = 0
        self.nodes = 0
        self.unfolded = 0

    def error(self, rule: Rule, message: str, offset: int) -> FormatError:
        return rule.error(message, self.text.location(offset))

    def build(self, events: Iterator[object]) -> Node | None:
        """Build the first document."""
        import yaml

        root: Node | None = None
        done = False
        stack: list[_Open] = []
        for event in events:
            self.nodes += 1
            if isinstance(event, yaml.ScalarEvent):
                node: Node = Scalar(self.text, _offset(event), event.value, bool(event.style))
                self.tag(event)
                if event.anchor is not None:
                    self.anchors[event.anchor] = node
            elif isinstance(event, yaml.CollectionStartEvent):
                self.tag(event)
                if len(stack) >= MAX_HEIGHT:
                    raise self.error(rules.NOT_YAML, f"nodes are nested more than {MAX_HEIGHT} deep", _offset(event))
                kind = Mapping if isinstance(event, yaml.MappingStartEvent) else Sequence
                opened = kind(self.text, _offset(event))
                bracket = event.end_mark.index - 1 if event.end_mark else -1
                if isinstance(opened, Sequence) and bracket in self.lists:
                    opened.long, opened.long_at = self.lists.pop(bracket), bracket + 1
                stack.append(_Open(opened, event.anchor))
                if event.anchor is not None:
                    self.anchors.pop(event.anchor, None)
                    self.open.add(event.anchor)
                continue
            elif isinstance(event, yaml.CollectionEndEvent):
                node = self.close(stack.pop())
            elif isinstance(event, yaml.AliasEvent):
                node = self.alias(event)
            elif isinstance(event, yaml.DocumentStartEvent) and done:
                self.problems.append(
                    rules.IGNORED.problem("a second document begins", self.text.location(_offset(event)))
                )
                return root
            else:
                done = done or isinstance(event, yaml.DocumentEndEvent)
                continue
            if not stack:
                root = node
            else:
                stack[-1].add(node)
        return root

    def tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.tag and event.tag != "!" and not event.tag.startswith(_CORE):
            place = self.text.location(_offset(event))
            self.problems.append(rules.IGNORED.problem(f"the tag {event.tag[:60]} is not used", place))

    def alias(self, event: yaml.AliasEvent) -> Node:
        name = event.anchor or ""
        node = self.anchors.get(name)
        if node is None:
            state = "stands inside of what it names" if name in self.open else "names nothing"
            fault(self.problems, self.error(rules.ALIAS, f"the alias *{name[:60]} {state}", _offset(event)))
            return Scalar(self.text, _offset(event), "", False)
        self.unfolded += node.nodes
        most = MOST_UNFOLDED + ALIAS_GROWTH * self.nodes
        if self.unfolded > most:
            wrong = f"*{name[:60]} and the aliases before it make more than {most} nodes of the file's {self.nodes}"
            raise self.error(rules.ALIAS, wrong, _offset(event))
        return node

    def close(self, ended: _Open) -> Node:
        node = ended.node
        if isinstance(node, Sequence):
            if not node.long:
                node.items = ended.children
            node.height = 1 + max((item.height for item in ended.children), default=0)
            node.nodes = 1 + sum(item.nodes for item in ended.children)
        else:
            self.fill(node, ended.children)
            node.height = 1 + max((item.height for item in node.items.values()), default=0)
            node.nodes = 1 + sum(item.nodes for item in node.items.values())
        if node.height > MAX_HEIGHT:
            raise self.error(rules.NOT_YAML, f"aliases nest nodes more than {MAX_HEIGHT} deep", node.offset)
        if ended.anchor is not None:
            self.anchors[ended.anchor] = node
            self.open.discard(ended.anchor)
        return node

    def fill(self, mapping: Mapping, children: list[Node]) -> None:
        """Put keys and values, which stand one after another, into a mapping."""
        sources: list[Node] = []
        for key, value in zip(children[::2], children[1::2], strict=True):
            if not isinstance(key, Scalar):
                self.problems.append(
                    rules.WRONG_VALUE.problem("a key is no single value: it is left out", key.location)
                )
            elif key.value == "<<" and not key.quoted:
                sources += value.items if isinstance(value, Sequence) else [value]
            else:
                if key.value in mapping.items:
                    self.problems.append(
                        rules.KEY_TWICE.problem(f"{key.value[:60]} stands a second time in one mapping", key.location)
                    )
                mapping.items[key.value] = value
                mapping.places[key.value] = key.offset
        for source in sources:
            if not isinstance(source, Mapping):
                fault(
                    self.problems,
                    self.error(rules.ALIAS, "<< takes the keys of a mapping, this is none", mapping.offset),
                )
                continue
            self.merged += len(source.items)
            if self.merged > MOST_MERGED:
                raise self.error(rules.ALIAS, f"<< merges more than {MOST_MERGED} keys", mapping.offset)
            for name, value in source.items.items():
                mapping.items.setdefault(name, value)


class _Open:
    """A list or mapping that has begun; of a mapping, keys and values stand in turn in `children`."""

    __slots__ = ("anchor", "children", "node")

    def __init__(self, node: Sequence | Mapping, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.children: list[Node] = []

    def add(self, node: Node) -> None:
        self.children.append(node)


def _offset(event: yaml.Event) -> int:
    return int(event.start_mark.index) if event.start_mark else 0
