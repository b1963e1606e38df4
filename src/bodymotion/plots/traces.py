"""Charts as data and layout of plotly, which a browser draws."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.plots.curves import outside, row_range
from bodymotion.plots.parts import (
    Bars,
    Cell,
    Chart,
    CurveRows,
    Curves,
    Ground,
    Heading,
    KeyFigures,
    Line,
)
from bodymotion.plots.style import Theme

LATE_TIMES = (
    ".12~g"  # Format (d3-format) of large times at axes, such as those of a clock.
)
PIXELS = 92  # Pixels per inch of the height of a chart; its width is that of the page.
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
# What the layouts of all charts have.
LAYOUT: dict[str, Any] = {
    "autosize": True,
    "margin": {"l": 0, "r": 0, "t": 0, "b": 0, "autoexpand": False},
    "hovermode": "x",
    "hoverdistance": 30,
    "showlegend": True,
    "barmode": "overlay",
    "bargap": 0,
    "dragmode": "zoom",
    "hoverlabel": {"font": {"size": 11}},
}
AXIS: dict[str, Any] = {
    "zeroline": False,
    "ticks": "outside",
    "ticklen": 3,
    "showline": True,
    "automargin": False,
}  # What all axes have.
ROWS = {
    "showgrid": False,
    "showline": False,
    "ticks": "",
}  # An axis of rows, which has no values.
# A trace without a legend or a text under the pointer.
UNNAMED: dict[str, Any] = {"hoverinfo": "skip", "showlegend": False}
# Text under the pointer at a point of the ground.
AT_TIME = "%{customdata:.3f} s: (%{x:.3f}, %{y:.3f}) m<extra>%{fullData.name}</extra>"
LARGEST = float(np.finfo(np.float32).max)


def safe(text: str) -> str:
    """Return text with the characters escaped that plotly reads as HTML."""
    return escape(text, quote=False)


def _short(values: Floats) -> Any:  # noqa: ANN401
    """Return values as 32-bit floats, which halve the page, where they fit."""
    # Values beyond the range of float32 would become infinite.
    too_large = (
        len(values)
        and np.nanmax(np.abs(values), initial=0.0, where=np.isfinite(values)) > LARGEST
    )
    return np.asarray(values, dtype=np.float64 if too_large else np.float32)


def _plain(values: Floats) -> list[float | None]:
    """Return values with seven digits for JSON; None where not finite."""
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in values]


class Traces:
    """The `data` and `layout` of a chart in plotly.

    `timed` are the axes over time, `grounds` those of grounds.
    """

    def __init__(self, chart: Chart, theme: Theme) -> None:
        """Draw all parts of a chart."""
        self.chart = chart
        self.theme = theme
        self.data: list[dict[str, Any]] = []
        self.timed: list[tuple[str, str]] = []
        self.grounds: list[dict[str, Any]] = []
        # Numbers of axes and legends: plotly calls the first "xaxis", the next
        # "xaxis2".
        self.count = self.legends = 0
        self.annotations: list[dict[str, Any]] = []
        self.shapes: list[dict[str, Any]] = []
        # The colour of the page, fully transparent: "00" is the alpha in hexadecimal.
        self.clear = theme.page + "00"
        bar = {
            "orientation": "h",
            "bgcolor": self.clear,
            "color": theme.muted,
            "activecolor": theme.text,
        }
        # The layout refers to the lists of annotations and shapes, which the parts
        # fill.
        self.layout: dict[str, Any] = {
            **LAYOUT,
            "height": round(chart.height * PIXELS),
            "paper_bgcolor": theme.page,
            "plot_bgcolor": theme.panel,
            "font": {"family": FONT, "size": 11, "color": theme.text},
            "modebar": bar,
            "annotations": self.annotations,
            "shapes": self.shapes,
        }
        self.text(f"<b>{safe(chart.title)}</b>", 0.3, 0.4, size=18)
        subtitle = "<br>".join(safe(line) for line in chart.subtitle)
        self.text(
            subtitle, 0.3, 0.62 + chart.subtitle_height, size=11, color=theme.muted
        )
        # Each cell at its position; text and curves have methods of their own.
        for cell in chart.cells:
            part = cell.part
            if isinstance(part, Heading):
                self.text(
                    f"<b>{safe(part.text)}</b>",
                    cell.x,
                    cell.y + cell.height - 0.05,
                    size=12,
                )
            elif isinstance(part, KeyFigures):
                self.key_figures(part, cell)
            else:
                kinds = {
                    Curves: self.curves,
                    CurveRows: self.curve_rows,
                    Bars: self.bars,
                    Ground: self.ground,
                }
                draw: Any = kinds[type(part)]
                draw(part, cell)

    def font(self, size: float, color: str = "") -> dict[str, Any]:
        """Return a font, by default in the muted colour."""
        return {"size": size, "color": color or self.theme.muted}

    def title(self, text: str, standoff: int) -> dict[str, Any]:
        """Return the title of an axis."""
        return {"text": text, "font": self.font(10), "standoff": standoff}

    def at(self, x: float, y: float) -> dict[str, float]:
        """Return a position [inch] from the upper left corner."""
        # plotly's paper coordinates are shares, and y points up.
        return {"x": x / self.chart.width, "y": 1 - y / self.chart.height}

    def text(
        self,
        text: str,
        x: float,
        y: float,
        *,
        size: float,
        color: str = "",
        **where: str,
    ) -> None:
        """Add text above a position [inch] from the upper left corner."""
        if text:
            found: dict[str, Any] = {
                "text": text,
                **self.at(x, y),
                "xref": "paper",
                "yref": "paper",
                "align": "left",
            }
            found |= {
                "borderpad": 0,
                "showarrow": False,
                "font": self.font(size, color or self.theme.text),
            }
            self.annotations.append(
                {**found, "xanchor": "left", "yanchor": "bottom", **where}
            )

    def axes(self, cell: Cell, title: str, note: str = "") -> tuple[str, str]:
        """Add a pair of axes for a cell, and return their names for traces."""
        self.count += 1
        if self.count == 1:
            number = ""
        else:
            number = str(self.count)
        theme = self.theme
        chart = self.chart
        common: dict[str, Any] = {
            **AXIS,
            "gridcolor": theme.grid,
            "linecolor": theme.edge,
            "tickcolor": theme.edge,
        }
        common["tickfont"] = self.font(9.5)
        # The domain of an axis is its part of the paper, from 0 to 1.
        across = [cell.x / chart.width, (cell.x + cell.width) / chart.width]
        low = 1 - (cell.y + cell.height) / chart.height
        # Rounding must not put a domain below the paper.
        up = [max(low, 0.0), low + cell.height / chart.height]
        # About one tick in half an inch across, one in a quarter of an inch upwards.
        for axis, other, domain, count in (
            ("x", "y", across, cell.width / 0.5),
            ("y", "x", up, cell.height / 0.26),
        ):
            own = {
                "domain": domain,
                "anchor": f"{other}{number}",
                "nticks": max(int(count), 3),
            }
            self.layout[f"{axis}axis{number}"] = {**common, **own}
        # A narrow panel has its note above its name, a wide one beside it.
        small = cell.width < 3.5
        self.text(
            safe(title),
            cell.x,
            cell.y - (0.15 if note and small else 0.02),
            size=10.5 if small else 12,
        )
        if note and small:
            self.text(safe(note), cell.x, cell.y - 0.02, size=9, color=theme.muted)
        elif note:
            self.text(
                safe(note),
                cell.x + cell.width,
                cell.y - 0.02,
                size=10,
                color=theme.muted,
                xanchor="right",
            )
        return f"x{number}", f"y{number}"

    def over_time(
        self, cell: Cell, title: str, note: str = ""
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Add axes over time.

        Return the layout of the vertical one, and the entries of traces for both.
        """
        x, y = self.axes(cell, title, note)
        across = self.layout["xaxis" + x[1:]]
        up = self.layout["yaxis" + y[1:]]
        # A curve does not touch the frame; a single frame gets half a second to each
        # side.
        margin = 0.01 * (self.chart.end - self.chart.start) or 0.5
        across["range"] = [self.chart.start - margin, self.chart.end + margin]
        across.update(showticklabels=cell.time_labels, hoverformat=".3f")
        # Times far from 0 have long labels: fewer ticks.
        if self.chart.time_origin:
            across.update(tickformat=LATE_TIMES, nticks=max(int(cell.width / 0.9), 2))
        if cell.time_title:
            across["title"] = self.title("time [s]", 2)
        # All axes over time are zoomed together.
        if self.timed:
            across["matches"] = self.timed[0][0].replace("axis", "")
        self.timed.append(("xaxis" + x[1:], "yaxis" + y[1:]))
        return up, {"xaxis": x, "yaxis": y}

    def legend(self, x: float, y: float, across: bool = False) -> str:
        """Add a legend at a position [inch], and return its name."""
        self.legends += 1
        if self.legends == 1:
            name = "legend"
        else:
            name = f"legend{self.legends}"
        look = {
            "bgcolor": self.clear,
            "font": {"size": 9.5},
            "tracegroupgap": 0,
            "itemwidth": 30,
        }
        where = {
            **self.at(x, y),
            "xanchor": "left",
            "yanchor": "top",
            "orientation": "h" if across else "v",
        }
        self.layout[name] = {**look, **where}
        return name

    def behind(
        self,
        kind: str,
        where: dict[str, str],
        low: float,
        high: float,
        name: str,
        **look: Any,  # noqa: ANN401
    ) -> None:
        """Add a shape across a panel between two values, behind the curves."""
        # "x domain" is the width of the panel, whatever its times.
        span = {
            "xref": f"{where['xaxis']} domain",
            "yref": where["yaxis"],
            "x0": 0,
            "x1": 1,
            "y0": low,
            "y1": high,
        }
        self.shapes.append(
            {"type": kind, **span, "name": name, "layer": "below", **look}
        )

    def band(
        self, where: dict[str, str], low: float, high: float, color: str, name: str
    ) -> None:
        """Add a band between two values behind the curves."""
        self.behind("rect", where, low, high, name, fillcolor=color, line={"width": 0})

    def rule(self, where: dict[str, str], at: float, dash: str) -> None:
        """Add a line at a value behind the curves."""
        self.behind(
            "line",
            where,
            at,
            at,
            "limit",
            line={"color": self.theme.bad, "width": 1, "dash": dash},
        )

    def points(
        self,
        mode: str,
        xy: Any,  # noqa: ANN401
        name: str,
        **more: Any,  # noqa: ANN401
    ) -> None:
        """Add a trace of points with coordinates `xy`, joined by lines or not."""
        self.data.append(
            {
                "type": "scatter",
                "mode": mode,
                "x": xy[0],
                "y": xy[1],
                "name": name,
                **more,
            }
        )

    def curves(self, part: Curves, cell: Cell) -> None:
        """Draw curves over time, with their limits."""
        theme = self.theme
        up, where = self.over_time(cell, part.title, part.note)
        up["range"] = [part.lowest, part.highest]
        if cell.unit_title and part.unit:
            up["title"] = self.title(f"[{safe(part.unit)}]", 3)
        if part.limits:
            # "1c", "14": the alpha of the band in hexadecimal, so that curves show
            # through.
            self.band(where, *part.band, theme.band + "1c", "limits")
            for limit in part.limits:
                self.rule(where, limit, "dash")
        if part.floor is not None:
            self.band(
                where,
                min(part.lowest, part.floor),
                part.floor,
                theme.bad + "14",
                "floor",
            )
            self.rule(where, part.floor, "solid")
        if part.legend:
            legend = {"legend": self.legend(cell.x + cell.width + 0.08, cell.y - 0.1)}
        else:
            legend = {}
        hover = f"%{{y:.4~g}} {safe(part.unit)}<extra>%{{fullData.name}}</extra>"
        for line in part.lines:
            self.data.append(
                {
                    **self.line(line),
                    **where,
                    **legend,
                    "showlegend": part.legend,
                    "hovertemplate": hover,
                }
            )
            # Parts beyond the limits are drawn again, in red, over the curve.
            bad = outside(line, part)
            if bad is not None:
                look: dict[str, Any] = {
                    **UNNAMED,
                    "connectgaps": False,
                    "line": {"color": theme.bad, "width": 2.4},
                }
                self.points(
                    "lines", (bad[0], _short(bad[1])), "beyond", **look, **where
                )
        if part.beyond:
            times, values = (
                np.array(column) for column in zip(*part.beyond, strict=True)
            )
            # In narrow panels only the worst time is named: texts would overlap.
            all_named = cell.width > 2.5
            texts = [
                f"{at[0]:.2f} s" if all_named or at == part.worst else ""
                for at in part.beyond
            ]
            look = {
                "text": texts,
                "textposition": "top center",
                "textfont": self.font(9, theme.bad),
            }
            look |= {
                "marker": {"color": theme.bad, "size": 6},
                "cliponaxis": False,
                **UNNAMED,
            }
            self.points(
                "markers+text",
                (times, _short(values)),
                "beyond the limit",
                **look,
                **where,
            )

    def line(self, line: Line) -> dict[str, Any]:
        """Return the trace of one curve."""
        return {
            "type": "scatter",
            "mode": "lines+markers" if line.is_point else "lines",
            "x": line.times,
            "y": _short(line.values),
            "name": safe(line.label),
            "connectgaps": False,
            "line": {
                "color": self.theme.color(line.color),
                "width": 1.6,
                "dash": "solid",
            },
        }

    def rows(self, title: str, labels: Sequence[str], cell: Cell) -> dict[str, Any]:
        """Add axes over time with a row for each label.

        Return the entries of traces for them, and the layout of the vertical one.
        """
        up, where = self.over_time(cell, title)
        ticks = [k + 0.5 for k in range(len(labels))]
        up.update(
            ROWS,
            range=[len(labels), 0],
            tickvals=ticks,
            ticktext=[safe(label) for label in labels],
        )
        return {"up": up, **where}

    def curve_rows(self, part: CurveRows, cell: Cell) -> None:
        """Draw rows of curves."""
        theme = self.theme
        count = len(part.rows)
        # Rows from the top down: the axis is reversed (see `rows`).
        where = self.rows(part.title, [row.line.label for row in part.rows], cell)
        # The size of letters follows the height of a row, between 6 and 10 pixels.
        size = float(np.clip(PIXELS * cell.height / max(count, 1) * 0.6, 6.0, 10.0))
        where.pop("up")["tickfont"] = self.font(size)
        # Each row spans 0.8 of its height, the largest value at the top; the real
        # values are shown under the pointer.
        for k, row in enumerate(part.rows):
            low, high = row_range(row)
            if row.beyond:
                color = theme.bad
            else:
                color = theme.color(row.line.color)
            self.data.append(
                {
                    **self.line(row.line),
                    "y": _short(k + 0.9 - 0.8 * (row.line.values - low) / (high - low)),
                    "customdata": _short(row.line.values),
                    "line": {"color": color, "width": 1.3},
                    "showlegend": False,
                    **where,
                    "hovertemplate": f"%{{customdata:.4~g}} "
                    f"{safe(row.unit)}<extra>%{{fullData.name}}</extra>",
                }
            )
            x = cell.x + cell.width + 0.06
            y = cell.y + cell.height * (k + 0.5) / max(count, 1)
            color = theme.bad if row.beyond else theme.muted
            self.text(safe(row.note), x, y, size=size, color=color, yanchor="middle")
        # A line between groups of joints.
        for at in part.starts:
            self.behind(
                "line", where, at, at, "group", line={"color": theme.edge, "width": 1}
            )

    def bars(self, part: Bars, cell: Cell) -> None:
        """Draw bars over time."""
        theme = self.theme
        count = len(part.labels)
        where = self.rows(part.title, part.labels, cell)
        where.pop("up")
        if part.behind or any(part.marked):
            where["legend"] = self.legend(cell.x + cell.width + 0.08, cell.y - 0.1)

        def add(
            spans: Sequence[tuple[float, float]],
            y: float,
            width: float,
            name: str,
            color: str,
            shown: bool,
        ) -> None:
            """Add bars of one colour: a trace, whose bars begin at their `base`."""
            if spans:
                starts, ends = (np.array(column) for column in zip(*spans, strict=True))
                size = {
                    "x": ends - starts,
                    "base": starts,
                    "y": [y] * len(spans),
                    "width": width,
                    "customdata": ends,
                }
                look = {
                    "name": safe(name),
                    "showlegend": shown,
                    "marker": {"color": color, "line": {"width": 0}},
                }
                hover = (
                    "%{base:.3f} … %{customdata:.3f} s<extra>%{fullData.name}</extra>"
                )
                self.data.append(
                    {
                        "type": "bar",
                        "orientation": "h",
                        **size,
                        **look,
                        "hovertemplate": hover,
                        **where,
                    }
                )

        # Behind all rows: one bar as high as the panel for each span.
        add(part.behind, count / 2, count, part.behind_label, theme.shade + "40", True)
        first = True
        for k, spans in enumerate(part.spans):
            add(
                spans, k + 0.5, 0.64, part.labels[k], theme.color(part.colors[k]), False
            )
            if part.texts and spans:
                self.data[-1] |= {
                    "text": [safe(text) for text in part.texts[k]],
                    "textposition": "inside",
                }
            # Marks are narrow bars in the lower part of their row; the legend has them
            # once.
            add(part.marked[k], k + 0.7, 0.24, part.marked_label, theme.bad, first)
            first = first and not part.marked[k]

    def ground(self, part: Ground, cell: Cell) -> None:
        """Draw the ground seen from above."""
        theme = self.theme
        x, y = self.axes(cell, part.title)
        names = "xaxis" + x[1:], "yaxis" + y[1:]
        self.layout[names[0]].update(
            range=list(part.x), title=self.title("x [m]", 2), constrain="range"
        )
        self.layout[names[1]].update(
            range=list(part.y), title=self.title("y [m]", 3), constrain="range"
        )
        # One metre has the same length along x and y.
        self.layout[names[1]].update(scaleanchor=x, scaleratio=1)
        wide = cell.width > 6
        legend = self.legend(
            cell.x - (0.0 if wide else 0.4), cell.y + cell.height + 0.42, across=wide
        )
        where = {"xaxis": x, "yaxis": y, "legend": legend}
        # Footprints of one name are one trace: polygons separated by NaN.
        shapes: dict[tuple[str, Any], list[Floats]] = {}
        for one in part.footprints:
            closed = np.concatenate([one.corners, one.corners[:1], [[np.nan, np.nan]]])
            shapes.setdefault((one.label, one.color), []).append(closed)
        for (label, color), polygons in shapes.items():
            if color is None:
                tint = theme.shade
            else:
                tint = theme.color(color)
            # Inside, edge: alpha in hexadecimal. Support of several feet is fainter and
            # dotted.
            inside, edge, dash = (
                ("14", "60", "dot") if color is None else ("2a", "e6", "solid")
            )
            look: dict[str, Any] = {
                "fill": "toself",
                "fillcolor": tint + inside,
                "hoverinfo": "skip",
            }
            look["line"] = {"color": tint + edge, "width": 1, "dash": dash}
            self.points(
                "lines",
                _short(np.concatenate(polygons)).T,
                safe(label),
                **look,
                **where,
            )
        # The other paths: the centre of mass dashed, the recorded ZMP solid.
        for label, times, points, color in part.others:
            line = {
                "color": theme.color(color),
                "width": 1.4,
                "dash": "dash" if color == "muted" else "solid",
            }
            look = {"customdata": times, "line": line, "hovertemplate": AT_TIME}
            self.points(
                "lines" if len(points) > 1 else "markers",
                _short(points).T,
                safe(label),
                **look,
                **where,
            )
        # The colours of the path run from the first to the last time.
        first, last = (
            (float(part.times[0]), float(part.times[-1]))
            if len(part.times)
            else (0.0, 1.0)
        )
        # The scale of the colours is beside the ground.
        bar: dict[str, Any] = {
            "thickness": 9,
            "len": cell.height / self.chart.height,
            "outlinewidth": 0,
            "nticks": 6,
        }
        bar |= {
            **self.at(cell.x + cell.width + 0.08, cell.y + cell.height / 2),
            "xpad": 0,
            "ypad": 0,
        }
        bar |= {
            "title": {"text": "t [s]", "font": {"size": 9}},
            "tickfont": {"size": 9},
        }
        if self.chart.time_origin:
            bar["tickformat"] = LATE_TIMES
        scale = [
            [k / (len(theme.times) - 1), color] for k, color in enumerate(theme.times)
        ]
        marker: dict[str, Any] = {
            "size": 4,
            "color": _short(part.times),
            "colorscale": scale,
            "colorbar": bar,
        }
        marker |= {
            "cmin": first,
            # The range of the colours must not be empty, for a single moment.
            "cmax": max(last, first + 1e-9),
            # A single moment needs no scale.
            "showscale": last > first,
        }
        # The path of the computed ZMP: points in the colours of time on a pale line.
        look = {
            "customdata": part.times,
            "line": {"color": theme.shade + "66", "width": 1},
            "marker": marker,
        }
        self.points(
            "lines+markers",
            _short(part.path).T,
            safe(part.label),
            hovertemplate=AT_TIME,
            **look,
            **where,
        )
        # A ring around the smallest stability margin.
        if part.worst is not None:
            _, at_x, at_y, text = part.worst
            circle = {
                "symbol": "circle-open",
                "size": 14,
                "color": theme.bad,
                "line": {"width": 2},
            }
            name = f"minimum: {safe(text)}"
            self.points(
                "markers",
                ([at_x], [at_y]),
                name,
                hoverinfo="name",
                marker=circle,
                **where,
            )
        # The page's script moves a marker along the path: it needs plain JSON numbers.
        path = {"x": _plain(part.path[:, 0]), "y": _plain(part.path[:, 1])}
        self.grounds.append({"axes": names, "times": _plain(part.times), **path})
        # On the ground alone the pointer finds the nearest point; beside curves, the
        # time.
        self.layout["hovermode"] = "closest" if len(self.chart.cells) < 2 else "x"

    def key_figures(self, part: KeyFigures, cell: Cell) -> None:
        """Write key figures."""
        self.text(f"<b>{safe(part.title)}</b>", cell.x, cell.y - 0.02, size=12)
        y = cell.y + 0.05
        right = cell.x + cell.width
        # Name on the left, value on the right, and the time or place below the value.
        for what, value, where in part.rows:
            y += 0.2
            self.text(safe(what), cell.x, y, size=10.5, color=self.theme.muted)
            self.text(safe(value), right, y, size=11, xanchor="right")
            if where:
                y += 0.14
                self.text(
                    safe(where),
                    right,
                    y,
                    size=9,
                    color=self.theme.muted,
                    xanchor="right",
                )
