"""Videos: frames are drawn in one thread, and encoded in another.

PyAV encodes H.264 in mp4, VP9 in webm, or gif.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.scene import Scene
from bodymotion.rendering.settings import Settings
from bodymotion.rendering.texts import overlay_text, write_text
from bodymotion.scene.camera import smoothed_path
from bodymotion.scene.theme import Theme
from bodymotion.system.files import whole_file
from bodymotion.system.video_files import VideoFile

if TYPE_CHECKING:
    from PIL import Image

VIDEOS = (".mp4", ".webm", ".gif")
# Frames that wait to be encoded.
MAX_QUEUED = 4
# Frames from which the colours of a gif are chosen.
PALETTE_FRAMES = 6
# Colours of a gif; one of 256 is left.
PALETTE_COLORS = 255


@dataclass(frozen=True)
class Span:
    """The part of a motion that is shown.

    From `start` to `end` [s], at a playback `speed`, with `rate` frames per second.
    """

    start: float
    end: float
    rate: Fraction
    speed: float = 1.0

    @property
    def times(self) -> Floats:
        """The times (N,) [s] of the frames in the motion."""
        rate = float(self.rate)
        # 1e-6 keeps a frame that rounding puts just behind the end.
        last = int(np.floor((self.end - self.start) / self.speed * rate + 1e-6))
        return np.asarray(self.start + np.arange(last + 1) * (self.speed / rate))


def video(
    playback: Playback,
    span: Span,
    path: Path,
    settings: Settings,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write a video, whole or not at all, and return its number of frames.

    `progress(done, total)` is called after each frame.

    Raises OSError when the file cannot be written.
    """
    times = span.times
    film = _Film(playback, times, settings, span.speed)
    kind = path.suffix.lower()
    with closing(film.scene), whole_file(path) as stream:
        samples = []
        # A GIF has one palette, from frames of the whole video.
        if kind == ".gif":
            numbers = np.linspace(0, len(times) - 1, PALETTE_FRAMES).astype(int)
            samples = [film.draw(number) for number in numbers]
        encoder = Encoder(
            stream,
            kind,
            settings.size,
            span.rate,
            _sound(playback, span),
            samples=samples,
        )
        # Encoding runs beside drawing; a short queue bounds the memory.
        with ThreadPoolExecutor(1, "bodymotion-encoding") as thread:
            pending: deque[Future[None]] = deque()
            for number, time in enumerate(times):
                text = overlay_text(playback, float(time), settings.overlay)
                # `result` also raises what encoding has raised.
                if len(pending) == MAX_QUEUED:
                    pending.popleft().result()
                pending.append(
                    thread.submit(encoder.write, film.draw(number), text, film.theme)
                )
                if progress is not None:
                    progress(number + 1, len(times))
            for future in pending:
                future.result()
        encoder.finish()
    return len(times)


def _sound(playback: Playback, span: Span) -> tuple[Any, int] | None:
    """Return the music of a span at its own speed.

    Played at another speed it has no sound.
    """
    music = playback.scene.music
    if music is None or span.speed != 1.0:
        return None
    start = round(span.start * music.rate)
    # A span before time 0 begins with silence.
    silence = np.zeros((max(-start, 0), music.samples.shape[1]), dtype=np.float32)
    return np.concatenate([silence, music.samples[max(start, 0) :]]), music.rate


class _Film:
    """The scene of a video, and the path of its camera."""

    def __init__(
        self, playback: Playback, times: Floats, settings: Settings, speed: float
    ) -> None:
        """Plan the camera over all times, and set up the scene."""
        self.playback = playback
        self.times = times
        roots = playback.roots(times)
        # Follow where the root goes far, unless the caller says.
        follow = settings.follow
        if follow is None:
            follow = playback.goes_far(times)
        self.offsets = np.zeros(roots.shape)
        if follow and len(times) > 1:
            # Smoothed in the time of the video, not of the motion.
            path = smoothed_path(roots, float(times[1] - times[0]) / speed)
            # Small ups and downs of a walk do not move the camera.
            if np.ptp(roots[:, 2]) < playback.size:
                path[:, 2] = path[0, 2]
            # The camera moves by this from its first position.
            self.offsets = path - path[0]
        # A sample of the frames is enough to frame the camera.
        some = np.unique(np.searchsorted(times, playback.sampled(times)))
        clouds = [playback.points(playback.at(float(times[i]))) for i in some]
        # As seen from the moving camera.
        visible = [
            cloud - self.offsets[i] for cloud, i in zip(clouds, some, strict=True)
        ]
        self.camera = settings.camera_for(
            np.concatenate(visible if follow else [*visible, playback.path])
        )
        self.theme = settings.theme
        self.scene = Scene(
            playback,
            settings.size,
            theme=self.theme,
            camera=self.camera,
            area=np.concatenate([cloud[:, :2] for cloud in clouds]),
            ground=settings.ground,
            smooth=True,
        )

    def draw(self, number: int) -> Image.Image:
        """Return the image of a frame."""
        self.scene.pose([self.playback.at(float(self.times[number]))])
        return self.scene.draw(self.camera.moved(self.offsets[number]))


class Encoder(VideoFile):
    """Write frames to a stream.

    A gif takes its colours from `samples`, some of the frames.
    """

    def __init__(
        self,
        stream: BinaryIO,
        kind: str,
        *options: Any,  # noqa: ANN401
        samples: Sequence[Image.Image],
    ) -> None:
        """Open the file; for a GIF, find its palette."""
        super().__init__(stream, kind, *options)
        self._palette: Any = None
        if kind == ".gif":
            from PIL import Image

            # No dithering: it flickers, and compresses badly.
            self._dither = Image.Dither.NONE
            image = Image.fromarray(
                np.concatenate([np.asarray(one.convert("RGB")) for one in samples])
            )
            # The colours of the samples, in one wide image.
            self._palette = image.quantize(
                PALETTE_COLORS, method=Image.Quantize.MEDIANCUT, kmeans=2
            )
            colors = np.array(self._palette.getpalette(), dtype=np.uint8).reshape(-1, 3)
            # Alpha 255 in the first column: pal8 has ARGB.
            self._colors = np.full((256, 4), 255, dtype=np.uint8)
            self._colors[: len(colors), 1:] = colors

    def write(self, image: Image.Image, text: str, theme: Theme) -> None:
        """Append a frame (RGBA) with a text on it.

        `image` is changed.
        """
        write_text(image, text, theme)
        if self._palette is None:
            self.add(self.frame(np.asarray(image), "rgba"))
            return
        indices = np.asarray(
            image.convert("RGB").quantize(palette=self._palette, dither=self._dither)
        )
        self.add(
            self.av.VideoFrame.from_ndarray((indices, self._colors), format="pal8")
        )
