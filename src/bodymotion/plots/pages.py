"""Sheets as interactive plots: drawn by plotly in a browser, from one page that needs no network.

A page has `script()` once, and a `fragment(…)` for each plot. What their JavaScript offers to a page stands at the top of `cursor.js`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import astuple, fields
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from bodymotion.plots.frame import FONT, PIXELS
from bodymotion.plots.parts import Sheet
from bodymotion.plots.style import DARK, LIGHT, Theme
from bodymotion.plots.traces import Traces
from bodymotion.system.extras import need

__all__ = ["fragment", "interactive", "page", "script", "spec"]

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "form-action 'none'; base-uri 'none'"
)


def interactive(sheet: Sheet, theme: Theme = LIGHT) -> Any:  # noqa: ANN401
    """Return a sheet as a `plotly.graph_objects.Figure`.

    Raises
    ------
    ImportError
        Without plotly; the message says how it is installed.
    """
    graph = need("plotly.graph_objects", "plot", "an interactive plot")
    return graph.Figure(**spec(sheet, theme))


def script() -> str:
    """Return what a page with plots needs once, before the first: plotly.js and our few functions, as HTML (4.8 MB)."""
    offline = need("plotly.offline", "plot", "an interactive plot")
    own = files("bodymotion.plots").joinpath("cursor.js").read_text(encoding="utf-8")
    return f"<script>{offline.get_plotlyjs()}</script>\n<script>{own}</script>\n"


def fragment(sheet: Sheet, theme: Theme = LIGHT, identifier: str | None = None) -> str:
    """Return a sheet as HTML to be put on a page after `script()`; `identifier` is that of its `div`. Nothing is needed for it here."""
    name = identifier or f"bodymotion-{sheet.name}"
    pen = Traces(sheet, theme)
    tables = {one.name: _colors(one) for one in (LIGHT, DARK)}
    about = {
        "timed": pen.timed,
        "grounds": pen.grounds,
        "start": sheet.start,
        "end": sheet.end,
        "theme": theme.name,
        "colors": tables,
        "mark": theme.text,
    }
    content = _json({"figure": {"data": pen.data, "layout": pen.layout}, "about": about})
    height = round(sheet.height * PIXELS)
    return (
        f'<div id="{escape(name)}" class="bodymotion-plot" style="width:100%;height:{height}px"></div>\n'
        f"<script>bodymotionPlot({_json(name)},{content})</script>\n"
    )


def page(sheets: Sequence[Sheet], theme: Theme = LIGHT, title: str = "bodymotion") -> str:
    """Return sheets as one self-contained page, which opens from a disk without a network."""
    body = "".join(fragment(sheet, theme, f"plot-{k}") for k, sheet in enumerate(sheets))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>body{{margin:0;background:{theme.page};color:{theme.text};font-family:{FONT}}}"
        f"main{{max-width:1500px;min-width:900px;margin:0 auto;padding:0 12px 24px}}</style>\n{script()}</head>\n<body>\n"
        f"<main>\n{body}</main>\n</body>\n</html>\n"
    )


def spec(sheet: Sheet, theme: Theme = LIGHT) -> dict[str, Any]:
    """Return a sheet as plotly's `data` and `layout`, with NumPy arrays for numbers."""
    pen = Traces(sheet, theme)
    return {"data": pen.data, "layout": pen.layout}


def _colors(theme: Theme) -> list[str]:
    """Return all colours of a theme, in one order."""
    found: list[str] = []
    for field, value in zip(fields(theme), astuple(theme), strict=True):
        if field.name != "name":
            found += [value] if isinstance(value, str) else value
    return found


def _json(thing: object) -> str:
    """Write JSON that can stand in a script of a page: nothing in it ends the script."""
    text = json.dumps(thing, default=_array, separators=(",", ":"), allow_nan=False)
    for character, code in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(character, code)
    return text


def _array(thing: object) -> object:
    """Write arrays of numbers as plotly.js reads them, in base 64."""
    if isinstance(thing, np.ndarray):
        kind = "f8" if thing.dtype == np.float64 else "f4"
        return {
            "dtype": kind,
            "bdata": base64.b64encode(np.ascontiguousarray(thing, dtype="<" + kind).tobytes()).decode(),
        }
    raise TypeError(type(thing).__name__)
