"""Edits of the bytes of a file, and their unified diff.

All other bytes do not change.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from bodymotion.formats.text import number

CONTEXT = 3  # Number of unchanged lines that are shown around changed ones.
_BESIDE_DIGITS = re.compile(r"[eE].*|[^0-9]")
MIN_DIGITS = 9  # Minimum number of digits that are written: a length that is off by 1e-9 is 1 to all rules.


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the bytes from `start` to `stop` by `text`, for `rule`."""

    start: int
    stop: int
    text: bytes
    rule: str


def in_order(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return edits in order.

    Of edits that overlap only the first is kept.
    """
    found: list[Edit] = []
    for edit in sorted(set(edits), key=attrgetter("start", "stop", "text", "rule")):
        if not found or edit.start >= found[-1].stop:
            found.append(edit)
    return tuple(found)


def applied(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return the changed bytes."""
    pieces = []
    at = 0
    for edit in in_order(edits):
        pieces += [data[at : edit.start], edit.text]
        at = edit.stop
    return b"".join([*pieces, data[at:]])


class Lines:
    """Where the lines of some bytes begin.

    They end with LF; with CR where there is no LF; with `any_end`, with CR LF, CR or
    LF.

    A byte order mark of UTF-8 is not counted as a part of the first line.
    """

    def __init__(self, data: bytes, any_end: bool = False) -> None:
        self.data = data
        text = np.frombuffer(data, np.uint8)
        if any_end:
            ends = text == 10
            returns = np.flatnonzero(text == 13)
            ends[
                returns[
                    (returns + 1 >= len(text))
                    | (text[np.minimum(returns + 1, len(text) - 1)] != 10)
                ]
            ] = True
        else:
            ends = text == (10 if b"\n" in data or b"\r" not in data else 13)
        self.starts: list[int] = [
            3 if data.startswith(b"\xef\xbb\xbf") else 0,
            *(np.flatnonzero(ends) + 1).tolist(),
        ]

    def span(self, line: int) -> tuple[int, int]:
        """Return where a line begins, and where the next one does.

        Lines count from 1.
        """
        if line < len(self.starts):
            stop = self.starts[line]
        else:
            stop = len(self.data)
        return self.starts[line - 1], stop

    def text(self, line: int) -> bytes:
        """Return a line with its end."""
        return self.data[slice(*self.span(line))]

    def offset(self, line: int, column: int) -> int:
        """Return the byte at which a character of a line begins.

        Both count from 1.
        """
        if not 1 <= line <= len(self.starts):
            return len(self.data)
        before = self.text(line).decode("utf-8", "replace")[: column - 1]
        return self.starts[line - 1] + len(before.encode("utf-8", "replace"))


def unified_diff(data: bytes, edits: Sequence[Edit], name: str) -> Iterator[str]:
    """Return the lines that `diff -u` prints for edits, each with its end.

    The diff is made from the edits. It takes time in proportion to the changed lines,
    and memory for the largest group of changes that are close together.
    """
    edits = in_order(edits)
    if not edits or not data:
        return
    starts = [0, *(np.flatnonzero(np.frombuffer(data, np.uint8) == 10) + 1).tolist()]
    if starts[-1] == len(data) and len(starts) > 1:
        starts.pop()
    starts.append(len(data))
    last = len(starts) - 2
    yield f"--- {name}\n"
    yield f"+++ {name}\n"
    moved = 0
    changes = (
        _changed_lines(data, starts, group) for group in _groups(data, starts, edits)
    )
    for hunk in _hunks(change for change in changes if change is not None):
        begin = max(hunk[0][0] - CONTEXT, 0)
        end = min(hunk[-1][1] - 1 + CONTEXT, last)
        old = end + 1 - begin
        new = old + sum(first + len(after) - stop for first, stop, after in hunk)
        yield f"@@ -{_range(begin, old)} +{_range(begin + moved, new)} @@\n"
        moved += new - old
        at = begin
        for first, stop, after in hunk:
            yield from (
                _shown(" ", data[starts[k] : starts[k + 1]]) for k in range(at, first)
            )
            yield from (
                _shown("-", data[starts[k] : starts[k + 1]]) for k in range(first, stop)
            )
            yield from (_shown("+", line) for line in after)
            at = stop
        yield from (
            _shown(" ", data[starts[k] : starts[k + 1]]) for k in range(at, end + 1)
        )


def _groups(data: bytes, starts: list[int], edits: Sequence[Edit]) -> list[_Group]:
    """Return the edits in groups that change the same lines."""
    last = len(starts) - 2
    groups: list[_Group] = []
    for edit in edits:
        first = min(bisect_right(starts, edit.start) - 1, last)
        # The last removed byte is in the last line; where the end of that line is
        # removed, the next line becomes a part of it.
        if edit.stop == edit.start:
            final = first
        else:
            final = min(max(bisect_right(starts, edit.stop - 1) - 1, first), last)
        if (
            edit.stop > edit.start
            and data[edit.stop - 1 : edit.stop] == b"\n"
            and not edit.text.endswith(b"\n")
        ):
            whole = edit.start == starts[first] and not edit.text
            if not whole:
                final = min(final + 1, last)
        if groups and first <= groups[-1][1]:
            begin, end, others = groups[-1]
            others.append(edit)
            groups[-1] = (begin, max(end, final), others)
        else:
            groups.append((first, final, [edit]))
    return groups


_Group = tuple[
    int, int, list[Edit]
]  # The first and the last line that edits are about, and those.
_Changed = tuple[
    int, int, list[bytes]
]  # The lines that are removed (from, up to), and those that replace them.


def _changed_lines(data: bytes, starts: list[int], group: _Group) -> _Changed | None:
    first, final, edits = group
    base = starts[first]
    before = [data[starts[k] : starts[k + 1]] for k in range(first, final + 1)]
    moved = [
        Edit(edit.start - base, edit.stop - base, edit.text, edit.rule)
        for edit in edits
    ]
    *whole, rest = applied(b"".join(before), moved).split(b"\n")
    after = [line + b"\n" for line in whole] + ([rest] if rest else [])
    while before and after and before[-1] == after[-1]:
        before.pop()
        after.pop()
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    if before[same:] or after[same:]:
        return (first + same, first + len(before), after[same:])
    return None


def _hunks(changes: Iterable[_Changed]) -> Iterator[list[_Changed]]:
    """Return changes in groups: those whose lines of context overlap."""
    hunk: list[_Changed] = []
    for change in changes:
        if hunk and change[0] - hunk[-1][1] > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _range(begin: int, count: int) -> str:
    if count != 1:
        return f"{begin + 1 if count else begin},{count}"
    return f"{begin + 1}"


def _shown(sign: str, line: bytes) -> str:
    text = sign + line.decode("utf-8", "replace")
    if text.endswith("\n"):
        return text
    return f"{text}\n\\ No newline at end of file\n"


def unit_texts(texts: Sequence[str], values: Sequence[float]) -> list[tuple[int, str]]:
    """Return the index and the text of each number that changes where all are divided by their length.

    None where they have none.
    """
    largest = max(map(abs, values))
    if not 0 < largest < math.inf or any(map(math.isnan, values)):
        return []
    scaled = [value / largest for value in values]
    length = math.sqrt(sum(value * value for value in scaled))
    digits = min(
        max(
            MIN_DIGITS,
            *(len(_BESIDE_DIGITS.sub("", text).lstrip("0")) for text in texts),
        ),
        17,
    )
    units = [value / length for value in scaled]
    rows = zip(texts, values, units, strict=True)
    new = (text if u == v else number(float(f"{u:.{digits}g}")) for text, v, u in rows)
    return [(k, text) for k, text in enumerate(new) if text != texts[k]]
