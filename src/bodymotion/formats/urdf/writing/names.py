"""Names as URDF's readers take them: each once, not empty, without white space and slashes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bodymotion.formats.xml.tree import holds

__all__ = ["unique_names"]


def unique_names(wanted: Iterable[str], otherwise: str) -> list[str]:
    """Return a name of its own for each that is wanted: as it is where it can be, else plainer, and with a number behind it.

    An empty one becomes `otherwise` with its place in the list.
    """
    names = [_plain(name) or f"{otherwise}_{number}" for number, name in enumerate(wanted)]
    # A name that stands once keeps it, even where another one would be renamed to it.
    taken = set(names)
    used: set[str] = set()
    numbers: dict[str, int] = {}
    found = []
    for name in names:
        free = name
        while free in used or (free != name and free in taken):
            numbers[name] = numbers.get(name, 1) + 1
            free = f"{name}_{numbers[name]}"
        used.add(free)
        found.append(free)
    return found


def _plain(name: str) -> str:
    name = name if holds(name) else "".join(letter if holds(letter) else "_" for letter in name)
    return re.sub(r"[\s/]+", "_", name.strip())
