"""A video: the frames are drawn in one thread, and finished and encoded in another."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.rendering.camera import followed
from bodymotion.rendering.encoding import NOWHERE, Encoder
from bodymotion.rendering.overlay import said, write
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.scene import Scene
from bodymotion.rendering.settings import Settings
from bodymotion.rendering.surroundings import LOOKS, Look
from bodymotion.system.atomic_files import whole_file

__all__ = ["Stretch", "video"]

Progress = Callable[[int, int], None]
WAITING = 4
"""So many frames may wait to be encoded."""
LOOKS_OF_GIF = 6
"""From so many frames a gif gets its colours."""


@dataclass(frozen=True)
class Stretch:
    """The part of a motion that is shown: from `start` to `end` [s], `speed` times as fast as it is, `rate` pictures a second."""

    start: float
    end: float
    rate: Fraction
    speed: float = 1.0

    @property
    def times(self) -> Floats:
        """The times (N,) [s] in the motion of the pictures; the first and, where it fits, the last are those of the stretch."""
        count = int(np.floor((self.end - self.start) / self.speed * float(self.rate) + 1e-6)) + 1
        return np.asarray(self.start + np.arange(count) * (self.speed / float(self.rate)))


def video(
    playback: Playback, stretch: Stretch, path: Path, settings: Settings, progress: Progress | None = None
) -> int:
    """Write a video, whole or not at all; give how many pictures it has. `progress` is told how many are done, and of how many.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    times = stretch.times
    film = _Film(playback, times, settings, stretch.speed)
    kind = path.suffix.lower()
    try:
        with whole_file(path) as stream:
            looks = [film.shot(int(i)) for i in np.linspace(0, len(times) - 1, LOOKS_OF_GIF)] if kind == ".gif" else []
            encoder = Encoder(stream, kind, settings.size, stretch.rate, [one[::-1, :, :3] for one in looks])
            with _Encoding(encoder, film.look) as encoding:
                for number, time in enumerate(times):
                    encoding.put(film.shot(number), said(playback, float(time), settings.overlay))
                    if progress is not None:
                        progress(number + 1, len(times))
    finally:
        film.scene.close()
    return len(times)


class _Film:
    """The scene of a video, and how the camera goes along."""

    def __init__(self, playback: Playback, times: Floats, settings: Settings, speed: float = 1.0) -> None:
        self.playback, self.times = playback, times
        roots = playback.roots(times)
        follow = playback.goes_far(times) if settings.follow is None else settings.follow
        self.offsets = np.zeros(roots.shape)
        if follow and len(times) > 1:
            way = followed(roots, float(times[1] - times[0]) / speed)
            if np.ptp(roots[:, 2]) < playback.size:
                way[:, 2] = way[0, 2]
            self.offsets = way - way[0]
        some = np.unique(np.searchsorted(times, playback.looked_at(times)))
        moments = [playback.at(float(times[i])) for i in some]
        clouds = [playback.points(one) for one in moments]
        seen = [cloud - self.offsets[i] for cloud, i in zip(clouds, some, strict=True)]
        self.camera = settings.camera_for(np.concatenate(seen if follow else [*seen, playback.path]))
        self.look = LOOKS[settings.look]
        self.scene = Scene(
            playback.take.body,
            settings.size,
            look=self.look,
            size=playback.size,
            camera=self.camera,
            area=np.concatenate([cloud[:, :2] for cloud in clouds]),
            floor=settings.ground,
            axes=playback.axes,
            path=playback.path,
        )

    def shot(self, number: int) -> npt.NDArray[np.uint8]:
        """Draw the picture of that number: (H, W, 4), the lowest row first."""
        self.scene.place([self.playback.at(float(self.times[number]))])
        return self.scene.picture(self.camera.moved(self.offsets[number]))


class _Encoding:
    """The second thread; what goes wrong in it is raised where frames are put."""

    def __init__(self, encoder: Encoder, look: Look) -> None:
        self._encoder, self._look = encoder, look
        self._frames: queue.Queue[tuple[npt.NDArray[np.uint8], str] | None] = queue.Queue(WAITING)
        self._fault: Exception | None = None
        self._dropped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bodymotion-encoding", daemon=True)

    def put(self, pixels: npt.NDArray[np.uint8], text: str) -> None:
        """Hand over what was drawn, (H, W, 4), the lowest row first, and the text that comes on it."""
        if self._fault is not None:
            raise self._fault
        self._frames.put((pixels, text))

    def __enter__(self) -> _Encoding:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            self._dropped.set()
        self._frames.put(None)
        self._thread.join()
        if kind is None and self._fault is not None:
            raise self._fault

    def _waiting(self) -> Iterator[tuple[npt.NDArray[np.uint8], str]]:
        while (one := self._frames.get()) is not None:
            yield one

    def _run(self) -> None:
        for pixels, text in self._waiting():
            if self._fault is None and not self._dropped.is_set():
                try:
                    place = write(pixels[::-1, :, :3], text, self._look) if text else NOWHERE
                    self._encoder.write(pixels, sharp=place)
                except Exception as error:  # whatever it is, it is raised in the thread that draws
                    self._fault = error
        if self._fault is None and not self._dropped.is_set():
            try:
                self._encoder.finish()
            except Exception as error:
                self._fault = error
