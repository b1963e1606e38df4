"""JSON as a tree of nodes, for what JSON allows and YAML parsers do not.

That is: characters beyond the first 65536 as two escapes (as `json.dumps` writes them), a colon on another line than its
key, keys of more than 1024 characters. The grammar is that of RFC 8259, with `NaN`, `Infinity` and `-Infinity`, which many programs write.
"""

from __future__ import annotations

import re
from json import JSONDecoder

from bodymotion.formats.seq.nodes import MAX_DEPTH, Mapping, Node, Scalar, Sequence

__all__ = ["json_tree"]

_DECODER = JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*+")
_WORD = re.compile(
    r"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null|NaN|-?Infinity|~)(?=[ \t\r\n,\]}])"
)
"""Numbers and words; and the mark that stands in place of rows that were taken out of the text."""


def json_tree(text: str) -> tuple[Node, int]:
    """Parse a text as JSON: the top node, and how many nodes there are.

    Raises
    ------
    ValueError
        When it is not JSON, or is nested too deep.
    """
    parser = _Parser(text)
    root = parser.value(0)
    if parser.next() or not isinstance(root, Mapping):
        raise ValueError
    return root, parser.size


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.size = 0

    def next(self) -> str:
        """Return the next character that is no space; nothing at the end."""
        found = _SPACE.match(self.text, self.at)
        assert found
        self.at = found.end()
        return self.text[self.at : self.at + 1]

    def take(self, wanted: str) -> str:
        """Take one of some characters."""
        found = self.next()
        if not found or found not in wanted:
            raise ValueError
        self.at += 1
        return found

    def string(self) -> Scalar:
        index = self.at
        if self.next() != '"':
            raise ValueError
        text: str
        text, self.at = _DECODER.raw_decode(self.text, self.at)
        if not text.isascii():  # half a pair of escapes is no character
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return Scalar(index, text, True)

    def value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise ValueError
        self.size += 1
        kind, index = self.next(), self.at
        if kind == '"':
            return self.string()
        if kind == "[":
            self.at += 1
            items = Sequence(index, True)
            more = self.next() != "]" or self.take("]") == ""
            while more:
                items.items.append(self.value(depth + 1))
                more = self.take(",]") == ","
            return items
        if kind == "{":
            self.at += 1
            pairs = Mapping(index, True)
            more = self.next() != "}" or self.take("}") == ""
            while more:
                self.next()
                key = self.string()
                self.size += 1
                self.take(":")
                pairs.pairs.append((key, self.value(depth + 1)))
                more = self.take(",}") == ","
            return pairs
        found = _WORD.match(self.text, index)
        if found is None:
            raise ValueError
        self.at = found.end()
        return Scalar(index, found[0], False)
