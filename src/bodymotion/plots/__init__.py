"""Plots of a motion: pictures (PNG, SVG, PDF) and interactive pages. See docs/plots.md.

>>> import bodymotion as bm
>>> bm.plot("robot.wrl", "walk.seq", "torques").save("torques.png")   # doctest: +SKIP

A plot is first made as parts in their places (`parts.py`), by one file for each kind of plot; then they are drawn, with matplotlib in
`pictures.py` or with plotly in `pages.py`.
"""

from __future__ import annotations

from bodymotion.plots.api import Plot, form_of, plot, subject_of
from bodymotion.plots.kinds import KINDS, UnknownPlotError, available, sheets

__all__ = ["KINDS", "Plot", "UnknownPlotError", "available", "form_of", "plot", "sheets", "subject_of"]
