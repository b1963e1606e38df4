"""YAML and JSON as plain values.

Texts, numbers, lists and dictionaries, within limits.

Every reader that needs no tree of nodes with locations uses these two functions.
Programs that read nested text call themselves for each level, and end the process where
it is nested too deep; aliases and merge keys of YAML multiply what a small text stands
for.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from bodymotion.diagnostics import Diagnostics
from bodymotion.formats.limits import LIMITS
from bodymotion.formats.yaml.fields import open_text
from bodymotion.formats.yaml.tree import Mapping, Node, Scalar, Sequence

__all__ = ["parse_json", "plain_value", "read_plain_yaml"]

# Words of YAML 1.1, which PyYAML reads so.
_NULL = ("", "~", "null", "Null", "NULL")
_TRUE = re.compile(r"yes|Yes|YES|true|True|TRUE|on|On|ON")
_FALSE = re.compile(r"no|No|NO|false|False|FALSE|off|Off|OFF")
# Python refuses to read some thousands of digits.
_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_FLOAT = re.compile(
    r"[-+]?([0-9]++\.?[0-9]*+|\.[0-9]++)([eE][-+]?[0-9]++)?"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
# Texts are skipped, so brackets in them do not count.
_BRACKET_OR_TEXT = re.compile(rb'[\[{]|[\]}]|"(?:[^"\\]|\\.)*+"', re.DOTALL)


def read_plain_yaml(data: bytes, path: Path, found: Diagnostics) -> tuple[Any, Node]:
    """Return the values of a text of YAML, and its tree.

    Keys are texts, and a repeated key has its last value.

    Raises
    ------
    FormatError
        When it is no YAML, is nested too deep, or its aliases and merge keys stand for
        too much.
    """
    root = open_text(data, path, found).root
    return plain_value(root), root


def plain_value(node: Node) -> Any:  # noqa: ANN401
    """Return the value of a node, as YAML 1.1 resolves it.

    Null, truth values, numbers, else texts.
    """
    if isinstance(node, Sequence):
        return [plain_value(item) for item in node.items]
    if isinstance(node, Mapping):
        return {key: plain_value(value) for key, value in node.items.items()}
    return _scalar(node)


def _scalar(node: Scalar) -> str | int | float | bool | None:
    """Return the value of a single text of YAML 1.1."""
    text = node.value
    # A quoted text is a text, whatever it looks like.
    if node.quoted:
        return text
    if text in _NULL:
        return None
    if _TRUE.fullmatch(text):
        return True
    if _FALSE.fullmatch(text):
        return False
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        # Python has inf and nan without the point.
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def parse_json(data: bytes | str) -> Any:  # noqa: ANN401
    """Return the value of a text of JSON.

    ValueError when it is none, or is nested too deep.
    """
    if isinstance(data, str):
        content = data.encode("utf-8", "surrogatepass")
    else:
        content = data
    # Only the depth is counted here; `json` finds the faults.
    depth = 0
    for match in _BRACKET_OR_TEXT.finditer(content):
        first = match[0][:1]
        if first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
        if depth > LIMITS.depth:
            raise ValueError(f"it is nested more than {LIMITS.depth} levels deep")
    return json.loads(content)
