"""The text of a parser: its next words, and the errors about what is in it.

A fault of the grammar ends the reading. Its error is the last problem of the text.
"""

import re

from bodymotion.diagnostics import Diagnostics, FormatError, Problem, Rule
from bodymotion.diagnostics.spelling import unusual_character
from bodymotion.formats.text import Text
from bodymotion.formats.vrml import rules
from bodymotion.formats.vrml.values import STRING, STRING_OR_COMMENT, WORD

# Characters that may stand right before a string, and right after one.
_BEFORE_STRING = " \t\r\n\f\v,["
_AFTER_STRING = _BEFORE_STRING + "]{}#"
# Problems that may be the first sign of a fault of the grammar right behind them.
_GUESSES = (rules.UNKNOWN_FIELD.code, rules.NO_DEF_NAME.code)


class Scanner:
    """A text, and the problems found in it.

    Parameters
    ----------
    text:
        The text.
    found:
        Collects the problems.
    """

    def __init__(self, text: Text, found: Diagnostics) -> None:
        self.text = text
        self.data = text.data
        self.found = found

    def word(self, pos: int) -> re.Match[str]:
        """Return the next name, number or bracket, or an empty match: see `WORD`."""
        match = WORD.match(self.data, pos)
        assert match is not None  # it matches everywhere
        return match

    def skip(self, pos: int) -> int:
        """Return the offset after white space and comments."""
        return self.word(pos).start(1)

    def is_at_end(self, word: re.Match[str]) -> bool:
        """Return whether the text ends where the next word is looked for."""
        return not word[1] and word.end() == len(self.data)

    def describe(self, offset: int) -> str:
        """Return in words what is at an offset."""
        string = STRING.match(self.data, offset)
        if string is not None:
            return f'the string "{string[1][:40]}"'
        word = self.word(offset)[1] or self.data[offset : offset + 1]
        shown = word[:40] or "the end of the file"
        # A full-width bracket is a part of a word, or the word behind it.
        unusual = unusual_character(self.data[offset : offset + len(shown) + 2])
        if unusual:
            return f"{shown}, with the character {unusual}"
        return shown

    def closed(self, opened: int, pos: int, expected: str) -> int:
        """Return the offset after the bracket that closes the one at `opened`.

        Raises FormatError when there is something else.
        """
        word = self.word(pos)
        offset = word.start(1)
        if word[1] == "]":
            return word.end()
        if offset == len(self.data):
            raise self.unclosed(opened, "the list")
        # A quote without its second one explains more than "expected a number or ]".
        self.require_string_end(offset)
        message = f"found {self.describe(offset)}, expected {expected} or ]"
        raise self.wrong(message, offset)

    def require_string_end(self, offset: int) -> None:
        """Raise FormatError if a string begins at `offset` that has no end."""
        is_string = self.data[offset : offset + 1] == '"'
        if is_string and STRING.match(self.data, offset) is None:
            raise self.open_string(offset)

    def error(
        self, rule: Rule, message: str, offset: int, hint: str | None = None
    ) -> FormatError:
        """Return the exception for a rule that is broken at an offset."""
        return rule.error(message, self.text.location(offset), hint)

    def wrong(self, message: str, offset: int) -> FormatError:
        """Return the exception for text that does not follow the grammar."""
        self.require_string_end(offset)
        if offset >= len(self.data):
            # Text is missing at the end, rather than wrong.
            return self.error(rules.NOT_CLOSED, message, offset)
        return self.error(rules.SYNTAX, message, offset)

    def unclosed(self, opened: int, title: str) -> FormatError:
        """Return the exception for something that begins at `opened` and has no end."""
        begin = self.text.location(opened)
        place = f"line {begin.line}, column {begin.column}"
        message = f"{title} that begins in {place} is not closed"
        return self.error(rules.NOT_CLOSED, message, len(self.data))

    def open_string(self, begin: int) -> FormatError:
        """Return the exception for a string that has no second quote."""
        # The message quotes the first line only: the rest may be the whole file.
        lines = self.data[begin + 1 : begin + 200].splitlines()
        line = lines[0] if lines else ""
        words = line[:40].partition('"')[0].strip()
        hint = (
            'add the second " at its end; if it is in the last line, '
            "the file may be cut off"
        )
        message = f'the string "{words} has no second quote'
        return self.error(rules.NOT_CLOSED, message, begin, hint)

    def problem(
        self, rule: Rule, message: str, offset: int, hint: str | None = None
    ) -> None:
        """Report a problem."""
        self.found.report(rule, message, self.text.location(offset), hint=hint)

    def locate_fault(self, error: FormatError) -> FormatError:
        """Return the error at the cause of a fault, and discard what follows from it.

        Behind a string without an end, strings and text are mixed up: the fault of the
        grammar is found somewhere behind it, and what was reported in between is no
        problem.
        """
        if error.problem.rule not in (rules.SYNTAX.code, rules.NOT_CLOSED.code):
            return error
        # A string whose quote is missing swallows text up to the next quote, and the
        # fault is found behind that: the string is the cause.
        begin = _first_open_string(self.data)
        if begin is not None:
            error = self.open_string(begin)
        start = _line_and_column(error.problem)
        # Fields that are reported behind the fault follow from it.
        follow_up = [
            problem
            for problem in self.found.problems
            if _line_and_column(problem) > start
        ]
        # What looks like a field or a name right before the fault is a part of it.
        for problem in self.found.problems[-1:]:
            is_near = (problem.location.line or 0) >= start[0] - 1
            if problem.rule in _GUESSES and is_near:
                follow_up.append(problem)
        self.found.discard(follow_up)
        return error


def _line_and_column(problem: Problem) -> tuple[int, int]:
    return problem.location.line or 0, problem.location.column or 0


def _first_open_string(data: str) -> int | None:
    """Return where the first string begins that seems to have no second quote.

    None where all have one. What closes such a string is the first quote of another
    one: it is after a space and right before a word.
    """
    for match in STRING_OR_COMMENT.finditer(data):
        # A comment: quotes in it open nothing.
        if match[0][0] != '"':
            continue
        if match[1] is None:
            return match.start()
        # The closing quote is at `end - 1`, and the character before it at `end - 2`.
        end = match.end()
        is_after_space = data[end - 2] in _BEFORE_STRING
        if is_after_space and data[end : end + 1] not in _AFTER_STRING:
            return match.start()
    return None
