"""What cameras see: against geometry, the rays of trimesh, MuJoCo's renderer, and the equation of light."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh
from PIL import Image

import bodymotion as bm
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.shapes import Corners
from sample_files import ACCEPT
from waiting import TIMEOUT

AHEAD = rotations.from_axis_angle([0, 1, 0], -np.pi / 2)
"""Turns a camera that looks down (−z) with its head towards +y so that it looks along +x with its head towards +y."""
LEVEL = poses.from_matrix(
    np.array([[0, 0, -1, 0], [-1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])
)[3:]
"""Looks along +x, head towards +z."""


def camera(**fields) -> bm.model.VisionSensor:
    given = {
        "name": "EYE",
        "type": "COLOR_DEPTH",
        "width": 40,
        "height": 30,
        "back_clip_distance": 100.0,
    }
    return bm.model.VisionSensor(**{**given, **fields})


def pictures(
    device: bm.model.VisionSensor, scenery=(), root=None, rate: float = 10.0, links=()
) -> bm.dynamics.CameraFrames:
    """Return the pictures of a camera on a root that moves; without `root` it looks from the world's origin along −z, up is +y."""
    root = np.tile(poses.IDENTITY, (2, 1)) if root is None else np.asarray(root)
    base = bm.Link(
        name="BASE", joint=bm.Joint(type="free"), segments=(bm.Segment(mass=1.0),)
    )
    body = bm.Body(name="seer", links=(base, *links), devices=(device,))
    motion = bm.Motion.from_joints(
        np.zeros((len(root), body.num_joints)), rate, root=root
    )
    return bm.dynamics.measure(body, motion).read(device, scenery)


def placed(
    geometry, x=0.0, y=0.0, z=0.0, turn=(1.0, 0.0, 0.0, 0.0), **look
) -> bm.shapes.Shape:
    return bm.shapes.Shape(
        geometry,
        poses.to_matrix(np.array([x, y, z, *turn])),
        bm.shapes.Material(**look),
    )


def pixel_rays(device: bm.model.VisionSensor) -> np.ndarray:
    """Return the rays (H, W, 3) through the middles of pixels in the camera's frame, as long as one metre of depth."""
    shorter = min(device.width, device.height)
    unit = np.tan(device.field_of_view / 2) / (shorter / 2)
    x = (np.arange(device.width) + 0.5 - device.width / 2) * unit
    y = (device.height / 2 - np.arange(device.height) - 0.5) * unit
    xs, ys = np.meshgrid(x, y)
    return np.stack([xs, ys, -np.ones_like(xs)], axis=-1)


@pytest.mark.parametrize(("width", "height"), [(40, 30), (30, 40), (7, 7), (1, 5)])
def test_planes_are_as_deep_as_geometry_says(width, height):
    """A large plane, tilted: depth along the axis, with the field of view over the shorter side."""
    device = camera(
        width=width, height=height, field_of_view=1.1, back_clip_distance=7.0
    )
    rng = np.random.default_rng(width)
    for _ in range(10):
        turn = rotations.from_axis_angle(rng.normal(size=3), rng.uniform(0, 0.9))
        plane = placed(
            bm.shapes.Box((400, 400, 2)),
            *rotations.rotate(turn, [0, 0, -1 - 4.0]),
            turn,
        )
        normal = rotations.rotate(turn, [0, 0, 1.0])
        expected = -4.0 / (pixel_rays(device) @ normal)
        expected[(expected > 7.0) | (expected < 0)] = np.inf
        found = pictures(device, [plane])[0].depth
        np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_a_ball_is_round():
    """Against the ray's way to a true sphere, as near as its flat faces are."""
    device = camera(field_of_view=0.6, width=50, height=50)
    depth = pictures(device, [placed(bm.shapes.Sphere(0.5), 0.1, -0.05, -3.0)])[0].depth
    rays = pixel_rays(device)
    middle = np.array([0.1, -0.05, -3.0])
    a, b = np.sum(rays**2, axis=-1), rays @ middle
    inside = b**2 - a * (middle @ middle - 0.25)
    with np.errstate(invalid="ignore"):
        true = (b - np.sqrt(inside)) / a
    sure = inside > 0.06
    assert sure.sum() > 300
    flatness, steepness = (
        2 * 0.5 * (1 - np.cos(np.pi / 32)),
        0.5 * np.sqrt(a[sure]) / np.sqrt(inside[sure]),
    )
    assert (np.abs(depth - true)[sure] < flatness * steepness).all()
    assert np.isinf(depth[inside < 0]).all()


def scene(seed: int) -> list[bm.shapes.Shape]:
    """Closed shapes all around, none of which has the camera inside."""
    rng = np.random.default_rng(seed)
    kinds = (
        bm.shapes.Box((0.6, 0.9, 0.4)),
        bm.shapes.Sphere(0.5),
        bm.shapes.Cylinder(0.3, 1.0),
        bm.shapes.Cone(0.4, 0.8),
        bm.shapes.Capsule(0.2, 0.7),
    )
    shapes = []
    for k in range(20):
        way = rotations.rotate(
            rotations.from_axis_angle(rng.normal(size=3), rng.uniform(0, 0.8)),
            [0, 0, -1.0],
        )
        place = rng.uniform(1.5, 5) * way
        shapes.append(
            placed(kinds[k % 5], *place, rotations.normalized(rng.normal(size=4)))
        )
    return shapes


@pytest.mark.parametrize("seed", range(3))
def test_rays_of_trimesh(seed):
    width, height = (36, 48) if ACCEPT else (18, 24)
    device = camera(
        width=width,
        height=height,
        field_of_view=1.3,
        front_clip_distance=0.2,
        back_clip_distance=4.5,
    )
    shapes = scene(seed)
    depth = pictures(device, shapes)[0].depth
    meshes = [shape.to_mesh() for shape in shapes]
    whole = trimesh.util.concatenate(
        [trimesh.Trimesh(m.vertices, m.faces, process=False) for m in meshes]
    )
    rays = pixel_rays(device).reshape(-1, 3)
    intersector = trimesh.ray.ray_triangle.RayMeshIntersector(whole)
    hits, index, _ = intersector.intersects_location(
        np.zeros_like(rays), rays, multiple_hits=True
    )
    expected = np.full(len(rays), np.inf)
    np.minimum.at(expected, index, -hits[:, 2])
    expected[expected > 4.5] = np.inf
    expected = expected.reshape(depth.shape)
    assert 0.17 < np.isfinite(expected).mean() < 1
    assert np.array_equal(np.isinf(depth), np.isinf(expected))
    seen = np.isfinite(expected)
    assert np.abs(depth[seen] - expected[seen]).max() < 1e-9


def test_depths_of_mujoco(tmp_path):
    """The same scene and camera in MuJoCo: within 1e-3 wherever no edge is near."""
    device = camera(width=160, height=120, field_of_view=1.0, front_clip_distance=0.05)
    root = np.tile(
        poses.from_parts(
            [0.0, 0.0, 1.2],
            rotations.multiply(LEVEL, [np.cos(0.2), -np.sin(0.2), 0, 0]),
        ),
        (2, 1),
    )
    rng = np.random.default_rng(5)
    shapes = [placed(bm.shapes.Box((60, 60, 2)), 0, 0, -1)]
    geoms = ['<geom type="box" size="30 30 1" pos="0 0 -1"/>']
    for _ in range(12):
        x, y, z = rng.uniform([2, -1.5, 0.2], [6, 1.5, 1.2])
        turn = rotations.normalized(rng.normal(size=4))
        shapes.append(placed(bm.shapes.Box((0.5, 0.3, 0.4)), x, y, z, turn))
        numbers = " ".join(map(repr, map(float, turn)))
        geoms.append(
            f'<geom type="box" size="0.25 0.15 0.2" pos="{x} {y} {z}" quat="{numbers}"/>'
        )
    eye = root[0]
    at = " ".join(map(repr, eye[:3].tolist())), " ".join(map(repr, eye[3:].tolist()))
    model = f"""<mujoco><statistic extent="1"/><visual><map znear="0.05" zfar="100"/><quality offsamples="0"/></visual><worldbody>
        <camera name="eye" pos="{at[0]}" quat="{at[1]}" fovy="{np.rad2deg(1.0)}"/>{"".join(geoms)}</worldbody></mujoco>"""
    (tmp_path / "scene.xml").write_text(model)
    program = Path(__file__).with_name("mujoco_depths.py")
    command = [
        sys.executable,
        program,
        tmp_path / "scene.xml",
        "160",
        "120",
        tmp_path / "depths.npy",
    ]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT
    )
    if done.returncode:
        pytest.skip(f"MuJoCo cannot draw here: {done.stderr.strip().splitlines()[-1:]}")
    theirs = np.load(tmp_path / "depths.npy")
    ours = pictures(device, shapes, root)[0].depth
    both = np.stack([theirs, np.where(np.isinf(ours), 100.0, ours)])
    windows = np.lib.stride_tricks.sliding_window_view(both, (3, 3), axis=(1, 2))
    spread = (windows.max(axis=(-2, -1)) / windows.min(axis=(-2, -1))).max(axis=0)
    inner = np.zeros(ours.shape, dtype=bool)
    inner[1:-1, 1:-1] = (
        (spread < 1.06) & np.isfinite(ours[1:-1, 1:-1]) & (ours[1:-1, 1:-1] < 20)
    )
    assert inner.mean() > 0.4
    assert np.abs(theirs / ours - 1)[inner].max() < 1e-3


def test_left_is_left_and_up_is_up():
    """A camera that looks along +x of the world, head up: what is at +y is on its left, and the second row is below the first."""
    root = np.tile(np.array([0, 0, 1.0, *LEVEL]), (2, 1))
    red = placed(bm.shapes.Box((0.2, 0.2, 0.2)), 3, 0.8, 1.0, diffuse=(1, 0, 0))
    blue = placed(bm.shapes.Box((0.2, 0.2, 0.2)), 3, 0, 1.8, diffuse=(0, 0, 1))
    color = pictures(camera(), [red, blue], root)[0].color
    reds, blues = (color[..., k] > 100 for k in (0, 2))
    rows, columns = np.nonzero(reds)
    assert columns.max() < 15 and abs(rows.mean() - 14.5) < 1
    rows, columns = np.nonzero(blues)
    assert rows.max() < 10 and abs(columns.mean() - 19.5) < 1


def test_the_body_sees_itself():
    """A hand before the camera; its own housing around it, whose walls are seen from outside alone."""
    hand = bm.Link(
        name="HAND",
        index=1,
        parent=0,
        joint=bm.Joint(type="rotate", id=0, axis=(0, 1, 0)),
        offset=np.array([0, 0, -1.0, 1, 0, 0, 0]),
        segments=(
            bm.Segment(mass=1.0, visuals=(placed(bm.shapes.Box((0.2, 0.2, 0.2))),)),
        ),
    )
    housing = placed(bm.shapes.Sphere(0.3))
    visor = placed(bm.shapes.Box((1.0, 1.0, 0.002)), 0, 0, -0.04)
    head = bm.Link(
        name="BASE",
        joint=bm.Joint(type="free"),
        segments=(bm.Segment(mass=1.0, visuals=(housing, visor)),),
    )
    device = camera(front_clip_distance=0.05)
    body = bm.Body(links=(head, hand), devices=(device,))
    q = np.array([[0.0], [0.0]])
    motion = bm.Motion.from_joints(
        q, 10.0, root=np.tile([5.0, 0, 2, 1, 0, 0, 0], (2, 1))
    )
    wall = placed(bm.shapes.Box((50, 50, 1)), 5, 0, -1.5)
    found = bm.dynamics.measure(body, motion).read("EYE", [wall])
    depth = found[0].depth
    np.testing.assert_allclose(np.unique(depth.round(9)), [0.9, 3.0])
    near = replace_front(device, 0.01)
    blocked = bm.dynamics.measure(
        bm.Body(links=(head, hand), devices=(near,)), motion
    ).read("EYE", [wall])
    np.testing.assert_allclose(np.unique(blocked[0].depth.round(9)), [0.039])


def replace_front(
    device: bm.model.VisionSensor, distance: float
) -> bm.model.VisionSensor:
    return camera(front_clip_distance=distance, name=device.name)


def test_one_sided_and_two_sided_faces():
    square = np.array([[-9, -9, -2], [9, -9, -2], [9, 9, -2], [-9, 9, -2.0]])
    ccw, cw = np.array([[0, 1, 2], [0, 2, 3]]), np.array([[0, 2, 1], [0, 3, 2]])
    device = camera(width=4, height=3)
    assert (pictures(device, [bm.shapes.Mesh(square, ccw)])[0].depth == 2).all()
    assert np.isinf(pictures(device, [bm.shapes.Mesh(square, cw)])[0].depth).all()
    both = pictures(device, [bm.shapes.Mesh(square, cw, two_sided=True)])[0]
    assert (both.depth == 2).all()
    assert (
        both.color == pictures(device, [bm.shapes.Mesh(square, ccw)])[0].color
    ).all()


def test_no_gaps_between_triangles():
    """A flat of many triangles, with corners and edges exactly on pixels' rays, from many sides; and reaching behind the camera."""
    side = np.linspace(-8.0, 8.0, 33)
    x, y = (values.ravel() for values in np.meshgrid(side, side, indexing="ij"))
    corner = (33 * np.arange(32)[:, None] + np.arange(32)).ravel()
    faces = np.concatenate(
        [
            np.stack([corner, corner + 33, corner + 1], axis=1),
            np.stack([corner + 1, corner + 33, corner + 34], axis=1),
        ]
    )
    flat = bm.shapes.Mesh(np.stack([x, y, 0 * x], axis=1), faces)
    rng = np.random.default_rng(0)
    device = camera(
        width=32, height=32, field_of_view=np.pi / 2, front_clip_distance=1e-3
    )
    turns = [
        rotations.from_axis_angle(rng.normal(size=3), angle)
        for angle in np.linspace(0, 0.7, 20)
    ]
    root = np.stack([poses.from_parts([0, 0, 0.5], turn) for turn in turns])
    found = pictures(device, [flat], root)
    for picture, turn in zip(found.at(np.arange(20) / 10.0), turns, strict=True):
        rays = rotations.rotate(turn, pixel_rays(device))
        with np.errstate(divide="ignore"):
            expected = -0.5 / rays[..., 2]
        hit = np.abs(expected[..., None] * rays[..., :2]).max(axis=-1) < 7.99
        hit &= expected > 0
        assert hit.sum() > 500
        np.testing.assert_allclose(picture.depth[hit], expected[hit], rtol=1e-9)


def test_light():
    """A wall straight ahead: 0.7 of its colour from the camera's light, 0.5 · ambientIntensity from all sides, and what it emits."""
    root = np.tile(np.array([0, 0, 1.0, *LEVEL]), (2, 1))
    look = {
        "diffuse": (0.5, 0.25, 1.0),
        "ambient_intensity": 0.4,
        "emissive": (0.1, 0.0, 0.3),
    }
    color = pictures(camera(), [placed(bm.shapes.Box((1, 90, 90)), 5.5, **look)], root)[
        0
    ].color
    assert (
        color
        == np.rint(
            255 * np.minimum(0.9 * np.array([0.5, 0.25, 1.0]) + [0.1, 0, 0.3], 1)
        )
    ).all()
    down = pictures(
        camera(field_of_view=0.01),
        [placed(bm.shapes.Box((90, 90, 1)), 0, 0, -1.5, **look)],
    )[0].color
    assert (
        down
        == np.rint(
            255 * np.minimum(1.3 * np.array([0.5, 0.25, 1.0]) + [0.1, 0, 0.3], 1)
        )
    ).all()
    shiny = placed(
        bm.shapes.Sphere(1.0),
        5,
        0,
        1,
        diffuse=(0, 0, 0),
        specular=(1, 1, 1),
        shininess=0.5,
    )
    glints = pictures(camera(width=99, height=99), [shiny], root)[0].color
    assert glints.max() > 170
    assert (glints > 5).all(axis=-1).sum() < 0.1 * 99 * 99


def test_colours_of_corners_and_images(tmp_path):
    square = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1.0]])
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    device = camera(width=20, height=20, field_of_view=np.pi / 2)
    lit = 0.7 + 0.4 + 0.5 * 0.2
    reds = Corners([[0.5, 0, 0], [0, 0.5, 0], [0, 0.5, 0], [0.5, 0, 0]], faces)
    painted = pictures(device, [bm.shapes.Mesh(square, faces, colors=reds)])[0].color
    across = (np.arange(20) + 0.5) / 20
    np.testing.assert_allclose(
        painted[7, :, 0], 255 * lit * 0.5 * (1 - across), atol=0.6
    )
    np.testing.assert_allclose(painted[7, :, 1], 255 * lit * 0.5 * across, atol=0.6)

    pixels = np.array(
        [[[200, 0, 0], [0, 200, 0]], [[0, 0, 200], [100, 100, 100]]], dtype=np.uint8
    )
    Image.fromarray(pixels).save(tmp_path / "four.png")
    Image.fromarray(pixels[..., 0]).save(tmp_path / "grey.png")
    places = Corners([[0, 0], [1, 0], [1, 1], [0, 1.0]], faces)
    mesh = bm.shapes.Mesh(square, faces, texture_coordinates=places)

    def shown(name: str, **more) -> np.ndarray:
        texture = bm.shapes.Texture(tmp_path / name, name, **more)
        material = bm.shapes.Material(diffuse=(0.5, 0.25, 0), texture=texture)
        return pictures(device, [bm.shapes.Shape(mesh, material=material)])[0].color[
            [[4], [14]], [4, 14]
        ]

    bright = np.minimum(np.rint(lit * pixels), 255)
    np.testing.assert_allclose(shown("four.png"), bright, atol=1)
    tint = np.rint(lit * pixels[..., :1] * np.array([0.5, 0.25, 0]))
    np.testing.assert_allclose(shown("grey.png"), tint, atol=1)
    moved = np.array([[1, 0, 0.5], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(
        shown("four.png", transform=moved), bright[:, ::-1], atol=1
    )
    held = shown("four.png", transform=moved, repeat_s=False)
    np.testing.assert_allclose(held, bright[:, [1, 1]], atol=1)
    (tmp_path / "broken.png").write_bytes(b"\x89PNG but not for long")
    plain = np.rint(255 * np.minimum(lit * np.array([0.5, 0.25, 0]), 1))
    assert (shown("broken.png") == plain).all()
    assert (shown("nowhere.png") == plain).all()


def test_glass_is_not_seen():
    wall = placed(bm.shapes.Box((9, 9, 1)), 0, 0, -3)
    clear, milky = (
        placed(bm.shapes.Box((9, 9, 0.1)), 0, 0, -1, transparency=share)
        for share in (0.6, 0.4)
    )
    assert pictures(camera(), [wall, clear])[0].depth[15, 20] == pytest.approx(2.5)
    assert pictures(camera(), [wall, milky])[0].depth[15, 20] == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("kind", "color", "depth"),
    [
        ("COLOR", True, False),
        ("DEPTH", False, True),
        ("COLOR_DEPTH", True, True),
        ("NONE", False, False),
        ("MONO", True, False),
        ("POINT_CLOUD", False, True),
        ("COLOR_POINT_CLOUD", True, True),
    ],
)
def test_types_give_what_they_say(kind, color, depth):
    ball = placed(bm.shapes.Sphere(0.5), 0, 0, -2, diffuse=(1, 0, 0))
    found = pictures(camera(type=kind), [ball])
    one = found[0]
    assert ((one.color is not None), (one.depth is not None)) == (color, depth)
    assert ((found.color is not None), (found.depth is not None)) == (color, depth)
    if color:
        assert one.color.dtype == np.uint8 and found.color.shape == (
            len(found),
            30,
            40,
            3,
        )
        middle = one.color[15, 20].astype(int)
        assert (np.ptp(middle) == 0) == (kind == "MONO")
    if depth:
        assert one.depth.dtype == np.float64 and found.depth.shape == (
            len(found),
            30,
            40,
        )


def test_a_drive_towards_a_wall():
    """At its own frame rate, wherever the motion's frames are; one by one, in slices and all together the pictures are the same."""
    root = np.array([[x, 0, 1.0, *LEVEL] for x in 2 * np.arange(51) / 25])
    found = pictures(
        camera(frame_rate=10.0),
        [placed(bm.shapes.Box((1, 40, 40)), 10.5)],
        root,
        rate=25.0,
    )
    np.testing.assert_allclose(found.times, np.arange(21) / 10)
    assert found.depth.shape == (21, 30, 40)
    np.testing.assert_allclose(
        found.depth,
        np.broadcast_to(10 - 2 * found.times[:, None, None], found.depth.shape),
    )
    for k, picture in enumerate(found):
        assert picture.time == found.times[k]
        np.testing.assert_array_equal(picture.depth, found.depth[k])
        np.testing.assert_array_equal(picture.color, found.color[k])
    np.testing.assert_array_equal(found[5:9].depth, found.depth[5:9])
    np.testing.assert_array_equal(found[-1].depth, found.depth[20])
    np.testing.assert_allclose(found.at([0.33])[0].depth, 10 - 0.66)
    with pytest.raises(IndexError):
        found[21]
    with pytest.raises(ValueError, match="read-only"):
        found[0].depth[0, 0] = 1


def test_all_at_once_needs_room(monkeypatch):
    root = np.tile(poses.IDENTITY, (1001, 1))
    found = pictures(
        camera(width=320, height=240), [placed(bm.shapes.Sphere(0.5), 0, 0, -2)], root
    )
    monkeypatch.setattr(
        "bodymotion.geometry.arrays.available_memory", lambda: 200 * 2**20
    )
    with pytest.raises(MemoryError, match="3001 frames of 'EYE'"):
        _ = found.depth
    assert next(iter(found)).depth.min() < 1.6


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"width": 0}, "0 × 30 pixels"),
        ({"field_of_view": 3.2}, "field of view of 3.2"),
        ({"field_of_view": np.nan}, "field of view"),
        ({"front_clip_distance": 0.0}, "got 0 and 100 m"),
        ({"back_clip_distance": 0.005}, "clip distances"),
        ({"link": 4}, "on link 4; the body has 1"),
        ({"frame_rate": 1e12}, "frameRate of 1e"),
    ],
)
def test_no_picture_can_be_taken(fields, words):
    with pytest.raises(ValueError, match=words):
        pictures(camera(**fields))


def test_odd_shapes_do_no_harm():
    broken = bm.shapes.Mesh(
        np.array([[0, 0, np.nan], [1, 0, -1], [0, 1, -1]]), np.array([[0, 1, 2]])
    )
    huge = bm.shapes.Mesh(
        1e300 * np.array([[-1, -1, -1], [1, -1, -1], [0, 1, -1.0]]),
        np.array([[0, 1, 2]]),
    )
    flat = bm.shapes.Mesh(
        np.array([[0, 0, -1], [1, 0, -1], [2, 0, -1.0]]), np.array([[0, 1, 2]])
    )
    none = bm.shapes.Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=int))
    points = bm.shapes.Shape(bm.shapes.Points(np.array([[0, 0, -1.0]])))
    found = pictures(camera(), [broken, huge, flat, none, points])[0]
    assert np.isinf(found.depth).all() and not found.color.any()


@pytest.mark.parametrize("name", ["SR1.wrl", "HRP4Cmain.wrl", "tank.wrl", "PA10.wrl"])
def test_real_robots_in_the_rays_of_trimesh(corpus, name):
    """From three metres away, at pixels by chance; trimesh's rays go on through faces that are seen from behind."""
    body = bm.load(next(iter(sorted(corpus.rglob(name)))))
    away = rotations.multiply(rotations.from_axis_angle([0, 0, 1], 0.5), LEVEL)
    device = camera(
        width=160,
        height=120,
        pose=poses.from_parts(rotations.rotate(away, [0, 0, 3.0]), away),
    )
    body = replace(body, devices=(device,))
    q = np.random.default_rng(3).uniform(-0.3, 0.3, body.num_joints)
    motion = bm.Motion.from_joints(
        np.tile(q, (2, 1)), 10.0, root=np.tile([0.1, 0.2, 0.7, 1, 0, 0, 0], (2, 1))
    )
    measures = bm.dynamics.measure(body, motion)
    depth = measures.read(device)[0].depth
    eye = poses.compose(measures.link_poses[0, 0], device.pose)
    placed_links = poses.compose(poses.inverse(eye), measures.link_poses[0])
    shapes = [
        shape.moved(poses.to_matrix(placed_links[link.index]))
        for link in body.links
        for shape in link.visuals
        if not isinstance(shape.geometry, (bm.shapes.Lines, bm.shapes.Points))
        and shape.material.transparency <= 0.5
    ]
    meshes = [shape.to_mesh() for shape in shapes]
    vertices = np.concatenate(
        [mesh.vertices[mesh.faces].reshape(-1, 3) for mesh in meshes]
    )
    both = np.concatenate([np.full(len(mesh.faces), mesh.two_sided) for mesh in meshes])
    whole = trimesh.Trimesh(
        vertices, np.arange(len(vertices)).reshape(-1, 3), process=False
    )
    rng = np.random.default_rng(0)
    near = np.argwhere(np.isfinite(depth))
    chosen = np.concatenate(
        [near[rng.integers(0, len(near), 150)], rng.integers(0, depth.shape, (150, 2))]
    )
    rays = pixel_rays(device)[chosen[:, 0], chosen[:, 1]]
    intersector = trimesh.ray.ray_triangle.RayMeshIntersector(whole)
    hits, index, face = intersector.intersects_location(
        np.zeros_like(rays), rays, multiple_hits=True
    )
    corner = whole.triangles[face]
    normals = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    seen = both[face] | (np.sum(normals * rays[index], axis=1) < 0)
    expected = np.full(len(rays), np.inf)
    np.minimum.at(expected, index[seen], -hits[seen, 2])
    found = depth[chosen[:, 0], chosen[:, 1]]
    nothing = np.isinf(found) & np.isinf(expected)
    apart = np.abs(np.where(nothing, 0.0, found) - np.where(nothing, 0.0, expected))
    assert np.isfinite(found).sum() >= 150
    # A ray along an edge, or almost along a face, may go by on either side.
    assert np.mean(apart < 1e-7) > 0.99


def test_the_camera_of_the_example(examples):
    """On its walk it sees the floor before its feet, no part of its own head, and the wall ahead come nearer."""
    body, motion = bm.load(examples / "biped.wrl"), bm.load(examples / "biped_walk.seq")
    measures = bm.dynamics.measure(body, motion)
    scenery = [
        placed(bm.shapes.Box((40, 40, 1)), 0, 0, -0.5),
        placed(bm.shapes.Box((1, 40, 40)), 6.5),
    ]
    found = measures.read("HEAD_CAMERA", scenery)
    few = found.at([found.times[0], found.times[-1]])
    assert found.device.width == 640 and found.times[1] - found.times[
        0
    ] == pytest.approx(1 / 30)
    first, last = few.depth
    assert np.isfinite(few.depth).all() and few.depth.min() > 1
    for depth, link_poses in (
        (first, measures.link_poses[0]),
        (last, measures.link_poses[-1]),
    ):
        eye = poses.compose(link_poses[found.device.link], found.device.pose)
        ray = rotations.rotate(eye[3:], pixel_rays(found.device)[200, 320])
        assert depth[200, 320] == pytest.approx((6.0 - eye[0]) / ray[0], rel=1e-9)
    assert not any(
        isinstance(reading, bm.dynamics.CameraFrames)
        for reading in measures.read_all(scenery)
    )
