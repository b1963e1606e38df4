"""A viewer of files that take long to load: it starts at once, and the robot comes mesh by mesh."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from small_robots import arm

import bodymotion as bm
from bodymotion.formats import resources
from bodymotion.formats.meshes import reading
from bodymotion.formats.meshes.stl import read_mesh_file, to_stl
from bodymotion.geometry.shapes import Mesh
from bodymotion.scene.loading import scenes_as_read
from bodymotion.scene.scene import Scene, make_scene
from bodymotion.viewer import Viewer, api, scene_view
from browser_pictures import BLUE, GREEN, RED, colored, picture
from waiting import TIMEOUT, until

COLORS = {"green": "0.1 0.8 0.1", "blue": "0.1 0.2 0.9"}


def write_meshes(folder: Path) -> None:
    """Cubes with an edge of 0.3 m; the second file is larger, so it is read later."""
    cube = bm.shapes.Shape(bm.shapes.Box((0.3, 0.3, 0.3))).to_mesh()
    for count, name in zip((1, 3), COLORS, strict=True):
        (folder / f"{name}.stl").write_bytes(
            to_stl(Mesh(cube.vertices, np.tile(cube.faces, (count, 1))))
        )


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    """A red box in the file, and above it a green and a blue link whose shapes are in mesh files."""
    write_meshes(tmp_path)
    links = "".join(
        f'<link name="{name}"><visual><geometry><mesh filename="{name}.stl"/></geometry>'
        f'<material name="{name}"><color rgba="{color} 1"/></material></visual></link>'
        f'<joint name="to_{name}" type="revolute"><parent link="{parent}"/><child link="{name}"/><origin xyz="0 0 0.5"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for (name, color), parent in zip(COLORS.items(), ("red", "green"), strict=True)
    )
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="tower"><link name="red"><visual><geometry><box size="0.3 0.3 0.3"/></geometry>'
        f'<material name="red"><color rgba="0.9 0.1 0.1 1"/></material></visual></link>{links}</robot>'
    )
    return path


@pytest.fixture
def mjcf(tmp_path: Path) -> Path:
    """Two bodies whose masses are those of their meshes, one of a file that is broken, and a mesh of the world."""
    write_meshes(tmp_path)
    (tmp_path / "broken.stl").write_bytes(b"solid broken")
    path = tmp_path / "robot.xml"
    path.write_text(
        '<mujoco><asset><mesh name="g" file="green.stl"/><mesh name="b" file="blue.stl"/><mesh name="x" file="broken.stl"/></asset>'
        '<worldbody><geom type="mesh" mesh="b"/><body name="one" pos="0 0 0.5"><joint name="j"/><geom type="mesh" mesh="g"/>'
        '<body name="two" pos="0 0 0.5">'
        '<joint name="k"/><geom type="mesh" mesh="b"/><geom type="mesh" mesh="x"/></body></body></worldbody></mujoco>'
    )
    return path


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """No mesh file is read in the first turn, and one in each other turn."""
    monkeypatch.setattr(resources, "PASS_BYTES", 0)


def num_triangles(scene: Scene) -> int:
    meshes = [
        shape.geometry
        for shapes in scene.shapes
        for shape in shapes
        if isinstance(shape.geometry, Mesh)
    ]
    return sum(len(mesh.faces) for mesh in meshes)


@pytest.mark.parametrize(
    ("model", "triangles"), [("urdf", 12 + 36), ("mjcf", 12 + 36 + 36)]
)
def test_a_scene_grows_by_its_meshes_until_it_is_that_of_the_whole_model(
    model: str, triangles: int, one_by_one: None, request: pytest.FixtureRequest
) -> None:
    path = request.getfixturevalue(model)
    scenes = list(scenes_as_read(path))
    assert [scene.num_unread for scene in scenes] == list(range(len(scenes)))[
        ::-1
    ] and len(scenes) > 2
    counts = [num_triangles(scene) for scene in scenes]
    assert (
        counts == sorted(counts)
        and counts[0] == 0 < counts[-2] < counts[-1] == triangles
    )
    # Links without their meshes are seen all the same, and nobody is told that files are missing.
    assert all(all(scene.shapes) and not scene.warnings for scene in scenes[:-1])
    whole = bm.load_body(path)
    assert scenes[-1].body == whole and scenes[-1].body.problems == whole.problems
    assert scenes[-1].warnings == make_scene(whole, None).warnings


def test_a_model_whose_meshes_are_small_is_read_once(urdf: Path) -> None:
    (scene,) = scenes_as_read(urdf)
    assert scene.body == bm.load_body(urdf)


def test_both_robots_of_two_motions_get_the_meshes(
    urdf: Path, one_by_one: None
) -> None:
    motion = bm.Motion.from_joints(np.zeros((5, 2)), frame_rate=10.0)
    *_, scene = scenes_as_read(urdf, motion, motion)
    assert (
        scene.compared is not None
        and scene.compared.body is scene.body
        and num_triangles(scene) == 48
    )


@pytest.mark.browser
def test_meshes_are_seen_as_they_are_read(
    urdf: Path,
    one_by_one: None,
    page,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    gates = {name: threading.Event() for name in COLORS}
    sent: list[int] = []

    def read_when_open(path: Path) -> Mesh:
        gates[path.stem].wait(TIMEOUT)
        return read_mesh_file(path)

    def counted(
        shapes: tuple[bm.shapes.Shape, ...], *rest: object, **more: object
    ) -> bytes | None:
        if not more:  # the ground is drawn with options of its own
            sent.extend(
                len(shape.geometry.faces)
                for shape in shapes
                if isinstance(shape.geometry, Mesh)
            )
        return to_glb(shapes, *rest, **more)

    to_glb = scene_view.to_glb
    monkeypatch.setattr(scene_view, "to_glb", counted)
    monkeypatch.setattr(reading, "read_mesh_file", read_when_open)
    started: list[Viewer] = []
    viewing = threading.Thread(
        target=lambda: started.append(
            bm.view(urdf, port=8950, open_browser=False, block=False)
        )
    )
    viewing.start()
    try:
        err: list[str] = []
        until(lambda: err.append(capsys.readouterr().err) or "http://" in "".join(err))
        page.set_viewport_size({"width": 700, "height": 330})
        page.goto("http://" + "".join(err).partition("http://")[2].split()[0])

        def seen() -> list[bool]:
            image = picture(page)
            return [len(colored(image, color)) > 150 for color in (RED, GREEN, BLUE)]

        until(lambda: seen() == [True, False, False])
        page.get_by_text("2 mesh files left").wait_for()
        gates["green"].set()
        until(lambda: seen() == [True, True, False])
        page.get_by_text("1 mesh file left").wait_for()
        gates["blue"].set()
        until(lambda: seen() == [True, True, True])
        viewing.join(TIMEOUT)
        page.get_by_text("mesh file").wait_for(state="detached")
        assert page.faults == []
    finally:
        for gate in gates.values():
            gate.set()
        viewing.join(TIMEOUT)
        for viewer in started:
            viewer.stop()
    assert sent == [12, 36]  # each mesh once


@pytest.mark.parametrize("fails", [False, True])
def test_a_viewer_starts_before_its_files_are_loaded(
    monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    monkeypatch.setattr(api, "TIME_TO_LOAD", 0.0)
    loaded, started = threading.Event(), []

    def load() -> Iterator[Scene]:
        loaded.wait()
        if fails:
            raise bm.FormatError(bm.Problem("X", "error", "broken"))
        yield make_scene(arm(), None)

    def start(scene: Scene) -> Viewer:
        started.append(Viewer(scene, port=8945, play=False))
        threading.Timer(0.1, loaded.set).start()
        return started[-1]

    if fails:
        with pytest.raises(bm.FormatError):
            api._started(load(), start, "arm.wrl")
        assert started[0]._stopped.is_set()
        return
    with api._started(load(), start, "arm.wrl") as viewer:
        assert (
            viewer is started[0]
            and viewer.scene.body.name == "arm"
            and not viewer.options.frames
        )
