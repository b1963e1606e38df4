"""Options that several commands have, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = ["AllowOutside", "Arm", "AsJson", "Bpm", "PackagePath", "Slices"]

AllowOutside: TypeAlias = Annotated[
    bool, typer.Option("--allow-outside", help="Also read parts of a model that lie outside its folder.")
]
PackagePath: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--package-path",
        metavar="FOLDER",
        help="Where the packages of package:// in a URDF are; may be given several times.",
        show_default=False,
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Arm: TypeAlias = Annotated[
    bool | None,
    typer.Option("--arm/--no-arm", help="Play an animation with or without arm; by default as it fits."),
]
Bpm: TypeAlias = Annotated[
    float | None, typer.Option("--bpm", metavar="BPM", help="The tempo at which an animation is played.")
]
Slices: TypeAlias = Annotated[
    float | None, typer.Option("--slices", metavar="N", help="For how many slices (quarter beats) it is played.")
]
