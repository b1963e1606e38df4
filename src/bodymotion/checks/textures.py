"""Images on surfaces: whether each can be read, and is no larger than anybody can show."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from pathlib import Path

from bodymotion.checks import rules
from bodymotion.checks.places import LARGEST
from bodymotion.checks.sheet import Sheet
from bodymotion.diagnostics import Location
from bodymotion.geometry.shapes import Texture
from bodymotion.system.open_files import open_file, size_of

__all__ = ["check_textures"]

KINDS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "TGA", "SGI", "DDS", "PPM")
MOST_PIXELS = 8192 * 8192
"""What graphics cards of these years take."""
MOST_BYTES = 256 << 20
MOST_IMAGES = 1000
"""So many images of a body are looked at."""


def check_textures(sheet: Sheet) -> None:
    """Check the images of all textures of a body: their headers, and whether all that these promise is there. No pixels are unpacked."""
    found: dict[Path, Texture] = {}
    for link in sheet.body.links:
        for segment in link.segments:
            for shape in (*segment.visuals, *segment.collisions):
                if (texture := shape.material.texture) is not None and len(found) < MOST_IMAGES:
                    found.setdefault(texture.path, texture)
    for path, texture in found.items():
        fault = _fault(path)
        if fault is not None:
            place = _place(texture.url, (sheet.body.source.path, *sheet.body.source.parts))
            sheet.problems.append(rules.IMAGE.problem(f"the image {path.name} {fault}", place))


def _fault(path: Path) -> str | None:
    """Say why an image cannot be shown; None if nothing speaks against it."""
    from PIL import Image, UnidentifiedImageError

    size = size_of(path)
    if size is not None and size > MOST_BYTES:
        return f"has {size / 1e6:.0f} MB"
    try:
        with warnings.catch_warnings(), open_file(path) as file:
            # Of a large image Pillow warns; of how large one may be a sentence is said here.
            warnings.simplefilter("ignore")
            with Image.open(file, formats=KINDS) as image:
                if image.width * image.height > MOST_PIXELS:
                    return f"has {image.width} × {image.height} pixels"
                image.verify()
    except Image.DecompressionBombError:
        return f"has more than {MOST_PIXELS} pixels"
    except UnidentifiedImageError:
        return "is no image that can be read" if size else "is empty"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    except Exception as error:  # Pillow raises whatever the bytes of an image lead to
        return f"cannot be read: {error}"
    return None


def _place(url: str, files: tuple[Path | None, ...]) -> Location:
    """Return where a file first names an image; the first file where none does."""
    for path in files:
        try:
            if path is None or not path.is_file() or path.stat().st_size > LARGEST:
                continue
            data = path.read_bytes()
        except OSError:
            continue
        at = data.find(url.encode("utf-8", "replace"))
        if url and at >= 0:
            lines = [0, *(match.end() for match in re.finditer(rb"\r\n?|\n", data))]
            line = bisect_right(lines, at)
            return Location(str(path), line, len(data[lines[line - 1] : at].decode("utf-8", "replace")) + 1)
    return Location(None if files[0] is None else str(files[0]))
