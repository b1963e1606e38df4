"""What commands suggest for wrong names, and that small values keep their digits."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.cli.check import _Fixer, check_file
from bodymotion.diagnostics.spelling import choices


def invoke(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)), terminal_width=200)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("trim", "edit --trim"),
        ("mirror", "edit --mirror"),
        ("fix", "check --fix"),
        ("mesure", "'measure'"),
        ("body", ""),
    ],
)
def test_unknown_commands(word, meant):
    result = invoke(word, "walk.seq")
    assert result.exit_code == 2 and (
        meant in result.stderr if meant else "mean" not in result.stderr
    )


def test_unknown_names(examples, tmp_path):
    model, motion = examples / "biped.wrl", examples / "biped_walk.seq"
    for wrong in (
        ("plot", model, motion, "--joints", "LKNEE", "-o", tmp_path / "a.png"),
        ("measure", model, motion, "--feet", "L_KNE"),
        ("convert", model, tmp_path / "a.urdf", "--root", "l.knee"),
    ):
        result = invoke(*wrong)
        assert (
            result.exit_code == 2
            and "did you mean 'L_KNEE'?" in result.stderr
            and "R_WRIST" not in result.stderr
        )
    assert choices("TAIL", [f"J{k}" for k in range(44)]).count("J") == 8
    result = invoke("edit", motion, tmp_path / "b.seq", "--mirror")
    assert (
        result.exit_code == 1
        and "--body" in result.stderr
        and not (tmp_path / "b.seq").exists()
    )


def test_small_lengths_keep_their_digits(tmp_path):
    ball = bm.Segment(
        mass=1, inertia=np.eye(3), visuals=(bm.shapes.Shape(bm.shapes.Sphere(0.1)),)
    )
    top = bm.Link(name="a", joint=bm.Joint(name="a", type="free"), segments=(ball,))
    body = bm.Body(
        name="r",
        links=(
            top,
            bm.Link(
                name="b",
                index=1,
                parent=0,
                joint=bm.Joint(name="b", type="rotate", id=0),
            ),
        ),
    )
    root = np.tile([0.0, 0, 0.1, 1, 0, 0, 0], (5, 1))
    root[:, 0] = np.linspace(0, 1.088e-4, 5)
    bm.save(body, tmp_path / "r.wrl")
    bm.save(bm.Motion.from_joints(np.zeros((5, 1)), 100, root=root), tmp_path / "r.seq")
    (row,) = [
        line
        for line in invoke(
            "measure", tmp_path / "r.wrl", tmp_path / "r.seq"
        ).stdout.splitlines()
        if "Path of" in line
    ]
    assert row.split()[-2:] == ["0.1088", "mm"]


def test_spot_with_and_without_arm(examples):
    wave, trot = (
        bm.load_animation(examples / name).play(frame_rate=100)
        for name in ("wave.cha", "trot.cha")
    )
    with pytest.raises(ValueError, match="arm=True"):
        bm.editing.join(wave, trot)


def test_a_program_is_no_motion(tmp_path):
    (tmp_path / "make.py").write_text(
        '"""Writes a .seq."""\nSEQ = "type: CompositeSeq"\n'
    )
    (problem,) = bm.check(tmp_path / "make.py").problems
    assert problem.rule == "FMT001"


def test_a_closed_pipe_ends_the_fixes(tmp_path, monkeypatch):
    """The reader of a diff has gone: that is no fault of the file, and ends the command."""
    path = tmp_path / "walk.seq"
    path.write_text(
        "type: CompositeSeq\nframeRate: 10\ncontent: BodyMotion\ncomponents: []\n"
    )
    found = check_file(path)

    def gone(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("bodymotion.cli.check.show_diff", gone)
    with pytest.raises(BrokenPipeError):
        _Fixer({"reading": {}}, None, write=True).fix(found, None)
    assert check_file(path).problems == found.problems
