"""The timeline, requests of browsers, the selected link, and a viewer whose files take long to load."""

from __future__ import annotations

import numpy as np
import pytest
from small_robots import arm, biped, swinging

import bodymotion as bm
from bodymotion.checks import moments
from bodymotion.scene.scene import make_scene
from bodymotion.viewer import Viewer
from bodymotion.viewer.analysis import analyze
from bodymotion.viewer.page import request, timeline_data
from bodymotion.viewer.panel import tree_html
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
    assert {round(time, 6) for time, _ in data["marks"]} <= {
        round(one.time, 6) for one in moments(scene.motion, body)
    }
    assert any(time == pytest.approx(1.2, abs=0.011) for time, _ in data["marks"])
    contacts = analysis.measures.contacts
    assert [name for name, _ in data["rows"]] == [
        body.links[index].name for index in contacts.links
    ]
    for (_, spans), on in zip(data["rows"], contacts.in_contact.T, strict=True):
        assert sum(end - start for start, end, *_ in spans) == pytest.approx(
            on[:-1].sum() / 100, abs=1e-6
        )
