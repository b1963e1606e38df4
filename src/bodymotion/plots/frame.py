"""What stands around plots that a browser draws: axes, texts, legends and limits, each in its place on the sheet."""

from __future__ import annotations

from html import escape
from typing import Any

from bodymotion.plots.parts import Cell, Sheet
from bodymotion.plots.style import Theme

__all__ = ["FONT", "PIXELS", "Frame", "safe"]

LATE_TIMES = ".12~g"
"""How times are written at axes that begin late, as those of a clock do (d3-format)."""
PIXELS = 92
"""A sheet is so many pixels an inch high; its width is that of the page."""
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def safe(text: str) -> str:
    """Return text that plotly shows as it is: it takes some HTML for itself."""
    return escape(text, quote=False)


class Frame:
    """A sheet's frame in plotly: axes, texts and legends in their places. `timed` are the axes over time, `grounds` those of grounds."""

    def __init__(self, sheet: Sheet, theme: Theme) -> None:
        self.sheet, self.theme = sheet, theme
        self.timed: list[tuple[str, str]] = []
        self.grounds: list[dict[str, Any]] = []
        self.count = self.legends = 0
        self.annotations: list[dict[str, Any]] = []
        self.shapes: list[dict[str, Any]] = []
        self.layout: dict[str, Any] = {
            "autosize": True,
            "height": round(sheet.height * PIXELS),
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0, "autoexpand": False},
            "paper_bgcolor": theme.page,
            "plot_bgcolor": theme.panel,
            "font": {"family": FONT, "size": 11, "color": theme.text},
            "hovermode": "x",
            "hoverdistance": 30,
            "showlegend": True,
            "barmode": "overlay",
            "bargap": 0,
            "dragmode": "zoom",
            "hoverlabel": {"font": {"size": 11}},
            "modebar": {
                "orientation": "h",
                "bgcolor": theme.page + "00",
                "color": theme.muted,
                "activecolor": theme.text,
            },
        }
        self.text(f"<b>{safe(sheet.title)}</b>", 0.3, 0.4, size=18)
        under = "<br>".join(safe(line) for line in sheet.under)
        self.text(under, 0.3, 0.62 + sheet.under_height, size=11, color=theme.muted)
        self.layout["annotations"] = self.annotations
        self.layout["shapes"] = self.shapes

    def text(
        self, text: str, x: float, y: float, *, size: float, color: str | None = None, anchor: str = "left"
    ) -> None:
        """Write text that ends above a place [inch] from the upper left corner."""
        if text:
            self.annotations.append(
                {
                    "text": text,
                    "x": x / self.sheet.width,
                    "y": 1 - y / self.sheet.height,
                    "xref": "paper",
                    "yref": "paper",
                    "xanchor": anchor,
                    "yanchor": "bottom",
                    "showarrow": False,
                    "borderpad": 0,
                    "align": "left",
                    "font": {"size": size, "color": color or self.theme.text},
                }
            )

    def axes(self, cell: Cell, title: str, note: str = "") -> tuple[str, str]:
        """Add a pair of axes in a cell's place, and give their names as traces call them."""
        self.count += 1
        number = "" if self.count == 1 else str(self.count)
        theme, sheet = self.theme, self.sheet
        common = {
            "gridcolor": theme.grid,
            "linecolor": theme.edge,
            "zeroline": False,
            "ticks": "outside",
            "ticklen": 3,
            "tickcolor": theme.edge,
            "tickfont": {"size": 9.5, "color": theme.muted},
            "showline": True,
            "automargin": False,
        }
        self.layout[f"xaxis{number}"] = {
            **common,
            "domain": [cell.x / sheet.width, (cell.x + cell.width) / sheet.width],
            "anchor": f"y{number}",
            "nticks": max(int(cell.width / 0.5), 3),
        }
        low = 1 - (cell.y + cell.height) / sheet.height
        self.layout[f"yaxis{number}"] = {
            **common,
            "domain": [max(low, 0.0), low + cell.height / sheet.height],
            "anchor": f"x{number}",
            "nticks": max(int(cell.height / 0.26), 3),
        }
        small = cell.width < 3.5
        self.text(safe(title), cell.x, cell.y - (0.15 if note and small else 0.02), size=10.5 if small else 12)
        if note and small:
            self.text(safe(note), cell.x, cell.y - 0.02, size=9, color=theme.muted)
        elif note:
            self.text(safe(note), cell.x + cell.width, cell.y - 0.02, size=10, color=theme.muted, anchor="right")
        return f"x{number}", f"y{number}"

    def over_time(
        self, cell: Cell, title: str, note: str = ""
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
        """Add axes over time; give their two layouts, and where traces belong."""
        x, y = self.axes(cell, title, note)
        across, up = self.layout["xaxis" + x[1:]], self.layout["yaxis" + y[1:]]
        room = 0.01 * (self.sheet.end - self.sheet.start) or 0.5
        across["range"] = [self.sheet.start - room, self.sheet.end + room]
        across["showticklabels"] = cell.time_labels
        across["hoverformat"] = ".3f"
        across["ticksuffix"] = ""
        if self.sheet.since:
            across.update(tickformat=LATE_TIMES, nticks=max(int(cell.width / 0.9), 2))
        if cell.time_title:
            across["title"] = {"text": "time [s]", "font": {"size": 10, "color": self.theme.muted}, "standoff": 2}
        if self.timed:
            across["matches"] = self.timed[0][0].replace("axis", "")
        self.timed.append(("xaxis" + x[1:], "yaxis" + y[1:]))
        return across, up, {"xaxis": x, "yaxis": y}

    def legend(self, cell: Cell, x: float, y: float, across: bool = False) -> str:
        """Add a legend at a place [inch], and give its name."""
        self.legends += 1
        name = "legend" if self.legends == 1 else f"legend{self.legends}"
        self.layout[name] = {
            "x": x / self.sheet.width,
            "y": 1 - y / self.sheet.height,
            "xanchor": "left",
            "yanchor": "top",
            "bgcolor": self.theme.page + "00",
            "font": {"size": 9.5},
            "tracegroupgap": 0,
            "itemwidth": 30,
            "orientation": "h" if across else "v",
        }
        return name

    def band(self, x: str, y: str, low: float, high: float, color: str, name: str) -> None:
        """Lay a band between two values behind the curves."""
        self.shapes.append(
            {
                "type": "rect",
                "xref": f"{x} domain",
                "yref": y,
                "x0": 0,
                "x1": 1,
                "y0": low,
                "y1": high,
                "name": name,
                "fillcolor": color,
                "line": {"width": 0},
                "layer": "below",
            }
        )

    def rule(self, x: str, y: str, at: float, dash: str) -> None:
        """Lay a line at a value behind the curves."""
        self.shapes.append(
            {
                "type": "line",
                "xref": f"{x} domain",
                "yref": y,
                "x0": 0,
                "x1": 1,
                "y0": at,
                "y1": at,
                "name": "limit",
                "line": {"color": self.theme.bad, "width": 1, "dash": dash},
                "layer": "below",
            }
        )
