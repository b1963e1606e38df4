"""Find misspelt words, and texts that are almost numbers.

Words are compared with those of a format.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import cache

from bodymotion.diagnostics.text import listed

MAX_WORD = 60  # [characters] A longer word is not compared with known ones.
MAX_NUMBER_TEXT = (
    1000  # [characters] The part of a text that is searched for slips in numbers.
)

_SEPARATORS = re.compile(r"[\s_.-]+")
# A property ${…} or a command $(…) of xacro, which nobody has expanded.
_XACRO = re.compile(r"\$[{(]")
# Several numbers with commas: two commas between digits, or a comma beside a point.
_LIST = re.compile(r"\d,\d+,|[.]\d*,|,\d*[.]")
# One number with a decimal comma.
_COMMA = re.compile(r"(?<![\w.])[-+]?\d+,\d+(?![\w.])")
# Characters that look like a blank, or like nothing, as a set of a regular expression.
WIDE_BLANKS = (
    "\u0085\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
# Those, and quotes, dashes and full-width forms in place of characters of ASCII.
_UNUSUAL = re.compile(f"[{WIDE_BLANKS}\u2018-\u201f\u2010-\u2015\u2212\uff01-\uff5e]")
# Digits with the letter O or o among them.
_LETTER_O = re.compile(r"(?<![\w])[-+]?[0-9.]*[oO][0-9.]*(?![\w])")


def meant(word: str, known: Iterable[str]) -> str | None:
    """Return the known word for which an unknown one is probably meant.

    None where no known word is similar enough.

    Capitals, `_`, `-`, `.` and blanks make no difference. Besides, one letter may be
    wrong (missing, added, another, or swapped with the next) in words of four letters
    and more, two in words of eight and more: `JointDisplacment` is meant for
    `JointDisplacement`, while
    `LeftJointDisplacement` is another name.
    """
    if not word or len(word) > MAX_WORD:
        return None
    bare = plain(word)
    nearest = None
    # One more than the largest limit below.
    fewest = 3
    for name in known:
        other = plain(name)
        if bare == other:
            return name
        if len(other) < 4:
            limit = 0
        elif len(other) < 8:
            limit = 1
        else:
            limit = 2
        # Each letter that is missing or added is an edit. So the difference of the
        # lengths is a lower bound, which saves the quadratic comparison.
        if limit and abs(len(bare) - len(other)) <= limit:
            wrong = _edit_distance(bare, other)
            if wrong <= limit and wrong < fewest:
                nearest = name
                fewest = wrong
    return nearest


def choices(word: str, known: Collection[str]) -> str:
    """Return the end of a message about an unknown name.

    The names that are probably meant, or else the first ones that exist.
    """
    from difflib import get_close_matches

    # First what is surely meant, then what is only similar, then all that exists.
    almost = meant(word, known)
    if almost is None:
        similar = get_close_matches(word[:MAX_WORD], known, 3)
    else:
        similar = [almost]
    if similar:
        return f"did you mean {' or '.join(map(repr, similar))}?"
    if known:
        return f"expected one of {listed(known, 8)}"
    return "there are none"


@cache
def camel(name: str) -> str:
    """Return a name with capitals in place of `_`: jointType of joint_type."""
    first, *others = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


def plain(word: str) -> str:
    """Return a word without `_`, `-`, `.` and blanks, and without capitals."""
    return _SEPARATORS.sub("", word).casefold()


def _edit_distance(a: str, b: str) -> int:
    """Return the edit distance of two words.

    How many letters must be added, removed, changed or swapped with the next to turn
    one word into the other.
    """
    # Row i has the distances of the first i letters of `a` from all beginnings of `b`.
    # Only two earlier rows are needed: the last one, and for swaps the one before.
    earlier: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            # In order: a letter removed, added, and changed or equal.
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            # Two letters that are swapped count once.
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        earlier = last
        last = row
    return last[-1]


def character_name(letter: str) -> str:
    """Return the code of a character and its name: U+3000 (ideographic space)."""
    name = unicodedata.name(letter, "").lower()
    code = f"U+{ord(letter):04X}"
    if name:
        return f"{code} ({name})"
    return code


def unusual_character(text: str) -> str:
    """Return the first character of a text that looks like one of ASCII.

    U+3000 (ideographic space); "" where there is none.
    """
    if text.isascii():
        found = None
    else:
        found = _UNUSUAL.search(text)
    if found is None:
        return ""
    return character_name(found[0])


def number_slip(text: str) -> str:
    """Return what is wrong with a text of numbers.

    It should be one number, or several with blanks between. "" where the fault is not
    clear.

    Examples: a decimal comma, a minus sign that is not that of the keyboard, an
    expression of xacro.
    """
    text = text[:MAX_NUMBER_TEXT]
    if _XACRO.search(text):
        return "an expression of xacro: run xacro on the file first"
    strange = next((letter for letter in text if not letter.isascii()), None)
    if strange is not None:
        name = unicodedata.name(strange, "")
        # From a text processor: U+2212 or a dash in place of the ASCII hyphen-minus.
        if "MINUS" in name or "DASH" in name or "HYPHEN" in name:
            code = f"U+{ord(strange):04X}"
            return f"its minus is the character {code}: write the - of the keyboard"
        return f"it has the character {character_name(strange)}"
    if _LIST.search(text):
        return "commas between the numbers: write blanks"
    comma = _COMMA.search(text)
    if comma is not None:
        return f"a decimal comma? Write {comma[0].replace(',', '.')}"
    letter = _LETTER_O.search(text)
    if letter is not None and any(sign.isdigit() for sign in letter[0]):
        return "the letter O in place of 0?"
    return ""
