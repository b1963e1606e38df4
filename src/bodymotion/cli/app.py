"""The commands: how each is made from a function, how it runs for many files in place of one, and how it ends where it fails.

A command is imported only when it is run, or when the help lists all. A folder, a pattern or a list instead of a file runs it once for
each file (`many`).
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, get_args, get_origin

import click

from bodymotion import __version__
from bodymotion.cli.options import Cluster, TimeLimit, Workers, described, flag_of, found_by
from bodymotion.cli.output import PART, PIPE_CLOSED, one_line, print_message, show_problems
from bodymotion.diagnostics import FormatError, WrongUseError
from bodymotion.system.files import pipes_kept

_FIRST = ("info", "view", "render", "check", "measure", "plot", "report", "convert", "diff", "retime", "edit", "ik")
COMMANDS = (*_FIRST, "balance", "retarget", "simulate", "catalogue", "spot")
"""Names of the commands; each is a function, or a group of functions, of this name in the module of this name."""
MAX_SUGGESTED = 2  # An option that more commands have is not suggested in place of an unknown command.
ONE = "one"  # The object of the context of a run for one file, or `PART`.
ONE_MOTION = ("measure", "balance", "retarget", "simulate")
NEED_TARGET = ("balance", "retarget", "render", "report")


class _Commands(click.Group):
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
            having = [one.name for one in commands if one and any(wanted in option.opts for option in one.params)]
            if 0 < len(having) <= MAX_SUGGESTED:
                uses = " or ".join(f"'bodymotion {name} {wanted}'" for name in having)
                ctx.fail(f"No such command {args[0]!r}. Did you mean {uses}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module = importlib.import_module(f"bodymotion.cli.{cmd_name}")
            command, kind = getattr(module, cmd_name), getattr(module, "COMMAND_CLASS", click.Command)
            if cmd_name in VERBS:
                command, kind = command_for_many(cmd_name, command, kind)
            self.commands[cmd_name] = command if isinstance(command, click.Group) else click_command(command, kind)
        return self.commands.get(cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; end with 130 at Ctrl-C, as shells expect it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Results go to stdout, messages to stderr. Exit codes: 0 done, 1 problems found or failed (diff: different), 2 wrong use, "
    "3 done, but something that matters was lost.",
)
@click.version_option(__version__, message="%(prog)s %(version)s", help="Print the version and exit.")
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


def click_command(command: Callable[..., Any], kind: type[click.Command] = click.Command) -> click.Command:
    """Return the command of click for a described function."""
    parameters = [_click_parameter(one) for one in signature(command, eval_str=True).parameters.values()]
    return kind(command.__name__, callback=command, params=parameters, help=cleandoc(command.__doc__ or ""))


def _click_parameter(one: Parameter) -> click.Parameter:
    """Return the argument or option of click for a described parameter; the value of a list is a list, or its default."""
    kind, *notes = get_args(one.annotation)
    usage, _, text = next(note for note in notes if isinstance(note, str)).partition(": ")
    checks = [note for note in notes if isinstance(note, FunctionType)]
    words = usage.removeprefix(f"{one.name} ").split(" ")
    flags = [word for word in words if word.startswith("-")]
    metavar = " ".join(word for word in words if word not in flags) or None
    if type(None) in get_args(kind):
        kind = next(part for part in get_args(kind) if part is not type(None))
    many = get_origin(kind) is list
    kind = get_args(kind)[0] if many else kind
    values: Any = click.Choice(get_args(kind)) if get_origin(kind) is Literal else kind
    values = next((note for note in notes if isinstance(note, click.ParamType)), values)
    required = one.default is Parameter.empty

    def checked(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:  # noqa: ANN401
        value = (list(value) or (None if required else one.default)) if many else value
        return checks[0](value) if checks else value

    shared: dict[str, Any] = {"metavar": metavar, "help": text, "required": required, "callback": checked}
    shared["type"] = click.Path(path_type=Path) if kind is Path else values
    if not required and not many:
        shared["default"] = one.default
    if not flags:
        return click.Argument([one.name], nargs=-1 if many else 1, **shared)
    if kind is bool:
        shared["is_flag"] = True
    shown = one.default not in (None, "") and (kind is not bool or "/" in usage)
    return click.Option([*flags, one.name], multiple=many, show_default=shown, **shared)


@contextlib.contextmanager
def failures(command: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn exceptions about files and values, and `errors`, into messages on stderr and exit code 1, wrong use into 2, Ctrl-C into 130."""
    expected: tuple[type[Exception], ...] = (ValueError, MemoryError, ImportError, *errors)
    try:
        yield
    except FormatError as error:
        show_problems([problem for problem in error.problems if problem.severity == "error"] or [error.problem])
        raise click.exceptions.Exit(1) from None
    except WrongUseError as error:
        raise click.BadParameter(one_line(error)) from None
    except BrokenPipeError:
        raise click.exceptions.Exit(PIPE_CLOSED) from None
    except OSError as error:
        text = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        print_message(f"bodymotion {command}: {text}")
        raise click.exceptions.Exit(1) from None
    except expected as error:
        print_message(f"bodymotion {command}: {str(error) or 'not enough memory'}")
        raise click.exceptions.Exit(1) from None
    except KeyboardInterrupt:
        raise click.exceptions.Exit(130) from None


@dataclass(frozen=True)
class Verb:
    """How a command handles many files.

    `models` is the number of arguments before the motions, which are for all of them, -1 for one after the motions; `target` what names the
    result: the last argument, an option, or nothing; `suffix` the extension of results, by default that of the input. `of_models`: whether
    models in a folder are used, too; `single`: options that name files of one run.
    """

    models: int = 0
    target: str = ""
    suffix: str = ""
    of_models: bool = False
    single: tuple[str, ...] = ()


VERBS = {
    "info": Verb(of_models=True),
    "check": Verb(of_models=True),
    "measure": Verb(1, "output", ".csv"),
    "convert": Verb(0, "argument", of_models=True),
    "retime": Verb(0, "argument"),
    "edit": Verb(0, "argument"),
    "balance": Verb(1, "output", ".seq"),
    "retarget": Verb(-1, "output", ".seq"),
    "simulate": Verb(1, "output", ".seq", single=("sensors", "contacts", "cameras")),
    "render": Verb(1, "output", ".mp4"),
    "report": Verb(1, "output", ".html"),
}
"""The commands for many files; `check` summarizes them by itself, except for a table."""


@described
def many_options(
    table: Path | None = None,
    suffix: str | None = None,
    resume: bool = False,
    workers: Workers = None,
    time_limit: TimeLimit = None,
    cluster: Cluster = None,
) -> None:
    """Define the options of commands for many files.

    Options:
      --table FILE: Many files: write a row for each, to a .csv, .jsonl or .parquet.
      --suffix .EXT: Many files: the extension of the files in the folder OUT.
      --resume: Many files: leave out what an earlier run has done.
    """


def command_for_many(
    name: str, command: Callable[..., Any], base: type[click.Command]
) -> tuple[Callable[..., Any], type[click.Command]]:
    """Return a command with the options for many files, and its class."""
    own = signature(command).parameters
    added = [one for one in signature(many_options).parameters.values() if one.name not in own]

    @wraps(command)
    def run(**arguments: Any) -> Any:  # noqa: ANN401
        for one in added:
            if arguments.pop(one.name, None):
                raise click.BadParameter("has no effect on one file", param_hint=flag_of(one.name, many_options))
        return command(**arguments)

    run.__signature__ = signature(command).replace(parameters=[*own.values(), *added])  # type: ignore[attr-defined]

    class Command(base):  # type: ignore[misc, valid-type]
        """The command: for one file, or for each of many."""

        job: Callable[[], int] | None = None

        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            """Parse the arguments, or find the files that they stand for."""
            self.job = None if ctx.obj in (ONE, PART) or ctx.resilient_parsing else _job(name, self, ctx, args)
            if self.job is not None:
                return []
            left: list[str] = super().parse_args(ctx, args)
            if ctx.obj in (ONE, PART):
                for one in added:
                    ctx.params.pop(one.name)
            return left

        def invoke(self, ctx: click.Context) -> object:
            """Run the command."""
            if self.job is None:
                return super().invoke(ctx)
            from bodymotion.collection.mapping import ClusterError

            with failures(name, ClusterError):
                raise click.exceptions.Exit(self.job())

    return run, Command


def _job(name: str, command: click.Command, ctx: click.Context, args: Sequence[str]) -> Callable[[], int] | None:
    """Return the runs for all files that a command line stands for; None where it stands for one run."""
    from bodymotion.collection import inputs as named

    def is_many(one: Path | str) -> bool:
        return isinstance(one, str) or named.is_many(one)

    verb = VERBS[name]
    options_only = copy(command)
    options_only.params = [one for one in command.params if one.param_type_name == "option"]
    # The parser returns marks of words, from which their index is known.
    marked = [f"\0{k}" if not word.startswith("-") or "--" in args[:k] else word for k, word in enumerate(args)]
    found, words, _ = options_only.make_parser(ctx).parse_args(args=list(marked))
    places = [int(word[1:]) for word in words if word[:1] == "\0"]
    used = {one: args[int(value[1:])] if str(value)[:1] == "\0" else value for one, value in found.items()}
    if used.get("help") or len(places) <= (verb.target == "argument"):
        return None
    target_text = args[places.pop()] if verb.target == "argument" else str(used.get("output") or "")
    target = Path(target_text) if target_text else None
    inputs: list[Path | str] = [args[k] if named.is_collection(args[k]) else Path(args[k]) for k in places]
    split = verb.models % max(len(inputs), 1)
    first, second = inputs[:split], inputs[split:]
    models, rest = (first, second) if verb.models >= 0 else (second, first)
    # Spot's animations need no model.
    models, inputs = ([], inputs) if any(map(is_many, models)) or not rest else (models, rest)
    inputs = [one for given in inputs for one in _in_list(given)]
    to_folder = target is not None and (target.is_dir() or target_text.endswith("/"))
    is_data_set = used.get("write_as") == "lerobot"
    several = any(map(is_many, inputs)) or (len(inputs) > 1 and name in ONE_MOTION) or is_data_set
    elsewhere = any(isinstance(one, str) for one in inputs)
    if not (used.get("table") or used.get("cluster") or to_folder or elsewhere or (several and name != "check")):
        return None
    if elsewhere and used.get("fix"):
        raise click.BadParameter("changes files, and cannot change those of an address or archive", param_hint="--fix")
    if "://" in f"{target_text}{used.get('table') or ''}":
        raise click.BadParameter("the results of many files need a local file or folder", param_hint="OUT, --table")
    single = ("resume", "suffix", "table") if is_data_set else verb.single
    if wrong := [f"--{one.replace('_', '-')}" for one in single if used.get(one)]:
        raise click.BadParameter("cannot be used with many files or a data set", param_hint=", ".join(wrong))
    if target is not None and (is_data_set or not to_folder) and target.exists():
        raise click.BadParameter(f"{target} exists; name a new folder for the results", param_hint="OUT")
    if target is None and (name in NEED_TARGET or used.get("suffix")):
        raise click.BadParameter("needs a folder for the results of many files", param_hint="--output")
    options = [word for k, word in enumerate(args) if marked[k] not in words and word != "--"]
    suffix = used.get("suffix") or verb.suffix
    if is_data_set:
        options, suffix = [*options, "--to", "parquet"], ".parquet"
    if name == "convert" and not suffix:
        from bodymotion.formats.registry import named_format

        if not used.get("write_as"):
            raise click.BadParameter("many files need the format of the results, such as --to seq", param_hint="--to")
        suffix = next(iter(found_by("--to", named_format, used["write_as"]).extensions), "")
    from bodymotion.cli.many import Plan, run_plan

    mark = PART if is_data_set else ONE
    plan = Plan(name, tuple(options), tuple(map(Path, models)), tuple(inputs), target, suffix, mark)
    has_json = any("--json" in one.opts for one in command.params)
    kinds: dict[str, type] = {"workers": int, "time_limit": float, "cluster": str}
    sharing = {one: kind(used[one]) if used.get(one) else None for one, kind in kinds.items()}
    table = Path(used["table"]) if used.get("table") else None
    run = partial(run_plan, has_json=has_json, resume=bool(used.get("resume")), sharing=sharing)
    if target is not None and is_data_set:
        from bodymotion.cli.convert import write_data_set

        return partial(write_data_set, target, lambda parts, rows: run(replace(plan, folder=parts), table=rows))
    return partial(run, plan, table=table)


def _in_list(given: Path | str) -> list[Path | str]:
    """Return the lines of a list in which there are addresses or motions in archives and data sets; any other input as it is."""
    from bodymotion.collection.inputs import is_collection, is_many, listed_in

    if isinstance(given, str) or given.is_dir() or not str(given).startswith("@") or not is_many(given):
        return [given]
    found: list[Path | str] = []
    with contextlib.suppress(OSError, ValueError):  # which `find_files` reports
        found = [line if is_collection(line) else Path(line) for line in listed_in(Path(str(given)[1:]))]
    return found if any(isinstance(one, str) for one in found) else [given]
