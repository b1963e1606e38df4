"""The structure of the language: prototypes, names, routes, scripts, headers, encodings, and what is said about faults."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from bodymotion.diagnostics import FormatError
from bodymotion.formats.vrml import (
    IsReference,
    Node,
    Proto,
    expand,
    instance_of,
    nodes,
    parse_vrml,
    read_vrml,
)
from bodymotion.formats.vrml.fields import STANDARD_NODES, standard_fields
from bodymotion.geometry.arrays import same

HEADER = "#VRML V2.0 utf8\n"


def parse(text: str):
    return parse_vrml((HEADER + text).encode())


def rules_of(scene) -> list[str]:
    return [problem.rule for problem in scene.problems]


def refused(text: str):
    with pytest.raises(FormatError) as caught:
        parse(text)
    return caught.value.problem


# ---- nodes and names


def test_use_gives_the_very_same_node():
    scene = parse(
        "Group { children [ DEF A Transform { translation 1 2 3 } USE A Group { children USE A } ] }"
    )
    first, second, third = scene.nodes[0].fields["children"]
    assert first is second is third.fields["children"][0]
    assert first.name == "A"
    assert scene.problems == ()


def test_a_name_given_again_means_the_last_node_from_there_on():
    scene = parse(
        "DEF A Box { } USE A DEF A Cone { } USE A DEF A Group { children USE A } USE A"
    )
    assert [node.type for node in scene.nodes] == [
        "Box",
        "Box",
        "Cone",
        "Cone",
        "Group",
        "Group",
    ]
    assert scene.nodes[4].fields["children"][0].type == "Cone", (
        "a node is known by its name only after its end"
    )


@pytest.mark.parametrize(
    "name",
    [
        "1st",
        "a-b",
        "x.y",
        "$cost",
        "C++",
        "肘0",
        "DEFORM",
        "_",
        "a'b",
        "naïve",
        "R\\L",
        "TO",
        "field",
    ],
)
def test_names_of_the_wild(name):
    scene = parse(f"DEF {name} Group {{ }} USE {name}")
    assert [node.name for node in scene.nodes] == [name, name]
    assert scene.problems == ()


def test_def_without_a_name_is_read_with_a_problem():
    scene = parse("DEF Transform { children DEF Shape { } }")
    assert (scene.nodes[0].type, scene.nodes[0].name) == ("Transform", "")
    assert scene.nodes[0].fields["children"][0].type == "Shape"
    assert rules_of(scene) == ["VRML115", "VRML115"]
    assert str(scene.problems[0].location) == "2:1"


def test_use_of_a_name_that_nobody_has():
    scene = parse("Shape { geometry USE G } Group { children [ USE H Box { } ] }")
    assert scene.nodes[0].fields["geometry"] is None
    assert [node.type for node in scene.nodes[1].fields["children"]] == ["Box"]
    assert rules_of(scene) == ["VRML116", "VRML116"]


def test_the_last_of_two_values_counts():
    scene = parse("Transform { translation 1 2 3 translation 4 5 6 }")
    assert scene.nodes[0].fields["translation"].tolist() == [4, 5, 6]
    assert rules_of(scene) == ["VRML114"]
    assert str(scene.problems[0].location) == "2:31"


def test_unknown_nodes_and_fields_are_kept_with_values_told_by_their_look():
    scene = parse(
        'Robot { a 1 b 1.5 c 1 2 3 d "s" e [ "s" "t" ] f [ 1, 2 ] g TRUE h NULL i Box { } j [ Box { } Cone { } ]\n'
        "k [ ] l USE B m [ DEF B Box { } USE B ] } Box { size 1 1 1 colour 0.5 -1 }"
    )
    fields = scene.nodes[0].fields
    expected = {
        "a": 1,
        "b": 1.5,
        "c": np.array([1.0, 2.0, 3.0]),
        "d": "s",
        "e": ["s", "t"],
        "f": np.array([1.0, 2.0]),
    }
    assert same({name: fields[name] for name in expected}, expected)
    assert (fields["g"], fields["h"], fields["k"], fields["l"]) == (
        True,
        None,
        [],
        None,
    )
    assert fields["i"].type == "Box"
    assert [node.type for node in fields["j"]] == ["Box", "Cone"]
    assert fields["m"][0] is fields["m"][1]
    assert scene.nodes[1].fields["colour"].tolist() == [0.5, -1]
    assert rules_of(scene) == ["VRML112", "VRML116", "VRML113"]


def test_places_of_nodes_and_fields():
    scene = parse_vrml(
        b"#VRML V2.0 utf8\r\rGroup {\r\n  children [\n\n Box { } ]\r }\n"
    )
    group = scene.nodes[0]
    assert str(group.location) == "3:1"
    assert str(group.location_of("children")) == "4:3"
    assert str(group.fields["children"][0].location) == "6:2"
    wide = parse("# 肘\nDEF 肘0 Group { children [ DEF 手 Box { } ] }").nodes[0]
    assert str(wide.fields["children"][0].location) == "3:33", (
        "columns count characters"
    )


def test_get_falls_back_to_prototype_then_standard_then_default():
    scene = parse(
        "PROTO P [ field SFFloat mass 2 field SFNode n NULL ] { Group { } } P { } Box { } Robot { }"
    )
    instance, box, robot = scene.nodes
    assert (instance.get("mass"), instance.get("n", 7), instance.get("other", 8)) == (
        2.0,
        7,
        8,
    )
    assert box.get("size").tolist() == [2, 2, 2]
    assert robot.get("mass", 5) == 5
    assert robot.get("mass") is None


def test_a_comma_is_white_space_and_comments_may_stand_anywhere():
    scene = parse(
        ",Group#a\n{#b\nchildren#c\n[#d\n,,Box#e\n{#f\nsize#g\n1,#h\n1,1#i\n}#j\n,]#k\n}#l"
    )
    assert scene.nodes[0].fields["children"][0].fields["size"].tolist() == [1, 1, 1]
    assert scene.problems == ()


def test_routes_are_kept():
    scene = parse(
        "ROUTE a.b TO c.d DEF G Group { ROUTE x.y.z TO G.set_w children [ ROUTE e.f TO g.h ] }"
    )
    found = [(r.from_node, r.from_event, r.to_node, r.to_event) for r in scene.routes]
    assert found == [
        ("a", "b", "c", "d"),
        ("x.y", "z", "G", "set_w"),
        ("e", "f", "g", "h"),
    ]


def test_scripts_are_kept_and_never_run():
    scene = parse(
        'DEF S Script { url [ "javascript: f();" ] eventIn SFBool on field SFVec3f at 1 2 3 field SFNode me NULL\n'
        'directOutput TRUE eventOut MFFloat out exposedField MFString names [ "a" ] }'
    )
    node = scene.nodes[0]
    assert node.fields["url"] == ["javascript: f();"]
    assert node.fields["at"].tolist() == [1, 2, 3]
    assert (node.fields["me"], node.fields["directOutput"], node.fields["names"]) == (
        None,
        True,
        ["a"],
    )
    assert {name: (d.access, d.type) for name, d in node.declarations.items()} == {
        "on": ("eventIn", "SFBool"),
        "at": ("field", "SFVec3f"),
        "me": ("field", "SFNode"),
        "out": ("eventOut", "MFFloat"),
        "names": ("exposedField", "MFString"),
    }
    assert scene.problems == ()


# ---- prototypes

JOINT = """PROTO Joint [
  exposedField SFVec3f translation 0 0 0  exposedField MFNode children [ ]  field SFFloat mass 1.5
  exposedField MFString info "none"  eventIn MFNode addChildren  eventOut SFBool moved
] {
  Transform { translation IS translation children IS children addChildren IS addChildren }
  DEF T TimeSensor { }
  ROUTE T.time TO X.y
}
"""


def test_the_interface_of_a_prototype():
    scene = parse(JOINT + "Joint { }")
    proto = scene.protos["Joint"]
    assert scene.nodes[0].proto is proto
    assert [(d.access, d.type) for d in proto.fields.values()] == [
        ("exposedField", "SFVec3f"),
        ("exposedField", "MFNode"),
        ("field", "SFFloat"),
        ("exposedField", "MFString"),
        ("eventIn", "MFNode"),
        ("eventOut", "SFBool"),
    ]
    assert same(
        [d.value for d in proto.fields.values()],
        [np.zeros(3), [], 1.5, ["none"], None, None],
    )
    assert proto.body[0].fields["translation"] == IsReference("translation")
    assert [route.to_node for route in proto.routes] == ["X"]
    assert scene.routes == []
    assert scene.problems == ()


def test_an_instance_stands_for_the_body_with_its_values_filled_in():
    scene = parse(
        JOINT + "DEF J Joint { translation 1 2 3 children [ DEF B Box { } ] } Joint { }"
    )
    given, plain = (expand(node) for node in scene.nodes)
    assert [node.type for node in given] == ["Transform", "TimeSensor"]
    assert given[0].fields["translation"].tolist() == [1, 2, 3]
    assert given[0].fields["children"][0] is scene.nodes[0].fields["children"][0]
    assert "addChildren" not in given[0].fields
    assert plain[0].fields["translation"].tolist() == [0, 0, 0]
    assert given[1] is plain[1], "a node without IS is not copied"
    assert scene.protos["Joint"].body[0].fields["translation"] == IsReference(
        "translation"
    )


def test_prototypes_inside_prototypes():
    scene = parse(
        "PROTO Outer [ field SFFloat r 1 field MFNode inside [ ] ] {\n"
        "  PROTO Ball [ field SFFloat size 9 ] { Shape { geometry Sphere { radius IS size } } }\n"
        "  Group { children [ Ball { size IS r } Ball { } Group { children IS inside } ] }\n"
        "}\n"
        "Outer { r 3 inside Outer { } } Ball { }"
    )
    group = instance_of(scene.nodes[0])
    first, second, third = group.fields["children"]
    assert instance_of(first).fields["geometry"].fields["radius"] == 3
    assert instance_of(second).fields["geometry"].fields["radius"] == 9
    inner = instance_of(third.fields["children"][0])
    assert (
        instance_of(inner.fields["children"][0]).fields["geometry"].fields["radius"]
        == 1
    )
    assert scene.nodes[1].proto is None, "a prototype inside another is unknown outside"
    assert rules_of(scene) == ["VRML112"]
    assert list(scene.protos) == ["Outer"]


def test_names_inside_a_prototype_are_its_own():
    scene = parse(
        "DEF A Box { } PROTO P [ ] { Group { children [ DEF A Cone { } USE A ] } } USE A PROTO Q [ ] { Group { children USE A } }"
    )
    assert [node.type for node in scene.nodes] == ["Box", "Box"]
    inside = scene.protos["P"].body[0].fields["children"]
    assert inside[0] is inside[1]
    assert scene.protos["Q"].body[0].fields["children"] == []
    assert rules_of(scene) == ["VRML116"]


def test_use_in_the_body_of_an_instance_gives_one_node():
    scene = parse(
        "PROTO P [ field SFFloat r 1 ] { Group { children [ DEF S Shape { geometry Sphere { radius IS r } } USE S ] } } P { r 2 }"
    )
    first, second = instance_of(scene.nodes[0]).fields["children"]
    assert first is second
    assert first.fields["geometry"].fields["radius"] == 2


def test_a_prototype_is_no_part_of_itself():
    scene = parse("PROTO P [ ] { Group { children P { } } } P { }")
    inside = instance_of(scene.nodes[0]).fields["children"][0]
    assert inside.proto is None
    assert rules_of(scene) == ["VRML112"]


def test_a_prototype_may_be_declared_again_and_replace_a_standard_node():
    scene = parse(
        "PROTO Box [ field SFFloat edge 1 ] { Group { } } Box { edge 2 } PROTO Box [ ] { Cone { } } Box { }"
    )
    assert scene.nodes[0].fields["edge"] == 2
    assert [instance_of(node).type for node in scene.nodes] == ["Group", "Cone"]
    assert scene.problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "Group { PROTO P [ ] { Cone { } } children P { } } P { }",
        "Group { children [ PROTO P [ ] { Cone { } } P { } ] } P { }",
    ],
)
def test_prototypes_declared_inside_nodes_and_lists(text):
    scene = parse(text)
    assert instance_of(scene.nodes[0].fields["children"][0]).type == "Cone"
    assert instance_of(scene.nodes[1]).type == "Cone"
    assert scene.problems == ()


def test_is_without_a_prototype_around_it_or_without_such_a_field():
    scene = parse(
        "Transform { translation IS t } PROTO P [ ] { Transform { translation IS t rotation 0 0 1 1 } } P { }"
    )
    assert rules_of(scene) == ["VRML120", "VRML120"]
    assert list(instance_of(scene.nodes[1]).fields) == ["rotation"]


def test_events_under_their_long_names_in_the_body():
    scene = parse(
        "PROTO P [ eventIn SFVec3f t eventOut SFVec3f u ] { Transform { set_translation IS t translation_changed IS u } }"
    )
    assert scene.problems == ()


def test_is_in_every_type_of_field():
    types = [
        "SFBool",
        "SFInt32",
        "SFFloat",
        "SFString",
        "SFVec3f",
        "SFNode",
        "MFNode",
        "MFFloat",
        "MFInt32",
        "MFString",
    ]
    types += [
        "SFTime",
        "SFVec2f",
        "SFColor",
        "SFRotation",
        "SFImage",
        "MFVec3f",
        "MFVec2f",
        "MFColor",
        "MFRotation",
        "MFTime",
    ]
    defaults = {
        "B": "FALSE",
        "S": '""',
        "N": "NULL",
        "I": "0 0 0",
        "V": "1 2 3",
        "C": "1 2 3",
        "R": "1 2 3 4",
    }
    for name in types:
        default = "[]" if name[0] == "M" else defaults.get(name[2], "0")
        default = {"SFInt32": "0", "SFVec2f": "1 2"}.get(name, default)
        inner = f"PROTO A [ field {name} a {default} ] {{ Group {{ }} }}"
        scene = parse(
            f"{inner} PROTO B [ field {name} b {default} ] {{ A {{ a IS b }} }} B {{ }}"
        )
        assert scene.problems == (), name
        assert scene.protos["B"].body[0].fields["a"] == IsReference("b")


def test_externproto_keeps_interface_and_urls():
    scene = parse(
        'EXTERNPROTO E [ field SFFloat r eventIn SFBool on ] [ "a.wrl#E" "b.wrl" ] E { r 2 }'
    )
    proto = scene.protos["E"]
    assert proto.urls == ("a.wrl#E", "b.wrl")
    assert [(d.access, d.type, d.value) for d in proto.fields.values()] == [
        ("field", "SFFloat", None),
        ("eventIn", "SFBool", None),
    ]
    assert scene.nodes[0].fields["r"] == 2
    assert expand(scene.nodes[0]) == []
    assert rules_of(parse("EXTERNPROTO E [ ] [ ]")) == ["FMT020"]


def test_wild_types_of_fields_are_read_by_their_look():
    scene = parse(
        "PROTO P [ field SFDouble d 1.5 field SFWhat w [ 1 2 ] ] { Group { } } P { d 2 }"
    )
    assert scene.nodes[0].fields["d"] == 2
    assert scene.protos["P"].fields["w"].value.tolist() == [1, 2]


# ---- the standard's own nodes


def test_the_table_has_the_54_nodes_of_the_standard():
    assert len(STANDARD_NODES) == 54
    for name in STANDARD_NODES:
        for declared in standard_fields(name).values():
            assert declared.access in ("field", "exposedField", "eventIn", "eventOut")
            assert declared.type[:2] in ("SF", "MF")
            if declared.access in ("eventIn", "eventOut") or declared.type == "SFNode":
                assert declared.value is None
            else:
                assert declared.value is not None
    assert standard_fields("Extrusion")["crossSection"].value.shape == (5, 2)
    assert standard_fields("NavigationInfo")["type"].value == ["WALK", "ANY"]
    assert standard_fields("PixelTexture")["image"].value.dtype == np.int64
    assert standard_fields("Nothing") == {}


# ---- headers and encodings


@pytest.mark.parametrize(
    ("start", "header", "problems"),
    [
        ("#VRML V2.0 utf8\n", "#VRML V2.0 utf8", []),
        ("#VRML V2.0 utf8 Exported by x\r\n", "#VRML V2.0 utf8 Exported by x", []),
        ("", "", ["VRML110"]),
        ("# a comment\n", "", ["VRML110"]),
        ("# VRML V2.0 utf8\n", "# VRML V2.0 utf8", ["VRML110"]),
        ("# first\n\n#VRML V2.0 utf8\n", "#VRML V2.0 utf8", ["VRML110"]),
    ],
)
def test_headers(start, header, problems):
    scene = parse_vrml((start + "Box { }").encode())
    assert scene.header == header
    assert rules_of(scene) == problems


@pytest.mark.parametrize(
    "data",
    [
        b"#VRML V1.0 ascii\nSeparator { }",
        b"#X3D V3.0 utf8\nPROFILE Immersive",
        b"#Inventor V2.1 ascii\n",
        b"\x1f\x8b\x08\0",
    ],
)
def test_other_languages_are_refused_in_words(data):
    with pytest.raises(FormatError) as caught:
        parse_vrml(data)
    assert caught.value.problem.rule == "VRML101"
    assert caught.value.problem.location.line == 1
    assert caught.value.problem.hint


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (
            '# 表示 ソ [ {\nDEF ソ能 Group { children DEF 表 Box { } } WorldInfo { title "ソ" }'.encode(
                "cp932"
            ),
            "cp932",
        ),
        (
            '# 表示 ソ [ {\nDEF ソ能 Group { children DEF 表 Box { } } WorldInfo { title "ソ" }'.encode(),
            "utf-8",
        ),
        (
            '# 表示 ソ [ {\nDEF ソ能 Group { children DEF 表 Box { } } WorldInfo { title "ソ" }'.encode(
                "utf-8-sig"
            ),
            "utf-8",
        ),
        (
            '# 表示 ソ [ {\nDEF ソ能 Group { children DEF 表 Box { } } WorldInfo { title "ソ" }'.encode(
                "utf-16"
            ),
            "utf-16",
        ),
    ],
)
def test_encodings(data, encoding):
    """The second byte of ソ and 表 in Shift-JIS is a backslash, that of 能 a bracket's neighbour: bytes cannot be parsed as they are."""
    scene = parse_vrml(data)
    group, info = scene.nodes
    assert (group.name, group.fields["children"][0].name, info.fields["title"]) == (
        "ソ能",
        "表",
        "ソ",
    )
    assert scene.encoding == encoding


def test_bytes_in_no_encoding_are_read_all_the_same():
    scene = parse_vrml(b"#VRML V2.0 utf8\n# \xff\xfe\x81\nBox { }")
    assert (scene.encoding, rules_of(scene)) == ("latin-1", ["VRML111"])


def test_an_end_of_file_mark_and_an_empty_file():
    assert parse_vrml(b"#VRML V2.0 utf8\nBox { }\n\x1a").problems == ()
    assert rules_of(parse_vrml(b"")) == ["VRML110", "VRML119"]


def test_reading_a_file(tmp_path):
    path = tmp_path / "x.wrl"
    path.write_text(HEADER + "Box { }")
    scene = read_vrml(path)
    assert scene.path == path
    assert scene.nodes[0].location.path == str(path)
    assert scene.nodes[0].path == path
    with pytest.raises(FormatError):
        read_vrml(tmp_path / "missing.wrl")
    with pytest.raises(FormatError):
        read_vrml(tmp_path)


# ---- faults

FAULTS = [
    ("Group { } ]", "VRML102", "2:11"),
    ("Group { } }", "VRML102", "2:11"),
    ("Group {\n children [\n Box { }\n", "VRML103", "5:1"),
    ("Group {\n children [ Box {", "VRML103", "3:18"),
    ("Shape { appearance Appearance {", "VRML103", "2:32"),
    ('WorldInfo { title "abc\n }', "VRML103", "2:19"),
    ('WorldInfo { info [ "a" "bc\n ] }', "VRML103", "2:24"),
    ("Coordinate { point [ 1 2 3", "VRML103", "2:27"),
    ("Coordinate { point [ 1 2 3 }", "VRML102", "2:28"),
    ("Box { size 1 1 1 1 }", "VRML102", "2:18"),
    ("Box { size 1 1 }", "VRML102", "2:16"),
    ("Group { children Box }", "VRML102", "2:18"),
    ("Group { children ] }", "VRML102", "2:18"),
    ("Group { [ ] }", "VRML102", "2:9"),
    ("Transform translation 0 0 0 }", "VRML102", "2:1"),
    ("42", "VRML102", "2:1"),
    ('"text"', "VRML102", "2:1"),
    ("PROTO P { }", "VRML102", "2:7"),
    ("PROTO P [ field SFFloat x ] { }", "VRML102", "2:27"),
    ("PROTO P [ SFFloat x 1 ] { }", "VRML102", "2:11"),
    ("PROTO P [ ] Group { }", "VRML102", "2:13"),
    ("PROTO P [ ] { Group { }", "VRML103", "2:24"),
    ("EXTERNPROTO P [ ] 5", "VRML102", "2:19"),
    ("ROUTE a.b c.d", "VRML102", "2:7"),
    ("USE", "VRML103", "2:4"),
    ("DEF", "VRML103", "2:4"),
    ("DEF A B", "VRML102", "2:5"),
    ("Robot { a }", "VRML102", "2:11"),
    ("Robot { a b }", "VRML102", "2:11"),
]


@pytest.mark.parametrize(("text", "rule", "location"), FAULTS)
def test_faults_have_rule_line_and_column(text, rule, location):
    problem = refused(text)
    assert (problem.rule, str(problem.location)) == (rule, location)


def test_depth_is_bounded():
    deep = "Group { children [ " * 200 + "] }" * 200
    assert isinstance(parse(deep).nodes[0], Node)
    for text in (
        "Group { children [ " * 100_000,
        "Group { children " * 100_000,
        "Robot { a " * 100_000,
    ):
        assert refused(text).rule == "FMT009"
    assert refused("".join(f"PROTO P{i} [ ] {{ " for i in range(5000))).rule == "FMT009"
    assert refused("PROTO P [ field SFNode n " + "Robot { a [ " * 5000).rule == "FMT009"


def test_size_is_bounded_with_use_and_prototypes_counted_in_full():
    bomb = "DEF A0 Group { }" + "".join(
        f" DEF A{i + 1} Group {{ children [ {' '.join([f'USE A{i}'] * 10)} ] }}"
        for i in range(20)
    )
    assert refused(bomb).rule == "FMT009"
    bomb = "PROTO A0 [ ] { Group { } }" + "".join(
        f" PROTO A{i + 1} [ ] {{ Group {{ children [ {f'A{i} {{ }} ' * 10} ] }} }}"
        for i in range(20)
    )
    assert refused(bomb).rule == "FMT009"
    scene = parse(
        "DEF A Group { children [ Box { } Box { } ] } USE A PROTO P [ ] { Group { } Group { } } P { }"
    )
    assert scene.size == 3 + 3 + 3


def test_expanding_is_as_deep_as_parsing():
    scene = parse(
        "PROTO P [ field SFFloat r 1 ] { "
        + "Group { children [ " * 200
        + "Sphere { radius IS r } "
        + "] }" * 200
        + " } P { r 2 }"
    )
    node = instance_of(scene.nodes[0])
    while node.type == "Group":
        node = node.fields["children"][0]
    assert node.fields["radius"] == 2


def test_very_many_problems_are_cut_short():
    assert len(parse("Box { a 1 } " * 5000).problems) == 1000


def test_a_prototype_can_be_made_by_hand():
    proto = Proto("P", {}, [Node("Group", fields={"children": []})])
    assert expand(Node("P", proto=proto))[0].type == "Group"
    assert str(Node("Group").location) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Shape { geometry DEF S Sphere { radius IS q } }",
        "PROTO P [ ] { Shape { geometry Sphere { radius IS q } } } P { }",
        "PROTO P [ field SFFloat r IS q ] { Shape { geometry Sphere { radius IS r } } } P { }",
        "PROTO Q [ field SFFloat q 1 ] { PROTO P [ field SFFloat r IS q ] { Shape { geometry Sphere { radius IS r } } } P { } } Q { }",
    ],
)
def test_a_field_whose_is_means_nothing_keeps_its_default(text):
    scene = parse(text)
    assert rules_of(scene) == ["VRML120"]
    sphere = instance_of(scene.nodes[0]).fields["geometry"]
    assert (
        sphere.get("radius") in (1.0, None)
        and nodes.number(sphere, "radius", 1.0) == 1.0
    )


def test_a_type_that_is_none_is_said():
    scene = parse(
        "PROTO A [ field SFFoo x 1 eventIn MFBar y ] { Script { field SFBaz z 1 } }"
    )
    assert rules_of(scene) == ["VRML121", "VRML121", "VRML121"]
    assert scene.protos["A"].fields["x"].value == 1


DEEP = [
    ("Group { children [ ", "] }"),
    ("Group { children ", "}"),
    ("Robot { a [ ", "] }"),
    ("Robot { a [ DEF [", "] ] }"),
    ("Robot { a DEF 1 ", "}"),
    ("Shape { geometry [ ", "] }"),
    ("PROTO P [ field MFNode x [ ", "] ] { }"),
    ("PROTO P [ field SFFoo x [ ", "] ] { }"),
    ("PROTO P [ ] { ", "}"),
    ("Group { PROTO P [ ] { ", "} }"),
    ("Robot { PROTO P [ field SFFoo x Robot { a [ ", "] } ] { } }"),
    ("DEF ", ""),
]


@pytest.mark.parametrize(("opening", "closing"), DEEP)
def test_what_is_too_deep_is_said_where_it_is(opening, closing):
    """However it is nested, and however deep the caller is: the place is that of the level that is too many, not the file's first."""
    data = "\n".join([opening] * 3000)
    for calls in (0, 850):
        problem = called_deep(calls, lambda: refused(data))
        if problem.rule == "FMT009":
            assert 80 <= problem.location.line <= 258 and "256" in problem.message


@pytest.mark.parametrize(("opening", "closing"), DEEP[:3])
@pytest.mark.parametrize("calls", [0, 850])
def test_as_deep_as_allowed_is_read_whoever_calls(opening, closing, calls):
    limit = sys.getrecursionlimit()
    scene = called_deep(calls, lambda: parse(opening * 255 + "Box { }" + closing * 255))
    depth, inside = 0, scene.nodes
    while inside:
        depth, fields = depth + 1, list(inside[0].fields.values())
        inside = (
            (fields[0] if isinstance(fields[0], list) else fields) if fields else []
        )
    assert depth == 256
    assert sys.getrecursionlimit() == limit


def called_deep(calls, function):
    return function() if not calls else called_deep(calls - 1, function)
