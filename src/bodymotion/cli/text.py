"""Text from files, made safe to print: a name in a file may hold escape sequences that drive the terminal.

Control characters (C0, C1, DEL), those that turn the direction of writing, and halves of surrogate pairs are shown as the escapes that
Python writes for them.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["folded", "one_line", "padded", "width", "words"]

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""What JSON leaves as it is, but a terminal should not get."""


def one_line(text: object) -> str:
    r"""Return the text on one line, with all that could drive a terminal shown as an escape such as ``\x1b``."""
    return _UNSAFE.sub(_escape, str(text))


def _escape(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape", "surrogatepass").decode("ascii")


def width(text: str) -> int:
    """Return how many columns of a terminal the text takes: two for a wide East Asian character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, columns: int, right: bool = False) -> str:
    """Fill the text with blanks to a width, on its left side if it shall stand `right`."""
    blanks = " " * (columns - width(text))
    return blanks + text if right else text + blanks


_WORD = re.compile(r"\s*[^\s…]+(?:…|\s+)?|\s*…\s*|\s+")


def words(text: str) -> list[str]:
    """Return the pieces between which a text may be folded: words with the blanks after them; a range is folded after its `…`."""
    return _WORD.findall(text.strip())


def folded(text: str, columns: int) -> list[str]:
    """Fold a text to lines of so many columns of a terminal, at the least one line; only a word that is longer is torn apart.

    Blanks at the beginning set all lines in, as far as the longest word leaves room for that.
    """
    columns = max(columns, 2)
    text = text.rstrip()
    pieces = words(text)
    longest = max((width(piece.rstrip()) for piece in pieces), default=0)
    margin = " " * max(0, min(len(text) - len(text.lstrip()), columns - longest))
    room = columns - len(margin)
    lines = [""]
    for piece in pieces:
        if lines[-1] and width(lines[-1]) + width(piece.rstrip()) > room:
            lines.append("")
        while width(piece.rstrip()) > room:
            end = _fitting(piece, room)
            lines[-1:] = [piece[:end], ""]
            piece = piece[end:]
        lines[-1] += piece
    return [margin + line.rstrip() for line in lines]


def _fitting(text: str, columns: int) -> int:
    """Return how many characters, at the least one, there is room for."""
    total = 0
    for place, character in enumerate(text):
        total += width(character)
        if total > columns and place:
            return place
    return len(text)
