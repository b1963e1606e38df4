"""Reading a VRML97 file: from its bytes to its scene, with all problems."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from bodymotion.diagnostics import Diagnostics, FormatError, Location, ReadResult
from bodymotion.formats.text.source_text import BOM, Text, decode
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.nodes import Proto, Scene
from bodymotion.formats.vrml.parser import MAX_CALLS, Parser
from bodymotion.formats.vrml.recovery import OpenStringsError
from bodymotion.system.open_files import open_file

__all__ = ["parse_vrml", "read_scene", "read_vrml"]


def read_vrml(path: str | Path) -> Scene:
    """Read a VRML97 file without faults; its Inline parts are read by an `InlineLoader`.

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
    """Parse the bytes of a VRML97 file without faults; arguments as for `read_scene`.

    Raises
    ------
    FormatError
        With line and column, when the text does not follow the grammar; `problems` of the exception are all that were found.
    """
    return read_scene(data, path, known_protos).require()


def read_scene(
    data: bytes, path: Path | None = None, known_protos: Mapping[str, Proto] | None = None
) -> ReadResult[Scene]:
    """Parse the bytes of a VRML97 file; go on after faults.

    Parameters
    ----------
    data:
        The bytes.
    path:
        Their file: for the locations of problems, and for relative urls.
    known_protos:
        Prototypes that the file may use without declaring them.

    Returns
    -------
    The scene, whole where the text follows the grammar; else partial, with what is incomplete in its `damage`. None where the file is
    in another language, or nested too deep.
    """
    found = Diagnostics(path)
    try:
        if data[:2] == b"\x1f\x8b":
            location = Location(str(path) if path else None, 1, 1)
            raise rules.NOT_VRML97.error("the file is compressed", location, "decompress it with gunzip")
        decoded, encoding = decode(data)
        text = Text(decoded.rstrip("\0\x1a"), path, encoding)
        scene, found = _parsed(text, known_protos or {}, data.startswith(BOM))
    except FormatError as error:
        return ReadResult(None, error.problems)
    scene.problems = found.problems
    faults = {rule.code for rule in rules.GRAMMAR}
    refusal = next((problem for problem in scene.problems if problem.rule in faults), None)
    return ReadResult(scene, scene.problems, whole=refusal is None, refusal=refusal)


def _parsed(text: Text, protos: Mapping[str, Proto], has_mark: bool) -> tuple[Scene, Diagnostics]:
    begins: list[int] = []
    while True:
        found = Diagnostics(text.path)
        if has_mark:
            found.report(rules.BYTE_ORDER_MARK, "the file begins with a byte order mark", text.location(0))
        try:
            try:
                return Parser(text, protos, found, begins).scene(), found
            except RecursionError:
                found = Diagnostics(text.path)
                return _with_more_stack(Parser(text, protos, found, begins)), found
        except OpenStringsError as strings:
            text, begins = strings.text, strings.begins
        except FormatError as error:
            found.add(error.problem)
            raise FormatError(error.problem, found.problems) from None


def _with_more_stack(parser: Parser) -> Scene:
    """Parse where Python's limit of nested calls is too low for the parser's own limit of depth."""
    with _ONE_AT_A_TIME:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + MAX_CALLS)
        try:
            return parser.scene()
        finally:
            sys.setrecursionlimit(limit)


_ONE_AT_A_TIME = threading.Lock()
"""The limit holds for all threads: two that set it back in turn would leave it too high."""
