"""Reading a VRML97 file: its bytes, its text, its scene."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from bodymotion.diagnostics import Location
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.nodes import Proto, Scene
from bodymotion.formats.vrml.parser import MOST_CALLS, Parser
from bodymotion.formats.vrml.recovery import Damage, RecoveringParser
from bodymotion.formats.vrml.text import BOM, Text, decode
from bodymotion.system.open_files import open_file

__all__ = ["parse_vrml", "read_vrml", "survey_vrml", "vrml_bytes"]


def read_vrml(path: str | Path) -> Scene:
    """Read a VRML97 file; its Inline parts stay unread until an `InlineLoader` is asked for them.

    Raises
    ------
    FormatError
        With line and column, when the text does not follow the grammar; VRML100 when the file cannot be opened.
    """
    path = Path(path)
    return parse_vrml(vrml_bytes(path), path)


def vrml_bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    FormatError
        VRML100 when it cannot be opened.
    """
    try:
        with open_file(path) as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise rules.UNREADABLE.error(f"the file cannot be opened: {reason}", Location(str(path))) from error


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
    return _parsed(Parser, data, path, known_protos)[0]


def survey_vrml(data: bytes, path: Path | None = None) -> tuple[Scene, Damage]:
    """Parse a VRML97 file past all its faults, which are among the scene's problems (`Faults`); say what they have left incomplete.

    Raises
    ------
    FormatError
        When the file is not VRML97 at all, or its faults are so many, or such, that nothing can be made of what follows.
    """
    scene, parser = _parsed(RecoveringParser, data, path, None)
    return scene, parser.damage


AnyParser = TypeVar("AnyParser", bound=Parser)


def _parsed(
    make: Callable[[Text, Mapping[str, Proto]], AnyParser],
    data: bytes,
    path: Path | None,
    known_protos: Mapping[str, Proto] | None,
) -> tuple[Scene, AnyParser]:
    if data[:2] == b"\x1f\x8b":
        place = Location(str(path) if path else None, 1, 1)
        raise rules.NOT_VRML97.error("the file is compressed", place, "unpack it with gunzip")
    text, encoding = decode(data)
    marked = data.startswith(BOM)
    whole = Text(text.rstrip("\0\x1a"), path, encoding)
    parser = make(whole, known_protos or {})
    try:
        scene = parser.scene()
    except RecursionError:
        parser = make(whole, known_protos or {})
        scene = _with_more_stack(parser)
    if marked:
        scene.problems.insert(
            0, rules.BYTE_ORDER_MARK.problem("the file begins with a byte order mark", whole.location(0))
        )
    return scene, parser


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
