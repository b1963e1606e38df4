"""Images on surfaces that cannot be shown."""

from __future__ import annotations

import io
import os
import struct
import zlib

import pytest
from PIL import Image

import bodymotion as bm

MODELS = {
    "robot.wrl": """#VRML V2.0 utf8
Shape {
  appearance Appearance {
    texture ImageTexture { url "PICTURE" }
  }
  geometry Box { }
}
""",
    "robot.body": """format: ChoreonoidBody
formatVersion: "2.0"
name: robot
links:
  - name: base
    jointType: fixed
    elements:
      - type: Shape
        appearance:
          texture:
            url: "PICTURE"
        geometry: { type: Box, size: [ 1, 1, 1 ] }
""",
}


def image(kind="PNG", size=(8, 8)):
    file = io.BytesIO()
    Image.new("RGB", size, (200, 30, 40)).save(file, kind)
    return file.getvalue()


def header_alone(width, height):
    """Return a PNG that says how large it is, and has no pixels."""
    part = b"IHDR" + struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + part
        + struct.pack(">I", zlib.crc32(part))
    )


def reported(folder, content, name="wood.png", model="robot.wrl"):
    (folder / model).write_text(MODELS[model].replace("PICTURE", name))
    if content is not None:
        (folder / name).write_bytes(content)
    return [
        problem
        for problem in bm.check(folder / model).problems
        if problem.rule == "BODY146"
    ]


BROKEN = {
    "a text": b"garbage",
    "nothing": b"",
    "a bomb": header_alone(60000, 60000),
    "a large one": header_alone(9000, 9000),
    "a header alone": header_alone(8, 8),
    "half of one": image()[:50],
    "half of a JPEG": image("JPEG", (64, 64))[:-200],
    "half of a BMP": image("BMP")[:120],
    "half of a TGA": image("TGA")[:60],
    "a wrong byte": image().replace(b"IDAT", b"IDaT"),
    "noise after the first bytes": b"\xff\xd8\xff\xe0" + bytes(range(256)),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_an_image_that_can_not_be_shown_is_reported_with_a_line(
    tmp_path, content, model
):
    (problem,) = reported(tmp_path, content, model=model)
    assert problem.severity == "warning"
    assert "wood.png" in problem.message
    assert problem.subject[0] == "textures" and problem.location.line is not None


@pytest.mark.parametrize(
    "kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "TGA", "SGI"]
)
def test_images_of_all_kinds_are_fine(tmp_path, kind):
    assert reported(tmp_path, image(kind), f"wood.{kind.lower()}") == []


def test_an_image_of_the_largest_size_is_fine_if_its_pixels_are_there(tmp_path):
    assert reported(tmp_path, image("PNG", (8192, 64))) == []


def test_to_load_a_model_opens_no_image(tmp_path):
    reported(tmp_path, b"garbage")
    assert not any(
        problem.rule == "BODY146"
        for problem in bm.load(tmp_path / "robot.wrl").problems
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_place_of_an_image_holds_nothing_up(tmp_path, monkeypatch):
    monkeypatch.setattr("bodymotion.system.files.PIPE_TIMEOUT", 0.1)
    os.mkfifo(tmp_path / "wood.png")
    reported(tmp_path, None)
