"""Make the pictures of the viewer in docs/images, as headless Chromium shows it.

python docs/make_picture.py [NAME …]
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import bodymotion as bm

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking")


@dataclass(frozen=True)
class Picture:
    """A moment of examples that are shown; `camera` and `look_at` [m] where it is not the viewer's own first camera."""

    examples: tuple[str, ...]
    seconds: float
    size: tuple[int, int] = (1180, 700)
    camera: tuple[float, float, float] | None = None
    look_at: tuple[float, float, float] = (0.0, 0.0, 0.3)
    switches: Mapping[str, bool] = field(default_factory=dict)
    colors: int = 256


PICTURES = {
    "viewer": Picture(("biped.wrl", "biped_walk.seq"), 4.62),
    "spot_wave": Picture(("wave.cha",), 1.6, camera=(2.3, -1.9, 1.1), look_at=(0.1, 0.0, 0.64)),
    "spot_sway": Picture(("sway.cha",), 0.78, camera=(2.0, 0.7, 0.75), look_at=(0.0, 0.0, 0.24)),
    "spot_trot": Picture(("trot.cha",), 1.13, camera=(1.35, 1.6, 0.75), look_at=(0.02, 0.0, 0.24)),
}


def main(names: list[str]) -> None:
    """Save the pictures with these names, or all."""
    program = shutil.which("chromium") or sys.exit("chromium is not installed")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        for name in names or PICTURES:
            take(browser, PICTURES[name], IMAGES / f"{name}.png")
        browser.close()


def take(browser: Browser, picture: Picture, target: Path) -> None:
    """Save a picture, with few enough colours to be small."""
    files = [ROOT / "examples" / name for name in picture.examples]
    viewer = bm.view(*files, block=False, open_browser=False, play=False)
    assert viewer is not None
    viewer.seek(picture.seconds)
    for name, on in picture.switches.items():
        viewer.show(name, on)
    if picture.camera is not None:
        viewer.server.initial_camera.position = picture.camera
        viewer.server.initial_camera.look_at = picture.look_at
    width, height = picture.size
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(viewer.url)
    page.wait_for_timeout(6000)
    # The browser has no graphics card here, and viser says so on the page.
    page.add_style_tag(content=".mantine-Notification-root { display: none }")
    shot = b""
    for _ in range(20):  # until it is at rest: things fade in
        page.wait_for_timeout(3000)
        before, shot = shot, page.screenshot()
        if shot == before:
            break
    page.close()
    viewer.stop()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(picture.colors, kmeans=3).save(target, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
