"""`bodymotion diff A B`.

The differences between two motions, two models, or two other values.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from click import FloatRange

from bodymotion.cli import failures
from bodymotion.cli.options import (
    AsJson,
    ReaderOptions,
    check_reading,
    load_body,
    noun_of,
    reads_files,
)
from bodymotion.cli.output import as_json as json_text
from bodymotion.cli.output import one_line, plain, progress, results

if TYPE_CHECKING:
    from bodymotion.comparison import Comparison

EQUAL = 0
DIFFERENT = 1
FAILED = 2


@reads_files
def diff(
    reading: ReaderOptions,
    first: Path,
    second: Path,
    atol: Annotated[float, FloatRange(0)] = 0.0,
    rtol: Annotated[float, FloatRange(0)] = 0.0,
    body: Path | None = None,
    recorded: bool = False,
    as_json: AsJson = False,
) -> None:
    """Print the differences between two files of one kind.

    Of motions: components, times, and the largest difference of each with its frame and
    joint; --body gives the names. Lengths are in metres, angles in radians;
    orientations differ by the angle between them. Of models: links, joints, masses,
    shapes, devices. Of scripts of a robot: tempo, options, parameters, moves and
    keyframes. With --recorded, B is a recording of A: its lag, and the errors of
    joints, feet and root after that; scripts and logs of robots are played.

    Exit code 0: equal within the tolerances; 1: different; 2: they cannot be compared.

    \b
    Examples:
      bodymotion diff walk.seq walk.json
      bodymotion diff before.seq after.seq --atol 1e-6 --body robot.wrl
      bodymotion diff old.wrl new.wrl

    Options:
      first A: A motion or a model.
      second B: Another one.
      --atol X: Numbers are equal when |a - b| <= atol + rtol |b|.
      --rtol X: See --atol.
      --body -b MODEL: The model that names joints and links.
      --recorded: B is a recording of A: find its lag, and compare after that.
    """  # noqa: D301
    from bodymotion.collection.opening import single_files

    try:
        with (
            failures("diff"),
            single_files([first, second]) as (one, other),
            progress(f"comparing {first.name} and {second.name}"),
        ):
            comparison = _compare(one, other, atol, rtol, body, recorded, reading)
    # As `diff` of POSIX: 1 is "different", so a failure must be 2.
    except click.exceptions.Exit as ended:
        raise click.exceptions.Exit(
            FAILED if ended.exit_code == 1 else ended.exit_code
        ) from None
    with results() as out:
        if as_json:
            data = [
                {"what": d.what, "message": d.message, **dict(d.numbers)}
                for d in comparison.differences
            ]
            out.write(
                json_text({"equal": comparison.equal, "differences": plain(data)})
            )
        elif comparison.equal:
            out.write("no differences\n")
        else:
            out.writelines(
                one_line(difference) + "\n" for difference in comparison.differences
            )
    raise click.exceptions.Exit(EQUAL if comparison.equal else DIFFERENT)


def _compare(
    first: Path,
    second: Path,
    atol: float,
    rtol: float,
    body: Path | None,
    recorded: bool,
    reading: ReaderOptions,
) -> Comparison:
    """Return the differences between two files of one kind."""
    from bodymotion import comparison
    from bodymotion.diagnostics.text import listed, with_article
    from bodymotion.extensions import functions_for, kind_named, kinds
    from bodymotion.formats.registry import find_format, load
    from bodymotion.model.scripts import RobotScript

    # By kind before anything is read: a wrong pair ends at once.
    formats = [find_format(path) for path in (first, second)]
    check_reading(reading, formats)
    nouns = [noun_of(row.holds) for row in formats]
    script_nouns = [noun_of(kind.name) for kind in kinds() if kind.function("compare")]
    comparable = ("motion", *script_nouns)
    # What is recorded is a motion, or the script that was played.
    are_alike = nouns[0] == nouns[1]
    if recorded:
        are_alike = set(nouns) <= set(comparable)
    if not are_alike:
        message = (
            f"{first} holds {with_article(nouns[0])}, {second} "
            f"{with_article(nouns[1])}: they cannot be compared"
        )
        raise click.BadParameter(message, param_hint="A, B")
    if nouns[0] == "model":
        return comparison.compare_bodies(
            *(load_body(path, reading) for path in (first, second)),
            atol=atol,
            rtol=rtol,
        )
    if nouns[0] not in comparable:
        plural = [kind.plural for kind in kinds() if kind.function("compare")]
        message = (
            f"{with_article(nouns[0])} cannot be compared; "
            f"{listed(['motions', 'models', *plural])} can"
        )
        raise click.BadParameter(message, param_hint="A, B")
    one, other = (
        load(path, format=row.name, **row.options_of(reading))
        for row, path in zip(formats, (first, second), strict=True)
    )
    if recorded:
        # A script stands for the motion that it plays.
        if isinstance(other, RobotScript):
            _, other = other.body_and_motion()
        compare_recording = functions_for("compare_recording")[0]
        compared: Comparison = compare_recording(one, other, atol=atol)
        return compared
    if nouns[0] == "motion":
        named = None
        if body is not None:
            named = load_body(body, reading)
        return comparison.compare_motions(one, other, atol=atol, rtol=rtol, body=named)
    kind = kind_named(formats[0].holds)
    compare = None if kind is None else kind.function("compare")
    assert compare is not None
    of_kind: Comparison = compare(one, other, atol=atol, rtol=rtol)
    return of_kind
