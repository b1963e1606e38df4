"""What is written is never one of the files that are read, whatever its name."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.diagnostics import WrongUseError
from bodymotion.scene.loading import load_inputs
from bodymotion.system.files import check_not_read

MODEL = bm.Body(name="still", links=(bm.Link(name="BASE"),))


def linked(kind, file):
    """Return another name of the file: one that goes another way, or that of a link to it."""
    other = file.with_name(f"other{file.suffix}")
    if kind == "hard":
        os.link(file, other)
    elif kind == "symbolic":
        other.symlink_to(file.name)
    else:
        return file.parent / ".." / file.parent.name / file.name
    return other


@pytest.fixture
def files(tmp_path, examples):
    def made(model="biped.wrl", motion="biped_walk.seq"):
        shutil.copy(examples / "biped.wrl", tmp_path / model)
        shutil.copy(examples / "biped_walk.seq", tmp_path / motion)
        return tmp_path / model, tmp_path / motion

    return made


@pytest.mark.parametrize(
    ("verb", "option", "ending"),
    [
        ("view", "--html", ".html"),
        ("view", "--html", ".htm"),
        ("measure", "-o", ".csv"),
        ("measure", "-o", ".json"),
        ("measure", "-o", ".npz"),
        ("plot", "-o", ".png"),
        ("plot", "-o", ".html"),
        ("render", "-o", ".png"),
        ("render", "-o", ".mp4"),
        ("report", "-o", ".html"),
    ],
)
def test_no_command_writes_over_what_it_reads(files, verb, option, ending):
    for model, motion in (files(model=f"a{ending}"), files(motion=f"b{ending}")):
        output = model if model.suffix == ending else motion
        before = output.read_bytes()
        result = CliRunner().invoke(
            app, [verb, str(model), str(motion), option, str(output)]
        )
        assert result.exit_code == 2, result.output
        assert "is also read" in result.stderr
        assert output.read_bytes() == before


@pytest.mark.parametrize("verb", ["balance", "ik", "simulate", "edit"])
def test_an_output_that_cannot_be_written_is_found_before_anything_is_read(
    tmp_path, verb
):
    """The model is no model: the error would be another one."""
    model, motion = tmp_path / "a.wrl", tmp_path / "b.seq"
    model.write_text("none")
    motion.write_text("none")
    for output, exit_code in ((tmp_path / "none" / "c.seq", 1), (model, 2)):
        files = {
            "edit": [motion, output, "--reverse", "--body", model],
            "ik": [model, "-o", output],
        }
        arguments = files.get(verb, [model, motion, "-o", output])
        result = CliRunner().invoke(app, [verb, *map(str, arguments)])
        assert result.exit_code == exit_code, result.output
        assert output.name in result.stderr and not (tmp_path / "none").exists()
    assert model.read_text() == "none"


@pytest.mark.parametrize("link", ["roundabout", "hard", "symbolic"])
def test_links_lead_to_the_same_file(tmp_path, link):
    (tmp_path / "read.csv").touch()
    with pytest.raises(WrongUseError):
        check_not_read(
            linked(link, tmp_path / "read.csv"),
            [tmp_path / "gone.wrl", tmp_path / "read.csv"],
        )
    check_not_read(tmp_path / "new.csv", [tmp_path / "read.csv"])


def test_nor_over_scenery(files, tmp_path, examples):
    room = shutil.copy(examples / "biped.wrl", tmp_path / "room.csv")
    given = ["measure", *map(str, files()), "--scenery", str(room), "-o", str(room)]
    assert CliRunner().invoke(app, given).exit_code == 2


def test_nor_does_the_library(files):
    model, motion = files(model="a.html")
    body, moves = bm.load(model), bm.load(motion)
    for given in ((model, motion), (body, moves)):
        with pytest.raises(WrongUseError, match=r"a\.html is also read"):
            bm.view(*given, output=model)
        with pytest.raises(WrongUseError, match=r"a\.html is also read"):
            bm.report(*given, output=model)
        with pytest.raises(WrongUseError, match=r"a\.html is also read"):
            bm.plot(*given, "joints", end=0.1).save(model)
    assert model.read_bytes().startswith(b"#VRML")


def test_a_part_of_a_model_is_read_too(tmp_path):
    texture, page = tmp_path / "texture.png", tmp_path / "page.png"
    texture.write_bytes(b"")
    body = replace(
        MODEL,
        source=replace(MODEL.source, path=tmp_path / "gone.wrl", parts=(texture,)),
    )
    with pytest.raises(WrongUseError):
        load_inputs(body, output=texture)
    assert load_inputs(body, output=page).body is body


def test_what_is_no_file_may_be_read_and_written():
    assert load_inputs(MODEL, output=os.devnull).body is MODEL
