"""`bodymotion info FILE…`: the contents of models, motions and other files."""

import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from bodymotion.cli.options import LARGE, ReaderOptions, check_reading, reads_files
from bodymotion.cli.output import (
    Data,
    about_file,
    one_line,
    print_message,
    problems_of,
    progress,
    results,
    show_problems,
)
from bodymotion.cli.output import as_json as json_text
from bodymotion.diagnostics import FormatError, Problem, WrongUseError


@reads_files
def info(
    reading: ReaderOptions,
    files: list[Path],
    as_json: bool = False,
    values: bool = False,
) -> None:
    """Show the contents of models, motions and {scripts}.

    For a model: links with joints, limits and masses, devices, closed loops, size,
    texts. For a motion: components with size, rate, duration and range of values; of a
    large motion only its headers and the number of its rows are read. For a script:
    options, parameters, columns, duration.

    A file that cannot be read is reported on stderr with its line; the others are still
    shown, and the exit code is 1.

    \b
    Examples:
      bodymotion info robot.wrl
      bodymotion info --values walk.seq
      bodymotion info --json robot.wrl walk.seq

    Options:
      files FILE…: Models, motions and {scripts} in any supported format.
      --values -v: Show the range of values of each joint and link, of large files too.

    Output:
      as_json --json: Print JSON: an object for one file, an array for several.
    """  # noqa: D301
    from bodymotion.collection.inputs import episode_of
    from bodymotion.collection.opening import EPISODE_OPTIONS

    of_episode: frozenset[str] = frozenset()
    if any(episode_of(str(path)) for path in files):
        of_episode = EPISODE_OPTIONS
    # An episode has no format, so its options are not checked by formats.
    of_files = {name: reading[name] for name in reading if name not in of_episode}
    check_reading(of_files, files)
    answers: list[Data] = []
    failed = False
    with results() as out:
        for count, path in enumerate(files):
            answer, problems = _answer(path, values, reading)
            # The other files are still described.
            failed |= answer["kind"] == "unreadable"
            if as_json:
                answers.append({**answer, **problems_of(problems)})
            elif answer["kind"] != "unreadable":
                from bodymotion.cli.info_page import page_of

                if count:
                    out.write("\n")
                page_of(answer, problems).print()
        if as_json:
            # One file is an object, several are a list.
            out.write(json_text(answers[0] if len(files) == 1 else answers))
    raise click.exceptions.Exit(1 if failed else 0)


def _answer(
    path: Path, values: bool, reading: ReaderOptions
) -> tuple[Data, Sequence[Problem]]:
    """Return what is known of a file, and its problems.

    Report why it cannot be read.
    """
    from bodymotion.cli.info_data import describe, describe_open_motion
    from bodymotion.collection import open_collection
    from bodymotion.collection.inputs import episode_of
    from bodymotion.formats.registry import find_format, load

    problems: Sequence[Problem] = ()
    try:
        if episode_of(str(path)) is not None:
            (clip,) = open_collection(path)
            motion = clip.load(**reading)
            return describe(motion, path, parts=values), motion.problems
        found = find_format(path)
        # A large .seq is described from its headers, or piece by piece.
        if found.name == "seq" and path.stat().st_size > LARGE:
            from bodymotion.formats.seq import open_motion

            with progress(f"reading {path.name}") as bar, open_motion(path) as reader:
                return describe_open_motion(reader, path, parts=values, progress=bar)
        thing = load(path, format=found.name, **found.options_of(reading))
        return describe(thing, path, parts=values), thing.problems
    except FormatError as error:
        problems = error.problems
        show_problems(problems)
    except WrongUseError as error:
        raise click.BadParameter(one_line(error)) from None
    except MemoryError:
        print_message(f"{path}: not enough memory to read the file")
    except OSError as error:
        print_message(f"{path}: {error.strerror or error}")
    except Exception:
        # The reader has a bug: the other files are still described.
        print_message(traceback.format_exc(), keep_lines=True)
        print_message(
            f"{path}: not read because of a bug of bodymotion, shown above; please "
            "report it"
        )
    return about_file(path, "unreadable"), problems
