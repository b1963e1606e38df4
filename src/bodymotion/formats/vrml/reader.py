"""Read a VRML97 file.

From its bytes to its scene, with all problems; and what the scene refers to.

A scene refers to other files (Inline, EXTERNPROTO), each parsed once, and to the bodies
of prototypes. Which files may be opened is decided by `bodymotion.formats.resources`.
"""

import operator
import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Problem,
    ReadResult,
    Subject,
)
from bodymotion.diagnostics.spelling import WIDE_BLANKS, character_name
from bodymotion.formats.limits import check_time
from bodymotion.formats.resources import (
    PART_LIMIT,
    PART_MISSING,
    PART_UNREADABLE,
    NotFound,
    ResourceFinder,
    file_bytes,
)
from bodymotion.formats.rules import BLANK
from bodymotion.formats.text import BOM, Text, decode
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.nodes import IsReference, Node, Proto, Scene, Value
from bodymotion.formats.vrml.parser import MAX_CALLS, MAX_SIZE, Parser
from bodymotion.formats.vrml.recovery import OpenStringsError
from bodymotion.formats.vrml.values import STRING_OR_COMMENT

_ONE_AT_A_TIME = threading.Lock()
"""The limit holds for all threads.

Two that set it back in turn would leave it too high.
"""

MAX_NESTING = 64  # Files that are parts of each other.
MAX_REFERENCES = 2000
"""Pairs of a file and one that it names, also those that are refused.

Real models have fewer than 100.
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


WIDE_BLANK = re.compile(f"[{WIDE_BLANKS}]+")
WIDE_BLANK_OR_TEXT = re.compile(
    f"{STRING_OR_COMMENT.pattern}|({WIDE_BLANK.pattern})", re.DOTALL
)
"""2: characters that look like blanks, outside of strings and comments."""
MAX_BLANK_LINES = 20
"""Lines whose unusual blanks are reported."""


def read_scene(data: bytes, path: Path | None = None) -> ReadResult[Scene]:
    """Parse the bytes of a VRML97 file; go on after faults.

    Parameters
    ----------
    data:
        The bytes.
    path:
        Their file: for the locations of problems, and for relative urls.

    Returns
    -------
    The scene, whole where the text follows the grammar; else partial, with what is
    incomplete in its `damage`. None where the file is in another language, or nested
    too deep.
    """
    found = Diagnostics(path)
    try:
        if data[:2] == b"\x1f\x8b":
            location = Location(str(path) if path else None, 1, 1)
            raise rules.NOT_VRML97.error(
                "the file is compressed", location, "decompress it with gunzip"
            )
        decoded, encoding = decode(data)
        text = Text(decoded.rstrip("\0\x1a"), path, encoding)
        text, blanks = _with_plain_blanks(text)
        scene, found = _parsed(text, data.startswith(BOM), blanks)
    except FormatError as error:
        return ReadResult(None, error.problems)
    scene.problems = found.problems
    faults = {rule.code for rule in rules.GRAMMAR}
    refusal = next(
        (problem for problem in scene.problems if problem.rule in faults), None
    )
    return ReadResult(scene, scene.problems, whole=refusal is None, refusal=refusal)


def _with_plain_blanks(text: Text) -> tuple[Text, dict[int, str]]:
    """Return the text with blanks for other characters that look like them, and their names by their offsets, one of each line.

    A name may have such a character, between letters that are no ASCII; so may strings
    and comments.
    """
    data = text.data
    if data.isascii() or WIDE_BLANK.search(data) is None:
        return text, {}
    pieces: list[str] = []
    blanks: dict[int, str] = {}
    lines: set[int | None] = set()
    done = 0
    for match in WIDE_BLANK_OR_TEXT.finditer(data):
        start, end = match.span()
        around = data[max(start - 1, 0) : start], data[end : end + 1]
        if match[2] is None or not any(one.isascii() for one in around):
            continue
        pieces += [data[done:start], " " * (end - start)]
        done = end
        line = text.location(start).line
        if line not in lines and len(lines) < MAX_BLANK_LINES:
            lines.add(line)
            blanks[start] = character_name(data[start])
    return text.with_data("".join(pieces) + data[done:]), blanks


def _parsed(
    text: Text, has_mark: bool, blanks: dict[int, str]
) -> tuple[Scene, Diagnostics]:
    begins: list[int] = []
    while True:
        found = Diagnostics(text.path)
        if has_mark:
            found.report(
                rules.BYTE_ORDER_MARK,
                "the file begins with a byte order mark",
                text.location(0),
            )
        for offset, name in blanks.items():
            message = f"the character {name} is used as a blank"
            found.report(BLANK, message, text.location(offset))
        try:
            with _ONE_AT_A_TIME:
                # Python's limit of nested calls is too low for the parser's own limit
                # of depth.
                limit = sys.getrecursionlimit()
                sys.setrecursionlimit(limit + MAX_CALLS)
                try:
                    return Parser(text, found, begins).scene(), found
                finally:
                    sys.setrecursionlimit(limit)
        except OpenStringsError as strings:
            text = strings.text
            begins = strings.begins
        except FormatError as error:
            found.add(error.problem)
            raise FormatError(error.problem, found.problems) from None


Used = TypeVar("Used")


class InlineLoader:
    """Load the scenes that the scene of a model names.

    Parameters
    ----------
    root_folder:
        The folder of the model file, or the finder of the model's files.
    allow_outside, model:
        Arguments of the `ResourceFinder` that is made where a folder is given.

    Attributes
    ----------
    finder:
        Finds the files.
    users:
        By the path of a part, the subject that it was read for first.
    urls:
        The location of each url where it is named first: images, and files that other
        formats name.
    """

    def __init__(
        self,
        root_folder: str | Path | ResourceFinder,
        allow_outside: bool | None = None,
        *,
        model: Path | None = None,
    ) -> None:
        if not isinstance(root_folder, ResourceFinder):
            root_folder = ResourceFinder(root_folder, allow_outside, model=model)
        self.finder = root_folder
        self.found = Diagnostics()
        self.urls: dict[str, Location] = {}
        self.users: dict[str, Subject] = {}
        self._scenes: dict[Path, Scene | None] = {}
        self._parts: dict[Path, set[Path]] = {}
        """Of each file the files that it names."""
        self._levels: dict[Path, int] = {}
        """Of each file the number of files around it."""
        self._num_references = 0
        self._size = 0

    @property
    def files(self) -> tuple[Path, ...]:
        """The parts that have been read."""
        return tuple(path for path, scene in self._scenes.items() if scene is not None)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Files that are missing or not opened, and the problems inside of parts, each once."""
        return self.found.problems

    def load(self, node: Node, base_path: Path | None = None) -> Scene | None:
        """Return the scene of an Inline node's first url that can be read.

        None where none can, with the reasons in `problems`.

        `base_path` is the file that holds the node (usually `node.path`, which is the
        default). Two nodes that name one file get the
        same `Scene`.
        """
        location = node.location_of("url")
        holder = base_path or node.path
        return self._first(
            _urls(node),
            holder,
            location,
            lambda path, _, found: self._open(path, holder, location, found),
        )

    def resolve(self, node: Node, base_path: Path | None = None) -> Path | None:
        """Return the file that the `url` field of a node (Inline, ImageTexture …) names, if it exists and may be opened.

        Look at the suffix first where a url may name something else than VRML (`.stl`).
        """
        return self.resolve_urls(
            _urls(node), base_path or node.path, node.location_of("url")
        )

    def resolve_urls(
        self, urls: list[str], base_path: Path | None, location: Location
    ) -> Path | None:
        """Return the first file of `urls` that exists and may be opened.

        None where there is none, with the reasons in `problems`.
        """
        for url in urls:
            self.urls.setdefault(url, location)
        return self._first(urls, base_path, location, lambda path, *_: path)

    def load_proto(self, proto: Proto) -> Proto | None:
        """Return the PROTO that an EXTERNPROTO means.

        That of its url's #name, else of its own name, else the file's first.
        """

        def declared(path: Path, url: str, found: Diagnostics) -> Proto | None:
            scene = self._open(path, proto.path, proto.location, found)
            if scene is None:
                return None
            name = url.partition("#")[2]
            meant = scene.protos.get(name or proto.name)
            if meant is None and not name:
                meant = next(iter(scene.protos.values()), None)
            if meant is None:
                message = f"{url:.200} declares no PROTO {name or proto.name:.200}"
                found.add(rules.NO_PROTO.problem(message, proto.location))
            if meant is not None and meant.urls:
                return self.load_proto(meant)
            return meant

        return self._first(proto.urls, proto.path, proto.location, declared)

    def _first(
        self,
        urls: Sequence[str],
        holder: Path | None,
        location: Location,
        use: Callable[[Path, str, Diagnostics], Used | None],
    ) -> Used | None:
        """Return what `use` makes of the first file of `urls` that it can use.

        None where there is none, with the reasons in `problems`.
        """
        found = Diagnostics()
        for url in urls:
            path = self.finder.find_one(url, holder)
            if isinstance(path, NotFound):
                found.add(path.problem(location))
            elif (used := use(path, url, found)) is not None:
                return used
        if not urls:
            found.add(PART_MISSING.problem("there is no url", location))
        self.found.extend(found.problems)
        return None

    def _open(
        self, path: Path, holder: Path | None, location: Location, found: Diagnostics
    ) -> Scene | None:
        if holder is None:
            base = self.finder.root / "-"
        else:
            base = self.finder.resolved(holder)[0]
        if self._size > MAX_SIZE or self._num_references > MAX_REFERENCES:
            return None  # reported already
        if path not in self._parts.setdefault(base, set()):
            refusal = self._refusal(base, path, location)
            if refusal is not None:
                found.add(refusal)
                return None
            self._parts[base].add(path)
            self._lower(base)
        if path not in self._scenes:
            self._scenes[path] = self._read(path, location, found)
        scene = self._scenes[path]
        if scene is not None:
            self._size += scene.size + 1
            if self._size > MAX_SIZE:
                words = f"with {path.name}, the model has more than {MAX_SIZE} nodes"
                found.add(PART_LIMIT.problem(words, location))
                return None
        return scene

    def _refusal(self, base: Path, path: Path, location: Location) -> Problem | None:
        """Return why a file may not name another one.

        None where it may.
        """
        self._num_references += 1
        if self._num_references > MAX_REFERENCES:
            message = f"the files name each other more than {MAX_REFERENCES} times"
            data = {"found": self._num_references, "limit": MAX_REFERENCES}
            return PART_LIMIT.problem(message, location, data=data)
        if path == base or base in self._below(path):
            return rules.PART_CYCLE.problem(f"{path.name} contains itself", location)
        if self._levels.get(base, 0) + self._height(path, {}) >= MAX_NESTING:
            message = f"{path.name} is nested more than {MAX_NESTING} deep"
            return PART_LIMIT.problem(message, location)
        return None

    def _below(self, path: Path) -> set[Path]:
        """Return the files that a file names, and those that these name."""
        below: set[Path] = set()
        waiting = [path]
        while waiting:
            new = self._parts.get(waiting.pop(), set()) - below
            below |= new
            waiting += new
        return below

    def _height(self, path: Path, heights: dict[Path, int]) -> int:
        """Return how many levels of files are below a file, at most MAX_NESTING.

        `heights` holds what is known.
        """
        if path not in heights:
            parts = self._parts.get(path, ())
            below = (1 + self._height(part, heights) for part in parts)
            heights[path] = max(below, default=0)
        return heights[path]

    def _lower(self, base: Path) -> None:
        """Set the levels of the files below a file.

        That of a part is larger than those of all files that name it.
        """
        waiting = [base]
        while waiting:
            holder = waiting.pop()
            level = self._levels.get(holder, 0) + 1
            for part in self._parts.get(holder, ()):
                if self._levels.get(part, 0) < level:
                    self._levels[part] = level
                    waiting.append(part)

    def _read(self, path: Path, location: Location, found: Diagnostics) -> Scene | None:
        data = self.finder.read(path)
        if isinstance(data, NotFound):
            found.add(data.problem(location))
            return None
        try:
            scene = parse_vrml(data, path)
        except FormatError as error:
            # Why the part is left out; the other problems in it do not matter then.
            found.extend(
                [
                    error.problem,
                    PART_UNREADABLE.problem(f"{path.name} is left out", location),
                ]
            )
            return None
        self.found.extend(scene.problems)
        return scene


def _urls(node: Node) -> list[str]:
    urls = node.fields.get("url")
    return [
        url
        for url in (urls if isinstance(urls, list) else [urls])
        if isinstance(url, str)
    ]


def expand(node: Node, loader: InlineLoader | None = None) -> list[Node]:
    """Return the nodes that an instance of a prototype means.

    The first is drawn, the others only serve it.

    A node that is no instance is returned alone. Nodes of the body without IS are
    shared by all instances; the others are copies, and USE inside of the body still
    gives one and the same node. Where a field has neither value nor default, the body's
    field is left out. An instance inside of the body has its values filled in, and can
    be expanded in turn. `loader` loads the body of an EXTERNPROTO; without it, or when
    the body is not found, the list is empty.
    """
    proto = node.proto
    if proto is None:
        return [node]
    check_time(node.location)
    if proto.urls and not proto.body:
        if loader is not None:
            found = loader.load_proto(proto)
        else:
            found = None
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
            if all(map(operator.is_, items, value)):
                return value
            return items
        if not isinstance(value, IsReference):
            return value
        if value.name in node.fields:
            return node.fields[value.name]
        field = declared.get(value.name)
        if field is None or field.access in ("eventIn", "eventOut"):
            return value
        return field.value

    def copied(part: Node) -> Node:
        if id(part) not in done:
            fields = {name: filled(value) for name, value in part.fields.items()}
            changed = any(
                fields[name] is not value or isinstance(value, IsReference)
                for name, value in part.fields.items()
            )
            fields = {
                name: value
                for name, value in fields.items()
                if not isinstance(value, IsReference)
            }
            done[id(part)] = replace(part, fields=fields) if changed else part
        return done[id(part)]

    return [copied(part) for part in proto.body]


def instance_of(node: Node, loader: InlineLoader | None = None) -> Node | None:
    """Return the node that an instance of a prototype means, also through several prototypes.

    None when there is none.

    A node that is no instance is returned as it is.
    """
    return PrototypeBodies(loader)(node)


class PrototypeBodies:
    """Returns the node that an instance of a prototype means, the first in its body.

    Each is expanded once.
    """

    def __init__(self, loader: InlineLoader | None) -> None:
        self.loader = loader
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
            found = next(iter(expand(node, self.loader)), None)
            if found is not None and node.name and not found.name:
                found = replace(found, name=node.name)
            self._known[id(node)] = (node, found)
        return self._known[id(node)][1]
