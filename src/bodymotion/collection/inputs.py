"""The files that arguments name.

Files, folders, patterns such as ``walks/**/*.seq``, and lists (``@list.txt``, one a
line).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics import FormatError
from bodymotion.system.files import open_file
from bodymotion.system.limited import call_limited

if TYPE_CHECKING:
    from bodymotion.formats.registry import Format

# Of the name of a result: its extension and marks may be added. File systems have names
# of up to 255 bytes.
MAX_NAME_BYTES = 200
MAX_EXTENSION_BYTES = 16
# A .csv in a folder with fewer columns of numbers is no motion.
MIN_COLUMNS = 3
# The file that describes a rosbag2.
BAG = "metadata.yaml"
# The extensions of its other files.
BAG_FILES = (".mcap", ".db3")
# Extensions of archives, and how fsspec opens them.
ARCHIVES = {
    ".zip": "zip",
    ".tar": "tar",
    ".tgz": "tar",
    ".tar.gz": "tar",
    ".tar.bz2": "tar",
    ".tar.xz": "tar",
}


def is_many(path: Path) -> bool:
    """Return whether an argument stands for many files.

    A folder, or the name of a pattern or list and of no file.
    """
    # A file may have a name that looks like a pattern: what exists is itself.
    if path.is_dir() or path.exists():
        return path.is_dir()
    name = str(path.relative_to(_fixed(path)))
    return str(path).startswith("@") or any(sign in name for sign in "*?[")


def _fixed(pattern: Path) -> Path:
    """Return the folder that a pattern searches.

    The first above it that exists, as a folder can have brackets in its name.
    """
    for folder in pattern.parents:
        if folder.is_dir():
            return folder
    return Path(pattern.anchor)


def find_files(
    given: Iterable[str | Path],
    left_out: Callable[[Path, Path | None], object] = lambda path, folder: None,
    models: bool = True,
) -> Iterator[Path]:
    """Return the files, each once.

    Those of a folder in order of name, without hidden ones and without linked folders.

    A symbolic link that leads out of its folder is left out, and reported to
    `left_out(link, folder)`: a folder from elsewhere could otherwise name any file of
    this machine, which would be shown, and with `--fix` changed. What is no known
    format by its content, where its extension does not show the format, is reported as
    `left_out(file, None)`; so are archives and data sets of LeRobot in a folder. Of the
    folder of a rosbag2, only `metadata.yaml` counts. Without `models`, those of a
    folder or pattern are left out.

    Raises
    ------
    OSError
        When a list cannot be read.
    ValueError
        When a list holds more than paths of files.
    """
    # Arguments may overlap, as a folder and a file in it.
    seen: set[Path] = set()
    for argument in map(Path, given):
        for path in _files_of(argument, left_out, models):
            if path not in seen:
                seen.add(path)
                yield path


def _files_of(
    argument: Path, left_out: Callable[[Path, Path | None], object], models: bool
) -> Iterator[Path]:
    """Return the files of one argument."""
    if argument.is_dir():
        paths = _walk(argument, left_out)
    elif not is_many(argument):
        yield argument
        return
    elif str(argument).startswith("@"):
        yield from find_files(listed_in(Path(str(argument)[1:])), left_out, models)
        return
    else:
        paths = _match(argument)
    for path in paths:
        if models or getattr(format_of(path), "holds", "") != "Body":
            yield path


def _match(pattern: Path) -> Iterator[Path]:
    """Return the files that match a pattern, without hidden ones."""
    top = _fixed(pattern)
    # By name, so that results do not depend on the file system.
    for path in sorted(top.glob(str(pattern.relative_to(top)))):
        if path.is_file() and not path.name.startswith("."):
            yield path


def root_of(given: Iterable[Path], files: Iterable[Path]) -> Path:
    """Return the folder that the arguments have in common.

    That of the files where they are named in lists or by their names.
    """
    tops = []
    for path in given:
        if path.is_dir():
            tops.append(path)
        elif is_many(path) and str(path).startswith("@"):
            tops += [file.parent for file in files]
        else:
            tops.append(_fixed(path))
    # Links stay as they are.
    absolute = [os.path.abspath(top) for top in tops]  # noqa: PTH100
    return Path(os.path.commonpath(absolute))


def listed_in(path: Path) -> list[str]:
    """Return the lines of a list of paths and addresses."""
    try:
        with open_file(path) as stream:
            lines = stream.read().decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: a list holds one path in a line, as UTF-8 text ({error.reason})"
        ) from None
    names = [line.strip() for line in lines if line.strip()]
    for name in names:
        if name.startswith("@"):
            raise ValueError(f"{path}: a list cannot name another list ({name})")
    return names


def format_of(path: Path) -> Format | None:
    """Return the format of a file, by its extension or else by its content.

    None where it is unknown.
    """
    from bodymotion.formats.registry import AMBIGUOUS, FORMATS, find_format

    extension = path.suffix.lower()
    rows = [row for row in FORMATS if extension in row.extensions]
    # The extension is enough where one format has it: the file is not opened.
    if len(rows) == 1 and extension not in AMBIGUOUS:
        return rows[0]
    with suppress(FormatError):
        return find_format(path)
    return None


def archive_kind(address: str) -> str:
    """Return how fsspec opens an archive with this name.

    Empty for other names.
    """
    # The name may have several dots, so that `suffix` is not enough: .tar.gz.
    for extension, kind in ARCHIVES.items():
        if address.lower().endswith(extension):
            return kind
    return ""


def member_of(address: str) -> tuple[str, str] | None:
    """Return the archive and the name in it of an address that leads into one.

    Such as ``walks.zip/a/b.seq``. None for others.
    """
    if "::" in address:
        return None
    address = address.replace(os.sep, "/")
    # Each slash with something behind it may be the border between an archive and a
    # name in it; the first archive counts.
    for slash in re.finditer("/(?=.)", address):
        above = address[: slash.start()]
        inner = address[slash.end() :]
        if archive_kind(above) and ("://" in above or Path(above).is_file()):
            return above, inner
    return None


def plain_path(name: str) -> PurePosixPath:
    """Return a path below a folder for a name in an archive or at an address.

    Each part is a name that every file system has: without control characters and what
    Windows reserves, such as a drive, without a leading dash, and not too long.
    """
    parts = [part for part in name.split("/") if part not in ("", ".", "..")]
    return PurePosixPath(*map(_plain_part, parts))


def _plain_part(name: str) -> str:
    """Return a part of a path as a name for a file."""
    plain = re.sub(
        r'[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"|?*\\]',
        "_",
        name,
    )
    if plain.startswith("-"):
        plain = f"_{plain[1:]}"
    # Windows drops a dot or a blank at the end, so that two names would be one file.
    plain = re.sub(r"[. ]$", "_", plain)
    size = len(os.fsencode(plain))
    if size <= MAX_NAME_BYTES:
        return plain
    stem, dot, extension = plain.rpartition(".")
    if len(os.fsencode(extension)) > MAX_EXTENSION_BYTES:
        stem = plain
        dot = ""
        extension = ""
    # Two long names with one beginning stay two names.
    mark = hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
    head = os.fsencode(stem)[: MAX_NAME_BYTES - MAX_EXTENSION_BYTES - len(mark) - 2]
    return f"{head.decode(errors='ignore')}_{mark}{dot}{extension}"


def episode_of(address: str) -> tuple[Path, int] | None:
    """Return the data set of LeRobot and the number of an episode in it.

    Such as ``walks/episode_000001``. None for other addresses.
    """
    from bodymotion.collection.lerobot import INFO

    path = Path(address)
    number = re.fullmatch(r"episode_(\d{6,})", path.name)
    if number and (path.parent / INFO).is_file():
        return (path.parent, int(number[1]))
    return None


def is_single(given: Path | str) -> bool:
    """Return whether an argument names one file.

    Or one episode, or one motion in an archive.
    """
    if isinstance(given, Path):
        return not is_many(given)
    return episode_of(given) is not None or member_of(given) is not None


def is_collection(text: str) -> bool:
    """Return whether a text names a collection that is no folder of files.

    An address, an archive, a data set, or a motion in one.
    """
    from bodymotion.collection.lerobot import INFO
    from bodymotion.formats.registry import find_format

    if (
        "://" in text
        or (Path(text) / INFO).is_file()
        or episode_of(text)
        or member_of(text)
    ):
        return True
    if archive_kind(text) and Path(text).is_file():
        try:
            find_format(text)  # an .npz may be named .zip
        except FormatError:
            return True
    return False


def _is_known(path: Path) -> bool | None:
    """Return whether a file has a known format.

    Or in a .csv `MIN_COLUMNS` columns of numbers. None for a table of results.
    """
    from bodymotion.formats.registry import HEAD, LONG_HEAD, recognised
    from bodymotion.formats.tables.number_table import num_columns
    from bodymotion.system.files import read_head

    with suppress(OSError):
        row = recognised(read_head(path, HEAD))
        if row is not None:
            return _holds_motion(path) if row.name == "parquet" else True
        if path.suffix.lower() == ".csv":
            # The line of names may be long.
            for size in (HEAD, LONG_HEAD):
                if num_columns(read_head(path, size)) >= MIN_COLUMNS:
                    return True
    return False


def _holds_motion(path: Path) -> Any:  # noqa: ANN401
    from bodymotion.formats.csv.reader import holds_motion

    try:
        return call_limited(holds_motion, path)
    except Exception:
        # What pyarrow raises for damaged files is of many types; reading one reports
        # the damage.
        return True


def _walk(
    folder: Path, left_out: Callable[[Path, Path | None], object]
) -> Iterator[Path]:
    """Yield the motions in a folder and the folders below it."""
    from bodymotion.collection.lerobot import INFO
    from bodymotion.formats.registry import FORMATS

    extensions: set[str] = set()
    for row in FORMATS:
        extensions.update(row.extensions)
    root = os.path.realpath(folder)

    def stays(entry: os.DirEntry[str]) -> bool:
        if not entry.is_symlink() or Path(os.path.realpath(entry)).is_relative_to(root):
            return True
        left_out(Path(entry), folder)
        return False

    # A stack instead of recursion: the depth of folders is not limited.
    waiting: list[str | Path] = [folder]
    while waiting:
        top = waiting.pop()
        entries = _entries_of(top)
        names = {entry.name for entry in entries}
        # A data set in the folder is a collection of its own: its Parquet files are no
        # motions.
        if top != folder and INFO.parts[0] in names and Path(top, INFO).is_file():
            left_out(Path(top), None)
            continue
        # It is no folder where links form a loop.
        folders = [
            entry
            for entry in entries
            if os.path.isdir(entry) and stays(entry)  # noqa: PTH112
        ]
        waiting += [entry.path for entry in reversed(folders) if not entry.is_symlink()]
        # The files of a rosbag2 are read by way of its metadata.yaml, and not one by
        # one.
        is_bag = BAG in names and _is_known(Path(top, BAG))
        used = extensions.difference(BAG_FILES if is_bag else ())
        for entry in entries:
            if _is_candidate(entry, used) and stays(entry):
                is_motion = _is_motion(Path(entry), used)
                if is_motion:
                    yield Path(entry)
                elif is_motion is not None:
                    left_out(Path(entry), None)


def _entries_of(folder: str | Path) -> list[os.DirEntry[str]]:
    """Return what is in a folder, in order of name and without hidden entries.

    Nothing where it cannot be read.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    return [entry for entry in entries if not entry.name.startswith(".")]


def _is_candidate(entry: os.DirEntry[str], extensions: Collection[str]) -> bool:
    """Return whether an entry of a folder is a file that may be a motion.

    Or an archive.
    """
    extension = os.path.splitext(entry.name)[1].lower()  # noqa: PTH122  # many files
    if extension not in extensions and not archive_kind(entry.name):
        return False
    return os.path.isfile(entry)  # noqa: PTH113


def _is_motion(path: Path, extensions: Collection[str]) -> bool | None:
    """Return whether a file has a known format, by its extension or its content.

    None for a table of results.
    """
    from bodymotion.formats.registry import AMBIGUOUS

    extension = path.suffix.lower()
    # The extension shows the format: opening each of many files would take longer.
    if extension in extensions and extension not in AMBIGUOUS:
        return True
    return _is_known(path)
