"""Which texts are numbers, and which.

A number of a body motion is decimal: an optional sign, digits with or without a point, an optional exponent (`1e5`, `.5`, `5.`,
`+1`, `017`, which is 17), or `nan`, `inf`, `infinity` in any case, with or without YAML's leading point and a sign. Its value is
the nearest double. Everything else that some reader takes for a number (`0x10`, `1_000`, `1:30`, `"7"`, `1.5abc`) is none here,
because readers disagree about it.
"""

from __future__ import annotations

import re

__all__ = ["is_number", "number", "plain_scalar"]

FINITE = r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?"
_NUMBER = re.compile(rf"{FINITE}|[-+]?(?:\.?(?:nan|inf)|infinity)", re.IGNORECASE)
_INTEGER = re.compile(r"[-+]?[0-9]{1,4000}")
_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


def is_number(text: str) -> bool:
    """Whether the text of a plain scalar is a number."""
    return _NUMBER.fullmatch(text) is not None


def number(text: str) -> float | None:
    """Return the double nearest to a plain scalar, or None where it is no number."""
    if _NUMBER.fullmatch(text) is None:
        return None
    if text[-1] in "nfNF":  # Python's float does not know the point of .nan and .inf
        text = text.replace(".", "", 1)
    return float(text)


def plain_scalar(text: str) -> object:
    """Return the value of a plain scalar of an unknown key: None, bool, int, float or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    value = number(text)
    return text if value is None else value
