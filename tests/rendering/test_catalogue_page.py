"""The page of a catalogue: all rows, of which few are drawn, filters that find what Python finds, pictures where motions are."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from small_robots import arm, swinging

from bodymotion.reports.catalogue import catalogue_page
from browser_fixtures import opened
from sample_files import ACCEPT

EVIL = "</script><script>alert(1)</script>"


def rows(count: int) -> list[dict[str, object]]:
    torques = np.random.default_rng(3).uniform(0, 200, count)
    return [
        {
            "file": f"{k % 7}/walk {k}.seq" if k else EVIL,
            "sha256": "0" * 64,
            "duration": 0.1 * k,
            "max_torque": None if k % 5 == 0 else float(torque),
            "findings": {"MOT341": k % 3, "MOT312": 0},
        }
        for k, torque in enumerate(torques)
    ]


def test_the_page_has_the_rows_as_they_are(tmp_path):
    assert (
        catalogue_page(
            [*rows(3), {"file": "x", "duration": float("nan")}],
            tmp_path / "a.html",
            title=EVIL,
        )
        == 0
    )
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["names"] == ["file", "duration", "max_torque", "findings"]
    assert data["columns"][0] == [EVIL, "1/walk 1.seq", "2/walk 2.seq", "x"]
    assert data["columns"][1] == [0.0, 0.1, 0.2, None]
    assert data["columns"][3] == ["", "MOT341", "MOT341 ×2", None]
    catalogue_page([], tmp_path / "none.html")


@pytest.mark.usefixtures("drawing")
def test_motions_that_load_have_a_picture_and_a_player(tmp_path):
    def sources(name: str):
        if name == "bad":
            raise ValueError("broken")
        return arm(), swinging(arm())

    some = [{"file": "a"}, {"file": "bad"}, {"file": "c"}, {"file": "d"}]
    assert catalogue_page(some, tmp_path / "b.html", sources=sources, pictures=3) == 2
    assert sorted(path.name for path in (tmp_path / "b_files").iterdir()) == [
        "0.html",
        "0.webp",
        "2.html",
        "2.webp",
    ]


@pytest.mark.browser
def test_many_rows_are_filtered_and_sorted_and_few_are_drawn(tmp_path, chromium):
    some = rows(100_000 if ACCEPT else 20_000)
    catalogue_page(some, tmp_path / "a.html")
    with opened(chromium, 1000, 600) as page:
        page.goto((tmp_path / "a.html").as_uri())
        page.wait_for_function(
            "document.getElementById('count').textContent.includes('of')"
        )
        assert page.locator("#body .row").count() < 80
        page.locator("#head input").nth(2).fill("<80")
        wanted = [
            row
            for row in some
            if row["max_torque"] is not None and float(f"{row['max_torque']:.5g}") < 80
        ]
        page.wait_for_function(
            f"document.getElementById('count').textContent.startsWith('{len(wanted)} of')"
        )
        page.locator("#head div").nth(1).click(position={"x": 5, "y": 5})
        assert page.locator("#body .row div").first.inner_text() == wanted[-1]["file"]
        page.locator("#body .row").first.click()
        assert str(wanted[-1]["file"]) in page.locator("#about").inner_text()
