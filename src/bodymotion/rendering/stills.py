"""Images of a robot at one moment, or at several, as with a stroboscope."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.scene import Scene
from bodymotion.rendering.settings import MAX_EDGE, Settings
from bodymotion.rendering.texts import line_height, overlay_text, text_image, write_text
from bodymotion.scene.camera import FIELD_OF_VIEW, Camera

if TYPE_CHECKING:
    from PIL import Image

SUPERSAMPLING = 2  # Images are drawn larger by this factor, and scaled down.
NARROW_VIEW = 0.18  # [rad] Field of view for several moments: from so far away, each is seen from almost the same side.
SPACING = 1.12  # Distance of neighbours in a row, in their widths.
MAX_OVERLAP = 0.15  # Share of their width by which neighbours may overlap at their own positions; otherwise they are put in a row.


def still(playback: Playback, times: Sequence[float], settings: Settings) -> Image.Image:
    """Return the image of a robot at times [s]; several moments are shown side by side in one image."""
    from PIL import Image

    moments = [playback.at(time) for time in times]
    clouds = [playback.points(one) for one in moments]
    field_of_view = FIELD_OF_VIEW if len(moments) == 1 else NARROW_VIEW
    if len(moments) > 1:
        camera = settings.camera_for(np.concatenate(clouds), field_of_view)
        offsets = _row(clouds, [one[0, :3] for one in moments], camera)
        for one, offset in zip(moments, offsets, strict=True):
            one[:, :3] += offset
        clouds = [one + o for one, o in zip(clouds, offsets, strict=True)]
    everything = np.concatenate([*clouds, playback.path])
    camera = settings.camera_for(everything, field_of_view)
    factor = supersampling(settings.size)
    clear = settings.background == "transparent"
    theme = settings.theme
    scene = Scene(
        playback,
        (factor * settings.size[0], factor * settings.size[1]),
        theme=None if clear else theme,
        camera=camera,
        area=everything[:, :2],
        ground=settings.ground,
        opacity=theme.shadow,
        robots=len(moments),
        shadow_pixels=220,
        line_width=factor,
    )
    with closing(scene):
        scene.pose(moments)
        # Transparent pixels do not affect the colours of their neighbours.
        image = _transparent(scene, camera) if clear else scene.draw(camera)
        image = image if factor == 1 else image.resize(settings.size, Image.Resampling.BOX)
    tall = line_height(settings.size[1])
    if len(moments) > 1 and settings.overlay:
        captions = tuple(name for name in settings.overlay if name != "title")
        for time, cloud in zip(times, clouds, strict=True):
            pixels = camera.project(cloud, settings.size)
            low, high = pixels.min(axis=0), pixels.max(axis=0)
            caption = text_image(overlay_text(playback, time, captions), tall, theme.text, theme.halo)
            x = int(np.clip(0.5 * (low[0] + high[0] - caption.width), 0, settings.size[0] - caption.width))
            y = int(np.clip(high[1] + 0.1 * tall, 0, settings.size[1] - caption.height))
            image.alpha_composite(caption, (max(x, 0), y))
    below = settings.overlay if len(moments) == 1 else ("title",) * ("title" in settings.overlay)
    write_text(image, overlay_text(playback, times[0], below), theme)
    return image if clear else image.convert("RGB")


def supersampling(size: tuple[int, int]) -> int:
    """Return the factor by which an image of `size` pixels is drawn larger."""
    return SUPERSAMPLING if SUPERSAMPLING * max(size) <= MAX_EDGE else 1


def _transparent(scene: Scene, camera: Camera) -> Image.Image:
    """Return the image of a camera: the difference between a white and a black background gives the transparency of each pixel."""
    from PIL import Image

    images = []
    for brightness in (0.0, 1.0):
        scene.background((brightness, brightness, brightness))
        images.append(np.asarray(scene.draw(camera), dtype=np.float32)[..., :3])
    black, white = images
    cover = 255.0 - (white - black).max(axis=2, keepdims=True)
    color = black * (255.0 / np.maximum(cover, 1.0))
    return Image.fromarray(np.round(np.clip(np.concatenate([color, cover], axis=2), 0.0, 255.0)).astype(np.uint8))


def _row(clouds: Sequence[Floats], roots: Sequence[Floats], camera: Camera) -> list[Floats]:
    """Return translations (3,) of robots at points (N, 3), with `roots` (3,), so that the camera sees them apart from each other.

    Robots that are apart keep their positions; others are put in a row, the earliest on the left.
    """
    right = np.array([*camera.axes[0][:2], 0.0])
    right /= np.linalg.norm(right)
    spans = np.array([[(cloud @ right).min(), (cloud @ right).max()] for cloud in clouds])
    widths = spans[:, 1] - spans[:, 0]
    middles = spans.mean(axis=1)
    steps = np.diff(middles)
    needed = 0.5 * (widths[1:] + widths[:-1])
    one_way = (steps > 0).all() or (steps < 0).all()
    if one_way and (np.abs(steps) >= (1.0 - MAX_OVERLAP) * needed).all():
        return [np.zeros(3) for _ in clouds]
    ahead = np.cross([0.0, 0.0, 1.0], right)
    goals = np.concatenate([[0.0], np.cumsum(SPACING * np.maximum(needed, 0.35 * widths.max()))])
    depths = np.array([root @ ahead for root in roots])
    return [
        (goal - middle) * right + (depths[0] - depth) * ahead
        for goal, middle, depth in zip(goals, middles, depths, strict=True)
    ]
