"""How the lines of a text end: LF, CR LF, or CR. A mixture comes from editors and copies."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import BinaryIO

from bodymotion.checks import rules
from bodymotion.diagnostics import Location, Problem
from bodymotion.system.open_files import open_file

__all__ = ["TEXT_FORMATS", "check_line_ends", "most_common_end", "other_ends"]

TEXT_FORMATS = ("openhrp", "body", "seq", "cha", "urdf", "mjcf")
"""The formats whose line ends are checked."""
NAMES = {b"\n": "LF", b"\r\n": "CR LF", b"\r": "CR"}
_PIECE = 1 << 20
_HEAD = 1 << 10
_END = re.compile(rb"\r\n?|\n")


def check_line_ends(path: Path) -> tuple[Problem, ...]:
    """Report a file whose lines end in more than one way, at the first line with a rare end; in bounded memory."""
    count: Counter[bytes] = Counter()
    first: dict[bytes, int] = {}
    line = 1
    try:
        with open_file(path) as file:
            head = file.read(_HEAD)
            # A NUL is in no text in the encodings of these formats.
            if b"\0" in head or not _has_returns(file):
                return ()
            file.seek(len(head))
            piece = head
            while piece := piece + file.read(_PIECE):
                rest = b""
                if piece.endswith(b"\r") and (more := file.read(1)):
                    piece += more
                    if more == b"\r":
                        piece, rest = piece[:-1], b"\r"
                counted = _counted(piece)
                for end in (end for end, number in counted.items() if number and end not in first):
                    match = next(found for found in _END.finditer(piece) if found[0] == end)
                    first[end] = line + len(_END.findall(piece, 0, match.start()))
                count.update(counted)
                line += sum(counted.values())
                piece = rest
    except (OSError, ValueError):
        return ()
    used = [end for end, number in count.items() if number]
    if len(used) < 2:
        return ()
    most = max(used, key=lambda end: count[end])
    first_line = min(number for end, number in first.items() if end != most)
    counts = ", ".join(f"{count[end]} with {NAMES[end]}" for end in sorted(used, key=lambda end: -count[end]))
    return (rules.LINE_ENDS.problem(f"the lines end in more than one way: {counts}", Location(str(path), first_line)),)


def _has_returns(file: BinaryIO) -> bool:
    """Return whether there is a CR: most files have none, and need no counting."""
    file.seek(0)
    while piece := file.read(_PIECE):
        if b"\r" in piece:
            return True
    return False


def _counted(piece: bytes) -> dict[bytes, int]:
    feeds = piece.count(b"\n")
    if b"\r" not in piece:
        return {b"\n": feeds}
    both = piece.count(b"\r\n")
    return {b"\n": feeds - both, b"\r\n": both, b"\r": piece.count(b"\r") - both}


def most_common_end(data: bytes) -> bytes:
    """Return how most lines end; LF where there are none."""
    count = _counted(data)
    return max(count, key=lambda end: count[end])


def other_ends(data: bytes) -> list[tuple[int, int]]:
    """Return the spans of the line ends that are not the most common one."""
    most = most_common_end(data)
    if len([1 for number in _counted(data).values() if number]) < 2:
        return []
    return [found.span() for found in _END.finditer(data) if found[0] != most]
