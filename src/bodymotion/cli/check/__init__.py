"""`bodymotion check FILE…`: everything that is wrong with models and motions."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bodymotion.cli.options import AllowOutside, AsJson, PackagePath

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem

__all__ = ["check"]

MOST_LINKS = 20
"""So many links that are not followed are named; the others are counted."""


def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Models, motions, Spot animations, or folders with them.", show_default=False
        ),
    ],
    body: Annotated[
        Path | None,
        typer.Option("--body", "-b", metavar="MODEL", help="The model that motions are for.", show_default=False),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select",
            metavar="RULES",
            help="Speak of these rules only: codes, or how they begin, with commas between.",
            show_default=False,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="RULES", help="Do not speak of these rules.", show_default=False),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 for warnings, too.")] = False,
    as_json: AsJson = False,
    as_sarif: Annotated[bool, typer.Option("--sarif", help="Print SARIF 2.1.0, for editors and code hosts.")] = False,
    allow_outside: AllowOutside = False,
    package_path: PackagePath = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend in the files what has one right answer, and tell what is left.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show what --fix would change as a unified diff, and change nothing.")
    ] = False,
) -> None:
    """Say everything that is wrong with models, motions and Spot animations: where, how bad, what to do.

    In a folder all files are checked that look like one of them; links that lead out of it are not followed. With --body, motions are
    checked against the joints of the model and their limits. --fix shows what it changes as a diff; what it does not change in a file
    stays byte for byte.

    Exit code 0: no errors (with --fix: none left; with --diff: nothing to be changed); 1: errors, or with --strict warnings, or nothing
    to check; 2: wrong use. 3, for something lost, is never given: check saves nothing in another format.

    \b
    Examples:
      bodymotion check models/ walk.seq
      bodymotion check --body robot.wrl walk.seq
      bodymotion check --strict --ignore BODY136,WRL116 models/
      bodymotion check --sarif models/ > check.sarif
      bodymotion check --diff walk.seq
      bodymotion check --fix --select SEQ214 motions/
    """  # noqa: D301
    from bodymotion.cli.changes import load_body
    from bodymotion.cli.check.files import found_files
    from bodymotion.cli.check.mending import Mender
    from bodymotion.cli.check.text import counted, summary, text_of
    from bodymotion.cli.check.working import Task, check_files
    from bodymotion.cli.failures import failures
    from bodymotion.cli.messages import say
    from bodymotion.cli.output import results
    from bodymotion.cli.progress import aside, progress
    from bodymotion.cli.text import one_line
    from bodymotion.diagnostics.catalogue import selected

    if as_json and as_sarif:
        raise typer.BadParameter("either JSON or SARIF is printed, not both", param_hint="--json, --sarif")
    if diff and (as_json or as_sarif):
        raise typer.BadParameter("a diff is printed as it is", param_hint="--diff")
    task = Task(body, _codes(select), _codes(ignore), allow_outside, tuple(package_path or ()))
    try:
        selected((), task.select, task.ignore)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--select, --ignore") from None
    found: list[tuple[Path, tuple[Problem, ...]]] = []
    traces: set[str] = set()
    with failures("check"):
        robot = None if body is None else load_body(body, allow_outside)
        links: list[tuple[Path, Path]] = []
        paths = list(found_files(files, lambda link, folder: links.append((link, folder))))
        _say_links(links)
        if not paths:
            folders = "the folder" if len(files) == 1 else "the folders"
            say(
                one_line(
                    f"bodymotion check: there is no model, no motion and no animation in {folders} {' '.join(map(str, files))}"
                )
            )
            raise typer.Exit(1)
        if robot is not None:
            _say_unmoved(paths)
        plain = not (as_json or as_sarif)
        mender = Mender(task, robot, write=not diff)
        color = sys.stdout.isatty()
        with results() as out, progress(f"checking {len(paths)} files") as told:
            for answer in check_files(paths, task, robot, told):
                if answer.trace and answer.trace not in traces:
                    traces.add(answer.trace)
                    with aside(told):
                        say(answer.trace)
                if fix or diff:
                    with aside(told):
                        answer = mender.mend(answer, out if plain else sys.stderr)
                found.append((answer.path, answer.problems))
                if plain and not diff and answer.problems:
                    text = text_of(answer.problems, color=color)
                    with aside(told):
                        out.write(text)
            if not diff:
                text = summary(found) if plain else _as_json(found) if as_json else _as_sarif(found)
                with aside(told):
                    out.write(text)
    if fix or diff:
        say(mender.summary)
    elif plain:
        _offer(found)
        if body is None:
            _say_apart(paths)
    if diff:
        raise typer.Exit(1 if mender.files else 0)
    count = counted(problem for _, problems in found for problem in problems)
    raise typer.Exit(1 if count["error"] or (strict and count["warning"]) else 0)


def _say_links(links: list[tuple[Path, Path]]) -> None:
    """Say which links are not followed, since they lead out of the folder that is checked."""
    from bodymotion.cli.messages import say
    from bodymotion.cli.text import one_line

    for link, folder in links[:MOST_LINKS]:
        say(one_line(f"bodymotion check: {link} is a link that leads out of {folder}: not looked at"))
    if len(links) > MOST_LINKS:
        say(f"bodymotion check: and {len(links) - MOST_LINKS} more links that lead out")


def _say_unmoved(paths: list[Path]) -> None:
    """Say that the model of --body means nothing to animations, which are for a Spot, and to models."""
    from bodymotion.cli.messages import say
    from bodymotion.cli.text import one_line

    kinds = _kinds(paths)
    for kind, why in (("Animation", "an animation is for a Spot"), ("Body", "it is a model itself")):
        # Beside a motion a model may be checked for its own sake.
        if kind in kinds and (kind == "Animation" or "Motion" not in kinds):
            first, *more = kinds[kind]
            others = f" and {len(more)} more" if more else ""
            say(one_line(f"bodymotion check: --body means nothing to {first}{others}: {why}"))


def _say_apart(paths: list[Path]) -> None:
    """Say that motions were not checked on the model that is given with them, where it is one."""
    from bodymotion.cli.messages import say
    from bodymotion.cli.text import one_line

    kinds = _kinds(paths)
    motions, models = kinds.get("Motion", []), kinds.get("Body", [])
    if motions and len(models) == 1:
        one = len(motions) == 1
        them = motions[0].name if one else f"the {len(motions)} motions"
        say(
            one_line(
                f"{them} {'was' if one else 'were'} checked without the model: --body {models[0]} checks "
                f"{'it' if one else 'them'} against that robot, too"
            )
        )


def _kinds(paths: list[Path]) -> dict[str, list[Path]]:
    """Sort files by what they hold; those of no format are left out, and pipes, which can be read once only."""
    from bodymotion.diagnostics import FormatError
    from bodymotion.formats.registry import find_format

    kinds: dict[str, list[Path]] = {}
    for path in (path for path in paths if path.is_file()):
        with suppress(FormatError):
            kinds.setdefault(find_format(path).holds, []).append(path)
    return kinds


def _codes(given: list[str] | None) -> tuple[str, ...]:
    return tuple(code.strip().upper() for text in given or () for code in text.split(",") if code.strip())


def _offer(found: list[tuple[Path, tuple[Problem, ...]]]) -> None:
    from bodymotion.checks.fixing import fixable
    from bodymotion.cli.messages import say

    codes = sorted({code for path, problems in found for code in fixable(problems, path)})
    if codes:
        say(f"--fix mends {', '.join(codes)} wherever there is one right answer; --diff shows it first")


def _as_json(found: list[tuple[Path, tuple[Problem, ...]]]) -> str:
    from bodymotion.cli.check.text import counted
    from bodymotion.cli.info.data import as_json, problems_of

    files = [{"file": str(path), **problems_of(problems)} for path, problems in found]
    count = counted(problem for _, problems in found for problem in problems)
    return as_json(
        {
            "num_files": len(found),
            "num_errors": count["error"],
            "num_warnings": count["warning"],
            "num_notes": count["note"],
            "files": files,
        }
    )


def _as_sarif(found: list[tuple[Path, tuple[Problem, ...]]]) -> str:
    from bodymotion.cli.check.sarif import sarif
    from bodymotion.cli.info.data import as_json

    return as_json(sarif(found))
