"""What `--fix` changes: what has one right answer, at its place, and nothing else; after that the problem is gone."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_check_files import MODEL, PROTOTYPES, SOUND

import bodymotion as bm
from bodymotion.checks.fixing import Fixes, find_fixes, fixable
from bodymotion.checks.fixing.edits import Edit, applied, in_order, unified_diff
from bodymotion.cli.check import show_diff
from bodymotion.diagnostics.catalogue import catalogue
from sample_files import corpus_files, sampled, tries

WALK = """\
type: CompositeSeq      # a walk
content: BodyMotion
formatVersion: 2
frameRate: 50
components:
  - type: MultiSE3Seq
    content: LinkPosition
    numParts: 1   # the root
    numFrames: 2
    SE3Format: XYZQWQXQYQZ
    frames:
      - [ [ 0,  0, 0.70, 1, 0, 0, 0 ] ]   # begin

      - [[1.5, 0.25, 7, 0, 0, 1.0, 0]]
"""
ZMP = """\
type: CompositeSeq
content: BodyMotion
formatVersion: 3
frameRate: 50
components:
  - { type: MultiValueSeq, content: ZMPSeq, numParts: 2, frames: [ [ 1, 2 ] ] }
"""
FLOW = '{ "type": "CompositeSeq", "content": "BodyMotion", "formatVersion": 2, "frameRate": 50, "components": [] }'
MOVE = "controls body  # only\n\nno parameters\n\ntime body_quat_wxyz\n0 1 0 0 0\n1.0  1.0 0 0 0 # over\n"
ROBOT = MODEL % (SOUND | {"prototypes": PROTOTYPES})
LISTS = "  joints [ USE BASE USE ARM ]\n  segments [ USE BASE_LINK USE ARM_LINK ]\n"
assert LISTS in ROBOT

URDF = """\
<robot name="r">
  <link name="base"/>
  <link name="arm"/>
  <joint name="é" type="revolute">
    <parent link="base"/><child link="arm"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
    <axis
      xyz = "0 -1  0"/> <!-- y -->
  </joint>
</robot>
"""
BODY = """\
format: ChoreonoidBody
formatVersion: 2.0
name: arm
links:
  - { name: BASE, jointType: fixed }
  - name: ARM   # é
    parent: BASE
    jointType: revolute
    jointId: 0
    jointAxis: [ 0, 0, 1.0 ] # z
    rotation: [ 0, 0.6, 0.8, 90 ]
"""
TRIGGERS: list[tuple[str, str, str | bytes, str | bytes]] = [
    # The rule, the name of the file, what is wrong, and what is right.
    (
        "SEQ201",
        "m.seq",
        WALK.replace("formatVersion: 2\n", ""),
        "formatVersion: 2\n" + WALK.replace("formatVersion: 2\n", ""),
    ),
    (
        "SEQ201",
        "m.seq",
        FLOW.replace('"formatVersion": 2, ', ""),
        FLOW.replace('"formatVersion": 2, ', "").replace(
            "{ ", '{"formatVersion": 2,  '
        ),
    ),
    (
        "SEQ201",
        "m.seq",
        ZMP.replace("formatVersion: 3\n", "").replace(
            "ZMPSeq", "MultiJointDisplacementSeq"
        ),
        "formatVersion: 3\n"
        + ZMP.replace("formatVersion: 3\n", "").replace(
            "ZMPSeq", "MultiJointDisplacementSeq"
        ),
    ),
    ("SEQ214", "m.seq", WALK.replace("numFrames: 2", "numFrames: 0"), WALK),
    (
        "SEQ214",
        "m.seq",
        (WALK + "by: me\n")
        .replace("numFrames: 2", "numFrames: 1234  #")
        .replace("\n", "\r\n"),
        (WALK + "by: me\n")
        .replace("numFrames: 2", "numFrames: 2  #")
        .replace("\n", "\r\n"),
    ),
    ("SEQ223", "m.seq", WALK.replace("numFrames: 2", "numFrames: 'many'"), WALK),
    ("MOT102", "m.seq", WALK.replace("0, 0, 1.0, 0", "0, 0, 1.075, 0"), WALK),
    (
        "MOT102",
        "m.seq",
        WALK.replace("0, 0, 1.0, 0", "0.63, 0, 0.84, 0"),
        WALK.replace("0, 0, 1.0, 0", "0.6, 0, 0.8, 0"),
    ),
    (
        "MOT102",
        "m.seq",
        WALK.replace("0, 0, 1.0, 0", "0.7, 7e-1, 0, 0"),
        WALK.replace("0, 0, 1.0, 0", "0.707106781, 0.707106781, 0, 0"),
    ),
    (
        "MOT102",
        "m.seq",
        WALK.replace(
            "[[1.5, 0.25, 7, 0, 0, 1.0, 0]]",
            "\n          - - 1.5\n            - 0\n            - 0\n            - 0.95\n            - 0\n            - 0\n            - 0",
        ),
        WALK.replace(
            "[[1.5, 0.25, 7, 0, 0, 1.0, 0]]",
            "\n          - - 1.5\n            - 0\n            - 0\n            - 1.0\n            - 0\n            - 0\n            - 0",
        ),
    ),
    ("VRML110", "m.wrl", ROBOT.replace("#VRML V2.0 utf8\n", ""), ROBOT),
    ("VRML110", "m.wrl", ROBOT.replace("#VRML", "# VRML"), ROBOT),
    (
        "VRML110",
        "m.wrl",
        "# mine\n\n" + ROBOT,
        "#VRML V2.0 utf8\n# mine\n\n" + ROBOT.replace("#VRML V2.0 utf8\n", ""),
    ),
    (
        "VRML110",
        "m.wrl",
        ROBOT.replace("#VRML V2.0 utf8", "# ä").replace("\n", "\r\n").encode(),
        ("#VRML V2.0 utf8\n" + ROBOT.replace("#VRML V2.0 utf8", "# ä"))
        .replace("\n", "\r\n")
        .encode(),
    ),
    ("VRML122", "m.wrl", b"\xef\xbb\xbf" + ROBOT.encode(), ROBOT),
    ("WRL109", "m.wrl", ROBOT.replace("USE BASE USE ARM ]", "USE BASE ]"), ROBOT),
    ("WRL109", "m.wrl", ROBOT.replace("[ USE BASE USE ARM ]", "[]"), ROBOT),
    (
        "WRL109",
        "m.wrl",
        ROBOT.replace("joints [ USE", "joints [ # USE\n USE").replace(
            "USE BASE_LINK USE ARM_LINK", "\n    USE BASE_LINK # 1\n"
        ),
        ROBOT.replace("joints [ USE", "joints [ # USE\n USE").replace(
            "USE BASE_LINK USE ARM_LINK", "\n    USE BASE_LINK\n    USE ARM_LINK # 1\n"
        ),
    ),
    (
        "WRL109",
        "m.wrl",
        ROBOT.replace("DEF R", "DEF X Joint { }\nDEF R").replace(
            "USE BASE USE", "USE BASE\n  USE X # no joint of it\n USE"
        ),
        ROBOT.replace("DEF R", "DEF X Joint { }\nDEF R").replace(
            "USE BASE USE", "USE BASE\n   # no joint of it\n USE"
        ),
    ),
    (
        "WRL109",
        "m.wrl",
        ROBOT.replace(LISTS, ""),
        ROBOT.replace(
            LISTS,
            "  joints [\n    USE BASE\n    USE ARM\n  ]\n  segments [\n    USE BASE_LINK\n    USE ARM_LINK\n  ]\n",
        ),
    ),
    # A name that is misspelt, one that stands there twice, and one that is missing in between.
    (
        "WRL109",
        "m.wrl",
        ROBOT.replace("DEF R", "DEF ARN Joint { }\nDEF R").replace(
            "USE BASE USE ARM", "USE BASE USE ARN"
        ),
        ROBOT.replace("DEF R", "DEF ARN Joint { }\nDEF R"),
    ),
    (
        "WRL109",
        "m.wrl",
        ROBOT.replace("[ USE BASE USE ARM ]", "[ USE ARM ]"),
        ROBOT.replace("[ USE BASE USE ARM ]", "[ USE BASE USE ARM ]"),
    ),
    (
        "WRL109",
        "m.wrl",
        ROBOT.replace("USE ARM_LINK ]", "USE ARM_LINK USE ARM_LINK ]"),
        ROBOT,
    ),
    (
        "BODY110",
        "m.wrl",
        ROBOT.replace(
            "jointAxis 0 0 1 jointId 0", "jointAxis 0 0 # z\n -2.5 jointId 0"
        ),
        ROBOT.replace(
            "jointAxis 0 0 1 jointId 0", "jointAxis 0 0 # z\n -1.0 jointId 0"
        ),
    ),
    (
        "BODY110",
        "m.wrl",
        ROBOT.replace(
            "jointAxis 0 0 1 jointId 0", "jointAxis 0.70710,0,.70710 jointId 0"
        ).replace("# ", "# ぁ"),
        ROBOT.replace(
            "jointAxis 0 0 1 jointId 0", "jointAxis 0.707106781,0,0.707106781 jointId 0"
        ),
    ),
    (
        "BODY106",
        "m.wrl",
        ROBOT.replace(
            "translation 0.3 0 0", "rotation 0.63 0 0.84 0.5 translation 0.3 0 0"
        )
        .replace("] exposedField MFNode children [ ] { }", "]")
        .replace(
            "exposedField SFVec3f translation 0 0 0",
            "exposedField SFVec3f translation 0 0 0 exposedField SFRotation rotation 0 0 1 0",
        ),
        ROBOT.replace(
            "translation 0.3 0 0", "rotation 0.6 0 0.8 0.5 translation 0.3 0 0"
        ).replace(
            "exposedField SFVec3f translation 0 0 0",
            "exposedField SFVec3f translation 0 0 0 exposedField SFRotation rotation 0 0 1 0",
        ),
    ),
    (
        "BODY110",
        "m.urdf",
        URDF.replace("-1  0", "-2.5  0"),
        URDF.replace("-1  0", "-1.0  0"),
    ),
    ("BODY110", "m.body", BODY.replace("0, 1.0 ]", "0, 2e1 ]"), BODY),
    (
        "BODY110",
        "m.body",
        BODY.replace("Axis: [ 0, 0, 1.0", "Axis: [3,0,4"),
        BODY.replace("Axis: [ 0, 0, 1.0", "Axis: [0.6,0,0.8"),
    ),
    ("BODY106", "m.body", BODY.replace("0.6, 0.8", "0.63, 0.84"), BODY),
    (
        "BODY106",
        "m.body",
        BODY.replace("0.6, 0.8, 90", "[ 0, 0, 1, 3 ], [ 0, 0.63, 0.84, 9 ]").replace(
            "[ 0, [", "[ ["
        ),
        BODY.replace("0.6, 0.8, 90", "[ 0, 0, 1, 3 ], [ 0, 0.6, 0.8, 9 ]").replace(
            "[ 0, [", "[ ["
        ),
    ),
    ("CHA102", "m.cha", b"\xef\xbb\xbf" + MOVE.encode(), MOVE),
    (
        "CHA105",
        "m.cha",
        MOVE.replace("1.0  1", "1.0\u00a0\u30001").replace(
            "# over", "# over\u00a0\u00e9"
        ),
        MOVE.replace("# over", "# over\u00a0\u00e9"),
    ),
    ("CHA110", "m.cha", "\n \n" + MOVE, MOVE),
    ("CHA111", "m.cha", MOVE.replace("only\n\n", "only\n\n\n \t\n"), MOVE),
    (
        "CHA111",
        "m.cha",
        MOVE.replace("\n\n", "\n\n\n").replace("\n", "\r\n"),
        MOVE.replace("\n", "\r\n"),
    ),
    (
        "CHA112",
        "m.cha",
        "# by me\n  // today\n\n" + MOVE,
        "# by me\n  // today\n" + MOVE,
    ),
    ("CHA112", "m.cha", "# one\n \n# two\n\n" + MOVE, "# one\n# two\n" + MOVE),
    ("CHA112", "m.cha", MOVE + "\n# the end\n\n", MOVE + "# the end\n\n"),
    ("CHA112", "m.cha", MOVE + "# a\n\n# b\n\t\n# c", MOVE + "# a\n# b\n# c"),
    (
        "CHA112",
        "m.cha",
        (MOVE + "\n# ä\n").replace("\n", "\r\n"),
        (MOVE + "# ä\n").replace("\n", "\r\n"),
    ),
    ("CHA114", "m.cha", MOVE.replace("no parameters\n\n", ""), MOVE),
    (
        "CHA114",
        "m.cha",
        MOVE.replace("no parameters\n\n", "# the columns\n# follow\n"),
        MOVE.replace("time", "# the columns\n# follow\ntime"),
    ),
    ("CHA117", "m.cha", MOVE.replace("only\n\n", "only\n"), MOVE),
    (
        "CHA117",
        "m.cha",
        MOVE.replace("parameters\n\n", "parameters\n  "),
        MOVE.replace("time", "  time"),
    ),
    (
        "CHA117",
        "m.cha",
        MOVE.replace("\n\n", "\n").replace("\n", "\r\n"),
        MOVE.replace("\n", "\r\n"),
    ),
    (
        "CHA117",
        "m.cha",
        MOVE.replace("no parameters\n\n", "speed 0.5 1 2\n# one\n"),
        MOVE.replace("no parameters\n\n", "speed 0.5 1 2\n# one\n\n"),
    ),
    (
        "MOT102",
        "m.cha",
        MOVE.replace("1.0 0 0 0 #", "-0.99 0.099 0 0 #"),
        MOVE.replace("1.0 0 0 0 #", "-0.99503719 0.099503719 0 0 #"),
    ),
    (
        "MOT102",
        "m.cha",
        MOVE.replace("quat_wxyz", "quat_xyzw")
        .replace("1 0 0 0\n", "0 0 0 1.05\n")
        .replace("1.0 0 0 0", "0 0 0 1"),
        MOVE.replace("quat_wxyz", "quat_xyzw")
        .replace("1 0 0 0\n", "0 0 0 1.0\n")
        .replace("1.0 0 0 0", "0 0 0 1"),
    ),
    ("CHK104", "m.seq", WALK.replace("\n", "\r\n", 3), WALK),
    (
        "CHK104",
        "m.seq",
        WALK.replace("\n", "\r\n").replace("\r\n", "\n", 2),
        WALK.replace("\n", "\r\n"),
    ),
    ("CHK104", "m.wrl", ROBOT.replace("\n", "\r", 3), ROBOT),
    ("CHK104", "m.cha", MOVE.replace("\n", "\r\n", 1), MOVE),
]


def as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def fixed(path: Path, data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Write a file and give how it is find_fixes, and for which rules."""
    path.write_bytes(data)
    found = find_fixes(path, fixable(bm.check(path).problems, path))
    return (data, ()) if found is None else (found.after, found.rules)


def counted(path: Path) -> Counter[str]:
    return Counter(
        problem.rule
        for problem in bm.check(path).problems
        if problem.location.path in (None, str(path))
    )


@pytest.mark.parametrize(
    ("rule", "name", "wrong", "right"),
    TRIGGERS,
    ids=[f"{row[0]}-{k}" for k, row in enumerate(TRIGGERS)],
)
def test_what_is_wrong_is_made_right_and_nothing_else_is_touched(
    tmp_path, rule, name, wrong, right
):
    path = tmp_path / name
    data = as_bytes(wrong)
    after, rules = fixed(path, data)
    assert after.decode() == as_bytes(right).decode()
    assert rules == (rule,)
    before = counted(path)
    path.write_bytes(after)
    now = counted(path)
    assert before[rule] and not now[rule]
    assert all(now[code] <= before[code] for code in now), "it became worse"
    assert find_fixes(path, fixable(bm.check(path).problems, path)) is None


def test_every_rule_that_says_it_can_be_mended_is_tried():
    assert {row[0] for row in TRIGGERS} == {
        code for code, rule in catalogue().items() if rule.fixable
    }


LEFT = [
    # Two components that go by one number, and differ.
    (
        "m.seq",
        WALK.replace("frameRate: 50", "frameRate: 50\nnumFrames: 7").replace(
            "    numFrames: 2\n", ""
        )
        + "  - {type: Vector3Seq, content: ZMP, frames: [[1, 2, 3]]}\n",
    ),
    # numParts: what is wrong with it only the rows' author knows; "two" is also what stands beside decimal commas.
    ("m.seq", WALK.replace("numParts: 1", "numParts: one")),
    ("m.seq", WALK.replace("numParts: 1", "numParts: 2")),
    ("m.seq", ZMP.replace("numParts: 2", "numParts: 1\n    , numParts: 3")),
    # Fewer rows than numFrames at the end of the text, or none: it may have been cut off, and this is the only trace.
    ("m.seq", WALK.replace("numFrames: 2", "numFrames: 3")),
    ("m.seq", WALK[: WALK.index("      - [")]),
    (
        "m.seq",
        WALK.replace("MultiSE3Seq", "MultiValueSeq")[: WALK.index("    SE3F")]
        + "    frames: []\n",
    ),
    # What is far from a quaternion may be angles.
    ("m.seq", WALK.replace("0, 0, 1.0, 0", "0, 0, 45, 0")),
    ("m.seq", WALK.replace("0, 0, 1.0, 0", "0, 0, 0.85, 0")),
    ("m.cha", MOVE.replace("1.0 0 0 0 #", "10 0 20 0 #")),
    ("m.body", BODY.replace("0.6, 0.8", "6, 8")),
    # An axis in another shape than a list, or of no direction.
    ("m.body", BODY.replace("[ 0, 0, 1.0 ]", "\n      - 0\n      - 0\n      - 2")),
    ("m.urdf", URDF.replace("-1  0", "0 0")),
    # Rows that differ: which of them is right?
    ("m.seq", WALK.replace("[[1.5, 0.25, 7, 0, 0, 1.0, 0]]", "[]")),
    # No direction.
    ("m.seq", WALK.replace("0, 0, 1.0, 0", "0, 0, 0, 0")),
    ("m.wrl", ROBOT.replace("jointAxis 0 0 1 jointId 0", "jointAxis 0 0 0 jointId 0")),
    # Ids with gaps are told, and stay.
    ("m.wrl", ROBOT.replace("jointId 0", "jointId 3")),
    # A list with a node of its own; a Joint without a name; one with a name that two have; a list before its Joints.
    ("m.wrl", ROBOT.replace("[ USE BASE USE ARM ]", "[ USE BASE DEF MORE Joint { } ]")),
    ("m.wrl", ROBOT.replace("DEF ARM Joint", "Joint").replace(" USE ARM ]", " ]")),
    (
        "m.wrl",
        ROBOT.replace("DEF R ", "DEF ARM Segment { }\nDEF R ").replace(
            "USE BASE USE ARM ]", "USE BASE ]"
        ),
    ),
    (
        "m.wrl",
        ROBOT.replace("  joints [ USE BASE USE ARM ]\n", "").replace(
            "  humanoidBody [", "  joints [ ]\n  humanoidBody ["
        ),
    ),
    # Text over two lines, which ends otherwise when its lines do.
    ("m.wrl", ROBOT.replace("DEF R", 'WorldInfo { info "one\r\ntwo" }\nDEF R')),
    # An axis that is the default of a prototype.
    (
        "m.wrl",
        ROBOT.replace(
            "jointAxis 0 0 1 exposedField", "jointAxis 0 0 2 exposedField"
        ).replace("jointAxis 0 0 1 jointId", "jointId"),
    ),
    # Not UTF-8, or nothing that can be read.
    ("m.seq", WALK.replace("numFrames: 2", "numFrames: 3").encode("utf-16")),
    ("m.seq", WALK.replace("numFrames: 2", "numFrames: 3") + "  - {\n"),
    ("m.cha", b"\xef\xbb\xbf\xff" + MOVE.encode()),
    ("m.cha", MOVE.replace("1.0 0 0 0", "0.0 0 0 0")),
    # A comment that may belong to the section above or to that below; a file without keyframes.
    ("m.cha", MOVE.replace("only\n\n", "only\n\n# which?\n\n")),
    ("m.cha", MOVE.replace("parameters\n\n", "parameters\n\n# which?\n\n")),
    ("m.cha", "controls body\n\n# later\n"),
]


def test_a_section_that_is_missing_without_a_blank_line_comes_between_two(tmp_path):
    path = tmp_path / "m.cha"
    after, rules = fixed(path, MOVE.replace("\nno parameters\n\n", "").encode())
    assert (after.decode(), rules) == (MOVE, ("CHA114", "CHA117"))


@pytest.mark.parametrize(("name", "text"), LEFT)
def test_what_has_no_one_right_answer_stays(tmp_path, name, text):
    after, rules = fixed(tmp_path / name, as_bytes(text))
    assert (after, rules) == (as_bytes(text), ())


def test_only_what_is_asked_for(tmp_path):
    path = tmp_path / "m.seq"
    path.write_text(
        WALK.replace("numFrames: 2", "numFrames: 1").replace("1.0, 0]", "1.05, 0]")
    )
    found = find_fixes(path, {"SEQ214"})
    assert found is not None and found.after.decode() == WALK.replace(
        "1.0, 0]", "1.05, 0]"
    )
    assert find_fixes(path, ()) is None


def test_rows_of_a_large_file_are_mended_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("bodymotion.formats.seq.scan.PIECE", 500)
    text = WALK + "".join(
        f"      - [[ 0, 0, {k / 200}, {k % 3 / 10}, 0, 0, 1e0 ]]\n" for k in range(200)
    )
    path = tmp_path / "m.seq"
    after, rules = fixed(path, text.encode())
    assert set(rules) == {"MOT102", "SEQ214"}
    path.write_bytes(after)
    assert bm.check(path) == bm.Findings()
    numbers = re.compile(r"-?[0-9.]+(?:e[0-9]+)?")
    assert numbers.sub("N", after.decode()) == numbers.sub("N", text)


SAMPLES = corpus_files(
    "seq/made/**/*.seq",
    "cha/**/*.cha",
    "wrl/made/*.wrl",
    "wrl/choreonoid+choreonoid/share/model/**/*.wrl",
)


def test_the_samples_get_no_worse(tmp_path, corpus):
    """What is mended in files of the wild is gone after that or is told less often, and nothing new is told."""
    import shutil

    mended_files = 0
    for path in sampled(SAMPLES, 50):
        found = find_fixes(path, fixable(bm.check(path).problems, path))
        if found is None:
            continue
        mended_files += 1
        folder = tmp_path / str(mended_files)
        shutil.copytree(path.parent, folder)
        copy = folder / path.name
        before = counted(copy)
        copy.write_bytes(found.after)
        now = counted(copy)
        assert all(now[code] <= before[code] for code in now), path
        assert all(now[code] < before[code] for code in found.rules), path
        assert patched(found.before, "".join(found.diff())) == found.after
        assert find_fixes(copy, fixable(bm.check(copy).problems, copy)) is None
    assert mended_files > 5


@settings(max_examples=tries(150))
@given(st.data())
def test_any_bytes_are_mended_or_stay(tmp_path_factory, data):
    """Whatever is done to a file: no exception, what is mended is not told more often after that, and the diff is the change."""
    row = data.draw(st.sampled_from(TRIGGERS))
    text = bytearray(as_bytes(row[2]))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 8))
        put = data.draw(
            st.sampled_from(
                [
                    b"",
                    b"\r",
                    b"\n",
                    b"nan",
                    b"{",
                    b"]",
                    b"#",
                    b'"',
                    b" - ",
                    b"\xa0",
                    b"\xc3\xa9",
                    b"USE ARM ",
                ]
            )
        )
        text[at : at + cut] = put
    path = tmp_path_factory.mktemp("any") / row[1]
    path.write_bytes(text)
    before = counted(path)
    found = find_fixes(path, fixable(bm.check(path).problems, path))
    if found is None:
        return
    assert (
        patched(found.before, "".join(found.diff()))
        == found.after.decode("utf-8", "replace").encode()
    )
    path.write_bytes(found.after)
    now = counted(path)
    for code in found.rules:
        assert now[code] <= before[code], code


def patched(data: bytes, diff: str) -> bytes:
    """Apply a unified diff, strictly: every line that it shows must be there."""
    old = re.findall(r"[^\n]*\n|[^\n]+", data.decode("utf-8", "replace"))
    new: list[str] = []
    at, sign = 0, " "
    for line in re.findall(r"([^\n]*)\n", diff)[2:]:
        header = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
        if header:
            begin = int(header[1]) - (header[2] != "0")
            new += old[at:begin]
            at = begin
            assert len(new) == int(header[3]) - (header[4] != "0")
        elif line.startswith("\\"):
            # It is about the line before it, in both or in one of the two.
            if sign in " +":
                new[-1] = new[-1].removesuffix("\n")
            if sign in " -":
                assert not old[at - 1].endswith("\n")
        else:
            sign = line[0]
            if sign in " -":
                assert old[at].removesuffix("\n") == line[1:]
                at += 1
            if sign in " +":
                new.append(line[1:] + "\n")
    return "".join([*new, *old[at:]]).encode()


@settings(max_examples=tries(300))
@given(st.data())
def test_the_diff_is_what_is_changed(data):
    """Whoever applies the diff of some edits to the text before them gets the text after them."""
    text = data.draw(st.text("ab\n", min_size=1, max_size=60))
    edits = []
    for _ in range(data.draw(st.integers(1, 4))):
        a, b = sorted(
            data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2))
        )
        edits.append(Edit(a, b, data.draw(st.text("xy\n", max_size=5)).encode(), "R"))
    before = text.encode()
    after = applied(before, edits)
    if after == before:
        return
    assert patched(before, "".join(unified_diff(before, edits, "name"))) == after


def test_edits_do_not_overlap():
    first, second, third = (
        Edit(0, 4, b"x", "A"),
        Edit(2, 6, b"y", "B"),
        Edit(4, 4, b"z", "C"),
    )
    assert in_order([third, second, first, first]) == (first, third)
    assert applied(b"abcdefgh", [second, third, first]) == b"xzefgh"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_the_beginning_of_a_long_diff_and_a_pipe_the_whole(tmp_path):
    before = b"a\n" * 2000
    edits = [Edit(2 * k, 2 * k + 1, b"\x1b", "R") for k in range(2000)]
    found = Fixes(tmp_path / "a.seq", before, in_order(edits))
    terminal, pipe = Terminal(), io.StringIO()
    show_diff(found, terminal)
    show_diff(found, pipe)
    *shown, last = terminal.getvalue().splitlines()
    assert len(shown) == 300
    assert "2000 locations" in last
    assert "\x1b" not in terminal.getvalue()
    assert patched(before, pipe.getvalue()) == found.after
