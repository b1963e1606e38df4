"""`bodymotion retarget SOURCE MODEL -o OUT`.

Transfer a recorded motion to a robot.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bodymotion.cli import failures
from bodymotion.cli.options import (
    AsJson,
    ByPosition,
    ReaderOptions,
    check_output,
    check_reading,
    kind_of,
    load_body,
    reads_files,
    reports_losses,
    show_reading,
)
from bodymotion.cli.output import (
    as_json,
    one_line,
    plain,
    progress,
    results,
    saved,
    show_problems,
    written,
)
from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.extensions import Extension, extensions

if TYPE_CHECKING:
    from bodymotion.balancing import BalanceReport
    from bodymotion.balancing.balancing import BalancedMotion
    from bodymotion.model.body import Body
    from bodymotion.model.scripts import RobotScript
    from bodymotion.motion import Motion
    from bodymotion.retargeting import RetargetComparison
    from bodymotion.retargeting.roles import Figure
    from bodymotion.simulation import SimulationResult
    from bodymotion.skeleton import Skeleton

MAX_MAP = 1 << 20
"""[bytes] A larger file of roles is none."""


@reports_losses
@reads_files
def retarget(
    reading: ReaderOptions,
    source: Path,
    model: Path,
    output: Path | None = None,
    source_body: Path | None = None,
    map_file: Path | None = None,
    show_map: bool = False,
    html: Path | None = None,
    balance: bool = False,
    simulate: bool = False,
    json_output: AsJson = False,
    by_position: ByPosition = False,
) -> None:
    """Transfer a motion of a person, or of another robot, to a robot.

    Feet are pinned where those of the source are on the ground. Joints stay within
    their limits. Prints the errors of the result.

    \b
    Examples:
      bodymotion retarget walk.bvh robot.wrl -o walk.seq
      bodymotion retarget walk.bvh robot.wrl --show-map
      bodymotion retarget walk.seq other.urdf --source-body robot.wrl -o walk_other.seq
      bodymotion retarget walk.bvh quadruped.urdf -o walk.seq

    Options:
      source SOURCE: Recorded motion; or a motion of another robot, or {script}.
      model MODEL: The robot, with two or four legs; {robots} for a built-in robot,
        whose OUT can be its script.
      --source-body MODEL: The robot that a motion as SOURCE is for; {robots} for
        a built-in robot.
      map_file --map FILE: Joints by role, where they are not found: YAML or JSON with
        `source` and `body`.
      --show-map: Print which joint has which role, and write nothing.
      --balance: Change the result to keep balance (extra `opt`). Where that fails, the
        exit code is 1.
      --simulate: Print whether the robot falls (extra `sim`). If it falls in the
        simulation, the exit code is 1.

    Output:
      --output -o OUT: The new motion; a .bvh has a joint for each link of the robot.
      --html FILE: Write a page (.html): source and robot play side by side, with OUT or
        alone.
    """  # noqa: D301
    from bodymotion.retargeting import compare_retarget

    with failures("retarget"):
        # A name of a built-in robot is no file.
        files = [
            path
            for path in (source, model, source_body, map_file)
            if path is not None and robot_named(path) is None
        ]
        check_reading(reading, [path for path in files if path != map_file])
        if output is None and html is None and not show_map:
            raise click.BadParameter(
                "name the file of the new motion, or --html", param_hint="--output / -o"
            )
        for path in (output, html):
            check_output(path, files)
        roles = _roles(map_file)
        robot = robot_named(model)
        # A built-in robot gets a script, which none of these changes.
        if robot is not None and (balance or simulate or roles["body"]):
            raise click.UsageError(
                "--balance, --simulate and roles of the body have no effect on "
                f"{robot.kinds[0].robot}"
            )
        body = _target_body(model, robot, reading)
        recorded, recorded_on = _load_source(source, source_body, reading, by_position)
        options: dict[str, Any] = {
            "source_body": recorded_on,
            "roles": roles["body"],
            "source_roles": roles["source"],
        }
        # Only the roles: nothing is computed or written.
        if show_map:
            _print_map(recorded, body, options, json_output)
            raise click.exceptions.Exit
        script, motion = _transfer(recorded, body, robot, options, source.name)
        # A balanced motion may be slower than its source.
        comparison = compare_retarget(recorded, body, motion, **options)
        report = None
        if balance:
            motion = _balance(body, motion, simulate, source.name)
            report = motion.report
        code = 0
        if output is not None:
            code = saved(_value_for(output, body, motion, script), output)
        if html is not None:
            _write_page(html, recorded, body, motion, options)
        simulation = None
        if simulate:
            simulation = _simulate(body, motion, source.name)
        _print_results(comparison, report, simulation, json_output)
        has_failed = _has_failed(report, simulation)
        raise click.exceptions.Exit(1 if has_failed else code)


def _target_body(model: Path, robot: Extension | None, reading: ReaderOptions) -> Body:
    """Return the body of a file, or that of a built-in robot."""
    if robot is None:
        return load_body(model, reading, hint="MODEL")
    return built_in_body(robot)


def _load_source(
    path: Path, body_path: Path | None, reading: ReaderOptions, by_position: bool
) -> tuple[Skeleton | Motion, Body | None]:
    """Read recorded motion, and the body that it is for, if it has one."""
    from bodymotion.formats.registry import find_format, load
    from bodymotion.model.body import by_position as named_by_position
    from bodymotion.model.scripts import RobotScript
    from bodymotion.motion import Motion
    from bodymotion.retargeting.skeletons import with_body
    from bodymotion.skeleton import Skeleton

    body = None
    robot = None
    # The body is needed before the motion: a table has its columns in the order of
    # joints.
    row = find_format(path)
    options = row.options_of(reading)
    if body_path is not None:
        robot = robot_named(body_path)
        if robot is None:
            body = load_body(body_path, reading, hint="--source-body")
            options["body"] = body
    value = load(path, format=row.name, **options)
    if not isinstance(value, Skeleton | Motion | RobotScript):
        raise click.BadParameter(
            f"{path} holds {kind_of(type(value))}, not recorded motion",
            param_hint="SOURCE",
        )
    # A script of a robot brings its body.
    if robot is not None and not isinstance(value, RobotScript):
        body = built_in_body(robot, value if isinstance(value, Motion) else None)
    recorded, body = with_body(value, body)
    show_reading(recorded)
    if by_position and isinstance(recorded, Motion) and body is not None:
        recorded = named_by_position(recorded, body)
    return recorded, body


def _print_map(
    recorded: Skeleton | Motion, body: Body, options: dict[str, Any], json_output: bool
) -> None:
    """Print which joint has which role."""
    from bodymotion.retargeting.figures import figure_of_body
    from bodymotion.retargeting.source import find_moving_figure

    # Only its joints are printed, not how it moves.
    figure, *_ = find_moving_figure(
        recorded, options["source_body"], options["source_roles"]
    )
    text = _table(figure, figure_of_body(body, options["roles"]), json_output)
    with results() as stream:
        stream.write(text)


def _transfer(
    recorded: Skeleton | Motion,
    body: Body,
    robot: Extension | None,
    options: dict[str, Any],
    name: str,
) -> tuple[RobotScript | None, Motion]:
    """Return the motion of the body, and the script of a built-in robot.

    Print the problems of both.
    """
    from bodymotion.retargeting import retarget as retarget_to_body
    from bodymotion.retargeting.skeletons import problems_of_source

    if robot is None:
        with progress(f"retargeting {name}"):
            motion = retarget_to_body(recorded, body, **options)
        show_problems(motion.problems)
        return None, motion
    # A built-in robot is moved by a script of its extension, from which its motion
    # follows.
    script: RobotScript = robot.needed_function("retarget")(
        recorded,
        source_body=options["source_body"],
        source_roles=options["source_roles"],
    )
    problems_of_script = robot.needed_function("validate")(script)
    show_problems([*problems_of_source(recorded), *problems_of_script])
    _, motion = script.body_and_motion()
    return script, motion


def _balance(body: Body, motion: Motion, simulate: bool, name: str) -> BalancedMotion:
    """Return the motion with the robot in balance, and print its new problems."""
    from bodymotion.balancing import balance

    with progress(f"balancing {name}") as bar:
        balanced = balance(
            body, motion, ground=0.0, simulated=simulate or None, progress=bar
        )
    # Those of the motion have been printed: problems are appended to them.
    show_problems(balanced.problems[len(motion.problems) :])
    return balanced


def _value_for(
    output: Path, body: Body, motion: Motion, script: RobotScript | None
) -> Motion | Skeleton | RobotScript:
    """Return what is written to a file: a motion, a skeleton or a script."""
    from bodymotion.retargeting import to_skeleton

    suffix = output.suffix.lower()
    if script is not None and suffix in _suffixes_of(script):
        return script
    if suffix != ".bvh":
        return motion
    # A .bvh has one frame time; with time stamps it is the mean.
    rate = motion.frame_rate
    if rate is None and motion.duration:
        rate = (motion.num_frames - 1) / motion.duration
    return to_skeleton(body, motion, rate)


def _write_page(
    path: Path,
    recorded: Skeleton | Motion,
    body: Body,
    motion: Motion,
    options: dict[str, Any],
) -> None:
    """Write a page on which source and robot play side by side."""
    from bodymotion.retargeting import side_by_side
    from bodymotion.viewer import view

    view(*side_by_side(recorded, body, motion, **options), output=path)
    written(path)


def _simulate(body: Body, motion: Motion, name: str) -> SimulationResult:
    """Return what becomes of the motion in a simulation."""
    from bodymotion.simulation import simulate

    with progress(f"simulating {name}") as bar:
        return simulate(body, motion, progress=bar)


def _print_results(
    comparison: RetargetComparison,
    report: BalanceReport | None,
    simulation: SimulationResult | None,
    json_output: bool,
) -> None:
    """Print the errors of a result, and what balance and simulation made of it."""
    with results() as stream:
        if json_output:
            data = plain(asdict(comparison))
            if report is not None:
                data["balance"] = plain(asdict(report))
            if simulation is not None:
                data["fall"] = simulation.fall
                data["diverged"] = simulation.diverged
            stream.write(as_json(data))
            return
        stream.write(str(comparison))
        if report is not None:
            stream.write(_balance_rows(report))
        if simulation is not None:
            # The width of the first column is that of the comparison above.
            stream.write(f"{'simulation':<13}{simulation.end_text}\n")


def _suffixes_of(script: RobotScript) -> set[str]:
    """Return the extensions of files that a script can be written to."""
    from bodymotion.formats.registry import FORMATS

    kind = type(script).__name__
    suffixes: set[str] = set()
    for row in FORMATS:
        if row.holds == kind and row.write is not None:
            suffixes.update(row.extensions)
    return suffixes


def robot_named(path: Path) -> Extension | None:
    """Return the extension whose built-in robot is named in place of a model."""
    for extension in extensions():
        if str(path) == extension.name and extension.function("retarget") is not None:
            return extension
    return None


def built_in_body(robot: Extension, motion: Motion | None = None) -> Body:
    """Return the robot of an extension, as a motion needs it."""
    body: Body = robot.needed_function("body")(motion)
    return body


def _has_failed(
    report: BalanceReport | None, simulation: SimulationResult | None
) -> bool:
    """Return whether a robot falls, or a balanced motion has another length."""
    if report is not None and (report.has_failed or report.has_other_length):
        return True
    return simulation is not None and simulation.has_failed


def _balance_rows(report: BalanceReport) -> str:
    """Return what balancing did to a retargeted motion."""
    safe = f"{100 * report.safe_after:.1f} % of the frames are safe"
    rows = [f"{report.outcome}: {safe}, {100 * report.safe_before:.1f} % before"]
    if report.has_other_length:
        length = f"{report.seconds:.2f} s long, {report.seconds_before:.2f} s before"
        rows.append(length)
    for part in report.kept:
        span = f"{part.begin:.2f} s to {part.end:.2f} s"
        rows.append(f"not balanced from {span}: {part.reason}")
    # What was not fixed, with the reason.
    rows += [f"not fixed: {text}" for text in report.remaining]
    return "".join(f"{'balance':<13}{one_line(row)}\n" for row in rows)


def _roles(path: Path | None) -> dict[str, dict[str, str]]:
    """Return the names of joints by role, for `source` and `body`."""
    from bodymotion.formats.plain import read_plain_yaml
    from bodymotion.formats.resources import file_bytes
    from bodymotion.formats.yaml.rules import KEY_TWICE

    roles: dict[str, dict[str, str]] = {"source": {}, "body": {}}
    if path is None:
        return roles
    expected = "expected `source` and `body` with rows such as `left knee: LLEG_KNEE`"
    # A key that is there twice would silently lose a row.
    problems = Diagnostics(path)
    try:
        value, _ = read_plain_yaml(file_bytes(path, MAX_MAP), path, problems)
    except FormatError as error:
        raise click.BadParameter(
            one_line(f"{error.problem}; {expected}"), param_hint="--map"
        ) from None
    for problem in problems.problems:
        if problem.rule == KEY_TWICE.code:
            message = f"{problem.location}: {problem.message}; expected one row"
            raise click.BadParameter(one_line(message), param_hint="--map")
    if not isinstance(value, dict) or not set(value) <= set(roles):
        raise click.BadParameter(f"{path}: {expected}", param_hint="--map")
    for rows in value.values():
        is_sound = isinstance(rows, dict) and all(
            isinstance(name, str) for name in rows.values()
        )
        if not is_sound:
            raise click.BadParameter(f"{path}: {expected}", param_hint="--map")
    roles.update(value)
    return roles


def _table(source: Figure, body: Figure, json_output: bool) -> str:
    """Return which joints have which roles, on both sides."""
    from bodymotion.retargeting.roles import QUADRUPED_ROLES, ROLES

    # With a person and a quadruped, the roles of both, those of the source first.
    roles: dict[str, None] = {}
    for figure in (source, body):
        roles |= dict.fromkeys(QUADRUPED_ROLES if figure.is_quadruped else ROLES)
    if json_output:
        return as_json(
            {
                role: {"source": _joint_of(source, role), "body": _joint_of(body, role)}
                for role in roles
            }
        )
    rows = [
        (role, _joint_of(source, role) or "-", _joint_of(body, role) or "-")
        for role in roles
    ]
    # Columns as wide as the longest name in them, and two blanks.
    role_width = max(len(role) for role, _, _ in rows) + 2
    source_width = max(len(name) for _, name, _ in rows) + 2
    lines = [
        one_line(f"{role:<{role_width}}{of_source:<{source_width}}{of_body}")
        for role, of_source, of_body in rows
    ]
    return "".join(f"{line}\n" for line in lines)


def _joint_of(figure: Figure, role: str) -> str | None:
    """Return the name of the joint with a role, None where there is none."""
    if role not in figure.points:
        return None
    joint, *_ = figure.points[role]
    return figure.names[joint]
