"""VTK without a screen.

Its modules, imported when something is drawn; windows in memory; NumPy arrays as VTK
data.

On Linux a window draws through EGL, else through OSMesa, else on the X server where
there is one; with Mesa none of them needs a graphics card. Elsewhere the choice is
VTK's. A library is tried before VTK uses it: where it is missing, VTK ends the whole
process.
"""

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.meshes import LINES, TRIANGLES
from bodymotion.system.deferred import need

EXTRA = "render"
# They allow drawing without a screen and a graphics card.
DEBIAN_PACKAGES = ("libegl1", "libgl1-mesa-dri")
MODULES = (
    "CommonCore",
    "CommonDataModel",
    "CommonMath",
    "RenderingCore",
    "RenderingOpenGL2",
)


@lru_cache(maxsize=1)
def vtk() -> Any:  # noqa: ANN401
    """Return the classes and functions of VTK that drawing needs.

    Raises ImportError when VTK is not installed; the message names the extra.
    """
    names: dict[str, Any] = {}
    for module in MODULES:
        names |= vars(need(f"vtkmodules.vtk{module}", EXTRA, "drawing images"))
    names |= vars(need("vtkmodules.util.numpy_support", EXTRA, "drawing images"))
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
    """Return points (N, 3) with `indices` of triangles, lines or points.

    `colors` (N, 3 or 4) are in 0…255, `uv` (N, 2).
    """
    v = vtk()
    data = v.vtkPolyData()
    points = v.vtkPoints()
    cells = v.vtkCellArray()
    points.SetData(
        v.numpy_to_vtk(np.ascontiguousarray(positions, dtype=np.float32), deep=1)
    )
    data.SetPoints(points)
    # Triangles, lines, or points: three, two or one index each.
    corners = {TRIANGLES: 3, LINES: 2}.get(mode, 1)
    cells.SetData(
        corners,
        v.numpy_to_vtkIdTypeArray(
            np.ascontiguousarray(indices, dtype=np.int64).ravel(), deep=1
        ),
    )
    # VTK has a list of cells for each kind.
    {3: data.SetPolys, 2: data.SetLines, 1: data.SetVerts}[corners](cells)
    about = data.GetPointData()
    if normals is not None:
        about.SetNormals(v.numpy_to_vtk(np.ascontiguousarray(normals), deep=1))
    if colors is not None:
        about.SetScalars(
            v.numpy_to_vtk(np.ascontiguousarray(colors, dtype=np.uint8), deep=1)
        )
    if uv is not None:
        about.SetTCoords(
            v.numpy_to_vtk(np.ascontiguousarray(uv, dtype=np.float32), deep=1)
        )
    return data


def image_of(pixels: npt.NDArray[np.uint8]) -> Any:  # noqa: ANN401
    """Return pixels (H, W, channels), lowest row first, as a vtkImageData."""
    v = vtk()
    image = v.vtkImageData()
    height, width, channels = pixels.shape
    image.SetDimensions(width, height, 1)
    image.GetPointData().SetScalars(
        v.numpy_to_vtk(np.ascontiguousarray(pixels).reshape(-1, channels), deep=1)
    )
    return image


def pixels_of(
    window: Any,  # noqa: ANN401
    width: int,
    height: int,
) -> npt.NDArray[np.uint8]:
    """Return the pixels (H, W, 4) of the lower left part of a window, lowest row first.

    The fourth channel has no meaning.
    """
    v = vtk()
    array = v.vtkUnsignedCharArray()
    # With the fourth channel, as the window stores them: without it, reading takes
    # seven times as long.
    window.GetRGBACharPixelData(0, 0, width - 1, height - 1, 0, array, 0)
    pixels: npt.NDArray[np.uint8] = v.vtk_to_numpy(array).reshape(height, width, 4)
    return pixels


class NoRendererError(OSError):
    """Drawing is impossible here, because a library of the system is missing."""


def off_screen_window(width: int, height: int) -> Any:  # noqa: ANN401
    """Return a window in memory, of a size in pixels.

    Raises ImportError when VTK is not installed; the message names the extra;
    NoRendererError when drawing is impossible on this machine; the message names the
    packages to install.
    """
    gl = need("vtkmodules.vtkRenderingOpenGL2", EXTRA, "drawing images")
    for name in _candidates():
        with _quiet():
            window = getattr(gl, name)()
            window.SetOffScreenRendering(1)
            window.SetMultiSamples(0)
            window.SetSize(width, height)
            # No screen to copy the finished image to.
            window.SetFrameBlitModeToNoBlit()
            window.Initialize()
        if window.GetInitialized():
            return window
    raise NoRendererError(
        "cannot draw: drawing without a screen needs EGL or OSMesa, and neither works "
        "on this machine "
        f"(Debian: apt-get install {' '.join(DEBIAN_PACKAGES)}, or apt-get install "
        "libosmesa6)"
    )


def _candidates() -> list[str]:
    """Return the classes of windows whose libraries are installed, the best first."""
    if not sys.platform.startswith("linux"):
        return ["vtkOpenGLRenderWindow"]
    if _has("libEGL.so.1", "eglInitialize"):
        found = ["vtkEGLRenderWindow"]
    else:
        found = []
    if any(
        _has(f"libOSMesa.so{tail}", "OSMesaCreateContextExt")
        for tail in (".8", ".6", "")
    ):
        found.append("vtkOSOpenGLRenderWindow")
    if os.environ.get("DISPLAY") and _has("libGL.so.1", "glXQueryVersion"):
        found.append("vtkXOpenGLRenderWindow")
    return found


def _has(library: str, function: str) -> bool:
    """Return whether a library can be loaded and has a function."""
    try:
        return hasattr(ctypes.CDLL(library), function)
    except OSError:
        return False


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep messages of VTK off stderr: another kind of window may work."""
    core = need("vtkmodules.vtkCommonCore", EXTRA, "drawing images")
    level = core.vtkLogger.GetCurrentVerbosityCutoff()
    warns = core.vtkObject.GetGlobalWarningDisplay()
    core.vtkLogger.SetStderrVerbosity(core.vtkLogger.VERBOSITY_OFF)
    core.vtkObject.GlobalWarningDisplayOff()
    try:
        yield
    finally:
        core.vtkLogger.SetStderrVerbosity(level)
        core.vtkObject.SetGlobalWarningDisplay(warns)
