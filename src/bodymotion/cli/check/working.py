"""The work itself: each file is checked by itself, in processes of their own where there are many."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from bodymotion.diagnostics import Problem
    from bodymotion.model.body import Body

__all__ = ["Checked", "Task", "check_files"]

WORTH_IT = 4 << 20
"""Fewer bytes than this in all are not worth the start of processes."""
MANY = 40
"""Nor are fewer files than this, whatever their size."""


@dataclass(frozen=True)
class Checked:
    """What was found in a file: its problems, and the trace of a fault of ours."""

    path: Path
    problems: tuple[Problem, ...]
    trace: str = ""


@dataclass(frozen=True)
class Task:
    """What all files are checked for: the model that motions are for, and which rules."""

    body: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    allow_outside: bool = False
    package_paths: tuple[Path, ...] = ()

    def options(self, path: Path) -> dict[str, Any]:
        """Return the options for the reader of a file."""
        options: dict[str, Any] = {"allow_outside": True} if self.allow_outside else {}
        if self.package_paths and _is_urdf(path):
            options["package_paths"] = self.package_paths
        return options


def _is_urdf(path: Path) -> bool:
    from bodymotion.diagnostics import FormatError
    from bodymotion.formats.registry import find_format

    try:
        # What comes through a pipe can be read once only.
        return path.suffix.lower() == ".urdf" or (path.is_file() and find_format(path).name == "urdf")
    except (FormatError, OSError):
        return False


def check_files(
    files: Sequence[Path], task: Task, body: Body | None, told: Callable[[int, int], None] | None = None
) -> Iterator[Checked]:
    """Check files on all cores; the answers come in the order of the files. `body` is that of `task`, read already.

    `told(done, total)` hears of each file that is done.
    """
    cores = _cores()
    if len(files) < 2 or cores < 2 or (len(files) < MANY and _bytes(files) < WORTH_IT):
        for number, path in enumerate(files):
            answer = check_file(path, task, body)
            if told is not None:
                told(number + 1, len(files))
            yield answer
        return
    yield from _in_processes(files, task, body, min(cores, len(files)), told)


def check_file(path: Path, task: Task, body: Body | None) -> Checked:
    """Check a file; whatever goes wrong is a problem, and nothing is raised."""
    from bodymotion.checks import check, rules
    from bodymotion.diagnostics import Location

    try:
        report = check(path, body=body, select=task.select, ignore=task.ignore, **task.options(path))
    except MemoryError:
        return Checked(path, (rules.CRASHED.problem("not enough memory to read it", Location(str(path)), ""),))
    except Exception as error:
        message = f"not checked, by {type(error).__name__}: {error}"
        return Checked(path, (rules.FAULT.problem(message, Location(str(path))),), traceback.format_exc())
    return Checked(path, report.problems)


_at_work: tuple[Task, Body | None] | None = None


def _begin(task: Task) -> None:
    """Prepare a process: whoever stops the check tells it to all, and the model is read once."""
    import signal

    from bodymotion.formats.registry import load

    global _at_work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _at_work = (task, None if task.body is None else load(task.body, **task.options(task.body)))


def _ready() -> None:
    """Do nothing: whoever gets an answer knows that a process has begun."""


def _work(path: Path) -> Checked:
    assert _at_work is not None
    return check_file(path, *_at_work)


def _in_processes(
    files: Sequence[Path], task: Task, body: Body | None, workers: int, told: Callable[[int, int], None] | None
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
                # One of the files that were in work has ended its process: each is given one of its own from here on.
                pool.shutdown(wait=False, cancel_futures=True)
                answer = _alone(path, task, body)
            if told is not None:
                told(number + 1, len(files))
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
            # Not the file's fault: processes cannot be started here, as from a program that is read from a pipe.
            return check_file(path, task, body)
        try:
            return pool.submit(_work, path).result()
        except BrokenProcessPool:
            return Checked(path, (rules.CRASHED.problem("not checked: the process has ended", Location(str(path))),))


def _pool(task: Task, workers: int) -> ProcessPoolExecutor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Not by fork: there are threads, of the progress bar for one.
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
