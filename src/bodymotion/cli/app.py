"""The verbs, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from bodymotion import __version__
from bodymotion.cli.check import check
from bodymotion.cli.convert import convert
from bodymotion.cli.diff import diff
from bodymotion.cli.edit import InOrder, edit
from bodymotion.cli.info import info
from bodymotion.cli.measure import measure
from bodymotion.cli.plot import plot
from bodymotion.cli.render import render
from bodymotion.cli.report import report
from bodymotion.cli.retime import retime
from bodymotion.cli.spot import spot
from bodymotion.cli.view import view

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"bodymotion {__version__}")
        raise typer.Exit()


@app.callback(
    epilog="Results go to stdout, messages to stderr. Exit codes: 0 fine, 1 failed (diff: different), 2 wrong use, "
    "3 done but something was lost."
)
def bodymotion(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Open robot bodies and robot motions: OpenHRP models (.wrl) and Choreonoid motions (.seq).

    \b
    Examples:
      bodymotion info robot.wrl walk.seq
      bodymotion view robot.wrl walk.seq
      bodymotion check --body robot.wrl walk.seq
    """  # noqa: D301
    from bodymotion.system.open_files import pipes_kept

    ctx.with_resource(pipes_kept())


app.command()(info)
app.command()(view)
app.command()(render)
app.command()(check)
app.command()(measure)
app.command()(plot)
app.command()(report)
app.command()(convert)
app.command()(diff)
app.command()(retime)
app.command(cls=InOrder)(edit)
app.add_typer(spot, name="spot")
