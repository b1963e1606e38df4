"""`bodymotion plot`."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app


@pytest.fixture
def run(examples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = [str(examples / "biped.wrl"), str(examples / "biped_walk.seq")]

    def run(*options: str, given: list[str] = files):
        return CliRunner().invoke(app, ["plot", *given, *options])

    return run


def test_pictures_and_pages_are_written(run, tmp_path):
    for name, start in (
        ("a.png", b"\x89PNG"),
        ("a.svg", b"<?xml"),
        ("a.pdf", b"%PDF"),
        ("a.html", b"<!DOCTYPE html>"),
    ):
        result = run("--what", "contacts", "-o", name, "--to", "1", "--dpi", "50")
        assert result.exit_code == 0, result.output
        assert (tmp_path / name).read_bytes().startswith(start)
        assert result.stderr == f"{name}: contacts\n"


def test_without_a_name_it_is_that_of_the_motion(run, tmp_path):
    assert (
        run("--what", "joints", "--joints", "*KNEE", "--size", "800x500").exit_code == 0
    )
    from PIL import Image

    assert Image.open(tmp_path / "biped_walk.png").size == (800, 500)


def test_what_there_is_is_listed(run, examples):
    assert run("--list").stdout.splitlines()[:3] == ["overview", "joints", "velocities"]
    assert run("--list", given=[str(examples / "biped_walk.seq")]).stdout.split() == [
        "overview",
        "links",
        "joints",
        "zmp",
    ]
    assert "contacts" in run("--list", given=[str(examples / "trot.cha")]).stdout


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--what", "nothing"), 2, "overview, joints"),
        (("-o", "a.gif"), 2, ".png, .svg, .pdf, .html"),
        (("--size", "big"), 2, "1600x900"),
        (("--size", "20"), 2, "inches"),
        (("--from", "3", "--to", "2"), 2, "before"),
        (("--from", "nan"), 2, "not a finite time"),
        (
            ("--what", "joints", "--joints", "TAIL"),
            2,
            "no joint matches 'TAIL'; expected one of R_HIP_YAW",
        ),
        (
            ("--what", "joints", "--from", "99"),
            2,
            "no frame from 99 s on; the motion is from 0 s to 10 s",
        ),
        (
            ("--what", "joints", "--to", "-1"),
            2,
            "no frame up to -1 s; the motion is from",
        ),
        (
            ("--what", "joints", "--from", "20", "--to", "30"),
            2,
            "no frame from 20 s to 30 s; the motion is from",
        ),
        (
            ("--what", "joints", "-o", "none/a.png"),
            1,
            "none/a.png: there is no folder none",
        ),
        (("--what", "joints", "-o", "."), 1, ".: is a folder"),
    ],
)
def test_what_is_wrong_is_said(run, options, code, said, tmp_path):
    result = run(*options)
    assert result.exit_code == code, result.output
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_model_alone_and_faults_of_files(run, examples, tmp_path):
    result = run(given=[str(examples / "biped.wrl")])
    assert result.exit_code == 2
    assert "needs a motion" in result.stderr
    (tmp_path / "bad.seq").write_text(
        "type: CompositeSeq\ncontent: BodyMotion\ncomponents: 3\n"
    )
    result = run(given=[str(tmp_path / "bad.seq")])
    assert result.exit_code == 1
    assert "bad.seq:" in result.stderr
    assert "YAML104" in result.stderr


def test_the_command_plots_what_the_library_plots(run, biped, walk, tmp_path):
    assert (
        run(
            "--what",
            "joints,torques",
            "--joints",
            "*KNEE*",
            "--dark",
            "--radians",
            "-o",
            "c.svg",
        ).exit_code
        == 0
    )
    bm.plot(
        biped, walk, ["joints", "torques"], joints="*KNEE*", dark=True, radians=True
    ).save(tmp_path / "l.svg")
    assert (tmp_path / "c.svg").read_bytes() == (tmp_path / "l.svg").read_bytes()
