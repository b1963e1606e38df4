"""Numbers as a person reads them in a plot."""

from __future__ import annotations

import numpy as np

__all__ = ["number"]


def number(value: float, digits: int = 3) -> str:
    """Write a number for people, with a true minus."""
    value = float(value)
    if not np.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "—"
    if abs(value) < 1e-9:
        return "0"
    text = f"{value:.{digits}g}" if 1e-3 <= abs(value) < 10**digits else f"{value:.0f}"
    if abs(value) < 1e-3 or abs(value) >= 1e6:
        text = f"{value:.1e}"
    return text.replace("-", "−")
