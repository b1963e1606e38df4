"""How many brackets of a text are too many or too few: that tells what the one before us is, where it does not fit."""

from __future__ import annotations

import re

from bodymotion.formats.vrml.quotes import STRING_OR_COMMENT

__all__ = ["Balance"]

_BRACKET = re.compile(rf"[\[\]{{}}]|{STRING_OR_COMMENT.pattern}", re.DOTALL)


class Balance:
    """The brackets of a whole text, opening ones less closing ones, of which the faults that are met take their part.

    `open_string`: a string in it has no end, so that from some place on what is in quotes and what is not are mixed up.
    """

    def __init__(self, data: str) -> None:
        self.braces = 0
        self.brackets = 0
        self.open_string = False
        for found in _BRACKET.finditer(data):
            match found[0]:
                case "{":
                    self.braces += 1
                case "}":
                    self.braces -= 1
                case "[":
                    self.brackets += 1
                case "]":
                    self.brackets -= 1
                case word if word[0] == '"' and found[1] is None:
                    self.open_string = True

    def is_stray(self, bracket: str) -> bool:
        """Whether there is one too many of this kind; if so, it is this one, and counted no more."""
        there = self._count(bracket) > 0
        if there:
            self._take(bracket)
        return there

    def stands_for(self, bracket: str, meant: str) -> bool:
        """Whether one of this kind is too many and one of the kind that is meant too few: then the one is the other, counted no more."""
        least = 2 if {bracket, meant} in ({"{", "}"}, {"[", "]"}) else 1
        if bracket == meant or self._count(bracket) < least or self._count(meant) > -least:
            return False
        self._take(bracket)
        self._take(meant, -1)
        return True

    def is_missing(self, bracket: str) -> bool:
        """Whether there is one too few of this kind; if so, it is missing here, and that is settled."""
        there = self._count(bracket) < 0
        if there:
            self._take(bracket, -1)
        return there

    def _count(self, bracket: str) -> int:
        """Return how many of this kind are too many."""
        count = self.braces if bracket in "{}" else self.brackets
        return count if bracket in "{[" else -count

    def _take(self, bracket: str, count: int = 1) -> None:
        count = count if bracket in "{[" else -count
        if bracket in "{}":
            self.braces -= count
        else:
            self.brackets -= count
