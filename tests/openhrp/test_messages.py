"""What is said of a field that holds something else than it should."""

from __future__ import annotations

import pytest

from bodymotion.diagnostics import FormatError
from bodymotion.formats.openhrp import read_openhrp

MODEL = """#VRML V2.0 utf8
DEF A Humanoid { humanoidBody [ DEF W Joint { jointType "fixed" children [ DEF S Segment { %s } ] } ] }
"""


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ('mass "1"', "mass must be a number, here it is '1'"),
        ('centerOfMass "1"', "centerOfMass must be 3 numbers, here it is '1'"),
        ('momentsOfInertia "1"', "momentsOfInertia must be a list of numbers, here it is '1'"),
    ],
)
def test_a_field_that_is_no_number(tmp_path, field, words):
    (tmp_path / "a.wrl").write_text(MODEL % field)
    with pytest.raises(FormatError) as caught:
        read_openhrp(tmp_path / "a.wrl")
    assert words in caught.value.problem.message
