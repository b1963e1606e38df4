"""Names for DEF: each Joint, Segment and device has one of its own, like that of the body as far as possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bodymotion.diagnostics.losses import BODY_NAMES
from bodymotion.formats.vrml.writing import legal_name

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule

__all__ = ["Names"]


class Names:
    """The names that are taken in one file."""

    def __init__(self, tell: Callable[[Rule, str], None]) -> None:
        self.tell = tell
        self.taken: set[str] = set()
        self._count: dict[str, int] = {}

    def take(self, name: str, what: str) -> str:
        """Return the name itself where it is legal and free, else one like it, and say so; a thing without a name stays without."""
        if not name:
            return ""
        legal = legal_name(name)
        free = legal
        while free in self.taken:
            # Counting goes on from the last number: many of one name take no longer each.
            self._count[legal] = self._count.get(legal, 1) + 1
            free = f"{legal}_{self._count[legal]}"
        self.taken.add(free)
        if free != name:
            self.tell(BODY_NAMES, f"{what} {name!r} is written as {free!r}")
        return free
