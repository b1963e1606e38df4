"""Texts in pictures."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.labels import shown
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.surroundings import Look

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["font", "said", "stamp", "write"]

LINE = 1 / 30
"""The height of a line of text in that of the picture."""


@lru_cache(maxsize=32)
def font(pixels: int) -> Any:  # noqa: ANN401
    """Give a typeface of a height in pixels."""
    from PIL import ImageFont

    return ImageFont.load_default(max(pixels, 6))


def said(playback: Playback, time: float, names: tuple[str, ...]) -> str:
    """Give the text of an overlay at a time [s]; `names` of `OVERLAYS`."""
    texts = {
        "title": shown(playback.take.title, 60),
        "time": f"{time:.2f} s",
        "frame": f"frame {playback.frame(time)}",
    }
    return "   ".join(texts[name] for name in ("title", "time", "frame") if name in names)


@lru_cache(maxsize=64)
def stamp(text: str, pixels: int, ink: tuple[int, int, int], halo: tuple[int, int, int]) -> Image.Image:
    """Give a text as a picture (RGBA) that is clear around it; a soft `halo` keeps it readable on anything."""
    from PIL import Image, ImageDraw, ImageFilter

    room = max(pixels // 4, 2)
    left, top, right, bottom = font(pixels).getbbox(text or " ")
    size = (int(right - left) + 2 * room, int(bottom - top) + 2 * room)
    mask = Image.new("L", size)
    ImageDraw.Draw(mask).text((room - left, room - top), text, fill=255, font=font(pixels))
    around = mask.filter(ImageFilter.MaxFilter(3)).filter(ImageFilter.GaussianBlur(max(pixels / 12, 1)))
    glow = Image.new("RGBA", size, (*halo, 0))
    glow.putalpha(around.point(lambda value: min(2 * value, 200)))
    letters = Image.new("RGBA", size, (*ink, 0))
    letters.putalpha(mask)
    return Image.alpha_composite(glow, letters)


def write(pixels: npt.NDArray[np.uint8], text: str, look: Look) -> None:
    """Write a text into the lower left corner of a picture (H, W, 3), the highest row first."""
    height, width = pixels.shape[:2]
    tall = max(round(LINE * height), 11)
    sign = np.asarray(stamp(text, tall, look.ink, look.halo))
    edge = tall // 2
    rows, columns = min(sign.shape[0], height - edge), min(sign.shape[1], width - edge)
    if rows <= 0 or columns <= 0:
        return
    sign = sign[:rows, :columns]
    place = pixels[height - edge - rows : height - edge, edge : edge + columns]
    share = sign[..., 3:].astype(np.float32) / 255.0
    place[:] = np.round(place * (1.0 - share) + sign[..., :3] * share).astype(np.uint8)
