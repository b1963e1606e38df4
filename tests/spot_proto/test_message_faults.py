"""Whatever the bytes are, they make an animation or a FormatError: soon, and in bounded memory."""

from __future__ import annotations

import contextlib
import struct
import tracemalloc

import pytest
from cha_files import cha_files
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.spot.cha import parse_cha
from bodymotion.spot.cha_proto.state_log import read_log_data
from sample_files import sampled, tries

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

NAMES = (
    "name animation_keyframes key_frames time gripper gripper_angle value arm joint_angles hand_pose body body_pos x y z "
    "legs fl stance controls_arm bpm arm_playback ARM_PLAYBACK_WORKSPACE minimum_parameters speed timestamp seconds nanos moves"
)
VALUES = "true false inf -nan 1 -2.5 1e400 0x1F 007 1_0 .5 5. 1f 'a' \"b\\n\" '\\777' '\\u12' '\\q' '\\ud800' [a.b]"
WORDS = st.sampled_from((*"{}<>[]:;,#'.-/\n", *VALUES.split(), *NAMES.split()))


def tried(data: bytes) -> None:
    """Read bytes in all ways."""
    for read in (bm.spot.from_bytes, bm.spot.from_text):
        try:
            read(data)
        except bm.FormatError as error:
            assert error.problem.rule.startswith("CAP")
    for is_text in (False, True):
        assert all(
            problem.rule.startswith("CAP")
            for problem in read_log_data(data, is_text=is_text).problems
        )


@settings(max_examples=tries(200))
@given(st.binary(max_size=200))
@example(b"\x12\x00")
@example(b"\x12\x02\x13\x14")
@example(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
@example(b"\x12\x0b\x2a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
@example(b"\x80" * 11)
@example(b"\x0a\x02\xc3\x28")
def test_any_bytes(data):
    tried(data)


@settings(max_examples=tries(200))
@given(st.lists(WORDS, max_size=60), st.sampled_from((" ", "", "\n")))
def test_any_words(words, between):
    tried(between.join(words).encode())


@settings(max_examples=tries(150))
@given(cha_files(), st.data())
def test_damaged_messages(file, data):
    animation = parse_cha(file.text.encode(), "generated.cha").value
    wire = data.draw(
        st.sampled_from(
            (bm.spot.to_bytes(animation), bm.spot.to_text(animation).encode())
        )
    )
    damaged = bytearray(wire)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        how = data.draw(st.sampled_from("crdi"))
        if how == "c":
            del damaged[max(at, 1) :]
        elif how == "r":
            damaged[at] = data.draw(st.integers(0, 255))
        elif how == "d":
            del damaged[at : at + data.draw(st.integers(1, 4))]
            damaged = damaged or bytearray(b"\x12")
        else:
            damaged[at:at] = data.draw(st.binary(min_size=1, max_size=3))
    tried(bytes(damaged))


@settings(max_examples=tries(150))
@given(cha_files(), st.data())
def test_what_the_vendor_refuses_is_refused(file, data):
    """And what both take is the same message."""
    sequence_pb2 = pytest.importorskip("bosdyn.api.spot.choreography_sequence_pb2")
    message = pytest.importorskip("google.protobuf.message")
    animation = parse_cha(file.text.encode(), "generated.cha").value
    wire = bytearray(bm.spot.to_bytes(animation))
    wire[data.draw(st.integers(0, len(wire) - 1))] = data.draw(st.integers(0, 255))
    try:
        theirs = sequence_pb2.Animation.FromString(bytes(wire))
    except message.DecodeError:
        with pytest.raises(bm.FormatError):
            bm.spot.from_bytes(bytes(wire))
        return
    try:
        ours = bm.spot.from_bytes(bytes(wire))
    except bm.FormatError:
        return
    assert len(ours.keyframes) == len(theirs.animation_keyframes)
    if (
        not ours.problems
        and len(ours.keyframes) > 1
        and "precise_timing" not in ours.options
    ):
        again = bm.spot.to_proto(ours)
        for name in (
            "controls_arm",
            "bpm",
            "truncatable",
            "arm_required",
            "minimum_parameters",
        ):
            assert getattr(again, name) == getattr(theirs, name), name


def peak_memory(work) -> int:
    """Do work that may end in a FormatError; give how many bytes it took at most."""
    tracemalloc.start()
    try:
        with contextlib.suppress(bm.FormatError):
            work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def full_row() -> bytes:
    names = [
        f"{leg} {{ foot_pos {{ x {{}} y {{}} z {{}} }} stance {{}} }}"
        for leg in ("fl", "fr", "hl", "hr")
    ]
    text = f"animation_keyframes {{ time: 1 legs {{ {' '.join(names)} }} body {{ quaternion {{ w: 1 }} }} }}"
    return bm.spot.to_bytes(bm.spot.from_text(text))


HOSTILE = {
    "empty rows": b"\x12\x00" * tries(500_000),
    "one full row": full_row() + b"\x12\x00" * tries(250_000),
    "much outside": b"\x0a\x01a" * tries(50_000),
    "unknown fields": b"\x98\x06\x01" * tries(50_000),
    "empty text rows": b"animation_keyframes{}" * tries(8_000),
    "text rows without an end": b"animation_keyframes{" * tries(20_000),
    "deep": b"a{" * tries(20_000),
    "deep lists": b"a:" + b"[" * tries(60_000),
    "a long name": b"a" * tries(500_000),
    "a long number": b"bpm: " + b"1" * tries(500_000),
    "a long text without an end": b'name: "' + b"\\a" * tries(250_000),
    "many texts": b"name: " + b'""' * tries(20_000),
    "comments": b"#\n" * tries(100_000) + b"}",
    "unknown names": b" ".join(b"a%d:1" % n for n in range(tries(10_000))),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("read", [bm.spot.from_bytes, bm.spot.from_text])
def test_hostile_files(name, read):
    data = HOSTILE[name]
    assert peak_memory(lambda: read(data)) < 200 * len(data) + 50e6


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("name 'a'", 1, 6),
        ("name: 'a'\n\nbpm: x", 3, 6),
        (
            "animation_keyframes {\n  time: 1\n  body { body_pos { x { value: true } } }\n}\n",
            3,
            32,
        ),
        ("animation_keyframes {\n  time: 1\n", 2, 9),
        ("controls_arm: 2", 1, 15),
        ("arm_playback: SOMEHOW", 1, 15),
        ("legs }", 1, 1),
        ("}", 1, 1),
        (
            "animation_keyframes {\n body {\n  quaternion { w: 1 }\n  euler_angles { }\n }\n}\n",
            4,
            3,
        ),
        ("default_parameters { arm_dance_frame_id { value: 3000000000 } }", 1, 50),
    ],
)
def test_locations_of_faults_in_texts(text, line, column):
    with pytest.raises(bm.FormatError, match="CAP002") as caught:
        bm.spot.from_text(text)
    location = caught.value.problem.location
    assert (location.line, location.column) == (line, column)


def test_faults_in_bytes():
    row = b"\x09" + struct.pack("<d", 1.0)
    good = b"\x0a\x01a\x12" + bytes([len(row)]) + row
    assert len(bm.spot.from_bytes(good).keyframes) == 1
    with pytest.raises(bm.FormatError, match="CAP001"):
        bm.spot.from_bytes(good[:-1])
    with pytest.raises(bm.FormatError, match="CAP001") as caught:
        bm.spot.from_bytes(good[3:] + b"\x12\x08" + row[:8])
    assert caught.value.problem.subject == ("keyframes", 1)


def test_sequences_are_named(corpus):
    for path in sorted((corpus / "cha" / "sequences").rglob("*sequence.pbtxt")):
        with pytest.raises(bm.FormatError, match="CAP005"):
            bm.load(path, format="cap")


def test_files_are_known_by_their_content(corpus, tmp_path):
    """And no other sample file is taken for a message."""
    from bodymotion.formats.registry import find_format

    animation = bm.load(
        corpus / "cha" / "valid" / "v07_body_only_neutral_start_multipliers.cha"
    )
    for ending in ("cap", "pb"):
        bm.save(animation, tmp_path / f"a.{ending}")
        other = tmp_path / f"{ending}.unknown"
        other.write_bytes((tmp_path / f"a.{ending}").read_bytes())
        assert bm.load(other) == bm.load(tmp_path / f"a.{ending}")
    for path in sampled(sorted(corpus.rglob("*")), 50):
        if path.suffix in (
            ".wrl",
            ".seq",
            ".csv",
            ".npz",
            ".yaml",
            ".cha",
            ".body",
            ".urdf",
            ".pos",
            ".dae",
            ".png",
        ):
            try:
                name = find_format(path).name
            except bm.FormatError:
                continue
            assert not name.startswith(("cap", "state-log")), path


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(bm.FormatError, match="FMT002"):
        bm.spot.read_state_log(tmp_path / "none.pb")


def test_the_extra_is_named(monkeypatch, corpus):
    import sys

    monkeypatch.setitem(sys.modules, "bosdyn.api.spot.choreography_sequence_pb2", None)
    animation = bm.load(corpus / "cha" / "valid" / "v21_single_keyframe.cha")
    for give in (bm.spot.to_proto, bm.spot.to_move_info):
        with pytest.raises(ImportError, match=r"bodymotion\[spot\]"):
            give(animation)
    assert bm.spot.from_bytes(bm.spot.to_bytes(animation)).name == animation.name


def test_check_knows_the_rules_of_animations(corpus, tmp_path):
    path = tmp_path / "a.cap"
    path.write_text(
        "controls_body: true timing_adjustability: 5 animation_keyframes { time: 1 body { body_pos { x { } } } } tail: 1"
    )
    report = bm.check(path)
    assert {"CAP101", "CHA135"} <= {problem.rule for problem in report.problems}
    path.write_text("animation_keyframes {")
    assert [problem.rule for problem in bm.check(path).errors] == ["CAP002"]
    for valid in sampled(sorted((corpus / "cha" / "valid").glob("*.cap")), 3):
        assert bm.check(valid).ok, valid


def test_a_keyframe_with_a_fault_hides_no_fault_of_others(tmp_path):
    """And what is missing at it is not reported: a late begin, a jump over it."""
    heights = [0.48, 0.48, 0.6, 1.2, 1.2, 442]
    rows = (
        f"animation_keyframes {{ time: {'soon' if row in (0, 2) else row} body {{ body_pos {{ z {{ value: {height} }} }} }} }}\n"
        for row, height in enumerate(heights)
    )
    path = tmp_path / "a.cap"
    path.write_text(f"controls_body: true\n{''.join(rows)}")
    found = [
        (one.rule, one.message)
        for one in bm.check(path).problems
        if one.severity != "note"
    ]
    assert [rule for rule, _ in found] == ["CAP002", "CAP002", "CHA214"]
    assert "1.2 to 442 m" in found[-1][1]


def test_the_missing_tracks_of_a_message_are_named_by_its_own_fields(tmp_path):
    (tmp_path / "a.cap").write_text(
        "animation_keyframes { time: 0 body { body_pos { z { value: 0.48 } } } }\n"
    )
    found = next(
        one for one in bm.check(tmp_path / "a.cap").problems if one.rule == "CHA120"
    )
    assert "option" not in found.message and "controls_body: true" in (found.hint or "")


def test_no_words_of_protobuf_decide_what_a_fault_is(tmp_path, monkeypatch):
    """An unknown field, a wrong value, and a message that is not closed, each by where the parser stops."""
    from google.protobuf import text_format

    path, found = tmp_path / "move.cap", []
    path.write_text(
        "name: 'move'\nplanted: 1\nbpm: soon\nanimation_keyframes {\n  time: 1\n  oops { a: 1 }\n"
    )
    for words in (text_format.ParseError.__str__, lambda _: "Nein"):
        monkeypatch.setattr(text_format.ParseError, "__str__", words)
        found.append([(p.rule, p.location.line) for p in bm.check(path).problems])
    assert found[0] == found[1]
    rules = {line: rule for rule, line in found[0]}
    assert rules[2] == rules[6] != rules[3] == "CAP002", found
