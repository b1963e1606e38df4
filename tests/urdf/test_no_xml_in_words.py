"""A file that is no well-formed XML: what is wrong is said in words, at the place where it is to be mended."""

from __future__ import annotations

import random
from xml.parsers import expat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bodymotion import FormatError
from bodymotion.formats.xml.tree import parse_xml
from sample_files import tries

ROBOT = """\
<?xml version="1.0"?>
<robot name="r">
  <link name="a">
    <inertial>
      <mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0"
               iyy="1" iyz="0" izz="1"/>
    </inertial>
  </link>
  <!-- the end -->
</robot>
"""


def fault_of(data):
    with pytest.raises(FormatError) as caught:
        parse_xml(data.encode())
    return caught.value.problem


@pytest.mark.parametrize(
    ("right", "wrong", "position", "mentioned"),
    [
        ('<mass value="1"/>', '<mass value="1">', (8, 7), "<mass> from line 5"),
        ("</inertial>", "</inertal>", (8, 7), "<inertial> from line 4"),
        ("</link>", "", (11, 3), "<link> from line 3"),
        ("</robot>\n", "", (11, 1), "<robot> from line 2"),
        ("</robot>", "</robot></robot>", (11, 10), "</robot>"),
        ("</robot>", "</robot><robot/>", (11, 9), "root element"),
        ('value="1"', 'value="1', (5, 13), "value"),
        ('value="1"', 'value=1"', (5, 13), "quote"),
        ('value="1"', "value=1", (5, 13), "quote"),
        ('value="1"', "value", (5, 13), "value"),
        ('ixx="1"', 'ixx="1', (6, 16), "ixx"),
        ('ixz="0"', 'ixz="0', (6, 32), "ixz"),
        ('ixx="1" ', 'ixx="1"', (6, 23), "ixx"),
        ('value="1"/>', 'value="1"', (5, 7), "<mass>"),
        ('name="a"', 'name="a & b"', (3, 17), "&amp;"),
        ('name="a"', 'name="a&b"', (3, 16), "&amp;"),
        ('name="a"', 'name="&b;"', (3, 15), "&b;"),
        ("</link>", "a & b</link>", None, "&amp;"),
        ('name="a"', 'name="a<b"', (3, 16), "&lt;"),
        ("</link>", "a < b</link>", None, "&lt;"),
        ("the end", "the -- end", None, "--"),
        ("the end -->", "the end", (10, 3), "-->"),
        ('name="a"', 'name="a" name="b"', (3, 18), "attribute name"),
        ("<?xml", "\n<?xml", (2, 1), "<?xml"),
        (ROBOT, "", None, "empty"),
        (ROBOT, "no robot", None, "no element"),
    ],
)
def test_messages_name_what_is_wrong(right, wrong, position, mentioned):
    problem = fault_of(ROBOT.replace(right, wrong, 1))
    assert problem.rule == "XML101"
    assert mentioned in problem.message
    if position is not None:
        assert (problem.location.line, problem.location.column) == position


def test_what_is_right_is_read():
    assert parse_xml(ROBOT.encode()).name == "robot"
    assert (
        parse_xml(ROBOT.replace('name="a"', "name='a &amp; \"b\" > c'").encode())
        .first("link")
        .get("name")
        == 'a & "b" > c'
    )


@given(seed=st.integers(0, 2**32))
@settings(max_examples=tries(150), deadline=None)
def test_what_expat_refuses_is_refused_in_words(seed):
    """Whatever is changed: the same files are refused, with some words and a place in the file."""
    by, text = random.Random(seed), ROBOT
    for _ in range(by.randrange(1, 4)):
        at = by.randrange(len(text))
        pieces = (
            "",
            "&",
            "<",
            ">",
            '"',
            "'",
            "=",
            " ",
            "/",
            "--",
            "é",
            "\x01",
            "\r",
            "</",
            "]]>",
            "<!",
            "<?",
        )
        text = text[:at] + by.choice(pieces) + text[at + by.choice((0, 0, 1, 3)) :]
    data = text.encode()
    try:
        expat.ParserCreate().Parse(data, True)
    except expat.ExpatError:
        problem = fault_of(text)
        assert problem.message
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert 1 <= problem.location.line <= len(lines)
        assert (
            1
            <= problem.location.column
            <= len(lines[problem.location.line - 1].encode()) + 1
        )
    else:
        parse_xml(data)
