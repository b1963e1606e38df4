"""The files beside the script are what the script makes, and small."""

from __future__ import annotations

import re

import numpy as np
import pytest

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")


@pytest.fixture(scope="module")
def made(make, tmp_path_factory):
    folders = [tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")]
    for folder in folders:
        make("make_examples").main(folder)
    return folders


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("biped.wrl", 200_000),
        ("biped_walk.seq", 600_000),
        ("wave.cha", 5_000),
        ("sway.cha", 20_000),
    ],
)
def test_the_files_are_what_the_script_makes(made, examples, name, limit):
    first, second = (folder / name for folder in made)
    assert first.read_bytes() == second.read_bytes()
    kept, again = (
        (examples / name).read_text(encoding="utf-8"),
        first.read_text(encoding="utf-8"),
    )
    assert len(kept) < limit
    if kept != again:  # another processor may round the last digit elsewhere
        assert NUMBER.sub("0", kept) == NUMBER.sub("0", again)
        values = [
            np.array([float(number) for number in NUMBER.findall(text)])
            for text in (kept, again)
        ]
        np.testing.assert_allclose(*values, rtol=0, atol=1e-9)


def test_the_model_is_text_of_the_language(examples):
    """Prototypes first, each with the fields of the document's tables; plain ASCII."""
    text = (examples / "biped.wrl").read_bytes().decode("ascii")
    assert text.startswith("#VRML V2.0 utf8\n")
    protos = re.findall(r"^PROTO (\w+)", text, re.MULTILINE)
    assert protos == [
        "Humanoid",
        "Joint",
        "Segment",
        "ExtraJoint",
        "AccelerationSensor",
        "Gyro",
        "ForceSensor",
        "VisionSensor",
        "RangeSensor",
    ]
    assert text.rindex("PROTO ") < text.index("DEF BIPED Humanoid")
    assert len(re.findall(r"\bUSE SHELL\b", text)) > 10


def test_every_reader_sees_numbers(examples):
    """By the rules of YAML 1.1 a float has a point, and a sign in its exponent; then no reader takes it for a word."""
    import yaml

    data = yaml.load(
        (examples / "biped_walk.seq").read_text(),
        Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader),
    )
    assert (data["type"], data["content"], data["formatVersion"]) == (
        "CompositeSeq",
        "BodyMotion",
        2,
    )
    assert [(c["type"], c["content"]) for c in data["components"]] == [
        ("MultiSE3Seq", "LinkPosition"),
        ("MultiValueSeq", "JointDisplacement"),
        ("Vector3Seq", "ZMP"),
    ]
    for component in data["components"]:
        assert (
            len(component["frames"])
            == component["numFrames"]
            == data["numFrames"]
            == 1001
        )
        rows = component["frames"]
        if component["type"] == "MultiSE3Seq":
            assert {len(row) for row in rows} == {component["numParts"]} == {1}
            rows = [pose for row in rows for pose in row]
        assert {type(value) for row in rows for value in row} == {float}
