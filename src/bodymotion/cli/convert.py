"""`bodymotion convert IN OUT`: a motion or a model in another format; a motion in another version, order or unit."""

from pathlib import Path
from typing import Annotated, Literal

import click
from click import FloatRange, IntRange

from bodymotion.cli.app import ByPosition, NameList, Positive, ReaderOptions, reads_files
from bodymotion.cli.output import failures
from bodymotion.formats.registry import FORMATS

NAMES = ", ".join(f"{row.name} ({' '.join(row.extensions)})" if row.extensions else row.name for row in FORMATS)

NOT_FOR_FORMATS = {"files", "reading", "read_as", "write_as", "every"}
"""Parameters of the command that are no options of readers, writers or changes."""
SWITCHES = ("fix_inertia", "strict", "by_position")  # Options that are not used where they are off.


@reads_files
def convert(
    reading: ReaderOptions,
    files: list[Path],
    read_as: Annotated[str | None, f"--from FORMAT: The format of IN, whatever its content: {NAMES}."] = None,
    write_as: str | None = None,
    version: Literal["1", "2", "3", "4"] | None = None,
    style: Literal["block", "json", "canonical"] | None = None,
    se3_format: Literal["XYZQWQXQYQZ", "XYZQXQYQZQW", "XYZRPY"] | None = None,
    frame_time: bool | None = None,
    encoding: Literal["cdr", "json"] | None = None,
    digits: Annotated[int | None, IntRange(1, 15)] = None,
    rate: Positive = None,
    method: Literal["after", "nearest", "before", "linear", "cubic", "pchip"] | None = None,
    body: Path | None = None,
    layout: Literal["unitree", "beyondmimic"] | None = None,
    link_names: NameList = None,
    degrees: bool | None = None,
    mesh: Literal["inline", "parts", "glb", "obj", "stl"] | None = None,
    scale: Positive = None,
    root: str | None = None,
    fix_inertia: bool = False,
    strict: bool = False,
    self_collision: Literal["none", "touching", "all"] | None = None,
    actuators: Literal["motor", "position", "none"] | None = None,
    gains: Path | None = None,
    collision_shapes: Literal["mesh", "hull", "box"] | None = None,
    friction: Annotated[float | None, FloatRange(0)] = None,
    package: str | None = None,
    move_params_config: Path | None = None,
    steps: Literal["stealthy", "toe", "none"] | None = None,
    automatic_zmp: bool | None = None,
    tolerance: Positive = None,
    legs: Literal["joints", "feet"] | None = None,
    bpm: Positive = None,
    by_position: ByPosition = False,
    every: bool = False,
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

    Options:
      files [MODEL] IN OUT: A motion, a model or key poses; and the new file, whose extension names the format: it may be IN. A MODEL
        before them is that of --body.
      write_as --to FORMAT: The format of OUT, whatever its extension; lerobot is a new folder with one data set of all motions.
      version --seq-version: The version of a .seq; by default that of IN, 4 for other formats.
      --style: Of a .seq: block (YAML as in the documents) or json. Of a .cha: canonical, the order of the document. By default as IN.
      --se3-format: Order of the numbers of a pose in a .seq.
      --encoding: Of the messages of an .mcap: cdr of ROS 2, or json.
      --frame-time/--no-frame-time: Write time stamps with all frames, or with none.
      --digits: Round values to this number of significant digits.
      --rate -r HZ: Resample the motion to this frame rate.
      --method -m: Interpolation with --rate; see retime.
      --body -b MODEL: The model whose joints name the columns of a table; the columns of OUT are in its order.
      --layout: Columns of a table without names: of IN if that is a .csv, else of OUT.
      --link-names A,B,…: Names for the links of an .npz; `segments` names the links of a URDF after their segments.
      --degrees/--radians --input-degrees/--input-radians: Unit of angles in a .csv: of IN if that is one, else of OUT.
      --mesh: Where meshes are written: into a .wrl (inline) or files beside it (parts); beside a URDF or MJCF as glb, obj, stl.
      --scale FACTOR: Multiply all lengths of a model by this; masses stay. 0.001 converts millimetres to metres.
      --root LINK: Make this link the root link.
      --fix-inertia: Repair impossible masses and inertias; each repair is reported.
      --strict: Reject masses and inertias that MuJoCo rejects. By default they are repaired for an MJCF.
      --self-collision: Links of an MJCF that do not collide with each other: all (none), those that overlap at rest (touching, the
        default), or only those of one joint (all).
      --actuators: Actuators of an MJCF: torques (motor, the default), servos (position), or none.
      --gains FILE: Gains of position actuators: a line `kp kd` or `name kp kd` for each joint.
      --collision-shapes: Collision meshes of an MJCF: as they are (mesh), as hulls of 64 vertices, or as boxes.
      --friction: Coefficient of friction of the floor of an MJCF; 1 by default.
      --package NAME: Name a URDF's meshes as package://NAME/…
      move_params_config --move-params FILE: The MoveParamsConfig of a robot: limits of parameters that a .cha only names, for .cap and
        .pb.
      --steps: How feet depart and arrive between key poses: they rise first (stealthy), or roll over the toe.
      automatic_zmp --zmp/--no-zmp: Add a zero moment point to key poses without one; by default on.
      tolerance --fit TOLERANCE: Maximum error of key poses that are made from a motion [rad or m]; 0.01 by default.
      --legs: How an animation that is made from a motion of Spot describes the legs: joint angles or foot positions.
      --bpm BPM: Beats per minute of the animation that is written, or at which one is played.
      every --all: Report every loss; by default those of one rule are grouped.
    """  # noqa: D301
    used = dict(locals())
    from bodymotion.cli.conversion import Options, run

    if len(files) not in (2, 3) or (len(files) == 3 and body is not None):
        raise click.BadParameter(f"expected IN OUT, or MODEL IN OUT without --body; got {len(files)} files")
    *models, source, target = files
    body = models[0] if models else body
    values = {name: value for name, value in used.items() if name not in NOT_FOR_FORMATS}
    values |= {"body": body, **{name: values[name] or None for name in SWITCHES}}
    options = Options(values, reading, read_as, write_as, every)
    with failures("convert"):
        run(source, target, options)
