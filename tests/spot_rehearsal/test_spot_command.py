"""`bodymotion spot`: uploads with credentials from the environment, and the stand-in robot as a program."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.spot import Credentials, StandIn, connected, find_credentials
from bodymotion.spot.cha import parse_cha
from bodymotion.spot.client.connection import PASSWORD, TOKEN, USERNAME, split_address
from waiting import TIMEOUT, until

COMMAND = str(Path(sys.executable).parent / "bodymotion")
SWAY = "controls body\nneutral_start\n\nno parameters\n\ntime body_pos\n0.0 0 0 0.48\n0.5 0 0.04 0.46\n"


def run(*arguments: str, secrets: dict[str, str] | None = None):
    """Run `bodymotion spot` in this process, with no other credentials in the environment than these."""
    without = {name: None for name in os.environ if name.startswith("BOSDYN_")}
    return CliRunner().invoke(
        app, ["spot", *arguments], env={**without, **(secrets or {})}
    )


def test_upload_of_a_folder(stand_in, tmp_path):
    """All files of a folder; then only what changed; a faulty one stays here, with its line, and the exit code is 1."""
    folder = tmp_path / "animations"
    folder.mkdir()
    for name in ("a.cha", "B.CHA"):
        (folder / name).write_text(SWAY)
    secrets = {
        USERNAME: stand_in.credentials.username,
        PASSWORD: stand_in.credentials.password,
    }
    where = (
        "--robot",
        f"127.0.0.1:{stand_in.port}",
        "--certificate",
        str(stand_in.certificate),
    )
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("BOSDYN_")
    } | secrets
    command = [COMMAND, "spot", "upload", str(folder), *where]
    first = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (first.returncode, first.stdout.split()[0::3]) == (
        0,
        ["uploaded", "uploaded"],
    ), first.stderr
    (folder / "a.cha").write_text(SWAY.replace("0.46", "0.45"))
    second = run("upload", str(folder), *where, secrets=secrets)
    assert (second.exit_code, second.stdout.split()[0::3]) == (
        0,
        ["unchanged", "uploaded"],
    ), "B.CHA before a.cha"
    (folder / "B.CHA").write_text(SWAY.replace("0.5 0", "0.5 x"))
    third = run("upload", str(folder), *where, secrets=secrets)
    assert (third.exit_code, third.stdout.split()[0::3]) == (1, ["faulty", "unchanged"])
    assert f"{folder / 'B.CHA'}:8:5:" in third.stderr
    for result in (first, second, third):
        assert stand_in.credentials.password not in result.stdout + result.stderr


def test_upload_that_can_not_be(stand_in, tmp_path, capfd):
    """Wrong password, no credentials, nobody there, no file, no address: one line on stderr, and no traceback."""
    file = tmp_path / "a.cha"
    file.write_text(SWAY)
    secrets = {USERNAME: "rehearsal", PASSWORD: "gu3ss-w0rd"}
    robot = f"127.0.0.1:{stand_in.port}"
    pem = ("--certificate", str(stand_in.certificate))
    damaged = tmp_path / "damaged.pem"
    damaged.write_bytes(
        "# Müller\n-----BEGIN CERTIFICATE-----\nZZZZ\n".encode("cp1252")
    )
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{closed.getsockname()[1]}"
        for arguments, given, code, said in (
            (
                (str(file), "--robot", robot, *pem),
                secrets,
                1,
                "refuses this user name and password",
            ),
            ((str(file), "--robot", robot, *pem), {}, 1, USERNAME),
            ((str(file), "--robot", nobody, *pem), secrets, 1, "cannot be reached"),
            ((str(tmp_path / "no.cha"), "--robot", robot), secrets, 1, "no such file"),
            ((str(tmp_path / "no"), "--robot", robot), secrets, 1, "no such file"),
            (
                (str(file), "--robot", robot, "--certificate", "no.pem"),
                secrets,
                1,
                "no.pem",
            ),
            ((str(file), "--robot", "host:99999"), secrets, 2, "HOST:PORT"),
            (
                (str(file), "--robot", robot, "--certificate", str(file)),
                secrets,
                1,
                "not a certificate",
            ),
            (
                (str(file), "--robot", robot, "--certificate", str(damaged)),
                secrets,
                1,
                "--certificate",
            ),
            ((str(file), "--robot", robot), secrets, 1, "--certificate"),
        ):
            result = run("upload", *arguments, secrets=given)
            assert (result.exit_code, said in result.stderr) == (code, True), (
                result.stderr
            )
            assert isinstance(result.exception, SystemExit), "no traceback"
            assert "E0000" not in capfd.readouterr().err
            assert code == 2 or len(result.stderr.splitlines()) == 1
            assert "gu3ss" not in result.stderr


@pytest.mark.parametrize("given", [False, True])
def test_rehearse_as_a_program(tmp_path, given):
    """It prints what a client needs, lets it in, says what it gets, and ends with Ctrl-C; a password that was given is not printed."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("BOSDYN_")
    }
    if given:
        environment |= {USERNAME: "me", PASSWORD: "s3cret"}
    process = subprocess.Popen(
        [
            COMMAND,
            "spot",
            "rehearse",
            "--no-view",
            "--certificate",
            str(tmp_path / "a.pem"),
        ],
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        assert process.stdout is not None
        assert "Press Ctrl-C" in process.stderr.readline()
        printed = dict(
            process.stdout.readline().split(maxsplit=1)
            for _ in range(3 if given else 4)
        )
        credentials = Credentials(
            printed["username"].strip(),
            "s3cret" if given else printed["password"].strip(),
        )
        host, port = split_address(printed["robot"].strip())
        with connected(
            host, credentials, port=port, certificate=tmp_path / "a.pem"
        ) as robot:
            assert robot.get_id().nickname == "stand-in"
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate(timeout=TIMEOUT)
        assert process.returncode in (0, 130)
        assert "s3cret" not in rest + said
        assert "Traceback" not in said
    finally:
        process.kill()
        process.wait()


def test_where_credentials_come_from():
    """A user name that is given goes before that of the environment; who cannot be asked is told the variables."""
    asked = []

    def ask(known: str) -> tuple[str, str]:
        asked.append(known)
        return known or "typed", "typed too"

    both = {USERNAME: "a", PASSWORD: "b"}
    assert find_credentials(ask, environment=both) == Credentials("a", "b")
    assert find_credentials(ask, username="c", environment=both) == Credentials(
        "c", "b"
    )
    assert find_credentials(ask, environment={TOKEN: "t"}) == Credentials(token="t")
    assert find_credentials(ask, environment={USERNAME: "a"}) == Credentials(
        "a", "typed too"
    )
    assert find_credentials(ask, environment={}) == Credentials("typed", "typed too")
    assert asked == ["a", ""]
    with pytest.raises(ValueError, match=USERNAME):
        find_credentials(None, environment={})


def test_addresses():
    """HOST, HOST:PORT, and IPv6 with and without brackets."""
    for text, parts in (
        ("spot.local", ("spot.local", 443)),
        ("spot.local:4443", ("spot.local", 4443)),
        ("10.0.0.3", ("10.0.0.3", 443)),
        ("::1", ("::1", 443)),
        ("[::1]:4443", ("::1", 4443)),
    ):
        assert split_address(text) == parts
    for text in ("", ":4443", "host:", "host:0", "host:65536", "host:x"):
        with pytest.raises(ValueError, match="HOST"):
            split_address(text)


MOVES = """\
moves { name: 'sway' controls_body: true is_extendable: true min_move_length_slices: 4 move_length_slices: 8 }
moves { name: 'sit' controls_legs: true move_length_time: 0.25 }
move_param_config: "sway sway_params\\nvertical 0 0.05 0.1\\n\\nsit NONE\\n"
"""


def test_a_choreography_is_uploaded_and_performed(tmp_path, heard, danced):
    """The list of the robot's moves is saved, the dance is checked by it, sent with its animations, and danced to its end."""
    (tmp_path / "own.txt").write_text(MOVES)
    (tmp_path / "nod.cha").write_text(SWAY)
    dance = bm.Choreography(name="show", slices_per_minute=1200).add(
        bm.load(tmp_path / "nod.cha")
    )
    dance = dance.add("sway", slices=8, parameters={"vertical": 0.05}).add(
        "sit", slices=5
    )
    path, listed = tmp_path / "show.csq", tmp_path / "robot.txt"
    bm.save(dance, path)
    with StandIn(
        robot_moves=tmp_path / "own.txt",
        report=heard.append,
        on_dance=lambda *one: danced.append(one),
    ) as robot:
        secrets = {
            USERNAME: robot.credentials.username,
            PASSWORD: robot.credentials.password,
        }
        where = (
            "--robot",
            f"127.0.0.1:{robot.port}",
            "--certificate",
            str(robot.certificate),
        )
        for option in ("--save", "-o"):
            listed.unlink(missing_ok=True)
            assert (
                run("moves", *where, option, str(listed), secrets=secrets).exit_code
                == 0
                and listed.stat().st_size
            )
        assert {"sway", "sit"} <= bm.load(path, robot_moves=listed).robot.infos.keys()
        assert not bm.check(path, robot_moves=listed).errors
        off = run("perform", str(path), *where, "--yes", secrets=secrets)
        assert (off.exit_code, "motors are off" in off.stderr) == (1, True), off.stderr
        asked = run("perform", str(path), *where, "--power-on", secrets=secrets)
        assert asked.exit_code != 0, "nobody confirmed that the area is clear"
        options = ("--yes", "--power-on", "--start-in", "0", "--first-slice", "3")
        done = run("perform", str(path), *where, *options, secrets=secrets)
        assert done.exit_code == 0, done.stderr
        assert "completed sequence" in done.stderr
        assert (
            "skipped, because they begin before slice 3: animation::nod" in done.stderr
        )
        assert [line.split()[:2] for line in done.stdout.splitlines()] == [
            ["unchanged", "nod"],
            ["uploaded", "show"],
        ]
        bm.save(dance.add("jig", slices=4), path)
        wrong = run("upload", str(path), *where, secrets=secrets)
        assert (wrong.exit_code, "SPOT104" in wrong.stderr) == (1, True)
    until(lambda: danced)
    motion = danced[0][0]
    assert [one["played"] for one in motion.extra["spot"]["moves"]] == [True, False]


def test_an_interrupted_dance_stops_all_robots(stand_in, robot, heard):
    """Ctrl-C: the robot sits down, its motors are off, and the lease is free again."""
    bm.spot.upload(
        [
            bm.Choreography(name="show", slices_per_minute=480).add(
                parse_cha(SWAY.encode(), "sway.cha").require()
            )
        ],
        robot,
    )

    def interrupt(state: str) -> None:
        if state.startswith("dancing"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bm.spot.perform("show", robot, power_on=True, start_in=0, report=interrupt)
    assert stand_in.store.dance.stopped_at is not None
    assert not robot.is_powered_on()
    assert not robot.ensure_client("lease").list_leases()[0].lease_owner.client_name
