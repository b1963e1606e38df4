"""The output of commands.

Results on stdout, messages on stderr, exit codes; everything safe for a terminal.

A name in a file may hold escape sequences that control the terminal. Control characters
(C0, C1, DEL), those that change the direction of writing, and halves of surrogate pairs
are printed as the escapes that Python writes for them.

A problem is ``path:line:column: RULE ×count message``, the line with a caret below the
column, and a hint. Problems of one rule in one file are one entry: the first in full,
then the locations of the next ones. Work that takes more than a second has a progress
bar on stderr where that is a terminal.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import stat
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeAlias

import click

from bodymotion.cli import PIPE_CLOSED
from bodymotion.diagnostics import Findings, Group, Location, Problem, grouped
from bodymotion.diagnostics.text import UNSAFE, counted
from bodymotion.system.files import files_written, pipe_seen, size_of

if TYPE_CHECKING:
    from rich.progress import Progress

    from bodymotion.model.scripts import RobotScript
    from bodymotion.motion import Motion
    from bodymotion.motion.interpolation import Method

Data: TypeAlias = dict[str, Any]  # What JSON can hold.

ONE = "one"  # The object of the context of a run for one of many files, or PART.
PART = "part"
"""The object of the context of a run whose result is part of one of many files."""
STRICT_LOSSES = "bodymotion.strict_losses"
"""The key of `--strict-losses` in the `meta` of a context of click."""
LOST = 3  # Exit code: something that matters was lost.
MAX_LIST = (
    1000  # A longer list, met in unknown fields of a file, is replaced by its length.
)
MAX_DEPTH = 20
"""Deeper nested values, met in unknown fields of a file, become an ellipsis."""

MAX_FILE = 256 << 20  # [bytes] Lines of larger files are not shown.
# Characters of a line that are shown before and after the location.
BEFORE = 60
AFTER = 40
MAX_FURTHER = 5  # Locations that are listed after the first of one rule.
COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}
DELAY = 1.0  # [s] After this time the progress bar appears.

# What JSON leaves as it is, although a terminal must not get it.
_UNSAFE_IN_JSON = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def one_line(text: object) -> str:
    r"""Return the text on one line.

    Characters that control a terminal become escapes such as ``\x1b``.
    """
    # A name in a file could else move the cursor, or change what was printed before.
    return UNSAFE.sub(
        lambda found: (
            found.group().encode("unicode_escape", "surrogatepass").decode("ascii")
        ),
        str(text),
    )


def print_message(text: object, *, keep_lines: bool = False) -> None:
    """Print a text on stderr, on one line or with its own lines.

    Characters that control a terminal become escapes.
    """
    lines = str(text).split("\n") if keep_lines else [text]
    print("\n".join(map(one_line, lines)), file=sys.stderr, flush=True)


@contextmanager
def results() -> Iterator[TextIO]:
    """Return stdout for results.

    End with PIPE_CLOSED when its reader closes it, as `head` does, and with 1 when it
    cannot be written.
    """
    # A name with letters that the encoding of the terminal lacks must not end the
    # command.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print_message(
                f"bodymotion: the results cannot be written: {error.strerror or error}"
            )
        # What is left in the buffer of stdout fails no more at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(
            PIPE_CLOSED if isinstance(error, BrokenPipeError) else 1
        ) from None


def number(value: float) -> float | None:
    """Return a number, or None where it is not finite.

    JSON has no infinity and no NaN.
    """
    if math.isfinite(value):
        return float(value)
    return None


def plain(value: object, depth: int = 0) -> Any:  # noqa: ANN401
    """Return any value as JSON can hold it.

    Arrays as lists, numbers that are not finite as None, other objects by their type's
    name.
    """
    import numpy as np

    if value is None or isinstance(value, (bool, str)):
        return value
    # Of NumPy, or of Python: bool was handled above, as it is an int, too.
    if isinstance(value, (np.bool_, np.integer, int)):
        if isinstance(value, np.generic):
            return value.item()
        return value
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    if isinstance(value, np.ndarray):
        if value.size > MAX_LIST:
            return f"<{value.size} values>"
        return plain(value.tolist(), depth)
    # An unknown field of a file may be nested without end.
    if depth > MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (Sequence, Set)) and not isinstance(value, (bytes, bytearray)):
        if len(value) > MAX_LIST:
            return f"<{len(value)} values>"
        return [plain(item, depth + 1) for item in value]
    if type(value).__module__ in ("datetime", "pathlib"):
        return str(value)
    return f"<{type(value).__name__}>"


def members(thing: object, *names: str) -> Data:
    """Return attributes of any object as JSON can hold them."""
    return {name: plain(getattr(thing, name)) for name in names}


def about_file(path: Path, kind: str, format_name: str = "") -> Data:
    """Return the first members of every answer about a file."""
    return {
        "file": str(path),
        "kind": kind,
        "format": format_name,
        # None for a pipe that was not read to its end.
        "size": size_of(path),
    }


def problems_of(problems: Sequence[Problem]) -> Data:
    """Return the problems, one by one, and the number of each severity."""
    data: Data = {"num_errors": 0, "num_warnings": 0, "num_notes": 0}
    rows = []
    for problem in problems:
        # One entry may stand for many occurrences.
        data[f"num_{problem.severity}s"] += problem.count
        rows.append(
            {
                **members(problem, "rule", "severity", "message"),
                **members(problem.location, "path", "line", "column", "inside"),
                **members(problem, "hint"),
            }
        )
    return {**data, "problems": rows}


def as_json(value: object) -> str:
    """Return JSON text, safe on a terminal, with a newline at its end."""
    return (
        safe_json(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))
        + "\n"
    )


def safe_json(text: str) -> str:
    """Return JSON text in which characters that control a terminal are escapes."""
    # json.dumps has escaped the control characters below U+0020 itself.
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


_reported: ContextVar[set[str] | None] = ContextVar("reported", default=None)


@contextmanager
def reported_rules() -> Iterator[set[str]]:
    """Return the codes of the rules that `show_problems` prints, without notes."""
    rules: set[str] = set()
    token = _reported.set(rules)
    try:
        yield rules
    finally:
        _reported.reset(token)


def show_problems(problems: Sequence[Problem], every: bool = False) -> None:
    """Print problems on stderr, grouped by rule, or with `every` one by one."""
    rules = _reported.get()
    if rules is not None:
        rules.update(one.rule for one in problems if one.severity != "note")
    if problems:
        print_message(
            text_of(problems, severity=False, every=every).removesuffix("\n"),
            keep_lines=True,
        )


def text_of(
    problems: Sequence[Problem],
    *,
    severity: bool = True,
    color: bool = False,
    every: bool = False,
) -> str:
    """Return the text of problems, grouped by rule, or with `every` one by one.

    Notes, or all, with their severity.
    """
    groups: list[Group] = []
    for part in [[problem] for problem in problems] if every else [problems]:
        groups += grouped(part)
    # By file: the lines that are shown.
    numbers: defaultdict[str, set[int]] = defaultdict(set)
    for group in groups:
        location = group.problems[0].location
        if location.path is not None and location.line is not None:
            numbers[location.path].add(location.line)
    # Each file is read once.
    lines: dict[tuple[str, int], str] = {}
    for path, numbers_of_lines in numbers.items():
        for number_of_line, line in lines_of(path, numbers_of_lines).items():
            lines[path, number_of_line] = line
    text = ""
    for group in groups:
        text += "".join(f"{line}\n" for line in _entry(group, lines, severity, color))
    return text


def _entry(
    group: Group, lines: dict[tuple[str, int], str], severity: bool, color: bool
) -> list[str]:
    """Return the lines about a group of problems: the first, and further locations."""
    problem = group.problems[0]
    location = problem.location
    head = str(location)
    message = problem.message
    # The path in the document is printed once: as the location, or behind the message.
    if location.inside and location.inside != head:
        message += f" ({location.inside})"
    if head:
        head = one_line(f"{head}: ")
    kind = ""
    if severity or problem.severity == "note":
        kind = f"{problem.severity} "
    if color:
        head = click.style(head, bold=True)
        kind = click.style(kind, fg=COLORS[problem.severity], bold=True)
    entry = [f"{head}{kind}{group.title} {one_line(message)}"]
    line = lines.get((location.path or "", location.line or 0))
    if line is not None:
        entry += excerpt_of(location, line)
    entry += _further(group)
    if problem.hint:
        entry.append(f"  hint: {one_line(problem.hint)}")
    return entry


def _further(group: Group) -> list[str]:
    """Return lines with the next locations of a rule.

    With the next messages where the file has one location for all.
    """
    if group.count == 1 or "missing" in group.problems[0].data:
        return []
    first, *others = group.locations(1 + MAX_FURTHER)
    if others:
        also = [_short(location, first.path) for location in others]
        left = group.count - 1 - len(also)
        return [
            one_line(
                f"  also at {', '.join(also)}{f' and {left} more' if left > 0 else ''}"
            )
        ]
    # All have one location: their messages distinguish them, each once.
    _, *lines = dict.fromkeys(
        one_line(f"  also: {problem.message}") for problem in group.problems
    )
    left = group.count - 1 - len(lines[:MAX_FURTHER])
    return [*lines[:MAX_FURTHER], *([f"  and {left} more"] if left > 0 else [])]


def _short(location: Location, path: str | None) -> str:
    """Return a location that is listed after another one in a file."""
    if location.path != path:
        # A file beside the first one is named relative to its folder.
        beside = (
            path and location.path and os.path.relpath(location.path, Path(path).parent)
        )
        return str(
            location
            if not beside or beside.startswith("..")
            else replace(location, path=beside)
        )
    return (
        ":".join(str(n) for n in (location.line, location.column) if n is not None)
        or location.inside
        or "the file"
    )


def excerpt_of(location: Location, text: str) -> list[str]:
    """Return the line of a location near its column, and a caret below it."""
    from rich.cells import cell_len

    number = str(location.line)
    if location.column is None:
        column = None
    else:
        column = min(location.column - 1, len(text))
    # Lines may have megabytes, as in a .seq without line ends: only the part around the
    # column is shown.
    start = max(0, (column or 0) - BEFORE)
    end = max(start, column or 0) + AFTER
    before = "…" if start else ""
    lines = [
        f"  {number} | "
        f"{before}{one_line(text[start:end])}{'…' if end < len(text) else ''}"
    ]
    if column is not None and column >= 0:
        lines.append(
            # In cells of the terminal: a Japanese letter is two cells wide.
            f"  {' ' * len(number)} | "
            f"{' ' * cell_len(before + one_line(text[start:column]))}^"
        )
    return lines


def lines_of(name: str, numbers: Set[int]) -> dict[int, str]:
    """Return the lines of a file with these numbers, counted from 1.

    Those that cannot be read are left out.
    """
    try:
        path = Path(name)
        about = path.stat()
        # A pipe cannot be read again; what came out of it may have been kept.
        content = pipe_seen(path)
        if content is None and (
            not stat.S_ISREG(about.st_mode) or about.st_size > MAX_FILE
        ):
            return {}
        with path.open("rb") if content is None else io.BytesIO(content) as file:
            return {
                # A tab becomes one blank, so that the caret stands below its column.
                number: _decoded(raw.rstrip(b"\r\n")).replace("\t", " ")
                for number, raw in enumerate(islice(file, max(numbers, default=0)), 1)
                if number in numbers
            }
    except (OSError, ValueError):
        return {}


def _decoded(raw: bytes) -> str:
    # Comments may be Japanese, as UTF-8 or Shift-JIS: see docs/conventions.md.
    for encoding in ("utf-8", "cp932"):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        # cp932 reads accented letters of Latin-1 as first halves of characters in the
        # private use area.
        if not any("\ue000" <= letter <= "\uf8ff" for letter in text):
            return text
    return raw.decode("latin-1")


def finish(
    before: Motion | RobotScript,
    after: Motion | RobotScript,
    path: Path,
) -> NoReturn:
    """Write the motion, show new problems, and end with the exit code.

    The problems are those of the change and of the save.
    """
    from bodymotion.formats.registry import save

    # By identity: a change may repeat a problem that is equal to one of the file.
    known = set(map(id, before.problems))
    found = tuple(problem for problem in after.problems if id(problem) not in known)
    with files_written() as files:
        losses = save(after, path).problems
    conclude(path, (*found, *losses), files=files)


def conclude(
    path: Path,
    problems: Sequence[Problem],
    every: bool = False,
    files: Sequence[Path] = (),
) -> NoReturn:
    """Show problems and the names of the written files, and end with the exit code.

    `files` are all files that were written; those beside `path` are named, too.
    """
    show_problems(problems, every)
    written(path, with_others(path, files))
    raise click.exceptions.Exit(exit_code(problems))


def saved(thing: Any, path: Path) -> int:  # noqa: ANN401
    """Write a file, show its name and what it does not hold; return the exit code."""
    from bodymotion.formats.registry import save

    with files_written() as files:
        losses = save(thing, path).problems
    show_problems(losses)
    written(path, with_others(path, files))
    return exit_code(losses)


def print_method(method: Method, rate: float | None) -> None:
    """Print how values between frames are made at a frame rate [Hz].

    Without one, at that of the file.
    """
    from bodymotion.motion.interpolation import HOLDING

    if rate is None:
        frames = "frames at the rate of the file"
    else:
        frames = f"frames at {rate:g} Hz"
    how = f"by {method} interpolation"
    if method in HOLDING:
        how = f"each value is held until the next ({method}), so that frames can repeat"
    print_message(f"{frames}: {how}")


def with_others(path: Path, files: Sequence[Path]) -> str:
    """Return that a file was written, with what was written beside it.

    Files beside it are named, those in other folders are counted:
    `written, with 12 files in robot_meshes/`.
    """
    # Such as the meshes of a model.
    beside = [one.name for one in files if one.parent == path.parent and one != path]
    folders = Counter(one.parent for one in files if one.parent != path.parent)
    if beside:
        parts = [", ".join(dict.fromkeys(beside))]
    else:
        parts = []
    for folder, count in folders.items():
        name = os.path.relpath(folder, path.parent)
        parts.append(f"{counted(count, 'file')} in {name}/")
    if parts:
        return f"written, with {' and '.join(parts)}"
    return ""


def written(path: Path, what: str = "") -> None:
    """Print the name of a file that was written."""
    context = click.get_current_context(silent=True)
    if context is None or context.obj != PART:
        print_message(f"{path}: {what or 'written'}")


def exit_code(problems: Sequence[Problem]) -> int:
    """Return 0, or with `--strict-losses` LOST if something that matters was lost.

    A run for one of many files returns LOST without the option, too: the command
    counts such files.
    """
    context = click.get_current_context(silent=True)
    if context is None or not lost_what_matters(problems):
        return 0
    # The command for many files decides itself what to make of the losses of a run.
    reports = context.obj in (ONE, PART) or is_strict(context)
    return LOST if reports else 0


def is_strict(context: click.Context) -> bool:
    """Return whether a command was used with `--strict-losses`."""
    return bool(context.meta.get(STRICT_LOSSES, False))


def lost_what_matters(problems: Sequence[Problem]) -> bool:
    """Return whether there is a loss that matters to the user of the file.

    A note does not.
    """
    losses = Findings(tuple(problems)).losses
    return any(problem.severity != "note" for problem in losses)


class Bar:
    """A bar that is called with the work done and the total.

    Until then it is indeterminate.
    """

    def __init__(self, bar: Progress, what: str) -> None:
        self._bar = bar
        self._task = bar.add_task(one_line(what), total=None)
        self._lock = threading.Lock()
        # Most commands end sooner: a bar that flashes up is noise.
        self._timer = threading.Timer(DELAY, self._start)
        self._timer.daemon = True
        self._timer.start()

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` steps are done."""
        self._bar.update(self._task, completed=done, total=total)

    def _start(self) -> None:
        with self._lock:
            self._bar.start()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Remove the bar from the terminal while something else is written there."""
        # The timer must not start the bar meanwhile.
        with self._lock:
            shown = self._bar.live.is_started
            if shown:
                self._bar.stop()
            try:
                yield
                sys.stdout.flush()
            finally:
                if shown:
                    self._bar.start()

    def end(self) -> None:
        """Remove the bar for good."""
        self._timer.cancel()
        self._timer.join()
        self._bar.stop()


@contextmanager
def progress(what: str) -> Iterator[Bar | None]:
    """Return a progress bar; None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    # Texts are not markup: file names may have brackets.
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeRemainingColumn(),
    )
    bar = Bar(Progress(*columns, console=Console(stderr=True), transient=True), what)
    try:
        yield bar
    finally:
        bar.end()
