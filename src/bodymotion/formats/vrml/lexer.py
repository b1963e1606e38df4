"""The tokens of VRML97 as patterns, and lists of numbers parsed in bulk.

Each pattern begins with the white space and the comments before its token, and never backtracks.
"""

from __future__ import annotations

import re
import threading
from math import isfinite
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, Ints

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
    "STRING_OR_COMMENT",
    "TO_BRACKET",
    "WORD",
    "float_list",
    "int_list",
    "numbers",
]

_BLANK = r" \t\r\n,\f\v"
# 1.#INF and 1.#QNAN, as Microsoft's C library writes them, are no comments.
_COMMENT = r"#(?!(?<=[0-9]\.#)(?:INF|IND|QNAN|SNAN))[^\r\n]*+"
_SPACE = rf"[{_BLANK}]*+(?:{_COMMENT}[{_BLANK}]*+)*+"
_LETTER = rf'[^{_BLANK}#"\[\]{{}}]'
_NAME = rf"{_LETTER}++"
_END = rf"(?!{_LETTER})"
# Of regular size: neither the digits nor the exponent can take it out of the range of doubles.
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
"""White space, to which commas belong, and comments up to the end of their lines; it matches everywhere."""

COMMENT = re.compile(_COMMENT)
TO_BRACKET = re.compile(rf"[^\]#]*+(?:(?:{_COMMENT}|#)[^\]#]*+)*+")
"""Everything up to the next `]` that is not in a comment."""

WORD = re.compile(rf"{_SPACE}({_NAME}|[\[\]{{}}]|)")
"""1: a name, a keyword, a number or a bracket; empty at the end of the text and before a string."""

NAME = re.compile(rf"{_SPACE}({_NAME})")
NODE = re.compile(rf"{_SPACE}(?:DEF{_END}{_SPACE}({_NAME}){_SPACE})?((?!(?:DEF|USE|NULL){_END}){_NAME}){_SPACE}\{{")
"""1: the name after DEF or None; 2: the type of the node; it ends after the brace."""

OPEN = re.compile(rf"{_SPACE}\[")
IS = re.compile(rf"{_SPACE}IS{_END}{_SPACE}({_NAME})")
ROUTE = re.compile(rf"{_SPACE}({_NAME}){_SPACE}TO{_END}{_SPACE}({_NAME})")
STRING = re.compile(rf'{_SPACE}"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
"""1: the text between the quotes, as written."""

# To the end of the text where the second quote is missing: a search that begins again at each quote takes quadratic time.
STRING_OR_COMMENT = re.compile(rf'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:(")|\\?\Z)|{_COMMENT}', re.DOTALL)
"""1: the second quote of a string, None in a comment and where it is missing."""

NUMBER = re.compile(rf"{_SPACE}({_NUMBER})")
LOOSE_NUMBER = re.compile(rf"{_SPACE}({_LOOSE_NUMBER})")
"""A number of any size, a hexadecimal one, or one of the ways in which programs write infinity and "not a number"."""

DECLARATION = re.compile(rf"{_SPACE}(field|exposedField|eventIn|eventOut){_END}{_SPACE}({_NAME}){_SPACE}({_NAME})")
"""1: access, 2: type, 3: name of a field or event in the interface of a prototype or a Script."""


def numbers(count: int) -> re.Pattern[str]:
    """Return the pattern of `count` numbers of regular size in a row."""
    return re.compile(rf"{_SPACE}({_NUMBER})" * count)


_PLAIN = re.compile(r"[0-9+\-.eE, \t\r\n\f\v]*+")
_GAPS = bytes.maketrans(b"\t\r\n\f\v,", b"      ")
_NOT_JSON = ((b",+", b","), (b" +", b" "), (b",.", b",0."), (b" .", b" 0."), (b"-.", b"-0."), (b".,", b".0,"))
_NOT_A_NUMBER = re.compile(rb"[-+ ,]\.,|\+-")
_THREAD = threading.local()
_MAX_KEPT_BYTES = 2_000_000
"""The memory of a simdjson parser is kept for the next list up to this size of a list."""
_MIN_BULK_CHARACTERS = 700
"""For shorter lists, Python's own `float` is as fast."""


def float_list(text: str) -> Floats | None:
    """Return the numbers (N,) of a text, separated by white space and commas; None when it has anything but finite numbers.

    A long list becomes JSON by a few passes over its bytes: the first character of each gap between numbers turns into a comma, the others
    into spaces; simdjson then reads the numbers, to the same doubles as `float`. What JSON does not allow (`.5`, `5.`, `+1`, `007`) is
    rewritten, or goes through `float` word by word.
    """
    if len(text) > _MIN_BULK_CHARACTERS:
        array = _by_simdjson(text, "d")
        if array is not None:
            return array
    if _PLAIN.fullmatch(text) is None:
        return None
    try:
        values = list(map(float, text.replace(",", " ").split()))
    except ValueError:
        return None
    if not isfinite(sum(values)) and not all(map(isfinite, values)):
        return None
    array = np.array(values)
    array.flags.writeable = False
    return array


def int_list(text: str) -> Ints | None:
    """Return the int32 numbers (N,) of a text; None when it has anything else."""
    wide = _by_simdjson(text, "i") if len(text) > _MIN_BULK_CHARACTERS else None
    array: Ints
    if wide is not None:
        array = wide.astype(np.int32)
        if not np.array_equal(array, wide):
            return None
    elif _PLAIN.fullmatch(text) is None:
        return None
    else:
        try:
            array = np.array(list(map(int, text.replace(",", " ").split())), dtype=np.int32)
        except (ValueError, OverflowError):
            return None
    array.flags.writeable = False
    return array


def _by_simdjson(text: str, kind: Literal["d", "i"]) -> npt.NDArray[Any] | None:
    # With a zero at either end, each number has a gap before and after it.
    data = bytearray(b"[0 " + text.encode() + b" 0]").translate(_GAPS)
    characters = np.frombuffer(data, dtype=np.uint8)
    gap = characters == ord(" ")
    begins = np.greater(gap[1:], gap[:-1]).view(np.uint8)
    begins *= ord(",") - ord(" ")
    characters[1:] += begins
    if kind == "d" and b"-0," in data:
        # In JSON this is the integer 0; here it is minus zero.
        data = data.replace(b"-0,", b"-0.0,")
    values = _json_array(data, kind)
    if values is None and _NOT_A_NUMBER.search(data) is None:
        for ours, theirs in _NOT_JSON:
            data = data.replace(ours, theirs)
        values = _json_array(data, kind)
    return None if values is None else values[1:-1]


def _json_array(data: bytearray, kind: Literal["d", "i"]) -> npt.NDArray[Any] | None:
    import simdjson

    parser = getattr(_THREAD, "parser", None) or simdjson.Parser()
    _THREAD.parser = parser if len(data) < _MAX_KEPT_BYTES else None
    try:
        array = parser.parse(data)
        if not isinstance(array, simdjson.Array):
            return None
        buffer = array.as_buffer(of_type=kind)
    except (ValueError, TypeError, RuntimeError):
        return None
    return np.frombuffer(buffer, dtype=np.float64 if kind == "d" else np.int64)
