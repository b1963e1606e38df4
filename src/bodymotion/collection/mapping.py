"""Map a function over many inputs in several processes; what happens to one input is the outcome of that input alone.

Processes are spawned, not forked: a program may have threads. They ignore Ctrl-C, which is for the parent process, end when their work is
no longer wanted (SIGTERM, so that files which are being written are removed), and end when the parent process has gone.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

QUEUED = 4
"""Inputs for each process that are handed out at once. More would all be repeated one by one when a process ends."""


class ProcessEndedError(RuntimeError):
    """The process of an input has ended, for lack of memory for example."""


@dataclass(frozen=True)
class Outcome:
    """What the function returned for the input of this index, or the exception that it raised."""

    index: int
    value: Any = None
    error: Exception | None = None


def map_files(
    function: Callable[[Any], Any], inputs: Iterable[Any], *, workers: int | None = None
) -> Iterator[Outcome]:
    """Return the outcome of each input as soon as it is there, in any order (see `in_order`).

    Parameters
    ----------
    function:
        It is sent to each process once, and must be one that `pickle` knows: a function of a module, or a `functools.partial` of one.
    inputs:
        Files, or anything else that can be pickled.
    workers:
        The number of processes; by default one for each core. With one, everything happens in this process.
    """
    inputs = list(inputs)
    workers = min(workers or num_cores(), len(inputs))
    done: set[int] = set()
    if workers > 1:
        for outcome in _in_processes(function, inputs, workers):
            done.add(outcome.index)
            yield outcome
    for index in range(len(inputs)):
        if index not in done:
            yield _outcome(function, index, inputs[index])


def in_order(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Return outcomes in the order of their inputs."""
    early: dict[int, Outcome] = {}
    following = 0
    for outcome in outcomes:
        early[outcome.index] = outcome
        while following in early:
            yield early.pop(following)
            following += 1


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _outcome(function: Callable[[Any], Any], index: int, given: object) -> Outcome:
    try:
        return Outcome(index, function(given))
    except Exception as error:
        return Outcome(index, error=error)


def _in_processes(function: Callable[[Any], Any], inputs: Sequence[Any], workers: int) -> Iterator[Outcome]:
    """Return outcomes; only a part of them where processes cannot be started, as in a program that is read from a pipe."""
    from concurrent.futures import FIRST_COMPLETED, wait
    from concurrent.futures.process import BrokenProcessPool

    waiting = iter(range(len(inputs)))
    running: dict[Future[Outcome], int] = {}
    pool = _pool(function, workers)
    try:
        while True:
            for index in islice(waiting, QUEUED * workers - len(running)):
                running[pool.submit(_work, index, inputs[index])] = index
            if not running:
                pool.shutdown()  # a process that is ended while it waits for inputs could print a traceback
                return
            lost = []
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                index = running.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    lost.append(index)
                except Exception as error:  # it cannot be pickled
                    yield Outcome(index, error=error)
            if lost:
                # One of these inputs has ended its process: each gets a process of its own.
                lost += running.values()
                running.clear()
                _end(pool)
                for index in sorted(lost):
                    outcome = _alone(function, index, inputs[index])
                    if outcome is None:
                        return
                    yield outcome
                pool = _pool(function, workers)
    finally:
        _end(pool)


def _alone(function: Callable[[Any], Any], index: int, given: object) -> Outcome | None:
    """Return the outcome of an input in a process of its own; None where no process can be started."""
    from concurrent.futures.process import BrokenProcessPool

    pool = _pool(function, 1)
    try:
        pool.submit(int).result()
    except BrokenProcessPool:
        return None
    try:
        return pool.submit(_work, index, given).result()
    except BrokenProcessPool:
        return Outcome(index, error=ProcessEndedError("its process has ended"))
    except Exception as error:
        return Outcome(index, error=error)
    finally:
        _end(pool)


def _pool(function: Callable[[Any], Any], workers: int) -> ProcessPoolExecutor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(function,))


def _end(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool, whatever they do."""
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()


_function: Callable[[Any], Any]


def _begin(function: Callable[[Any], Any]) -> None:
    """Prepare a process."""
    import threading

    from bodymotion.formats.registry import keep_bodies

    global _function
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _terminate)
    threading.Thread(target=_follow_parent, daemon=True).start()
    keep_bodies()


def _terminate(number: int, frame: object) -> NoReturn:
    """End as after an exception: files that are being written are removed."""
    raise SystemExit(128 + number)


def _follow_parent() -> None:
    """End this process when its parent process has ended, however that was."""
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _work(index: int, given: object) -> Outcome:
    try:
        return _outcome(_function, index, given)
    except SystemExit as end:
        # The pool would wait for the next input.
        os._exit(end.code if isinstance(end.code, int) else 1)
