"""Meshes: volumes and areas of primitives, polygons cut into triangles, normals by crease angle, buffers, transforms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bodymotion.geometry import meshes as meshing
from bodymotion.geometry import rotations
from bodymotion.geometry.meshes import SEGMENTS
from bodymotion.geometry.shapes import (
    Box,
    Capsule,
    Cone,
    Corners,
    Cylinder,
    Lines,
    Mesh,
    Points,
    Shape,
    Sphere,
)
from sample_files import tries

SIDE = SEGMENTS * np.sin(2 * np.pi / SEGMENTS) / (2 * np.pi)
"""Area of the polygon in place of a circle, as a share of the circle's."""


def volume(mesh: Mesh) -> float:
    """Return the volume by Gauss's theorem: right only where the mesh is closed and all faces look outwards."""
    corner = mesh.vertices[mesh.faces]
    return float(
        np.einsum("ij,ij->i", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])).sum()
        / 6
    )


def area(mesh: Mesh) -> float:
    corner = mesh.vertices[mesh.faces]
    return float(
        np.linalg.norm(
            np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1
        ).sum()
        / 2
    )


def is_closed(mesh: Mesh) -> bool:
    """Whether each edge is run through once in each direction."""
    edges = np.concatenate(
        [mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]]
    )
    there, back = (
        {tuple(e) for e in edges.tolist()},
        {tuple(e) for e in edges[:, ::-1].tolist()},
    )
    return there == back and len(there) == len(edges)


lengths = st.floats(0.01, 100)


class TestPrimitives:
    @given(lengths, lengths, lengths)
    def test_box(self, x, y, z):
        mesh = meshing.to_mesh(Box((x, y, z)))
        assert is_closed(mesh)
        assert volume(mesh) == pytest.approx(x * y * z)
        assert area(mesh) == pytest.approx(2 * (x * y + y * z + z * x))

    @given(lengths, lengths)
    def test_cylinder_and_cone(self, radius, height):
        prism = meshing.to_mesh(Cylinder(radius, height))
        pyramid = meshing.to_mesh(Cone(radius, height))
        assert is_closed(prism) and is_closed(pyramid)
        assert volume(prism) == pytest.approx(SIDE * np.pi * radius**2 * height)
        assert volume(pyramid) == pytest.approx(SIDE * np.pi * radius**2 * height / 3)

    @pytest.mark.parametrize("geometry", [Sphere(2.0), Capsule(2.0, 3.0)])
    def test_round_ones(self, geometry):
        mesh = meshing.to_mesh(geometry)
        straight = np.pi * 2.0**2 * getattr(geometry, "height", 0.0)
        assert is_closed(mesh)
        assert volume(mesh) == pytest.approx(
            4 / 3 * np.pi * 2.0**3 + straight, rel=0.02
        )
        assert volume(mesh) < 4 / 3 * np.pi * 2.0**3 + straight

    def test_parts_left_out(self):
        whole = area(meshing.to_mesh(Cylinder(1.0, 2.0)))
        cap = SIDE * np.pi
        assert area(meshing.to_mesh(Cylinder(1.0, 2.0, top=False))) == pytest.approx(
            whole - cap
        )
        assert area(meshing.to_mesh(Cylinder(1.0, 2.0, side=False))) == pytest.approx(
            2 * cap
        )
        assert area(meshing.to_mesh(Cone(1.0, 2.0, side=False))) == pytest.approx(cap)
        assert meshing.to_mesh(Cylinder(1.0, 2.0, bottom=False)).two_sided
        top = meshing.to_mesh(Cylinder(1.0, 2.0, side=False, bottom=False))
        assert (top.face_normals == [0, 1, 0]).all()

    def test_normals_of_a_ball_point_away_from_its_centre(self):
        buffers = meshing.to_mesh(Sphere(3.0)).corners_split
        assert np.abs(buffers.normals - buffers.positions / 3.0).max() < 0.01

    def test_texture_goes_round_from_the_back(self):
        """ISO/IEC 14772-1, 6.15 and 6.43: from −z counter-clockwise seen from above, from bottom to top."""
        for geometry in (Cylinder(1.0, 2.0, top=False, bottom=False), Sphere(1.0)):
            buffers = meshing.to_mesh(geometry).corners_split
            assert buffers.uv is not None
            for s, place in (
                (0.0, (0, -1)),
                (0.25, (-1, 0)),
                (0.5, (0, 1)),
                (0.75, (1, 0)),
            ):
                at = np.isclose(buffers.uv[:, 0], s) & (
                    np.abs(buffers.positions[:, [0, 2]]).max(axis=1) > 0.999
                )
                assert at.any() and np.allclose(
                    buffers.positions[at][:, [0, 2]], place, atol=1e-6
                )
            assert np.allclose(buffers.positions[buffers.uv[:, 1] == 1.0][:, 1], 1.0)

    def test_texture_stands_upright_on_each_side_of_a_box(self):
        buffers = meshing.to_mesh(Box((2.0, 2.0, 2.0))).corners_split
        up = {
            (0, 0, 1): (0, 1, 0),
            (0, 0, -1): (0, 1, 0),
            (1, 0, 0): (0, 1, 0),
            (-1, 0, 0): (0, 1, 0),
        }
        up |= {(0, 1, 0): (0, 0, -1), (0, -1, 0): (0, 0, 1)}
        for normal, upwards in up.items():
            side = (buffers.normals == normal).all(axis=1)
            right = np.cross(upwards, normal)
            assert np.allclose(
                buffers.uv[side, 1], buffers.positions[side] @ upwards / 2 + 0.5
            )
            assert np.allclose(
                buffers.uv[side, 0], buffers.positions[side] @ right / 2 + 0.5
            )


@st.composite
def stars(draw):
    """Return a star-shaped polygon (n, 2) around the origin, counter-clockwise, mostly concave."""
    count = draw(st.integers(3, 24))
    steps = np.array(
        draw(st.lists(st.floats(0.2, 1.0), min_size=count, max_size=count))
    )
    radii = np.array(
        draw(st.lists(st.floats(0.1, 1.0), min_size=count, max_size=count))
    )
    angles = 2 * np.pi * np.cumsum(steps) / steps.sum()
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)


class TestPolygons:
    @given(
        stars(),
        st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(
            lambda q: np.linalg.norm(q) > 0.1
        ),
    )
    @settings(max_examples=tries(200))
    def test_a_polygon_is_covered_once(self, star, quaternion):
        """All triangles turn the same way and their areas add up: then they neither overlap nor leave the polygon."""
        turned = rotations.rotate(
            rotations.normalized(quaternion),
            np.concatenate([star, np.zeros((len(star), 1))], axis=1),
        )
        normal = rotations.rotate(
            rotations.normalized(quaternion), np.array([0.0, 0.0, 1.0])
        )
        cut = meshing.triangulate(np.arange(len(star)), turned)
        assert len(cut.corners) == len(star) - 2
        corner = turned[cut.corners]
        doubled = (
            np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]) @ normal
        )
        x, y = star.T
        whole = x @ np.roll(y, -1) - y @ np.roll(x, -1)
        if whole > 1e-6:
            assert (doubled > -1e-9).all()
            assert doubled.sum() == pytest.approx(whole)

    @given(st.lists(st.integers(-2, 9), max_size=60))
    def test_any_indices(self, index):
        """Each polygon that is whole gives two triangles fewer than it has corners, the others none."""
        vertices = np.random.default_rng(0).normal(size=(8, 3))
        cut = meshing.triangulate(np.array(index, dtype=np.int32), vertices)
        polygons: list[list[int]] = [[]]
        for number in index:
            if number < 0:
                polygons.append([])
            else:
                polygons[-1].append(number)
        whole = [p for p in polygons if len(p) >= 3 and max(p) < 8]
        assert len(cut.corners) == sum(len(p) - 2 for p in whole)
        assert cut.out_of_range == sum(bool(p) and max(p) >= 8 for p in polygons)
        assert cut.too_small == sum(0 < len(p) < 3 and max(p) < 8 for p in polygons)
        for corners, which in zip(cut.corners, cut.polygons, strict=True):
            assert set(np.array(index)[corners]) <= set(polygons[which])

    def test_a_polygon_with_a_hole_bridged_by_an_edge(self):
        outer, inner = (
            [(0, 0), (4, 0), (4, 4), (0, 4), (0, 0)],
            [(1, 1), (1, 3), (3, 3), (3, 1), (1, 1)],
        )
        flat = np.array(outer + inner, dtype=float)
        points = np.concatenate([flat, np.zeros((len(flat), 1))], axis=1)
        cut = meshing.triangulate(np.arange(len(flat)), points)
        corner = points[cut.corners]
        doubled = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])[
            :, 2
        ]
        assert (doubled >= 0).all()
        assert doubled.sum() / 2 == pytest.approx(16 - 4)

    def test_a_huge_tangled_polygon_stays_in_time(self):
        """Beyond the budget for ears the rest becomes a fan: every input ends."""
        points = np.random.default_rng(1).normal(size=(30_000, 3))
        assert (
            len(meshing.triangulate(np.arange(len(points)), points).corners)
            == len(points) - 2
        )


CUBE = np.array(
    [[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=float
)
SQUARES = np.array(
    [[4, 5, 7, 6], [1, 0, 2, 3], [5, 1, 3, 7], [0, 4, 6, 2], [6, 7, 3, 2], [0, 1, 5, 4]]
)


def cube(**options) -> Mesh:
    return Mesh(CUBE, SQUARES[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3), **options)


class TestNormals:
    @pytest.mark.parametrize("angle", [0.0, 1.0, 1.57])
    def test_sharp_below_the_angle_of_the_edges(self, angle):
        mesh = cube(crease_angle=angle)
        assert np.allclose(meshing.corner_normals(mesh), mesh.face_normals[:, None, :])
        buffers = mesh.corners_split
        assert len(buffers.positions) == 24

    @pytest.mark.parametrize("angle", [1.58, 3.0, np.pi, 4.0])
    def test_smooth_above_it(self, angle):
        """At each corner of a cube three squares meet: the normal is the diagonal, however the squares are cut."""
        mesh = cube(crease_angle=angle)
        outwards = (CUBE - 0.5) / np.linalg.norm(CUBE[0] - 0.5)
        assert np.allclose(meshing.corner_normals(mesh), outwards[mesh.faces])
        assert len(mesh.corners_split.positions) == 8

    def test_given_normals_are_taken(self):
        values = np.array([[0, 0, 2.0], [0, 0, 0]])
        mesh = cube(normals=Corners(values, np.tile([0, 0, 1], (12, 1))))
        normals = meshing.corner_normals(mesh)
        assert (normals[:, :2] == [0, 0, 1]).all()
        assert np.allclose(normals[:, 2], mesh.face_normals)

    def test_a_fan_of_many_faces_around_one_vertex(self):
        """Comparing all with all would take forever: beyond a budget such a vertex stays sharp."""
        count = 40_000
        angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
        rim = np.stack([np.cos(angle), np.sin(angle), 0.1 * np.cos(5 * angle)], axis=1)
        faces = np.stack(
            [np.zeros(count), 1 + np.arange(count), 1 + (np.arange(count) + 1) % count],
            axis=1,
        )
        mesh = Mesh(
            np.concatenate([[[0, 0, 1.0]], rim]), faces.astype(int), crease_angle=0.5
        )
        normals = meshing.corner_normals(mesh)
        assert np.isfinite(normals).all()
        assert np.allclose(np.linalg.norm(normals, axis=2), 1.0)


@st.composite
def meshes(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    vertices = rng.normal(size=(draw(st.integers(3, 12)), 3))
    count = draw(st.integers(0, 20))
    colors = Corners(rng.random((5, 3)), rng.integers(0, 5, (count, 3)))
    uv = Corners(rng.random((7, 2)), rng.integers(0, 7, (count, 3)))
    return Mesh(
        vertices,
        rng.integers(0, len(vertices), (count, 3)),
        crease_angle=draw(st.sampled_from([0.0, 0.7, 3.2])),
        colors=draw(st.sampled_from([None, colors])),
        texture_coordinates=draw(st.sampled_from([None, uv])),
    )


class TestBuffers:
    @given(meshes())
    def test_hold_all_that_the_corners_had(self, mesh):
        buffers = mesh.corners_split
        shown = mesh.face_normals.any(axis=1)
        corners = buffers.triangles
        assert np.allclose(
            buffers.positions[corners], mesh.vertices[mesh.faces[shown]], atol=1e-6
        )
        assert np.allclose(
            buffers.normals[corners], meshing.corner_normals(mesh)[shown], atol=1e-5
        )
        for part, held in (
            (mesh.colors, buffers.colors),
            (mesh.texture_coordinates, buffers.uv),
        ):
            assert (part is None) == (held is None)
            if part is not None:
                assert np.allclose(
                    held[corners], part.values[part.indices[shown]], atol=1e-6
                )
        assert set(corners.ravel()) == set(range(len(buffers.positions)))

    def test_what_is_not_finite_is_left_out(self):
        vertices = np.array(
            [[0, 0, 0], [1, 0, 0], [0, 1, 0], [np.nan, 0, 0], [np.inf, 1, 1]],
            dtype=float,
        )
        mesh = Mesh(vertices, [[0, 1, 2], [0, 1, 3], [1, 2, 4], [0, 1, 1]])
        assert mesh.corners_split.triangles.shape == (1, 3)


class TestTransforms:
    @given(meshes(), st.lists(st.floats(-2, 2), min_size=9, max_size=9))
    def test_faces_keep_looking_outwards(self, mesh, numbers):
        linear = np.array(numbers).reshape(3, 3)
        if abs(np.linalg.det(linear)) < 1e-3:
            return
        whole = np.eye(4)
        whole[:3, :3] = linear
        whole[:3, 3] = [1, 2, 3]
        for solid in (meshing.to_mesh(Box((1, 2, 3))), meshing.to_mesh(Cylinder(1, 2))):
            assert volume(meshing.transformed(solid, whole)) == pytest.approx(
                volume(solid) * abs(np.linalg.det(linear))
            )
        moved = meshing.transformed(mesh, whole)
        if mesh.colors is not None:
            before = {
                tuple(map(tuple, c))
                for c in mesh.colors.values[mesh.colors.indices].tolist()
            }
            after = {
                tuple(map(tuple, c))
                for c in moved.colors.values[moved.colors.indices].tolist()
            }
            mirrored = np.linalg.det(linear) < 0
            assert after == ({c[::-1] for c in before} if mirrored else before)

    @pytest.mark.parametrize("scale", [(1, 1, 1), (2, 1, 0.5), (-1, 1, 1), (1, 1, 0)])
    def test_normals_stay_at_right_angles(self, scale):
        """Normals given for a plane are those of the plane after stretching, mirroring or flattening it too."""
        plane = np.array([[0, 0, 0], [1, 0, 1], [0, 1, 1.0]])
        normal = np.cross(plane[1], plane[2])
        mesh = Mesh(plane, [[0, 1, 2]], normals=Corners([normal], [[0, 0, 0]]))
        moved = meshing.transformed(mesh, np.diag([*scale, 1.0]))
        given = moved.normals.values[0]
        assert np.allclose(given / np.linalg.norm(given), moved.face_normals[0])

    @given(st.lists(st.floats(-2, 2), min_size=12, max_size=12))
    def test_bounds_of_round_ones(self, numbers):
        """No point of the surface lies outside, and the finer it is cut, the nearer it comes to each side."""
        transform = np.vstack([np.array(numbers).reshape(3, 4), [0, 0, 0, 1]])
        for geometry in (
            Sphere(0.7),
            Cylinder(0.5, 2.0),
            Cone(0.5, 2.0),
            Capsule(0.5, 1.0),
        ):
            mesh = meshing.transformed(meshing.to_mesh(geometry), transform)
            low, high = Shape(geometry, transform).bounds
            slack = 0.02 * np.linalg.norm(high - low) + 1e-9
            assert (mesh.vertices >= low - 1e-9).all() and (
                mesh.vertices <= high + 1e-9
            ).all()
            assert (mesh.vertices.min(axis=0) <= low + slack).all() and (
                mesh.vertices.max(axis=0) >= high - slack
            ).all()

    def test_bounds(self):
        turn = np.eye(4)
        turn[:3, :3] = rotations.to_matrix(
            rotations.from_axis_angle([0, 0, 1], np.pi / 4)
        )
        shape = Shape(Box((2.0, 2.0, 1.0)), turn)
        assert np.allclose(
            shape.bounds,
            [[-np.sqrt(2), -np.sqrt(2), -0.5], [np.sqrt(2), np.sqrt(2), 0.5]],
        )
        assert np.allclose(
            shape.moved(np.diag([2, 2, 2, 1.0])).bounds, 2 * np.array(shape.bounds)
        )
        assert Shape(
            Lines([[0, 0, 0], [1, 2, 3], [9, 9, 9]], [[0, 1]])
        ).bounds.tolist() == [[0, 0, 0], [1, 2, 3]]
        assert Shape(Points([[0, 0, 1.0]])).bounds.tolist() == [[0, 0, 1], [0, 0, 1]]
        assert Shape(Mesh(CUBE, np.zeros((0, 3), dtype=int))).bounds is None
