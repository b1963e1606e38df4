"""Texts of all formats: UTF-16, UTF-32 and byte order marks are read alike; characters that look like those of ASCII are named."""

from __future__ import annotations

import codecs
from pathlib import Path

import numpy as np
import pytest
from fuzz import texts

import bodymotion as bm
from bodymotion.formats import registry
from bodymotion.formats.encodings import in_utf8, wide_encoding
from bodymotion.formats.gains import read_gains

SEQUENCE = 'name: "s" slices_per_minute: 480 moves { type: "trot" start_slice: 0 requested_slices: 8 }\n'
TEXTS = {
    "a.seq": texts.SEQ[0],
    "b.json": '{"type": "CompositeSeq", "formatVersion": 4, "components": []}\n',
    "a.pseq": texts.PSEQ[0],
    "a.wrl": texts.VRML[0],
    "a.body": texts.BODY if isinstance(texts.BODY, str) else texts.BODY[0],
    "a.urdf": texts.URDF if isinstance(texts.URDF, str) else texts.URDF[0],
    "a.xml": texts.MJCF[0],
    "a.bvh": texts.BVH,
    "a.amc": texts.AMC,
    "a.asf": texts.ASF,
    "a.cha": texts.CHA[0],
    "a.cap": texts.CAP[0],
    "a.csq": SEQUENCE,
    "a.csv": texts.CSV[0],
    "a.pos": "0 0.1 0.2\n0.1 0.1 0.2\n",
}
"""A file of each text format."""
ENCODINGS = {
    "utf-8 with mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "utf-16": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "utf-16 big-endian": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "utf-16-le": lambda text: text.encode("utf-16-le"),
    "utf-16-be": lambda text: text.encode("utf-16-be"),
    "utf-32": lambda text: text.encode("utf-32"),
    "utf-32-le": lambda text: text.encode("utf-32-le"),
}


def test_every_text_format_is_tried():
    binary = {"amass", "npz", "parquet", "pickle", "mcap", "rosbag2"}
    binary |= {"csq-bytes", "cap-bytes", "chr", "state-log"}
    suffixes = {Path(name).suffix for name in TEXTS}
    for row in registry.FORMATS:
        named = {one.removesuffix("?") for one in row.extensions}
        assert row.name in binary or named & suffixes, row.name


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", TEXTS)
def test_encodings_of_texts(name, encoding, tmp_path):
    """The value is that of the same text in UTF-8, and the format is found, also without an extension that shows it."""
    (tmp_path / "a.asf").write_text(texts.ASF)
    path = tmp_path / name
    path.write_text(TEXTS[name])
    row, plain = registry.read(path)
    path.write_bytes(ENCODINGS[encoding](TEXTS[name]))
    found_row, found = registry.read(path)
    assert found_row is row and plain.value is not None
    assert found.value == plain.value
    new = {one.rule for one in found.problems} - {one.rule for one in plain.problems}
    # What the encoding is; a mark of UTF-8 has rules of its own.
    assert new <= {"FMT011", "VRML111", "VRML122", "CHA102"}


def test_gains_in_utf_16(tmp_path):
    body = bm.Body(
        links=(
            bm.Link(name="A", joint=bm.Joint(name="A", type="free")),
            bm.Link(
                name="B",
                index=1,
                parent=0,
                joint=bm.Joint(name="B", type="rotate", id=0),
            ),
        )
    )
    (tmp_path / "gains.txt").write_bytes("B 5 1\n".encode("utf-16"))
    assert np.ravel(read_gains(tmp_path / "gains.txt", body)).tolist() == [5, 1]


def test_bytes_that_are_no_wide_text():
    for data in (
        b"",
        b"\0\0\0\0",
        b"plain text of ASCII",
        "日本語".encode(),
        np.arange(64.0).tobytes(),
        np.arange(64, dtype=np.uint16).tobytes(),
        b"PK\3\4" + bytes(60),
    ):
        assert wide_encoding(data) == "" and in_utf8(data) == (data, "")


IDEOGRAPHIC, NO_BREAK, ZERO_WIDTH = "\u3000", "\u00a0", "\u200b"
WRL = "#VRML V2.0 utf8\nDEF A Transform { translation 1 2 3 children [ Shape { geometry Box { } } ] }\n"


@pytest.mark.parametrize(
    ("blank", "encoding"),
    [
        (IDEOGRAPHIC, "utf-8"),
        (IDEOGRAPHIC, "cp932"),
        (IDEOGRAPHIC, "utf-16"),
        (NO_BREAK, "utf-8"),
        (ZERO_WIDTH, "utf-8"),
        ("\ufeff", "utf-8"),
    ],
)
@pytest.mark.parametrize(
    "place", ["1 2", "{ translation", "translation 1", "[ Shape", "A Transform"]
)
def test_unusual_blanks_of_a_wrl(blank, encoding, place, tmp_path):
    """Each is named with its line and column; it causes no other finding."""
    text = WRL.replace(place, place.replace(" ", blank, 1), 1)
    (tmp_path / "a.wrl").write_text(WRL)
    plain = {one.rule for one in bm.check(tmp_path / "a.wrl").problems}
    (tmp_path / "a.wrl").write_bytes(text.encode(encoding))
    problems = bm.check(tmp_path / "a.wrl").problems
    (problem,) = (one for one in problems if one.rule == "FMT015")
    assert f"U+{ord(blank):04X}" in problem.message
    line = text.splitlines()[1]
    assert (problem.location.line, problem.location.column) == (
        2,
        line.index(blank) + 1,
    )
    assert {one.rule for one in problems} - plain <= {"FMT015", "VRML111"}


def test_unusual_characters_in_names_strings_and_comments_are_left_alone(tmp_path):
    text = WRL.replace("DEF A", "DEF 左\u3000腕").replace(
        "children", "# 一\u3000二\n children"
    )
    text += 'WorldInfo { title "a\u3000b\u00a0c" }\n'
    (tmp_path / "a.wrl").write_text(text, encoding="utf-8")
    assert "FMT015" not in {one.rule for one in bm.check(tmp_path / "a.wrl").problems}


NAMED = {
    "a.wrl": (WRL, "1 2 3", "１ 2 3", "U+FF11"),
    "b.wrl": (WRL, "Box {", "Box ｛", "U+FF5B"),
    "c.wrl": (WRL, "2 3", "−2 3", "U+2212"),
    "a.body": (TEXTS["a.body"], "\n    ", f"\n{IDEOGRAPHIC}{IDEOGRAPHIC}", "U+3000"),
    "a.urdf": (
        '<robot name="r"><link name="a"/></robot>',
        "link name",
        f"link{IDEOGRAPHIC}name",
        "U+3000",
    ),
    "b.urdf": (
        '<robot name="r"><link name="a"/></robot>',
        'name="a"',
        "name=“a”",
        "U+201C",
    ),
    "a.csv": ("time,A [rad]\n0,0.5\n1,0.5\n", "1,0.5", "1,０.5", "U+FF10"),
    "a.pos": ("0 0.5\n1 0.5\n", "1 0.5", f"1{IDEOGRAPHIC}0.5", "U+3000"),
    "a.bvh": (texts.BVH, "193.5 90.1", f"193.5{IDEOGRAPHIC}90.1", "U+3000"),
    "a.csq": (SEQUENCE, "moves {", "moves ｛", "U+FF5B"),
    "a.cha": (texts.CHA[0], "bpm 96", f"bpm{IDEOGRAPHIC}96", "U+3000"),
}


@pytest.mark.parametrize("name", NAMED)
def test_unusual_characters_are_named(name, tmp_path):
    """A message has the code of a blank, a full-width digit or sign, a quote or a minus that is none of ASCII."""
    text, old, new, code = NAMED[name]
    assert text.count(old) >= 1
    (tmp_path / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    problems = bm.check(tmp_path / name).problems
    assert any(code in one.message for one in problems), problems


def test_unusual_characters_of_strangers(strangers):
    for path in sorted((strangers / "19").iterdir()):
        problems = bm.check(path).errors
        assert [one for one in problems if "U+3000" in one.message] == (
            [] if path.name == "plain.wrl" else list(problems[:1])
        )
