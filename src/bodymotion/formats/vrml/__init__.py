"""The language VRML97: text to `Scene`, prototypes expanded, parts named by Inline loaded. Knows nothing of robots."""

from __future__ import annotations

from pathlib import Path

from bodymotion.diagnostics import Location
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.inline import InlineLoader
from bodymotion.formats.vrml.nodes import FieldDeclaration, IsReference, Node, Proto, Route, Scene, Value
from bodymotion.formats.vrml.parser import parse_vrml
from bodymotion.formats.vrml.prototypes import expand, instance_of
from bodymotion.formats.vrml.rules import RULES
from bodymotion.formats.vrml.sniffing import looks_like_vrml

__all__ = [
    "RULES",
    "FieldDeclaration",
    "InlineLoader",
    "IsReference",
    "Node",
    "Proto",
    "Route",
    "Scene",
    "Value",
    "expand",
    "instance_of",
    "looks_like_vrml",
    "parse_vrml",
    "read_vrml",
]


def read_vrml(path: str | Path) -> Scene:
    """Read a VRML97 file; its Inline parts stay unread until an `InlineLoader` is asked for them.

    Raises
    ------
    FormatError
        With line and column, when the text does not follow the grammar; VRML135 when the file can not be opened.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise rules.PART_UNREADABLE.error(f"the file can not be opened: {error}", Location(str(path)), "") from error
    return parse_vrml(data, path)
