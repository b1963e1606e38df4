"""`bodymotion ik MODEL [MOTION] --to LINK=X,Y,Z…`.

The joint values that bring links to their targets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from click import IntRange

from bodymotion.cli import failures
from bodymotion.cli.options import (
    AsJson,
    ByPosition,
    NameList,
    ReaderOptions,
    Verbose,
    check_output,
    check_reading,
    found_by,
    load_body,
    load_motion,
    numbers,
    reads_files,
    reports_losses,
    show_reading,
)
from bodymotion.cli.output import Data, number, one_line, progress, results, saved
from bodymotion.cli.output import as_json as json_text
from bodymotion.diagnostics.text import counted

if TYPE_CHECKING:
    from bodymotion.geometry.arrays import Floats
    from bodymotion.model.body import Body
    from bodymotion.model.ik import Solution, Task

Texts = list[str] | None


@reports_losses
@reads_files
def ik(
    reading: ReaderOptions,
    model: Path,
    motion: Path | None = None,
    to: Texts = None,
    look: Texts = None,
    center_of_mass: str | None = None,
    pin: Texts = None,
    free_root: bool | None = None,
    joints: NameList = None,
    restarts: Annotated[int, IntRange(0, 10000)] = 30,
    output: Path | None = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    by_position: ByPosition = False,
) -> None:
    """Compute the joint values that bring links to their targets.

    Joints stay within their limits. Without -o the values are printed. Exit code 1: a
    target was missed; the nearest pose is written in any case.

    \b
    Examples:
      bodymotion ik robot.wrl --to R_WRIST=0.35,-0.25,1.05
      bodymotion ik robot.wrl walk.seq --to R_WRIST=0.4,-0.2,0.9 --pin L_FOOT -o a.seq

    Options:
      model MODEL: A model.
      motion [MOTION]: The search begins at its first frame; by default at 0.
      --to LINK=X,Y,Z[,ROLL,PITCH,YAW]: A position or pose in the world [m, degrees];
        repeatable.
      --look LINK=X,Y,Z: The x axis of the link points at this position; repeatable.
      --center-of-mass X,Y[,Z]: The centre of mass is there; without Z, above or below
        it.
      --pin LINK: The link stays, and the root moves; repeatable.
      --joints NAMES: The joints that may move; by default all.

    More options:
      --free-root/--fixed-root: Whether the root moves; by default if a link is pinned.
      --restarts N: Random poses to begin at where targets are missed.

    Output:
      --output -o OUT: Write the pose as a motion.
    """  # noqa: D301
    from bodymotion.model.closed_loops import columns_of

    with failures("ik"):
        check_output(output, [model])
        check_reading(reading, [path for path in (model, motion) if path is not None])
        body = load_body(model, reading, hint="MODEL")
        show_reading(body)
        joint_values, root = _first_pose(body, motion, reading, by_position)
        tasks = _tasks(body, to or (), look or (), center_of_mass)
        # Names are checked here, so that a message names the option.
        for name in pin or ():
            found_by("--pin", body.link, name)
        if joints is not None:
            found_by("--joints", columns_of, body, joints)
        if not tasks:
            raise click.BadParameter(
                "no target given; use --to, --look or --center-of-mass", param_hint="ik"
            )
        # The first time, code is compiled for some seconds.
        with progress(f"solving for {model.name} (code is compiled on first use)"):
            solution = body.ik(
                tasks=tasks,
                q0=joint_values,
                root=root,
                free_root=free_root,
                pinned=pin or (),
                joints=joints,
                restarts=restarts,
            )
        with results() as stream:
            if as_json:
                stream.write(json_text(_data(body, solution)))
            else:
                lines = [*_target_lines(body, solution, verbose)]
                if output is None:
                    lines += _joint_lines(body, solution)
                stream.writelines(f"{one_line(line)}\n" for line in lines)
        code = 0
        if output is not None:
            code = saved(solution.motion(), output)
        # A missed target is a result, with an exit code that programs see.
        raise click.exceptions.Exit(code if solution.reached else 1)


def _first_pose(
    body: Body, path: Path | None, reading: ReaderOptions, by_position: bool
) -> tuple[Floats, Floats]:
    """Return the joint values and the root pose of the first frame of a motion.

    Without a motion, those of the body at rest.
    """
    from bodymotion.model.body import by_position as named_by_position
    from bodymotion.scene.scene import make_scene

    motion = None
    if path is not None:
        motion = load_motion(path, reading, body, hint="MOTION")
        if by_position:
            motion = named_by_position(motion, body)
    # The pose that `view` shows: the scene has a root pose also where the motion has
    # none.
    scene = make_scene(body, motion)
    return scene.q[0], scene.link_poses[0, 0]


def _tasks(
    body: Body,
    to: Sequence[str],
    look: Sequence[str],
    center_of_mass: str | None,
) -> list[Task]:
    """Return the targets in the texts of options."""
    import numpy as np

    from bodymotion.geometry import rotations
    from bodymotion.model.ik import CenterOfMassTask, FrameTask, LookAtTask

    tasks: list[Task] = []
    for text in to:
        link, target = _link_and_numbers(
            text, "--to", body, (3, 6), "X,Y,Z or X,Y,Z,ROLL,PITCH,YAW"
        )
        # Roll, pitch and yaw in degrees become the quaternion of a pose (7,).
        if len(target) == 6:
            rotation = rotations.from_rpy(np.radians(target[3:]))
            target = [*target[:3], *rotation]
        tasks.append(FrameTask(link, target))
    for text in look:
        link, target = _link_and_numbers(text, "--look", body, (3,), "X,Y,Z")
        tasks.append(LookAtTask(link, target))
    if center_of_mass is not None:
        position = numbers("--center-of-mass", center_of_mass, (2, 3), "X,Y or X,Y,Z")
        tasks.append(CenterOfMassTask(position))
    return tasks


def _link_and_numbers(
    text: str, option: str, body: Body, counts: tuple[int, ...], expected: str
) -> tuple[str, list[float]]:
    """Return the link and the numbers of LINK=NUMBERS."""
    # The last =: the name of a link may have one.
    name, _, rest = text.rpartition("=")
    found_by(option, body.link, name)
    return name, numbers(option, rest, counts, expected)


def _data(body: Body, solution: Solution) -> Data:
    """Return a solution as JSON can hold it."""
    missed = {}
    for name, (distance, angle) in solution.missed.items():
        missed[name] = {"distance": distance, "angle": angle}
    joints = {}
    for label, value in zip(_labels(body), solution.q, strict=True):
        joints[label] = number(value)
    return {
        "reached": bool(solution.reached),
        "missed": missed,
        "root": [number(value) for value in solution.root],
        "joints": joints,
    }


def _labels(body: Body) -> list[str]:
    """Return a name for each joint."""
    return [joint.name or f"joint {k}" for k, joint in enumerate(body.joints)]


def _target_lines(body: Body, solution: Solution, verbose: bool) -> Iterator[str]:
    """Yield which targets are reached.

    Closed loops are counted only, unless they are open or `verbose`.
    """
    import numpy as np

    # The loops are the last tasks.
    loops = solution.names[len(solution.names) - len(body.extra_joints) :]
    closed = [name for name in loops if name not in solution.missed]
    hidden = [] if verbose else closed
    for name in dict.fromkeys(solution.names):
        if name in hidden:
            continue
        distance, angle = solution.missed.get(name, (0.0, 0.0))
        if distance or angle:
            error = f"{1e3 * distance:.3g} mm, {np.degrees(angle):.3g}°"
            yield f"{name}: missed by {error}"
        else:
            yield f"{name}: reached"
    if loops:
        yield f"{len(closed)} of {counted(len(loops), 'loop')} closed"


def _joint_lines(body: Body, solution: Solution) -> Iterator[str]:
    """Yield the value of each joint."""
    import numpy as np

    for label, joint, value in zip(_labels(body), body.joints, solution.q, strict=True):
        if joint.type == "slide":
            yield f"  {label} {value:.4f} m"
        else:
            yield f"  {label} {np.degrees(value):.2f}°"
