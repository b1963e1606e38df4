"""Each rule has a text that breaks it, and the place named is the one that a person would point at."""

from __future__ import annotations

import numpy as np
import pytest
from seq_texts import by_yaml, header, joints

from bodymotion import FormatError
from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.catalogue import catalogue, rules_of
from bodymotion.formats.seq import open_motion, parse_seq, read_seq, read_source, rules
from bodymotion.formats.seq.scan import ByteSource

ROWS = "\n      - [ 1, 2 ]\n      - [ 3, 4 ]\n"
LINKS = "  - type: MultiSE3Seq\n    content: LinkPosition\n    numParts: 1\n    SE3Format: {}\n    frames:\n      - [ {} ]\n"
POSE = "[ 1, 2, 3, 1, 0, 0, 0 ]"
FLOW = "  - {{type: MultiValueSeq, content: JointDisplacement, numParts: 1, {}, frames: [[1], [2]]}}\n"
VALUES = "  - {type: MultiValueSeq, content: JointDisplacement, numParts: 1, frames: [[1], [2]]}\n"
ZMP = "  - {type: Vector3Seq, content: ZMP, frames: [[1, 2, 3], [1, 2, 3]]}\n"

HERE = "¦"
"""Stands in the texts below before the character that a rule is expected to point at; it is taken out before reading."""

BROKEN: list[tuple[str, str | bytes]] = [
    ("YAML101", "type: CompositeSeq\ncomponents: [\n"),
    ("YAML101", "type: CompositeSeq\n¦\tframeRate: 1\n"),
    ("YAML101", "type: CompositeSeq\nnote: ¦\x07\n"),
    ("YAML101", "type: CompositeSeq\nnote: " + "[" * 99 + "¦[" + "]" * 100),
    ("SEQ003", "¦"),
    ("SEQ003", "¦- 1\n- 2\n"),
    ("SEQ003", "¦just a text"),
    ("SEQ003", "¦frameRate: 10\n"),
    ("SEQ003", "# pose\ntype: ¦PoseSeq\nrefs: []\n"),
    ("SEQ003", "type: ¦SomethingElse\n"),
    ("SEQ004", "type: CompositeSeq\nformatVersion: ¦5.0\n"),
    ("SEQ004", "type: CompositeSeq\nformatVersion: ¦two\n"),
    ("SEQ004", "type: CompositeSeq\nformat_version: ¦nan\n"),
    ("YAML102", "type: CompositeSeq\ncomponents: ¦*there\n"),
    ("YAML102", "type: CompositeSeq\ncomponents: &a [¦*a]\n"),
    ("SEQ007", "type: ¦!!python/object/apply:os.system CompositeSeq\n"),
    ("YAML104", "type: CompositeSeq\nformatVersion: 2\ncomponents: ¦{}\n"),
    ("YAML104", "type: CompositeSeq\nformatVersion: 2\ncomponents: [¦1]\n"),
    ("SEQ102", header("  - ¦content: ZMP\n    frames: []\n")),
    (
        "SEQ103",
        header(
            "  - ¦{type: Vector3Seq, content: ZMP, frames: [[1, 2, 3]]}\n",
            rate="note: none",
        ),
    ),
    ("MOT106", header(VALUES, rate="frameRate: ¦0")),
    ("MOT106", header(VALUES, rate="frameRate: ¦-5")),
    ("MOT106", header(VALUES, rate="frameRate: ¦nan")),
    ("MOT106", header(VALUES, rate="frameRate: ¦.inf")),
    ("MOT106", header(VALUES, rate="frameRate: ¦fast")),
    ("MOT106", header(FLOW.format("frameRate: ¦1_000"))),
    ("SEQ105", joints(ROWS, "¦two")),
    ("SEQ105", joints(ROWS, "¦-1")),
    ("SEQ105", joints(ROWS, "¦2.5")),
    ("SEQ105", joints(ROWS, f"¦{10**30}")),
    ("YAML104", header(FLOW.format("hasFrameTime: ¦maybe"))),
    (
        "YAML104",
        header(
            "  - {type: Vector3Seq, content: ZMP, isRootRelative: ¦2, frames: [[1, 2, 3]]}\n"
        ),
    ),
    ("SEQ107", header(FLOW.format("hasFrameTime: ¦true"), version=1)),
    ("SEQ108", header(LINKS.format("¦QUATERNION", POSE))),
    (
        "SEQ108",
        header(
            LINKS.format("XYZRPY", "[ 1, 2, 3 ]")
            .replace("    SE3Format: XYZRPY\n", "")
            .replace("- [ [", "- ¦[ [")
        ),
    ),
    (
        "YAML104",
        header(
            "  - type: MultiValueSeq\n    content: JointEffort\n    numParts: 1\n    frames: ¦7\n"
        ),
    ),
    (
        "YAML104",
        header(
            "  - type: MultiValueSeq\n    content: JointEffort\n    numParts: 1\n    frames: ¦{a: 1}\n"
        ),
    ),
    ("SEQ110", joints("\n      - [ 1, 2 ]\n      - ¦[ 3 ]\n")),
    ("SEQ110", joints("\n      - ¦[ 1, 2, 3 ]\n      - [ 4 ]\n")),
    ("SEQ110", joints(" [[1, 2], [3, 4], ¦[5, 6, 7]]\n")),
    ("SEQ110", joints("\n      - [ 1, 2 ]\n      - ¦[]\n")),
    ("SEQ110", joints("\n      - [ 1, 2 ]\n      - [ ¦[ 3 ], 4 ]\n")),
    ("SEQ110", joints("\n      - [ 1, 2 ]\n      - ¦3\n      - 4\n")),
    ("SEQ110", joints("\n      - [ 1, 2 ]\n      - ¦{ a: 3, b: 4 }\n")),
    ("SEQ110", joints("\n      - - 1\n        - 2\n      - ¦- 3\n")),
    ("SEQ110", header(LINKS.format("XYZRPY", "¦" + POSE))),
    (
        "SEQ110",
        header(LINKS.format("XYZRPY", "1, 2, 3, 4, 5, 6").replace("- [", "- ¦[")),
    ),
    ("SEQ110", header(LINKS.format("XYZRPY", "¦7"))),
    ("SEQ111", joints("\n      - [ 1, 2 ]\n      - [ 1, ¦1.5abc ]\n")),
    ("SEQ111", joints('\n      - [ 1, 2 ]\n      - [ 1, ¦"7" ]\n')),
    ("SEQ111", joints("\n      - [ 1, 2 ]\n      - [ 1, ¦~ ]\n")),
    ("SEQ111", joints("\n      - [ 1, 2 ]\n      - [ ¦1 2, 3 ]\n")),
    (
        "SEQ111",
        joints(
            "\n      - [ 1, 2 ] # one\n\n      # two\n      - [ 3,\n          ¦x ]\n"
        ),
    ),
    (
        "MOT105",
        header(
            FLOW.format("hasFrameTime: true").replace("[[1], [2]]", "[[0, 1], [¦0, 2]]")
        ),
    ),
    (
        "MOT105",
        header(
            FLOW.format("hasFrameTime: true").replace(
                "[[1], [2]]", "[[¦nan, 1], [0, 2]]"
            )
        ),
    ),
    (
        "FMT009",
        header(f"  [ ¦{', '.join(['*a'] * 10001)} ]\n", rate="x: &a {}").replace(
            "[ ¦", "¦[ "
        ),
    ),
    ("YAML104", header(VALUES, rate="frameRate: ¦[100]")),
    (
        "SEQ116",
        header(
            "-\n# Component 1\n¦type: Vector3Seq\ncontent: ZMP\nframes:\n- [ 0, 0, 0 ]\n- [ 0, 0, 1 ]\n"
        ),
    ),
    (
        "SEQ116",
        header(
            "- type: Vector3Seq\n¦content: ZMP\nframes:\n- [ 0, 0, 0 ]\n- [ 0, 0, 1 ]\n"
        ),
    ),
    ("SEQ224", header(VALUES, rate="base: &b {frameRate: 5}\n¦<<: *b")),
    ("SEQ201", "¦type: CompositeSeq\nframeRate: 1\ncomponents:\n" + VALUES),
    ("SEQ202", header(VALUES).replace("Version: 2", "Version: ¦0.5")),
    ("SEQ203", header(VALUES).replace("CompositeSeq", "¦BodyMotion")),
    ("SEQ203", "¦formatVersion: 2\nframeRate: 1\ncomponents: []\n"),
    ("SEQ204", header(VALUES).replace("content: BodyMotion", "content: ¦Dance")),
    ("SEQ204", "¦type: CompositeSeq\nformatVersion: 2\nframeRate: 1\ncomponents: []\n"),
    (
        "SEQ205",
        "type: ¦Vector3Seq\ncontent: ZMP\nformatVersion: 2\nframeRate: 1\nframes: [[1, 2, 3]]\n",
    ),
    ("SEQ206", "type: CompositeSeq\nformatVersion: 2\ncomponents: ¦[]\n"),
    ("SEQ206", "¦type: CompositeSeq\nformatVersion: 2\n"),
    ("SEQ207", header("  - type: ¦FooSeq\n    content: Bar\n    frames: [[1]]\n")),
    ("SEQ208", header("  - ¦{type: Vector3Seq, frames: [[1, 2, 3]]}\n")),
    ("SEQ209", header(VALUES.replace("JointDisplacement", "¦JointPosition"))),
    ("SEQ209", header(VALUES.replace("JointD", "¦JointD"), version=3)),
    ("SEQ210", header(ZMP.replace("ZMP", "¦JointDisplacement"))),
    ("SEQ211", header(ZMP + ZMP.replace("{", "¦{"))),
    (
        "SEQ212",
        header(
            "  - ¦{type: MultiValueSeq, content: JointEffort, frames: [[1, 2], [3, 4]]}\n"
        ),
    ),
    (
        "SEQ213",
        header(
            "  - {type: Vector3Seq, content: ZMP, numParts: ¦3, frames: [[1, 2, 3]]}\n"
        ),
    ),
    ("SEQ214", header(FLOW.format("numFrames: ¦3"))),
    ("SEQ214", header(VALUES, rate="numFrames: ¦3\nframeRate: 1")),
    (
        "SEQ215",
        header(
            "  - ¦{type: MultiSE3Seq, content: LinkPosition, numParts: 1, frames: [[[1, 2, 3, 4, 5, 6]]]}\n"
        ),
    ),
    ("SEQ216", header("  - ¦{type: Vector3Seq, content: ZMP}\n")),
    ("SEQ217", header(VALUES.replace("{", "¦{") + ZMP.replace("[1, 2, 3], ", ""))),
    ("SEQ218", header(FLOW.format("frameRate: 50").replace("{", "¦{"))),
    ("YAML103", header(VALUES, rate="frameRate: 1\n¦frame_rate: 2")),
    ("FMT011", header(VALUES).encode() + "# 歩行\n".encode("cp932")),
    ("SEQ221", header(VALUES) + "¦---\nmore: 1\n"),
    ("SEQ222", header(FLOW.format("partLabels: ¦[a, b]"))),
    ("SEQ222", header(FLOW.format("part_labels: ¦a"))),
    ("SEQ223", header(FLOW.format("numFrames: ¦many"))),
    ("YAML106", header(FLOW.format("¦numFrame: 1"))),
    ("SEQ226", header(VALUES).replace("content: Joint", "content: ¦Joitn")),
    ("SEQ227", header(VALUES, rate="frameRate: ¦1e308")),
]


def problems_of(text: bytes) -> list[Problem]:
    try:
        return list(parse_seq(text).problems)
    except FormatError as error:
        return list(error.problems)


def without_mark(text: str | bytes) -> tuple[bytes, int | None, int | None]:
    """Return the text, and the line and column of the mark in it."""
    if isinstance(text, bytes) or HERE not in text:
        return text if isinstance(text, bytes) else text.encode(), None, None
    before = text[: text.index(HERE)]
    return (
        text.replace(HERE, "").encode(),
        before.count("\n") + 1,
        len(before) - before.rfind("\n"),
    )


NAMED = pytest.mark.parametrize(
    ("rule", "text"), BROKEN, ids=[f"{row[0]}-{k}" for k, row in enumerate(BROKEN)]
)


@NAMED
def test_broken_rule_is_named_with_its_place(rule, text):
    data, line, column = without_mark(text)
    found = [problem for problem in problems_of(data) if problem.rule == rule]
    assert found, problems_of(data)
    if line is not None:
        assert (found[0].location.line, found[0].location.column) == (line, column), (
            found
        )
    assert found[0].severity == catalogue()[rule].severity


@NAMED
def test_a_full_yaml_parse_says_the_same(rule, text):
    data, _, _ = without_mark(text)
    try:
        expected = list(by_yaml(data).problems)
    except FormatError as error:
        expected = list(error.problems)
    found = problems_of(data)
    if any(problem.rule == "YAML101" for problem in expected):
        # Only the reader of files tries likely fixes.
        assert found[0].rule in {problem.rule for problem in expected}
    else:
        assert found == expected


def test_each_rule_has_a_text(tmp_path, monkeypatch):
    codes = [rule.code for rule in rules_of(rules)]
    assert len(set(codes)) == len(codes)
    elsewhere = {"SEQ005", "SEQ115"}  # the two tests below, and the check's own
    assert {row[0] for row in BROKEN if row[0].startswith("SEQ")} | elsewhere == set(
        codes
    )


def test_file_that_is_not_there(tmp_path):
    with pytest.raises(FormatError, match="FMT002"):
        read_seq(tmp_path / "nothing.seq").require()
    with pytest.raises(FormatError, match="FMT002"):
        read_seq(tmp_path).require()


def test_large_file_in_an_unusual_shape(monkeypatch):
    text = joints("\n      - - 1\n        - 2\n").encode()
    assert np.array_equal(parse_seq(text).joint_displacement.values, [[1, 2]])
    monkeypatch.setattr("bodymotion.formats.seq.document.MAX_WHOLE", 20)
    monkeypatch.setattr("bodymotion.formats.seq.scan.MAX_SKELETON", 20)
    with pytest.raises(FormatError, match="SEQ005"):
        parse_seq(text)
    monkeypatch.setattr("bodymotion.formats.seq.scan.MAX_SKELETON", 1 << 20)
    # A usual one may be as large as it likes, and what is wrong with it is still said.
    assert parse_seq(joints(ROWS).encode()).num_frames == 2
    with pytest.raises(FormatError, match="SEQ115"):
        parse_seq(joints("\n      - [ 1 ]\n").encode())
    with pytest.raises(FormatError, match="YAML101"):
        parse_seq(joints(ROWS + "   x: [\n").encode())


def test_a_row_of_another_length_is_located():
    (problem,) = problems_of(
        joints("\n      - [ 1, 2 ]\n      - [ 3, 4, 5 ]\n").encode()
    )
    assert (problem.rule, problem.location.line, problem.location.column) == (
        "SEQ110",
        12,
        9,
    )
    assert problem.location.inside == "components[0].frames[1]"
    stamped = (
        joints("\n      - [ 0.5, 1 ]\n")
        .replace("numParts", "hasFrameTime: true\n    numParts")
        .encode()
    )
    (problem,) = problems_of(stamped)
    assert (problem.rule, problem.location.line) == ("SEQ115", 10)


def test_rows_of_other_lengths_that_make_up_the_same_number_of_values():
    rows = [28, 30, 29]
    text = joints(
        "\n" + "".join("      - [ " + ", ".join(["1"] * n) + " ]\n" for n in rows), 29
    )
    problems = problems_of(text.encode())
    assert [(problem.rule, problem.location.line) for problem in problems] == [
        ("SEQ110", 11),
        ("SEQ110", 12),
    ]
    poses = "[ 1, 2, 3, 4, 5, 6 ], [ 1, 2, 3, 4, 5, 6, 7, 8 ]"
    (problem,) = problems_of(
        header(
            LINKS.format("XYZQWQXQYQZ", poses).replace("numParts: 1", "numParts: 2")
        ).encode()
    )
    assert (problem.rule, problem.location.line, problem.location.column) == (
        "SEQ110",
        11,
        11,
    )


def test_faulty_rows_are_unknown_and_located():
    text = joints(
        "\n      - [ 1, 2 ]\n" + "      - [ 0x1, 2 ]\n      - [ 3, 4 ]\n" * 3
    ).encode()
    result = read_source(ByteSource(None, text, "walk.seq"))
    assert result.refusal is not None and not result.whole
    assert [(p.rule, p.location.line, p.subject) for p in result.problems] == [
        ("SEQ111", 12 + 2 * k, ("components", 0, "frames", 1 + 2 * k)) for k in range(3)
    ]
    values = result.value.joint_displacement.values
    assert np.isnan(values[1::2]).all() and (values[2::2] == [3, 4]).all()
    locations = result.value.source.locations
    assert not locations.is_known(
        ("components", 0, "frames", 3)
    ) and locations.is_known(("components", 0, "frames", 2))
    for subject, place in (
        ((), (7, 5)),
        (("frame_rate",), (4, 12)),
        (("frames", 2), (13, 9)),
        (("frames", 2, 1), (13, 14)),
    ):
        found = locations.locate(("components", 0, *subject))
        assert (found.path, found.line, found.column) == ("walk.seq", *place)


def test_frames_of_a_file_are_located_after_it_is_closed(tmp_path):
    path = tmp_path / "walk.seq"
    for text in (
        joints(ROWS),
        joints(" [[1, 2], [3, 4]]\n"),
        joints("\n      - &a [ 1, 2 ]\n      - *a\n"),
    ):
        path.write_text(text)
        locations = (
            parse_seq(text.encode(), "x").source.locations,
            read_seq(path).require().source.locations,
        )
        inside, outside = (
            found.locate(("components", 0, "frames", 1)) for found in locations
        )
        assert (inside.line, inside.column) == (outside.line, outside.column)
        assert outside.path == str(path)
    path.write_text(joints(ROWS))
    locations = read_seq(path).require().source.locations
    path.unlink()
    assert locations.locate(("components", 0, "frames", 1)).line == 7
    assert locations.locate(("components", 0)).line == 7


CUT = {
    "lines": joints("\n" + "      - [ 1.5, 2 ]\n" * 400),
    "blocks": joints("\n" + "      - - 1.5\n        - 2\n" * 400),
    "flow": header(
        "  - {type: MultiValueSeq, content: JointDisplacement, numParts: 2, frames: [\n"
        + ",\n".join(["[1.5, 2]"] * 400)
    ),
}


@pytest.mark.parametrize("style", CUT)
def test_a_large_file_that_was_cut_off_names_the_row(style, monkeypatch, tmp_path):
    """The last row ends too early, in a file that is too large to be parsed as a whole."""
    text = CUT[style]
    monkeypatch.setattr("bodymotion.formats.seq.document.MAX_WHOLE", 1000)
    monkeypatch.setattr("bodymotion.formats.seq.scan.PIECE", 1000)
    start = text.rindex(
        "[" if style == "flow" else "- [" if style == "lines" else "- -"
    )
    line = text.count("\n", 0, start) + 1
    path = tmp_path / "motion.seq"
    for stop in range(
        start + 1,
        len(text.rstrip()) if style != "blocks" else text.rindex("\n        -") + 1,
    ):
        path.write_text(text[:stop])
        with pytest.raises(FormatError) as caught:
            read_seq(path).require()
        problem = caught.value.problem
        assert problem.rule in ("YAML101", "SEQ110")
        assert problem.location.line == line
        assert problem.location.column
        with pytest.raises(FormatError) as caught, open_motion(path) as reader:
            list(reader.chunks(7))
        assert (caught.value.problem.rule, caught.value.problem.location.line) == (
            problem.rule,
            line,
        )


def test_a_large_file_names_the_place_of_what_it_may_not_have(monkeypatch):
    monkeypatch.setattr("bodymotion.formats.seq.document.MAX_WHOLE", 1000)
    rows = "      - [ 1.5, 2 ]\n" * 100
    for row, rule, column in (
        ("[ 1, *a ]", "SEQ005", 14),
        ("[ 1, 2", "YAML101", 15),
        ("[ 1, ½ ]", "SEQ005", 14),
    ):
        problem, *others = problems_of(
            joints(f"\n{rows}      - {row}\n{rows}").encode()
        )
        assert (problem.rule, problem.location.column) == (rule, column)
        assert {one.location.line for one in (problem, *others)} == {111}
