"""The commands: how each is made from a function.

A command is imported only when it is run, or when the help lists all.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from errno import EILSEQ, EINVAL, ENAMETOOLONG
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, get_args, get_origin

import click

from bodymotion import __version__
from bodymotion.cli.contained import ContainedCommand
from bodymotion.cli.many_arguments import MANY_FILES, command_for_many
from bodymotion.cli.output import print_message
from bodymotion.cli.project import find_project
from bodymotion.extensions import extensions
from bodymotion.system.files import pipes_kept

_FIRST = (
    "info",
    "view",
    "render",
    "check",
    "measure",
    "plot",
    "report",
    "convert",
    "diff",
    "retime",
    "edit",
    "ik",
)
_MODULES = {
    name: f"bodymotion.cli.{name}"
    for name in (*_FIRST, "balance", "retarget", "simulate", "catalogue")
} | {name: place for one in extensions() for name, place in one.commands.items()}
"""The module of each command."""
COMMANDS = tuple(_MODULES)
"""Names of the commands.

Each is a function, or a group of functions, of this name in the module of this name.
"""
MAX_SUGGESTED = 2  # An option that more commands have is not suggested in place of an unknown command.


class WholeSummaries(click.Group):
    """A group whose help has the whole first paragraph of each command, on several lines where it is long."""

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the list of commands."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                summary, _, _ = (command.help or "").partition("\n\n")
                rows.append((name, " ".join(summary.split())))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


class _Commands(WholeSummaries):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; for an unknown name suggest the option of that name, or a command with a similar name."""
        if args and args[0] not in COMMANDS:
            wanted = f"--{args[0].lower()}"
            commands = (self.get_command(ctx, name) for name in COMMANDS)
            having = [
                one.name
                for one in commands
                if one and any(wanted in option.opts for option in one.params)
            ]
            if 0 < len(having) <= MAX_SUGGESTED:
                uses = " or ".join(f"'bodymotion {name} {wanted}'" for name in having)
                ctx.fail(f"No such command {args[0]!r}. Did you mean {uses}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module = importlib.import_module(_MODULES[cmd_name])
            command = getattr(module, cmd_name)
            kind = getattr(module, "COMMAND_CLASS", ContainedCommand)
            if cmd_name in MANY_FILES:
                command, kind = command_for_many(cmd_name, command, kind)
            self.commands[cmd_name] = (
                command
                if isinstance(command, click.Group)
                else click_command(command, kind)
            )
        return self.commands.get(cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; end with 130 at Ctrl-C, as shells expect it, and with a message where the system refuses a name."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None
        except OSError as error:
            # Python asks for a file's state before anything is read: each argument may
            # do so.
            if error.errno not in (ENAMETOOLONG, EINVAL, EILSEQ) or not error.filename:
                raise
            print_message(f"bodymotion: {error.filename}: {error.strerror}")
            raise click.exceptions.Exit(1) from None


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Results go to stdout, messages to stderr. Exit codes: 0 done, 1 problems "
    "found or failed (diff: different), 2 wrong use, "
    "3 only with --strict-losses: done, but something that matters was lost.",
)
@click.version_option(
    __version__, message="%(prog)s %(version)s", help="Print the version and exit."
)
@click.pass_context
def app(ctx: click.Context) -> None:
    """Open, check, show, convert and measure robot models and robot motions.

    \b
    Examples:
      bodymotion info robot.wrl walk.seq
      bodymotion view robot.wrl walk.seq
      bodymotion check --body robot.wrl walk.seq
    """  # noqa: D301
    ctx.with_resource(pipes_kept())
    project = find_project(Path.cwd())
    if project is not None:
        ctx.default_map = {name: project.options_of(name) for name in COMMANDS}


def click_command(
    command: Callable[..., Any], kind: type[click.Command] = click.Command
) -> click.Command:
    """Return the command of click for a described function."""
    parameters = [
        _click_parameter(one)
        for one in signature(command, eval_str=True).parameters.values()
    ]
    return kind(
        command.__name__,
        callback=command,
        params=parameters,
        help=cleandoc(command.__doc__ or ""),
    )


def _click_parameter(one: Parameter) -> click.Parameter:
    """Return the argument or option of click for a described parameter.

    The value of a list is a list, or its default.
    """
    kind, *notes = get_args(one.annotation)
    usage, _, text = next(note for note in notes if isinstance(note, str)).partition(
        ": "
    )
    checks = [note for note in notes if isinstance(note, FunctionType)]
    words = usage.removeprefix(f"{one.name} ").split(" ")
    flags = [word for word in words if word.startswith("-")]
    metavar = " ".join(word for word in words if word not in flags) or None
    if type(None) in get_args(kind):
        kind = next(part for part in get_args(kind) if part is not type(None))
    many = get_origin(kind) is list
    if many:
        kind = get_args(kind)[0]
    values: Any = click.Choice(get_args(kind)) if get_origin(kind) is Literal else kind
    values = next((note for note in notes if isinstance(note, click.ParamType)), values)
    required = one.default is Parameter.empty

    def checked(
        _context: click.Context,
        _parameter: click.Parameter,
        value: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        if many:
            value = list(value) or (None if required else one.default)
        if checks:
            return checks[0](value)
        return value

    shared: dict[str, Any] = {
        "metavar": metavar,
        "help": text,
        "required": required,
        "callback": checked,
    }
    shared["type"] = click.Path(path_type=Path) if kind is Path else values
    if not required and not many:
        shared["default"] = one.default
    if not flags:
        return click.Argument([one.name], nargs=-1 if many else 1, **shared)
    if kind is bool:
        shared["is_flag"] = True
    shown = one.default not in (None, "") and (kind is not bool or "/" in usage)
    return click.Option([*flags, one.name], multiple=many, show_default=shown, **shared)
