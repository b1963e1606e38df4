"""Frames into a video file, in memory: MP4 (H.264) where the encoder is there, else WebM (VP9)."""

from __future__ import annotations

import io
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.system.extras import need

__all__ = ["VideoWriter"]

KINDS = (("mp4", "libx264", {"crf": "20", "preset": "veryfast"}), ("webm", "libvpx-vp9", {"crf": "32", "b": "0"}))
"""Ending of the file, encoder, and its options, the best first."""


class VideoWriter:
    """A video of frames of one size (even numbers), so many a second; ImportError says what to install when PyAV is missing.

    `ending` is that of the file.
    """

    def __init__(self, width: int, height: int, rate: float) -> None:
        self._av = av = need("av", "render", "making a video")
        known = av.codecs_available
        self.ending, encoder, options = next((kind for kind in KINDS if kind[1] in known), KINDS[-1])
        self._file = io.BytesIO()
        self._container: Any = av.open(self._file, "w", format=self.ending)
        self._stream: Any = self._container.add_stream(
            encoder, rate=Fraction(rate).limit_denominator(1000), options=options
        )
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, "yuv420p"

    def add(self, frame: npt.NDArray[np.uint8]) -> None:
        """Add a frame (height, width, 3)."""
        picture = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(frame[..., :3]), format="rgb24")
        for packet in self._stream.encode(picture):
            self._container.mux(packet)

    def finished(self) -> bytes:
        """End the video and give the file."""
        for packet in self._stream.encode():
            self._container.mux(packet)
        self._container.close()
        return self._file.getvalue()
