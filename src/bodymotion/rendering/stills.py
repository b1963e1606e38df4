"""A still: a robot at one moment, or at several, as a stroboscope shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.rendering.camera import FIELD_OF_VIEW, Camera
from bodymotion.rendering.overlay import LINE, said, stamp
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.scene import Scene
from bodymotion.rendering.settings import LARGEST, Settings
from bodymotion.rendering.surroundings import LOOKS

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["finer", "scaled_down", "seen", "still"]

FINER = 2
"""Stills are drawn so many times as large, and made smaller."""
FROM_AFAR = 0.18
"""[rad] The field of view for several moments: so far away the camera sees each of them from almost the same side."""
APART = 1.12
"""Neighbours in a row are so many times their width apart."""
TOUCHING = 0.15
"""By so much of their width neighbours may cover each other where they are; otherwise they are put in a row."""


def still(playback: Playback, times: Sequence[float], settings: Settings) -> Image.Image:
    """Return the picture of a robot at times [s]; of several moments all in one picture, apart from each other."""
    moments = [playback.at(time) for time in times]
    clouds = [playback.points(one) for one in moments]
    field_of_view = FIELD_OF_VIEW if len(moments) == 1 else FROM_AFAR
    if len(moments) > 1:
        offsets = _row(
            clouds, [one[0, :3] for one in moments], settings.camera_for(np.concatenate(clouds), field_of_view)
        )
        moments = [
            np.concatenate([one[:, :3] + o, one[:, 3:]], axis=1) for one, o in zip(moments, offsets, strict=True)
        ]
        clouds = [one + o for one, o in zip(clouds, offsets, strict=True)]
    everything = np.concatenate([*clouds, playback.path])
    camera = settings.camera_for(everything, field_of_view)
    factor = finer(settings.size)
    clear = settings.background == "transparent"
    look = LOOKS[settings.look]
    scene = Scene(
        playback.take.body,
        (factor * settings.size[0], factor * settings.size[1]),
        look=None if clear else look,
        size=playback.size,
        camera=camera,
        area=everything[:, :2],
        floor=settings.ground,
        shade=look.shade,
        robots=len(moments),
        shadow_pixels=220,
        axes=playback.axes,
        path=playback.path,
        line_width=factor,
    )
    try:
        scene.place(moments)
        picture = scaled_down(seen(scene, camera, clear), settings.size)
    finally:
        scene.close()
    tall = max(round(LINE * settings.size[1]), 11)
    if len(moments) > 1 and settings.overlay:
        captions = tuple(name for name in settings.overlay if name != "title")
        for time, cloud in zip(times, clouds, strict=True):
            low, high = (
                camera.project(cloud, settings.size).min(axis=0),
                camera.project(cloud, settings.size).max(axis=0),
            )
            sign = stamp(said(playback, time, captions), tall, look.ink, look.halo)
            x = int(np.clip(0.5 * (low[0] + high[0] - sign.width), 0, settings.size[0] - sign.width))
            picture.alpha_composite(
                sign, (max(x, 0), int(np.clip(high[1] + 0.1 * tall, 0, settings.size[1] - sign.height)))
            )
    one = said(
        playback, times[0], settings.overlay if len(moments) == 1 else ("title",) * ("title" in settings.overlay)
    )
    if one:
        sign = stamp(one, tall, look.ink, look.halo)
        picture.alpha_composite(sign, (tall // 2, max(settings.size[1] - tall // 2 - sign.height, 0)))
    return picture if clear else picture.convert("RGB")


def finer(size: tuple[int, int]) -> int:
    """Return how many times as large a picture of `size` pixels is drawn as it is."""
    return FINER if FINER * max(size) <= LARGEST else 1


def seen(scene: Scene, camera: Camera, clear: bool) -> npt.NDArray[np.uint8]:
    """Return what a camera sees as RGBA (H, W, 4), the highest row first; `clear` where nothing is.

    What lets a white background through but not a black one tells how clear each pixel is.
    """
    if not clear:
        pixels = scene.picture(camera)[::-1].copy()
        pixels[..., 3] = 255
        return pixels
    scene.background((0.0, 0.0, 0.0))
    black = scene.picture(camera)[::-1, :, :3].astype(np.float32)
    scene.background((1.0, 1.0, 1.0))
    white = scene.picture(camera)[::-1, :, :3].astype(np.float32)
    cover = 255.0 - (white - black).max(axis=2, keepdims=True)
    color = black * (255.0 / np.maximum(cover, 1.0))
    return np.asarray(np.round(np.clip(np.concatenate([color, cover], axis=2), 0.0, 255.0)), dtype=np.uint8)


def scaled_down(pixels: npt.NDArray[np.uint8], size: tuple[int, int]) -> Image.Image:
    """Return RGBA pixels (H, W, 4) as an image of `size`; clear ones have no part in the colour of those around them."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(pixels), "RGBA")
    return image if image.size == size else image.resize(size, Image.Resampling.BOX)


def _row(clouds: Sequence[Floats], roots: Sequence[Floats], camera: Camera) -> list[Floats]:
    """Return by how much (3,) robots at points (N, 3), with `roots` (3,), are moved so that they stand apart as the camera sees them.

    They stay where they are if they are apart anyway; otherwise they stand in a row, the earliest on the left.
    """
    right = np.array([*camera.axes[0][:2], 0.0])
    right /= np.linalg.norm(right)
    spans = np.array([[(cloud @ right).min(), (cloud @ right).max()] for cloud in clouds])
    widths = spans[:, 1] - spans[:, 0]
    middles = spans.mean(axis=1)
    steps = np.diff(middles)
    needed = 0.5 * (widths[1:] + widths[:-1])
    one_way = (steps > 0).all() or (steps < 0).all()
    if one_way and (np.abs(steps) >= (1.0 - TOUCHING) * needed).all():
        return [np.zeros(3) for _ in clouds]
    ahead = np.cross([0.0, 0.0, 1.0], right)
    places = np.concatenate([[0.0], np.cumsum(APART * np.maximum(needed, 0.35 * widths.max()))])
    depths = np.array([root @ ahead for root in roots])
    return [
        (place - middle) * right + (depths[0] - depth) * ahead
        for place, middle, depth in zip(places, middles, depths, strict=True)
    ]
