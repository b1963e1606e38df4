"""Take a picture of the viewer, for the documentation: ``python tests/viewer/take_still.py OUT.png MODEL [MOTION] --time 4.6``.

Needs Playwright and Chromium, as the browser tests do.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

from bodymotion.viewer import view

FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"]
STRIP = 42
"""Pixels that viser's panel leaves at the side when it is closed."""
CLEAN = """addEventListener('DOMContentLoaded', () => {
  const style = document.createElement('style');
  style.textContent = '.mantine-Notification-root{display:none!important}';
  document.head.append(style);
})"""


def take_still(
    out: Path,
    files: list[Path],
    *,
    time: float = 0.0,
    size: tuple[int, int] = (1280, 720),
    show: tuple[str, ...] = (),
    tab: str | None = None,
    view_from: str | None = None,
    panel: bool = True,
) -> None:
    """Write a PNG of what the viewer shows at a time [s]; without `panel` the robot has the whole picture."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    viewer = view(
        files[0], files[1] if len(files) > 1 else None, block=False, open_browser=False, play=False, show=show
    )
    assert viewer is not None
    with viewer, sync_playwright() as playwright:
        viewer.seek(time)
        if not panel:
            viewer.server.gui.main_panel.minimize()
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": size[0] + (0 if panel else STRIP), "height": size[1]})
        page.add_init_script(CLEAN)
        page.goto(viewer.url)
        page.wait_for_timeout(3000)
        for client in viewer.server.get_clients().values():
            if view_from is not None:
                viewer.look(client, preset=view_from)
        if tab is not None:
            page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(5000)
        page.screenshot(path=out, clip={"x": 0, "y": 0, "width": size[0], "height": size[1]})
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--time", type=float, default=0.0)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--show", default="")
    parser.add_argument("--tab")
    parser.add_argument("--view")
    parser.add_argument("--no-panel", action="store_true")
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    take_still(
        given.out,
        given.files,
        time=given.time,
        size=(width, height),
        show=tuple(name for name in given.show.split(",") if name),
        tab=given.tab,
        view_from=given.view,
        panel=not given.no_panel,
    )
