"""What makes of a text no number, said in words: each slip is named, and what is merely odd is not guessed at."""

from __future__ import annotations

import pytest

import bodymotion as bm
from bodymotion.diagnostics.spelling import number_slip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,1 0 0", "a decimal comma? Write 0.1"),
        ("0 -12,5", "a decimal comma? Write -12.5"),
        ("0.1,0.2,0.3", "commas between the numbers: write blanks"),
        ("0,1,0", "commas between the numbers: write blanks"),
        ("\u22121.6", "its minus is the character U+2212: write the - of the keyboard"),
        ("\u20130.5", "its minus is the character U+2013: write the - of the keyboard"),
        ("1.5\u00b0", "it has the character U+00B0 (degree sign)"),
        ("${m}", "an expression of xacro: run xacro on the file first"),
        ("$(arg mass)", "an expression of xacro: run xacro on the file first"),
        ("O.11", "the letter O in place of 0?"),
        ("fast", ""),
        ("0x10", ""),
        ("1_000", ""),
        ("nan", ""),
        ("", ""),
    ],
)
def test_slips(text, said):
    assert number_slip(text) == said


SEQ = (
    "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: 50\ncomponents:\n  -\n    type: MultiValueSeq\n"
    "    content: JointDisplacement\n    numParts: 3\n    frames:\n      - [ 0.0, 0.1, 0.2 ]\n      - [ ROW ]\n"
)
URDF = '<robot name="r"><link name="a"><inertial><mass value="VALUE"/></inertial></link></robot>'
WRL = "#VRML V2.0 utf8\nTransform {\n  translation VALUE\n  children [ ]\n}\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "w.seq",
            SEQ.replace("ROW", "0.0, 0,1, 0.2"),
            "frame 1 has 4 numbers instead of 3: a decimal comma?",
        ),
        (
            "w.seq",
            SEQ.replace("ROW", "0.0, 1, 0.2, 3"),
            "frame 1 has 4 numbers instead of 3",
        ),
        (
            "w.seq",
            SEQ.replace("ROW", "0.0, \u22121, 0.2"),
            "its minus is the character U+2212",
        ),
        (
            "w.seq",
            SEQ.replace("ROW", "0.0, 0.\0" + "1, 0.2"),
            "frame 1: there is a NUL byte in it",
        ),
        (
            "r.urdf",
            URDF.replace("VALUE", "${m}"),
            "an expression of xacro: run xacro on the file first",
        ),
        ("r.urdf", URDF.replace("VALUE", "0,5"), "a decimal comma? Write 0.5"),
        (
            "r.wrl",
            WRL.replace("VALUE", "0,1 0 0"),
            "is there a decimal comma before it?",
        ),
        ("r.wrl", WRL.replace("VALUE", "1, 0, 0, 0"), "found 0 after translation"),
        (
            "r.wrl",
            WRL.replace("VALUE", "0.1 0"),
            "expected 3 numbers (translation, an SFVec3f)",
        ),
    ],
)
def test_the_first_line_names_the_slip(name, text, said, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    messages = [problem.message for problem in bm.check(tmp_path / name).problems]
    assert any(said in message for message in messages), messages
    assert ("comma" in said) == any("comma" in message for message in messages)


def test_bytes_of_another_encoding_have_their_place(tmp_path):
    """The reader is told where the first byte is that is not UTF-8, and what to do."""
    from bodymotion.cli.output import lines_of

    before = "# größer\n".encode() * 200_000
    text = SEQ.replace("ROW", "0.0, 1, 0.2").replace(
        "content: BodyMotion", "content: BodyMotion\nauthor: Jürgen"
    )
    (tmp_path / "w.seq").write_bytes(
        before + "# für ".encode() + text.encode("latin-1")
    )
    (problem,) = (
        p for p in bm.check(tmp_path / "w.seq").problems if p.rule == "FMT011"
    )
    assert "0xfc" in problem.message and problem.hint
    lines = (before + "# für ".encode() + text.encode()).decode().split("\n")
    assert lines[problem.location.line - 1][problem.location.column - 1 :] == "ürgen"
    (tmp_path / "r.urdf").write_bytes(
        '<robot name="r">\n<link name="röb"/>\n</robot>'.encode("latin-1")
    )
    (problem,) = (
        p for p in bm.check(tmp_path / "r.urdf").problems if p.rule == "XML101"
    )
    assert (problem.location.line, problem.location.column) == (
        2,
        14,
    ) and "UTF-8" in problem.message
    assert lines_of(str(tmp_path / "r.urdf"), {2}) == {2: '<link name="röb"/>'}


MESHES = {
    "stl": "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0,05 0 0\nvertex 1,5 0 0\nvertex 0 1,25 0\nendloop\nendfacet\nendsolid\n",
    "obj": "v 0,05 0 0\nv 1,5 0 0\nv 0 1,25 0\nf 1 2 3\n",
    "off": "OFF\n3 1 0\n0,05 0 0\n1,5 0 0\n0 1,25 0\n3 0 1 2\n",
}
FACES = "#VRML V2.0 utf8\nShape { geometry IndexedFaceSet {\n  coord Coordinate { point [ POINTS ] }\n  coordIndex [ 0,1,2,-1 ]\n} }\n"
HAND = (
    '#VRML V2.0 utf8\nDEF R Humanoid { humanoidBody DEF B Joint { jointType "free" children\n'
    'DEF HAND Joint { jointType "rotate" jointId 0 children Segment { children [\n'
    'Inline { url "a.wrl" } Shape { geometry Box { } } ] } } } }\n'
)


@pytest.mark.parametrize("suffix", [*MESHES, "wrl"])
def test_decimal_commas_in_a_mesh_are_reported_with_link_and_file(suffix, tmp_path):
    points = "0,0453056 0,07 0\n1,5 0,07 0\n0,5 1,25 0"
    (tmp_path / f"a.{suffix}").write_text(
        MESHES.get(suffix, FACES.replace("POINTS", points))
    )
    mesh = f'<visual><geometry><mesh filename="a.{suffix}"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r"><link name="a"/>\n\n<link name="b">{mesh}</link></robot>'
    )
    (problem,) = (
        one for one in bm.check(tmp_path / "r.urdf").problems if one.rule == "FMT021"
    )
    assert (
        problem.location.line == 3
        and f"a.{suffix}" in problem.message
        and "decimal comma" in problem.message
    )


def test_decimal_commas_in_the_model_itself_name_the_link(tmp_path):
    shape = FACES.partition("\n")[2].replace(
        "POINTS", "0,05 0,07 0\n1,5 0,07 0\n0,5 1,25 0"
    )
    model = HAND.replace('Inline { url "a.wrl" }', shape)
    (tmp_path / "r.wrl").write_text(model)
    (problem,) = bm.check(tmp_path / "r.wrl", select=["VRML123"]).problems
    assert "HAND" in problem.message and problem.subject[:2] == ("links", 1)
    # In a field that is no list it is a fault of syntax, where reading stops.
    wrong = model.replace("Box { }", "Box { size 0,1 0,2 0,3 }")
    (tmp_path / "r.wrl").write_text(wrong)
    (problem,) = bm.check(tmp_path / "r.wrl", select=["VRML102"]).problems
    assert "decimal comma" in problem.message


@pytest.mark.parametrize(
    ("points", "bounds"),
    [
        (
            "0,0453056 0,07 0\n1,5 0,07 0\n0,5 1,25 0",
            [[0.0453056, 0.07, 0], [1.5, 1.25, 0]],
        ),
        ("0,0453056 0,07 0\n1,5 0,07 0\n0,5 1,25", None),
        ("0,0,0, 1,0,0, 0,1,0", [[0, 0, 0], [1, 1, 0]]),
    ],
)
def test_points_with_decimal_commas_are_read_where_they_can_only_mean_that(
    points, bounds, tmp_path
):
    (tmp_path / "a.wrl").write_text(FACES.replace("POINTS", points))
    (tmp_path / "r.wrl").write_text(HAND)
    body = bm.load_body(tmp_path / "r.wrl")
    *read, box = body.links[1].visuals
    assert [shape.bounds.tolist() for shape in read if shape.bounds is not None] == (
        [bounds] if bounds else []
    )
    assert box.bounds.tolist() == [[-1, -1, -1], [1, 1, 1]]
    found = [one for one in body.problems if one.rule == "VRML123"]
    assert len(found) == (points[1:3] == ",0" and points[3] != ",")
    for problem in found:
        assert "HAND" in problem.message and problem.subject[:2] == ("links", 1)
        assert (problem.location.path, problem.location.line) == (
            str(tmp_path / "a.wrl"),
            3,
        )


def test_a_decimal_comma_in_a_body_file(tmp_path):
    (tmp_path / "m.body").write_text(
        "format: ChoreonoidBody\nformat_version: 2.0\nlinks:\n  - name: a\n    mass: 1,5\n"
    )
    (problem,) = (
        one for one in bm.check(tmp_path / "m.body").problems if one.rule == "YAML104"
    )
    assert problem.location.line == 5 and "1.5" in problem.hint


def test_one_link_far_outside_of_the_others_is_no_wrong_unit(tmp_path):
    floor = '<geom name="floor" type="box" size="300 300 0.1"/>'
    arm = '<body name="arm"><joint name="j"/><geom size="0.1 0.2" type="capsule"/>'
    tip = '<body name="tip" pos="0 0 0.3"><joint name="k"/><geom size="0.1 0.1" type="capsule"/></body></body>'
    (tmp_path / "r.xml").write_text(
        f'<mujoco><worldbody><body name="base">{floor}{arm}{tip}</body></worldbody></mujoco>'
    )
    (problem,) = bm.check(tmp_path / "r.xml", select=["BODY140"]).problems
    assert problem.subject[:2] == ("links", 0) and "--scale" not in problem.hint


def test_textures_without_a_name_differ(tmp_path):
    sky = '<texture type="skybox" builtin="gradient" width="10" height="60"/>'
    (tmp_path / "r.xml").write_text(
        f"<mujoco><asset>{sky}{sky}</asset><worldbody><body><geom size='1'/></body></worldbody></mujoco>"
    )
    assert not bm.check(tmp_path / "r.xml", select=["MJCF107"]).problems
