"""What is around a robot in a picture: a calm floor with a grid, the sky, and the light."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes.surfaces import LINES, TRIANGLES
from bodymotion.rendering.camera import Camera
from bodymotion.rendering.vtk import poly_data, vtk
from bodymotion.viewer.overlays import PATH_COLOR

__all__ = ["LOOKS", "SHADE", "Look", "add_floor", "add_lights", "add_path", "add_sky", "cell_size", "sun_of"]

Color = tuple[int, int, int]
SPOKES = 96
FLOOR, GRID, SHADE = -6e-3, -3e-3, -5e-4
"""The heights of floor, grid and shadow in sizes of what is shown: so far apart that from afar, too, each covers the one below."""
QUARTERS = 4
MOST_LINES = 400


@dataclass(frozen=True)
class Look:
    """Colours of a background: the sky's `top`, the `far` floor, the floor `near` the robot, its `grid`, `ink` of texts, their `halo`."""

    top: Color
    far: Color
    near: Color
    grid: Color
    ink: Color
    halo: Color
    shade: float
    """How dark the shadow is, in 0…1."""


LOOKS: Mapping[str, Look] = MappingProxyType(
    {
        "light": Look(
            (214, 224, 236), (236, 239, 243), (250, 251, 252), (150, 158, 170), (40, 46, 56), (255, 255, 255), 0.34
        ),
        "dark": Look((20, 23, 29), (34, 38, 45), (62, 67, 76), (120, 128, 140), (232, 236, 242), (20, 23, 29), 0.6),
    }
)


def cell_size(size: float) -> float:
    """Return the edge [m] of the squares of the floor for things of `size` metres: 1 m, or for tiny and huge ones another power of ten."""
    return float(10.0 ** np.round(np.log10(max(size, 1e-6) / 1.5)))


def add_floor(renderer: Any, look: Look, size: float, center: Floats, reach: float, line_width: float) -> None:  # noqa: ANN401
    """Add a floor for things of `size` metres that come as far as `reach` metres from `center` (2,), and its grid."""
    inner, outer = reach + 1.2 * size, reach + 12.0 * size
    radii = np.array([0.0, inner, inner + 0.4 * (outer - inner), outer, 60.0 * outer])
    shares = np.array([0.0, 0.0, 0.55, 1.0, 1.0])
    angles = 2.0 * np.pi * np.arange(SPOKES) / SPOKES
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(SPOKES)], axis=1)
    points = np.concatenate([radius * circle for radius in radii]) + np.array([*center, FLOOR * size])
    colors = np.repeat(_mixed(look.near, look.far, shares), SPOKES, axis=0)
    ring = np.arange(SPOKES)
    after = np.roll(ring, -1)
    band = np.concatenate(
        [np.stack([ring, ring + SPOKES, after + SPOKES], 1), np.stack([ring, after + SPOKES, after], 1)]
    )
    faces = np.concatenate([band + k * SPOKES for k in range(len(radii) - 1)])
    _add(renderer, poly_data(TRIANGLES, points, faces, colors=colors)).SetBackfaceCulling(True)
    _add_grid(renderer, look, size, center, reach, line_width)


def _add_grid(renderer: Any, look: Look, size: float, center: Floats, reach: float, line_width: float) -> None:  # noqa: ANN401
    cell = cell_size(size)
    radius = reach + 6.0 * size
    while radius / cell > MOST_LINES:
        cell *= 10.0
    for step, strength in ((cell / QUARTERS, 0.2), (cell, 0.75)):
        first, last = np.ceil((center - radius) / step), np.floor((center + radius) / step)
        points, colors = [], []
        for k in range(2):
            values = step * np.arange(first[k], last[k] + 1)
            if step < cell:
                values = values[np.abs(values / cell - np.round(values / cell)) > 0.1]
            half = np.sqrt(np.maximum(radius**2 - (values - center[k]) ** 2, 0.0))
            along = np.linspace(-1.0, 1.0, 17)[None, :] * half[:, None]
            lines = np.empty((*along.shape, 3))
            lines[..., k], lines[..., 1 - k], lines[..., 2] = values[:, None], along + center[1 - k], GRID * size
            far = np.hypot(lines[..., 0] - center[0], lines[..., 1] - center[1])
            fade = np.clip((radius - far) / (radius - reach - 0.5 * size), 0.0, 1.0)
            points.append(lines.reshape(-1, 3))
            colors.append(
                np.concatenate(
                    [np.broadcast_to(look.grid, (fade.size, 3)), 255 * strength * fade.reshape(-1, 1) ** 1.5], 1
                )
            )
        everything = np.concatenate(points)
        starts = np.arange(len(everything)).reshape(-1, 17)
        indices = np.stack([starts[:, :-1].ravel(), starts[:, 1:].ravel()], axis=1)
        style = _add(renderer, poly_data(LINES, everything, indices, colors=np.concatenate(colors)))
        style.SetLineWidth(line_width)


def add_path(renderer: Any, path: Floats, line_width: float) -> None:  # noqa: ANN401
    """Add a path (N, 3) as a line."""
    numbers = np.arange(len(path))
    colors = np.broadcast_to(PATH_COLOR, (len(path), 3))
    data = poly_data(LINES, path, np.stack([numbers[:-1], numbers[1:]], axis=1), colors=colors)
    _add(renderer, data).SetLineWidth(2.0 * line_width)


def add_sky(renderer: Any, look: Look, radius: float) -> Any:  # noqa: ANN401
    """Add the sky as half a ball, which goes with the camera; give its actor."""
    heights = np.array([0.0, 0.03, 0.1, 0.25, 0.5, 1.0])
    shares = np.array([0.0, 0.1, 0.4, 0.75, 1.0, 1.0])
    angles = 2.0 * np.pi * np.arange(SPOKES) / SPOKES
    level = np.sqrt(1.0 - heights**2)
    points = radius * np.stack(
        [np.outer(level, np.cos(angles)), np.outer(level, np.sin(angles)), np.repeat(heights[:, None], SPOKES, 1)],
        axis=-1,
    ).reshape(-1, 3)
    ring = np.arange(SPOKES)
    after = np.roll(ring, -1)
    band = np.concatenate(
        [np.stack([ring, ring + SPOKES, after + SPOKES], 1), np.stack([ring, after + SPOKES, after], 1)]
    )
    faces = np.concatenate([band + k * SPOKES for k in range(len(heights) - 1)])
    colors = np.repeat(_mixed(look.far, look.top, shares), SPOKES, axis=0)
    renderer.SetBackground(*(np.array(look.far) / 255.0))
    return _added(renderer, poly_data(TRIANGLES, points, faces, colors=colors))


def sun_of(camera: Camera) -> Floats:
    """Return the direction (3,) to the sun: from behind the camera, over its left shoulder."""
    back = -camera.axes[2]
    level = np.array([back[0], back[1], 0.0])
    if np.linalg.norm(level) < 0.05:
        level = -camera.axes[1] * [1.0, 1.0, 0.0]
    level /= np.linalg.norm(level)
    left = np.array([level[1], -level[0], 0.0])
    sun = 0.45 * level + 0.5 * left + np.array([0.0, 0.0, 1.05])
    return np.asarray(sun / np.linalg.norm(sun))


def add_lights(renderer: Any, camera: Camera, sun: Floats) -> None:  # noqa: ANN401
    """Add the sun, a weaker light from the other side and one from behind.

    Together with what surfaces have in the shade, one that faces the sun is about as bright as its own colour.
    """
    v = vtk()
    right, _, ahead = camera.axes
    up = np.array([0.0, 0.0, 1.0])
    lights = ((sun, 0.98), (0.9 * right - 0.8 * ahead + 0.15 * up, 0.36), (0.5 * ahead - 0.4 * right + 0.5 * up, 0.25))
    renderer.AutomaticLightCreationOff()
    renderer.RemoveAllLights()
    for direction, strength in lights:
        light = v.vtkLight()
        light.SetLightTypeToSceneLight()
        light.SetPositional(False)
        light.SetFocalPoint(0.0, 0.0, 0.0)
        light.SetPosition(*direction)
        light.SetIntensity(strength)
        renderer.AddLight(light)


def _mixed(one: Color, other: Color, shares: npt.NDArray[np.float64]) -> Floats:
    return np.asarray(np.round(np.outer(1.0 - shares, one) + np.outer(shares, other)), dtype=np.float64)


def _add(renderer: Any, data: Any) -> Any:  # noqa: ANN401
    return _added(renderer, data).GetProperty()


def _added(renderer: Any, data: Any) -> Any:  # noqa: ANN401
    """Add something of its own colours whatever the light; what is see-through of it is drawn in its turn, over what is there already."""
    v = vtk()
    mapper, actor = v.vtkPolyDataMapper(), v.vtkActor()
    mapper.SetInputData(data)
    mapper.StaticOn()
    actor.SetMapper(mapper)
    actor.GetProperty().LightingOff()
    actor.ForceOpaqueOn()
    renderer.AddActor(actor)
    return actor
