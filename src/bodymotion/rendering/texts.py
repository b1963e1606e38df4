"""Text in images."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics.text import shown
from bodymotion.scene.fonts import FILES, warn_missing_letters

if TYPE_CHECKING:
    from PIL import Image

    from bodymotion.rendering.playback import Playback
    from bodymotion.scene.theme import Theme

NO_CHARACTER = "\U0010ffff"
# Opacity of the halo of a text, by the blurred opacity of its letters.
HALO = [min(2 * value, 200) for value in range(256)]


def font(pixels: int, text: str = "") -> Any:  # noqa: ANN401
    """Return a font of a height in pixels with the characters of a text.

    Characters without a font are reported once.
    """
    face = _face(pixels, None)
    if _missing(None, text):
        # The font that lacks the fewest characters.
        file = min((None, *_files()), key=lambda file: len(_missing(file, text)))
        warn_missing_letters(_missing(file, text))
        face = _face(pixels, file)
    return face


@lru_cache(maxsize=64)
def _face(pixels: int, file: str | None) -> Any:  # noqa: ANN401
    from PIL import ImageFont

    pixels = max(pixels, 6)
    if file is None:
        return ImageFont.load_default(pixels)
    return ImageFont.truetype(file, pixels)


@lru_cache(maxsize=1)
def _files() -> tuple[str, ...]:
    """Return the fonts with more characters that are installed."""
    found = []
    for file in FILES:
        with suppress(OSError):
            found.append(_face(24, file).path)
    return tuple(found)


def _missing(file: str | None, text: str) -> frozenset[str]:
    """Return the characters of a text that a font lacks."""
    return frozenset(
        one
        for one in set(text)
        if one.isprintable() and _drawn(file, one) == _drawn(file, NO_CHARACTER)
    )


@lru_cache(maxsize=4096)
def _drawn(file: str | None, letter: str) -> bytes:
    """Return the image of a character.

    For one that the font lacks, it is the same as for a code without a character.
    """
    return bytes(_face(24, file).getmask(letter))


def line_height(height: int) -> int:
    """Return the height [px] of a line of text in an image of a height in pixels."""
    return max(round(height / 30), 11)


def overlay_text(playback: Playback, time: float, names: tuple[str, ...]) -> str:
    """Return the text at a time [s], with warnings about the scene.

    `names` are of `OVERLAYS`.
    """
    texts = {
        "title": shown(playback.scene.title, 60),
        "time": f"{time:.2f} s",
        "frame": f"frame {playback.frame(time)}",
    }
    return "   ".join(
        [
            *(text for name, text in texts.items() if name in names),
            *playback.scene.warnings,
        ]
    )


@lru_cache(maxsize=64)
def text_image(
    text: str, pixels: int, color: tuple[int, int, int], halo: tuple[int, int, int]
) -> Image.Image:
    """Return a text as a transparent RGBA image.

    A soft `halo` keeps it readable on any background.
    """
    from PIL import Image, ImageDraw, ImageFilter

    margin = max(pixels // 4, 2)
    face = font(pixels, text)
    left, top, right, bottom = face.getbbox(text or " ")
    size = (int(right - left) + 2 * margin, int(bottom - top) + 2 * margin)
    mask = Image.new("L", size)
    ImageDraw.Draw(mask).text((margin - left, margin - top), text, fill=255, font=face)
    # A wider, blurred copy of the letters is the halo.
    around = mask.filter(ImageFilter.MaxFilter(3)).filter(
        ImageFilter.GaussianBlur(max(pixels / 12, 1))
    )
    glow = Image.new("RGBA", size, (*halo, 0))
    glow.putalpha(around.point(HALO))
    letters = Image.new("RGBA", size, (*color, 0))
    letters.putalpha(mask)
    return Image.alpha_composite(glow, letters)


def write_text(image: Image.Image, text: str, theme: Theme) -> None:
    """Write a text into the lower left corner of an RGBA image."""
    if text:
        tall = line_height(image.height)
        caption = text_image(text, tall, theme.text, theme.halo)
        image.alpha_composite(
            caption, (tall // 2, max(image.height - tall // 2 - caption.height, 0))
        )
