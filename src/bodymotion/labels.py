"""Names for columns and curves: no two alike, none empty."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["distinct"]


def distinct(names: Iterable[str], kind: str = "column") -> tuple[str, ...]:
    """Number names that come again, `KNEE`, `KNEE (2)`, and name what has no name by its kind and place, `column 3`."""
    found: dict[str, None] = {}
    for place, name in enumerate(names):
        first = label = name if name.strip() else f"{kind} {place}"
        number = 2
        while label in found:
            label, number = f"{first} ({number})", number + 1
        found[label] = None
    return tuple(found)
