"""Meshes in files of their own: what is written reads back, here and by trimesh."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from bodymotion.diagnostics import losses
from bodymotion.formats.meshes.folder import MeshFolder, plain_name
from bodymotion.formats.meshes.glb import mesh_to_glb, read_gltf
from bodymotion.formats.meshes.obj import read_obj
from bodymotion.formats.meshes.reading import read_shapes
from bodymotion.formats.meshes.stl import to_stl
from bodymotion.formats.resources import ReferencedFiles
from bodymotion.geometry import meshes as meshing
from bodymotion.geometry.shapes import Box, Corners, Material, Mesh, Sphere, Texture
from bodymotion.system.files import whole_file
from sample_files import tries


def expanded(corners):
    return None if corners is None else corners.values[corners.indices]


def alike(a: Mesh, b: Mesh, tolerance: float = 0.0) -> bool:
    """Whether two meshes show the same triangles in the same order."""
    same = a.faces.shape == b.faces.shape
    same = (
        same
        and np.abs(a.vertices[a.faces] - b.vertices[b.faces]).max(initial=0)
        <= tolerance
    )
    for one, other in (
        (a.normals, b.normals),
        (a.colors, b.colors),
        (a.texture_coordinates, b.texture_coordinates),
    ):
        one, other = expanded(one), expanded(other)
        same = same and (one is None) == (other is None)
        same = same and (
            one is None
            or (one.shape == other.shape and np.abs(one - other).max() <= tolerance)
        )
    return bool(same)


def read(path):
    remarks = []
    shapes = read_shapes(path, ReferencedFiles(path.parent), remarks)
    assert not remarks
    return shapes


def stored(tmp_path, mesh, kind, material=None):
    folder = MeshFolder(tmp_path / "robot.urdf", kind)
    path = folder.add(mesh, "ARM", material)
    folder.write(b"<robot/>")
    return tmp_path / path, folder


numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


@st.composite
def meshes(draw):
    count = draw(st.integers(3, 8))
    vertices = np.array(
        draw(
            st.lists(
                st.tuples(numbers, numbers, numbers), min_size=count, max_size=count
            )
        )
    )
    number = draw(st.integers(1, 6))
    corner = st.permutations(range(count)).map(lambda order: order[:3])
    faces = np.array(draw(st.lists(corner, min_size=number, max_size=number)))

    def corners(width, values):
        if not draw(st.booleans()):
            return None
        rows = draw(st.lists(st.tuples(*[values] * width), min_size=1, max_size=5))
        index = st.tuples(*[st.integers(0, len(rows) - 1)] * 3)
        return Corners(
            np.array(rows),
            np.array(draw(st.lists(index, min_size=number, max_size=number))),
        )

    return Mesh(
        vertices,
        faces,
        draw(st.sampled_from([0.0, 0.3, 0.5])),
        normals=corners(3, numbers),
        colors=corners(3, st.sampled_from([0.0, 0.25, 0.1, 1.0])),
        texture_coordinates=corners(2, numbers),
        two_sided=draw(st.booleans()),
    )


@settings(max_examples=tries(60))
@given(meshes())
def test_obj_keeps_meshes_to_the_bit(tmp_path_factory, mesh):
    path, folder = stored(tmp_path_factory.mktemp("m"), mesh, "obj")
    assert not folder.lost
    (shape,) = read(path)
    found = shape.geometry
    assert (found.crease_angle, found.two_sided) == (mesh.crease_angle, mesh.two_sided)
    assert alike(mesh, found)


@settings(max_examples=tries(60))
@given(meshes())
def test_glb_gives_the_mesh_back(tmp_path_factory, mesh):
    """All that single precision holds of it: vertices that were split are one again, and corners have what they had."""
    singles = mesh.vertices.astype(np.float32).astype(np.float64)
    normals = mesh.normals
    if normals is not None:
        length = np.linalg.norm(normals.values, axis=1, keepdims=True)
        if not (length > 1e-6).all():
            return
        normals = Corners(normals.values / length, normals.indices)
    mesh = dataclasses.replace(mesh, vertices=singles, normals=normals)
    folder = MeshFolder(tmp_path_factory.mktemp("m") / "robot.urdf", "glb")
    path = folder.add(mesh, "ARM")
    folder.write(b"<robot/>")
    if losses.MESH_LOOK.code in [problem.rule for problem in folder.lost]:
        return
    (shape,) = read(folder.model.parent / path)
    found = shape.geometry
    assert (found.crease_angle, found.two_sided) == (mesh.crease_angle, mesh.two_sided)
    assert np.array_equal(found.vertices, mesh.vertices) and np.array_equal(
        found.faces, mesh.faces
    )
    for kind, atol, rtol in (
        ("normals", 1e-5, 0),
        ("colors", 1e-6, 0),
        ("texture_coordinates", 1e-6, 1e-6),
    ):
        one, other = expanded(getattr(mesh, kind)), expanded(getattr(found, kind))
        assert (one is None) == (other is None), kind
        if one is not None:
            np.testing.assert_allclose(other, one, atol=atol, rtol=rtol, err_msg=kind)


def test_what_a_glb_does_not_hold_is_said(tmp_path):
    """A vertex that nobody uses, and a triangle without area."""
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 9, 9]]
    for faces in ([[0, 1, 2]], [[0, 1, 2], [1, 1, 3]]):
        _, folder = stored(tmp_path, Mesh(corners, faces), "glb")
        assert [problem.rule for problem in folder.lost] == [losses.MESH_LOOK.code]


def test_glb_of_others(tmp_path):
    """As trimesh writes it: colours of vertices as bytes, a surface that is seen from both sides, placed by its node."""
    trimesh = pytest.importorskip("trimesh")
    cube = trimesh.creation.box((1.0, 2.0, 3.0))
    # Split at the corners, as exporters do.
    split = trimesh.Trimesh(
        cube.vertices[cube.faces].reshape(-1, 3),
        np.arange(36).reshape(-1, 3),
        process=False,
    )
    split.visual.vertex_colors = np.tile([255, 0, 0, 255], (36, 1))
    scene = trimesh.Scene()
    scene.add_geometry(
        split, transform=trimesh.transformations.translation_matrix([1, 2, 3])
    )
    (tmp_path / "a.glb").write_bytes(scene.export(file_type="glb"))
    (shape,) = read(tmp_path / "a.glb")
    assert shape.geometry.vertices.shape == (8, 3) and shape.geometry.faces.shape == (
        12,
        3,
    )
    assert np.allclose(expanded(shape.geometry.colors)[..., :3], [1.0, 0.0, 0.0])
    assert np.allclose(shape.bounds, [[0.5, 1.0, 1.5], [1.5, 3.0, 4.5]])
    look = trimesh.visual.material.PBRMaterial(
        baseColorFactor=[0, 255, 0, 255], doubleSided=True
    )
    cube.visual = trimesh.visual.TextureVisuals(material=look)
    (tmp_path / "b.glb").write_bytes(cube.export(file_type="glb"))
    (shape,) = read(tmp_path / "b.glb")
    assert shape.geometry.two_sided and np.allclose(
        shape.material.diffuse, (0.0, 1.0, 0.0)
    )


@settings(max_examples=tries(150))
@given(st.data())
def test_any_bytes_are_a_glb_or_value_error(data):
    whole = mesh_to_glb(
        Mesh(
            [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
            [[0, 1, 2]],
            colors=Corners([[1, 0, 0]], [[0, 0, 0]]),
        ),
        Material(),
    )
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place] = data.draw(
            st.one_of(st.integers(0, 255), st.sampled_from(b"0123456789-.[]{}e"))
        )
    changed = changed[
        : data.draw(st.one_of(st.just(len(changed)), st.integers(0, len(changed))))
    ]
    try:
        shapes, _ = read_gltf(bytes(changed))
    except ValueError:
        return
    for shape in shapes:
        assert shape.geometry.faces.max() < len(shape.geometry.vertices)


@pytest.mark.parametrize("kind", ["obj", "stl", "glb"])
def test_other_programs_read_them(tmp_path, kind):
    trimesh = pytest.importorskip("trimesh")
    mesh = meshing.to_mesh(Sphere(0.3))
    path, folder = stored(tmp_path, mesh, kind, Material(diffuse=(1.0, 0.0, 0.0)))
    loaded = trimesh.load_mesh(path)
    assert loaded.area == pytest.approx(4 * np.pi * 0.09, rel=0.02)
    assert loaded.volume == pytest.approx(4 / 3 * np.pi * 0.027, rel=0.02)
    expected = {
        "obj": [],
        "stl": [losses.PRECISION.code, losses.MESH_LOOK.code],
        "glb": [losses.PRECISION.code],
    }
    assert [problem.rule for problem in folder.lost] == expected[kind]
    (shape,) = read(path)
    assert np.allclose(
        np.sort(shape.to_mesh().vertices[shape.geometry.faces].sum(axis=(0, 1))),
        0,
        atol=1e-4,
    )
    if kind == "glb":
        assert np.allclose(shape.material.diffuse, (1.0, 0.0, 0.0), atol=0.01)


def test_each_mesh_once_and_names_of_their_own(tmp_path):
    folder = MeshFolder(tmp_path / "robot.urdf")
    cube = meshing.to_mesh(Box((1.0, 1.0, 1.0)))
    ball = meshing.to_mesh(Sphere(1.0))
    copy = dataclasses.replace(cube, vertices=np.array(cube.vertices))
    names = [
        folder.add(mesh, name)
        for mesh, name in ((cube, "a b"), (copy, "x"), (ball, "A B"), (ball, "../y"))
    ]
    assert names == [
        "robot_urdf_meshes/a_b.obj",
        "robot_urdf_meshes/a_b.obj",
        "robot_urdf_meshes/A_B_2.obj",
        "robot_urdf_meshes/A_B_2.obj",
    ]
    folder.write(b"")
    assert sorted(path.name for path in (tmp_path / "robot_urdf_meshes").iterdir()) == [
        "A_B_2.obj",
        "a_b.obj",
    ]


@pytest.mark.parametrize("is_new", [True, False])
def test_a_model_that_cannot_be_written_leaves_no_meshes(tmp_path, monkeypatch, is_new):
    """The disk is full in the model or in the second mesh: the files are those that were there."""
    (tmp_path / "robot.urdf").write_text("old")
    if not is_new:
        (tmp_path / "robot_urdf_meshes").mkdir()
        (tmp_path / "robot_urdf_meshes" / "a.obj").write_text("of another")

    def there():
        return {
            path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
        }

    before = there()
    for last in ("robot.urdf", "ball.obj"):

        @contextlib.contextmanager
        def full(path, last=last):
            with whole_file(path) as stream:
                yield stream
                if Path(path).name == last:
                    raise OSError(28, "No space left on device")

        monkeypatch.setattr("bodymotion.formats.meshes.folder.whole_file", full)
        folder = MeshFolder(tmp_path / "robot.urdf")
        folder.add(meshing.to_mesh(Box((1.0, 1.0, 1.0))), "a")
        folder.add(meshing.to_mesh(Sphere(1.0)), "ball")
        with pytest.raises(OSError, match="No space"):
            folder.write(b"new")
        assert there() == before


@pytest.mark.parametrize("kind", ["obj", "stl", "glb"])
def test_files_of_others_stay_as_they_are(tmp_path, kind):
    """Whatever is in the folder, no file of it changes; the same once more gives the same files."""
    image = tmp_path / "wall.png"
    Image.new("RGB", (4, 4)).save(image)
    look = Material(diffuse=(0.1, 0.2, 0.3), texture=Texture(image, "x"))
    uv = Corners([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    first = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], texture_coordinates=uv)
    stored(tmp_path, first, kind, look)

    def there():
        return {
            path: path.read_bytes()
            for path in (tmp_path / "robot_urdf_meshes").iterdir()
        }

    before = there()
    Image.new("RGB", (4, 4), "red").save(image)
    second = dataclasses.replace(first, vertices=2 * first.vertices)
    path, _ = stored(tmp_path, second, kind, look)
    assert path not in before
    after = there()
    assert before.items() < after.items()
    again, folder = stored(tmp_path, second, kind, look)
    assert (again, there()) == (path, after)
    assert path.relative_to(tmp_path).as_posix() in folder.files
    back, _ = stored(tmp_path, first, "stl")
    assert np.array_equal(np.unique(read(back)[0].geometry.vertices), [0.0, 1.0])


def test_each_model_has_a_folder_of_its_own(tmp_path):
    names = [
        MeshFolder(tmp_path / name).name for name in ("a.urdf", "a.xml", "a.b.xml", "a")
    ]
    assert len(set(names)) == len(names)


@given(st.text(max_size=30))
def test_plain_names_are_plain(name):
    plain = plain_name(name)
    assert (
        "/" not in plain
        and plain not in (".", "..")
        and plain.isascii()
        and not plain.startswith("-")
    )


def test_images_come_along(tmp_path):
    image = tmp_path / "in" / "wall 1.png"
    image.parent.mkdir()
    Image.new("RGB", (4, 4)).save(image)
    uv = Corners([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], texture_coordinates=uv)
    look = Material(
        diffuse=(0.1, 0.2, 0.3), transparency=0.25, texture=Texture(image, "x")
    )
    path, _ = stored(tmp_path, mesh, "obj", look)
    (shape,) = read(path)
    assert shape.material.texture.path.read_bytes() == image.read_bytes()
    assert shape.material.texture.path.parent == path.parent
    assert np.allclose(shape.material.diffuse, look.diffuse)
    assert shape.material.transparency == pytest.approx(0.25)
    lost = MeshFolder(tmp_path / "b.urdf")
    (tmp_path / "secret.png").write_text("no image, but a file of the user")
    for name in ("none.png", "secret.png"):
        lost.add(mesh, "a", Material(texture=Texture(tmp_path / name, "x")))
    assert {problem.rule for problem in lost.lost} == {losses.MESH_LOOK.code}
    assert not any(name.endswith(".png") for name in lost.files)


def test_polygons_indices_from_the_end_and_materials():
    text = b"""mtllib a.mtl
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vn 0 0 1
usemtl red
f -4//-1 -3//-1 -2//-1 -1//-1
v 0 0 1
usemtl blue
f 1//1 2//1 \\
 5//1
g x
l 1 2
"""
    library = b"newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\nd 0.5\n"
    (part,) = read_obj(text, lambda name: library if name == "a.mtl" else None)
    assert part.mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 4]]
    assert expanded(part.mesh.colors)[:, 0].tolist() == [
        [1, 0, 0, 1],
        [1, 0, 0, 1],
        [0, 0, 1, 0.5],
    ]
    assert part.mesh.normals.values.tolist() == [[0, 0, 1]]


WORDS = st.sampled_from(
    [
        b"v",
        b"f",
        b"vt",
        b"vn",
        b"usemtl",
        b"1",
        b"2",
        b"-1",
        b"1/2",
        b"1//3",
        b"\n",
        b"0",
        b"nan",
        b"1e99",
    ]
)


@settings(max_examples=tries(200))
@given(st.one_of(st.binary(max_size=200), st.lists(WORDS, max_size=40).map(b" ".join)))
def test_any_bytes_are_a_mesh_or_value_error(data):
    try:
        parts = read_obj(data, lambda name: data)
    except ValueError:
        return
    for part in parts:
        assert part.mesh.faces.max() < len(part.mesh.vertices)
        assert np.isfinite(part.mesh.vertices).all()


def test_stl_is_as_long_as_it_says():
    mesh = meshing.to_mesh(Box((1.0, 2.0, 3.0)))
    data = to_stl(mesh)
    assert len(data) == 84 + 50 * len(mesh.faces)


def test_nothing_beside_a_pipe(tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe.urdf")
    folder = MeshFolder(tmp_path / "pipe.urdf")
    assert folder.add(meshing.to_mesh(Sphere(1.0)), "a") is None
    with pytest.raises(ValueError, match="not as 'ply'"):
        MeshFolder(tmp_path / "x.urdf", "ply")
