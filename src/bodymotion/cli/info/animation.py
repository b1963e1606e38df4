"""A Spot animation as data, and the data as a page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.animation import Animation, Keyframes
from bodymotion.cli.info.data import Data, about_file, number, plain, problems_of
from bodymotion.cli.page import Page, Table
from bodymotion.formats.cha.words import COLUMNS, OPTIONS, PARAMETERS

__all__ = ["animation_page", "describe_animation"]


def describe_animation(animation: Animation, path: Path) -> Data:
    """Return all that `info` knows of an animation, as JSON can hold it."""
    frames, bpm = animation.keyframes, animation.bpm
    slices = None if bpm is None else number(animation.duration / 60 * bpm * 4)
    return {
        **about_file(path, "animation", animation.source.format),
        "encoding": animation.source.encoding,
        "name": animation.name,
        "title": animation.title,
        "controls": list(animation.controls),
        "duration": number(animation.duration),
        "slices": slices,
        "num_keyframes": len(frames),
        "options": {name: plain(value) for name, value in animation.options.items()},
        "parameters": {
            name: {"minimum": plain(p.minimum), "default": plain(p.default), "maximum": plain(p.maximum)}
            for name, p in animation.parameters.items()
        },
        "header": list(frames.header),
        "columns": _columns(frames),
        **problems_of(animation.problems),
    }


def _columns(frames: Keyframes) -> list[Data]:
    found = []
    for k, name in enumerate(frames.columns):
        values = frames.values[:, k]
        column = COLUMNS.get(name)
        found.append(
            {
                "column": name,
                "track": column.track if column else "",
                "quantity": column.quantity if column else "",
                "lower": number(float(np.min(values, initial=math.inf))),
                "upper": number(float(np.max(values, initial=-math.inf))),
            }
        )
    return found


def animation_page(page: Page, data: Data) -> None:
    """Lay out what is known of an animation."""
    page.fact("shown as", data["title"])
    page.fact("controls", ", ".join(data["controls"]))
    slices = (
        ""
        if data["slices"] is None
        else f" ({_n(data['slices'])} slices at {_n(data['options']['bpm'])} beats a minute)"
    )
    page.fact("duration", f"{_n(data['duration'])} s{slices}")
    frequency = data["options"].get("frequency")
    timing = "with time stamps" if frequency is None else f"at {_n(frequency)} Hz"
    page.fact("keyframes", f"{data['num_keyframes']} {timing}")
    page.heading("Options")
    rows = [(name, _said(value), _sentence(OPTIONS, name)) for name, value in data["options"].items()]
    page.table(Table(("option", "value", "what it means"), rows))
    if data["parameters"]:
        page.heading("Parameters")
        page.table(
            Table(
                ("parameter", "minimum", "default", "maximum", "what it does"),
                [
                    (name, *(_n(p[key]) for key in ("minimum", "default", "maximum")), _sentence(PARAMETERS, name))
                    for name, p in data["parameters"].items()
                ],
                frozenset({"minimum", "default", "maximum"}),
            )
        )
    page.heading("Columns")
    page.table(
        Table(
            ("column", "track", "lowest", "highest", "as degrees", "to"),
            [(c["column"], c["track"], _n(c["lower"]), _n(c["upper"]), *_degrees(c)) for c in data["columns"]],
            frozenset({"lowest", "highest", "as degrees", "to"}),
        )
    )


def _sentence(words: Any, name: str) -> str:  # noqa: ANN401
    return str(words[name].sentence) if name in words else ""


def _degrees(column: Data) -> tuple[str, str]:
    if column["quantity"] not in ("joint", "angle"):
        return "", ""
    ends = (column["lower"], column["upper"])
    low, high = ("-" if end is None else f"{math.degrees(end) + 0.0:.4g}" for end in ends)
    return low, high


def _said(value: object) -> str:
    if value is True:
        return "yes"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return _n(value) if isinstance(value, float) else str(value)


def _n(value: float | None) -> str:
    return "-" if value is None else f"{value + 0.0:.6g}"
