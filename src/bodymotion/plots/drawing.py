"""Charts drawn by matplotlib, and written as PNG, SVG and PDF."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.diagnostics.text import moment
from bodymotion.plots.curves import outside, row_range
from bodymotion.plots.parts import (
    MIN_WIDE_GROUND,
    UNDER_LINE,
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
from bodymotion.plots.style import FONTS, LIGHT, Theme, rc
from bodymotion.scene.fonts import FAMILIES, warn_missing_letters
from bodymotion.system.deferred import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MIN_TEXT_WIDTH = 0.2  # [inch] Narrower bars have no text.
BESIDE: dict[str, Any] = {
    "loc": "upper left",
    "bbox_to_anchor": (1.0, 1.06),
    "borderaxespad": 0.3,
}  # Of a legend.

DPI = 150
FORMATS = ("png", "svg", "pdf")
SPACE = 0.25  # [inch] Space between charts of one image.


class Painter:
    """Draw the parts of charts into one figure, with text and lines at a scale.

    Widths and heights are before scaling.
    """

    def __init__(
        self,
        figure: Figure,
        theme: Theme,
        width: float,
        height: float,
        scale: float = 1.0,
    ) -> None:
        self.figure = figure
        self.theme = theme
        self.width = width
        self.height = height
        self.scale = scale
        self.time_origin = 0.0

    def chart(self, chart: Chart, top: float) -> None:
        """Draw a chart `top` [inch] below the upper edge."""
        self.time_origin = chart.time_origin
        margin = chart.width - 0.6
        size = float(np.clip(13 * margin / (0.128 * max(len(chart.title), 1)), 9, 13))
        self.text(
            _cut(chart.title, margin, 0.0099 * size),
            0.3,
            top + 0.36,
            size=size,
            weight="bold",
        )
        for k, line in enumerate(chart.subtitle):
            self.text(
                line, 0.3, top + 0.58 + UNDER_LINE * k, size=8, color=self.theme.muted
            )
        for cell in chart.cells:
            placed = cell.down(top)
            part = placed.part
            if isinstance(part, Heading):
                self.text(
                    part.text,
                    placed.x,
                    placed.y + placed.height - 0.08,
                    size=8.5,
                    weight="bold",
                )
            elif isinstance(part, KeyFigures):
                self.key_figures(part, placed)
            else:
                kinds = {
                    Curves: self.curves,
                    CurveRows: self.curve_rows,
                    Bars: self.bars,
                    Ground: self.ground,
                }
                draw: Any = kinds[type(part)]
                draw(part, self.axes(placed, chart), placed)

    def text(self, text: str, x: float, y: float, **how: Any) -> None:  # noqa: ANN401
        """Write text with its baseline at a position [inch] from the upper left corner."""
        how.setdefault("color", self.theme.text)
        how["size"] *= self.scale
        self.figure.text(
            x / self.width,
            1 - y / self.height,
            text,
            va=how.pop("va", "baseline"),
            **how,
        )

    def time_after(self, time: float, _: float) -> str:
        """Return the label of a time [s] at an axis."""
        return f"{round(time - self.time_origin, 6):g}".replace("-", "−")

    def rectangle(self, cell: Cell) -> tuple[float, float, float, float]:
        """Return left, bottom, width and height of a cell as shares of the figure."""
        w = self.width
        h = self.height
        return (
            cell.x / w,
            1 - (cell.y + cell.height) / h,
            cell.width / w,
            cell.height / h,
        )

    def axes(self, cell: Cell, chart: Chart) -> Axes:
        """Add axes for a cell."""
        axes: Axes = self.figure.add_axes(self.rectangle(cell))
        part = cell.part
        note = getattr(part, "note", "")
        small = cell.width < 3.5
        if note and small:
            self.text(note, cell.x, cell.y - 0.05, size=6.3, color=self.theme.muted)
        elif note:
            self.text(
                note,
                cell.x + cell.width,
                cell.y - 0.06,
                size=7,
                color=self.theme.muted,
                ha="right",
            )
        if not isinstance(part, (Heading, KeyFigures)):
            name = part.title
        else:
            name = ""
        if small:
            margin = cell.width + 0.4
        else:
            margin = cell.width - (0.065 * len(note) + 0.1 if note else 0.0)
        y = cell.y - (0.17 if note and small else 0.06)
        self.text(
            _cut(name, margin, 0.066 if small else 0.08),
            cell.x,
            y,
            size=7.5 if small else 8.5,
        )
        if not isinstance(part, Ground):
            span = chart.end - chart.start
            margin = 0.01 * span or 0.5
            axes.set_xlim(chart.start - margin, chart.end + margin)
            axes.xaxis.set_major_locator(_locator(cell.width / 0.55))
            axes.tick_params(labelbottom=cell.time_labels)
            if cell.time_title:
                if chart.time_origin:
                    title = f"time − {moment(chart.time_origin)} [s]"
                else:
                    title = "time [s]"
                axes.set_xlabel(title.replace("− -", "+ "), labelpad=self.scale)
            if chart.time_origin:
                axes.xaxis.set_major_formatter(self.time_after)
        return axes

    def curves(self, part: Curves, axes: Axes, cell: Cell) -> None:
        """Draw curves over time, with their limits."""
        theme = self.theme
        axes.set_ylim(part.lowest, part.highest)
        axes.yaxis.set_major_locator(_locator(cell.height / 0.28))
        axes.set_ylabel(
            f"[{part.unit}]" if part.unit and cell.unit_title else "",
            labelpad=2 * self.scale,
        )
        limits, (low, high) = part.limits, part.band
        if limits:
            axes.axhspan(
                low, high, color=theme.band, alpha=0.1, lw=0, zorder=0.5, gid="limits"
            )
            for limit in limits:
                axes.axhline(
                    limit,
                    color=theme.bad,
                    lw=0.8 * self.scale,
                    ls=(0, (4, 2)),
                    zorder=1.5,
                    gid="limit",
                )
        if part.floor is not None:
            axes.axhspan(
                part.lowest, part.floor, color=theme.bad, alpha=0.07, lw=0, zorder=0.5
            )
            axes.axhline(part.floor, color=theme.bad, lw=0.8 * self.scale, zorder=1.5)
        for line in part.lines:
            self.line(axes, line)
            bad = outside(line, part)
            if bad is not None:
                axes.plot(
                    *bad, color=theme.bad, lw=1.6 * self.scale, zorder=4, gid="bad"
                )
                if part.floor is not None:
                    axes.fill_between(
                        *bad, part.floor, color=theme.bad, alpha=0.25, lw=0
                    )
        worst = part.worst
        for time, value in part.beyond:
            axes.plot(
                [time],
                [value],
                "o",
                ms=3.2 * self.scale,
                color=theme.bad,
                zorder=5,
                gid="beyond",
            )
            if cell.width < 2.5 and (time, value) != worst:
                continue
            up = value > 0.5 * (part.lowest + part.highest)
            axes.annotate(
                f"{time - self.time_origin:.2f} s",
                (time, value),
                xytext=(0, (3 if up else -8) * self.scale),
                textcoords="offset points",
                color=theme.bad,
                fontsize=6.3 * self.scale,
                ha="center",
                annotation_clip=False,
            )
        if part.legend:
            axes.legend(**BESIDE, handlelength=1.2, labelspacing=0.3)

    def line(self, axes: Axes, line: Line) -> None:
        """Draw one curve."""
        axes.plot(
            line.times,
            line.values,
            color=self.theme.color(line.color),
            marker="o" if line.is_point else None,
            ms=3.5 * self.scale,
            label=line.label if not line.label.startswith("_") else f" {line.label}",
            zorder=3,
        )

    def rows(self, axes: Axes, labels: Sequence[str], size: float) -> None:
        """Divide axes into rows with labels."""
        axes.set_ylim(len(labels), 0)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.set_yticks(
            [k + 0.5 for k in range(len(labels))], labels, fontsize=size * self.scale
        )
        axes.tick_params(axis="y", length=0)

    def curve_rows(self, part: CurveRows, axes: Axes, cell: Cell) -> None:
        """Draw rows of curves."""
        theme = self.theme
        size = float(
            np.clip(72 * cell.height / max(len(part.rows), 1) * 0.62, 4.0, 7.0)
        )
        self.rows(
            axes, [_cut(row.line.label, 1.4, 0.009 * size) for row in part.rows], size
        )
        for k, row in enumerate(part.rows):
            low, high = row_range(row)
            heights = k + 0.9 - 0.8 * (row.line.values - low) / (high - low)
            if row.beyond:
                color = theme.bad
            else:
                color = theme.color(row.line.color)
            marker = "." if row.line.is_point else None
            axes.plot(
                row.line.times,
                heights,
                color=color,
                lw=self.scale,
                gid="row",
                marker=marker,
            )
            axes.annotate(
                row.note,
                (1.0, k + 0.5),
                xycoords=("axes fraction", "data"),
                xytext=(4 * self.scale, 0),
                textcoords="offset points",
                va="center",
                fontsize=size * self.scale,
                color=theme.bad if row.beyond else theme.muted,
                annotation_clip=False,
            )
        for at in part.starts:
            axes.axhline(at, color=theme.edge, lw=0.7 * self.scale)

    def bars(self, part: Bars, axes: Axes, cell: Cell) -> None:
        """Draw bars over time."""
        theme = self.theme
        self.rows(axes, [_cut(name, 1.3, 0.062) for name in part.labels], 7.0)
        for start, end in part.behind:
            axes.axvspan(start, end, color=theme.shade, alpha=0.25, lw=0, gid="flight")
        for k, spans in enumerate(part.spans):
            axes.axhline(k + 0.5, color=theme.grid, lw=self.scale, zorder=1)
            for pieces, rows, color, name in (
                (spans, (k + 0.18, 0.64), theme.color(part.colors[k]), "stance"),
                (part.marked[k], (k + 0.58, 0.24), theme.bad, "slip"),
            ):
                widths = [(start, end - start) for start, end in pieces]
                axes.broken_barh(widths, rows, color=color, lw=0, zorder=2, gid=name)
        low, high = axes.get_xlim()
        for k, texts in enumerate(part.texts):
            for (start, end), text in zip(part.spans[k], texts, strict=True):
                inches = (min(end, high) - max(start, low)) / (high - low) * cell.width
                if inches > MIN_TEXT_WIDTH:
                    where = ((max(start, low) + min(end, high)) / 2, k + 0.4)
                    name = _cut(text, inches, 0.055)
                    axes.text(
                        *where,
                        name,
                        size=6 * self.scale,
                        ha="center",
                        va="center",
                        color=theme.page,
                        zorder=4,
                    )
        patches = need("matplotlib.patches", "plot", "plotting")
        named: list[Any] = []
        if any(part.marked):
            named.append(patches.Patch(color=theme.bad, lw=0, label=part.marked_label))
        if part.behind:
            named.append(
                patches.Patch(
                    color=theme.shade, alpha=0.25, lw=0, label=part.behind_label
                )
            )
        if named:
            axes.legend(handles=named, **BESIDE, handlelength=1.0)

    def ground(self, part: Ground, axes: Axes, cell: Cell) -> None:
        """Draw the ground seen from above."""
        theme = self.theme
        patches, collections, colors = (
            need(f"matplotlib.{name}", "plot", "plotting")
            for name in ("patches", "collections", "colors")
        )
        axes.set_xlim(*part.x)
        axes.set_ylim(*part.y)
        axes.set_aspect("equal", adjustable="box")
        for axis, size in ((axes.xaxis, cell.width), (axes.yaxis, cell.height)):
            axis.set_major_locator(_locator(size / 0.6))
        axes.set_xlabel("x [m]", labelpad=self.scale)
        axes.set_ylabel("y [m]", labelpad=2 * self.scale)
        named: dict[str, Any] = {}
        for one in part.footprints:
            shared = one.color is None
            if one.color is None:
                color = theme.shade
            else:
                color = theme.color(one.color)
            face, edge = (
                colors.to_rgba(color, alpha)
                for alpha in ((0.08, 0.35) if shared else (0.16, 0.9))
            )
            look: dict[str, Any] = {
                "lw": 0.8 * self.scale,
                "ls": (0, (2, 2)) if shared else "-",
                "gid": "footprint",
            }
            shape = patches.Polygon(
                one.corners, closed=True, fc=face, ec=edge, label=one.label, **look
            )
            axes.add_patch(shape)
            named.setdefault(one.label, shape)
        for label, _, points, kind in part.others:
            width, alpha, order = (
                (3.2, 0.5, 3.0) if kind == "recorded" else (1.0, 1.0, 3.5)
            )
            look = {"lw": width * self.scale, "alpha": alpha, "zorder": order}
            look |= {
                "ls": "--" if kind == "muted" else "-",
                "marker": "." if len(points) == 1 else None,
            }
            named[label] = axes.plot(
                *points.T, color=theme.color(kind), label=label, **look
            )[0]
        scale = colors.LinearSegmentedColormap.from_list("times", theme.times)
        segments = np.stack([part.path[:-1], part.path[1:]], axis=1)
        between = 0.5 * (part.times[:-1] + part.times[1:])
        finite = np.isfinite(segments).all(axis=(1, 2))
        look = {
            "cmap": scale,
            "lw": 1.6 * self.scale,
            "zorder": 4,
            "capstyle": "round",
            "gid": "path",
        }
        drawn = collections.LineCollection(segments[finite], label=part.label, **look)
        drawn.set_array(between[finite])
        first, last = (
            (float(part.times[0]), float(part.times[-1]))
            if len(part.times)
            else (0.0, 1.0)
        )
        drawn.set_clim(first, max(last, first + 1e-9))
        axes.add_collection(drawn, autolim=False)
        if len(segments) == 0:
            axes.plot(*part.path.T, "o", ms=4 * self.scale, color=theme.times[1])
        lines = need("matplotlib.lines", "plot", "plotting")
        named = {
            part.label: lines.Line2D(
                [], [], color=theme.times[2], lw=1.8 * self.scale, label=part.label
            ),
            **named,
        }
        if part.worst is not None:
            _, x, y, text = part.worst
            look = {
                "ms": 8 * self.scale,
                "mfc": "none",
                "mec": theme.bad,
                "mew": 1.4 * self.scale,
                "zorder": 6,
            }
            named[text] = axes.plot([x], [y], "o", label=f"minimum: {text}", **look)[0]
        look = {
            "columnspacing": 1.2,
            "handlelength": 1.4,
            "labelspacing": 0.35,
            "borderaxespad": 0.0,
        }
        axes.legend(
            handles=list(named.values()),
            loc="upper left",
            ncols=part.legend_columns(cell.width),
            bbox_to_anchor=(0.0, -0.42 / cell.height),
            fontsize=(7.5 if cell.width > MIN_WIDE_GROUND else 6.5) * self.scale,
            **look,
        )
        if last > first:
            beside = Cell(
                part, cell.x + cell.width + 0.1, cell.y, 0.09, min(cell.height, 2.2)
            )
            bar = self.figure.add_axes(
                self.rectangle(replace(beside, y=cell.y + cell.height - beside.height))
            )
            shown = self.figure.colorbar(
                drawn, cax=bar, format=self.time_after if self.time_origin else None
            )
            shown.outline.set_visible(False)
            bar.set_title(
                "t [s]",
                fontsize=6.5 * self.scale,
                color=theme.muted,
                loc="left",
                pad=7 * self.scale,
            )
            bar.tick_params(labelsize=6.5 * self.scale)
            bar.grid(visible=False)

    def key_figures(self, part: KeyFigures, cell: Cell) -> None:
        """Write key figures."""
        self.text(part.title, cell.x, cell.y - 0.06, size=8.5, weight="bold")
        y = cell.y + 0.02
        for what, value, where in part.rows:
            y += 0.18
            self.text(
                _cut(what, cell.width - 0.85, 0.062),
                cell.x,
                y,
                size=7.5,
                color=self.theme.muted,
            )
            self.text(value, cell.x + cell.width, y, size=8, ha="right")
            y += 0.13 if where else 0.0
            self.text(
                _cut(where, cell.width, 0.056),
                cell.x + cell.width,
                y,
                size=6.3,
                ha="right",
                color=self.theme.muted,
            )


def _cut(text: str, width: float, each: float) -> str:
    """Return a text shortened to a width, for letters with a mean width of `each` [inch]."""
    most = max(int(width / each), 4)
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}…{text[len(text) - (most - 1 - most // 2) :]}"


def _locator(count: float) -> Any:  # noqa: ANN401
    """Return where about `count` ticks of an axis are."""
    return need("matplotlib.ticker", "plot", "plotting").MaxNLocator(
        max(int(count), 2), steps=[1, 2, 2.5, 5, 10]
    )


@contextmanager
def _style(theme: Theme, scale: float = 1.0) -> Iterator[None]:
    """Apply the style of plots and silence warnings within the block.

    Settings of the user are restored.
    """
    matplotlib = need("matplotlib", "plot", "plotting")
    with ExitStack() as stack:
        stack.enter_context(matplotlib.rc_context())
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        # It would warn about each Japanese font without bold letters.
        finder = logging.getLogger("matplotlib.font_manager")
        finder.addFilter(silent := lambda _record: False)
        stack.callback(finder.removeFilter, silent)
        matplotlib.rcParams.update(
            {
                k: v
                for k, v in matplotlib.rcParamsDefault.items()
                if not k.startswith("backend")
            }
        )
        matplotlib.rcParams.update(rc(theme, _fonts(), scale))
        yield


@lru_cache(maxsize=1)
def _fonts() -> tuple[str, ...]:
    manager = need("matplotlib.font_manager", "plot", "plotting")
    there = {one.name for one in manager.fontManager.ttflist}
    return (*FONTS, *(name for name in FAMILIES if name in there))


@lru_cache(maxsize=32)
def _letters_of(family: str) -> frozenset[int]:
    """Return the characters of a font."""
    manager = need("matplotlib.font_manager", "plot", "plotting")
    return frozenset(manager.get_font(manager.findfont(family)).get_charmap())


def _foreign(figure: Figure) -> set[str]:
    """Return the characters in a figure that the default font lacks.

    Report those that all fonts lack.
    """
    texts = need("matplotlib.text", "plot", "plotting")
    written = {
        letter
        for text in figure.findobj(texts.Text)
        for letter in text.get_text()
        if letter.isprintable()
    }
    foreign = {letter for letter in written if ord(letter) not in _letters_of(FONTS[0])}
    if foreign:
        warn_missing_letters(
            one
            for one in foreign
            if not any(ord(one) in _letters_of(family) for family in _fonts()[1:])
        )
    return foreign


def draw(charts: Sequence[Chart], theme: Theme = LIGHT) -> Figure:
    """Return a matplotlib Figure of charts below each other.

    It is in no window.

    Raises ImportError when matplotlib is not installed.
    """
    figures = need("matplotlib.figure", "plot", "plotting")
    agg = need("matplotlib.backends.backend_agg", "plot", "plotting")
    width = max((chart.width for chart in charts), default=1.0)
    height = max(
        sum(chart.height for chart in charts) + SPACE * max(len(charts) - 1, 0), 1.0
    )
    scale = _scale(charts)
    with _style(theme, scale):
        figure: Figure = figures.Figure(
            figsize=(width * scale, height * scale), dpi=DPI
        )
        agg.FigureCanvasAgg(figure)
        pen = Painter(figure, theme, width, height, scale)
        top = 0.0
        for chart in charts:
            pen.chart(chart, top)
            top += chart.height + SPACE
    return figure


def image_bytes(
    charts: Sequence[Chart], form: str, theme: Theme = LIGHT, dpi: float = DPI
) -> bytes:
    """Return charts as the bytes of an image.

    "png" or "svg" with charts below each other, "pdf" with one per page.
    """
    out = io.BytesIO()
    if form == "pdf":
        matplotlib = need("matplotlib", "plot", "plotting")
        pages = need("matplotlib.backends.backend_pdf", "plot", "plotting")
        facts = {"Creator": "bodymotion", "Producer": None, "CreationDate": None}
        figures = [draw([chart], theme) for chart in charts]
        foreign = [_foreign(figure) for figure in figures]
        with _style(theme, _scale(charts)):
            if any(foreign):
                # Most Japanese typefaces hold curves of a kind that cannot be embedded
                # as TrueType (42).
                matplotlib.rcParams["pdf.fonttype"] = 3
            with pages.PdfPages(out, metadata=facts) as document:
                for figure in figures:
                    document.savefig(figure, dpi=dpi)
        return out.getvalue()
    metadata: dict[str, Any] = (
        {"Software": "bodymotion"}
        if form == "png"
        else {"Date": None, "Creator": "bodymotion"}
    )
    figure = draw(charts, theme)
    if form == "png":
        # An SVG has its text as text: whoever shows it has typefaces for it, or not.
        _foreign(figure)
    with _style(theme, _scale(charts)):
        figure.savefig(out, format=form, dpi=dpi, metadata=metadata)
    return out.getvalue()


def _scale(charts: Sequence[Chart]) -> float:
    """Return the scale of charts in one image."""
    return min((chart.scale for chart in charts), default=1.0)
