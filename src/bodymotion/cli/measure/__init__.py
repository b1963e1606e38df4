"""`bodymotion measure MODEL MOTION`: how fast, how hard, in balance or not, and what the sensors would read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bodymotion.cli.options import AllowOutside, AsJson

if TYPE_CHECKING:
    from bodymotion.cli.measure.measured import Wanted
    from bodymotion.dynamics import Measures
    from bodymotion.geometry.shapes import Shape
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

__all__ = ["measure"]

GROUND = "ground"
WIDE = 1000.0
"""[m] So wide is the ground that sensors see."""
TOLD = 100_000_000
"""[bytes] The size of a file that is larger is told."""
MOST_NAMED = 8
"""So many quantities in a file are told by name."""


def measure(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="The robot; or a Spot animation (.cha) alone, which our Spot plays.",
            show_default=False,
        ),
    ],
    motion: Annotated[Path | None, typer.Argument(metavar="MOTION", help="What it does.", show_default=False)] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="NAMES",
            help="What is wanted: names of quantities and of sensors, with commas between; see --list.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write all values, frame by frame: .csv, .npz, .json or .parquet.",
            show_default=False,
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what can be measured of this motion.")] = False,
    as_json: AsJson = False,
    scenery: Annotated[
        list[str] | None,
        typer.Option(
            "--scenery",
            metavar="MODEL",
            help="What stands around, for cameras and range sensors to see; ground for level ground.",
            show_default=False,
        ),
    ] = None,
    derivative: Annotated[
        Literal["suited", "spline", "central", "savgol"],
        typer.Option(
            "--derivative",
            help="How velocities come from values: splines, smoothed from 180 frames a second on, unless said.",
        ),
    ] = "suited",
    window: Annotated[int, typer.Option("--window", min=3, metavar="FRAMES", help="For savgol.")] = 9,
    ground: Annotated[
        float | None,
        typer.Option(
            "--ground", metavar="Z", help="Height of the ground [m]; by default what feet say.", show_default=False
        ),
    ] = None,
    feet: Annotated[
        str | None,
        typer.Option(
            "--feet", metavar="LINKS", help="The links that may stand, with commas between.", show_default=False
        ),
    ] = None,
    on_feet: Annotated[
        bool | None,
        typer.Option(
            "--on-feet/--no-on-feet",
            help="Whether to work out where the root is from feet that stand; by default where the motion does not say it.",
            show_default=False,
        ),
    ] = None,
    close_loops: Annotated[
        bool, typer.Option("--close-loops", help="Work out anew the joints that follow from others in closed loops.")
    ] = False,
    allow_outside: AllowOutside = False,
) -> None:
    """Measure a motion on a robot: velocities, torques, limits, balance, contacts, and what its sensors would read.

    Prints key figures, and what each joint and foot does; with --of, the extremes of these quantities and sensors. With -o all values go
    to a file: of what --of names, or of all quantities; sensors, cameras among them, are read when --of names them. A .csv and a .parquet
    hold one table, so all in them has the same times; an .npz and a .json hold range sensors at their own times, too, an .npz the pictures
    of cameras.

    \b
    Examples:
      bodymotion measure robot.wrl walk.seq
      bodymotion measure robot.wrl walk.seq --of torques,zmp -o walk.csv
      bodymotion measure robot.wrl walk.seq --list
      bodymotion measure dance.cha
      bodymotion measure robot.wrl walk.seq --of CAMERA --scenery ground --scenery room.wrl -o seen.npz
      bodymotion measure robot.wrl log.seq --derivative savgol --json
    """  # noqa: D301
    import numpy as np

    from bodymotion.cli.failures import failures
    from bodymotion.cli.measure.measured import choose, wanted
    from bodymotion.cli.output import results
    from bodymotion.cli.progress import progress
    from bodymotion.system.atomic_files import check_not_read

    names = [name.strip() for text in of or () for name in text.split(",") if name.strip()]
    if listed and (names or output is not None):
        raise typer.BadParameter("what can be measured is listed without --of and -o", param_hint="--list")
    moving = motion or model
    if output is not None:
        with failures("measure"):
            read = [model, moving, *(Path(name) for name in scenery or () if name != GROUND)]
            check_not_read(output, read)
    chosen: list[Wanted] = []
    # Of numbers that are too large for others to follow from them, the results tell.
    with failures("measure"), progress(f"measuring {moving.name}"), np.errstate(all="ignore"):
        found = _measured(model, motion, allow_outside, derivative, window, ground, feet, on_feet, close_loops)
        if names or output is not None:
            chosen = choose(found, names, _scenery(found, scenery, allow_outside))
            if not scenery:
                _tell_blind(found, names)
        if output is not None:
            from bodymotion.cli.measure.tables import write

            write(output, chosen)
    if output is not None:
        _tell_written(output, chosen)
    if output is not None and not as_json:
        return
    from bodymotion.cli.measure.shown import as_data, page_of

    with failures("measure"), results() as out, np.errstate(all="ignore"):
        if listed:
            chosen = wanted(found)
        if as_json:
            from bodymotion.cli.info.data import as_json as text_of

            out.write(text_of(as_data(found, chosen, model, moving, listed)))
        else:
            page_of(found, chosen, model, moving, listed).print()


def _tell_written(path: Path, chosen: list[Wanted]) -> None:
    from bodymotion.cli.messages import say
    from bodymotion.cli.text import one_line

    names = [one.series.name for one in chosen]
    what = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} quantities"
    size = path.stat().st_size if path.is_file() else 0
    say(one_line(f"{path}: {what}{f' ({size / 1e6:.0f} MB)' if size > TOLD else ''}"))


def _tell_blind(measures: Measures, names: list[str]) -> None:
    """Say of which range sensors all readings are inf, as there is nothing around."""
    from bodymotion.cli.messages import say
    from bodymotion.cli.text import one_line
    from bodymotion.model.devices import RangeSensor

    ranging = [one.name for one in measures.body.devices if isinstance(one, RangeSensor)]
    blind = [name for name in dict.fromkeys(names) if name in ranging]
    if blind:
        hint = "--scenery says what stands around, as --scenery ground does"
        say(one_line(f"{', '.join(blind)}: there is nothing to see; {hint}"))


def _loaded(model: Path, motion: Path | None, allow_outside: bool) -> tuple[Body, Motion]:
    """Return a body and its motion; an animation alone is played by our Spot."""
    from bodymotion.animation import Animation
    from bodymotion.cli.changes import load_body, load_motion
    from bodymotion.formats.registry import load

    if motion is not None:
        return load_body(model, allow_outside, hint="MODEL"), load_motion(motion, hint="MOTION")
    animation = load(model, allow_outside=allow_outside)
    if not isinstance(animation, Animation):
        raise typer.BadParameter(
            f"{model} is to be measured with {'a motion' if type(animation).__name__ == 'Body' else 'a model'}: "
            "bodymotion measure MODEL MOTION; only an animation of Spot is measured alone",
            param_hint="MOTION",
        )
    from bodymotion.spot.playback import needs_arm, play, spot_body

    return spot_body(arm=needs_arm(animation)), play(animation)


def _measured(
    model: Path,
    motion: Path | None,
    allow_outside: bool,
    derivative: Literal["suited", "spline", "central", "savgol"],
    window: int,
    ground: float | None,
    feet: str | None,
    on_feet: bool | None,
    close_loops: bool,
) -> Measures:
    from bodymotion import dynamics
    from bodymotion.cli.messages import show_problem

    body, moving = _loaded(model, motion, allow_outside)
    chosen = None if feet is None else tuple(name.strip() for name in feet.split(",") if name.strip())
    missing = [name for name in chosen or () if name not in {link.name for link in body.links}]
    if missing:
        links = ", ".join(link.name for link in body.links)
        raise typer.BadParameter(f"no link {missing[0]!r}; there are: {links}", param_hint="--feet")
    found = dynamics.measure(
        body,
        moving,
        derivative=derivative,
        window=window,
        ground=ground,
        feet=chosen,
        on_feet=on_feet,
        close_loops=close_loops,
    )
    for problem in found.problems:
        show_problem(problem)
    return found


def _scenery(measures: Measures, given: list[str] | None, allow_outside: bool) -> list[Body | Shape]:
    from bodymotion.cli.changes import load_body
    from bodymotion.geometry.shapes import Box, Shape

    things: list[Body | Shape] = []
    for name in given or ():
        if name == GROUND:
            import numpy as np

            under = np.eye(4)
            under[:3, 3] = *measures.root_poses[0, :2], measures.ground[0] - 0.5
            things.append(Shape(Box((WIDE, WIDE, 1.0)), under))
        else:
            things.append(load_body(Path(name), allow_outside, hint="--scenery"))
    return things
