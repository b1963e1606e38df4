"""`render`: images and videos of a body, a motion, both, or a script."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.text import moment
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.settings import Background, Settings
from bodymotion.rendering.videos import VIDEOS, Span
from bodymotion.rendering.vtk import NoRendererError
from bodymotion.scene.loading import VALUES, Showable, load_scene, report_problems
from bodymotion.system.files import check_place, whole_file

if TYPE_CHECKING:
    from PIL import Image

# Extensions of images.
STILLS = (".png", ".jpg", ".jpeg", ".webp")
# [px] Width and height of an image or a video, of a gif, and of a sheet.
SIZE = (1280, 720)
GIF_SIZE = (640, 360)
SHEET_SIZE = (1600, 1200)
# [Hz] Frames per second of a video, of a gif, and the most that there may be.
RATE = 30.0
GIF_RATE = 20.0
MAX_RATE = 240.0
# Moments that are shown in one image.
MAX_MOMENTS = 60
# Frames of a video: more than nine hours at 30 Hz.
MAX_FRAMES = 1_000_000
# [Hz]
MIN_RATE = 0.1
# [s] A time that rounding puts just outside of the motion is in it.
ROUNDING = 1e-6
# Of the fraction that stands for a rate, such as 30000/1001.
MAX_DENOMINATOR = 1001
# Of a JPEG or WEBP image; PNG has no quality.
QUALITY = 92


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
    by_position: bool = False,
    arm: bool | None = None,
    bpm: float | None = None,
    slices: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,  # noqa: ANN401
) -> Image.Image | None:
    """Render an image or a video of a robot.

    Needs no screen and no graphics card.

    The result is an image unless `output` is a video: .mp4, .webm, .gif. Several
    moments are shown in one image, as with a stroboscope: at their positions, or in a
    row where they would overlap. A motion alone is shown as coordinate frames; a
    script is played on its robot.

    Parameters
    ----------
    body, motion:
        A Body and a Motion, or their files, in any order; one of the two is enough. Or
        a script, or its file, alone.
    output:
        The file to write, whole or not at all. Without it, the image is only returned.
    at, frame:
        The time of an image [s], or the number of its frame; or several.
    strobe:
        Number of equally spaced moments from `start` to `end`.
    sheet:
        Show the model from four sides, with the axes and numbers of its joints.
    size:
        Width and height in pixels; by default 1280 × 720, for a gif 640 × 360, for a
        sheet 1600 × 1200.
    camera, look_at:
        "corner", "iso", "front", "back", "left", "right", "side", "top"; or a position
        (3,) in the world [m] and the point it looks at.
    background:
        "light", "dark", or for images "transparent".
    ground:
        Whether there is a ground with a shadow.
    overlay:
        Texts in the image: "time", "frame", "title"; by default the time in a video and
        a stroboscope.
    stand:
        Place the lowest point of the robot on the ground; by default where the motion
        has no root poses.
    start, end:
        The time span [s] of a video or stroboscope.
    fps, speed:
        Frames per second, by default 30, for a gif 20; and the playback speed.
    follow:
        Let the camera follow the root, smoothly; by default where the root moves far.
    by_position:
        Read joint columns by position, whatever their names.
    options:
        Those of readers (see `bodymotion.load`): `allow_outside`, `layout` …; and
        `music`, a file or `Music`, for the sound of a video.
    arm, bpm, slices:
        For a script: whether the robot has its arm (by default as needed), tempo [beats
        per minute] and length.
    progress:
        Called with (done, total) frames of a video.

    Returns
    -------
    The image, RGBA with a transparent background, else RGB; None for a video.

    Raises
    ------
    ImportError
        When a package of the extra `render` is not installed.
    FormatError
        When a file cannot be read.
    ValueError
        When motion and body do not fit, or there is nothing to show; `WrongUseError`
        for settings that contradict each other, or when
        `output` is one of the files that are read.
    OSError
        When the file cannot be written, or drawing is impossible on this machine; the
        message names the missing packages.
    """
    path = None if output is None else Path(output)
    kind = _kind_of(path)
    is_video = kind in VIDEOS
    settings = Settings(
        _edges(size, kind, sheet),
        camera,
        look_at,
        background,
        ground,
        _overlay(overlay, is_video, strobe, at, frame),
        stand,
        follow,
    )
    _check(is_video, sheet, kind, [at, frame, strobe], settings)
    sources = [source for source in (body, motion) if source is not None]
    scene = load_scene(
        *sources,
        by_position=by_position,
        arm=arm,
        bpm=bpm,
        slices=slices,
        output=path,
        **options,
    )
    # Values have been checked by whoever made them; files are reported here.
    if not all(isinstance(source, VALUES) for source in sources):
        report_problems(scene, "; bodymotion check lists them", only_mismatches=True)
    playback = Playback(scene, stand)
    if is_video:
        from bodymotion.rendering.videos import video

        assert path is not None
        if fps is None:
            fps = GIF_RATE if kind == ".gif" else RATE
        span = _span(playback, start, end, fps, speed)
        with _named(path):
            video(playback, span, path, settings, progress)
        return None
    from bodymotion.rendering.stills import four_views, still

    if sheet:
        image = four_views(playback, settings)
    else:
        times = _moments(playback, at, frame, strobe, start, end)
        image = still(playback, times, settings)
    if path is not None:
        formats = {".png": "PNG", ".webp": "WEBP"}
        with _named(path), whole_file(path) as stream:
            image.save(stream, formats.get(kind, "JPEG"), quality=QUALITY)
    return image


def _kind_of(path: Path | None) -> str:
    """Return the extension of the file to write; empty without a file."""
    if path is None:
        return ""
    check_place(path)
    kind = path.suffix.lower()
    if kind not in (*STILLS, *VIDEOS):
        raise WrongUseError(
            f"{path}: unknown extension; images are {', '.join(STILLS)}, videos "
            f"{', '.join(VIDEOS)}"
        )
    return kind


def _edges(size: tuple[int, int] | None, kind: str, sheet: bool) -> tuple[int, int]:
    """Return the width and height [px] of an image or a video."""
    if size is None:
        size = SIZE
        if sheet:
            size = SHEET_SIZE
        elif kind == ".gif":
            size = GIF_SIZE
    if kind in VIDEOS:
        # Video formats need even sizes.
        size = (size[0] + size[0] % 2, size[1] + size[1] % 2)
    return size


def _overlay(
    overlay: Iterable[str] | None,
    is_video: bool,
    strobe: int | None,
    at: float | Sequence[float] | None,
    frame: int | Sequence[int] | None,
) -> tuple[str, ...]:
    """Return the texts in an image: by default the time, if there are several."""
    if overlay is not None:
        return tuple(overlay)
    moments = (value for value in (at, frame) if value is not None)
    is_series = strobe is not None or any(np.size(value) > 1 for value in moments)
    if is_video or is_series:
        return ("time",)
    return ()


def _check(
    is_video: bool, sheet: bool, kind: str, moments: list[object], settings: Settings
) -> None:
    """Raise WrongUseError for options that exclude each other."""
    named = []
    for name, value in zip(("at", "frame", "strobe"), moments, strict=True):
        if value is not None:
            named.append(name)
    if len(named) > 1:
        raise WrongUseError(f"{' and '.join(named)} exclude each other")
    if is_video and (named or sheet):
        for_images = named[0] if named else "sheet"
        raise WrongUseError(f"{for_images} is for images; a video has start and end")
    if sheet and named:
        raise WrongUseError(
            f"sheet shows the model without its motion; {named[0]} has no effect"
        )
    if settings.background != "transparent":
        return
    if is_video or kind in (".jpg", ".jpeg"):
        raise WrongUseError("only .png and .webp images can be transparent")
    if sheet:
        raise WrongUseError("a sheet has a light or a dark background")


def _moments(
    playback: Playback,
    at: float | Sequence[float] | None,
    frame: int | Sequence[int] | None,
    strobe: int | None,
    start: float | None,
    end: float | None,
) -> list[float]:
    """Return the times [s] of the moments of a still."""
    if strobe is not None:
        if not 1 <= strobe <= MAX_MOMENTS:
            raise WrongUseError(
                f"strobe must be 1 to {MAX_MOMENTS} moments, not {strobe}"
            )
        first, last = _within(playback, start, end)
        # The first and the last moment are the ends of the span.
        times = [first + (last - first) * k / max(strobe - 1, 1) for k in range(strobe)]
    elif start is not None or end is not None:
        raise WrongUseError("start and end are for videos and strobe")
    elif frame is not None:
        times = _times_of_frames(playback, frame)
    elif at is not None:
        times = [float(time) for time in np.atleast_1d(at)]
        _check_times(playback, times)
    else:
        times = [playback.first]
    if not 1 <= len(times) <= MAX_MOMENTS:
        raise WrongUseError(
            f"an image shows 1 to {MAX_MOMENTS} moments, not {len(times)}"
        )
    return times


def _times_of_frames(playback: Playback, frame: int | Sequence[int]) -> list[float]:
    """Return the times [s] of frames by their numbers."""
    count = playback.scene.num_frames
    times = []
    for number in map(int, np.atleast_1d(frame)):
        if not 0 <= number < count:
            raise WrongUseError(f"no frame {number}: frames are 0 to {count - 1}")
        times.append(float(playback.scene.timeline.times[number]))
    return times


def _check_times(playback: Playback, times: Iterable[float]) -> None:
    """Raise WrongUseError for a time outside of the motion."""
    for time in times:
        if not playback.first - ROUNDING <= time <= playback.last + ROUNDING:
            raise WrongUseError(
                f"time {moment(time)} s is outside the motion: {_span_text(playback)}"
            )


def _within(
    playback: Playback, start: float | None, end: float | None
) -> tuple[float, float]:
    """Return the part of a time span [s] that is in the motion."""
    if start is None:
        start = playback.first
    if end is None:
        end = playback.last
    first = max(start, playback.first)
    last = min(end, playback.last)
    if not first <= last:
        raise WrongUseError(
            f"the time span {moment(start)} to {moment(end)} s is outside the "
            f"motion: {_span_text(playback)}"
        )
    return first, last


def _span_text(playback: Playback) -> str:
    """Return the time span of a motion in words."""
    return f"{moment(playback.first)} to {moment(playback.last)} s"


def _span(
    playback: Playback, start: float | None, end: float | None, fps: float, speed: float
) -> Span:
    """Return the part of a motion that a video shows."""
    if not MIN_RATE <= fps <= MAX_RATE:
        raise WrongUseError(f"fps must be {MIN_RATE:g} to {MAX_RATE:g}, not {fps:g}")
    if not (speed > 0 and math.isfinite(speed)):
        raise WrongUseError(f"speed must be a positive, finite number, not {speed:g}")
    if playback.scene.num_frames < 2:
        raise WrongUseError("a video needs a motion of at least two frames")
    first, last = _within(playback, start, end)
    if (last - first) / speed * fps >= MAX_FRAMES:
        raise WrongUseError(f"the video would have more than {MAX_FRAMES} frames")
    # Container formats take fractions: 29.97 is 30000/1001.
    rate = Fraction(fps).limit_denominator(MAX_DENOMINATOR)
    return Span(first, last, rate, speed)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Add the name of the file to errors of writing."""
    try:
        yield
    except NoRendererError:
        raise
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error
