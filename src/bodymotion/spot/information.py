"""What `bodymotion info` shows of animations and choreographies."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bodymotion.cli.info_page import (
    degrees_text,
    number_text,
    show_extra,
    value_text,
)
from bodymotion.cli.output import Data, about_file, members, number, plain
from bodymotion.cli.page import Page
from bodymotion.diagnostics.text import counted
from bodymotion.spot.animation import Animation
from bodymotion.spot.cha.keywords import COLUMNS, OPTIONS, PARAMETERS, Keyword
from bodymotion.spot.choreography.moves import tracks_of
from bodymotion.spot.choreography.values import Choreography, Move


def describe_animation(animation: Animation, path: Path) -> Data:
    """Return an animation as data."""
    frames = animation.keyframes
    bpm = animation.bpm
    if bpm is None:
        slices = None
    else:
        slices = number(animation.duration / 60 * bpm * 4)
    return {
        **about_file(path, "animation", animation.source.format),
        "encoding": animation.source.encoding,
        **members(animation, "name", "title", "controls", "duration"),
        "slices": slices,
        "num_keyframes": len(frames),
        "options": {name: plain(value) for name, value in animation.options.items()},
        "parameters": {
            name: members(parameter, "minimum", "default", "maximum")
            for name, parameter in animation.parameters.items()
        },
        "header": list(frames.header),
        "columns": [
            {
                "column": name,
                "track": COLUMNS[name].track if name in COLUMNS else "",
                "quantity": COLUMNS[name].quantity if name in COLUMNS else "",
                "lower": number(float(np.min(values, initial=math.inf))),
                "upper": number(float(np.max(values, initial=-math.inf))),
            }
            for name, values in zip(frames.columns, frames.values.T, strict=True)
        ],
    }


def describe_choreography(dance: Choreography, path: Path) -> Data:
    """Return a choreography as data."""
    return {
        **about_file(path, "choreography", dance.source.format),
        **members(dance, "name", "slices_per_minute", "slices", "duration"),
        "options": {
            name: plain(value)
            for name, value in {**dance.options, **(dance.editor or {})}.items()
        },
        "animations": {
            name: str(one.source.path) for name, one in dance.animations.items()
        },
        "moves": [_describe_move(dance, move) for move in dance.moves],
    }


def _describe_move(dance: Choreography, move: Move) -> Data:
    parameters = move.parameters.items()
    return {
        **members(move, "type", "start_slice", "requested_slices"),
        "tracks": list(tracks_of(dance, move)),
        "kind": move.kind,
        "parameters": {
            name: plain(value) for name, value in parameters if value is not None
        },
    }


def show_animation(page: Page, data: Data) -> None:
    """Add the data of an animation to a page."""
    page.fact("shown as", data["title"])
    page.fact("controls", ", ".join(data["controls"]))
    slices = data["slices"]
    if slices is None:
        beats = ""
    else:
        beats = (
            f" ({number_text(slices)} slices at {number_text(data['options']['bpm'])} "
            "beats per minute)"
        )
    page.fact("duration", f"{number_text(data['duration'])} s{beats}")
    frequency = data["options"].get("frequency")
    if frequency is None:
        timing = "with time stamps"
    else:
        timing = f"at {number_text(frequency)} Hz"
    page.fact("keyframes", f"{data['num_keyframes']} {timing}")
    page.heading("Options")
    rows = [
        (
            name,
            value_text(value)
            if not isinstance(value, list)
            else " ".join(map(str, value)),
            _sentence_of(OPTIONS, name),
        )
        for name, value in data["options"].items()
    ]
    page.table("option | value | meaning", rows)
    if data["parameters"]:
        page.heading("Parameters")
        parameters = [
            (
                name,
                number_text(parameter["minimum"]),
                number_text(parameter["default"]),
                number_text(parameter["maximum"]),
                _sentence_of(PARAMETERS, name),
            )
            for name, parameter in data["parameters"].items()
        ]
        page.table("parameter | >minimum | >default | >maximum | meaning", parameters)
    page.heading("Columns")
    rows = []
    for c in data["columns"]:
        degrees = [
            degrees_text(c[end]) if c["quantity"] in ("joint", "angle") else ""
            for end in ("lower", "upper")
        ]
        rows.append(
            (
                c["column"],
                c["track"],
                number_text(c["lower"]),
                number_text(c["upper"]),
                *degrees,
            )
        )
    page.table("column | track | >minimum | >maximum | >in degrees | >to", rows)


def show_choreography(page: Page, data: Data) -> None:
    """Add the data of a choreography to a page."""
    page.fact(
        "duration",
        f"{number_text(data['duration'])} s, {counted(data['slices'], 'slice')}",
    )
    page.fact(
        "tempo",
        f"{number_text(data['slices_per_minute'])} slices "
        f"({number_text((data['slices_per_minute'] or 0) / 4)} beats) per minute",
    )
    show_extra(page, data["options"])
    page.heading("Moves")
    rows = []
    for move in data["moves"]:
        used = " ".join(
            f"{name}={value_text(value)}"
            for name, value in move["parameters"].items()
            if value
        )
        rows.append(
            (
                move["start_slice"],
                move["requested_slices"],
                move["type"],
                ", ".join(move["tracks"]),
                used,
            )
        )
    page.table(">slice | >slices | move | tracks | parameters that are not 0", rows)


def _sentence_of(words: Mapping[str, Keyword], name: str) -> str:
    """Return the sentence of the document about a word; "" for an unknown one."""
    if name in words:
        return words[name].sentence
    return ""
