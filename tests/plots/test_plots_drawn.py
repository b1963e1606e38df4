"""Pictures and pages: what is in them, how they are written, and that nothing else is touched."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import bodymotion as bm
from bodymotion.plots.pages import _colors, fragment, script
from bodymotion.plots.parts import Curves
from bodymotion.plots.style import DARK, LIGHT
from browser_fixtures import opened
from sample_files import ACCEPT
from waiting import TIMEOUT


@pytest.fixture(scope="module")
def knees(measures):
    return bm.plot(measures, what="joints", joints="*KNEE")


def test_the_figure_has_the_panels_with_units_and_limits(knees, biped):
    figure = knees.figure()
    assert len(figure.axes) == 2
    texts = " ".join(text.get_text() for text in figure.texts)
    assert "R_KNEE" in texts
    assert "BIPED" in texts
    knee = next(joint for joint in biped.joints if joint.name == "R_KNEE")
    for axes in figure.axes:
        (band,) = [patch for patch in axes.patches if patch.get_gid() == "limits"]
        assert band.get_y() == pytest.approx(np.rad2deg(knee.lower))
        assert band.get_y() + band.get_height() == pytest.approx(np.rad2deg(knee.upper))
        assert len([line for line in axes.lines if line.get_gid() is None]) == 1
        assert axes.get_ylabel() == "[°]"
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "time [s]"]


def test_what_is_beyond_is_drawn_in_red(biped, swing):
    figure = bm.plot(biped, swing(amplitude=3.0), "joints", joints="R_KNEE").figure()
    (axes,) = figure.axes
    assert [line for line in axes.lines if line.get_gid() == "bad"]
    assert any(re.fullmatch(r"\d\.\d\d s", text.get_text()) for text in axes.texts)
    assert {
        line.get_color() for line in axes.lines if line.get_gid() in ("bad", "beyond")
    } == {LIGHT.bad}


@pytest.mark.parametrize("what", ["overview", "zmp", "contacts", "torques"])
def test_pictures_are_not_blank(measures, what):
    plot = bm.plot(measures, what=what, dpi=40)
    picture = Image.open(io.BytesIO(plot._repr_png_()))
    assert picture.size == pytest.approx(
        (plot.charts[0].width * 40, plot.charts[0].height * 40), abs=1
    )
    colors = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    assert 0.02 < np.mean(np.any(colors != 255, axis=1)) < 0.99
    assert len(np.unique(colors, axis=0)) > 40


def test_dark_is_dark(measures, tmp_path):
    for dark in (False, True):
        bm.plot(measures, what="contacts", dark=dark, dpi=40).save(
            tmp_path / "contacts.png"
        )
        brightness = np.asarray(
            Image.open(tmp_path / "contacts.png").convert("L")
        ).mean()
        assert (brightness < 90) == dark


def test_svg_text_can_be_read_and_files_come_out_the_same(knees, tmp_path):
    knees.save(tmp_path / "a.svg")
    knees.save(tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert text == (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "<text" in text
    assert ">R_KNEE<" in text
    assert "time [s]" in text


def test_a_pdf_has_a_page_for_each_plot(measures, tmp_path):
    plot = bm.plot(measures, what=["contacts", "stability_margin", "zmp"], end=1.0)
    plot.save(tmp_path / "plots.pdf")
    content = (tmp_path / "plots.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", content)) == 3


def test_names_are_drawn_as_they_are(biped, walk, tmp_path):
    evil = "$\\frac{1}{0}$ <b>&\x1b[31m" + "x" * 80
    joints = walk.joint_displacement
    labelled = dataclasses.replace(joints, part_labels=(evil,) * joints.num_parts)
    bm.plot(walk.replaced(labelled), what=["joints", "overview"]).save(
        tmp_path / "evil.svg"
    )
    assert "$\\frac{1}{0}$ &lt;b&gt;&amp;" in (tmp_path / "evil.svg").read_text(
        encoding="utf-8"
    )


def test_a_save_that_fails_leaves_the_old_file(knees, tmp_path, monkeypatch):
    target = tmp_path / "plot.png"
    target.write_bytes(b"old")
    monkeypatch.setattr("bodymotion.plots.api.image_bytes", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        knees.save(target)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]
    monkeypatch.undo()
    with pytest.raises(OSError, match="none"):
        knees.save(tmp_path / "none" / "plot.png")
    with pytest.raises(
        ValueError,
        match=r"unknown extension; plots are written as \.png, \.svg, \.pdf, \.html",
    ):
        knees.save(tmp_path / "plot.jpg")


def test_a_missing_extra_is_named(knees, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'bodymotion\[plot\]'"):
        knees.save(tmp_path / "a.png")
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r"pip install 'bodymotion\[plot\]'"):
        knees.save(tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


def test_making_plots_loads_neither_matplotlib_nor_plotly_and_drawing_them_changes_no_setting(
    examples,
):
    code = (
        "import sys, warnings, bodymotion as bm\n"
        f"plot = bm.plot({str(examples / 'biped_walk.seq')!r})\n"
        "assert not {'matplotlib', 'plotly'} & set(sys.modules)\n"
        "import matplotlib\n"
        "matplotlib.rcParams['lines.linewidth'] = 7\n"
        "settings = lambda: {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != 'backend'}\n"
        "before, filters = settings(), list(warnings.filters)\n"
        "plot._repr_png_()\n"
        "assert settings() == before\n"
        "assert list(warnings.filters) == filters\n"
        "assert not {'matplotlib.pyplot', 'plotly'} & set(sys.modules)\n"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, timeout=TIMEOUT
    )


def test_plotly_figures_have_the_same_curves(measures, knees):
    (figure,) = knees.interactive()
    curves = {trace.name: trace for trace in figure.data if trace.mode == "lines"}
    for cell in knees.charts[0].cells:
        if isinstance(cell.part, Curves):
            (line,) = cell.part.lines
            assert np.array_equal(curves[line.label].x, line.times)
            assert curves[line.label].y == pytest.approx(line.values, rel=1e-6)
    bands = [shape for shape in figure.layout.shapes if shape.name == "limits"]
    assert len(bands) == 2
    assert bands[0].y0 == pytest.approx(knees.charts[0].cells[0].part.lower)


def test_both_themes_have_the_same_roles():
    light, dark = _colors(LIGHT), _colors(DARK)
    assert len(light) == len(dark) == len(set(light)) == len(set(dark))
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in light + dark)


def test_a_page_is_small_beside_plotly_itself(biped, swing):
    plot = bm.plot(biped, swing(frames=30_000), "joints")
    assert len(fragment(plot.charts[0])) < 1_000_000


@pytest.fixture(scope="module")
def pages(measures, tmp_path_factory, offline):
    """A page with four plots, the plot, and the page's file."""
    plot = bm.plot(measures, what=["overview", "zmp", "joints", "stability_margin"])
    file = tmp_path_factory.mktemp("pages") / "plots.html"
    plot.save(file)
    offline.fetched.clear()
    offline.goto(file.as_uri())
    offline.wait_for_function(
        "document.querySelectorAll('.bodymotion-plot .main-svg').length >= 4"
    )
    return offline, plot, file


def test_a_page_works_without_a_network(pages):
    page, plot, file = pages
    assert page.fetched == [file.as_uri()]
    assert page.locator("#plot-2 .xy path.js-line").count() == 1
    assert "R_KNEE" in page.locator("#plot-2").inner_text()
    # A line at the time in each panel over time, and a dot on the ground, where the zero moment point is then.
    page.evaluate("bodymotionCursor(4.5)")
    shown = "[...document.querySelectorAll('#%s > div:last-child > div')].filter(d => d.style.display === 'block').length"
    assert page.evaluate(shown % "plot-2") == len(
        [c for c in plot.charts[2].cells if isinstance(c.part, Curves)]
    )
    assert page.evaluate(shown % "plot-1") == 3
    page.evaluate("bodymotionCursor(1e9)")
    assert page.evaluate(shown % "plot-2") == 0
    assert page.faults == []


def test_a_click_tells_the_time(pages, measures):
    page, _, _ = pages
    page.evaluate("window.told = []; window.bodymotionSeek = t => told.push(t); 0")
    at = (
        "([id, u, v]) => { const g = document.getElementById(id); g.scrollIntoView(); const b = g.getBoundingClientRect(),"
        " x = g._fullLayout.xaxis, y = g._fullLayout.yaxis; return [b.left + x._offset + x.d2p(u),"
        " b.top + y._offset + (v === null ? y._length / 2 : y.d2p(v))]; }"
    )
    page.mouse.click(*page.evaluate(at, ["plot-3", 3.25, None]))
    assert page.evaluate("told.length") == 1
    assert page.evaluate("told[0]") == pytest.approx(3.25, abs=0.02)
    worst = int(np.nanargmin(measures.stability_margin))
    point = [float(value) for value in measures.zmp[worst, :2]]
    page.mouse.click(*page.evaluate(at, ["plot-1", *point]))
    assert page.evaluate("told.length") == 2
    found = int(np.argmin(np.abs(measures.times - page.evaluate("told[1]"))))
    assert measures.zmp[found, :2] == pytest.approx(point, abs=0.03)
    assert page.faults == []


def test_the_theme_of_a_page_can_be_changed(pages):
    page, _, _ = pages
    for name, theme in (("dark", DARK), ("light", LIGHT)):
        page.evaluate(f"bodymotionPlotTheme('{name}')")
        assert (
            page.evaluate("document.getElementById('plot-0')._fullLayout.paper_bgcolor")
            == theme.page
        )
    assert page.faults == []


def test_names_from_files_do_nothing_on_a_page(walk, tmp_path, chromium):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>%{x}"
    joints = walk.joint_displacement
    named = walk.replaced(
        dataclasses.replace(
            joints, part_labels=(evil,) * joints.num_parts, content=evil
        ),
        joints,
    )
    bm.plot(named, what="overview").save(tmp_path / "evil.html")
    with opened(chromium, 400, 300) as page:
        page.context.set_offline(True)
        page.goto((tmp_path / "evil.html").as_uri())
        page.wait_for_function(
            "document.querySelectorAll('.bodymotion-plot .main-svg').length >= 1"
        )
        assert "<script>alert(1)" in page.locator("#plot-0").inner_text()
        assert page.locator("img").count() == 0
        assert page.fetched == [(tmp_path / "evil.html").as_uri()]


def test_fragments_stand_together_on_one_page(measures):
    plot = bm.plot(measures, what=["zmp", "contacts"])
    first, second = (
        fragment(chart, identifier=f"p{k}") for k, chart in enumerate(plot.charts)
    )
    assert 'id="p0"' in first
    assert 'id="p1"' in second
    assert "plotly.js v" in script()
    assert "plotly.js v" not in first
    figure = json.loads(re.search(r"bodymotionPlot\(\"p0\",(.*)\)</script>", first)[1])
    assert figure["about"]["start"] == 0
    assert len(figure["about"]["timed"]) == 2
    assert len(figure["about"]["grounds"]) == 1


ODD = [1e300, -1e300, np.inf, np.nan]


@pytest.mark.parametrize("value", ODD)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_beyond_all_measure_are_drawn_without_a_word_of_numpy(
    biped, value, tmp_path
):
    values = np.zeros((20, biped.num_joints))
    values[5:, 3] = value
    root = np.tile(biped.root_pose, (20, 1))
    motion = bm.Motion.from_joints(values, 100.0, root=root)
    for k, what in enumerate(("overview", "joints", "velocities")):
        bm.plot(biped, motion, what, dpi=40).save(tmp_path / "a.html")
        if ACCEPT or k == ODD.index(value) % 3:
            bm.plot(biped, motion, what, dpi=40).save(tmp_path / "a.png")
    bm.plot(bm.Motion.from_joints(np.full((20, 2), value), 100.0), dpi=40).save(
        tmp_path / "a.html"
    )
