"""`bodymotion measure MODEL MOTION`.

Velocities, torques, balance, contacts and sensor readings of a motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click
from click import IntRange

from bodymotion.cli import failures
from bodymotion.cli.extended_help import script_text
from bodymotion.cli.options import (
    AsJson,
    Bpm,
    ByPosition,
    ReaderOptions,
    found_by,
    load_body,
    load_pair,
    names,
    reads_files,
)
from bodymotion.cli.output import as_json as json_text
from bodymotion.cli.output import (
    print_message,
    progress,
    results,
    show_problems,
    written,
)
from bodymotion.diagnostics.spelling import choices

if TYPE_CHECKING:
    from bodymotion.cli.measure_output import Block
    from bodymotion.dynamics import Measures
    from bodymotion.dynamics.sensors import Thing
    from bodymotion.geometry.shapes import Shape
    from bodymotion.model.body import Body
    from bodymotion.model.links import Device

GROUND = "ground"


@reads_files
def measure(
    reading: ReaderOptions,
    model: Path,
    motion: Path | None = None,
    of: list[str] | None = None,
    output: Path | None = None,
    listed: bool = False,
    as_json: AsJson = False,
    scenery: list[str] | None = None,
    derivative: Literal["suited", "spline", "central", "savgol"] = "suited",
    window: Annotated[int, IntRange(3)] = 9,
    ground: float | None = None,
    feet: str | None = None,
    on_feet: bool | None = None,
    close_loops: bool = False,
    by_position: ByPosition = False,
    bpm: Bpm = None,
) -> None:
    """Measure a motion on a robot.

    Velocities, torques, use of limits, balance, contacts, and sensor readings. Prints
    key figures, and a table of joints and feet; with --of, the extremes of these
    quantities and sensors. With -o, all values are written to a file: those of --of, or
    all quantities. Sensors, cameras included, are read only when --of names them. A
    .csv and a .parquet hold one table with common times; an .npz and a .json hold range
    sensors at their own times, an .npz also camera images.

    \b
    Examples:
      bodymotion measure robot.wrl walk.seq
      bodymotion measure robot.wrl walk.seq --of torques,zmp -o walk.csv
      bodymotion measure robot.wrl walk.seq --list
      bodymotion measure robot.wrl walk.seq --of CAMERA --scenery room.wrl -o seen.npz
      bodymotion measure robot.wrl log.seq --derivative savgol --json

    Options:
      model MODEL: The robot; or {script} or recorded motion (.bvh) alone.
      motion [MOTION]: Its motion.
      --of NAMES: Quantities and sensors, comma-separated; see --list.
      listed --list: List the quantities and sensors of this motion and robot.
      --scenery MODEL: A model in the environment, seen by cameras and range sensors;
        ground for level ground.
      --ground Z: Height of the ground [m]; by default that of the feet.
      --feet LINKS: Links that can be in contact with the ground, comma-separated.

    More options:
      --derivative: Differentiation method; by default splines, smoothed from 180 frames
        per second on.
      --window FRAMES: Window length for savgol.
      --on-feet/--no-on-feet: Compute the root poses from feet in contact; by default
        only where the motion has no root poses.
      --close-loops: Recompute the joints that depend on others in closed loops.

    Output:
      --output -o FILE: Write all values, frame by frame: .csv, .npz, .json or .parquet.
    """  # noqa: D301
    import numpy as np

    from bodymotion import dynamics
    from bodymotion.cli.measure_output import about_written, write

    wanted = _names(of)
    if listed and (wanted or output is not None):
        raise click.BadParameter(
            "cannot be combined with --of and -o", param_hint="--list"
        )
    # A script alone is the motion, too.
    moving = motion or model
    blocks: list[Block] = []
    # Values that overflow become inf or nan, which the results show.
    with (
        failures("measure"),
        progress(f"measuring {moving.name}"),
        np.errstate(all="ignore"),
    ):
        _check_output(output, model, moving, scenery)
        body, played = load_pair(model, motion, reading, by_position, bpm)
        if played is None:
            message = (
                f"{model} needs a motion: bodymotion measure MODEL MOTION; only "
                f"{script_text()} is measured alone"
            )
            raise click.BadParameter(message, param_hint="MOTION")
        measures = dynamics.measure(
            body,
            played,
            derivative=derivative,
            window=window,
            ground=ground,
            feet=_foot_names(body, feet),
            on_feet=on_feet,
            close_loops=close_loops,
        )
        show_problems(measures.problems)
        if wanted or output is not None:
            environment = _scenery(measures, scenery, reading)
            blocks = _choose(measures, wanted, environment)
            if not scenery:
                _report_empty_environment(measures, wanted)
        if output is not None:
            write(output, blocks)
    if output is not None:
        written(output, about_written(output, blocks))
    # With a file the values are in it, and figures are not printed.
    if output is None or as_json:
        with failures("measure"), np.errstate(all="ignore"):
            if listed:
                blocks = _choose(measures, (), ())
            _print(measures, blocks, model, moving, listed, as_json)


def _names(texts: list[str] | None) -> list[str]:
    """Return the names of quantities and sensors in the texts of an option."""
    wanted: list[str] = []
    for text in texts or ():
        wanted += names(text)
    return wanted


def _check_output(
    output: Path | None, model: Path, motion: Path, scenery: list[str] | None
) -> None:
    """Raise where a file that is read would be overwritten."""
    from bodymotion.system.files import check_not_read

    if output is not None:
        # `ground` is no file.
        models = [Path(name) for name in scenery or () if name != GROUND]
        check_not_read(output, [model, motion, *models])


def _foot_names(body: Body, text: str | None) -> tuple[str, ...] | None:
    """Return the names of feet; those of no links are wrong use."""
    from bodymotion.dynamics.contacts import foot_links

    links = None if text is None else names(text)
    found_by("--feet", foot_links, body, links or ())
    return links


def _print(
    measures: Measures,
    blocks: list[Block],
    model: Path,
    motion: Path,
    listed: bool,
    as_json: bool,
) -> None:
    """Print key figures, or the extremes of quantities."""
    from bodymotion.cli.measure_output import as_data, page_of

    with results() as out:
        if as_json:
            out.write(json_text(as_data(measures, blocks, model, motion, listed)))
        else:
            page_of(measures, blocks, model, motion, listed).print()


def _report_empty_environment(measures: Measures, names: list[str]) -> None:
    """Report range sensors that read inf, because there is no environment."""
    from bodymotion.model.links import RangeSensor

    # A range sensor that sees nothing is no error, but rarely what was wanted.
    ranging = [
        one.name for one in measures.body.devices if isinstance(one, RangeSensor)
    ]
    blind = [name for name in dict.fromkeys(names) if name in ranging]
    if blind:
        hint = "add models with --scenery MODEL, or --scenery ground"
        print_message(
            f"{', '.join(blind)}: no object in range, since there is no environment; "
            f"{hint}"
        )


def _scenery(
    measures: Measures, chosen: list[str] | None, reading: ReaderOptions
) -> list[Body | Shape]:
    """Return the bodies and the ground that sensors see."""
    from bodymotion.dynamics.sensors import level_ground

    # Level ground below the first pose of the root, at the height of the feet.
    here = [*measures.root_poses[0, :2], measures.ground[0]]
    return [
        level_ground(here)
        if name == GROUND
        else load_body(Path(name), reading, hint="--scenery")
        for name in chosen or ()
    ]


def _choose(
    measures: Measures, names: Sequence[str], scenery: Sequence[Thing]
) -> list[Block]:
    """Return the quantities and sensors of these names, by default all quantities.

    An unknown name is wrong use.
    """
    from bodymotion.cli.measure_output import Block, block_of
    from bodymotion.dynamics import QUANTITIES, Scenery, measurable, series
    from bodymotion.model.links import (
        AccelerationSensor,
        ForceSensor,
        Gyro,
        RangeSensor,
        VisionSensor,
    )

    if not names:
        return [Block(series(measures, name)) for name in measurable(measures)]
    sensors = (AccelerationSensor, Gyro, ForceSensor, RangeSensor, VisionSensor)
    devices: dict[str, Device] = {}
    # Of devices with one name the first counts.
    for one in measures.body.devices:
        if isinstance(one, sensors) and one.name:
            devices.setdefault(one.name, one)
    environment = Scenery(scenery)
    found = []
    for name in dict.fromkeys(names):
        if name in QUANTITIES:
            try:
                found.append(Block(series(measures, name)))
            except KeyError as error:
                raise ValueError(error.args[0]) from None
        elif name in devices:
            found.append(block_of(measures.read(devices[name], environment)))
        else:
            there = choices(name, [*measurable(measures), *devices])
            raise click.BadParameter(
                f"unknown quantity or sensor {name!r}; {there} (--list)",
                param_hint="--of",
            )
    return found
