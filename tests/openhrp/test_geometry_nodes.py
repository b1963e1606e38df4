"""The shape nodes of VRML97: what each field does to the mesh, material or texture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import mesh, read, rules, shapes, volume

from bodymotion.geometry.shapes import Box, Cone, Cylinder, Lines, Mesh, Points, Sphere
from sample_files import tries

SQUARE = "coord Coordinate { point [ 0 0 0, 1 0 0, 1 1 0, 0 1 0 ] }"
TWO = "coord Coordinate { point [ 0 0 0, 1 0 0, 1 1 0, 0 1 0, 2 0 0, 2 1 0 ] } coordIndex [ 0 1 2 3 -1 1 4 5 2 -1 ]"


def corner_values(corners):
    """Return the values (F, 3, K) at the corners of faces."""
    return corners.values[corners.indices]


class TestPrimitives:
    def test_sizes_and_parts(self, tmp_path):
        found = shapes(
            tmp_path,
            """Shape { geometry Box { size 1 2 3 } } Shape { geometry Sphere { radius 4 } }
            Shape { geometry Cylinder { radius 5 height 6 top FALSE } } Shape { geometry Cone { bottomRadius 7 height 8 side FALSE } }
            Shape { geometry Box { } } Shape { geometry Sphere { } } Shape { geometry Cylinder { } } Shape { geometry Cone { } }""",
        )
        assert [shape.geometry for shape in found] == [
            Box((1, 2, 3)),
            Sphere(4),
            Cylinder(5, 6, top=False),
            Cone(7, 8, side=False),
            Box((2, 2, 2)),
            Sphere(1),
            Cylinder(1, 2),
            Cone(1, 2),
        ]

    @pytest.mark.parametrize(
        "text",
        [
            "Sphere { radius 0 }",
            "Box { size 1 -1 1 }",
            "Cone { height -2 }",
            "Box { size 0 0 1 }",
        ],
    )
    def test_no_size_no_shape(self, tmp_path, text):
        body = read(tmp_path, f"Shape {{ geometry {text} }}")
        assert body.links[0].visuals == ()
        assert rules(body) == ["VRML210"]

    def test_a_flat_box_is_a_plate_and_said(self, tmp_path):
        body = read(tmp_path, "Shape { geometry Box { size 0 1 1 } }")
        assert body.links[0].visuals[0].geometry == Box((0, 1, 1))
        assert rules(body) == ["VRML210"]

    def test_prototypes_are_looked_through(self, tmp_path):
        (shape,) = shapes(
            tmp_path,
            """PROTO Plane [ exposedField SFVec3f size 10 10 0 ] { Box { size IS size } }
            PROTO Thing [ field SFNode g NULL ] { Shape { geometry IS g } }  Thing { g Plane { size 3 4 0 } }""",
        )
        assert shape.geometry == Box((3, 4, 0))


class TestIndexedFaceSet:
    def test_polygons_and_directions(self, tmp_path):
        up = mesh(
            tmp_path,
            f"Shape {{ geometry IndexedFaceSet {{ {SQUARE} coordIndex [ 0 1 2 3 ] }} }}",
        )
        down = mesh(
            tmp_path,
            f"Shape {{ geometry IndexedFaceSet {{ {SQUARE} coordIndex [ 0 1 2 3 -1 ] ccw FALSE }} }}",
        )
        assert (
            len(up.faces) == 2
            and (up.face_normals == [0, 0, 1]).all()
            and not up.two_sided
        )
        assert (down.face_normals == [0, 0, -1]).all()

    def test_solid_and_crease_angle(self, tmp_path):
        found = mesh(
            tmp_path,
            f"Shape {{ geometry IndexedFaceSet {{ {TWO} solid FALSE creaseAngle 0.5 }} }}",
        )
        assert found.two_sided and found.crease_angle == 0.5

    @pytest.mark.parametrize("convex", ["TRUE", "FALSE"])
    def test_concave_polygons_are_covered_once(self, tmp_path, convex):
        arrow = "coord Coordinate { point [ 0 0 0, 2 1 0, 0 2 0, 0.5 1 0 ] } coordIndex [ 0 1 2 3 -1 ]"
        found = mesh(
            tmp_path,
            f"Shape {{ geometry IndexedFaceSet {{ {arrow} convex {convex} }} }}",
        )
        corner = found.vertices[found.faces]
        doubled = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])[
            :, 2
        ]
        assert (doubled > 0).all() and doubled.sum() == pytest.approx(3.0)

    COLORS = "color Color { color [ 1 0 0, 0 1 0, 0 0 1 ] }"

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ("colorPerVertex FALSE", [[0] * 3, [0] * 3, [1] * 3, [1] * 3]),
            (
                "colorPerVertex FALSE colorIndex [ 2 0 ]",
                [[2] * 3, [2] * 3, [0] * 3, [0] * 3],
            ),
            (
                "colorIndex [ 0 1 2 0 -1 1 1 1 2 -1 ]",
                [[0, 1, 2], [0, 2, 0], [1, 1, 1], [1, 1, 2]],
            ),
        ],
    )
    def test_colors(self, tmp_path, fields, expected):
        found = mesh(
            tmp_path,
            f"Shape {{ geometry IndexedFaceSet {{ {TWO} {self.COLORS} {fields} }} }}",
        )
        assert np.array_equal(corner_values(found.colors), np.eye(3)[expected])

    def test_colors_of_vertices(self, tmp_path):
        six = "color Color { color [ 0 0 0, 0.1 0 0, 0.2 0 0, 0.3 0 0, 0.4 0 0, 0.5 0 0 ] }"
        found = mesh(tmp_path, f"Shape {{ geometry IndexedFaceSet {{ {TWO} {six} }} }}")
        assert np.allclose(corner_values(found.colors)[..., 0], 0.1 * found.faces)

    def test_normals(self, tmp_path):
        normals = "normal Normal { vector [ 0 0 1, 1 0 0 ] }"
        faces = f"{TWO} {normals} normalPerVertex FALSE normalIndex [ 1 0 ] ccw FALSE"
        found = mesh(tmp_path, f"Shape {{ geometry IndexedFaceSet {{ {faces} }} }}")
        assert (corner_values(found.normals)[:2] == [1, 0, 0]).all() and (
            corner_values(found.normals)[2:] == [0, 0, 1]
        ).all()

    def test_texture_coordinates(self, tmp_path):
        uv = "texCoord TextureCoordinate { point [ 0 0, 1 0, 1 1, 0 1 ] } texCoordIndex [ 0 1 2 3 -1 3 2 1 0 -1 ]"
        found = mesh(tmp_path, f"Shape {{ geometry IndexedFaceSet {{ {TWO} {uv} }} }}")
        square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        assert np.array_equal(
            corner_values(found.texture_coordinates),
            square[[[0, 1, 2], [0, 2, 3], [3, 2, 1], [3, 1, 0]]],
        )

    @pytest.mark.parametrize(
        ("fields", "rule", "left"),
        [
            (f"{SQUARE} coordIndex [ 0 1 2 -1 0 1 9 -1 ]", "VRML203", 1),
            (f"{SQUARE} coordIndex [ 0 1 -1 0 1 2 -1 ]", "VRML204", 1),
            (
                f"{SQUARE} coordIndex [ 0 1 2 3 -1 ] color Color {{ color [ 1 0 0 ] }}",
                "VRML205",
                2,
            ),
            (
                f"{SQUARE} coordIndex [ 0 1 2 3 -1 ] texCoord TextureCoordinate {{ point [ 0 0 ] }}",
                "VRML205",
                2,
            ),
            ("coord Coordinate { } coordIndex [ 0 1 2 ]", "VRML206", None),
            ("coordIndex [ 0 1 2 ]", "VRML206", None),
            (
                "coord Coordinate { point [ 0 0 0 1 0 0 0 nan 1 0 1 0 ] } coordIndex [ 0 1 2 -1 0 1 3 ]",
                "VRML207",
                1,
            ),
        ],
    )
    def test_faults_cost_no_more_than_their_faces(self, tmp_path, fields, rule, left):
        body = read(tmp_path, f"Shape {{ geometry IndexedFaceSet {{ {fields} }} }}")
        assert rule in rules(body)
        assert [len(shape.geometry.faces) for shape in body.links[0].visuals] == (
            [] if left is None else [left]
        )
        assert all(p.location.line == 2 for p in body.problems if p.rule == rule)

    def test_a_shape_used_twice_is_one_object(self, tmp_path):
        first, second = shapes(
            tmp_path,
            f"""DEF S Shape {{ appearance DEF A Appearance {{ material Material {{ diffuseColor 1 0 0 }} }}
            geometry IndexedFaceSet {{ {SQUARE} coordIndex [ 0 1 2 3 ] }} }} Transform {{ translation 1 0 0 children USE S }}""",
        )
        assert first.geometry is second.geometry and first.material is second.material
        assert second.transform[:3, 3].tolist() == [1, 0, 0]


class TestLinesAndPoints:
    def test_lines(self, tmp_path):
        (shape,) = shapes(
            tmp_path,
            f"Shape {{ geometry IndexedLineSet {{ {SQUARE} coordIndex [ 0 1 2 -1 3 0 ] }} }}",
        )
        assert isinstance(shape.geometry, Lines)
        assert shape.geometry.segments.tolist() == [[0, 1], [1, 2], [3, 0]]

    def test_colors_of_lines(self, tmp_path):
        colors = "color Color { color [ 1 0 0, 0 1 0 ] } colorPerVertex FALSE colorIndex [ 1 0 ]"
        (shape,) = shapes(
            tmp_path,
            f"Shape {{ geometry IndexedLineSet {{ {SQUARE} coordIndex [ 0 1 2 -1 3 0 ] {colors} }} }}",
        )
        ends = shape.geometry.colors[shape.geometry.segments]
        assert ends.tolist() == [[[0, 1, 0]] * 2, [[0, 1, 0]] * 2, [[1, 0, 0]] * 2]

    def test_points(self, tmp_path):
        (shape,) = shapes(
            tmp_path,
            "Shape { geometry PointSet { coord Coordinate { point [ 0 0 0 1 2 3 ] } } }",
        )
        assert isinstance(shape.geometry, Points)
        assert shape.geometry.vertices.tolist() == [[0, 0, 0], [1, 2, 3]]

    def test_text_is_said_to_be_left_out(self, tmp_path):
        assert rules(read(tmp_path, 'Shape { geometry Text { string "A" } }')) == [
            "VRML213"
        ]


class TestElevationGrid:
    def test_heights(self, tmp_path):
        found = mesh(
            tmp_path,
            "Shape { geometry ElevationGrid { xDimension 3 zDimension 2 xSpacing 2 zSpacing 5 height [ 1 2 3 4 5 6 ] } }",
        )
        assert found.vertices.tolist() == [
            [0, 1, 0],
            [2, 2, 0],
            [4, 3, 0],
            [0, 4, 5],
            [2, 5, 5],
            [4, 6, 5],
        ]
        assert len(found.faces) == 4 and (found.face_normals[:, 1] > 0).all()
        assert found.texture_coordinates.values[-1].tolist() == [1, 1]

    def test_a_color_for_each_square(self, tmp_path):
        colors = "color Color { color [ 1 0 0, 0 1 0 ] } colorPerVertex FALSE"
        grid = f"ElevationGrid {{ xDimension 3 zDimension 2 height [ 0 0 0 0 0 0 ] {colors} }}"
        found = mesh(tmp_path, f"Shape {{ geometry {grid} }}")
        middle = found.vertices[found.faces].mean(axis=1)[:, 0]
        assert (corner_values(found.colors)[middle < 1] == [1, 0, 0]).all()
        assert (corner_values(found.colors)[middle > 1] == [0, 1, 0]).all()

    def test_too_few_heights(self, tmp_path):
        text = "Shape { geometry ElevationGrid { xDimension 30000 zDimension 30000 height [ 1 2 3 ] } }"
        assert rules(read(tmp_path, text)) == ["VRML210"]


class TestExtrusion:
    def test_the_default_is_a_closed_box(self, tmp_path):
        found = mesh(tmp_path, "Shape { geometry Extrusion { } }")
        assert volume(found) == pytest.approx(4.0)
        assert found.vertices.min(axis=0).tolist() == [
            -1,
            0,
            -1,
        ] and found.vertices.max(axis=0).tolist() == [1, 1, 1]

    def test_scale_makes_a_pyramid_and_orientation_turns_it(self, tmp_path):
        found = mesh(
            tmp_path,
            "Shape { geometry Extrusion { spine [ 0 0 0 0 3 0 ] scale [ 1 1 0 0 ] } }",
        )
        assert volume(found) == pytest.approx(4.0)
        turned = mesh(
            tmp_path,
            "Shape { geometry Extrusion { orientation 0 1 0 0.7853981633974483 } }",
        )
        assert turned.vertices[:, 0].max() == pytest.approx(np.sqrt(2))

    def test_caps_can_be_left_out(self, tmp_path):
        whole = mesh(tmp_path, "Shape { geometry Extrusion { } }")
        tube = mesh(
            tmp_path, "Shape { geometry Extrusion { beginCap FALSE endCap FALSE } }"
        )
        assert len(whole.faces) - len(tube.faces) == 4
        assert (tube.face_normals[:, 1] == 0).all()

    def test_a_clockwise_section_needs_ccw_false(self, tmp_path):
        """Without it the faces of a closed body would look inwards: they are turned round, and it is said."""
        section = "crossSection [ 1 1, -1 1, -1 -1, 1 -1, 1 1 ]"
        body = read(tmp_path, f"Shape {{ geometry Extrusion {{ {section} }} }}")
        assert volume(body.links[0].visuals[0].to_mesh()) == pytest.approx(4.0)
        assert rules(body) == ["VRML208"]
        body = read(
            tmp_path, f"Shape {{ geometry Extrusion {{ {section} ccw FALSE }} }}"
        )
        assert (
            volume(body.links[0].visuals[0].to_mesh()) == pytest.approx(4.0)
            and rules(body) == []
        )

    def test_what_is_written_to_be_seen_from_inside_stays_so(self, tmp_path):
        assert volume(
            mesh(tmp_path, "Shape { geometry Extrusion { ccw FALSE } }")
        ) == pytest.approx(-4.0)
        section = "crossSection [ 1 1, -1 1, -1 -1, 1 -1, 1 1 ] endCap FALSE"
        tube = mesh(tmp_path, f"Shape {{ geometry Extrusion {{ {section} }} }}")
        assert (
            tube.face_normals[0]
            @ (tube.vertices[tube.faces[0]].mean(axis=0) * [1, 0, 1])
            < 0
        )

    @given(
        st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(
            lambda v: np.linalg.norm(v) > 0.1
        )
    )
    @settings(max_examples=tries(30))
    def test_a_straight_spine_in_any_direction(self, tmp_path_factory, direction):
        """A prism keeps its volume whichever way it goes (Cavalieri)."""
        spine = " ".join(f"{k * c!r}" for k in (0, 1, 2.5) for c in direction)
        found = mesh(
            tmp_path_factory.mktemp("e"),
            f"Shape {{ geometry Extrusion {{ spine [ {spine} ] }} }}",
        )
        assert volume(found) == pytest.approx(4.0 * 2.5 * np.linalg.norm(direction))

    def test_a_ring(self, tmp_path):
        """Pappus: the volume of a ring is its section's area times the way of the section's centre."""
        angle = np.linspace(0, 2 * np.pi, 181)
        spine = (
            " ".join(f"{3 * np.cos(a):.17g} {3 * np.sin(a):.17g} 0" for a in angle[:-1])
            + " 3 0 0"
        )
        circle = " ".join(f"{np.cos(a):.17g} {np.sin(a):.17g}" for a in -angle[::-1])
        text = f"Shape {{ geometry Extrusion {{ spine [ {spine} ] crossSection [ {circle} ] beginCap FALSE endCap FALSE creaseAngle 1 }} }}"
        found = mesh(tmp_path, text)
        assert abs(volume(found)) == pytest.approx(np.pi * 2 * np.pi * 3, rel=2e-3)
        radius = np.hypot(
            np.hypot(found.vertices[:, 0], found.vertices[:, 1]) - 3,
            found.vertices[:, 2],
        )
        assert np.allclose(radius, 1.0, atol=1e-3)
        buffers = found.corners_split
        ring = buffers.positions * [1, 1, 0]
        outwards = buffers.positions - 3 * ring / np.linalg.norm(
            ring, axis=1, keepdims=True
        )
        assert (np.abs(np.einsum("ij,ij->i", buffers.normals, outwards)) > 0.999).all()

    def test_a_concave_section_has_whole_caps(self, tmp_path):
        section = "crossSection [ 0 0, 0 2, 2 2, 2 1, 1 1, 1 0, 0 0 ]"
        assert volume(
            mesh(tmp_path, f"Shape {{ geometry Extrusion {{ {section} }} }}")
        ) == pytest.approx(3.0)

    def test_more_points_than_can_be_held(self, tmp_path):
        many = " ".join(["0 1 0"] * 6000)
        text = f"Shape {{ geometry Extrusion {{ spine [ {many} ] crossSection [ {' '.join(['0 1'] * 6000)} ] }} }}"
        assert rules(read(tmp_path, text)) == ["FMT009"]


class TestMaterials:
    def test_all_fields(self, tmp_path):
        (shape,) = shapes(
            tmp_path,
            """Shape { appearance Appearance { material Material { diffuseColor 0.1 0.2 0.3 ambientIntensity 0.4
            specularColor 0.5 0.6 0.7 emissiveColor 0.8 0.9 1 shininess 0.25 transparency 0.75 } } geometry Sphere { } }""",
        )
        material = shape.material
        assert material.diffuse == (0.1, 0.2, 0.3) and material.specular == (
            0.5,
            0.6,
            0.7,
        )
        assert material.emissive == (0.8, 0.9, 1.0)
        assert (
            material.ambient_intensity,
            material.shininess,
            material.transparency,
        ) == (0.4, 0.25, 0.75)

    def test_defaults_of_the_standard_and_none(self, tmp_path):
        given, none = shapes(
            tmp_path,
            "Shape { appearance Appearance { material Material { } } geometry Sphere { } } Shape { geometry Sphere { } }",
        )
        assert (
            given.material.diffuse == (0.8, 0.8, 0.8)
            and given.material.ambient_intensity == 0.2
        )
        assert none.material.diffuse == (1.0, 1.0, 1.0)

    def test_out_of_range(self, tmp_path):
        body = read(
            tmp_path,
            "Shape { appearance Appearance { material Material { diffuseColor 2 0 -1 } } geometry Sphere { } }",
        )
        assert body.links[0].visuals[0].material.diffuse == (1.0, 0.0, 0.0)
        assert rules(body) == ["VRML209"]

    def test_texture(self, tmp_path):
        (tmp_path / "maps").mkdir()
        (tmp_path / "maps" / "wood.png").write_bytes(b"\x89PNG")
        (shape,) = shapes(
            tmp_path,
            f"""Shape {{ appearance Appearance {{ texture ImageTexture {{ url "maps/wood.png" repeatS FALSE }}
            textureTransform TextureTransform {{ scale 2 3 translation 0.5 0.25 }} }}
            geometry IndexedFaceSet {{ {SQUARE} coordIndex [ 0 1 2 3 ] }} }}""",
        )
        texture = shape.material.texture
        assert (
            texture.path == (tmp_path / "maps" / "wood.png").resolve()
            and texture.url == "maps/wood.png"
        )
        assert not texture.repeat_s and texture.repeat_t
        assert np.allclose(texture.transform @ [1, 1, 1], [3.0, 3.75, 1])
        assert np.allclose(
            shape.geometry.texture_coordinates.values, [[0, 0], [1, 0], [1, 1], [0, 1]]
        )

    def test_texture_transform_turns_about_its_center(self, tmp_path):
        (tmp_path / "a.png").write_bytes(b"")
        (shape,) = shapes(
            tmp_path,
            """Shape { appearance Appearance { texture ImageTexture { url "a.png" } textureTransform TextureTransform {
            center -0.5 -0.5 rotation 1.5707963267948966 } } geometry Box { } }""",
        )
        assert np.allclose(
            shape.material.texture.transform @ [0.5, 0.5, 1], [0.5, 0.5, 1]
        )
        assert np.allclose(shape.material.texture.transform @ [1, 0.5, 1], [0.5, 1, 1])

    def test_the_standards_own_mapping(self, tmp_path):
        """s along the longest edge of the box around the points, t along the next, at the same scale."""
        (tmp_path / "a.png").write_bytes(b"")
        points = (
            "coord Coordinate { point [ 0 1 5, 0 5 5, 0 5 7 ] } coordIndex [ 0 1 2 ]"
        )
        (shape,) = shapes(
            tmp_path,
            f"""Shape {{ appearance Appearance {{ texture ImageTexture {{ url "a.png" }} }}
            geometry IndexedFaceSet {{ {points} }} }}""",
        )
        assert shape.geometry.texture_coordinates.values.tolist() == [
            [0, 0],
            [1, 0],
            [1, 0.5],
        ]

    def test_a_missing_image_leaves_the_color(self, tmp_path):
        body = read(
            tmp_path,
            'Shape { appearance Appearance { texture ImageTexture { url "no.png" } } geometry Box { } }',
        )
        assert body.links[0].visuals[0].material.texture is None
        assert rules(body) == ["FMT020"]


class TestScene:
    def test_transforms(self, tmp_path):
        """T · C · R · SR · S · −SR · −C, each with its effect on one point."""
        (shape,) = shapes(
            tmp_path,
            """Transform { translation 10 0 0 center 1 0 0 rotation 0 0 1 1.5707963267948966 scale 2 1 1
            scaleOrientation 0 0 1 1.5707963267948966 children Transform { translation 0 0 5 children Shape { geometry Box { } } } }""",
        )
        # (1, 1): from the centre (0, 1), stretched along y (0, 2), turned (−2, 0), back and moved (9, 0).
        assert np.allclose(shape.transform @ [1, 1, 0, 1], [9, 0, 5, 1])

    def test_groups(self, tmp_path):
        found = shapes(
            tmp_path,
            """Group { children [ Shape { geometry Sphere { radius 1 } } ] } Anchor { children Shape { geometry Sphere { radius 2 } } }
            Billboard { children Shape { geometry Sphere { radius 3 } } }
            Switch { whichChoice 1 choice [ Shape { geometry Sphere { } } Shape { geometry Sphere { radius 4 } } ] }
            Switch { choice [ Shape { geometry Sphere { } } ] }
            LOD { range [ 5 ] level [ Shape { geometry Sphere { radius 5 } } Shape { geometry Sphere { } } ] }
            Background { } NavigationInfo { } WorldInfo { title "T" } DirectionalLight { } Fog { } TimeSensor { }""",
        )
        assert [shape.geometry.radius for shape in found] == [1, 2, 3, 4, 5]

    def test_collision(self, tmp_path):
        link = read(
            tmp_path,
            """Collision { children Shape { geometry Sphere { radius 1 } } proxy Shape { geometry Sphere { radius 2 } } }
            Collision { collide FALSE children Shape { geometry Sphere { radius 3 } } }
            Collision { children Shape { geometry Sphere { radius 4 } } }""",
        ).links[0]
        assert [shape.geometry.radius for shape in link.visuals] == [1, 3, 4]
        assert sorted(shape.geometry.radius for shape in link.collisions) == [2, 4]

    def test_parts_in_other_files(self, tmp_path):
        (tmp_path / "parts").mkdir()
        (tmp_path / "parts" / "ball.wrl").write_text(
            "#VRML V2.0 utf8\nDEF A Shape { geometry Sphere { radius 3 } }"
        )
        body = read(
            tmp_path,
            'Transform { translation 1 0 0 children [ Inline { url "parts/ball.wrl" } Inline { url "no.wrl" } ] }',
        )
        (shape,) = body.links[0].visuals
        assert (
            shape.geometry == Sphere(3)
            and shape.transform[0, 3] == 1
            and shape.name == "A"
        )
        assert [(p.rule, p.location.line) for p in body.problems] == [("FMT020", 2)]

    def test_parts_that_are_stl(self, tmp_path):
        facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
        (tmp_path / "plate.STL").write_text(f"solid plate\n{facet}endsolid plate\n")
        (tmp_path / "bad.stl").write_text("nothing")
        body = read(tmp_path, 'Inline { url "plate.STL" } Inline { url "bad.stl" }')
        (shape,) = body.links[0].visuals
        assert isinstance(shape.geometry, Mesh) and shape.geometry.faces.shape == (1, 3)
        assert rules(body) == ["FMT021"]

    def test_use_in_use_stays_within_bounds(self, tmp_path):
        from bodymotion.diagnostics import FormatError

        doubled = " ".join(
            f"DEF G{i} Group {{ children [ USE G{i - 1} USE G{i - 1} ] }}"
            for i in range(1, 40)
        )
        with pytest.raises(FormatError):
            read(tmp_path, f"DEF G0 Group {{ }} {doubled}")

    def test_a_scene_without_humanoid_is_one_fixed_link(self, tmp_path):
        body = read(
            tmp_path,
            'Viewpoint { description "Front" position 1 2 3 fieldOfView 0.5 } Shape { geometry Box { } }',
            "room.wrl",
        )
        assert (
            body.name,
            [link.name for link in body.links],
            body.links[0].joint.type,
        ) == ("room", ["Root"], "fixed")
        assert body.num_joints == 0 and body.mass == 0
        (view,) = body.viewpoints
        assert (view.description, view.field_of_view) == ("Front", 0.5)
        assert view.pose.tolist() == [1, 2, 3, 1, 0, 0, 0]

    def test_a_viewpoint_under_a_transform(self, tmp_path):
        (view,) = read(
            tmp_path,
            "Transform { rotation 0 0 1 1.5707963267948966 translation 0 0 1 children Viewpoint { position 1 0 0 } }",
        ).viewpoints
        assert np.allclose(view.pose, [0, 1, 1, np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
