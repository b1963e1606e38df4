"""Headless Chromium, its pictures drawn in software."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from waiting import TIMEOUT

FLAGS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-quic",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
]
NO_NOTICES = "addEventListener('DOMContentLoaded',()=>{const s=document.createElement('style');" \
    "s.textContent='.mantine-Notification-root{display:none!important}';document.head.append(s)})"  # fmt: skip


@pytest.fixture(scope="session")
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
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium) -> Iterator[object]:
    page = chromium.new_page(viewport={"width": 700, "height": 460})
    page.add_init_script(NO_NOTICES)
    page.set_default_timeout(TIMEOUT * 1000)
    page.faults = []
    page.fetched = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("dialog", lambda dialog: (page.faults.append("a dialog opened"), dialog.dismiss()))
    page.on("request", lambda r: page.fetched.append(r.url) if not r.url.startswith(("data:", "blob:")) else None)
    yield page
    page.close()
    assert page.faults == []
