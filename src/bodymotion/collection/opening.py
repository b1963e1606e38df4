"""A collection of motions.

Those of a folder, an archive, or an address of fsspec such as s3://; each is read when
it is used.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from errno import ENOENT
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from pickle import PicklingError
from tarfile import TarError
from typing import TYPE_CHECKING, Any, overload
from zipfile import BadZipFile

from bodymotion.collection.archives import check_archive
from bodymotion.collection.inputs import (
    archive_kind,
    episode_of,
    find_files,
    is_collection,
    member_of,
    plain_path,
)
from bodymotion.collection.mapping import Outcome, in_order, map_files
from bodymotion.diagnostics import (
    FormatError,
    Location,
    Problem,
    ShortRepr,
    WrongUseError,
)
from bodymotion.diagnostics.text import counted
from bodymotion.formats.rules import UNREADABLE
from bodymotion.system.deferred import need

if TYPE_CHECKING:
    from bodymotion.collection.tensors import Tensors
    from bodymotion.model.body import Body

__all__ = ["Clip", "Collection", "open_collection"]

# What file systems report that changes when a file is written.
STATES = (
    "ETag",
    "etag",
    "mtime",
    "LastModified",
    "updated",
    "created",
    "CRC",
    "chksum",
)


# The options of readers that an episode of a data set of LeRobot has.
EPISODE_OPTIONS = frozenset({"degrees"})


@dataclass(frozen=True)
class Clip(ShortRepr):
    """A motion of a collection that is not read yet.

    Its name there, its path or address, and its number in a data set.
    """

    name: str
    address: str
    episode: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how a pickle makes it again in another process.

        There is none of what is in the memory of this one.
        """
        if self.address.startswith("memory://"):
            raise PicklingError(f"{self.address} is in the memory of this process")
        return type(self), (self.name, self.address, self.episode)

    def __str__(self) -> str:
        if self.episode is None:
            return self.address
        return f"{self.address}/{PurePosixPath(self.name).name}"

    @property
    def is_episode(self) -> bool:
        """Whether it is an episode of a data set, which has no file of its own."""
        return self.episode is not None

    @property
    def file_name(self) -> str:
        """Its name in the collection, as a file has it.

        Of an episode with the extension `.seq`.
        """
        if self.episode is None:
            return self.name
        return f"{self.name}.seq"

    @contextmanager
    def file(
        self,
        report: Callable[[Iterable[Problem]], object] = list,
        **options: Any,  # noqa: ANN401
    ) -> Iterator[Path]:
        """Return its file, or a copy that is removed when the block ends.

        Of an episode a `.seq`, and to `report` its problems.

        The options are those with which an episode is read.
        """
        # A local file is used where it is; all else becomes a file in a temporary
        # folder.
        if self.episode is None and "://" not in self.address:
            yield Path(self.address)
            return
        with tempfile.TemporaryDirectory() as folder:
            if self.episode is None:
                yield self._download(Path(folder))
                return
            from bodymotion.formats.registry import save

            copy = Path(folder, PurePosixPath(self.file_name).name)
            motion = self.load(**options)
            save(motion, copy)
            report(motion.problems)
            yield copy

    def _download(self, folder: Path) -> Path:
        """Copy the file of an address into a folder, if it has room for it."""
        with _reached(self.address):
            system, path = _system(self.address)
            copy = folder / (plain_path(path).name or "motion")
            # Checked before the copy, which could otherwise fill the disk.
            size = int(system.info(path).get("size") or 0)
            free = shutil.disk_usage(folder).free
            if size > free:
                raise OSError(
                    f"{self.name} has {size} bytes, and {free} are free for its copy "
                    f"in {folder}"
                )
            system.get_file(path, str(copy))
        return copy

    def state(self) -> tuple[int, str]:
        """Return its size, and a text that changes when it is written."""
        # For `--resume`: a file that has changed since is read again.
        if "://" not in self.address:
            status = os.stat(self.address)  # noqa: PTH116  # many files
            return status.st_size, str(status.st_mtime_ns)
        with _reached(self.address):
            system, path = _system(self.address)
            info = system.info(path)
        # Which of these there are depends on the file system.
        changed = [str(info.get(name)) for name in STATES]
        digest = hashlib.sha256(repr(changed).encode()).hexdigest()
        return int(info.get("size") or 0), digest[:16]

    def load(self, **options: Any) -> Any:  # noqa: ANN401
        """Read it; options and errors as for `bodymotion.load`."""
        from bodymotion.collection.lerobot import INFO, read_episode
        from bodymotion.formats.registry import load
        from bodymotion.formats.untrusted import call_within_limits, requested_limits

        if self.episode is not None:
            folder = Path(self.address)
            read = partial(read_episode, folder, self.episode, **_of_episode(options))
            # Parquet of others is read in a child process within limits.
            limits = requested_limits(options)
            if limits is None:
                return read()
            return call_within_limits(read, files=[folder / INFO], limits=limits)
        with self.file() as path:
            return load(path, **options)


def _of_episode(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with which an episode is read.

    TypeError for one that it does not have.
    """
    from bodymotion.formats.untrusted import TRUST_OPTIONS

    for name in sorted(options.keys() - EPISODE_OPTIONS - TRUST_OPTIONS - {"body"}):
        known = ", ".join(sorted(EPISODE_OPTIONS))
        raise TypeError(
            f"an episode of LeRobot has no option {name!r}; its options: {known}"
        )
    used = {name: options[name] for name in options.keys() & EPISODE_OPTIONS}
    return {**used, "untrusted": bool(options.get("untrusted"))}


@dataclass(frozen=True)
class Collection(ShortRepr, Sequence[Clip]):
    """The clips of a collection, in order of their names.

    `collection["walks/a.seq"]` is one of them.

    `left_out`: files of a folder of no known format, archives in it, and data sets of
    LeRobot that cannot be opened, as at an address.
    """

    address: str
    clips: tuple[Clip, ...]
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.clips)

    @overload
    def __getitem__(self, key: int | str) -> Clip: ...
    @overload
    def __getitem__(self, key: slice) -> Collection: ...
    def __getitem__(self, key: int | str | slice) -> Clip | Collection:
        if isinstance(key, slice):
            return Collection(self.address, self.clips[key])
        if isinstance(key, int):
            return self.clips[key]
        for clip in self.clips:
            if clip.name == key:
                return clip
        raise KeyError(f"no motion {key!r} in {self.address}, which has {len(self)}")

    def map(
        self,
        function: Callable[[Any], Any],
        **options: Any,  # noqa: ANN401
    ) -> Iterator[Outcome]:
        """Return the outcome of a function of the value of each clip, in any order.

        Options as for `map_files`.
        """
        return map_files(partial(_of_value, function), self.clips, **options)

    def to_tensors(
        self,
        window: int | None = None,
        *,
        step: int | None = None,
        frame_rate: float | None = None,
        body: Body | None = None,
        test: float = 0.1,
        group: Callable[[str], str] = str,
        **options: Any,  # noqa: ANN401
    ) -> Tensors:
        """Return the motions as arrays for training.

        Those that cannot be used are in `left_out` of the result.

        Parameters
        ----------
        window:
            Frames of a window; by default those of the longest motion. The last window
            of a motion is padded.
        step:
            Frames from one window to the next; by default `window`.
        frame_rate:
            [Hz] Motions are resampled to it, low-pass filtered before they are reduced.
            Without it, all need the same one.
        body:
            Its joints, in its order, are the channels. Without it, all motions need the
            same names in the same order.
        test:
            The share of groups for tests.
        group:
            Return the group of a motion from its name, such as ``lambda name:
            name.split("_")[0]``, so that the parts of one recording are all for
            training or all for tests. By default, each motion is a group.
        options:
            As for `map_files`.

        Raises
        ------
        ValueError
            When the joints or frame rates of two motions differ, or no motion can be
            used or is for training; the message names one.
        """
        from bodymotion.collection.tensors import frames_of, windows_of

        read = partial(frames_of, body=body, frame_rate=frame_rate)
        # In order: `windows_of` pairs outcomes with names.
        outcomes = in_order(self.map(read, **options))
        names = [clip.name for clip in self.clips]
        return windows_of(names, outcomes, window, step, test, group)


def _of_value(function: Callable[[Any], Any], clip: Clip) -> Any:  # noqa: ANN401
    return function(clip.load())


@contextmanager
def single_files(paths: Iterable[Path]) -> Iterator[list[Path]]:
    """Yield a file for each path.

    A folder, an archive or an episode stands for the only motion in it. An episode is
    copied to a `.seq`, which is removed when the block ends.

    Raises
    ------
    WrongUseError
        When one of them has no motion, or several.
    """
    with ExitStack() as stack:
        yield [stack.enter_context(_single_file(path)) for path in paths]


@contextmanager
def _single_file(path: Path) -> Iterator[Path]:
    if not path.is_dir() and not is_collection(str(path)):
        yield path
        return
    collection = open_collection(path)
    if len(collection) != 1:
        example = f"; name one of them, such as {collection[0]}" if collection else ""
        count = counted(len(collection), "motion")
        raise WrongUseError(f"{path} has {count}; expected one{example}")
    with collection[0].file() as file:
        yield file


def open_collection(source: str | os.PathLike[str]) -> Collection:
    """Return the motions in a folder, in an archive or below an address.

    Without models, and with the episodes of data sets of LeRobot.

    Parameters
    ----------
    source:
        A folder, also that of a data set; an archive (.zip, .tar, .tar.gz …, extra
        `lake`); or an address that fsspec knows, such as ``s3://bucket/walks``,
        ``s3://bucket/walks/*.seq`` or ``s3://bucket/walks.zip`` (extra `lake`, and the
        package of the file system). Names and secrets are those of the environment. A
        motion in one of these is a collection, too: ``walks.zip/a.seq``.

    Raises
    ------
    NotADirectoryError
        When there is no such folder.
    OSError
        When an address cannot be reached, or an archive has no such motion.
    WrongUseError
        When an address has a password in it.
    ImportError
        Without the extra, for an archive or address.
    """
    from bodymotion.collection.lerobot import INFO

    address = os.fspath(source)
    if re.search(r"://[^/]*:[^/]*@", address):
        raise WrongUseError(
            "the address has a password in it; leave it out, and set it in the "
            "environment"
        )
    if "://" not in address:
        address = os.path.abspath(address)  # noqa: PTH100  # links stay
    # From the most special to the most general: an episode, a motion in an archive, an
    # archive or address, a data set, a folder.
    episode = episode_of(address)
    if episode is not None:
        data_set, number = episode
        return Collection(address, (Clip(Path(address).name, str(data_set), number),))
    member = member_of(address)
    if member is not None:
        archive, name = member
        clip = _members(archive, _changed(archive)).get(name)
        if clip is None:
            raise FileNotFoundError(ENOENT, f"No {name} in the archive", archive)
        return Collection(address, (replace(clip, name=PurePosixPath(clip.name).name),))
    folder = Path(address)
    # fsspec opens an archive as a file system in a chain of addresses.
    kind = archive_kind(address)
    if kind and not folder.is_dir():
        # `zip://::/data/walks.zip` is the root of the file system in the archive.
        address = f"{kind}://::{address}"
    if "://" in address:
        return _collection_at(address)
    if not folder.is_dir():
        raise NotADirectoryError(f"{source} is neither a folder nor an archive")
    if (folder / INFO).is_file():
        return Collection(address, tuple(_episodes_of(folder)))
    return _collection_in(folder)


def _episodes_of(data_set: Path, prefix: str = "") -> list[Clip]:
    """Return the episodes of a data set of LeRobot."""
    return [
        Clip(f"{prefix}episode_{number:06d}", str(data_set), number)
        for number in range(_num_episodes(data_set))
    ]


def _collection_in(folder: Path) -> Collection:
    """Return the files of a folder, and the episodes of data sets in it."""
    from bodymotion.collection.lerobot import INFO

    above = len(os.path.join(folder, ""))  # noqa: PTH118  # many files
    unknown: list[str] = []

    def leave_out(path: Path, link: Path | None) -> None:
        if link is None:
            unknown.append(str(path))

    # Names are relative to the folder, with slashes on each system. Cutting the text is
    # much faster than `Path.relative_to` for many files.
    clips = []
    for path in map(str, find_files([folder], leave_out, models=False)):
        clips.append(Clip(path[above:].replace(os.sep, "/"), path))
    left_out = []
    for path in unknown:
        try:
            if (Path(path) / INFO).is_file():
                name = path[above:].replace(os.sep, "/")
                clips += _episodes_of(Path(path), f"{name}/")
                continue
        except (FormatError, ImportError):
            # A data set that cannot be opened is left out.
            pass
        left_out.append(path)
    return Collection(str(folder), _in_order_of_names(clips), tuple(left_out))


def _in_order_of_names(clips: Iterable[Clip]) -> tuple[Clip, ...]:
    return tuple(sorted(clips, key=lambda clip: (clip.name, clip.address)))


def _collection_at(address: str) -> Collection:
    """Return the files below an address of fsspec, or in an archive."""
    from bodymotion.collection.lerobot import INFO

    # Of `zip://a.seq::s3://walks.zip` the chain `::s3://walks.zip` is behind each
    # address.
    _, separator, rest = address.partition("::")
    chain = separator + rest
    with _reached(address):
        system, root = _system(address)
        # A name may have brackets itself, so a pattern is what does not exist.
        pattern = re.match(r"([^*?[]*)/[^/]*[*?[]", root)
        if pattern is not None and not system.exists(root):
            paths = system.glob(root)
            root = pattern[1]
        else:
            paths = system.find(root)
    info = INFO.as_posix()
    # The folders with a meta/info.json. Their episodes could be read only from a local
    # folder, so they are reported as left out.
    data_sets = tuple(
        path.removesuffix(info) for path in paths if f"/{path}".endswith(f"/{info}")
    )
    extensions = _motion_extensions()
    clips = []
    for path in paths:
        if path.startswith(data_sets):
            continue
        # The root itself may be a file.
        inner = path[len(root) :].strip("/") or path.rpartition("/")[2]
        name = PurePosixPath(inner)
        is_hidden = any(part.startswith(".") for part in name.parts)
        if name.suffix.lower() in extensions and not is_hidden:
            clips.append(Clip(str(name), f"{system.unstrip_protocol(path)}{chain}"))
    left_out = [
        f"{system.unstrip_protocol(path.rstrip('/'))}{chain}" for path in data_sets
    ]
    return Collection(address, _in_order_of_names(clips), tuple(left_out))


def _motion_extensions() -> set[str]:
    """Return the extensions of files that are motions, as known from the name alone."""
    from bodymotion.formats.registry import AMBIGUOUS, FORMATS, named_format

    extensions: set[str] = set()
    for row in FORMATS:
        if row.holds != "Body":
            extensions.update(row.extensions)
    # Content cannot be looked at for each of many files at an address. Of the ambiguous
    # extensions those that motions usually have are used.
    usual = {".csv", ".npz", *named_format("parquet").extensions}
    return extensions - (AMBIGUOUS - usual)


def _num_episodes(folder: Path) -> int:
    """Return the number of episodes of a data set, counted in a child process.

    Parquet may be damaged.
    """
    from bodymotion.collection.lerobot import INFO, num_episodes
    from bodymotion.formats.untrusted import call_within_limits

    return call_within_limits(num_episodes, folder, files=[folder / INFO])


@contextmanager
def _reached(address: str) -> Iterator[None]:
    """Turn the errors of packages of file systems, of any type, into OSError."""
    try:
        yield
    except UnicodeError as error:
        # A name in an archive that is not in the encoding that the archive states.
        raise OSError(f"{address}: {error}") from None
    except (OSError, ValueError, ImportError, MemoryError):
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise OSError(f"{address}: {reason}") from None


def _system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    core = need("fsspec", "lake", f"opening {address.partition('://')[0]}://").core
    first, chain, rest = address.partition("::")
    if not chain:
        system, path = core.url_to_fs(address)
        return system, str(path)
    # fsspec opens an archive again for each address.
    kind, _, path = first.partition("://")
    return _archive(f"{kind}://::{rest}", _changed(rest)), path


def _changed(archive: str) -> int:
    if Path(archive).is_file():
        return Path(archive).stat().st_mtime_ns
    return 0


@lru_cache(maxsize=4)
def _members(archive: str, changed: int) -> dict[str, Clip]:
    return {clip.name: clip for clip in open_collection(archive)}


@lru_cache(maxsize=4)
def _archive(address: str, changed: int) -> Any:  # noqa: ANN401
    """Return the file system in an archive, kept while it does not change."""
    kind, _, path = address.partition("://::")
    try:
        core = need("fsspec", "lake", "opening an archive").core
        # A chain of addresses, such as an archive in another one, is opened from its
        # end.
        system, name = core.url_to_fs(path)
        size = int(system.info(name).get("size") or 0)
        check_archive(lambda: system.open(name, "rb"), path, size, kind)
        return core.url_to_fs(address)[0]
    except FormatError:
        raise
    except (ValueError, EOFError, BadZipFile, TarError) as error:
        location = Location(address.partition("::")[2])
        raise UNREADABLE.error(str(error), location, "") from None
