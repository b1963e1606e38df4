"""The report: a page that holds all it needs, says what the library says, and in which one time leads everything."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.reports import report
from bodymotion.reports.page import value_text
from sample_files import ROOT

MODEL, WALK = ROOT / "examples" / "biped.wrl", ROOT / "examples" / "biped_walk.seq"


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    return path, report(MODEL, WALK, output=path)


class Page(HTMLParser):
    """The attributes of each element, by its tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_figures_are_those_of_the_library(walk):
    path, _ = walk
    text = path.read_text(encoding="utf-8")
    figures = json.loads(re.search(r'id="figures">(.*?)</script>', text, re.DOTALL)[1])
    measures = bm.dynamics.measure(bm.load(MODEL), bm.load(WALK))
    expected = bm.dynamics.figures(measures)
    for name in ("name", "title", "unit", "time", "part"):
        assert [one[name] for one in figures] == [
            getattr(figure, name) for figure in expected
        ]
    np.testing.assert_allclose(
        [one["value"] for one in figures],
        [figure.value for figure in expected],
        rtol=1e-12,
    )
    by_name = {one["name"]: one["value"] for one in figures}
    assert np.abs(measures.joint_velocities).max() == pytest.approx(
        by_name["max_joint_velocity"], rel=1e-12
    )
    assert measures.stability_margin.min() == pytest.approx(
        by_name["min_margin"], rel=1e-12
    )


def test_moments_are_in_the_motion_and_findings_are_those_of_check(walk):
    _, contents = walk
    assert contents.moments and all(
        0 <= moment.time <= 10 for moment in contents.moments
    )
    body, motion = bm.load(MODEL), bm.load(WALK)
    assert contents.findings == (
        *bm.check(body).problems,
        *bm.check(motion, body=body).problems,
    )
    assert {row.joint for row in contents.rows} == {joint.name for joint in body.joints}


def test_nothing_in_it_is_fetched(walk):
    page = Page(walk[0].read_text(encoding="utf-8"))
    for tag, attributes in page.found:
        for name in ("src", "href", "action"):
            assert not (attributes.get(name) or "").startswith(("http", "//")), (
                tag,
                attributes,
            )


def test_a_report_of_an_animation_has_the_findings_of_check(tmp_path):
    """A jump of the body: not a jump of the played joints, and nothing about Spot's own body."""
    path = tmp_path / "jump.cha"
    path.write_text(
        "controls body\n\nno parameters\n\ntime body_z\n0 0.48\n0.5 0.48\n0.51 0.35\n1 0.35\n"
    )
    contents = report(path, output=tmp_path / "jump.html", what=["joints"])
    expected = bm.check(path).problems
    assert expected and contents.findings == expected
    assert contents.files == ("jump.cha",)
    rules = {moment.text.partition(":")[0]: moment.time for moment in contents.moments}
    assert {rule for rule in rules if rule.isupper()} <= {
        problem.rule for problem in expected
    }
    assert rules["SPOT018"] == pytest.approx(0.51, abs=0.01)
    bm.save(bm.play(bm.load(path)), tmp_path / "jump.seq")
    assert "BODY116" not in {
        problem.rule
        for problem in report(
            tmp_path / "jump.seq", output=tmp_path / "a.html", what=[]
        ).findings
    }


def test_a_motion_that_breaks_rules_is_told_with_its_moments(tmp_path):
    body, motion = bm.load(MODEL), bm.load(WALK)
    joints = motion.joint_displacement
    values = np.array(joints.values)
    values[500:, 3] += 0.9
    broken = bm.Motion.from_joints(
        values, 100.0, root=motion.link_position.values[:, 0]
    )
    contents = report(body, broken, output=tmp_path / "broken.html", what=["joints"])
    assert any(
        abs(moment.time - 5.0) < 0.03 and moment.severity != "note"
        for moment in contents.moments
    )
    assert contents.findings


def test_names_out_of_files_are_no_markup(tmp_path):
    wild = "</script><script>alert(1)</script>"
    body = bm.Body(
        name=wild,
        links=(
            bm.Link(name=wild, joint=bm.Joint(type="fixed")),
            bm.Link(
                name="B",
                index=1,
                parent=0,
                joint=bm.Joint(name=wild, id=0, type="rotate"),
                segments=(bm.Segment(mass=1.0),),
            ),
        ),
    )
    path = tmp_path / "wild.html"
    report(
        body, bm.Motion.from_joints(np.sin(np.arange(20.0))[:, None], 10.0), output=path
    )
    assert "<script>alert" not in path.read_text(encoding="utf-8")


def test_a_second_motion_is_a_ghost(examples, tmp_path):
    """The page has a second robot; figures are those of the first motion."""
    body, motion = (
        bm.load_body(examples / "biped.wrl"),
        bm.load_motion(examples / "biped_walk.seq").between(0, 0.1),
    )
    alone = bm.report(body, motion, output=tmp_path / "one.html", what=())
    both = bm.report(
        body,
        motion,
        ghost=motion.between(0.02, 0.1),
        output=tmp_path / "two.html",
        what=(),
    )
    assert both.figures == alone.figures
    assert (tmp_path / "two.html").stat().st_size > (
        tmp_path / "one.html"
    ).stat().st_size + 10_000


def test_what_a_report_can_not_be_about(tmp_path):
    with pytest.raises(ValueError, match="only a body"):
        report(MODEL, output=tmp_path / "no.html")
    with pytest.raises(ValueError, match="needs the body"):
        report(WALK, output=tmp_path / "no.html")
    with pytest.raises(ValueError, match="there is no plot 'wings'"):
        report(MODEL, WALK, output=tmp_path / "no.html", what="wings")
    with (
        pytest.raises(ValueError, match="wings"),
        pytest.warns(DeprecationWarning, match="what="),
    ):
        report(MODEL, WALK, output=tmp_path / "no.html", plots=["wings"])
    with pytest.raises(ValueError, match=r"no\.pdf: the name of a page"):
        report(MODEL, WALK, output=tmp_path / "no.pdf")
    with pytest.raises(OSError, match="there is no folder"):
        report(MODEL, WALK, output=tmp_path / "none" / "no.html")
    assert not list(tmp_path.iterdir())


def test_an_animation_and_one_frame(tmp_path):
    contents = report(
        ROOT / "examples" / "wave.cha", output=tmp_path / "wave.html", what=["joints"]
    )
    assert contents.title == "Wave"
    still = report(
        bm.load(MODEL),
        bm.Motion.from_joints(np.zeros((1, 32)), 10.0),
        output=tmp_path / "one.html",
    )
    assert {one.name: one.value for one in still.figures}["duration"] == 0


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (np.pi, "rad", "180°"),
        (np.pi / 2, "rad/s", "90 °/s"),
        (0.5, "share", "50 %"),
        (0.0123, "m", "12.3 mm"),
        (0.25, "m", "0.25 m"),
        (7.0, "", "7"),
        (np.nan, "m", "–"),
    ],
)
def test_numbers_as_people_read_them(value, unit, words):
    assert value_text(value, unit) == words
