"""Edits of the bytes of a file, and their unified diff.

All other bytes do not change.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from bodymotion.formats.text import number

# Number of unchanged lines that are shown around changed ones, as `diff -u` does.
CONTEXT = 3
_BESIDE_DIGITS = re.compile(r"[eE].*|[^0-9]")
# The least number of digits that are written. A length that is off by 1e-9 is 1 to all
# rules.
MIN_DIGITS = 9


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
    end = 0
    for edit in in_order(edits):
        pieces += [data[end : edit.start], edit.text]
        end = edit.stop
    return b"".join([*pieces, data[end:]])


class Lines:
    """Where the lines of some bytes begin.

    They end with LF; with CR where there is no LF; with `any_end`, with CR LF, CR or
    LF.

    A byte order mark of UTF-8 is not counted as a part of the first line.
    """

    def __init__(self, data: bytes, any_end: bool = False) -> None:
        """Find where the lines begin."""
        self.data = data
        text = np.frombuffer(data, np.uint8)
        if any_end:
            # 10 is LF, 13 is CR.
            ends = text == 10
            returns = np.flatnonzero(text == 13)
            # A CR before a LF does not end a line.
            following = text[np.minimum(returns + 1, len(text) - 1)]
            is_last = returns + 1 >= len(text)
            ends[returns[is_last | (following != 10)]] = True
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

    def lines(sign: str, first: int, end: int) -> Iterator[str]:
        for k in range(first, end):
            yield _shown(sign, data[starts[k] : starts[k + 1]])

    yield f"--- {name}\n"
    yield f"+++ {name}\n"
    shift = 0
    changes = (
        _changed_lines(data, starts, group) for group in _groups(data, starts, edits)
    )
    for hunk in _hunks(change for change in changes if change is not None):
        begin = max(hunk[0].first - CONTEXT, 0)
        end = min(hunk[-1].end + CONTEXT, last + 1)
        num_before = end - begin
        num_after = num_before
        for change in hunk:
            num_after += change.first + len(change.after) - change.end
        before = _range(begin, num_before)
        after = _range(begin + shift, num_after)
        yield f"@@ -{before} +{after} @@\n"
        shift += num_after - num_before
        shown = begin
        for change in hunk:
            yield from lines(" ", shown, change.first)
            yield from lines("-", change.first, change.end)
            for line in change.after:
                yield _shown("+", line)
            shown = change.end
        yield from lines(" ", shown, end)


class _Group(NamedTuple):
    """The first and the last line that edits are about, and these edits."""

    first: int
    last: int
    edits: list[Edit]


class _Changed(NamedTuple):
    """Lines `first` up to `end` are removed, and replaced by others."""

    first: int
    end: int
    after: list[bytes]


def _groups(data: bytes, starts: list[int], edits: Sequence[Edit]) -> list[_Group]:
    """Return the edits in groups that change the same lines."""
    last = len(starts) - 2
    groups: list[_Group] = []
    for edit in edits:
        first = min(bisect_right(starts, edit.start) - 1, last)
        final = first
        if edit.stop > edit.start:
            # The last removed byte is in the last line.
            final = min(max(bisect_right(starts, edit.stop - 1) - 1, first), last)
            removes_end = data[edit.stop - 1 : edit.stop] == b"\n"
            is_whole = edit.start == starts[first] and not edit.text
            if removes_end and not edit.text.endswith(b"\n") and not is_whole:
                # The next line becomes a part of it.
                final = min(final + 1, last)
        if groups and first <= groups[-1].last:
            group = groups[-1]
            group.edits.append(edit)
            groups[-1] = group._replace(last=max(group.last, final))
        else:
            groups.append(_Group(first, final, [edit]))
    return groups


def _changed_lines(data: bytes, starts: list[int], group: _Group) -> _Changed | None:
    """Return the lines that a group of edits changes; None without a change."""
    base = starts[group.first]
    numbers = range(group.first, group.last + 1)
    before = [data[starts[k] : starts[k + 1]] for k in numbers]
    edits = [
        replace(edit, start=edit.start - base, stop=edit.stop - base)
        for edit in group.edits
    ]
    *whole, rest = applied(b"".join(before), edits).split(b"\n")
    after = [line + b"\n" for line in whole]
    if rest:
        after.append(rest)
    # Equal lines at the end and at the begin are context, not changes.
    while before and after and before[-1] == after[-1]:
        before.pop()
        after.pop()
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    if not before[same:] and not after[same:]:
        return None
    first = group.first
    return _Changed(first + same, first + len(before), after[same:])


def _hunks(changes: Iterable[_Changed]) -> Iterator[list[_Changed]]:
    """Return changes in groups: those whose lines of context overlap."""
    hunk: list[_Changed] = []
    for change in changes:
        if hunk and change.first - hunk[-1].end > 2 * CONTEXT:
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
    """Return the texts of a vector scaled to length 1.

    The index and the text of each number that changes.

    Where all are divided by their length; none where they have no length.
    """
    largest = max(map(abs, values))
    if not 0 < largest < math.inf or any(map(math.isnan, values)):
        return []
    # The squares of large numbers would be too large.
    scaled = [value / largest for value in values]
    # The length of the scaled vector: unit = scaled / length.
    length = math.sqrt(sum(value * value for value in scaled))
    # As many digits as there are, and no more than a float has.
    num_digits = [len(_BESIDE_DIGITS.sub("", text).lstrip("0")) for text in texts]
    digits = min(max(MIN_DIGITS, *num_digits), 17)
    changed = []
    for k, (text, value) in enumerate(zip(texts, values, strict=True)):
        unit = scaled[k] / length
        new_text = number(float(f"{unit:.{digits}g}"))
        if unit != value and new_text != text:
            changed.append((k, new_text))
    return changed
