"""Work for one thread: whoever wants something puts it here, and the thread does it in order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Inbox"]

T = TypeVar("T")
PATIENCE = 60.0
"""[s] So long `do` waits for its turn."""


class Inbox:
    """The work that waits for the thread which calls `next`."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._owner: threading.Thread | None = None

    def owned_by(self, thread: threading.Thread | None) -> None:
        """Say which thread does the work; None when there is none any more, so that callers do theirs themselves."""
        self._owner = thread

    def post(self, work: Callable[[], object]) -> None:
        """Have `work` done some time soon."""
        self._waiting.put(work)

    def do(self, work: Callable[[], T], after: Callable[[], object] = lambda: None) -> T:
        """Have `work` done, then `after`, and give what `work` gives, or raise what it raises."""
        if self._owner is None or threading.current_thread() is self._owner:
            return work()
        answer: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

        def run() -> None:
            try:
                result = work()
                after()
            except BaseException as error:
                answer.put((None, error))
            else:
                answer.put((result, None))

        self.post(run)
        result, error = answer.get(timeout=PATIENCE)
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def next(self, timeout: float) -> Callable[[], object] | None:
        """Return the next piece of work, waiting at most `timeout` seconds for it; None when there is none."""
        try:
            return self._waiting.get(timeout=timeout) if timeout > 0 else self._waiting.get_nowait()
        except queue.Empty:
            return None
