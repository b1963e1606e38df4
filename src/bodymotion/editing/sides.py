"""Left and right, told by names: which link is on the other side of which.

Known are the words left and right, the letters L and R as a part of their own (`L_HIP`, `hip_l`, `hip.R`), at the beginning or end of a
part (`LARM`, `HipR`, `jointLArm`), and the corners of four-legged robots (`fl_hip`, `RR_calf`). A name counts as one of a pair when the
other exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

__all__ = ["other_sides", "pair_names"]

_SWAP = {"l": "r", "r": "l", "L": "R", "R": "L"}
_WORD = re.compile("left|right", re.IGNORECASE)
_PART = re.compile(r"[^\W_]+")
_HUMP = re.compile("(?<=[a-z0-9])[LR](?=[A-Z])")


def pair_names(names: Sequence[str], given: Mapping[str, str] | None = None) -> list[int]:
    """Return for each name the index of its partner on the other side, or its own index where it has none.

    Parameters
    ----------
    given:
        Pairs of names that are known otherwise, in one direction or both; they go before the rules.

    Raises
    ------
    ValueError
        When a given name does not exist, or is in two pairs.
    """
    index = {name: i for i, name in reversed(list(enumerate(names)))}
    partner = [-1] * len(names)
    for left, right in (given or {}).items():
        for name in (left, right):
            if name not in index:
                raise ValueError(f"no link {name!r}; there are: {', '.join(names)}")
        for a, b in ((index[left], index[right]), (index[right], index[left])):
            if partner[a] not in (-1, b):
                raise ValueError(f"{names[a]!r} is in two pairs: with {names[partner[a]]!r} and with {names[b]!r}")
            partner[a] = b
    for i, name in enumerate(names):
        if partner[i] >= 0:
            continue
        found = (index[other] for other in other_sides(name) if other in index)
        other = next((j for j in found if partner[j] < 0 and j != i), i)
        partner[i], partner[other] = other, i
    return partner


def other_sides(name: str) -> Iterator[str]:
    """Return what the link on the other side may be called, likeliest first."""
    if _WORD.search(name):
        yield _WORD.sub(_other_word, name)
    parts = [(m.start(), m.end()) for m in _PART.finditer(name)]
    sides = [start for start, end in parts if end - start == 1 and name[start] in _SWAP]
    corners = [start + place for start, end in parts for place in _corner(name[start:end])]
    for places in (sides, corners):
        if places:
            yield _swapped(name, places)
    for place in (*sides, *corners):
        yield _swapped(name, [place])
    for match in _HUMP.finditer(name):
        yield _swapped(name, [match.start()])
    for start, end in parts:
        if end - start > 1 and name[start] in _SWAP:
            yield _swapped(name, [start])
    for start, end in parts:
        if end - start > 1 and name[end - 1] in _SWAP:
            yield _swapped(name, [end - 1])


def _other_word(match: re.Match[str]) -> str:
    word = match.group()
    other = "right" if word.lower() == "left" else "left"
    return other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other


def _corner(part: str) -> list[int]:
    """Return the place of the side in a corner's name: fl, hr, RR (front, hind, rear, back), or with the side first: lf, RH."""
    if len(part) != 2:
        return []
    first, second = part[0].lower(), part[1].lower()
    if first in "fhrb" and second in "lr":
        return [1]
    return [0] if first in "lr" and second in "fhb" else []


def _swapped(name: str, places: Sequence[int]) -> str:
    letters = list(name)
    for place in places:
        letters[place] = _SWAP[letters[place]]
    return "".join(letters)
