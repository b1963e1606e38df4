"""`render`: stills, sheets and videos of a body, a motion, both, or an animation."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.animation import Animation
from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.text import moment
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.rendering.encoding import VIDEOS
from bodymotion.rendering.settings import Background, Settings
from bodymotion.rendering.window import NoRendererError
from bodymotion.scene.given import Showable
from bodymotion.system.atomic_files import check_place, whole_file
from bodymotion.viewer.api import load_take, say_notes, say_problems

if TYPE_CHECKING:
    from PIL import Image

    from bodymotion.rendering.playback import Playback
    from bodymotion.rendering.videos import Stretch

__all__ = ["STILLS", "render"]

STILLS = (".png", ".jpg", ".jpeg", ".webp")
SIZE, SIZE_OF_GIF, SIZE_OF_SHEET = (1280, 720), (640, 360), (1600, 1200)
RATE, RATE_OF_GIF = 30.0, 20.0
MOST_RATE = 240.0
MOST_MOMENTS = 60
MOST_PICTURES = 1_000_000


def render(
    body: Showable,
    motion: Showable | None = None,
    *,
    output: str | PathLike[str] | None = None,
    at: float | Sequence[float] | None = None,
    frame: int | Sequence[int] | None = None,
    strobe: int | None = None,
    sheet: bool = False,
    size: tuple[int, int] | None = None,
    camera: str | tuple[float, float, float] = "corner",
    look_at: tuple[float, float, float] | None = None,
    background: Background = "light",
    ground: bool = True,
    overlay: Iterable[str] | None = None,
    stand: bool | None = None,
    start: float | None = None,
    end: float | None = None,
    fps: float | None = None,
    speed: float = 1.0,
    follow: bool | None = None,
    allow_outside: bool = False,
    arm: bool | None = None,
    bpm: float | None = None,
    slices: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Image.Image | None:
    """Make a picture or a video of a robot, without a screen and without a graphics card.

    A still unless `output` is a video: .mp4, .webm, .gif. Several moments are shown in one picture, as a stroboscope does: where the robot
    is, or in a row where they would cover each other. A motion alone is shown as frames; an animation is played by our Spot.

    Parameters
    ----------
    body, motion:
        A Body and a Motion, or files of them, in any order; one of the two is enough. Or an Animation, or its file, alone.
    output:
        The file to write; it is whole or not there. Without one the still is only returned.
    at, frame:
        The moment of a still [s], or the number of its frame; or several.
    strobe:
        So many moments spread evenly from `start` to `end`.
    sheet:
        Show the model from the front, from its right side, from above and from a corner, with the axes and numbers of its joints.
    size:
        Width and height in pixels: 1280 × 720, of a gif 640 × 360, of a sheet 1600 × 1200 unless given.
    camera, look_at:
        "corner", "iso", "front", "back", "left", "right", "side", "top"; or a place (3,) in the world [m] and what is looked at from there.
    background:
        "light", "dark", or "transparent", which stills can be.
    ground:
        Whether there is a floor with a shadow on it.
    overlay:
        What is written into the picture: "time", "frame", "title". The time into a video and a stroboscope unless given.
    stand:
        Put the lowest point of the robot on the ground; unless given, where nobody says where its root is.
    start, end:
        The stretch [s] of the motion that a video or stroboscope shows.
    fps, speed:
        Pictures a second: 30, of a gif 20 unless given; and how many times as fast as it is the motion goes.
    follow:
        Let the camera go along with the root, smoothly; unless given, where the root goes far.
    allow_outside:
        Also read parts of a model that lie outside its folder.
    arm, bpm, slices:
        Of an animation: whether Spot has its arm (by default what fits), the script's tempo and the length.
    progress:
        Told how many pictures of a video are done, and of how many.

    Returns
    -------
    The still, RGBA with a transparent background and else RGB; None for a video.

    Raises
    ------
    ImportError
        When a package of the extra `render` is not installed; the message says how it is.
    FormatError
        When nothing can be made of a file.
    ValueError
        When motion and body do not fit, or there is nothing to show; `WrongUseError` when what is asked for makes no sense, or
        `output` is one of the files that are read.
    OSError
        When the file cannot be written, or nothing on this machine can draw; the message names the packages that are missing.
    """
    path = None if output is None else Path(output)
    kind = "" if path is None else path.suffix.lower()
    if path is not None:
        check_place(path)
    if path is not None and kind not in (*STILLS, *VIDEOS):
        raise WrongUseError(f"{path}: pictures are {', '.join(STILLS)}, videos {', '.join(VIDEOS)}")
    moving = kind in VIDEOS
    several = strobe is not None or any(one is not None and np.size(one) > 1 for one in (at, frame))
    texts = overlay if overlay is not None else ("time",) if moving or several else ()
    edges = size or (SIZE_OF_SHEET if sheet else SIZE_OF_GIF if kind == ".gif" else SIZE)
    if moving:
        edges = (edges[0] + edges[0] % 2, edges[1] + edges[1] % 2)
    settings = Settings(edges, camera, look_at, background, ground, tuple(texts), stand, follow)
    _check(moving, sheet, kind, [at, frame, strobe], settings)
    wishes = None
    if bpm is not None or slices is not None:
        from bodymotion.viewer.performance import Wishes

        wishes = Wishes(bpm, slices)
    sources = [source for source in (body, motion) if source is not None]
    take = load_take(*sources, allow_outside=allow_outside, arm=arm, wishes=wishes, output=path)

    if not all(isinstance(source, (Body, Motion, Animation)) for source in sources):
        say_problems(take.problems, "; bodymotion check lists them", take.misfits)
        say_notes(take.notes)

    from bodymotion.rendering.playback import Playback

    playback = Playback(take, stand)
    if moving:
        from bodymotion.rendering.videos import video

        assert path is not None
        stretch = _stretch(
            playback, start, end, (RATE_OF_GIF if kind == ".gif" else RATE) if fps is None else fps, speed
        )
        with _named(path):
            video(playback, stretch, path, settings, progress)
        return None
    if sheet:
        from bodymotion.rendering.sheet import sheet as drawn

        picture = drawn(playback, settings)
    else:
        from bodymotion.rendering.stills import still

        picture = still(playback, _moments(playback, at, frame, strobe, start, end), settings)
    if path is not None:
        with _named(path):
            _save(picture, path, kind)
    return picture


def _check(moving: bool, sheet: bool, kind: str, moments: list[object], settings: Settings) -> None:
    given = [name for name, one in zip(("at", "frame", "strobe"), moments, strict=True) if one is not None]
    if len(given) > 1:
        raise WrongUseError(f"moments are said in one way, not by {' and '.join(given)}")
    if moving and (given or sheet):
        raise WrongUseError(f"{given[0] if given else 'a sheet'} is for stills; a video has a start and an end")
    if sheet and given:
        raise WrongUseError("a sheet shows the model, and no moments")
    if settings.background == "transparent" and (moving or kind in (".jpg", ".jpeg")):
        raise WrongUseError("only stills can be transparent, as .png or .webp")
    if settings.background == "transparent" and sheet:
        raise WrongUseError("a sheet is light or dark")


def _moments(
    playback: Playback,
    at: float | Sequence[float] | None,
    frame: int | Sequence[int] | None,
    strobe: int | None,
    start: float | None,
    end: float | None,
) -> list[float]:
    """Return the times [s] of the moments of a still."""
    times = [playback.first]
    if strobe is not None:
        if not 1 <= strobe <= MOST_MOMENTS:
            raise WrongUseError(f"a stroboscope shows 1 to {MOST_MOMENTS} moments, not {strobe}")
        first, last = _within(playback, start, end)
        times = [first + (last - first) * k / max(strobe - 1, 1) for k in range(strobe)]
    elif start is not None or end is not None:
        raise WrongUseError("start and end are for videos and stroboscopes")
    elif frame is not None:
        numbers = [int(number) for number in np.atleast_1d(frame)]
        count = playback.take.num_frames
        for number in numbers:
            if not 0 <= number < count:
                raise WrongUseError(f"there is no frame {number}: they are 0 to {count - 1}")
        times = [float(playback.take.timeline.times[number]) for number in numbers]
    elif at is not None:
        times = [float(time) for time in np.atleast_1d(at)]
        for time in times:
            if not playback.first - 1e-6 <= time <= playback.last + 1e-6:
                raise WrongUseError(
                    f"there is nothing at {moment(time)} s: the motion goes from {moment(playback.first)} to {moment(playback.last)} s"
                )
    if not 1 <= len(times) <= MOST_MOMENTS:
        raise WrongUseError(f"a still shows 1 to {MOST_MOMENTS} moments, not {len(times)}")
    return times


def _within(playback: Playback, start: float | None, end: float | None) -> tuple[float, float]:
    first, last = playback.first if start is None else start, playback.last if end is None else end
    first, last = max(first, playback.first), min(last, playback.last)
    if not first <= last:
        raise WrongUseError(
            f"from {moment(first if start is None else start)} to {moment(last if end is None else end)} s there is nothing: "
            f"the motion goes from {moment(playback.first)} to {moment(playback.last)} s"
        )
    return first, last


def _stretch(playback: Playback, start: float | None, end: float | None, fps: float, speed: float) -> Stretch:
    from bodymotion.rendering.videos import Stretch

    if not 0.1 <= fps <= MOST_RATE:
        raise WrongUseError(f"a video has 0.1 to {MOST_RATE:g} pictures a second, not {fps:g}")
    if not (speed > 0 and math.isfinite(speed)):
        raise WrongUseError(f"the speed is a positive number, not {speed:g}")
    if playback.take.num_frames < 2:
        raise WrongUseError("a video needs a motion of at least two frames")
    first, last = _within(playback, start, end)
    if (last - first) / speed * fps >= MOST_PICTURES:
        raise WrongUseError(f"that would be more than {MOST_PICTURES} pictures")
    return Stretch(first, last, Fraction(fps).limit_denominator(1001), speed)


def _save(picture: Image.Image, path: Path, kind: str) -> None:
    formats = {".png": "PNG", ".webp": "WEBP"}
    with whole_file(path) as stream:
        picture.save(stream, formats.get(kind, "JPEG"), **({"optimize": True} if kind == ".png" else {"quality": 92}))


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say of faults of writing which file cannot be written."""
    try:
        yield
    except NoRendererError:
        raise
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error
