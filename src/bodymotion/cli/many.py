"""Commands for many files.

The files of a plan, the command for each of them on all cores, and the rows of its
results.

Each run is the command itself with one of the files in its command line, so that every
option means what it means for one file.
"""

import contextlib
import io
import json
import os
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeAlias

import click

from bodymotion import __version__
from bodymotion.cli.app import app
from bodymotion.cli.contained import UNTRUSTED, run_limits
from bodymotion.cli.many_arguments import MANY_FILES
from bodymotion.cli.output import (
    LOST,
    ONE,
    is_strict,
    print_message,
    progress,
    reported_rules,
    results,
    show_problems,
    text_of,
)
from bodymotion.cli.project import defaults_of
from bodymotion.diagnostics import Problem, WrongUseError
from bodymotion.diagnostics.text import counted, listed

if TYPE_CHECKING:
    from bodymotion.collection import Clip, Outcome
    from bodymotion.collection.records import Records

Input: TypeAlias = (
    "Path | Clip"  # A file, or a motion at an address, in an archive or in a data set.
)

UNITS = {"--input-degrees": True, "--input-radians": False}
"""The option of commands by which an episode of LeRobot is read."""


def _written_as(given: Input, name: Path) -> str:
    """Return the extension of the result of an input.

    Its own, or that of a format that can be written and holds the same.
    """
    from bodymotion.collection.inputs import format_of
    from bodymotion.formats.registry import FORMATS

    own = format_of(given if isinstance(given, Path) else name)
    if own is None or (own.write is not None and name.suffix.lower() in own.extensions):
        return name.suffix
    able = (
        row
        for row in (own, *FORMATS)
        if row.write is not None and row.holds == own.holds
    )
    return next(able, own).extensions[0]


def report_left_out(name: str, left_out: Sequence[str]) -> None:
    """Print what of a folder a command leaves out."""
    from bodymotion.collection.inputs import is_collection

    inner = list(filter(is_collection, left_out))
    unknown = [one for one in left_out if one not in set(inner)]
    alone = "to be named by itself, a data set in a local folder"
    for found, kind, why in (
        (unknown, "file", "of no known format"),
        (inner, "collection", alone),
    ):
        if found:
            print_message(
                f"bodymotion {name}: {counted(len(found), kind)} left out, {why}: "
                f"{listed(found, 20)}"
            )


def _folder_of(clip: "Clip", source: str) -> Path:
    """Return the folder for the results of a collection among others, from its address."""
    address = PurePosixPath(source.rpartition("://")[2])
    if address.name == PurePosixPath(clip.name).name:
        address = address.parent
    names = [
        name
        for name in address.parts
        if name not in ("/", "..") and not set("*?[") & set(name)
    ]
    return Path(*names)


@dataclass(frozen=True)
class Plan:
    """What is done with each file."""

    name: str
    options: tuple[str, ...]
    models: tuple[Path, ...]
    inputs: tuple[Path | str, ...]
    folder: Path | None
    suffix: str
    mark: str = ONE
    """The object of the context of each run.

    `PART` where the results are parts of one.
    """
    file: Path | None = None
    """The result of the only run, where it is a file by its name."""

    def runs(self) -> Iterator[tuple[Input, Path | None]]:
        """Return the files, each with that of its result.

        Two files with the same name keep their extensions in it.
        """
        from bodymotion.collection import find_files, open_collection, root_of

        unknown: list[str] = []

        def report(path: Path, folder: Path | None) -> None:
            if folder is None:
                unknown.append(str(path))
            else:
                print_message(
                    f"bodymotion {self.name}: {path} is a link that leads out of "
                    f"{folder}: left out"
                )

        local = [one for one in self.inputs if isinstance(one, Path)]
        files = list(
            find_files(
                local, report, MANY_FILES[self.name].of_models and self.mark == ONE
            )
        )
        opened = [
            (open_collection(one), one) for one in self.inputs if isinstance(one, str)
        ]
        clips = [(clip, one) for collection, one in opened for clip in collection]
        report_left_out(
            self.name,
            [
                *unknown,
                *(one for collection, _ in opened for one in collection.left_out),
            ],
        )
        found: list[Input] = [*files, *(clip for clip, _ in clips)]
        if self.file is not None:
            yield from ((one, self.file) for one in found)
            return
        if self.folder is None:
            yield from ((one, None) for one in found)
            return
        if local:
            root = root_of(local, files)
        else:
            root = self.folder
        inner = self._inner_files(files, local, root)
        targets = [*inner.values(), *self._inner_clips(clips)]
        found = [*inner, *(clip for clip, _ in clips)]
        yield from zip(found, self._results(found, targets), strict=True)

    def _inner_files(
        self, files: Sequence[Path], given: Sequence[Path], root: Path
    ) -> dict[Path, Path]:
        """Return the path below the folder `root` of each file that is none of the results.

        Raises
        ------
        WrongUseError
            When a folder that is given is that of the results, or in it.
        """
        assert self.folder is not None
        # Links stay as they are.
        folder = Path(os.path.abspath(self.folder))  # noqa: PTH100
        whole = {path: Path(os.path.abspath(path)) for path in files}  # noqa: PTH100
        for one in given:
            if one.is_dir() and Path(os.path.realpath(one)).is_relative_to(
                os.path.realpath(folder)
            ):
                raise WrongUseError(
                    f"{one} is the folder of the results, or in it; choose another "
                    "folder for them"
                )
        results_are_below = folder != root and folder.is_relative_to(root)
        return {
            path: whole[path].relative_to(root)
            for path in files
            if not (results_are_below and whole[path].is_relative_to(folder))
        }

    def _inner_clips(self, clips: Sequence[tuple["Clip", str]]) -> list[Path]:
        """Return a path below the folder of the results for each clip of a collection.

        Report names that no file can have.
        """
        from bodymotion.collection.inputs import plain_path

        paths = []
        changed: list[str] = []
        for clip, source in clips:
            below = plain_path(clip.file_name)
            if str(below) != clip.file_name:
                changed.append(clip.file_name)
            # The results of one collection are in the folder itself, as those of a
            # folder are.
            if len(self.inputs) > 1:
                above = _folder_of(clip, source)
            else:
                above = Path()
            paths.append(above / below)
        if changed:
            print_message(
                f"bodymotion {self.name}: {counted(len(changed), 'name')} changed in "
                "the results, "
                f"as not every system has files of such names: {listed(changed, 5)}"
            )
        return paths

    def _results(self, found: Sequence[Input], inner: Sequence[Path]) -> list[Path]:
        """Return the files of the results, each with another name.

        `inner` are those of the inputs below their folder.
        """
        from bodymotion.system.files import check_not_read

        pairs = list(zip(found, inner, strict=True))
        endings = [self.suffix or _written_as(one, inside) for one, inside in pairs]
        targets = [
            path.with_suffix(ending)
            for path, ending in zip(inner, endings, strict=True)
        ]
        twice = {path for path, count in Counter(targets).items() if count > 1}
        results: list[Path] = []
        used = set(targets) - twice
        for inside, ending, target in zip(inner, endings, targets, strict=True):
            name = target
            number = 1
            if target in twice:
                # Names in an archive may be equal but for characters that no file has.
                while name in used or number == 1:
                    if number == 1:
                        tail = ending
                    else:
                        tail = f"_{number}{ending}"
                    name = inside.with_name(f"{inside.name}{tail}")
                    number += 1
                used.add(name)
            results.append((self.folder or Path()) / name)
        for given, result in zip(found, results, strict=True):
            check_not_read(result, [given] if isinstance(given, Path) else [])
        return results

    @property
    def run(self) -> str:
        """What is done, as a short text.

        Command line, version, and the state of the files in it.
        """
        from hashlib import sha256

        words = [
            __version__,
            self.name,
            *self.options,
            *map(str, self.models),
            str(self.folder),
            self.suffix,
        ]
        flags = ("--resume", "--strict-losses")
        with_value = ("--workers", "--table", "--time-limit", "--cluster")
        words = [
            w
            for k, w in enumerate(words)
            if w.partition("=")[0] not in (*flags, *with_value)
            and words[k - 1] not in with_value
        ]
        states = [
            Path(word).stat() if len(word) < 256 and Path(word).is_file() else None
            for word in words
        ]
        known = [
            (word, at and (at.st_size, at.st_mtime_ns))
            for word, at in zip(words, states, strict=True)
        ]
        return sha256(repr(known).encode()).hexdigest()[:12]

    def args(self, path: Input, result: Path | None) -> list[str]:
        """Return the command line for one file."""
        words = list(
            map(
                str,
                (*self.models, path)
                if MANY_FILES[self.name].models >= 0
                else (path, *self.models),
            )
        )
        if result is None:
            return [*self.options, "--", *words]
        if MANY_FILES[self.name].target == "argument":
            return [*self.options, "--", *words, str(result)]
        return [*self.options, f"--output={result}", "--", *words]


def run_plan(
    plan: Plan,
    *,
    has_json: bool,
    table: Path | None,
    resume: bool,
    sharing: dict[str, Any],
) -> int:
    """Run the command for all files, and return the exit code."""
    from bodymotion.collection import Outcome, in_order, map_files
    from bodymotion.collection.inputs import is_many
    from bodymotion.collection.records import Records, key
    from bodymotion.formats.registry import find_format

    for path in plan.inputs:
        if isinstance(path, Path) and not (path.exists() or is_many(path)):
            find_format(path)  # reports the missing file
    if table is None and plan.folder is not None:
        plan.folder.mkdir(parents=True, exist_ok=True)
        table = plan.folder / "results.jsonl"
    if resume and table is None:
        raise click.BadParameter(
            "needs --table or a folder for results", param_hint="--resume"
        )
    runs = list(plan.runs())
    run = plan.run
    if not runs:
        print_message(
            f"bodymotion {plan.name}: no file for it in "
            f"{' '.join(map(str, plan.inputs))}"
        )
        return 1
    if table is None:
        records = None
    else:
        records = Records(table, resume=resume)
    rows = [_about(path, result, run) for path, result in runs]
    limits = run_limits(
        plan.name,
        untrusted=UNTRUSTED in plan.options,
        time_limit=sharing.get("time_limit"),
        size=max(0, *(row["size"] or 0 for row in rows)),
    )
    prints_json = "--json" in plan.options
    if has_json and not prints_json and records is not None:
        extra = ["--json"]
    else:
        extra = []
    with contextlib.nullcontext() if records is None else records:
        earlier: dict[str, Any] = {}
        if records is not None:
            earlier = records.keep(filter(_has_result, rows))
        left = [k for k in range(len(runs)) if key(rows[k]) not in earlier]
        tasks = [
            Task(Path.cwd(), plan.name, [*extra, *plan.args(*runs[k])], *runs[k])
            for k in left
        ]
        ends = _Ends(
            len(runs),
            is_strict(click.get_current_context()),
            num_earlier=len(earlier),
            codes=Counter(map(int, earlier.values())),
        )
        recorder = _Recorder([rows[k] for k in left], records, ends, has_json)
        with (
            results() as out,
            progress(f"{plan.name}: {counted(ends.total, 'file')}") as bar,
        ):
            try:
                outcomes = map_files(
                    partial(_run_task, plan.mark), tasks, limits=limits, **sharing
                )
                for outcome in in_order(
                    Outcome(one.index, recorder.record(one)) for one in outcomes
                ):
                    if bar is not None:
                        bar(ends.done, ends.total)
                    with bar.pause() if bar is not None else contextlib.nullcontext():
                        _print_recorded(
                            outcome.value,
                            None if records is not None else out,
                            prints_json=prints_json,
                        )
            except KeyboardInterrupt:
                more = ""
                if records is not None and plan.mark == ONE:
                    more = "; --resume continues"
                print_message(
                    f"bodymotion {plan.name}: interrupted after {ends.done} of "
                    f"{counted(ends.total, 'file')}{more}"
                )
                raise
    if records is not None:
        _print_rules(recorder.rules)
    if table and plan.mark == ONE:
        see = f" (see {table})"
    else:
        see = ""
    print_message(f"{counted(ends.total, 'file')} done: {ends.summary}{see}")
    return ends.exit_code


class Task(NamedTuple):
    """A run of a command in a folder.

    Its arguments, the input among them, and the file of its result.
    """

    folder: Path
    name: str
    args: list[str]
    source: Input
    result: Path | None


class Answer(NamedTuple):
    """The exit code of a run, and what it has printed on stdout and stderr.

    `rules`: the rules of warnings and errors that it has printed.
    """

    code: int
    text: str
    messages: str
    rules: tuple[str, ...] = ()


class Recorded(NamedTuple):
    """The row of a run, what it has printed on stdout, and whether its messages are printed although they are in the row."""

    row: dict[str, Any]
    text: str
    is_shown: bool


@dataclass
class _Ends:
    """How the runs of a plan have ended, those of an earlier run included."""

    total: int
    strict: bool
    num_earlier: int
    codes: Counter[int]
    num_lossy: int = field(init=False)
    """Runs with losses; without `strict` their exit code is 0."""

    def __post_init__(self) -> None:
        self.num_lossy = self.codes[LOST]

    def add(self, code: int) -> int:
        """Count a run by its exit code.

        Return the exit code for its row.
        """
        if code == LOST:
            self.num_lossy += 1
            if not self.strict:
                code = 0
        self.codes[code] += 1
        return code

    @property
    def done(self) -> int:
        """The number of runs that have ended."""
        return sum(self.codes.values())

    @property
    def num_failed(self) -> int:
        """The number of runs with an error, once all have ended."""
        return self.total - self.codes[0] - self.codes[LOST]

    @property
    def summary(self) -> str:
        """The counts as words."""
        counts = {
            "failed": self.num_failed,
            "with losses": self.num_lossy,
            "by an earlier run": self.num_earlier,
        }
        words = [f"{count} {word}" for word, count in counts.items() if count]
        return ", ".join(words) or "no failures"

    @property
    def exit_code(self) -> int:
        """The exit code of all runs together."""
        if self.codes[2] == self.total:
            return 2
        if self.num_failed:
            return 1
        if self.num_lossy and self.strict:
            return LOST
        return 0


@dataclass
class _Recorder:
    """Makes the rows of runs, whose `inputs` are described by rows, and writes them into records, if there are any."""

    inputs: list[dict[str, Any]]
    records: "Records | None"
    ends: _Ends
    has_json: bool
    rules: Counter[str] = field(default_factory=Counter)
    """For each rule that messages are about, the number of runs.

    Without notes.
    """

    def record(self, outcome: "Outcome") -> Recorded:
        """Record a run as soon as it has ended."""
        about = self.inputs[outcome.index]
        answer: Answer | None = outcome.value
        if answer is None:
            answer = Answer(1, "", _reason(outcome.error, Path(about["file"])))
        row = {
            **_parsed(answer.text if self.has_json else ""),
            **about,
            "exit_code": self.ends.add(answer.code),
        }
        row["messages"] = [
            *answer.messages.splitlines(),
            *(f"not fixed: {reason}" for reason in row.get("remaining", ())),
        ]
        self.rules.update(answer.rules)
        if self.records is not None:
            self.records.add(row)
        return Recorded(row, answer.text, answer.code != 0)


def _print_rules(rules: Mapping[str, int]) -> None:
    """Print of how many files which rules are reported in the table of results."""
    if rules:
        counts = sorted(rules.items(), key=lambda item: (-item[1], item[0]))
        parts = [f"{code} in {counted(count, 'file')}" for code, count in counts]
        print_message(f"reported: {', '.join(parts)}")


def _has_result(row: dict[str, Any]) -> bool:
    """Return whether the file that a run writes is there.

    True for one that writes none.
    """
    return "output" not in row or Path(row["output"]).exists()


def _print_recorded(
    recorded: Recorded, out: TextIO | None, *, prints_json: bool
) -> None:
    """Print the messages of a run, and its result on `out`, if it is in no record."""
    row = recorded.row
    if out is not None:
        out.write(json.dumps(row) + "\n" if prints_json else recorded.text)
        out.flush()
    elif not recorded.is_shown:
        return
    if any(row["file"] in line for line in row["messages"]):
        first = ""
    else:
        first = row["file"]
    for number, line in enumerate(row["messages"]):
        print_message(f"{first}: {line}" if first and number == 0 else line)


def _reason(error: Exception | None, path: Path) -> str:
    """Return the message for a file that was not done."""
    from bodymotion.collection import ProcessEndedError
    from bodymotion.formats.untrusted import describe_end

    if isinstance(error, (ProcessEndedError, MemoryError)):
        fault = describe_end(error, path)
        return text_of(fault.problems, severity=False)
    return f"{error}\n"


def _about(path: Input, result: Path | None, run: str) -> dict[str, Any]:
    from bodymotion.collection import Clip
    from bodymotion.collection.records import about

    if isinstance(path, Path):
        clip = Clip(str(path), str(path))
    else:
        clip = path
    row = about(str(path), clip.state, run)
    if result is None:
        return row
    return {**row, "output": str(result)}


def _parsed(text: str) -> dict[str, Any]:
    """Return the JSON that a command has printed for one file."""
    try:
        data = json.loads(text)
    except ValueError:
        return {}
    found = data if isinstance(data, dict) else {}
    inner = found.pop("files", None)
    if isinstance(inner, list) and inner:
        return {**found, **inner[0]}
    return found


def _run_task(mark: str, task: Task) -> Answer:
    """Run a command for one file.

    `mark` is the object of its context.
    """
    folder, name, args, source, result = task
    out = io.StringIO()
    messages = io.StringIO()
    found = list[Problem]()
    with contextlib.ExitStack() as stack:
        copied = ""
        # `info` shows what an episode is in its data set.
        is_shown = name == "info" and not isinstance(source, Path) and source.is_episode
        if not isinstance(source, Path) and not is_shown:
            reading: dict[str, bool] = {}
            if source.episode is not None:
                # The copy of an episode is in radians.
                units = [UNITS[word] for word in args if word in UNITS]
                if units:
                    reading = {"degrees": units[-1]}
                else:
                    reading = {}
                args = [word for word in args if word not in UNITS]
            reading["untrusted"] = UNTRUSTED in args
            copied = str(stack.enter_context(source.file(found.extend, **reading)))
        args = [copied if copied and word == str(source) else word for word in args]
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(messages))
        rules = stack.enter_context(reported_rules())
        show_problems(found)
        try:
            if result is not None:
                result.parent.mkdir(parents=True, exist_ok=True)
            command: Any = app.get_command(click.Context(app), name)
            code = (
                command.main(
                    args,
                    prog_name=f"bodymotion {name}",
                    standalone_mode=False,
                    obj=mark,
                    default_map=defaults_of(name),
                )
                or 0
            )
        except click.UsageError as error:
            print_message(error.format_message())
            code = 2
        except Exception as error:
            print_message(traceback.format_exc().rstrip(), keep_lines=True)
            print_message(f"not done because of {type(error).__name__}: {error}")
            code = 1
    printed, messages_text = (
        text.getvalue().replace(copied or "\0", str(source)) for text in (out, messages)
    )
    return Answer(code, printed, messages_text, tuple(sorted(rules)))
