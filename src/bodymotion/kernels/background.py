"""Compiling kernels in the background, so that a program does not wait for them later."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable

__all__ = ["compile_in_background", "still_compiling"]

NAME = "bodymotion-compiling"
MAX_WAIT = 30.0
"""[s] Longest time that a program waits at its end for the compiler."""


def compile_in_background(work: Callable[[], object]) -> None:
    """Call `work`, which calls kernels for the first time, on a thread of its own.

    Ending the interpreter while it compiles would abort the process, so the program waits. The command does not wait: it exits without
    unwinding (`still_compiling`).
    """
    worker = threading.Thread(target=work, name=NAME, daemon=True)
    worker.start()
    atexit.register(worker.join, MAX_WAIT)


def still_compiling() -> bool:
    """Return whether a thread started by `compile_in_background` still runs."""
    return any(thread.name == NAME for thread in threading.enumerate())
