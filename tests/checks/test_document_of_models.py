"""Sentences of the OpenHRP document that only a check asks for: each with a model that is against it, and one that is not."""

from __future__ import annotations

from pathlib import Path

import pytest

import bodymotion as bm

MODEL = """#VRML V2.0 utf8
PROTO Humanoid [ exposedField MFNode humanoidBody [ ] exposedField MFNode joints [ ] exposedField MFNode segments [ ]
  field SFVec3f bboxCenter 0 0 0 exposedField MFNode sites [ ] ] { }
PROTO Joint [ exposedField SFString jointType "" exposedField SFInt32 jointId -1 exposedField SFVec3f jointAxis 0 0 1
  exposedField SFString name "" exposedField MFNode children [ ] exposedField SFVec3f translation 0 0 0 ] { }
PROTO Segment [ exposedField SFFloat mass 0 exposedField MFFloat momentsOfInertia [ ] exposedField MFNode children [ ]
  exposedField SFString name "" field SFVec3f bboxSize -1 -1 -1 ] { }
PROTO Gyro [ exposedField SFVec3f maxAngularVelocity -1 -1 -1 exposedField SFInt32 sensorId -1 ] { }
PROTO ForceSensor [ exposedField SFVec3f maxForce -1 -1 -1 exposedField SFVec3f maxTorque -1 -1 -1
  exposedField SFInt32 sensorId -1 ] { }
DEF R Humanoid { HUMANOID
  humanoidBody DEF A Joint {
    jointType "free" JOINT
    children [
      DEF S Segment { mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] SEGMENT }
      DEF G Gyro { sensorId 0 GYRO }
      DEF F ForceSensor { sensorId 0 FORCE }
      DEF B Joint { jointType "TYPE" jointId 0 translation 0.1 0 0
        children DEF T Segment { mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] } }
    ]
  }
  joints [ USE A USE B ] segments [ USE S USE T ]
}
"""


def report(
    folder: Path, changes: dict[str, str], name: str = "model.wrl"
) -> list[tuple[str, int | None]]:
    text = MODEL
    for word in ("HUMANOID", "JOINT", "SEGMENT", "GYRO", "FORCE"):
        text = text.replace(f" {word}\n", f" {changes.get(word, '')}\n").replace(
            f" {word} }}", f" {changes.get(word, '')} }}"
        )
    (folder / name).write_text(text.replace("TYPE", changes.get("TYPE", "rotate")))
    problems = bm.check(folder / name).problems
    return [(problem.rule, problem.location.line) for problem in problems]


@pytest.mark.parametrize(
    ("code", "line", "against", "within"),
    [
        ("WRL114", 13, {"JOINT": 'name "WAIST"'}, {"JOINT": 'name "A"'}),
        ("WRL114", 15, {"SEGMENT": 'name "BELLY"'}, {"SEGMENT": 'name ""'}),
        ("WRL115", 11, {"HUMANOID": "bboxCenter 1 0 0"}, {}),
        ("WRL115", 11, {"HUMANOID": "sites [ ]"}, {}),
        ("WRL115", 15, {"SEGMENT": "bboxSize 1 1 1"}, {}),
        ("BODY120", 18, {"TYPE": "free"}, {"TYPE": "slide"}),
        (
            "WRL170",
            16,
            {"GYRO": "maxAngularVelocity 0 0 0"},
            {"GYRO": "maxAngularVelocity -1 -1 5"},
        ),
        ("WRL170", 17, {"FORCE": "maxForce -5 5 5"}, {"FORCE": "maxForce 5 5 5"}),
        ("WRL170", 17, {"FORCE": "maxTorque 1 1 -2"}, {"FORCE": "maxTorque 1 1 1"}),
    ],
)
def test_each_rule_where_it_is_broken(tmp_path, code, line, against, within):
    assert (code, line) in report(tmp_path, against)
    assert code not in [rule for rule, _ in report(tmp_path, within)]


def test_a_sound_model_has_nothing_of_it(tmp_path):
    assert not report(tmp_path, {})


def test_the_name_of_the_file(tmp_path):
    assert report(tmp_path, {}, "model.vrml") == [("WRL117", None)]
    assert not report(tmp_path, {}, "MODEL.WRL")


def test_a_file_without_humanoid(tmp_path):
    """A scene is none of a model's business; a file with Joints and no Humanoid is."""
    (tmp_path / "scene.wrl").write_text("#VRML V2.0 utf8\nShape { geometry Box { } }\n")
    assert not bm.check(tmp_path / "scene.wrl").problems
    assert not bm.load(tmp_path / "scene.wrl").problems
    (tmp_path / "model.wrl").write_text(
        "#VRML V2.0 utf8\nPROTO Joint [ ] { }\nShape { geometry Box { } }\n"
    )
    assert [p.rule for p in bm.check(tmp_path / "model.wrl").problems] == ["WRL116"]
