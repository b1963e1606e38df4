"""The report opened from disk with the network off: it plays, and robot, time line, moments and plots lead each other."""

from __future__ import annotations

import pytest

from bodymotion.reports import report
from browser_pictures import enter
from sample_files import ROOT
from waiting import until

pytestmark = pytest.mark.browser


def test_it_plays_and_everything_goes_by_one_time(page, tmp_path):
    contents = report(
        ROOT / "examples" / "biped.wrl",
        ROOT / "examples" / "biped_walk.seq",
        output=tmp_path / "report.html",
        what=["zmp"],
    )
    page.set_viewport_size({"width": 1200, "height": 800})
    page.context.set_offline(True)
    page.goto((tmp_path / "report.html").as_uri())

    def clock() -> float:
        return float(page.inner_text("#clock").split()[0])

    until(lambda: clock() > 0.05)
    moment = contents.moments[-1]
    until(
        lambda: clock() == pytest.approx(moment.time, abs=0.006),
        page.locator("#moments button.at").last.click,
    )
    page.wait_for_timeout(300)
    assert clock() == pytest.approx(moment.time, abs=0.006), "it stays there"
    inside = next(frame for frame in page.frames if frame.parent_frame is not None)
    until(lambda: inside.input_value("#bodymotion-time") == f"{moment.time:.3f}")
    assert len(inside.evaluate("bodymotionPage.data.marks")) == len(contents.moments)
    until(
        lambda: clock() == pytest.approx(3.0, abs=0.05),
        enter(inside.locator("#bodymotion-time"), "3.0"),
    )
    assert page.locator(".bodymotion-plot .main-svg").count() > 0
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    until(lambda: "small" in (page.get_attribute("#stage", "class") or ""))
    assert [url for url in page.fetched if not url.startswith("file:")] == []
    # On a telephone names stay in one piece, and plots keep the width that they need.
    page.set_viewport_size({"width": 420, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    names = page.locator(".wide td:first-child")
    heights = names.evaluate_all("cells => cells.map(cell => cell.clientHeight)")
    assert heights and max(heights) < 40
    widths = page.locator(".bodymotion-plot").evaluate_all(
        "plots => plots.map(plot => plot.clientWidth)"
    )
    assert min(widths) >= 700
