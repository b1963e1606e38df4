"""Sheets of models: every joint has its mark, where its link is, on each side."""

from __future__ import annotations

import numpy as np
import pytest
from small_robots import arm, biped, box, colored, link
from test_stills import of_color, pixels

import bodymotion as bm
from bodymotion.rendering import stills as sheets
from bodymotion.rendering.stills import joint_marks
from sample_files import ACCEPT

SIZE = (800, 600)


def test_marks_are_the_axes_of_the_joints():
    body = arm()
    marks = joint_marks(body, body.forward_kinematics([np.pi / 2, 0.2]))
    assert [(mark.number, mark.name, mark.type) for mark in marks] == [
        (0, "ARM", "rotate"),
        (1, "HAND", "slide"),
    ]
    for mark, joint, factor in zip(marks, body.joints, (180 / np.pi, 1.0), strict=True):
        low, _, high = mark.limits.rstrip("° m").replace("−", "-").partition(" … ")
        np.testing.assert_allclose(
            [float(low), float(high)],
            [factor * joint.lower, factor * joint.upper],
            rtol=1e-3,
        )
    np.testing.assert_allclose(marks[0].position, [0, 0, 0.3])
    np.testing.assert_allclose(marks[0].axis, [0, 1, 0], atol=1e-12)
    # A quarter of a turn about y takes z to x, and x to -z.
    np.testing.assert_allclose(marks[1].position, [0.6, 0, 0.1], atol=1e-12)
    np.testing.assert_allclose(marks[1].axis, [0, 0, -1], atol=1e-12)


@pytest.mark.usefixtures("drawing")
def test_each_side_shows_the_body_and_its_joints(monkeypatch):
    written = []
    monkeypatch.setattr(
        sheets,
        "_draw_numbers",
        lambda draw, placed, *more, _own=sheets._draw_numbers: (
            written.append(placed) or _own(draw, placed, *more)
        ),
    )
    picture = bm.render(arm(), sheet=True, size=SIZE)
    assert picture.size == SIZE
    panel = np.array([int(2 * 800 * 0.76) // 2, 600])
    assert [[mark.number for mark, _ in side] for side in written] == [[0, 1]] * 4
    for k, side in enumerate(written):
        area = pixels(picture)[
            300 * (k // 2) : 300 * (k // 2) + 300, 304 * (k % 2) : 304 * (k % 2) + 304
        ]
        assert len(of_color(area, 2)) > 100
        for _, place in side:
            assert (place > 0).all() and (place < panel).all()
    # From the front the hand is above the arm's joint; from above they are one over the other.
    front, top = written[0], written[2]
    assert (
        front[1][1][1] < front[0][1][1] - 50
        and abs(front[1][1][0] - front[0][1][0]) < 1
    )
    np.testing.assert_allclose(top[0][1], top[1][1], atol=1)


@pytest.mark.usefixtures("drawing")
def test_numbers_keep_clear_of_each_other():
    unit, panel = 1.0, (400, 400)
    from PIL import Image, ImageDraw

    from bodymotion.scene.theme import LIGHT

    marks = joint_marks(
        biped(), biped().forward_kinematics(np.zeros(biped().num_joints))
    )
    places = np.array([[200.0, 40.0 * k + 20] for k in range(len(marks))])
    canvas = Image.new("RGB", panel, (255, 255, 255))
    boxes = []
    draw = ImageDraw.Draw(canvas)
    draw.rounded_rectangle = lambda box, **style: boxes.append(np.array(box))
    sheets._draw_numbers(
        draw, list(zip(marks, places, strict=True)), LIGHT, panel, unit
    )
    assert len(boxes) == len(marks)
    for i, one in enumerate(boxes):
        assert sheets._overlap(one, np.array(boxes[:i]).reshape(-1, 4)).sum() == 0


@pytest.mark.usefixtures("drawing")
def test_models_without_joints_and_with_very_many_have_a_sheet():
    block = (box((0.1, 0.1, 0.1), (0, 0, 0), colored(0.2, 0.3, 0.9)),)
    still = bm.Body(links=(link("B", 0, -1, (0, 0, 0), kind="fixed", visuals=block),))
    chain = bm.Body(
        links=tuple(
            link(
                f"link with quite a long name {i}",
                i,
                i - 1,
                (0, 0, 0.1),
                joint_id=i - 1,
                visuals=block,
            )
            for i in range(300 if ACCEPT else 100)
        )
    )
    for body in (still, chain):
        for background in ("light", "dark") if ACCEPT or body is still else ("dark",):
            assert (
                len(
                    of_color(
                        bm.render(
                            body, sheet=True, size=(400, 300), background=background
                        ),
                        2,
                    )
                )
                >= 0
            )
