"""Whatever the bytes: a Body, or FormatError. And a body with numbers of any size writes a file, or FormatError."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_mjcf_against_mujoco import MODELS

import bodymotion as bm
import strategies_bodies as some
from bodymotion.formats.mjcf import parse_mjcf, write_mjcf
from sample_files import tries

TEXTS = [text.encode() for text in MODELS.values()]
NUMBERS = [
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e308",
    "-1e308",
    "1e-320",
    "0",
    "-1",
    "",
    "x",
    "1 2",
    "1_0",
    "99999999999999999999",
]
WORDS = [
    "free",
    "ball",
    "mesh",
    "plane",
    "hfield",
    "sdf",
    "true",
    "auto",
    "world",
    "main",
    "../x",
    "a",
    "b",
    "arm",
    "\u65e5",
]


def made_of(data: bytes) -> bm.Body | None:
    try:
        return parse_mjcf(data, Path("nowhere") / "model.xml").require()
    except bm.FormatError as error:
        assert error.problem.message
        return None


@settings(max_examples=tries(60))
@given(
    st.binary(max_size=300)
    | st.text("<>/=\"' mujocobdywrlsan&#;x0", max_size=200).map(
        lambda text: text.encode()
    )
)
def test_any_bytes(data):
    made_of(data)
    made_of(b"<mujoco>" + data + b"</mujoco>")


@st.composite
def changed(draw) -> bytes:
    """Return a good model in which attributes have other values, or elements other names, or which is cut off."""
    text = draw(st.sampled_from(TEXTS)).decode()
    for _ in range(draw(st.integers(1, 4))):
        places = list(re.finditer(r'(?<==")[^"]*(?=")|(?<=<)\w+|\b\w+(?==")', text))
        place = draw(st.sampled_from(places))
        names = sorted(
            {found.group() for found in places if found.group().isidentifier()}
        )
        value = draw(st.sampled_from([*NUMBERS, *WORDS, *names]))
        numbers = place.group().split()
        if len(numbers) > 1 and draw(st.booleans()):
            numbers[draw(st.integers(0, len(numbers) - 1))] = value
            value = " ".join(numbers)
        text = text[: place.start()] + value + text[place.end() :]
    if draw(st.booleans()) and draw(st.booleans()):
        text = text[: draw(st.integers(0, len(text)))]
    return text.encode()


@settings(max_examples=tries(300))
@given(changed())
def test_changed_models(data):
    body = made_of(data)
    if body is not None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                write_mjcf(body, Path(folder) / "again.xml")
            except bm.FormatError as error:
                assert error.problem.message


@settings(max_examples=tries(40))
@given(
    some.bodies(max_links=2, device_kinds=("Gyro",), extra_joint_types=("z",)),
    st.data(),
)
def test_broken_notes(body, data):
    """What a file keeps of a body beside is not trusted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        write_mjcf(body, path)
        text = path.read_text(encoding="utf-8")
        notes = list(re.finditer(r'(?<= data=")[^"]*(?=")', text))
        note = data.draw(st.sampled_from(notes))
        inside = note.group().replace("&quot;", '"')
        parts = list(re.finditer(r'-?[0-9.e-]+|"[^"]*"|\[|\]|\{\}', inside))
        part = data.draw(st.sampled_from(parts))
        wrong = data.draw(
            st.sampled_from(
                [
                    "null",
                    "1",
                    '"x"',
                    "[]",
                    "{}",
                    "[1, 2, 3]",
                    "NaN",
                    "1e999",
                    "true",
                    '["a"]',
                    "[[",
                    "-7",
                ]
            )
        )
        inside = inside[: part.start()] + wrong + inside[part.end() :]
        path.write_text(
            text[: note.start()] + inside.replace('"', "&quot;") + text[note.end() :],
            encoding="utf-8",
        )
        made_of(path.read_bytes())


@pytest.mark.parametrize(
    "text",
    [
        "<mujoco><worldbody>" + "<body>" * 5000,
        "<mujoco><worldbody>"
        + "<body>" * 150
        + "</body>" * 150
        + "</worldbody></mujoco>",
        "<mujoco><worldbody><body>"
        + "<frame>" * 190
        + "<geom size='1'/>"
        + "</frame>" * 190
        + "</body></worldbody></mujoco>",
        "<mujoco>"
        + "<default class='x'>" * 150
        + "</default>" * 150
        + "<worldbody><body/></worldbody></mujoco>",
        "<mujoco><worldbody><body>"
        + "<geom size='1'/>" * 4000
        + "</body></worldbody></mujoco>",
    ],
    ids=["deep", "long chain", "frames", "classes", "many"],
)
def test_large_and_deep(text):
    made_of(text.encode())
