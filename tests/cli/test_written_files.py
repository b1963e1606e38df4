"""The line about a written file names what is written beside it."""

import re

import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A robot of one link with a tetrahedron, and a motion with a ZMP."""
    monkeypatch.chdir(tmp_path)
    corners = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
    mesh = bm.shapes.Mesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    segment = bm.Segment(mass=1.0, visuals=(bm.shapes.Shape(mesh),))
    bm.save(bm.Body(name="r", links=(bm.Link(name="a", segments=(segment,)),)), "m.wrl")
    bm.save(
        bm.Motion.from_joints([[0.0], [0.1]], 50, root=[0, 0, 1, 1, 0, 0, 0]), "w.seq"
    )
    return tmp_path


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize(
    "arguments", [("a.urdf",), ("a.xml",), ("a.urdf", "--mesh", "stl")]
)
def test_the_folder_of_meshes_is_named(model, arguments, repeated):
    """Also where the files exist already."""
    for _ in range(1 + repeated):
        result = CliRunner().invoke(app, ["convert", "m.wrl", *arguments])
        assert result.exit_code == 0, result.output
    (folder,) = (path for path in model.iterdir() if path.is_dir())
    line = result.stderr.splitlines()[-1]
    assert line.startswith(f"{arguments[0]}: written")
    assert f" {folder.name}/" in line
    count = int(re.search(r"(\d+) file", line)[1])
    assert count == len(list(folder.iterdir()))


def test_files_of_one_motion_are_named(model):
    result = CliRunner().invoke(app, ["convert", "w.seq", "w.pos"])
    beside = {path.name for path in model.glob("w.*")} - {"w.seq", "w.pos"}
    assert beside == set(re.findall(r"w\.(?!pos)\w+", result.stderr))


def test_one_file_alone_is_only_written(model):
    result = CliRunner().invoke(app, ["convert", "w.seq", "w.csv"])
    assert result.stderr.splitlines()[-1] == "w.csv: written"
