"""Commands for many files: a folder, a pattern or a list instead of a file runs the command once for each, on all cores.

Each run is the command itself with one of the files in its command line, so that every option means what it means for one file.
"""

import contextlib
import io
import json
import os
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import signature
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from bodymotion import __version__
from bodymotion.cli.app import Cluster, TimeLimit, Workers, app, described, found_by
from bodymotion.cli.output import PART, failures, one_line, progress, results, say, show_problems
from bodymotion.diagnostics import Problem, WrongUseError
from bodymotion.diagnostics.text import counted, listed

if TYPE_CHECKING:
    from bodymotion.collection import Clip

Input: TypeAlias = "Path | Clip"  # A file, or a motion at an address, in an archive or in a data set.
ONE = "one"  # The object of the context of a run for one file, or `PART`.
ONE_MOTION = ("measure", "balance", "retarget", "simulate")
NEED_TARGET = ("balance", "retarget", "render", "report")


@dataclass(frozen=True)
class Verb:
    """How a command handles many files.

    Attributes
    ----------
    models:
        The number of arguments before the motions, which are for all of them; -1 for one after the motions.
    target:
        What names the result: the last argument, an option, or nothing.
    suffix:
        The extension of results; by default that of the input.
    of_models:
        Whether models in a folder are used, too.
    single:
        Options that name files of one run.
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
                raise click.BadParameter("has no effect on one file", param_hint=f"--{one.name}")
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
    mark = PART if is_data_set else ONE
    plan = _Plan(name, tuple(options), tuple(map(Path, models)), tuple(inputs), target, suffix, mark)
    has_json = any("--json" in one.opts for one in command.params)
    kinds: dict[str, type] = {"workers": int, "time_limit": float, "cluster": str}
    sharing = {one: kind(used[one]) if used.get(one) else None for one, kind in kinds.items()}
    table = Path(used["table"]) if used.get("table") else None
    run = partial(_run, has_json=has_json, resume=bool(used.get("resume")), sharing=sharing)
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


def _written_as(given: Input, name: Path) -> str:
    """Return the extension of the result of an input: its own, or that of a format that can be written and holds the same."""
    from bodymotion.collection.inputs import format_of
    from bodymotion.formats.registry import FORMATS

    own = format_of(given if isinstance(given, Path) else name)
    if own is None or (own.write is not None and name.suffix.lower() in own.extensions):
        return name.suffix
    able = (row for row in (own, *FORMATS) if row.write is not None and row.holds == own.holds)
    return next(able, own).extensions[0]


def report_left_out(name: str, left_out: Sequence[str]) -> None:
    """Print what of a folder a command leaves out."""
    from bodymotion.collection.inputs import is_collection

    inner = list(filter(is_collection, left_out))
    unknown = [one for one in left_out if one not in set(inner)]
    alone = "to be named by itself, a data set in a local folder"
    for found, kind, why in (unknown, "file", "of no known format"), (inner, "collection", alone):
        if found:
            say(one_line(f"bodymotion {name}: {counted(len(found), kind)} left out, {why}: {listed(found, 20)}"))


@dataclass(frozen=True)
class _Plan:
    """What is done with each file."""

    name: str
    options: tuple[str, ...]
    models: tuple[Path, ...]
    inputs: tuple[Path | str, ...]
    folder: Path | None
    suffix: str
    mark: str = ONE
    """The object of the context of each run: `PART` where the results are parts of one."""

    def runs(self) -> Iterator[tuple[Input, Path | None]]:
        """Return the files, each with that of its result; two files with the same name keep their extensions in it."""
        from bodymotion.collection import find_files, open_collection, root_of
        from bodymotion.system.files import check_not_read

        unknown: list[str] = []

        def report(path: Path, folder: Path | None) -> None:
            if folder is None:
                unknown.append(str(path))
            else:
                say(one_line(f"bodymotion {self.name}: {path} is a link that leads out of {folder}: left out"))

        local = [one for one in self.inputs if isinstance(one, Path)]
        files = list(find_files(local, report, VERBS[self.name].of_models and self.mark == ONE))
        opened = [(open_collection(one), one) for one in self.inputs if isinstance(one, str)]
        clips = [(clip, one) for collection, one in opened for clip in collection]
        report_left_out(self.name, [*unknown, *(one for collection, _ in opened for one in collection.left_out)])
        found: list[Input] = [*files, *(clip for clip, _ in clips)]
        if self.folder is None:
            yield from ((one, None) for one in found)
            return
        root, folder = root_of(local, files) if local else self.folder, Path(os.path.abspath(self.folder))  # noqa: PTH100
        whole = {path: Path(os.path.abspath(path)) for path in files}  # noqa: PTH100  # links stay
        for given in local:
            if given.is_dir() and Path(os.path.realpath(given)).is_relative_to(os.path.realpath(folder)):
                raise WrongUseError(f"{given} is the folder of the results, or in it; choose another folder for them")
        if folder != root and folder.is_relative_to(root):
            files = [path for path in files if not whole[path].is_relative_to(folder)]
            found = [*files, *(clip for clip, _ in clips)]
        inner = [whole[path].relative_to(root) for path in files]
        for clip, source in clips:
            # The results of one collection are in the folder itself, as those of a folder are.
            above = PurePosixPath(source.rpartition("://")[2])
            parts = (above.parent if above.name == PurePosixPath(clip.name).name else above).parts
            named = [part for part in parts if part not in ("/", "..") and not set("*?[") & set(part)]
            inner.append(Path(*(named if len(self.inputs) > 1 else ()), clip.file_name))
        endings = [self.suffix or _written_as(one, inside) for one, inside in zip(found, inner, strict=True)]
        targets = [path.with_suffix(ending) for path, ending in zip(inner, endings, strict=True)]
        twice = {path for path, count in Counter(targets).items() if count > 1}
        for one, inside, ending, target in zip(found, inner, endings, targets, strict=True):
            result = self.folder / (inside.with_name(f"{inside.name}{ending}") if target in twice else target)
            check_not_read(result, [one] if isinstance(one, Path) else [])
            yield one, result

    @property
    def run(self) -> str:
        """What is done, as a short text: command line, version, and the state of the files in it."""
        from hashlib import sha256

        words = [__version__, self.name, *self.options, *map(str, self.models), str(self.folder), self.suffix]
        leave = ("--resume", "--workers", "--table", "--time-limit", "--cluster")
        words = [w for k, w in enumerate(words) if w.partition("=")[0] not in leave and words[k - 1] not in leave[1:]]
        states = [Path(word).stat() if len(word) < 256 and Path(word).is_file() else None for word in words]
        known = [(word, at and (at.st_size, at.st_mtime_ns)) for word, at in zip(words, states, strict=True)]
        return sha256(repr(known).encode()).hexdigest()[:12]

    def args(self, path: Input, result: Path | None) -> list[str]:
        """Return the command line for one file."""
        words = list(map(str, (*self.models, path) if VERBS[self.name].models >= 0 else (path, *self.models)))
        if result is None:
            return [*self.options, "--", *words]
        if VERBS[self.name].target == "argument":
            return [*self.options, "--", *words, str(result)]
        return [*self.options, f"--output={result}", "--", *words]


def _run(plan: _Plan, *, has_json: bool, table: Path | None, resume: bool, sharing: dict[str, Any]) -> int:
    """Run the command for all files, and return the exit code."""
    from bodymotion.collection import Outcome, in_order, map_files
    from bodymotion.collection.inputs import is_many
    from bodymotion.collection.records import Records, Row, key
    from bodymotion.formats.registry import find_format

    for path in plan.inputs:
        if isinstance(path, Path) and not (path.exists() or is_many(path)):
            find_format(path)  # reports the missing file
    if table is None and plan.folder is not None:
        plan.folder.mkdir(parents=True, exist_ok=True)
        table = plan.folder / "results.jsonl"
    if resume and table is None:
        raise click.BadParameter("needs --table or a folder for results", param_hint="--resume")
    runs, run = list(plan.runs()), plan.run
    if not runs:
        say(one_line(f"bodymotion {plan.name}: no file for it in {' '.join(map(str, plan.inputs))}"))
        return 1
    records = None if table is None else Records(table, resume=resume)
    rows = [_about(path, result, run) for path, result in runs]
    counting = [one for one in rows if "output" not in one or Path(one["output"]).exists()]
    earlier = {} if records is None else records.keep(counting)
    codes = Counter(map(int, earlier.values()))
    left = [k for k in range(len(runs)) if key(rows[k]) not in earlier]
    prints_json = "--json" in plan.options
    extra = ["--json"] if has_json and not prints_json and records is not None else []
    tasks = [(Path.cwd(), plan.name, [*extra, *plan.args(*runs[k])], *runs[k]) for k in left]
    done, total = sum(codes.values()), len(runs)

    def recorded(outcome: Outcome) -> tuple[Row, str]:
        nonlocal done
        code, text, messages = outcome.value or (1, "", f"{outcome.error}\n")
        row = {**_parsed(text if has_json else ""), **rows[left[outcome.index]], "exit_code": code}
        row["messages"] = [*messages.splitlines(), *(f"not fixed: {one}" for one in row.get("remaining", ()))]
        codes[code] += 1
        done += 1
        if records is not None:
            records.add(row)
        return row, text

    records_open = records or contextlib.nullcontext()
    with results() as out, progress(f"{plan.name}: {counted(total, 'file')}") as bar, records_open:
        try:
            outcomes = map_files(partial(_one, plan.mark), tasks, **sharing)
            for outcome in in_order(Outcome(one.index, recorded(one)) for one in outcomes):
                row, text = outcome.value
                if bar is not None:
                    bar(done, total)
                with bar.pause() if bar is not None else contextlib.nullcontext():
                    if records is None:
                        out.write(json.dumps(row) + "\n" if prints_json else text)
                        out.flush()
                    if records is None or row["exit_code"]:
                        named = "" if any(row["file"] in line for line in row["messages"]) else f"{row['file']}: "
                        for k, line in enumerate(row["messages"]):
                            say(one_line(line if k else f"{named}{line}"))
        except KeyboardInterrupt:
            more = "; --resume continues" if records is not None and plan.mark == ONE else ""
            say(f"bodymotion {plan.name}: interrupted after {done} of {counted(total, 'file')}{more}")
            raise
    failed = total - codes[0] - codes[3]
    words = [f"{failed} failed" if failed else "", f"{codes[3]} with losses" if codes[3] else ""]
    ends = ", ".join(filter(None, (*words, f"{len(earlier)} by an earlier run" if earlier else ""))) or "no failures"
    say(one_line(f"{counted(total, 'file')} done: {ends}{f' (see {table})' if table and plan.mark == ONE else ''}"))
    return 2 if codes[2] == total else 1 if failed else 3 if codes[3] else 0


def _about(path: Input, result: Path | None, run: str) -> dict[str, Any]:
    from bodymotion.collection import Clip
    from bodymotion.collection.records import about

    clip = Clip(str(path), str(path)) if isinstance(path, Path) else path
    row = about(str(path), clip.state, run)
    return row if result is None else {**row, "output": str(result)}


def _parsed(text: str) -> dict[str, Any]:
    """Return the JSON that a command has printed for one file."""
    try:
        data = json.loads(text)
    except ValueError:
        return {}
    found = data if isinstance(data, dict) else {}
    inner = found.pop("files", None)
    return {**found, **inner[0]} if isinstance(inner, list) and inner else found


def _one(mark: str, task: tuple[Path, str, list[str], Input, Path | None]) -> tuple[int, str, str]:
    """Run a command for one file in a folder; return its exit code, and what it prints on stdout and stderr.

    `mark` is the object of its context.
    """
    folder, name, args, source, result = task
    out, messages, found = io.StringIO(), io.StringIO(), list[Problem]()
    with contextlib.ExitStack() as stack:
        copied = "" if isinstance(source, Path) else str(stack.enter_context(source.file(found.extend)))
        args = [copied if copied and word == str(source) else word for word in args]
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(messages))
        show_problems(found)
        try:
            if result is not None:
                result.parent.mkdir(parents=True, exist_ok=True)
            command: Any = app.get_command(click.Context(app), name)
            code = command.main(args, prog_name=f"bodymotion {name}", standalone_mode=False, obj=mark) or 0
        except click.UsageError as error:
            say(one_line(error.format_message()))
            code = 2
        except Exception as error:
            say(f"{traceback.format_exc()}not done because of {type(error).__name__}: {one_line(error)}")
            code = 1
    printed, messages_text = (text.getvalue().replace(copied or "\0", str(source)) for text in (out, messages))
    return code, printed, messages_text
