"""Text for pages and messages. Names from files may be empty, very long, or hold characters that no browser accepts."""

from __future__ import annotations

import re
from html import escape

from bodymotion.diagnostics.text import shown

__all__ = ["fixed", "html_text", "node_name"]

_NOT_IN_NODE_NAMES = re.compile(r"[^\w .+-]")


def html_text(text: str, max_characters: int = 2000) -> str:
    """Return the text escaped for HTML, without control characters."""
    return escape(shown(text, max_characters))


def node_name(index: int, name: str) -> str:
    """Return a name for a node of a scene tree: unique by its index, without characters that have a meaning in paths."""
    return f"{index} {_NOT_IN_NODE_NAMES.sub('_', shown(name, 60))}".strip()


def fixed(value: float, digits: int, sign: str = "-") -> str:
    """Return a number with `digits` decimal places, never "-0.0". With `sign` "+" positive numbers have a sign, too."""
    return f"{round(float(value), digits) + 0.0:{sign}.{digits}f}"
