"""How kernels are compiled and called.

On first use, without the interpreter's lock, cached on disk, divided by frames among
threads.

numba is imported when the first kernel is called. While a program has little work for a
kernel (`is_small`), nothing is compiled or loaded for it: the function that calls the
kernel computes with NumPy. Both agree within rounding (`tests/test_kernels.py`).
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from bodymotion.geometry.arrays import Floats, frozen

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_F = TypeVar("_F", bound=Callable[..., object])

# Work of a kernel, in inner loop steps such as links × frames, that NumPy does in less
# time than it takes to load compiled code.
MAX_NUMPY_WORK = 1_000_000
MAX_NUMPY_WORK_IN_ALL = 3_000_000  # The same for all calls so far, small ones.
CALL_OVERHEAD = (
    5_000  # Inner loop steps that take as long as the overhead of a call with NumPy.
)
ONE_THREAD = 512  # Number of frames up to which one thread is faster than several.

num_threads = os.cpu_count() or 1
MAX_SLICE = 512  # Number of frames that one call processes at most.

THREAD_NAME = "bodymotion-compiling"
MAX_WAIT = 30.0  # [s] Longest time that a program waits at its end for the compiler.

# Reentrant: a kernel compiles those that it calls. Several threads may call first.
_lock = threading.RLock()
# Work of each kernel so far, in inner loop steps.
_done: Counter[str] = Counter()


class _Kernel:
    """A function that is compiled when it is first called.

    By Python or by another kernel.
    """

    def __init__(
        self, function: Callable[..., object], options: dict[str, object]
    ) -> None:
        self.function = function
        self._options = options
        self._compiled: Callable[..., Any] | None = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__

    def __call__(self, *args: object) -> Any:  # noqa: ANN401
        return (self._compiled or self.compiled())(*args)

    @property
    def is_compiled(self) -> bool:
        """Whether its code is loaded."""
        return self._compiled is not None

    def compiled(self) -> Callable[..., Any]:
        """Return the compiled function.

        The kernels that it calls are compiled functions of its module then, as numba
        needs them.
        """
        with _lock:
            if self._compiled is None:
                names = self.function.__globals__
                # numba resolves the names in a kernel's globals: other kernels are
                # replaced there by their compiled functions.
                for name in self.function.__code__.co_names:
                    value = names.get(name)
                    other = (
                        value
                        if isinstance(value, _Kernel)
                        else _OF_COMPILED.get(id(value))
                    )
                    if other is not None:
                        names[name] = other.compiled()
                self._compiled = self._compile()
                _OF_COMPILED[id(self._compiled)] = self
            return self._compiled

    def _compile(self) -> Callable[..., Any]:
        """Return the function as numba compiles it."""
        # Importing numba takes longer than a short program runs, so it waits for the
        # first kernel.
        from numba import njit
        from numba.core.types import unliteral

        # `nogil`: slices run on several threads at once. `error_model`: a division by 0
        # gives inf or NaN, as in NumPy, instead of an exception.
        jit: Callable[..., Any] = partial(
            njit, self.function, nogil=True, error_model="numpy"
        )
        try:
            compiled = jit(**self._options)
        except RuntimeError:  # no folder for the cache can be written
            compiled = jit()
        # For calls with literals it would be compiled once more for each of them.
        resolve = compiled.get_call_template
        compiled.get_call_template = lambda args, kws: resolve(
            tuple(map(unliteral, args)), kws
        )
        return cast(Callable[..., Any], compiled)


# The kernels by the id of their compiled functions, which live as long as they do.
_OF_COMPILED: dict[int, _Kernel] = {}


def kernel(function: _F) -> _F:
    """Compile a function that Python calls, on its first call.

    Its machine code is cached on disk where a folder can be written.
    """
    return cast(_F, _Kernel(function, {"cache": True}))


def inlined(function: _F) -> _F:
    """Compile a function that kernels call, fusing multiplications and additions.

    It is inlined into them, so it has no cache entry: with one it would be linked.
    """
    return cast(_F, _Kernel(function, {"fastmath": {"contract"}}))


def part_of_kernel(function: _F) -> _F:
    """Copy a function into its callers, one or two, before these are compiled.

    A long kernel is divided into steps without being slower: an `inlined` function is
    compiled by itself, too, and records that are passed to it are taken apart and put
    together again at each call.
    """
    return cast(_F, _Kernel(function, {"inline": "always"}))


def is_small(function: Callable[..., object], work: int) -> bool:
    """Return whether `work` is too little to load a kernel's compiled code.

    `work` counts inner loop steps.

    A program that calls it often gets the compiled code, too; code that is loaded is
    used.
    """
    if isinstance(function, _Kernel) and function.is_compiled:
        return False
    name = f"{function.__module__}.{function.__name__}"
    _done[name] += work + CALL_OVERHEAD
    return (
        work + CALL_OVERHEAD <= MAX_NUMPY_WORK and _done[name] <= MAX_NUMPY_WORK_IN_ALL
    )


def expect(inputs: int, processes: int) -> None:
    """Prepare this process, one of `processes`, for `inputs`.

    Compiled code is loaded for the first ones, on its share of the threads.
    """
    global MAX_NUMPY_WORK_IN_ALL, num_threads
    MAX_NUMPY_WORK_IN_ALL //= max(inputs, 1)
    num_threads = max(num_threads // processes, 1)


def as_rows(values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return values in a shape, contiguous and read-only.

    For any other combination a kernel would be compiled once more.
    """
    return frozen(np.ascontiguousarray(values).reshape(shape))


def in_slices(
    count: int, work: Callable[[int, int], None], one_thread: int = ONE_THREAD
) -> None:
    """Call `work(start, stop)` for slices that together are 0…count.

    Warnings about numbers that are not finite are off.

    They are on several threads where there are more than `one_thread`, and small enough
    for the cache of a processor. `work` must not begin several threads by another call:
    threads that wait for each other would not end.
    """

    def quiet(start: int, stop: int) -> None:
        # NumPy's error state is one per thread, so each slice sets it.
        with np.errstate(all="ignore"):
            work(start, stop)

    workers = num_threads
    if count <= one_thread:
        parts = 1
    else:
        # Four slices per thread, so that a slow one does not make the others wait.
        parts = min(max(4 * workers * (workers > 1), -(-count // MAX_SLICE)), count)
    edges = np.linspace(0, count, parts + 1).astype(int)
    list(
        (map if parts == 1 or workers == 1 else _pool().map)(
            quiet, edges[:-1], edges[1:]
        )
    )


@cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    # Threads do not survive a fork: the child makes a pool of its own.
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_pool.cache_clear)
    return ThreadPoolExecutor(num_threads, thread_name_prefix="bodymotion-kernel")


def compile_in_background(work: Callable[[], object]) -> None:
    """Call `work`, which calls kernels for the first time, on a thread of its own.

    Ending the interpreter while it compiles would abort the process, so the program
    waits. The command does not wait: it exits without unwinding (`still_compiling`).
    """
    worker = threading.Thread(target=work, name=THREAD_NAME, daemon=True)
    worker.start()
    atexit.register(worker.join, MAX_WAIT)


def still_compiling() -> bool:
    """Return whether a thread started by `compile_in_background` still runs."""
    return any(thread.name == THREAD_NAME for thread in threading.enumerate())
