"""`bodymotion render`: what it writes, and what it says where it cannot."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from bodymotion.cli.app import app
from bodymotion.cli.render import CAMERAS
from bodymotion.rendering.settings import BACKGROUNDS
from bodymotion.scene.camera import PRESETS
from sample_files import missing


@pytest.fixture
def drawing():
    from bodymotion.rendering.vtk import NoRendererError, off_screen_window

    try:
        off_screen_window(16, 16).Finalize()
    except (ImportError, NoRendererError) as error:
        missing(str(error))


def render(*arguments: object):
    return CliRunner().invoke(app, ["render", *map(str, arguments)])


def test_the_command_names_what_there_is():
    assert set(CAMERAS) == set(PRESETS)
    assert set(BACKGROUNDS) == {"light", "dark", "transparent"}


@pytest.mark.usefixtures("drawing")
def test_stills_of_every_kind(tmp_path, examples):
    from PIL import Image

    files = examples / "biped.wrl", examples / "biped_walk.seq"
    for name, options, size in (
        ("a.png", ["--at", "2.5", "--camera", "side"], (200, 150)),
        ("b.jpg", ["--frame", "100,300", "--overlay", "none"], (200, 150)),
        (
            "c.webp",
            [
                "--strobe",
                "3",
                "--from",
                "1",
                "--to",
                "3",
                "--background",
                "transparent",
            ],
            (200, 150),
        ),
        (
            "d.png",
            [
                "--camera",
                "2,-1,1",
                "--look-at",
                "0,0,0.5",
                "--overlay",
                "title,time,frame",
            ],
            (200, 150),
        ),
    ):
        result = render(*files, "-o", tmp_path / name, "--size", "200x150", *options)
        assert result.exit_code == 0, result.output
        assert result.stderr == f"{tmp_path / name}: 200 × 150 pixels\n"
        with Image.open(tmp_path / name) as picture:
            assert picture.size == size
    assert (
        render(
            examples / "sway.cha",
            "-o",
            tmp_path / "e.png",
            "--sheet",
            "--size",
            "300x200",
            "--no-arm",
        ).exit_code
        == 0
    )


@pytest.mark.usefixtures("drawing")
def test_a_video_of_an_animation(tmp_path, examples):
    import av

    result = render(
        examples / "trot.cha",
        "-o",
        tmp_path / "a.mp4",
        "--size",
        "64x48",
        "--fps",
        "5",
        "--bpm",
        "120",
    )
    assert result.exit_code == 0, result.output
    with av.open(str(tmp_path / "a.mp4")) as container:
        count = sum(1 for _ in container.decode(video=0))
    assert count > 5
    assert f"a.mp4: {count} frames" in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "a.xyz"], "images are .png"),
        (["-o", "a.png", "--size", "12"], "2 numbers"),
        (["-o", "a.png", "--camera", "1,2"], "3 numbers"),
        (["-o", "a.png", "--camera", "above"], "unknown camera"),
        (["-o", "a.png", "--at", "soon"], "comma-separated numbers"),
        (["-o", "a.mp4", "--fps", "-1"], "greater than 0"),
        (["-o", "a.mp4", "--at", "1"], "is for images"),
        ([], "--output"),
    ],
)
def test_wrong_use_is_said_and_ends_with_2(examples, options, words):
    result = render(examples / "biped.wrl", examples / "biped_walk.seq", *options)
    assert result.exit_code == 2
    assert words in result.output


def test_a_broken_file_ends_with_1(tmp_path):
    broken = tmp_path / "broken.seq"
    broken.write_text("type: CompositeSeq\ncomponents: [", encoding="utf-8")
    result = render(broken, "-o", tmp_path / "a.png")
    assert (
        result.exit_code == 1
        and "broken.seq" in result.stderr
        and not (tmp_path / "a.png").exists()
    )
    assert result.stdout == ""
