"""Machines that cannot draw: it is said what they need, and nothing crashes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bodymotion.rendering import vtk as window
from waiting import TIMEOUT


def run(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


SAID = """
import bodymotion as bm
body = bm.Body(links=(bm.Link(name="B", index=0, parent=-1),))
try:
    bm.render(body, size=(64, 48))
except {error} as error:
    print(error)
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems have their own window"
)
def test_where_nothing_can_draw_the_packages_are_named(monkeypatch):
    pytest.importorskip("vtkmodules")
    monkeypatch.setattr(window, "_candidates", lambda: [])
    with pytest.raises(
        OSError, match=r"EGL or OSMesa.*apt-get install libegl1 libgl1-mesa-dri"
    ):
        window.off_screen_window(64, 48)


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems have their own window"
)
def test_mesa_without_its_drivers_is_no_crash(tmp_path):
    pytest.importorskip("vtkmodules")
    result = run(
        SAID.format(error="OSError"),
        LIBGL_DRIVERS_PATH=str(tmp_path),
        __EGL_VENDOR_LIBRARY_FILENAMES=str(tmp_path / "no"),
        DISPLAY="",
    )
    assert result.returncode == 0, result.stderr
    assert (
        "libgl1-mesa-dri" in result.stdout or result.stdout == ""
    )  # another way to draw may be there
    assert "WARN" not in result.stderr


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems have their own window"
)
def test_a_library_without_the_functions_is_none(monkeypatch):
    assert not window._has("libEGL.so.1", "a_function_that_nobody_has")
    assert not window._has("lib_that_nobody_has.so.1", "eglInitialize")


def test_without_the_packages_the_extra_is_named():
    code = "import sys; sys.modules['vtkmodules'] = None\n" + SAID.format(
        error="ImportError"
    )
    result = run(code)
    assert "pip install 'bodymotion[render]'" in result.stdout, result.stderr
