"""Which files are to be checked: those that are named, and in folders all that look like models and motions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

__all__ = ["found_files"]

VAGUE = {".yaml", ".yml", ".json", ".xml", ".csv", ".txt", ".dae", ".npz", ".obj", ".stl", ""}
"""Extensions that many other files have, too: in a folder such a file counts only if its content says what it is."""


def found_files(given: Iterable[Path], outside: Callable[[Path, Path], None] | None = None) -> Iterator[Path]:
    """Return the files, each once, in order; a folder's in order of name, without hidden ones, and without going into linked folders.

    What links in a folder lead out of it to is not among them: `outside(link, folder)` hears of each such link. A folder from elsewhere
    might lead to any file of this machine otherwise, which would be shown, and with `--fix` changed.
    """
    seen: set[Path] = set()
    for path in given:
        for one in _walked(path, outside) if path.is_dir() else (path,):
            if one not in seen:
                seen.add(one)
                yield one


def _walked(folder: Path, outside: Callable[[Path, Path], None] | None) -> Iterator[Path]:
    from bodymotion.formats.registry import FORMATS, HEAD
    from bodymotion.system.open_files import read_head

    extensions = {extension for row in FORMATS for extension in row.extensions}
    root = os.path.realpath(folder)

    def stays(path: Path) -> bool:
        if not path.is_symlink() or Path(os.path.realpath(path)).is_relative_to(root):
            return True
        if outside is not None:
            outside(path, folder)
        return False

    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and stays(Path(above, name)))
        for name in sorted(names):
            path = Path(above, name)
            extension = path.suffix.lower()
            if name.startswith(".") or extension not in extensions or not stays(path) or not path.is_file():
                continue
            if extension in VAGUE:
                try:
                    head = read_head(path, HEAD)
                except OSError:
                    continue
                if not any(row.sniff(head) for row in FORMATS):
                    continue
            yield path
