"""Notices when files are saved, also when they are replaced by another file of the same name.

Files are looked at a few times a second; that works on every kind of disk, and an editor that removes a file for a moment while saving
does no harm. A file counts as saved once it has not changed between two looks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["Watcher"]

INTERVAL = 0.25
Stamp = tuple[int, int, int] | None


class Watcher:
    """Calls `saved()` in a thread of its own each time one of the files has been saved, until `stop`."""

    def __init__(self, files: Sequence[Path], saved: Callable[[], None], interval: float = INTERVAL) -> None:
        self._saved = saved
        self._interval = interval
        self._files: tuple[Path, ...] = ()
        self._known = self._last = self._look()
        self.watch(files)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bodymotion-watch", daemon=True)

    def watch(self, files: Sequence[Path]) -> None:
        """Look at these files from now on; others than before count as they are now."""
        if tuple(files) == self._files:
            return
        self._files = tuple(files)
        self._known = self._look()
        self._last = self._known

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=2.0)

    def check(self) -> bool:
        """Look once; say whether a file has been saved and is at rest now."""
        now = self._look()
        at_rest, self._last = now == self._last, now
        if at_rest and now != self._known and None not in now:
            self._known = now
            return True
        return False

    def _look(self) -> tuple[Stamp, ...]:
        return tuple(_stamp(path) for path in self._files)

    def _run(self) -> None:
        while not self._stopped.wait(self._interval):
            if self.check():
                self._saved()


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
