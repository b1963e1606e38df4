"""Logs of a robot's states: each leg stays the leg that it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.spot.animation import GROUPS
from sample_files import tries

text_format = pytest.importorskip("google.protobuf.text_format")
sequence_pb2 = pytest.importorskip("bosdyn.api.spot.choreography_sequence_pb2")

LEGS = ("fl", "fr", "hl", "hr")
NUMBERS = st.floats(-3, 3)


def state(log, seconds, nanos, draw, arm=True):
    """Add a state to a log, and give what it holds by the names of columns."""
    frame = log.key_frames.add()
    frame.timestamp.seconds, frame.timestamp.nanos = seconds, nanos
    said = {}
    for leg in LEGS:
        joints, contact = getattr(frame.joint_angles, leg), draw(st.booleans())
        for column, joint in (("hx", "hip_x"), ("hy", "hip_y"), ("kn", "knee")):
            said[f"{leg}_{column}"] = draw(NUMBERS)
            setattr(joints, joint, said[f"{leg}_{column}"])
        setattr(frame.foot_contact_state, f"{leg}_contact", contact)
        said[f"{leg}_contact"] = float(contact)
    frame.foot_contact_state.SetInParent()
    for axis in "xyz":
        said[f"body_{axis}"] = draw(NUMBERS)
        setattr(frame.animation_tform_body.position, axis, said[f"body_{axis}"])
    for axis in "wxyz":
        said[f"body_quat_{axis}"] = draw(NUMBERS)
        setattr(frame.animation_tform_body.rotation, axis, said[f"body_quat_{axis}"])
    frame.animation_tform_body.position.SetInParent()
    frame.animation_tform_body.rotation.SetInParent()
    if arm:
        for column, joint in zip(
            GROUPS["arm_joints"],
            sequence_pb2.ArmJointAngles.DESCRIPTOR.fields,
            strict=True,
        ):
            said[column] = draw(NUMBERS)
            getattr(frame.joint_angles.arm, joint.name).value = said[column]
        said["gripper"] = draw(NUMBERS)
        frame.joint_angles.gripper_angle.value = said["gripper"]
    return said


@settings(max_examples=tries(40))
@given(st.data(), st.booleans(), st.booleans())
def test_logs_are_read(tmp_path_factory, data, arm, as_text):
    log = sequence_pb2.ChoreographyStateLog()
    start = data.draw(st.integers(0, 4_000_000_000))
    steps = data.draw(st.lists(st.integers(1, 3_000_000_000), min_size=1, max_size=4))
    nanos, said, times = 999_999_000, [], []
    for step in [0, *steps]:
        nanos += step
        said.append(state(log, start + nanos // 10**9, nanos % 10**9, data.draw, arm))
        times.append((nanos - 999_999_000) * 1e-9)
    path = tmp_path_factory.getbasetemp() / "walk.log"
    path.write_bytes(
        text_format.MessageToString(log).encode()
        if as_text
        else log.SerializeToString()
    )
    animation = bm.load(path)
    assert animation.name == "walk"
    assert animation.controls == (
        ("legs", "body", "arm", "gripper") if arm else ("legs", "body")
    )
    assert set(animation.keyframes.columns) == set(said[0])
    for column in said[0]:
        assert animation.keyframes.column(column).tolist() == [
            one[column] for one in said
        ], column
    np.testing.assert_allclose(animation.keyframes.times, times, rtol=0, atol=2e-9)
    assert animation.keyframes.times[0] == 0
    assert not animation.problems
    header = [
        "time",
        "leg_joints",
        "contact",
        "body_pos",
        "body_quat_wxyz",
        *(["arm_joints", "gripper"] if arm else []),
    ]
    assert list(animation.keyframes.header) == header


def test_legs_are_not_swapped(tmp_path):
    """The vendor's own conversion of logs puts the right legs in the columns of the left ones."""
    log = sequence_pb2.ChoreographyStateLog()
    for seconds in (0, 1):
        frame = log.key_frames.add()
        frame.timestamp.seconds = seconds
        for number, leg in enumerate(LEGS):
            getattr(frame.joint_angles, leg).knee = -1 - number
        frame.foot_contact_state.fl_contact = True
        frame.foot_contact_state.hr_contact = True
    path = tmp_path / "log.pb"
    path.write_bytes(log.SerializeToString())
    frames = bm.load(path).keyframes
    assert [frames.column(f"{leg}_kn")[0] for leg in LEGS] == [-1, -2, -3, -4]
    assert frames.column("contact")[1].tolist() == [1, 0, 0, 1]


def test_states_that_are_not_after_those_before_are_left_out(tmp_path):
    log = sequence_pb2.ChoreographyStateLog()
    for seconds in (5, 6, 6, 5, 7):
        frame = log.key_frames.add()
        frame.timestamp.seconds = seconds
        frame.joint_angles.fl.knee = -1.0
    path = tmp_path / "log.pbtxt"
    path.write_text(text_format.MessageToString(log))
    animation = bm.load(path)
    assert animation.keyframes.times.tolist() == [0, 1, 2]
    assert [problem.rule for problem in animation.problems] == ["CAP105"]


def test_a_log_becomes_a_file(tmp_path):
    rng = np.random.default_rng(3)

    def draw(strategy):
        return (
            float(rng.uniform(-1, 1)) if strategy is NUMBERS else bool(rng.integers(2))
        )

    log = sequence_pb2.ChoreographyStateLog()
    for number in range(20):
        state(log, 100, number * 33_000_000, draw)
    path = tmp_path / "dance.pb"
    path.write_bytes(log.SerializeToString())
    animation = bm.load(path)
    bm.save(animation, tmp_path / "dance.cap")
    message = bm.load(tmp_path / "dance.cap")
    assert (
        message.keyframes.column("leg_joints").tolist()
        == animation.keyframes.column("leg_joints").tolist()
    )
    theirs = text_format.Parse(
        (tmp_path / "dance.cap").read_text(), sequence_pb2.Animation()
    )
    assert theirs == bm.spot.to_proto(animation)
    assert (
        theirs.animation_keyframes[3].legs.hr.joint_angles.knee
        == log.key_frames[3].joint_angles.hr.knee
    )


def test_an_empty_log(tmp_path):
    path = tmp_path / "log.pb"
    path.write_bytes(b"")
    with pytest.raises(bm.FormatError, match="CAP006"):
        bm.spot.read_state_log(path)
