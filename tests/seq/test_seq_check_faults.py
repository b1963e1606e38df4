"""The check of a motion file says everything in one run: what loading says, and what it does not come to after the first fault."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seq_texts import header, joints, motions
from test_seq_rules import BROKEN, without_mark

import bodymotion as bm
from bodymotion.diagnostics import FormatError, Problem
from bodymotion.diagnostics.problem import MAX_LISTED
from bodymotion.formats.seq import parse_seq, read_seq, read_source
from bodymotion.formats.seq.scan import ByteSource
from sample_files import tries


def checked(text: str | bytes) -> tuple[Problem, ...]:
    data = text.encode() if isinstance(text, str) else text
    return read_source(ByteSource(None, data, None)).problems


def reported(text: str | bytes) -> list[tuple[str, int | None]]:
    return [(problem.rule, problem.location.line) for problem in checked(text)]


@pytest.mark.parametrize(("rule", "text"), BROKEN)
def test_all_that_loading_says_is_said(rule, text):
    """Only numbers and what is no YAML are named more exactly, and rows that are all of another width are named at their header."""
    data, _, _ = without_mark(text)
    try:
        loaded = parse_seq(data).problems
    except FormatError as error:
        loaded = error.problems
    found = checked(data)
    for problem in loaded:
        assert problem in found
    assert rule in {p.rule for p in found} | (
        {"SEQ110"} if "SEQ115" in {p.rule for p in found} else set()
    )


@settings(max_examples=tries(60))
@given(motions())
def test_a_faultless_text_is_checked_as_it_is_loaded(text):
    assert checked(text.data) == parse_seq(text.data).problems


GOOD = "[ 0.5, 1, 2 ]"
FAULTS = {
    "[ 0.5, 1 ]": "SEQ110",
    "[ 0.5, 1, 2, 3 ]": "SEQ110",
    "[ 0.5, 0x1, 2 ]": "SEQ111",
    "[ 0.5, '1', 2 ]": "SEQ111",
    "[ [ 1 ], 1, 2 ]": "SEQ110",
    "{ a: 1 }": "SEQ110",
    "7": "SEQ110",
    "[ 0.5, 1, 2": "YAML101",
    "[ 0.5, 1, 2 ]]": "YAML101",
    "[ 0.5, *a, 2 ]": "YAML102",
}


@settings(max_examples=tries(60))
@given(st.lists(st.sampled_from([GOOD, *FAULTS]), min_size=1, max_size=60))
def test_no_bad_row_hides_another(rows):
    """Each faulty row is named at its line, whatever stands around it, as far as they are listed."""
    text = joints("\n" + "".join(f"      - {row}\n" for row in [GOOD, *rows]), parts=3)
    expected = [(FAULTS[row], 12 + k) for k, row in enumerate(rows) if row in FAULTS]
    assert reported(text) == expected


def test_numbers_are_named_where_they_stand():
    text = joints("\n      - [ 1, 0x2, 1_0 ]\n      - [ 1, 2, x ]\n", parts=3)
    assert [(p.location.line, p.location.column) for p in checked(text)] == [
        (11, 14),
        (11, 19),
        (12, 17),
    ]


def test_more_than_are_listed_are_counted():
    found = checked(
        joints("\n" + "      - [ 1, 2 ]\n      - [ 1 ]\n      - [ x, 1 ]\n" * 1500)
    )
    for rule in ("SEQ110", "SEQ111"):
        problems = [problem for problem in found if problem.rule == rule]
        assert (
            len(problems) == MAX_LISTED
            and sum(problem.count for problem in problems) == 1500
        )


def test_a_component_of_which_most_is_wrong_is_given_up(monkeypatch):
    monkeypatch.setattr("bodymotion.formats.seq.reader.MAX_FAULTY_ROWS", 100)
    monkeypatch.setattr("bodymotion.formats.seq.scan.PIECE", 1000)
    text = joints("\n      - [ 1, 2 ]\n" + "      - [ 1 ]\n" * 5000)
    result = read_source(ByteSource(None, text.encode(), None))
    assert 100 < len(result.problems) < 1000
    assert not result.value.source.locations.is_known(("components", 0, "frames", 4999))


def test_every_header_of_every_component():
    text = header(
        "  - {type: MultiValueSeq, content: JointDisplacement, numParts: two, frames: [[1, 2], [3]]}\n"
        "  - {type: MultiSE3Seq, content: LinkPosition, numParts: 1, SE3Format: XYZABC, frames: [[[0, 0, 0, 1, 0, 0, 0]]]}\n"
        "  - {type: Vector3Seq, content: ZMP, isRootRelative: so, frames: [[1, 2, 3], [1, 2]]}\n"
        "  - {content: ZMP, frames: [[1, 2, x]]}\n"
        "  - 7\n"
        "  - {type: MultiValueSeq, content: JointEffort, numParts: 1, frames: 7}\n"
        "  - {type: FooSeq, content: Foo}\n"
        "  - {type: MultiValueSeq, content: Mine, numParts: 1, hasFrameTime: 3, frames: [[0, 1], [1, 2], [0.5, 3]]}\n",
        rate="frameRate: fast",
    )
    found = reported(text)
    for rule, line in [
        ("MOT106", 4),
        ("SEQ105", 6),
        ("SEQ110", 6),
        ("SEQ108", 7),
        ("YAML104", 8),
        ("SEQ110", 8),
        ("SEQ102", 9),
        ("SEQ111", 9),
        ("YAML104", 10),
        ("YAML104", 11),
        ("SEQ207", 12),
        ("YAML104", 13),
        ("MOT105", 13),
    ]:
        assert (rule, line) in found
    assert ("SEQ103", 6) not in found, "a frame rate is given, if a wrong one"
    assert ("SEQ212", 6) not in found, "numParts is given, if wrong"


def test_headers_that_are_no_yaml_end_the_reading():
    text = (
        "type: CompositeSeq\ncontent: BodyMotion\nformatVersion 2\nframeRate: fast\ncomponents:\n"
        "  - type: MultiValueSeq\n    content: [JointDisplacement\n    numParts: 2\n    frames:\n"
        "      - [0, 0.1]\n      - [0, 0x1]\n"
    )
    assert [(p.rule, p.location.line) for p in checked(text)] == [("YAML101", 3)]


def test_a_wrong_number_of_parts_is_told_once():
    rows = "\n" + "      - [ 1, 2 ]\n" * 30
    assert reported(joints(rows, parts=3)) == [("SEQ115", 9)]
    assert reported(joints(rows + "      - [ 1, x ]\n", parts=3)) == [
        ("SEQ115", 9),
        ("SEQ111", 41),
    ]
    # Where rows differ it is the rows that are wrong.
    assert [
        rule for rule, _ in reported(joints(rows + "      - [ 1, 2, 3 ]\n", parts=3))
    ] == ["SEQ110"] * 30


def test_times_are_compared_with_the_last_one_that_is_a_time():
    rows = "".join(
        f"      - [ {t}, 1 ]\n" for t in ("0", "1", "0.5", "2", "nan", "2", "3")
    )
    text = joints("\n" + rows, parts=1).replace(
        "numParts", "hasFrameTime: true\n    numParts"
    )
    assert reported(text) == [("MOT105", 14), ("MOT105", 16), ("MOT105", 17)]


def test_aliases_are_looked_at_once():
    rows = "&f [[1, 2], [3]]"
    parts = "".join(
        f"  - {{type: MultiValueSeq, content: JointEffort, numParts: 2, frames: {rows if not k else '*f'}}}\n"
        for k in range(50)
    )
    assert [rule for rule, _ in reported(header(parts))].count("SEQ110") == 1


def test_a_file_with_a_fault_is_read_in_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("bodymotion.formats.seq.scan.PIECE", 1 << 16)
    path = tmp_path / "long.seq"
    motion = bm.Motion.from_joints(
        np.random.default_rng(0).normal(size=(50_000, 30)), 100
    )
    bm.save(motion, path)
    with path.open("a") as file:
        file.write("      - [ 1 ]\n")
    tracemalloc.start()
    try:
        (problem, warning) = sorted(read_seq(path).problems, key=lambda p: p.rule)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert problem.rule == "SEQ110" and warning.rule == "SEQ214"
    arrays = motion.joint_displacement.values.nbytes
    assert path.stat().st_size > 30e6 and peak < 1.3 * arrays + 10e6


@settings(max_examples=tries(80))
@given(motions(), st.data())
def test_whatever_is_done_to_a_text_loading_and_checking_agree(text, data):
    """What loads without errors is checked without errors but for what is about the numbers, and what is refused has an error."""
    broken = bytearray(text.data)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(broken)))
        cut = data.draw(st.integers(0, 6))
        broken[at : at + cut] = data.draw(
            st.sampled_from(
                [b"", b"[", b"]", b",", b"x", b"nan", b"- ", b"\n", b"{", b'"', b": "]
            )
        )
    try:
        loaded = parse_seq(bytes(broken))
    except FormatError as error:
        assert any(p.severity == "error" for p in checked(bytes(broken))), error
    else:
        found = checked(bytes(broken))
        assert {p.rule for p in found} == {p.rule for p in loaded.problems}
