"""Everything around the robot in the browser: sky, ground, lights, the theme of the panel, and the camera."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.glb import to_glb
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.shapes import Material, Mesh, Shape
from bodymotion.model.body import Viewpoint
from bodymotion.scene.camera import Camera
from bodymotion.scene.theme import LIGHT, Theme

if TYPE_CHECKING:
    import viser

FIELD_OF_VIEW = 0.7  # [rad] Vertical field of view of the presets.
PRESETS: dict[str, tuple[float, float, float]] = {
    "Corner": (1.0, 0.75, 0.45),
    "Front": (1.0, 0.0, 0.0),
    "Side": (0.0, 1.0, 0.0),
    "Top": (-1e-3, 0.0, 1.0),
}
"""Directions from the robot to the camera; a robot's front is +x, its left side +y."""


def apply_theme(gui: viser.GuiApi, dark: bool) -> None:
    """Set the panel to dark mode or light mode."""
    gui.configure_theme(
        show_logo=False, show_share_button=False, control_width="large", dark_mode=dark, brand_color=(28, 110, 190)
    )


def add_environment(api: viser.SceneApi, size: float, theme: Theme = LIGHT) -> None:
    """Add sky and ground for a robot of `size` metres; they replace those that were there."""
    share = np.linspace(0.0, 1.0, 256)[:, None, None] ** 0.6
    sky = np.asarray(theme.sky_top) * (1 - share) + np.asarray(theme.sky_bottom) * share
    api.set_background_image(np.repeat(sky, 2, axis=1).astype(np.uint8), format="png")
    # The browser draws transparent objects from far to near by their origins. A grid that includes the floor would be drawn over those
    # transparent shapes whose origins are farther away. So the floor is a separate opaque object, which is always drawn first. It is a
    # little lower, or the two would flicker in the distance; it is visible from above only, of one colour in any light.
    angles = np.linspace(0.0, 2.0 * np.pi, 49)[:-1]
    rim = 280 * size * np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    following = np.roll(np.arange(48), -1) + 1
    faces = np.stack([np.zeros(48, dtype=int), np.arange(48) + 1, following], axis=1)
    mesh = Mesh(np.concatenate([np.zeros((1, 3)), rim]), faces)
    floor = to_glb([Shape(mesh)], Material(diffuse=theme.floor), glow=theme.glow)
    assert floor is not None
    api.add_glb("/floor", floor, cast_shadow=False, receive_shadow=False, position=(0.0, 0.0, -0.005 * size))
    cell = float(10.0 ** np.floor(np.log10(max(size, 1e-3)))) / 4.0
    while cell < size / 12:
        cell *= 2
    api.add_grid(
        "/world/ground",
        infinite_grid=True,
        cell_size=cell,
        section_size=4 * cell,
        cell_color=theme.cells,
        section_color=theme.sections,
        cell_thickness=0.8,
        section_thickness=1.1,
        fade_distance=14 * size,
        fade_strength=1.5,
        shadow_opacity=theme.shadow,
        plane_opacity=0.0,
        position=(0.0, 0.0, -0.0005 * size),
    )


def add_lights(api: viser.SceneApi, shadows: bool) -> viser.DirectionalLightHandle:
    """Add the lights of the live viewer; return the main one, from the front, left and above, where the first camera is.

    With a weaker one and viser's ambient light it shows a surface about as bright as its own colour.
    """
    api.configure_default_lights(False)
    api.add_light_directional("/lights/fill", intensity=0.25, position=(1.0, -2.0, 1.5))
    return api.add_light_directional("/lights/key", intensity=1.1, cast_shadow=shadows, position=(2.0, 1.2, 3.0))


def show_camera(client: viser.ClientHandle, camera: Camera) -> None:
    """Move the camera of a browser."""
    with client.atomic():
        client.camera.up_direction = camera.up
        client.camera.position = camera.position
        client.camera.look_at = camera.look_at
        client.camera.fov = camera.field_of_view


def framing(bounds: npt.ArrayLike, preset: str) -> Camera:
    """Return the camera that sees the whole box `bounds` (2, 3) from the direction of a preset, in a window of any shape."""
    low, high = np.asarray(bounds, dtype=np.float64)
    center = 0.5 * (low + high)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    direction = np.array(PRESETS[preset]) / np.linalg.norm(PRESETS[preset])
    distance = 1.08 * radius / np.sin(0.5 * FIELD_OF_VIEW)
    return Camera(center + distance * direction, center, np.array([0.0, 0.0, 1.0]), FIELD_OF_VIEW)


def from_viewpoint(viewpoint: Viewpoint, model: npt.ArrayLike, distance: float) -> Camera:
    """Return the camera of a model's viewpoint, for the pose (7,) of the model in the world.

    A viewpoint has a direction but no target; the target is put `distance` metres in front of it.
    """
    pose = poses.compose(model, viewpoint.pose)
    forward = rotations.rotate(pose[3:], [0.0, 0.0, -1.0])
    field = viewpoint.field_of_view if 0.05 < viewpoint.field_of_view < 2.8 else FIELD_OF_VIEW
    target = pose[:3] + max(distance, 1e-3) * forward
    return Camera(pose[:3], target, rotations.rotate(pose[3:], [0.0, 1.0, 0.0]), field)
