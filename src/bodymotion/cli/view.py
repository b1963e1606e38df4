"""`bodymotion view MODEL [MOTION]`: see a robot and its motion, or a Spot animation, in the browser; or write a page that shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bodymotion.cli.options import AllowOutside, Arm, Bpm, Slices
from bodymotion.viewer.switches import LABELS

__all__ = ["view"]


def view(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL [MOTION [MOTION]]",
            help="A model (.wrl), a motion (.seq), or both; two motions side by side; or a Spot animation (.cha).",
            show_default=False,
        ),
    ],
    ghost: Annotated[
        bool, typer.Option("--ghost", help="Show the second motion as a see-through robot in the place of the first.")
    ] = False,
    dark: Annotated[bool, typer.Option("--dark", help="Begin with the dark look.")] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write one self-contained page instead, which plays without a server."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; 0.0.0.0 lets other machines look.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The next free one is taken.")] = 8080,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser, only print the address.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Load the files again when they are saved.")] = False,
    paused: Annotated[bool, typer.Option("--paused", help="Do not begin to play.")] = False,
    allow_outside: AllowOutside = False,
    show: Annotated[
        str,
        typer.Option("--show", metavar="NAMES", help=f"What to switch on, with commas between: {', '.join(LABELS)}."),
    ] = "",
    arm: Arm = None,
    bpm: Bpm = None,
    slices: Slices = None,
) -> None:
    """Show a robot and its motion, or two, or a Spot animation, in the browser.

    The address is printed on stderr; Ctrl-C ends. A model alone can be posed with sliders, a motion alone is shown as frames. An animation
    is played by our Spot: its parameters become sliders, its feet have one colour in stance and another in swing.

    \b
    Examples:
      bodymotion view robot.wrl walk.seq
      bodymotion view --show support,mass,trails robot.wrl walk.seq
      bodymotion view --ghost robot.wrl walk.seq other.seq
      bodymotion view --html walk.html robot.wrl walk.seq
      bodymotion view --watch --no-browser robot.wrl
      bodymotion view --watch wave.cha
    """  # noqa: D301
    from bodymotion.cli.failures import failures
    from bodymotion.viewer import view as view_them

    if len(files) > 3:
        raise typer.BadParameter(
            "a model and two motions are three files at most", param_hint="MODEL [MOTION [MOTION]]"
        )
    with failures("view", every_fault=True):
        view_them(
            files[0],
            files[1:],
            ghost=ghost,
            dark=dark,
            html=html,
            host=host,
            port=port,
            open_browser=not no_browser,
            watch=watch,
            play=not paused,
            allow_outside=allow_outside,
            show=[name.strip() for name in show.split(",") if name.strip()],
            arm=arm,
            bpm=bpm,
            slices=slices,
        )
