"""Every field type in every spelling that the standard allows or that real files use; what is no such value is refused with its place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bodymotion.diagnostics import FormatError
from bodymotion.formats.vrml import parse_vrml
from bodymotion.geometry.arrays import same

HEADER = "#VRML V2.0 utf8\n"


def field(field_type: str, text: str):
    """Return the value of a field of that type, its scene, and the problems."""
    source = f"{HEADER}PROTO P [ field {field_type} f {DEFAULTS[field_type]} ] {{ Group {{ }} }}\nP {{ f {text}\n}}\n"
    scene = parse_vrml(source.encode())
    return scene.nodes[0].fields["f"], [problem.rule for problem in scene.problems]


DEFAULTS = {
    "SFBool": "TRUE",
    "SFInt32": "0",
    "SFFloat": "0",
    "SFTime": "0",
    "SFString": '""',
    "SFVec2f": "0 0",
    "SFVec3f": "0 0 0",
    "SFColor": "0 0 0",
    "SFRotation": "0 0 1 0",
    "SFImage": "0 0 0",
    "SFNode": "NULL",
    "MFInt32": "[]",
    "MFFloat": "[]",
    "MFTime": "[]",
    "MFString": "[]",
    "MFVec2f": "[]",
    "MFVec3f": "[]",
    "MFColor": "[]",
    "MFRotation": "[]",
    "MFNode": "[]",
}

DOUBLES = [
    ".5",
    "5.",
    "+1",
    "-0",
    "-.5",
    "1e-005",
    "1E5",
    "007.250",
    "0.1000000000000000055511151231257827",
    "1.e3",
]
DOUBLES += [
    "12345678901234567890",
    "-0.0",
    "1e+22",
    "4.9e-324",
    "0.30000000000000004",
    "9007199254740993",
    "2.5e-0003",
]

GOOD = [
    ("SFBool", "TRUE", True),
    ("SFBool", "FALSE#no", False),
    ("SFInt32", "17", 17),
    ("SFInt32", "+017", 17),
    ("SFInt32", "-2147483648", -(2**31)),
    ("SFInt32", "0x1F", 31),
    ("SFInt32", "0XfF", 255),
    ("SFInt32", "0xFFFFFFFF", -1),
    ("SFInt32", "-0x10", -16),
    *(("SFFloat", text, float(text)) for text in DOUBLES),
    ("SFFloat", "0.1215#回転軸", 0.1215),
    ("SFTime", "1.5e9", 1.5e9),
    ("SFString", '"a b"', "a b"),
    ("SFString", '""', ""),
    ("SFString", r'"say \"hi\" \\ C:\new"', r'say "hi" \ C:\new'),
    ("SFString", '"two\nlines # no comment ] }"', "two\nlines # no comment ] }"),
    ("SFString", '"肘"# comment', "肘"),
    ("SFVec2f", "1 2", np.array([1.0, 2.0])),
    ("SFVec3f", "0, -0 ,,.5", np.array([0.0, -0.0, 0.5])),
    ("SFVec3f", "1#x\n2# y\r3", np.array([1.0, 2.0, 3.0])),
    ("SFColor", "1 0.5 0", np.array([1.0, 0.5, 0.0])),
    ("SFRotation", "0 1 0 -1.57", np.array([0.0, 1.0, 0.0, -1.57])),
    ("SFImage", "0 0 0", np.array([0, 0, 0])),
    ("SFImage", "1 2 1 0xFF 0X00", np.array([1, 2, 1, 255, 0])),
    ("SFImage", "1 1 4 0xFFFFFFFF", np.array([1, 1, 4, 2**32 - 1])),
    ("SFNode", "NULL", None),
    ("MFInt32", "[]", np.zeros(0, np.int32)),
    ("MFInt32", "5", np.array([5], np.int32)),
    ("MFInt32", "[ 1 -1,0x10 ]", np.array([1, -1, 16], np.int32)),
    ("MFFloat", "2.5", np.array([2.5])),
    ("MFFloat", "[ ]", np.zeros(0)),
    ("MFFloat", "[1 2, 3,]", np.array([1.0, 2.0, 3.0])),
    ("MFFloat", "[1 # ] 2\n 3]", np.array([1.0, 3.0])),
    ("MFTime", "[-1 0]", np.array([-1.0, 0.0])),
    ("MFString", '"a"', ["a"]),
    ("MFString", "[]", []),
    ("MFString", '[ "a", "b" #c\n"" ]', ["a", "b", ""]),
    ("MFVec2f", "[0 0, 1 1]", np.array([[0.0, 0.0], [1.0, 1.0]])),
    ("MFVec3f", "1 2 3", np.array([[1.0, 2.0, 3.0]])),
    ("MFVec3f", "[]", np.zeros((0, 3))),
    ("MFVec3f", "[1 2 3 4 5 6]", np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])),
    ("MFColor", "[1 1 1]", np.array([[1.0, 1.0, 1.0]])),
    ("MFRotation", "0 0 1 0", np.array([[0.0, 0.0, 1.0, 0.0]])),
    ("MFNode", "[]", []),
]


@pytest.mark.parametrize(("field_type", "text", "value"), GOOD)
def test_every_spelling_gives_its_value(field_type, text, value):
    found, problems = field(field_type, text)
    assert problems == []
    assert type(found) is type(value)
    assert same(found, value)
    if isinstance(value, np.ndarray):
        assert (found.dtype, found.shape) == (value.dtype, value.shape)
        assert found.tobytes() == value.tobytes(), "minus zero as well"
        assert not found.flags.writeable
    elif isinstance(value, float):
        assert math.copysign(1, found) == math.copysign(1, value)


ODD = [
    ("SFVec3f", '"Y"', "Y", "VRML117"),
    ("SFVec3f", "[0 1 0]", np.array([0.0, 1.0, 0.0]), "VRML117"),
    ("SFFloat", "[2]", 2.0, "VRML117"),
    ("SFInt32", "3.0", 3, "VRML117"),
    ("SFBool", "true", True, "VRML117"),
    ("SFBool", "0", False, "VRML117"),
    ("SFString", "0 0 1", np.array([0.0, 0.0, 1.0]), "VRML117"),
    ("SFString", '["a"]', "a", "VRML117"),
    ("MFString", '"a" "b"', ["a", "b"], "VRML117"),
    ("MFFloat", "1 2 3", np.array([1.0, 2.0, 3.0]), "VRML117"),
    ("MFVec3f", "1 2 3 4 5 6", np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "VRML117"),
    ("MFNode", "NULL", [], None),
    ("SFFloat", "-nan", math.nan, "VRML118"),
    ("SFFloat", "inf", math.inf, "VRML118"),
    ("SFFloat", "-1.#INF", -math.inf, "VRML118"),
    ("SFFloat", "1e999", math.inf, "VRML118"),
    ("SFVec3f", "nan(ind) 1.#QNAN 0", np.array([math.nan, math.nan, 0.0]), "VRML118"),
    ("MFVec3f", "[-nan 0 -inf]", np.array([[math.nan, 0.0, -math.inf]]), "VRML118"),
    ("MFFloat", "[1.#IND 1]", np.array([math.nan, 1.0]), "VRML118"),
]


@pytest.mark.parametrize(("field_type", "text", "value", "rule"), ODD)
def test_odd_but_plain_values_are_kept_with_a_problem(field_type, text, value, rule):
    found, problems = field(field_type, text)
    assert same(found, value)
    assert set(problems) == ({rule} if rule else set())


BAD = [
    ("SFBool", "maybe", 7, "VRML102"),
    ("SFInt32", "1.5", 7, "VRML104"),
    ("SFInt32", "2147483648", 7, "VRML104"),
    ("SFInt32", "9" * 5000, 7, "VRML104"),
    ("SFInt32", "0x" + "F" * 5000, 7, "VRML104"),
    ("SFFloat", '"1"', 7, "VRML102"),
    ("SFFloat", "0x10", 7, "VRML104"),
    ("SFFloat", "1_0", 7, "VRML102"),
    ("SFFloat", "1.2.3", 7, "VRML102"),
    ("SFFloat", "１", 7, "VRML102"),
    ("SFFloat", "TRUE", 7, "VRML102"),
    ("SFVec3f", "1 2 }", 11, "VRML102"),
    ("SFVec3f", "1 2 x", 11, "VRML102"),
    ("SFVec3f", "1 2 3 4", 13, "VRML102"),
    ("SFString", "rotate", 7, "VRML102"),
    ("SFString", '"endless', 7, "VRML103"),
    ("SFImage", "2 2 1 0", 7, "VRML104"),
    ("SFImage", "-1 2 1 0", 7, "VRML104"),
    ("SFImage", "1.0 2 1 0", 7, "VRML104"),
    ("SFNode", "7", 7, "VRML102"),
    ("MFInt32", "[1 2.5]", 10, "VRML104"),
    ("MFInt32", "[1 99999999999]", 10, "VRML104"),
    ("MFFloat", "[1 _ 2]", 10, "VRML102"),
    ("MFFloat", "[1 1_0 2]", 10, "VRML102"),
    ("MFFloat", '["a"]', 8, "VRML102"),
    ("MFVec3f", "[1 2 3 4 5 6 7]", 7, "VRML105"),
    ("MFVec3f", "1 2", 7, "VRML105"),
    ("MFString", "[a]", 8, "VRML102"),
    ("MFNode", "[ 1 ]", 9, "VRML102"),
]


@pytest.mark.parametrize(("field_type", "text", "column", "rule"), BAD)
def test_what_is_no_value_is_refused_with_line_and_column(
    field_type, text, column, rule
):
    with pytest.raises(FormatError) as caught:
        field(field_type, text)
    problem = caught.value.problem
    assert problem.rule == rule
    assert (problem.location.line, problem.location.column) == (3, column)


def long_list(words: list[str], count: int) -> str:
    return "[" + ",\n\t ".join(" ".join(words) for _ in range(count)) + " ]"


@pytest.mark.parametrize(
    "word", [*DOUBLES, "0", "-1", "1.5", "-.25", "+.5", "+5.", "5.e-3", "-5."]
)
def test_long_lists_are_read_bit_for_bit_as_float_reads_them(word):
    found, problems = field("MFFloat", long_list([word, "1.25", word], 400))
    assert problems == []
    assert found.tobytes() == np.array([float(word), 1.25, float(word)] * 400).tobytes()


@pytest.mark.parametrize(
    "word", ["0", "-0", "007", "+5", "2147483647", "-2147483648", "0x1F"]
)
def test_long_lists_of_whole_numbers(word):
    found, problems = field("MFInt32", long_list([word, "-1"], 800))
    assert problems == []
    assert found.dtype == np.int32
    assert found.tolist() == [int(word, 16 if "x" in word else 10), -1] * 800


@pytest.mark.parametrize(
    "word",
    [
        "-",
        ".",
        "+-5",
        "++5",
        "-.",
        "1e",
        "e5",
        "1_0",
        "true",
        "null",
        "[",
        "{",
        '"1"',
        "1:2",
        "0x10",
    ],
)
def test_one_bad_word_in_a_long_list_is_found(word):
    text = "[" + "1.5 " * 1000 + word + " 2" + " 1.5" * 1000 + "]"
    with pytest.raises(FormatError) as caught:
        field("MFFloat", text)
    assert (
        caught.value.problem.location.line,
        caught.value.problem.location.column,
    ) == (3, 8 + 4000)


@pytest.mark.parametrize("comment", ["# plain", "#] } [ {", "# 1 2 3", '# "'])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_comments_in_long_lists(comment, end):
    rows = [f"{i} {i + 0.5}{comment if i % 7 == 0 else ''}{end}" for i in range(1000)]
    found, problems = field("MFVec2f", f"[{end}{''.join(rows)}{comment}{end}]")
    assert problems == []
    assert found.tolist() == [[i, i + 0.5] for i in range(1000)]
