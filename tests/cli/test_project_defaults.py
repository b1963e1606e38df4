"""Defaults of a project in bodymotion.toml or pyproject.toml, and the completion of the shell."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app

ROBOT = """<robot name="r"><link name="base"/><link name="arm"><visual><geometry>
<mesh filename="package://parts/{mesh}"/></geometry></visual></link>
<joint name="HIP" type="revolute"><parent link="base"/><child link="arm"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose folder `work` is the current one; the walk is beyond the limits of its robot."""
    (tmp_path / "models/parts").mkdir(parents=True)
    (tmp_path / "models/parts/arm.obj").write_text(TRIANGLE)
    (tmp_path / "robot.urdf").write_text(ROBOT.format(mesh="arm.obj"))
    (tmp_path / "work").mkdir()
    values = np.full((20, 1), 2.0)
    walk = bm.Motion.from_joints(
        values, 50, root=[0, 0, 1, 1, 0, 0, 0], joint_names=["HIP"]
    )
    bm.save(walk, tmp_path / "work/walk.seq")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def rules(*arguments):
    """Return the rules that `check` reports."""
    answer = json.loads(run("check", "walk.seq", "--json", *arguments).stdout)
    return {one["rule"] for one in answer["files"][0]["problems"]}


@pytest.mark.parametrize("name", ["bodymotion.toml", "pyproject.toml"])
def test_the_body_and_the_rules_of_a_project(project, name):
    assert "MOT204" not in rules()
    settings = project / name
    settings.write_text("[tool.bodymotion]\nbody = 'robot.urdf'\n")
    # Above its limit of 1 rad.
    assert "MOT204" in rules()
    settings.write_text("[tool.bodymotion]\nbody = 'robot.urdf'\nignore = ['MOT204']\n")
    assert "MOT204" not in rules()
    assert "MOT204" in rules("--ignore", "SEQ")
    settings.write_text("[tool.bodymotion]\nbody = 'robot.urdf'\nselect = 'MOT2'\n")
    assert {rule[:4] for rule in rules()} == {"MOT2"}


def test_the_nearest_table_counts(project):
    (project / "bodymotion.toml").write_text("[tool.bodymotion]\nbody = 'gone.urdf'\n")
    (project / "work/bodymotion.toml").write_text(
        "[tool.bodymotion]\nbody = '../robot.urdf'\n"
    )
    # A pyproject.toml without the table has no defaults.
    (project / "work/pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert "MOT204" in rules()


def test_paths_of_packages(project):
    before = bm.load_body(project / "robot.urdf")
    assert not before.links[1].visuals
    (project / "bodymotion.toml").write_text(
        "[tool.bodymotion]\npackage-path = ['models']\n"
    )
    result = run("convert", "../robot.urdf", "out.urdf")
    assert result.exit_code == 0, result.output
    assert bm.load_body("out.urdf").links[1].visuals
    # Files without packages are read as before.
    assert run("info", "walk.seq").exit_code == 0


def test_a_default_that_does_not_apply_is_no_finding(project, examples):
    (project / "bodymotion.toml").write_text("[tool.bodymotion]\nbody = 'robot.urdf'\n")
    wave = str(examples / "wave.cha")
    assert "--body" not in run("check", wave).stderr
    assert run("retime", wave, "slow.cha", "--speed", "0.5").exit_code == 0
    assert (
        run("retime", wave, "slow.cha", "--speed", "0.5", "--body", "x").exit_code == 2
    )


def test_many_files_have_the_defaults(project):
    (project / "bodymotion.toml").write_text("[tool.bodymotion]\nbody = 'robot.urdf'\n")
    run("check", ".", "--table", "found.jsonl", "--workers", "1")
    text = (project / "work/found.jsonl").read_text()
    assert "MOT204" in text


@pytest.mark.parametrize(
    "text",
    [
        *("bdy = 'r'", "body = 3", "ignore = 3", "select = [1]", "= broken"),
        "#" * (1 << 20),
    ],
    ids=lambda text: text[:20],
)
def test_a_faulty_table_is_wrong_use(project, text):
    (project / "bodymotion.toml").write_text(f"[tool.bodymotion]\n{text}\n")
    result = run("info", "walk.seq")
    assert result.exit_code == 2
    assert "bodymotion.toml" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes(shell, tmp_path):
    complete = {"COMP_WORDS": "bodymotion convert --strict-l", "COMP_CWORD": "2"}
    if shell == "fish":
        complete["COMP_CWORD"] = "--strict-l"
    program = "from bodymotion.cli.app import app; app(prog_name='bodymotion')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **complete, "_BODYMOTION_COMPLETE": f"{shell}_complete"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "--strict-losses" in done.stdout
