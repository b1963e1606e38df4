"""Images and videos of what a browser shows.

Drawn by the browser, sent to the viewer, and downloaded by the browser as a file.
"""

from __future__ import annotations

import io
import re
import threading
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import shown
from bodymotion.system.video_files import VideoFile

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.app import Viewer

VIDEO_RATE = 30  # Frames per second of a video.
MAX_PIXELS = 1920 * 1080
RENDER_TIMEOUT = 60.0  # [s] for one frame in the browser.


class Capture:
    """Makes images and videos of a viewer's browsers, each in its own thread.

    One video at a time.

    `state` is the status of the video in words, `share` the part that is done, None
    while none is being made.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._cancelled = threading.Event()
        self.share: float | None = None
        self.state = ""

    def save_image(self, client: viser.ClientHandle) -> None:
        """Download what a browser shows as PNG."""
        threading.Thread(
            target=self._image, args=(client,), name="bodymotion-picture", daemon=True
        ).start()

    def _image(self, client: viser.ClientHandle) -> None:
        height = client.camera.image_height
        width = client.camera.image_width
        try:
            image = client.get_render(
                height, width, transport_format="png", timeout=RENDER_TIMEOUT
            )
            name = file_name(self._viewer.scene.title, "png")
            client.send_file_download(name, png(image), save_immediately=True)
        except (RuntimeError, TimeoutError, OSError) as error:
            self._viewer.show_message(f"No image was saved: {error}", bad=True)

    def record(self, client: viser.ClientHandle) -> None:
        """Download the motion, from first to last frame, as a video.

        Do nothing while another one is being made.
        """
        if self.share is not None:
            return
        self._cancelled.clear()
        self.share = 0.0
        self.state = "making a video …"
        threading.Thread(
            target=self._video, args=(client,), name="bodymotion-video", daemon=True
        ).start()

    def cancel(self) -> None:
        """Cancel the video that is being made."""
        self._cancelled.set()

    def _video(self, client: viser.ClientHandle) -> None:
        viewer = self._viewer
        before = viewer.time
        playing = viewer.playing
        try:
            width, height = even_size(
                client.camera.image_width, client.camera.image_height
            )
            file = io.BytesIO()
            video = VideoFile(file, "", (width, height), Fraction(VIDEO_RATE))
            viewer.pause()
            timeline = viewer.scene.timeline
            count = max(1, int(timeline.duration * VIDEO_RATE + 1e-6) + 1)
            for number in range(count):
                if self._cancelled.is_set():
                    self.state = "no video: it was cancelled"
                    return
                viewer.seek(float(timeline.times[0]) + number / VIDEO_RATE)
                image = client.get_render(height, width, timeout=RENDER_TIMEOUT)
                video.add(video.frame(np.ascontiguousarray(image[..., :3]), "rgb24"))
                self.share = (number + 1) / count
            video.finish()
            name = file_name(viewer.scene.title, video.kind[1:])
            client.send_file_download(name, file.getvalue(), save_immediately=True)
            self.state = (
                f"{name}: {count} frames, {VIDEO_RATE:g} frames per second, {width} × "
                f"{height}"
            )
        except (ImportError, RuntimeError, TimeoutError, OSError) as error:
            self.state = f"no video: {error}"
        finally:
            self.share = None
            viewer.seek(before)
            if playing:
                viewer.play()


def file_name(title: str, suffix: str) -> str:
    """Return a file name for a title."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", shown(title)).strip("._")
    return f"{name or 'bodymotion'}.{suffix}"


def even_size(width: int, height: int) -> tuple[int, int]:
    """Return the size of a video.

    Even numbers, as encoders need, and at most `MAX_PIXELS`.
    """
    factor = min(1.0, float(np.sqrt(MAX_PIXELS / max(width * height, 1))))
    return max(2, int(width * factor) // 2 * 2), max(2, int(height * factor) // 2 * 2)


def png(image: npt.NDArray[np.uint8]) -> bytes:
    """Return an image (H, W, 3 or 4) over white as a PNG file."""
    from PIL import Image

    file = io.BytesIO()
    seen = Image.fromarray(np.ascontiguousarray(image)).convert("RGBA")
    Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen).convert(
        "RGB"
    ).save(file, "PNG")
    return file.getvalue()
