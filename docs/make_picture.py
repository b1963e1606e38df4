"""Make docs/images/viewer.png: the viewer with the example walk, as headless Chromium shows it.

python docs/make_picture.py [FILE]
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import bodymotion as bm

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 4.62
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking")


def main(target: Path) -> None:
    """Save the picture, with few enough colours to be small."""
    browser_path = shutil.which("chromium") or sys.exit("chromium is not installed")
    example = ROOT / "examples" / "biped"
    viewer = bm.view(f"{example}.wrl", f"{example}_walk.seq", block=False, open_browser=False, play=False)
    assert viewer is not None
    viewer.seek(SECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1180, "height": 700})
        page.goto(viewer.url)
        page.wait_for_timeout(6000)
        # The browser has no graphics card here, and viser says so on the page.
        page.add_style_tag(content=".mantine-Notification-root { display: none }")
        page.wait_for_timeout(4000)
        shot = page.screenshot()
        browser.close()
    viewer.stop()
    target.parent.mkdir(parents=True, exist_ok=True)
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(256, kmeans=3).save(target, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "viewer.png")
