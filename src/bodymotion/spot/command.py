"""`bodymotion spot …`: upload dances, perform them, and run a stand-in robot."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import click
from click import FloatRange, IntRange

from bodymotion.cli import failures
from bodymotion.cli.app import WholeSummaries, click_command
from bodymotion.cli.options import described, numbers
from bodymotion.cli.output import (
    one_line,
    print_message,
    progress,
    show_problems,
    written,
)
from bodymotion.system.files import whole_file

if TYPE_CHECKING:
    from bodymotion.motion import Motion
    from bodymotion.spot.choreography.values import Choreography
    from bodymotion.spot.client.uploads import Outcome
    from bodymotion.viewer.app import Viewer

FAILED = ("refused", "faulty")  # Results of uploads that were not accepted.

spot = WholeSummaries(
    "spot",
    help="Send animations to a Spot, or run a stand-in robot.",
)


def _of_spot(command: Callable[..., None]) -> Callable[..., None]:
    spot.add_command(click_command(described(command)))
    return command


MAX_SKIPPED = 20
"""Moves that are named where they are skipped."""


@_of_spot
def upload(
    paths: list[Path],
    robot: str,
    username: str = "",
    certificate: Path | None = None,
    again: bool = False,
) -> None:
    """Upload animations, and choreographies with their animations, to a robot.

    Animations are uploaded that it does not have yet, or has in another version.

    An animation or choreography with errors is not sent. The user name and password
    come from the environment (BOSDYN_CLIENT_USERNAME and BOSDYN_CLIENT_PASSWORD, or
    BOSDYN_CLIENT_TOKEN), else from a prompt. The exit code is 1 when an animation was
    not accepted.

    \b
    Examples:
      bodymotion spot upload wave.cha --robot 192.168.80.3
      bodymotion spot upload animations --robot 192.168.80.3
      bodymotion spot upload show.csq --robot 192.168.80.3

    Options:
      paths FILE|FOLDER…: Animations, choreographies, or folders with .cha files.
      --robot HOST[:PORT]: The robot.
      --username -u: User name; by default BOSDYN_CLIENT_USERNAME, else a prompt.
      --certificate PEM: Certificate of the authority that signed the robot's; by
        default the vendor's.
      --again: Also send animations that the robot already has.
    """  # noqa: D301
    from bodymotion.collection.inputs import find_files
    from bodymotion.spot.client.connection import SpotError
    from bodymotion.spot.client.uploads import upload as send

    with failures("spot upload", SpotError):
        files = [
            one
            for one in find_files(paths)
            if one in paths or one.suffix.lower() == ".cha"
        ]
        missing = [one for one in files if not one.exists()] or ([] if files else paths)
        if missing:
            raise FileNotFoundError(
                f"{missing[0]}: no such file, or no .cha file in it"
            )
        with (
            _connected(robot, username, certificate) as there,
            progress(f"uploading to {robot}") as report,
        ):
            number = count(1)

            def done(outcome: Outcome) -> None:
                if report is not None:
                    report(min(next(number), len(files)), len(files))

            outcomes = send(files, there, again=again, done=done)
        for outcome in outcomes:
            _show(outcome)
    raise click.exceptions.Exit(
        1 if any(outcome.result in FAILED for outcome in outcomes) else 0
    )


@_of_spot
def moves(
    robot: str,
    output: Path | None = None,
    username: str = "",
    certificate: Path | None = None,
) -> None:
    """List the moves of a robot, or save the list.

    It has names, tracks, lengths, and the ranges of parameters.

    Other commands check choreographies by the saved list: `--robot-moves FILE`.

    \b
    Examples:
      bodymotion spot moves --robot 192.168.80.3 -o robot.txt

    Options:
      --robot HOST[:PORT]: The robot.
      --output -o --save FILE: The file to write.
      --username -u: User name; by default BOSDYN_CLIENT_USERNAME, else a prompt.
      --certificate PEM: Certificate of the authority that signed the robot's; by
        default the vendor's.
    """  # noqa: D301
    from bodymotion.spot.client.connection import SpotError
    from bodymotion.spot.client.dances import list_moves

    with (
        failures("spot moves", SpotError),
        _connected(robot, username, certificate) as there,
    ):
        text = list_moves(there)
        if output is None:
            click.echo(text, nl=False)
            return
        with whole_file(output) as stream:
            stream.write(text.encode())
        written(output)


@_of_spot
def perform(
    paths: list[Path],
    robot: list[str],
    power_on: bool = False,
    yes: bool = False,
    first_slice: Annotated[int, IntRange(0)] = 0,
    start_in: Annotated[float, FloatRange(0, 3600)] = 3.0,
    username: str = "",
    certificate: list[Path] | None = None,
) -> None:
    """Upload choreographies, and let robots perform them. The robots move.

    Their animations are uploaded, too. All begin at the same moment.

    Keep the area clear, and an E-Stop at hand: it is configured by another program,
    such as the tablet. Ctrl-C lets all robots sit down and turns their motors off. The
    exit code is 1 when a choreography was not performed to its end.

    \b
    Examples:
      bodymotion spot perform show.csq --robot 192.168.80.3 --power-on
      bodymotion spot perform left.csq right.csq --robot 192.168.80.3 --robot 192.168.80.4

    Options:
      paths FILE…: The choreography of each robot; one alone is for all of them.
      --robot HOST[:PORT]: A robot; once for each.
      --power-on: Turn the motors on.
      --yes: Do not ask whether the area is clear.
      --first-slice N: Begin at this slice; moves that begin before it are skipped.
      --start-in SECONDS: Time until the start.
      --username -u: User name; by default BOSDYN_CLIENT_USERNAME, else a prompt.
      --certificate PEM: Certificate of the authority that signed a robot's, one for all
        or one for each; by default the vendor's.
    """  # noqa: D301
    from bodymotion.spot.client.connection import SpotError
    from bodymotion.spot.client.dances import perform_together
    from bodymotion.spot.loading import load_choreography

    _check_count("FILE", len(paths), len(robot))
    if certificate:
        _check_count("--certificate", len(certificate), len(robot))
    with failures("spot perform", SpotError), ExitStack() as connections:
        shows = [load_choreography(path) for path in paths]
        for show in shows:
            _report_skipped(show, first_slice)
        if len(shows) == 1:
            shows *= len(robot)
        if not yes:
            click.confirm(
                f"{', '.join(robot)} will move. Is the area clear?",
                abort=True,
                err=True,
            )
        dances = []
        for k, (show, host) in enumerate(zip(shows, robot, strict=True)):
            pem = certificate[k % len(certificate)] if certificate else None
            there = connections.enter_context(_connected(host, username, pem))
            _upload_show(show, there)
            dances.append((show.name, there))
        options: dict[str, Any] = {
            "first_slice": first_slice,
            "start_in": start_in,
            "power_on": power_on,
        }
        states = perform_together(dances, **options, report=print_message)
    raise click.exceptions.Exit(0 if set(states) == {"COMPLETED_SEQUENCE"} else 1)


def _check_count(option: str, count: int, num_robots: int) -> None:
    """Refuse a number of values that is neither one nor one for each robot."""
    if count not in (1, num_robots):
        raise click.BadParameter(
            f"one, or one for each of {num_robots} robots", param_hint=option
        )


def _report_skipped(show: Choreography, first_slice: int) -> None:
    """Print the moves that begin before the first slice."""
    skipped = [move.type for move in show.moves if move.start_slice < first_slice]
    if skipped:
        names = ", ".join(skipped[:MAX_SKIPPED])
        print_message(
            f"skipped, because they begin before slice {first_slice}: {names}"
        )


def _upload_show(show: Choreography, robot: Any) -> None:  # noqa: ANN401
    """Upload a choreography, or end with the exit code 1."""
    from bodymotion.spot.client.uploads import upload as send

    outcomes = send([show], robot)
    for outcome in outcomes:
        _show(outcome)
    if any(outcome.result in FAILED for outcome in outcomes):
        raise click.exceptions.Exit(1)


@_of_spot
def log(
    robot: str,
    output: Path,
    record: Annotated[float | None, FloatRange(0.1, 300)] = None,
    username: str = "",
    certificate: Path | None = None,
) -> None:
    """Download a log of a robot.

    It is of its last choreography, or of a recording from now on.

    `bodymotion diff show.csq log.pb --recorded` compares it with what was commanded;
    `view`, `plot` and `convert` read it, too.

    \b
    Examples:
      bodymotion spot log --robot 192.168.80.3 -o log.pb
      bodymotion spot log --robot 192.168.80.3 -o log.txt --record 20

    Options:
      --robot HOST[:PORT]: The robot.
      --output -o FILE: The file to write: bytes for .pb, else text.
      --record SECONDS: Length of the recording.
      --username -u: User name; by default BOSDYN_CLIENT_USERNAME, else a prompt.
      --certificate PEM: Certificate of the authority that signed the robot's; by
        default the vendor's.
    """  # noqa: D301
    from bodymotion.spot.cha_proto.state_log import log_text
    from bodymotion.spot.client.connection import SpotError
    from bodymotion.spot.client.dances import download_log

    with (
        failures("spot log", SpotError),
        _connected(robot, username, certificate) as there,
    ):
        data = download_log(there, seconds=record)
        with whole_file(output) as stream:
            stream.write(
                data if output.suffix.lower() == ".pb" else log_text(data).encode()
            )
        written(output)


@_of_spot
def together(
    paths: list[Path],
    place: list[str] | None = None,
    html: Path | None = None,
    view: bool = False,
) -> None:
    """Show several Spots that dance together, and check the distances between them.

    Prints the minimum distance of each two robots and its time. The exit code is 1 when
    two of them come within 10 cm of each other.

    \b
    Examples:
      bodymotion spot together left.csq right.csq --place 0,1,0 --place 0,-1,180 --html both.html

    Options:
      paths FILE…: The choreography or animation of each robot.
      --place X,Y,YAW: Start position and heading of a robot [m, degrees]; once for
        each. By default in a row, 2 m apart.
      --html FILE: Write a self-contained page.
      --view: Show the robots in the browser.
    """  # noqa: D301
    from bodymotion.formats.registry import load
    from bodymotion.spot.choreography.ensemble import ensemble

    if len(paths) < 2:
        raise click.BadParameter(
            "expected two files or more, one for each robot", param_hint="FILES"
        )
    with failures("spot together"):
        given = [
            numbers("--place", one, (3,), "X,Y,YAW, such as 0,1.5,90")
            for one in place or ()
        ]
        places = [(x, y, math.radians(yaw)) for x, y, yaw in given]
        made = ensemble([load(path) for path in paths], places or None)
        for (one, other), distances in made.distances.items():
            at = int(distances.argmin())
            closest = f"{distances[at]:.2f} m at {made.times[at]:.2f} s"
            click.echo(
                one_line(
                    f"{paths[one].name} and {paths[other].name}: at least {closest}"
                )
            )
        show_problems(made.problems)
        if html is not None or view:
            from bodymotion.viewer.api import view as show

            show(made.body, made.motion, output=html)
    raise click.exceptions.Exit(1 if made.problems else 0)


@_of_spot
def rehearse(
    port: Annotated[int, IntRange(0, 65535)] = 0,
    certificate: Path | None = None,
    arm: bool = True,
    robot_moves: Path | None = None,
    view: bool = True,
    view_port: Annotated[int, IntRange(0, 65535)] = 8080,
    no_browser: bool = False,
) -> None:
    """Run a stand-in robot.

    Programs for Spot can upload to it, dance on it and read its state, as with a real
    robot.

    It listens on 127.0.0.1 only, checks animations and choreographies as `bodymotion
    check` does, and shows dances in the viewer. The user name and password are
    BOSDYN_CLIENT_USERNAME and BOSDYN_CLIENT_PASSWORD where they are set; else new ones,
    which are printed. Ctrl-C stops it.

    \b
    Examples:
      bodymotion spot rehearse
      bodymotion spot rehearse --port 4443 --certificate rehearsal.pem --no-view

    Options:
      --port: Port to listen at; 0 for a free one.
      --certificate PEM: File for the certificate that clients need; by default a
        temporary file.
      --arm/--no-arm: Whether the robot has an arm.
      --robot-moves FILE: Moves that the robot lists as its own, saved by `bodymotion
        spot moves`; it approximates them or pauses.
      --view/--no-view: Show dances in the browser.
      --view-port: Port of the viewer.
      --no-browser: Only print the address of the viewer.
    """  # noqa: D301
    from bodymotion.spot.client.connection import (
        PASSWORD,
        USERNAME,
        Credentials,
        SpotError,
    )
    from bodymotion.spot.playback import spot_body
    from bodymotion.spot.rehearsal import StandIn
    from bodymotion.viewer import view as show

    with failures("spot rehearse", SpotError):
        os.environ.setdefault(
            "GRPC_VERBOSITY", "NONE"
        )  # no log lines, unless the environment requests them
        name = os.environ.get(USERNAME)
        password = os.environ.get(PASSWORD)
        if name and password:
            credentials = Credentials(name, password)
        else:
            credentials = None
        if view:
            viewer = show(
                spot_body(arm=arm),
                port=view_port,
                open_browser=not no_browser,
                block=False,
            )
        else:
            viewer = None
        try:
            with StandIn(
                port=port,
                credentials=credentials,
                certificate=certificate,
                arm=arm,
                robot_moves=robot_moves,
                report=partial(print_message, keep_lines=True),
                on_dance=None if viewer is None else _player(viewer),
            ) as robot:
                click.echo(f"robot        127.0.0.1:{robot.port}")
                click.echo(f"certificate  {robot.certificate}")
                click.echo(f"username     {robot.credentials.username}")
                if credentials is None:
                    click.echo(f"password     {robot.credentials.password}")
                print_message("A stand-in robot is listening. Press Ctrl-C to end.")
                robot.wait()
        finally:
            if viewer is not None:
                viewer.stop()


@contextmanager
def _connected(robot: str, username: str, certificate: Path | None) -> Iterator[Any]:
    """Log in to a robot at HOST[:PORT], with a prompt on a terminal.

    An address that is none is wrong use.
    """
    from bodymotion.spot.client.connection import (
        connected,
        find_credentials,
        split_address,
        vendor,
    )

    os.environ.setdefault(
        "GRPC_VERBOSITY", "NONE"
    )  # no log lines, unless the environment requests them
    try:
        host, port = split_address(robot)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--robot") from None
    vendor("bosdyn.choreography.client.choreography")

    def ask(known: str) -> tuple[str, str]:
        name = known or click.prompt(f"User name for {host}", err=True)
        return name, click.prompt(f"Password of {name}", hide_input=True, err=True)

    credentials = find_credentials(
        ask if sys.stdin.isatty() else None, username=username
    )
    with connected(host, credentials, port=port, certificate=certificate) as there:
        yield there


def _show(outcome: Outcome) -> None:
    """Print the result of an upload on stdout, and its problems on stderr."""
    if outcome.source is not None:
        where = f" ({outcome.source})"
    else:
        where = ""
    click.echo(one_line(f"{outcome.result:<9} {outcome.name}{where}"))
    if outcome.reason:
        print_message(f"{outcome.name}: {outcome.reason}")
    show_problems(outcome.problems)
    for warning in outcome.warnings:
        print_message(f"{outcome.name}: warning of the robot: {warning}")


def _player(viewer: Viewer) -> Callable[[Motion, float, float], None]:
    """Return a function that plays a dance in the viewer at its start time."""
    from bodymotion.scene.loading import load_scene

    body = viewer.scene.body

    def show(motion: Motion, wait: float, left_out: float) -> None:
        viewer.replace(load_scene(body, motion))
        viewer.pause()
        viewer.post(lambda: setattr(viewer.player, "loop", False))
        viewer.seek(left_out)
        Event().wait(max(wait, 0.0))
        viewer.play()

    return show
