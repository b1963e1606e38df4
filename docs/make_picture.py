"""Make the pictures of the viewer in docs/images, as headless Chromium shows it.

python docs/make_picture.py [NAME …]
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import bodymotion as bm

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
FLAGS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
)


@dataclass(frozen=True)
class Picture:
    """A moment of examples that is shown; `camera` and `look_at` [m] where it is not the viewer's own first camera.

    `tab` of the panel and `quantity` that is plotted, if not the first; `ghost` makes a second motion of the first one.
    """

    examples: tuple[str, ...]
    seconds: float
    size: tuple[int, int] = (1180, 700)
    camera: tuple[float, float, float] | None = None
    look_at: tuple[float, float, float] = (0.0, 0.0, 0.3)
    options: Mapping[str, bool] = field(default_factory=dict)
    colors: int = 256
    tab: str | None = None
    quantity: str | None = None
    ghost: Callable[[bm.Motion], bm.Motion] | None = None


def later(motion: bm.Motion) -> bm.Motion:
    """Return a motion at 94 % of its speed."""
    rate = 0.94 * motion.frame_rate
    return motion.replaced(
        *(
            replace(c, timeline=bm.Timeline.uniform(c.num_frames, rate))
            for c in motion.timed
        )
    )


ON = {
    "contacts": True,
    "support": True,
    "measured_zmp": True,
    "mass": True,
    "trails": True,
}
PICTURES = {
    "viewer": Picture(("biped.wrl", "biped_walk.seq"), 4.62),
    "viewer_balance": Picture(
        ("biped.wrl", "biped_walk.seq"),
        4.57,
        camera=(-1.4, -2.4, 1.35),
        look_at=(-0.15, 0.05, 0.6),
        options=ON,
        tab="Show",
    ),
    "viewer_limits": Picture(
        ("biped.wrl", "biped_walk.seq"),
        2.62,
        camera=(2.2, 1.2, 1.0),
        look_at=(0.0, 0.0, 0.62),
        options={"velocity_limits": True, "dark": True, "support": True},
        tab="Plot",
        quantity="joint_velocities",
    ),
    "viewer_ghost": Picture(
        ("biped.wrl", "biped_walk.seq"),
        4.0,
        camera=(2.3, 1.5, 1.0),
        look_at=(0.0, 0.05, 0.65),
        ghost=later,
    ),
    "spot_wave": Picture(
        ("wave.cha",), 1.6, camera=(2.3, -1.9, 1.1), look_at=(0.1, 0.0, 0.64)
    ),
    "spot_sway": Picture(
        ("sway.cha",), 0.78, camera=(2.0, 0.7, 0.75), look_at=(0.0, 0.0, 0.24)
    ),
    "spot_trot": Picture(
        ("trot.cha",), 1.13, camera=(1.35, 1.6, 0.75), look_at=(0.02, 0.0, 0.24)
    ),
}


def main(names: list[str]) -> None:
    """Save the pictures with these names, or all."""
    program = shutil.which("chromium") or sys.exit("chromium is not installed")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        for name in names or PICTURES:
            scene(browser, PICTURES[name], IMAGES / f"{name}.png")
        browser.close()


def scene(browser: Browser, picture: Picture, target: Path) -> None:
    """Save a picture; few colours keep the file small."""
    things = [bm.load(ROOT / "examples" / name) for name in picture.examples]
    body, *motions = things
    motions += [picture.ghost(motions[0])] if picture.ghost is not None else []
    viewer = bm.view(
        body,
        motions,
        ghost=len(motions) > 1,
        block=False,
        open_browser=False,
        play=False,
    )
    assert viewer is not None
    viewer.options.quantity = picture.quantity
    if picture.quantity is not None:
        viewer.replace(viewer.scene)
    viewer.seek(picture.seconds)
    for name, on in picture.options.items():
        viewer.show(name, on)
    if picture.camera is not None:
        viewer.server.initial_camera.position = picture.camera
        viewer.server.initial_camera.look_at = picture.look_at
    width, height = picture.size
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(600_000)
    page.goto(viewer.url)
    if picture.tab is not None:
        page.get_by_role("tab", name=picture.tab).click()
    page.wait_for_timeout(6000)
    # The browser has no graphics card here, and viser shows a notification about it.
    page.add_style_tag(content=".mantine-Notification-root { display: none }")
    shot = b""
    for _ in range(20):  # until nothing changes any more: objects fade in
        page.wait_for_timeout(3000)
        before, shot = shot, page.screenshot()
        if shot == before:
            break
    page.close()
    viewer.stop()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(picture.colors, kmeans=3).save(
        target, optimize=True
    )


if __name__ == "__main__":
    main(sys.argv[1:])
