"""The rule about line endings: LF, CR LF or CR, but not a mixture."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import BinaryIO

from bodymotion.checks import rules
from bodymotion.diagnostics import Location, Problem
from bodymotion.system.open_files import open_file

TEXT_FORMATS = ("openhrp", "body", "seq", "cha", "urdf", "mjcf")
"""The formats whose line endings are checked."""
NAMES = {b"\n": "LF", b"\r\n": "CR LF", b"\r": "CR"}
_BLOCK_BYTES = 1 << 20
_HEAD_BYTES_BYTES = 1 << 10
_END = re.compile(rb"\r\n?|\n")


def check_line_ends(path: Path) -> tuple[Problem, ...]:
    """Return the problem of a file with different line endings, at the first line with a rarer one. Memory is bounded."""
    count: Counter[bytes] = Counter()
    first: dict[bytes, int] = {}
    line = 1
    try:
        with open_file(path) as file:
            head = file.read(_HEAD_BYTES_BYTES)
            # No text in the encodings of these formats has a NUL.
            if b"\0" in head or not _has_returns(file):
                return ()
            file.seek(len(head))
            block = head
            while block := block + file.read(_BLOCK_BYTES):
                rest = b""
                if block.endswith(b"\r") and (more := file.read(1)):
                    block += more
                    if more == b"\r":
                        block, rest = block[:-1], b"\r"
                counted = _counted(block)
                for end in (end for end, number in counted.items() if number and end not in first):
                    match = next(found for found in _END.finditer(block) if found[0] == end)
                    first[end] = line + len(_END.findall(block, 0, match.start()))
                count.update(counted)
                line += sum(counted.values())
                block = rest
    except (OSError, ValueError):
        return ()
    used = [end for end, number in count.items() if number]
    if len(used) < 2:
        return ()
    most = max(used, key=lambda end: count[end])
    first_line = min(number for end, number in first.items() if end != most)
    counts = ", ".join(f"{count[end]} with {NAMES[end]}" for end in sorted(used, key=lambda end: -count[end]))
    return (rules.LINE_ENDS.problem(f"the lines have different endings: {counts}", Location(str(path), first_line)),)


def _has_returns(file: BinaryIO) -> bool:
    """Return whether a file has a CR. Most files have none and need no counting."""
    file.seek(0)
    while block := file.read(_BLOCK_BYTES):
        if b"\r" in block:
            return True
    return False


def _counted(block: bytes) -> dict[bytes, int]:
    feeds = block.count(b"\n")
    if b"\r" not in block:
        return {b"\n": feeds}
    both = block.count(b"\r\n")
    return {b"\n": feeds - both, b"\r\n": both, b"\r": block.count(b"\r") - both}


def most_common_end(data: bytes) -> bytes:
    """Return the most common line ending; LF for a text of one line."""
    count = _counted(data)
    return max(count, key=lambda end: count[end])


def other_ends(data: bytes) -> list[tuple[int, int]]:
    """Return the spans of the line endings that are not the most common one."""
    most = most_common_end(data)
    if len([1 for number in _counted(data).values() if number]) < 2:
        return []
    return [found.span() for found in _END.finditer(data) if found[0] != most]
