"""Options that several commands have, and checks of the values of options."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = ["AllowOutside", "Arm", "AsJson", "Bpm", "PackagePath", "Slices", "names", "not_negative", "positive"]

AllowOutside: TypeAlias = Annotated[
    bool, typer.Option("--allow-outside", help="Also read parts of a model that lie outside its folder.")
]
PackagePath: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--package-path", metavar="FOLDER", help="A folder with packages of package:// in a URDF; may be repeated."
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Arm: TypeAlias = Annotated[
    bool | None,
    typer.Option("--arm/--no-arm", help="Play an animation with or without arm; by default as the animation needs."),
]
Bpm: TypeAlias = Annotated[
    float | None,
    typer.Option("--bpm", metavar="BPM", help="Tempo at which an animation is played, in beats per minute."),
]
Slices: TypeAlias = Annotated[
    float | None, typer.Option("--slices", metavar="N", help="Length of the playback in slices (quarter beats).")
]


def positive(value: float | None) -> float | None:
    """Return the value of an option, which must be finite and greater than 0, or None."""
    if value is not None and not 0 < value < math.inf:
        raise typer.BadParameter(f"{value:g} is not a finite number greater than 0")
    return value


def not_negative(value: float) -> float:
    """Return the value of an option, which must be finite and at least 0."""
    if not 0 <= value < math.inf:
        raise typer.BadParameter(f"{value:g} is not a finite number of at least 0")
    return value


def names(text: str | None) -> tuple[str, ...]:
    """Return the names in a text that separates them by commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
