"""Commands for many files: their options, and the runs that a folder, a pattern or a list stands for; `many` carries them out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any

import click

from bodymotion.cli import failures
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

ONE_MOTION = ("measure", "balance", "retarget", "simulate")
NEED_TARGET = ("balance", "retarget", "render", "report")


@dataclass(frozen=True)
class ManyFiles:
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


TABLES = (".csv", ".jsonl", ".parquet")
"""Extensions of tables with a row for each file."""
IMAGES = (".png", ".jpg", ".jpeg", ".svg", ".pdf", ".mp4", ".gif", ".webm", ".html")
"""Extensions of images, videos and pages."""
MANY_FILES = {
    "info": ManyFiles(of_models=True),
    "check": ManyFiles(of_models=True),
    "measure": ManyFiles(1, "output", ".csv"),
    "convert": ManyFiles(0, "argument", of_models=True),
    "retime": ManyFiles(0, "argument"),
    "edit": ManyFiles(0, "argument"),
    "balance": ManyFiles(1, "output", ".seq"),
    "retarget": ManyFiles(-1, "output", ".seq"),
    "simulate": ManyFiles(
        1, "output", ".seq", single=("sensors", "contacts", "cameras")
    ),
    "render": ManyFiles(1, "output", ".mp4"),
    "report": ManyFiles(1, "output", ".html"),
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
    added = [
        one
        for one in signature(many_options).parameters.values()
        if one.name not in own
    ]

    @wraps(command)
    def run(**arguments: Any) -> Any:  # noqa: ANN401
        for one in added:
            if arguments.pop(one.name, None):
                raise click.BadParameter(
                    "has no effect on one file",
                    param_hint=flag_of(one.name, many_options),
                )
        return command(**arguments)

    run.__signature__ = signature(command).replace(parameters=[*own.values(), *added])  # type: ignore[attr-defined]

    class Command(base):  # type: ignore[misc, valid-type]
        """The command: for one file, or for each of many."""

        run_all: Callable[[], int] | None = None

        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            """Parse the arguments, or find the files that they stand for."""
            self.run_all = (
                None
                if ctx.obj in (ONE, PART) or ctx.resilient_parsing
                else _run_of(name, self, ctx, args)
            )
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
    name: str, command: click.Command, ctx: click.Context, args: Sequence[str]
) -> Callable[[], int] | None:
    """Return the runs for all files that a command line stands for; None where it stands for one run."""
    from bodymotion.collection import inputs as named

    def is_many(one: Path | str) -> bool:
        return isinstance(one, str) or named.is_many(one)

    many = MANY_FILES[name]
    options_only = copy(command)
    options_only.params = [
        one for one in command.params if one.param_type_name == "option"
    ]
    # The parser returns marks of words, from which their index is known.
    marked = [
        f"\0{k}" if not word.startswith("-") or "--" in args[:k] else word
        for k, word in enumerate(args)
    ]
    found, words, _ = options_only.make_parser(ctx).parse_args(args=list(marked))
    places = [int(word[1:]) for word in words if word[:1] == "\0"]
    used = {
        one: args[int(value[1:])] if str(value)[:1] == "\0" else value
        for one, value in found.items()
    }
    if used.get("help") or len(places) <= (many.target == "argument"):
        return None
    target_text = (
        args[places.pop()]
        if many.target == "argument"
        else str(used.get("output") or "")
    )
    target = Path(target_text) if target_text else None
    inputs: list[Path | str] = [
        args[k] if named.is_collection(args[k]) else Path(args[k]) for k in places
    ]
    split = many.models % max(len(inputs), 1)
    first, second = inputs[:split], inputs[split:]
    models, rest = (first, second) if many.models >= 0 else (second, first)
    # Spot's animations need no model.
    models, inputs = (
        ([], inputs) if any(map(is_many, models)) or not rest else (models, rest)
    )
    inputs = [one for given in inputs for one in _in_list(given)]
    to_folder = target is not None and (target.is_dir() or target_text.endswith("/"))
    is_data_set = used.get("write_as") == "lerobot"
    several = (
        any(map(is_many, inputs))
        or (len(inputs) > 1 and name in ONE_MOTION)
        or is_data_set
    )
    elsewhere = any(isinstance(one, str) for one in inputs)
    is_file = target is not None and not to_folder and names_file(target)
    is_single = len(inputs) == 1 and named.is_single(inputs[0]) and not is_data_set
    if not (
        used.get("table")
        or used.get("cluster")
        or to_folder
        or elsewhere
        or (several and name != "check")
    ):
        return None
    if elsewhere and used.get("fix"):
        raise click.BadParameter(
            "changes files, and cannot change those of an address or archive",
            param_hint="--fix",
        )
    if "://" in f"{target_text}{used.get('table') or ''}":
        raise click.BadParameter(
            "the results of many files need a local file or folder",
            param_hint="OUT, --table",
        )
    single = ("resume", "suffix", "table") if is_data_set else many.single
    if wrong := [f"--{one.replace('_', '-')}" for one in single if used.get(one)]:
        raise click.BadParameter(
            "cannot be used with many files or a data set", param_hint=", ".join(wrong)
        )
    if target is not None and is_file and not is_single:
        folder = f"{target.with_suffix('')}/"
        rows = f"; --table {target} writes a row for each file"
        is_table = target.suffix.lower() in TABLES
        raise click.BadParameter(
            f"{target} is the name of a file; the results of many files need a folder, such as {folder}"
            + (rows if is_table else ""),
            param_hint="OUT" if many.target == "argument" else "--output",
        )
    is_new = target is not None and not to_folder and not is_file
    if target is not None and (is_data_set or is_new) and target.exists():
        remove_leftovers(target.parent)
        raise click.BadParameter(
            f"{target} exists; name a new folder for the results", param_hint="OUT"
        )
    if target is None and (name in NEED_TARGET or used.get("suffix")):
        raise click.BadParameter(
            "needs a folder for the results of many files", param_hint="--output"
        )
    ctx.meta[STRICT_LOSSES] = bool(used.get("strict_losses"))
    options = [
        word for k, word in enumerate(args) if marked[k] not in words and word != "--"
    ]
    suffix = used.get("suffix") or many.suffix
    if is_data_set:
        options, suffix = [*options, "--to", "parquet"], ".parquet"
    if name == "convert" and not suffix and not is_file:
        from bodymotion.formats.registry import named_format

        if not used.get("write_as"):
            raise click.BadParameter(
                "many files need the format of the results, such as --to seq",
                param_hint="--to",
            )
        suffix = next(
            iter(found_by("--to", named_format, used["write_as"]).extensions), ""
        )
    from bodymotion.cli.many import Plan, run_plan

    mark = PART if is_data_set else ONE
    plan = Plan(
        name,
        tuple(options),
        tuple(map(Path, models)),
        tuple(inputs),
        None if is_file else target,
        suffix,
        mark,
        target if is_file else None,
    )
    has_json = any("--json" in one.opts for one in command.params)
    kinds: dict[str, type] = {"workers": int, "time_limit": float, "cluster": str}
    sharing = {
        one: kind(used[one]) if used.get(one) else None for one, kind in kinds.items()
    }
    table = Path(used["table"]) if used.get("table") else None
    run = partial(
        run_plan, has_json=has_json, resume=bool(used.get("resume")), sharing=sharing
    )
    if target is not None and is_data_set:
        from bodymotion.cli.convert import write_data_set

        return partial(
            write_data_set,
            target,
            lambda parts, rows: run(replace(plan, folder=parts), table=rows),
        )
    return partial(run, plan, table=table)


def names_file(path: Path) -> bool:
    """Return whether a name has an extension of files that a command writes."""
    from bodymotion.formats.registry import FORMATS

    suffix = path.suffix.lower()
    written = {one for row in FORMATS if row.write for one in row.extensions}
    return suffix in written or suffix in (*TABLES, *IMAGES)


def _in_list(given: Path | str) -> list[Path | str]:
    """Return the lines of a list in which there are addresses or motions in archives and data sets; any other input as it is."""
    from bodymotion.collection.inputs import is_collection, is_many, listed_in

    if (
        isinstance(given, str)
        or given.is_dir()
        or not str(given).startswith("@")
        or not is_many(given)
    ):
        return [given]
    found: list[Path | str] = []
    with contextlib.suppress(OSError, ValueError):  # which `find_files` reports
        found = [
            line if is_collection(line) else Path(line)
            for line in listed_in(Path(str(given)[1:]))
        ]
    return found if any(isinstance(one, str) for one in found) else [given]
