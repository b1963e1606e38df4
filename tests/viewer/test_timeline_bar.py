"""The timeline, requests of browsers, the selected link, and a viewer whose files take long to load."""

from __future__ import annotations

import numpy as np
import pytest
from small_robots import arm, biped, swinging

import bodymotion as bm
from bodymotion.checks import moments
from bodymotion.scene.options import DisplayOptions
from bodymotion.scene.scene import make_scene
from bodymotion.viewer import Viewer
from bodymotion.viewer.analysis import analyze
from bodymotion.viewer.page import request, timeline_data
from bodymotion.viewer.panel import tree_html
from bodymotion.viewer.scene_view import SceneView
from bodymotion.viewer.server import quiet_server, stop_server
from waiting import until


def test_browsers_request_times_actions_and_links_and_nothing_else() -> None:
    body = biped()
    with Viewer(make_scene(body, swinging(body)), port=8940, play=False) as viewer:
        for text in (
            "",
            "[",
            "[" * 900,
            "9" * 5000,
            "1",
            '{"seek": "1"}',
            '{"act": "stop"}',
            '{"seek": NaN}',
            '{"select": 1e3}',
        ):
            request(viewer, text)
        request(viewer, '{"seek": 0.5}')
        until(lambda: viewer.time == 0.5)
        request(viewer, '{"act": "next"}')
        until(lambda: viewer.frame == 26)
        request(viewer, '{"speed": 2}')
        until(lambda: viewer.player.speed == 2.0)
        link = body.links[1]
        request(viewer, '{"select": 1}')
        until(lambda: viewer.selected_link is link)
        card = viewer.panel.link_card._card
        until(
            lambda: (
                card.visible
                and link.name in card.content
                and f"{link.mass:.4g} kg" in card.content
            )
        )
        viewer.set_joint(0, 0.25)
        until(lambda: "+0.250 rad" in card.content)
        request(viewer, '{"select": -1}')
        until(lambda: viewer.selected_link is None and not card.visible)


def test_the_timeline_keeps_the_worst_findings_and_counts_all() -> None:
    body = biped()
    q = np.zeros((12_000, body.num_joints))
    # A small step every second, and one large step in the second half.
    q[:, 0] = 0.5 * (np.arange(len(q)) // 100 % 2)
    q[9_000:9_001, 0] = -2.0
    scene = make_scene(body, bm.Motion.from_joints(q, frame_rate=100.0))
    analysis = analyze(scene, True)
    found = moments(scene.motion, body)
    worst = max(found, key=lambda one: (one.severity == "error", one.amount))
    marks = timeline_data(scene, analysis)["marks"]
    assert len(found) > len(marks) > 50
    assert sum(mark.number for mark in marks) == len(found)
    assert worst.time > 60 and worst.time in [mark.time for mark in marks]


@pytest.mark.parametrize("follow", [False, True])
def test_the_first_camera_sees_the_whole_motion(follow: bool) -> None:
    body = biped()
    q = np.zeros((50, body.num_joints))
    root = np.tile([0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0], (50, 1))
    root[20:30, 2] = 2.5  # a jump far above the first frame
    motion = bm.Motion.from_joints(q, frame_rate=50.0, root=root)
    scene = make_scene(body, motion)
    server = quiet_server("127.0.0.1", 0)
    try:
        view = SceneView(server, scene, DisplayOptions(follow=follow))
        camera = view.first_camera()
        for frame in range(50):
            points = scene.extent.placed(scene.link_poses[frame])
            pixels = camera.project(points, (800, 800))
            assert ((pixels > 0) & (pixels < 800)).all()
    finally:
        stop_server(server)


def test_the_tree_has_all_links_as_text() -> None:
    body = bm.Body(links=(bm.Link(name="<img src=x>"), *arm().links[1:]))
    text = tree_html(body)
    assert (
        text.count("data-bodymotion-link=") == 3
        and "<img" not in text
        and "&lt;img" in text
    )


def test_the_timeline_has_the_contacts_and_findings_of_the_motion() -> None:
    body = biped()
    q = np.zeros((200, body.num_joints))
    q[120:, 0] = 2.0
    scene = make_scene(body, bm.Motion.from_joints(q, frame_rate=100.0))
    analysis = analyze(scene, True)
    data = timeline_data(scene, analysis)
    assert {round(time, 6) for time, *_ in data["marks"]} <= {
        round(one.time, 6) for one in moments(scene.motion, body)
    }
    assert any(time == pytest.approx(1.2, abs=0.011) for time, *_ in data["marks"])
    contacts = analysis.measures.contacts
    assert [name for name, _ in data["rows"]] == [
        body.links[index].name for index in contacts.links
    ]
    for (_, spans), on in zip(data["rows"], contacts.in_contact.T, strict=True):
        assert sum(end - start for start, end, *_ in spans) == pytest.approx(
            on[:-1].sum() / 100, abs=1e-6
        )
