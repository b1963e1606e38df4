"""Pictures need VTK, PyAV and something of the system to draw with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sample_files import missing

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "viewer"))


@pytest.fixture(scope="session")
def drawing() -> None:
    """Skip, or fail where CI=true, when nothing can be drawn here."""
    from bodymotion.rendering.vtk import NoRendererError, off_screen_window

    pytest.importorskip("av")
    try:
        off_screen_window(16, 16).Finalize()
    except (ImportError, NoRendererError) as error:
        missing(str(error))
