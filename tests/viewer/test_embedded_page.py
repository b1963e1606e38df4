"""A page inside another page: led by messages, and telling its time."""

from __future__ import annotations

from html import escape

import pytest
from small_robots import arm, swinging

import bodymotion as bm
from bodymotion.scene.options import DisplayOptions
from bodymotion.scene.scene import make_scene
from bodymotion.viewer.page import page as page_of
from browser_pictures import GREEN, at_rest, colored, difference, picture
from waiting import until

pytestmark = pytest.mark.browser

AROUND = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="robot" style="border:0" width="310" height="330" srcdoc="{}"></iframe><script>
const got = [];
const last = (what) => got.filter((m) => m.bodymotion === what).at(-1);
const tell = (what, time) => robot.contentWindow.postMessage({{ bodymotion: what, time }}, "*");
addEventListener("message", (event) => got.push(event.data));
robot.addEventListener("load", () => tell("seek", 12.25));
</script>"""


def later(motion: bm.Motion, start: float) -> bm.Motion:
    """The same, with time stamps from `start` on."""
    joints = motion.joint_displacement
    timeline = bm.Timeline.stamped(joints.timeline.times + start, 50.0)
    return bm.Motion(
        (
            bm.MultiValueSeq(
                content="JointDisplacement", timeline=timeline, values=joints.values
            ),
        ),
        extra=motion.extra,
    )


def test_a_page_around_it_leads_it_and_reads_its_time(page, tmp_path) -> None:
    body = arm()
    scene = make_scene(body, later(swinging(body, seconds=4, size=0.9), 10.0))
    file = tmp_path / "around.html"
    file.write_text(
        AROUND.format(
            escape(page_of(scene, DisplayOptions(shadows=False)), quote=True)
        ),
        encoding="utf-8",
    )
    page.context.set_offline(True)
    page.goto(file.as_uri())

    def time() -> float:
        return page.evaluate("last('time') ? last('time').time : -1")

    until(lambda: time() == 12.25)  # sent before it was there
    assert page.evaluate("last('ready')") == {
        "bodymotion": "ready",
        "start": 10,
        "end": 14,
    }
    assert page.evaluate("last('time').playing") is False
    until(lambda: len(colored(at_rest(page), GREEN)) > 50)
    there = at_rest(page)
    for target, expected in (
        (10.0, 10.0),
        (13.5555, 13.5555),
        (13.5555, 13.5555),
        (99, 14.0),
        (-5, 10.0),
    ):
        until(
            lambda expected=expected: time() == pytest.approx(expected, abs=1e-9),
            lambda target=target: page.evaluate(f"tell('seek', {target})"),
        )
    until(lambda: difference(there, picture(page)) > 0.01)
    until(lambda: time() == 12.25, lambda: page.evaluate("tell('seek', 12.25)"))
    until(lambda: difference(there, picture(page)) < 0.003)
    count = page.evaluate("got.length")
    until(
        lambda: page.evaluate("last('time').playing") and time() > 12.5,
        lambda: page.evaluate("tell('play')"),
    )
    until(
        lambda: page.evaluate("last('time').playing") is False,
        lambda: page.evaluate("tell('pause')"),
    )
    assert page.evaluate(f"got.slice({count}).filter((m) => m.playing).length") > 3
    page.evaluate(
        "tell('nonsense'); robot.contentWindow.postMessage('text', '*'); tell('seek')"
    )
    page.wait_for_timeout(100)
    assert page.evaluate("last('time').playing") is False
