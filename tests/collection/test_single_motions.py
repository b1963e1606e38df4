"""A folder, an episode or a motion in an archive where a command takes one motion; names of files for the results of many."""

import zipfile

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.collection import write_lerobot
from bodymotion.collection.opening import single_files
from bodymotion.diagnostics import WrongUseError

ROBOT = """<robot name="r"><link name="base"/><link name="arm"/>
<joint name="HIP" type="revolute"><parent link="base"/><child link="arm"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A robot, a data set of two episodes, a bag in a folder, an archive and a folder of two motions."""
    monkeypatch.chdir(tmp_path)
    values = np.linspace(0, 0.5, 20)[:, None]
    walk = bm.Motion.from_joints(values, 50.0, joint_names=["HIP"])
    (tmp_path / "robot.urdf").write_text(ROBOT)
    write_lerobot([walk, walk], tmp_path / "set")
    for name in ("bag/log.mcap", "two/a.seq", "two/b.seq"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        bm.save(walk, tmp_path / name)
    (tmp_path / "bag" / "metadata.yaml").write_text("rosbag2_bagfile_information: {}\n")
    with zipfile.ZipFile("walks.zip", "w") as archive:
        archive.write("two/a.seq", "a.seq")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


SINGLE = ("set/episode_000001", "bag", "walks.zip/a.seq", "walks.zip")


def test_an_episode_is_called_by_its_name(folder):
    result = run("info", "set/episode_000001")
    assert result.exit_code == 0, result.output
    assert "LeRobot" in result.stdout
    assert "Choreonoid" not in result.stdout
    assert '"format": "lerobot"' in run("info", "set/episode_000001", "--json").stdout


@pytest.mark.parametrize("motion", SINGLE)
def test_what_info_lists_is_shown(folder, motion):
    assert run("info", motion).exit_code == 0
    shown = run("view", "robot.urdf", motion, "--html", "page.html")
    assert shown.exit_code == 0, shown.output
    listed = run("plot", "robot.urdf", motion, "--list")
    assert listed.exit_code == 0 and "joints" in listed.stdout
    same = run("diff", motion, "two/a.seq", "--atol", "1e-6")
    assert same.exit_code in (0, 1), same.output


def test_several_motions_are_named(folder):
    with (
        pytest.raises(WrongUseError, match="2 motions"),
        single_files([folder / "two"]),
    ):
        pass
    result = run("view", "robot.urdf", "two", "--html", "page.html")
    assert result.exit_code == 2 and "2 motions" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("measure", "robot.urdf", "two", "-o", "x.parquet"),
        ("convert", "two", "x.csv"),
        ("convert", "two", "x.parquet", "--to", "lerobot"),
        ("render", "robot.urdf", "two", "-o", "x.mp4"),
    ],
)
def test_the_name_of_a_file_is_no_folder_for_many_results(folder, arguments):
    before = sorted(folder.rglob("*"))
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert "x/" in result.stderr
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("motion", SINGLE[:1] + SINGLE[2:3])
def test_the_result_of_one_motion_of_a_collection_is_a_file(folder, motion):
    result = run("convert", motion, "out.csv")
    assert result.exit_code == 0, result.output
    written = bm.load_motion("out.csv").joint_displacement.values
    assert np.allclose(written[-1], 0.5)
