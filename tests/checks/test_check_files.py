"""Checks of files: what the reader says and what the check adds, where, and nothing twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sound_robot import robot

import bodymotion as bm
from sample_files import corpus_files, sampled, tries

PROTOTYPES = " ".join(
    f"PROTO {name} [ {fields} ] {{ }}"
    for name, fields in {
        "Humanoid": "exposedField MFNode humanoidBody [ ] exposedField MFNode joints [ ] exposedField MFNode segments [ ]",
        "Joint": 'exposedField SFString jointType "" exposedField SFInt32 jointId -1 exposedField SFVec3f jointAxis 0 0 1 '
        "exposedField MFFloat llimit [ ] exposedField MFFloat ulimit [ ] exposedField MFFloat lvlimit [ ] "
        "exposedField MFFloat uvlimit [ ] exposedField SFVec3f translation 0 0 0 exposedField MFNode children [ ]",
        "Segment": "exposedField SFFloat mass 0 exposedField SFVec3f centerOfMass 0 0 0 "
        "exposedField MFFloat momentsOfInertia [ ] exposedField MFNode children [ ]",
    }.items()
)
MODEL = """#VRML V2.0 utf8
%(prototypes)s
DEF R Humanoid {
  humanoidBody [
    DEF BASE Joint {
      jointType "free"
      children [
        DEF BASE_LINK Segment { mass 5 momentsOfInertia [0.1 0 0 0 0.1 0 0 0 0.1] children Shape { geometry Box { size 0.4 0.4 0.4 } } }
        DEF ARM Joint {
          jointType "rotate" jointAxis 0 0 1 jointId 0
          llimit [%(low)s] ulimit [%(high)s]
          lvlimit [-2] uvlimit [2]
          translation 0.3 0 0
          children DEF ARM_LINK Segment {
            mass %(mass)s centerOfMass %(center)s momentsOfInertia [%(inertia)s]
            children Shape { geometry Box { size 0.2 0.2 0.2 } }
          }
        }
      ]
    }
  ]
  joints [ USE BASE USE ARM ]
  segments [ USE BASE_LINK USE ARM_LINK ]
}
"""
BODY_FILE = """format: ChoreonoidBody
format_version: 2.0
name: robot
links:
  -
    name: BASE
    joint_type: free
    mass: 1
    inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]
  -
    name: ARM
    parent: BASE
    joint_type: revolute
    joint_axis: Z
    joint_range: [ 0, 0 ]
    mass: 1
    inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]
"""
SOUND = {
    "low": "-1",
    "high": "1",
    "mass": "1",
    "center": "0 0 0",
    "inertia": "0.01 0 0 0 0.01 0 0 0 0.01",
}


def model(folder: Path, name: str = "robot.wrl", **changes: str) -> Path:
    path = folder / name
    path.write_text(MODEL % (SOUND | {"prototypes": PROTOTYPES} | changes))
    return path


def found(report: bm.Findings) -> list[tuple[str, int | None]]:
    return [(problem.rule, problem.location.line) for problem in report.problems]


def test_a_sound_file(tmp_path):
    assert bm.check(model(tmp_path)) == bm.Findings()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"low": "0", "high": "0"}, [("BODY113", 11)]),
        ({"center": "9 0 0"}, [("BODY135", 15)]),
        ({"inertia": "9 0 0 0 9 0 0 0 9"}, [("BODY136", 15)]),
        # What the reader says with a line of its own is not said again.
        ({"low": "1", "high": "-1"}, [("BODY112", 11)]),
        ({"mass": "0"}, [("BODY131", 15), ("BODY137", 15)]),
        ({"inertia": "0.01 0 0 0 0.01 0 0 0 0.5"}, [("BODY133", 15)]),
        ({"inertia": "0.01 0.005 0 0 0.01 0 0 0 0.01"}, [("BODY134", 15)]),
    ],
)
def test_each_fault_once_with_its_line(tmp_path, changes, expected):
    assert sorted(found(bm.check(model(tmp_path, **changes)))) == sorted(expected)


def test_a_body_in_memory_is_judged_by_itself(tmp_path):
    """What the reader has said of other links does not hush what is wrong with this one."""
    from dataclasses import replace

    body = bm.load(model(tmp_path, low="1", high="-1"))
    links = list(body.links)
    links[0] = replace(
        links[0],
        joint=replace(links[0].joint, type="rotate", id=1, lower=2.0, upper=-2.0),
    )
    codes = {
        problem.rule for problem in bm.check(replace(body, links=tuple(links))).problems
    }
    assert {"BODY112", "BODY119"} <= codes


def test_a_file_that_can_not_be_read(tmp_path):
    broken = model(tmp_path, inertia="1 2 3")
    report = bm.check(broken)
    assert found(report) == [("WRL140", 15)] and not report.ok
    assert bm.check(tmp_path / "nothing.wrl").problems[0].rule == "FMT002"
    assert bm.check(tmp_path).problems[0].rule == "FMT002"
    (tmp_path / "text.txt").write_text("words")
    assert bm.check(tmp_path / "text.txt").problems[0].rule == "FMT001"


def test_what_was_odd_before_the_first_error_is_told_too(tmp_path):
    assert found(bm.check(model(tmp_path, low="1", high="-1", inertia="1 2"))) == [
        ("BODY112", 11),
        ("WRL140", 15),
    ]
    (tmp_path / "walk.seq").write_text(
        "type: CompositeSeq\ncontent: BodyMotion\nframeRate: 50\ncomponents:\n  -\n    type: MultiValueSeq\n"
        "    content: JointDisplacement\n    numParts: 2\n    frames:\n      - [0.1, 0.2]\n      - [0.1]\n"
    )
    assert [rule for rule, _ in found(bm.check(tmp_path / "walk.seq"))] == [
        "SEQ201",
        "SEQ110",
    ]
    text = "format: ChoreonoidBody\nformat_version: 9\nlinks:\n  -\n    name: A\n    joint_type: nothing\n"
    (tmp_path / "robot.body").write_text(text)
    assert [rule for rule, _ in found(bm.check(tmp_path / "robot.body"))] == [
        "BDY103",
        "BDY130",
    ]


def test_select_and_ignore(tmp_path):
    path = model(tmp_path, low="0", high="0", center="9 0 0", mass="0")

    def rules(**options):
        return {problem.rule for problem in bm.check(path, **options).problems}

    everything = {"BODY113", "BODY131", "BODY137"}
    assert rules() == everything
    assert rules(select=["BODY11", "BODY137"]) == {"BODY113", "BODY137"}
    assert rules(select=["BODY"], ignore=["BODY113", "BODY131"]) == {"BODY137"}
    assert rules(select=["BODY113"], ignore=["BODY"]) == {"BODY113"}
    assert rules(ignore=["WRL142", "BODY137"]) == {"BODY113"}
    assert (
        rules(ignore=["WRL14", "BODY137"])
        == rules(select=["BODY113", "VIEW"])
        == {"BODY113"}
    )
    assert rules(select=["WRL"], ignore=["BODY"]) == rules(select=["BVH11"]) == set()
    assert (
        rules(select=["WRL14"], ignore=["BODY"])
        == rules(select=["WRL142"], ignore=["WRL14"])
        == {"BODY131"}
    )
    for names in ({"select": ["NIX"]}, {"ignore": ["BODY9999"]}, {"select": [""]}):
        with pytest.raises(ValueError, match="there is no rule"):
            bm.check(path, **names)


def test_a_motion_on_a_model(tmp_path):
    robot = model(tmp_path)
    q = np.zeros((5, 1))
    q[3] = 1.5
    bm.save(bm.Motion.from_joints(q, 100, joint_names=["ARM"]), tmp_path / "walk.seq")
    lines = (tmp_path / "walk.seq").read_text().splitlines()
    row = next(number for number, line in enumerate(lines, 1) if "1.5" in line)
    report = bm.check(tmp_path / "walk.seq", body=robot)
    assert found(report) == [("MOT204", row), ("MOT302", row)]
    assert report == bm.check(tmp_path / "walk.seq", body=bm.load(robot))
    assert bm.check(tmp_path / "walk.seq") == bm.Findings()
    with pytest.raises(bm.FormatError, match="CHK103"):
        bm.check(tmp_path / "walk.seq", body=tmp_path / "walk.seq")


@pytest.mark.parametrize("name", ["robot.urdf", "robot.xml"])
def test_links_in_xml_have_their_line(tmp_path, name):
    bm.save(bm.load(model(tmp_path, low="0", high="0")), tmp_path / name)
    lines = (tmp_path / name).read_text().splitlines()
    (place,) = (
        p.location for p in bm.check(tmp_path / name).problems if p.rule == "BODY113"
    )
    assert lines[place.line - 1][place.column - 1 :].startswith(("lower=", "range="))


def test_the_lines_of_choreonoid_models(tmp_path):
    (tmp_path / "robot.body").write_text(BODY_FILE)
    assert ("BODY113", 15) in found(bm.check(tmp_path / "robot.body"))


NAMED = {
    "invalid-centerofmass.wrl": ("BODY135", 216),
    "invalid-inertia.wrl": ("BODY133", 218),
    "invalid-opposite-vlimit.wrl": ("BODY112", 244),
    "invalid-same-jointid.wrl": ("BODY117", 254),
    "invalid-same-jointname.wrl": ("BODY101", 270),
    "invalid-same-limit.wrl": ("BODY113", 245),
}


@pytest.mark.parametrize("name", NAMED)
def test_models_that_are_named_invalid(corpus, name):
    """Samples of a converter's tests: the fault that each is named for is told, where it is."""
    (path,) = corpus.glob(f"wrl/**/{name}")
    assert NAMED[name] in found(bm.check(path))


def test_the_reference_programs_walk_fits_its_robot(corpus):
    (robot,) = corpus.glob("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl")
    for path in sampled(
        sorted(
            corpus.glob(
                "seq/choreonoid+choreonoid/sample/SimpleController/SR1Walk*.seq"
            )
        ),
        1,
    ):
        assert bm.check(path, body=robot).ok


def test_every_sample_gets_an_answer(corpus):
    """No sample makes the check itself fail, and no link is told of the same thing twice."""
    for path in sampled(
        corpus_files(
            "wrl/made/*.wrl", "body/**/SR1/*.body", "seq/made/**/*.seq", "cha/**/*.cha"
        )
    ):
        report = bm.check(path)
        assert len(set(report.problems)) == len(report.problems)


def test_the_line_of_a_frame_is_told_in_every_style(tmp_path):
    """Also without a line for each row, where a component before has no frames, and where a comment looks like a row."""
    text = (
        "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: 50\ncomponents:\n{before}  -\n"
        "    type: MultiSE3Seq\n    content: LinkPosition\n    numParts: 1\n    format: XYZQWQXQYQZ\n    frames:\n{rows}"
    )
    rows = "      - [[0, 0, 0, 1, 0, 0, 0]]\n      - [[0, 0, 0, 3, 0, 0, 0]]\n"
    before = "  -\n    type: MultiValueSeq\n    content: JointDisplacement\n    numParts: 1\n"
    for name, changes, line in (
        ("plain", {}, 13),
        ("remark", {"rows": "      # frames\n" + rows}, 14),
        ("bare", {"before": before}, 17),
        (
            "flow",
            {"rows": "      [[[0, 0, 0, 1, 0, 0, 0]], [[0, 0, 0, 3, 0, 0, 0]]]\n"},
            12,
        ),
        ("torn", {"rows": rows.replace("3, 0, 0, 0", "3,\n        0, 0, 0")}, 13),
    ):
        (tmp_path / f"{name}.seq").write_text(
            text.format(**{"before": "", "rows": rows} | changes)
        )
        (place,) = (
            p.location
            for p in bm.check(tmp_path / f"{name}.seq").problems
            if p.rule == "MOT104"
        )
        assert place.line == line, name
        assert (
            place.inside == f"components[{1 if 'before' in changes else 0}].frames[1]"
        )


@settings(max_examples=tries(150))
@given(st.data())
def test_any_bytes_get_an_answer(tmp_path_factory, data):
    """Whatever is done to a file, there is a report: no exception but for wrong use, and nothing that is a fault of ours."""
    folder = tmp_path_factory.mktemp("any")
    name = data.draw(
        st.sampled_from(
            ["robot.wrl", "robot.urdf", "robot.xml", "robot.body", "walk.seq"]
        )
    )
    text = bytearray(SEEDS[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        put = data.draw(
            st.binary(max_size=4)
            | st.sampled_from([b"1e999", b"-1", b"nan", b"{", b"]", b"0 0 0", b'"'])
        )
        text[at : at + cut] = put
    (folder / name).write_bytes(text)
    report = bm.check(folder / name, body=ROBOT)
    assert all(
        isinstance(problem, bm.Problem) and problem.message
        for problem in report.problems
    )


def _seeds() -> dict[str, bytes]:
    """A small file of each kind."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        robot = model(Path(folder))
        body = bm.load(robot)
        for extension in (".urdf", ".xml"):
            bm.save(body, robot.with_suffix(extension))
        bm.save(
            bm.Motion.from_joints(np.zeros((3, 1)), 100, joint_names=["ARM"]),
            Path(folder, "walk.seq"),
        )
        Path(folder, "robot.body").write_text(BODY_FILE)
        return {
            path.name: path.read_bytes()
            for path in Path(folder).iterdir()
            if path.is_file()
        }


SEEDS = _seeds()
ROBOT = robot()
