"""Words that are almost one of a format's: a slip of the pen, and not a word of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["meant"]

LONGEST = 60
"""Nobody means a known word by one that is longer than this."""
_APART = re.compile(r"[\s_.-]+")


def meant(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is meant by one that is not known: but for capitals, `_` and `-`, or a letter or two, the same.

    Two letters may be wrong (missing, too many, others, swapped with the next) from eight letters on, one from four on: `JointDisplacment`
    is meant for `JointDisplacement`, while `LeftJointDisplacement` is a name of its own. None where no known word is as near.
    """
    if not word or len(word) > LONGEST:
        return None
    plain, nearest, fewest = _plain(word), None, 3
    for name in known:
        other = _plain(name)
        if plain == other:
            return name
        most = 0 if len(other) < 4 else 1 if len(other) < 8 else 2
        if most and abs(len(plain) - len(other)) <= most:
            wrong = _slips(plain, other)
            if wrong <= most and wrong < fewest:
                nearest, fewest = name, wrong
    return nearest


def _plain(word: str) -> str:
    return _APART.sub("", word).casefold()


def _slips(a: str, b: str) -> int:
    """Count the letters to put in, take out, change or swap with the next, to make one word of the other."""
    earlier: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        earlier, last = last, row
    return last[-1]
