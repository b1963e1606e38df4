"""Read a VRML97 file: from its bytes to its scene, with all problems; and what the scene refers to.

A scene refers to other files (Inline, EXTERNPROTO), each parsed once, and to the bodies of prototypes. Which files may be opened is decided
by `bodymotion.formats.resources`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bodymotion.diagnostics import Diagnostics, FormatError, Location, Problem, ReadResult, Subject
from bodymotion.formats.resources import NotFound, ResourceFinder, file_bytes
from bodymotion.formats.text.source_text import BOM, Text, decode
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.nodes import IsReference, Node, Proto, Scene, Value
from bodymotion.formats.vrml.parser import MAX_CALLS, MAX_SIZE, Parser
from bodymotion.formats.vrml.recovery import OpenStringsError


def read_vrml(path: str | Path) -> Scene:
    """Read a VRML97 file without faults; its Inline parts are read by an `InlineLoader`.

    Raises
    ------
    FormatError
        With line and column, when the text does not follow the grammar; VRML100 when the file cannot be opened.
    """
    path = Path(path)
    return parse_vrml(file_bytes(path, rules.UNREADABLE), path)


def parse_vrml(data: bytes, path: Path | None = None) -> Scene:
    """Parse the bytes of a VRML97 file without faults; arguments as for `read_scene`.

    Raises
    ------
    FormatError
        With line and column, when the text does not follow the grammar; `problems` of the exception are all that were found.
    """
    return read_scene(data, path).require()


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
        scene, found = _parsed(text, data.startswith(BOM))
    except FormatError as error:
        return ReadResult(None, error.problems)
    scene.problems = found.problems
    faults = {rule.code for rule in rules.GRAMMAR}
    refusal = next((problem for problem in scene.problems if problem.rule in faults), None)
    return ReadResult(scene, scene.problems, whole=refusal is None, refusal=refusal)


def _parsed(text: Text, has_mark: bool) -> tuple[Scene, Diagnostics]:
    begins: list[int] = []
    while True:
        found = Diagnostics(text.path)
        if has_mark:
            found.report(rules.BYTE_ORDER_MARK, "the file begins with a byte order mark", text.location(0))
        try:
            try:
                return Parser(text, found, begins).scene(), found
            except RecursionError:
                # Python's limit of nested calls is too low for the parser's own limit of depth.
                found = Diagnostics(text.path)
                with _ONE_AT_A_TIME:
                    limit = sys.getrecursionlimit()
                    sys.setrecursionlimit(limit + MAX_CALLS)
                    try:
                        return Parser(text, found, begins).scene(), found
                    finally:
                        sys.setrecursionlimit(limit)
        except OpenStringsError as strings:
            text, begins = strings.text, strings.begins
        except FormatError as error:
            found.add(error.problem)
            raise FormatError(error.problem, found.problems) from None


_ONE_AT_A_TIME = threading.Lock()
"""The limit holds for all threads: two that set it back in turn would leave it too high."""


MAX_NESTING = 64
"""Files that are parts of each other."""


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
        The location of each url where it is named first: images, and files that other formats name.
    """

    def __init__(
        self, root_folder: str | Path | ResourceFinder, allow_outside: bool | None = None, *, model: Path | None = None
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
        self._num_parts = 0
        self._checked: dict[tuple[Path, Path], int] = {}
        """Files and parts of theirs that are neither circular nor nested too deep, with the `_num_parts` for which that is known."""
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
        """Return the scene of an Inline node's first url that can be read; None where none can, with the reasons in `problems`.

        `base_path` is the file that holds the node (usually `node.path`, which is the default). Two nodes that name one file get the
        same `Scene`.
        """
        location = node.location_of("url")
        holder = base_path or node.path
        found = Diagnostics()
        for path in self._paths(_urls(node), holder, location, found):
            scene = self._open(path, holder, location, found)
            if scene is not None:
                return scene
        self.found.extend(found.problems)
        return None

    def resolve(self, node: Node, base_path: Path | None = None) -> Path | None:
        """Return the file that the `url` field of a node (Inline, ImageTexture …) names, if it exists and may be opened.

        Look at the suffix first where a url may name something else than VRML (`.stl`).
        """
        return self.resolve_urls(_urls(node), base_path or node.path, node.location_of("url"))

    def resolve_urls(self, urls: list[str], base_path: Path | None, location: Location) -> Path | None:
        """Return the first file of `urls` that exists and may be opened; None where there is none, with the reasons in `problems`."""
        found = Diagnostics()
        for url in urls:
            self.urls.setdefault(url, location)
        for path in self._paths(urls, base_path, location, found):
            return path
        self.found.extend(found.problems)
        return None

    def load_proto(self, proto: Proto) -> Proto | None:
        """Return the PROTO that an EXTERNPROTO means: that of its url's #name, else of its own name, else the file's first."""
        found = Diagnostics()
        for url in proto.urls:
            for path in self._paths([url], proto.path, proto.location, found):
                scene = self._open(path, proto.path, proto.location, found)
                if scene is None:
                    continue
                name = url.partition("#")[2]
                declared = scene.protos.get(name or proto.name)
                if declared is None and not name:
                    declared = next(iter(scene.protos.values()), None)
                if declared is not None:
                    return self.load_proto(declared) if declared.urls else declared
                wanted = name or proto.name
                found.add(rules.NO_PROTO.problem(f"{url:.200} declares no PROTO {wanted:.200}", proto.location))
        self.found.extend(found.problems)
        return None

    def _paths(
        self, urls: Iterable[str], holder: Path | None, location: Location, found: Diagnostics
    ) -> Iterator[Path]:
        """Yield those files of `urls` that exist and may be opened; the problems of the others are added to `found`."""
        any_url = False
        for url in urls:
            any_url = True
            path = self.finder.find_one(url, holder)
            if isinstance(path, Path):
                yield path
            else:
                found.add(path.problem(location))
        if not any_url:
            found.add(rules.PART_MISSING.problem("no url is given", location))

    def _open(self, path: Path, holder: Path | None, location: Location, found: Diagnostics) -> Scene | None:
        base = self.finder.root / "-" if holder is None else self.finder.resolved(holder)[0]
        if self._size > MAX_SIZE:
            return None  # reported already
        if self._checked.get((base, path)) != self._num_parts:
            if base == path or base in self._below(path):
                found.add(rules.PART_CYCLE.problem(f"{path.name} contains itself", location))
                return None
            if path not in self._parts.setdefault(base, set()):
                self._parts[base].add(path)
                self._num_parts += 1
            level, above = 0, {base}
            while above:
                level += 1
                above = {whole for whole, parts in self._parts.items() if parts & above}
            if level > MAX_NESTING:
                found.add(rules.PART_LIMIT.problem(f"{path.name} is nested more than {MAX_NESTING} deep", location))
                return None
            self._checked[base, path] = self._num_parts
        if path not in self._scenes:
            self._scenes[path] = self._read(path, location, found)
        scene = self._scenes[path]
        if scene is not None:
            self._size += scene.size + 1
            if self._size > MAX_SIZE:
                words = f"with {path.name}, the model has more than {MAX_SIZE} nodes"
                found.add(rules.PART_LIMIT.problem(words, location))
                return None
        return scene

    def _read(self, path: Path, location: Location, found: Diagnostics) -> Scene | None:
        data = self.finder.read(path)
        if isinstance(data, NotFound):
            found.add(data.problem(location))
            return None
        try:
            scene = parse_vrml(data, path)
        except FormatError as error:
            # Why the part is left out; the other problems in it do not matter then.
            found.extend([error.problem, rules.PART_UNREADABLE.problem(f"{path.name} is left out", location)])
            return None
        self.found.extend(scene.problems)
        return scene

    def _below(self, path: Path) -> set[Path]:
        """Return all files that a file contains, as far as they have been loaded."""
        below: set[Path] = set()
        todo = [path]
        while todo:
            for part in self._parts.get(todo.pop(), ()):
                if part not in below:
                    below.add(part)
                    todo.append(part)
        return below


def _urls(node: Node) -> list[str]:
    urls = node.fields.get("url")
    return [url for url in (urls if isinstance(urls, list) else [urls]) if isinstance(url, str)]


def expand(node: Node, loader: InlineLoader | None = None) -> list[Node]:
    """Return the nodes that an instance of a prototype means; the first is drawn, the others only serve it.

    A node that is no instance is returned alone. Nodes of the body without IS are shared by all instances; the others are copies, and USE
    inside of the body still gives one and the same node. Where a field has neither value nor default, the body's field is left out. An
    instance inside of the body has its values filled in, and can be expanded in turn. `loader` loads the body of an EXTERNPROTO; without
    it, or when the body is not found, the list is empty.
    """
    proto = node.proto
    if proto is None:
        return [node]
    if proto.urls and not proto.body:
        found = loader.load_proto(proto) if loader is not None else None
        if found is None:
            return []
        proto = found
    copy = _Copy(node, proto)
    return [copy.node(part) for part in proto.body]


def instance_of(node: Node, loader: InlineLoader | None = None) -> Node | None:
    """Return the node that an instance of a prototype means, also through several prototypes; None when there is none.

    A node that is no instance is returned as it is.
    """
    found: Node | None = node
    while found is not None and found.proto is not None:
        found = next(iter(expand(found, loader)), None)
    return found


class _Copy:
    """One pass over the body of a prototype for one instance."""

    def __init__(self, instance: Node, proto: Proto) -> None:
        self.instance = instance
        self.proto = proto
        self.done: dict[int, Node] = {}

    def node(self, node: Node) -> Node:
        """Copy a node with all below it, unless there is no IS in it."""
        known = self.done.get(id(node))
        if known is not None:
            return known
        fields: dict[str, Value] = {}
        changed = False
        for name, value in node.fields.items():
            new: Value = value
            if isinstance(value, IsReference):
                changed = True
                given = self.value(value.name)
                if given is None:
                    continue
                new = given[0]
            elif isinstance(value, Node):
                new = self.node(value)
                changed = changed or new is not value
            elif isinstance(value, list):
                copies: list[Any] = []
                for item in value:
                    copies.append(self.node(item) if isinstance(item, Node) else item)
                    changed = changed or copies[-1] is not item
                new = copies
            fields[name] = new
        result = replace(node, fields=fields) if changed else node
        self.done[id(node)] = result
        return result

    def value(self, name: str) -> tuple[Value] | None:
        """Return the value of a field of the interface; None for an event and for a name that the interface does not have."""
        if name in self.instance.fields:
            value = self.instance.fields[name]
            return None if isinstance(value, IsReference) else (value,)
        declared = self.proto.fields.get(name)
        if declared is None or declared.access in ("eventIn", "eventOut"):
            return None
        return (declared.value,)
