"""`bodymotion convert IN OUT`: a motion or a model in another format; a motion in another version, order or unit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from bodymotion.cli.options import ByPosition, ReaderOptions, name_list, positive, reads_files
from bodymotion.cli.output import failures
from bodymotion.formats.registry import FORMATS

__all__ = ["convert"]


NAMES = ", ".join(f"{row.name} ({' '.join(row.extensions)})" if row.extensions else row.name for row in FORMATS)

NOT_FOR_FORMATS = {"files", "reading", "read_as", "write_as", "every"}
"""Parameters of the command that are no options of readers, writers or changes."""
SWITCHES = ("fix_inertia", "strict", "by_position")
"""Options that are not used where they are off."""


@reads_files
def convert(
    reading: ReaderOptions,
    files: Annotated[
        list[Path],
        Argument(
            metavar="[MODEL] IN OUT",
            help="A motion, a model or key poses; and the new file, whose extension names the format: it may be IN. A MODEL before them is "
            "that of --body.",
        ),
    ],
    read_as: Annotated[
        str | None, Option("--from", metavar="FORMAT", help=f"The format of IN, whatever its content: {NAMES}.")
    ] = None,
    write_as: Annotated[
        str | None, Option("--to", metavar="FORMAT", help="The format of OUT, whatever its extension.")
    ] = None,
    version: Annotated[
        Literal["1", "2", "3", "4"] | None,
        Option("--seq-version", help="The version of a .seq; by default that of IN, 4 for other formats."),
    ] = None,
    style: Annotated[
        Literal["block", "json", "canonical"] | None,
        Option(
            help="Of a .seq: block (YAML as in the documents) or json. Of a .cha: canonical, the order of the document. By default as IN."
        ),
    ] = None,
    se3_format: Annotated[
        Literal["XYZQWQXQYQZ", "XYZQXQYQZQW", "XYZRPY"] | None, Option(help="The order of a pose's numbers in a .seq.")
    ] = None,
    frame_time: Annotated[
        bool | None, Option("--frame-time/--no-frame-time", help="Write time stamps with all frames, or with none.")
    ] = None,
    digits: Annotated[int | None, Option(min=1, max=15, help="Round values to so many significant digits.")] = None,
    rate: Annotated[
        float | None,
        Option("--rate", "-r", metavar="HZ", callback=positive, help="Resample the motion to this frame rate."),
    ] = None,
    method: Annotated[
        Literal["after", "nearest", "before", "linear", "cubic", "pchip"] | None,
        Option("--method", "-m", help="Interpolation with --rate; see retime."),
    ] = None,
    body: Annotated[
        Path | None,
        Option(
            "--body",
            "-b",
            metavar="MODEL",
            help="The model whose joints name the columns of a table; the columns of OUT are in its order.",
        ),
    ] = None,
    layout: Annotated[
        Literal["unitree", "beyondmimic"] | None,
        Option(help="Columns of a table without names: of IN if that is a .csv, else of OUT."),
    ] = None,
    link_names: Annotated[
        str | None,
        Option(
            metavar="A,B,…",
            callback=name_list,
            help="Names for the links of an .npz; `segments` names the links of a URDF after their segments.",
        ),
    ] = None,
    degrees: Annotated[
        bool | None,
        Option(
            "--degrees/--radians",
            "--input-degrees/--input-radians",
            help="Unit of angles in a .csv: of IN if that is one, else of OUT.",
        ),
    ] = None,
    mesh: Annotated[
        Literal["inline", "parts", "glb", "obj", "stl"] | None,
        Option(
            help="Where meshes are written: into a .wrl (inline) or files beside it (parts); beside a URDF or MJCF as glb, obj, stl."
        ),
    ] = None,
    scale: Annotated[
        float | None,
        Option(
            metavar="FACTOR",
            callback=positive,
            help="Multiply all lengths of a model by this; masses stay. 0.001 converts millimetres to metres.",
        ),
    ] = None,
    root: Annotated[str | None, Option(metavar="LINK", help="Make this link the root link.")] = None,
    fix_inertia: Annotated[
        bool,
        Option(
            "--fix-inertia", help="Repair masses and inertias that no rigid body can have; each repair is reported."
        ),
    ] = False,
    strict: Annotated[
        bool,
        Option(
            "--strict", help="Reject masses and inertias that MuJoCo refuses. By default they are repaired for an MJCF."
        ),
    ] = False,
    self_collision: Annotated[
        Literal["none", "touching", "all"] | None,
        Option(
            help="Links of an MJCF that do not collide with each other: all (none), those that overlap at rest (touching, the default), or "
            "only those of one joint (all)."
        ),
    ] = None,
    actuators: Annotated[
        Literal["motor", "position", "none"] | None,
        Option(help="Actuators of an MJCF: torques (motor, the default), servos (position), or none."),
    ] = None,
    gains: Annotated[
        Path | None,
        Option(metavar="FILE", help="Gains of position actuators: a line `kp kd` or `name kp kd` for each joint."),
    ] = None,
    collision_shapes: Annotated[
        Literal["mesh", "hull", "box"] | None,
        Option(help="Collision meshes of an MJCF: as they are (mesh), as hulls of 64 vertices, or as boxes."),
    ] = None,
    friction: Annotated[
        float | None, Option(min=0, help="Coefficient of friction of the floor of an MJCF; 1 by default.")
    ] = None,
    package: Annotated[str | None, Option(metavar="NAME", help="Name a URDF's meshes as package://NAME/…")] = None,
    move_params_config: Annotated[
        Path | None,
        Option(
            "--move-params",
            metavar="FILE",
            help="The MoveParamsConfig of a robot: limits of parameters that a .cha only names, for .cap and .pb.",
        ),
    ] = None,
    steps: Annotated[
        Literal["stealthy", "toe", "none"] | None,
        Option(help="How feet depart and arrive between key poses: they rise first (stealthy), or roll over the toe."),
    ] = None,
    automatic_zmp: Annotated[
        bool | None,
        Option("--zmp/--no-zmp", help="Whether key poses without a zero moment point get one; by default they do."),
    ] = None,
    tolerance: Annotated[
        float | None,
        Option(
            "--fit",
            metavar="TOLERANCE",
            callback=positive,
            help="How far key poses that are made of a motion may be from it [rad or m]; 0.01 by default.",
        ),
    ] = None,
    legs: Annotated[
        Literal["joints", "feet"] | None,
        Option(
            help="How an animation that is made from a motion of Spot describes the legs: joint angles or foot positions."
        ),
    ] = None,
    bpm: Annotated[
        float | None,
        Option(
            metavar="BPM",
            callback=positive,
            help="Beats per minute of the animation that is written, or at which one is played.",
        ),
    ] = None,
    by_position: ByPosition = False,
    every: Annotated[
        bool, Option("--all", help="Report every loss; by default those of one rule are grouped.")
    ] = False,
) -> None:
    """Convert a motion or a model to another format.

    A motion can also get another version, order or unit. Formats are recognized by content and extension; --from lists them. A motion of
    Spot becomes an animation, and an animation is played. Key poses become the motion between them, and a motion becomes key poses. What
    the new file cannot hold is listed on stderr; the exit code is 3 if that matters. OUT is written whole or not at all. From .seq to
    .seq, files of any size are copied piece by piece.

    \b
    Examples:
      bodymotion convert walk.seq old.seq --seq-version 1
      bodymotion convert walk.seq walk.json
      bodymotion convert table.csv walk.seq --input-rate 200 --degrees --body robot.wrl
      bodymotion convert lafan.csv dance.seq --layout unitree
      bodymotion convert Sample.pos sample.seq --from-zero
      bodymotion convert SR1.wrl sr1.urdf --mesh stl
      bodymotion convert SR1.wrl sr1.xml --actuators position
      bodymotion convert wave.cha wave.cap
      bodymotion convert trot.cha trot.seq
      bodymotion convert robot.wrl dance.pseq dance.seq
      bodymotion convert robot.wrl walk.seq walk.pseq --fit 0.02
    """  # noqa: D301
    used = dict(locals())
    from bodymotion.cli.conversion import Options, run

    if len(files) not in (2, 3) or (len(files) == 3 and body is not None):
        raise typer.BadParameter(f"expected IN OUT, or MODEL IN OUT without --body; got {len(files)} files")
    *models, source, target = files
    body = models[0] if models else body
    given = {name: value for name, value in used.items() if name not in NOT_FOR_FORMATS}
    given |= {"body": body, **{name: given[name] or None for name in SWITCHES}}
    options = Options(given, reading, read_as, write_as, every)
    with failures("convert"):
        run(source, target, options)
