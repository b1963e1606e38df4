"""What is written as .seq reads back as it was, here and in other programs, in every version, style and order."""

from __future__ import annotations

import json
import math
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import bodymotion as bm
from bodymotion.formats.seq import parse_seq
from bodymotion.formats.seq.writer import write_seq
from bodymotion.geometry import rotations
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import Timeline
from sample_files import ACCEPT, tries

VERSIONS = (1, 2, 3, 4)
STYLES = ("block", "json")
ORDERS = ("XYZQWQXQYQZ", "XYZQXQYQZQW", "XYZRPY")
KNOWN_KEYS = re.compile(
    "type|content|purpose|format|format_?version|frame_?rate|num_?frames|components|num_?parts|part_?labels|has_?frame_?time"
    "|is_?root_?relative|SE3Format|frames",
    re.IGNORECASE,
)
CONTENT_NAMES = re.compile("JointPosition|RelativeZMP|(Multi.*|ZMP)Seq", re.IGNORECASE)

finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [
            0.0,
            -0.0,
            5e-324,
            -5e-324,
            6.9e-310,
            1e-7,
            -3e-05,
            1e16,
            1e22,
            1.7976931348623157e308,
            1e5,
            0.1,
        ]
    ),
    st.integers(-5, 5).map(float),
)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
names = st.one_of(
    texts,
    st.sampled_from(
        [
            "yes",
            "NO",
            "~",
            "null",
            "1e5",
            "0x10",
            "- a",
            "a: b",
            "#",
            "{",
            "右足",
            "<<",
            "=",
        ]
    ),
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | finite | names,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
    ),
    max_leaves=6,
)
extras = st.dictionaries(
    names.filter(lambda name: not KNOWN_KEYS.fullmatch(name)), plain, max_size=3
)
rates = st.one_of(
    st.sampled_from([1.0, 100.0, 500.0, 333.3333333333333, 1e-3, 1e300]),
    st.floats(1e-300, 1e300),
)


@st.composite
def timelines(draw):
    count = draw(st.integers(0, 4))
    if draw(st.booleans()):
        return Timeline.uniform(count, draw(rates))
    stamps = sorted(
        draw(st.sets(finite.map(lambda x: x + 0.0), min_size=count, max_size=count))
    )
    return Timeline.stamped(np.array(stamps, float), draw(st.none() | rates))


def tables(shape):
    return arrays.arrays(np.float64, shape, elements=finite)


@st.composite
def components(draw):
    kind = draw(st.sampled_from(["value", "pose", "vector", "other"]))
    extra = draw(extras)
    content = draw(names.filter(lambda name: not CONTENT_NAMES.fullmatch(name)))
    if kind == "other":
        name = draw(names.filter(lambda n: n and not re.fullmatch(".*Seq", n)))
        content = draw(
            st.sampled_from(["LinkPosition", "ZMP", "JointPosition", content])
        )
        return OtherSeq(type=name, content=content, extra=extra)
    timeline = draw(timelines())
    labels = tuple(draw(st.lists(names, max_size=3)))
    count, parts = timeline.num_frames, draw(st.integers(0, 3))
    if kind == "value":
        return MultiValueSeq(
            content=draw(
                st.sampled_from(["JointDisplacement", "JointEffort", content])
            ),
            timeline=timeline,
            values=draw(tables((count, parts))),
            part_labels=labels,
            extra=extra,
        )
    if kind == "pose":
        return MultiSE3Seq(
            content=draw(st.sampled_from(["LinkPosition", content])),
            timeline=timeline,
            values=draw(tables((count, parts, 7))),
            part_labels=labels,
            extra=extra,
        )
    return Vector3Seq(
        content=draw(st.sampled_from(["ZMP", content])),
        timeline=timeline,
        values=draw(tables((count, 3))),
        is_root_relative=draw(st.booleans()),
        extra=extra,
    )


motions = st.builds(
    lambda found, extra: Motion(tuple(found), extra),
    st.lists(components(), max_size=3),
    extras,
)


def written(motion: Motion, **options) -> tuple[bytes, tuple]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.seq")
        problems = write_seq(motion, path, **options)
        return path.read_bytes(), problems


def identical(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have the same bits: -0.0 is not 0.0 here."""
    return (
        a.shape == b.shape
        and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
    )


def same_motion(a: Motion, b: Motion) -> None:
    assert a == b
    for one, other in zip(a.timed, b.timed, strict=True):
        assert identical(one.values, other.values)


@settings(max_examples=tries(250), deadline=None)
@given(
    motions,
    st.sampled_from(VERSIONS),
    st.sampled_from(STYLES),
    st.sampled_from(ORDERS[:2]),
)
def test_nothing_is_lost_but_what_is_reported(motion, version, style, order):
    stamped = any(c.timeline.stamps is not None for c in motion.timed)
    if version == 1 and stamped:
        return
    data, problems = written(motion, version=version, style=style, se3_format=order)
    assert not [p for p in problems if p.rule.startswith("LOSS")]
    same_motion(parse_seq(data), motion)
    if style == "json":
        json.loads(data)


unit = arrays.arrays(np.float64, (2, 4), elements=st.floats(-1, 1)).filter(
    lambda q: (np.linalg.norm(q, axis=1) > 0.1).all()
)


@settings(max_examples=tries(200), deadline=None)
@given(unit, st.sampled_from(VERSIONS), st.sampled_from(STYLES))
def test_roll_pitch_yaw_keeps_the_turn(turns, version, style):
    turns = rotations.normalized(turns)
    values = np.concatenate([np.arange(6.0).reshape(2, 3) / 7, turns], axis=1)[:, None]
    motion = Motion(
        (
            MultiSE3Seq(
                content="LinkPosition", timeline=Timeline.uniform(2, 50), values=values
            ),
        )
    )
    data, problems = written(motion, version=version, style=style, se3_format="XYZRPY")
    assert not problems
    back = parse_seq(data).link_position.values
    assert identical(back[..., :3], values[..., :3])
    # The angle of a turn near 180° - 0 is told by its sine; that of the difference is tiny.
    apart = rotations.multiply(rotations.conjugate(back[..., 3:]), values[..., 3:])
    assert 2 * np.linalg.norm(apart[..., 1:], axis=-1).max() <= 1e-12


def test_roll_pitch_yaw_near_the_poles():
    """Pitches of ±90° and close to it, where roll and yaw turn about one axis."""
    rng = np.random.default_rng(0)
    rpy = rng.uniform(-math.pi, math.pi, (3000, 3))
    short = rng.choice([0, 1e-16, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4, 1e-2], 3000)
    rpy[:, 1] = rng.choice([-1, 1], 3000) * (math.pi / 2 - short)
    turns = rotations.normalized(rotations.from_rpy(rpy))
    values = np.concatenate([np.zeros((3000, 3)), turns], axis=1)[:, None]
    motion = Motion(
        (
            MultiSE3Seq(
                content="LinkPosition",
                timeline=Timeline.uniform(3000, 50),
                values=values,
            ),
        )
    )
    back = parse_seq(written(motion, se3_format="XYZRPY")[0]).link_position.values[
        :, 0, 3:
    ]
    apart = rotations.multiply(rotations.conjugate(back), turns)
    assert 2 * np.linalg.norm(apart[:, 1:], axis=-1).max() <= 1e-12


def test_a_lost_length_is_reported():
    values = np.array(
        [
            [[0, 0, 0, 2.0, 0, 0, 0]],
            [[0, 0, 0, 0.0, 0, 0, 0]],
            [[0, 0, 0, 1.0, 0, 0, 0]],
        ]
    )
    motion = Motion(
        (
            MultiSE3Seq(
                content="LinkPosition", timeline=Timeline.uniform(3, 1), values=values
            ),
        )
    )
    _, problems = written(motion, se3_format="XYZRPY")
    assert [p.rule for p in problems] == ["LOSS005"]
    assert problems[0].message.endswith(": 2")


def as_ruamel(data: bytes) -> object:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(data)


def as_rapidyaml(data: bytes) -> object:
    import ryml

    tree = ryml.parse_in_arena(data)

    def value(node):
        if tree.is_map(node):
            return {
                bytes(tree.key(child)).decode(): value(child)
                for child in ryml.children(tree, node)
            }
        if tree.is_seq(node):
            return [value(child) for child in ryml.children(tree, node)]
        text = bytes(tree.val(node)).decode()
        try:
            return float(text)
        except ValueError:
            return text

    return value(tree.root_id())


@settings(max_examples=tries(60), deadline=None)
@given(
    arrays.arrays(np.float64, (3, 4), elements=finite),
    st.sampled_from(VERSIONS),
    st.sampled_from(STYLES),
    st.booleans(),
)
def test_other_readers_read_the_same_doubles(values, version, style, stamped):
    times = [-1e-7, 0.1, 5e16]
    timeline = (
        Timeline.stamped(times)
        if stamped and version > 1
        else Timeline.uniform(3, 333.3333333333333)
    )
    motion = Motion(
        (MultiValueSeq(content="JointDisplacement", timeline=timeline, values=values),)
    )
    data, _ = written(motion, version=version, style=style)
    wanted = np.column_stack([times, values]) if timeline.stamps is not None else values
    for read in (
        yaml.safe_load,
        lambda text: yaml.load(text, yaml.CSafeLoader),
        as_ruamel,
        as_rapidyaml,
    ):
        component = read(data)["components"][0]
        numbers = component["frames"]
        assert all(isinstance(x, float) for row in numbers for x in row)
        assert identical(np.array(numbers), wanted)
        if timeline.stamps is None:
            assert (
                component["frame_rate" if version == 4 else "frameRate"]
                == 333.3333333333333
            )


@settings(max_examples=tries(100), deadline=None)
@given(extras, extras, names, st.sampled_from(VERSIONS), st.sampled_from(STYLES))
def test_other_readers_read_the_same_texts(top, own, label, version, style):
    """Unknown keys and names: what looks like a number, a truth value or a date stays the text that it is."""
    motion = Motion(
        (
            MultiValueSeq(
                content="x",
                timeline=Timeline.uniform(1, 1),
                values=[[1.0]],
                part_labels=(label,),
                extra=own,
            ),
        ),
        top,
    )
    data, problems = written(motion, version=version, style=style)
    assert not problems
    readers = [
        yaml.safe_load,
        lambda text: yaml.load(text, yaml.CSafeLoader),
        *([json.loads] if style == "json" else []),
    ]
    for read in readers:
        found = read(data)
        (component,) = found["components"]
        assert component["part_labels" if version == 4 else "partLabels"] == [label]
        for extra, node in ((top, found), (own, component)):
            kept = {
                key: value
                for key, value in node.items()
                if not KNOWN_KEYS.fullmatch(key)
            }
            assert kept == extra


@pytest.mark.parametrize(
    ("target", "source", "links"),
    [
        (target, source, links)
        for i, target in enumerate(VERSIONS)
        for j, source in enumerate(VERSIONS)
        for k, links in enumerate(("", "_links"))
        if ACCEPT or (i + j + k) % 2 == 0
    ],
)
def test_versions_convert_into_each_other(corpus, links, source, target, tmp_path):
    path = corpus / f"seq/made/sr1walk3{links}_v{source}.seq"
    motion = bm.load(path)
    out = tmp_path / "out.seq"
    assert not bm.save(motion, out, version=target).losses
    back = bm.load(out)
    same_motion(back, motion)
    assert back.source.version == str(target)
    assert not back.problems
    wanted = yaml.load(path.read_bytes(), yaml.CSafeLoader)
    data = out.read_bytes()
    for read in (lambda text: yaml.load(text, yaml.CSafeLoader), as_rapidyaml):
        found = read(data)
        for one, other in zip(found["components"], wanted["components"], strict=True):
            assert np.array_equal(
                np.array(one["frames"], float), np.array(other["frames"], float)
            )


def test_names_are_those_of_the_version():
    timeline = Timeline.uniform(1, 100)
    motion = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement", timeline=timeline, values=[[0.5]]
            ),
            MultiSE3Seq(
                content="LinkPosition",
                timeline=timeline,
                values=[[[1, 2, 3, 1, 0, 0, 0]]],
                part_labels=("WAIST",),
            ),
            Vector3Seq(
                content="ZMP",
                timeline=timeline,
                values=[[1, 2, 3]],
                is_root_relative=True,
            ),
        )
    )
    contents = {
        1: ["JointPosition", "LinkPosition", "RelativeZMP"],
        2: ["JointDisplacement", "LinkPosition", "ZMP"],
        3: ["MultiJointDisplacementSeq", "MultiLinkPositionSeq", "ZMPSeq"],
        4: ["JointDisplacement", "LinkPosition", "ZMP"],
    }
    for version, wanted in contents.items():
        top = yaml.safe_load(written(motion, version=version)[0])
        assert top["type"] == ("BodyMotion" if version == 1 else "CompositeSeq")
        assert top["format_version" if version == 4 else "formatVersion"] == version
        assert [c["content"] for c in top["components"]] == wanted
        joints, links, zmp = top["components"]
        assert joints["num_parts" if version == 4 else "numParts"] == 1
        assert links["format" if version == 1 else "SE3Format"] == "XYZQWQXQYQZ"
        assert links["part_labels" if version == 4 else "partLabels"] == ["WAIST"]
        relative = {
            1: None,
            2: "isRootRelative",
            3: "isRootRelative",
            4: "is_root_relative",
        }[version]
        assert relative is None or zmp[relative] is True


def test_a_new_motion_is_of_version_4_and_a_read_one_stays_as_it_was(tmp_path):
    motion = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.uniform(1, 1),
                values=[[1.0]],
            ),
        )
    )
    path = tmp_path / "a.seq"
    bm.save(motion, path)
    assert bm.load(path).source.version == "4"
    for version in VERSIONS:
        for style in STYLES:
            bm.save(motion, path, version=str(version), style=style)
            first = path.read_bytes()
            bm.save(bm.load(path), path)
            assert path.read_bytes() == first
    bm.save(motion, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["format_version"] == 4


def test_the_real_files_come_back(corpus, tmp_path):
    for path in sorted((corpus / "seq").rglob("SR1Walk*.seq")) + sorted(
        (corpus / "seq").rglob("BodyMotion.seq")
    ):
        motion = bm.load(path)
        for style in STYLES:
            bm.save(motion, tmp_path / "out.seq", style=style)
            same_motion(bm.load(tmp_path / "out.seq"), motion)


def test_version_1_holds_no_time_stamps():
    stamps = [0.0, 0.1, 0.3, 0.4, 0.7]
    values = [[1.0], [2.0], [3.0], [4.0], [5.0]]

    def motion(rate):
        return Motion(
            (
                MultiValueSeq(
                    content="JointDisplacement",
                    timeline=Timeline.stamped(stamps, rate),
                    values=values,
                ),
            )
        )

    with pytest.raises(ValueError, match=r"time stamps.*no frame rate"):
        written(motion(None), version=1)
    with pytest.raises(ValueError, match="version 1"):
        written(motion(10), version=1, frame_time=True)
    data, problems = written(motion(10), version=1)
    assert [p.rule for p in problems] == ["LOSS001"]
    # Frames 0.1 s apart, interpolated: held values would repeat frames.
    found = parse_seq(data).joint_displacement.values[:, 0]
    assert np.allclose(found, [1, 2, 2.5, 3, 4, 4 + 1 / 3, 4 + 2 / 3, 5], atol=1e-12)


def test_time_stamps_can_be_asked_for_and_left_out():
    uniform = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.uniform(3, 50),
                values=[[1.0], [2.0], [3.0]],
            ),
        )
    )
    data, problems = written(uniform, frame_time=True)
    assert not problems
    stamped = parse_seq(data)
    assert stamped.joint_displacement.timeline == Timeline.stamped([0, 0.02, 0.04], 50)
    data, problems = written(stamped, frame_time=False)
    assert not problems
    same_motion(parse_seq(data), uniform)


def test_what_has_no_stamps_of_its_own_inherits_none():
    """A rate in the top node would become the wish of a component that has none."""
    motion = Motion(
        (
            MultiValueSeq(
                content="a", timeline=Timeline.stamped([1.0]), values=[[1.0]]
            ),
            MultiValueSeq(
                content="b", timeline=Timeline.uniform(1, 10), values=[[1.0]]
            ),
        )
    )
    same_motion(parse_seq(written(motion)[0]), motion)


def test_numbers_that_are_not_finite_are_a_reported_loss():
    values = [[math.nan, math.inf, -math.inf, 1.0]]
    motion = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.uniform(1, 1),
                values=values,
            ),
        )
    )
    data, problems = written(motion)
    assert b"[ .nan, .inf, -.inf, 1.0 ]" in data
    assert [(p.rule, p.severity) for p in problems] == [("LOSS002", "warning")]
    assert parse_seq(data) == motion
    assert np.array_equal(
        yaml.safe_load(data)["components"][0]["frames"], values, equal_nan=True
    )


def test_what_no_text_can_hold_is_a_reported_loss():
    timeline = Timeline.uniform(1, 1)
    motion = Motion(
        (
            MultiValueSeq(
                content="JointPosition",
                timeline=timeline,
                values=[[1.0]],
                part_labels=("\ud800",),
                extra={"frames": 1},
            ),
        ),
        extra={"a": object(), 5: 1, "deep": [[]], "b": np.arange(3)},
    )
    data, problems = written(motion, version=1)
    assert sorted(p.rule for p in problems) == [
        "LOSS003",
        "LOSS004",
        "LOSS004",
        "LOSS006",
    ]
    assert parse_seq(data).extra == {"a": None, "deep": [[]], "b": [0, 1, 2]}


@given(arrays.arrays(np.float64, (2, 3), elements=finite), st.integers(1, 15))
def test_digits_round_to_the_nearest_short_number(values, digits):
    motion = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.uniform(2, 333.3333333333333),
                values=values,
            ),
        )
    )
    data, problems = written(motion, digits=digits)
    assert not problems
    back = parse_seq(data)
    assert back.joint_displacement.timeline == motion.joint_displacement.timeline
    for found, exact in zip(
        back.joint_displacement.values.ravel().tolist(),
        values.ravel().tolist(),
        strict=True,
    ):
        assert math.isfinite(found)
        if abs(exact) > 1e308:
            continue
        assert float(f"{found:.{digits - 1}e}") == found
        if abs(exact) > 1e-300:
            half = 0.5 * 10.0 ** (math.floor(math.log10(abs(exact))) - digits + 1)
            assert abs(found - exact) <= 1.0000001 * half + np.spacing(abs(exact))


def test_wrong_use_is_said():
    motion = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.stamped([1.0, 0.5]),
                values=[[1.0], [2.0]],
            ),
        )
    )
    for options, message in (
        ({"version": 5}, "versions of .seq are 1, 2, 3 and 4"),
        ({"style": "flow"}, "'block' and 'json'"),
        ({"se3_format": "XYZ"}, "XYZRPY"),
        ({"digits": 0}, "1 to 15"),
        ({}, "frame 1 does not"),
    ):
        with pytest.raises(ValueError, match=message):
            written(motion, **options)


def test_a_format_that_can_not_be_written(tmp_path):
    motion = Motion(())
    for name in ("a.wrl", "a.xyz", "a"):
        with pytest.raises(bm.FormatError) as caught:
            bm.save(motion, tmp_path / name)
        assert caught.value.problem.rule == "FMT003"
        assert ".seq" in caught.value.problem.hint
    with pytest.raises(ValueError, match="expected one of "):
        bm.save(motion, tmp_path / "a.seq", format="nothing")
    assert not list(Path(tmp_path).iterdir())


def test_a_long_motion_in_pieces(tmp_path):
    """More rows than are turned into text at once, of every kind, with and without stamps."""
    rng = np.random.default_rng(5)
    count = 20011
    values = rng.normal(size=(count, 5)) * 10.0 ** rng.integers(
        -20, 20, size=(count, 5)
    )
    values[::7] = np.round(values[::7], 7)
    poses = rng.normal(size=(count, 2, 7))
    for timeline in (
        Timeline.uniform(count, 200),
        Timeline.stamped(np.arange(count) / 7 - 3),
    ):
        motion = Motion(
            (
                MultiValueSeq(
                    content="JointDisplacement", timeline=timeline, values=values
                ),
                MultiSE3Seq(content="LinkPosition", timeline=timeline, values=poses),
                Vector3Seq(content="ZMP", timeline=timeline, values=values[:, :3]),
            )
        )
        for style in STYLES:
            bm.save(motion, tmp_path / "long.seq", style=style)
            back = bm.load(tmp_path / "long.seq")
            same_motion(back, motion)
            assert not back.problems


@pytest.mark.parametrize("options", [{"version": 1}, {"frame_time": False}], ids=str)
@pytest.mark.parametrize("first", [1.7e9, 1e300])
def test_stamps_of_a_clock_that_memory_can_not_hold_on_a_rate(
    tmp_path, monkeypatch, options, first
):
    monkeypatch.setattr("bodymotion.geometry.arrays.available_memory", lambda: 10**9)
    timeline = Timeline.stamped([first, first * 1.0001], 100.0)
    motion = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement", timeline=timeline, values=np.zeros((2, 1))
            ),
        )
    )
    with pytest.raises(ValueError, match="retime --start first"):
        bm.save(motion, tmp_path / "old.seq", **options)
    assert not list(tmp_path.iterdir())


def test_stamps_without_frames_are_a_loss(tmp_path):
    timeline = Timeline.stamped(np.zeros(0), 100.0)
    motion = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement", timeline=timeline, values=np.zeros((0, 1))
            ),
        )
    )
    assert [
        loss.rule for loss in bm.save(motion, tmp_path / "old.seq", version=1).losses
    ] == ["LOSS001"]


@pytest.mark.parametrize(
    "options",
    [
        {"digits": 2.5},
        {"digits": True},
        {"digits": 16},
        {"version": True},
        {"version": 5},
    ],
)
def test_options_that_are_none_are_refused(tmp_path, options):
    motion = bm.Motion.from_joints(np.zeros((2, 1)), 10)
    with pytest.raises(ValueError, match=next(iter(options))):
        bm.save(motion, tmp_path / "a.seq", **options)
    assert not list(tmp_path.iterdir())
