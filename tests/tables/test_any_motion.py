"""Whatever can be written as a table can be read again, and is the same but for what was reported."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.writing.test_seq_writing import motions

import bodymotion as bm
from bodymotion.formats.registry import FORMATS
from sample_files import tries

ROUNDED = {"a.pos", "a.seq"}
"""Files of formats that do not hold each number to the last bit."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "name",
    [f"a{row.extensions[0]}" for row in FORMATS if row.holds == "Motion" and row.write],
)
@settings(max_examples=tries(60), deadline=None)
@given(motion=motions)
def test_what_is_saved_loads(tmp_path_factory, name, motion):
    contents = ("joint_displacement", "link_position", "zmp")
    kept = [
        c for c in (getattr(motion, content) for content in contents) if c is not None
    ]
    if any(component.timeline != kept[0].timeline for component in kept):
        return
    path = tmp_path_factory.mktemp("any") / name
    try:
        report = bm.save(motion, path)
    except ValueError:
        assert not list(path.parent.iterdir())
        return
    back = bm.load(path)
    if report.losses or name in ROUNDED:
        return
    for content in contents:
        one, other = getattr(motion, content), getattr(back, content)
        assert (one is None) == (other is None)
        if one is not None:
            assert np.array_equal(one.values, other.values)
            assert one.part_labels == other.part_labels
            assert np.allclose(
                one.timeline.times, other.timeline.times, rtol=1e-12, atol=1e-6
            )
