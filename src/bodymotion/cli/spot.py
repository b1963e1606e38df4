"""`bodymotion spot …`: to a robot, and to a stand-in for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bodymotion.motion import Motion
    from bodymotion.spot.client.uploading import Outcome
    from bodymotion.viewer.app import Viewer

__all__ = ["spot"]

spot = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Send animations to a Spot, or to a stand-in for it on this machine.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@spot.command()
def upload(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE|FOLDER…", help="Animations, or folders with .cha files.", show_default=False),
    ],
    robot: Annotated[str, typer.Option("--robot", metavar="HOST[:PORT]", help="The robot.", show_default=False)],
    username: Annotated[
        str, typer.Option("--username", "-u", help="Who logs in; by default BOSDYN_CLIENT_USERNAME, else asked for.")
    ] = "",
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            metavar="PEM",
            help="That of the authority which signed the robot's; by default the vendor's.",
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also send what the robot has already.")] = False,
) -> None:
    """Upload animations to a robot: those that it does not have yet, or has otherwise.

    An animation with errors is not sent. The user name and password come from the environment (BOSDYN_CLIENT_USERNAME and
    BOSDYN_CLIENT_PASSWORD, or BOSDYN_CLIENT_TOKEN), else they are asked for. The exit code is 1 when an animation was not taken.

    \b
    Examples:
      bodymotion spot upload wave.cha --robot 192.168.80.3
      bodymotion spot upload animations --robot 192.168.80.3
    """  # noqa: D301
    from bodymotion.cli.progress import progress
    from bodymotion.spot.client.connecting import connected, split_address, vendor
    from bodymotion.spot.client.credentials import find_credentials
    from bodymotion.spot.client.uploading import animation_files
    from bodymotion.spot.client.uploading import upload as send

    with _failures("upload"):
        _quiet()
        try:
            host, port = split_address(robot)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--robot") from None
        files = animation_files(paths)
        vendor("bosdyn.choreography.client.choreography")
        credentials = find_credentials(_asker(host), username=username)
        with (
            connected(host, credentials, port=port, certificate=certificate) as there,
            progress(f"uploading to {host}") as report,
        ):
            count = 0

            def done(outcome: Outcome) -> None:
                nonlocal count
                count += 1
                if report is not None:
                    report(count, len(files))

            outcomes = send(files, there, again=again, done=done)
        for outcome in outcomes:
            _show(outcome)
    raise typer.Exit(1 if any(outcome.result in ("refused", "faulty") for outcome in outcomes) else 0)


@spot.command()
def rehearse(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 takes a free one.")] = 0,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            metavar="PEM",
            help="Where the certificate for clients is written; by default a temporary file.",
        ),
    ] = None,
    arm: Annotated[bool, typer.Option("--arm/--no-arm", help="Whether it has an arm.")] = True,
    view: Annotated[bool, typer.Option("--view/--no-view", help="Show what is danced in the browser.")] = True,
    view_port: Annotated[int, typer.Option("--view-port", min=0, max=65535, help="Where the viewer listens.")] = 8080,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser, only print the address.")] = False,
) -> None:
    """Run a stand-in robot: programs for Spot upload to it, dance on it and read its state, as with a robot.

    It listens on 127.0.0.1 only, checks animations as `bodymotion check` does, and shows dances in the viewer. The user is that of
    BOSDYN_CLIENT_USERNAME and BOSDYN_CLIENT_PASSWORD where they are set; else a user with a new password, which is printed. Ctrl-C ends.

    \b
    Examples:
      bodymotion spot rehearse
      bodymotion spot rehearse --port 4443 --certificate rehearsal.pem --no-view
    """  # noqa: D301
    import os

    from bodymotion.cli.messages import say
    from bodymotion.cli.text import one_line
    from bodymotion.spot.client.credentials import PASSWORD, USERNAME, Credentials
    from bodymotion.spot.rehearsal import StandIn

    with _failures("rehearse"):
        _quiet()
        name, password = os.environ.get(USERNAME), os.environ.get(PASSWORD)
        given = Credentials(name, password) if name and password else None
        screen = _screen(arm, view_port, no_browser) if view else None
        on_dance = None if screen is None else _shower(screen)
        try:
            with StandIn(
                port=port,
                credentials=given,
                certificate=certificate,
                arm=arm,
                say=lambda text: say("\n".join(map(one_line, text.splitlines()))),
                on_dance=on_dance,
            ) as robot:
                typer.echo(f"robot        127.0.0.1:{robot.port}")
                typer.echo(f"certificate  {robot.certificate}")
                typer.echo(f"username     {robot.credentials.username}")
                if given is None:
                    typer.echo(f"password     {robot.credentials.password}")
                say("A stand-in robot is listening. Press Ctrl-C to end.")
                robot.wait()
        finally:
            if screen is not None:
                screen.stop()


def _quiet() -> None:
    """Keep gRPC's own log lines out of what is printed; whoever wants them sets the variable."""
    import os

    os.environ.setdefault("GRPC_VERBOSITY", "NONE")


@contextmanager
def _failures(verb: str) -> Iterator[None]:
    from bodymotion.cli.failures import failures
    from bodymotion.cli.messages import say
    from bodymotion.cli.text import one_line
    from bodymotion.spot.client.connecting import SpotError

    with failures(f"spot {verb}"):
        try:
            yield
        except (SpotError, ImportError) as error:
            say(f"bodymotion spot {verb}: {one_line(error)}")
            raise typer.Exit(1) from None


def _asker(host: str) -> Callable[[str], tuple[str, str]] | None:
    """Return a function that asks for user name and password on the terminal; None where there is none."""
    import sys

    if not sys.stdin.isatty():
        return None

    def ask(known: str) -> tuple[str, str]:
        name = known or typer.prompt(f"User name for {host}", err=True)
        return name, typer.prompt(f"Password of {name}", hide_input=True, err=True)

    return ask


def _show(outcome: Outcome) -> None:
    """Print what became of an animation on stdout, and what there is to say about it on stderr."""
    from bodymotion.cli.messages import say, show_problem
    from bodymotion.cli.text import one_line

    where = f" ({outcome.source})" if outcome.source is not None else ""
    typer.echo(one_line(f"{outcome.result:<9} {outcome.name}{where}"))
    if outcome.reason:
        say(one_line(f"{outcome.name}: {outcome.reason}"))
    for problem in outcome.problems:
        show_problem(problem)
    for warning in outcome.warnings:
        say(one_line(f"{outcome.name}: the robot says: {warning}"))


def _screen(arm: bool, port: int, no_browser: bool) -> Viewer:
    """Open the viewer with a robot that stands."""
    from bodymotion.spot.playback import spot_body
    from bodymotion.viewer import view as show

    viewer = show(spot_body(arm=arm), port=port, open_browser=not no_browser, block=False)
    assert viewer is not None
    return viewer


def _shower(viewer: Viewer) -> Callable[[Motion, float, float], None]:
    """Return what plays a dance in the viewer, from when it begins."""
    from threading import Event

    from bodymotion.viewer.api import load_take

    body = viewer.take.body

    def show(motion: Motion, wait: float, left_out: float) -> None:
        viewer.replace(load_take(body, motion))
        viewer.pause()
        viewer.set_loop(False)
        viewer.seek(left_out)
        Event().wait(max(wait, 0.0))
        viewer.play()

    return show
