"""The line that a file begins with, and the languages that are not VRML97."""

from __future__ import annotations

import re

from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.cursor import Cursor
from bodymotion.formats.vrml.lexis import SPACE

__all__ = ["read_header"]

_HEADER = re.compile(r"#[ \t]*VRML[ \t]+V([0-9][0-9.]*)[^\r\n]*")


def read_header(cursor: Cursor) -> str:
    """Return the header line, among the comments at the start; "" where there is none, as in most parts of models."""
    before = SPACE.match(cursor.data)
    found = _HEADER.search(cursor.data, 0, before.end() if before is not None else 0)
    if found is None:
        other = re.match(r"\s*#\s*(X3D|Inventor)\b", cursor.data)
        if other is not None:
            raise cursor.error(rules.NOT_VRML97, f"this is {other[1]}", 0)
        cursor.problem(rules.HEADER, "the header is missing", 0)
        return ""
    if not found[1].startswith("2"):
        raise cursor.error(rules.NOT_VRML97, f"this is VRML {found[1].rstrip('.')}", found.start())
    if found.start() > 0 or not found[0].startswith("#VRML V2.0 utf8"):
        cursor.problem(rules.HEADER, f"the header stands late or is written otherwise: {found[0][:40]}", found.start())
    return found[0].rstrip()
