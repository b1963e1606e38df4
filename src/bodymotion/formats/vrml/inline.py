"""Files that a file names: Inline, EXTERNPROTO, textures; which of them may be opened, and their scenes, each parsed once.

The model's folder tree is the folder of the model file (the one that the loader is made for) with all below it, symbolic links
followed. A url starts from the folder of the file that holds it and may go up with `..` as long as it stays in that tree: so
`RH2/parts/PanTilt/x.wrl` may name `../sensor/y.wrl` when `RH2/robot.wrl` is the model, but not when it is opened as a model itself;
`allow_outside=True` lifts this. Absolute paths and network addresses are never opened.

A model may be installed as symbolic links to its files. Then the folder of the file that the model's link leads to is in the tree as
well, and a url starts from the folder of the link, or else from that of the file behind it.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from bodymotion.diagnostics import FormatError, Location, Problem, Rule
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.nodes import Node, Proto, Scene
from bodymotion.formats.vrml.parser import MAX_SIZE
from bodymotion.formats.vrml.reader import parse_vrml

__all__ = ["LIES_OUTSIDE", "OUTSIDE", "InlineLoader"]

LIES_OUTSIDE = "lies outside of the folder of the model and is left out: --allow-outside reads it"
OUTSIDE = rules.PART_OUTSIDE.hint
"""What to do about a file that lies outside."""

MAX_BYTES = 2 * 10**9
MAX_NESTING = 64
MAX_LINKS = 8
"""So many links to one part are looked at for what stands beside them."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\]")


class InlineLoader:
    """Loads the parts of one model.

    Parameters
    ----------
    root_folder:
        The folder of the model file.
    allow_outside:
        Open files outside that folder as well.
    model:
        The model file, if it may be a symbolic link: the folder of the file that it leads to counts as well.

    Attributes
    ----------
    problems:
        Everything met: parts that are missing or not opened, and the problems inside of parts, each once.
    """

    def __init__(self, root_folder: str | Path, allow_outside: bool = False, *, model: Path | None = None) -> None:
        self._root_folder, self._model = Path(root_folder), model
        self.allow_outside = allow_outside
        self.problems: list[Problem] = []
        self._scenes: dict[Path, Scene | None] = {}
        self._parts: dict[Path, set[Path]] = {}
        self._found: dict[tuple[tuple[Path, ...], str], Path] = {}
        self._real: dict[Path, tuple[Path, Path]] = {}
        self._links: dict[Path, list[Path]] = {}
        """Of a part that was reached by symbolic links: their folders."""
        self._settled: dict[tuple[Path, Path], int] = {}
        """Files and parts of theirs that neither go in circles nor lie too deep, as long as no more than so many pairs are known."""
        self._links_known = 0
        self._bytes = 0
        self._size = 0

    @cached_property
    def root(self) -> Path:
        """The folder of the model file, without symbolic links."""
        return _real(self._root_folder)

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The folders whose trees hold what may be opened."""
        return (self.root,) if self._model is None else (self.root, _real(self._model).parent)

    @property
    def files(self) -> tuple[Path, ...]:
        """The parts that have been read."""
        return tuple(path for path, scene in self._scenes.items() if scene is not None)

    def load(self, node: Node, base_path: Path | None = None) -> Scene | None:
        """Return the scene of an Inline node's first url that works; None when none does, with the reasons in `problems`.

        `base_path` is the file that holds the node (as a rule `node.path`, which is taken when it is None). Two nodes that name one file
        get the same `Scene`.
        """
        location = node.location_of("url")
        holder = base_path or node.path
        met: list[Problem] = []
        for path in self._paths(_urls(node), holder, location, met):
            scene = self._open(path, holder, location, met)
            if scene is not None:
                return scene
        self.problems += met
        return None

    def resolve(self, node: Node, base_path: Path | None = None) -> Path | None:
        """Return the file that the `url` field of a node (Inline, ImageTexture …) names, if it exists and may be opened.

        Look at the suffix first where a url may name something else than VRML (`.stl`).
        """
        return self.resolve_urls(_urls(node), base_path or node.path, node.location_of("url"))

    def resolve_urls(self, urls: list[str], base_path: Path | None, location: Location) -> Path | None:
        """Return the first file of `urls` that exists and may be opened; None when there is none, with the reasons in `problems`."""
        met: list[Problem] = []
        for path in self._paths(urls, base_path, location, met):
            return path
        self.problems += met
        return None

    def load_proto(self, proto: Proto) -> Proto | None:
        """Return the PROTO that an EXTERNPROTO means: that of its url's #name, else of its own name, else the file's first."""
        met: list[Problem] = []
        for url in proto.urls:
            for path in self._paths([url], proto.path, proto.location, met):
                scene = self._open(path, proto.path, proto.location, met)
                if scene is None:
                    continue
                name = url.partition("#")[2]
                found = scene.protos.get(name or proto.name)
                if found is None and not name:
                    found = next(iter(scene.protos.values()), None)
                if found is not None:
                    return self.load_proto(found) if found.urls else found
                met.append(
                    rules.NO_PROTO.problem(f"{_shown(url)} declares no PROTO {name or proto.name}", proto.location)
                )
        self.problems += met
        return None

    def folders(self, holder: Path | None) -> tuple[Path, ...]:
        """Return the folders, without symbolic links, where urls in a file start: that where it was found, and that where it is.

        They are one, but for a file that was opened by a symbolic link. None stands for a text that comes from no file.
        """
        if holder is None:
            return (self.root,)
        real, folder = self._resolved(holder)
        if real.parent == folder and real not in self._links:
            return (folder,)
        return tuple(dict.fromkeys((*self._links.get(real, ()), folder, real.parent)))

    def _resolved(self, path: Path) -> tuple[Path, Path]:
        """Return a path without symbolic links, and the folder where it was found, without them too."""
        if path not in self._real:
            self._real[path] = _real(path), _real(path.parent)
        return self._real[path]

    def _paths(
        self, urls: Iterable[str], holder: Path | None, location: Location, met: list[Problem]
    ) -> Iterator[Path]:
        """Return those files of `urls` that exist and may be opened; what is wrong with the others goes to `met`."""
        url = None
        folders = self.folders(holder)
        for url in urls:
            path = self._found.get((folders, url)) or self._find(url, folders)
            if isinstance(path, Path):
                self._found[folders, url] = path
                yield path
            else:
                rule, words = path
                met.append(rule.problem(f"{_shown(url)} {words}", location))
        if url is None:
            met.append(rules.PART_MISSING.problem("no url is given", location))

    def _find(self, url: str, folders: tuple[Path, ...]) -> Path | tuple[Rule, str]:
        if _ADDRESS.match(url):
            return rules.PART_REMOTE, "is not opened"
        plain = url.partition("#")[0]
        names = dict.fromkeys((url, plain, plain.replace("\\", "/"), unquote(plain)))
        outside = False
        for given in (folder / name for folder in folders for name in names):
            try:
                path = given.resolve()
                regular = stat.S_ISREG(path.stat().st_mode)
            except (OSError, ValueError, RuntimeError):
                continue
            if not self.allow_outside and not any(map(path.is_relative_to, self.roots)):
                outside = True
            elif regular:
                if given != path:
                    self._note_link(given, path)
                return path
        if outside:
            return rules.PART_OUTSIDE, LIES_OUTSIDE
        return rules.PART_MISSING, "is missing"

    def _note_link(self, given: Path, path: Path) -> None:
        """Keep the folder of a link to a part: that is where the part's own urls start."""
        folder = _real(given.parent)
        if folder != path.parent:
            links = self._links.setdefault(path, [])
            if folder not in links and len(links) < MAX_LINKS:
                links.append(folder)

    def _open(self, path: Path, holder: Path | None, location: Location, met: list[Problem]) -> Scene | None:
        base = self.root / "-" if holder is None else self._resolved(holder)[0]
        if self._size > MAX_SIZE:
            return None  # said already
        if self._settled.get((base, path)) != self._links_known:
            if base == path or base in self._below(path):
                met.append(rules.PART_CYCLE.problem(f"{path.name} contains itself", location))
                return None
            if path not in self._parts.setdefault(base, set()):
                self._parts[base].add(path)
                self._links_known += 1
            if self._nesting(base) > MAX_NESTING:
                met.append(rules.PART_LIMIT.problem(f"{path.name} is nested too deep", location))
                return None
            self._settled[base, path] = self._links_known
        if path not in self._scenes:
            self._scenes[path] = self._read(path, location, met)
        scene = self._scenes[path]
        if scene is not None:
            self._size += scene.size + 1
            if self._size > MAX_SIZE:
                met.append(rules.PART_LIMIT.problem(f"{path.name} makes it too many nodes", location))
                return None
        return scene

    def _read(self, path: Path, location: Location, met: list[Problem]) -> Scene | None:
        try:
            self._bytes += path.stat().st_size
            if self._bytes > MAX_BYTES:
                met.append(rules.PART_LIMIT.problem(f"{path.name} makes it too many bytes", location))
                return None
            scene = parse_vrml(path.read_bytes(), path)
        except OSError as error:
            met.append(rules.PART_UNREADABLE.problem(f"{path.name}: {error.strerror}", location))
            return None
        except FormatError as error:
            met += [error.problem, rules.PART_UNREADABLE.problem(f"{path.name} is left out", location)]
            return None
        self.problems += scene.problems
        return scene

    def _below(self, path: Path) -> set[Path]:
        """All files that a file contains, as far as they have been asked for."""
        below: set[Path] = set()
        todo = [path]
        while todo:
            for part in self._parts.get(todo.pop(), ()):
                if part not in below:
                    below.add(part)
                    todo.append(part)
        return below

    def _nesting(self, path: Path) -> int:
        """How many files lie one in the other above `path`, itself counted."""
        level, above = 0, {path}
        while above:
            level += 1
            above = {whole for whole, parts in self._parts.items() if parts & above}
        return level


def _urls(node: Node) -> list[str]:
    urls = node.fields.get("url")
    return [url for url in (urls if isinstance(urls, list) else [urls]) if isinstance(url, str)]


def _shown(url: str) -> str:
    return url if len(url) < 200 else url[:200] + "…"


def _real(path: Path) -> Path:
    """Return a path without symbolic links, as it stands where they lead in circles."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()
