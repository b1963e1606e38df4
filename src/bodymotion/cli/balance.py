"""`bodymotion balance MODEL MOTION -o OUT`.

Change a motion so that the robot keeps its balance.
"""

import dataclasses
from pathlib import Path

import click

from bodymotion.cli import failures
from bodymotion.cli.options import (
    AsJson,
    ByPosition,
    Distance,
    Positive,
    ReaderOptions,
    check_output,
    found_by,
    load_pair,
    names,
    reads_files,
    reports_losses,
)
from bodymotion.cli.output import (
    as_json,
    plain,
    progress,
    results,
    saved,
    show_problems,
)


@reports_losses
@reads_files
def balance(
    reading: ReaderOptions,
    model: Path,
    motion: Path,
    output: Path,
    margin: Distance = None,
    feet: str | None = None,
    ground: float | None = None,
    limits: bool = True,
    acceleration: float = float("inf"),
    max_length: Positive = None,
    simulate: bool | None = None,
    json_output: AsJson = False,
    by_position: ByPosition = False,
) -> None:
    """Change a motion so that the robot keeps its balance.

    Feet in contact are pinned to the ground, and the centre of mass is moved as little
    as needed so that the zero moment point stays in the support polygon. The result is
    never worse than MOTION in length, margin, slip, depth below the ground, limits and
    jumps: where it would be, MOTION stays as it was. A safe motion is unchanged. Prints
    what was changed, and what could not be fixed; then the exit code is 1.

    \b
    Examples:
      bodymotion balance SR1.wrl dance.pseq -o dance.seq
      bodymotion balance biped.wrl fast_walk.seq -o walk.seq --margin 0.03

    Options:
      model MODEL: A model with feet.
      motion MOTION: A motion, or key poses.
      --margin METRES: Distance of the ZMP from the edges of the support polygon. By
        default 0.07 is planned, and 0.01 is safe.
      --ground Z: Height of the ground [m]; by default that of the feet.
      --limits/--no-limits: Slow down to the limits: where joints are faster, or need
        more torque, than these, or where steps are too fast.
      --simulate/--no-simulate: Simulate, and refuse a result that falls earlier than
        MOTION; by default if the extra `sim` is installed.

    More options:
      --feet LINKS: Links that can be in contact with the ground; comma-separated.
      --acceleration LIMIT: Slow down where a joint exceeds it, too [rad/s², m/s²].
      --max-length FACTOR: Slow down to so many times the length at most; by default
        1.2, and with --acceleration any.

    Output:
      --output -o OUT: The new motion.
    """  # noqa: D301
    from bodymotion.balancing import balance as balanced
    from bodymotion.dynamics.contacts import foot_links
    from bodymotion.model.body import fit_problems

    with failures("balance"):
        check_output(output, [model])
        body, old = load_pair(model, motion, reading, by_position)
        # `load_pair` raises where the file has no motion.
        assert old is not None
        show_problems(fit_problems(old, body))
        if feet is None:
            links = None
        else:
            links = names(feet)
        # Checked here, so that the message names the option.
        found_by("--feet", foot_links, body, links or ())
        with progress(f"balancing {motion.name}") as bar:
            new = balanced(
                body,
                old,
                margin=margin,
                feet=links,
                ground=ground,
                limits=limits,
                acceleration=acceleration,
                max_length=max_length,
                simulated=simulate,
                progress=bar,
            )
        # Problems are appended: those of the motion itself are not repeated.
        show_problems(new.problems[len(old.problems) :])
        code = saved(new, output)
        with results() as stream:
            stream.write(
                as_json(plain(dataclasses.asdict(new.report)))
                if json_output
                else str(new.report)
            )
        raise click.exceptions.Exit(1 if new.report.has_failed else code)
