"""Where a value came from: what a save needs to write it back alike, and where its parts are in the file. Never part of `==`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from bodymotion.diagnostics.problem import Location, Subject

__all__ = ["Locator", "Source", "SourceMap"]

Locator: TypeAlias = Callable[[Subject], Location | None]
"""Returns the location of a part of an object, given by the rest of its subject: ("mass",), ("frames", 17)."""


class SourceMap:
    """Locations of the parts of a value in its file, by subject.

    An entry is a Location, or a function that finds the locations of an object's own fields when asked: most are never needed.

    Parameters
    ----------
    entries:
        By subject: ("links", 3), ("devices", 0), ("extra_joints", 1), ("components", 2) and so on.
    unknown:
        Parts that the file has and that could not be read.
    """

    def __init__(
        self, entries: Mapping[Subject, Location | Locator] | None = None, unknown: Iterable[Subject] = ()
    ) -> None:
        self._entries = dict(entries or {})
        self.unknown = frozenset(unknown)

    def __bool__(self) -> bool:
        return bool(self._entries)

    def locate(self, subject: Subject) -> Location | None:
        """Return the location of a part, or of the smallest thing around it whose location is known; None where none is."""
        for length in range(len(subject), -1, -1):
            entry = self._entries.get(subject[:length])
            if entry is not None:
                found = entry if isinstance(entry, Location) else entry(subject[length:]) or entry(())
                if found is not None:
                    return found
        return None

    def is_known(self, subject: Subject) -> bool:
        """Return whether a part, and everything that it is inside of, was read."""
        return not self.unknown or not any(subject[:length] in self.unknown for length in range(len(subject) + 1))

    def __reduce__(self) -> tuple[type[SourceMap], tuple[dict[Subject, Location], frozenset[Subject]]]:
        # Functions hold the parsed file; what goes to another process takes plain locations only.
        plain = {subject: found for subject in self._entries if (found := self.locate(subject)) is not None}
        return SourceMap, (plain, self.unknown)


@dataclass(frozen=True)
class Source:
    """`format` ("seq", "openhrp", …), `path`, `version` as the file gives it, text `encoding`, and the format's `options`."""

    format: str = ""
    path: Path | None = None
    version: str = ""
    encoding: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    parts: tuple[Path, ...] = ()
    """Other files that were read for this one."""
    places: Mapping[str, tuple[Location, ...]] = field(default_factory=dict, repr=False)
    """Where a body's "links", "devices" and "extra_joints" are in the file, for formats without `locations` yet."""
    locations: SourceMap = field(default_factory=SourceMap, repr=False, compare=False)
    """Where the parts of the value are in the file."""
