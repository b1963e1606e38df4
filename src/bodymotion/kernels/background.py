"""Kernels that are compiled in the background, so that nobody waits for them later."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable

__all__ = ["compile_in_background", "still_compiling"]

NAME = "bodymotion-compiling"
LONGEST_WAIT = 30.0
"""[s] So long a program waits at its end for what is being compiled."""


def compile_in_background(work: Callable[[], object]) -> None:
    """Call `work`, which calls kernels for the first time, on a thread of its own.

    A compiler that is cut off at the end of the interpreter aborts the process: the program waits for it there. The command does not
    wait, it leaves without unwinding (`still_compiling`).
    """
    worker = threading.Thread(target=work, name=NAME, daemon=True)
    worker.start()
    atexit.register(worker.join, LONGEST_WAIT)


def still_compiling() -> bool:
    """Whether a thread started by `compile_in_background` still runs."""
    return any(thread.name == NAME for thread in threading.enumerate())
