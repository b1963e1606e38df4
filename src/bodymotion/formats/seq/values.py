"""The texts of a body motion: parsed as YAML or JSON, and read as numbers and plain values.

A number of a body motion is decimal: an optional sign, digits with or without a point, an optional exponent (`1e5`, `.5`, `5.`, `+1`,
`017`, which is 17), or `nan`, `inf`, `infinity` in any case, with or without YAML's leading point and a sign. Its value is the nearest
double. Other texts that some readers accept (`0x10`, `1_000`, `1:30`, `"7"`, `1.5abc`) are not numbers here, because readers disagree
about them.
"""

from __future__ import annotations

import re

from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.formats.seq import rules
from bodymotion.formats.yaml.json_text import parse_json
from bodymotion.formats.yaml.tree import Dialect, Document, Node, PiecedText, Scalar, Sequence, key_text, parse_yaml

DIALECT = Dialect(rules.NOT_YAML, rules.NOT_A_MOTION, rules.ALIASES, rules.TAG)

_NUMBER = re.compile(
    r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?|[-+]?(?:\.?(?:nan|inf)|infinity)", re.IGNORECASE
)
_INTEGER = re.compile(r"[-+]?[0-9]{1,4000}")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def parse_text(text: PiecedText, found: Diagnostics) -> Document:
    """Parse a text as YAML, or, where it begins as JSON and is no YAML, as JSON.

    Raises
    ------
    FormatError
        SEQ002 when it is neither or is nested too deep, SEQ003 when it is empty, SEQ006 when aliases unfold to too much.
    """
    data = text.data
    try:
        return parse_yaml(data, text, DIALECT, found)
    except FormatError as error:
        if not data.lstrip().startswith("{") or error.problem.rule != rules.NOT_YAML.code:
            raise
        try:
            root = parse_json(data, text, DIALECT.max_depth)
        except ValueError:
            raise error from None
        return Document(root, {})


def number(text: str) -> float | None:
    """Return the double nearest to an unquoted text; None where it is not a number."""
    if _NUMBER.fullmatch(text) is None:
        return None
    if text[-1] in "nfNF":  # Python's float rejects the point of .nan and .inf
        text = text.replace(".", "", 1)
    return float(text)


def plain_scalar(text: str) -> object:
    """Return the value of an unquoted text of an unknown key: None, bool, int, float or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    value = number(text)
    return text if value is None else value


def plain(node: Node) -> object:
    """Return a node as plain values (dict, list, str, int, float, bool, None): for keys and types that the format does not define."""
    if isinstance(node, Scalar):
        return node.value if node.quoted else plain_scalar(node.value)
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key_text(key): plain(value) for key, value in node.pairs}
