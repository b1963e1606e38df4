"""Video files, written by PyAV: H.264 in mp4, VP9 in webm, or gif."""

from fractions import Fraction
from typing import Any, BinaryIO

from bodymotion.system.deferred import need

# With these, the fastest preset of libx264 writes files as small as the next one, in
# half its time.
X264_PARAMS = "cabac=1:deblock=1:bframes=3:b-adapt=0:chromaloc=1"
CODECS: dict[str, tuple[str, dict[str, str]]] = {
    ".mp4": (
        "libx264",
        {
            "preset": "ultrafast",
            "x264-params": X264_PARAMS,
            "crf": "23",
            "threads": "1",
        },
    ),
    ".webm": (
        "libvpx-vp9",
        {"crf": "31", "b": "0", "deadline": "realtime", "cpu-used": "7", "row-mt": "1"},
    ),
    ".gif": ("gif", {}),
}
# Colour space and range of HD video (numbers of ITU-T H.273), which players assume.
BT709 = 1
LIMITED_RANGE = 1


class VideoFile:
    """A video that is written to a stream.

    Parameters
    ----------
    kind:
        ".mp4", ".webm" or ".gif"; "" is ".mp4" where its encoder is there, else
        ".webm". The attribute `kind` is what was chosen.
    size:
        Width and height, both even.
    sound:
        Samples (N, 1 or 2) from -1 to 1 from the first frame on, and their rate [Hz]; a
        gif has no sound.

    Raises
    ------
    ImportError
        When PyAV is not installed; the message names the extra.
    """

    def __init__(
        self,
        stream: BinaryIO,
        kind: str,
        size: tuple[int, int],
        rate: Fraction,
        sound: tuple[Any, int] | None = None,
    ) -> None:
        self.av = need("av", "render", "writing videos")
        self.kind = kind or (
            ".mp4" if CODECS[".mp4"][0] in self.av.codecs_available else ".webm"
        )
        codec, options = CODECS[self.kind]
        self._container = self.av.open(stream, "w", format=self.kind[1:])
        self._stream = self._container.add_stream(codec, rate=rate, options=options)
        self._stream.width, self._stream.height = size
        context = self._stream.codec_context
        context.time_base = 1 / rate
        self._stream.pix_fmt = "pal8" if self.kind == ".gif" else "yuv420p"
        if self.kind != ".gif":
            context.color_primaries = context.color_trc = context.colorspace = BT709
            context.color_range = LIMITED_RANGE
        self._count = 0
        self._rate = rate
        self._sound: Any = None
        if sound is not None and self.kind != ".gif":
            self._samples, pace = sound
            self._sound = self._container.add_stream(
                "aac" if self.kind == ".mp4" else "libopus", rate=48000
            )
            self._sound.codec_context.layout = "stereo"
            self._pace = pace
            self._heard = 0

    def frame(
        self,
        pixels: Any,  # noqa: ANN401
        layout: str,
        kind: str = "yuv420p",
    ) -> Any:  # noqa: ANN401
        """Return pixels (H, W, 3 or 4) as a frame of PyAV.

        The highest row is the first. The colours are those of HD video.
        """
        return self.av.VideoFrame.from_ndarray(pixels, format=layout).reformat(
            format=kind, dst_colorspace="ITU709"
        )

    def add(self, frame: Any) -> None:  # noqa: ANN401
        """Append a frame of PyAV."""
        frame.pts = self._count
        frame.time_base = self._stream.codec_context.time_base
        self._count += 1
        self._container.mux(self._stream.encode(frame))
        if self._sound is not None:
            self._add_sound(int(self._count / self._rate * self._pace))

    def _add_sound(self, end: int) -> None:
        """Append the samples up to a number."""
        part = self._samples[self._heard : end]
        if len(part):
            layout = "mono" if part.shape[1] == 1 else "stereo"
            frame = self.av.AudioFrame.from_ndarray(
                part.T.astype("float32", order="C"), format="fltp", layout=layout
            )
            frame.sample_rate = self._pace
            frame.pts = self._heard
            frame.time_base = Fraction(1, self._pace)
            self._heard += len(part)
            self._container.mux(self._sound.encode(frame))

    def finish(self) -> None:
        """Write the frames that the codec still holds, and close the container."""
        for stream in filter(None, (self._stream, self._sound)):
            self._container.mux(stream.encode(None))
        self._container.close()
