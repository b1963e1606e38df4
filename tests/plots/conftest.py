"""A walk that was measured, odd motions, and headless Chromium without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import numpy as np
import pytest

import bodymotion as bm


@pytest.fixture(scope="session")
def biped(examples) -> bm.Body:
    return bm.load(examples / "biped.wrl")


@pytest.fixture(scope="session")
def walk(examples) -> bm.Motion:
    return bm.load(examples / "biped_walk.seq")


@pytest.fixture(scope="session")
def measures(biped, walk):
    return bm.dynamics.measure(biped, walk)


@pytest.fixture(scope="session")
def swing(biped):
    """Return a motion of so many frames in which all joints swing, each with the given amplitude [rad]; the root as high as it is said."""

    def make(
        frames: int = 200, amplitude: float = 0.2, body: bm.Body = biped, height: float | None = None
    ) -> bm.Motion:
        times = np.arange(frames) / 100
        q = amplitude * np.sin(2 * times[:, None] * np.linspace(0.5, 2, body.num_joints))
        root = np.tile(np.array(body.root_pose), (frames, 1))
        if height is not None:
            root[:, 2] = height
        return bm.Motion.from_joints(q, 100.0, root=root)

    return make


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail("no Chromium or no Playwright, and CI=true")
        pytest.skip("no Chromium or no Playwright")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium) -> Iterator[object]:
    page = chromium.new_page(viewport={"width": 1200, "height": 900})
    page.context.set_offline(True)
    page.faults, page.fetched = [], []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("console", lambda said: page.faults.append(said.text) if said.type == "error" else None)
    page.on("dialog", lambda dialog: (page.faults.append("a dialog opened"), dialog.dismiss()))
    page.on("request", lambda r: page.fetched.append(r.url) if not r.url.startswith(("data:", "blob:")) else None)
    yield page
    page.close()
    assert page.faults == []
