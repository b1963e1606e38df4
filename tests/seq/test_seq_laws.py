"""Laws of the reader: however a motion is written, its numbers are those of its text; whatever the bytes, a motion or a FormatError."""

from __future__ import annotations

import struct

import numpy as np
import pytest
import seq_texts
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bodymotion import FormatError
from bodymotion.formats.seq import open_motion, parse_seq
from bodymotion.formats.seq.document import open_document
from bodymotion.formats.seq.reader import motion_of
from bodymotion.formats.seq.scan import ByteSource
from bodymotion.motion import Motion, MultiSE3Seq, OtherSeq
from sample_files import tries

QUICK = settings(
    max_examples=tries(150),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
any_numbers = seq_texts.json_numbers | seq_texts.odd_numbers


def bits(values: np.ndarray) -> bytes:
    return np.ascontiguousarray(values).tobytes()


def expected(text: str) -> float:
    """What Python says that the text is."""
    return float(text.replace(".", "") if text[-1] in "nNfF" else text)


def same_bits(a: Motion, b: Motion) -> bool:
    pairs = zip(a.components, b.components, strict=True)
    return all(
        isinstance(x, OtherSeq) or bits(x.values) == bits(y.values) for x, y in pairs
    )


@given(seq_texts.motions(any_numbers))
@QUICK
def test_numbers_are_those_of_the_text(text):
    motion = parse_seq(text.data)
    for component, rows in zip(motion.components, text.rows, strict=True):
        stamped = component.timeline.stamps is not None
        if stamped:
            assert bits(component.timeline.stamps) == b"".join(
                struct.pack("d", float(row[0])) for row in rows
            )
        else:
            assert component.timeline.frame_rate == 250
        numbers = np.array([[expected(t) for t in row[stamped:]] for row in rows])
        if isinstance(component, MultiSE3Seq):
            order = motion.source.options["se3_formats"][
                motion.components.index(component)
            ]
            poses = numbers.reshape(len(rows), component.num_parts, -1)
            if order == "XYZRPY":
                assert bits(component.values[..., :3]) == bits(poses[..., :3])
                continue
            if order == "XYZQXQYQZQW":
                poses = poses[..., [0, 1, 2, 6, 3, 4, 5]]
            numbers = poses
        assert bits(component.values) == bits(numbers.reshape(component.values.shape))


@given(seq_texts.motions(any_numbers))
@QUICK
def test_rows_from_bytes_and_from_yaml_are_the_same(text):
    fast = motion_of(open_document(ByteSource(None, text.data, None))).require()
    full = seq_texts.by_yaml(text.data)
    assert fast == full
    assert same_bits(fast, full)
    assert fast.problems == full.problems
    assert fast.source == full.source


@given(st.data())
@QUICK
def test_faults_are_the_same_from_bytes_and_from_yaml(data):
    """One fault in one row: both ways name the same rule, place and words."""
    text = data.draw(seq_texts.motions(st.sampled_from(["1", "2.5", "-3e-05"]))).data
    at = data.draw(
        st.sampled_from([i for i, c in enumerate(text) if chr(c) in "0123456789[],"])
    )
    fault = data.draw(
        st.sampled_from(
            [
                "",
                "x",
                "1,",
                ",",
                "]",
                "[",
                "_",
                ":",
                '"',
                " ",
                "0x1",
                "-",
                "&a ",
                "*a",
                "!!float ",
                "#",
                "{",
                "\t",
                "~",
            ]
        )
    )
    text = text[:at] + fault.encode() + text[at + data.draw(st.integers(0, 1)) :]
    outcomes = []
    for read in (parse_seq, seq_texts.by_yaml):
        try:
            motion = read(text)
            outcomes.append((motion, motion.problems))
        except FormatError as error:
            outcomes.append((None, error.problem))
    (fast, said), (full, meant) = outcomes
    assert fast == full
    if fast is not None or "YAML101" not in (said.rule, meant.rule):
        assert said == meant


small = st.sampled_from(
    [
        seq_texts.joints("\n      - [ 1, 2 ]\n      - [ 3, 4 ]\n").encode(),
        seq_texts.joints(" [[1, 2], [3, 4]]\n").encode(),
        b'{"type": "CompositeSeq", "formatVersion": 2, "frameRate": 10, "components": [{"type": "MultiSE3Seq", "content": "LinkPosition", '
        b'"numParts": 1, "SE3Format": "XYZRPY", "hasFrameTime": true, "frames": [[0.5, [1,2,3,4,5,6]], [1, [1,2,3,4,5,6]]]}]}',
        b"%YAML 1.1\n--- &top\ntype: BodyMotion\ncomponents: "
        b"[&c {type: Vector3Seq, purpose: RelativeZMP, frameRate: 5, frames: [[1,2,3]]}, *c]\n",
    ]
)
pieces = st.sampled_from(
    [
        b"",
        b"[",
        b"]",
        b"{",
        b"- ",
        b"\n",
        b"frames:",
        b"frames: [[",
        b"*c",
        b"&c ",
        b"\0",
        b"\xff",
        b"\t",
        b"#",
        b'"',
        b"1e999",
        b"!!python/object:os.system ",
        b"? ",
        b"|\n",
        b"---\n",
        b"\r",
    ]
)


@given(st.data())
@settings(
    QUICK,
    max_examples=tries(300),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_bytes_give_a_motion_or_a_format_error(tmp_path, data):
    text = data.draw(small)
    for _ in range(data.draw(st.integers(1, 4))):
        at, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 8))
        text = (
            text[:at] + data.draw(pieces | st.binary(max_size=4)) + text[at + length :]
        )
    motion = None
    try:
        motion = parse_seq(text)
    except FormatError as error:
        assert error.problem.message
    path = tmp_path / "motion.seq"
    path.write_bytes(text)
    try:
        with open_motion(path) as reader:
            chunks = list(reader.chunks(2))
            reader.end_times()
    except FormatError:
        assert motion is None
    else:
        assert motion is not None
        assert sum(c.num_frames for chunk in chunks for c in chunk.timed) == sum(
            c.num_frames for c in motion.timed
        )


@given(st.binary(max_size=200))
@example(b"")
@example(b"\xef\xbb\xbf")
@example(b"\xff\xfe")
@example(b"[" * 20000)
@example(b"{a: " * 20000)
@example(b"frames: [[" * 3000)
@example(b"- " * 20000)
@QUICK
def test_random_bytes_are_refused(data):
    with pytest.raises(FormatError):
        parse_seq(data)


@given(seq_texts.motions(), st.integers(1, 6))
@settings(
    QUICK,
    max_examples=tries(50),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_chunks_make_up_the_whole(tmp_path, text, size):
    path = tmp_path / "motion.seq"
    path.write_bytes(text.data)
    whole = parse_seq(text.data)
    with open_motion(path) as reader:
        assert reader.num_frames == max(c.num_frames for c in whole.components)
        chunks = list(reader.chunks(size))
        ranges = reader.ranges()
    assert [chunk.first_frame for chunk in chunks] == list(
        range(0, reader.num_frames, size)
    )
    for k, component in enumerate(whole.components):
        parts = [chunk.components[k] for chunk in chunks]
        assert bits(np.concatenate([part.values for part in parts])) == bits(
            component.values
        )
        assert all(
            type(part) is type(component) and part.content == component.content
            for part in parts
        )
        if component.timeline.stamps is not None:
            assert bits(
                np.concatenate([part.timeline.stamps for part in parts])
            ) == bits(component.timeline.stamps)
        assert np.array_equal(
            ranges[k][0], np.fmin.reduce(component.values), equal_nan=True
        )
        assert np.array_equal(
            ranges[k][1], np.fmax.reduce(component.values), equal_nan=True
        )


@given(seq_texts.motions())
@settings(QUICK, max_examples=tries(30))
def test_pieces_may_be_cut_anywhere(text):
    """The result does not depend on the size of the pieces in which a file is read."""
    from bodymotion.formats.seq import scan

    whole = parse_seq(text.data)
    for size in (1, 16, 40, 100):
        before, scan.PIECE = scan.PIECE, size
        try:
            cut = parse_seq(text.data)
        finally:
            scan.PIECE = before
        assert cut == whole
        assert cut.problems == whole.problems
