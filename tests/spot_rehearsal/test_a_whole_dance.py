"""A whole dance: written by hand and from Python, put on beats, checked, seen, heard, danced by two robots twice, logged, and compared."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bosdyn.api.spot import choreography_sequence_pb2 as pb
from bosdyn.choreography.client.animation_file_to_proto import (
    convert_animation_file_to_proto,
)
from bosdyn.choreography.client.choreography import (
    ChoreographyClient,
    load_choreography_sequence_from_txt_file,
)
from bosdyn.client.lease import LeaseKeepAlive
from bosdyn.client.sdk import create_standard_sdk
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.scene.loading import load_scene
from bodymotion.spot import Credentials, StandIn
from bodymotion.spot.cha_proto.state_log import log_bytes
from bodymotion.spot.client.connection import PASSWORD, USERNAME
from bodymotion.viewer.page import timeline_data
from waiting import TIMEOUT, until

soundfile, av = pytest.importorskip("soundfile"), pytest.importorskip("av")
pytest.importorskip("librosa")
pytest.importorskip("vtkmodules")

RATE, BEAT, SLICE = 16000, 0.6, 0.15
ANIMATIONS = {
    "step": """controls legs

no parameters

time fl_pos              fr_pos               hl_pos              hr_pos                contact
0.0   0.3 0.166 0.0      0.3 -0.166 0.0      -0.3 0.166 0.0      -0.3 -0.166 0.0       1 1 1 1
0.3   0.3 0.166 0.0      0.3 -0.166 0.0      -0.3 0.166 0.0      -0.3 -0.166 0.0       0 1 1 1
0.6   0.3 0.166 0.06     0.3 -0.166 0.0      -0.3 0.166 0.0      -0.3 -0.166 0.0       0 1 1 1
0.9   0.3 0.166 0.0      0.3 -0.166 0.0      -0.3 0.166 0.0      -0.3 -0.166 0.0       1 1 1 1
1.2   0.3 0.166 0.0      0.3 -0.166 0.0      -0.3 0.166 0.0      -0.3 -0.166 0.0       1 1 1 1
""",
    "nod": "controls body\n\nno parameters\n\n"
    "time body_pos\n0.0 0 0 0.48\n0.5 -0.03 -0.02 0.46\n0.9 -0.03 -0.02 0.46\n1.2 0 0 0.48\n",
    "reach": "controls arm gripper\n\nno parameters\n\n"
    "time arm_joints gripper\n0.0 0 -3.11 3.13 1.57 0 -1.57 0\n0.6 0.3 -1.8 2.0 1.0 0.1 -0.6 -0.6\n1.2 0 -3.11 3.13 1.57 0 -1.57 0\n",
}
BY_HAND = """
name: "show"
slices_per_minute: 400
moves { type: "animation::step" start_slice: 0 requested_slices: 8 }
moves { type: "animation::nod" start_slice: 0 requested_slices: 8 }
moves {
  type: "sway" start_slice: 8 requested_slices: 8
  sway_params { horizontal { value: 0.03 } }
}
moves { type: "animation::reach" start_slice: 8 requested_slices: 8 }
moves {
  type: "rotate_body"
  start_slice: 16
  requested_slices: 8
  rotate_body_params { rotation { pitch { value: 0.1 } } return_to_start_pose { value: true } }
}
"""
OWN_MOVES = """
moves { name: 'sway' controls_body: true is_extendable: true min_move_length_slices: 4 move_length_slices: 8 }
moves { name: 'rotate_body' controls_body: true is_extendable: true min_move_length_slices: 4 move_length_slices: 4 }
move_param_config: "sway sway_params\\nhorizontal -0.1 0 0.1\\n\\n"
  "rotate_body rotate_body_params\\nrotation.pitch -0.3 0 0.3\\nreturn_to_start_pose true\\n"
"""
SECRETS = {USERNAME: "dancer", PASSWORD: "pa55-word"}


def run(*arguments: object, code: int = 0) -> str:
    """Run a command of bodymotion, which ends with an exit code, and return what it printed."""
    done = CliRunner().invoke(app, [str(one) for one in arguments], env=SECRETS)
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.fixture(scope="module")
def dance(tmp_path_factory) -> Path:
    """The folder of a dance on beats: show.csq, its animations, the moves of the robot, and the music."""
    folder = tmp_path_factory.mktemp("dance")
    for name, text in ANIMATIONS.items():
        (folder / f"{name}.cha").write_text(text)
    (folder / "robot.txt").write_text(OWN_MOVES)
    (folder / "hand.csq").write_text(BY_HAND)
    animations = {name: bm.load(folder / f"{name}.cha") for name in ANIMATIONS}
    made = bm.Choreography(name="show", slices_per_minute=400)
    made = (
        made.add(animations["step"])
        .add(animations["nod"], 0)
        .add("sway", 8, 8, {"horizontal": 0.03})
    )
    turn = {"rotation.pitch": 0.1, "return_to_start_pose": True}
    made = made.add(animations["reach"], 8).add(
        "rotate_body", slices=8, parameters=turn
    )
    bm.save(made, folder / "python.csq")
    assert bm.load(folder / "python.csq") == bm.load(folder / "hand.csq")
    click = np.sin(2 * np.pi * 900 * np.arange(480) / RATE) * np.exp(
        -np.arange(480) / RATE / 0.005
    )
    beat = np.pad(click, (0, round(BEAT * RATE) - len(click)))
    soundfile.write(folder / "song.wav", np.tile(beat, 8), RATE)
    run(
        "retime",
        folder / "hand.csq",
        folder / "show.csq",
        "--beats",
        folder / "song.wav",
    )
    return folder


def test_it_is_on_beats_checked_and_seen(dance):
    """No rule is broken, alone and beside another robot; timeline and plot have the moves, the beats and the waveform."""
    shown = bm.load(dance / "show.csq")
    starts = (
        np.array([move.start_slice for move in shown.moves])
        * 60
        / shown.slices_per_minute
    )
    np.testing.assert_allclose(starts, np.round(starts / BEAT) * BEAT, atol=0.02)
    assert shown.slices_per_minute == pytest.approx(240 / BEAT, rel=0.005)
    found = bm.check(dance / "show.csq", robot_moves=dance / "robot.txt").problems
    assert [one.message for one in found if one.severity != "note"] == []
    places = ("--place", "0,1,0", "--place", "0,-1,180")
    run(
        "spot",
        "together",
        dance / "show.csq",
        dance / "show.csq",
        *places,
        "--html",
        dance / "both.html",
    )
    run(
        "view",
        dance / "show.csq",
        "--music",
        dance / "song.wav",
        "--html",
        dance / "show.html",
    )
    run(
        "plot",
        dance / "show.csq",
        "--music",
        dance / "song.wav",
        "--what",
        "music",
        "-o",
        dance / "show.png",
    )
    data = timeline_data(load_scene(shown, music=dance / "song.wav"))
    rows = {name: [block[4] for block in blocks] for name, blocks in data["rows"][:4]}
    assert rows == {
        "legs": ["step"],
        "body": ["nod", "≈ sway", "≈ rotate_body"],
        "arm": ["reach"],
        "gripper": ["reach"],
    }
    np.testing.assert_allclose(
        data["music"]["beats"][:7], BEAT * np.arange(7), atol=0.02
    )


@pytest.mark.parametrize("kind", ["mp4", "webm"])
def test_it_is_a_video_with_sound(dance, kind):
    """Each click is heard when it sounds, by the time stamps of the file."""
    options = ("--music", dance / "song.wav", "--size", "96x64", "--fps", "5")
    run("render", dance / "show.csq", *options, "-o", dance / f"show.{kind}")
    with av.open(str(dance / f"show.{kind}")) as read:
        frames = [
            (float(one.pts * one.time_base), one.to_ndarray()[0])
            for one in read.decode(audio=0)
        ]
        assert read.streams.video[0].start_time == 0
    heard = np.zeros(48000 * 8)
    for begin, samples in frames:
        heard[round(begin * 48000) :][: len(samples)] = samples
    assert frames[-1][0] == pytest.approx(24 * SLICE, abs=0.3)
    for time_ in BEAT * np.arange(6):
        first = max(round((time_ - 0.1) * 48000), 0)
        near = np.abs(heard[first:][:9600])
        assert (
            first + np.flatnonzero(near > 0.3 * near.max())[0]
        ) / 48000 == pytest.approx(time_, abs=0.005)


def test_two_robots_dance_it_by_our_client_and_by_the_vendors(dance):
    """Both start at the same moment, and log what is commanded: lag and errors are nothing, 60 ms later is a lag and no error."""
    given = Credentials(*SECRETS.values())
    options = {"credentials": given, "robot_moves": dance / "robot.txt"}
    with StandIn(**options) as left, StandIn(**options) as right:
        where = []
        for one in (left, right):
            where += [
                "--robot",
                f"127.0.0.1:{one.port}",
                "--certificate",
                one.certificate,
            ]
        run(
            "spot",
            "perform",
            dance / "show.csq",
            *where,
            "--yes",
            "--power-on",
            "--start-in",
            "0.5",
        )
        assert abs(left.store.dance.start - right.store.dance.start) < 0.02e9
        for one, name in ((left, "left.pb"), (right, "right.txt")):
            to = ["--robot", f"127.0.0.1:{one.port}", "--certificate", one.certificate]
            run("spot", "log", *to, "-o", dance / name)
        run("spot", "log", *where[:4], "-o", dance / "record.txt", "--record", "0.2")
        late = ("--first-slice", "8", "--start-in", "0")
        run(
            "spot",
            "perform",
            dance / "show.csq",
            *where[:4],
            "--yes",
            "--power-on",
            *late,
        )
        run("spot", "log", *where[:4], "-o", dance / "late.pb")
    with StandIn(**options) as left, StandIn(**options) as right:
        logs = by_the_vendors_client(dance, [left, right])
    (dance / "theirs.pb").write_bytes(logs[0])
    (dance / "theirs2.pb").write_bytes(logs[1])
    assert bm.load(dance / "record.txt").duration == pytest.approx(0.2, abs=0.05)
    lags = []
    for name in ("left.pb", "right.txt", "theirs.pb", "theirs2.pb"):
        recorded = bm.load(dance / name)
        lags.append(compared(dance, dance / name))
        times = np.r_[0, recorded.keyframes.times[1:] + 0.06]
        later = replace(recorded, keyframes=replace(recorded.keyframes, times=times))
        (dance / "later.pb").write_bytes(log_bytes(later, 10**18))
        lags.append(compared(dance, dance / "later.pb"))
    np.testing.assert_allclose(lags, [0.0, 0.06] * 4, atol=0.005)
    assert compared(dance, dance / "late.pb", 8) == pytest.approx(0.0, abs=0.005)


def compared(dance: Path, log: Path, start: int = 0) -> float:
    """Return the lag of a log behind the dance; apart from it the log has no errors, and the dance began at a slice."""
    text = run("diff", dance / "show.csq", log, "--recorded", "--json", code=1)
    found = {one["what"]: one for one in json.loads(text)["differences"]}
    assert found.pop("start", {"slice": 0})["slice"] == start
    lag = found.pop("lag", {"lag": 0.0})["lag"]
    assert max(one["root_mean_square"] for one in found.values()) < 2e-3
    return float(lag)


def by_the_vendors_client(dance: Path, stand_ins: list[StandIn]) -> list[bytes]:
    """Let robots perform the dance as a program with the vendor's converter, reader and client does; return their logs."""
    sequence = load_choreography_sequence_from_txt_file(str(dance / "show.csq"))
    moves = [
        convert_animation_file_to_proto(str(dance / f"{name}.cha")).proto
        for name in ANIMATIONS
    ]
    logs = []
    start = time.time() + 2.0
    robots = []
    for one in stand_ins:
        sdk = create_standard_sdk(
            "vendor", [ChoreographyClient], cert_resource_glob=str(one.certificate)
        )
        robot = sdk.create_robot("127.0.0.1")
        robot.update_secure_channel_port(one.port)
        robot.authenticate(*SECRETS.values())
        robot.time_sync.wait_for_sync()
        client = robot.ensure_client(ChoreographyClient.default_service_name)
        for move in moves:
            client.upload_animated_move(move)
        assert not client.upload_choreography(
            sequence, non_strict_parsing=False
        ).warnings
        robots.append(
            (
                robot,
                client,
                LeaseKeepAlive(
                    robot.ensure_client("lease"), must_acquire=True, return_at_exit=True
                ),
            )
        )
        robot.power_on(timeout_sec=TIMEOUT)
    for _, client, _ in robots:
        client.execute_choreography("show", start, 0)
    done = pb.ChoreographyStatusResponse.STATUS_COMPLETED_SEQUENCE
    for robot, client, lease in robots:
        until(lambda client=client: client.get_choreography_status()[0].status == done)
        last = pb.DownloadRobotStateLogRequest.LOG_TYPE_LAST_CHOREOGRAPHY
        logs.append(client.download_robot_state_log(last)[1].SerializeToString())
        lease.shutdown()
        robot.shutdown()
    return logs
