"""`bodymotion info`: its answers against files whose contents are known, and the reference program's answers on real models."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bodymotion.cli.app import app

WALK = """\
# a walk of three frames
type: CompositeSeq
content: BodyMotion
formatVersion: 2
frameRate: 50
numFrames: 3
components:
  -
    type: MultiValueSeq
    content: JointDisplacement
    numParts: 2
    frames:
      - [0.5, -0.25]
      - [0.75, -1.5]
      - [0.25, 1.0e-05]
  -
    type: MultiSE3Seq
    content: LinkPosition
    numParts: 1
    SE3Format: XYZQWQXQYQZ
    frames:
      - [[0, 0, 1, 1, 0, 0, 0]]
      - [[1, 0, 1, 1, 0, 0, 0]]
      - [[3, 4, 1, 1, 0, 0, 0]]
  -
    type: Vector3Seq
    content: ZMP
    isRootRelative: true
    frames:
      - [0.0, 0.0, -1.0]
      - [0.1, 0.0, -1.0]
      - [0.2, -0.5, -1.0]
"""

STAMPED = """\
type: CompositeSeq
content: BodyMotion
formatVersion: 2
components:
  -
    type: MultiValueSeq
    content: JointEffort
    hasFrameTime: true
    numParts: 1
    frames:
      - [0.5, 1]
      - [0.75, 3]
      - [2.0, 2]
"""

HAND = """\
#VRML V2.0 utf8
PROTO Joint [
  exposedField SFVec3f translation 0 0 0
  exposedField SFRotation rotation 0 0 1 0
  exposedField MFFloat llimit []
  exposedField MFFloat ulimit []
  exposedField MFFloat lvlimit []
  exposedField MFFloat uvlimit []
  exposedField SFString jointType ""
  exposedField SFInt32 jointId -1
  exposedField SFVec3f jointAxis 0 0 1
  exposedField MFNode children []
] { Transform { translation IS translation rotation IS rotation children IS children } }
PROTO Segment [
  field SFVec3f centerOfMass 0 0 0
  field SFFloat mass 0
  field MFFloat momentsOfInertia [0 0 0 0 0 0 0 0 0]
  exposedField MFNode children []
] { Group { children IS children } }
PROTO Gyro [
  exposedField SFVec3f maxAngularVelocity -1 -1 -1
  exposedField SFVec3f translation 0 0 0
  exposedField SFRotation rotation 0 0 1 0
  exposedField SFInt32 sensorId -1
] { Transform { translation IS translation } }
PROTO Humanoid [
  field SFString name ""
  field SFString version "1.1"
  field MFString info []
  exposedField MFNode humanoidBody []
] { Group { children IS humanoidBody } }
DEF HAND Humanoid {
  name "HAND"
  info ["a hand" "with one finger"]
  humanoidBody [
    DEF PALM Joint {
      jointType "free"
      translation 0 0 1
      children [
        DEF PALM_BODY Segment {
          mass 3.0
          momentsOfInertia [1 0 0 0 1 0 0 0 1]
          children Shape { geometry Box { size 0.5 0.25 0.125 } }
        }
        DEF SPIN Gyro { sensorId 0 translation 0.5 0 0 }
        DEF FINGER Joint {
          jointType "rotate"
          jointId 0
          jointAxis 0 1 0
          translation 0 0 0.5
          llimit -1.5707963267948966
          ulimit 0.7853981633974483
          lvlimit -2
          uvlimit 2
          children DEF FINGER_BODY Segment { mass 1.0 centerOfMass 0 0 0.25 momentsOfInertia [1 0 0 0 1 0 0 0 1] }
        }
      ]
    }
  ]
}
"""


def run(*arguments: object):
    return CliRunner().invoke(app, ["info", *(str(argument) for argument in arguments)])


def data(*arguments: object):
    result = run("--json", *arguments)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def walk(tmp_path) -> Path:
    path = tmp_path / "walk.seq"
    path.write_text(WALK)
    return path


@pytest.fixture
def hand(tmp_path) -> Path:
    path = tmp_path / "hand.wrl"
    path.write_text(HAND)
    return path


def test_motion_as_data(walk):
    answer = data(walk)
    assert answer["file"] == str(walk)
    assert answer["size"] == len(WALK)
    assert (answer["kind"], answer["format"], answer["version"]) == (
        "motion",
        "seq",
        "2",
    )
    assert (answer["frame_rate"], answer["num_frames"], answer["duration"]) == (
        50,
        3,
        0.04,
    )
    assert answer["root_displacement"] == {
        "start": [0, 0, 1],
        "end": [3, 4, 1],
        "distance": 5,
    }
    joints, links, zmp = answer["components"]
    assert (joints["type"], joints["content"], joints["num_parts"]) == (
        "MultiValueSeq",
        "JointDisplacement",
        2,
    )
    assert joints["range"] == {"lower": -1.5, "upper": 0.75, "non_finite": 0}
    assert "parts" not in joints
    assert (links["type"], links["num_parts"]) == ("MultiSE3Seq", 1)
    assert links["range"] == {"lower": [0, 0, 1], "upper": [3, 4, 1], "non_finite": 0}
    assert zmp["is_root_relative"] is True
    assert zmp["range"] == {
        "lower": [0, -0.5, -1],
        "upper": [0.2, 0, -1],
        "non_finite": 0,
    }
    assert (
        zmp["frame_rate"],
        zmp["has_frame_time"],
        zmp["first_time"],
        zmp["last_time"],
    ) == (50, False, 0, 0.04)
    assert answer["problems"] == []


def test_values_of_each_joint(walk):
    joints, links, zmp = data("--values", walk)["components"]
    assert [(p["part"], p["lower"], p["upper"]) for p in joints["parts"]] == [
        (0, 0.25, 0.75),
        (1, -1.5, 1e-5),
    ]
    assert [(p["lower"], p["upper"]) for p in links["parts"]] == [
        ([0, 0, 1], [3, 4, 1])
    ]
    assert "parts" not in zmp


def test_motion_with_time_stamps(tmp_path):
    path = tmp_path / "stamped.seq"
    path.write_text(STAMPED)
    (efforts,) = data(path)["components"]
    assert (efforts["content"], efforts["frame_rate"], efforts["has_frame_time"]) == (
        "JointEffort",
        None,
        True,
    )
    assert (efforts["first_time"], efforts["last_time"], efforts["duration"]) == (
        0.5,
        2,
        1.5,
    )
    assert efforts["range"] == {"lower": 1, "upper": 3, "non_finite": 0}


def test_motion_for_people(walk):
    text = run("-v", walk).stdout
    (row,) = [
        line for line in text.splitlines() if line.startswith("  JointDisplacement")
    ]
    assert row.split() == [
        "JointDisplacement",
        "MultiValueSeq",
        "2",
        "3",
        "50",
        "0",
        "0.04",
        "-1.5",
        "0.75",
    ]
    assert "3 at 50 Hz" in text
    assert "in the root link's frame" in text
    assert "(0, 0, 1) → (3, 4, 1) m, 5 m apart" in text
    assert "-85.94" in text  # -1.5 rad


@pytest.mark.parametrize(
    "content", ["JointDisplacement", "LinkPosition", "ZMP", "Anything"]
)
@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("MultiValueSeq", "[.nan, 2]"),
        ("MultiSE3Seq", "[[1, .inf, 3, 1, 0, 0, 0]]"),
        ("Vector3Seq", "[1, 2, .nan]"),
    ],
)
def test_any_content_of_any_type(tmp_path, kind, content, row):
    path = tmp_path / "odd.seq"
    head = "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: 50\ncomponents:\n  -\n"
    path.write_text(
        f"{head}    type: {kind}\n    content: {content}\n    frames:\n      - {row}\n      - {row}\n"
    )
    (component,) = data("--values", path)["components"]
    assert (component["type"], component["content"], component["num_frames"]) == (
        kind,
        content,
        2,
    )
    assert component["range"]["non_finite"] == 2
    assert run("--values", path).exit_code == 0


def test_body_as_data(hand):
    answer = data(hand)
    assert (answer["kind"], answer["format"], answer["name"]) == (
        "body",
        "openhrp",
        "HAND",
    )
    assert (answer["num_links"], answer["num_joints"], answer["num_devices"]) == (
        2,
        1,
        1,
    )
    assert answer["mass"] == 4
    np.testing.assert_allclose(
        answer["center_of_mass"], [0, 0, (3 * 1 + 1 * 1.75) / 4], atol=1e-12
    )
    np.testing.assert_allclose(
        answer["bounding_box"]["lower"], [-0.25, -0.125, 1 - 0.0625], atol=1e-12
    )
    np.testing.assert_allclose(
        answer["bounding_box"]["upper"], [0.25, 0.125, 1 + 0.0625], atol=1e-12
    )
    assert answer["num_triangles"] == 12
    palm, finger = answer["links"]
    assert (palm["name"], palm["parent"], palm["joint"]["type"], palm["segments"]) == (
        "PALM",
        -1,
        "free",
        ["PALM_BODY"],
    )
    joint = finger["joint"]
    assert (finger["name"], finger["parent"], joint["id"], joint["axis"]) == (
        "FINGER",
        0,
        0,
        [0, 1, 0],
    )
    assert (joint["lower"], joint["upper"]) == (-1.5707963267948966, 0.7853981633974483)
    assert palm["joint"]["lower"] is None
    (gyro,) = answer["devices"]
    assert (gyro["kind"], gyro["name"], gyro["id"], gyro["link_name"]) == (
        "Gyro",
        "SPIN",
        0,
        "PALM",
    )
    np.testing.assert_allclose(gyro["pose"], [0.5, 0, 0, 1, 0, 0, 0], atol=1e-12)
    assert gyro["max_angular_velocity"] == [-1, -1, -1]


def test_body_for_people(hand):
    text = run(hand).stdout
    (row,) = [
        line for line in text.splitlines() if " FINGER " in line and "rotate" in line
    ]
    assert row.split() == [
        "1",
        "FINGER",
        "rotate",
        "0",
        "y",
        "-90…45",
        "-1.571…0.7854",
        "±2",
        "1",
    ]
    for words in (
        "4 kg",
        "a hand",
        "with one finger",
        "SPIN",
        "HAND: OpenHRP model",
        "0.5 × 0.25 × 0.125 m",
    ):
        assert words in text


def test_several_files_one_of_them_bad(hand, walk, tmp_path):
    bad = tmp_path / "bad.seq"
    bad.write_text(WALK.replace("[0.75, -1.5]", "[0.75, x1.5]"))
    result = run(hand, bad, tmp_path / "missing.wrl", walk)
    assert result.exit_code == 1
    assert "HAND: OpenHRP model" in result.stdout
    assert f"{walk}: " in result.stdout
    assert "bad.seq" not in result.stdout
    lines = result.stderr.splitlines()
    assert lines[0].startswith(f"{bad}:14:"), (
        "the first line names the file and the line"
    )
    assert "- [0.75, x1.5]" in lines[1]
    assert any(line.strip().endswith("^") for line in lines)
    assert any("missing.wrl" in line for line in lines)
    assert "Traceback" not in result.stderr


def test_json_of_several_files_has_one_object_for_each(hand, walk, tmp_path):
    (tmp_path / "bad.wrl").write_text("#VRML V2.0 utf8\nGroup { children [ }\n")
    result = run("--json", hand, tmp_path / "bad.wrl", walk)
    assert result.exit_code == 1
    body, bad, motion = json.loads(result.stdout)
    assert (body["kind"], bad["kind"], motion["kind"]) == (
        "body",
        "unreadable",
        "motion",
    )
    assert bad["num_errors"] == 1
    assert (bad["problems"][0]["line"], bad["problems"][0]["severity"]) == (2, "error")


def test_contents_do_not_drive_the_terminal(hand, walk, tmp_path):
    evil = tmp_path / "evil.wrl"
    evil.write_text(
        HAND.replace("a hand", "a \x1b]0;title\x07\x9b2J \u202e hand [bold]").replace(
            "DEF FINGER ", "DEF FIN\x9bGER "
        )
    )
    also = tmp_path / "evil.seq"
    also.write_text(
        WALK.replace("content: JointDisplacement", 'content: "\\e[2J\\x9b"')
    )
    for arguments in ([evil], [also], ["--json", evil], ["--json", also]):
        result = run(*arguments)
        for text in (result.stdout, result.stderr):
            assert not any(c in text for c in "\x1b\x07\x9b\u202e")
    assert "[bold]" in run(evil).stdout


@pytest.mark.parametrize(
    "name",
    [
        "with blank.seq",
        "[bold]x.seq",
        "回転.seq",
        "-v.seq",
        "new\nline.seq",
        "esc\x1b[31m.seq",
    ],
)
def test_odd_file_names(tmp_path, monkeypatch, name):
    (tmp_path / name).write_text(WALK)
    monkeypatch.chdir(tmp_path)
    assert data("--", name)["file"] == name
    text = run("--", name).stdout
    assert "\x1b" not in text
    assert len(text.splitlines()) == len(run("--", name).stdout.splitlines())


def test_a_byte_in_a_name_that_is_no_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "caf\udce9.seq"
    Path(name).write_text(WALK)
    result = run("--json", name)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["file"] == name


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 100, b"hello", b"\xff\xfe\x00", b"{}", b"[", b"#VRML V1.0 ascii\n"],
)
@pytest.mark.parametrize("extension", [".seq", ".wrl", ".json", ".txt"])
def test_whatever_is_in_a_file(tmp_path, content, extension):
    path = tmp_path / f"any{extension}"
    path.write_bytes(content)
    result = run(path)
    assert result.exit_code in (0, 1)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert bool(result.stderr) == (result.exit_code == 1)


@pytest.mark.parametrize("path", [".", "/dev/null", "nothing/here.seq"])
def test_what_is_no_file(path):
    result = run(path)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) >= 1


def test_fields_that_are_only_kept(tmp_path):
    joint = 'DEF B Joint { jointType "fixed" rotorResistor 0.5 stiffness [ 1 0 0 ] gearRatio 50 }'
    (tmp_path / "a.wrl").write_text(
        f"#VRML V2.0 utf8\nDEF R Humanoid {{ humanoidBody {joint} }}\n"
    )
    (line,) = (
        line
        for line in run("info", tmp_path / "a.wrl").output.splitlines()
        if "kept only" in line
    )
    assert (
        "rotor_resistor, stiffness" in line
        and "encoder" not in line
        and "gear" not in line
    )


def test_parts_outside_the_folder(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "part.wrl").write_text("#VRML V2.0 utf8\nShape { geometry Box { } }\n")
    (folder / "a.wrl").write_text('#VRML V2.0 utf8\nInline { url "../part.wrl" }\n')
    inside = data("--untrusted", folder / "a.wrl")
    assert inside["num_triangles"] == 0
    assert inside["problems"]
    assert data(folder / "a.wrl")["num_triangles"] == 12


MODELS = [
    "choreonoid+choreonoid/share/model/SR1/SR1.wrl",
    "choreonoid+choreonoid/share/model/tank/tank.wrl",
    "fkanehiro+openhrp3/sample/model/PA10/pa10.main.wrl",
]


@pytest.mark.parametrize("name", MODELS)
def test_real_models(corpus, name):
    """Names, types, masses, centre of mass and devices are those of the reference program."""
    golden = json.loads(
        (corpus / "golden" / f"wrl__{name.replace('/', '__')}.json").read_text()
    )
    answer = data(corpus / "wrl" / name)
    assert answer["num_links"] == golden["numLinks"]
    assert [link["name"] for link in answer["links"]] == [
        link["name"] for link in golden["links"]
    ]
    assert [link["parent"] for link in answer["links"]] == [
        link["parent"] for link in golden["links"]
    ]
    assert [link["joint"]["id"] for link in answer["links"]] == [
        link["jointId"] for link in golden["links"]
    ]
    assert [joint["link"] for joint in answer["joints"]][
        : golden["numJoints"]
    ] == golden["jointIdToLinkIndex"]
    np.testing.assert_allclose(answer["mass"], golden["mass"], rtol=1e-9)
    np.testing.assert_allclose(
        [k["mass"] for k in answer["links"]],
        [k["mass"] for k in golden["links"]],
        rtol=1e-9,
    )
    np.testing.assert_allclose(
        answer["center_of_mass"], golden["centerOfMassAtInitialPosition"], atol=1e-9
    )
    assert sorted(d["name"] for d in answer["devices"]) == sorted(
        d["name"] for d in golden["devices"]
    )
    for got, wanted in zip(answer["links"], golden["links"], strict=True):
        for side, value in (("lower", wanted["q_lower"]), ("upper", wanted["q_upper"])):
            assert got["joint"][side] == (
                None if abs(value) > 1e300 else pytest.approx(value)
            )


def test_real_motion(corpus):
    """Counts and ranges are those of the rows that the reference program read."""
    for version in "1234":
        path = corpus / "seq" / "made" / f"sr1walk3_links_v{version}.seq"
        golden = json.loads(path.with_name(f"{path.name}.golden.json").read_text())
        answer = data("--values", path)
        by_content = {
            component["content"]: component for component in answer["components"]
        }
        joints = by_content["JointDisplacement"]
        rows = np.array(golden["jointDisplacements"])
        assert (joints["num_frames"], joints["num_parts"], joints["frame_rate"]) == (
            *rows.shape,
            golden["frameRate"],
        )
        np.testing.assert_array_equal(
            [part["lower"] for part in joints["parts"]], rows.min(axis=0)
        )
        np.testing.assert_array_equal(
            [part["upper"] for part in joints["parts"]], rows.max(axis=0)
        )
        assert by_content["LinkPosition"]["num_parts"] == golden["numLinks"]


def documented() -> set[str]:
    page = (Path(__file__).resolve().parents[2] / "docs" / "commands.md").read_text(
        encoding="utf-8"
    )
    section = page[page.index("## `bodymotion info`") :]
    section = (
        section[: section.find("\n## `", 3)] if "\n## `" in section[3:] else section
    )
    return {
        word
        for row in section.splitlines()
        if row.startswith("|")
        for word in re.findall(r"`(\w+)`", row)
    }


def members(value: object, inside: str = "") -> set[str]:
    if isinstance(value, dict):
        own = set() if inside in ("info", "extra", "options") else set(value)
        return own | {
            name for key, item in value.items() for name in members(item, key)
        }
    if isinstance(value, list):
        return {name for item in value for name in members(item, inside)}
    return set()


def test_every_member_is_documented(hand, walk, examples):
    answers = [data("--values", walk), data(hand)]
    answers += [
        data(path)
        for path in sorted(examples.glob("*.wrl")) + sorted(examples.glob("*.seq"))
    ]
    assert members(answers) <= documented()


@pytest.mark.parametrize(
    "content", ["", "#VRML V2.0 utf8\n", "#VRML V2.0 utf8\n# a comment\n\n"]
)
def test_a_model_without_anything_is_refused(tmp_path, content):
    """As an empty motion is; a part without anything is a fault of the model that names it."""
    path = tmp_path / "empty.wrl"
    path.write_text(content)
    result = run(path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "empty.wrl:1:1: WRL113" in result.stderr
    whole = tmp_path / "whole.wrl"
    whole.write_text(
        '#VRML V2.0 utf8\nGroup { children [ Shape { geometry Box { } } Inline { url "empty.wrl" } ] }\n'
    )
    assert data(whole)["num_triangles"] == 12
