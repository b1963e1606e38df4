"""Files that a model names, and faults: included ones, meshes and images beside it, where they may lie, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.formats.mjcf import read_mjcf, write_mjcf
from bodymotion.formats.sniffing import looks_like_mjcf
from bodymotion.geometry.shapes import Material, Mesh, Shape, Texture
from bodymotion.model.links import Joint, Link, Segment

TETRAHEDRON = Mesh(
    np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
)
BODY = '<body name="{}"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{}</body>'


def test_included_files(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "model.xml").write_text(
        '<mujoco model="m"><include file="parts/defaults.xml"/><worldbody><include file="parts/arm.xml"/></worldbody></mujoco>'
    )
    (tmp_path / "parts/defaults.xml").write_text(
        '<mujocoinclude><default><joint axis="0 1 0"/></default></mujocoinclude>'
    )
    inner = BODY.format("hand", '<joint name="j"/>')
    inside = '<include file="hand.xml"/>'
    (tmp_path / "parts/arm.xml").write_text(
        f"<mujocoinclude>{BODY.format('arm', inside)}</mujocoinclude>"
    )
    (tmp_path / "parts/hand.xml").write_text(f"<mujocoinclude>{inner}</mujocoinclude>")
    body = read_mjcf(tmp_path / "model.xml").require()
    assert [link.name for link in body.links] == ["arm", "hand"]
    assert list(body.links[1].joint.axis) == [0, 1, 0]
    assert {path.name for path in body.source.parts} == {
        "defaults.xml",
        "arm.xml",
        "hand.xml",
    }
    assert body.source.locations.locate(("links", 1)).path.endswith("hand.xml")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('<mujoco><include file="model.xml"/></mujoco>', "MJCF102"),
        ('<mujoco><include file="nothing.xml"/></mujoco>', "MJCF102"),
        ('<mujoco><include file="/etc/passwd"/></mujoco>', "MJCF102"),
        ("<robot/>", "MJCF101"),
        ("<mujoco/>", "BODY108"),
        ("<mujoco><worldbody/></mujoco>", "BODY108"),
        ("<mujoco><worldbody>", "XML101"),
        ('<mujoco><compiler coordinate="global"/></mujoco>', "MJCF108"),
        ('<mujoco><compiler angle="grad"/></mujoco>', "XML104"),
        ('<mujoco><worldbody><body childclass="x"/></worldbody></mujoco>', "MJCF105"),
        (
            '<mujoco><worldbody><body quat="1 0 0 0" euler="0 0 0"/></worldbody></mujoco>',
            "MJCF111",
        ),
        ('<mujoco><worldbody><body quat="0 0 0 0"/></worldbody></mujoco>', "BODY107"),
        ('<mujoco><worldbody><body pos="0 0 inf"/></worldbody></mujoco>', "BODY105"),
        (
            '<mujoco><worldbody><body><geom size="1e20"/></body></worldbody></mujoco>',
            "BODY105",
        ),
        ('<mujoco><worldbody><body pos="0 0 x"/></worldbody></mujoco>', "XML104"),
        (
            "<mujoco><worldbody><body><body><freejoint/></body></body></worldbody></mujoco>",
            "MJCF112",
        ),
        (
            "<mujoco><worldbody><body><freejoint/><joint/></body></worldbody></mujoco>",
            "MJCF112",
        ),
        (
            '<mujoco><worldbody><body><joint type="screw"/></body></worldbody></mujoco>',
            "MJCF114",
        ),
        (
            '<mujoco><worldbody><body><geom type="box" size="1 1"/></body></worldbody></mujoco>',
            "MJCF141",
        ),
        (
            '<mujoco><worldbody><body><geom size="-1"/></body></worldbody></mujoco>',
            "MJCF141",
        ),
        (
            '<mujoco><worldbody><body><geom type="mesh" mesh="x"/></body></worldbody></mujoco>',
            "MJCF142",
        ),
        (
            '<mujoco><worldbody><body><geom size="1" material="x"/></body></worldbody></mujoco>',
            "MJCF142",
        ),
        (
            '<mujoco><worldbody><body name="a"/></worldbody><equality><connect body1="a" body2="x" anchor="0 0 0"/></equality></mujoco>',
            "MJCF152",
        ),
    ],
)
def test_faults(tmp_path, text, code):
    """Each is told with its place."""
    (tmp_path / "outside.xml").write_text("<mujocoinclude/>")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.xml").write_text(f"\n\n{text}")
    with pytest.raises(bm.FormatError) as caught:
        read_mjcf(folder / "model.xml").require()
    assert caught.value.problem.rule == code
    assert caught.value.problem.location.line == 3


def test_a_file_from_outside_unless_the_model_is_not_trusted(tmp_path):
    (tmp_path / "outside.xml").write_text(
        f"<mujocoinclude>{BODY.format('a', '')}</mujocoinclude>"
    )
    (tmp_path / "model").mkdir()
    path = tmp_path / "model/model.xml"
    path.write_text(
        '<mujoco><worldbody><include file="../outside.xml"/></worldbody></mujoco>'
    )
    assert bm.load_body(path).links[0].name == "a"
    with pytest.raises(bm.FormatError) as caught:
        bm.load_body(path, untrusted=True)
    assert caught.value.problem.rule == "MJCF102"


def test_load_knows_it_by_its_content(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text(
        f'<?xml version="1.0"?>\n<!-- a robot -->\n<mujoco><worldbody>{BODY.format("a", "")}</worldbody></mujoco>'
    )
    assert bm.load(path).links[0].name == "a"
    assert not looks_like_mjcf(b"<robot name='mujoco'/>")
    assert not looks_like_mjcf(b"<!-- <mujoco> --><robot/>")


def test_missing_files_are_problems(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(
        '<mujoco><compiler meshdir="meshes"/><asset><mesh file="gone.stl"/></asset><worldbody><body name="a"><freejoint/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="gone"/></body></worldbody></mujoco>'
    )
    body = read_mjcf(path).require()
    assert body.links[0].visuals == ()
    assert [problem.rule for problem in body.problems] == ["FMT020"]


def with_mesh(*shapes: Shape) -> bm.Body:
    segment = Segment(name="a", mass=1.0, inertia=np.eye(3), visuals=shapes)
    return bm.Body(
        name="m",
        links=(
            Link(name="a", joint=Joint(name="a", type="free"), segments=(segment,)),
        ),
    )


def test_meshes_and_images_lie_beside_the_model(tmp_path):
    """One file for a mesh however often it is shown; the image is copied; MuJoCo loads it all."""
    from PIL import Image

    mujoco = pytest.importorskip("mujoco")
    Image.new("RGB", (4, 4), (255, 0, 0)).save(tmp_path / "red.png")
    material = Material(
        diffuse=(0.1, 0.2, 0.3),
        texture=Texture(tmp_path / "red.png", "red.png", repeat_s=False),
    )
    away = np.eye(4)
    away[:3, 3] = [1, 2, 3]
    body = with_mesh(Shape(TETRAHEDRON, material=material), Shape(TETRAHEDRON, away))
    path = tmp_path / "out" / "robot.xml"
    path.parent.mkdir()
    assert bm.save(body, path).losses == ()
    model = mujoco.MjModel.from_xml_path(str(path))
    again = bm.load(path)
    assert (model.nmesh, model.ntex, model.ngeom) in ((1, 1, 3), (2, 1, 3))
    assert again == body
    assert (
        again.links[0].visuals[0].material.texture.path.read_bytes()
        == (tmp_path / "red.png").read_bytes()
    )


@pytest.mark.parametrize("mesh", ["obj", "stl"])
def test_kinds_of_mesh_files(tmp_path, mesh):
    mujoco = pytest.importorskip("mujoco")
    write_mjcf(with_mesh(Shape(TETRAHEDRON)), tmp_path / "a.xml", mesh=mesh)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml")).nmeshface == 4
    mesh = read_mjcf(tmp_path / "a.xml").require().links[0].visuals[0].to_mesh()
    assert mesh.vertices[mesh.faces].sum(axis=(0, 1)) == pytest.approx([3, 3, 3])


def test_meshes_that_mujoco_would_refuse(tmp_path):
    """A lone triangle, a square, a needle without area: shown or left out, and told."""
    mujoco = pytest.importorskip("mujoco")
    triangle = Mesh(np.eye(3), np.array([[0, 1, 2]]))
    square = Mesh(
        np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]),
        np.array([[0, 1, 2], [0, 2, 3]]),
    )
    needle = Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]), np.array([[0, 1, 2]]))
    body = with_mesh(Shape(triangle), Shape(square), Shape(needle))
    body = bm.Body(name="m", links=tuple(_touching(link) for link in body.links))
    lost = write_mjcf(body, tmp_path / "a.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
    assert model.ngeom == 4 + 1, "and the floor"
    assert {problem.rule for problem in lost} == {"LOSS031", "LOSS036", "LOSS050"}
    again = read_mjcf(tmp_path / "a.xml").require().links[0]
    assert len(again.visuals) == len(again.collisions) == 2


def _touching(link: Link) -> Link:
    from dataclasses import replace

    return replace(
        link, segments=tuple(replace(s, collisions=s.visuals) for s in link.segments)
    )


PLACES = {
    "beside the model": ("w.stl", "", True),
    "beside the part": ("parts/w.stl", "", True),
    "in meshdir": ("m/w.stl", "m", True),
    "beside the part, with a meshdir": ("parts/w.stl", "m", True),
    "in meshdir beside the part": ("parts/m/w.stl", "m", False),
}


@pytest.mark.parametrize("place", PLACES)
def test_meshes_of_included_files(place, tmp_path, strangers):
    """The folder of the model is the first, then that of the included file, as in MuJoCo."""
    mujoco = pytest.importorskip("mujoco")
    location, folder, there = PLACES[place]
    mesh = tmp_path / location
    mesh.parent.mkdir(parents=True, exist_ok=True)
    mesh.write_bytes((strangers / "06/parts/part_wedge.stl").read_bytes())
    (tmp_path / "parts").mkdir(exist_ok=True)
    (tmp_path / "parts/part.xml").write_text(
        '<mujoco><asset><mesh name="w" file="w.stl"/></asset><worldbody><body name="a">'
        '<geom type="mesh" mesh="w"/></body></worldbody></mujoco>'
    )
    path = tmp_path / "scene.xml"
    path.write_text(
        f'<mujoco><compiler meshdir="{folder}"/><include file="parts/part.xml"/></mujoco>'
    )
    if not there:
        with pytest.raises(ValueError, match=r"w\.stl"):
            mujoco.MjModel.from_xml_path(str(path))
        assert [p.rule for p in read_mjcf(path).problems] == ["FMT020"]
        return
    model = mujoco.MjModel.from_xml_path(str(path))
    body = read_mjcf(path).require()
    assert not body.problems
    assert body.mass == pytest.approx(model.body_mass.sum())


def test_a_mesh_beside_the_part_comes_before_one_beside_the_model(tmp_path, strangers):
    """Where a folder of meshes is named, and the mesh is in none of it."""
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "parts").mkdir()
    mesh = (strangers / "06/parts/part_wedge.stl").read_bytes()
    (tmp_path / "parts/w.stl").write_bytes(mesh)
    (tmp_path / "w.stl").write_bytes(mesh[:84])
    (tmp_path / "parts/part.xml").write_text(
        '<mujoco><asset><mesh name="w" file="w.stl"/></asset><worldbody><body name="a">'
        '<geom type="mesh" mesh="w"/></body></worldbody></mujoco>'
    )
    path = tmp_path / "scene.xml"
    path.write_text(
        '<mujoco><compiler meshdir="m"/><include file="parts/part.xml"/></mujoco>'
    )
    model = mujoco.MjModel.from_xml_path(str(path))
    mass = read_mjcf(path).require().mass
    assert mass == pytest.approx(model.body_mass.sum())


def test_a_robot_among_other_things(tmp_path):
    """One free body among fixed ones is the robot; of two free ones neither is, and the world is the root."""
    path = tmp_path / "scene.xml"
    free = BODY.format("robot", '<freejoint/><site name="s"/>')
    tail = '<equality><connect body1="robot" body2="table" anchor="0 0 0"/></equality><sensor><gyro site="on_table"/></sensor></mujoco>'
    table = BODY.format("table", '<site name="on_table"/>')
    path.write_text(f"<mujoco><worldbody>{table}{free}</worldbody>{tail}")
    body = read_mjcf(path).require()
    assert [(link.name, link.joint.type) for link in body.links] == [("robot", "free")]
    assert {problem.rule for problem in body.problems} == {
        "MJCF124",
        "MJCF154",
        "MJCF151",
    }
    other = BODY.format("other", "<freejoint/>")
    path.write_text(f"<mujoco><worldbody>{free}{other}</worldbody></mujoco>")
    body = read_mjcf(path).require()
    assert [(link.name, link.joint.type) for link in body.links] == [
        ("world", "fixed"),
        ("robot", "free"),
        ("other", "free"),
    ]
    assert {problem.rule for problem in body.problems} == {"MJCF122"}
    assert write_mjcf(body, tmp_path / "again.xml") == ()
    assert [
        link.joint for link in read_mjcf(tmp_path / "again.xml").require().links
    ] == [link.joint for link in body.links]


def test_a_glow_on_black(tmp_path):
    """MuJoCo says a glow as a part of the colour, in single precision: on (nearly) black there is none, and it comes back all the same."""
    mujoco = pytest.importorskip("mujoco")
    glowing = Material(diffuse=(1e-300, 0.0, 0.0), emissive=(0.5, 0.2, 1.0))
    body = with_mesh(
        Shape(TETRAHEDRON, material=glowing),
        Shape(TETRAHEDRON, material=Material(emissive=(0.8, 0.8, 0.8))),
    )
    assert write_mjcf(body, tmp_path / "a.xml") == ()
    assert list(mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml")).mat_emission) == [
        0,
        1,
    ]
    assert read_mjcf(tmp_path / "a.xml").require() == body
