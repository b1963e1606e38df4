"""What is around the robot: sky, light and ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.meshes.glb import to_glb
from bodymotion.geometry.shapes import Material, Mesh, Shape
from bodymotion.viewer.looks import LIGHT, Look

if TYPE_CHECKING:
    import viser

__all__ = ["Lights", "add_surroundings"]


def add_surroundings(api: viser.SceneApi, size: float, look: Look = LIGHT) -> None:
    """Add sky and ground for things of `size` metres; what was there before goes."""
    share = np.linspace(0.0, 1.0, 256)[:, None, None] ** 0.6
    sky = np.asarray(look.sky_top) * (1 - share) + np.asarray(look.sky_bottom) * share
    api.set_background_image(np.repeat(sky, 2, axis=1).astype(np.uint8), format="png")
    _add_ground(api, size, look)


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


def floor_glb(radius: float, look: Look = LIGHT) -> bytes:
    """Return a round floor as GLB: seen from above only, of one colour whatever the light, and opaque."""
    angles = np.linspace(0.0, 2.0 * np.pi, 49)[:-1]
    rim = radius * np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    following = np.roll(np.arange(48), -1) + 1
    faces = np.stack([np.zeros(48, dtype=int), np.arange(48) + 1, following], axis=1)
    data = to_glb(
        [Shape(Mesh(np.concatenate([np.zeros((1, 3)), rim]), faces))], Material(diffuse=look.floor), glow=look.glow
    )
    assert data is not None
    return data


def _add_ground(api: viser.SceneApi, size: float, look: Look) -> None:
    """Add the ground: a floor, and on it a grid whose cells suit things of `size` metres, with shadows.

    The grid is see-through for the browser, which draws see-through things from the far to the near by their origins. With a floor in it,
    it would be drawn over those see-through shapes whose origins are farther than its own. So the floor is a thing of its own: what is
    opaque is always drawn first. It lies a little lower, or else the two would flicker in the distance.
    """
    api.add_glb(
        "/floor",
        floor_glb(280 * size, look),
        cast_shadow=False,
        receive_shadow=False,
        position=(0.0, 0.0, -0.005 * size),
    )
    cell = float(10.0 ** np.floor(np.log10(max(size, 1e-3)))) / 4.0
    while cell < size / 12:
        cell *= 2
    api.add_grid(
        "/world/ground",
        infinite_grid=True,
        cell_size=cell,
        section_size=4 * cell,
        cell_color=look.cells,
        section_color=look.sections,
        cell_thickness=0.8,
        section_thickness=1.1,
        fade_distance=14 * size,
        fade_strength=1.5,
        shadow_opacity=look.shadow,
        plane_opacity=0.0,
        position=(0.0, 0.0, -0.0005 * size),
    )
