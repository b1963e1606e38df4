"""The commands: how each is made from a function.

A command is imported only when it is run, or when the help lists all.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import suppress
from errno import EILSEQ, EINVAL, ENAMETOOLONG
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

import click

from bodymotion import __version__
from bodymotion.cli.contained import ContainedCommand, Program
from bodymotion.cli.help import Group, GroupedOption, TwoPages
from bodymotion.cli.many_arguments import command_for_many
from bodymotion.cli.many_plan import MANY_FILES
from bodymotion.cli.output import print_message
from bodymotion.cli.project import find_project
from bodymotion.extensions import extensions
from bodymotion.system.files import pipes_kept

T = TypeVar("T")

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
MODULES = {
    name: f"bodymotion.cli.{name}"
    for name in (*_FIRST, "balance", "retarget", "simulate", "catalogue")
}
"""The module of each command."""
for _extension in extensions():
    MODULES.update(_extension.commands)
COMMANDS = tuple(MODULES)
"""Names of the commands.

Each is a function, or a group of functions, of this name in the module of this name.
"""
MAX_SUGGESTED = 2
"""Commands with an option of the name of an unknown command that are suggested."""


class WholeSummaries(TwoPages, click.Group):
    """A group whose help has the whole first paragraph of each command."""

    def format_first_page(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the list of commands."""
        self.format_commands(ctx, formatter)

    def advice(self, ctx: click.Context) -> str:
        """Return how to see the help of a command, and what this page leaves out."""
        path = ctx.command_path
        return f"`{path} COMMAND --help` explains one, `{path} --help-all` the rest."

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options and the list of commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

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
        """Return the command.

        For an unknown name suggest the option of that name, or a command with a similar
        name.
        """
        if args and args[0] not in COMMANDS:
            option = f"--{args[0].lower()}"
            uses = []
            for name in COMMANDS:
                command = self.get_command(ctx, name)
                if command and any(option in param.opts for param in command.params):
                    uses.append(f"'bodymotion {name} {option}'")
            # An option that many commands have, such as `--body`, is no hint.
            if 0 < len(uses) <= MAX_SUGGESTED:
                ctx.fail(
                    f"No such command {args[0]!r}. Did you mean {' or '.join(uses)}?"
                )
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported when it is first asked for."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            # Imported on demand: a command does not wait for the imports of the others.
            module = importlib.import_module(MODULES[cmd_name])
            command = getattr(module, cmd_name)
            # A module may bring a class with a parser of its own.
            kind = getattr(module, "COMMAND_CLASS", ContainedCommand)
            if cmd_name in MANY_FILES:
                command, kind = command_for_many(cmd_name, command, kind)
            if not isinstance(command, click.Group):
                command = cast("ContainedCommand", click_command(command, kind))
                command.program = Program(run_program, find_command)
            self.commands[cmd_name] = command
        return self.commands.get(cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command.

        End with 130 at Ctrl-C, as shells expect it, and with a message where the system
        refuses a name.
        """
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
    """Open, check, show, convert and measure robot models and motions.

    \b
    Examples:
      bodymotion info robot.wrl walk.seq
      bodymotion view robot.wrl walk.seq
      bodymotion check --body robot.wrl walk.seq
    """  # noqa: D301
    # A pipe can be read once, but format, options and reader each look at it.
    ctx.with_resource(pipes_kept())
    project = find_project(Path.cwd())
    if project is not None:
        ctx.default_map = {name: project.options_of(name) for name in COMMANDS}


def run_program(name: str, words: list[str]) -> int:
    """Run a command, and return its exit code."""
    try:
        app([name, *words], prog_name="bodymotion")
    # click ends the process at the end of each command.
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
    return 0


def find_command(name: str) -> click.Command:
    """Return a command by its name."""
    command = app.get_command(click.Context(app), name)
    assert command is not None
    return command


def click_command(
    command: Callable[..., Any], kind: type[click.Command] = TwoPages
) -> click.Command:
    """Return the command of click for a described function."""
    parameters = [
        _click_parameter(parameter)
        for parameter in signature(command, eval_str=True).parameters.values()
    ]
    return kind(
        command.__name__,
        callback=command,
        params=parameters,
        help=cleandoc(command.__doc__ or ""),
    )


def _click_parameter(parameter: Parameter) -> click.Parameter:
    """Return the argument or option of click for a described parameter.

    The value of a list is a list, or its default.
    """
    kind, *notes = get_args(parameter.annotation)
    kind = _without_none(kind)
    is_list = get_origin(kind) is list
    if is_list:
        kind = get_args(kind)[0]
    required = parameter.default is Parameter.empty

    # "--rate -r HZ: The frame rate" is flags and metavar, then the help.
    usage, _, text = _first(notes, str, "").partition(": ")
    words = usage.removeprefix(f"{parameter.name} ").split(" ")
    flags = [word for word in words if word.startswith("-")]
    metavar = " ".join(word for word in words if word not in flags) or None

    shared: dict[str, Any] = {
        "type": _click_type(kind, notes),
        "metavar": metavar,
        "help": text,
        "required": required,
        "callback": _value_callback(parameter, notes, is_list),
    }
    if not required and not is_list:
        shared["default"] = parameter.default
    if not flags:
        return click.Argument([parameter.name], nargs=-1 if is_list else 1, **shared)
    if kind is bool:
        shared["is_flag"] = True
    # A plain flag is off by default, as everyone expects.
    is_plain_flag = kind is bool and "/" not in usage
    shared["show_default"] = parameter.default not in (None, "") and not is_plain_flag
    option = GroupedOption([*flags, parameter.name], multiple=is_list, **shared)
    option.group = _first(notes, Group, Group.MAIN)
    return option


def _without_none(kind: Any) -> Any:  # noqa: ANN401
    """Return the type of which a parameter may also be None."""
    kinds = get_args(kind)
    if type(None) not in kinds:
        return kind
    return next(one for one in kinds if one is not type(None))


def _first(notes: list[Any], kind: type[T], default: T) -> T:
    """Return the first note of a type in an `Annotated`."""
    return next((note for note in notes if isinstance(note, kind)), default)


def _click_type(kind: Any, notes: list[Any]) -> Any:  # noqa: ANN401
    """Return the type of click for the values of a parameter."""
    if kind is Path:
        return click.Path(path_type=Path)
    for note in notes:
        if isinstance(note, click.ParamType):
            return note
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    return kind


def _value_callback(
    parameter: Parameter, notes: list[Any], is_list: bool
) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return the function of click that checks and returns the value of a parameter."""
    check = next((note for note in notes if isinstance(note, FunctionType)), None)
    empty = None if parameter.default is Parameter.empty else parameter.default

    def check_value(
        _context: click.Context,
        _parameter: click.Parameter,
        value: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        # click has () for no values, commands have None.
        if is_list:
            value = list(value) or empty
        if check is not None:
            return check(value)
        return value

    return check_value
