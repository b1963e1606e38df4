"""XML as a light tree: places, encodings, what is refused, and that numbers and texts come back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.formats.xml.tree import (
    Element,
    is_xml_text,
    number_text,
    parse_xml,
    read_xml,
    to_xml,
)
from sample_files import tries

names = st.sampled_from(["a", "b-c", "joint", "腕"])
texts = st.text(max_size=20).filter(is_xml_text)
trees = st.recursive(
    st.builds(Element, names, st.dictionaries(names, texts, max_size=3)),
    lambda inner: st.builds(
        Element,
        names,
        st.dictionaries(names, texts, max_size=3),
        st.lists(inner, max_size=3),
    ),
    max_leaves=10,
)


def plain(element):
    return (
        element.name,
        element.attributes,
        [plain(child) for child in element.children],
    )


@settings(max_examples=tries(100))
@given(trees)
def test_what_is_written_is_read(tree):
    assert plain(parse_xml(to_xml(tree, "a -- comment"))) == plain(tree)


@settings(max_examples=tries(100))
@given(st.lists(st.floats(allow_nan=False), max_size=5))
def test_numbers_come_back_to_the_bit(values):
    element = parse_xml(to_xml(Element("a", {"b": number_text(values)})))
    assert (
        np.array(element.numbers("b")).tobytes()
        == np.array(values, dtype=float).tobytes()
    )


def test_elements_know_their_place():
    found = Diagnostics()
    element = read_xml(b"<a>\n  <b>\n    <c d='1 2'/></b></a>", None, found).first(
        "b", "c"
    )
    assert (element.line, element.column) == (3, 5)
    assert np.isnan(element.numbers("d", 3)).all()
    assert element.numbers("d", 3, (1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0)
    assert [(problem.rule, problem.location.line) for problem in found.problems] == [
        ("XML104", 3)
    ]
    assert found.refusal == found.problems[0]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "shift_jis", "euc-jp"]
)
def test_encodings(encoding):
    declared = (
        ""
        if encoding.startswith("utf")
        else f'<?xml version="1.0" encoding="{encoding}"?>'
    )
    assert parse_xml(f"{declared}<a b='腕'/>".encode(encoding)).get("b") == "腕"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (b"", "XML101"),
        (b"<a><b></a>", "XML101"),
        (b"<a>&unknown;</a>", "XML101"),
        (b"<?xml version='1.0' encoding='no-such'?><a/>", "XML101"),
        (b"<?xml version='1.0' encoding='zlib'?><a/>", "XML101"),
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "XML102"),
        (b"<!DOCTYPE a [<!ATTLIST a b CDATA 'c'>]><a/>", "XML102"),
        (b"<!DOCTYPE a [<!ATTLIST a b CDATA #FIXED 'c'>]><a/>", "XML102"),
        (b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", "XML102"),
        (b"<!DOCTYPE a [<!ENTITY % b SYSTEM 'http://host/x'> %b;]><a/>", "XML102"),
        (b"<a>" * 100_000, "FMT009"),
    ],
)
def test_what_is_refused(text, rule):
    with pytest.raises(FormatError) as caught:
        parse_xml(text)
    assert caught.value.problem.rule == rule
    assert caught.value.problem.location.line is not None


@pytest.mark.parametrize("word", ["nan", "1_0", "0x10", "1,5", "１", "--1", "1e"])
def test_what_is_no_number(word):
    element = Element("a", {"b": word})
    assert np.isnan(element.number("b"))
    assert element.faulty == {"b"}


@settings(max_examples=tries(200))
@given(st.binary(max_size=60))
def test_any_bytes_are_a_tree_or_format_error(data):
    try:
        parse_xml(data)
    except FormatError as error:
        assert error.problem.rule.startswith("XML")
