"""A body in its surroundings, drawn from wherever a camera is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.rendering.actors import BodyParts, Robot
from bodymotion.rendering.camera import Camera
from bodymotion.rendering.shadows import Shadow
from bodymotion.rendering.surroundings import LOOKS, Look, add_floor, add_lights, add_path, add_sky, sun_of
from bodymotion.rendering.vtk import pixels_of, vtk
from bodymotion.rendering.window import off_screen_window

__all__ = ["Scene"]


class Scene:
    """Robots of one body, lit for a camera.

    Parameters
    ----------
    look:
        The background; None for a flat one that `background` sets.
    size:
        The extent [m] of the body.
    camera:
        The light comes from over its shoulder.
    area:
        (N, 2) places on the floor [m] where robots come; there the floor is nearest.
    floor:
        Whether there is a floor with a shadow on it; without a look there is its shadow alone.
    shade, shadow_pixels:
        How dark the shadow is, in 0…1, and how many pixels it has for the size of the body.
    robots:
        How many robots there are.
    pale:
        With how much white the colours of the robots are mixed.
    axes, path:
        The length [m] of the axes by which a body without shapes is shown, and the path (N, 3) of its root.
    line_width:
        [px] of the lines of the grid.
    """

    def __init__(
        self,
        body: Body,
        pixels: tuple[int, int],
        *,
        look: Look | None = LOOKS["light"],
        size: float,
        camera: Camera,
        area: Floats,
        floor: bool = True,
        shade: float | None = None,
        robots: int = 1,
        shadow_pixels: int = 110,
        pale: float = 0.0,
        axes: float | None = None,
        path: Floats | None = None,
        line_width: float = 1.0,
    ) -> None:
        v = vtk()
        self.pixels = pixels
        self.size = size
        self.window = off_screen_window(*pixels)
        self._renderer = v.vtkRenderer()
        self.window.AddRenderer(self._renderer)
        center = 0.5 * (area.min(axis=0) + area.max(axis=0))
        reach = float(np.linalg.norm(area - center, axis=1).max()) if len(area) else 0.0
        self._far = 70.0 * (reach + 12.0 * size)
        self._sun = sun_of(camera)
        self._sky = add_sky(self._renderer, look, 0.9 * self._far) if look is not None else None
        if floor and look is not None:
            add_floor(self._renderer, look, size, center, reach, line_width)
        if path is not None and len(path) > 1:
            add_path(self._renderer, path, line_width)
        parts = BodyParts(body, size, pale=pale, axes=axes)
        dark = shade if shade is not None else (look.shade if look is not None else 0.0)
        self._shadow = (
            Shadow(self._renderer, parts.surfaces, size, dark, shadow_pixels) if floor and dark > 0.0 else None
        )
        self.robots = [Robot(parts, self._renderer) for _ in range(robots)]
        self.light(camera)
        self._camera = self._renderer.GetActiveCamera()

    def light(self, camera: Camera) -> None:
        """Let the light come from over the shoulder of a camera; shadows stay where they are."""
        add_lights(self._renderer, camera, sun_of(camera))

    def background(self, color: Sequence[float]) -> None:
        """Set the colour (3,), in 0…1, of what nothing is in front of."""
        self._renderer.SetBackground(*color)

    def place(self, link_poses: Sequence[Floats]) -> None:
        """Put the links of each robot at poses (L, 7), and cast their shadow anew."""
        for robot, one in zip(self.robots, link_poses, strict=True):
            robot.place(one)
        if self._shadow is not None:
            self._shadow.cast(link_poses, self._sun)

    def picture(self, camera: Camera) -> npt.NDArray[np.uint8]:
        """Return what a camera sees: (H, W, 4), the lowest row first; red, green, blue, and one that says nothing."""
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
        return pixels_of(self.window, *self.pixels)

    def close(self) -> None:
        """Free what the window holds."""
        self.window.Finalize()
