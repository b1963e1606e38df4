"""Texts in pictures."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import shown
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.surroundings import Look
from bodymotion.scene.typefaces import FILES, say_missing

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["font", "said", "stamp", "write"]

LINE = 1 / 30
"""The height of a line of text in that of the picture."""
NO_LETTER = "\U0010ffff"
HALO = [min(2 * value, 200) for value in range(256)]
"""How thick the halo of a text is, by how near letters are."""


def font(pixels: int, text: str = "") -> Any:  # noqa: ANN401
    """Return a typeface of a height in pixels that has the letters of a text; where there is none for all, that is said once."""
    face = _face(pixels, None)
    lacking = _lacking(None, text)
    if lacking:
        file = min((None, *_files()), key=lambda file: len(_lacking(file, text)))
        say_missing(_lacking(file, text))
        face = _face(pixels, file)
    return face


@lru_cache(maxsize=64)
def _face(pixels: int, file: str | None) -> Any:  # noqa: ANN401
    from PIL import ImageFont

    pixels = max(pixels, 6)
    return ImageFont.load_default(pixels) if file is None else ImageFont.truetype(file, pixels)


@lru_cache(maxsize=1)
def _files() -> tuple[str, ...]:
    """Return those typefaces with more letters that are on this machine."""
    there = []
    for file in FILES:
        with suppress(OSError):
            there.append(_face(24, file).path)
    return tuple(there)


def _lacking(file: str | None, text: str) -> frozenset[str]:
    """Return the letters of a text that a typeface has not."""
    return frozenset(one for one in set(text) if one.isprintable() and _drawn(file, one) == _drawn(file, NO_LETTER))


@lru_cache(maxsize=4096)
def _drawn(file: str | None, letter: str) -> bytes:
    """Return what a typeface draws for a letter: for one that it has not, the same as for what is no letter at all."""
    return bytes(_face(24, file).getmask(letter))


def said(playback: Playback, time: float, names: tuple[str, ...]) -> str:
    """Return the text of an overlay at a time [s]; `names` of `OVERLAYS`."""
    texts = {
        "title": shown(playback.take.title, 60),
        "time": f"{time:.2f} s",
        "frame": f"frame {playback.frame(time)}",
    }
    return "   ".join(texts[name] for name in ("title", "time", "frame") if name in names)


@lru_cache(maxsize=64)
def stamp(text: str, pixels: int, ink: tuple[int, int, int], halo: tuple[int, int, int]) -> Image.Image:
    """Return a text as a picture (RGBA) that is clear around it; a soft `halo` keeps it readable on anything."""
    from PIL import Image, ImageDraw, ImageFilter

    room = max(pixels // 4, 2)
    face = font(pixels, text)
    left, top, right, bottom = face.getbbox(text or " ")
    size = (int(right - left) + 2 * room, int(bottom - top) + 2 * room)
    mask = Image.new("L", size)
    ImageDraw.Draw(mask).text((room - left, room - top), text, fill=255, font=face)
    around = mask.filter(ImageFilter.MaxFilter(3)).filter(ImageFilter.GaussianBlur(max(pixels / 12, 1)))
    glow = Image.new("RGBA", size, (*halo, 0))
    glow.putalpha(around.point(HALO))
    letters = Image.new("RGBA", size, (*ink, 0))
    letters.putalpha(mask)
    return Image.alpha_composite(glow, letters)


def write(pixels: npt.NDArray[np.uint8], text: str, look: Look) -> tuple[slice, slice]:
    """Write a text into the lower left corner of a picture (H, W, 3), the highest row first; give the rows and columns that it takes."""
    height, width = pixels.shape[:2]
    tall = max(round(LINE * height), 11)
    sign = np.asarray(stamp(text, tall, look.ink, look.halo))
    edge = tall // 2
    rows, columns = max(min(sign.shape[0], height - edge), 0), max(min(sign.shape[1], width - edge), 0)
    place = slice(height - edge - rows, height - edge), slice(edge, edge + columns)
    sign = sign[:rows, :columns]
    share = sign[..., 3:].astype(np.float32) / 255.0
    pixels[place] = np.round(pixels[place] * (1.0 - share) + sign[..., :3] * share).astype(np.uint8)
    return place
