"""Formats by the first bytes: the root of an XML file as Python's XML parser finds it; no format is imported for another."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bodymotion.formats import sniffing
from bodymotion.formats.registry import FORMATS, HEAD
from bodymotion.formats.sniffing import root_element
from bodymotion.formats.vrml.values import STANDARD_NODES
from bodymotion.spot.cha_proto.messages import MESSAGES
from bodymotion.spot.sniffing import ANIMATION_FIELDS
from rules.test_every_rule import PAIRS

OTHER_FORMATS = {
    "vrml",
    "yaml",
    "xml",
    *(row.read.place.partition(":")[0].split(".")[2] for row in FORMATS),
} - {"cha"}
PIECES = [
    "<?xml-stylesheet a='1'?>",
    "<!-- <robot> > -- -->".replace(" -- ", " - "),
    " ",
    "\n",
    "<!---->",
]


@given(
    st.booleans(),
    st.lists(st.sampled_from(PIECES), max_size=5),
    st.sampled_from(
        ["", "<!DOCTYPE r>", '<!DOCTYPE r [<!ELEMENT a (b)> <!ENTITY c "d>">]>']
    ),
    st.sampled_from(["robot", "mujoco", "mujocoinclude", "a.b-c_1"]),
    st.sampled_from(["/>", " x='1'/>", "\n/>", ">\n</{}>"]),
)
def test_it_is_the_root_that_a_parser_finds(declared, pieces, doctype, name, tail):
    text = (
        ("<?xml version='1.0'?>" if declared else "")
        + "".join(pieces)
        + doctype
        + "<"
        + name
        + tail.format(name)
    )
    assert ElementTree.fromstring(text).tag == name
    assert root_element(text.encode()) == name
    assert root_element(b"\xef\xbb\xbf" + text.encode()) == name
    assert root_element(text.encode("utf-16")) == name


@given(st.binary(max_size=300))
def test_any_bytes(data):
    root_element(b"<" + data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "robot",
        "< robot/>",
        "<!-- <robot/>",
        "<?xml <robot/>",
        "<!DOCTYPE a [ <robot/>",
        "<robotics/>x"[:7],
        "<1/>",
        "</robot>",
    ],
)
def test_where_there_is_no_root(text):
    assert root_element(text.encode()) == ""


@pytest.mark.parametrize(
    "piece",
    [
        b"<?xml version='1.0'?>\n",
        b"<!-- a -->",
        b"<!DOCTYPE a>",
        b"<!DOCTYPE a [b]>",
        b" ",
        b"<!--",
        b"<?",
    ],
)
def test_many_pieces_are_passed_over(piece):
    head = piece * (200_000 // len(piece))
    assert root_element(head) == root_element(head + b" ") == ""


def test_content_is_of_one_format():
    """The file of each rule's example is recognised as one format at most; AMASS is a kind of .npz, one .seq has the type of .pseq."""
    for code, pair in PAIRS.items():
        if pair.folder is not None and pair.name in pair.folder:
            content = pair.folder[pair.name]
            head = (content.encode() if isinstance(content, str) else content)[:HEAD]
            rows = [
                row
                for row in FORMATS
                if row.name in sniffing.ZIPPED or not sniffing.is_archive(head)
            ]
            found = [row.name for row in rows if row.sniff(head)]
            assert len(found) <= 1 or found == ["amass", "npz"] or code == "SEQ003", (
                code,
                found,
            )


def test_the_names_are_those_of_the_formats():
    assert sniffing.VRML_NODES.decode().split("|") == sorted(STANDARD_NODES)
    assert ANIMATION_FIELDS.decode().split("|") == list(MESSAGES["Animation"])


def test_a_cha_is_loaded_without_other_formats(examples):
    code = "import sys, bodymotion; bodymotion.load(sys.argv[1]); print(*[m for m in sys.modules if m.startswith('bodymotion')])"
    run = subprocess.run(
        [sys.executable, "-c", code, examples / "wave.cha"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = run.stdout.split()
    assert not [
        name
        for name in loaded
        if name.split(".")[2:3] and name.split(".")[2] in OTHER_FORMATS
    ]
    assert len(loaded) < 60
