"""Waiting for browsers, servers, processes and files, on machines that may be ten times slower."""

from __future__ import annotations

import time
from collections.abc import Callable

TIMEOUT = 600.0
"""[s] for anything that a test waits for: only what never ends is a failure."""
AGAIN = 10.0
"""[s] after which an action is repeated that had no effect."""


def until(
    condition: Callable[[], object], act: Callable[[], object] | None = None
) -> None:
    """Wait until a condition is true; fail after `TIMEOUT`.

    Do `act` first, and again every `AGAIN` seconds: what is typed, clicked or written while a page or server is not ready can be lost.
    Sleep as long as the condition took: the picture of a page costs the browser as much as drawing it.
    """
    end, again = time.monotonic() + TIMEOUT, 0.0
    while True:
        if act is not None and time.monotonic() >= again:
            act()
            again = time.monotonic() + AGAIN
        start = time.monotonic()
        if condition():
            return
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(max(0.05, time.monotonic() - start))
