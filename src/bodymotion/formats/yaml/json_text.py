"""JSON as a tree of nodes, for what JSON allows and YAML parsers do not.

That is: characters beyond the first 65536 as two escapes (as `json.dumps` writes them),
a colon on another line than its key, keys of more than 1024 characters. The grammar is
that of RFC 8259, with `NaN`, `Infinity` and `-Infinity`, which many programs write.
"""

import re
from json import JSONDecoder

from bodymotion.formats.yaml.tree import (
    MAX_DEPTH,
    Mapping,
    Node,
    Positions,
    Scalar,
    Sequence,
)

_DECODER = JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*+")
_WORD = re.compile(
    r"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?"
    r"|true|false|null|NaN|-?Infinity|~)(?=[ \t\r\n,\]}])"
)
"""Numbers and words, and the mark of rows that were taken out of the text.

See `formats.seq.scan`.
"""


def parse_json(data: str, text: Positions) -> Mapping:
    """Parse a text as JSON and return its top node.

    Raises
    ------
    ValueError
        When it is not JSON, is no object, or is nested too deep.
    """
    parser = _Parser(data, text)
    root = parser.value(0)
    if parser.next() or not isinstance(root, Mapping):
        raise ValueError("not an object in JSON")
    return root


class _Parser:
    def __init__(self, data: str, text: Positions) -> None:
        self.data = data
        self.text = text
        self.at = 0

    # The next character that is no blank; "" at the end.
    def next(self) -> str:
        found = _SPACE.match(self.data, self.at)
        assert found
        self.at = found.end()
        return self.data[self.at : self.at + 1]

    def expect(self, characters: str) -> str:
        found = self.next()
        if not found or found not in characters:
            raise ValueError(f"expected one of {characters}")
        self.at += 1
        return found

    def string(self) -> Scalar:
        offset = self.at
        if self.next() != '"':
            raise ValueError("expected a string")
        value: str
        # Python's decoder reads a string with its escapes, in compiled code.
        value, self.at = _DECODER.raw_decode(self.data, self.at)
        if not value.isascii():  # half a pair of escapes is no character
            # UTF-16 joins two halves of a pair; a single half becomes a replacement
            # character.
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return Scalar(self.text, offset, value, True)

    def value(self, depth: int) -> Node:
        """Parse the value at the current offset."""
        # Nested calls: Python has a limit of its own.
        if depth > MAX_DEPTH:
            raise ValueError("nested too deep")
        kind = self.next()
        offset = self.at
        if kind == '"':
            return self.string()
        if kind in ("[", "{"):
            self.at += 1
            node = (
                Sequence(self.text, offset, True)
                if kind == "["
                else Mapping(self.text, offset, True)
            )
            closing = "]" if kind == "[" else "}"
            # An empty list or object ends at once.
            more = self.next() != closing or self.expect(closing) == ""
            while more:
                if isinstance(node, Sequence):
                    node.items.append(self.value(depth + 1))
                else:
                    self.next()
                    key = self.string()
                    self.expect(":")
                    node.pairs.append((key, self.value(depth + 1)))
                more = self.expect(f",{closing}") == ","
            return node
        # Words and numbers stay texts, as in YAML.
        found = _WORD.match(self.data, offset)
        if found is None:
            raise ValueError("expected a value")
        self.at = found.end()
        return Scalar(self.text, offset, found[0], False)
