"""What is sent to be drawn: GLB files read back by trimesh, outlines, curves, cameras."""

import io
import json
import re
import struct

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from small_robots import box, colored, placed

import bodymotion as bm
from bodymotion.diagnostics.text import html_text, node_name, shown
from bodymotion.formats.meshes.glb import to_glb
from bodymotion.geometry.shapes import Corners
from bodymotion.scene.scene import Curve, path_frames
from bodymotion.viewer.overlays import MAX_RAYS, device_labels, device_outline
from bodymotion.viewer.plot_panel import svg_of, ticks, with_unique_names
from bodymotion.viewer.scene_view import PRESETS, framing, from_viewpoint


def document(data: bytes) -> dict:
    magic, version, total = struct.unpack_from("<4sII", data)
    assert (magic, version, total) == (b"glTF", 2, len(data))
    length, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON" and length % 4 == 0
    return json.loads(data[20 : 20 + length])


def read_back(data: bytes) -> trimesh.Trimesh:
    return trimesh.load(io.BytesIO(data), file_type="glb", force="mesh", process=False)


def test_a_box_comes_back_where_it_was() -> None:
    mesh = read_back(to_glb([box((0.2, 0.4, 0.6), (1, 2, 3), colored(1, 0, 0))]))
    np.testing.assert_allclose(
        mesh.bounds, [[0.9, 1.8, 2.7], [1.1, 2.2, 3.3]], atol=1e-6
    )
    assert mesh.area == pytest.approx(2 * (0.2 * 0.4 + 0.4 * 0.6 + 0.2 * 0.6), rel=1e-5)
    assert mesh.volume == pytest.approx(0.2 * 0.4 * 0.6, rel=1e-5)


def test_shapes_of_one_material_are_one_draw_call() -> None:
    red, blue = colored(1, 0, 0), colored(0, 0, 1)
    shapes = [box((1, 1, 1), (x, 0, 0), red if x % 2 else blue) for x in range(10)]
    data = to_glb(shapes)
    assert len(document(data)["meshes"][0]["primitives"]) == 2
    assert len(document(to_glb(shapes, paint=red))["meshes"][0]["primitives"]) == 1
    assert read_back(data).volume == pytest.approx(10, rel=1e-5)


def test_a_mirrored_shape_still_faces_outwards() -> None:
    mirrored = bm.shapes.Shape(
        bm.shapes.Box((1, 1, 1)), np.diag([-1.0, 2.0, 1.0, 1.0]), colored(1, 1, 1)
    )
    assert read_back(to_glb([mirrored])).volume == pytest.approx(2, rel=1e-5)


def test_colours_go_from_the_screen_to_linear_light() -> None:
    data = to_glb(
        [
            box(
                (1, 1, 1),
                (0, 0, 0),
                colored(1.0, 0.5, 0.0, transparency=0.25, emissive=(0, 0, 1)),
            )
        ]
    )
    material = document(data)["materials"][0]
    np.testing.assert_allclose(
        material["pbrMetallicRoughness"]["baseColorFactor"],
        [1, 0.21404, 0, 0.75],
        atol=1e-4,
    )
    assert material["alphaMode"] == "BLEND" and material["emissiveFactor"] == [0, 0, 1]


def test_a_colour_for_each_face_is_kept() -> None:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]])
    colors = Corners(
        np.array([[1.0, 0, 0], [0, 0, 1.0]]), np.array([[0, 0, 0], [1, 1, 1]])
    )
    mesh = bm.shapes.Mesh(
        vertices, np.array([[0, 1, 2], [1, 3, 2]]), colors=colors, two_sided=True
    )
    data = to_glb([bm.shapes.Shape(mesh, placed(0, 0, 0))])
    assert document(data)["materials"][0]["doubleSided"] is True
    primitive = document(data)["meshes"][0]["primitives"][0]
    assert document(data)["accessors"][primitive["attributes"]["COLOR_0"]]["count"] == 6


def test_a_texture_is_embedded_with_its_origin_at_the_upper_left(tmp_path) -> None:
    Image.new("RGB", (4, 2), (200, 10, 10)).save(tmp_path / "a.bmp")
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    places = Corners(
        np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([[0, 1, 2]])
    )
    mesh = bm.shapes.Mesh(vertices, np.array([[0, 1, 2]]), texture_coordinates=places)
    material = bm.shapes.Material(
        texture=bm.shapes.Texture(path=tmp_path / "a.bmp", url="a.bmp", repeat_s=False)
    )
    data = to_glb([bm.shapes.Shape(mesh, material=material)])
    found = document(data)
    assert found["images"][0]["mimeType"] == "image/png"
    assert found["samplers"][0] == {"wrapS": 33071, "wrapT": 10497}
    accessor = found["accessors"][
        found["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"]
    ]
    start = (
        20
        + struct.unpack_from("<I", data, 12)[0]
        + 8
        + found["bufferViews"][accessor["bufferView"]]["byteOffset"]
    )
    uv = np.frombuffer(data, dtype="<f4", count=6, offset=start).reshape(3, 2)
    assert sorted(map(tuple, uv.tolist())) == [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)]


def test_a_broken_texture_costs_only_the_texture(tmp_path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nnonsense")
    places = Corners(np.zeros((1, 2)), np.zeros((1, 3), dtype=int))
    mesh = bm.shapes.Mesh(
        np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]),
        np.array([[0, 1, 2]]),
        texture_coordinates=places,
    )
    material = bm.shapes.Material(
        diffuse=(0, 1, 0),
        texture=bm.shapes.Texture(path=tmp_path / "a.png", url="a.png"),
    )
    found = document(to_glb([bm.shapes.Shape(mesh, material=material)]))
    assert "images" not in found
    assert found["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"] == [
        0,
        1,
        0,
        1,
    ]


def test_lines_and_points_are_drawn_and_nothing_is_no_file() -> None:
    lines = bm.shapes.Lines(
        np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0.0]]), np.array([[0, 1], [1, 2]])
    )
    points = bm.shapes.Points(np.zeros((5, 3)), np.ones((5, 3)))
    found = document(to_glb([bm.shapes.Shape(lines), bm.shapes.Shape(points)]))
    assert sorted(p["mode"] for p in found["meshes"][0]["primitives"]) == [0, 1]
    nothing = bm.shapes.Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    assert to_glb([bm.shapes.Shape(nothing)]) is None and to_glb([]) is None


def test_a_camera_s_frustum_opens_along_minus_z_by_its_field_of_view() -> None:
    camera = bm.model.VisionSensor(
        field_of_view=1.0, width=320, height=240, front_clip_distance=0.01
    )
    lines = device_outline(camera, 2.0)
    assert (lines[..., 2] <= 0).all()
    corners = lines[4:8].reshape(-1, 3)
    assert np.abs(corners[:, 1] / corners[:, 2]).max() == pytest.approx(np.tan(0.5))
    assert np.abs(corners[:, 0] / corners[:, 2]).max() == pytest.approx(
        np.tan(0.5) * 320 / 240
    )


wild = st.sampled_from([np.nan, np.inf, -np.inf, 5e-324, 0.0])


@given(st.floats(-1, 10) | wild, st.floats(-1, 10) | wild, st.floats(-1, 1e9) | wild)
def test_a_range_fan_lies_in_xz_within_its_angle(
    angle: float, step: float, far: float
) -> None:
    lines = device_outline(
        bm.model.RangeSensor(scan_angle=angle, scan_step=step, max_distance=far), 1.0
    )
    assert len(lines) <= MAX_RAYS + 32 and np.isfinite(lines).all()
    tips = lines[:, 1]
    np.testing.assert_array_equal(tips[:, 1], 0)
    turned = np.arctan2(tips[:, 0], -tips[:, 2])
    half = min(angle, 2 * np.pi) / 2 if angle > 0 else 0.0
    assert (np.abs(turned) <= half + 1e-9).all()
    assert np.linalg.norm(tips, axis=1).max() <= 0.6 + 1e-9


@given(
    st.floats(-1, 4) | wild,
    st.floats(-1, 5) | wild,
    st.floats(-1, 1e9) | wild,
    st.integers(-5, 2000),
)
def test_a_frustum_can_always_be_drawn(
    field: float, front: float, back: float, width: int
) -> None:
    camera = bm.model.VisionSensor(
        field_of_view=field,
        front_clip_distance=front,
        back_clip_distance=back,
        width=width,
    )
    lines = device_outline(camera, 1.0)
    assert np.isfinite(lines).all() and (lines[..., 2] <= 0).all()


def test_devices_at_one_place_have_one_name_tag() -> None:
    def device(name: str, link: int, x: float) -> bm.model.Gyro:
        return bm.model.Gyro(name=name, link=link, pose=(x, 0, 0, 1, 0, 0, 0))

    devices = [
        device("a", 0, 0),
        device("b", 1, 0),
        device("c", 0, 1e-4),
        device("", 0, 0),
        device("d", 0, 0.5),
    ]
    assert device_labels(devices, 0.01) == {0: "a, c", 1: "b", 4: "d"}


@given(st.integers(1, 5000))
def test_a_path_begins_and_ends_with_the_motion(count: int) -> None:
    frames = path_frames(count)
    assert frames[0] == 0 and frames[-1] == count - 1 and len(frames) <= 1500
    assert (np.diff(frames) > 0).all()


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_round_and_within(low: float, span: float) -> None:
    found = ticks(low, low + span)
    assert 2 <= len(found) <= 12 or low + span - low < span / 2
    tolerance = 1e-6 * span + 1e-9 * abs(low)
    assert all(low - tolerance <= tick <= low + span + tolerance for tick in found)


def test_a_drawn_curve_goes_through_its_values() -> None:
    times, values = np.linspace(0, 2, 5), np.array([0.0, 10.0, -10.0, 5.0, 0.0])
    text = svg_of(times, [Curve("a<b", "deg", values), Curve("s", "m", np.zeros(5))])
    assert "a<b" not in text and text.count("<polyline") == 2
    points = np.array(
        [
            [float(n) for n in pair.split(",")]
            for pair in re.findall(r'points="([^"]+)"', text)[0].split()
        ]
    )
    np.testing.assert_allclose(points[:, 0], [0, 250, 500, 750, 1000])
    heights = 1000 - points[:, 1]
    np.testing.assert_allclose(
        (heights - heights[0]) / (heights[1] - heights[0]), values / 10, atol=1e-3
    )
    assert svg_of(times, []) == ""


def test_curves_of_one_name_are_told_apart() -> None:
    values = np.zeros(2)
    assert list(
        with_unique_names(
            (
                Curve("a", "deg", values),
                Curve("a", "m", values),
                Curve("—", "m", values),
            )
        )
    ) == [
        "a",
        "a (2)",
        "— (2)",
    ]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_sees_the_whole_box(preset: str) -> None:
    bounds = np.array([[-0.2, -0.5, 0.0], [0.4, 0.3, 1.6]])
    view = framing(bounds, preset)
    forward = (view.look_at - view.position) / np.linalg.norm(
        view.look_at - view.position
    )
    corners = np.array(
        [
            [bounds[i, 0], bounds[j, 1], bounds[k, 2]]
            for i in (0, 1)
            for j in (0, 1)
            for k in (0, 1)
        ]
    )
    rays = corners - view.position
    angles = np.arccos(rays @ forward / np.linalg.norm(rays, axis=1))
    assert angles.max() <= view.field_of_view / 2


def test_a_viewpoint_looks_along_minus_z_with_y_up() -> None:
    half = np.sqrt(0.5)
    view = from_viewpoint(
        bm.model.Viewpoint(pose=(1, 2, 3, half, half, 0, 0)),
        [0, 0, 10, 1, 0, 0, 0],
        2.0,
    )
    np.testing.assert_allclose(view.position, [1, 2, 13])
    np.testing.assert_allclose(view.look_at, [1, 4, 13], atol=1e-12)
    np.testing.assert_allclose(view.up, [0, 0, 1], atol=1e-12)


@given(st.text(st.characters(codec=None), max_size=120), st.integers(2, 60))
def test_any_text_can_be_sent_and_is_shown_as_text(text: str, most: int) -> None:
    assert len(shown(text, most)) <= most
    sent = html_text(text)
    sent.encode("utf-8")
    assert "<" not in sent and '"' not in sent


@given(st.text(st.characters(codec=None), max_size=80), st.integers(0, 500))
def test_node_names_have_no_slash(name: str, index: int) -> None:
    made = node_name(index, name)
    assert "/" not in made and "<" not in made and made.startswith(str(index))
