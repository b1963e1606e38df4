"""The work of `bodymotion check`: find the files, and check each by itself, in several processes where there are many."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from bodymotion.diagnostics import Problem
    from bodymotion.model.body import Body

MIN_BYTES = 4 << 20
MIN_FILES = 40
"""With fewer bytes and fewer files than this, starting processes takes longer than it saves."""
AMBIGUOUS = {".yaml", ".yml", ".json", ".xml", ".csv", ".txt", ".dae", ".npz", ".obj", ".stl", ""}
"""Extensions that other files have, too: in a folder such a file is checked only if its content is of a known format."""


def find_files(given: Iterable[Path], outside: Callable[[Path, Path], None] | None = None) -> Iterator[Path]:
    """Return the files, each once; those of a folder in order of name, without hidden ones and without linked folders.

    A symbolic link that leads out of its folder is left out, and reported to `outside(link, folder)`: a folder from elsewhere could
    otherwise name any file of this machine, which would be shown, and with `--fix` changed.
    """
    seen: set[Path] = set()
    for path in given:
        for one in _walk(path, outside) if path.is_dir() else (path,):
            if one not in seen:
                seen.add(one)
                yield one


def _walk(folder: Path, outside: Callable[[Path, Path], None] | None) -> Iterator[Path]:
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
            if extension in AMBIGUOUS:
                try:
                    head = read_head(path, HEAD)
                except OSError:
                    continue
                if not any(row.sniff(head) for row in FORMATS):
                    continue
            yield path


@dataclass(frozen=True)
class Checked:
    """The problems of a file, and the traceback of a bug of bodymotion."""

    path: Path
    problems: tuple[Problem, ...]
    trace: str = ""


@dataclass(frozen=True)
class Task:
    """What all files are checked with: the model of motions, the rules, and options of readers."""

    body: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)
    by_position: bool = False


def check_files(
    files: Sequence[Path], task: Task, body: Body | None, progress: Callable[[int, int], None] | None = None
) -> Iterator[Checked]:
    """Check files on all cores; return the answers in the order of the files.

    `body` is that of `task`, already read. `progress(done, total)` is called after each file.
    """
    cores = _cores()
    if len(files) < 2 or cores < 2 or (len(files) < MIN_FILES and _bytes(files) < MIN_BYTES):
        for number, path in enumerate(files):
            answer = check_file(path, task, body)
            if progress is not None:
                progress(number + 1, len(files))
            yield answer
        return
    yield from _in_processes(files, task, body, min(cores, len(files)), progress)


def check_file(path: Path, task: Task, body: Body | None) -> Checked:
    """Check a file; every exception becomes a problem."""
    from bodymotion.checks import check, rules
    from bodymotion.diagnostics import FormatError, Location
    from bodymotion.formats.registry import find_format

    try:
        options = {} if not task.reading else find_format(path).options_of(task.reading)
    except FormatError:
        options = {}
    try:
        report = check(path, body=body, by_position=task.by_position, select=task.select, ignore=task.ignore, **options)
    except MemoryError:
        return Checked(path, (rules.CRASHED.problem("not enough memory to read the file", Location(str(path)), ""),))
    except Exception as error:
        message = f"not checked because of {type(error).__name__}: {error}"
        return Checked(path, (rules.FAULT.problem(message, Location(str(path))),), traceback.format_exc())
    return Checked(path, report.problems)


_shared: tuple[Task, Body | None] | None = None


def _begin(task: Task) -> None:
    """Prepare a process: read the model once, and leave Ctrl-C to the parent process."""
    import signal

    from bodymotion.cli.files import load_body

    global _shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _shared = (task, None if task.body is None else load_body(task.body, dict(task.reading)))


def _ready() -> None:
    """Do nothing: an answer means that the process has started."""


def _work(path: Path) -> Checked:
    assert _shared is not None
    return check_file(path, *_shared)


def _in_processes(
    files: Sequence[Path], task: Task, body: Body | None, workers: int, progress: Callable[[int, int], None] | None
) -> Iterator[Checked]:
    from concurrent.futures import Future
    from concurrent.futures.process import BrokenProcessPool

    pool = _pool(task, workers)
    try:
        pending: list[Future[Checked]] = [pool.submit(_work, path) for path in files]
        for number, path in enumerate(files):
            try:
                answer = pending[number].result()
            except BrokenProcessPool:
                # One of the files being checked has ended its process: from here on each file gets its own process.
                pool.shutdown(wait=False, cancel_futures=True)
                answer = _alone(path, task, body)
            if progress is not None:
                progress(number + 1, len(files))
            yield answer
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _alone(path: Path, task: Task, body: Body | None) -> Checked:
    from concurrent.futures.process import BrokenProcessPool

    from bodymotion.checks import rules
    from bodymotion.diagnostics import Location

    with _pool(task, 1) as pool:
        try:
            pool.submit(_ready).result()
        except BrokenProcessPool:
            # Processes cannot be started here, for example in a program that is read from a pipe.
            return check_file(path, task, body)
        try:
            return pool.submit(_work, path).result()
        except BrokenProcessPool:
            return Checked(path, (rules.CRASHED.problem("not checked: its process has ended", Location(str(path))),))


def _pool(task: Task, workers: int) -> ProcessPoolExecutor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Not by fork: there are threads, such as that of the progress bar.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(task,))


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _bytes(files: Sequence[Path]) -> int:
    from bodymotion.system.open_files import size_of

    return sum(size_of(path) or 0 for path in files)
