"""Spot animations as a browser shows them: colours of feet, sliders, pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_animation_viewer import NODS, nod

from bodymotion.scene.loading import load_scene
from bodymotion.scene.options import DisplayOptions
from bodymotion.viewer import view
from bodymotion.viewer.page import write_page
from browser_pictures import at_rest, enter, picture
from waiting import TIMEOUT, until

pytestmark = pytest.mark.browser


def bluish(image: np.ndarray) -> int:
    """How many pixels are clearly blue: feet in stance, and the discs below them."""
    return int((image[..., 2] - image[..., 0] > 70).sum())


def orange(image: np.ndarray) -> int:
    """How many are clearly orange: feet in swing."""
    return int((image[..., 0] - image[..., 2] > 60).sum())


def test_feet_are_blue_in_stance_and_orange_in_swing_and_sliders_play_it_anew(
    page, tmp_path: Path
) -> None:
    file = tmp_path / "nod.cha"
    file.write_text(nod(NODS))
    viewer = view(
        file, port=8920, open_browser=False, block=False, play=False, watch=True
    )
    assert viewer is not None
    with viewer:
        viewer.show("shadows", False)
        viewer.show("visuals", False)  # Spot is yellow, too
        viewer.server.scene.configure_environment_map(None)
        page.goto(viewer.url)
        page.get_by_role("tab", name="Move").wait_for(timeout=TIMEOUT * 1000)
        until(lambda: bluish(picture(page)) > 200)
        standing = at_rest(page)
        viewer.seek(0.75)
        page.get_by_text("slice 6.0 of 16, beat 2", exact=True).wait_for()
        until(lambda: orange(picture(page)) > 40)
        lifted = at_rest(page)
        assert orange(standing) == 0
        assert bluish(lifted) < 0.9 * bluish(standing)
        viewer.show("contacts", False)
        until(lambda: bluish(picture(page)) < 20)
        row = page.locator("input[type=text]").first
        until(
            lambda: viewer.scene.beats.bpm == 60 and viewer.time == pytest.approx(1.5),
            enter(row, "60"),
        )
        page.get_by_text("slice 6.0 of 16, beat 2", exact=True).wait_for()
        until(
            lambda: (
                viewer.scene.beats.bpm == 120 and viewer.time == pytest.approx(0.75)
            ),
            page.get_by_role("button", name="Reset to defaults").click,
        )
        assert page.get_by_text("shown, not simulated", exact=True).count() == 4


def test_a_page_has_the_colours_too(page, tmp_path: Path) -> None:
    (tmp_path / "nod.cha").write_text(nod(NODS))
    file = tmp_path / "nod.html"
    write_page(
        load_scene(tmp_path / "nod.cha"),
        file,
        DisplayOptions(shadows=False, visuals=False),
    )
    page.context.set_offline(True)
    page.set_viewport_size(
        {"width": 310, "height": 560}
    )  # the timeline, below the picture, has these colours, too
    page.goto(file.as_uri())
    clock = page.locator("#bodymotion-time")
    until(lambda: clock.is_visible() and clock.input_value() != "")
    pauses = page.get_by_role("button", name="Pause")
    until(lambda: not pauses.count(), lambda: page.keyboard.press("Space"))
    until(lambda: bluish(picture(page)) > 200)
    for time, swings in ((1.8, False), (0.8, True), (0.0, False)):
        until(
            lambda swings=swings: (
                (orange(picture(page)) > 40) == swings and bluish(picture(page)) > 100
            ),
            enter(clock, str(time)),
        )
    assert page.get_by_text("in stance").count() == 1
