"""Charts as data and layout of plotly, which a browser draws."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.plots.curves import outside, row_range
from bodymotion.plots.parts import Bars, Cell, Chart, CurveRows, Curves, Ground, Heading, KeyFigures, Line
from bodymotion.plots.style import Theme

LATE_TIMES = ".12~g"
"""Format (d3-format) of large times at axes, such as those of a clock."""
PIXELS = 92
"""Pixels per inch of the height of a chart; its width is that of the page."""
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def safe(text: str) -> str:
    """Return text with the characters escaped that plotly reads as HTML."""
    return escape(text, quote=False)


class Frame:
    """Axes, texts and legends of a chart in plotly. `timed` are the axes over time, `grounds` those of grounds."""

    def __init__(self, chart: Chart, theme: Theme) -> None:
        self.chart, self.theme = chart, theme
        self.timed: list[tuple[str, str]] = []
        self.grounds: list[dict[str, Any]] = []
        self.count = self.legends = 0
        self.annotations: list[dict[str, Any]] = []
        self.shapes: list[dict[str, Any]] = []
        self.layout: dict[str, Any] = {
            "autosize": True,
            "height": round(chart.height * PIXELS),
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
        self.text(f"<b>{safe(chart.title)}</b>", 0.3, 0.4, size=18)
        subtitle = "<br>".join(safe(line) for line in chart.subtitle)
        self.text(subtitle, 0.3, 0.62 + chart.subtitle_height, size=11, color=theme.muted)
        self.layout["annotations"] = self.annotations
        self.layout["shapes"] = self.shapes

    def text(
        self, text: str, x: float, y: float, *, size: float, color: str | None = None, anchor: str = "left"
    ) -> None:
        """Add text above a position [inch] from the upper left corner."""
        if text:
            self.annotations.append(
                {
                    "text": text,
                    "x": x / self.chart.width,
                    "y": 1 - y / self.chart.height,
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
        """Add a pair of axes for a cell, and return their names for traces."""
        self.count += 1
        number = "" if self.count == 1 else str(self.count)
        theme, chart = self.theme, self.chart
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
            "domain": [cell.x / chart.width, (cell.x + cell.width) / chart.width],
            "anchor": f"y{number}",
            "nticks": max(int(cell.width / 0.5), 3),
        }
        low = 1 - (cell.y + cell.height) / chart.height
        self.layout[f"yaxis{number}"] = {
            **common,
            "domain": [max(low, 0.0), low + cell.height / chart.height],
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
        """Add axes over time; return their two layouts, and the entries of traces for them."""
        x, y = self.axes(cell, title, note)
        across, up = self.layout["xaxis" + x[1:]], self.layout["yaxis" + y[1:]]
        margin = 0.01 * (self.chart.end - self.chart.start) or 0.5
        across["range"] = [self.chart.start - margin, self.chart.end + margin]
        across["showticklabels"] = cell.time_labels
        across["hoverformat"] = ".3f"
        across["ticksuffix"] = ""
        if self.chart.time_origin:
            across.update(tickformat=LATE_TIMES, nticks=max(int(cell.width / 0.9), 2))
        if cell.time_title:
            across["title"] = {"text": "time [s]", "font": {"size": 10, "color": self.theme.muted}, "standoff": 2}
        if self.timed:
            across["matches"] = self.timed[0][0].replace("axis", "")
        self.timed.append(("xaxis" + x[1:], "yaxis" + y[1:]))
        return across, up, {"xaxis": x, "yaxis": y}

    def legend(self, cell: Cell, x: float, y: float, across: bool = False) -> str:
        """Add a legend at a position [inch], and return its name."""
        self.legends += 1
        name = "legend" if self.legends == 1 else f"legend{self.legends}"
        self.layout[name] = {
            "x": x / self.chart.width,
            "y": 1 - y / self.chart.height,
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
        """Add a band between two values behind the curves."""
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
        """Add a line at a value behind the curves."""
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


LARGEST = float(np.finfo(np.float32).max)


def _short(values: Floats) -> Any:  # noqa: ANN401
    too_large = len(values) and np.nanmax(np.abs(values), initial=0.0, where=np.isfinite(values)) > LARGEST
    return np.asarray(values, dtype=np.float64 if too_large else np.float32)


def _plain(values: Floats) -> list[float | None]:
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in values]


class Traces(Frame):
    """The `data` and `layout` of a chart in plotly."""

    def __init__(self, chart: Chart, theme: Theme) -> None:
        super().__init__(chart, theme)
        self.data: list[dict[str, Any]] = []
        for cell in chart.cells:
            part = cell.part
            if isinstance(part, Heading):
                self.text(f"<b>{safe(part.text)}</b>", cell.x, cell.y + cell.height - 0.05, size=12)
            elif isinstance(part, KeyFigures):
                self.key_figures(part, cell)
            elif isinstance(part, Curves):
                self.curves(part, cell)
            elif isinstance(part, CurveRows):
                self.curve_rows(part, cell)
            elif isinstance(part, Bars):
                self.bars(part, cell)
            else:
                self.ground(part, cell)

    def curves(self, part: Curves, cell: Cell) -> None:
        """Draw curves over time, with their limits."""
        theme = self.theme
        _, up, where = self.over_time(cell, part.title, part.note)
        up["range"] = [part.lowest, part.highest]
        if cell.unit_title and part.unit:
            up["title"] = {"text": f"[{safe(part.unit)}]", "font": {"size": 10, "color": theme.muted}, "standoff": 3}
        x, y = where["xaxis"], where["yaxis"]
        limits = [limit for limit in (part.lower, part.upper) if limit is not None and np.isfinite(limit)]
        if limits:
            low = part.lower if part.lower is not None and np.isfinite(part.lower) else min(part.lowest, *limits)
            high = part.upper if part.upper is not None and np.isfinite(part.upper) else max(part.highest, *limits)
            self.band(x, y, low, high, theme.band + "1c", "limits")
            for limit in limits:
                self.rule(x, y, limit, "dash")
        if part.floor is not None:
            self.band(x, y, min(part.lowest, part.floor), part.floor, theme.bad + "14", "floor")
            self.rule(x, y, part.floor, "solid")
        legend = {"legend": self.legend(cell, cell.x + cell.width + 0.08, cell.y - 0.1)} if part.legend else {}
        for line in part.lines:
            self.data.append(
                {
                    **self.line(line),
                    **where,
                    **legend,
                    "showlegend": part.legend,
                    "hovertemplate": f"%{{y:.4~g}} {safe(part.unit)}<extra>%{{fullData.name}}</extra>",
                }
            )
            bad = outside(line, part)
            if bad is not None:
                self.data.append(
                    {
                        "type": "scatter",
                        "mode": "lines",
                        "x": bad[0],
                        "y": _short(bad[1]),
                        "name": "beyond",
                        "hoverinfo": "skip",
                        "showlegend": False,
                        "connectgaps": False,
                        "line": {"color": theme.bad, "width": 2.4},
                        **where,
                    }
                )
        if part.beyond:
            times, values = (np.array(column) for column in zip(*part.beyond, strict=True))
            self.data.append(
                {
                    "type": "scatter",
                    "mode": "markers+text",
                    "x": times,
                    "y": _short(values),
                    "name": "beyond the limit",
                    "text": [
                        f"{time:.2f} s" if cell.width > 2.5 or (time, value) == part.worst else ""
                        for time, value in part.beyond
                    ],
                    "textposition": "top center",
                    "textfont": {"size": 9, "color": theme.bad},
                    "marker": {"color": theme.bad, "size": 6},
                    "showlegend": False,
                    "hoverinfo": "skip",
                    "cliponaxis": False,
                    **where,
                }
            )

    def line(self, line: Line) -> dict[str, Any]:
        """Return the trace of one curve."""
        alone = int(np.isfinite(line.values).sum()) == 1
        return {
            "type": "scatter",
            "mode": "lines+markers" if alone else "lines",
            "x": line.times,
            "y": _short(line.values),
            "name": safe(line.label),
            "connectgaps": False,
            "line": {"color": self.theme.color(line.color), "width": 1.6, "dash": "dash" if line.dashed else "solid"},
        }

    def curve_rows(self, part: CurveRows, cell: Cell) -> None:
        """Draw rows of curves."""
        theme, count = self.theme, len(part.rows)
        _, up, where = self.over_time(cell, part.title)
        size = float(np.clip(PIXELS * cell.height / max(count, 1) * 0.6, 6.0, 10.0))
        up.update(
            range=[count, 0],
            tickvals=[k + 0.5 for k in range(count)],
            ticktext=[safe(row.line.label) for row in part.rows],
            showgrid=False,
            showline=False,
            ticks="",
            tickfont={"size": size, "color": theme.muted},
        )
        for k, row in enumerate(part.rows):
            low, high = row_range(row)
            color = theme.bad if row.beyond else theme.color(row.line.color)
            self.data.append(
                {
                    **self.line(row.line),
                    "y": _short(k + 0.9 - 0.8 * (row.line.values - low) / (high - low)),
                    "customdata": _short(row.line.values),
                    "line": {"color": color, "width": 1.3},
                    "showlegend": False,
                    **where,
                    "hovertemplate": f"%{{customdata:.4~g}} {safe(row.unit)}<extra>%{{fullData.name}}</extra>",
                }
            )
            at = 1 - (cell.y + cell.height * (k + 0.5) / max(count, 1)) / self.chart.height
            self.annotations.append(
                {
                    "text": safe(row.note),
                    "x": (cell.x + cell.width + 0.06) / self.chart.width,
                    "y": at,
                    "xref": "paper",
                    "yref": "paper",
                    "xanchor": "left",
                    "yanchor": "middle",
                    "showarrow": False,
                    "borderpad": 0,
                    "font": {"size": size, "color": theme.bad if row.beyond else theme.muted},
                }
            )
        at = 0
        for _, rows in part.groups[:-1]:
            at += rows
            self.shapes.append(
                {
                    "type": "line",
                    "xref": f"{where['xaxis']} domain",
                    "yref": where["yaxis"],
                    "x0": 0,
                    "x1": 1,
                    "y0": at,
                    "y1": at,
                    "line": {"color": theme.edge, "width": 1},
                    "layer": "below",
                    "name": "group",
                }
            )

    def bars(self, part: Bars, cell: Cell) -> None:
        """Draw bars over time."""
        theme, count = self.theme, len(part.labels)
        _, up, where = self.over_time(cell, part.title)
        up.update(
            range=[count, 0],
            tickvals=[k + 0.5 for k in range(count)],
            ticktext=[safe(label) for label in part.labels],
            showgrid=False,
            showline=False,
            ticks="",
        )
        named = bool(part.behind) or any(part.marked)
        legend = {"legend": self.legend(cell, cell.x + cell.width + 0.08, cell.y - 0.1)} if named else {}

        def add(
            spans: Sequence[tuple[float, float]], y: float, width: float, name: str, color: str, shown: bool
        ) -> None:
            if spans:
                starts, ends = (np.array(column) for column in zip(*spans, strict=True))
                self.data.append(
                    {
                        "type": "bar",
                        "orientation": "h",
                        "x": ends - starts,
                        "base": starts,
                        "y": [y] * len(spans),
                        "width": width,
                        "name": safe(name),
                        "marker": {"color": color, "line": {"width": 0}},
                        "showlegend": shown,
                        **where,
                        **legend,
                        "customdata": ends,
                        "hovertemplate": "%{base:.3f} … %{customdata:.3f} s<extra>%{fullData.name}</extra>",
                    }
                )

        add(part.behind, count / 2, count, part.behind_label, theme.shade + "40", True)
        first = True
        for k, spans in enumerate(part.spans):
            add(spans, k + 0.5, 0.64, part.labels[k], theme.color(part.colors[k]), False)
            add(part.marked[k], k + 0.7, 0.24, part.marked_label, theme.bad, first)
            first = first and not part.marked[k]

    def ground(self, part: Ground, cell: Cell) -> None:
        """Draw the ground seen from above."""
        theme = self.theme
        x, y = self.axes(cell, part.title)
        across, up = self.layout["xaxis" + x[1:]], self.layout["yaxis" + y[1:]]
        across.update(
            range=list(part.x), title={"text": "x [m]", "font": {"size": 10, "color": theme.muted}, "standoff": 2}
        )
        up.update(
            range=list(part.y),
            scaleanchor=x,
            scaleratio=1,
            constrain="range",
            title={"text": "y [m]", "font": {"size": 10, "color": theme.muted}, "standoff": 3},
        )
        across["constrain"] = "range"
        wide = cell.width > 6
        common = {
            "xaxis": x,
            "yaxis": y,
            "legend": self.legend(cell, cell.x - (0.0 if wide else 0.4), cell.y + cell.height + 0.42, across=wide),
            "type": "scatter",
        }
        shapes: dict[tuple[str, Any], list[Floats]] = {}
        for one in part.footprints:
            closed = np.concatenate([one.corners, one.corners[:1], [[np.nan, np.nan]]])
            shapes.setdefault((one.label, one.color), []).append(closed)
        for (label, color), polygons in shapes.items():
            points = np.concatenate(polygons)
            tint = theme.shade if color is None else theme.color(color)
            self.data.append(
                {
                    **common,
                    "mode": "lines",
                    "x": _short(points[:, 0]),
                    "y": _short(points[:, 1]),
                    "fill": "toself",
                    "name": safe(label),
                    "fillcolor": tint + ("14" if color is None else "2a"),
                    "hoverinfo": "skip",
                    "line": {
                        "color": tint + ("60" if color is None else "e6"),
                        "width": 1,
                        "dash": "dot" if color is None else "solid",
                    },
                }
            )
        for label, times, points, color in part.others:
            self.data.append(
                {
                    **common,
                    "mode": "lines" if len(points) > 1 else "markers",
                    "x": _short(points[:, 0]),
                    "y": _short(points[:, 1]),
                    "name": safe(label),
                    "customdata": times,
                    "line": {
                        "color": theme.color(color),
                        "width": 1.4,
                        "dash": "dash" if color == "muted" else "solid",
                    },
                    "hovertemplate": "%{customdata:.3f} s: (%{x:.3f}, %{y:.3f}) m<extra>%{fullData.name}</extra>",
                }
            )
        first, last = (float(part.times[0]), float(part.times[-1])) if len(part.times) else (0.0, 1.0)
        steps = [[k / (len(theme.times) - 1), color] for k, color in enumerate(theme.times)]
        bar = {
            "thickness": 9,
            "len": cell.height / self.chart.height,
            "x": (cell.x + cell.width + 0.08) / self.chart.width,
            "xpad": 0,
            "ypad": 0,
            "y": 1 - (cell.y + cell.height / 2) / self.chart.height,
            "outlinewidth": 0,
            "title": {"text": "t [s]", "font": {"size": 9}},
            "tickfont": {"size": 9},
            "nticks": 6,
            **({"tickformat": LATE_TIMES} if self.chart.time_origin else {}),
        }
        self.data.append(
            {
                **common,
                "mode": "lines+markers",
                "x": _short(part.path[:, 0]),
                "y": _short(part.path[:, 1]),
                "name": safe(part.label),
                "customdata": part.times,
                "line": {"color": theme.shade + "66", "width": 1},
                "marker": {
                    "size": 4,
                    "color": _short(part.times),
                    "colorscale": steps,
                    "cmin": first,
                    "cmax": max(last, first + 1e-9),
                    "showscale": last > first,
                    "colorbar": bar,
                },
                "hovertemplate": "%{customdata:.3f} s: (%{x:.3f}, %{y:.3f}) m<extra>%{fullData.name}</extra>",
            }
        )
        if part.worst is not None:
            _, at_x, at_y, text = part.worst
            self.data.append(
                {
                    **common,
                    "mode": "markers",
                    "x": [at_x],
                    "y": [at_y],
                    "name": f"minimum: {safe(text)}",
                    "hoverinfo": "name",
                    "marker": {"symbol": "circle-open", "size": 14, "color": theme.bad, "line": {"width": 2}},
                }
            )
        self.grounds.append(
            {
                "axes": ("xaxis" + x[1:], "yaxis" + y[1:]),
                "times": _plain(part.times),
                "x": _plain(part.path[:, 0]),
                "y": _plain(part.path[:, 1]),
            }
        )
        self.layout["hovermode"] = "closest" if len(self.chart.cells) < 2 else "x"

    def key_figures(self, part: KeyFigures, cell: Cell) -> None:
        """Write key figures."""
        self.text(f"<b>{safe(part.title)}</b>", cell.x, cell.y - 0.02, size=12)
        y = cell.y + 0.05
        for what, value, where in part.rows:
            y += 0.2
            self.text(safe(what), cell.x, y, size=10.5, color=self.theme.muted)
            self.text(safe(value), cell.x + cell.width, y, size=11, anchor="right")
            if where:
                y += 0.14
                self.text(safe(where), cell.x + cell.width, y, size=9, color=self.theme.muted, anchor="right")
