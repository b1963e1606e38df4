"""Rows that all have another number of parts than numParts says: what is asked of whoever wrote them."""

from __future__ import annotations

import pytest

from bodymotion.formats.seq import read_source
from bodymotion.formats.seq.scan import ByteSource

TEXT = """\
type: CompositeSeq
content: BodyMotion
formatVersion: 4
components:
  - type: MultiValueSeq
    content: JointDisplacement
    frameRate: 100
    {keys}
    frames:
{rows}"""


def reported(
    *rows: str, keys: str = "numParts: 3"
) -> list[tuple[str, int | None, str]]:
    """Check a motion of some rows; give rule, line, and what is said with its hint."""
    text = TEXT.format(keys=keys, rows="".join(f"      - [ {row} ]\n" for row in rows))
    return [
        (p.rule, p.location.line, f"{p.message} [{p.hint}]")
        for p in read_source(ByteSource(None, text.encode(), None)).problems
    ]


TIMED = "numParts: 3\n    hasFrameTime: yes"
USUAL = ("0.0, 0.1, 0.2", "0.1, 0.1, 0.2", "0.0, 0.1, 0.2")


@pytest.mark.parametrize(
    ("rows", "keys", "counts", "hint"),
    [
        (
            ("0,0, 0,1, 0,2", "0,3, -0,1, 12,05"),
            "numParts: 3",
            "3, but all rows have 6 numbers",
            "decimal comma",
        ),
        (
            ("0,0,0,1,0,2",),
            "numParts: 3",
            "3, but all rows have 6 numbers",
            "decimal comma",
        ),
        (
            ("0.0, 0,1, 0.2",),
            "numParts: 3",
            "3, but all rows have 4 numbers",
            "decimal comma",
        ),
        (
            ("0,00, 0,0, 0,1, 0,2", "0,01, 0,0, 0,1, 0,2"),
            TIMED,
            "7 numbers besides the time",
            "decimal comma",
        ),
        (
            ("0.50, 0.0, 0.1, 0.2", "0.51, 0, 0, 0", "0.52, 0, 0, 0"),
            "numParts: 3",
            "have 4 numbers",
            "hasFrameTime: true",
        ),
        (
            USUAL,
            TIMED,
            "3, but all rows have 2 numbers besides the time",
            "is hasFrameTime wrong?",
        ),
        # What may as well be a wrong number of parts.
        (
            ("0, 0, 0, 0, 0, 0",),
            "numParts: 3",
            "have 6 numbers",
            "either numParts is wrong, or",
        ),
        (
            ("0, 0, 0, 0, 0, 1", "0.5, 0, 0, 0, 0, 0"),
            "numParts: 3",
            "have 6 numbers",
            "either numParts is wrong, or",
        ),
        (
            ("0, 0, 1, -1, 2, 1",),
            "numParts: 3",
            "have 6 numbers",
            "either numParts is wrong, or",
        ),
        (
            ("0.0, 0, 1, 0.2",),
            "numParts: 3",
            "have 4 numbers",
            "either numParts is wrong, or",
        ),
        (
            ("0.5,0,1,0.2",),
            "numParts: 3",
            "have 4 numbers",
            "either numParts is wrong, or",
        ),
        (
            ("0.5, 0.0, 0.1, 0.2", "0.7, 0, 0, 0"),
            "numParts: 3",
            "have 4 numbers",
            "either numParts is wrong, or",
        ),
        (
            ("0.1, 0.1, 0.2", "0.2, 0.1, 0.2"),
            TIMED,
            "2 numbers besides the time",
            "either numParts is wrong, or",
        ),
        (
            ("0.1, 0.2",) * 2,
            "numParts: 1\n    numParts: 3",
            "3, but all rows have 2",
            "either numParts is wrong, or",
        ),
    ],
)
def test_what_may_be_meant_is_asked(rows, keys, counts, hint):
    (rule, line, text), *others = [
        row for row in reported(*rows, keys=keys) if row[0] != "YAML103"
    ]
    assert (rule, line) == ("SEQ115", 9 if keys.count("numParts") > 1 else 8)
    assert counts in text and hint in text
    assert not others, "what follows from it is not told"


def test_rows_are_looked_at_whatever_the_hint():
    found = reported("0.0, 0.1, 0.2", "0.1, x, 0.2", keys=TIMED)
    assert [row[:2] for row in found] == [("SEQ115", 8), ("SEQ111", 12)]


@pytest.mark.parametrize(("rows", "severity"), [((), "error"), (USUAL, "warning")])
def test_rows_that_are_missing_at_the_end(rows, severity):
    text = TEXT.format(
        keys="numParts: 3\n    numFrames: 4",
        rows="".join(f"      - [ {row} ]\n" for row in rows),
    )
    (problem,) = (
        p
        for p in read_source(ByteSource(None, text.encode(), None)).problems
        if p.rule == "SEQ214"
    )
    assert problem.severity == severity and "cut off" in problem.hint


def test_a_text_of_version_3_that_does_not_say_so():
    text = TEXT.format(keys="numParts: 3", rows="      - [ 1, 2, 3 ]\n").replace(
        "formatVersion: 4\n", ""
    )
    for content, version in (
        ("MultiJointDisplacementSeq", 3),
        ("JointDisplacement", 2),
    ):
        (problem,) = read_source(
            ByteSource(None, text.replace("JointDisplacement", content).encode(), None)
        ).problems
        assert (
            problem.rule == "SEQ201"
            and f"add 'formatVersion: {version}'" in problem.hint
        )
