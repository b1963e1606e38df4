"""A collection of motions: those of a folder, an archive, or an address of fsspec such as s3://; each is read when it is used."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from tarfile import TarError
from typing import TYPE_CHECKING, Any, overload
from zipfile import BadZipFile

from bodymotion.collection.inputs import find_files
from bodymotion.collection.mapping import Outcome, in_order, map_files
from bodymotion.diagnostics import FormatError, Location
from bodymotion.formats.rules import UNREADABLE
from bodymotion.system.extras import need

if TYPE_CHECKING:
    from bodymotion.collection.tensors import Tensors
    from bodymotion.model.body import Body

__all__ = ["Clip", "Collection", "open_collection"]

ARCHIVES = {".zip": "zip", ".tar": "tar", ".tgz": "tar", ".tar.gz": "tar", ".tar.bz2": "tar", ".tar.xz": "tar"}
"""Extensions of archives, and how fsspec opens them."""
STATES = ("ETag", "etag", "mtime", "LastModified", "updated", "created", "CRC", "chksum")
"""What file systems report that changes when a file is written."""


@dataclass(frozen=True)
class Clip:
    """A motion of a collection that is not read yet: its name there, its path or address, and its number in a data set."""

    name: str
    address: str
    episode: int | None = None

    def __str__(self) -> str:
        return self.address if self.episode is None else f"{self.address}/{self.name}"

    @property
    def file_name(self) -> str:
        """Its name in the collection, as a file has it: of an episode with the extension `.seq`."""
        return self.name if self.episode is None else f"{self.name}.seq"

    @contextmanager
    def file(self) -> Iterator[Path]:
        """Return a file with its content: its own, or a copy that is removed when the block ends; of an episode a `.seq`."""
        if self.episode is not None:
            from bodymotion.formats.registry import save

            with tempfile.TemporaryDirectory() as folder:
                save(self.load(), Path(folder) / "episode.seq")
                yield Path(folder) / "episode.seq"
            return
        if "://" not in self.address:
            yield Path(self.address)
            return
        system, path = _system(self.address)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / (PurePosixPath(path).name or "motion")
            size, free = int(system.info(path).get("size") or 0), shutil.disk_usage(folder).free
            if size > free:
                raise OSError(f"{self.name} has {size} bytes, and {free} are free for its copy in {folder}")
            system.get_file(path, str(copy))
            yield copy

    def state(self) -> tuple[int, str]:
        """Return its size, and a text that changes when it is written."""
        if "://" not in self.address:
            about = os.stat(self.address)  # noqa: PTH116  # many files
            return about.st_size, str(about.st_mtime_ns)
        system, path = _system(self.address)
        found = system.info(path)
        changed = [str(found.get(name)) for name in STATES]
        return int(found.get("size") or 0), hashlib.sha256(repr(changed).encode()).hexdigest()[:16]

    def load(self, **options: Any) -> Any:  # noqa: ANN401
        """Read it; options and errors as for `bodymotion.load`."""
        from bodymotion.collection.lerobot import read_episode
        from bodymotion.formats.registry import load

        if self.episode is not None:
            return read_episode(Path(self.address), self.episode)
        with self.file() as path:
            return load(path, **options)


@dataclass(frozen=True)
class Collection(Sequence[Clip]):
    """The clips of a collection, in order of their names; `collection["walks/a.seq"]` is one of them."""

    address: str
    clips: tuple[Clip, ...]

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
        found = next((clip for clip in self.clips if clip.name == key), None)
        if found is None:
            raise KeyError(f"no motion {key!r} in {self.address}, which has {len(self)}")
        return found

    def map(self, function: Callable[[Any], Any], **options: Any) -> Iterator[Outcome]:  # noqa: ANN401
        """Return the outcome of a function of the value of each clip, in any order; options as for `map_files`."""
        return map_files(partial(_of_value, function), self.clips, **options)

    def to_tensors(
        self,
        window: int | None = None,
        *,
        step: int | None = None,
        frame_rate: float | None = None,
        body: Body | None = None,
        test: float = 0.1,
        take: Callable[[str], str] = str,
        **options: Any,  # noqa: ANN401
    ) -> Tensors:
        """Return the motions as arrays for training; those that cannot be used are in `left_out` of the result.

        Parameters
        ----------
        window:
            Frames of a window; by default those of the longest motion. The last window of a motion is padded.
        step:
            Frames from one window to the next; by default `window`.
        frame_rate:
            [Hz] Motions are resampled to it, low-pass filtered before they are reduced. Without it, all need the same one.
        body:
            Its joints, in its order, are the channels. Without it, all motions need the same names in the same order.
        test:
            The share of takes for tests.
        take:
            Return the take of a motion from its name, such as ``lambda name: name.split("_")[0]``, so that a take that is cut into several
            files is on one side. By default, each motion is a take.
        options:
            As for `map_files`.

        Raises
        ------
        ValueError
            When the joints or frame rates of two motions differ, or no motion can be used or is for training; the message names one.
        """
        from bodymotion.collection.tensors import frames_of, windows_of

        outcomes = in_order(self.map(partial(frames_of, body=body, frame_rate=frame_rate), **options))
        return windows_of([clip.name for clip in self.clips], outcomes, window, step, test, take)


def _of_value(function: Callable[[Any], Any], clip: Clip) -> Any:  # noqa: ANN401
    return function(clip.load())


def is_collection(text: str) -> bool:
    """Return whether a text names a collection that is no folder of files: an address, an archive, or a data set of LeRobot."""
    from bodymotion.collection.lerobot import INFO
    from bodymotion.formats.registry import find_format

    if "://" in text or (Path(text) / INFO).is_file():
        return True
    if _archive_kind(text) and Path(text).is_file():
        try:
            find_format(text)  # an .npz may be named .zip
        except FormatError:
            return True
    return False


def _archive_kind(address: str) -> str:
    return next((kind for end, kind in ARCHIVES.items() if address.lower().endswith(end)), "")


def open_collection(source: str | os.PathLike[str]) -> Collection:
    """Return the motions in a folder, an archive or below an address, without models; or the episodes of a data set of LeRobot.

    Parameters
    ----------
    source:
        A folder, also that of a data set; an archive (.zip, .tar, .tar.gz …, extra `lake`); or an address that fsspec knows, such as
        ``s3://bucket/walks`` or ``s3://bucket/walks.zip`` (extra `lake`, and the package of the file system). Names and secrets are those
        of the environment.

    Raises
    ------
    NotADirectoryError
        When there is no such folder.
    ImportError
        Without the extra, for an archive or address.
    """
    from bodymotion.collection.lerobot import INFO, num_episodes

    address = os.fspath(source)
    if "://" not in address:
        address = os.path.abspath(address)  # noqa: PTH100  # links stay
    archive, folder = _archive_kind(address), Path(address)
    if archive and not folder.is_dir():
        address = f"{archive}://::{address}"
    if "://" not in address:
        if not folder.is_dir():
            raise NotADirectoryError(f"{source} is neither a folder nor an archive")
        if (folder / INFO).is_file():
            return Collection(address, tuple(Clip(f"episode_{k:06d}", address, k) for k in range(num_episodes(folder))))
        above = len(os.path.join(folder, ""))  # noqa: PTH118  # many files
        found = map(str, find_files([folder], models=False))
        files = ((path[above:].replace(os.sep, "/"), path) for path in found)
    else:
        from bodymotion.formats.registry import AMBIGUOUS, FORMATS

        system, root = _system(address)
        known = {one for row in FORMATS if row.holds != "Body" for one in row.extensions} - (
            AMBIGUOUS - {".csv", ".npz"}
        )
        chain = address[address.find("::") :] if "::" in address else ""
        paths: list[str] = system.find(root)
        inner = ((path, PurePosixPath(path[len(root) :].strip("/") or path.rpartition("/")[2])) for path in paths)
        files = (
            (str(name), f"{system.unstrip_protocol(path)}{chain}")
            for path, name in inner
            if name.suffix.lower() in known and not any(part.startswith(".") for part in name.parts)
        )
    return Collection(address, tuple(Clip(*one) for one in sorted(files)))


def _system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    core = need("fsspec", "lake", f"opening {address.partition('://')[0]}://").core
    first, chain, rest = address.partition("::")
    if not chain:
        system, path = core.url_to_fs(address)
        return system, str(path)
    # fsspec opens an archive again for each address.
    local = Path(rest)
    return _archive(f"{first.partition('://')[0]}://::{rest}", local.stat().st_mtime_ns if local.is_file() else 0), (
        first.partition("://")[2]
    )


@lru_cache(maxsize=4)
def _archive(address: str, changed: int) -> Any:  # noqa: ANN401
    try:
        return need("fsspec", "lake", "opening an archive").core.url_to_fs(address)[0]
    except (ValueError, EOFError, BadZipFile, TarError) as error:
        raise UNREADABLE.error(str(error), Location(address.partition("::")[2]), "") from None
