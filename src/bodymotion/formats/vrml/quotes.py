"""Strings without their second quote: from there on what is in quotes and what is not are mixed up, and it shows only further down."""

from __future__ import annotations

import re

from bodymotion.formats.vrml.lexis import COMMENT

__all__ = ["STRING_OR_COMMENT", "first_unclosed", "with_quotes"]

# To the end of the text where there is no second quote: a search that begins again at each quote after it takes quadratic time.
STRING_OR_COMMENT = re.compile(rf'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:(")|\\?\Z)|{COMMENT.pattern}', re.DOTALL)
"""1: the second quote of a string, None in a comment and where there is none."""

_LINE_END = re.compile(r"[\r\n]|\Z")
_REMARK = re.compile(r"\s#")
_AFTER = re.compile(r"[\s,\[\]{}]*\Z")
_NEXT_STRING = re.compile(r"(?:\s[^\s,\[\]{}]++)?[\s,\[]*\Z")
_BEFORE_STRING = " \t\r\n\f\v,["
_AFTER_STRING = _BEFORE_STRING + "]{}#"
MOST = 20
"""So many strings of a text are closed."""


def first_unclosed(data: str, pos: int = 0) -> int | None:
    """Return where the first string begins that seems to have no second quote; None where all have one.

    What closes it is then the first quote of another: it stands after a space and right before a word.
    """
    for found in STRING_OR_COMMENT.finditer(data, pos):
        if found[0][0] != '"':
            continue
        end = found.end()
        if found[1] is None or (data[end - 2] in _BEFORE_STRING and data[end : end + 1] not in _AFTER_STRING):
            return found.start()
    return None


def with_quotes(data: str) -> tuple[str, list[int]]:
    """Return a text of the same length whose strings are closed, and where those begin that were not.

    A string ends with its line, but for brackets and a comment there, or before the next string; its second quote takes the place of a
    space or of the line's end. In the last line nothing is done: there the text may be cut off.
    """
    begins: list[int] = []
    pos = 0
    while len(begins) < MOST and (begin := first_unclosed(data, pos)) is not None:
        place = _belongs(data, begin)
        if place is None:
            break
        data = f'{data[:place]}"{data[place + 1 :]}'
        begins.append(begin)
        pos = place + 1
    return data, begins


def _belongs(data: str, begin: int) -> int | None:
    """Return the place of a space or a line's end in which the second quote of a string belongs."""
    line = _LINE_END.search(data, begin)
    assert line is not None  # it matches at the end
    if not data[line.end() :].strip():
        return None
    quote = data.find('"', begin + 1, line.start())
    remark = _REMARK.search(data, begin, line.start())
    if quote >= 0 and (remark is None or quote < remark.start()):
        # The next string of a list, or, before it, the name of the next field.
        ends, stop = _NEXT_STRING, quote
    else:
        ends, stop = _AFTER, line.start() if remark is None else remark.start()
    after = ends.search(data, begin + 1, stop)
    assert after is not None  # it matches at the end
    space = next((k for k in range(after.start(), stop) if data[k].isspace()), stop)
    return space if data[space].isspace() else None
