"""Map a function over many inputs in several processes, or on a cluster; what happens to one input is the outcome of that input alone.

Processes are spawned, not forked: a program may have threads. They ignore Ctrl-C, which is for the parent process, end when their work is
no longer wanted (SIGTERM, so that files which are being written are removed), end when the parent process has gone, and keep limits of time
and memory for each input.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from threading import Lock, Thread
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeAlias

from bodymotion.diagnostics import ShortRepr, WrongUseError
from bodymotion.geometry.arrays import available_memory
from bodymotion.kernels.compiling import expect
from bodymotion.system.deferred import need

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

TIME_LIMIT = 3600.0  # [s] for one input, by default.
MIN_MEMORY = (
    1 << 30
)  # [bytes] Minimum memory limit of a process; else its share of the available memory.
QUEUED = 4  # Tasks for each process that are handed out at once.
TASKS = 1000  # Tasks that are handed out to a cluster at once.
MAX_IN_TASK = 20
"""Inputs in a task where there are many: a task costs up to milliseconds by itself. Those of a process that ends are repeated."""
MAX_SHARE = (
    0.01  # The largest part of many inputs that is handed out to processes at once.
)
RETRIES = 2  # How often a cluster tries an input again whose file could not be reached.


Marks: TypeAlias = (
    MutableSequence[int] | dict[int, int]
)  # Of inputs, whether they are being worked on.
Task: TypeAlias = list[tuple[int, Any]]  # Inputs with their indices.


class ProcessEndedError(RuntimeError):
    """The process of an input has ended, for lack of memory or after its time limit, for example."""


class ClusterError(RuntimeError):
    """The scheduler of a cluster does not answer, or was lost."""


@dataclass(frozen=True)
class Outcome(ShortRepr):
    """What the function returned for the input of this index, or the exception that it raised."""

    index: int
    value: Any = None
    error: Exception | None = None


def map_files(
    function: Callable[[Any], Any],
    inputs: Iterable[Any],
    *,
    workers: int | None = None,
    time_limit: float | None = None,
    cluster: str | None = None,
) -> Iterator[Outcome]:
    """Return the outcome of each input as soon as it is known, in any order (see `in_order`).

    Parameters
    ----------
    function:
        It is sent to each process once, and must be one that can be pickled: a function of a module, or a `functools.partial` of one.
    inputs:
        Files, or anything else that can be pickled.
    workers:
        The number of processes; by default one for each core. With one, all inputs are processed in this process, without limits.
    time_limit:
        After this time [s], by default an hour, the process of an input ends. The inputs of a process that has ended are tried once more,
        each in a process of its own.
    cluster:
        The address of a Dask scheduler, such as ``tcp://host:8786`` (extra `cluster`): its processes are used, with the cluster's limits.

    Raises
    ------
    ImportError
        Without the extra, for a cluster.
    ClusterError
        When the cluster does not answer, or its scheduler has ended.
    """
    if (workers is not None and workers < 1) or (
        time_limit is not None and not time_limit > 0
    ):
        raise WrongUseError(
            f"workers is {workers}, time_limit {time_limit}; expected at least 1, and more than 0 s"
        )
    inputs = list(inputs)
    if cluster is not None:
        yield from _on_cluster(function, inputs, cluster)
        return
    workers = min(workers or num_cores(), len(inputs))
    done: set[int] = set()
    if workers > 1:
        for outcome in _in_processes(
            function, inputs, workers, time_limit or TIME_LIMIT
        ):
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
    return (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )


def _outcome(function: Callable[[Any], Any], index: int, given: object) -> Outcome:
    try:
        return Outcome(index, function(given))
    except Exception as error:
        return Outcome(index, error=error)


def _in_processes(
    function: Callable[[Any], Any],
    inputs: Sequence[Any],
    workers: int,
    time_limit: float,
) -> Iterator[Outcome]:
    """Return outcomes; only a part of them where processes cannot be started, as in a program that is read from a pipe."""
    import multiprocessing
    from concurrent.futures import FIRST_COMPLETED, wait
    from concurrent.futures.process import BrokenProcessPool

    at_once = QUEUED * workers
    waiting = deque(_tasks(inputs, int(at_once / MAX_SHARE)))
    running: dict[Future[list[Outcome]], Task] = {}
    # Of each input, whether a process works on it.
    busy = multiprocessing.get_context("spawn").RawArray("b", len(inputs))
    pool = _pool(function, workers, time_limit, busy)
    try:
        while waiting or running:
            lost: Task = []
            try:
                while waiting and len(running) < at_once:
                    running[pool.submit(_work, waiting[0])] = waiting[0]
                    waiting.popleft()
            except BrokenProcessPool:
                lost += waiting.popleft()
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                try:
                    yield from future.result()
                except BrokenProcessPool:
                    lost += task
                except Exception as error:  # an outcome cannot be pickled
                    if len(task) == 1:
                        yield Outcome(task[0][0], error=error)
                    waiting.extendleft([one] for one in task if len(task) > 1)
            if lost:
                # One of the inputs in progress has ended its process: each of them gets its own process.
                lost = sorted(chain(lost, *running.values()), key=itemgetter(0))
                running.clear()
                _end(pool)
                suspects = [one for one in lost if busy[one[0]]] or lost
                for index, given in suspects:
                    outcome = _alone(function, index, given, time_limit)
                    if outcome is None:
                        return
                    yield outcome
                known = {index for index, _ in suspects}
                waiting.extendleft(
                    [one] for one in reversed(lost) if one[0] not in known
                )
                busy[:] = bytes(len(inputs))
                pool = _pool(function, workers, time_limit, busy)
        pool.shutdown()  # a process that is ended while it waits for inputs could print a traceback
    finally:
        _end(pool)


def _alone(
    function: Callable[[Any], Any], index: int, given: object, time_limit: float
) -> Outcome | None:
    """Return the outcome of an input in a process of its own; None where no process can be started."""
    from concurrent.futures.process import BrokenProcessPool

    pool = _pool(function, 1, time_limit, {})
    try:
        pool.submit(int).result()
    except BrokenProcessPool:
        return None
    start = time.monotonic()
    try:
        return pool.submit(_work, [(index, given)]).result()[0]
    except BrokenProcessPool:
        after = time.monotonic() - start
        reason = (
            f"it was not done after the time limit of {time_limit:g} s"
            if after >= time_limit
            else "it has ended"
        )
        return Outcome(
            index, error=ProcessEndedError(f"its process was lost: {reason}")
        )
    except Exception as error:
        return Outcome(index, error=error)
    finally:
        _end(pool)


def _pool(
    function: Callable[[Any], Any], workers: int, time_limit: float, busy: Marks
) -> ProcessPoolExecutor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    memory = max((available_memory() or 0) // workers, MIN_MEMORY)
    arguments = (function, time_limit, memory, busy, workers)
    return ProcessPoolExecutor(
        workers, mp_context=context, initializer=_begin, initargs=arguments
    )


def _end(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool, whatever they do."""
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()


_function: Callable[[Any], Any]
_time_limit: float
_busy: Marks
_nowhere: IO[str]


def _begin(
    function: Callable[[Any], Any],
    time_limit: float,
    memory: int,
    busy: Marks,
    workers: int,
) -> None:
    """Prepare a process, one of `workers`."""
    global _function, _time_limit, _busy, _nowhere
    _function, _time_limit, _busy, _nowhere = (
        function,
        time_limit,
        busy,
        open(os.devnull, "w"),  # noqa: PTH123, SIM115
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _terminate)
    Thread(target=_follow_parent, daemon=True).start()
    expect(len(busy) // workers, workers)
    try:
        import resource

        resource.setrlimit(
            resource.RLIMIT_DATA, (memory, resource.getrlimit(resource.RLIMIT_DATA)[1])
        )
    except (ImportError, OSError, ValueError):  # Windows; a lower limit from outside
        pass


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


def _work(task: Task) -> list[Outcome]:
    from bodymotion.formats.registry import bodies_kept

    outcomes = []
    try:
        with bodies_kept():
            for index, given in task:
                # A thread of its own, which needs no Python to run, ends the process at the limit.
                faulthandler.dump_traceback_later(_time_limit, exit=True, file=_nowhere)
                _busy[index] = 1
                outcomes.append(_outcome(_function, index, given))
                _busy[index] = 0
        return outcomes
    except SystemExit as end:
        # The pool would wait for the next input.
        os._exit(end.code if isinstance(end.code, int) else 1)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _tasks(inputs: Sequence[Any], count: int) -> list[Task]:
    """Return about `count` tasks, of inputs with their indices."""
    size = min(1 + len(inputs) // count, MAX_IN_TASK)
    numbered = list(enumerate(inputs))
    return [numbered[k : k + size] for k in range(0, len(numbered), size)]


def _on_cluster(
    function: Callable[[Any], Any], inputs: Sequence[Any], address: str
) -> Iterator[Outcome]:
    """Return the outcomes from the processes of a Dask cluster."""
    from concurrent.futures import CancelledError
    from logging import getLogger

    distributed = need("distributed", "cluster", "a cluster of Dask")
    waiting = iter(_tasks(inputs, 2 * TASKS))
    tasks: dict[str, Task] = {}
    log = getLogger(
        "distributed.client"
    )  # It prints the traceback of a lost connection.
    before, log.disabled = log.disabled, True
    try:
        with distributed.Client(address) as client:
            # The result of a task, not scattered data: it is made again when the processes that have it end.
            shared = client.submit(copy, function, pure=False)

            def submitted(parts: Iterable[Task]) -> list[Any]:
                futures = [
                    (client.submit(_remote, shared, part, pure=False), part)
                    for part in parts
                ]
                tasks.update((future.key, part) for future, part in futures)
                return [future for future, _ in futures]

            running = distributed.as_completed(submitted(islice(waiting, TASKS)))
            for future in running:
                part, error = tasks.pop(future.key), future.exception()
                if error is None:
                    yield from future.result()
                elif len(part) == 1:
                    yield Outcome(part[0][0], error=error)
                else:
                    running.update(submitted([one] for one in part))
                running.update(submitted(islice(waiting, 1)))
    except (OSError, CancelledError) as error:
        raise ClusterError(
            f"the scheduler {address} does not answer: {str(error).partition(chr(10))[0]}"
        ) from None
    finally:
        log.disabled = before


_one_at_a_time = Lock()  # Commands write to the standard streams of the process.


def _remote(function: Callable[[Any], Any], part: Task) -> list[Outcome]:
    """Return the outcomes of inputs, each tried again where that may help."""
    from bodymotion.formats.registry import bodies_kept

    outcomes = []
    with _one_at_a_time, bodies_kept():
        for index, given in part:
            for _ in range(RETRIES + 1):
                outcome = _outcome(function, index, given)
                if not isinstance(outcome.error, OSError) or isinstance(
                    outcome.error, FileNotFoundError
                ):
                    break
            outcomes.append(outcome)
    return outcomes
