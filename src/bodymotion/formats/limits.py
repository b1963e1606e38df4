"""Limits on what readers take from one file, and the budget that counts it.

A small file can stand for much more than it holds: compressed pages, aliases, files
that name files, counts. Each reader counts what it gets from a file in one `Budget`:
bytes after unpacking, items that code handles one by one, depth, and processor time.

`budget_for(path)` opens the budget of a file. Within it, all parts of that file share
the same budget.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeVar

from bodymotion.diagnostics import FormatError, Location, Rule
from bodymotion.formats.rules import TOO_LARGE, UNPACKED
from bodymotion.system.files import pipe_content, size_of

__all__ = [
    "ITEMS_BETWEEN_CLOCKS",
    "LIMITS",
    "Budget",
    "Limits",
    "budget_for",
    "check_time",
    "timed",
]


@dataclass(frozen=True)
class Limits:
    """What a file may stand for, at most.

    Most limits grow with the size of the file, so that large recordings are read.

    Attributes
    ----------
    free_bytes, growth:
        Bytes after unpacking: so many for any file, or this multiple of the file's
        size. Recorded numbers seldom shrink below a twentieth; logs in JSON of a robot
        at rest shrink to a fiftieth.
    free_items, items_per_byte:
        Items that code handles one by one, such as messages and rows: so many for any
        file, or so many for each byte of the file. An uncompressed item has several
        bytes. 200 000 rows of a table take about a second.
    depth:
        Levels of nesting of YAML and JSON. Real files have fewer than 20; Python ends
        at about 1000.
    free_seconds, seconds_per_byte:
        [s] Processor time of the thread that reads. Ordinary files take less than 10 s;
        compilation of kernels may add 20 s.
    """

    free_bytes: int = 64 << 20
    growth: int = 100
    free_items: int = 200_000
    items_per_byte: int = 1
    depth: int = 100
    free_seconds: float = 60.0
    seconds_per_byte: float = 1e-5


LIMITS = Limits()

T = TypeVar("T")

# Items after which the processor time is read again. Reading it takes as long as a few
# items.
ITEMS_BETWEEN_CLOCKS = 500


@dataclass
class Budget:
    """What was taken from one file and the files that it names.

    Attributes
    ----------
    path:
        The file, for messages.
    size:
        [bytes] The size of the file, and of files that it names and that were read.
    bytes, items:
        Bytes after unpacking, and items by their name, that were taken.
    start:
        [s] The processor time of the thread when reading began.
    """

    path: str
    size: int
    limits: Limits = field(default_factory=lambda: LIMITS)
    bytes: int = 0
    items: Counter[str] = field(default_factory=Counter)
    start: float = field(default_factory=time.thread_time)
    _items_since_clock: int = 0

    @property
    def max_bytes(self) -> int:
        """The number of bytes after unpacking that the file may have."""
        return max(self.limits.free_bytes, self.limits.growth * self.size)

    @property
    def max_items(self) -> int:
        """The number of items that the file may have."""
        return max(self.limits.free_items, self.limits.items_per_byte * self.size)

    @property
    def max_seconds(self) -> float:
        """The processor time [s] that reading the file may take."""
        return self.limits.free_seconds + self.limits.seconds_per_byte * self.size

    @property
    def seconds(self) -> float:
        """The processor time [s] that reading the file has taken."""
        return time.thread_time() - self.start

    @property
    def is_out_of_time(self) -> bool:
        """Whether reading has taken too much processor time."""
        return self.seconds > self.max_seconds

    def add_file(self, size: int) -> None:
        """Add the size [bytes] of a further file that is read as a part of this one."""
        self.size += size

    def take_bytes(self, count: int, location: Location | None = None) -> None:
        """Count bytes after unpacking; raise FormatError (FMT010) above the limit."""
        self.bytes += count
        if self.bytes > self.max_bytes:
            message = (
                f"it unpacks to {_megabytes(self.bytes)} or more; expected at most"
                f" {_megabytes(self.max_bytes)} from a file of {_megabytes(self.size)}"
            )
            raise self._error(UNPACKED, message, self.bytes, self.max_bytes, location)

    def take_items(
        self, count: int = 1, name: str = "items", location: Location | None = None
    ) -> None:
        """Count items of one name.

        Raise FormatError (FMT009) above the limit, and after too much time.
        """
        # By name: rows do not use up the messages.
        self.items[name] += count
        if self.items[name] > self.max_items:
            message = (
                f"it has {self.items[name]} {name} or more; expected at most"
                f" {self.max_items} from a file of {_megabytes(self.size)}"
            )
            raise self._error(
                TOO_LARGE, message, self.items[name], self.max_items, location
            )
        # The clock is read after some items: it takes as long as these.
        self._items_since_clock += count
        if self._items_since_clock >= ITEMS_BETWEEN_CLOCKS:
            self._items_since_clock = 0
            self.check_time(location)

    def check_time(self, location: Location | None = None) -> None:
        """Raise FormatError (FMT009) after too much processor time."""
        if self.is_out_of_time:
            seconds = self.seconds
            message = (
                f"reading it took {seconds:.0f} s of processor time; expected at most"
                f" {self.max_seconds:.0f} s from a file of {_megabytes(self.size)}"
            )
            raise self._error(TOO_LARGE, message, seconds, self.max_seconds, location)

    def _error(
        self,
        rule: Rule,
        message: str,
        found: float,
        limit: float,
        location: Location | None,
    ) -> FormatError:
        data: Mapping[str, object] = {"found": found, "limit": limit}
        return rule.error(message, location or Location(self.path), data=data)


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def budget_for(path: str | Path, size: int | None = None) -> Iterator[Budget]:
    """Return the budget of the file that is read.

    That of the whole, where the file is a part of another one.

    Parameters
    ----------
    path:
        The file.
    size:
        [bytes] Its size, where it is not that of `path`: of a pipe, or of a member of
        an archive.
    """
    # A part of a file takes from the budget of the whole.
    budget = _current.get()
    if budget is not None:
        yield budget
        return
    if size is None:
        size = _size_of(path)
    budget = Budget(str(path), size)
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


def check_time(location: Location | None = None) -> None:
    """Raise FormatError (FMT009) where the file that is read took too much time.

    Readers call it in loops that handle parts.
    """
    budget = _current.get()
    if budget is not None:
        budget.check_time(location)


def timed(items: Iterable[T], location: Location | None = None) -> Iterator[T]:
    """Return the items of a file one by one.

    Raise FormatError (FMT009) where they take too much time.
    """
    left = iter(items)
    # In pieces, with a look at the clock between them.
    while part := list(islice(left, ITEMS_BETWEEN_CLOCKS)):
        check_time(location)
        yield from part


def _size_of(path: str | Path) -> int:
    """Return the size [bytes] of a file, or of what comes out of a pipe.

    0 where it cannot be read.
    """
    try:
        size = size_of(path)
        if size is None:
            return len(pipe_content(path) or b"")
        return size
    except (OSError, ValueError):
        return 0


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.3g} MB"
