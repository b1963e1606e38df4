"""Colours and sizes of plots, light and dark.

The same for images and pages.
"""

from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

from bodymotion.plots.parts import Color
from bodymotion.system.deferred import need

# The default font. Characters that it lacks are drawn with the `FAMILIES` of
# `bodymotion.scene.fonts`.
FONTS = ("DejaVu Sans",)
_BOTH: dict[str, tuple[Any, Any]] = {  # in light mode, in dark mode
    "name": ("light", "dark"),
    "page": ("#ffffff", "#12161d"),
    "panel": ("#fbfcfd", "#181e27"),
    "grid": ("#e4e8ee", "#29313d"),
    "edge": ("#c3cad4", "#3d4757"),
    "text": ("#1c2430", "#e3e8ef"),
    "muted": ("#66707f", "#98a3b3"),
    "bad": ("#d3122f", "#ff5468"),
    "recorded": ("#9c5a1a", "#d8a06a"),
    "band": ("#2a9d6a", "#4fd1a0"),
    "shade": ("#8b95a5", "#6d7889"),
    "palette": (
        (
            "#12867a",
            "#8447b5",
            "#b8860b",
            "#4d7c0f",
            "#0e7490",
            "#a8446b",
            "#4a5a70",
            "#6b6b1f",
        ),
        (
            "#43d3c0",
            "#c594f5",
            "#e6c352",
            "#a6d84f",
            "#67d5ee",
            "#f29cb7",
            "#a9b8cc",
            "#cfcf7a",
        ),
    ),
    "times": (
        ("#3b0f70", "#8c2981", "#de4968", "#fe9f6d", "#f7d13d"),
        ("#7b5cff", "#c158dc", "#ff6f91", "#ffb077", "#fff59d"),
    ),
}


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
        """Return a colour by its role, or its index in the palette, which repeats."""
        if isinstance(color, int):
            return self.palette[color % len(self.palette)]
        return {
            "muted": self.muted,
            "recorded": self.recorded,
            "bad": self.bad,
            "text": self.text,
        }[color]


LIGHT = Theme(**{name: pair[0] for name, pair in _BOTH.items()})
DARK = Theme(**{name: pair[1] for name, pair in _BOTH.items()})


def rc(
    theme: Theme, fonts: tuple[str, ...] = FONTS, scale: float = 1.0
) -> dict[str, Any]:
    """Return matplotlib's settings for a theme, text and lines at a scale.

    To be used in a context that restores those of the user.

    Those without colours are in `plots.mplstyle`.
    """
    matplotlib = need("matplotlib", "plot", "plotting")
    with as_file(files("bodymotion.plots").joinpath("plots.mplstyle")) as path:
        settings = dict(
            matplotlib.rc_params_from_file(path, use_default_template=False)
        )
    for name, value in settings.items():
        if isinstance(value, float):
            settings[name] = value * scale
    return settings | {
        "font.family": [*fonts],
        "text.color": theme.text,
        "legend.labelcolor": theme.text,
        "axes.facecolor": theme.panel,
        "grid.color": theme.grid,
        "axes.edgecolor": theme.edge,
        "xtick.color": theme.edge,
        "ytick.color": theme.edge,
        "axes.labelcolor": theme.muted,
        "xtick.labelcolor": theme.muted,
        "ytick.labelcolor": theme.muted,
        "figure.facecolor": theme.page,
        "savefig.facecolor": theme.page,
    }
