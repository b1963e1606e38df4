"""Map a function over many inputs in several processes, or on a cluster.

What happens to one input is the outcome of that input alone.

Also one input, or one process at a time, is worked on in a process with limits
(`bodymotion.system.limited`).
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from typing import Any, TypeAlias

from bodymotion.diagnostics import ShortRepr, WrongUseError
from bodymotion.formats.registry import bodies_kept
from bodymotion.geometry.arrays import available_memory
from bodymotion.kernels.compiling import expect
from bodymotion.system.deferred import need
from bodymotion.system.limited import (
    IS_AVAILABLE,
    LimitedProcess,
    ProcessLimits,
    can_send,
    give_back,
    may_pass_again,
    take_process,
)
from bodymotion.system.limited import ProcessEndedError as ProcessEndedError

# [s] Time for one input, by default.
TIME_LIMIT = 3600.0
# [bytes] Minimum memory limit of a process. Else its share of the available memory.
MIN_MEMORY = 1 << 30
# Tasks that are handed out to a cluster at once.
TASKS = 1000
# Inputs in a task of a cluster where there are many. A task costs up to milliseconds by
# itself.
MAX_IN_TASK = 20
# How often a cluster tries an input again whose file could not be reached.
RETRIES = 2

# Inputs with their indices.
Task: TypeAlias = list[tuple[int, Any]]


class ClusterError(RuntimeError):
    """The scheduler of a cluster does not answer, or was lost."""


@dataclass(frozen=True)
class Outcome(ShortRepr):
    """What the function returned for the input of this index, or its exception."""

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
    limits: ProcessLimits | None = None,
) -> Iterator[Outcome]:
    """Return the outcome of each input as soon as it is known.

    In any order; see `in_order`.

    Parameters
    ----------
    function:
        It is sent to each process once: a function of a module, or a
        `functools.partial` of one. Any other, such as a lambda, is called in this
        process, without limits.
    inputs:
        Files, or anything else that can be pickled. An input that cannot, such as a
        motion at ``memory://``, is for this process.
    workers:
        The number of processes; by default one for each core.
    time_limit:
        After this time [s], by default an hour, the process of an input ends. The
        outcome is then a `ProcessEndedError`. An input whose process ended for another
        reason after other inputs is tried once more, in a process of its own.
    limits:
        Other limits for each input, such as `bodymotion.system.limited.OF_OTHERS`. By
        default, an input may take its share of the memory, at least 1 GiB, and the time
        limit.
    cluster:
        The address of a Dask scheduler, such as ``tcp://host:8786`` (extra `cluster`):
        its processes are used, with the cluster's limits.

    Raises
    ------
    ImportError
        Without the extra, for a cluster.
    ClusterError
        When the cluster does not answer, or its scheduler has ended.
    """
    has_workers = workers is None or workers >= 1
    has_time = time_limit is None or time_limit > 0
    if not has_workers or not has_time:
        raise WrongUseError(
            f"workers is {workers}, time_limit {time_limit}; expected at least 1, and "
            "more than 0 s"
        )
    inputs = list(inputs)
    if cluster is not None:
        yield from _on_cluster(function, inputs, cluster)
        return
    if not inputs:
        return
    # No more processes than inputs.
    workers = min(workers or num_cores(), len(inputs))
    if not IS_AVAILABLE or not can_send(function):
        for index, given in enumerate(inputs):
            yield _outcome(function, index, given)
        return
    if limits is None:
        # Processes share the available memory, so that all together do not exceed it.
        share = (available_memory() or 0) // workers
        limits = ProcessLimits(memory=max(share, MIN_MEMORY), deadline=TIME_LIMIT)
    if time_limit is not None:
        limits = replace(limits, deadline=time_limit)
    yield from _in_processes(function, inputs, workers, limits)


def in_order(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Return outcomes in the order of their inputs."""
    # Outcomes that are known before one of their predecessors.
    early: dict[int, Outcome] = {}
    following = 0
    for outcome in outcomes:
        early[outcome.index] = outcome
        while following in early:
            yield early.pop(following)
            following += 1


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _outcome(function: Callable[[Any], Any], index: int, given: object) -> Outcome:
    try:
        return Outcome(index, function(given))
    except Exception as error:
        return Outcome(index, error=error)


def _in_processes(
    function: Callable[[Any], Any],
    inputs: Sequence[Any],
    workers: int,
    limits: ProcessLimits,
) -> Iterator[Outcome]:
    """Return outcomes from processes, each of which works on one input at a time."""
    processes = _Processes(function, inputs, workers, limits)
    # The caller may stop before the last outcome.
    try:
        yield from processes.run()
    finally:
        processes.end()


class _Processes:
    """Processes that work on inputs."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        inputs: Sequence[Any],
        workers: int,
        limits: ProcessLimits,
    ) -> None:
        self._function = function
        self._inputs = inputs
        self._workers = workers
        self._limits = limits
        # One object for all processes of this call: by its identity a process that
        # another call has used is recognized, and gets the function again.
        self._share = _Share(len(inputs) // workers, workers)
        self._waiting = deque(range(len(inputs)))
        self._tried_again: set[int] = set()
        self._idle: list[LimitedProcess] = []
        # By the connection: the process, and the index of its input.
        self._running: dict[Any, tuple[LimitedProcess, int]] = {}

    def run(self) -> Iterator[Outcome]:
        """Return the outcomes, and give the processes back."""
        from multiprocessing.connection import wait

        while self._waiting or self._running:
            # Each idle process gets one input. So a slow input does not hold back
            # others.
            while self._waiting and len(self._running) < self._workers:
                outcome = self._start(self._waiting.popleft())
                if outcome is not None:
                    yield outcome
            # Wait for an answer, but no longer than until the next deadline.
            deadlines = [process.deadline for process, _ in self._running.values()]
            left = max(min(deadlines, default=0.0) - time.monotonic(), 0)
            wait(list(self._running), None if left == math.inf else left)
            for connection, (process, index) in list(self._running.items()):
                if not process.is_done():
                    continue
                del self._running[connection]
                outcome = self._finish(process, index)
                if outcome is not None:
                    yield outcome
        while self._idle:
            give_back(self._idle.pop())

    def end(self) -> None:
        """End the processes that were not given back."""
        # First all are asked to end, then they are waited for: so they end at the same
        # time.
        left_over = [*self._idle, *(process for process, _ in self._running.values())]
        for process in left_over:
            process.terminate()
        for process in left_over:
            process.end()

    def _start(self, index: int) -> Outcome | None:
        """Begin the work on an input.

        Return its outcome where it can be done in this process only.
        """
        process = self._idle.pop() if self._idle else take_process()
        # The function is sent only once: it may hold a large body.
        begin = None
        if process.prepared_for is not self._share:
            begin = (self._function, self._share)
        try:
            process.submit(_work, begin, self._inputs[index], limits=self._limits)
        except ProcessEndedError as error:
            return Outcome(index, error=error)
        except Exception:
            # What objects raise that have no pickle is of any type.
            self._idle.append(process)
            return _outcome(self._function, index, self._inputs[index])
        process.prepared_for = self._share
        self._running[process.connection] = process, index
        return None

    def _finish(self, process: LimitedProcess, index: int) -> Outcome | None:
        """Return the outcome of an input that is done.

        None where it is tried again.
        """
        try:
            value = process.receive()
        except (ProcessEndedError, MemoryError) as error:
            # A process without memory, or one that has ended, is not used again.
            process.end()
            if index not in self._tried_again and may_pass_again(process, error):
                self._tried_again.add(index)
                # At once, in a new process: see `may_pass_again`.
                self._waiting.appendleft(index)
                return None
            return Outcome(index, error=error)
        except Exception as error:
            self._idle.append(process)
            return Outcome(index, error=error)
        self._idle.append(process)
        return Outcome(index, value)


@dataclass(frozen=True, eq=False)
class _Share:
    """The part of the inputs that one of several processes gets."""

    num_inputs: int
    num_processes: int


_function: Callable[[Any], Any]


def _work(
    begin: tuple[Callable[[Any], Any], _Share] | None,
    given: object,
) -> Any:  # noqa: ANN401
    """Return what the function returns for an input.

    The first call of a process has the function.
    """
    global _function
    if begin is not None:
        _function, share = begin
        _expect(share)
    with bodies_kept():
        return _function(given)


_is_expecting = False


def _expect(share: _Share) -> None:
    """Prepare this process for the inputs of its first work."""
    global _is_expecting
    # A process keeps what it has prepared for the first call.
    if not _is_expecting:
        expect(share.num_inputs, share.num_processes)
        _is_expecting = True


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
    # More tasks than are handed out, so that fast processes get more of them.
    waiting = iter(_tasks(inputs, 2 * TASKS))
    tasks: dict[str, Task] = {}
    # It prints the traceback of a lost connection.
    log = getLogger("distributed.client")
    before = log.disabled
    log.disabled = True
    try:
        with distributed.Client(address) as client:
            # The result of a task, not scattered data: it is made again when the
            # processes that have it end.
            shared = client.submit(copy, function, pure=False)

            def submitted(parts: Iterable[Task]) -> list[Any]:
                futures = []
                for part in parts:
                    future = client.submit(_remote, shared, part, pure=False)
                    tasks[future.key] = part
                    futures.append(future)
                return futures

            running = distributed.as_completed(submitted(islice(waiting, TASKS)))
            for future in running:
                part = tasks.pop(future.key)
                error = future.exception()
                if error is None:
                    yield from future.result()
                # The process ended with this input alone. Of several inputs each is
                # tried by itself, as only one of them may be to blame.
                elif len(part) == 1:
                    yield Outcome(part[0][0], error=error)
                else:
                    running.update(submitted([item] for item in part))
                # One more for each that is done: the scheduler never has more than
                # `TASKS`.
                running.update(submitted(islice(waiting, 1)))
    except (OSError, CancelledError) as error:
        raise ClusterError(
            f"the scheduler {address} does not answer: "
            f"{str(error).partition(chr(10))[0]}"
        ) from None
    finally:
        log.disabled = before


# Commands write to the standard streams of the process.
_one_at_a_time = Lock()


def _remote(function: Callable[[Any], Any], part: Task) -> list[Outcome]:
    """Return the outcomes of inputs, each tried again where that may help."""
    outcomes = []
    with _one_at_a_time, bodies_kept():
        for index, given in part:
            for _ in range(RETRIES + 1):
                outcome = _outcome(function, index, given)
                # A file that does not exist will not appear; other errors may be those
                # of a network.
                is_missing = isinstance(outcome.error, FileNotFoundError)
                if is_missing or not isinstance(outcome.error, OSError):
                    break
            outcomes.append(outcome)
    return outcomes
