"""Where a frame of a component stands in its file."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from bodymotion.diagnostics import Location
from bodymotion.motion import Motion, OtherSeq

__all__ = ["place_of_frame"]

LARGEST = 64 << 20
"""In a file of more bytes no line is looked for."""

_FRAMES = re.compile(rb"\s*frames\s*:")
_ROW = re.compile(rb"\s*-\s*\[")


def place_of_frame(motion: Motion, component: int, frame: int) -> Location:
    """Return the path inside the document, and the line where the file has a line for each frame, as those of Choreonoid have."""
    path = motion.source.path
    inside = f"components[{component}].frames[{frame}]"
    if path is None:
        return Location(inside=inside)
    rows = _rows(path) if motion.source.format == "seq" else ()
    found = motion.components[component]
    if (
        len(rows) == len(motion.components)
        and not isinstance(found, OtherSeq)
        and len(rows[component]) == found.num_frames
    ):
        line, column = rows[component][frame]
        return Location(str(path), line, column, inside)
    return Location(str(path), inside=inside)


@lru_cache(maxsize=2)
def _rows(path: Path) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return line and column of the rows of each component; of those that have one row a line, and no other."""
    found: list[list[tuple[int, int]]] = []
    whole = True
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return ()
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if _FRAMES.match(line):
                    found.append([])
                elif found and (match := _ROW.match(line)):
                    found[-1].append((number, match.end()))
                    whole &= b"]" in line
    except OSError:
        return ()
    return tuple(tuple(rows) for rows in found) if whole else ()
