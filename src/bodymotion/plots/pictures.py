"""Sheets as pictures: drawn with matplotlib, without its global state and without a screen."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bodymotion.extras import need
from bodymotion.plots.drawing import Pen
from bodymotion.plots.parts import Sheet
from bodymotion.plots.style import FONTS, LIGHT, OTHER_FONTS, Theme, rc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DPI", "FORMATS", "draw", "picture"]

DPI = 150
FORMATS = ("png", "svg", "pdf")
SPACE = 0.25
"""[inch] between sheets that stand in one picture."""


@contextmanager
def _style(theme: Theme) -> Iterator[None]:
    """Have matplotlib draw in our style, the user's settings and warnings left alone afterwards."""
    matplotlib = need("matplotlib", "plot", "plotting")
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matplotlib.rcParams.update({k: v for k, v in matplotlib.rcParamsDefault.items() if not k.startswith("backend")})
        matplotlib.rcParams.update(rc(theme, _fonts()))
        yield


@lru_cache(maxsize=1)
def _fonts() -> tuple[str, ...]:
    manager = need("matplotlib.font_manager", "plot", "plotting")
    there = {one.name for one in manager.fontManager.ttflist}
    return (*FONTS, *[name for name in OTHER_FONTS if name in there][:1])


def draw(sheets: Sequence[Sheet], theme: Theme = LIGHT) -> Figure:
    """Draw sheets, one below the other, as one matplotlib Figure, which belongs to no window.

    Raises
    ------
    ImportError
        Without matplotlib; the message says how it is installed.
    """
    figures = need("matplotlib.figure", "plot", "plotting")
    agg = need("matplotlib.backends.backend_agg", "plot", "plotting")
    width = max((sheet.width for sheet in sheets), default=1.0)
    height = sum(sheet.height for sheet in sheets) + SPACE * max(len(sheets) - 1, 0)
    with _style(theme):
        figure: Figure = figures.Figure(figsize=(width, max(height, 1.0)), dpi=DPI)
        agg.FigureCanvasAgg(figure)
        pen = Pen(figure, theme, width, max(height, 1.0))
        top = 0.0
        for sheet in sheets:
            pen.sheet(sheet, top)
            top += sheet.height + SPACE
    return figure


def picture(sheets: Sequence[Sheet], form: str, theme: Theme = LIGHT, dpi: float = DPI) -> bytes:
    """Give sheets as the bytes of a picture: "png" or "svg" with one below the other, "pdf" with one on each page."""
    out = io.BytesIO()
    if form == "pdf":
        pages = need("matplotlib.backends.backend_pdf", "plot", "plotting")
        facts = {"Creator": "bodymotion", "Producer": None, "CreationDate": None}
        with _style(theme), pages.PdfPages(out, metadata=facts) as document:
            for sheet in sheets:
                figure = draw([sheet], theme)
                document.savefig(figure, dpi=dpi)
        return out.getvalue()
    metadata: dict[str, Any] = {"Software": "bodymotion"} if form == "png" else {"Date": None, "Creator": "bodymotion"}
    figure = draw(sheets, theme)
    with _style(theme):
        figure.savefig(out, format=form, dpi=dpi, metadata=metadata)
    return out.getvalue()
