"""The shadow on the floor: what the robot covers as the sun sees it, drawn small, blurred, and laid on the floor as a texture.

Shadow maps of VTK cost three times as much without a graphics card, and are speckled where they are not fine enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import Floats
from bodymotion.meshing.surfaces import TRIANGLES
from bodymotion.rendering.surroundings import RISE
from bodymotion.rendering.vtk import image_of, pixels_of, poly_data, vtk

__all__ = ["Shadow", "flattening"]

LIFT = 5.0
"""How far above the floor the shadow lies, in heights of the grid: far enough for its lines to be in the shade everywhere."""
PIXELS = 320
"""The edge of the small picture."""
BLUR = 2.6
"""Pixels of it."""
EDGE = 12
"""So many pixels at its edge stay empty for the blur."""


def flattening(sun: Floats) -> Floats:
    """Give the matrix (4, 4) that takes points along the direction (3,) of the sun to the floor."""
    matrix = np.eye(4)
    matrix[:2, 2] = -sun[:2] / sun[2]
    # Not quite flat: what lies on top of what must not change from pixel to pixel.
    matrix[2, 2] = 1e-3
    return matrix


class Shadow:
    """The shadow of all that is in `casters`; it darkens the floor by `shade`, and its picture covers `extent` metres."""

    def __init__(self, window: Any, renderer: Any, extent: float, size: float, shade: float) -> None:  # noqa: ANN401
        v = vtk()
        self._window, self._renderer = window, renderer
        self._extent, self._shade = extent * PIXELS / (PIXELS - 2 * EDGE), shade
        self.casters = v.vtkRenderer()
        self.casters.SetBackground(0.0, 0.0, 0.0)
        width, height = window.GetSize()
        self.casters.SetViewport(0.0, 0.0, PIXELS / width, PIXELS / height)
        self.casters.AutomaticLightCreationOff()
        self.casters.SetDraw(False)
        window.AddRenderer(self.casters)
        half = 0.5 * self._extent
        corners = half * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=np.float64)
        corners[:, 2] = LIFT * RISE * size
        faces = np.array([[0, 1, 2], [0, 2, 3]])
        places = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        mapper, self._actor, self._texture = v.vtkPolyDataMapper(), v.vtkActor(), v.vtkTexture()
        mapper.SetInputData(poly_data(TRIANGLES, corners, faces, uv=places))
        self._actor.SetMapper(mapper)
        self._actor.GetProperty().LightingOff()
        self._actor.GetProperty().SetBackfaceCulling(True)
        self._actor.ForceOpaqueOn()
        self._texture.InterpolateOn()
        self._texture.RepeatOff()
        self._actor.SetTexture(self._texture)
        renderer.AddActor(self._actor)

    def cast(self, center: Floats) -> None:
        """Draw the shadow anew around `center` (2,) on the floor, for where the casters are now."""
        camera = self.casters.GetActiveCamera()
        camera.ParallelProjectionOn()
        camera.SetParallelScale(0.5 * self._extent)
        camera.SetFocalPoint(*center, 0.0)
        camera.SetPosition(*center, 10.0)
        camera.SetViewUp(0.0, 1.0, 0.0)
        camera.SetClippingRange(0.01, 20.0)
        self.casters.SetDraw(True)
        self._renderer.SetDraw(False)
        self._window.Render()
        covered = pixels_of(self._window, PIXELS, PIXELS)[..., 0]
        self.casters.SetDraw(False)
        self._renderer.SetDraw(True)
        self._texture.SetInputData(image_of(_dimming(covered, self._shade)))
        self._actor.SetPosition(*center, 0.0)


def _dimming(covered: npt.NDArray[np.uint8], shade: float) -> npt.NDArray[np.uint8]:
    """Give black (H, W, 4) that is opaque where the floor is covered (H, W), with soft edges."""
    from PIL import Image, ImageFilter

    soft = Image.fromarray(np.ascontiguousarray(covered)).filter(ImageFilter.GaussianBlur(BLUR))
    out = np.zeros((*covered.shape, 4), dtype=np.uint8)
    out[..., 3] = np.asarray(soft) * shade
    return out
