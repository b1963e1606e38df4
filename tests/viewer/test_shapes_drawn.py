"""What is drawn where files of shapes are missing, a vertex is absurd, or shapes are beside the robot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_robots import arm, biped, link

import bodymotion as bm
from bodymotion.formats.openhrp import read_openhrp
from bodymotion.formats.resources import missing_files
from bodymotion.model.stick_figure import drawn_shapes
from bodymotion.notebooks.summaries import drawing
from bodymotion.scene.scene import make_scene

URDF = """<robot name="legs">
<link name="hip"><visual><geometry><mesh filename="hip.stl"/></geometry></visual>{part}</link>
<link name="knee"><visual><geometry><mesh filename="knee.stl"/></geometry></visual></link>
<link name="foot"/>
<joint name="bend" type="revolute"><parent link="hip"/><child link="knee"/><origin xyz="0 0.3 -0.4"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="roll" type="revolute"><parent link="knee"/><child link="foot"/><origin xyz="0.1 0 -0.4"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize(
    "part", ["", '<visual><geometry><sphere radius="0.05"/></geometry></visual>']
)
def test_links_whose_files_are_missing_are_drawn_from_joint_to_joint(
    tmp_path: Path, part: str
) -> None:
    file = tmp_path / "legs.urdf"
    file.write_text(URDF.format(part=part))
    body = bm.load_body(file)
    scene = make_scene(body, None)
    assert len(missing_files(body)) == 2 and scene.warnings[0].startswith("2 files")
    for number, child in ((0, 1), (1, 2)):
        boxes = np.array([shape.bounds for shape in scene.shapes[number]])
        both = np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
        ends = np.stack([np.zeros(3), body.links[child].offset[:3]])
        assert (both[0] <= ends.min(axis=0)).all() and (
            both[1] >= ends.max(axis=0)
        ).all()
        assert np.ptp(both, axis=0).max() < 1.5 * np.linalg.norm(ends[1])
    assert "2 files" in bm.notebooks.summaries.html_of(body) and drawing(
        body, scene.link_poses[0]
    )


def test_a_shape_that_is_too_large_is_no_missing_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bodymotion.formats.vrml.shapes.MAX_VERTICES", 5)
    file = tmp_path / "figure.wrl"
    file.write_text(
        '#VRML V2.0 utf8\nDEF figure Humanoid { humanoidBody [ DEF ROOT Joint { jointType "free" '
        "children Segment { children Shape { geometry Extrusion { } } } } ] }\n"
    )
    body = read_openhrp(file).value
    assert (
        body is not None
        and "FMT009" in {problem.rule for problem in body.problems}
        and not missing_files(body)
    )


def test_a_complete_robot_has_its_own_shapes_and_wheels_without_shapes_are_discs() -> (
    None
):
    body = biped()
    assert (
        drawn_shapes(body, are_missing=False)
        == tuple(one.visuals for one in body.links)
        and not make_scene(body, None).warnings
    )
    wheel = link("WHEEL", 1, 0, (0, 0.5, 0), axis=(0, 1, 0))
    cart = bm.Body(links=(link("CART", 0, -1, (0, 0, 0.2)), wheel))
    (disc,) = drawn_shapes(cart, are_missing=False)[1]
    sizes = np.ptp(disc.bounds, axis=0)
    assert sizes[0] == pytest.approx(sizes[2], rel=0.01) and sizes[1] < 0.5 * sizes[0]


def test_the_camera_sees_the_bulk_of_a_robot_with_an_absurd_vertex() -> None:
    body = arm()
    vertices = np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 453056.0, 70000.0]])
    bad = bm.shapes.Shape(
        bm.shapes.Mesh(vertices=vertices, faces=np.array([[0, 1, 2], [1, 3, 2]]))
    )
    hand = body.links[2]
    segment = replace(hand.segments[0], visuals=(*hand.visuals, bad))
    scene = make_scene(
        replace(body, links=(*body.links[:2], replace(hand, segments=(segment,)))), None
    )
    good = make_scene(body, None)
    np.testing.assert_allclose(
        scene.extent.bounds(scene.link_poses[0]),
        good.extent.bounds(good.link_poses[0]),
        atol=0.15,
    )
    assert scene.ground_offset(scene.link_poses[0]) == pytest.approx(
        good.ground_offset(good.link_poses[0]), abs=1e-9
    )
    assert any("HAND" in text for text in scene.warnings)


def test_shapes_beside_an_h_anim_figure_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "figure.wrl"
    file.write_text(
        "#VRML V2.0 utf8\nTransform { translation 0 0 2 children [ Shape { geometry Box { size 1 2 4 } } ] }\n"
        'DEF figure Humanoid { humanoidBody [ DEF HumanoidRoot Joint { jointType "free" } ] }\n'
    )
    scene = make_scene(bm.load_body(file), None)
    (shape,) = scene.body.environment
    assert shape.geometry == bm.shapes.Box((1, 2, 4))
    np.testing.assert_allclose(
        scene.extent.bounds(scene.link_poses[0]), [[-0.5, -1, 0], [0.5, 1, 4]]
    )
