"""Motions written as JSON: whatever a JSON library writes is read, also where YAML parsers know less."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from seq_texts import by_yaml

from bodymotion import FormatError
from bodymotion.formats.seq import parse_seq

COMPONENT = {
    "type": "MultiValueSeq",
    "content": "JointDisplacement",
    "numParts": 2,
    "frames": [[1, 2.5], [-3e-7, 4]],
}
TOP = {
    "type": "CompositeSeq",
    "content": "BodyMotion",
    "formatVersion": 2,
    "frameRate": 10,
    "components": [COMPONENT],
}

# To YAML these three are line breaks, which it folds into spaces; a JSON library's own default is to escape them.
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029"),
    max_size=5,
)
values = st.recursive(
    texts
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False)
    | st.booleans()
    | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    values,
    st.booleans(),
    st.sampled_from([None, 1, "\t"]),
    st.sampled_from([":", " : ", "\n:\n"]),
)
@example({"😀": "😀", "k" * 2000: 1, "": [], "\x7f\u2028": {}}, True, None, "\n:\n")
def test_what_a_json_library_writes_is_read(value, ascii_only, indent, colon):
    text = json.dumps(
        {"note": value} | TOP,
        ensure_ascii=ascii_only,
        indent=indent,
        separators=(",", colon),
    )
    motion = parse_seq(text.encode())
    assert np.array_equal(motion.joint_displacement.values, COMPONENT["frames"])
    assert motion.extra == {"note": value}
    assert motion.source.options["style"] == "flow"
    assert motion == by_yaml(text.encode())


def test_numbers_that_are_not_finite():
    text = json.dumps(
        {"note": "😀"}
        | TOP
        | {"components": [COMPONENT | {"frames": [[np.nan, -np.inf], [0, 1]]}]}
    )
    for motion in (parse_seq(text.encode()), by_yaml(text.encode())):
        assert np.array_equal(
            motion.joint_displacement.values,
            [[np.nan, -np.inf], [0, 1]],
            equal_nan=True,
        )
        assert not motion.problems


def test_half_a_character_is_replaced():
    text = json.dumps(TOP | {"note": "\ud83d"})
    assert parse_seq(text.encode()).extra == {"note": "\ufffd"}


def test_places_in_json():
    text = json.dumps({"note": "\\n😀"} | TOP | {"frameRate": -1}, indent=1)
    with pytest.raises(FormatError, match="MOT106") as caught:
        parse_seq(text.encode())
    line = next(k for k, row in enumerate(text.split("\n"), 1) if "frameRate" in row)
    assert (
        caught.value.problem.location.line,
        caught.value.problem.location.column,
    ) == (line, 15)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t[:-1],
        lambda t: t + "]",
        lambda t: t.replace(",", ",,", 1),
        lambda t: t.replace('"', "'", 1),
    ],
)
def test_what_is_neither_yaml_nor_json_is_refused(change):
    text = change(json.dumps({"note": "😀", "list": [1, 2]} | TOP))
    with pytest.raises(FormatError, match="YAML101") as caught:
        parse_seq(text.encode())
    assert caught.value.problem.location.line == 1


def test_deep_json_is_refused():
    for depth in (200, 100_000):
        text = '{"note": "\\ud83d\\ude00", "deep": ' + "[" * depth + "]" * depth + "}"
        with pytest.raises(FormatError, match="YAML101"):
            parse_seq(text.encode())
