"""`bodymotion info FILE…`: what is in a model, a motion or a Spot animation."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bodymotion.cli.options import AllowOutside

if TYPE_CHECKING:
    from bodymotion.cli.info.data import Data
    from bodymotion.diagnostics import Problem

__all__ = ["info"]

LARGE = 64 << 20
"""A motion file of more bytes is not loaded: its headers are read, and its rows only when they are needed."""


def info(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Models, motions and Spot animations, in any format that is read.", show_default=False
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: an object for one file, an array for several.")
    ] = False,
    values: Annotated[
        bool,
        typer.Option("--values", "-v", help="Give the range of values of each joint and link, for large files too."),
    ] = False,
    allow_outside: AllowOutside = False,
) -> None:
    """Print what is in models, motions and Spot animations.

    For a model: links with joints, limits and masses, devices, closed loops, size, texts. For a motion: components with size, rate,
    duration and range of values. A motion larger than memory is answered from its headers and a count of its rows. For an animation:
    options, parameters, columns, and how long it takes.

    A file that cannot be read gets a message on stderr with its line; the others are answered all the same, and the exit code is 1.

    \b
    Examples:
      bodymotion info robot.wrl
      bodymotion info --values walk.seq
      bodymotion info --json robot.wrl walk.seq
    """  # noqa: D301
    from bodymotion.cli.info.data import as_json as text_of
    from bodymotion.cli.info.pages import page_of
    from bodymotion.cli.output import results

    answers: list[Data] = []
    failed = False
    with results() as out:
        for count, path in enumerate(files):
            answer = _answer(path, values, allow_outside)
            failed |= answer["kind"] == "unreadable"
            if as_json:
                answers.append(answer)
            elif answer["kind"] != "unreadable":
                if count:
                    out.write("\n")
                page_of(answer).print()
        if as_json:
            out.write(text_of(answers[0] if len(files) == 1 else answers))
    raise typer.Exit(1 if failed else 0)


def _answer(path: Path, values: bool, allow_outside: bool) -> Data:
    from bodymotion.cli.info.data import about_file, problems_of
    from bodymotion.cli.messages import say, show_problem
    from bodymotion.cli.text import one_line
    from bodymotion.diagnostics import FormatError

    problems: tuple[Problem, ...] = ()
    try:
        return _read(path, values, allow_outside)
    except FormatError as error:
        problems = error.problems
        for problem in problems:
            show_problem(problem)
    except MemoryError:
        say(one_line(f"{path}: not enough memory to read it"))
    except OSError as error:
        say(one_line(f"{path}: {error.strerror or error}"))
    except Exception:
        say(traceback.format_exc())
        say(one_line(f"{path}: not read, by a fault of bodymotion, shown above: please report it"))
    return {**about_file(path, "unreadable"), **problems_of(problems)}


def _read(path: Path, values: bool, allow_outside: bool) -> Data:
    from bodymotion.animation import Animation
    from bodymotion.formats.registry import find_format
    from bodymotion.model.body import Body

    found = find_format(path)
    if found.name == "seq" and path.stat().st_size > LARGE:
        from bodymotion.cli.info.motion import describe_open_motion
        from bodymotion.cli.progress import progress
        from bodymotion.formats.seq import open_motion

        with progress(f"reading {path.name}") as report, open_motion(path) as reader:
            return describe_open_motion(reader, path, parts=values, progress=report)
    options = {"allow_outside": True} if allow_outside and found.holds == "Body" else {}
    thing = found.read(path, **options)
    if isinstance(thing, Body):
        from bodymotion.cli.info.body import describe_body

        return describe_body(thing, path)
    if isinstance(thing, Animation):
        from bodymotion.cli.info.animation import describe_animation

        return describe_animation(thing, path)
    from bodymotion.cli.info.motion import describe_motion

    return describe_motion(thing, path, parts=values)
