"""Run a command for many files: on all cores, with a row of results for each.

Each run is the command itself with one of the files in its command line, so that every
option means what it means for one file.
"""

import contextlib
import io
import json
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from bodymotion.cli.contained import UNTRUSTED, run_limits
from bodymotion.cli.many_plan import Input, Plan, Run
from bodymotion.cli.output import (
    LOST,
    ONE,
    Bar,
    is_strict,
    print_message,
    progress,
    reported_rules,
    results,
    show_problems,
    text_of,
)
from bodymotion.cli.project import defaults_of
from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.text import counted

if TYPE_CHECKING:
    from bodymotion.collection import Clip, Outcome
    from bodymotion.collection.records import Records

UNITS = {"--input-degrees": True, "--input-radians": False}
"""The option of commands by which an episode of LeRobot is read."""


def run_plan(
    plan: Plan,
    *,
    has_json: bool,
    table: Path | None,
    resume: bool,
    sharing: dict[str, Any],
) -> int:
    """Run the command for all files, and return the exit code.

    Parameters
    ----------
    has_json:
        Whether the command has the option `--json`, whose data are kept in the rows.
    table:
        The file for the rows; by default one in the folder of the results.
    resume:
        Leave out what an earlier run has done.
    sharing:
        How the runs share the machine: options of `map_files`.
    """
    from bodymotion.collection.records import Records

    # A missing file is reported before a folder for results is made.
    _check_inputs(plan)
    # Results in a folder always have a table, so that `--resume` works without
    # forethought.
    if table is None and plan.folder is not None:
        plan.folder.mkdir(parents=True, exist_ok=True)
        table = plan.folder / "results.jsonl"
    if resume and table is None:
        raise click.BadParameter(
            "needs --table or a folder for results", param_hint="--resume"
        )
    runs = list(plan.runs())
    if not runs:
        inputs = " ".join(map(str, plan.inputs))
        print_message(f"bodymotion {plan.name}: no file for it in {inputs}")
        return 1
    records = None
    if table is not None:
        records = Records(table, resume=resume)
    return _Session(plan, runs, records, table, has_json, sharing).run()


def _check_inputs(plan: Plan) -> None:
    """Raise FormatError for a missing file."""
    from bodymotion.collection.inputs import is_many
    from bodymotion.formats.registry import find_format

    for path in plan.inputs:
        if isinstance(path, Path) and not (path.exists() or is_many(path)):
            # Raises the error of a missing file.
            find_format(path)


class Task(NamedTuple):
    """A run of a command in a folder.

    Its arguments, the input among them, and the file of its result.
    """

    folder: Path
    name: str
    find_command: Callable[[str], click.Command]
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
    """The row of a run, and what it has printed on stdout.

    `is_shown`: whether its messages are printed although they are in the row.
    """

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
        # Only counts that are not 0 are words.
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
        # Wrong use of all files is wrong use of the command, not a failure of files.
        if self.codes[2] == self.total:
            return 2
        if self.num_failed:
            return 1
        if self.num_lossy and self.strict:
            return LOST
        return 0


@dataclass
class _Recorder:
    """Makes the rows of runs, and writes them into records, if there are any.

    `inputs` are the columns about the input of each run.
    """

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
            # The process of the run was lost, or it could not be started.
            answer = Answer(1, "", _reason(outcome.error, Path(about["file"])))
        # The columns about the input come last but for the exit code: JSON of a command
        # must not replace them.
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


@dataclass(frozen=True)
class _Session:
    """The runs of a plan, from its first task to its exit code."""

    plan: Plan
    runs: Sequence[Run]
    records: "Records | None"
    table: Path | None
    has_json: bool
    sharing: Mapping[str, Any]

    @property
    def prints_json(self) -> bool:
        """Whether the results are printed as JSON."""
        return "--json" in self.plan.options

    def run(self) -> int:
        """Run what no earlier run has done, and return the exit code."""
        hash_of_plan = self.plan.run
        rows = [_about(run, hash_of_plan) for run in self.runs]
        with self.records or contextlib.nullcontext():
            return self._run_rest(rows)

    def _run_rest(self, rows: Sequence[dict[str, Any]]) -> int:
        """Run what is in no record, whose file is open."""
        from bodymotion.collection.records import key

        earlier: dict[str, Any] = {}
        if self.records is not None:
            # A row counts only while its result still exists.
            earlier = self.records.keep(filter(_has_result, rows))
        # Indices of the runs that no earlier run has done.
        left = [k for k, row in enumerate(rows) if key(row) not in earlier]
        ends = _Ends(
            len(self.runs),
            is_strict(click.get_current_context()),
            num_earlier=len(earlier),
            codes=Counter(map(int, earlier.values())),
        )
        recorder = _Recorder([rows[k] for k in left], self.records, ends, self.has_json)
        tasks = [self._task_of(self.runs[k]) for k in left]
        sizes = [row["size"] or 0 for row in rows]
        with (
            results() as out,
            progress(f"{self.plan.name}: {counted(ends.total, 'file')}") as bar,
        ):
            try:
                for recorded in self._map(tasks, max(0, *sizes), recorder):
                    self._show(recorded, ends, out, bar)
            except KeyboardInterrupt:
                self._report_interruption(ends)
                raise
        if self.records is not None:
            _print_rules(recorder.rules)
        self._report_end(ends)
        return ends.exit_code

    def _task_of(self, run: Run) -> Task:
        """Return the task of a run, with JSON for its row."""
        args = self.plan.args(run)
        # Rows have the data of the command, which only `--json` prints.
        if self.has_json and not self.prints_json and self.records is not None:
            args = ["--json", *args]
        plan = self.plan
        return Task(
            Path.cwd(), plan.name, plan.find_command, args, run.source, run.result
        )

    def _map(
        self, tasks: Sequence[Task], size: int, recorder: "_Recorder"
    ) -> Iterator[Recorded]:
        """Run tasks, and yield what is recorded of them in their order.

        `size` is that of the largest file [bytes].
        """
        from bodymotion.collection import Outcome, in_order, map_files

        limits = run_limits(
            self.plan.name,
            untrusted=UNTRUSTED in self.plan.options,
            time_limit=self.sharing.get("time_limit"),
            size=size,
        )
        outcomes = map_files(
            partial(_run_task, self.plan.mark), tasks, limits=limits, **self.sharing
        )
        # A run is recorded as soon as it has ended, and shown in its turn.
        recorded = (
            Outcome(outcome.index, recorder.record(outcome)) for outcome in outcomes
        )
        for outcome in in_order(recorded):
            yield outcome.value

    def _show(
        self, recorded: Recorded, ends: "_Ends", out: TextIO, bar: Bar | None
    ) -> None:
        """Print what a run has printed, and how far all are."""
        paused: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if bar is not None:
            bar(ends.done, ends.total)
            paused = bar.pause()
        # With a table stdout stays empty: rows are in the table.
        stream = out if self.records is None else None
        with paused:
            _print_recorded(recorded, stream, prints_json=self.prints_json)

    def _report_interruption(self, ends: "_Ends") -> None:
        """Print how many files were done before Ctrl-C."""
        advice = ""
        # Parts of one result cannot be continued.
        if self.records is not None and self.plan.mark == ONE:
            advice = "; --resume continues"
        print_message(
            f"bodymotion {self.plan.name}: interrupted after {ends.done} of "
            f"{counted(ends.total, 'file')}{advice}"
        )

    def _report_end(self, ends: "_Ends") -> None:
        """Print how the runs have ended."""
        details = ""
        if self.table and self.plan.mark == ONE:
            details = f" (see {self.table})"
        print_message(f"{counted(ends.total, 'file')} done: {ends.summary}{details}")


def _print_rules(rules: Mapping[str, int]) -> None:
    """Print of how many files which rules are reported in the table of results."""
    if rules:
        # The most frequent first, then by code.
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
    messages = list(row["messages"])
    # The first message names the file, where none does.
    if messages and not any(row["file"] in line for line in messages):
        messages[0] = f"{row['file']}: {messages[0]}"
    for line in messages:
        print_message(line)


def _reason(error: Exception | None, path: Path) -> str:
    """Return the message for a file that was not done."""
    from bodymotion.collection import ProcessEndedError
    from bodymotion.formats.untrusted import describe_end

    if isinstance(error, (ProcessEndedError, MemoryError)):
        fault = describe_end(error, path)
        return text_of(fault.problems, severity=False)
    return f"{error}\n"


def _about(run: Run, hash_of_plan: str) -> dict[str, Any]:
    """Return the columns of a row that name its input and its result."""
    from bodymotion.collection import Clip
    from bodymotion.collection.records import about

    clip = run.source
    # A file and a motion of a collection have the same methods as clips.
    if isinstance(clip, Path):
        clip = Clip(str(clip), str(clip))
    row = about(str(run.source), clip.state, hash_of_plan)
    if run.result is not None:
        row["output"] = str(run.result)
    return row


def _parsed(text: str) -> dict[str, Any]:
    """Return the JSON that a command has printed for one file."""
    try:
        data = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(data, dict):
        return {}
    # `check` prints a list of files.
    files = data.pop("files", None)
    if isinstance(files, list) and files:
        data.update(files[0])
    return data


def _run_task(mark: str, task: Task) -> Answer:
    """Run a command for one file.

    `mark` is the object of its context.
    """
    out = io.StringIO()
    messages = io.StringIO()
    with contextlib.ExitStack() as stack:
        problems: list[Problem] = []
        args = task.args
        copied = ""
        # A motion of a collection is copied to a file, with which the command then
        # runs. In what it prints, the name of the copy becomes that of the motion
        # again.
        if not isinstance(task.source, Path) and not _shows_episode(task, task.source):
            reading, args = _reading_of(task.source, args)
            copied = str(
                stack.enter_context(task.source.file(problems.extend, **reading))
            )
            source = str(task.source)
            args = [copied if word == source else word for word in args]
        # A worker of a cluster has another working folder.
        stack.enter_context(contextlib.chdir(task.folder))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(messages))
        rules = stack.enter_context(reported_rules())
        show_problems(problems)
        code = _call_command(task, args, mark)
    text = out.getvalue()
    reported = messages.getvalue()
    if copied:
        text = text.replace(copied, str(task.source))
        reported = reported.replace(copied, str(task.source))
    return Answer(code, text, reported, tuple(sorted(rules)))


def _shows_episode(task: Task, clip: "Clip") -> bool:
    """Return whether a command shows what an episode is in its data set."""
    return task.name == "info" and clip.is_episode


def _reading_of(clip: "Clip", args: Sequence[str]) -> tuple[dict[str, bool], list[str]]:
    """Return the options by which a motion is copied, and the other arguments.

    The copy of an episode is in radians: its unit is an option of the copying.
    """
    reading = {"untrusted": UNTRUSTED in args}
    if clip.episode is None:
        return reading, list(args)
    for word in args:
        if word in UNITS:
            reading["degrees"] = UNITS[word]
    return reading, [word for word in args if word not in UNITS]


def _call_command(task: Task, args: Sequence[str], mark: str) -> int:
    """Run a command with arguments, and return its exit code.

    Its errors, those of the program included, become messages.
    """
    try:
        if task.result is not None:
            task.result.parent.mkdir(parents=True, exist_ok=True)
        # Not in standalone mode, in which click would end the process.
        code: int | None = task.find_command(task.name).main(
            args,
            prog_name=f"bodymotion {task.name}",
            standalone_mode=False,
            obj=mark,
            default_map=defaults_of(task.name),
        )
        return code or 0
    except click.UsageError as error:
        print_message(error.format_message())
        return 2
    except Exception as error:
        print_message(traceback.format_exc().rstrip(), keep_lines=True)
        print_message(f"not done because of {type(error).__name__}: {error}")
        return 1
