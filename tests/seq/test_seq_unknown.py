"""Rows that belong to no component: they are kept as they stand, and what is wrong with them is said."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from seq_texts import by_yaml, header, joints

from bodymotion import FormatError
from bodymotion.formats.seq import open_motion, parse_seq
from bodymotion.formats.seq.writer import write_seq
from sample_files import tries

PLACE = "  - type: MultiValueSeq\n    content: JointDisplacement\n    numParts: 1\n{}    frames: [[1]]\n"
HISTORY = PLACE.format(
    "    history:\n      - name: a\n        frames:\n          - [ 1, 2 ]\n          - [ 3, x ] # y\n      - frames: [[5, ~]]\n"
)
KEPT = {
    "history": [{"name": "a", "frames": [[1, 2], [3, "x"]]}, {"frames": [[5, None]]}]
}


def read(text: str):
    motion = parse_seq(text.encode())
    assert motion == by_yaml(text.encode())
    return motion


def test_rows_in_a_list_below_an_unknown_key_are_kept():
    motion = read(header(HISTORY))
    assert motion.components[0].extra == KEPT
    assert motion.components[0].values.tolist() == [[1]]


@pytest.mark.parametrize(
    "clips",
    [
        "clips: [{name: a, frames: [[1,2],[3,4]]}]",
        "clips:\n  - name: a\n    frames:\n      - [ 1, 2 ]\n      - [ 3, 4 ]",
        "clips:\n  - name: a\n    frames:\n      - - 1\n        - 2\n      - - 3\n        - 4",
        'clips: [\n  {"name": "a", "frames": [[1,2],\n  [3,4]]}]',
    ],
)
def test_rows_below_the_top_node_are_kept(clips):
    wanted = {"clips": [{"name": "a", "frames": [[1, 2], [3, 4]]}]}
    assert read(header(HISTORY, rate=f"frameRate: 1\n{clips}")).extra == wanted
    assert read(header(HISTORY) + clips + "\n").extra == wanted


def test_rows_in_unknown_components_are_kept():
    motion = read(
        header(
            "  - {type: Foo, content: X, items: [{frames: [[1,2]]}], frames: [[7]]}\n"
            + HISTORY
        )
    )
    assert motion.components[0].extra == {
        "items": [{"frames": [[1, 2]]}],
        "frames": [[7]],
        "frameRate": 100,
    }
    inner = "  - type: CompositeSeq\n    content: X\n    components:\n    - type: Vector3Seq\n      frames:\n      - [ 1, 2, 3 ]\n"
    motion = read(header(inner + HISTORY))
    kept = {
        "components": [{"type": "Vector3Seq", "frames": [[1, 2, 3]]}],
        "frameRate": 100,
    }
    assert motion.components[0].extra == kept


KEYS = {
    "frameRate": st.sampled_from([40, 50, 333.3]),
    "hasFrameTime": st.booleans(),
    "numParts": st.just(2),
}
SNAKE = {
    "frameRate": "frame_rate",
    "hasFrameTime": "has_frame_time",
    "numParts": "num_parts",
}
some_keys = st.fixed_dictionaries({}, optional=KEYS)


@settings(max_examples=tries(200))
@given(
    some_keys,
    st.lists(
        st.tuples(st.sampled_from(["MultiValueSeq", "MultiFooSeq"]), some_keys),
        max_size=3,
    ),
    st.data(),
)
def test_every_component_keeps_what_it_inherits(top, kinds, data):
    """In any version, known and unknown components have the rate, stamps and parts that they had; read by PyYAML."""

    def effective(text):
        tree = yaml.safe_load(text)
        return [
            {
                key: part.get(key, part.get(snake, tree.get(key, tree.get(snake))))
                for key, snake in SNAKE.items()
            }
            for part in tree["components"]
        ]

    def ordinary(keys):
        """Return the keys of a component that can be read: with a rate or with stamps, and its parts."""
        whole = {**top, **keys}
        return (
            keys
            if "frameRate" in whole or whole.get("hasFrameTime")
            else {**keys, "frameRate": 25}
        )

    snake = data.draw(st.booleans())

    def spelled(keys):
        return {SNAKE[key] if snake else key: value for key, value in keys.items()}

    parts = []
    for kind, keys in kinds:
        known = kind == "MultiValueSeq"
        keys = ordinary({"numParts": 2, **keys}) if known else keys
        row = [0, 1, 2] if {**top, **keys}.get("hasFrameTime") else [1, 2]
        parts.append({"type": kind, "content": "X", **spelled(keys), "frames": [row]})
    text = yaml.safe_dump(
        {
            "type": "CompositeSeq",
            "content": "BodyMotion",
            "formatVersion": 4 if snake else 2,
            **spelled(top),
            "components": parts,
        }
    )
    before = effective(text)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "walk.seq"
        write_seq(
            parse_seq(text.encode()),
            path,
            version=data.draw(st.sampled_from([None, 2, 3, 4])),
        )
        after = effective(path.read_text())
    for (kind, _), old, new in zip(kinds, before, after, strict=True):
        if kind == "MultiValueSeq":
            old, new = (
                {**one, "hasFrameTime": bool(one["hasFrameTime"])} for one in (old, new)
            )
        assert old == new


def test_rows_below_a_misspelt_key_are_kept():
    motion = read(header(HISTORY).replace("components", "componets"))
    (component,) = motion.extra["componets"]
    assert component["history"] == KEPT["history"]
    assert component["frames"] == [[1]]


def test_frames_of_the_top_node_and_components_of_a_bare_one_are_kept():
    assert read(header(HISTORY, rate="frameRate: 1\nframes:\n  - [ 1, 2 ]")).extra == {
        "frames": [[1, 2]]
    }
    bare = "type: Vector3Seq\ncontent: X\nframeRate: 1\nformatVersion: 2\nframes: [[1, 2, 3]]\ncomponents: [{frames: [[4]]}]\n"
    assert read(bare).components[0].extra == {"components": [{"frames": [[4]]}]}


rows = st.lists(
    st.lists(st.integers(-99, 99), min_size=1, max_size=3), min_size=1, max_size=3
)
values = st.recursive(
    st.integers(0, 9) | st.sampled_from(["x", "frames"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["frames", "a", "components"]), inner | rows, max_size=3
        )
    ),
    max_leaves=8,
)


@given(values, st.booleans(), st.sampled_from([None, False]))
def test_any_unknown_value_is_kept(value, inside, style):
    """A document that a YAML library writes gives back what stands in it below keys that nobody knows."""
    component = {
        "type": "Vector3Seq",
        "content": "X",
        "frameRate": 1,
        "frames": [[1, 2, 3], [4, 5, 6]],
    }
    top = {
        "type": "CompositeSeq",
        "content": "BodyMotion",
        "formatVersion": 2,
        "components": [component],
    }
    (component if inside else top)["unknown"] = value
    for text in (
        yaml.safe_dump(top, default_flow_style=style, sort_keys=False),
        json.dumps(top),
    ):
        motion = read(text)
        assert (motion.components[0] if inside else motion).extra == {"unknown": value}
        assert motion.components[0].values.tolist() == component["frames"]


BROKEN = [
    joints("\n      - [ 1, 2 ]\n      - [ 3, 4\n    frames:\n      - [ 1, 2 ]\n"),
    header(PLACE.format("    meta:\n      - frames:\n        - [ 1, 2\n")),
    joints("\n      - [ 1, 2 ]\n      - [ 3, 4\n").replace("components", "componets"),
    joints("\n      - [ 1, 2 ] ]\n").replace("components", "componets"),
    header(
        "  - {type: Foo, content: X}\n",
        rate="frames:\n  - [ 1 2, 3 ]\n  - [ 1, : 2: ]\nframeRate: 1",
    ),
]


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_yaml_is_refused_where_nobody_uses_it(text, tmp_path):
    with pytest.raises(FormatError) as full:
        by_yaml(text.encode())
    with pytest.raises(FormatError) as fast:
        parse_seq(text.encode())
    assert fast.value.problem.rule == full.value.problem.rule == "YAML101"
    assert fast.value.problem.location.column
    path = tmp_path / "motion.seq"
    path.write_text(text)
    with pytest.raises(FormatError, match="YAML101"):
        open_motion(path)


def test_large_files_keep_what_is_unknown(monkeypatch):
    monkeypatch.setattr("bodymotion.formats.seq.document.MAX_WHOLE", 200)
    text = header(HISTORY.replace("[[1]]", f"[{', '.join(['[1]'] * 100)}]"))
    motion = parse_seq(text.encode())
    assert motion.components[0].extra == KEPT
    with pytest.raises(FormatError, match="SEQ005"):
        parse_seq(text.replace("[[5, ~]]", f"[{', '.join(['[1]'] * 100)}]").encode())
    with pytest.raises(FormatError, match="YAML101"):
        parse_seq(text.replace("[ 3, x ] # y", "[ 3, x").encode())


def test_large_components_of_unknown_types_are_kept(monkeypatch):
    monkeypatch.setattr("bodymotion.formats.seq.document.MAX_WHOLE", 200)
    text = header(
        "  - type: Foo\n    content: X\n    frames:\n" + "      - [ 1.5, x ]\n" * 100
    )
    assert parse_seq(text.encode()).components[0].extra == {
        "frames": [[1.5, "x"]] * 100,
        "frameRate": 100,
    }
    monkeypatch.setattr("bodymotion.formats.seq.document.MAX_VALUES", 150)
    with pytest.raises(FormatError, match="SEQ005") as caught:
        parse_seq(text.encode())
    assert caught.value.problem.location.line == 9


@given(
    st.lists(
        st.lists(
            st.sampled_from(
                [
                    "1",
                    "-0",
                    "-0.0",
                    "1.5",
                    "1e5",
                    ".5",
                    "017",
                    "1e400",
                    "nan",
                    "NaN",
                    "-Infinity",
                    "true",
                    "True",
                    "null",
                    "~",
                    "x",
                    "'1'",
                    "[1]",
                    "[[2]]",
                    "[]",
                    "{}",
                ]
            )
            | st.sampled_from(['"1"', "9" * 30, "1]", "[1", "1 # x", "\t1"]),
            max_size=4,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_rows_of_unknown_types_are_those_of_a_full_parse(rows):
    lines = "".join(f"      - [ {', '.join(row)} ]\n" for row in rows)
    data = header("  - type: Foo\n    content: X\n    frames:\n" + lines).encode()
    found = []
    for parse in (parse_seq, by_yaml):
        try:
            found.append(repr(parse(data).components[0].extra))
        except FormatError as error:
            found.append(error.problem.rule)
    assert found[0] == found[1]
