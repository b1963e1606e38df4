"""The commands, put together; each is imported only when it is run, or when the help lists all."""

import importlib
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

from bodymotion import __version__
from bodymotion.cli.many import VERBS, command_for_many

_FIRST = ("info", "view", "render", "check", "measure", "plot", "report", "convert", "diff", "retime", "edit", "ik")
COMMANDS = (*_FIRST, "balance", "retarget", "simulate", "catalogue", "spot")
"""Names of the commands; each is a function, or a group of functions (a Typer), of this name in the module of this name."""


MAX_SUGGESTED = 2  # An option that more commands have is not suggested in place of an unknown command.


class _Commands(TyperGroup):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """Return the command; of an unknown one suggest the option that does what its name says, or a command of a similar name."""
        if args and args[0] not in COMMANDS:
            wanted = f"--{args[0].lower()}"
            commands = (self.get_command(ctx, name) for name in COMMANDS)
            having = [one.name for one in commands if any(wanted in option.opts for option in one.params)]
            if 0 < len(having) <= MAX_SUGGESTED:
                uses = " or ".join(f"'bodymotion {name} {wanted}'" for name in having)
                ctx.fail(f"No such command {args[0]!r}. Did you mean {uses}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        if cmd_name not in COMMANDS:
            # For "did you mean".
            self.commands.update(dict.fromkeys(COMMANDS))  # type: ignore[arg-type]
            return None
        if self.commands.get(cmd_name) is None:
            module = importlib.import_module(f"bodymotion.cli.{cmd_name}")
            command = getattr(module, cmd_name)
            single = command
            if not isinstance(command, typer.Typer):
                kind = getattr(module, "COMMAND_CLASS", None)
                if cmd_name in VERBS:
                    command, kind = command_for_many(cmd_name, command, kind)
                single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
                single.command(cls=kind)(command)
            self.commands[cmd_name] = typer.main.get_command(single)
        return self.commands[cmd_name]


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bodymotion {__version__}")
        raise typer.Exit()


@app.callback(
    epilog="Results go to stdout, messages to stderr. Exit codes: 0 done, 1 problems found or failed (diff: different), 2 wrong use, "
    "3 done, but something that matters was lost."
)
def bodymotion(
    ctx: typer.Context,
    version: Annotated[
        bool, Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Open, check, show, convert and measure robot models and robot motions.

    \b
    Examples:
      bodymotion info robot.wrl walk.seq
      bodymotion view robot.wrl walk.seq
      bodymotion check --body robot.wrl walk.seq
    """  # noqa: D301
    from bodymotion.system.open_files import pipes_kept

    ctx.with_resource(pipes_kept())
