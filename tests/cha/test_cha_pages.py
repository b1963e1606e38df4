"""The page about the format names every keyword, and the examples are without fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bodymotion as bm
from bodymotion.spot.animation import GROUPS
from bodymotion.spot.cha.keywords import COLUMNS, OPTIONS, PARAMETERS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats" / "cha.md"


def test_the_page_has_every_keyword():
    named = set(
        re.findall(
            r"[\w.]+",
            " ".join(re.findall(r"`([^`\n]+)`", PAGE.read_text(encoding="utf-8"))),
        )
    )
    assert {*OPTIONS, *PARAMETERS, *COLUMNS, *GROUPS} <= named


@pytest.mark.parametrize("name", ["wave", "sway", "trot"])
def test_examples(examples, name):
    animation = bm.load(examples / f"{name}.cha")
    assert animation.title == name.capitalize()
    assert not animation.problems
    assert len(animation.keyframes) > 10
    slices = animation.duration / 60 * animation.bpm * 4
    assert slices == pytest.approx(round(slices), abs=1e-9)
