"""`bodymotion ik MODEL [MOTION] --to LINK=X,Y,Z…`.

The joint values that bring links to their targets.
"""

from __future__ import annotations

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
from bodymotion.cli.output import as_json as json_text
from bodymotion.cli.output import number, one_line, progress, results, saved
from bodymotion.diagnostics.text import counted

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.model.ik import Task

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
      bodymotion ik robot.wrl walk.seq --to R_WRIST=0.4,-0.2,0.9,0,-90,0 --pin R_ANKLE_ROLL --pin L_ANKLE_ROLL -o reach.seq

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
    import numpy as np

    from bodymotion.geometry import rotations
    from bodymotion.model.body import by_position as named_by_position
    from bodymotion.model.closed_loops import columns_of
    from bodymotion.model.ik import CenterOfMassTask, FrameTask, LookAtTask
    from bodymotion.scene.scene import make_scene

    with failures("ik"):
        check_output(output, [model])
        check_reading(reading, [path for path in (model, motion) if path is not None])
        body = load_body(model, reading, hint="MODEL")
        show_reading(body)
        if motion is None:
            start = None
        else:
            start = load_motion(motion, reading, body, hint="MOTION")
        scene = make_scene(
            body,
            named_by_position(start, body)
            if start is not None and by_position
            else start,
        )
        tasks: list[Task] = []
        for text in to or ():
            link, x = _link(text, "--to", body, (3, 6), "X,Y,Z or X,Y,Z,ROLL,PITCH,YAW")
            tasks.append(
                FrameTask(
                    link,
                    x
                    if len(x) == 3
                    else [*x[:3], *rotations.from_rpy(np.radians(x[3:]))],
                )
            )
        for text in look or ():
            tasks.append(LookAtTask(*_link(text, "--look", body, (3,), "X,Y,Z")))
        if center_of_mass is not None:
            tasks.append(
                CenterOfMassTask(
                    numbers("--center-of-mass", center_of_mass, (2, 3), "X,Y or X,Y,Z")
                )
            )
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
            found = body.ik(
                tasks=tasks,
                q0=scene.q[0],
                root=scene.link_poses[0, 0],
                free_root=free_root,
                pinned=pin or (),
                joints=joints,
                restarts=restarts,
            )
        labels = [
            joint.name or f"joint {column}" for column, joint in enumerate(body.joints)
        ]
        with results() as stream:
            if as_json:
                data = {
                    "reached": bool(found.reached),
                    "missed": {
                        name: {"distance": far, "angle": angle}
                        for name, (far, angle) in found.missed.items()
                    },
                    "root": [number(value) for value in found.root],
                    "joints": {
                        label: number(value)
                        for label, value in zip(labels, found.q, strict=True)
                    },
                }
                stream.write(json_text(data))
            else:
                # The loops are the last tasks.
                loops = found.names[len(found.names) - len(body.extra_joints) :]
                closed = [name for name in loops if name not in found.missed]
                if verbose:
                    hidden = set()
                else:
                    hidden = set(closed)
                for name in dict.fromkeys(found.names):
                    if name in hidden:
                        continue
                    far, angle = found.missed.get(name, (0.0, 0.0))
                    if far or angle:
                        about = (
                            f"missed by {1e3 * far:.3g} mm, {np.degrees(angle):.3g}°"
                        )
                    else:
                        about = "reached"
                    stream.write(one_line(f"{name}: {about}") + "\n")
                if loops:
                    count = f"{len(closed)} of {counted(len(loops), 'loop')} closed"
                    stream.write(f"{count}\n")
                for label, joint, value in zip(
                    labels, body.joints, found.q, strict=True
                ):
                    if joint.type == "slide":
                        shown = f"{value:.4f} m"
                    else:
                        shown = f"{np.degrees(value):.2f}°"
                    stream.write(
                        ""
                        if output is not None
                        else one_line(f"  {label} {shown}") + "\n"
                    )
        if output is None:
            code = 0
        else:
            code = saved(found.motion(), output)
        raise click.exceptions.Exit(code if found.reached else 1)


def _link(
    text: str, option: str, body: Body, counts: tuple[int, ...], expected: str
) -> tuple[str, list[float]]:
    """Return the link and the numbers of LINK=NUMBERS."""
    name, _, rest = text.rpartition("=")
    found_by(option, body.link, name)
    return name, numbers(option, rest, counts, expected)
