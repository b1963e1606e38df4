"""The files that arguments name: files, folders, patterns such as ``walks/**/*.seq``, and lists (``@list.txt``, one a line)."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from bodymotion.diagnostics import FormatError

MIN_COLUMNS = 3  # A .csv in a folder with fewer columns of numbers is no motion.


def is_many(path: Path) -> bool:
    """Return whether an argument stands for many files: a folder, or the name of a pattern or list and of no file."""
    return path.is_dir() or (not path.exists() and (_is_pattern(path) or str(path).startswith("@")))


def _is_pattern(path: Path) -> bool:
    return any(sign in str(path.relative_to(_fixed(path))) for sign in "*?[")


def _fixed(pattern: Path) -> Path:
    """Return the folder that a pattern searches: the first above it that exists, as a folder can have brackets in its name."""
    return next((one for one in pattern.parents if one.is_dir()), Path(pattern.anchor))


def find_files(
    given: Iterable[str | Path],
    left_out: Callable[[Path, Path | None], None] | None = None,
    models: bool = True,
    tables: bool = True,
) -> Iterator[Path]:
    """Return the files, each once; those of a folder in order of name, without hidden ones and without linked folders.

    A symbolic link that leads out of its folder is left out, and reported to `left_out(link, folder)`: a folder from elsewhere could
    otherwise name any file of this machine, which would be shown, and with `--fix` changed. A file of unknown format, by extension and
    content, is reported as `left_out(file, None)`. Without `models`, those of a folder or pattern
    are left out; without `tables`, the .csv files of a folder.

    Raises
    ------
    OSError
        When a list cannot be read.
    ValueError
        When a list holds more than paths of files.
    """
    seen: set[Path] = set()
    for path in map(Path, given):
        found: Iterable[Path] = (path,)
        is_searched = is_many(path) and not str(path).startswith("@")
        if path.is_dir():
            found, is_searched = _walk(path, left_out, tables), True
        elif is_searched:
            top = _fixed(path)
            matches = sorted(top.glob(str(path.relative_to(top))))
            found = (one for one in matches if one.is_file() and one.name[0] != ".")
        elif is_many(path):
            found = find_files(_listed(Path(str(path)[1:])), left_out, models, tables)
        for one in found:
            if one not in seen and (models or not is_searched or not _is_model(one)):
                seen.add(one)
                yield one


def root_of(given: Iterable[Path], files: Iterable[Path]) -> Path:
    """Return the folder that the arguments have in common: that of the files where they are named in lists or by their names."""
    tops = []
    for path in given:
        if path.is_dir():
            tops.append(path)
        elif is_many(path) and not str(path).startswith("@"):
            tops.append(_fixed(path))
        elif is_many(path):
            tops += [one.parent for one in files]
        else:
            tops.append(path.parent)
    return Path(os.path.commonpath([os.path.abspath(top) for top in tops]))  # noqa: PTH100  # links stay


def _listed(path: Path) -> list[Path]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: a list holds one path in a line, as UTF-8 text ({error.reason})") from None
    found = [Path(line.strip()) for line in lines if line.strip()]
    for one in found:
        if str(one).startswith("@"):
            raise ValueError(f"{path}: a list cannot name another list ({one})")
    return found


@cache
def _held(extension: str) -> set[str]:
    """Return what files with an extension hold, nothing where only their content shows that."""
    from bodymotion.formats.registry import AMBIGUOUS, FORMATS

    return {row.holds for row in FORMATS if extension in row.extensions and extension not in AMBIGUOUS}


def _is_model(path: Path) -> bool:
    from bodymotion.formats.registry import find_format

    held = _held(path.suffix.lower())
    if held:
        return held == {"Body"}
    with suppress(FormatError):
        return find_format(path).holds == "Body"
    return False


def _has_numbers(head: bytes) -> bool:
    """Return whether a text is a table of at least `MIN_COLUMNS` numbers in a row, below a line of names if any."""
    try:
        row = [float(word) for word in head.split(b"\n", 2)[1].split(b",")]
    except (IndexError, ValueError):
        return False
    return len(row) >= MIN_COLUMNS


def _walk(folder: Path, left_out: Callable[[Path, Path | None], None] | None, tables: bool) -> Iterator[Path]:
    from bodymotion.formats.registry import AMBIGUOUS, FORMATS, HEAD
    from bodymotion.system.files import read_head

    extensions = {extension for row in FORMATS for extension in row.extensions}
    root = os.path.realpath(folder)

    def stays(entry: os.DirEntry[str]) -> bool:
        if not entry.is_symlink() or Path(os.path.realpath(entry)).is_relative_to(root):
            return True
        if left_out is not None:
            left_out(Path(entry), folder)
        return False

    waiting: list[str | Path] = [folder]
    while waiting:
        try:
            entries = sorted(os.scandir(waiting.pop()), key=lambda entry: entry.name)
        except OSError:
            continue
        entries = [entry for entry in entries if not entry.name.startswith(".")]
        folders = [entry for entry in entries if os.path.isdir(entry) and stays(entry)]  # noqa: PTH112  # False for loops of links
        waiting += [entry.path for entry in reversed(folders) if not entry.is_symlink()]
        for entry in entries:
            extension = os.path.splitext(entry.name)[1].lower()  # noqa: PTH122  # many files
            if extension not in extensions or not os.path.isfile(entry) or not stays(entry):  # noqa: PTH113
                continue
            if extension in AMBIGUOUS:
                try:
                    head = read_head(Path(entry), HEAD)
                except OSError:
                    continue
                if not any(row.sniff(head) for row in FORMATS) and not (
                    tables and extension == ".csv" and _has_numbers(head)
                ):
                    if left_out is not None:
                        left_out(Path(entry), None)
                    continue
            yield Path(entry)
