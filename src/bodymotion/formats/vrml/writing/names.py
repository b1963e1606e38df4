"""Which names may stand after DEF, and what to make of one that may not."""

from __future__ import annotations

import re

__all__ = ["is_name", "legal_name"]

# The standard forbids a digit, + and - at the front, and a point anywhere; models have them, and their readers take them.
_FORBIDDEN = re.compile(r"[\x00-\x20\"#',\[\\\]{}\x7f\s\ud800-\udfff]")
_KEYWORDS = {
    *("DEF", "EXTERNPROTO", "FALSE", "IS", "NULL", "PROTO", "ROUTE", "TO", "TRUE", "USE"),
    *("eventIn", "eventOut", "exposedField", "field"),
}


def is_name(text: str) -> bool:
    """Whether a text may be a name (ISO/IEC 14772-1, A.2), as the models in the world are read: `1.a-b+c` is one, too."""
    return bool(text) and text not in _KEYWORDS and _FORBIDDEN.search(text) is None


def legal_name(text: str, otherwise: str = "unnamed") -> str:
    """Return a name like the text: each character that may not stand in one becomes a low line."""
    name = _FORBIDDEN.sub("_", text) or otherwise
    return f"{name}_" if name in _KEYWORDS else name
