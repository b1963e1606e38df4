"""A field with a value of the wrong type."""

from __future__ import annotations

import pytest

from bodymotion.diagnostics import FormatError
from bodymotion.formats.openhrp import read_openhrp

MODEL = """#VRML V2.0 utf8
DEF A Humanoid { humanoidBody [ DEF W Joint { jointType "fixed" children [ DEF S Segment { %s } ] } ] }
"""


@pytest.mark.parametrize(
    "field", ['mass "1"', 'centerOfMass "1"', 'momentsOfInertia "1"']
)
def test_a_field_of_the_wrong_type_is_refused_at_its_location(tmp_path, field):
    (tmp_path / "a.wrl").write_text(MODEL % field)
    with pytest.raises(FormatError) as caught:
        read_openhrp(tmp_path / "a.wrl").require()
    problem = caught.value.problem
    assert (problem.rule, problem.location.line, problem.location.column) == (
        "VRML201",
        2,
        MODEL.splitlines()[1].index("%") + 1,
    )


def test_what_was_not_read_is_unknown(tmp_path):
    (tmp_path / "a.wrl").write_text(MODEL % 'mass "1" momentsOfInertia [ 1 ]')
    body = read_openhrp(tmp_path / "a.wrl").value
    assert not body.source.locations.is_known(("links", 0, "mass"))
    assert not body.source.locations.is_known(("links", 0, "inertia"))
    assert body.source.locations.is_known(("links", 0, "center_of_mass"))
