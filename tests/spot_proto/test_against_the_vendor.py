"""Our messages are the vendor's, field by field and byte by byte."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from cha_files import VENDOR_CRASHES, ChaFile, by_hand, cha_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.spot.animation import GROUPS, Animation, Parameter
from bodymotion.spot.cha import parse_cha
from bodymotion.spot.cha_proto.messages import ENUMS, MESSAGES
from bodymotion.spot.cha_proto.rows import PATHS
from sample_files import CORPUS, sampled, tries

converter = pytest.importorskip("bosdyn.choreography.client.animation_file_to_proto")
text_format = pytest.importorskip("google.protobuf.text_format")
sequence_pb2 = pytest.importorskip("bosdyn.api.spot.choreography_sequence_pb2")
params_pb2 = pytest.importorskip("bosdyn.api.spot.choreography_params_pb2")

VALID = sorted((CORPUS / "cha" / "valid").glob("*.cha"))
QUICK = settings(
    max_examples=tries(150), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CONFIG = """\
other_params
speed  9 9 9

animate_params
speed    0.25  1  4
arm_dance_frame_id 0 0 5
rotation_multiplier.yaw -1 0 1

last_params
body_exit_slices 1 2 3
"""


def vendors(path: Path, config: str = ""):
    """Return what the vendor's converter makes of a file."""
    with contextlib.redirect_stdout(io.StringIO()):
        return converter.convert_animation_file_to_proto(str(path), config)


def read(path: Path) -> Animation:
    """Read a file whatever the document says about its values: the converter minds nothing of that."""
    animation = parse_cha(path.read_bytes(), path).value
    assert animation is not None
    return animation


def find(name: str):
    """Return the descriptor of one of the vendor's messages by its bare name."""
    first = (sequence_pb2.DESCRIPTOR, params_pb2.DESCRIPTOR)
    files = (*first, *(file for one in first for file in one.dependencies))
    for nested in (False, True):
        for file in files:
            for message in file.message_types_by_name.values():
                names = (
                    message.nested_types_by_name if nested else {message.name: message}
                )
                if name in names:
                    return names[name]
    raise LookupError(name)


@pytest.mark.parametrize("name", MESSAGES)
def test_the_table_of_fields_is_the_vendors(name):
    vendor_names = {"DisplayColor": ("ChoreographerDisplayInfo", "Color")}
    message = (
        find(vendor_names[name][0]).nested_types_by_name["Color"]
        if name in vendor_names
        else find(name)
    )
    fields = [
        field
        for field in message.fields
        if (name, field.name) != ("ListAllMovesResponse", "header")
    ]
    assert MESSAGES[name].keys() == {field.name for field in fields}
    for field in fields:
        ours = MESSAGES[name][field.name]
        assert ours.repeated == field.is_repeated
        assert ours.number == field.number
        assert ours.choice == (
            field.containing_oneof.name if field.containing_oneof else ""
        )
        if field.message_type is not None:
            assert ours.kind in (
                field.message_type.name,
                f"Display{field.message_type.name}",
            )
        elif field.enum_type is not None:
            assert ENUMS[ours.kind] == {
                value.name: value.number for value in field.enum_type.values
            }
        else:
            assert getattr(field, "TYPE_" + ours.kind.upper()) == field.type


def test_every_column_of_the_document_has_a_field():
    assert set(PATHS) == {single for group in GROUPS.values() for single in group} | {
        "gripper"
    }


@pytest.mark.parametrize("path", sampled(VALID), ids=lambda path: path.stem)
def test_samples(path, corpus):
    animation = bm.load(path)
    expected = path.with_suffix(".cap")
    if not expected.exists():
        assert path.stem == "v19_hand_xyz_single_columns", (
            "only single columns of the hand make the converter crash"
        )
        first = (
            bm.spot.to_proto(animation).animation_keyframes[0].arm.hand_pose.position
        )
        assert first.x.value == animation.keyframes.column("hand_x")[0]
        return
    message = text_format.Parse(expected.read_text(), sequence_pb2.Animation())
    assert bm.spot.to_proto(animation) == message
    assert bm.spot.to_bytes(animation) == message.SerializeToString(deterministic=True)
    assert bm.spot.to_text(animation) == expected.read_text()
    info = text_format.Parse(
        path.with_suffix(".moveinfo.txt").read_text(), sequence_pb2.MoveInfo()
    )
    assert bm.spot.to_move_info(animation) == info


@QUICK
@given(cha_files())
def test_generated_files(tmp_path, file: ChaFile):
    path = file.write(tmp_path)
    theirs = vendors(path)
    animation = read(path)
    assert bm.spot.to_proto(animation) == theirs.proto
    assert bm.spot.to_bytes(animation) == theirs.proto.SerializeToString(
        deterministic=True
    )
    assert bm.spot.to_text(animation) == text_format.MessageToString(theirs.proto)
    assert bm.spot.to_move_info(animation) == theirs.create_move_info_proto()


@QUICK
@given(st.data())
def test_columns_that_exclude_each_other(tmp_path, data):
    """The document forbids them; of such the message holds the last."""
    keywords = sorted({*GROUPS, *PATHS} - VENDOR_CRASHES)
    header = [
        "time",
        *data.draw(
            st.lists(st.sampled_from(keywords), min_size=1, max_size=12, unique=True)
        ),
    ]
    row = ["1"] + [
        data.draw(st.sampled_from(("0", "0.0", "1", "2.5", "-1", "-0.5")))
        for keyword in header[1:]
        for _ in GROUPS.get(keyword, ("",))
    ]
    path = ChaFile(["controls body"], [], header, [row]).write(tmp_path)
    ours = by_hand(header, [row])
    theirs = vendors(path).proto
    theirs.controls_body = False
    assert bm.spot.to_proto(ours) == theirs


@pytest.mark.parametrize("config", [CONFIG, None], ids=["text", "file"])
def test_limits_of_the_robot(tmp_path, config):
    file = ChaFile(
        ["controls body"],
        ["speed", "rotation_multiplier.yaw", "body_exit_slices 0 1 2"],
        ["time", "body_z"],
        [["0", "1"], ["1", "1"]],
    )
    path = file.write(tmp_path)
    if config is None:
        config = tmp_path / "MoveParamsConfig.txt"
        config.write_text(CONFIG)
    animation = bm.load(path)
    assert animation.parameters["speed"] == Parameter()
    message = bm.spot.to_proto(animation, move_params_config=config)
    assert message == vendors(path, CONFIG).proto
    assert message.maximum_parameters.speed.value == 4
    with pytest.raises(ValueError, match=r"speed.* no limits"):
        bm.spot.to_proto(animation)
    lost = bm.save(animation, tmp_path / "a.cap").losses
    assert [problem.rule for problem in lost] == ["LOSS062", "LOSS062"]
    assert not bm.save(animation, tmp_path / "a.cap", move_params_config=config).losses


def test_frame_id_is_whole(tmp_path):
    path = ChaFile(
        ["controls arm gripper", "arm_playback workspace_dance_frame"],
        ["arm_dance_frame_id 0 1 3.7"],
        ["time", "hand_pos", "gripper"],
        [["0", "1", "1", "1", "-1"]],
    ).write(tmp_path)
    message = bm.spot.to_proto(bm.load(path))
    assert message == vendors(path).proto
    assert message.maximum_parameters.arm_dance_frame_id.value == 3


def test_colour_follows_from_the_name(corpus):
    (path,) = (corpus / "cha" / "valid").glob("v03*.cha")
    assert bm.spot.to_move_info(bm.load(path)) == vendors(path).create_move_info_proto()


def test_a_tempo_with_a_fraction():
    """The vendor's converter takes whole numbers only; the message holds any."""
    animation = bm.spot.from_text(
        'name: "a" animation_keyframes { time: 2 body { body_pos { x { value: 1 } } } } bpm: 90.5'
    )
    assert bm.spot.to_proto(animation).bpm == 90.5
    assert bm.spot.to_move_info(animation).move_length_slices == int(2 / 60 * 4 * 90.5)


def test_a_byte_order_mark_hides_no_option(tmp_path):
    """The vendor's converter does not see the first line of such a file."""
    path = ChaFile(["controls body"], [], ["time", "body_z"], [["0", "1"]]).write(
        tmp_path
    )
    expected = bm.spot.to_proto(bm.load(path))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert bm.spot.to_proto(bm.load(path)) == expected
    theirs = vendors(path).proto
    assert not theirs.controls_body
    theirs.controls_body = True
    assert theirs == expected


def test_long_recordings_equal_the_vendors(tmp_path):
    rng = np.random.default_rng(0)
    header = [
        "time",
        "body_pos",
        "body_quat_wxyz",
        "leg_joints",
        "contact",
        "arm_joints",
        "gripper",
    ]
    rows = []
    numbers_of = rng.choice(["0", "0.0", "0.5", "-1.25"], size=(100, 26)).tolist()
    contacts_of = rng.choice(["0", "1"], size=(100, 4)).tolist()
    for number in range(tries(5000)):
        numbers, contact = numbers_of[number % 100], contacts_of[number % 100]
        rows.append([f"{number / 30:.4f}", *numbers[:19], *contact, *numbers[19:]])
    path = ChaFile(["controls legs body arm gripper"], [], header, rows).write(tmp_path)
    theirs = vendors(path).proto
    animation = read(path)
    assert bm.spot.to_bytes(animation) == theirs.SerializeToString(deterministic=True)
    assert bm.spot.to_text(animation) == text_format.MessageToString(theirs)
    assert bm.spot.to_bytes(
        bm.spot.from_text(bm.spot.to_text(animation))
    ) == bm.spot.to_bytes(animation)
