"""Headless Chromium, its pictures drawn in software."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from waiting import TIMEOUT

FLAGS = [
    "--no-sandbox",
    "--use-angle=gl-egl",  # Mesa; Chromium's own renderer compiles the shaders of each page anew, for 10 s of CPU
    "--ignore-gpu-blocklist",
    "--enable-unsafe-swiftshader",  # it is used where Mesa is not installed
    "--disable-gpu-watchdog",  # it ends the process that draws when that is slow, and the scene stays empty from then on
    "--disable-background-networking",
    "--disable-quic",
    "--no-first-run",
    "--webgl-antialiasing-mode=none",
    "--disable-gpu-rasterization",
    "--disable-component-update",
    "--disable-sync",
]
FEW_FRAMES = "(()=>{const soon=window.requestAnimationFrame.bind(window);window.cancelAnimationFrame=clearTimeout;" \
    "window.requestAnimationFrame=(draw)=>setTimeout(soon,100,draw)})()"  # fmt: skip
"""Drawing in software takes a whole core where the browser draws whenever it can."""
NO_NOTICES = "addEventListener('DOMContentLoaded',()=>{const s=document.createElement('style');" \
    "s.textContent='.mantine-Notification-root{display:none!important}';document.head.append(s)})"  # fmt: skip


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    program = (
        os.environ.get("CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
    )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail("no Chromium or no Playwright, and CI=true")
        pytest.skip("no Chromium or no Playwright")
    with sync_playwright() as playwright:
        software = {**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1"}
        browser = playwright.chromium.launch(
            executable_path=program, args=FLAGS, env=software, timeout=TIMEOUT * 1000
        )
        yield browser
        browser.close()


@contextmanager
def opened(chromium, width: int = 700, height: int = 460) -> Iterator[object]:
    """A page that notes its `faults` and what it has `fetched`."""
    page = chromium.new_page(viewport={"width": width, "height": height})
    page.add_init_script(NO_NOTICES)
    page.add_init_script(FEW_FRAMES)
    page.set_default_timeout(TIMEOUT * 1000)
    page.faults = []
    page.fetched = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on(
        "dialog",
        lambda dialog: (page.faults.append("a dialog opened"), dialog.dismiss()),
    )
    page.on(
        "request",
        lambda r: (
            page.fetched.append(r.url)
            if not r.url.startswith(("data:", "blob:"))
            else None
        ),
    )
    yield page
    page.close()
    assert page.faults == []


@pytest.fixture
def page(chromium) -> Iterator[object]:
    with opened(chromium) as page:
        yield page
