"""Interactive charts, drawn by plotly in a browser, on a page that needs no network.

A page has `script()` once, and a `fragment(…)` for each plot. The functions of its
JavaScript are described at the top of `cursor.js`.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import astuple, fields
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from bodymotion.plots.parts import Chart
from bodymotion.plots.style import DARK, LIGHT, Theme
from bodymotion.plots.traces import FONT, PIXELS, Traces
from bodymotion.system.deferred import need

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; "
    "form-action 'none'; base-uri 'none'"
)


def interactive(chart: Chart, theme: Theme = LIGHT) -> Any:  # noqa: ANN401
    """Return a chart as a `plotly.graph_objects.Figure`.

    Raises ImportError when plotly is not installed.
    """
    graph = need("plotly.graph_objects", "plot", "an interactive plot")
    pen = Traces(chart, theme)
    return graph.Figure(data=pen.data, layout=pen.layout)


def script() -> str:
    """Return the HTML that a page needs once, before its first plot.

    Plotly.js and our functions (4.8 MB).
    """
    offline = need("plotly.offline", "plot", "an interactive plot")
    own = files("bodymotion.plots").joinpath("cursor.js").read_text(encoding="utf-8")
    return f"<script>{offline.get_plotlyjs()}</script>\n<script>{own}</script>\n"


def fragment(chart: Chart, theme: Theme = LIGHT, identifier: str | None = None) -> str:
    """Return a chart as HTML for a page with `script()`.

    `identifier` is that of its `div`. Does not need plotly.
    """
    name = identifier or f"bodymotion-{chart.name}"
    pen = Traces(chart, theme)
    tables = {one.name: _colors(one) for one in (LIGHT, DARK)}
    about = {
        "timed": pen.timed,
        "grounds": pen.grounds,
        "start": chart.start,
        "end": chart.end,
        "theme": theme.name,
        "colors": tables,
        "mark": theme.text,
    }
    content = _json(
        {"figure": {"data": pen.data, "layout": pen.layout}, "about": about}
    )
    height = round(chart.height * PIXELS)
    return (
        f'<div id="{escape(name)}" class="bodymotion-plot" '
        f'style="width:100%;height:{height}px"></div>\n'
        f"<script>bodymotionPlot({_json(name)},{content})</script>\n"
    )


def page(
    charts: Sequence[Chart], theme: Theme = LIGHT, title: str = "bodymotion"
) -> str:
    """Return charts as one self-contained page."""
    body = "".join(
        fragment(chart, theme, f"plot-{k}") for k, chart in enumerate(charts)
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>body{{margin:0;background:{theme.page};color:{theme.text};"
        f"font-family:{FONT}}}"
        f"main{{max-width:1500px;min-width:900px;margin:0 auto;padding:0 12px "
        f"24px}}</style>\n{script()}</head>\n<body>\n"
        f"<main>\n{body}</main>\n</body>\n</html>\n"
    )


def _colors(theme: Theme) -> list[str]:
    """Return all colours of a theme, in a fixed order."""
    found: list[str] = []
    for field, value in zip(fields(theme), astuple(theme), strict=True):
        if field.name != "name":
            found += [value] if isinstance(value, str) else value
    return found


def _json(thing: object) -> str:
    """Return JSON that is safe in a script element."""
    text = json.dumps(thing, default=_array, separators=(",", ":"), allow_nan=False)
    return text.translate(
        {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}
    )


def _array(thing: object) -> object:
    """Return an array in the base 64 form of plotly.js."""
    if isinstance(thing, np.ndarray):
        kind = "f8" if thing.dtype == np.float64 else "f4"
        data = np.ascontiguousarray(thing, dtype="<" + kind).tobytes()
        return {"dtype": kind, "bdata": base64.b64encode(data).decode()}
    raise TypeError(type(thing).__name__)
