"""A progress bar on stderr for work that takes more than a second; none where stderr is not a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bodymotion.cli.output import one_line

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY = 1.0  # [s] After this time the bar appears.


class Bar:
    """A bar that is called with the work done and the total; until then it is indeterminate."""

    def __init__(self, bar: Progress, what: str) -> None:
        self._bar, self._task = bar, bar.add_task(one_line(what), total=None)
        self._lock = threading.Lock()
        self._timer = threading.Timer(DELAY, self._start)
        self._timer.daemon = True
        self._timer.start()

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` things are done."""
        self._bar.update(self._task, completed=done, total=total)

    def _start(self) -> None:
        with self._lock:
            self._bar.start()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Remove the bar from the terminal while something else is written there."""
        with self._lock:
            shown = self._bar.live.is_started
            if shown:
                self._bar.stop()
            try:
                yield
                sys.stdout.flush()
            finally:
                if shown:
                    self._bar.start()

    def end(self) -> None:
        """Remove the bar for good."""
        self._timer.cancel()
        self._timer.join()
        self._bar.stop()


@contextmanager
def progress(what: str) -> Iterator[Bar | None]:
    """Return a progress bar; None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    bar = Bar(Progress(*columns, console=Console(stderr=True), transient=True), what)
    try:
        yield bar
    finally:
        bar.end()
