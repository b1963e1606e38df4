"""Reading a VRML97 file: its bytes, its text, its scene."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from bodymotion.diagnostics import Location
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.nodes import Proto, Scene
from bodymotion.formats.vrml.parser import MOST_CALLS, Parser
from bodymotion.formats.vrml.text import BOM, Text, decode
from bodymotion.opening import open_file

__all__ = ["parse_vrml", "read_vrml"]


def read_vrml(path: str | Path) -> Scene:
    """Read a VRML97 file; its Inline parts stay unread until an `InlineLoader` is asked for them.

    Raises
    ------
    FormatError
        With line and column, when the text does not follow the grammar; VRML100 when the file can not be opened.
    """
    path = Path(path)
    try:
        with open_file(path) as file:
            data = file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise rules.UNREADABLE.error(f"the file can not be opened: {reason}", Location(str(path))) from error
    return parse_vrml(data, path)


def parse_vrml(data: bytes, path: Path | None = None, known_protos: Mapping[str, Proto] | None = None) -> Scene:
    """Parse a VRML97 file.

    Parameters
    ----------
    data:
        Its bytes.
    path:
        Where they come from: for the locations of problems, and for relative urls.
    known_protos:
        Prototypes that the file may use without declaring them.

    Raises
    ------
    FormatError
        With line and column, when the text does not follow the grammar.
    """
    if data[:2] == b"\x1f\x8b":
        place = Location(str(path) if path else None, 1, 1)
        raise rules.NOT_VRML97.error("the file is compressed", place, "unpack it with gunzip")
    text, encoding = decode(data)
    marked = data.startswith(BOM)
    whole = Text(text.rstrip("\0\x1a"), path, encoding)
    try:
        scene = Parser(whole, known_protos or {}).scene()
    except RecursionError:
        scene = _with_more_stack(Parser(whole, known_protos or {}))
    if marked:
        scene.problems.insert(
            0, rules.BYTE_ORDER_MARK.problem("the file begins with a byte order mark", whole.location(0))
        )
    return scene


def _with_more_stack(parser: Parser) -> Scene:
    """Parse where Python's limit of nested calls leaves too few of them: by then the parser's own limit ends what is too deep."""
    with _ONE_AT_A_TIME:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + MOST_CALLS)
        try:
            return parser.scene()
        finally:
            sys.setrecursionlimit(limit)


_ONE_AT_A_TIME = threading.Lock()
"""The limit is that of all threads: two that set it back in turn would leave it too high."""
