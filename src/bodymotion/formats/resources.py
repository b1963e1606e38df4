"""The files that a model names.

Meshes, images, Inline parts, included files. `ResourceFinder` finds them and decides
which may be opened.

A name is a path relative to the folder of the file that has the name in it. What is
opened depends on `allow_outside`:

- None, for a model of the user: relative paths, which may go up with `..`. A symbolic
  link must not lead out of the folder that the path
  names, unless it leads into the folder of the model. An absolute path must be in that
  folder.
- False, for untrusted files: only what is in the folder of the model or below it,
  symbolic links followed.
- True: everything but network addresses, which are never opened.

A model may be installed as symbolic links to its files. Then the tree of the folder
that the model's link leads to may be opened as well, and names are relative to the
folder of the link first, then to that of the file behind it.

ROS models name files as `package://NAME/path` too: `PackageFinder`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast
from urllib.parse import unquote

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    MissingFileError,
    Problem,
    Rule,
    Subject,
    document,
    judgement,
)
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.rules import TOO_LARGE, UNREADABLE
from bodymotion.system.files import open_file

if TYPE_CHECKING:
    from bodymotion.geometry.shapes import Shape
    from bodymotion.model.body import Body

PART_MISSING = document.warning(
    "FMT020",
    "A file that a model names exists.",
    "the model is shown without the missing file",
    leaves_out=True,
    example=('Inline { url "hnad.wrl" }', 'Inline { url "hand.wrl" }'),
)
PART_OUTSIDE = judgement.warning(
    "VRML131",
    "A symbolic link does not lead out of the folder that a path names. In untrusted "
    "files, no path leads out of the model's folder.",
    "if you trust the file, --allow-outside (allow_outside=True) opens these files",
    leaves_out=True,
    example=("hand.wrl is a symbolic link to ../../hand.wrl", "hand.wrl is a file"),
)
PART_REMOTE = judgement.warning(
    "VRML132",
    "A file is named by its path relative to the file that names it. Network "
    "addresses are never opened.",
    "put a copy beside the model and name it by its relative path",
    leaves_out=True,
    example=(
        'Inline { url "http://example.org/hand.wrl" }',
        'Inline { url "hand.wrl" }',
    ),
)
PART_CYCLE = document.error(
    "VRML133",
    "A file does not contain itself through Inline.",
    "the inner Inline is left out",
    leaves_out=True,
    example=('Inline { url "robot.wrl" }', 'Inline { url "hand.wrl" }'),
)
PART_LIMIT = judgement.error(
    "VRML134",
    "Inline parts are nested at most 64 deep. All parts together have at most 2 GB "
    "and a million nodes.",
    "the part is left out",
    leaves_out=True,
    example=(
        "100 files, each with an Inline of the next",
        "30 files, each with an Inline of the next",
    ),
)
PART_UNREADABLE = document.warning(
    "FMT021",
    "A file that a model names can be read.",
    "the model is shown without this part",
    leaves_out=True,
    example=("an Inline of a file in VRML 1.0", "an Inline of a file in VRML97"),
)

# Codes of the rules about files that a model names and that are not used.
UNUSED_FILES = tuple(
    rule.code
    for rule in (
        PART_LIMIT,
        PART_MISSING,
        PART_OUTSIDE,
        PART_REMOTE,
        PART_UNREADABLE,
    )
)

MAX_BYTES = 2 * 10**9
"""Of all files that one `ResourceFinder` reads, together."""
# Folders of symbolic links to one file that names may be relative to.
MAX_LINKS = 8
# Characters of a name in a message.
MAX_SHOWN = 200

# The file that makes a folder a ROS package.
PACKAGE_FILE = "package.xml"
MAX_PACKAGE_FILE_BYTES = 10**6

# Two letters at least: `C:` is a drive.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|[/\\]{2}")
_ABSOLUTE = re.compile(r"[A-Za-z]:|[/\\]")
# `file:` addresses are paths of this machine: their scheme is removed.
_FILE_SCHEME = re.compile(r"^file:(//(localhost)?(?=/))?(//)?", re.IGNORECASE)
# Levels of files that name each other.
MAX_NESTING = 64
# Pairs of a file and one that it names, also those that are refused. Real models have
# fewer than 100.
MAX_REFERENCES = 2000
# Nodes of all parts, each counted as often as it is named.
MAX_NODES = 1_000_000
# Of mesh files that are read in one pass: about a second.
PASS_BYTES = 10**7

Used = TypeVar("Used")


@dataclass(frozen=True)
class NotFound:
    """A file that is not opened.

    Attributes
    ----------
    name:
        The name as the model has it.
    rule:
        Why: PART_MISSING, PART_OUTSIDE, PART_REMOTE, PART_LIMIT or PART_UNREADABLE.
    reason:
        The same in words that follow the name.
    package:
        The ROS package that was not found, where that is why.
    """

    name: str
    rule: Rule
    reason: str
    package: str = ""

    @property
    def is_outside(self) -> bool:
        """Whether the file exists and only `allow_outside` is missing."""
        return self.rule is PART_OUTSIDE

    @property
    def message(self) -> str:
        """The name and the reason."""
        if self.name:
            return f"{_shortened(self.name)} {self.reason}"
        return self.reason

    def problem(self, location: Location) -> Problem:
        """Return the problem of this at the location of the name."""
        return self.rule.problem(self.message, location, data=self.data)

    @property
    def data(self) -> dict[str, object]:
        """The data of the problem of this.

        The name, as that of a missing file where it is missing.
        """
        is_missing = self.rule in (PART_MISSING, PART_REMOTE) and self.name
        if is_missing:
            return {"missing": (self.name,)}
        return {"name": self.name}


def _shortened(name: str) -> str:
    return name if len(name) < MAX_SHOWN else f"{name[:MAX_SHOWN]}…"


def gather_missing(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems with those of several missing files, by rule, as one.

    It is at the location of the first, with the names in its data.
    """
    groups: dict[object, list[Problem]] = {}
    for number, problem in enumerate(problems):
        key: object = number
        # Problems that name a missing file are gathered by rule; others stay as they
        # are.
        if "missing" in problem.data:
            key = (problem.rule, problem.severity)
        groups.setdefault(key, []).append(problem)
    return tuple(map(_joined, groups.values()))


def _joined(problems: Sequence[Problem]) -> Problem:
    """Return problems of missing files as one; a single one as it is."""
    if len(problems) == 1:
        return problems[0]
    names: dict[str, None] = {}
    hint = ""
    for problem in problems:
        names |= dict.fromkeys(cast(tuple[str, ...], problem.data["missing"]))
        # The first hint that there is.
        hint = hint or problem.hint
    count = len(names)
    verb = "is" if count == 1 else "are"
    message = (
        f"{counted(count, 'file')} that the model names {verb} missing: "
        f"{listed(map(_shortened, names))}"
    )
    data = {"missing": tuple(names)}
    return replace(problems[0], message=message, hint=hint, data=data, count=count)


@dataclass(frozen=True)
class FoundFile:
    """A file that may be opened, and the finder of the files that it names in turn."""

    path: Path
    finder: ResourceFinder


class ResourceFinder:
    """Find the files of one model.

    Parameters
    ----------
    root_folder:
        The folder of the model file, or of the package that it belongs to.
    allow_outside:
        Which files are opened: see the description of the module.
    model:
        The model file, if it may be a symbolic link: the folder that the link leads to
        counts as well.
    """

    def __init__(
        self,
        root_folder: str | Path,
        allow_outside: bool | None = None,
        *,
        model: Path | None = None,
    ) -> None:
        self.root = real_path(Path(root_folder))
        """The root folder, without symbolic links."""
        self.roots: tuple[Path, ...] = (self.root,)
        if model is not None:
            self.roots = (self.root, real_path(model).parent)
        """The folders whose trees hold what may be opened."""
        self.allow_outside = allow_outside
        # Names are looked for once: the file system is slow.
        self._found: dict[tuple[tuple[Path, ...], str], Path] = {}
        self._resolved: dict[Path, tuple[Path, Path]] = {}
        self._link_folders: dict[Path, list[Path]] = {}
        """Of a file that was reached by symbolic links: the folders of these links."""
        self._bytes_read = 0

    def find(
        self, names: str | Iterable[str], holder: Path | None = None
    ) -> Path | NotFound:
        """Return the first file among several names that exists and may be opened.

        Else why the last is not opened. `holder` is the file that has the names in it;
        without one, names are relative to the root folder.
        """
        # The reason for the last name stands for all.
        missing = NotFound("", PART_MISSING, "no file is named")
        for name in [names] if isinstance(names, str) else names:
            file = self.find_one(name, holder)
            if isinstance(file, Path):
                return file
            missing = file
        return missing

    def find_one(self, name: str, holder: Path | None = None) -> Path | NotFound:
        """Return the file of one name if it exists and may be opened, or why it is not.

        `holder` as in `find`.
        """
        folders = self.folders(holder)
        if (folders, name) in self._found:
            return self._found[folders, name]
        local = name
        if name.lower().startswith("file:"):
            # %20 and the like are signs of addresses.
            local = unquote(_FILE_SCHEME.sub("", name))
        if _ADDRESS.match(local):
            reason = "is a network address, which is not opened"
            return NotFound(name, PART_REMOTE, reason)
        is_absolute = _ABSOLUTE.match(local) is not None
        is_outside = False
        for candidate in _candidates(folders, local):
            try:
                # Symbolic links are followed before the decision.
                path = candidate.resolve()
                # A pipe or a device would block.
                is_file = stat.S_ISREG(path.stat().st_mode)
            except (OSError, ValueError, RuntimeError):
                continue
            if not self._may_open(candidate, path, is_absolute):
                # The next candidate may be inside.
                is_outside = True
            elif is_file:
                self._add_link_folder(candidate, path)
                self._found[folders, name] = path
                return path
        if is_outside:
            how = "is an absolute path"
            if not is_absolute:
                # Without an option, links are the only way out.
                is_link = self.allow_outside is None
                how = "is a symbolic link" if is_link else "leads"
            reason = f"{how} out of the folder of the model: it is left out"
            return NotFound(name, PART_OUTSIDE, reason)
        if is_absolute:
            reason = "is an absolute path, and there is no such file"
            return NotFound(name, PART_REMOTE, reason)
        return NotFound(name, PART_MISSING, "is missing")

    def _add_link_folder(self, candidate: Path, path: Path) -> None:
        """Record the folder of a symbolic link to a file.

        The names in the file are relative to it, too.
        """
        if candidate == path:
            return
        linked = real_path(candidate.parent)
        if linked == path.parent:
            return
        folders = self._link_folders.setdefault(path, [])
        if linked not in folders and len(folders) < MAX_LINKS:
            folders.append(linked)

    def _may_open(self, candidate: Path, path: Path, is_absolute: bool) -> bool:
        """Return whether a file may be opened that a model names as `candidate`.

        `path` is where it is, without symbolic links.
        """
        # Inside of the model's folder or the link's target.
        if self.allow_outside or any(map(path.is_relative_to, self.roots)):
            return True
        # Untrusted: nothing else. An absolute path names no folder of the model.
        if self.allow_outside is not None or is_absolute:
            return False
        # `..` in a name is allowed: the folder that it names counts, not where a link
        # leads.
        named_folder = Path(os.path.normpath(candidate)).parent
        return path.is_relative_to(named_folder)

    def folders(self, holder: Path | None) -> tuple[Path, ...]:
        """Return the folders that names in a file are relative to.

        They are without symbolic links. There is one, but for a file that was opened by
        a symbolic link: then the link's folder and that of the file. None stands for a
        text that comes from no file.
        """
        if holder is None:
            return (self.root,)
        real, folder = self.resolved(holder)
        # The usual case: no links.
        if real.parent == folder and real not in self._link_folders:
            return (folder,)
        folders = (*self._link_folders.get(real, ()), folder, real.parent)
        return tuple(dict.fromkeys(folders))

    def resolved(self, path: Path) -> tuple[Path, Path]:
        """Return a path and the folder where it was found, without symbolic links."""
        if path not in self._resolved:
            self._resolved[path] = real_path(path), real_path(path.parent)
        return self._resolved[path]

    def read(self, path: Path) -> bytes | NotFound:
        """Return the bytes of a file that was found, or why they are not read.

        Counts towards MAX_BYTES.
        """
        try:
            # Counted before it is read.
            self._bytes_read += path.stat().st_size
            if self._bytes_read > MAX_BYTES:
                reason = (
                    f"exceeds the limit of {MAX_BYTES} bytes for all parts together"
                )
                return NotFound(path.name, PART_LIMIT, reason)
            return path.read_bytes()
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
            return NotFound(path.name, PART_UNREADABLE, reason)


def _candidates(folders: Iterable[Path], name: str) -> Iterator[Path]:
    """Return the paths that a name may mean.

    It may have a fragment, or other signs.
    """
    # `parts.wrl#Knob` names a node in the file.
    without_fragment = name.partition("#")[0]
    spellings = (
        name,
        without_fragment,
        # Models that were made on Windows.
        without_fragment.replace("\\", "/"),
        unquote(without_fragment),
    )
    for folder in folders:
        for spelling in dict.fromkeys(spellings):
            yield folder / spelling


class PackageFinder:
    """Find the files of a ROS model.

    Relative paths, `package://NAME/path`, `model://NAME/path`, and `file:` addresses.

    A relative path starts from the folder of the model. A package is one of
    `package_paths` (the folder itself, or a folder NAME in it), else a folder NAME
    beside the model, else the ROS package around the model if its package.xml has that
    name, else a folder NAME at or beside a folder above the model, if it is a ROS
    package. Of untrusted files (`allow_outside=False`), only packages in the folder of
    the model and in `package_paths` are opened.
    """

    def __init__(
        self,
        model: Path,
        package_paths: Iterable[str | Path] = (),
        allow_outside: bool | None = None,
    ) -> None:
        self.model = model
        self.allow_outside = allow_outside
        self.package_paths = [Path(path) for path in package_paths]
        self.folder = real_path(model.parent)
        self.home: Path | None = None
        """The ROS package around the model."""
        if allow_outside is not False:
            self.home = package_above(self.folder)
        self.own = ResourceFinder(self.home or self.folder, allow_outside, model=model)
        self._packages: dict[str, ResourceFinder | None] = {}

    def find(self, uri: str) -> FoundFile | NotFound:
        """Return the file that a uri of the model means, or why it is not opened."""
        if not uri:
            return NotFound("", PART_MISSING, "no file is named")
        # Gazebo has `model://`, ROS `package://`.
        if uri.startswith(("package://", "model://")):
            package, _, path = uri.partition("://")[2].partition("/")
            finder = self._package(package)
            if finder is None:
                reason = f"is in the package {package!r:.60}, which is not found"
                return NotFound(uri, PART_MISSING, reason, package)
            file = finder.find_one(path)
        else:
            finder = self.own
            file = finder.find_one(uri, self.model)
        if isinstance(file, Path):
            return FoundFile(file, finder)
        return NotFound(uri, file.rule, file.reason)

    def _package(self, name: str) -> ResourceFinder | None:
        """Return the finder of the files of a package.

        None where the package is not found.
        """
        # Found once for each name.
        if name not in self._packages:
            folder = None
            # "." and ".." would be folders outside of any package.
            if name not in ("", ".", ".."):
                folder = self._package_folder(name)
            finder = None
            if folder is not None:
                finder = ResourceFinder(folder, self.allow_outside)
            self._packages[name] = finder
        return self._packages[name]

    def _package_folder(self, name: str) -> Path | None:
        """Return the folder of a package; None where it is not found."""
        for path in self.package_paths:
            for folder in (path, path / name):
                if folder.name == name and folder.is_dir():
                    return folder
        # A folder of that name beside the model needs no package.xml.
        if (self.folder / name).is_dir():
            return self.folder / name
        if self.home is not None and package_name(self.home) == name:
            return self.home
        if self.allow_outside is False:
            return None
        # Upwards: a workspace has packages beside each other.
        for above in (self.folder, *self.folder.parents):
            for folder in (above, above / name):
                is_package = self.allow_outside or (folder / PACKAGE_FILE).is_file()
                if folder.name == name and folder.is_dir() and is_package:
                    return folder
        return None


def package_above(folder: Path) -> Path | None:
    """Return the nearest folder, this one or above it, that is a ROS package.

    None where there is none.
    """
    for above in (folder, *folder.parents):
        if (above / PACKAGE_FILE).is_file():
            return above
    return None


def package_name(package: Path) -> str:
    """Return the name in a package's package.xml, "" where it has none.

    It may differ from that of its folder.
    """
    # Imported late: models without packages need no XML.
    from bodymotion.formats.xml.tree import parse_xml

    file = package / PACKAGE_FILE
    try:
        if file.stat().st_size > MAX_PACKAGE_FILE_BYTES:
            return ""
        name = parse_xml(file.read_bytes()).first("name")
    except (OSError, FormatError):
        return ""
    return "" if name is None else name.text.strip()


def check_inside(file: Path, holder: Path, allow_outside: bool | None = None) -> None:
    """Raise FormatError (VRML131) for a file that is a symbolic link out of its folder.

    Unless `allow_outside` is True. The file is beside `holder`. If `holder` is a link
    itself, the folder that it leads to counts as well.
    """
    folders = (real_path(holder.parent), real_path(holder).parent)
    if allow_outside or any(map(real_path(file).is_relative_to, folders)):
        return
    raise PART_OUTSIDE.error(
        f"{file.name[:MAX_SHOWN]} is a symbolic link out of its folder; expected a "
        "file",
        Location(str(file)),
        data={"name": file.name},
    )


def file_bytes(path: str | Path, limit: int | None = None) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    FormatError
        When it cannot be read (FMT002), or has more than `limit` bytes (FMT009).
    """
    try:
        with open_file(path) as file:
            if limit is None or (size := file.seek(0, 2)) <= limit:
                file.seek(0)
                return file.read()
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from error
    raise TOO_LARGE.error(
        f"the file has {size} bytes; at most {limit} are read", Location(str(path))
    )


def unreadable(error: Exception, path: str | Path) -> FormatError:
    """Return the fault of a file that cannot be read (FMT002), for a Python error."""
    # An OSError has its reason in words.
    reason = getattr(error, "strerror", None) or str(error) or "not enough memory"
    fault = UNREADABLE.error(f"the file cannot be read: {reason}", Location(str(path)))
    if isinstance(error, FileNotFoundError):
        return MissingFileError(fault.problem)
    return fault


def real_path(path: Path) -> Path:
    """Return a path without symbolic links.

    As it is where they lead in circles.
    """
    try:
        # Links in circles cannot be resolved.
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


class Part(Protocol):
    """The content of a file that a model names."""

    @property
    def size(self) -> int:
        """The number of its nodes."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems in the file."""


PartType = TypeVar("PartType", bound=Part)


class ReferencedFiles:
    """Load the files that a model names, each once.

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
    found:
        Collects the problems.
    users:
        By the path of a part, the subject that it was read for first.
    urls:
        The location of each url where it is named first: images, and files of
        other formats.
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
        self._parts: dict[Path, Any] = {}
        """By its path, the content of a part; None where it cannot be read."""
        self._nesting = _Nesting()
        self._size = 0
        """The number of nodes of all parts, each counted as often as it is named."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The parts that have been read."""
        return tuple(path for path, part in self._parts.items() if part is not None)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Files that are missing or not opened, and problems in parts."""
        return self.found.problems

    def resolve_urls(
        self, urls: Sequence[str], holder: Path | None, location: Location
    ) -> Path | None:
        """Return the first file of `urls` that exists and may be opened.

        None where there is none, with the reasons in `problems`.
        """
        # The first location counts for each url.
        for url in urls:
            self.urls.setdefault(url, location)
        return self.first_usable(urls, holder, location, lambda path, *_: path)

    def load_part(
        self,
        urls: Sequence[str],
        holder: Path | None,
        location: Location,
        parse: Callable[[bytes, Path], PartType],
    ) -> PartType | None:
        """Return the content of the first file of `urls` that can be read.

        None where none can, with the reasons in `problems`.
        """

        def use(path: Path, _: str, found: Diagnostics) -> PartType | None:
            return self.open_part(path, holder, location, found, parse)

        return self.first_usable(urls, holder, location, use)

    def first_usable(
        self,
        urls: Sequence[str],
        holder: Path | None,
        location: Location,
        use: Callable[[Path, str, Diagnostics], Used | None],
    ) -> Used | None:
        """Return the result of `use` for the first file of `urls` that has one.

        `use` gets the path, the url, and where to report why it returns None. These
        reasons go to `problems` if no file can be used.
        """
        found = Diagnostics()
        # Each url is a further choice: the first usable one counts.
        for url in urls:
            path = self.finder.find_one(url, holder)
            if isinstance(path, NotFound):
                found.add(path.problem(location))
                continue
            used = use(path, url, found)
            if used is not None:
                return used
        if not urls:
            found.add(PART_MISSING.problem("there is no url", location))
        self.found.extend(found.problems)
        return None

    def open_part(
        self,
        path: Path,
        holder: Path | None,
        location: Location,
        found: Diagnostics,
        parse: Callable[[bytes, Path], PartType],
    ) -> PartType | None:
        """Return the content of a file that `holder` names at a location.

        None where the file cannot be read, or exceeds a limit; `found` gets the reason.
        """
        # Each reference counts, although its part is read once.
        if self._size > MAX_NODES or self._nesting.is_full:
            return None  # Reported already.
        # A text without a file is in the root folder.
        if holder is None:
            base = self.finder.root / "-"
        else:
            base = self.finder.resolved(holder)[0]
        refusal = self._nesting.add(base, path, location)
        if refusal is not None:
            found.add(refusal)
            return None
        # None marks a file that cannot be read: it is not tried again.
        if path not in self._parts:
            self._parts[path] = self._read(path, location, found, parse)
        part: PartType | None = self._parts[path]
        if part is None:
            return None
        # Nodes count as often as the part is named: parts of parts grow exponentially.
        self._size += part.size + 1
        if self._size > MAX_NODES:
            message = f"with {path.name}, the model has more than {MAX_NODES} nodes"
            found.add(PART_LIMIT.problem(message, location))
            return None
        return part

    def _read(
        self,
        path: Path,
        location: Location,
        found: Diagnostics,
        parse: Callable[[bytes, Path], PartType],
    ) -> PartType | None:
        """Return the content of a part; None where it is faulty."""
        data = self.finder.read(path)
        if isinstance(data, NotFound):
            found.add(data.problem(location))
            return None
        try:
            part = parse(data, path)
        except FormatError as error:
            # Why the part is left out; its other problems do not matter then.
            found.add(error.problem)
            found.add(PART_UNREADABLE.problem(f"{path.name} is left out", location))
            return None
        self.found.extend(part.problems)
        return part


class _Nesting:
    """Which files name which others, and how deep they are nested."""

    def __init__(self) -> None:
        self._parts: dict[Path, set[Path]] = {}
        """By a file, the files that it names."""
        self._levels: dict[Path, int] = {}
        """By a file, the number of files around it."""
        self._num_references = 0

    @property
    def is_full(self) -> bool:
        """Whether there are more references than the limit."""
        return self._num_references > MAX_REFERENCES

    def add(self, holder: Path, path: Path, location: Location) -> Problem | None:
        """Record that a file names another.

        Return why it may not, None if it may.
        """
        parts = self._parts.setdefault(holder, set())
        # The same pair again adds nothing.
        if path in parts:
            return None
        refusal = self._refusal(holder, path, location)
        if refusal is None:
            parts.add(path)
            self._raise_levels(holder)
        return refusal

    def _refusal(self, holder: Path, path: Path, location: Location) -> Problem | None:
        self._num_references += 1
        if self.is_full:
            message = f"the files name each other more than {MAX_REFERENCES} times"
            data = {"found": self._num_references, "limit": MAX_REFERENCES}
            return PART_LIMIT.problem(message, location, data=data)
        # The holder below the part would close a circle.
        if path == holder or holder in self._below(path):
            return PART_CYCLE.problem(f"{path.name} contains itself", location)
        # Levels above the holder, and below the part.
        if self._levels.get(holder, 0) + self._height(path, {}) >= MAX_NESTING:
            message = f"{path.name} is nested more than {MAX_NESTING} deep"
            return PART_LIMIT.problem(message, location)
        return None

    def _below(self, path: Path) -> set[Path]:
        """Return the files that a file names, and those that these name."""
        # With a set: parts may share parts.
        below: set[Path] = set()
        waiting = [path]
        while waiting:
            new = self._parts.get(waiting.pop(), set()) - below
            below |= new
            waiting += new
        return below

    def _height(self, path: Path, heights: dict[Path, int]) -> int:
        """Return how many levels of files are below a file, at most MAX_NESTING.

        `heights` are those that have been computed.
        """
        if path not in heights:
            # `heights` makes each file count once.
            parts = self._parts.get(path, ())
            below = (1 + self._height(part, heights) for part in parts)
            heights[path] = max(below, default=0)
        return heights[path]

    def _raise_levels(self, holder: Path) -> None:
        """Set the levels of the files below a file, each above those of its holders."""
        waiting = [holder]
        while waiting:
            file = waiting.pop()
            level = self._levels.get(file, 0) + 1
            for part in self._parts.get(file, ()):
                # Only where it gets deeper: so it ends.
                if self._levels.get(part, 0) < level:
                    self._levels[part] = level
                    waiting.append(part)


def missing_files(body: Body) -> tuple[object, ...]:
    """Return the files of a model that are not used.

    By their names, or else their locations.
    """
    missing: dict[object, None] = {}
    for problem in body.problems:
        if problem.rule not in UNUSED_FILES:
            continue
        name = problem.data.get("name", problem.location)
        names = problem.data.get("missing", name)
        if not isinstance(names, tuple):
            names = (names,)
        missing |= dict.fromkeys(names)
    return tuple(missing)


def missing_files_text(body: Body) -> str:
    """Return how many files of a model are not shown, in a sentence.

    Empty where there are none.
    """
    count = len(missing_files(body))
    if not count:
        return ""
    return (
        f"{counted(count, 'file')} of shapes or textures missing: "
        "a stick figure shows the links"
    )


class MeshFile(NamedTuple):
    """The shapes of a mesh file, and what is to be said of it.

    These are remarks, and problems of files that it names.
    """

    shapes: tuple[Shape, ...]
    remarks: list[str]
    problems: tuple[Problem, ...]


class MeshPasses:
    """The mesh files of a model that is read several times.

    Each time some more of them are read.

    Attributes
    ----------
    read:
        The files that were read.
    left:
        The sizes [bytes] of files that were left out in this pass, which is reported as
        a note.
    """

    def __init__(self) -> None:
        self.read: dict[Path, MeshFile] = {}
        self.left: dict[Path, int] = {}
        self._budget = PASS_BYTES

    def start(self) -> None:
        """Begin the next pass, in which at least one more file is read."""
        # A file larger than the budget is read alone.
        self._budget = max(PASS_BYTES, min(self.left.values()))
        self.left = {}

    def may_read(self, path: Path) -> bool:
        """Return whether a file is read in this pass."""
        size = path.stat().st_size if path.is_file() else 0
        if size > self._budget:
            self.left[path] = size
            return False
        self._budget -= size
        return True


MESH_PASSES: ContextVar[MeshPasses | None] = ContextVar("MESH_PASSES", default=None)
