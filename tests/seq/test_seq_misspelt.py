"""Keys, contents and types that are almost those of the document are named, at their line, once, and not what follows from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_seq_check_faults import checked

import bodymotion as bm
from bodymotion.diagnostics import FormatError
from bodymotion.diagnostics.spelling import meant
from bodymotion.formats.seq import parse_seq

MOTION = """\
type: CompositeSeq
content: BodyMotion
formatVersion: 2
frameRate: 100
components:
  - type: MultiValueSeq
    content: JointDisplacement
    numParts: 2
    frames:
      - [ 0.1, 0.2 ]
      - [ 0.3, 0.4 ]
  - type: MultiSE3Seq
    content: LinkPosition
    numParts: 1
    SE3Format: XYZQWQXQYQZ
    frames:
      - [ [ 0, 0, 0.8, 1, 0, 0, 0 ] ]
      - [ [ 0, 0, 0.8, 1, 0, 0, 0 ] ]
"""
TIMED = MOTION.replace("numParts: 2", "hasFrameTime: true\n    numParts: 1").replace(
    "0.3, 0.4", "0.4, 0.5"
)


@pytest.mark.parametrize(
    ("right", "wrong", "line", "severity"),
    [
        ("formatVersion", "formatversion", 3, "warning"),
        ("frameRate", "framerate", 4, "error"),
        ("frameRate", "frame-rate", 4, "error"),
        ("frameRate", "FrameRat", 4, "error"),
        ("components", "component", 5, "error"),
        ("- type: MultiV", "- typ: MultiV", 6, "error"),
        ("content: J", "conten: J", 7, "warning"),
        ("numParts: 2", "numPart: 2", 8, "warning"),
        ("SE3Format", "SE3format", 15, "warning"),
        ("frames:\n      - [ 0", "Frames:\n      - [ 0", 9, "error"),
    ],
)
def test_a_key_that_is_misspelt_is_all_that_is_said(right, wrong, line, severity):
    text = MOTION.replace(right, wrong, 1)
    found = checked(text)
    assert [(p.rule, p.location.line, p.severity) for p in found] == [
        ("YAML106", line, severity)
    ]
    assert "did you mean" in found[0].message
    # Loading says the same, whether it can go on or not.
    try:
        loaded = parse_seq(text.encode()).problems
    except FormatError as error:
        loaded = error.problems
    assert loaded == found


def test_a_misspelt_has_frame_time_is_seen_by_the_rows():
    assert checked(TIMED) == ()
    found = checked(TIMED.replace("hasFrameTime", "hasFrametim"))
    assert [(p.rule, p.location.line, p.severity) for p in found] == [
        ("YAML106", 8, "error")
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "rule", "line"),
    [
        ("JointDisplacement", "JointDisplacment", "SEQ226", 7),
        ("LinkPosition", "LinkPositon", "SEQ226", 13),
        ("LinkPosition", "link_position", "SEQ226", 13),
        ("MultiValueSeq", "MultiValuSeq", "SEQ207", 6),
        ("CompositeSeq", "CompositSeq", "SEQ003", 1),
    ],
)
def test_contents_and_types_that_are_misspelt_are_named(right, wrong, rule, line):
    (problem,) = checked(MOTION.replace(right, wrong, 1))
    assert (problem.rule, problem.location.line) == (rule, line)
    assert f"did you mean {right!r}?" in problem.message


@pytest.mark.parametrize(
    ("right", "wrong", "rule"),
    [
        ("content: JointDisplacement", "content: JointDisplacment", "SEQ226"),
        ("type: MultiValueSeq", "type: MultiValueSek", "SEQ207"),
        ("type: MultiValueSeq", "type: Joints", "SEQ207"),
        ("type: MultiSE3Seq", "type: MultiSE3Sek", "SEQ207"),
    ],
)
def test_on_a_body_nothing_follows_from_a_misspelt_component(
    right, wrong, rule, examples, tmp_path
):
    text = (examples / "biped_walk.seq").read_text().replace(right, wrong, 1)
    path = tmp_path / "walk.seq"
    path.write_text(text)
    line = text[: text.index(wrong)].count("\n") + 1
    body = bm.load(examples / "biped.wrl")
    assert [(p.rule, p.location.line) for p in bm.check(path, body=body).problems] == [
        (rule, line)
    ]


def test_a_misspelt_component_hides_no_fault_of_another(examples, tmp_path):
    motion = bm.load(examples / "biped_walk.seq")
    joints = motion.joint_displacement
    values = np.array(joints.values)
    values[300, 3] += 0.5
    path = tmp_path / "walk.seq"
    bm.save(
        motion.replaced(
            *(
                replace(joints, values=values) if c is joints else c
                for c in motion.components
            )
        ),
        path,
    )
    path.write_text(
        path.read_text().replace("type: MultiSE3Seq", "type: MultiSE3Sek", 1)
    )
    found = {
        p.rule: p.location.inside
        for p in bm.check(path, body=bm.load(examples / "biped.wrl")).problems
    }
    assert found == {
        "SEQ207": "components[0].type",
        "MOT302": "components[1].frames[300]",
    }


@pytest.mark.parametrize(
    "text",
    [
        MOTION.replace("JointDisplacement", "LeftJointDisplacement"),
        MOTION.replace("JointDisplacement", "JointVelocity"),
        MOTION.replace("JointDisplacement", "ZMV"),
        MOTION.replace(
            "frameRate: 100",
            "frameRate: 100\nframerates: 3\nframe: 7\nname: walk\nformat: 7",
        ),
        MOTION.replace("numParts: 2", "numParts: 2\n    numPart: 9"),
    ],
)
def test_names_of_ones_own_are_left_alone(text):
    assert checked(text) == ()


@pytest.mark.parametrize("rate", ["1e-320", "1e308", "0.0009", "1000001"])
def test_rates_that_no_motion_has(rate):
    found = checked(MOTION.replace("frameRate: 100", f"frameRate: {rate}"))
    assert [(p.rule, p.location.line) for p in found] == [("SEQ227", 4)]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("joint_axis", "jointAxis"),
        ("JOINTAXIS", "jointAxis"),
        ("jointAxs", "jointAxis"),
        ("jiontAxis", "jointAxis"),
        ("jontAxs", "jointAxis"),
        ("jontAx", None),
        ("Mass", "mass"),
        ("mas", "mass"),
        ("ma", None),
        ("id", None),
        ("ID", None),
        ("x" * 100, None),
        ("", None),
    ],
)
def test_what_is_meant(word, expected):
    assert meant(word, ("jointAxis", "mass", "Idx")) == expected
