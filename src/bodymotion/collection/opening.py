"""A collection of motions: those of a folder, or of an address of fsspec such as s3:// or memory://; each is read when it is used."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, overload

from bodymotion.collection.inputs import AMBIGUOUS, find_files
from bodymotion.collection.mapping import Outcome, map_files
from bodymotion.system.extras import need

__all__ = ["Clip", "Collection", "open_collection"]


@dataclass(frozen=True)
class Clip:
    """A motion of a collection that is not read yet: its name there, its path or address, and its number in a data set."""

    name: str
    address: str
    episode: int | None = None

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
            system.get_file(path, str(copy))
            yield copy

    def state(self) -> tuple[int, str]:
        """Return its size, and a text that changes when it is written."""
        if "://" not in self.address:
            about = Path(self.address).stat()
            return about.st_size, str(about.st_mtime_ns)
        system, path = _system(self.address)
        found = system.info(path)
        changed = [str(found.get(name)) for name in ("ETag", "etag", "mtime", "LastModified", "updated", "created")]
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

    def map(self, function: Callable[[Any], Any], *, workers: int | None = None) -> Iterator[Outcome]:
        """Return the outcome of a function of the value of each clip, in any order; see `map_files`."""
        return map_files(partial(_of_value, function), self.clips, workers=workers)


def _of_value(function: Callable[[Any], Any], clip: Clip) -> Any:  # noqa: ANN401
    return function(clip.load())


def open_collection(source: str | os.PathLike[str]) -> Collection:
    """Return the motions in a folder or below an address, models among them left out; or the episodes of a data set of LeRobot.

    Parameters
    ----------
    source:
        A folder, also that of a data set; or an address that fsspec knows, such as ``s3://bucket/walks`` (extra `lake`, and the package
        of the file system). Names and secrets are those of the environment.

    Raises
    ------
    NotADirectoryError
        When there is no such folder.
    ImportError
        Without the extra, for an address.
    """
    from bodymotion.collection.lerobot import INFO, num_episodes

    address = os.fspath(source)
    if "://" not in address:
        folder = Path(address)
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder} is no folder")
        if (folder / INFO).is_file():
            return Collection(address, tuple(Clip(f"episode_{k:06d}", address, k) for k in range(num_episodes(folder))))
        files = ((path.relative_to(folder).as_posix(), str(path)) for path in find_files([folder], models=False))
    else:
        from bodymotion.formats.registry import FORMATS

        system, root = _system(address)
        known = {one for row in FORMATS if row.holds != "Body" for one in row.extensions} - (
            AMBIGUOUS - {".csv", ".npz"}
        )
        found = (path for path in system.find(root) if PurePosixPath(path).suffix.lower() in known)
        files = ((path[len(root) :].strip("/"), str(system.unstrip_protocol(path))) for path in found)
    return Collection(address, tuple(Clip(*one) for one in sorted(files)))


def _system(address: str) -> tuple[Any, str]:
    system, path = need("fsspec", "lake", f"opening {address.partition('://')[0]}://").core.url_to_fs(address)
    return system, str(path)
