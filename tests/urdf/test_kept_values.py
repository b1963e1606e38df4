"""What URDF has no place for and a body has: kept for ourselves, and said; without <bodymotion> it is a loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.formats.urdf import parse_urdf, read_urdf, write_urdf
from bodymotion.geometry.meshes import to_mesh
from bodymotion.geometry.shapes import Box, Cone, Corners, Material, Shape, Sphere

RED, BLUE = (
    Material(diffuse=(1.0, 0.0, 0.0), shininess=0.7),
    Material(diffuse=(0.0, 0.0, 1.0), transparency=0.5),
)


def of_shapes(*collisions, visuals=()):
    segment = bm.Segment(visuals=tuple(visuals), collisions=collisions)
    return bm.Body(
        name="r",
        links=(
            bm.Link(
                name="a", segments=(segment,), joint=bm.Joint(name="a", type="free")
            ),
        ),
    )


def words(report, code):
    return " ".join(problem.message for problem in report if problem.rule == code)


def test_collisions_keep_their_materials(tmp_path):
    body = of_shapes(
        Shape(Box((1.0, 1.0, 1.0)), material=RED),
        Shape(Sphere(1.0)),
        Shape(Cone(1.0, 1.0), material=BLUE),
        visuals=[Shape(Box((1.0, 1.0, 1.0)), material=BLUE)],
    )
    report = write_urdf(body, tmp_path / "r.urdf")
    assert "materials of collisions" in words(report, "URDF162")
    read = read_urdf(tmp_path / "r.urdf").require()
    assert not read.problems
    assert [shape.material for shape in read.links[0].collisions] == [
        RED,
        Material(),
        BLUE,
    ]
    assert [shape.material for shape in read.links[0].visuals] == [BLUE]
    # URDF's <collision> has no <material>: other programs are told nothing that they might refuse.
    inside = (
        (tmp_path / "r.urdf")
        .read_text()
        .split("<collision")[1]
        .split("</collision>")[0]
    )
    assert "material" not in inside
    assert "materials of collisions" in words(
        write_urdf(body, tmp_path / "r.urdf", extension=False), "LOSS040"
    )


def test_plain_collisions_are_nothing_to_tell(tmp_path):
    report = write_urdf(of_shapes(Shape(Box((1.0, 1.0, 1.0)))), tmp_path / "r.urdf")
    assert (
        not report and b"<bodymotion version" not in (tmp_path / "r.urdf").read_bytes()
    )


def test_a_collision_of_many_colours_has_no_other_material(tmp_path):
    """The file of such a mesh has materials, one for each colour; the collision's is none of them."""
    mesh = to_mesh(Box((1.0, 1.0, 1.0)))
    colors = Corners([[1.0, 0.0, 0.0]], np.zeros((len(mesh.faces), 3), dtype=int))
    body = of_shapes(Shape(replace(mesh, colors=colors)))
    write_urdf(body, tmp_path / "r.urdf")
    assert [
        shape.material
        for shape in read_urdf(tmp_path / "r.urdf").require().links[0].collisions
    ] == [Material()]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("<geometry>", "<geometry/></collision><collision><geometry>", "URDF161"),
        ('["material_0"]', '["nothing"]', "URDF160"),
        ('["material_0"]', '"x"', "URDF160"),
    ],
)
def test_materials_of_collisions_that_do_not_fit_any_more(tmp_path, old, new, code):
    write_urdf(
        of_shapes(Shape(Box((1.0, 1.0, 1.0)), material=RED)), tmp_path / "r.urdf"
    )
    text = (tmp_path / "r.urdf").read_text()
    assert old in text
    read = parse_urdf(text.replace(old, new, 1).encode(), tmp_path / "r.urdf").require()
    assert code in [problem.rule for problem in read.problems]
    assert [shape.material for shape in read.links[0].collisions] == [Material()]


@pytest.mark.parametrize(
    "turn",
    [
        [-1, 0, 0, 0],
        [2, 0, 0, 0],
        [-0.6, 0, 0, 0.8],
        [1e-3, 0, 2e-3, 0],
        [-0.5, 0.5, 0.5, 0.5],
    ],
)
def test_a_quaternion_keeps_its_length_and_sign(tmp_path, turn):
    """Roll, pitch and yaw hold the turn alone."""
    offset = np.array([1.0, 2.0, 3.0, *turn])
    body = bm.Body(
        name="r",
        links=(bm.Link(name="a"), bm.Link(name="b", index=1, parent=0, offset=offset)),
    )
    report = write_urdf(body, tmp_path / "r.urdf")
    assert "quaternion" in words(report, "URDF162")
    read = read_urdf(tmp_path / "r.urdf").require()
    assert np.abs(read.links[1].offset - offset).max() < 1e-15
    assert not read.problems
    moved = (tmp_path / "r.urdf").read_text().replace('xyz="1 2 3"', 'xyz="1 2 4"')
    edited = parse_urdf(moved.encode(), tmp_path / "r.urdf").require()
    assert edited.links[1].offset[2] == 4
    assert [problem.rule for problem in edited.problems] == ["URDF161"]
    stretched = abs(np.linalg.norm(turn) - 1) > 1e-9
    assert (
        "quaternion"
        in words(write_urdf(body, tmp_path / "r.urdf", extension=False), "LOSS040")
    ) == stretched


def test_a_quaternion_of_zero_is_not_believed(tmp_path):
    body = bm.Body(
        name="r", links=(bm.Link(name="a"), bm.Link(name="b", index=1, parent=0))
    )
    body = replace(
        body,
        links=(body.links[0], replace(body.links[1], offset=[0, 0, 0, -1, 0, 0, 0])),
    )
    write_urdf(body, tmp_path / "r.urdf")
    text = (tmp_path / "r.urdf").read_text()
    assert "-1.0, 0.0, 0.0, 0.0]" in text
    read = parse_urdf(
        text.replace("-1.0, 0.0, 0.0, 0.0]", "0.0, 0.0, 0.0, 0.0]").encode(),
        tmp_path / "r.urdf",
    ).require()
    assert read.links[1].offset.tolist() == [0, 0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("axis", [[0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
def test_a_joint_axis_keeps_its_length(tmp_path, axis):
    joint = bm.Joint(name="j", type="rotate", id=0, axis=axis)
    body = bm.Body(
        name="r",
        links=(bm.Link(name="a"), bm.Link(name="b", index=1, parent=0, joint=joint)),
    )
    report = write_urdf(body, tmp_path / "r.urdf")
    assert ("joint axis" in words(report, "URDF162")) == any(axis)
    assert read_urdf(tmp_path / "r.urdf").require().links[1].joint.axis.tolist() == axis
