"""Charts drawn by matplotlib, and written as PNG, SVG and PDF."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from itertools import chain
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


# [inch] Narrower bars have no text.
MIN_TEXT_WIDTH = 0.2
# [inch] Narrower panels have their note above their name.
SMALL = 3.5
# [inch] Of several marked times, narrower panels name only the worst.
MIN_MARKS_WIDTH = 2.5
# The position of a legend.
BESIDE: dict[str, Any] = {
    "loc": "upper left",
    "bbox_to_anchor": (1.0, 1.06),
    "borderaxespad": 0.3,
}

# [dots per inch] Of images.
DPI = 150
FORMATS = ("png", "svg", "pdf")
# [inch] Space between charts of one image.
SPACE = 0.25


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
        """Draw into a figure of a width and height [inch]."""
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
        # Letters shrink from 13 to 9 points for a long title; 0.128 inch is the mean
        # width of one at 13 points.
        size = float(np.clip(13 * margin / (0.128 * max(len(chart.title), 1)), 9, 13))
        # Titles that are still too long are cut in their middle.
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
        """Write text with its baseline at a position [inch] from the upper left."""
        # Text and lines have one scale; positions scale with the figure.
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
        # A typographic minus, as matplotlib's own ticks have.
        return f"{round(time - self.time_origin, 6):g}".replace("-", "−")

    def rectangle(self, cell: Cell) -> tuple[float, float, float, float]:
        """Return left, bottom, width and height of a cell as shares of the figure."""
        w = self.width
        h = self.height
        # matplotlib's shares are from the lower left corner.
        return (
            cell.x / w,
            1 - (cell.y + cell.height) / h,
            cell.width / w,
            cell.height / h,
        )

    def axes(self, cell: Cell, chart: Chart) -> Axes:
        """Add axes for a cell."""
        axes: Axes = self.figure.add_axes(self.rectangle(cell))
        self._write_title(cell)
        if isinstance(cell.part, Ground):
            return axes
        span = chart.end - chart.start
        # A curve does not touch the frame; a single frame gets half a second to each
        # side.
        margin = 0.01 * span or 0.5
        axes.set_xlim(chart.start - margin, chart.end + margin)
        axes.xaxis.set_major_locator(_locator(cell.width / 0.55))
        axes.tick_params(labelbottom=cell.time_labels)
        if cell.time_title:
            title = "time [s]"
            if chart.time_origin:
                title = f"time − {moment(chart.time_origin)} [s]"
            # "− −5" reads as "+ 5".
            axes.set_xlabel(title.replace("− -", "+ "), labelpad=self.scale)
        if chart.time_origin:
            axes.xaxis.set_major_formatter(self.time_after)
        return axes

    def _write_title(self, cell: Cell) -> None:
        """Write the name and the note of a part above its cell."""
        part = cell.part
        muted = self.theme.muted
        note = getattr(part, "note", "")
        name = "" if isinstance(part, (Heading, KeyFigures)) else part.title
        # The names of narrow panels are small, with the note above.
        y = cell.y - 0.06
        if cell.width < SMALL:
            if note:
                self.text(note, cell.x, cell.y - 0.05, size=6.3, color=muted)
                y = cell.y - 0.17
            self.text(_cut(name, cell.width + 0.4, 0.066), cell.x, y, size=7.5)
            return
        width = cell.width
        # The note is right-aligned, and the name gets what is left.
        if note:
            self.text(note, cell.x + width, y, size=7, color=muted, ha="right")
            width -= 0.065 * len(note) + 0.1
        self.text(_cut(name, width, 0.08), cell.x, y, size=8.5)

    def curves(self, part: Curves, axes: Axes, cell: Cell) -> None:
        """Draw curves over time, with their limits."""
        theme = self.theme
        axes.set_ylim(part.lowest, part.highest)
        axes.yaxis.set_major_locator(_locator(cell.height / 0.28))
        unit = f"[{part.unit}]" if part.unit and cell.unit_title else ""
        axes.set_ylabel(unit, labelpad=2 * self.scale)
        self._draw_limits(part, axes)
        # In red over the curve: its parts beyond the limits.
        for line in part.lines:
            self.line(axes, line)
            bad = outside(line, part)
            if bad is None:
                continue
            axes.plot(*bad, color=theme.bad, lw=1.6 * self.scale, zorder=4, gid="bad")
            if part.floor is not None:
                axes.fill_between(*bad, part.floor, color=theme.bad, alpha=0.25, lw=0)
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
            # In narrow panels only the worst time is named.
            if cell.width < MIN_MARKS_WIDTH and (time, value) != part.worst:
                continue
            # Text above a high mark and below a low one, away from the curve.
            is_high = value > 0.5 * (part.lowest + part.highest)
            axes.annotate(
                f"{time - self.time_origin:.2f} s",
                (time, value),
                xytext=(0, (3 if is_high else -8) * self.scale),
                textcoords="offset points",
                color=theme.bad,
                fontsize=6.3 * self.scale,
                ha="center",
                annotation_clip=False,
            )
        if part.legend:
            axes.legend(**BESIDE, handlelength=1.2, labelspacing=0.3)

    def _draw_limits(self, part: Curves, axes: Axes) -> None:
        """Draw the limits and the floor of curves."""
        bad = self.theme.bad
        width = 0.8 * self.scale
        if part.limits:
            band = self.theme.band
            axes.axhspan(
                *part.band, color=band, alpha=0.1, lw=0, zorder=0.5, gid="limits"
            )
        for limit in part.limits:
            axes.axhline(
                limit, color=bad, lw=width, ls=(0, (4, 2)), zorder=1.5, gid="limit"
            )
        if part.floor is not None:
            axes.axhspan(
                part.lowest, part.floor, color=bad, alpha=0.07, lw=0, zorder=0.5
            )
            axes.axhline(part.floor, color=bad, lw=width, zorder=1.5)

    def line(self, axes: Axes, line: Line) -> None:
        """Draw one curve."""
        axes.plot(
            line.times,
            line.values,
            color=self.theme.color(line.color),
            marker="o" if line.is_point else None,
            ms=3.5 * self.scale,
            # matplotlib leaves labels that begin with _ out of legends.
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
        # [pt] The letters are a part of the height of a row.
        height = 72 * cell.height / max(len(part.rows), 1)
        size = float(np.clip(height * 0.62, 4.0, 7.0))
        names = [_cut(row.line.label, 1.4, 0.009 * size) for row in part.rows]
        self.rows(axes, names, size)
        for k, row in enumerate(part.rows):
            low, high = row_range(row)
            # Each row spans 0.8 of its height, the largest value at the top.
            heights = k + 0.9 - 0.8 * (row.line.values - low) / (high - low)
            axes.plot(
                row.line.times,
                heights,
                color=theme.bad if row.beyond else theme.color(row.line.color),
                lw=self.scale,
                gid="row",
                marker="." if row.line.is_point else None,
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
        for start in part.starts:
            axes.axhline(start, color=theme.edge, lw=0.7 * self.scale)

    def bars(self, part: Bars, axes: Axes, cell: Cell) -> None:
        """Draw bars over time."""
        theme = self.theme
        self.rows(axes, [_cut(name, 1.3, 0.062) for name in part.labels], 7.0)
        # Spans behind all rows: flight phases, beats.
        for start, end in part.behind:
            axes.axvspan(start, end, color=theme.shade, alpha=0.25, lw=0, gid="flight")
        for k, spans in enumerate(part.spans):
            axes.axhline(k + 0.5, color=theme.grid, lw=self.scale, zorder=1)
            # Marks are narrow bars in the lower part of a row.
            for pieces, rows, color, name in (
                (spans, (k + 0.18, 0.64), theme.color(part.colors[k]), "stance"),
                (part.marked[k], (k + 0.58, 0.24), theme.bad, "slip"),
            ):
                widths = [(start, end - start) for start, end in pieces]
                axes.broken_barh(widths, rows, color=color, lw=0, zorder=2, gid=name)
        for k, texts in enumerate(part.texts):
            for span, text in zip(part.spans[k], texts, strict=True):
                self._write_into_bar(axes, cell, span, k + 0.4, text)
        patches = need("matplotlib.patches", "plot", "plotting")
        handles: list[Any] = []
        if any(part.marked):
            handles.append(
                patches.Patch(color=theme.bad, lw=0, label=part.marked_label)
            )
        if part.behind:
            handles.append(
                patches.Patch(
                    color=theme.shade, alpha=0.25, lw=0, label=part.behind_label
                )
            )
        if handles:
            axes.legend(handles=handles, **BESIDE, handlelength=1.0)

    def _write_into_bar(
        self, axes: Axes, cell: Cell, span: tuple[float, float], y: float, text: str
    ) -> None:
        """Write a text into the visible part of a bar, if it is wide enough."""
        low, high = axes.get_xlim()
        start = max(span[0], low)
        end = min(span[1], high)
        width = (end - start) / (high - low) * cell.width
        if width > MIN_TEXT_WIDTH:
            axes.text(
                (start + end) / 2,
                y,
                _cut(text, width, 0.055),
                size=6 * self.scale,
                ha="center",
                va="center",
                color=self.theme.page,
                zorder=4,
            )

    def ground(self, part: Ground, axes: Axes, cell: Cell) -> None:
        """Draw the ground seen from above."""
        theme = self.theme
        axes.set_xlim(*part.x)
        axes.set_ylim(*part.y)
        axes.set_aspect("equal", adjustable="box")
        for axis, size in ((axes.xaxis, cell.width), (axes.yaxis, cell.height)):
            axis.set_major_locator(_locator(size / 0.6))
        axes.set_xlabel("x [m]", labelpad=self.scale)
        axes.set_ylabel("y [m]", labelpad=2 * self.scale)
        # Drawing returns one handle for each name: the legend has no doubles.
        footprints = self._draw_footprints(part, axes)
        others = self._draw_other_paths(part, axes)
        path = self._draw_path(part, axes)
        # A collection of coloured pieces has no handle of its own: a line in a middle
        # colour.
        lines = need("matplotlib.lines", "plot", "plotting")
        handle = lines.Line2D(
            [], [], color=theme.times[2], lw=1.8 * self.scale, label=part.label
        )
        handles = {part.label: handle, **footprints, **others}
        if part.worst is not None:
            _, x, y, text = part.worst
            (handles[text],) = axes.plot(
                [x],
                [y],
                "o",
                label=f"minimum: {text}",
                ms=8 * self.scale,
                mfc="none",
                mec=theme.bad,
                mew=1.4 * self.scale,
                zorder=6,
            )
        letters = 7.5 if cell.width > MIN_WIDE_GROUND else 6.5
        axes.legend(
            handles=list(handles.values()),
            loc="upper left",
            ncols=part.legend_columns(cell.width),
            # Below the axis labels, whatever the height of the cell.
            bbox_to_anchor=(0.0, -0.42 / cell.height),
            fontsize=letters * self.scale,
            columnspacing=1.2,
            handlelength=1.4,
            labelspacing=0.35,
            borderaxespad=0.0,
        )
        # Times of a single moment need no scale.
        if not len(part.times) or part.times[-1] > part.times[0]:
            self._draw_time_bar(path, cell)

    def _draw_footprints(self, part: Ground, axes: Axes) -> dict[str, Any]:
        """Draw the footprints, and return one of each name for the legend."""
        patches = need("matplotlib.patches", "plot", "plotting")
        colors = need("matplotlib.colors", "plot", "plotting")
        handles: dict[str, Any] = {}
        for footprint in part.footprints:
            if footprint.color is None:
                color = self.theme.shade
                opacities = (0.08, 0.35)
                style: Any = (0, (2, 2))
            else:
                color = self.theme.color(footprint.color)
                opacities = (0.16, 0.9)
                style = "-"
            # Faint inside, strong edge.
            face, edge = (colors.to_rgba(color, opacity) for opacity in opacities)
            polygon = patches.Polygon(
                footprint.corners,
                closed=True,
                fc=face,
                ec=edge,
                label=footprint.label,
                lw=0.8 * self.scale,
                ls=style,
                gid="footprint",
            )
            axes.add_patch(polygon)
            handles.setdefault(footprint.label, polygon)
        return handles

    def _draw_other_paths(self, part: Ground, axes: Axes) -> dict[str, Any]:
        """Draw the paths beside that of the ZMP, and return them by their names."""
        handles: dict[str, Any] = {}
        for label, _, points, kind in part.others:
            # The recorded ZMP is wide and below the computed one.
            is_recorded = kind == "recorded"
            (handles[label],) = axes.plot(
                *points.T,
                color=self.theme.color(kind),
                label=label,
                lw=(3.2 if is_recorded else 1.0) * self.scale,
                alpha=0.5 if is_recorded else 1.0,
                zorder=3.0 if is_recorded else 3.5,
                ls="--" if kind == "muted" else "-",
                marker="." if len(points) == 1 else None,
            )
        return handles

    def _draw_path(self, part: Ground, axes: Axes) -> Any:  # noqa: ANN401
        """Draw the path of the ZMP in the colours of time, and return it."""
        colors = need("matplotlib.colors", "plot", "plotting")
        collections = need("matplotlib.collections", "plot", "plotting")
        # (N − 1, 2, 2) the pieces of the path, coloured by the times of their middles.
        segments = np.stack([part.path[:-1], part.path[1:]], axis=1)
        middles = 0.5 * (part.times[:-1] + part.times[1:])
        is_finite = np.isfinite(segments).all(axis=(1, 2))
        path = collections.LineCollection(
            segments[is_finite],
            label=part.label,
            cmap=colors.LinearSegmentedColormap.from_list("times", self.theme.times),
            lw=1.6 * self.scale,
            zorder=4,
            capstyle="round",
            gid="path",
        )
        path.set_array(middles[is_finite])
        first = 0.0
        last = 1.0
        if len(part.times):
            first = float(part.times[0])
            last = float(part.times[-1])
        # The range of colours must not be empty.
        path.set_clim(first, max(last, first + 1e-9))
        # The limits of the axes are set: the path may be cut off.
        axes.add_collection(path, autolim=False)
        if len(segments) == 0:
            axes.plot(*part.path.T, "o", ms=4 * self.scale, color=self.theme.times[1])
        return path

    def _draw_time_bar(self, path: Any, cell: Cell) -> None:  # noqa: ANN401
        """Draw the scale of the colours of time beside the ground."""
        # The scale is at most 2.2 inches high, at the lower end of the ground.
        height = min(cell.height, 2.2)
        y = cell.y + cell.height - height
        left = cell.x + cell.width + 0.1
        bar = self.figure.add_axes(
            self.rectangle(Cell(cell.part, left, y, 0.09, height))
        )
        form = self.time_after if self.time_origin else None
        self.figure.colorbar(path, cax=bar, format=form).outline.set_visible(False)
        bar.set_title(
            "t [s]",
            fontsize=6.5 * self.scale,
            color=self.theme.muted,
            loc="left",
            pad=7 * self.scale,
        )
        bar.tick_params(labelsize=6.5 * self.scale)
        bar.grid(visible=False)

    def key_figures(self, part: KeyFigures, cell: Cell) -> None:
        """Write key figures."""
        muted = self.theme.muted
        right = cell.x + cell.width
        self.text(part.title, cell.x, cell.y - 0.06, size=8.5, weight="bold")
        y = cell.y + 0.02
        for name, value, place in part.rows:
            y += 0.18
            name = _cut(name, cell.width - 0.85, 0.062)
            self.text(name, cell.x, y, size=7.5, color=muted)
            self.text(value, right, y, size=8, ha="right")
            if place:
                y += 0.13
            place = _cut(place, cell.width, 0.056)
            self.text(place, right, y, size=6.3, ha="right", color=muted)


def _cut(text: str, width: float, each: float) -> str:
    """Return a text shortened to a width, for a mean width `each` of letters [inch]."""
    # At least four letters: the ends and the dots.
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
        # Defaults of matplotlib first: the user's settings would change the layout.
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
    default, *others = _fonts()
    written = "".join(text.get_text() for text in figure.findobj(texts.Text))
    foreign = set()
    for letter in filter(str.isprintable, set(written)):
        # Only what the default font lacks needs a search in the others.
        if ord(letter) not in _letters_of(default):
            foreign.add(letter)
    if foreign:
        known = set(chain.from_iterable(map(_letters_of, others)))
        warn_missing_letters(letter for letter in foreign if ord(letter) not in known)
    return foreign


def draw(charts: Sequence[Chart], theme: Theme = LIGHT) -> Figure:
    """Return a matplotlib Figure of charts below each other.

    It is in no window.

    Raises ImportError when matplotlib is not installed.
    """
    figures = need("matplotlib.figure", "plot", "plotting")
    agg = need("matplotlib.backends.backend_agg", "plot", "plotting")
    # The widest chart determines the figure.
    width = max((chart.width for chart in charts), default=1.0)
    height = max(
        sum(chart.height for chart in charts) + SPACE * max(len(charts) - 1, 0), 1.0
    )
    # One figure, one scale: the smallest of all.
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
        # No dates: equal plots are equal files.
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
