"""YAML for every format that is written in it: a tree of nodes with locations (`tree`), and how to read on in a text that is no YAML."""

from __future__ import annotations

from bodymotion.formats.yaml.recovery import Attempt, Recovered, read_on
from bodymotion.formats.yaml.tree import (
    Dialect,
    Document,
    Mapping,
    MissingAlias,
    Node,
    PiecedText,
    Positions,
    Scalar,
    Sequence,
    key_text,
    parse_yaml,
)

__all__ = [
    "Attempt",
    "Dialect",
    "Document",
    "Mapping",
    "MissingAlias",
    "Node",
    "PiecedText",
    "Positions",
    "Recovered",
    "Scalar",
    "Sequence",
    "key_text",
    "parse_yaml",
    "read_on",
]
