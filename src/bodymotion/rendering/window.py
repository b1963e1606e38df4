"""A window of VTK that is on no screen, made without risk: where a library of the system is missing, VTK itself ends the whole process.

On Linux it draws through EGL, else through OSMesa, else on the X server where there is one; Mesa needs no graphics card for any of
them. Elsewhere it is VTK's own choice.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

from bodymotion.extras import need

__all__ = ["NEEDED", "NoRendererError", "off_screen_window"]

EXTRA = "render"
NEEDED = ("libegl1", "libgl1-mesa-dri")
"""The Debian packages of drawing without screen and graphics card."""


class NoRendererError(OSError):
    """Nothing on this machine can draw: a library of the system is missing."""


def off_screen_window(width: int, height: int) -> Any:  # noqa: ANN401
    """Give a window of so many pixels that can be drawn in.

    Raises
    ------
    ImportError
        When VTK is not installed; the message says how it is.
    NoRendererError
        When nothing on this machine can draw; the message names the packages.
    """
    gl = need("vtkmodules.vtkRenderingOpenGL2", EXTRA, "drawing pictures")
    for name in _candidates():
        window = getattr(gl, name, gl.vtkOpenGLRenderWindow)()
        window.SetOffScreenRendering(1)
        window.SetMultiSamples(0)
        window.SetSize(width, height)
        # There is no screen that a finished picture would have to be copied to.
        window.SetFrameBlitModeToNoBlit()
        if _begins(window):
            return window
    raise NoRendererError(
        "there is nothing to draw with: drawing without a screen needs EGL or OSMesa, and neither of them works here "
        f"(Debian: apt-get install {' '.join(NEEDED)}, or apt-get install libosmesa6)"
    )


def _candidates() -> list[str]:
    if not sys.platform.startswith("linux"):
        return ["vtkOpenGLRenderWindow"]
    found = ["vtkEGLRenderWindow"] if _has("libEGL.so.1", "eglInitialize") else []
    found.append("vtkOSOpenGLRenderWindow")
    if os.environ.get("DISPLAY") and _has("libGL.so.1", "glXQueryVersion"):
        found.append("vtkXOpenGLRenderWindow")
    return found


def _has(library: str, function: str) -> bool:
    """Say whether a library can be loaded and has a function."""
    try:
        return hasattr(ctypes.CDLL(library), function)
    except OSError:
        return False


def _begins(window: Any) -> bool:  # noqa: ANN401
    """Say whether a window can draw; what VTK has to say about it is for nobody, since another may."""
    core = need("vtkmodules.vtkCommonCore", EXTRA, "drawing pictures")
    level = core.vtkLogger.GetCurrentVerbosityCutoff()
    warn = core.vtkObject.GetGlobalWarningDisplay()
    core.vtkLogger.SetStderrVerbosity(core.vtkLogger.VERBOSITY_OFF)
    core.vtkObject.GlobalWarningDisplayOff()
    try:
        window.Initialize()
        return bool(window.GetInitialized())
    finally:
        core.vtkLogger.SetStderrVerbosity(level)
        core.vtkObject.SetGlobalWarningDisplay(warn)
