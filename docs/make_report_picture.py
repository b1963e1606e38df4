"""Make the picture of a report in docs/images, as headless Chromium shows it: `python docs/make_report_picture.py`."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import bodymotion as bm

ROOT = Path(__file__).resolve().parents[1]
FLAGS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
]


def main() -> None:
    """Write the report of the example, go to a moment and save a screenshot."""
    program = shutil.which("chromium") or sys.exit("chromium is not installed")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        bm.report(
            ROOT / "examples" / "biped.wrl",
            ROOT / "examples" / "biped_walk.seq",
            output=file,
        )
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1300, "height": 1000})
        page.set_default_timeout(600_000)
        page.goto(file.as_uri())
        page.wait_for_timeout(6000)
        # The browser has no graphics card here, and viser shows a notification about it.
        page.frames[1].add_style_tag(
            content=".mantine-Notification-root { display: none }"
        )
        page.locator("#moments button.at").nth(3).click()
        page.wait_for_timeout(6000)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        picture.quantize(128, kmeans=3).save(
            ROOT / "docs" / "images" / "report.png", optimize=True
        )
        browser.close()


if __name__ == "__main__":
    main()
