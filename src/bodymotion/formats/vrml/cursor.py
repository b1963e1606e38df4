"""A text being read: its words, and what is said about places in it."""

from __future__ import annotations

import re

from bodymotion.diagnostics import FormatError, Problem, Rule
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.lexis import STRING, WORD
from bodymotion.formats.vrml.text import Text

__all__ = ["MOST_PROBLEMS", "Cursor"]

MOST_PROBLEMS = 1000
"""So many problems are noted of one file."""


class Cursor:
    """A text and the problems met in it. Places are offsets into `data`."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.data = text.data
        self.problems: list[Problem] = []
        self.fault_at = 0
        """Where the last fault is."""

    def word(self, pos: int) -> re.Match[str]:
        """Return the next word, bracket, or nothing: see `WORD`."""
        found = WORD.match(self.data, pos)
        assert found is not None  # it matches everywhere
        return found

    def skip(self, pos: int) -> int:
        """Go over white space and comments."""
        return self.word(pos).start(1)

    def found(self, place: int) -> str:
        """Say in words what stands at a place."""
        string = STRING.match(self.data, place)
        if string is not None:
            return f'the string "{string[1][:40]}"'
        word = self.word(place)[1] or self.data[place : place + 1]
        return word[:40] if word else "the end of the file"

    def closed(self, opened: int, pos: int, wanted: str) -> int:
        """Go over the bracket that closes the one at `opened`, or say what stands there where `wanted` or ] belongs."""
        word = self.word(pos)
        if word[1] == "]":
            return word.end()
        if word.start(1) == len(self.data):
            raise self.unclosed(opened, "the list")
        self.string_end(word.start(1))
        raise self.wrong(f"where {wanted} or ] belongs stands {self.found(word.start(1))}", word.start(1))

    def string_end(self, place: int) -> None:
        """Raise if a string begins at `place` that never ends."""
        if self.data[place : place + 1] == '"' and STRING.match(self.data, place) is None:
            raise self.half_quoted(place)

    def problem(self, rule: Rule, message: str, place: int, hint: str | None = None) -> None:
        """Note a problem, unless there are very many already."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(rule.problem(message, self.text.location(place), hint))

    def error(self, rule: Rule, message: str, place: int, hint: str | None = None) -> FormatError:
        """Make the exception that says that a rule is broken at a place."""
        self.fault_at = place
        return rule.error(message, self.text.location(place), hint)

    def wrong(self, message: str, place: int) -> FormatError:
        """Make the exception for text that does not follow the grammar."""
        self.string_end(place)
        rule = rules.NOT_CLOSED if place >= len(self.data) else rules.SYNTAX
        return self.error(rule, message, place)

    def unclosed(self, opened: int, what: str) -> FormatError:
        """Make the exception for something that begins at `opened` and has no end."""
        begin = self.text.location(opened)
        message = f"{what} that begins in line {begin.line}, column {begin.column} is not closed"
        return self.error(rules.NOT_CLOSED, message, len(self.data))

    def half_quoted(self, begin: int) -> FormatError:
        """Make the exception for the string that begins at a place and has no second quote."""
        line = (self.data[begin + 1 : begin + 200].splitlines() or [""])[0]
        words = line[:40].partition('"')[0].strip()
        hint = 'write its second " where it ends; in the last line, the file may be cut off'
        return self.error(rules.NOT_CLOSED, f'the string "{words} has no second quote', begin, hint)
