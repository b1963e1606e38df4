"""Sheets as pictures: drawn with matplotlib, without its global state and without a screen."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bodymotion.plots.drawing import Pen
from bodymotion.plots.parts import Sheet
from bodymotion.plots.style import FONTS, LIGHT, Theme, rc
from bodymotion.scene.fonts import FAMILIES, warn_missing_letters
from bodymotion.system.extras import need

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DPI", "FORMATS", "draw", "picture"]

DPI = 150
FORMATS = ("png", "svg", "pdf")
SPACE = 0.25
"""[inch] between sheets that stand in one picture."""


def _silent(record: logging.LogRecord) -> bool:
    return False


@contextmanager
def _style(theme: Theme, scale: float = 1.0) -> Iterator[None]:
    """Have matplotlib draw in our style and in silence, the user's settings and warnings left alone afterwards."""
    matplotlib = need("matplotlib", "plot", "plotting")
    with ExitStack() as stack:
        stack.enter_context(matplotlib.rc_context())
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        # It would tell of each Japanese typeface that has no bold letters.
        finder = logging.getLogger("matplotlib.font_manager")
        finder.addFilter(_silent)
        stack.callback(finder.removeFilter, _silent)
        matplotlib.rcParams.update({k: v for k, v in matplotlib.rcParamsDefault.items() if not k.startswith("backend")})
        matplotlib.rcParams.update(rc(theme, _fonts(), scale))
        yield


@lru_cache(maxsize=1)
def _fonts() -> tuple[str, ...]:
    manager = need("matplotlib.font_manager", "plot", "plotting")
    there = {one.name for one in manager.fontManager.ttflist}
    return (*FONTS, *(name for name in FAMILIES if name in there))


@lru_cache(maxsize=32)
def _letters_of(family: str) -> frozenset[int]:
    """Return the letters that a typeface has."""
    manager = need("matplotlib.font_manager", "plot", "plotting")
    return frozenset(manager.get_font(manager.findfont(family)).get_charmap())


def _foreign(figure: Figure) -> set[str]:
    """Return the letters in a figure that the usual typeface has not, having said which ones no other has either."""
    texts = need("matplotlib.text", "plot", "plotting")
    written = {letter for text in figure.findobj(texts.Text) for letter in text.get_text() if letter.isprintable()}
    foreign = {letter for letter in written if ord(letter) not in _letters_of(FONTS[0])}
    if foreign:
        warn_missing_letters(
            one for one in foreign if not any(ord(one) in _letters_of(family) for family in _fonts()[1:])
        )
    return foreign


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
    height = max(sum(sheet.height for sheet in sheets) + SPACE * max(len(sheets) - 1, 0), 1.0)
    scale = _scale(sheets)
    with _style(theme, scale):
        figure: Figure = figures.Figure(figsize=(width * scale, height * scale), dpi=DPI)
        agg.FigureCanvasAgg(figure)
        pen = Pen(figure, theme, width, height, scale)
        top = 0.0
        for sheet in sheets:
            pen.sheet(sheet, top)
            top += sheet.height + SPACE
    return figure


def picture(sheets: Sequence[Sheet], form: str, theme: Theme = LIGHT, dpi: float = DPI) -> bytes:
    """Return sheets as the bytes of a picture: "png" or "svg" with one below the other, "pdf" with one on each page."""
    out = io.BytesIO()
    if form == "pdf":
        matplotlib = need("matplotlib", "plot", "plotting")
        pages = need("matplotlib.backends.backend_pdf", "plot", "plotting")
        facts = {"Creator": "bodymotion", "Producer": None, "CreationDate": None}
        figures = [draw([sheet], theme) for sheet in sheets]
        foreign = [_foreign(figure) for figure in figures]
        with _style(theme, _scale(sheets)):
            if any(foreign):
                # Most Japanese typefaces hold curves of a kind that cannot be embedded as TrueType (42).
                matplotlib.rcParams["pdf.fonttype"] = 3
            with pages.PdfPages(out, metadata=facts) as document:
                for figure in figures:
                    document.savefig(figure, dpi=dpi)
        return out.getvalue()
    metadata: dict[str, Any] = {"Software": "bodymotion"} if form == "png" else {"Date": None, "Creator": "bodymotion"}
    figure = draw(sheets, theme)
    if form == "png":
        # An SVG has its text as text: whoever shows it has typefaces for it, or not.
        _foreign(figure)
    with _style(theme, _scale(sheets)):
        figure.savefig(out, format=form, dpi=dpi, metadata=metadata)
    return out.getvalue()


def _scale(sheets: Sequence[Sheet]) -> float:
    """Return the scale at which sheets of one picture are drawn."""
    return min((sheet.scale for sheet in sheets), default=1.0)
