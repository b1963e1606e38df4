"""`bodymotion diff A B`: what differs between two motions, or two models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bodymotion.cli.options import AllowOutside, AsJson

__all__ = ["diff"]

EQUAL, DIFFERENT, FAILED = 0, 1, 2


def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="A motion or a model.", show_default=False)],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another one.", show_default=False)],
    atol: Annotated[
        float, typer.Option("--atol", min=0, metavar="X", help="Numbers are alike when |a - b| <= atol + rtol |b|.")
    ] = 0.0,
    rtol: Annotated[float, typer.Option("--rtol", min=0, metavar="X", help="See --atol.")] = 0.0,
    body: Annotated[
        Path | None,
        typer.Option(
            "--body",
            "-b",
            metavar="MODEL",
            help="The model that gives joints and links their names.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    allow_outside: AllowOutside = False,
) -> None:
    """Print what differs between two motions, or two models.

    Of motions: components, times, and the largest difference of each with its frame and joint; --body gives the names. Lengths are in
    metres, angles in radians; an orientation differs by the angle between the two. Of models: links, joints, masses, shapes, devices.

    Exit code 0: equal within the tolerances; 1: different; 2: they cannot be compared.

    \b
    Examples:
      bodymotion diff walk.seq walk.json
      bodymotion diff before.seq after.seq --atol 1e-6 --body robot.wrl
      bodymotion diff old.wrl new.wrl
    """  # noqa: D301
    from bodymotion.cli.failures import failures
    from bodymotion.cli.output import results
    from bodymotion.cli.text import one_line

    try:
        with failures("diff"):
            comparison = _compare(first, second, atol, rtol, body, allow_outside)
    except typer.Exit as ended:
        raise typer.Exit(FAILED if ended.exit_code == 1 else ended.exit_code) from None
    with results() as out:
        if as_json:
            from bodymotion.cli.info.data import as_json as text_of

            data = [{"what": d.what, "message": d.message, **dict(d.numbers)} for d in comparison.differences]
            out.write(text_of({"equal": comparison.equal, "differences": _plain(data)}))
        else:
            for difference in comparison.differences:
                out.write(one_line(difference) + "\n")
    raise typer.Exit(EQUAL if comparison.equal else DIFFERENT)


def _compare(first: Path, second: Path, atol: float, rtol: float, body: Path | None, allow_outside: bool) -> Any:  # noqa: ANN401
    from bodymotion.cli.changes import load_body
    from bodymotion.comparison import compare_bodies, compare_motions
    from bodymotion.formats.registry import find_format
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

    kinds = [find_format(path).holds for path in (first, second)]
    if kinds[0] != kinds[1]:
        raise typer.BadParameter(f"{first} holds a {kinds[0]}, {second} a {kinds[1]}", param_hint="A, B")
    if kinds[0] == "Body":
        bodies = [load_body(path, allow_outside) for path in (first, second)]
        assert all(isinstance(one, Body) for one in bodies)
        return compare_bodies(bodies[0], bodies[1], atol=atol, rtol=rtol)
    if kinds[0] != "Motion":
        raise typer.BadParameter(f"a {kinds[0]} is not compared", param_hint="A, B")
    motions = [find_format(path).read(path) for path in (first, second)]
    assert all(isinstance(one, Motion) for one in motions)
    named = None if body is None else load_body(body, allow_outside)
    return compare_motions(motions[0], motions[1], atol=atol, rtol=rtol, body=named)


def _plain(value: Any) -> Any:  # noqa: ANN401
    from bodymotion.cli.info.data import plain

    return plain(value)
