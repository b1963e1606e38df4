"""The rule about line endings: LF, CR LF or CR, but not a mixture."""

import re
from collections import Counter
from pathlib import Path

from bodymotion.checks import rules
from bodymotion.diagnostics import Location, Problem
from bodymotion.system.open_files import open_file

TEXT_FORMATS = ("openhrp", "body", "seq", "cha", "urdf", "mjcf")  # The formats whose line endings are checked.
NAMES = {b"\n": "LF", b"\r\n": "CR LF", b"\r": "CR"}
_BLOCK_BYTES = 1 << 20
_HEAD_BYTES = 1 << 10
_END = re.compile(rb"\r\n?|\n")


def check_line_ends(path: Path) -> tuple[Problem, ...]:
    """Return the problem of a file with different line endings, at the first line with a rarer one. Memory is bounded."""
    count: Counter[bytes] = Counter()
    first: dict[bytes, int] = {}
    line = 1
    try:
        with open_file(path) as file:
            # No text in the encodings of these formats has a NUL.
            if b"\0" in file.read(_HEAD_BYTES):
                return ()
            file.seek(0)
            while block := file.read(_BLOCK_BYTES):
                while block.endswith(b"\r") and (more := file.read(1)):
                    block += more
                # Most files have no CR and need no search.
                ends = _END.findall(block) if b"\r" in block else [b"\n"] * block.count(b"\n")
                for end in dict.fromkeys(ends):
                    first.setdefault(end, line + ends.index(end))
                count.update(ends)
                line += len(ends)
    except (OSError, ValueError):
        return ()
    if len(count) < 2:
        return ()
    (most, _), *_ = count.most_common()
    first_line = min(number for end, number in first.items() if end != most)
    counts = ", ".join(f"{number} with {NAMES[end]}" for end, number in count.most_common())
    return (rules.LINE_ENDS.problem(f"the lines have different endings: {counts}", Location(str(path), first_line)),)


def most_common_end(data: bytes) -> bytes:
    """Return the most common line ending; LF for a text of one line."""
    return max(NAMES, key=Counter(found[0] for found in _END.finditer(data)).__getitem__)


def other_ends(data: bytes) -> list[tuple[int, int]]:
    """Return the spans of the line endings that are not the most common one."""
    most = most_common_end(data)
    return [found.span() for found in _END.finditer(data) if found[0] != most]
