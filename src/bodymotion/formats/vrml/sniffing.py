"""Whether a file is VRML, by how it starts."""

from __future__ import annotations

import re

from bodymotion.formats.vrml.specs import STANDARD_NODES
from bodymotion.formats.vrml.text import BOM

__all__ = ["looks_like_vrml"]

_HEADER = re.compile(rb"#[ \t]*VRML[ \t]+V[0-9]")
_SPACE = re.compile(rb"[ \t\r\n,\f\v]*+(?:#[^\r\n]*+[ \t\r\n,\f\v]*+)*+")
_NODES = "|".join(STANDARD_NODES).encode()
_START = re.compile(
    rb'DEF\s+[^\s{}\[\]"]+\s+[A-Za-z_]\w*[\s,]*\{|DEF\s+[A-Z]\w*\s*\{|(?:EXTERN)?PROTO\s+[^\s{}\[\]"]+\s*\[|(?:'
    + _NODES
    + rb")\s*(?:#[^\r\n]*\s*)?\{"
)


def looks_like_vrml(head: bytes) -> bool:
    """Whether the first bytes of a file are those of VRML: its header among the comments at the start, or a node or prototype.

    VRML 1.0 counts as well, so that its reader can say in words that it is another language.
    """
    head = head.removeprefix(BOM)
    space = _SPACE.match(head)
    start = space.end() if space is not None else 0
    return _HEADER.search(head, 0, start) is not None or _START.match(head, start) is not None
