"""What is around the robot: sky, light and ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import viser

__all__ = ["Lights", "add_surroundings"]

SKY_TOP, SKY_BOTTOM = (206, 216, 228), (240, 243, 246)


def add_surroundings(api: viser.SceneApi, size: float) -> None:
    """Add sky and ground for things of `size` metres."""
    share = np.linspace(0.0, 1.0, 256)[:, None, None]
    sky = np.asarray(SKY_TOP) * (1 - share) + np.asarray(SKY_BOTTOM) * share
    api.set_background_image(np.repeat(sky, 2, axis=1).astype(np.uint8), format="png")
    _add_ground(api, size)


class Lights:
    """The light of the live viewer: the main one from the front, left and above, where the first camera is, and a weaker one.

    Together with viser's even light from all sides they show a surface about as bright as its own colour.
    """

    def __init__(self, api: viser.SceneApi, shadows: bool) -> None:
        api.configure_default_lights(False)
        self._key = api.add_light_directional(
            "/lights/key", intensity=1.1, cast_shadow=shadows, position=(2.0, 1.2, 3.0)
        )
        api.add_light_directional("/lights/fill", intensity=0.25, position=(1.0, -2.0, 1.5))

    def cast_shadows(self, on: bool) -> None:
        """Have shadows, or do without them on a slow machine."""
        self._key.cast_shadow = on


def _add_ground(api: viser.SceneApi, size: float) -> None:
    """Add the ground: a grid whose cells suit things of `size` metres, with shadows on it."""
    cell = float(10.0 ** np.floor(np.log10(max(size, 1e-3)))) / 4.0
    while cell < size / 12:
        cell *= 2
    api.add_grid(
        "/world/ground",
        infinite_grid=True,
        cell_size=cell,
        section_size=4 * cell,
        cell_color=(205, 208, 214),
        section_color=(165, 170, 180),
        cell_thickness=0.8,
        section_thickness=1.1,
        fade_distance=14 * size,
        fade_strength=1.5,
        shadow_opacity=0.28,
        plane_color=(244, 245, 247),
        plane_opacity=1.0,
        position=(0.0, 0.0, -0.0005 * size),
    )
