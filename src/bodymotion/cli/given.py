"""Numbers of the command line that say something: what is none of that kind is wrong use."""

from __future__ import annotations

import math

import typer

__all__ = ["not_negative", "positive"]


def positive(value: float | None) -> float | None:
    """Let a positive, finite number pass, or none."""
    if value is not None and not 0 < value < math.inf:
        raise typer.BadParameter(f"{value:g} is no positive, finite number")
    return value


def not_negative(value: float) -> float:
    """Let a finite number pass that is 0 or more."""
    if not 0 <= value < math.inf:
        raise typer.BadParameter(f"{value:g} is no finite number of 0 or more")
    return value
