"""`bodymotion render MODEL [MOTION] -o FILE`: a picture or a video of a robot, without a screen and without a graphics card."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bodymotion.cli.given import positive
from bodymotion.cli.options import AllowOutside, Arm, Bpm, Slices

__all__ = ["render"]

CAMERAS = ("corner", "iso", "front", "back", "left", "right", "side", "top")
"""As the room of pictures has them, which is only loaded when something is drawn."""


class Behind(StrEnum):
    """What is behind the robot."""

    light = "light"
    dark = "dark"
    transparent = "transparent"


def render(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL [MOTION]",
            help="A model (.wrl), a motion (.seq), or both; or a Spot animation (.cha).",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A still (.png, .jpg, .webp) or a video (.mp4, .webm, .gif).",
            show_default=False,
        ),
    ],
    at: Annotated[
        str | None, typer.Option("--at", metavar="SECONDS", help="The moment of a still; or several: 0,1.5,3.")
    ] = None,
    frame: Annotated[
        str | None, typer.Option("--frame", metavar="N", help="The frame of a still; or several: 0,100,200.")
    ] = None,
    strobe: Annotated[
        int | None, typer.Option("--strobe", metavar="N", help="So many moments in one picture, spread evenly.")
    ] = None,
    sheet: Annotated[
        bool, typer.Option("--sheet", help="The model from four sides, with the axes and ids of its joints.")
    ] = False,
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="WxH", help="Pixels: 1280x720; of a gif 640x360, of a sheet 1600x1200."),
    ] = None,
    camera: Annotated[
        str, typer.Option("--camera", metavar="NAME|X,Y,Z", help=f"{', '.join(CAMERAS)}; or a place [m].")
    ] = "corner",
    look_at: Annotated[
        str | None, typer.Option("--look-at", metavar="X,Y,Z", help="What a camera at a place looks at: the robot.")
    ] = None,
    background: Annotated[Behind, typer.Option("--background", help="Stills can be transparent.")] = Behind.light,
    ground: Annotated[bool, typer.Option("--ground/--no-ground", help="A floor with a grid and a shadow.")] = True,
    overlay: Annotated[
        str | None,
        typer.Option(
            "--overlay",
            metavar="NAMES",
            help="What is written into it, with commas between: time, frame, title; or none. Of videos: time.",
        ),
    ] = None,
    stand: Annotated[
        bool | None,
        typer.Option("--stand/--no-stand", help="Put it on the ground; by default where nobody says where it is."),
    ] = None,
    start: Annotated[
        float | None, typer.Option("--from", metavar="SECONDS", help="Where a video or stroboscope begins.")
    ] = None,
    end: Annotated[
        float | None, typer.Option("--to", metavar="SECONDS", help="Where a video or stroboscope ends.")
    ] = None,
    fps: Annotated[
        float | None, typer.Option("--fps", help="Pictures a second of a video: 30, of a gif 20.", callback=positive)
    ] = None,
    speed: Annotated[
        float, typer.Option("--speed", help="So many times as fast as it is; 0.25 is slow motion.", callback=positive)
    ] = 1.0,
    follow: Annotated[
        bool | None,
        typer.Option("--follow/--no-follow", help="Go along with the root; by default where it goes far."),
    ] = None,
    allow_outside: AllowOutside = False,
    arm: Arm = None,
    bpm: Bpm = None,
    slices: Slices = None,
) -> None:
    """Make a picture or a video of a robot, without a screen and without a graphics card.

    Several moments stand in one picture, as a stroboscope shows them. A motion alone is shown as frames, an animation is played by our
    Spot. The file is whole or not there: Ctrl-C leaves nothing behind.

    \b
    Examples:
      bodymotion render robot.wrl walk.seq -o walk.mp4
      bodymotion render robot.wrl walk.seq -o step.png --at 2.5 --camera side
      bodymotion render robot.wrl walk.seq -o steps.png --strobe 6 --from 2 --to 5
      bodymotion render robot.wrl -o sheet.png --sheet
    """  # noqa: D301
    from bodymotion.cli.failures import failures
    from bodymotion.cli.messages import say
    from bodymotion.cli.progress import progress
    from bodymotion.cli.text import one_line
    from bodymotion.rendering import render as render_them
    from bodymotion.viewer.text import counted

    if len(files) > 2:
        raise typer.BadParameter("a model and a motion are two files at most", param_hint="MODEL [MOTION]")
    width_and_height = None if size is None else _numbers(size.lower().replace("x", ","), 2, "--size", int)
    names = () if overlay == "none" else [name.strip() for name in (overlay or "").split(",") if name.strip()]
    pictures = 1
    with failures("render", every_fault=True), progress(f"drawing {output.name}") as told:

        def tell(done: int, total: int) -> None:
            nonlocal pictures
            pictures = total
            if told is not None:
                told(done, total)

        still = render_them(
            files[0],
            files[1] if len(files) > 1 else None,
            output=output,
            at=None if at is None else _numbers(at, None, "--at", float),
            frame=None if frame is None else [int(one) for one in _numbers(frame, None, "--frame", int)],
            strobe=strobe,
            sheet=sheet,
            size=None if width_and_height is None else (int(width_and_height[0]), int(width_and_height[1])),
            camera=_place(camera, "--camera") if "," in camera else camera,
            look_at=None if look_at is None else _place(look_at, "--look-at"),
            background=background.value,
            ground=ground,
            overlay=None if overlay is None else names,
            stand=stand,
            start=start,
            end=end,
            fps=fps,
            speed=speed,
            follow=follow,
            allow_outside=allow_outside,
            arm=arm,
            bpm=bpm,
            slices=slices,
            progress=tell,
        )
    what = counted(pictures, "picture") if still is None else f"{still.width} × {still.height} pixels"
    say(one_line(f"{output}: {what}"))


def _numbers(text: str, count: int | None, option: str, kind: type[int] | type[float]) -> list[float]:
    """Read numbers with commas between them."""
    try:
        found = [kind(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or (count is not None and len(found) != count):
        wanted = "numbers with commas between" if count is None else f"{count} numbers"
        raise typer.BadParameter(f"{text!r} is not {wanted}", param_hint=option)
    return [*found]


def _place(text: str, option: str) -> tuple[float, float, float]:
    x, y, z = _numbers(text, 3, option, float)
    return x, y, z
