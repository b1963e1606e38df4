"""Laws of the reader: what is written is read back to the bit; any bytes give a scene or an error in words, in linear time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vrml_texts import GAPS, MULTIPLE, NAMES, alike, joined, nodes, values

from bodymotion.diagnostics import FormatError
from bodymotion.formats.sniffing import looks_like_vrml
from bodymotion.formats.vrml import Node, Scene, expand, instance_of, parse_vrml
from sample_files import tries

SLOW = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.function_scoped_fixture,
]


@settings(max_examples=tries(150), deadline=None, suppress_health_check=SLOW)
@given(st.lists(nodes(), max_size=3), GAPS)
def test_a_scene_is_read_back_as_it_was_written(made, gap):
    text = "#VRML V2.0 utf8\n" + "".join(gap + text for text, _ in made)
    scene = parse_vrml(text.encode())
    assert alike([node for _, node in made], scene.nodes)
    assert {problem.rule for problem in scene.problems} <= {"VRML119"}


@st.composite
def prototypes(draw):
    """Return a prototype with fields of all types, one instance, and the value that each field has then."""
    types = st.sampled_from(
        [
            "SFBool",
            "SFInt32",
            "SFFloat",
            "SFString",
            "SFVec3f",
            "SFRotation",
            "SFNode",
            "MFNode",
            *MULTIPLE,
        ]
    )
    # A name that begins like a number cannot be told from one of the values of a list before it.
    names = NAMES.filter(lambda name: not name[0].isdigit() and name[0] not in "+-.")
    declared = draw(
        st.lists(
            st.tuples(types, names),
            min_size=1,
            max_size=5,
            unique_by=lambda pair: pair[1],
        )
    )
    interface, given_fields, expected = [], [], {}
    for field_type, name in declared:
        text, value = draw(values(field_type, 1))
        interface += [
            draw(st.sampled_from(["field", "exposedField"])),
            field_type,
            name,
            text,
        ]
        if draw(st.booleans()):
            text, value = draw(values(field_type, 1))
            given_fields += [name, text]
        expected[name] = value
    inner = joined(
        draw,
        [
            word
            for kind, name in declared
            for word in ("field", kind, name, default_of(kind))
        ],
    )
    body = joined(
        draw,
        [
            "Inner",
            "{",
            *(word for _, name in declared for word in (name, "IS", name)),
            "}",
        ],
    )
    outer = [
        "PROTO",
        "Outer",
        "[",
        *interface,
        "]",
        "{",
        body,
        "}",
        "Outer",
        "{",
        *given_fields,
        "}",
    ]
    text = joined(
        draw, ["PROTO", "Inner", "[", inner, "]", "{", "Group", "{", "}", "}", *outer]
    )
    return text, expected


def default_of(field_type: str) -> str:
    if field_type[:2] == "MF":
        return "[]"
    numbers = {
        "SFVec3f": "0 0 0",
        "SFRotation": "0 0 1 0",
        "SFString": '""',
        "SFBool": "TRUE",
        "SFNode": "NULL",
    }
    return numbers.get(field_type, "0")


@settings(max_examples=tries(80), deadline=None, suppress_health_check=SLOW)
@given(prototypes())
def test_an_instance_has_the_values_given_and_the_defaults_of_the_rest(made):
    text, expected = made
    scene = parse_vrml(text.encode())
    inner = expand(scene.nodes[0])[0]
    assert inner.type == "Inner"
    assert all(alike(expected[name], inner.fields[name]) for name in expected)
    assert [problem.rule for problem in scene.problems] == ["VRML110"]


def visit(scene: Scene) -> None:
    """Go through all nodes of a scene once, look through prototypes, ask for places."""
    todo, seen = list(scene.nodes), set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        assert node.location.line >= 1
        meant = instance_of(node)
        for value in [
            *node.fields.values(),
            *(meant.fields.values() if meant is not None else ()),
        ]:
            todo += [
                item
                for item in (value if isinstance(value, list) else [value])
                if isinstance(item, Node)
            ]


def read_or_refuse(data: bytes) -> None:
    assert looks_like_vrml(data) in (True, False)
    try:
        scene = parse_vrml(data)
    except FormatError as error:
        assert error.problem.location.line >= 1
        assert error.problem.location.column >= 1
        assert error.problem.message
    else:
        visit(scene)


@settings(max_examples=tries(200), deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(data):
    read_or_refuse(data)
    read_or_refuse(b"#VRML V2.0 utf8\n" + data)


PIECES = """PROTO EXTERNPROTO DEF USE IS NULL ROUTE TO TRUE FALSE field exposedField eventIn eventOut SFNode MFNode SFFloat MFFloat
SFVec3f MFVec3f MFString SFString SFImage MFInt32 { } [ ] { } [ ] " # Group children Transform translation Shape geometry Box size
Script url P Q f 0 -1 .5 1e9 0x1F nan 1.#INF "s" 0,0,0 [1,2,3] Coordinate point coordIndex IndexedFaceSet Joint \\"""


@settings(max_examples=tries(300), deadline=None, suppress_health_check=SLOW)
@given(st.lists(st.sampled_from([*PIECES.split(), "\n", "\r"]), max_size=40))
def test_any_words(words):
    read_or_refuse(" ".join(words).encode())


@settings(max_examples=tries(150), deadline=None, suppress_health_check=SLOW)
@given(data=st.data())
def test_real_text_with_pieces_cut_out_doubled_and_put_in(corpus, data):
    name = data.draw(
        st.sampled_from(
            [
                "wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl",
                "wrl/made/proto_min.wrl",
                "wrl/choreonoid+choreonoid/share/model/PA10/PA10.wrl",
            ]
        )
    )
    text = (corpus / name).read_bytes()
    start = data.draw(st.integers(0, max(0, len(text) - 4000)))
    text = text[start : start + 4000] if data.draw(st.booleans()) else text[:8000]
    for _ in range(data.draw(st.integers(1, 4))):
        a, b = sorted(
            data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text))))
        )
        b = min(b, a + 200)
        new = data.draw(
            st.sampled_from(
                [
                    b"",
                    text[a:b] * 2,
                    b"]",
                    b"}",
                    b'"',
                    b"{",
                    b"[",
                    b"#",
                    b"\xff",
                    b"\0",
                    b" IS x ",
                    b" 7 ",
                ]
            )
        )
        text = text[:a] + new + text[b:]
    read_or_refuse(text)


MANY = tries(200_000)


@pytest.mark.parametrize(
    "text",
    [
        "[" * MANY,
        "]" * MANY,
        "{" * MANY,
        '"' * MANY,
        "#" * MANY,
        "#\n" * MANY,
        "\n" * MANY,
        "# VRML\n" * MANY,
        "DEF " * MANY,
        "DEF a " * MANY,
        "DEF a # x\n" * MANY,
        "USE a " * MANY,
        "Group { } " * MANY,
        "Group " * MANY,
        "Box { } ] " * MANY,
        "PROTO P [ ] { } " * MANY,
        "PROTO P [ " * MANY,
        " ".join(f"PROTO P{i} [ ] {{ }}" for i in range(MANY // 4)),
        "ROUTE a.b TO c.d " * MANY,
        "WorldInfo { info [ " + '"a" ' * MANY,
        'WorldInfo { title "' + '\\"' * MANY,
        "Coordinate { point [ " + "1 " * MANY,
        "Coordinate { point [ " + "nan " * MANY + "]",
        "Coordinate { point [ " + "1.# " * MANY,
        "Coordinate { point [ " + "# ] \n" * MANY,
        "Coordinate { point [ 1" + "0" * MANY + " 0 0 ] }",
        "Coordinate { point 1" + "0" * MANY + " 0 0 }",
        "Coordinate { point 0." + "0" * MANY + "1 0 0 }",
        "Coordinate { point " + "1 " * 3 * MANY + "}",
        "IndexedFaceSet { coordIndex [ 1" + "0" * MANY + " ] }",
        "IndexedFaceSet { coordIndex [ 0x" + "F" * MANY + " ] }",
        "Switch { whichChoice 0x" + "F" * MANY + " }",
        "Switch { whichChoice " + "9" * MANY + " }",
        "PixelTexture { image 100000 100000 1 " + "0 " * MANY + "}",
        "PixelTexture { image " + "9" * MANY + " 1 1 }",
        "Robot { " + "a 1 " * MANY + "}",
        "Robot { a " + "1 " * MANY + "}",
        "Box { " + "size 1 1 1 " * MANY + "}",
        "Script { " + "field SFBool a TRUE " * MANY + "}",
    ],
    ids=lambda text: text[:24],
)
def test_no_text_takes_more_than_linear_time(text):
    read_or_refuse(text.encode())


@pytest.mark.parametrize(
    "head",
    [
        b"#VRML V2.0 utf8\n",
        b"\xef\xbb\xbf#VRML V2.0 utf8\n",
        b"#VRML V1.0 ascii\n",
        b"# VRML V2.0 utf8\n",
        b"# made by hand\r\n\r\n#VRML V2.0 utf8\r\n",
        b"Transform {\n children",
        b"DEF J1 Transform {",
        b"  DEF HAND Transform{",
        b"DEF Transform { ",
        "### [カメラ部分] ###\nDEF 肘-1 Group {".encode(),
        b"Shape\n{\n",
        b"PROTO Joint [\n exposedField",
        b'EXTERNPROTO X [ ] "x.wrl"',
        b"# F0\nTransform {",
        b"Viewpoint { position",
        b"#VRML V2.0 utf8 Exported by something\r",
    ],
)
def test_vrml_is_known_by_how_it_starts(head):
    assert looks_like_vrml(head)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"# a comment only\n",
        b"type: CompositeSeq\ncomponents:\n",
        b"# VRML model: robot.wrl\ntype: x\n",
        b"format: ChoreonoidBody\nname: SR1\nlinks:\n  - name: WAIST\n    elements: { type: Shape }\n",
        b'{ "type": "CompositeSeq" }',
        b"{ type: CompositeSeq }",
        b'<?xml version="1.0"?><robot name="r"/>',
        b"<mujoco/>",
        b"solid part\n facet normal",
        b'name: "wave"\nkeyframes {\n',
        b"DEF: 1\n",
        b"Shape: { }\n",
        b"PROTO: [1, 2]\n",
        b"\x80\x04\x95",
        b"Shape",
        b"[Transform] {",
        b'model: "#VRML V2.0 utf8"',
    ],
)
def test_other_files_are_not_taken_for_vrml(head):
    assert not looks_like_vrml(head)
