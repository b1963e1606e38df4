"""Plots of a motion.

Images (PNG, SVG, PDF) and interactive pages. See docs/plots.md.

>>> import bodymotion as bm
>>> bm.plot("robot.wrl", "walk.seq", "torques").save("torques.png")   # doctest: +SKIP

A plot is first a `Chart`: parts at positions (`parts.py`), made by the functions of
`kinds.py` and arranged by `layout.py`. A chart is drawn by matplotlib (`drawing.py`) or
by plotly (`traces.py`, `pages.py`). To add a plot: write a function that returns a
chart, and add a row to `KINDS`.
"""

from bodymotion.plots.api import Plot, form_of, plot, subject_of
from bodymotion.plots.kinds import KINDS, UnknownPlotError, available, charts

__all__ = [
    "KINDS",
    "Plot",
    "UnknownPlotError",
    "available",
    "charts",
    "form_of",
    "plot",
    "subject_of",
]
