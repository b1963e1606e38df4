"""Elements: where they stand, rigid bodies, shapes and materials, devices, and the files that resources name."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
import trimesh
from body_files import HEAD, all_rules, link_with, rules

from bodymotion.diagnostics import FormatError
from bodymotion.formats.choreonoid_body import read_body
from bodymotion.geometry import rotations
from bodymotion.geometry.shapes import Box, Capsule, Cone, Cylinder, Mesh, Sphere
from bodymotion.model.links import (
    AccelerationSensor,
    ForceSensor,
    Gyro,
    OtherDevice,
    RangeSensor,
    VisionSensor,
)
from goldens import close, exact_box

MASS = "mass: 1\ninertia: [ 1, 0, 0, 1, 0, 1 ]\n"


def elements(text: str, **options):
    """Read a link with a mass and these elements, in flow style or as a list."""
    lines = "\n".join(f"  {line}" for line in text.splitlines())
    return link_with(f"{MASS}elements:\n{lines}", **options)


def shapes(text: str, **options):
    return elements(text, **options).links[0].visuals


FORMS = [
    "- { type: Shape, geometry: { type: Box, size: [ 1, 2, 3 ] } }",
    "Shape: { geometry: { type: Box, size: [ 1, 2, 3 ] } }",
    "{ type: Shape, geometry: { type: Box, size: [ 1, 2, 3 ] } }",
    "- Shape: { geometry: { type: Box, size: [ 1, 2, 3 ] } }",
    "- [ { type: Group, elements: { Shape: { geometry: { type: Box, size: [ 1, 2, 3 ] } } } } ]",
    "Shape: [ { geometry: { type: Box, size: [ 1, 2, 3 ] } } ]",
]


@pytest.mark.parametrize("text", FORMS)
def test_forms_of_elements(text):
    (shape,) = shapes(text)
    assert shape.geometry == Box((1, 2, 3))
    assert np.array_equal(shape.transform, np.eye(4))


def test_visual_and_collision():
    link = elements(
        "- { type: Visual, shape: { geometry: { type: Sphere, radius: 1 } } }\n"
        "- { type: Collision, elements: { Shape: { geometry: { type: Sphere, radius: 2 } } } }\n"
        "- { type: Shape, geometry: { type: Sphere, radius: 3 } }\n"
        "- { type: Skip, elements: { Shape: { geometry: { type: Sphere, radius: 4 } } } }\n"
    ).links[0]
    assert [shape.geometry.radius for shape in link.visuals] == [1, 3]
    assert [shape.geometry.radius for shape in link.collisions] == [2, 3]


def test_transforms_add_up():
    """A point on x goes to y by the outer turn about z, after the inner move and stretch."""
    (shape,) = shapes(
        "- type: Transform\n  translation: [ 1, 0, 0 ]\n  rotation: [ 0, 0, 1, 90 ]\n  elements:\n"
        "    Shape: { translation: [ 0, 0, 5 ], scale: [ 2, 3, 4 ], geometry: { type: Sphere, radius: 1 } }\n"
    )
    assert np.allclose(shape.transform @ [1, 0, 0, 1], [1, 2, 5, 1])
    assert np.allclose(shape.transform @ [0, 1, 0, 1], [-2, 0, 5, 1])
    assert np.allclose(shape.transform @ [0, 0, 1, 1], [1, 0, 9, 1])


def test_rigid_bodies():
    """Two point masses of 1 kg at x = ±1, one of them turned, beside the link's own kilogram at its origin."""
    body = elements(
        "- { type: RigidBody, name: FRONT, translation: [ 1, 0, 0 ], mass: 1, inertia: [ 0, 0, 0, 0, 0, 0 ],\n"
        "    elements: { Shape: { geometry: { type: Sphere, radius: 0.5 } } } }\n"
        "- { type: RigidBody, translation: [ -2, 0, 0 ], rotation: [ 0, 0, 1, 90 ], mass: 1, center_of_mass: [ 0, -1, 0 ],\n"
        "    inertia: [ 2, 0, 0, 0, 0, 0 ] }\n"
    )
    link = body.links[0]
    assert [segment.name for segment in link.segments] == ["", "FRONT", ""]
    assert link.mass == 3
    assert np.allclose(link.center_of_mass, 0, atol=1e-15)
    assert np.allclose(link.inertia, np.diag([1, 1 + 2 + 2, 1 + 2]), atol=1e-15)
    assert np.allclose(exact_box(link.visuals).mean(axis=0), [1, 0, 0])
    assert link.segments[1].visuals[0].transform[0, 3] == 0


def test_a_rigid_body_alone_is_the_whole_mass():
    body = link_with(
        "elements: { RigidBody: { mass: 2, inertia: [ 1, 0, 0, 1, 0, 1 ] }, Shape: { geometry: { type: Sphere, radius: 1 } } }"
    )
    assert (
        body.links[0].mass == 2
        and len(body.links[0].visuals) == 1
        and rules(body) == []
    )


@pytest.mark.parametrize(
    ("given", "geometry"),
    [
        ("type: Box, size: [ 1, 2, 3 ]", Box((1, 2, 3))),
        ("type: Sphere, radius: 0.5", Sphere(0.5)),
        (
            "type: Cylinder, radius: 0.5, height: 2, top: false",
            Cylinder(0.5, 2, top=False),
        ),
        (
            "type: Cone, radius: 0.5, height: 2, bottom: false",
            Cone(0.5, 2, bottom=False),
        ),
        ("type: Capsule, radius: 0.5, height: 2", Capsule(0.5, 2)),
        ("type: Sphere", Sphere(1)),
        ("type: Box", Box((1, 1, 1))),
    ],
)
def test_primitives(given, geometry):
    (shape,) = shapes(f"Shape: {{ geometry: {{ {given} }} }}")
    assert shape.geometry == geometry


TETRAHEDRON = "0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1"


@pytest.mark.parametrize(
    "given",
    [
        f"type: IndexedFaceSet, coordinate: [ {TETRAHEDRON} ], coordIndex: [ 0, 2, 1, -1, 0, 1, 3, -1, 0, 3, 2, -1, 1, 2, 3, -1 ]",
        f"type: IndexedFaceSet, vertices: [ {TETRAHEDRON} ], faces: [ 0, 2, 1, -1, 0, 1, 3, -1, 0, 3, 2, -1, 1, 2, 3 ]",
        f"type: Mesh, vertices: [ {TETRAHEDRON} ], faces: [ 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 ]",
    ],
)
def test_meshes(given):
    (shape,) = shapes(f"Shape: {{ geometry: {{ {given}, crease_angle: 90 }} }}")
    mesh = shape.geometry
    assert mesh.faces.tolist() == [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    assert mesh.crease_angle == pytest.approx(math.pi / 2) and mesh.two_sided
    assert trimesh.Trimesh(mesh.vertices, mesh.faces).volume == pytest.approx(1 / 6)


def test_texture_coordinates(tmp_path):
    (tmp_path / "a.png").write_bytes(b"")
    (shape,) = shapes(
        "Shape: { geometry: { type: IndexedFaceSet, vertices: [ 0, 0, 0, 1, 0, 0, 0, 1, 0 ], faces: [ 0, 1, 2, -1 ],\n"
        "  tex_coords: [ 0, 0, 1, 0, 0, 1 ], tex_coord_indices: [ 2, 1, 0, -1 ] },\n"
        "  appearance: { texture: { url: a.png, repeat_s: false }, textureTransform: { rotation: [ 0, 0, 1, 90 ], scale: [ 2, 3 ] } } }",
        folder=tmp_path,
    )
    assert shape.geometry.texture_coordinates.indices.tolist() == [[2, 1, 0]]
    texture = shape.material.texture
    assert (
        texture.path == tmp_path / "a.png" and not texture.repeat_s and texture.repeat_t
    )
    # S · R: (1, 0) is turned to (0, 1) and stretched.
    assert np.allclose(texture.transform @ [1, 0, 1], [0, 3, 1])


def test_extrusion():
    """A unit square along y: turned by 45° at the far end, where it is √2 as wide; without a second scale it ends in a point."""
    square = "cross_section: [ -0.5, 0.5, 0.5, 0.5, 0.5, -0.5, -0.5, -0.5, -0.5, 0.5 ], spine: [ 0, 0, 0, 0, 1, 0, 0, 2, 0 ]"
    turned = shapes(
        f"Shape: {{ geometry: {{ type: Extrusion, {square}, orientation: [ 0, 1, 0, 0, 0, 1, 0, 45 ] }} }}"
    )[0].geometry
    assert isinstance(turned, Mesh)
    widths = [
        np.ptp(turned.vertices[np.isclose(turned.vertices[:, 1], y)][:, 0])
        for y in (0, 1, 2)
    ]
    assert np.allclose(widths, [1, math.sqrt(2), 1])
    pointed = shapes(
        f"Shape: {{ geometry: {{ type: Extrusion, {square}, scale: [ 1, 1, 2, 2 ] }} }}"
    )[0].geometry
    widths = [
        np.ptp(pointed.vertices[np.isclose(pointed.vertices[:, 1], y)][:, 0])
        for y in (0, 1, 2)
    ]
    assert np.allclose(widths, [1, 2, 0])


def test_points():
    (shape,) = shapes(
        "Shape: { geometry: { type: PointSet, vertices: [ 0, 0, 0, 1, 2, 3 ], colors: [ 1, 0, 0, 0, 1, 0 ] } }"
    )
    assert shape.geometry.vertices.tolist() == [[0, 0, 0], [1, 2, 3]]
    assert shape.geometry.colors.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_elevation_grid():
    (shape,) = shapes(
        "Shape: { geometry: { type: ElevationGrid, xDimension: 2, z_dimension: 3, x_spacing: 2, zSpacing: 3,\n"
        "  height: [ 0, 1, 2, 3, 4, 5 ] } }"
    )
    assert np.allclose(exact_box([shape]), [[0, 0, 0], [2, 5, 6]])
    assert len(shape.geometry.faces) == 4


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ("type: Sphere, radius: -1", "VRML210"),
        ("type: Capsule, radius: 0, height: 1", "VRML210"),
        ("type: Sphere", "BDY153"),
        ("type: Text, text: Hello", "VRML213"),
        ("type: Pyramid", "BDY157"),
        ("radius: 1", "BDY157"),
        (
            "type: IndexedFaceSet, vertices: [ 0, 0, 0 ], faces: [ 0, 1, 2, -1 ]",
            "VRML203",
        ),
        (
            "type: IndexedFaceSet, vertices: [ 0, 0, 0, 1 ], faces: [ 0, 0, 0, -1 ]",
            "BDY113",
        ),
    ],
)
def test_odd_geometry_has_a_problem(given, rule):
    assert rule in rules(elements(f"Shape: {{ geometry: {{ {given} }} }}"))


@pytest.mark.parametrize(
    "text",
    [
        "Shape: { geometry: { type: Mesh, vertices: [], faces: [ 0.5 ] } }",
        "Shape: { geometry: { type: Sphere, radius: big } }",
        "Shape: 5",
        "Shape: [ 5 ]",
        "Camera: { optical_frame: up }",
    ],
)
def test_wrong_elements_are_refused(text):
    with pytest.raises(FormatError) as caught:
        elements(text)
    assert (
        caught.value.problem.rule in ("YAML104", "BDY150")
        and caught.value.problem.location.line == 10
    )


def test_materials():
    first, second, third, fourth = shapes(
        "- { type: Shape, geometry: { type: Sphere, radius: 1 }, appearance: { material: { diffuse: [ 1, 0.5, 0 ], ambient: 0.3,\n"
        "    emissive: [ 0.1, 0.2, 0.3 ], specular: [ 1, 1, 1 ], specular_exponent: 64, transparency: 0.25 } } }\n"
        "- { type: Shape, geometry: { type: Sphere, radius: 1 }, appearance: { material: { diffuseColor: [ 1, 0.5, 0 ],\n"
        "    ambientIntensity: 0.3, emissiveColor: [ 0.1, 0.2, 0.3 ], specularColor: [ 1, 1, 1 ], shininess: 0.5,\n"
        "    transparency: 0.25 } } }\n"
        "- { type: Shape, geometry: { type: Sphere, radius: 1 }, material: { diffuse: [ 0, 0, 1 ] } }\n"
        "- { type: Shape, geometry: { type: Sphere, radius: 1 } }\n"
    )
    assert first.material == second.material
    assert (first.material.diffuse, first.material.transparency) == ((1, 0.5, 0), 0.25)
    assert (first.material.ambient_intensity, first.material.shininess) == (0.3, 0.5)
    assert third.material.diffuse == (0, 0, 1)
    assert fourth.material.diffuse == (1, 1, 1)


def test_sensors():
    body = elements(
        "- { type: AccelerationSensor, name: A, id: 1, max_acceleration: [ 1, 2, 3 ], translation: [ 0, 0, 1 ] }\n"
        "- { type: RateGyroSensor, name: G, maxAngularVelocity: [ 4, 5, 6 ] }\n"
        "- { type: ForceSensor, max_force: [ 1, 1, 1 ], max_torque: [ 2, 2, 2 ] }\n"
        "- { type: Camera, format: DEPTH, field_of_view: 90, width: 64, height: 48, near_clip_distance: 0.1, far_clip_distance: 5,\n"
        "    frame_rate: 10, lens_type: NORMAL, on: true }\n"
        "- { type: RangeSensor, yaw_range: 180, yaw_step: 10, pitch_range: 30, scan_rate: 5, max_distance: 8, min_distance: 0.2 }\n"
        "- { type: RangeSensor, scanAngle: 90, scanStep: 1, scanRate: 5, maxDistance: 8 }\n"
        "- { type: SpotLight, name: S, beam_width: 60, direction: [ 1, 0, 0 ] }\n"
        "- { type: RotorDevice, name: R, value_range: [ -20, 20 ] }\n"
    )
    a, g, f, camera, scanner, old, light, rotor = body.devices
    assert isinstance(a, AccelerationSensor) and (a.name, a.id) == ("A", 1)
    assert a.max_acceleration.tolist() == [1, 2, 3] and a.pose.tolist() == [
        0,
        0,
        1,
        1,
        0,
        0,
        0,
    ]
    assert (
        isinstance(g, Gyro)
        and g.max_angular_velocity.tolist() == [4, 5, 6]
        and g.id == -1
    )
    assert (
        isinstance(f, ForceSensor)
        and f.max_force.tolist() == [1, 1, 1]
        and f.max_torque.tolist() == [2, 2, 2]
    )
    assert isinstance(camera, VisionSensor) and camera.field_of_view == pytest.approx(
        math.pi / 2
    )
    assert (camera.type, camera.width, camera.height, camera.frame_rate) == (
        "DEPTH",
        64,
        48,
        10,
    )
    assert (camera.front_clip_distance, camera.back_clip_distance) == (0.1, 5)
    assert camera.extra == {"lens_type": "NORMAL", "on": True}
    assert isinstance(scanner, RangeSensor) and scanner.scan_angle == pytest.approx(
        math.pi
    )
    assert (
        scanner.extra == {"pitch_range": 30, "min_distance": 0.2}
        and len(scanner.ray_angles) == 19
    )
    assert isinstance(old, RangeSensor) and old.scan_angle == pytest.approx(math.pi / 2)
    assert (
        isinstance(light, OtherDevice)
        and light.kind == "SpotLight"
        and light.extra["beam_width"] == 60
    )
    assert rotor.kind == "RotorDevice" and rotor.extra == {"value_range": [-20, 20]}
    assert rules(body) == ["BDY151"]


@pytest.mark.parametrize(
    ("kind", "meant"),
    [
        ("ForceSensr", "ForceSensor"),
        ("forcesensor", "ForceSensor"),
        ("Camrea", "Camera"),
        ("RigidBdy", "RigidBody"),
    ],
)
def test_types_that_are_misspelt(kind, meant):
    """A slip is no type of a plugin: nothing comes of it, and it is told with what may be meant."""
    body = elements("- { type: KIND, name: F, id: 0 }\n".replace("KIND", kind))
    (problem,) = body.problems
    assert (problem.rule, problem.severity, problem.location.line) == (
        "BDY151",
        "warning",
        10,
    )
    assert repr(meant) in problem.hint
    (device,) = body.devices
    assert device.kind == kind


@pytest.mark.parametrize(
    "kind", ["Thruster", "RotorDevice", "TorqueSensor", "PressureSensor", "Marker"]
)
def test_types_of_plugins_are_no_slips(kind):
    (problem,) = elements(
        "- { type: KIND, name: F, id: 0 }\n".replace("KIND", kind)
    ).problems
    assert (problem.rule, problem.severity, problem.hint) == ("BDY151", "note", "")


@pytest.mark.parametrize(
    ("frame", "forward", "up"),
    [
        ("optical_frame: gl", [0, 0, -1], [0, 1, 0]),
        ("optical_frame: cv", [0, 0, 1], [0, -1, 0]),
        ("optical_frame: robotics", [1, 0, 0], [0, 0, 1]),
        (
            "optical_frame_rotation: [ [ 1, 0, 0, 90 ], [ 0, 1, 0, -90 ] ]",
            [1, 0, 0],
            [0, 0, 1],
        ),
    ],
)
def test_optical_frames(frame, forward, up):
    camera = elements(f"Camera: {{ {frame}, rotation: [ 0, 0, 1, 90 ] }}").devices[0]
    quarter = rotations.to_matrix(rotations.from_axis_angle([0, 0, 1], math.pi / 2))
    turn = rotations.to_matrix(camera.pose[3:])
    assert np.allclose(turn @ [0, 0, -1], quarter @ forward) and np.allclose(
        turn @ [0, 1, 0], quarter @ up
    )


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ("Camera: { format: COLOUR }", "YAML104"),
        ("Camera: { field_of_view: 200 }", "BODY152"),
        ("Camera: { near_clip_distance: 3, far_clip_distance: 2 }", "BODY152"),
        ("Camera: { width: 0 }", "BODY152"),
        ("RangeSensor: { yaw_step: 0 }", "BODY153"),
        ("Camera: { scale: [ 2, 2, 2 ] }", "BODY155"),
        ("RigidBody: { scale: [ 2, 2, 2 ], mass: 1 }", "BODY155"),
        ("Text: { text: Hello }", "VRML213"),
        ("Shape: { name: S }", "BDY150"),
    ],
)
def test_odd_elements_have_a_problem(given, rule):
    assert rule in all_rules(elements(given))


def test_what_a_camera_looks_like_stands_at_the_camera():
    body = elements(
        "Camera: { translation: [ 1, 0, 0 ], rotation: [ 0, 0, 1, 90 ],\n"
        "  elements: { Shape: { translation: [ 1, 0, 0 ], geometry: { type: Sphere, radius: 1 } } } }"
    )
    assert np.allclose(body.links[0].visuals[0].transform[:3, 3], [1, 1, 0])


SCENE = """#VRML V2.0 utf8
DEF WHOLE Transform { translation 5 0 0 rotation 0 0 1 1.5707963267948966 children [
  Shape { geometry Box { size 2 4 6 } }
  DEF PART Transform { translation 0 3 0 children [ Shape { geometry Sphere { radius 1 } } ] }
  DEF OTHER Transform { children [ Shape { geometry Cone { } } ] }
] }
"""


def test_scenes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/scene.wrl").write_text(SCENE)

    def kinds(text):
        return [
            type(shape.geometry).__name__ for shape in shapes(text, folder=tmp_path)
        ]

    assert kinds("Resource: { uri: parts/scene.wrl }") == ["Box", "Sphere", "Cone"]
    assert kinds("Resource: { uri: parts/scene.wrl, node: PART }") == ["Sphere"]
    assert kinds("Resource: { uri: parts/scene.wrl, exclude: [ OTHER ] }") == [
        "Box",
        "Sphere",
    ]
    both = "- { type: Resource, uri: parts/scene.wrl, node: WHOLE }\n- { type: Resource, uri: parts/scene.wrl, node: PART }\n"
    assert kinds(both) == ["Box", "Cone", "Sphere"]
    whole, part = shapes(
        "- { type: Resource, uri: parts/scene.wrl, node: WHOLE, exclude: OTHER, translation: [ 0, 0, 1 ] }\n"
        "- type: Shape\n  geometry: { type: Resource, uri: parts/scene.wrl, node: PART }\n"
        "  appearance: { material: { diffuse: [ 1, 0, 0 ] } }\n",
        folder=tmp_path,
    )
    # The direction stays, the place does not: it is that of the link.
    assert np.allclose(whole.transform @ [1, 0, 0, 1], [0, 1, 1, 1])
    assert np.allclose(part.transform @ [1, 0, 0, 1], [0, 1, 0, 1])
    assert part.material.diffuse == (1, 0, 0)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ("uri: none.stl", "FMT020"),
        ("node: X", "FMT020"),
        ("uri: /etc/hosts", "VRML131"),
        ("uri: http://example.org/a.stl", "VRML132"),
        ("uri: ../up.stl", "FMT020"),
        ("uri: scene.wrl, node: NONE", "BDY161"),
        ("uri: bad.wrl", "FMT021"),
        ("uri: bad.stl", "FMT021"),
        ("uri: bad.yaml", "FMT021"),
        ("uri: list.yaml, node: NONE", "BDY161"),
        ("uri: loop.yaml, node: A", "FMT021"),
        ("uri: model.fbx", "BDY160"),
        ("uri: box.stl, node: X", "BDY161"),
    ],
)
def test_resources_that_show_nothing_are_problems(tmp_path, given, rule):
    (tmp_path / "scene.wrl").write_text(SCENE)
    (tmp_path / "bad.wrl").write_text("#VRML V2.0 utf8\nShape { ]\n")
    (tmp_path / "bad.stl").write_text("nothing")
    (tmp_path / "bad.yaml").write_text("a: [\n")
    (tmp_path / "list.yaml").write_text("A: &A { type: Group }\n")
    (tmp_path / "loop.yaml").write_text(
        "A: [ { type: Resource, uri: loop.yaml, node: A } ]\n"
    )
    (tmp_path / "model.fbx").write_text("")
    (tmp_path / "box.stl").write_bytes(trimesh.creation.box().export(file_type="stl"))
    body = elements(f"Resource: {{ {given} }}", folder=tmp_path)
    assert rule in rules(body)
    for problem in body.problems:
        assert problem.location.line


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "off", "glb"])
def test_mesh_files(tmp_path, kind):
    exported = trimesh.creation.box((1, 2, 3)).export(file_type=kind)
    (tmp_path / f"box.{kind}").write_bytes(
        exported.encode() if isinstance(exported, str) else exported
    )
    (shape,) = shapes(
        f"Resource: {{ uri: box.{kind}, translation: [ 1, 0, 0 ], scale: [ 2, 2, 2 ] }}",
        folder=tmp_path,
    )
    assert close(exact_box([shape]), [[0, -2, -3], [2, 2, 3]], 1e-6)


def test_mesh_files_open_no_others(tmp_path):
    stream = io.StringIO()
    stream.write("mtllib ../secret.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n")
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot/a.obj").write_text(stream.getvalue())
    (tmp_path / "secret.mtl").mkdir()
    (shape,) = shapes("Resource: { uri: a.obj }", folder=tmp_path / "robot")
    assert len(shape.geometry.faces) == 1


def test_packages(tmp_path):
    folder = tmp_path / "my_robot/models"
    (tmp_path / "my_robot/meshes").mkdir(parents=True)
    folder.mkdir()
    (tmp_path / "my_robot/meshes/box.stl").write_bytes(
        trimesh.creation.box().export(file_type="stl")
    )
    text = "Resource: { uri: package://my_robot/meshes/box.stl }"
    assert rules(elements(text, folder=folder, allow_outside=False)) == ["VRML131"]
    assert len(shapes(text, folder=folder)) == 1
    assert len(shapes(text.replace("my_robot", "other"), folder=folder)) == 0


def test_elements_of_yaml_files(tmp_path):
    """They may use the anchors of the file that names them, and have units of their own."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/list.yaml").write_text(
        "FLAG: &FLAG\n  -\n    type: Shape\n    geometry: { type: Box, size: [ 1, 1, *HEIGHT ] }\n"
        "  - &NESTED { type: Shape, geometry: { type: Sphere, radius: 2 } }\n"
        "MORE: { type: Resource, uri: more.yaml }\n"
    )
    (tmp_path / "parts/more.yaml").write_text(
        "- { type: Shape, geometry: { type: Cone, radius: 1, height: 1 } }\n"
    )
    (tmp_path / "parts/scene.scen").write_text(
        "format: ChoreonoidScene\nangleUnit: radian\nscene:\n  Transform:\n    rotation: [ 0, 0, 1, 1.5707963267948966 ]\n"
        "    elements: { Shape: { translation: [ 1, 0, 0 ], geometry: { type: Sphere, radius: 1 } } }\n"
    )
    box, ball, alone, cone, turned = shapes(
        "- { type: Group, name: &HEIGHT 3 }\n"
        "- { type: Resource, uri: parts/list.yaml, node: FLAG, translation: [ 0, 0, 1 ] }\n"
        "- { type: Resource, uri: parts/list.yaml, node: NESTED }\n"
        "- { type: Resource, uri: parts/list.yaml, node: MORE }\n"
        "- { type: Resource, uri: parts/scene.scen, rotation: [ 0, 0, 1, 90 ] }\n",
        folder=tmp_path,
    )
    assert box.geometry == Box((1, 1, 3)) and box.transform[2, 3] == 1
    assert ball.geometry == alone.geometry == Sphere(2)
    assert cone.geometry == Cone(1, 1)
    assert np.allclose(turned.transform[:3, 3], [-1, 0, 0])


def test_one_geometry_is_one_object():
    first, second = shapes(
        "- &A { type: Shape, geometry: { type: Extrusion, spine: [ 0, 0, 0, 0, 1, 0 ] } }\n- *A\n"
    )
    assert first.geometry is second.geometry


COLLADA = """<COLLADA><asset><unit meter="0.01"/></asset><library_geometries><geometry id="g"><mesh>
<source id="p"><float_array>0 0 0 100 0 0 0 100 0</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene><node name="A"><translate>300 0 0</translate><rotate>0 0 1 90</rotate>
<instance_geometry url="#g"/><node name="B"><translate>0 0 500</translate><instance_geometry url="#g"/></node></node>
</visual_scene></library_visual_scenes></COLLADA>"""


def test_collada_scenes(tmp_path):
    (tmp_path / "a.dae").write_text(COLLADA)
    first, second = shapes("Resource: { uri: a.dae }", folder=tmp_path)
    assert np.allclose(exact_box([first]), [[2, 0, 0], [3, 1, 0]])
    assert np.allclose(exact_box([second]), [[2, 0, 5], [3, 1, 5]])
    alone, part = shapes(
        "- { type: Resource, uri: a.dae, node: A }\n- { type: Resource, uri: a.dae, node: B }\n",
        folder=tmp_path,
    )
    assert np.allclose(exact_box([alone]), [[-1, 0, 0], [0, 1, 0]])
    assert np.allclose(exact_box([part]), [[-1, 0, 0], [0, 1, 0]])
    assert rules(elements("Resource: { uri: a.dae, node: C }", folder=tmp_path)) == [
        "BDY161"
    ]
    (tmp_path / "a.dae").write_text(COLLADA.replace("100 0 0", "x"))
    assert rules(elements("Resource: { uri: a.dae }", folder=tmp_path)) == ["BDY163"]
    (tmp_path / "a.dae").write_text("<COLLADA>")
    assert rules(elements("Resource: { uri: a.dae }", folder=tmp_path)) == ["FMT021"]


def test_a_package_installed_as_symbolic_links(tmp_path):
    source, installed = (
        tmp_path / "src" / "my_robot",
        tmp_path / "install" / "share" / "my_robot",
    )
    model = (
        HEAD
        + "links:\n  - { name: A, elements: [ { type: Resource, uri: 'package://my_robot/meshes/box.wrl' } ] }\n"
    )
    for name, text in (
        ("r.body", model),
        ("meshes/box.wrl", "#VRML V2.0 utf8\nShape { geometry Box { } }"),
    ):
        for folder in (source, installed):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
        (installed / name).symlink_to(source / name)
    body = read_body(installed / "r.body").require()
    assert len(body.links[0].visuals) == 1, body.problems
    (installed / "meshes" / "box.wrl").unlink()
    assert len(read_body(installed / "r.body").require().links[0].visuals) == 1, (
        "beside the file that the link leads to"
    )
