"""The real viewer in a real browser: headless Chromium, its pictures drawn in software."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from small_robots import arm, biped, box, link, swinging

import bodymotion as bm
from bodymotion.scene.options import DisplayOptions
from bodymotion.scene.scene import make_scene
from bodymotion.viewer import Viewer
from bodymotion.viewer.page import write_page
from browser_fixtures import opened
from browser_pictures import (
    BLUE,
    GREEN,
    ORANGE,
    RED,
    at_rest,
    colored,
    difference,
    enter,
    middle,
    picture,
)
from closed_loops_samples import four_bar
from waiting import TIMEOUT, until

pytestmark = pytest.mark.browser

PRESSED_AT_ONCE = """async (keys) => {
  for (const key of keys) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await new Promise((next) => setTimeout(next));
  }
}"""
"""The next key is pressed before the browser has drawn what the last one changed."""


GREY = box((0.3, 0.3, 0.3), (0, 0, 0.15), bm.shapes.Material(diffuse=(0.5, 0.5, 0.5)))
EMPTY = bm.Body(
    name="nothing",
    links=(link("GREY", 0, -1, (0, 0, 0), kind="fixed", visuals=(GREY,)),),
)


@pytest.fixture(scope="module")
def opened_viewer(chromium) -> Iterator[tuple[Viewer, object]]:
    """A viewer, and its page, for all tests here: to open one takes longer than most of the tests."""
    with (
        Viewer(make_scene(EMPTY, None), port=8700, play=False) as viewer,
        opened(chromium) as page,
    ):
        # Without shadows and without light from all sides drawing in software takes half the time.
        viewer.show("shadows", False)
        viewer.server.scene.configure_environment_map(None)
        page.goto(viewer.url)
        page.get_by_role("tab", name="Show").wait_for()
        yield viewer, page


@pytest.fixture
def shared(opened_viewer) -> Iterator[object]:
    """The page of all tests, showing nothing of the colours."""
    viewer, page = opened_viewer
    yield page
    viewer.replace(make_scene(EMPTY, None))
    until(
        lambda: (
            not len(colored(picture(page), GREEN)) + len(colored(picture(page), ORANGE))
        )
    )
    assert page.faults == []


@pytest.fixture
def showing(opened_viewer, shared) -> Callable[..., Viewer]:
    viewer, page = opened_viewer

    def show(body: bm.Body, motion: bm.Motion | None = None) -> Viewer:
        # The picture has 330 rows; below it is the timeline of a motion.
        page.set_viewport_size({"width": 700, "height": 330 if motion is None else 460})
        viewer.pause()
        viewer.seek(0.0)
        viewer.replace(make_scene(body, motion), reset_camera=True)
        page.get_by_role("tab", name="Show").wait_for()
        until(
            lambda: (
                len(colored(picture(page), GREEN)) + len(colored(picture(page), ORANGE))
                > 50
            )
        )
        return viewer

    return show


def test_the_robot_is_seen_in_its_colours(page) -> None:
    with Viewer(make_scene(arm(), None), port=8700, play=False) as viewer:
        page.set_viewport_size({"width": 700, "height": 330})
        page.goto(viewer.url)
        until(
            lambda: (
                min(len(colored(picture(page), color)) for color in (RED, GREEN, BLUE))
                > 150
            )
        )
        with_robot = at_rest(page)
        viewer.show("visuals", False)
        until(
            lambda: (
                not any(
                    len(colored(picture(page), color)) for color in (RED, GREEN, BLUE)
                )
            )
        )
        assert difference(with_robot, at_rest(page)) > 0.02
        assert page.fetched and all(url.startswith(viewer.url) for url in page.fetched)


def test_see_through_links_keep_their_colour_before_the_ground(shared, showing) -> None:
    page = shared

    def row(transparency: float) -> bm.Body:
        material = bm.shapes.Material(diffuse=(1, 0.3, 0), transparency=transparency)
        boxes = (box((0.3, 0.3, 0.1), (0, 0, 0.05), material),)
        return bm.Body(
            links=(
                link("NEAR", 0, -1, (0, 0, 0), kind="fixed", visuals=boxes),
                link("FAR", 1, 0, (-0.4, -0.3, 0), kind="fixed", visuals=boxes),
            )
        )

    def reddish(image: np.ndarray) -> int:
        return int((image[..., 0] - image[..., 2] > 40).sum())

    viewer = showing(row(0.0))
    solid = at_rest(page)
    viewer.replace(make_scene(row(0.3), None))
    until(
        lambda: (
            difference(picture(page), solid) > 0.01
            and reddish(picture(page)) > 0.5 * reddish(solid)
        )
    )
    assert reddish(at_rest(page)) > 0.9 * reddish(solid) > 1000


def test_play_moves_it_and_keys_work(shared, showing) -> None:
    page = shared
    body = biped()
    viewer = showing(body, swinging(body, seconds=4))
    before = at_rest(page)
    page.get_by_role("button", name="Play").click()
    until(lambda: viewer.playing and viewer.frame > 20)
    page.keyboard.press(
        "Space"
    )  # once: a second one, sent while a slow page handles the first, would play on
    until(lambda: not viewer.playing)
    viewer.seek_frame(25)
    until(lambda: difference(before, picture(page)) > 0.01)
    frame = viewer.frame
    for key, expected in (
        ("ArrowRight", frame + 1),
        ("ArrowLeft", frame),
        ("Shift+ArrowRight", min(frame + 5, 200)),
        ("End", 200),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        until(lambda expected=expected: viewer.frame == expected)
    page.keyboard.press("]")
    until(lambda: viewer.player.speed == 2.0)
    page.keyboard.press("[")
    until(lambda: viewer.player.speed == 1.0)
    for loop in (False, True):
        page.keyboard.press("l")
        until(lambda loop=loop: viewer.player.loop == loop)


def test_scrubbing_shows_that_frame(shared, showing) -> None:
    page = shared
    body = arm()
    wave = np.sin(np.arange(101) / 50 * np.pi)
    timeline = bm.Timeline.uniform(101, 50.0)
    values = np.stack([-0.9 * wave, 0.25 * wave], axis=1)
    viewer = showing(
        body,
        bm.Motion(
            (
                bm.MultiValueSeq(
                    content="JointDisplacement", timeline=timeline, values=values
                ),
            )
        ),
    )
    first = at_rest(page)
    clock = page.locator("#bodymotion-time")
    until(
        lambda: page.get_by_text("frame 25 of 100, 50 Hz").count(), enter(clock, "0.5")
    )
    assert viewer.frame == 25
    until(lambda: difference(first, picture(page)) > 0.02)
    # Where links are, not the pixels: viser draws with fewer of them while it is slow.
    shown = at_rest(page)
    assert np.linalg.norm(middle(shown, BLUE) - middle(first, BLUE)) > 8
    # Backwards, so that the first view, which sees the whole motion, is the same.
    backwards = bm.Motion.from_joints(values[::-1], frame_rate=40.0)
    viewer.replace(make_scene(body, backwards))
    page.get_by_text("frame 25 of 100, 50 Hz").wait_for(state="hidden")
    for column in range(2):
        viewer.set_joint(column, values[25, column])
    until(
        lambda: (
            max(
                np.linalg.norm(middle(shown, c) - middle(picture(page), c))
                for c in (BLUE, GREEN)
            )
            < 3
        )
    )


def test_a_joint_slider_moves_its_link_and_what_hangs_on_it(shared, showing) -> None:
    page = shared
    viewer = showing(arm())
    start, seen = viewer.link_poses(), at_rest(page)
    row = page.locator("input[type=text]").nth(1)
    until(lambda: viewer.scene_view.q[1] == pytest.approx(0.25), enter(row, "0.25"))
    moved = viewer.link_poses()
    np.testing.assert_array_equal(moved[:2], start[:2])
    assert moved[2, 0] - start[2, 0] == pytest.approx(0.25)
    until(
        lambda: (
            np.linalg.norm(
                colored(picture(page), BLUE).mean(axis=0)
                - colored(seen, BLUE).mean(axis=0)
            )
            > 8
        ),
    )
    slid = at_rest(page)
    assert abs(len(colored(slid, RED)) - len(colored(seen, RED))) < 0.1 * len(
        colored(seen, RED)
    )
    until(
        lambda: viewer.scene_view.q[1] == 0.3 and row.input_value() == "0.3",
        enter(row, "300"),
    )
    until(
        lambda: viewer.scene_view.q[0] == 1.0,
        lambda: page.get_by_role("slider").first.press("End"),
    )
    np.testing.assert_allclose(
        viewer.link_poses(), arm().forward_kinematics(viewer.scene_view.q), atol=1e-12
    )


def test_names_are_text_and_never_html(shared, showing) -> None:
    page = shared
    evil = "<img src=x onerror='alert(1)'>/\ud800\x1b[31m"
    body = arm()
    links = tuple(
        bm.Link(name=evil, index=one.index, parent=one.parent, offset=one.offset, segments=one.segments,
                joint=bm.Joint(name=evil, type=one.joint.type, id=one.joint.id, axis=one.joint.axis))
        for one in body.links
    )  # fmt: skip
    body = bm.Body(
        name=evil,
        links=links,
        devices=(bm.model.Gyro(name=evil, link=1),),
        viewpoints=(bm.model.Viewpoint(description=evil),),
    )
    viewer = showing(body, swinging(body))
    viewer.show_message(evil, bad=True)
    viewer.show("devices")
    page.get_by_text("onerror").first.wait_for()  # the message
    for tab in ("Show", "Plot", "Links", "About"):
        page.get_by_role("tab", name=tab).click()
        until(
            lambda tab=tab: (
                page.get_by_role("tab", name=tab).get_attribute("aria-selected")
                == "true"
            )
        )
    assert page.locator("img[src=x]").count() == 0
    viewer.show("devices", False)


PAUSED_AT_THE_START = """new MutationObserver((_, observer) => {
  if (!document.querySelector("[role=slider]")) return;
  observer.disconnect();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: " ", code: "Space", bubbles: true }));
}).observe(document, { subtree: true, childList: true })"""
"""Space is pressed before the page has played anything."""


def test_the_page_plays_from_a_file_without_a_network(page, tmp_path) -> None:
    body = arm()
    file = tmp_path / "walk.html"
    motion = swinging(body, seconds=10, rate=60, size=0.9)
    sampling = write_page(make_scene(body, motion), file, DisplayOptions(shadows=False))
    assert len(sampling.frames) == 601
    page.context.set_offline(True)
    page.set_viewport_size({"width": 310, "height": 380})
    page.add_init_script(PAUSED_AT_THE_START)
    page.goto(file.as_uri())
    clock = page.locator("#bodymotion-time")
    until(lambda: len(colored(picture(page), GREEN)) > 50)
    assert float(clock.input_value()) == 0.0
    one, then = at_rest(page), float(clock.input_value())
    page.keyboard.press("Space")
    until(lambda: float(clock.input_value()) > then + 0.4)
    page.keyboard.press("Space")
    until(lambda: difference(one, picture(page)) > 0.01)
    page.evaluate(PRESSED_AT_ONCE, ["End", "Home", "ArrowRight"])
    until(lambda: clock.input_value() == "0.017")
    slider = page.locator("[role=slider]")
    assert float(slider.get_attribute("aria-valuenow")) == pytest.approx(
        1 / 60, abs=1e-9
    )
    clock.focus()
    clock.blur()
    assert float(slider.get_attribute("aria-valuenow")) == pytest.approx(
        1 / 60, abs=1e-9
    ), "not the digit that is shown"
    for typed, expected in (("-3", 0.0), ("99", 10.0)):
        until(
            lambda expected=expected: (
                float(slider.get_attribute("aria-valuenow")) == expected
            ),
            enter(clock, typed),
        )
        until(lambda: len(colored(picture(page), GREEN)) > 50)
    assert page.fetched == [file.as_uri()]


def test_saving_the_file_shows_the_new_motion_at_the_same_time(page, tmp_path) -> None:
    from bodymotion.viewer import view

    def text(frames: int, x: float) -> str:
        rows = "\n".join(f"  - [ [ {x}, 0, 0.5, 1, 0, 0, 0 ] ]" for _ in range(frames))
        return (
            "type: BodyMotion\ncomponents:\n- type: MultiSE3Seq\n  content: LinkPosition\n  frameRate: 10\n"
            f"  numFrames: {frames}\n  numParts: 1\n  SE3Format: XYZQWQXQYQZ\n  frames:\n{rows}\n"
        )

    file = tmp_path / "a.seq"
    file.write_text(text(20, 1.0))
    viewer = view(
        file, port=8700, open_browser=False, block=False, watch=True, play=False
    )
    assert viewer is not None
    try:
        viewer.seek(1.2)
        page.goto(viewer.url)
        replacement = tmp_path / "b.seq"
        replacement.write_text(text(40, 2.0))
        replacement.replace(
            file
        )  # once: a write that the watcher does not see would be a fault
        until(
            lambda: viewer.scene.num_frames == 40 and viewer.link_poses()[0, 0] == 2.0
        )
        assert viewer.time == pytest.approx(1.2)
        file.write_text("type: BodyMotion\ncomponents: [ [ [")
        page.get_by_text("Not reloaded").wait_for(timeout=TIMEOUT * 1000)
        assert viewer.scene.num_frames == 40
        Path(file).write_text(text(30, 3.0))
        until(lambda: viewer.scene.num_frames == 30)
        page.get_by_text("Not reloaded").wait_for(
            state="hidden", timeout=TIMEOUT * 1000
        )
    finally:
        viewer.stop()


def test_a_joint_slider_closes_the_loop_and_the_panel_says_so(shared, showing) -> None:
    page = shared
    sample = four_bar(askew=(np.pi / 2, 0, 0))
    bars = [
        ((0.42, 0.02, 0.02), 0.2),
        ((0.1, 0.05, 0.05), 0.05),
        ((0.35, 0.03, 0.03), 0.175),
        ((0.3, 0.03, 0.03), 0.15),
    ]
    colors = [(0.4, 0.4, 0.4), (0.9, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.2, 0.9)]
    links = tuple(
        replace(
            one,
            segments=(
                bm.Segment(
                    mass=1.0,
                    visuals=(
                        box(size, (middle, 0, 0), bm.shapes.Material(diffuse=color)),
                    ),
                ),
            ),
        )
        for one, (size, middle), color in zip(
            sample.body.links, bars, colors, strict=True
        )
    )
    viewer = showing(replace(sample.body, links=links))
    page.get_by_text("LOOP is open by").wait_for()
    crank = page.locator("input[type=text]").first
    for degrees in (30, 100, 170):
        until(
            lambda degrees=degrees: (
                viewer.scene_view.q[0] == pytest.approx(np.deg2rad(degrees))
            ),
            enter(crank, str(degrees)),
        )
        page.get_by_text("The loop is closed.").wait_for()
        assert (
            bm.model.loop_errors(viewer.scene.body, viewer.link_poses())[0].max() < 1e-9
        )
    closed = at_rest(page)
    rows = page.locator("input[type=text]")
    until(
        lambda: (
            float(rows.nth(2).input_value())
            == pytest.approx(np.rad2deg(viewer.scene_view.q[2]), abs=0.06)
        )
    )
    page.get_by_text("Close loops when posing").click()
    until(lambda: not viewer.options.loops)
    until(lambda: page.get_by_text("LOOP is open by").count(), enter(crank, "90"))
    assert bm.model.loop_errors(viewer.scene.body, viewer.link_poses())[0].max() > 0.01
    until(lambda: difference(closed, picture(page)) > 0.002)
    page.get_by_text("Close loops when posing").click()
    page.get_by_text("The loop is closed.").wait_for()
    assert viewer.scene_view.q[0] == pytest.approx(np.pi / 2)


def test_a_click_in_a_plot_goes_there_and_a_picture_can_be_kept(
    shared, showing
) -> None:
    page = shared
    body = arm()
    viewer = showing(body, swinging(body, seconds=4))
    page.get_by_role("tab", name="Plot").click()
    plot = page.locator(".bodymotion-plot svg")
    plot.wait_for()

    def click(share: float) -> None:
        box = plot.bounding_box()
        page.mouse.click(box["x"] + share * box["width"], box["y"] + 20)

    for share, frame in ((0.25, 50), (0.8, 160)):
        until(
            lambda frame=frame: abs(viewer.frame - frame) <= 1,
            lambda share=share: click(share),
        )
    bar = page.locator("#bodymotion-bar canvas")
    box = bar.bounding_box()
    until(
        lambda: abs(viewer.time - 2.0) < 0.1,
        lambda: page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 25),
    )
    page.get_by_role("combobox", name="Quantity").click()
    page.get_by_role("option", name="Joint velocities").click()
    until(
        lambda: viewer.analysis is not None and viewer.analysis.has("joint_velocities")
    )
    page.get_by_role("tab", name="Links").click()
    page.locator(".bodymotion-search").fill("hand")
    rows = page.locator("[data-bodymotion-link]:visible")
    until(lambda: rows.count() == 1)
    until(lambda: viewer.selected_link is body.links[2], rows.first.click)
    page.get_by_role("tab", name="Show").click()
    with page.expect_download(timeout=TIMEOUT * 1000) as download:
        page.get_by_role("button", name="Image").click()
    kept = np.asarray(Image.open(download.value.path()).convert("RGB")).astype(int)
    assert kept.shape[0] > 200 and len(colored(kept, GREEN)) > 50
