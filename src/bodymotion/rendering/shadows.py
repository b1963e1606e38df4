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
BLUR = 0.007
"""The standard deviation of the blur, in edges of the small picture."""
EDGE = 0.03
"""So much at each edge of it stays empty for the blur."""


def flattening(sun: Floats) -> Floats:
    """Give the matrix (4, 4) that takes points along the direction (3,) of the sun to the floor."""
    matrix = np.eye(4)
    matrix[:2, 2] = -sun[:2] / sun[2]
    # Not quite flat: what lies on top of what must not change from pixel to pixel.
    matrix[2, 2] = 1e-3
    return matrix


class Shadow:
    """The shadow of all that is in `casters`; it darkens the floor by `shade`.

    Its small picture has `pixels` at each edge, and covers `extent` metres.
    """

    def __init__(
        self,
        window: Any,  # noqa: ANN401
        renderer: Any,  # noqa: ANN401
        extent: float,
        size: float,
        shade: float,
        pixels: int,
    ) -> None:
        v = vtk()
        self._window, self._renderer = window, renderer
        width, height = window.GetSize()
        self._pixels = min(pixels, width, height)
        self._extent, self._shade = extent / (1.0 - 2.0 * EDGE), shade
        self.casters = v.vtkRenderer()
        self.casters.SetBackground(0.0, 0.0, 0.0)
        self.casters.SetViewport(0.0, 0.0, self._pixels / width, self._pixels / height)
        self.casters.AutomaticLightCreationOff()
        self.casters.SetDraw(False)
        window.AddRenderer(self.casters)
        corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float64)
        faces = np.array([[0, 1, 2], [0, 2, 3]])
        mapper, self._actor, self._texture = v.vtkPolyDataMapper(), v.vtkActor(), v.vtkTexture()
        mapper.SetInputData(poly_data(TRIANGLES, corners, faces, uv=corners[:, :2]))
        self._height = LIFT * RISE * size
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
        covered = pixels_of(self._window, self._pixels, self._pixels)[..., 0]
        self.casters.SetDraw(False)
        self._renderer.SetDraw(True)
        rows, columns = np.flatnonzero(covered.any(axis=1)), np.flatnonzero(covered.any(axis=0))
        self._actor.SetVisibility(len(rows) > 0)
        if not len(rows):
            return
        # What is nowhere dark needs no texture.
        blur = BLUR * self._pixels
        room = int(np.ceil(3.0 * blur)) + 1
        low = np.maximum([columns[0] - room, rows[0] - room], 0)
        high = np.minimum([columns[-1] + room + 1, rows[-1] + room + 1], self._pixels)
        self._texture.SetInputData(image_of(_dimming(covered[low[1] : high[1], low[0] : high[0]], self._shade, blur)))
        pixel = self._extent / self._pixels
        self._actor.SetPosition(*(center - 0.5 * self._extent + pixel * low), self._height)
        self._actor.SetScale(*(pixel * (high - low)), 1.0)


def _dimming(covered: npt.NDArray[np.uint8], shade: float, blur: float) -> npt.NDArray[np.uint8]:
    """Give black (H, W, 4) that is opaque where the floor is covered (H, W), with soft edges."""
    from PIL import Image, ImageFilter

    soft = Image.fromarray(np.ascontiguousarray(covered)).filter(ImageFilter.GaussianBlur(blur))
    out = np.zeros((*covered.shape, 4), dtype=np.uint8)
    out[..., 3] = np.asarray(soft) * np.float32(shade)
    return out
