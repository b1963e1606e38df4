"""Comments, and what they stand at: kept from reading to writing, so that a file that was edited still has those it can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Comments", "Remark", "RemarkKeeper"]


@dataclass(frozen=True)
class Remark:
    """The comment lines `before` a line, and the comment `after` it, each with its sign."""

    before: tuple[str, ...] = ()
    after: str = ""


@dataclass(frozen=True)
class Comments:
    """The comments of a file.

    Those of options and parameters by their keywords ("" for `no parameters`), those of keyframes by their times, and those at the `ends`
    of the three sections.
    """

    options: Mapping[str, Remark] = field(default_factory=dict)
    parameters: Mapping[str, Remark] = field(default_factory=dict)
    header: Remark = Remark()
    rows: Mapping[float, Remark] = field(default_factory=dict)
    ends: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())


class RemarkKeeper:
    """Collects the comments of a section, line by line."""

    def __init__(self) -> None:
        self.remarks: dict[str, Remark] = {}
        self._pending: list[str] = []

    def alone(self, comment: str) -> None:
        """Take a line that is a comment only."""
        self._pending.append(comment)

    def at(self, key: str, comment: str) -> None:
        """Take the line of a keyword, with the comment behind it, if any."""
        old = self.remarks.get(key)
        if self._pending or comment or old:
            before = (*old.before, *([old.after] if old.after else [])) if old else ()
            self.remarks[key] = Remark((*before, *self._pending), comment)
            self._pending = []

    def end(self) -> tuple[str, ...]:
        """Return the comments after the last keyword."""
        return tuple(self._pending)
