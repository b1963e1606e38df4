"""Names from files, made fit to be shown: they may be empty, endless, or hold what no browser takes."""

from __future__ import annotations

import re
from html import escape

from bodymotion.diagnostics.text import shown

__all__ = ["counted", "fixed", "html_text", "node_name"]

_UNFIT = re.compile(r"[^\w .+-]")


def html_text(text: str, most: int = 2000) -> str:
    """Return the text as HTML that shows it."""
    return escape(shown(text, most))


def node_name(index: int, name: str) -> str:
    """Make a name fit for a node of the scene's tree: unique by its index, without what has a meaning in paths."""
    return f"{index} {_UNFIT.sub('_', shown(name, 60))}".strip()


def counted(number: int, thing: str) -> str:
    """Say how many: `1 problem`, `2 problems`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def fixed(value: float, digits: int, sign: str = "-") -> str:
    """Write a number with so many digits after the point; what rounds to zero has no minus. `sign` "+" writes that of the others, too."""
    return f"{round(float(value), digits) + 0.0:{sign}.{digits}f}"
