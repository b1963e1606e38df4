"""What notebooks show of bodies, motions and animations: well-formed, small, true, and never markup out of a file."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.diagnostics import WrongUseError
from bodymotion.notebooks import InlinePage
from bodymotion.notebooks.summaries import drawing, html_of
from sample_files import ROOT, tries
from strategies_bodies import bodies

BODY = bm.load(ROOT / "examples" / "biped.wrl")
WALK = bm.load(ROOT / "examples" / "biped_walk.seq")
WAVE = bm.load(ROOT / "examples" / "wave.cha")


def parsed(html: str) -> ElementTree.Element:
    """Read a summary as XML: every element closed, every special character escaped."""
    return ElementTree.fromstring(html)


def words(html: str) -> str:
    return " ".join("".join(parsed(html).itertext()).split())


def polygons(html: str) -> list[list[tuple[float, float]]]:
    found = re.findall(r'<polygon points="([^"]*)"', html)
    return [
        [tuple(map(float, pair.split(","))) for pair in text.split()] for text in found
    ]


def test_a_body_shows_its_counts_its_mass_its_joints_and_a_drawing():
    html = BODY._repr_html_()
    text = words(html)
    assert f"{len(BODY.links)} links" in text and f"{BODY.mass:.4g} kg" in text
    for link in BODY.links:
        assert link.name in text
    assert len(polygons(html)) == sum(bool(link.visuals) for link in BODY.links)


def test_the_drawing_is_upright_and_inside_its_frame():
    """The head stands above the feet, and the right arm, seen from the front, is on the left."""
    poses = BODY.forward_kinematics(np.zeros(BODY.num_joints))
    frame = parsed(drawing(BODY, poses))
    width, height = float(frame.get("width")), float(frame.get("height"))
    for polygon in polygons(drawing(BODY, poses)):
        assert all(-1 <= x <= width + 1 and -1 <= y <= height + 1 for x, y in polygon)

    def middle(name: str) -> np.ndarray:
        """Where one link is, drawn together with the whole: by its colour in a body of which all else is white."""
        white, red = (
            bm.shapes.Material(diffuse=color)
            for color in ((1.0, 1.0, 1.0), (1.0, 0.0, 0.0))
        )
        links = []
        for link in BODY.links:
            material = red if link.name == name else white
            segments = tuple(
                bm.Segment(
                    visuals=tuple(
                        bm.shapes.Shape(s.geometry, s.transform, material)
                        for s in link.visuals
                    )
                )
                for _ in link.segments[:1]
            )
            links.append(
                bm.Link(
                    name=link.name,
                    index=link.index,
                    parent=link.parent,
                    joint=link.joint,
                    offset=link.offset,
                    segments=segments,
                )
            )
        (points,) = re.findall(
            r'points="([^"]*)" fill="#ff0000"',
            drawing(bm.Body(links=tuple(links)), poses),
        )
        return np.array(
            [[float(v) for v in pair.split(",")] for pair in points.split()]
        ).mean(axis=0)

    assert middle("HEAD_TILT")[1] < middle("R_ANKLE_ROLL")[1]
    assert middle("R_ELBOW")[0] < middle("L_ELBOW")[0]


def test_a_motion_shows_its_components_and_the_joints_that_move_most():
    text = words(WALK._repr_html_())
    assert (
        "10 s" in text
        and "JointDisplacement" in text
        and "1001" in text
        and "100 Hz" in text
    )
    spans = np.ptp(WALK.joint_displacement.values, axis=0)
    assert f"joint {int(np.argmax(spans))}" in text


def test_an_animation_shows_its_options_and_columns():
    text = words(WAVE._repr_html_())
    assert WAVE.title in text and "controls arm" in text and "shoulder0" in text


@settings(max_examples=tries(30), deadline=None)
@given(bodies())
def test_any_body_shows_itself(body):
    parsed(html_of(body))


nasty = st.text(st.characters(), max_size=12)


@settings(max_examples=tries(60), deadline=None)
@given(nasty, nasty, st.lists(nasty, min_size=1, max_size=3))
def test_names_out_of_files_are_never_markup(name, other, labels):
    """XML knows no control characters: what is left of them is a replacement."""
    body = bm.Body(
        name=name, links=(bm.Link(name=other, joint=bm.Joint(name=name, type="free")),)
    )
    motion = bm.Motion.from_joints(
        np.random.default_rng(0).normal(size=(4, len(labels))), 10.0, joint_names=labels
    )
    animation = bm.Animation(
        name=name, options={"description": other, "title": labels[0]}
    )
    for thing in (body, motion, animation):
        tags = {
            element.tag.rpartition("}")[2]
            for element in parsed(thing._repr_html_()).iter()
        }
        assert not tags & {"script", "img", "a", "b1"}


@pytest.mark.parametrize(
    "thing",
    [
        bm.Body(),
        bm.Motion(()),
        bm.Animation(),
        bm.Motion.from_joints(np.zeros((0, 3)), 10.0),
    ],
)
def test_what_is_empty_shows_itself(thing):
    parsed(thing._repr_html_())


def test_numbers_that_are_none_are_drawn_as_zero():
    html = bm.Motion.from_joints(
        np.array([[np.nan], [np.inf], [0.5]]), 10.0
    )._repr_html_()
    assert "nan" not in html and "inf" not in html


def test_view_gives_a_page_that_can_be_kept(tmp_path):
    page = BODY.view(WALK, height=300, show=["axes"])
    assert isinstance(page, InlinePage)
    frame = page._repr_html_()
    assert "height:300px" in frame and "<script" not in frame
    page.save(tmp_path / "walk.html")
    assert (tmp_path / "walk.html").read_text(encoding="utf-8") == page.html
    bm.save(WALK, tmp_path / "walk.seq")
    with pytest.raises(WrongUseError, match=r"walk\.seq"):
        BODY.view(bm.load_motion(tmp_path / "walk.seq")).save(tmp_path / "walk.seq")
    assert isinstance(WALK.view(BODY), InlinePage)
    assert isinstance(WAVE.view(), InlinePage)
    with pytest.raises(ValueError, match="option 'wings'"):
        BODY.view(show=["wings"])
    with pytest.raises(ValueError, match="at most one model and one motion"):
        BODY.view(BODY)
