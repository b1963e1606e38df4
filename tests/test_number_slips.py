"""What makes of a text no number, said in words: each slip is named, and what is merely odd is not guessed at."""

from __future__ import annotations

import pytest

import bodymotion as bm
from bodymotion.diagnostics.spelling import number_slip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,1 0 0", "a decimal comma? Write 0.1"),
        ("0 -12,5", "a decimal comma? Write -12.5"),
        ("0.1,0.2,0.3", "commas between the numbers: write blanks"),
        ("0,1,0", "commas between the numbers: write blanks"),
        ("\u22121.6", "its minus is the character U+2212: write the - of the keyboard"),
        ("\u20130.5", "its minus is the character U+2013: write the - of the keyboard"),
        ("1.5\u00b0", "it has the character U+00B0 (degree sign)"),
        ("${m}", "an expression of xacro: run xacro on the file first"),
        ("$(arg mass)", "an expression of xacro: run xacro on the file first"),
        ("O.11", "the letter O in place of 0?"),
        ("fast", ""),
        ("0x10", ""),
        ("1_000", ""),
        ("nan", ""),
        ("", ""),
    ],
)
def test_slips(text, said):
    assert number_slip(text) == said


SEQ = (
    "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: 50\ncomponents:\n  -\n    type: MultiValueSeq\n"
    "    content: JointDisplacement\n    numParts: 3\n    frames:\n      - [ 0.0, 0.1, 0.2 ]\n      - [ ROW ]\n"
)
URDF = '<robot name="r"><link name="a"><inertial><mass value="VALUE"/></inertial></link></robot>'
WRL = "#VRML V2.0 utf8\nTransform {\n  translation VALUE\n  children [ ]\n}\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("w.seq", SEQ.replace("ROW", "0.0, 0,1, 0.2"), "frame 1 has 4 numbers instead of 3: a decimal comma?"),
        ("w.seq", SEQ.replace("ROW", "0.0, 1, 0.2, 3"), "frame 1 has 4 numbers instead of 3"),
        ("w.seq", SEQ.replace("ROW", "0.0, \u22121, 0.2"), "its minus is the character U+2212"),
        ("w.seq", SEQ.replace("ROW", "0.0, 0.\0" + "1, 0.2"), "frame 1: there is a NUL byte in it"),
        ("r.urdf", URDF.replace("VALUE", "${m}"), "an expression of xacro: run xacro on the file first"),
        ("r.urdf", URDF.replace("VALUE", "0,5"), "a decimal comma? Write 0.5"),
        ("r.wrl", WRL.replace("VALUE", "0,1 0 0"), "is there a decimal comma before it?"),
        ("r.wrl", WRL.replace("VALUE", "1, 0, 0, 0"), "found 0 after translation"),
        ("r.wrl", WRL.replace("VALUE", "0.1 0"), "expected 3 numbers (translation, an SFVec3f)"),
    ],
)
def test_the_first_line_names_the_slip(name, text, said, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    messages = [problem.message for problem in bm.check(tmp_path / name).problems]
    assert any(said in message for message in messages), messages
    assert ("comma" in said) == any("comma" in message for message in messages)


def test_bytes_of_another_encoding_have_their_place(tmp_path):
    """The reader is told where the first byte is that is not UTF-8, and what to do."""
    from bodymotion.cli.messages import lines_of

    before = "# größer\n".encode() * 200_000
    text = SEQ.replace("ROW", "0.0, 1, 0.2").replace("content: BodyMotion", "content: BodyMotion\nauthor: Jürgen")
    (tmp_path / "w.seq").write_bytes(before + "# für ".encode() + text.encode("latin-1"))
    (problem,) = (p for p in bm.check(tmp_path / "w.seq").problems if p.rule == "SEQ220")
    assert problem.message == "the text is not UTF-8: this is the byte 0xfc" and "save it as UTF-8" in problem.hint
    lines = (before + "# für ".encode() + text.encode()).decode().split("\n")
    assert lines[problem.location.line - 1][problem.location.column - 1 :] == "ürgen"
    (tmp_path / "r.urdf").write_bytes('<robot name="r">\n<link name="röb"/>\n</robot>'.encode("latin-1"))
    (problem,) = (p for p in bm.check(tmp_path / "r.urdf").problems if p.rule == "XML101")
    assert (problem.location.line, problem.location.column) == (2, 14) and "UTF-8" in problem.message
    assert lines_of(str(tmp_path / "r.urdf"), {2}) == {2: '<link name="röb"/>'}
