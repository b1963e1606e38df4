"""Commands for many files.

Their options, and the runs that a folder, a pattern or a list stands for; `many`
carries them out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any

import click

from bodymotion.cli import failures
from bodymotion.cli.contained import Program
from bodymotion.cli.many_plan import MANY_FILES, ManyFiles, Plan
from bodymotion.cli.options import (
    Cluster,
    TimeLimit,
    Workers,
    described,
    flag_of,
    found_by,
)
from bodymotion.cli.output import ONE, PART, STRICT_LOSSES
from bodymotion.system.files import remove_leftovers

MARK = "\0"
"""Before the index of a word that is no option.

No word of a command line has it.
"""
SHARING: dict[str, type] = {"workers": int, "time_limit": float, "cluster": str}
"""The options about how runs share the machine, and the types of their values."""
ONE_MOTION = ("measure", "balance", "retarget", "simulate")
NEED_TARGET = ("balance", "retarget", "render", "report")


TABLES = (".csv", ".jsonl", ".parquet")
"""Extensions of tables with a row for each file."""
IMAGES = (".png", ".jpg", ".jpeg", ".svg", ".pdf", ".mp4", ".gif", ".webm", ".html")
"""Extensions of images, videos and pages."""


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

    Many files:
      --table FILE: Write a row for each, to a .csv, .jsonl or .parquet.
      --suffix .EXT: The extension of the files in the folder OUT.
      --resume: Leave out what an earlier run has done.
    """


def command_for_many(
    name: str, command: Callable[..., Any], base: type[click.Command]
) -> tuple[Callable[..., Any], type[click.Command]]:
    """Return a command with the options for many files, and its class."""
    own = signature(command).parameters
    # Some commands have options such as `--workers` themselves.
    added = [
        one
        for one in signature(many_options).parameters.values()
        if one.name not in own
    ]

    @wraps(command)
    def run(**arguments: Any) -> Any:  # noqa: ANN401
        for one in added:
            # One file: the options for many have no effect.
            if arguments.pop(one.name, None):
                raise click.BadParameter(
                    "has no effect on one file",
                    param_hint=flag_of(one.name, many_options),
                )
        return command(**arguments)

    # click makes its options from the signature.
    run.__signature__ = signature(command).replace(  # type: ignore[attr-defined]
        parameters=[*own.values(), *added]
    )

    class Command(base):  # type: ignore[misc, valid-type]
        """The command: for one file, or for each of many."""

        program: Program
        run_all: Callable[[], int] | None = None

        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            """Parse the arguments, or find the files that they stand for."""
            # A run for one of many files, or completion in a shell.
            if ctx.obj in (ONE, PART) or ctx.resilient_parsing:
                self.run_all = None
            else:
                self.run_all = _run_of(name, self, ctx, args, self.program)
            # click is not asked to parse: the arguments of many files would not fit its
            # parameters.
            if self.run_all is not None:
                return []
            left: list[str] = super().parse_args(ctx, args)
            if ctx.obj in (ONE, PART):
                for one in added:
                    ctx.params.pop(one.name)
            return left

        def invoke(self, ctx: click.Context) -> object:
            """Run the command."""
            if self.run_all is None:
                return super().invoke(ctx)
            from bodymotion.collection.mapping import ClusterError

            with failures(name, ClusterError):
                raise click.exceptions.Exit(self.run_all())

    return run, Command


def _run_of(
    name: str,
    command: click.Command,
    ctx: click.Context,
    args: Sequence[str],
    program: Program,
) -> Callable[[], int] | None:
    """Return the runs for all files of a command line.

    None where it is one run.
    """
    words = _parse_words(command, ctx, args)
    takes_target = MANY_FILES[name].target == "argument"
    # Options such as --help are handled by click, and end the program.
    asks_for_help = words.options.keys() & {
        option.name for option in command.get_params(ctx) if option.is_eager
    }
    if asks_for_help or len(words.arguments) <= takes_target:
        return None
    request = _request_of(name, words)
    if not request.is_for_many:
        return None
    _check_places(request)
    _check_options(request)
    _check_target(request)
    ctx.meta[STRICT_LOSSES] = bool(words.options.get("strict_losses"))
    # Then the rows of a table have the data of the command.
    has_json = any("--json" in option.opts for option in command.params)
    return _plan_runs(request, has_json, program)


@dataclass(frozen=True)
class Words:
    """The words of a command line.

    Attributes
    ----------
    options:
        The values of options by their names.
    arguments:
        The words that are no options.
    option_words:
        The words of options, as they were given.
    """

    options: Mapping[str, Any]
    arguments: tuple[str, ...]
    option_words: tuple[str, ...]


def _parse_words(
    command: click.Command, ctx: click.Context, args: Sequence[str]
) -> Words:
    """Separate the options of a command line from its arguments."""
    # Without parameters for arguments, the parser leaves all of these in `rest`.
    options_only = copy(command)
    options_only.params = [
        param for param in command.params if param.param_type_name == "option"
    ]
    # The parser returns marks of words, from which their index is known.
    marked = []
    for index, word in enumerate(args):
        may_be_option = word.startswith("-") and "--" not in args[:index]
        marked.append(word if may_be_option else f"{MARK}{index}")
    values, rest, _ = options_only.make_parser(ctx).parse_args(args=list(marked))
    options = {}
    for option, value in values.items():
        is_marked = str(value).startswith(MARK)
        options[option] = args[int(value[1:])] if is_marked else value
    # With the values of options, which are not in `rest` either.
    option_words = [
        word
        for word, mark in zip(args, marked, strict=True)
        if mark not in rest and word != "--"
    ]
    arguments = [args[int(mark[1:])] for mark in rest if mark.startswith(MARK)]
    return Words(options, tuple(arguments), tuple(option_words))


@dataclass(frozen=True)
class Request:
    """A command line as models, inputs and a target.

    Attributes
    ----------
    models:
        The models for all inputs.
    inputs:
        Files, folders and patterns; texts are addresses, archives and their members.
    target_text:
        What names the result; empty where nothing does.
    """

    name: str
    words: Words
    models: tuple[Path | str, ...]
    inputs: tuple[Path | str, ...]
    target_text: str

    @property
    def many(self) -> ManyFiles:
        """How the command handles many files."""
        return MANY_FILES[self.name]

    @property
    def target(self) -> Path | None:
        """The file or folder of the result."""
        if self.target_text:
            return Path(self.target_text)
        return None

    @property
    def target_hint(self) -> str:
        """The name of the word that is the target, for messages."""
        if self.many.target == "argument":
            return "OUT"
        return "--output"

    @property
    def table(self) -> Path | None:
        """The table with a row for each file."""
        table = self.words.options.get("table")
        if table:
            return Path(table)
        return None

    @property
    def is_data_set(self) -> bool:
        """Whether the result is one data set of all inputs."""
        return bool(self.words.options.get("write_as") == "lerobot")

    @property
    def is_to_folder(self) -> bool:
        """Whether the target is said to be a folder."""
        if self.target is None:
            return False
        return self.target.is_dir() or self.target_text.endswith("/")

    @property
    def is_to_file(self) -> bool:
        """Whether the target has the name of a file."""
        if self.target is None or self.is_to_folder:
            return False
        return names_file(self.target)

    @property
    def is_elsewhere(self) -> bool:
        """Whether an input is at an address, in an archive or in a data set."""
        return any(isinstance(source, str) for source in self.inputs)

    @property
    def is_single(self) -> bool:
        """Whether the only input is one motion."""
        from bodymotion.collection.inputs import is_single

        # Such as `convert walks.zip/a.seq a.csv`, whose result is a file.
        has_one = len(self.inputs) == 1 and not self.is_data_set
        return has_one and is_single(self.inputs[0])

    @property
    def has_several(self) -> bool:
        """Whether there are several inputs for a command that takes one."""
        has_more = len(self.inputs) > 1 and self.name in ONE_MOTION
        return has_more or self.is_data_set or any(map(_is_many, self.inputs))

    @property
    def is_for_many(self) -> bool:
        """Whether the command runs for each of many files."""
        options = self.words.options
        if options.get("table") or options.get("cluster"):
            return True
        if self.is_to_folder or self.is_elsewhere:
            return True
        # `check` summarizes several files by itself.
        return self.has_several and self.name != "check"


def _request_of(name: str, words: Words) -> Request:
    """Return which words are models, inputs and the target."""
    from bodymotion.collection.inputs import is_collection

    many = MANY_FILES[name]
    arguments = list(words.arguments)
    target_text = str(words.options.get("output") or "")
    if many.target == "argument":
        # The last word, as of `cp`.
        target_text = arguments.pop()
    sources: list[Path | str] = [
        word if is_collection(word) else Path(word) for word in arguments
    ]
    # The number of models in front; −1, from the end, becomes all but one.
    split = many.models % max(len(sources), 1)
    models = sources[:split]
    inputs = sources[split:]
    if many.models < 0:
        models = sources[split:]
        inputs = sources[:split]
    if not inputs or any(map(_is_many, models)):
        # A script of a robot needs no model.
        models = []
        inputs = sources
    listed: list[Path | str] = []
    for source in inputs:
        listed += _in_list(source)
    return Request(name, words, tuple(models), tuple(listed), target_text)


def _is_many(source: Path | str) -> bool:
    """Return whether an input can stand for several files."""
    from bodymotion.collection.inputs import is_many

    return isinstance(source, str) or is_many(source)


def _check_places(request: Request) -> None:
    """Raise BadParameter where a result would be written elsewhere."""
    options = request.words.options
    if request.is_elsewhere and options.get("fix"):
        raise click.BadParameter(
            "changes files, and cannot change those of an address or archive",
            param_hint="--fix",
        )
    # Rows and results are written whole or not at all, which needs a file system.
    if "://" in request.target_text or "://" in str(options.get("table") or ""):
        raise click.BadParameter(
            "the results of many files need a local file or folder",
            param_hint="OUT, --table",
        )


def _check_options(request: Request) -> None:
    """Raise BadParameter for options of one run."""
    single = request.many.single
    if request.is_data_set:
        single = ("resume", "suffix", "table")
    given = [option for option in single if request.words.options.get(option)]
    if given:
        flags = [f"--{option.replace('_', '-')}" for option in given]
        raise click.BadParameter(
            "cannot be used with many files or a data set", param_hint=", ".join(flags)
        )


def _check_target(request: Request) -> None:
    """Raise BadParameter for a target that cannot hold the results of many files."""
    target = request.target
    if target is None:
        needs_target = request.name in NEED_TARGET
        if needs_target or request.words.options.get("suffix"):
            raise click.BadParameter(
                "needs a folder for the results of many files", param_hint="--output"
            )
        return
    if request.is_to_file and not request.is_single:
        folder = f"{target.with_suffix('')}/"
        message = (
            f"{target} is the name of a file; the results of many files need a folder, "
            f"such as {folder}"
        )
        if target.suffix.lower() in TABLES:
            message += f"; --table {target} writes a row for each file"
        raise click.BadParameter(message, param_hint=request.target_hint)
    # Only `OUT/` or an existing folder may hold earlier results; a new name must be
    # new.
    is_new_folder = not request.is_to_folder and not request.is_to_file
    if (request.is_data_set or is_new_folder) and target.exists():
        remove_leftovers(target.parent)
        raise click.BadParameter(
            f"{target} exists; name a new folder for the results", param_hint="OUT"
        )


def _suffix_of(request: Request) -> str:
    """Return the extension of the results.

    Raise BadParameter where none is known.
    """
    options = request.words.options
    if request.is_data_set:
        return ".parquet"
    # `convert` alone has no extension of its own: that of --suffix, or of the format.
    suffix = str(options.get("suffix") or request.many.suffix)
    if suffix or request.name != "convert" or request.is_to_file:
        return suffix
    if not options.get("write_as"):
        raise click.BadParameter(
            "many files need the format of the results, such as --to seq",
            param_hint="--to",
        )
    from bodymotion.formats.registry import named_format

    written = found_by("--to", named_format, options["write_as"])
    return next(iter(written.extensions), "")


def _plan_runs(request: Request, has_json: bool, program: Program) -> Callable[[], int]:
    """Return the function that runs the command for all inputs."""
    from bodymotion.cli.many import run_plan

    options = request.words.options
    option_words = request.words.option_words
    # Each motion becomes a table of Parquet; `write_data_set` makes one data set of
    # these.
    if request.is_data_set:
        option_words = (*option_words, "--to", "parquet")
    plan = Plan(
        request.name,
        program.find_command,
        option_words,
        tuple(map(Path, request.models)),
        request.inputs,
        # A file by its name is the result of the only run.
        None if request.is_to_file else request.target,
        _suffix_of(request),
        PART if request.is_data_set else ONE,
        request.target if request.is_to_file else None,
    )
    sharing: dict[str, Any] = {}
    # `_parse_words` leaves values as texts.
    for option, kind in SHARING.items():
        value = options.get(option)
        sharing[option] = kind(value) if value else None
    run = partial(
        run_plan, has_json=has_json, resume=bool(options.get("resume")), sharing=sharing
    )
    if request.target is None or not request.is_data_set:
        return partial(run, plan, table=request.table)

    from bodymotion.cli.convert import write_data_set

    def write_parts(folder: Path, table: Path) -> int:
        # The parts go to a temporary folder, from which the data set is then made.
        return int(run(replace(plan, folder=folder), table=table))

    return partial(write_data_set, request.target, write_parts)


def names_file(path: Path) -> bool:
    """Return whether a name has an extension of files that a command writes."""
    from bodymotion.formats.registry import FORMATS

    suffix = path.suffix.lower()
    if suffix in (*TABLES, *IMAGES):
        return True
    # Only extensions that a format is written with: `results.v2` is a folder.
    return any(row.write and suffix in row.extensions for row in FORMATS)


def _in_list(given: Path | str) -> list[Path | str]:
    """Return the lines of a list with addresses, or motions in archives and data sets.

    Any other input as it is.
    """
    from bodymotion.collection.inputs import is_collection, is_many, listed_in

    if isinstance(given, str) or not str(given).startswith("@"):
        return [given]
    if given.is_dir() or not is_many(given):
        return [given]
    lines: list[str] = []
    with contextlib.suppress(OSError, ValueError):  # which `find_files` reports
        lines = listed_in(Path(str(given)[1:]))
    # A list of files only is left to `find_files`.
    if not any(map(is_collection, lines)):
        return [given]
    return [line if is_collection(line) else Path(line) for line in lines]
