"""`bodymotion view MODEL [MOTION]`: show a robot and its motion, or a Spot animation, in the browser; or write a page with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from bodymotion.cli.options import Arm, Bpm, ByPosition, ReaderOptions, Slices, names, reads_files
from bodymotion.cli.output import failures
from bodymotion.scene.options import LABELS


@reads_files
def view(
    reading: ReaderOptions,
    files: Annotated[
        list[Path],
        Argument(
            metavar="MODEL [MOTION [MOTION]]",
            help="A model (.wrl), a motion (.seq), or both; two motions side by side; or a Spot animation (.cha).",
        ),
    ],
    ghost: Annotated[
        bool, Option("--ghost", help="Show the second motion as a transparent robot at the position of the first.")
    ] = False,
    dark: Annotated[bool, Option("--dark", help="Start in dark mode.")] = False,
    html: Annotated[
        Path | None, Option(metavar="FILE", help="Write a self-contained page that plays without a server.")
    ] = None,
    host: Annotated[str, Option(help="Address to listen at; 0.0.0.0 allows other machines.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Port; if it is in use, the next free one.")] = 8080,
    no_browser: Annotated[bool, Option("--no-browser", help="Only print the address.")] = False,
    watch: Annotated[bool, Option("--watch", help="Reload the files when they are saved.")] = False,
    paused: Annotated[bool, Option("--paused", help="Do not start playing.")] = False,
    by_position: ByPosition = False,
    show: Annotated[str, Option(metavar="NAMES", help=f"What to show, comma-separated: {', '.join(LABELS)}.")] = "",
    arm: Arm = None,
    bpm: Bpm = None,
    slices: Slices = None,
) -> None:
    """Show a robot and its motion in the browser.

    The address is printed on stderr; Ctrl-C ends. A model alone can be posed with sliders; a motion alone is shown as coordinate frames. An
    animation is played on the built-in Spot: its parameters become sliders, its feet have different colours in stance and in swing.

    \b
    Examples:
      bodymotion view robot.wrl walk.seq
      bodymotion view --show support,mass,trails robot.wrl walk.seq
      bodymotion view --ghost robot.wrl walk.seq other.seq
      bodymotion view --html walk.html robot.wrl walk.seq
      bodymotion view --watch --no-browser robot.wrl
      bodymotion view --watch wave.cha
    """  # noqa: D301
    from bodymotion.viewer.api import view as view_them

    if len(files) > 3:
        raise typer.BadParameter("at most three files: a model and two motions", param_hint="MODEL [MOTION [MOTION]]")
    with failures("view"):
        view_them(
            files[0],
            files[1:],
            ghost=ghost,
            dark=dark,
            output=html,
            host=host,
            port=port,
            open_browser=not no_browser,
            watch=watch,
            play=not paused,
            by_position=by_position,
            show=names(show),
            arm=arm,
            bpm=bpm,
            slices=slices,
            **reading,
        )
