"""Names from files made fit for people: what cannot be shown is not in them, and those of columns and curves are all different."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["distinct", "moment", "shown"]

_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str, most: int = 40) -> str:
    """Return the text without control characters and halves of surrogate pairs, cut off after `most` characters."""
    clean = _UNSEEN.sub("\ufffd", text)
    return clean if len(clean) <= most else clean[: most - 1] + "…"


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


def moment(time: float) -> str:
    """Write a time [s] with as many digits as tell frames apart, also of clocks that began long ago: 0.5, 1700000000.25."""
    if not 1e3 <= abs(time) < 1e15:
        return f"{time:g}"
    return f"{time:.3f}".rstrip("0").rstrip(".")
