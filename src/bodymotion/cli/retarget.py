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
    from bodymotion.model.body import Body
    from bodymotion.model.scripts import RobotScript
    from bodymotion.motion import Motion
    from bodymotion.retargeting.roles import Figure

MAX_MAP = 1 << 20  # [bytes] A larger file of roles is none.


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
    from bodymotion.formats.registry import find_format, load
    from bodymotion.model.body import by_position as named_by_position
    from bodymotion.model.scripts import RobotScript
    from bodymotion.motion import Motion
    from bodymotion.retargeting import (
        compare_retarget,
        side_by_side,
        to_skeleton,
    )
    from bodymotion.retargeting import retarget as retargeted
    from bodymotion.retargeting.figures import figure_of_body
    from bodymotion.retargeting.skeletons import problems_of_source, with_body
    from bodymotion.retargeting.source import find_moving_figure
    from bodymotion.skeleton import Skeleton
    from bodymotion.viewer import view

    with failures("retarget"):
        given = [
            path
            for path in (source, model, source_body, map_file)
            if path is not None and robot_named(path) is None
        ]
        check_reading(reading, [path for path in given if path != map_file])
        if output is None and html is None and not show_map:
            raise click.BadParameter(
                "name the file of the new motion, or --html", param_hint="--output / -o"
            )
        for path in (output, html):
            check_output(path, given)
        roles = _roles(map_file)
        robot = robot_named(model)
        if robot is not None and (balance or simulate or roles["body"]):
            raise click.UsageError(
                "--balance, --simulate and roles of the body have no effect on "
                f"{robot.kinds[0].robot}"
            )
        if robot is not None:
            body = built_in_body(robot)
        else:
            body = load_body(model, reading, hint="MODEL")
        source_robot = None if source_body is None else robot_named(source_body)
        if source_body and source_robot is None:
            other = load_body(source_body, reading, hint="--source-body")
        else:
            other = None
        row = find_format(source)
        value = load(
            source,
            format=row.name,
            **({} if other is None else {"body": other}),
            **row.options_of(reading),
        )
        if source_robot is not None and not isinstance(value, RobotScript):
            moved = value if isinstance(value, Motion) else None
            other = built_in_body(source_robot, moved)
        if not isinstance(value, Skeleton | Motion | RobotScript):
            raise click.BadParameter(
                f"{source} holds {kind_of(type(value))}, not recorded motion",
                param_hint="SOURCE",
            )
        value, other = with_body(value, other)
        show_problems(
            [problem for problem in value.problems if problem.severity != "note"]
        )
        if by_position and isinstance(value, Motion) and other is not None:
            value = named_by_position(value, other)

        chosen: dict[str, Any] = {
            "source_body": other,
            "roles": roles["body"],
            "source_roles": roles["source"],
        }
        if show_map:
            figures = (
                find_moving_figure(value, other, roles["source"])[0],
                figure_of_body(body, roles["body"]),
            )
            with results() as stream:
                stream.write(_table(*figures, json_output))
            raise click.exceptions.Exit
        script: RobotScript | None = None
        if robot is not None:
            script = robot.needed_function("retarget")(
                value, source_body=other, source_roles=roles["source"]
            )
            found_in_script = robot.needed_function("validate")(script)
            show_problems([*problems_of_source(value), *found_in_script])
            _, motion = script.body_and_motion()
        else:
            with progress(f"retargeting {source.name}"):
                motion = retargeted(value, body, **chosen)
            show_problems(motion.problems)
        # A balanced motion may be slower than its source.
        found = compare_retarget(value, body, motion, **chosen)
        report = None
        if balance:
            from bodymotion.balancing import balance as balanced

            before = motion.problems
            with progress(f"balancing {source.name}") as bar:
                motion = balanced(
                    body,
                    motion,
                    ground=0.0,
                    simulated=simulate or None,
                    progress=bar,
                )
            report = motion.report
            show_problems(motion.problems[len(before) :])
        code = 0
        if output is not None:
            suffix = output.suffix.lower()
            result: Motion | Skeleton = motion
            if suffix == ".bvh":
                rate = motion.frame_rate
                if rate is None and motion.duration:
                    rate = (motion.num_frames - 1) / motion.duration
                result = to_skeleton(body, motion, rate)
            is_script = script is not None and suffix in _suffixes_of(script)
            code = saved(script if is_script else result, output)
        if html is not None:
            view(*side_by_side(value, body, motion, **chosen), output=html)
            written(html)
        result_of_simulation = None
        if simulate:
            from bodymotion.simulation import simulate as simulated

            with progress(f"simulating {source.name}") as bar:
                result_of_simulation = simulated(body, motion, progress=bar)
        with results() as stream:
            if json_output:
                data = plain(asdict(found))
                if report is not None:
                    data["balance"] = plain(asdict(report))
                if result_of_simulation is not None:
                    data["fall"] = result_of_simulation.fall
                    data["diverged"] = result_of_simulation.diverged
                stream.write(as_json(data))
            else:
                stream.write(str(found))
                if report is not None:
                    stream.write(_balance_rows(report))
                if result_of_simulation is not None:
                    end = result_of_simulation.end_text
                    stream.write(f"{'simulation':<13}{end}\n")
        if report is not None and _has_failed(report):
            code = 1
        if result_of_simulation is not None and result_of_simulation.has_failed:
            code = 1
        raise click.exceptions.Exit(code)


def _suffixes_of(script: RobotScript) -> set[str]:
    """Return the extensions of files that a script can be written to."""
    from bodymotion.formats.registry import FORMATS

    kind = type(script).__name__
    rows = [row for row in FORMATS if row.holds == kind and row.write is not None]
    return {suffix for row in rows for suffix in row.extensions}


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


def _has_failed(report: BalanceReport) -> bool:
    """Return whether a motion is not balanced, or has another length."""
    return report.has_failed or report.has_other_length


def _balance_rows(report: BalanceReport) -> str:
    """Return what balancing did to a retargeted motion."""
    safe = f"{100 * report.safe_after:.1f} % of the frames are safe"
    rows = [f"{report.outcome}: {safe}, {100 * report.safe_before:.1f} % before"]
    if report.has_other_length:
        length = f"{report.seconds:.2f} s long, {report.seconds_before:.2f} s before"
        rows.append(length)
    rows += [
        f"not balanced from {part.begin:.2f} s to {part.end:.2f} s: {part.reason}"
        for part in report.kept
    ]
    rows += [f"not fixed: {text}" for text in report.remaining]
    return "".join(f"{'balance':<13}{one_line(row)}\n" for row in rows)


def _roles(path: Path | None) -> dict[str, dict[str, str]]:
    """Return the names of joints by role, for `source` and `body`."""
    from bodymotion.formats.plain import read_plain_yaml
    from bodymotion.formats.resources import file_bytes
    from bodymotion.formats.yaml.rules import KEY_TWICE

    found: dict[str, dict[str, str]] = {"source": {}, "body": {}}
    if path is None:
        return found
    expected = "expected `source` and `body` with rows such as `left knee: LLEG_KNEE`"
    problems = Diagnostics(path)
    try:
        read, _ = read_plain_yaml(file_bytes(path, MAX_MAP), path, problems)
    except FormatError as error:
        raise click.BadParameter(
            one_line(f"{error.problem}; {expected}"), param_hint="--map"
        ) from None
    for problem in problems.problems:
        if problem.rule == KEY_TWICE.code:
            message = f"{problem.location}: {problem.message}; expected one row"
            raise click.BadParameter(one_line(message), param_hint="--map")
    is_sound = (
        isinstance(read, dict)
        and set(read) <= set(found)
        and all(isinstance(rows, dict) for rows in read.values())
        and all(
            isinstance(name, str) for rows in read.values() for name in rows.values()
        )
    )
    if not is_sound:
        raise click.BadParameter(f"{path}: {expected}", param_hint="--map")
    found.update(read)
    return found


def _table(source: Figure, body: Figure, json_output: bool) -> str:
    """Return which joints have which roles, on both sides."""
    from bodymotion.retargeting.roles import QUADRUPED_ROLES, ROLES

    kinds = {
        figure.is_quadruped: QUADRUPED_ROLES if figure.is_quadruped else ROLES
        for figure in (source, body)
    }
    roles = [role for kind in kinds.values() for role in kind]
    rows = {
        role: [
            f.names[f.points[role][0]] if role in f.points else None
            for f in (source, body)
        ]
        for role in roles
    }
    if json_output:
        return as_json(
            {role: {"source": row[0], "body": row[1]} for role, row in rows.items()}
        )
    wide = max(map(len, roles)) + 2
    width = max(len(row[0] or "-") for row in rows.values()) + 2
    return "".join(
        one_line(f"{role:<{wide}}{row[0] or '-':<{width}}{row[1] or '-'}") + "\n"
        for role, row in rows.items()
    )
