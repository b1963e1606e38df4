"""NumPy arrays as the data of VTK, and VTK's modules, which are imported when the first picture is drawn."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.meshes.surfaces import LINES, TRIANGLES
from bodymotion.system.extras import need

__all__ = ["image_of", "matrix_into", "pixels_of", "poly_data", "vtk"]

MODULES = ("CommonCore", "CommonDataModel", "CommonMath", "RenderingCore", "RenderingOpenGL2")


@lru_cache(maxsize=1)
def vtk() -> Any:  # noqa: ANN401
    """Return the classes of VTK that pictures need.

    Raises
    ------
    ImportError
        When VTK is not installed; the message says how it is.
    """
    names: dict[str, Any] = {}
    for module in MODULES:
        names |= vars(need(f"vtkmodules.vtk{module}", "render", "drawing pictures"))
    names |= vars(need("vtkmodules.util.numpy_support", "render", "drawing pictures"))
    return SimpleNamespace(**names)


def poly_data(
    mode: int,
    positions: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    *,
    normals: npt.NDArray[Any] | None = None,
    colors: npt.NDArray[Any] | None = None,
    uv: npt.NDArray[Any] | None = None,
) -> Any:  # noqa: ANN401
    """Return points (N, 3) with `indices` of triangles, lines or points; `colors` (N, 3 or 4) are in 0…255, `uv` (N, 2)."""
    v = vtk()
    data, points, cells = v.vtkPolyData(), v.vtkPoints(), v.vtkCellArray()
    points.SetData(v.numpy_to_vtk(np.ascontiguousarray(positions, dtype=np.float32), deep=1))
    data.SetPoints(points)
    corners = {TRIANGLES: 3, LINES: 2}.get(mode, 1)
    cells.SetData(corners, v.numpy_to_vtkIdTypeArray(np.ascontiguousarray(indices, dtype=np.int64).ravel(), deep=1))
    {3: data.SetPolys, 2: data.SetLines, 1: data.SetVerts}[corners](cells)
    about = data.GetPointData()
    if normals is not None:
        about.SetNormals(v.numpy_to_vtk(np.ascontiguousarray(normals), deep=1))
    if colors is not None:
        about.SetScalars(v.numpy_to_vtk(np.ascontiguousarray(colors, dtype=np.uint8), deep=1))
    if uv is not None:
        about.SetTCoords(v.numpy_to_vtk(np.ascontiguousarray(uv, dtype=np.float32), deep=1))
    return data


def image_of(pixels: npt.NDArray[np.uint8]) -> Any:  # noqa: ANN401
    """Return pixels (H, W, channels), the lowest row first, as an image."""
    v = vtk()
    image = v.vtkImageData()
    height, width, channels = pixels.shape
    image.SetDimensions(width, height, 1)
    image.GetPointData().SetScalars(v.numpy_to_vtk(np.ascontiguousarray(pixels).reshape(-1, channels), deep=1))
    return image


def pixels_of(window: Any, width: int, height: int) -> npt.NDArray[np.uint8]:  # noqa: ANN401
    """Return what was drawn in the lower left `width` × `height` of a window: (H, W, 4), the lowest row first; the fourth says nothing."""
    v = vtk()
    array = v.vtkUnsignedCharArray()
    # As the window holds them; to leave out the fourth would take seven times as long.
    window.GetRGBACharPixelData(0, 0, width - 1, height - 1, 0, array, 0)
    pixels: npt.NDArray[np.uint8] = v.vtk_to_numpy(array).reshape(height, width, 4)
    return pixels


def matrix_into(matrix: Any, values: npt.NDArray[np.float64]) -> None:  # noqa: ANN401
    """Set a vtkMatrix4x4 to values (4, 4)."""
    matrix.DeepCopy(values.ravel())
