"""Names and numbers, fit to be drawn."""

from __future__ import annotations

import re

import numpy as np

__all__ = ["number", "shown"]

_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str, most: int = 60) -> str:
    """Give text of a file fit to be drawn: without control characters, and cut off after `most` others."""
    clean = _UNSEEN.sub("\ufffd", text)
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def number(value: float, digits: int = 3) -> str:
    """Write a number for people, with a true minus."""
    if not np.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "—"
    if abs(value) < 1e-9:
        return "0"
    text = f"{value:.{digits}g}" if 1e-3 <= abs(value) < 10**digits else f"{value:.0f}"
    if abs(value) < 1e-3 or abs(value) >= 1e6:
        text = f"{value:.1e}"
    return text.replace("-", "−")
