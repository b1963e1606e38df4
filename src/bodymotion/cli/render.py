"""`bodymotion render MODEL [MOTION] -o FILE`.

An image or a video of a robot, without a screen or graphics card.
"""

from collections.abc import Container
from pathlib import Path
from typing import Annotated, Any, Literal

import click

from bodymotion.cli import failures
from bodymotion.cli.options import (
    Arm,
    Bpm,
    ByPosition,
    Music,
    Positive,
    ReaderOptions,
    Slices,
    names,
    numbers,
    positive,
    read_files,
    reads_files,
)
from bodymotion.cli.output import progress, written
from bodymotion.diagnostics.text import counted

CAMERAS = ("corner", "iso", "front", "back", "left", "right", "side", "top")
"""As in `bodymotion.scene.camera`, which is only imported when something is drawn."""

ANY_COUNT = range(1, 1_000_000)
SEVERAL = "comma-separated numbers"


@reads_files
def render(
    reading: ReaderOptions,
    files: list[Path],
    output: Path,
    at: str | None = None,
    frame: str | None = None,
    strobe: int | None = None,
    sheet: bool = False,
    size: str | None = None,
    camera: Annotated[
        str, f"--camera NAME|X,Y,Z: {', '.join(CAMERAS)}; or a position [m]."
    ] = "corner",
    look_at: str | None = None,
    background: Literal["light", "dark", "transparent"] = "light",
    ground: bool = True,
    overlay: str | None = None,
    stand: bool | None = None,
    start: float | None = None,
    end: float | None = None,
    fps: Positive = None,
    speed: Annotated[float, positive] = 1.0,
    follow: bool | None = None,
    by_position: ByPosition = False,
    arm: Arm = None,
    bpm: Bpm = None,
    music: Music = None,
    slices: Slices = None,
) -> None:
    """Render an image or a video of a robot.

    No screen and no graphics card are needed. Several moments are combined in one
    image, as with a stroboscope. A motion alone is shown as coordinate frames; a
    script is played on its robot. The file is written whole or not at all.

    \b
    Examples:
      bodymotion render robot.wrl walk.seq -o walk.mp4
      bodymotion render robot.wrl walk.seq -o step.png --at 2.5 --camera side
      bodymotion render robot.wrl walk.seq -o steps.png --strobe 6 --from 2 --to 5
      bodymotion render robot.wrl -o sheet.png --sheet

    Options:
      files MODEL [MOTION]: A model (.wrl), a motion (.seq), or both; {script};
        or recorded motion (.bvh).
      --at SECONDS: The time of an image; or several: 0,1.5,3.
      --sheet: Show the model from four sides, with the axes, ids and limits of its
        joints.
      start --from SECONDS: Start time of a video or stroboscope.
      end --to SECONDS: End time of a video or stroboscope.
      --speed FACTOR: Playback speed; 0.25 is slow motion.

    More options:
      --frame N: The frame of an image; or several: 0,100,200.
      --strobe N: Show N equally spaced moments in one image.
      --look-at X,Y,Z: The point that a camera at a position looks at; by default the
        robot.
      --background: Images can be transparent.
      --ground/--no-ground: Show a ground with a grid and a shadow.
      --overlay NAMES: Text in the image, comma-separated: time, frame, title; or none.
        Default for videos: time.
      --stand/--no-stand: Place the robot on the ground; by default where its position
        is unknown.
      --fps: Frames per second; by default 30, for a gif 20.
      --follow/--no-follow: Follow the root; by default where it moves far.

    Output:
      --output -o FILE: An image (.png, .jpg, .webp) or a video (.mp4, .webm, .gif).
      --size WxH: Pixels; by default 1280x720, for a gif 640x360, for a sheet 1600x1200.
    """  # noqa: D301
    from bodymotion.rendering import render as render_them

    if len(files) > 2:
        raise click.BadParameter(
            "at most two files: a model and a motion", param_hint="MODEL [MOTION]"
        )
    num_frames = 1
    with failures("render"), progress(f"drawing {output.name}") as bar:

        def report(done: int, total: int) -> None:
            nonlocal num_frames
            # The message at the end has the number of frames, also without a bar.
            num_frames = total
            if bar is not None:
                bar(done, total)

        image = render_them(
            *read_files(files, reading, by_position),
            output=output,
            at=_numbers("--at", at, ANY_COUNT, SEVERAL),
            frame=_numbers("--frame", frame, ANY_COUNT, SEVERAL, int),
            strobe=strobe,
            sheet=sheet,
            size=_size(size),
            camera=_camera(camera),
            look_at=_position("--look-at", look_at),
            background=background,
            ground=ground,
            overlay=_overlay(overlay),
            stand=stand,
            start=start,
            end=end,
            fps=fps,
            speed=speed,
            follow=follow,
            arm=arm,
            bpm=bpm,
            music=music,
            slices=slices,
            progress=report,
        )
    if image is None:
        written(output, counted(num_frames, "frame"))
    else:
        written(output, f"{image.width} × {image.height} pixels")


def _numbers(
    option: str,
    text: str | None,
    counts: Container[int],
    expected: str,
    kind: type[int] | type[float] = float,
) -> list[Any] | None:
    """Return the numbers in the text of an option, None where it is not used."""
    if text is None:
        return None
    return numbers(option, text, counts, expected, kind)


def _camera(text: str) -> str | tuple[float, float, float]:
    """Return the name of a camera, or its position X,Y,Z."""
    if "," in text:
        x, y, z = numbers("--camera", text, (3,), "3 numbers")
        return x, y, z
    return text


def _position(option: str, text: str | None) -> tuple[float, float, float] | None:
    """Return the position X,Y,Z."""
    if text is None:
        return None
    x, y, z = numbers(option, text, (3,), "3 numbers")
    return x, y, z


def _size(text: str | None) -> tuple[int, int] | None:
    """Return the size WxH in pixels."""
    if text is None:
        return None
    # 1280x720, also with a capital X.
    text = text.lower().replace("x", ",")
    width, height = numbers("--size", text, (2,), "2 numbers", int)
    return width, height


def _overlay(text: str | None) -> tuple[str, ...] | None:
    """Return the names of texts in the image, None for the default."""
    if text is None:
        return None
    # No text at all, unlike None, which is the default.
    if text == "none":
        return ()
    return names(text)
