"""`bodymotion check FILE…`: check models and motions, and fix problems.

Each file is checked by itself, in several processes where there are many.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO

import click

from bodymotion.cli import failures
from bodymotion.cli.check_output import Checked, count_severities
from bodymotion.cli.options import (
    AsJson,
    Bpm,
    ByPosition,
    ReaderOptions,
    Workers,
    check_reading,
    found_by,
    is_project_default,
    load_body,
    names,
    reads_files,
)
from bodymotion.cli.output import (
    Bar,
    one_line,
    print_message,
    progress,
    results,
    text_of,
)
from bodymotion.cli.output import as_json as json_text
from bodymotion.diagnostics import FormatError, Location
from bodymotion.diagnostics.text import counted, with_article
from bodymotion.extensions import kinds

if TYPE_CHECKING:
    from bodymotion.checks.fixing import Fixes
    from bodymotion.model.body import Body

MAX_NAMED_LINKS = 20
"""Symbolic links that are not followed and are named; the others are counted."""
MAX_DIFF_LINES = 300
"""Lines of a diff that are shown on a terminal."""
MIN_BYTES = 4 << 20
MIN_FILES = 40
"""With fewer bytes and fewer files, processes take longer to start than they save."""


@reads_files
def check(
    reading: ReaderOptions,
    files: list[Path],
    body: Path | None = None,
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    strict: bool = False,
    as_json: AsJson = False,
    as_sarif: bool = False,
    by_position: ByPosition = False,
    bpm: Bpm = None,
    fix: bool = False,
    diff: bool = False,
    workers: Workers = None,
) -> None:
    """Check models, motions and {scripts}.

    Reports where a problem is, how severe it is, and what to do. In a folder, all files
    of their formats are checked; links that lead out of it are not followed. With
    --body, motions are checked against the joints of the model and their limits. --fix
    shows what it changes as a diff; all else in a file stays byte for byte.

    Exit code 0: no errors (with --fix: none left; with --diff: nothing to change); 1:
    errors, or with --strict warnings, or nothing to check; 2: wrong use.

    \b
    Examples:
      bodymotion check models/ walk.seq
      bodymotion check --body robot.wrl walk.seq
      bodymotion check --strict --ignore BODY136,WRL116 models/
      bodymotion check --sarif models/ > check.sarif
      bodymotion check --diff walk.seq
      bodymotion check --fix --select SEQ214 motions/

    Options:
      files FILE…: Models, motions, {scripts}, folders with them, patterns
        ('walks/**/*.seq') or lists (@list.txt).
      --body -b MODEL: The model that the motions are for.
      --select RULES: Report these rules only: codes or their beginnings,
        comma-separated.
      --ignore RULES: Do not report these rules.
      --strict: Exit with 1 for warnings, too.
      --fix: Fix in the files the problems with one right answer, and report the others.
      --diff: Print a diff of what --fix would change; change nothing.

    Output:
      as_sarif --sarif: Print SARIF 2.1.0, for editors and code hosts.
    """  # noqa: D301
    printer = _Printer(as_json=as_json, as_sarif=as_sarif, diff=diff)
    options: dict[str, Any] = {
        "model": body,
        **_chosen_rules(select, ignore),
        "reading": reading,
        "by_position": by_position,
        "bpm": bpm,
    }
    # The problems of --body come first, those of the files in their order.
    answers: list[Checked] = []
    with failures("check"):
        robot = None
        try:
            if body is not None:
                robot = load_body(body, reading)
        except FormatError as error:
            # The motions are checked without it.
            answers.append(Checked(body or Path(), error.problems))
            options["model"] = None
        paths = _find_files(files)
        check_reading(reading, [*paths, *([] if body is None else [body])])
        # A default of the project has no effect on some files by its nature.
        if robot is not None and not is_project_default("body"):
            _report_unused_body(paths)
        # The problems of a model that is among the files are printed in its turn.
        if body in paths:
            answers.clear()
        fixer = _Fixer(options, robot, write=not diff)
        checked = check_files(
            paths, robot, workers, is_folder=paths != files, **options
        )
        with (
            results() as out,
            progress(f"checking {counted(len(paths), 'file')}") as bar,
        ):
            for answer in answers:
                printer.print(answer, out)
            for number, answer in enumerate(checked, 1):
                with _paused(bar, number, len(paths)):
                    printer.print_trace(answer)
                    if fix or diff:
                        stream = out if printer.is_text else sys.stderr
                        answer = fixer.fix(answer, stream)
                    answers.append(answer)
                    printer.print(answer, out)
            # The bar must not be on the terminal while the summary is written.
            with _paused(bar, len(paths), len(paths)):
                out.write(printer.summary(answers))
    if fix or diff:
        print_message(fixer.summary)
    elif printer.is_text:
        _report_fixable(answers, reading)
        if body is None:
            _advise_body(paths)
    raise click.exceptions.Exit(_exit_code(answers, fixer, strict))


def _chosen_rules(
    select: list[str] | None, ignore: list[str] | None
) -> dict[str, tuple[str, ...]]:
    """Return the options of `check` for rules; an unknown rule is wrong use."""
    from bodymotion.diagnostics.catalogue import selected

    selected_codes = _codes(select)
    ignored_codes = _codes(ignore)
    if selected_codes or ignored_codes:
        # Without problems `selected` only checks the names.
        found_by("--select, --ignore", selected, (), selected_codes, ignored_codes)
    return {"select": selected_codes, "ignore": ignored_codes}


def _exit_code(answers: Sequence[Checked], fixer: _Fixer, strict: bool) -> int:
    """Return 1 for problems; for a diff, where there is something to change."""
    if not fixer.write:
        return 1 if fixer.files else 0
    count = count_severities(answers)
    return 1 if count["error"] or (strict and count["warning"]) else 0


def _codes(texts: list[str] | None) -> tuple[str, ...]:
    """Return the codes of rules in the texts of an option."""
    codes: list[str] = []
    for text in texts or ():
        codes += names(text.upper())
    return tuple(codes)


def _find_files(files: Sequence[Path]) -> list[Path]:
    """Return the files to be checked; Exit where there is none.

    Report links that lead out of a folder.
    """
    from bodymotion.collection import find_files

    links: list[str] = []

    def report(link: Path, folder: Path | None) -> None:
        # Without a folder it is a file of no known format: not checked, and not named.
        if folder is not None:
            links.append(f"{link} is a link that leads out of {folder}: not checked")

    paths = list(find_files(files, report))
    for text in links[:MAX_NAMED_LINKS]:
        print_message(f"bodymotion check: {text}")
    if len(links) > MAX_NAMED_LINKS:
        number = len(links) - MAX_NAMED_LINKS
        print_message(f"bodymotion check: and {number} more links that lead out")
    if not paths:
        folders = "the folder" if len(files) == 1 else "the folders"
        print_message(
            f"bodymotion check: no model or motion in {folders} "
            f"{' '.join(map(str, files))}"
        )
        raise click.exceptions.Exit(1)
    return paths


def _paused(bar: Bar | None, done: int, total: int) -> AbstractContextManager[None]:
    """Move the bar on, and remove it while something else is printed."""
    if bar is None:
        return nullcontext()
    bar(done, total)
    return bar.pause()


class _Printer:
    """Prints the problems of files, one file after another, and a summary."""

    def __init__(self, *, as_json: bool, as_sarif: bool, diff: bool) -> None:
        if as_json and as_sarif:
            raise click.BadParameter(
                "choose JSON or SARIF, not both", param_hint="--json, --sarif"
            )
        if diff and (as_json or as_sarif):
            raise click.BadParameter(
                "a diff cannot be printed as JSON or SARIF", param_hint="--diff"
            )
        self.as_json = as_json
        self.is_text = not (as_json or as_sarif)
        self.shows_diff = diff
        # Colours are escapes, which files and pipes must not have.
        self._color = sys.stdout.isatty()
        self._traces: set[str] = set()

    def print_trace(self, answer: Checked) -> None:
        """Print the traceback of a bug, once."""
        # One bug may appear in each of many files.
        if answer.trace and answer.trace not in self._traces:
            self._traces.add(answer.trace)
            print_message(answer.trace, keep_lines=True)

    def print(self, answer: Checked, out: TextIO) -> None:
        """Print the problems of a file, if they are wanted as text."""
        if self.is_text and not self.shows_diff:
            out.write(text_of(answer.problems, color=self._color))

    def summary(self, answers: Sequence[Checked]) -> str:
        """Return what is printed at the end."""
        from bodymotion.cli.check_output import json_of, sarif, summary_of

        if self.shows_diff:
            return ""
        if self.is_text:
            return summary_of(answers)
        if self.as_json:
            return json_text(json_of(answers))
        return json_text(sarif(answers))


def _report_unused_body(paths: list[Path]) -> None:
    """Report files on which --body has no effect.

    Scripts, which are for a robot, and models.
    """
    paths_of_kinds = _kinds(paths)
    reasons = {
        kind.name: f"{with_article(kind.noun)} is for {with_article(kind.robot)}"
        for kind in kinds()
        if kind.has_tempo
    }
    # A model beside a motion may be checked for itself.
    if "Motion" not in paths_of_kinds:
        reasons["Body"] = "it is a model itself"
    for kind, reason in reasons.items():
        if kind in paths_of_kinds:
            first, *more = paths_of_kinds[kind]
            others = f" and {len(more)} more" if more else ""
            print_message(
                f"bodymotion check: --body has no effect on {first}{others}: {reason}"
            )


def _advise_body(paths: list[Path]) -> None:
    """Advise --body where motions and one model were checked without each other."""
    paths_of_kinds = _kinds(paths)
    motions = paths_of_kinds.get("Motion", [])
    models = paths_of_kinds.get("Body", [])
    # With several models it is unknown which one is meant.
    if motions and len(models) == 1:
        were = f"{len(motions)} motions were"
        if len(motions) == 1:
            were = f"{motions[0].name} was"
        print_message(
            f"{were} checked without the model; use --body {models[0]} to check "
            "against its joints"
        )


def _kinds(paths: list[Path]) -> dict[str, list[Path]]:
    """Sort files by what they hold.

    Files of unknown formats are left out, and pipes, which can be read only once.
    """
    from bodymotion.formats.registry import find_format

    paths_of_kinds: dict[str, list[Path]] = {}
    for path in (path for path in paths if path.is_file()):
        with suppress(FormatError):
            paths_of_kinds.setdefault(find_format(path).holds, []).append(path)
    return paths_of_kinds


def _report_fixable(answers: Sequence[Checked], reading: Mapping[str, Any]) -> None:
    """Print which problems --fix can fix."""
    if not any(answer.problems for answer in answers):
        return
    from bodymotion.checks.fixing import fixable

    rules: set[str] = set()
    for answer in answers:
        # `fixable` goes by the codes of rules. Whether there is a fix is known from the
        # file.
        codes = fixable(answer.problems, answer.path)
        fixes = find_apart(answer.path, codes, reading) if codes else None
        if fixes is not None:
            rules.update(fixes.rules)
    if rules:
        print_message(
            f"--fix can fix {', '.join(sorted(rules))}; --diff shows the changes first"
        )


@dataclass
class _Fixer:
    """Fix one file after another.

    `files` were changed, or would be, at `locations`.
    """

    options: dict[str, Any]
    body: Body | None
    write: bool
    files: int = 0
    locations: int = 0

    def fix(self, answer: Checked, out: TextIO) -> Checked:
        """Show the changes of a file on `out`, and write them where that is wanted.

        Return the result of a check after that.
        """
        from bodymotion.checks.fixing import fixable, write_fixes

        codes = fixable(answer.problems, answer.path)
        if not codes:
            return answer
        try:
            fixes = find_apart(answer.path, codes, self.options["reading"])
            if fixes is None:
                return answer
            # The diff is shown before the file changes, so that a closed pipe changes
            # nothing.
            show_diff(fixes, out)
            if self.write:
                write_fixes(fixes)
        except BrokenPipeError:
            raise
        except OSError as error:
            print_message(
                f"bodymotion check: {answer.path}: {error.strerror or error}; not fixed"
            )
            return answer
        self.files += 1
        self.locations += len(fixes.edits)
        if self.write:
            # The problems that are left, as the file is now.
            return check_file(answer.path, self.body, **self.options)
        return answer

    @property
    def summary(self) -> str:
        """A line with the number of changes."""
        if not self.files:
            return "nothing to fix automatically"
        files = counted(self.files, "file")
        verb = "fixed" if self.write else "would be fixed"
        return f"{counted(self.locations, 'location')} in {files} {verb}"


def find_apart(
    path: Path, codes: Iterable[str], reading: Mapping[str, Any]
) -> Fixes | None:
    """Return the fixes of a file.

    Of a file of others, found in a child process.
    """
    from bodymotion.checks.fixing import find_fixes
    from bodymotion.formats.untrusted import call_within_limits, requested_limits

    limits = requested_limits(reading)
    if limits is None:
        return find_fixes(path, codes)
    return call_within_limits(find_fixes, path, codes, files=[path], limits=limits)


def show_diff(fixes: Fixes, out: TextIO) -> None:
    """Write a diff: as it is to a file or pipe.

    On a terminal its beginning, with escapes for control characters.
    """
    lines = fixes.diff()
    # `patch` needs every byte; only a terminal must be protected from control
    # characters.
    if not out.isatty():
        out.writelines(lines)
        return
    for line in islice(lines, MAX_DIFF_LINES):
        # A line at the end of a file without a line end is two.
        for text in line.split("\n")[:-1]:
            out.write("\t".join(map(one_line, text.split("\t"))) + "\n")
    if next(lines, None) is not None:
        out.write(
            f"… {counted(len(fixes.edits), 'location')} in all; write to a pipe or "
            "file for the whole diff\n"
        )


def check_files(
    files: Sequence[Path],
    body: Body | None = None,
    workers: int | None = None,
    *,
    is_folder: bool = True,
    **options: Any,  # noqa: ANN401
) -> Iterator[Checked]:
    """Check files in `workers` processes, by default on all cores where there are many.

    Return the answers in the order of the files.

    The options are those of `check_file`; `body` is that of `model`, already read. One
    file that is no file of a folder (`is_folder`) is checked in this process if it is
    trusted.
    """
    from bodymotion.checks import rules
    from bodymotion.collection import ProcessEndedError, in_order, map_files
    from bodymotion.formats.untrusted import choose_limits, describe_end
    from bodymotion.system.files import size_of

    reading = options.get("reading", {})
    untrusted = bool(reading.get("untrusted"))
    time_limit = reading.get("time_limit")
    # A child process would only cost time.
    if len(files) == 1 and not is_folder and not untrusted and time_limit is None:
        yield check_file(files[0], body, **options)
        return
    # [bytes] 0 for what has no size, such as a pipe.
    sizes = [size_of(path) or 0 for path in files]
    if workers is None and len(files) < MIN_FILES and sum(sizes) < MIN_BYTES:
        workers = 1
    # Each file of others may take what the largest one may.
    limits = None
    if untrusted:
        limits = choose_limits(time_limit, untrusted=True).for_size(max(sizes))
    function = partial(check_file, **options)
    outcomes = map_files(
        function, files, workers=workers, time_limit=time_limit, limits=limits
    )
    for outcome in in_order(outcomes):
        path = files[outcome.index]
        if outcome.value is not None:
            yield outcome.value
        elif isinstance(outcome.error, (ProcessEndedError, MemoryError)):
            fault = describe_end(outcome.error, path)
            yield Checked(path, fault.problems)
        else:
            message = f"not checked: {outcome.error}"
            problem = rules.INTERNAL_ERROR.problem(message, Location(str(path)))
            yield Checked(path, (problem,))


def check_file(
    path: Path,
    body: Body | None = None,
    *,
    model: Path | None = None,
    reading: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,  # noqa: ANN401
) -> Checked:
    """Check a file with options of readers and of `check`.

    Every exception becomes a problem. Without `body`, `model` is read.
    """
    from bodymotion.checks import check, rules
    from bodymotion.formats.registry import find_format

    if body is None and model is not None:
        body = load_body(model, dict(reading))
    # Options that the format does not have are left out: the files may have several
    # formats.
    if reading:
        with suppress(FormatError):
            options |= find_format(path).options_of(reading)
    location = Location(str(path))
    try:
        report = check(path, body=body, **options)
    except MemoryError:
        problem = rules.MEMORY.problem(
            "not enough memory to read the file", location, ""
        )
        return Checked(path, (problem,))
    # A bug in one reader must not keep the other files from being checked.
    except Exception as error:
        import traceback

        message = f"not checked because of {type(error).__name__}: {error}"
        problem = rules.INTERNAL_ERROR.problem(message, location)
        return Checked(path, (problem,), traceback.format_exc())
    return Checked(path, report.problems)
