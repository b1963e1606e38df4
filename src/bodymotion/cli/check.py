"""`bodymotion check FILE…`: check models and motions, and fix problems with one right answer.

Each file is checked by itself, in several processes where there are many.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import quote

import click

from bodymotion import __version__
from bodymotion.cli import failures
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
from bodymotion.cli.output import as_json as json_text
from bodymotion.cli.output import (
    one_line,
    print_message,
    problems_of,
    progress,
    results,
    text_of,
)
from bodymotion.diagnostics import FormatError, Location, Problem
from bodymotion.diagnostics.text import counted, with_article
from bodymotion.extensions import kinds

if TYPE_CHECKING:
    from bodymotion.checks.fixing import Fixes
    from bodymotion.model.body import Body

MAX_NAMED_LINKS = (
    20  # Symbolic links that are not followed and are named; the others are counted.
)
MAX_DIFF_LINES = 300  # Lines of a diff that are shown on a terminal.
MIN_BYTES = 4 << 20
MIN_FILES = 40  # With fewer bytes and fewer files, the start of processes takes longer than it saves.
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


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
    from bodymotion.collection import find_files
    from bodymotion.diagnostics.catalogue import selected

    if as_json and as_sarif:
        raise click.BadParameter(
            "choose JSON or SARIF, not both", param_hint="--json, --sarif"
        )
    if diff and (as_json or as_sarif):
        raise click.BadParameter(
            "a diff cannot be printed as JSON or SARIF", param_hint="--diff"
        )
    chosen = _codes(select)
    left_out = _codes(ignore)
    if chosen or left_out:
        found_by("--select, --ignore", selected, (), chosen, left_out)
    options: dict[str, Any] = {
        "model": body,
        "select": chosen,
        "ignore": left_out,
        "reading": reading,
    }
    options |= {"by_position": by_position, "bpm": bpm}
    found: list[tuple[Path, tuple[Problem, ...]]] = []
    traces: set[str] = set()
    with failures("check"):
        robot = None
        of_body = tuple[Problem, ...]()
        try:
            if body is None:
                robot = None
            else:
                robot = load_body(body, reading)
        except FormatError as error:
            # The motions are checked without it.
            of_body, options["model"] = error.problems, None
        links: list[tuple[Path, Path]] = []
        paths = list(
            find_files(
                files,
                lambda link, folder: links.append((link, folder)) if folder else None,
            )
        )
        for link, folder in links[:MAX_NAMED_LINKS]:
            print_message(
                f"bodymotion check: {link} is a link that leads out of {folder}: not "
                "checked"
            )
        if len(links) > MAX_NAMED_LINKS:
            print_message(
                f"bodymotion check: and {len(links) - MAX_NAMED_LINKS} more links "
                "that lead out"
            )
        check_reading(reading, [*paths, *([] if body is None else [body])])
        if not paths:
            if len(files) == 1:
                folders = "the folder"
            else:
                folders = "the folders"
            print_message(
                f"bodymotion check: no model or motion in {folders} "
                f"{' '.join(map(str, files))}"
            )
            raise click.exceptions.Exit(1)
        if robot is not None and not is_project_default("body"):
            _report_unused_body(paths)
        text = not (as_json or as_sarif)
        fixer = _Fixer(options, robot, write=not diff)
        color = sys.stdout.isatty()
        with (
            results() as out,
            progress(f"checking {counted(len(paths), 'file')}") as bar,
        ):
            if of_body and body is not None and body not in paths:
                found.append((body, of_body))
                out.write(text_of(of_body, color=color) if text and not diff else "")
            for number, answer in enumerate(
                check_files(paths, robot, workers, is_folder=paths != files, **options)
            ):
                if bar is not None:
                    bar(number + 1, len(paths))
                with bar.pause() if bar is not None else nullcontext():
                    if answer.trace and answer.trace not in traces:
                        traces.add(answer.trace)
                        print_message(answer.trace, keep_lines=True)
                    if fix or diff:
                        answer = fixer.fix(answer, out if text else sys.stderr)
                    found.append((answer.path, answer.problems))
                    if text and not diff:
                        out.write(text_of(answer.problems, color=color))
            if not diff:
                with bar.pause() if bar is not None else nullcontext():
                    out.write(
                        _summary(found)
                        if text
                        else _json(found)
                        if as_json
                        else json_text(sarif(found))
                    )
    if fix or diff:
        print_message(fixer.summary)
    elif text:
        _report_fixable(found, reading)
        if body is None:
            _advise_body(paths)
    if diff:
        raise click.exceptions.Exit(1 if fixer.files else 0)
    count = _count(found)
    raise click.exceptions.Exit(
        1 if count["error"] or (strict and count["warning"]) else 0
    )


def _codes(texts: list[str] | None) -> tuple[str, ...]:
    return tuple(code.upper() for text in texts or () for code in names(text))


def _count(found: Iterable[tuple[Path, Sequence[Problem]]]) -> Counter[str]:
    """Return the number of problems of each severity."""
    count: Counter[str] = Counter(error=0, warning=0, note=0)
    for _, problems in found:
        for problem in problems:
            count[problem.severity] += problem.count
    return count


def _summary(found: Sequence[tuple[Path, tuple[Problem, ...]]]) -> str:
    """Return a line with the number of files and problems."""
    numbers = ", ".join(counted(n, kind) for kind, n in _count(found).items() if n)
    faulty = sum(any(p.severity == "error" for p in problems) for _, problems in found)
    if faulty and len(found) > 1:
        with_errors = f" (errors in {counted(faulty, 'file')})"
    else:
        with_errors = ""
    return f"{counted(len(found), 'file')} checked: {numbers or 'no problems'}{with_errors}\n"


def _json(found: Sequence[tuple[Path, tuple[Problem, ...]]]) -> str:
    from bodymotion.diagnostics.catalogue import retired

    files = [{"file": str(path), **problems_of(problems)} for path, problems in found]
    answer = {
        "num_files": len(found),
        **{f"num_{kind}s": n for kind, n in _count(found).items()},
        "files": files,
    }
    codes = {problem.rule for _, problems in found for problem in problems}
    if codes:
        answer["aliases"] = {old: new for old, new in retired().items() if new in codes}
    return json_text(answer)


def _report_unused_body(paths: list[Path]) -> None:
    """Report that --body has no effect on scripts, which are for a robot, and on models."""
    paths_of_kinds = _kinds(paths)
    reasons = {
        kind.name: f"{with_article(kind.noun)} is for {with_article(kind.robot)}"
        for kind in kinds()
        if kind.has_tempo
    }
    # A model beside a motion may be checked for itself.
    if "Motion" not in paths_of_kinds:
        reasons["Body"] = "it is a model itself"
    for kind, why in reasons.items():
        if kind in paths_of_kinds:
            first, *more = paths_of_kinds[kind]
            if more:
                others = f" and {len(more)} more"
            else:
                others = ""
            print_message(
                f"bodymotion check: --body has no effect on {first}{others}: {why}"
            )


def _advise_body(paths: list[Path]) -> None:
    """Advise --body where motions and one model were checked without each other."""
    paths_of_kinds = _kinds(paths)
    motions = paths_of_kinds.get("Motion", [])
    models = paths_of_kinds.get("Body", [])
    if motions and len(models) == 1:
        if len(motions) == 1:
            what = f"{motions[0].name} was"
        else:
            what = f"{len(motions)} motions were"
        print_message(
            f"{what} checked without the model; use --body {models[0]} to check "
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


def _report_fixable(
    found: list[tuple[Path, tuple[Problem, ...]]], reading: Mapping[str, Any]
) -> None:
    if any(problems for _, problems in found):
        from bodymotion.checks.fixing import fixable

        fixes = [
            find_apart(path, codes, reading)
            for path, problems in found
            if (codes := fixable(problems, path))
        ]
        named = sorted({code for one in fixes if one is not None for code in one.rules})
        if named:
            print_message(
                f"--fix can fix {', '.join(named)}; --diff shows the changes first"
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
        """Show the changes of a file on `out`, write them where that is wanted, and return the result of a check after that."""
        from bodymotion.checks.fixing import fixable, write_fixes

        codes = fixable(answer.problems, answer.path)
        if not codes:
            return answer
        try:
            found = find_apart(answer.path, codes, self.options["reading"])
            if found is None:
                return answer
            show_diff(found, out)
            if self.write:
                write_fixes(found)
        except BrokenPipeError:
            raise
        except OSError as error:
            print_message(
                f"bodymotion check: {answer.path}: {error.strerror or error}; not fixed"
            )
            return answer
        self.files += 1
        self.locations += len(found.edits)
        if self.write:
            return check_file(answer.path, self.body, **self.options)
        return answer

    @property
    def summary(self) -> str:
        """A line with the number of changes."""
        if not self.files:
            return "nothing to fix automatically"
        what = f"{counted(self.locations, 'location')} in {counted(self.files, 'file')}"
        if self.write:
            return f"{what} fixed"
        return f"{what} would be fixed"


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


def show_diff(found: Fixes, out: TextIO) -> None:
    """Write a diff: as it is to a file or pipe.

    On a terminal its beginning, with escapes for control characters.
    """
    lines = found.diff()
    if not out.isatty():
        out.writelines(lines)
        return
    for line in islice(lines, MAX_DIFF_LINES):
        # A line at the end of a file without a line end is two.
        for text in line.split("\n")[:-1]:
            out.write("\t".join(map(one_line, text.split("\t"))) + "\n")
    if next(lines, None) is not None:
        out.write(
            f"… {counted(len(found.edits), 'location')} in all; write to a pipe or "
            "file for the whole diff\n"
        )


@dataclass(frozen=True)
class Checked:
    """The problems of a file, and the traceback of a bug of bodymotion."""

    path: Path
    problems: tuple[Problem, ...]
    trace: str = ""


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
    if len(files) == 1 and not is_folder and not untrusted and time_limit is None:
        yield check_file(files[0], body, **options)
        return
    sizes = [size_of(path) or 0 for path in files]
    if workers is None and len(files) < MIN_FILES and sum(sizes) < MIN_BYTES:
        workers = 1
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
    if reading:
        with suppress(FormatError):
            options |= find_format(path).options_of(reading)
    try:
        report = check(path, body=body, **options)
    except MemoryError:
        return Checked(
            path,
            (
                rules.MEMORY.problem(
                    "not enough memory to read the file", Location(str(path)), ""
                ),
            ),
        )
    except Exception as error:
        message = f"not checked because of {type(error).__name__}: {error}"
        import traceback

        return Checked(
            path,
            (rules.INTERNAL_ERROR.problem(message, Location(str(path))),),
            traceback.format_exc(),
        )
    return Checked(path, report.problems)


def sarif(found: Sequence[tuple[Path, tuple[Problem, ...]]]) -> dict[str, Any]:
    """Return a log of OASIS SARIF 2.1.0 with one run.

    A descriptor of each rule that is broken, and a result for each problem.
    """
    from bodymotion.diagnostics.catalogue import catalogue, retired

    known = catalogue()
    old = retired()
    problems = [(path, problem) for path, some in found for problem in some]
    codes = sorted({problem.rule for _, problem in problems})
    index = {code: number for number, code in enumerate(codes)}
    descriptors = []
    for code in codes:
        descriptor: dict[str, Any] = {"id": code}
        aliases = sorted(name for name, new in old.items() if new == code)
        if aliases:
            descriptor["deprecatedIds"] = aliases
        rule = known.get(code)
        if rule is not None:
            descriptor["shortDescription"] = {"text": rule.sentence}
            descriptor["defaultConfiguration"] = {"level": rule.severity}
            descriptor["properties"] = {"source": rule.source, "fixable": rule.fixable}
            if rule.hint:
                lines = [rule.hint]
            else:
                lines = []
            lines += [
                f"{kind}: {text}"
                for kind, text in zip(
                    ("wrong", "right"), rule.example or (), strict=False
                )
            ]
            if lines:
                descriptor["help"] = {"text": "\n".join(lines)}
        descriptors.append(descriptor)
    driver = {"name": "bodymotion", "version": __version__, "rules": descriptors}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(str(path))}} for path, _ in found],
        "results": [
            {
                "ruleId": problem.rule,
                "ruleIndex": index[problem.rule],
                "level": problem.severity,
                "message": {
                    "text": problem.message
                    + (f" [{problem.hint}]" if problem.hint else "")
                },
                "locations": [_location(path, problem.location)],
            }
            for path, problem in problems
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _location(path: Path, location: Location) -> dict[str, Any]:
    physical: dict[str, Any] = {
        "artifactLocation": {"uri": _uri(location.path or str(path))}
    }
    if location.line is not None and location.line >= 1:
        region = {"startLine": location.line}
        if location.column is not None and location.column >= 1:
            region["startColumn"] = location.column
        physical["region"] = region
    found: dict[str, Any] = {"physicalLocation": physical}
    if location.inside:
        found["logicalLocations"] = [{"fullyQualifiedName": location.inside}]
    return found


def _uri(path: str) -> str:
    """Return a relative reference for a relative path, which stays valid when the folder is moved.

    Else a file URL.
    """
    file = Path(path)
    if file.is_absolute():
        return "file://" + quote(file.as_posix(), errors="surrogateescape")
    # A colon in the first part would be read as the end of a scheme.
    text = quote(file.as_posix(), errors="surrogateescape")
    return text.replace(":", "%3A")
