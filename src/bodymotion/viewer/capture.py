"""Pictures and videos of what a browser shows: drawn by the browser, sent here, and given to it as a file to keep."""

from __future__ import annotations

import io
import re
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.viewer.video import VideoWriter

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.app import Viewer

__all__ = ["VIDEO_RATE", "Capture", "even_size", "file_name"]

VIDEO_RATE = 30.0
"""Pictures a second of a video."""
MOST_PIXELS = 1920 * 1080
PATIENCE = 60.0
"""[s] So long a browser may take for one picture."""


def file_name(title: str, ending: str) -> str:
    """Make a name for a file out of what is shown."""
    return f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', shown(title)).strip('._') or 'bodymotion'}.{ending}"


def even_size(width: int, height: int) -> tuple[int, int]:
    """Return the size of a video: even numbers, as its encoders want, and no more than `MOST_PIXELS`."""
    factor = min(1.0, float(np.sqrt(MOST_PIXELS / max(width * height, 1))))
    return max(2, int(width * factor) // 2 * 2), max(2, int(height * factor) // 2 * 2)


class Capture:
    """Takes pictures and videos of a viewer's browsers, each on a thread of its own; one video at a time.

    `state` is what is said of the video; `share` how much of it is done, None while none is made.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._cancelled = threading.Event()
        self.share: float | None = None
        self.state = ""

    def take_picture(self, client: viser.ClientHandle) -> None:
        """Have a browser draw what it shows, and keep it as PNG."""
        threading.Thread(target=self._picture, args=(client,), name="bodymotion-picture", daemon=True).start()

    def _picture(self, client: viser.ClientHandle) -> None:
        try:
            camera = client.camera
            seen = client.get_render(camera.image_height, camera.image_width, transport_format="png", timeout=PATIENCE)
            client.send_file_download(
                file_name(self._viewer.take.title, "png"), png(over_white(seen)), save_immediately=True
            )
        except (RuntimeError, TimeoutError, OSError) as error:
            self._say(f"There is no picture: {error}")

    def record(self, client: viser.ClientHandle) -> None:
        """Have a browser draw the motion once through, and keep it as a video; nothing while another one is being made."""
        if self.share is not None:
            return
        self._cancelled.clear()
        self.share, self.state = 0.0, "making a video …"
        threading.Thread(target=self._video, args=(client,), name="bodymotion-video", daemon=True).start()

    def cancel(self) -> None:
        """End the video that is being made, without a file."""
        self._cancelled.set()

    def _video(self, client: viser.ClientHandle) -> None:
        viewer = self._viewer
        before, playing = viewer.time, viewer.playing
        try:
            width, height = even_size(client.camera.image_width, client.camera.image_height)
            writer = VideoWriter(width, height, VIDEO_RATE)
            viewer.pause()
            timeline = viewer.take.timeline
            count = max(1, int(timeline.duration * VIDEO_RATE + 1e-6) + 1)
            for number in range(count):
                if self._cancelled.is_set():
                    self.state = "no video: it was cancelled"
                    return
                viewer.seek(float(timeline.times[0]) + number / VIDEO_RATE)
                writer.add(client.get_render(height, width, timeout=PATIENCE))
                self.share = (number + 1) / count
            name = file_name(viewer.take.title, writer.ending)
            client.send_file_download(name, writer.finished(), save_immediately=True)
            self.state = f"{name}: {count} pictures at {VIDEO_RATE:g} a second, {width} × {height}"
        except (ImportError, RuntimeError, TimeoutError, OSError) as error:
            self.state = f"no video: {error}"
        finally:
            self.share = None
            viewer.seek(before)
            if playing:
                viewer.play()

    def _say(self, text: str) -> None:
        self._viewer.say(text, bad=True)


def over_white(picture: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a picture (H, W, 4) without see-through parts as (H, W, 3)."""
    if picture.shape[-1] == 3:
        return picture
    alpha = picture[..., 3:].astype(np.float64) / 255.0
    return np.asarray(np.rint(picture[..., :3] * alpha + 255.0 * (1.0 - alpha)), dtype=np.uint8)


def png(picture: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """Return a picture (H, W, 3) as a PNG file."""
    import imageio.v3 as images

    file = io.BytesIO()
    images.imwrite(file, picture, extension=".png")
    return file.getvalue()
