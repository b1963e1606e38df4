"""Damaged models: a Body or a FormatError, never anything else, and never without end."""

from __future__ import annotations

import random
import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_document import DECLARED

from bodymotion.diagnostics import FormatError
from bodymotion.formats.openhrp import read_openhrp
from bodymotion.model.body import Body
from sample_files import tries

MODEL = (
    "#VRML V2.0 utf8\n"
    + DECLARED
    + """PROTO Surface [ field MFNode visual [ ] field MFNode collision [ ] ] { Group { children IS visual } }
DEF R Humanoid { name "r" humanoidBody [ DEF A Joint { jointType "free" translation 0 0 1 rotation 0 1 0 0.5 children [
  DEF S Segment { mass 1 centerOfMass 0 0 0.5 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] children [ Surface { visual [
    Transform { scale 1 2 3 scaleOrientation 0 0 1 1 center 1 1 1 children Shape { appearance Appearance {
      material Material { diffuseColor 1 0 0 } texture ImageTexture { url "a.png" } textureTransform TextureTransform { scale 2 2 } }
      geometry IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 1 1 0, 0.2 0.1 0 ] } coordIndex [ 0 1 2 3 -1 0 2 3 -1 ]
        color Color { color [ 1 0 0, 0 1 0 ] } colorPerVertex FALSE colorIndex [ 0 1 ] normal Normal { vector [ 0 0 1 ] }
        normalPerVertex FALSE normalIndex [ 0 0 ] texCoord TextureCoordinate { point [ 0 0, 1 0, 1 1, 0 1 ] }
        texCoordIndex [ 0 1 2 3 -1 0 1 2 -1 ] creaseAngle 0.5 solid FALSE ccw FALSE convex FALSE } } } ]
    collision [ Shape { geometry Cylinder { radius 1 height 2 } } Shape { geometry Cone { bottomRadius 1 } } ] } ] }
  DEF B Joint { jointType "rotate" jointId 0 jointAxis 0 0 1 llimit [ -1 ] ulimit [ 1 ] gearRatio 10 children [
    VisionSensor { sensorId 0 type "COLOR" } RangeSensor { sensorId 0 children Shape { geometry Extrusion {
      spine [ 0 0 0, 0 1 0, 1 1 0 ] crossSection [ 1 0, 0 1, -1 0 ] scale [ 1 2 ] orientation [ 0 1 0 1 ] } } }
    Collision { children Shape { geometry ElevationGrid { xDimension 2 zDimension 2 height [ 0 1 2 3 ] } } proxy Shape {
      geometry Box { size 1 1 1 } } } LOD { level [ Shape { geometry IndexedLineSet { coord Coordinate { point [ 0 0 0 1 1 1 ] }
      coordIndex [ 0 1 ] } } ] } Switch { whichChoice 0 choice Shape { geometry PointSet { coord Coordinate { point [ 1 2 3 ] } } } } ] }
  ] } ] joints [ USE A USE B ] segments [ USE S ] viewpoints Viewpoint { position 1 2 3 } }
ExtraJoint { link1Name "A" link2Name "B" jointType "xy" jointAxis 1 0 0 }
"""
)

WORDS = re.findall(r'"[^"]*"|[\[\]{}]|[^\s,\[\]{}"]+', MODEL[MODEL.index("DEF R") :])
PREFIX = MODEL[: MODEL.index("DEF R")]
ODD = [
    "nan",
    "inf",
    "-1",
    "0",
    "1e308",
    "-1e308",
    "1e-320",
    "99999999999",
    "[",
    "]",
    "{",
    "}",
    "NULL",
    "TRUE",
    "USE",
    "DEF",
    '"x"',
]
ODD += [
    "[ ]",
    "USE A",
    "USE S",
    "Joint",
    "Segment",
    "Shape { }",
    "1 2",
    "0.5",
    "Transform { scale 0 0 0 }",
    "PROTO",
    "IS",
    "children",
]


def outcome(folder, data: bytes) -> str:
    path = folder / "m.wrl"
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            body = read_openhrp(path).require()
            assert isinstance(body, Body)
            for link in body.links:
                assert link.mass is not None and link.inertia.shape == (3, 3)
                for shape in link.visuals + link.collisions:
                    assert shape.bounds is None or shape.bounds.shape == (2, 3)
                    assert shape.to_mesh().corners_split is not None
            assert body == body and str(body.problems)
            assert body.num_joints < 20_000
    except FormatError as error:
        assert error.problem.message
        return "refused"
    return "read"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bytes")


def test_the_whole_model_is_read(folder):
    assert outcome(folder, MODEL.encode()) == "read"


@given(st.data())
@settings(max_examples=tries(400), deadline=None)
def test_words_changed(folder, data):
    words = list(WORDS)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(words) - 1))
        action = data.draw(st.sampled_from(["drop", "odd", "swap", "double"]))
        other = data.draw(st.integers(0, len(words) - 1))
        if action == "drop":
            del words[place]
        elif action == "odd":
            words[place] = data.draw(st.sampled_from(ODD))
        elif action == "swap":
            words[place], words[other] = words[other], words[place]
        else:
            words.insert(place, words[other])
    outcome(folder, (PREFIX + " ".join(words)).encode())


@pytest.mark.parametrize("seed", range(40))
def test_bytes_changed(folder, seed):
    rng = random.Random(seed)
    data = bytearray(MODEL.encode())
    for _ in range(rng.randint(1, 10)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    outcome(folder, bytes(data[: rng.randrange(len(data))] if seed % 4 == 0 else data))
