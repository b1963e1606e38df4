"""The stand-in robot, spoken to by the vendor's own client: what it takes, refuses and dances."""

from __future__ import annotations

import os
import socket
import time
from unittest import mock

import grpc
import numpy as np
import pytest
from bosdyn.api.spot import choreography_sequence_pb2 as pb
from bosdyn.choreography.client.choreography import (
    AnimationRejectedDanceActiveError,
    AnimationUploadHelper,
    AnimationValidationFailedError,
    InvalidUploadedChoreographyError,
    RobotCommandIssuesError,
)
from bosdyn.client import lease as leases
from bosdyn.client.auth import TemporarilyLockedOutError
from bosdyn.client.exceptions import (
    InvalidRequestError,
    LeaseUseError,
    UnauthenticatedError,
)
from bosdyn.client.sdk import create_standard_sdk

import bodymotion as bm
from bodymotion.spot import Credentials, SpotError, connected
from bodymotion.spot.animation import GROUPS
from bodymotion.spot.cha import parse_cha
from bodymotion.spot.choreography.approximation import parameters_of
from bodymotion.spot.rehearsal.access import Accounts
from bodymotion.spot.rehearsal.choreography import choreography_of
from bodymotion.spot.rehearsal.server import StandIn, make_certificate
from bodymotion.spot.rehearsal.store import Store
from waiting import TIMEOUT, until

STATUS = pb.ChoreographyStatusResponse

WAVE = """controls arm gripper
bpm 120
extendable

speed 0.5 1 2

time arm_joints gripper
0.0  0.0 -1.5 1.6 0.1 0.1 0.1  -0.1
0.5  0.4 -1.5 1.6 0.1 0.1 0.1  -0.5
1.0  0.0 -1.5 1.6 0.1 0.1 0.1  -0.1
"""
SWAY = """controls body
bpm 120
neutral_start

no parameters

time body_pos
0.0  0 0 0.48
0.5  0 0.04 0.46
1.0  0 0 0.48
"""


@pytest.fixture
def files(tmp_path):
    for name, text in (("wave", WAVE), ("sway", SWAY)):
        (tmp_path / f"{name}.cha").write_text(text)
    return [tmp_path / "sway.cha", tmp_path / "wave.cha"]


def sequence(
    *moves: tuple[str, int, int], name: str = "show", per_minute: float = 1200.0
) -> pb.ChoreographySequence:
    made = pb.ChoreographySequence(name=name, slices_per_minute=per_minute)
    for kind, start, length in moves:
        made.moves.add(type=kind, start_slice=start, requested_slices=length)
    return made


def shown(danced: list[tuple], count: int) -> list[tuple]:
    """Wait for the pictures of so many dances, which are made beside the answers."""
    until(lambda: len(danced) >= count)
    return danced


def test_upload_list_and_give_back(robot, client, files):
    """What is uploaded is listed, comes back as it was sent, and is not sent again while it is the same."""
    assert [outcome.result for outcome in bm.spot.upload(files, robot)] == [
        "uploaded",
        "uploaded",
    ]
    listed = {move.name: move for move in client.list_all_moves().moves}
    assert set(listed) == {"animation::sway", "animation::wave"}
    assert listed["animation::wave"].controls_arm
    assert not listed["animation::wave"].controls_legs
    sent = bm.spot.to_proto(bm.load(files[1]))
    assert client.get_animation("wave").animated_move == sent
    assert [outcome.result for outcome in bm.spot.upload(files, robot)] == [
        "unchanged",
        "unchanged",
    ]
    files[1].write_text(WAVE.replace("0.4 -1.5", "0.5 -1.5"))
    assert [outcome.result for outcome in bm.spot.upload(files, robot)] == [
        "unchanged",
        "uploaded",
    ]
    assert [outcome.result for outcome in bm.spot.upload(files, robot, again=True)] == [
        "uploaded",
        "uploaded",
    ]
    with pytest.raises(InvalidRequestError):
        client.get_animation("nothing")


def test_the_vendors_upload_helper_agrees(robot, files):
    """The vendor's helper finds what we uploaded unchanged, and we what it uploaded."""
    bm.spot.upload(files[:1], robot)
    helper = AnimationUploadHelper(robot)
    assert helper.upload_animated_move(bm.spot.to_proto(bm.load(files[0]))) is None
    answer = helper.upload_animated_move(bm.spot.to_proto(bm.load(files[1])))
    assert answer.status == answer.STATUS_OK
    assert [outcome.result for outcome in bm.spot.upload(files, robot)] == [
        "unchanged",
        "unchanged",
    ]


def test_an_animation_with_faults_is_refused(robot, client, tmp_path, stand_in, heard):
    """Ours stays here; that of a program which does not check is refused by the robot, in words."""
    broken = tmp_path / "broken.cha"
    broken.write_text(WAVE.replace("0.5  0.4", "0.0  0.4"))
    (outcome,) = bm.spot.upload([broken], robot)
    assert outcome.result == "faulty"
    assert any(problem.location.line == 9 for problem in outcome.problems)
    message = bm.spot.to_proto(parse_cha(WAVE.encode(), "wave.cha").require())
    message.animation_keyframes[1].time = message.animation_keyframes[0].time
    with pytest.raises(AnimationValidationFailedError) as caught:
        client.upload_animated_move(message)
    assert caught.value.response.warnings
    assert not client.list_all_moves().moves
    assert "refused" in heard[-1]


def test_an_empty_upload_is_a_ping(client):
    """An upload without an animation is answered."""
    request = pb.UploadAnimatedMoveRequest()
    assert (
        client.call(client._stub.UploadAnimatedMove, request).status
        == pb.UploadAnimatedMoveResponse.STATUS_PING_RESPONSE
    )


def test_an_arm_that_is_missing_or_forbidden(files, tmp_path):
    """A robot without arm refuses what needs one, one with arm what forbids it."""
    needs, forbids = tmp_path / "needs.cha", tmp_path / "forbids.cha"
    needs.write_text(WAVE.replace("extendable", "arm_required"))
    forbids.write_text(SWAY.replace("neutral_start", "neutral_start\narm_prohibited"))
    for arm, results in (
        (True, ["uploaded", "refused"]),
        (False, ["refused", "uploaded"]),
    ):
        with (
            StandIn(arm=arm) as stand_in,
            connected(
                "127.0.0.1",
                stand_in.credentials,
                port=stand_in.port,
                certificate=stand_in.certificate,
            ) as robot,
        ):
            outcomes = bm.spot.upload([needs, forbids], robot)
            assert [outcome.result for outcome in outcomes] == results
            assert robot.has_arm() == arm


def test_a_dance(robot, client, files, danced, monkeypatch):
    """Upload a sequence, take the lease, switch on, dance at a time to come, and follow the slices to the end, by a clock of its own."""
    clock = [time.time_ns()]
    monkeypatch.setattr(Store, "now", lambda store: clock[0])

    def after(seconds: float):
        clock[0] += round(seconds * 1e9)
        return client.get_choreography_status()[0]

    def here(seconds: float) -> float:
        """Return the time of this machine that the client takes for so many seconds after the robot's time."""
        return (
            clock[0] - robot.time_sync.endpoint.clock_skew.ToNanoseconds()
        ) * 1e-9 + seconds

    bm.spot.upload(files, robot)
    show = sequence(
        ("animation::sway", 0, 8), ("animation::wave", 4, 8), per_minute=240.0
    )
    assert not client.upload_choreography(show).warnings
    assert client.list_all_sequences().known_sequences == ["show"]
    back = client.get_choreography_sequence("show")
    assert back.choreography_sequence == show
    assert {move.name for move in back.animated_moves} == {"sway", "wave"}
    robot.time_sync.wait_for_sync(TIMEOUT)
    with leases.LeaseKeepAlive(
        robot.ensure_client("lease"), must_acquire=True, return_at_exit=True
    ):
        robot.power_on(timeout_sec=TIMEOUT)
        assert robot.is_powered_on()
        answer = client.execute_choreography("show", here(600.0), 0)
        assert answer.status == answer.STATUS_OK
        ((motion, wait, left_out),) = shown(danced, 1)
        assert after(0).status == STATUS.STATUS_WAITING_FOR_START_TIME
        assert after(300).status == STATUS.STATUS_WAITING_FOR_START_TIME
        dancing = after(301)
        assert dancing.status == STATUS.STATUS_DANCING
        assert dancing.execution_id == answer.execution_id
        assert (dancing.sequence_name, dancing.sequence_slices) == ("show", 12)
        assert 0 < dancing.current_slice < 12
        with pytest.raises(AnimationRejectedDanceActiveError):
            client.upload_animated_move(bm.spot.to_proto(bm.load(files[0])))
        done = after(10)
        assert (done.status, done.current_slice) == (
            STATUS.STATUS_COMPLETED_SEQUENCE,
            12,
        )
        late = client.execute_choreography("show", here(0.0), 6)
        assert late.execution_id == answer.execution_id + 1
        now = after(1)
        assert now.status == STATUS.STATUS_DANCING and now.current_slice >= 6
        robot.power_off(cut_immediately=True, timeout_sec=TIMEOUT)
        ended = after(100)
        assert ended.status == STATUS.STATUS_INTERRUPTED and ended.current_slice < 12
    _, (_, _, left_out_late) = shown(danced, 2)
    assert motion.duration == pytest.approx(12 * 60 / 240)
    assert wait == pytest.approx(600.0, abs=1e-3)
    assert (left_out, left_out_late) == (0, pytest.approx(1.5))


def test_refusals_of_a_dance(robot, client, files):
    """No lease, an old lease, motors off, an unknown sequence, a faulty one."""
    bm.spot.upload(files, robot)
    client.upload_choreography(sequence(("animation::sway", 0, 8)))
    robot.time_sync.wait_for_sync(TIMEOUT)
    with pytest.raises(leases.NoSuchLease):
        client.execute_choreography("show", time.time(), 0)
    lending = robot.ensure_client("lease")
    old = lending.acquire()
    with pytest.raises(leases.ResourceAlreadyClaimedError):
        lending.acquire()
    lending.take()
    with pytest.raises(LeaseUseError):
        client.execute_choreography("show", time.time(), 0, lease=old.lease_proto)
    lending.take()
    with pytest.raises(RobotCommandIssuesError):
        client.execute_choreography("show", time.time(), 0)
    robot.power_on(timeout_sec=TIMEOUT)
    with pytest.raises(Exception, match="UNKNOWN_SEQUENCE"):
        client.execute_choreography("nothing", time.time(), 0)
    said = client.upload_choreography(
        sequence(
            ("animation::nothing", 0, 4),
            ("sway", 0, 4),
            ("animation::sway", 0, 8),
            ("animation::sway", 3, 8),
        ),
        non_strict_parsing=False,
    ).warnings
    assert len(said) == 3
    with pytest.raises(InvalidUploadedChoreographyError):
        client.execute_choreography("show", time.time(), 0)
    for bad in (
        sequence(("animation::nothing", 0, 4)),
        sequence(("animation::sway", -5, 8)),
        sequence(("animation::sway", 0, 0)),
    ):
        assert len(client.upload_choreography(bad).warnings) == 1
        with pytest.raises(InvalidUploadedChoreographyError):
            client.execute_choreography("show", time.time(), 0)
    for tempo in (0.0, -1.0, 1e-300, 1e300, float("nan"), float("inf")):
        client.upload_choreography(
            sequence(("animation::sway", 0, 8), per_minute=tempo)
        )
        with pytest.raises(InvalidUploadedChoreographyError):
            client.execute_choreography("show", time.time(), 0)
    client.upload_choreography(sequence(("animation::sway", 0, 8)))
    for first in (-5, 9999, 1e300):
        with pytest.raises(InvalidRequestError):
            client.execute_choreography("show", time.time(), first)
    assert client.get_choreography_status()[0].status == STATUS.STATUS_OTHER


def test_sequences_are_kept_labelled_and_forgotten(client):
    """Labels, saving and deleting, as the protocol has them."""
    client.upload_choreography(sequence(name="a"))
    assert client.save_sequence("a", ["x"]).status == pb.SaveSequenceResponse.STATUS_OK
    client.modify_choreography_info("a", add_labels=["y"], remove_labels=["x"])
    (info,) = client.list_all_sequences().sequence_info
    assert (info.name, list(info.labels), info.saved_state) == (
        "a",
        ["y"],
        info.SAVED_STATE_RETAINED,
    )
    assert client.delete_sequence("a").status == pb.DeleteSequenceResponse.STATUS_OK
    assert (
        client.delete_sequence("a").status
        == pb.DeleteSequenceResponse.STATUS_UNKNOWN_SEQUENCE
    )


def test_who_may_not_in(stand_in, heard):
    """Wrong password, wrong user, wrong token, no token; after many tries nobody for a while. No secret is heard."""
    where = {"port": stand_in.port, "certificate": stand_in.certificate}
    name, password = stand_in.credentials.username, stand_in.credentials.password
    for wrong in (
        Credentials(name, "guess"),
        Credentials("root", password),
        Credentials(token="guess"),
    ):
        with (
            pytest.raises(SpotError, match="refuses this"),
            connected("127.0.0.1", wrong, **where),
        ):
            pass
    sdk = create_standard_sdk("test", cert_resource_glob=str(stand_in.certificate))
    stranger = sdk.create_robot("127.0.0.1")
    stranger.update_secure_channel_port(stand_in.port)
    with pytest.raises(UnauthenticatedError):
        stranger.list_services()
    with pytest.raises(TemporarilyLockedOutError):
        for _ in range(9):
            try:
                stranger.authenticate(name, "guess")
            except TemporarilyLockedOutError:
                raise
            except Exception as error:
                assert "login" in type(error).__name__.lower()
    assert not any(password in line for line in heard)
    assert password not in repr(stand_in.credentials)
    stranger.shutdown()


def test_the_former_keyword_for_reports_still_works():
    with pytest.warns(DeprecationWarning, match="report="):
        former = bm.spot.StandIn(say=print)
    assert former._report is print


def test_no_message_is_received_before_login(stand_in):
    """A call without a token is refused before its request, which may be large, is in memory."""
    call = mock.Mock(method="/bosdyn.api.LeaseService/AcquireLease")
    call.invocation_metadata = [("authorization", "Bearer wrong")]
    refusing = Accounts("user", "password").intercept_service(mock.Mock(), call)
    assert refusing.request_streaming
    channel = grpc.secure_channel(
        f"127.0.0.1:{stand_in.port}",
        grpc.ssl_channel_credentials(stand_in.certificate.read_bytes()),
        options=[("grpc.ssl_target_name_override", "api.spot.robot")],
    )
    with channel, pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(call.method)(bytes(1 << 20), timeout=TIMEOUT)
    assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED


def test_a_certificate_replaces_nothing_else(tmp_path):
    """Neither notes, a key behind a certificate, nor somebody else's certificate."""
    own, key = make_certificate()
    (tmp_path / "own.pem").write_bytes(own)
    with StandIn(certificate=tmp_path / "own.pem"):
        renewed = (tmp_path / "own.pem").read_bytes()
    assert renewed != own and renewed.startswith(b"-----BEGIN CERTIFICATE")
    with mock.patch("bodymotion.spot.rehearsal.server.COMMON_NAME", "somebody"):
        other, _ = make_certificate()
    contents = {"notes.txt": b"notes", "both.pem": own + key, "other.pem": other}
    for name, content in {**contents, "empty.pem": b""}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileExistsError, match="no certificate"):
            StandIn(certificate=tmp_path / name)
        assert (tmp_path / name).read_bytes() == content
    os.mkfifo(tmp_path / "pipe.pem")
    with pytest.raises(FileExistsError):
        StandIn(certificate=tmp_path / "pipe.pem")
    with pytest.raises(OSError, match="folder"):
        StandIn(certificate=tmp_path)


def test_it_is_tls_and_local(stand_in):
    """Another authority's certificate is not accepted, a plain connection neither; other addresses of the machine do not answer."""
    with (
        pytest.raises(SpotError, match=r"cannot be reached|does not answer"),
        connected("127.0.0.1", stand_in.credentials, port=stand_in.port),
    ):
        pass
    with (
        grpc.insecure_channel(f"127.0.0.1:{stand_in.port}") as channel,
        pytest.raises(grpc.FutureTimeoutError),
    ):
        grpc.channel_ready_future(channel).result(timeout=1.0)
    with socket.socket() as other, pytest.raises(OSError):
        other.settimeout(1.0)
        other.connect(("127.0.0.2", stand_in.port))


def test_a_port_that_is_taken(stand_in):
    """It is said, not shared."""
    with pytest.raises(OSError, match="is not free"):
        StandIn(port=stand_in.port)


def test_a_long_recording_in_one_go(robot, client):
    """16 000 keyframes of all columns: beyond gRPC's own limit of 4 MiB."""
    columns = (
        *GROUPS["leg_joints"],
        *GROUPS["body_pos"],
        *GROUPS["body_quat_wxyz"],
        *GROUPS["arm_joints"],
        "gripper",
    )
    count = 16_000
    wave = 0.02 * np.sin(np.arange(count)[:, None] / 50.0 + np.arange(len(columns)))
    rest = np.array(
        [
            *[0.0, 0.8, -1.6] * 4,
            0.0,
            0.0,
            0.48,
            1.0,
            0.0,
            0.0,
            0.0,
            0.0,
            -1.5,
            1.6,
            0.1,
            0.1,
            0.1,
            -0.4,
        ]
    )
    values = rest + wave
    turn = columns.index("body_quat_w")
    values[:, turn : turn + 4] = rest[turn : turn + 4]
    animation = bm.Animation(
        name="long",
        options={"controls": ("legs", "body", "arm", "gripper")},
        keyframes=bm.spot.Keyframes(
            columns=columns, values=values, times=np.arange(count) / 100.0
        ),
    )
    message = bm.spot.to_proto(animation)
    assert message.ByteSize() > 4 << 20
    (outcome,) = bm.spot.upload([animation], robot)
    assert outcome.result == "uploaded", outcome
    assert client.get_animation("long").animated_move == message


def test_a_dance_is_made_of_its_moves(files):
    """Where one move plays alone it is as played by itself; what no move controls stays; parameters of a move count."""
    from bodymotion.spot.rehearsal.store import UploadedAnimation

    sway, wave = (bm.load(path) for path in files)
    known = {
        a.name: UploadedAnimation(bm.spot.to_proto(a), a, "") for a in (sway, wave)
    }
    show = sequence(
        ("animation::wave", 0, 8), ("animation::sway", 8, 8), per_minute=480.0
    )
    motion = choreography_of(show, known).play(arm=True)
    assert (
        motion.extra["spot"].items()
        >= {"bpm": 120.0, "slice": 0.125, "slices": 16.0}.items()
    )
    q = motion.joint_displacement
    alone = wave.play(
        bpm=120, slices=8, frame_rate=q.timeline.frame_rate
    ).joint_displacement
    at = q.part_labels.index("sh0")
    np.testing.assert_allclose(
        q.values[: len(alone.values), at], alone.values[:, at], atol=1e-12
    )
    legs = q.values[: len(alone.values), :12]
    np.testing.assert_array_equal(legs, legs[:1].repeat(len(legs), 0))
    show.moves[0].animate_params.speed.value = 2.0
    show.moves[1].animate_params.translation_multiplier.x.value = 0.5
    assert parameters_of(choreography_of(show, known).moves[0]) == {"speed": 2.0}
    assert parameters_of(choreography_of(show, known).moves[1]) == {
        "translation_multiplier.x": 0.5
    }
    faster = (
        choreography_of(show, known).play(arm=True).joint_displacement.values[:, at]
    )
    twice = wave.play(
        bpm=120, slices=8, parameters={"speed": 2.0}, frame_rate=q.timeline.frame_rate
    )
    np.testing.assert_allclose(
        faster[:60], twice.joint_displacement.values[:60, at], atol=1e-12
    )


def test_lengths_and_parameters_are_those_that_the_animation_allows(
    robot, client, files, danced
):
    """With non-strict parsing what is too long, too short or out of range is danced as the nearest that is allowed, and said."""
    bm.spot.upload(files, robot)
    show = sequence(
        ("animation::sway", 0, 999), ("animation::wave", 0, 2), per_minute=480.0
    )
    show.moves[1].animate_params.speed.value = 1e9
    show.moves[1].animate_params.gripper_offset.value = 0.1
    said = "\n".join(client.upload_choreography(show).warnings)
    for words in (
        "not extendable",
        "not truncatable",
        "speed is 1e+09",
        "no parameter gripper_offset",
    ):
        assert words in said
    robot.time_sync.wait_for_sync(TIMEOUT)
    with leases.LeaseKeepAlive(
        robot.ensure_client("lease"), must_acquire=True, return_at_exit=True
    ):
        robot.power_on(timeout_sec=TIMEOUT)
        client.execute_choreography("show", time.time(), 0)
        answer, _ = client.get_choreography_status()
    assert answer.sequence_slices == 8
    ((motion, _, _),) = shown(danced, 1)
    q = motion.joint_displacement
    at = q.part_labels.index("sh0")
    wave = bm.load(files[1]).play(
        bpm=120, slices=8, parameters={"speed": 2.0}, frame_rate=q.timeline.frame_rate
    )
    np.testing.assert_allclose(
        q.values[:, at], wave.joint_displacement.values[:, at], atol=1e-12
    )


def test_a_sequence_without_end_is_not_danced(robot, client, files):
    """A move of two thousand million slices takes neither memory nor time."""
    files[0].write_text(SWAY.replace("neutral_start", "neutral_start\nextendable"))
    bm.spot.upload(files, robot)
    assert (
        "ends beyond slice"
        in client.upload_choreography(
            sequence(("animation::sway", 0, 2_000_000_000))
        ).warnings[0]
    )


def test_parameters_that_are_only_named(robot, tmp_path):
    """Their ranges are the robot's; where it has none, that file alone is not sent."""
    names = ("a", "b", "c")
    for name in names:
        (tmp_path / f"{name}.cha").write_text(SWAY)
    (tmp_path / "b.cha").write_text(
        SWAY.replace("no parameters", "speed\nbody_entry_slices 0 1 2")
    )
    paths = [tmp_path / f"{name}.cha" for name in names]
    assert [outcome.result for outcome in bm.spot.upload(paths, robot)] == [
        "uploaded"
    ] * 3
    sent = robot.ensure_client("choreography").get_animation("b").animated_move
    assert (
        0
        < sent.minimum_parameters.speed.value
        < 1
        < sent.maximum_parameters.speed.value
    )
    assert sent.default_parameters.speed.value == 1


def test_a_robot_without_ranges(robot, tmp_path, monkeypatch):
    """A file that needs them is said to be faulty, and the others are sent."""
    monkeypatch.setattr(
        "bodymotion.spot.rehearsal.choreography.config_text", lambda: ""
    )
    (tmp_path / "a.cha").write_text(SWAY.replace("no parameters", "speed"))
    (tmp_path / "b.cha").write_text(SWAY)
    outcomes = bm.spot.upload([tmp_path / "a.cha", tmp_path / "b.cha"], robot)
    assert [outcome.result for outcome in outcomes] == ["faulty", "uploaded"]
    assert "speed" in outcomes[0].reason


def test_two_files_of_one_move(robot, tmp_path):
    """The second is not sent over the first; a file without a name has no move."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "sway.cha").write_text(SWAY)
    (tmp_path / ".cha").write_text(SWAY)
    paths = [
        tmp_path / "a" / "sway.cha",
        tmp_path / "b" / "sway.cha",
        tmp_path / ".cha",
    ]
    assert [outcome.result for outcome in bm.spot.upload(paths, robot)] == [
        "uploaded",
        "faulty",
        "faulty",
    ]


def test_every_named_parameter_has_a_range():
    """The stand-in robot tells all of the document's parameters, as the reader of such texts understands them."""
    from bodymotion.spot.cha_proto.sequence import limits_of
    from bodymotion.spot.playback.timing import NEUTRAL
    from bodymotion.spot.rehearsal.choreography import config_text

    found = limits_of(config_text())
    assert set(found) == set(NEUTRAL)
    assert all(
        limit.minimum <= limit.default <= limit.maximum for limit in found.values()
    )
