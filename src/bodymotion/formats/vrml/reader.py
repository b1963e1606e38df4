"""Read a VRML97 file, and what its scene refers to.

A scene refers to other files (Inline, EXTERNPROTO), each parsed once, and to the bodies
of prototypes. Which files may be opened is decided by `bodymotion.formats.resources`.
"""

import operator
import re
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    ReadResult,
)
from bodymotion.diagnostics.spelling import WIDE_BLANKS, character_name
from bodymotion.formats.limits import check_time
from bodymotion.formats.resources import (
    ReferencedFiles,
    file_bytes,
)
from bodymotion.formats.rules import BLANK
from bodymotion.formats.text import BOM, Text, decode
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.nodes import IsReference, Node, Proto, Scene, Value
from bodymotion.formats.vrml.parser import MAX_CALLS, Parser
from bodymotion.formats.vrml.values import STRING_OR_COMMENT

_ONE_AT_A_TIME = threading.Lock()
"""The limit holds for all threads.

Two that set it back in turn would leave it too high.
"""


def read_vrml(path: str | Path) -> Scene:
    """Read a VRML97 file without faults.

    Its Inline parts are read by an `InlineLoader`.

    Raises
    ------
    FormatError
        With line and column, when the text does not follow the grammar; FMT002 when the
        file cannot be opened.
    """
    path = Path(path)
    return parse_vrml(file_bytes(path), path)


def parse_vrml(data: bytes, path: Path | None = None) -> Scene:
    """Parse the bytes of a VRML97 file without faults.

    Arguments as for `read_scene`.

    Raises
    ------
    FormatError
        With line and column, when the text does not follow the grammar; `problems` of
        the exception are all that were found.
    """
    return read_scene(data, path).require()


# The first two bytes of gzip: viewers of VRML also open compressed files.
_GZIP = b"\x1f\x8b"
WIDE_BLANK = re.compile(f"[{WIDE_BLANKS}]+")
WIDE_BLANK_OR_TEXT = re.compile(
    f"{STRING_OR_COMMENT.pattern}|({WIDE_BLANK.pattern})", re.DOTALL
)
"""2: characters that look like blanks, outside of strings and comments."""
MAX_BLANK_LINES = 20
"""Lines whose unusual blanks are reported."""


def read_scene(data: bytes, path: Path | None = None) -> ReadResult[Scene]:
    """Parse the bytes of a VRML97 file up to the first fault of its grammar.

    Parameters
    ----------
    data:
        The bytes.
    path:
        Their file: for the locations of problems, and for relative urls.

    Returns
    -------
    The scene; None where the text does not follow the grammar, is in another language,
    or is nested too deep. Fields with wrong values have none: see `Scene.refused`.
    """
    found = Diagnostics(path)
    if data.startswith(_GZIP):
        found.report(
            rules.NOT_VRML97,
            "the file is compressed",
            Location(found.path, 1, 1),
            hint="decompress it with gunzip",
        )
        return ReadResult(None, found.problems)
    try:
        decoded, encoding = decode(data)
        # Old programs end a file with zeros, or with Ctrl-Z, the end of a text of CP/M
        # and DOS.
        text = Text(decoded.rstrip("\0\x1a"), path, encoding)
        if data.startswith(BOM):
            message = "the file begins with a byte order mark"
            found.report(rules.BYTE_ORDER_MARK, message, text.location(0))
        text = _with_plain_blanks(text, found)
        scene = _parse(text, found)
    except FormatError as error:
        found.add(error.problem)
        return ReadResult(None, found.problems, refusal=error.problem)
    scene.problems = found.problems
    # Wrong values do not end the reading, but the file is refused for the first of
    # them.
    faults = {rule.code for rule in rules.GRAMMAR}
    refusal = None
    for problem in scene.problems:
        if problem.rule in faults:
            refusal = problem
            break
    return ReadResult(scene, scene.problems, whole=refusal is None, refusal=refusal)


def _with_plain_blanks(text: Text, found: Diagnostics) -> Text:
    """Return the text with blanks for other characters that look like them.

    They are reported, once in each line. A name may have such a character, between
    letters that are no ASCII; so may strings and comments.
    """
    data = text.data
    # Most files are ASCII: for them nothing is searched.
    if data.isascii() or WIDE_BLANK.search(data) is None:
        return text
    pieces: list[str] = []
    lines: set[int | None] = set()
    done = 0
    for match in WIDE_BLANK_OR_TEXT.finditer(data):
        if match[2] is None:
            continue
        start, end = match.span()
        before = data[max(start - 1, 0) : start]
        after = data[end : end + 1]
        # Between letters of another script the blank is a part of the name.
        if not (before.isascii() or after.isascii()):
            continue
        # As many blanks as characters, so all offsets stay.
        pieces += [data[done:start], " " * (end - start)]
        done = end
        location = text.location(start)
        if location.line not in lines and len(lines) < MAX_BLANK_LINES:
            lines.add(location.line)
            message = f"the character {character_name(data[start])} is used as a blank"
            found.report(BLANK, message, location)
    return text.with_data("".join(pieces) + data[done:])


def _parse(text: Text, found: Diagnostics) -> Scene:
    with _ONE_AT_A_TIME:
        # Python's limit of nested calls is too low for the parser's own limit of depth.
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + MAX_CALLS)
        try:
            return Parser(text, found).scene()
        finally:
            sys.setrecursionlimit(limit)


class InlineLoader(ReferencedFiles):
    """Load the scenes that the scene of a model names; see `ReferencedFiles`."""

    def load(self, node: Node, base_path: Path | None = None) -> Scene | None:
        """Return the scene that an Inline node names; see `load_inline`."""
        return load_inline(node, self, base_path)

    def resolve(self, node: Node, base_path: Path | None = None) -> Path | None:
        """Return the file that a node names; see `resolve_url`."""
        return resolve_url(node, self, base_path)

    def load_proto(self, proto: Proto) -> Proto | None:
        """Return the PROTO that an EXTERNPROTO means; see `load_proto`."""
        return load_proto(proto, self)


def load_inline(
    node: Node, files: ReferencedFiles, base_path: Path | None = None
) -> Scene | None:
    """Return the scene of an Inline node's first url that can be read.

    None where none can, with the reasons in `files.problems`. `base_path` is the file
    that holds the node (by default `node.path`). Two nodes that name one file get the
    same `Scene`.
    """
    holder = base_path or node.path
    return files.load_part(_urls(node), holder, node.location_of("url"), parse_vrml)


def resolve_url(
    node: Node, files: ReferencedFiles, base_path: Path | None = None
) -> Path | None:
    """Return the file that the `url` field of a node (Inline, ImageTexture …) names.

    None where it does not exist, or may not be opened. Look at the suffix first where a
    url may name something else than VRML (`.stl`).
    """
    holder = base_path or node.path
    return files.resolve_urls(_urls(node), holder, node.location_of("url"))


def load_proto(proto: Proto, files: ReferencedFiles) -> Proto | None:
    """Return the PROTO that an EXTERNPROTO means.

    That of its url's #name, else of its own name, else the first one of the file.
    """

    def find_declared(path: Path, url: str, found: Diagnostics) -> Proto | None:
        """Return the PROTO that one url of the EXTERNPROTO means."""
        scene = files.open_part(path, proto.path, proto.location, found, parse_vrml)
        if scene is None:
            return None
        # `parts.wrl#Knob` names a PROTO of the file.
        name = url.partition("#")[2]
        declared = scene.protos.get(name or proto.name)
        # Without a #name, browsers take the first of the file.
        if declared is None and not name:
            declared = next(iter(scene.protos.values()), None)
        if declared is None:
            message = f"{url:.200} declares no PROTO {name or proto.name:.200}"
            found.add(rules.NO_PROTO.problem(message, proto.location))
        elif declared.urls:
            # The file may refer on to another file.
            return load_proto(declared, files)
        return declared

    return files.first_usable(proto.urls, proto.path, proto.location, find_declared)


def _urls(node: Node) -> list[str]:
    urls = node.fields.get("url")
    return [
        url
        for url in (urls if isinstance(urls, list) else [urls])
        if isinstance(url, str)
    ]


def expand(node: Node, files: ReferencedFiles | None = None) -> list[Node]:
    """Return the nodes that an instance of a prototype means.

    The first is drawn, the others only serve it.

    A node that is no instance is returned alone. Nodes of the body without IS are
    shared by all instances; the others are copies, and USE inside of the body still
    gives one and the same node. Where a field has neither value nor default, the body's
    field is left out. An instance inside of the body has its values filled in, and can
    be expanded in turn. `files` loads the body of an EXTERNPROTO; without it, or when
    the body is not found, the list is empty.
    """
    proto = node.proto
    if proto is None:
        return [node]
    # Nested prototypes expand exponentially: the clock bounds the time.
    check_time(node.location)
    if proto.urls and not proto.body:
        if files is not None:
            found = load_proto(proto, files)
        else:
            found = None
        # An EXTERNPROTO has no body: its file must be loaded first.
        if found is None:
            return []
        proto = found
    declared = proto.fields
    done: dict[int, Node] = {}

    def filled(value: Value) -> Value:
        """Return a value with those of the instance in the place of IS.

        `IsReference` where there is none.
        """
        if isinstance(value, Node):
            return copied(value)
        if isinstance(value, list):
            items: list[Any] = [
                copied(item) if isinstance(item, Node) else item for item in value
            ]
            # Unchanged lists are shared by all instances, and marked as unchanged by
            # identity.
            if all(map(operator.is_, items, value)):
                return value
            return items
        if not isinstance(value, IsReference):
            return value
        if value.name in node.fields:
            return node.fields[value.name]
        field = declared.get(value.name)
        # An event cannot give a value.
        if field is None or field.access in ("eventIn", "eventOut"):
            return value
        return field.value

    def copied(part: Node) -> Node:
        """Return a node of the body with values of the instance."""
        if id(part) not in done:
            fields = {name: filled(value) for name, value in part.fields.items()}
            # A node that nothing in it changes is shared, so memory does not grow with
            # the number of instances.
            changed = any(
                fields[name] is not value or isinstance(value, IsReference)
                for name, value in part.fields.items()
            )
            # References without a value: the inner field then has its own default.
            fields = {
                name: value
                for name, value in fields.items()
                if not isinstance(value, IsReference)
            }
            done[id(part)] = replace(part, fields=fields) if changed else part
        return done[id(part)]

    return [copied(part) for part in proto.body]


def instance_of(node: Node, files: ReferencedFiles | None = None) -> Node | None:
    """Return the node that an instance means, also through several prototypes.

    None when there is none.

    A node that is no instance is returned as it is.
    """
    return PrototypeBodies(files)(node)


class PrototypeBodies:
    """Returns the node that an instance of a prototype means, the first in its body.

    Each is expanded once.
    """

    def __init__(self, files: ReferencedFiles | None) -> None:
        self.files = files
        self._known: dict[int, tuple[Node, Node | None]] = {}

    def __call__(self, node: Node | None) -> Node | None:
        """Return the node that an instance means, also through several prototypes.

        None where there is none.
        """
        while node is not None and node.proto is not None:
            node = self.inside(node)
        return node

    def inside(self, node: Node) -> Node | None:
        """Return the first node in the body of an instance.

        It may be an instance itself.

        Where it has no name, it gets that of the instance.
        """
        if id(node) not in self._known:
            # The first node decides the type of an instance (ISO/IEC 14772-1, 4.8.3).
            found = next(iter(expand(node, self.files)), None)
            if found is not None and node.name and not found.name:
                found = replace(found, name=node.name)
            self._known[id(node)] = (node, found)
        return self._known[id(node)][1]
