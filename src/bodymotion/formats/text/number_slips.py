"""Texts that are almost numbers, and what is wrong with them, in words for a message."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["number_slip"]

LONGEST = 1000
"""So many characters of a text are looked at."""
_XACRO = re.compile(r"\$[{(]")
_LIST = re.compile(r"\d,\d+,|[.]\d*,|,\d*[.]")
_COMMA = re.compile(r"(?<![\w.])[-+]?\d+,\d+(?![\w.])")
_LETTER_O = re.compile(r"(?<![\w])[-+]?[0-9.]*[oO][0-9.]*(?![\w])")


def number_slip(text: str) -> str:
    """Say what makes of one number, or several with blanks between, none: "" where that is not plain to see.

    Examples: a decimal comma, a minus sign that is not that of the keyboard, an expression of xacro.
    """
    text = text[:LONGEST]
    if _XACRO.search(text):
        return "an expression of xacro: run xacro on the file first"
    strange = next((letter for letter in text if not letter.isascii()), None)
    if strange is not None:
        code = f"U+{ord(strange):04X}"
        name = unicodedata.name(strange, "")
        if "MINUS" in name or "DASH" in name or "HYPHEN" in name:
            return f"its minus is the character {code}: write the - of the keyboard"
        return f"it has the character {code}{f' ({name.lower()})' if name else ''}"
    if _LIST.search(text):
        return "commas between the numbers: write blanks"
    comma = _COMMA.search(text)
    if comma is not None:
        return f"a decimal comma? Write {comma[0].replace(',', '.')}"
    letter = _LETTER_O.search(text)
    if letter is not None and any(sign.isdigit() for sign in letter[0]):
        return "the letter O in place of 0?"
    return ""
