"""VRML97 as it is written: what the reader makes of it is the scene again, to the bit of every number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bodymotion.diagnostics import FormatError
from bodymotion.formats.vrml import Node, Scene, expand, parse_vrml, read_vrml
from bodymotion.formats.vrml.nodes import axis_angle
from bodymotion.formats.vrml.nodes import quaternion as quaternion_of
from bodymotion.formats.vrml.shape_writer import holds, rotation_value, transform_fields
from bodymotion.formats.vrml.shapes import node_transform
from bodymotion.formats.vrml.writer import (
    is_name,
    legal_name,
    number_pieces,
    scene_pieces,
)
from bodymotion.geometry.arrays import same
from sample_files import sampled, tries
from strategies_bodies import affine_transforms, quaternions
from vrml.vrml_texts import alike, nodes

SLOW = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.function_scoped_fixture,
]


def text_of(scene: Scene) -> bytes:
    return b"".join(scene_pieces(scene))


def reread(scene: Scene) -> Scene:
    return parse_vrml(text_of(scene))


def difference(a: Scene, b: Scene) -> str:
    """Say where two scenes differ, "" nowhere; the same nodes are used several times in both."""
    twins: dict[int, Node] = {}
    stack = [("scene", a.nodes, b.nodes)]
    while stack:
        where, x, y = stack.pop()
        if isinstance(x, list) and not isinstance(y, np.ndarray):
            if not isinstance(y, list) or len(x) != len(y):
                return f"{where}: lists of other lengths"
            stack += [
                (f"{where}[{i}]", p, q)
                for i, (p, q) in enumerate(zip(x, y, strict=True))
            ]
        elif isinstance(x, Node) and isinstance(y, Node):
            if twins.setdefault(id(x), y) is not y:
                return f"{where}: no longer one node"
            if (x.type, x.name or y.name, list(x.fields)) != (
                y.type,
                y.name,
                list(y.fields),
            ):
                return f"{where}: {x.type} {x.name}"
            if (x.proto is None) != (y.proto is None) or (
                x.proto and list(x.proto.fields) != list(y.proto.fields)
            ):
                return f"{where}: prototype of {x.type}"
            stack += [
                (f"{where}.{name}", x.fields[name], y.fields[name]) for name in x.fields
            ]
            stack += (
                [(f"{where} body", x.proto.body, y.proto.body)]
                if x.proto and id(x.proto) not in twins
                else []
            )
            if x.proto:
                twins[id(x.proto)] = x
        elif not alike(x, y) and not same(
            x, y
        ):  # NaN with another sign, an empty list of undeclared type
            return f"{where}: {x!r:.60} is read as {y!r:.60}"
    return (
        ""
        if a.routes == b.routes and list(a.protos) == list(b.protos)
        else "routes or prototypes"
    )


@settings(max_examples=tries(150), suppress_health_check=SLOW)
@given(st.lists(nodes(), max_size=3))
def test_nodes_of_the_standard_are_read_back_to_the_bit(made):
    scene = Scene(nodes=[node for _, node in made])
    assert alike(scene.nodes, reread(scene).nodes)


@pytest.mark.parametrize(
    "part", ["wrl/made", "wrl/choreonoid+choreonoid", "wrl/[!cm]*"]
)
def test_all_samples_are_read_back(corpus, part):
    seen = 0
    for path in sampled(
        sorted(file for folder in corpus.glob(part) for file in folder.rglob("*.wrl"))
    ):
        try:
            scene = read_vrml(path)
        except FormatError:
            continue
        assert difference(scene, reread(scene)) == "", path
        seen += 1
    assert seen >= 5


LANGUAGE = """#VRML V2.0 utf8
PROTO Inner [ field SFVec3f size 1 2 3 ] { Box { size IS size } }
EXTERNPROTO Far [ field SFBool on ] [ "far.wrl#Far" ]
PROTO Outer [ field MFNode children [ DEF I Inner { } ] eventIn SFTime go exposedField SFNode none NULL ] {
  PROTO Hidden [ field MFString words [ "a" "b" ] ] { WorldInfo { info IS words } }
  DEF A Group { children IS children }
  Hidden { words [ "quote \\" and \\\\ end" "" ] }
  DEF T TimeSensor { }
  DEF S Script { field SFInt32 count 3 eventIn SFTime go IS go eventOut SFBool done url "x.js" }
  ROUTE T.cycleTime TO S.go
}
DEF X Outer { children [ DEF A Shape { geometry DEF G Inner { } } USE A ] }
DEF A Transform { children [ USE X NULL ] rotation 0 1 0 1.57 }
Group { children DEF A Group { } }
Group { children [ USE A ] }
Anything { number 1 real 1.0 list [ 1 ] text "t" texts [ "t" ] flag TRUE none [ ] node Box { } }
Far { on FALSE }
ROUTE A.x TO X.y
"""


def test_the_whole_language():
    """Prototypes in prototypes, nodes as defaults, Script, names given anew, USE, fields that nobody declares."""
    scene = parse_vrml(LANGUAGE.encode())
    again = reread(scene)
    assert difference(scene, again) == ""
    assert type(again.nodes[4].fields["real"]) is float
    assert type(again.nodes[4].fields["number"]) is int
    script = again.nodes[0].proto.body[3]
    assert [(d.access, d.type, d.name) for d in script.declarations.values()] == [
        ("field", "SFInt32", "count"),
        ("eventIn", "SFTime", "go"),
        ("eventOut", "SFBool", "done"),
    ]
    assert [node.type for node in expand(again.nodes[0])] == [
        "Group",
        "Hidden",
        "TimeSensor",
        "Script",
    ]


def test_a_node_in_several_places_is_written_once_and_gets_a_free_name():
    shared = Node("Box", fields={"size": np.array([1.0, 2.0, 3.0])})
    scene = Scene(
        nodes=[
            Node("Shape", "Box_1", {"geometry": shared}),
            Node("Shape", fields={"geometry": shared}),
        ]
    )
    text = text_of(scene).decode()
    assert text.count("size") == 1
    first, second = parse_vrml(text.encode()).nodes
    assert first.name == "Box_1"
    assert first.fields["geometry"] is second.fields["geometry"]


def test_any_depth():
    """The writer keeps a stack of its own."""
    node = Node("Group")
    for _ in range(20_000):
        node = Node("Group", fields={"children": [node]})
    assert text_of(Scene(nodes=[node])).count(b"{") == 20_001


def test_two_prototypes_of_one_name_in_one_node_are_refused():
    one, two = (
        parse_vrml(b"PROTO P [ ] { Group { } } P { }").nodes[0] for _ in range(2)
    )
    with pytest.raises(ValueError, match="P"):
        text_of(Scene(nodes=[Node("Group", fields={"children": [one, two]})]))
    assert [node.type for node in reread(Scene(nodes=[one, two])).nodes] == ["P", "P"]


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(0, 30), st.just(3))),
    st.sampled_from([b"", b"    "]),
)
def test_lists_of_numbers_in_bulk_are_to_the_bit(values, indent):
    """NaN and infinity too, though the standard has none."""
    text = b"Coordinate { point " + b"".join(number_pieces(values, indent)) + b"}"
    (node,) = parse_vrml(text).nodes
    assert np.array_equal(node.fields["point"], values, equal_nan=True)
    assert (
        np.array_equal(np.signbit(node.fields["point"]), np.signbit(values))
        or np.isnan(values).any()
    )


@given(st.lists(st.integers(-1, 2**31 - 1), max_size=60))
def test_lists_of_indices_are_read_back(values):
    text = (
        b"IndexedFaceSet { coordIndex "
        + b"".join(number_pieces(np.array(values, np.int32), b"  "))
        + b"}"
    )
    (node,) = parse_vrml(text).nodes
    assert node.fields["coordIndex"].tolist() == values


def test_faces_stand_one_in_a_line():
    text = b"".join(
        number_pieces(
            np.array([0, 1, 2, -1, 2, 1, 3, -1, 4, 5, 6, 7, -1], np.int32), b""
        )
    ).decode()
    assert [line.split() for line in text.splitlines()[1:-1]] == [
        ["0", "1", "2", "-1"],
        ["2", "1", "3", "-1"],
        ["4", "5", "6", "7", "-1"],
    ]


def rotation(node):
    return quaternion_of(*axis_angle(node))


@settings(max_examples=tries(300))
@given(quaternions())
def test_a_rotation_is_read_as_its_quaternion(quaternion):
    value = rotation_value(quaternion)
    read = np.array(
        rotation(Node("", fields={} if value is None else {"rotation": value}))
    )
    assert np.abs(read - quaternion).max() <= 1e-15


@pytest.mark.parametrize("angle", [1.57, -0.7854, 2.094395102393, 3.14159])
@pytest.mark.parametrize(
    "axis", [(0, 0, 1), (0, -1, 0), (0.57735, 0.57735, 0.57735), (0.6, 0.8, 0)]
)
def test_a_rotation_gets_the_digits_that_somebody_wrote(axis, angle):
    given = np.array([*axis, angle], dtype=float)
    quaternion = np.array(rotation(Node("", fields={"rotation": given})))
    written = rotation_value(quaternion)
    read = rotation(Node("", fields={"rotation": written}))
    assert read == tuple(quaternion)
    assert len(
        text_of(Scene(nodes=[Node("Transform", fields={"rotation": written})]))
    ) <= len(
        text_of(
            Scene(
                nodes=[
                    Node(
                        "Transform",
                        fields={"rotation": np.abs(given) * np.sign(written)},
                    )
                ]
            )
        )
    )


@settings(max_examples=tries(300))
@given(affine_transforms(rigid=False))
def test_a_transform_is_read_as_its_matrix(matrix):
    """Stretched along any axes, mirrored, turned."""
    fields = transform_fields(matrix)
    assert (
        np.abs(node_transform(Node("Transform", fields=fields)) - matrix).max()
        <= 1e-14 * np.abs(matrix).max()
    )


@pytest.mark.parametrize(
    "scale", [(1e-9, 1.0, 1e6), (0.0, 1.0, 2.0), (0.0, 0.0, 0.0), (1.0, 1.0, -1.0)]
)
def test_extreme_stretches(scale):
    turn = node_transform(
        Node("", fields={"rotation": np.array([1.0, 2.0, 3.0, 1.0])})
    )[:3, :3]
    for inner in (np.eye(3), turn):
        matrix = np.eye(4)
        matrix[:3, :3] = turn @ inner @ np.diag(scale) @ inner.T
        assert holds(matrix, transform_fields(matrix))


@given(st.text(max_size=8))
def test_any_text_becomes_a_name(text):
    name = legal_name(text)
    assert is_name(name)
    assert not is_name(text) or name == text
    (node,) = parse_vrml(f"DEF {name} Group {{ }}".encode()).nodes
    assert node.name == name


def test_the_file_is_one_that_strict_readers_take(examples: Path):
    text = text_of(read_vrml(next(examples.glob("*.wrl"))))
    assert text.startswith(b"#VRML V2.0 utf8\n")
    assert b"\r" not in text
    assert b"\t" not in text
