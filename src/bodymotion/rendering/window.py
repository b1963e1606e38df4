"""A window of VTK that is on no screen, made without risk: where a library of the system is missing, VTK itself ends the whole process.

On Linux it draws through EGL, else through OSMesa, else on the X server where there is one; Mesa needs no graphics card for any of
them. Elsewhere it is VTK's own choice.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from typing import Any

from bodymotion.system.extras import need

__all__ = ["NEEDED", "NoRendererError", "off_screen_window"]

EXTRA = "render"
NEEDED = ("libegl1", "libgl1-mesa-dri")
"""The Debian packages of drawing without screen and graphics card."""


class NoRendererError(OSError):
    """Nothing on this machine can draw: a library of the system is missing."""


def off_screen_window(width: int, height: int) -> Any:  # noqa: ANN401
    """Return a window of so many pixels that can be drawn in.

    Raises
    ------
    ImportError
        When VTK is not installed; the message says how it is.
    NoRendererError
        When nothing on this machine can draw; the message names the packages.
    """
    gl = need("vtkmodules.vtkRenderingOpenGL2", EXTRA, "drawing pictures")
    for name in _candidates():
        with _quiet():
            window = getattr(gl, name)()
            window.SetOffScreenRendering(1)
            window.SetMultiSamples(0)
            window.SetSize(width, height)
            # There is no screen that a finished picture would have to be copied to.
            window.SetFrameBlitModeToNoBlit()
            window.Initialize()
        if window.GetInitialized():
            return window
    raise NoRendererError(
        "there is nothing to draw with: drawing without a screen needs EGL or OSMesa, and neither of them works here "
        f"(Debian: apt-get install {' '.join(NEEDED)}, or apt-get install libosmesa6)"
    )


def _candidates() -> list[str]:
    """Name the kinds of windows whose libraries are there, the best first."""
    if not sys.platform.startswith("linux"):
        return ["vtkOpenGLRenderWindow"]
    found = ["vtkEGLRenderWindow"] if _has("libEGL.so.1", "eglInitialize") else []
    if any(_has(f"libOSMesa.so{tail}", "OSMesaCreateContextExt") for tail in (".8", ".6", "")):
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


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep VTK from saying on stderr what does not work: there may be another way."""
    core = need("vtkmodules.vtkCommonCore", EXTRA, "drawing pictures")
    level, warns = core.vtkLogger.GetCurrentVerbosityCutoff(), core.vtkObject.GetGlobalWarningDisplay()
    core.vtkLogger.SetStderrVerbosity(core.vtkLogger.VERBOSITY_OFF)
    core.vtkObject.GlobalWarningDisplayOff()
    try:
        yield
    finally:
        core.vtkLogger.SetStderrVerbosity(level)
        core.vtkObject.SetGlobalWarningDisplay(warns)
