"""`bodymotion view MODEL [MOTION]`.

Show a robot and its motion, or a script, in the browser; or write a page with
them.
"""

from pathlib import Path
from typing import Annotated

import click
from click import IntRange

from bodymotion.cli import failures
from bodymotion.cli.options import (
    Arm,
    BeatsPerBar,
    Bpm,
    ByPosition,
    Music,
    ReaderOptions,
    Slices,
    names,
    reads_files,
)
from bodymotion.scene.options import LABELS


@reads_files
def view(
    reading: ReaderOptions,
    files: list[Path],
    ghost: bool = False,
    dark: bool = False,
    html: Path | None = None,
    host: str = "127.0.0.1",
    port: Annotated[int, IntRange(0, 65535)] = 8080,
    no_browser: bool = False,
    watch: bool = False,
    paused: bool = False,
    by_position: ByPosition = False,
    show: Annotated[
        str, f"--show NAMES: What to show, comma-separated: {', '.join(LABELS)}."
    ] = "",
    arm: Arm = None,
    bpm: Bpm = None,
    music: Music = None,
    beats_per_bar: BeatsPerBar = 4,
    slices: Slices = None,
) -> None:
    """Show a robot and its motion in the browser.

    The address is printed on stderr; Ctrl-C ends. A model alone can be posed with
    sliders; a motion alone is shown as coordinate frames. A script is played on its
    robot: its parameters become sliders, its feet have different colours in
    stance and in swing.

    \b
    Examples:
      bodymotion view robot.wrl walk.seq
      bodymotion view --show support,mass,trails robot.wrl walk.seq
      bodymotion view --ghost robot.wrl walk.seq other.seq
      bodymotion view --html walk.html robot.wrl walk.seq
      bodymotion view --watch --no-browser robot.wrl

    Options:
      files MODEL [MOTION [MOTION]]: A model, a motion, or both; two motions side by
        side; or {script}, two of them or their logs, or recorded motion (.bvh).
      --ghost: Show the second motion as a transparent robot at the position of the
        first.
      --no-browser: Only print the address.
      --watch: Reload the files when they are saved.

    More options:
      --dark: Start in dark mode.
      --host: Address to listen at; 0.0.0.0 allows other machines.
      --port: Port; if it is in use, the next free one.
      --paused: Do not start playing.

    Output:
      --html FILE: Write a self-contained page that plays without a server.
    """  # noqa: D301
    from bodymotion.collection.opening import single_files
    from bodymotion.scene.music import load_music
    from bodymotion.viewer.api import view as view_them

    if len(files) > 3:
        raise click.BadParameter(
            "at most three files: a model and two motions",
            param_hint="MODEL [MOTION [MOTION]]",
        )
    with failures("view"), single_files(files) as sources:
        # The first is the model or the motion alone; the others are motions on it.
        view_them(
            sources[0],
            sources[1:],
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
            music=None if music is None else load_music(music, beats_per_bar),
            slices=slices,
            **reading,
        )
