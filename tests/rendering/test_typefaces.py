"""Letters that no typeface has are said; a typeface that has them is used."""

from __future__ import annotations

import pytest

import bodymotion as bm
from bodymotion.plots import drawing as pictures
from bodymotion.rendering import texts
from bodymotion.scene import fonts

LETTERS = "右膝"


@pytest.fixture
def anew(monkeypatch):
    """Let this process know of no typeface and have said nothing yet."""
    caches = (
        pictures._fonts,
        pictures._letters_of,
        texts._face,
        texts._files,
        texts._drawn,
        texts.text_image,
    )
    monkeypatch.setattr(fonts, "_warned", set())
    for cache in caches:
        cache.cache_clear()
    yield monkeypatch
    for cache in caches:
        cache.cache_clear()


@pytest.fixture
def none_there(anew):
    anew.setattr(pictures, "FAMILIES", ())
    anew.setattr(texts, "FILES", ())


@pytest.fixture(scope="module")
def knee(tmp_path_factory) -> str:
    """Return a typeface with two Japanese letters, each a triangle."""
    builders = pytest.importorskip("fontTools.fontBuilder")
    pens = pytest.importorskip("fontTools.pens.ttGlyphPen")
    pen = pens.TTGlyphPen(None)
    pen.moveTo((100, 0))
    pen.lineTo((500, 900))
    pen.lineTo((900, 0))
    pen.closePath()
    triangle, nothing = pen.glyph(), pens.TTGlyphPen(None).glyph()
    made = builders.FontBuilder(1000, isTTF=True)
    made.setupGlyphOrder([".notdef", "one", "two"])
    made.setupCharacterMap({ord(LETTERS[0]): "one", ord(LETTERS[1]): "two"})
    made.setupGlyf({".notdef": nothing, "one": triangle, "two": triangle})
    made.setupHorizontalMetrics(dict.fromkeys((".notdef", "one", "two"), (1000, 0)))
    made.setupHorizontalHeader(ascent=900, descent=-100)
    made.setupNameTable(
        {"familyName": "Two Letters", "styleName": "Regular", "psName": "TwoLetters"}
    )
    made.setupOS2()
    made.setupPost()
    path = tmp_path_factory.mktemp("typeface") / "two.ttf"
    made.save(path)
    return str(path)


@pytest.fixture(scope="module")
def motion() -> bm.Motion:
    values = [[0.1 * k] for k in range(10)]
    return bm.Motion.from_joints(values, 10.0)


def named(motion: bm.Motion, name: str) -> bm.plots.Plot:
    from dataclasses import replace

    plot = bm.plot(motion, what="joints")
    return replace(
        plot, charts=tuple(replace(chart, title=name) for chart in plot.charts)
    )


@pytest.mark.parametrize("form", ["png", "pdf"])
def test_plots_say_once_which_letters_are_missing_and_what_helps(
    none_there, motion, form, tmp_path, capfd
):
    plot = named(motion, LETTERS)
    plot.save(tmp_path / f"a.{form}")
    plot.save(tmp_path / f"b.{form}")
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert set(LETTERS) <= set(said)
    assert "fonts-noto-cjk" in said


def test_plots_in_latin_and_greek_say_nothing(none_there, motion, tmp_path, capfd):
    named(motion, "Ω knee − 3°").save(tmp_path / "a.png")
    named(motion, LETTERS).save(tmp_path / "a.svg")
    assert capfd.readouterr().err == ""


def test_plots_use_a_typeface_that_has_the_letters(
    anew, motion, knee, tmp_path, capfd, caplog
):
    from matplotlib import font_manager

    font_manager.fontManager.addfont(knee)
    entry = font_manager.fontManager.ttflist[-1]
    anew.setattr(pictures, "FAMILIES", ("Not There", "Two Letters"))
    try:
        for form in ("png", "pdf"):
            named(motion, LETTERS).save(tmp_path / f"a.{form}")
    finally:
        font_manager.fontManager.ttflist.remove(entry)
    assert capfd.readouterr().err == ""
    assert not caplog.records
    assert b"TwoLetters" in (tmp_path / "a.pdf").read_bytes()


def test_texts_in_pictures_say_once_which_letters_are_missing(none_there, capfd):
    for _ in range(2):
        texts.text_image(f"{LETTERS} knee", 20, (0, 0, 0), (255, 255, 255))
        texts.font(30, LETTERS)
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert set(LETTERS) <= set(said)
    assert "fonts-noto-cjk" in said


def test_texts_in_pictures_use_a_typeface_that_has_the_letters(anew, knee, capfd):
    anew.setattr(texts, "FILES", ("not there.ttf", knee))
    assert texts.font(20, LETTERS).path == knee
    assert texts.font(20, "knee 3.00 s …").getname() == texts.font(20).getname()
    assert capfd.readouterr().err == ""
