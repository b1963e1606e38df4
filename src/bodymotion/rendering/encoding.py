"""Frames into a video file: H.264 in mp4, VP9 in webm, and gif, by the libraries of FFmpeg that PyAV brings along."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from bodymotion.extras import need

__all__ = ["VIDEOS", "Encoder"]

VIDEOS = (".mp4", ".webm", ".gif")
_CODECS: dict[str, tuple[str, str, dict[str, str]]] = {
    ".mp4": ("libx264", "yuv420p", {"preset": "superfast", "crf": "22", "threads": "1"}),
    ".webm": (
        "libvpx-vp9",
        "yuv420p",
        {"crf": "31", "b": "0", "deadline": "realtime", "cpu-used": "7", "row-mt": "1"},
    ),
    ".gif": ("gif", "pal8", {}),
}
COLORS = 255
BT709, BY_EYE = 1, 1
"""The colours of HD television, and the narrow range, by the numbers of ITU-T H.273: what players take for granted."""


class Encoder:
    """Writes frames to a stream; `looks` are some frames (H, W, 3), of which a gif gets its colours.

    Raises
    ------
    ImportError
        When PyAV is not installed; the message says how it is.
    """

    def __init__(
        self,
        stream: BinaryIO,
        kind: str,
        size: tuple[int, int],
        rate: Fraction,
        looks: list[npt.NDArray[np.uint8]] | None = None,
    ) -> None:
        av = need("av", "render", "writing videos")
        self._av = av
        codec, self._format, options = _CODECS[kind]
        self._container = av.open(stream, "w", format=kind[1:])
        self._stream = self._container.add_stream(codec, rate=rate, options=options)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = self._format
        context = self._stream.codec_context
        context.time_base = 1 / rate
        self._palette: Any = None
        if kind == ".gif":
            self._palette, self._colors = _palette(looks or [])
        else:
            context.color_primaries = context.color_trc = context.colorspace = BT709
            context.color_range = BY_EYE
        self._count = 0

    def write(self, pixels: npt.NDArray[np.uint8]) -> None:
        """Append a frame (H, W, 3), the highest row first."""
        if self._palette is not None:
            from PIL import Image

            image = Image.fromarray(pixels).quantize(palette=self._palette, dither=Image.Dither.NONE)
            frame = self._av.VideoFrame.from_ndarray((np.asarray(image), self._colors), format="pal8")
        else:
            frame = self._av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame = frame.reformat(format=self._format, dst_colorspace="ITU709")
        frame.pts = self._count
        frame.time_base = self._stream.codec_context.time_base
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def finish(self) -> None:
        """Write what is still to be written."""
        self._container.mux(self._stream.encode(None))
        self._container.close()


def _palette(looks: list[npt.NDArray[np.uint8]]) -> tuple[Any, npt.NDArray[np.uint8]]:
    """Choose the colours that frames like some (H, W, 3) get: as an image that has them, and as (256, 4) alpha, red, green, blue."""
    from PIL import Image

    image = Image.fromarray(np.concatenate(looks)).quantize(COLORS, method=Image.Quantize.MEDIANCUT, kmeans=2)
    colors = np.full((256, 4), 255, dtype=np.uint8)
    some = np.array(image.getpalette(), dtype=np.uint8).reshape(-1, 3)
    colors[: len(some), 1:] = some
    return image, colors
