"""Colours and sizes of plots, light and dark; the same for images and pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bodymotion.plots.parts import Color

FONTS = ("DejaVu Sans",)
"""The default font; characters that it lacks are drawn with `bodymotion.scene.fonts.FAMILIES`."""


@dataclass(frozen=True)
class Theme:
    """The colours of a plot."""

    name: str
    page: str
    panel: str
    grid: str
    edge: str
    text: str
    muted: str
    bad: str
    recorded: str
    band: str
    shade: str
    palette: tuple[str, ...]
    times: tuple[str, ...]

    def color(self, color: Color) -> str:
        """Return a colour by its index in the palette, which repeats, or by its role."""
        if isinstance(color, int):
            return self.palette[color % len(self.palette)]
        return {"muted": self.muted, "recorded": self.recorded, "bad": self.bad, "text": self.text}[color]


LIGHT = Theme(
    name="light",
    page="#ffffff",
    panel="#fbfcfd",
    grid="#e4e8ee",
    edge="#c3cad4",
    text="#1c2430",
    muted="#66707f",
    bad="#d3122f",
    recorded="#e07b00",
    band="#2a9d6a",
    shade="#8b95a5",
    palette=("#1f5fbf", "#d2691e", "#12867a", "#8447b5", "#b8860b", "#c2407f", "#4d7c0f", "#4a5a70"),
    times=("#3b0f70", "#8c2981", "#de4968", "#fe9f6d", "#f7d13d"),
)
DARK = Theme(
    name="dark",
    page="#12161d",
    panel="#181e27",
    grid="#29313d",
    edge="#3d4757",
    text="#e3e8ef",
    muted="#98a3b3",
    bad="#ff5468",
    recorded="#ffb454",
    band="#4fd1a0",
    shade="#6d7889",
    palette=("#6aa5ff", "#ff9d5c", "#43d3c0", "#c594f5", "#e6c352", "#ff86bd", "#a6d84f", "#a9b8cc"),
    times=("#7b5cff", "#c158dc", "#ff6f91", "#ffb077", "#fff59d"),
)


def rc(theme: Theme, fonts: tuple[str, ...] = FONTS, scale: float = 1.0) -> dict[str, Any]:
    """Return matplotlib's settings for a theme, text and lines at a scale; to be used in a context that restores those of the user."""
    return {
        "font.family": [*fonts],
        "font.size": 8.0 * scale,
        "text.color": theme.text,
        "text.parse_math": False,
        "text.usetex": False,
        "axes.facecolor": theme.panel,
        "axes.edgecolor": theme.edge,
        "axes.labelcolor": theme.muted,
        "axes.labelsize": 7.5 * scale,
        "axes.linewidth": 0.7 * scale,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.unicode_minus": True,
        "axes.formatter.useoffset": False,
        "axes.formatter.use_locale": False,
        "axes.formatter.limits": (-4, 6),
        "axes.autolimit_mode": "data",
        "grid.color": theme.grid,
        "grid.linewidth": 0.6 * scale,
        "xtick.color": theme.edge,
        "ytick.color": theme.edge,
        "xtick.labelcolor": theme.muted,
        "ytick.labelcolor": theme.muted,
        "xtick.labelsize": 7.0 * scale,
        "ytick.labelsize": 7.0 * scale,
        "xtick.major.size": 2.5 * scale,
        "ytick.major.size": 2.5 * scale,
        "xtick.major.width": 0.6 * scale,
        "ytick.major.width": 0.6 * scale,
        "xtick.major.pad": 3.5 * scale,
        "ytick.major.pad": 3.5 * scale,
        "xtick.minor.visible": False,
        "ytick.minor.visible": False,
        "lines.linewidth": 1.2 * scale,
        "lines.solid_capstyle": "round",
        "lines.solid_joinstyle": "round",
        "legend.frameon": False,
        "legend.fontsize": 7.5 * scale,
        "legend.labelcolor": theme.text,
        "figure.facecolor": theme.page,
        "savefig.facecolor": theme.page,
        "savefig.edgecolor": "none",
        "savefig.bbox": None,
        "savefig.transparent": False,
        "path.simplify": True,
        "svg.fonttype": "none",
        "svg.hashsalt": "bodymotion",
        "pdf.fonttype": 42,
    }
