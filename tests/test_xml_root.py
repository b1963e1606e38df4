"""The root of an XML file by its first bytes: what the XML parser of Python's library says."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bodymotion.formats.xml.root import root_element

PIECES = ["<?xml-stylesheet a='1'?>", "<!-- <robot> > -- -->".replace(" -- ", " - "), " ", "\n", "<!---->"]


@given(
    st.booleans(),
    st.lists(st.sampled_from(PIECES), max_size=5),
    st.sampled_from(["", "<!DOCTYPE r>", '<!DOCTYPE r [<!ELEMENT a (b)> <!ENTITY c "d>">]>']),
    st.sampled_from(["robot", "mujoco", "mujocoinclude", "a.b-c_1"]),
    st.sampled_from(["/>", " x='1'/>", "\n/>", ">\n</{}>"]),
)
def test_it_is_the_root_that_a_parser_finds(declared, pieces, doctype, name, tail):
    text = ("<?xml version='1.0'?>" if declared else "") + "".join(pieces) + doctype + "<" + name + tail.format(name)
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
    "piece", [b"<?xml version='1.0'?>\n", b"<!-- a -->", b"<!DOCTYPE a>", b"<!DOCTYPE a [b]>", b" ", b"<!--", b"<?"]
)
def test_many_pieces_are_passed_over(piece):
    head = piece * (200_000 // len(piece))
    assert root_element(head) == root_element(head + b" ") == ""
