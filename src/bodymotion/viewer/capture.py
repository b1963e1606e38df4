"""Images and videos of what a browser shows: drawn by the browser, sent to the viewer, and downloaded by the browser as a file."""

from __future__ import annotations

import io
import re
import threading
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import shown
from bodymotion.system.extras import need

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.app import Viewer

__all__ = ["VIDEO_RATE", "Capture", "VideoWriter", "even_size", "file_name"]

VIDEO_RATE = 30.0
"""Frames per second of a video."""
MAX_PIXELS = 1920 * 1080
RENDER_TIMEOUT = 60.0
"""[s] for one frame in the browser."""
ENCODERS = (("mp4", "libx264", {"crf": "20", "preset": "veryfast"}), ("webm", "libvpx-vp9", {"crf": "32", "b": "0"}))
"""Suffix, encoder and its options, the best first."""


class Capture:
    """Makes images and videos of a viewer's browsers, each in its own thread; one video at a time.

    `state` is the status of the video in words, `share` the part that is done, None while none is being made.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._cancelled = threading.Event()
        self.share: float | None = None
        self.state = ""

    def save_image(self, client: viser.ClientHandle) -> None:
        """Download what a browser shows as PNG."""
        threading.Thread(target=self._image, args=(client,), name="bodymotion-picture", daemon=True).start()

    def _image(self, client: viser.ClientHandle) -> None:
        height, width = client.camera.image_height, client.camera.image_width
        try:
            image = client.get_render(height, width, transport_format="png", timeout=RENDER_TIMEOUT)
            name = file_name(self._viewer.scene.title, "png")
            client.send_file_download(name, png(over_white(image)), save_immediately=True)
        except (RuntimeError, TimeoutError, OSError) as error:
            self._viewer.show_message(f"No image was saved: {error}", bad=True)

    def record(self, client: viser.ClientHandle) -> None:
        """Download the motion, from first to last frame, as a video; do nothing while another one is being made."""
        if self.share is not None:
            return
        self._cancelled.clear()
        self.share, self.state = 0.0, "making a video …"
        threading.Thread(target=self._video, args=(client,), name="bodymotion-video", daemon=True).start()

    def cancel(self) -> None:
        """Cancel the video that is being made."""
        self._cancelled.set()

    def _video(self, client: viser.ClientHandle) -> None:
        viewer = self._viewer
        before, playing = viewer.time, viewer.playing
        try:
            width, height = even_size(client.camera.image_width, client.camera.image_height)
            writer = VideoWriter(width, height, VIDEO_RATE)
            viewer.pause()
            timeline = viewer.scene.timeline
            count = max(1, int(timeline.duration * VIDEO_RATE + 1e-6) + 1)
            for number in range(count):
                if self._cancelled.is_set():
                    self.state = "no video: it was cancelled"
                    return
                viewer.seek(float(timeline.times[0]) + number / VIDEO_RATE)
                writer.add(client.get_render(height, width, timeout=RENDER_TIMEOUT))
                self.share = (number + 1) / count
            name = file_name(viewer.scene.title, writer.suffix)
            client.send_file_download(name, writer.finish(), save_immediately=True)
            self.state = f"{name}: {count} frames, {VIDEO_RATE:g} frames per second, {width} × {height}"
        except (ImportError, RuntimeError, TimeoutError, OSError) as error:
            self.state = f"no video: {error}"
        finally:
            self.share = None
            viewer.seek(before)
            if playing:
                viewer.play()


class VideoWriter:
    """A video in memory: MP4 (H.264) where the encoder exists, else WebM (VP9). ImportError names the extra when PyAV is missing.

    Width and height must be even. `suffix` is that of the file.
    """

    def __init__(self, width: int, height: int, rate: float) -> None:
        self._av = av = need("av", "render", "making a video")
        known = av.codecs_available
        self.suffix, encoder, options = next((kind for kind in ENCODERS if kind[1] in known), ENCODERS[-1])
        self._file = io.BytesIO()
        self._container: Any = av.open(self._file, "w", format=self.suffix)
        rate_fraction = Fraction(rate).limit_denominator(1000)
        self._stream: Any = self._container.add_stream(encoder, rate=rate_fraction, options=options)
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, "yuv420p"

    def add(self, frame: npt.NDArray[np.uint8]) -> None:
        """Add a frame (height, width, 3)."""
        image = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(frame[..., :3]), format="rgb24")
        self._container.mux(self._stream.encode(image))

    def finish(self) -> bytes:
        """Return the file."""
        self._container.mux(self._stream.encode())
        self._container.close()
        return self._file.getvalue()


def file_name(title: str, suffix: str) -> str:
    """Return a file name for a title."""
    return f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', shown(title)).strip('._') or 'bodymotion'}.{suffix}"


def even_size(width: int, height: int) -> tuple[int, int]:
    """Return the size of a video: even numbers, as encoders need, and at most `MAX_PIXELS`."""
    factor = min(1.0, float(np.sqrt(MAX_PIXELS / max(width * height, 1))))
    return max(2, int(width * factor) // 2 * 2), max(2, int(height * factor) // 2 * 2)


def over_white(image: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return an image (H, W, 4) over white as (H, W, 3)."""
    if image.shape[-1] == 3:
        return image
    alpha = image[..., 3:].astype(np.float64) / 255.0
    return np.asarray(np.rint(image[..., :3] * alpha + 255.0 * (1.0 - alpha)), dtype=np.uint8)


def png(image: npt.NDArray[np.uint8]) -> bytes:
    """Return an image (H, W, 3) as a PNG file."""
    import imageio.v3 as images

    file = io.BytesIO()
    images.imwrite(file, image, extension=".png")
    return file.getvalue()
