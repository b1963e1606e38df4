"""Frames into a video file: H.264 in mp4, VP9 in webm, and gif, by the libraries of FFmpeg that PyAV brings along."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.system.extras import need

__all__ = ["VIDEOS", "Encoder"]

VIDEOS = (".mp4", ".webm", ".gif")
SMALL = "cabac=1:deblock=1:bframes=3:b-adapt=0:chromaloc=1"
"""The fastest way of libx264 makes files as small as the next one does, in half its time. Colours are of the middle of four pixels."""
_CODECS: dict[str, tuple[str, str, dict[str, str]]] = {
    ".mp4": ("libx264", "yuv420p", {"preset": "ultrafast", "x264-params": SMALL, "crf": "23", "threads": "1"}),
    ".webm": (
        "libvpx-vp9",
        "yuv420p",
        {"crf": "31", "b": "0", "deadline": "realtime", "cpu-used": "7", "row-mt": "1"},
    ),
    ".gif": ("gif", "pal8", {}),
}
COLORS = 255
Area: TypeAlias = tuple[slice, slice]
NOWHERE: Area = (slice(0), slice(0))
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
        self._av, self._size = av, size
        codec, self._format, options = _CODECS[kind]
        self._container = av.open(stream, "w", format=kind[1:])
        self._stream = self._container.add_stream(codec, rate=rate, options=options)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = self._format
        self._planar = "yuv444p" if kind == ".gif" else self._format
        context = self._stream.codec_context
        context.time_base = 1 / rate
        self._palette: Any = None
        if kind == ".gif":
            self._palette, self._colors = _palette(looks or [])
        else:
            context.color_primaries = context.color_trc = context.colorspace = BT709
            context.color_range = BY_EYE
        self._count = 0

    def write(self, pixels: npt.NDArray[np.uint8], sharp: Area = NOWHERE) -> None:
        """Append what was drawn (H, W, 4), the lowest row first, with smooth edges but for rows and columns `sharp`, rows from above."""
        frame = self._smoothed(pixels, sharp)
        if self._palette is not None:
            from PIL import Image

            rgb = frame.reformat(format="rgb24", src_colorspace="ITU709").to_ndarray()
            image = Image.fromarray(rgb).quantize(palette=self._palette, dither=Image.Dither.NONE)
            frame = self._av.VideoFrame.from_ndarray((np.asarray(image), self._colors), format="pal8")
        frame.pts = self._count
        frame.time_base = self._stream.codec_context.time_base
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def _smoothed(self, pixels: npt.NDArray[np.uint8], sharp: Area) -> Any:  # noqa: ANN401
        """Return a frame, the highest row first, in brightness, which is smoothed as eyes see edges by it, and two planes of colour."""
        from bodymotion.kernels.antialiasing import smooth_edges
        from bodymotion.kernels.television import to_planes

        frame = self._av.VideoFrame(*self._size, self._planar)
        smooth, bluer, redder = _planes(frame)
        light = np.empty(smooth.shape, dtype=np.uint8)
        to_planes(pixels, light, bluer, redder)
        smooth_edges(light, smooth)
        smooth[sharp] = light[sharp]
        return frame

    def finish(self) -> None:
        """Write what is still to be written."""
        self._container.mux(self._stream.encode(None))
        self._container.close()


def _planes(frame: Any) -> list[npt.NDArray[np.uint8]]:  # noqa: ANN401
    """Return the planes (H, W) of a frame, to be read and written."""
    return [
        np.frombuffer(plane, dtype=np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width]
        for plane in frame.planes
    ]


def _palette(looks: list[npt.NDArray[np.uint8]]) -> tuple[Any, npt.NDArray[np.uint8]]:
    """Choose the colours that frames like some (H, W, 3) get: as an image that has them, and as (256, 4) alpha, red, green, blue."""
    from PIL import Image

    image = Image.fromarray(np.concatenate(looks)).quantize(COLORS, method=Image.Quantize.MEDIANCUT, kmeans=2)
    colors = np.full((256, 4), 255, dtype=np.uint8)
    some = np.array(image.getpalette(), dtype=np.uint8).reshape(-1, 3)
    colors[: len(some), 1:] = some
    return image, colors
