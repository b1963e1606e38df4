"""Numbers as a person reads them: degrees for radians, percent for shares, few digits."""

from __future__ import annotations

from math import degrees, isfinite

from bodymotion.dynamics import Figure

__all__ = ["measured", "said"]


def measured(value: float, unit: str) -> str:
    """Write a number of SI with its unit: 4 digits, angles in degrees, shares in percent, lengths under 10 cm in millimetres."""
    if not isfinite(value):
        return "–"
    if unit.startswith("rad"):
        value, unit = degrees(value), "°" + unit[3:]
    elif unit == "share":
        value, unit = 100 * value, "%"
    elif unit == "m" and 0 < abs(value) < 0.1:
        value, unit = 1000 * value, "mm"
    space = "" if unit == "°" else " "
    return f"{value:.4g}{space}{unit}".rstrip()


def said(figure: Figure) -> str:
    """Write a key figure's value."""
    return measured(figure.value, figure.unit)
