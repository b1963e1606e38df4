"""`bodymotion diff A B`.

The differences between two motions, models, animations or choreographies.
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
    shapes, devices. Of choreographies: tempo, moves, their slices and parameters. Of
    animations: options, parameters, keyframes. With --recorded, B is a recording of A:
    its lag, and the errors of joints, feet and root after that; animations,
    choreographies and logs of a Spot are played.

    Exit code 0: equal within the tolerances; 1: different; 2: they cannot be compared.

    \b
    Examples:
      bodymotion diff walk.seq walk.json
      bodymotion diff before.seq after.seq --atol 1e-6 --body robot.wrl
      bodymotion diff old.wrl new.wrl
      bodymotion diff wave.cha log.pb --recorded

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
    from bodymotion import comparison
    from bodymotion.diagnostics.text import with_article
    from bodymotion.formats.registry import find_format, load
    from bodymotion.motion import Motion
    from bodymotion.spot.choreography.values import Choreography

    formats = [find_format(path) for path in (first, second)]
    check_reading(reading, formats)
    kinds = [noun_of(found.holds) for found in formats]
    if recorded:
        alike = set(kinds) <= {"motion", "animation", "choreography"}
    else:
        alike = kinds[0] == kinds[1]
    if not alike:
        message = f"{first} holds {with_article(kinds[0])}, {second} {with_article(kinds[1])}: they cannot be compared"
        raise click.BadParameter(message, param_hint="A, B")
    if kinds[0] == "model":
        return comparison.compare_bodies(
            *(load_body(path, reading) for path in (first, second)),
            atol=atol,
            rtol=rtol,
        )
    if kinds[0] not in ("motion", "animation", "choreography"):
        message = f"{with_article(kinds[0])} cannot be compared; motions, models, animations and choreographies can"
        raise click.BadParameter(message, param_hint="A, B")
    one, other = (
        load(path, format=found.name, **found.options_of(reading))
        for found, path in zip(formats, (first, second), strict=True)
    )
    if recorded:
        if not isinstance(one, (Motion, Choreography)):
            one = one.play()
        return comparison.compare_recording(
            one, other if isinstance(other, Motion) else other.play(), atol=atol
        )
    if kinds[0] == "motion":
        if body is None:
            named = None
        else:
            named = load_body(body, reading)
        return comparison.compare_motions(one, other, atol=atol, rtol=rtol, body=named)
    choreographies = comparison.compare_choreographies
    animations = comparison.compare_animations
    return (choreographies if kinds[0] == "choreography" else animations)(
        one, other, atol=atol, rtol=rtol
    )
