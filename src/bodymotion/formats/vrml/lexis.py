"""The words of VRML97 as patterns. Each begins with the white space and the comments before it, and never steps back."""

from __future__ import annotations

import re

__all__ = [
    "COMMENT",
    "DECLARATION",
    "IS",
    "LOOSE_NUMBER",
    "NAME",
    "NODE",
    "NUMBER",
    "OPEN",
    "ROUTE",
    "SPACE",
    "STRING",
    "TO_BRACKET",
    "WORD",
    "numbers",
]

_BLANK = r" \t\r\n,\f\v"
# 1.#INF and 1.#QNAN, as Microsoft's C library writes them, are no comments.
_COMMENT = r"#(?!(?<=[0-9]\.#)(?:INF|IND|QNAN|SNAN))[^\r\n]*+"
_SPACE = rf"[{_BLANK}]*+(?:{_COMMENT}[{_BLANK}]*+)*+"
_LETTER = rf'[^{_BLANK}#"\[\]{{}}]'
_NAME = rf"{_LETTER}++"
_END = rf"(?!{_LETTER})"
# Of ordinary size: neither the digits nor the exponent can take it out of the range of doubles.
_NUMBER = (
    r"[+-]?+(?:[0-9]{1,60}+(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+0*+[0-9]{1,2}+)?+"
    rf"(?!{_LETTER}|\#(?:INF|IND|QNAN|SNAN))"
)
_LOOSE_NUMBER = (
    r"[+-]?+(?:0[xX][0-9a-fA-F]++|[0-9]\.\#(?:INF|IND|QNAN|SNAN)[0-9]*+"
    r"|(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
    rf"|(?i:nan(?:\([a-z0-9_]*+\))?+|inf(?:inity)?+)){_END}"
)

SPACE = re.compile(_SPACE)
"""White space, where a comma counts as such, and comments to the end of their lines; it matches everywhere."""

COMMENT = re.compile(_COMMENT)
TO_BRACKET = re.compile(rf"[^\]#]*+(?:(?:{_COMMENT}|#)[^\]#]*+)*+")
"""All up to the next `]` that is not in a comment."""

WORD = re.compile(rf"{_SPACE}({_NAME}|[\[\]{{}}]|)")
"""1: a name, a keyword, a number or a bracket; empty at the end of the text and before a string."""

NAME = re.compile(rf"{_SPACE}({_NAME})")
NODE = re.compile(rf"{_SPACE}(?:DEF{_END}{_SPACE}({_NAME}){_SPACE})?((?!(?:DEF|USE|NULL){_END}){_NAME}){_SPACE}\{{")
"""1: the name after DEF or None; 2: the type of the node; it ends after the brace."""

OPEN = re.compile(rf"{_SPACE}\[")
IS = re.compile(rf"{_SPACE}IS{_END}{_SPACE}({_NAME})")
ROUTE = re.compile(rf"{_SPACE}({_NAME}){_SPACE}TO{_END}{_SPACE}({_NAME})")
STRING = re.compile(rf'{_SPACE}"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
"""1: what stands between the quotes, as written."""

NUMBER = re.compile(rf"{_SPACE}({_NUMBER})")
LOOSE_NUMBER = re.compile(rf"{_SPACE}({_LOOSE_NUMBER})")
"""A number of any size, hexadecimal, or one of the ways in which programs write infinity and "not a number"."""

DECLARATION = re.compile(rf"{_SPACE}(field|exposedField|eventIn|eventOut){_END}{_SPACE}({_NAME}){_SPACE}({_NAME})")
"""1: access, 2: type, 3: name of a field or event in the interface of a prototype or a Script."""


def numbers(count: int) -> re.Pattern[str]:
    """Return the pattern of so many numbers of ordinary size one after the other."""
    return re.compile(rf"{_SPACE}({_NUMBER})" * count)
