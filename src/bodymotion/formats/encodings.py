"""The encodings of texts with wide characters.

UTF-16 and UTF-32, with a byte order mark or without; one reader for all text formats.
"""

import codecs

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks; those of UTF-32 begin like those of UTF-16."""
LAYOUTS = (
    ("utf-32-le", 0, 4),
    ("utf-32-be", 3, 4),
    ("utf-16-le", 0, 2),
    ("utf-16-be", 1, 2),
)
"""Encodings without a mark.

The byte of each character that is not 0 where the character is ASCII, and the bytes of
a character.
"""
SAMPLE = 64
"""[bytes] The part of a file that shows its encoding."""
MIN_SAMPLE = 8
_TEXT = frozenset(b"\t\n\r" + bytes(range(32, 127)))


def wide_encoding(head: bytes) -> str:
    """Return the encoding of a text by its first bytes, if it is UTF-16 or UTF-32.

    Empty for others.
    """
    for mark, name in MARKS:
        if head.startswith(mark):
            return name
    # Whole characters only: a piece of one would be no text.
    sample = head[: SAMPLE if len(head) >= SAMPLE else len(head) // 4 * 4]
    if len(sample) < MIN_SAMPLE or b"\0" not in sample:
        return ""
    # Of ASCII in wide characters, all bytes but one are 0.
    for name, place, size in LAYOUTS:
        letters = sample[place::size]
        others = len(sample) - len(letters)
        if sample.count(b"\0") == others and _TEXT.issuperset(letters):
            return name
    return ""


def in_utf8(data: bytes) -> tuple[bytes, str]:
    """Return a text in UTF-8 and its encoding, where that is UTF-16 or UTF-32.

    Else the bytes as they are, and an empty name.
    """
    name = wide_encoding(data)
    if not name:
        return data, ""
    text = data.decode(name, "replace")
    return text.encode("utf-8", "replace"), name
