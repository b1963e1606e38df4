"""Robots in their environment, drawn from any camera: ground with a grid, sky, lights, and the shadow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes.surfaces import LINES, TRIANGLES
from bodymotion.rendering.actors import BodyParts, Robot
from bodymotion.rendering.camera import Camera
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.vtk import image_of, off_screen_window, pixels_of, poly_data, vtk
from bodymotion.scene.theme import PATH_COLOR

Color = tuple[int, int, int]
SPOKES = 96
GROUND_HEIGHT, GRID_HEIGHT, SHADOW_HEIGHT = -6e-3, -3e-3, -5e-4
"""In robot sizes: so far apart that, seen from afar, each still covers the one below."""
QUARTERS = 4
"""Fine grid lines per square."""
MAX_GRID_LINES = 400
SHADOW_BLUR = 0.008
"""Standard deviation of the blur of the shadow, in robot sizes."""
MAX_SHADOW_PIXELS = 2048
"""Edge of the shadow image."""


@dataclass(frozen=True)
class Theme:
    """Colours of the `top` of the sky, the ground `far` from and `near` the robot, its `grid`, of `text` and its `halo`."""

    top: Color
    far: Color
    near: Color
    grid: Color
    text: Color
    halo: Color
    opacity: float
    """Opacity of the shadow, 0 to 1."""


THEMES: Mapping[str, Theme] = MappingProxyType(
    {
        "light": Theme(
            (214, 224, 236), (236, 239, 243), (250, 251, 252), (150, 158, 170), (40, 46, 56), (255, 255, 255), 0.34
        ),
        "dark": Theme((20, 23, 29), (34, 38, 45), (62, 67, 76), (120, 128, 140), (232, 236, 242), (20, 23, 29), 0.6),
    }
)


class Scene:
    """Robots of one body in their environment.

    Parameters
    ----------
    pixels:
        Width and height of the images.
    theme:
        Colours of the background; None for a uniform one that `background` sets.
    camera:
        The sun is above and behind it.
    area:
        (N, 2) positions on the ground [m] where robots move.
    ground:
        Whether there is a ground with a shadow; without a theme there is only the shadow.
    opacity, shadow_pixels:
        Opacity of the shadow, 0 to 1, by default that of the theme, and its resolution in pixels per size of the body.
    robots:
        Number of robots.
    pale:
        Share of white in the colours of the robots.
    line_width:
        [px] of the lines of the grid.
    """

    def __init__(
        self,
        playback: Playback,
        pixels: tuple[int, int],
        *,
        theme: Theme | None = THEMES["light"],
        camera: Camera,
        area: Floats,
        ground: bool = True,
        opacity: float | None = None,
        shadow_pixels: int = 110,
        robots: int = 1,
        pale: float = 0.0,
        line_width: float = 1.0,
    ) -> None:
        self.pixels, self.size = pixels, playback.size
        self.window = off_screen_window(*pixels)
        self._renderer = vtk().vtkRenderer()
        self.window.AddRenderer(self._renderer)
        center = 0.5 * (area.min(axis=0) + area.max(axis=0))
        reach = float(np.linalg.norm(area - center, axis=1).max()) if len(area) else 0.0
        self._far = 70.0 * (reach + 12.0 * self.size)
        self._sky = None
        if theme is not None:
            self._sky = _add_sky(self._renderer, theme, 0.9 * self._far)
            if ground:
                _add_ground(self._renderer, theme, self.size, center, reach, line_width)
        if (count := len(playback.path)) > 1:
            ends = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
            data = poly_data(LINES, playback.path, ends, colors=np.broadcast_to(PATH_COLOR, (count, 3)))
            _add(self._renderer, data).SetLineWidth(2.0 * line_width)
        shown = playback.scene
        parts = BodyParts(shown.shapes, self.size, pale=pale, axes=playback.axes, far=shown.extent.far)
        if shown.body.environment:
            Robot(BodyParts([shown.body.environment], self.size, pale=pale), self._renderer)
        if opacity is None:
            opacity = 0.0 if theme is None else theme.opacity
        self._shadow = None
        if ground and opacity > 0.0 and parts.extents is not None:
            self._shadow = _Shadow(self._renderer, parts, robots, self.size, opacity, shadow_pixels)
        self.robots = [Robot(parts, self._renderer) for _ in range(robots)]
        self._sun = _sun_direction(camera)
        self.light(camera)
        self._camera = self._renderer.GetActiveCamera()

    def light(self, camera: Camera) -> None:
        """Set the lights for a camera; the shadow stays."""
        _add_lights(self._renderer, camera, _sun_direction(camera))

    def background(self, color: Sequence[float]) -> None:
        """Set the colour (3,), 0 to 1, of a uniform background."""
        self._renderer.SetBackground(*color)

    def pose(self, link_poses: Sequence[Floats]) -> None:
        """Set the link poses (L, 7) of each robot, and their shadow."""
        matrices = [poses.to_matrix(one) for one in link_poses]
        for robot, one in zip(self.robots, matrices, strict=True):
            robot.pose(one)
        if self._shadow is not None:
            self._shadow.cast(matrices, self._sun)

    def draw(self, camera: Camera) -> npt.NDArray[np.uint8]:
        """Return the image (H, W, 4) of a camera, highest row first; the fourth channel has no meaning."""
        view = self._camera
        view.SetPosition(*camera.position)
        view.SetFocalPoint(*camera.look_at)
        view.SetViewUp(*camera.up)
        near = max(camera.distance - 4.0 * self.size, 0.03 * camera.distance)
        view.SetClippingRange(near, self._far)
        if camera.height is not None:
            view.ParallelProjectionOn()
            view.SetParallelScale(0.5 * camera.height)
        else:
            view.ParallelProjectionOff()
            view.SetViewAngle(np.rad2deg(camera.field_of_view))
        if self._sky is not None:
            self._sky.SetPosition(*camera.position)
        self.window.Render()
        return np.ascontiguousarray(pixels_of(self.window, *self.pixels)[::-1])

    def close(self) -> None:
        """Release the windows."""
        self.window.Finalize()
        if self._shadow is not None:
            self._shadow.window.Finalize()


class _Shadow:
    """The shadow on the ground: the robots, flattened along the sun, in an image of their own; blurred, and a texture of the ground.

    The shadow maps of VTK take several times as long without a graphics card, and are speckled at low resolution.
    """

    def __init__(
        self,
        renderer: Any,  # noqa: ANN401
        parts: BodyParts,
        robots: int,
        size: float,
        opacity: float,
        pixels: int,
    ) -> None:
        v = vtk()
        self._size, self._opacity, self._pixel = size, opacity, size / pixels
        assert parts.extents is not None
        self._extents = parts.extents
        self._edges = (0, 0)
        self.window, view = off_screen_window(16, 16), v.vtkRenderer()
        self.window.AddRenderer(view)
        self._camera = view.GetActiveCamera()
        self._camera.ParallelProjectionOn()
        self._robots = [Robot(parts, view, silhouette=True) for _ in range(robots)]
        corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float64)
        mapper, self._actor, self._texture = v.vtkPolyDataMapper(), v.vtkActor(), v.vtkTexture()
        mapper.SetInputData(poly_data(TRIANGLES, corners, np.array([[0, 1, 2], [0, 2, 3]]), uv=corners[:, :2]))
        self._actor.SetMapper(mapper)
        self._actor.GetProperty().LightingOff()
        self._actor.GetProperty().SetBackfaceCulling(True)
        self._actor.ForceOpaqueOn()
        self._texture.InterpolateOn()
        self._texture.RepeatOff()
        self._actor.SetTexture(self._texture)
        renderer.AddActor(self._actor)

    def cast(self, robots: Sequence[Floats], sun: Floats) -> None:
        """Draw the shadow of robots with link poses (L, 4, 4); `sun` (3,) is the direction to it."""
        flatten = np.eye(4)
        flatten[:2, 2] = -sun[:2] / sun[2]
        # Not 0: VTK inverts the matrix.
        flatten[2, 2] = 1e-6
        flat = [flatten @ matrices for matrices in robots]
        for robot, matrices in zip(self._robots, flat, strict=True):
            robot.pose(matrices)
        links, corners = self._extents
        points = np.concatenate(
            [(m[links, :2, :3] @ corners.transpose(0, 2, 1)).transpose(0, 2, 1) + m[links, None, :2, 3] for m in flat]
        ).reshape(-1, 2)
        margin = 3.0 * SHADOW_BLUR * self._size
        low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
        pixel = max(self._pixel, float((high - low).max()) / MAX_SHADOW_PIXELS)
        # In steps, so that the window seldom changes its size.
        width, height = (32 * int(edge) for edge in np.ceil((high - low) / (32 * pixel)))
        if (width, height) != self._edges:
            self._edges = (width, height)
            self.window.SetSize(width, height)
        x, y = low + 0.5 * pixel * np.array([width, height])
        self._camera.SetPosition(x, y, 10.0)
        self._camera.SetFocalPoint(x, y, 0.0)
        self._camera.SetViewUp(0.0, 1.0, 0.0)
        self._camera.SetParallelScale(0.5 * pixel * height)
        self._camera.SetClippingRange(1.0, 20.0)
        self.window.Render()
        covered = pixels_of(self.window, width, height)[..., 0]
        self._texture.SetInputData(image_of(_blurred(covered, self._opacity, SHADOW_BLUR * self._size / pixel)))
        self._actor.SetPosition(*low, SHADOW_HEIGHT * self._size)
        self._actor.SetScale(pixel * width, pixel * height, 1.0)


def _blurred(covered: npt.NDArray[np.uint8], opacity: float, blur: float) -> npt.NDArray[np.uint8]:
    """Return black (H, W, 4) that is opaque where the ground is covered (H, W), with soft edges; `blur` in pixels."""
    from PIL import Image, ImageFilter

    soft = Image.fromarray(np.ascontiguousarray(covered)).filter(ImageFilter.GaussianBlur(blur))
    out = np.zeros((*covered.shape, 4), dtype=np.uint8)
    out[..., 3] = np.asarray(soft) * np.float32(opacity)
    return out


def cell_size(size: float) -> float:
    """Return the edge [m] of the grid squares for robots of `size` metres: 1 m, or another power of ten for tiny and huge ones."""
    return float(10.0 ** np.round(np.log10(max(size, 1e-6) / 1.5)))


def _add_ground(renderer: Any, theme: Theme, size: float, center: Floats, reach: float, line_width: float) -> None:  # noqa: ANN401
    """Add the ground with a grid for robots of `size` metres that move up to `reach` metres away from `center` (2,)."""
    inner, outer = reach + 1.2 * size, reach + 12.0 * size
    radii = np.array([0.0, inner, inner + 0.4 * (outer - inner), outer, 60.0 * outer])
    shares = np.array([0.0, 0.0, 0.55, 1.0, 1.0])
    data = _rings(radii, np.zeros(len(radii)), _blended(theme.near, theme.far, shares), [*center, GROUND_HEIGHT * size])
    _add(renderer, data).SetBackfaceCulling(True)
    _add_grid(renderer, theme, size, center, reach, line_width)


def _add_grid(renderer: Any, theme: Theme, size: float, center: Floats, reach: float, line_width: float) -> None:  # noqa: ANN401
    cell = cell_size(size)
    radius = reach + 6.0 * size
    while radius / cell > MAX_GRID_LINES:
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
            lines[..., k], lines[..., 1 - k], lines[..., 2] = values[:, None], along + center[1 - k], GRID_HEIGHT * size
            far = np.hypot(lines[..., 0] - center[0], lines[..., 1] - center[1])
            fade = np.clip((radius - far) / (radius - reach - 0.5 * size), 0.0, 1.0)
            points.append(lines.reshape(-1, 3))
            colors.append(
                np.concatenate(
                    [np.broadcast_to(theme.grid, (fade.size, 3)), 255 * strength * fade.reshape(-1, 1) ** 1.5], 1
                )
            )
        everything = np.concatenate(points)
        starts = np.arange(len(everything)).reshape(-1, 17)
        indices = np.stack([starts[:, :-1].ravel(), starts[:, 1:].ravel()], axis=1)
        style = _add(renderer, poly_data(LINES, everything, indices, colors=np.concatenate(colors)))
        style.SetLineWidth(line_width)


def _add_sky(renderer: Any, theme: Theme, radius: float) -> Any:  # noqa: ANN401
    """Add the sky, a hemisphere that moves with the camera, and return its actor."""
    heights = np.array([0.0, 0.03, 0.1, 0.25, 0.5, 1.0])
    shares = np.array([0.0, 0.1, 0.4, 0.75, 1.0, 1.0])
    renderer.SetBackground(*(np.array(theme.far) / 255.0))
    data = _rings(
        radius * np.sqrt(1.0 - heights**2), radius * heights, _blended(theme.far, theme.top, shares), [0, 0, 0]
    )
    return _added(renderer, data)


def _rings(radii: Floats, heights: Floats, colors: Floats, center: Sequence[float]) -> Any:  # noqa: ANN401
    """Return the surface between R rings around a `center` (3,), of these radii and heights (R,), in colours (R, 3)."""
    angles, ring = 2.0 * np.pi * np.arange(SPOKES) / SPOKES, np.arange(SPOKES)
    after = np.roll(ring, -1)
    level = [np.outer(radii, np.cos(angles)), np.outer(radii, np.sin(angles)), np.repeat(heights[:, None], SPOKES, 1)]
    points = np.stack(level, axis=-1).reshape(-1, 3) + center
    band = np.concatenate(
        [np.stack([ring, ring + SPOKES, after + SPOKES], 1), np.stack([ring, after + SPOKES, after], 1)]
    )
    faces = np.concatenate([band + k * SPOKES for k in range(len(radii) - 1)])
    return poly_data(TRIANGLES, points, faces, colors=np.repeat(colors, SPOKES, axis=0))


def _sun_direction(camera: Camera) -> Floats:
    """Return the direction (3,) to the sun: above the camera, behind it to the left."""
    back = -camera.axes[2]
    level = np.array([back[0], back[1], 0.0])
    if np.linalg.norm(level) < 0.05:
        level = -camera.axes[1] * [1.0, 1.0, 0.0]
    level /= np.linalg.norm(level)
    left = np.array([level[1], -level[0], 0.0])
    sun = 0.45 * level + 0.5 * left + np.array([0.0, 0.0, 1.05])
    return np.asarray(sun / np.linalg.norm(sun))


def _add_lights(renderer: Any, camera: Camera, sun: Floats) -> None:  # noqa: ANN401
    """Add the sun, a weaker light from the other side, and one from behind.

    Together with the ambient light, a surface that faces the sun is about as bright as its own colour.
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


def _blended(one: Color, other: Color, shares: Floats) -> Floats:
    return np.asarray(np.round(np.outer(1.0 - shares, one) + np.outer(shares, other)), dtype=np.float64)


def _add(renderer: Any, data: Any) -> Any:  # noqa: ANN401
    return _added(renderer, data).GetProperty()


def _added(renderer: Any, data: Any) -> Any:  # noqa: ANN401
    """Add an actor without lighting; transparent parts are drawn in the order of the actors."""
    v = vtk()
    mapper, actor = v.vtkPolyDataMapper(), v.vtkActor()
    mapper.SetInputData(data)
    mapper.StaticOn()
    actor.SetMapper(mapper)
    actor.GetProperty().LightingOff()
    actor.ForceOpaqueOn()
    renderer.AddActor(actor)
    return actor
