"""Sheets of a size that is asked for: with as many columns and letters as large as fit into it, or not at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.plots.layout import MOST_COLUMNS, Flow
from bodymotion.plots.parts import Curves, Sheet

__all__ = ["TooSmallError", "fitted"]

SMALLEST, FEWEST = 0.53, 72.0
"""Letters are made smaller down to this share of their size, and not below that which they have at so many dots per inch."""
STEP = 0.025
"""In steps of this letters become smaller until all fits."""
GROWTH, MOST_GROWTH = 1.015, 400
"""In steps of this factor a larger size is sought, so many times."""
MOST_STRETCH = 30.0


class TooSmallError(WrongUseError):
    """Nothing that could be read would fit into the size that was asked for."""


def fitted(
    makes: Sequence[Callable[[Flow], Sheet]], width: float | None, height: float | None, dpi: float
) -> tuple[Sheet, ...]:
    """Make sheets of this size [inch], all with letters of one size; without a height, each as high as it comes.

    Of panels as many stand in a row as fit; where that does not help, all is drawn smaller, down to what can be read at `dpi`.

    Raises
    ------
    TooSmallError
        When the size is too small for one of them; the message names the smallest that is not.
    """
    if width is None:
        return tuple(make(Flow()) for make in makes)
    least = min(max(FEWEST / dpi, SMALLEST), 1.0)
    for scale in (*(float(one) for one in np.round(np.arange(1.0, least, -STEP), 3)), least):
        found = [_found(make, width, height, scale) for make in makes]
        if all(sheet is not None for sheet in found):
            return tuple(replace(sheet, scale=scale) for sheet in found if sheet is not None)
    raise TooSmallError(_refusal(makes, width, height, dpi, least))


def _found(make: Callable[[Flow], Sheet], width: float, height: float | None, scale: float) -> Sheet | None:
    """Make a sheet of this size with all drawn at this scale; None when it does not fit."""
    wide = width / scale
    best: Sheet | None = None
    most = 0.0
    gridded = True
    for columns in (0, *range(MOST_COLUMNS, 0, -1)):
        if not gridded:
            break
        flow = Flow(wide, stretch=1.0 if height is None else 0.0, columns=columns, room=1 + scale - SMALLEST)
        sheet = make(flow)
        gridded = flow.gridded
        if flow.narrow or (height is not None and sheet.height > height / scale):
            continue
        if height is None:
            return sheet
        tall = height / scale
        sheet = replace(make(replace(flow, y=Flow().y, cells=[], stretch=_stretch(make, flow, tall))), height=tall)
        if (size := _panel_size(sheet)) > most:
            best, most = sheet, size
    return best


def _stretch(make: Callable[[Flow], Sheet], flow: Flow, tall: float) -> float:
    """Find by how much heights are to be stretched for a sheet to be so high [inch]."""
    low, high = 0.0, MOST_STRETCH
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        made = make(replace(flow, y=Flow().y, cells=[], stretch=middle))
        low, high = (middle, high) if made.height <= tall else (low, middle)
    return low


def _panel_size(sheet: Sheet) -> float:
    """Say how large the panels of a sheet are, by the side that is the less comfortable."""
    panels = [cell for cell in sheet.cells if isinstance(cell.part, Curves)]
    return min((min(cell.width / 1.6, cell.height) for cell in panels), default=1.0)


def _refusal(
    makes: Sequence[Callable[[Flow], Sheet]], width: float, height: float | None, dpi: float, least: float
) -> str:
    """Say that a size is too small, and which one of its shape is not."""
    wide, tall = width, height
    for _ in range(MOST_GROWTH):
        wide = math.ceil(wide * GROWTH * dpi) / dpi
        tall = None if tall is None or height is None else math.ceil(wide * height / width * dpi) / dpi
        if all(_found(make, wide, tall, least) is not None for make in makes):
            break
    asked, better = _words(width, height, dpi), _words(wide, tall, dpi)
    return f"{asked} are too small to show all of it; {better} are enough, or fewer dots per inch than {dpi:g}"


def _words(width: float, height: float | None, dpi: float) -> str:
    if height is None:
        return f"{round(width * dpi)} pixels ({width:.2f} inches) of width"
    return f"{round(width * dpi)}x{round(height * dpi)} pixels ({width:.2f} x {height:.2f} inches)"
