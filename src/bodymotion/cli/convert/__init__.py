"""`bodymotion convert IN OUT`: a motion or a model in another format; a motion in another version, order or unit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bodymotion.cli.given import positive
from bodymotion.cli.options import AllowOutside, PackagePath

if TYPE_CHECKING:
    from bodymotion.formats.registry import Format

__all__ = ["convert"]


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A motion or a model.", show_default=False)],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="Where it goes; the extension names the format. May be IN.", show_default=False
        ),
    ],
    read_as: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format of IN, whatever it looks like.")
    ] = None,
    write_as: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="The format of OUT, whatever its extension.")
    ] = None,
    version: Annotated[
        Literal["1", "2", "3", "4"] | None,
        typer.Option(
            "--seq-version",
            help="The version of a .seq; by default that of IN, 4 for other formats.",
            show_default=False,
        ),
    ] = None,
    style: Annotated[
        Literal["block", "json", "canonical"] | None,
        typer.Option(
            "--style",
            help="Of a .seq: YAML as in the documents, or JSON. Of a .cha: canonical, the document's order. By default as IN.",
            show_default=False,
        ),
    ] = None,
    se3_format: Annotated[
        Literal["XYZQWQXQYQZ", "XYZQXQYQZQW", "XYZRPY"] | None,
        typer.Option("--se3-format", help="The order of a pose's numbers in a .seq.", show_default=False),
    ] = None,
    frame_time: Annotated[
        bool | None,
        typer.Option(
            "--frame-time/--no-frame-time", help="Write time stamps with all frames, or none.", show_default=False
        ),
    ] = None,
    digits: Annotated[
        int | None,
        typer.Option("--digits", min=1, max=15, help="Round values to so many significant digits.", show_default=False),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate",
            "-r",
            metavar="HZ",
            callback=positive,
            help="Put the motion on this frame rate.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        Literal["after", "nearest", "before", "linear", "cubic", "pchip"] | None,
        typer.Option("--method", "-m", help="With --rate: what is between frames; see retime.", show_default=False),
    ] = None,
    body: Annotated[
        Path | None,
        typer.Option(
            "--body",
            "-b",
            metavar="MODEL",
            help="The model whose joints the columns of a table are, by name; those of OUT are in its order.",
            show_default=False,
        ),
    ] = None,
    layout: Annotated[
        Literal["unitree", "beyondmimic"] | None,
        typer.Option(
            "--layout",
            help="What the columns of a table without names are: of IN, where that is a .csv, else of OUT.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="A,B,…", help="Names for the columns of a .csv.", show_default=False),
    ] = None,
    joint_names: Annotated[
        str | None,
        typer.Option("--joint-names", metavar="A,B,…", help="Names for the joints of an .npz.", show_default=False),
    ] = None,
    link_names: Annotated[
        str | None,
        typer.Option("--link-names", metavar="A,B,…", help="Names for the links of an .npz.", show_default=False),
    ] = None,
    input_rate: Annotated[
        float | None,
        typer.Option(
            "--input-rate",
            metavar="HZ",
            callback=positive,
            help="The frame rate of a .csv without times.",
            show_default=False,
        ),
    ] = None,
    degrees: Annotated[
        bool | None,
        typer.Option(
            "--degrees/--radians",
            help="The unit of angles in a .csv: of IN, where that is one, else of OUT.",
            show_default=False,
        ),
    ] = None,
    quaternion_order: Annotated[
        Literal["wxyz", "xyzw"] | None,
        typer.Option(
            "--quaternion-order",
            help="The order of a .csv's quaternions, where its names do not say it.",
            show_default=False,
        ),
    ] = None,
    from_zero: Annotated[
        bool, typer.Option("--from-zero", help="Take the first time of a table off all its times.")
    ] = False,
    mesh: Annotated[
        Literal["inline", "parts", "glb", "obj", "stl"] | None,
        typer.Option(
            "--mesh",
            help="Where the meshes of a model go: into a .wrl (inline) or files beside it (parts); beside a URDF or MJCF as glb, obj, stl.",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            "--scale",
            metavar="FACTOR",
            callback=positive,
            help="All lengths of a model times this; masses stay. 0.001: it was in millimetres.",
            show_default=False,
        ),
    ] = None,
    root: Annotated[
        str | None,
        typer.Option("--root", metavar="LINK", help="Hang the model up by this link.", show_default=False),
    ] = None,
    fix_inertia: Annotated[
        bool, typer.Option("--fix-inertia", help="Repair masses and inertias that no rigid body has, and say each.")
    ] = False,
    package: Annotated[
        str | None,
        typer.Option("--package", metavar="NAME", help="Name a URDF's meshes as package://NAME/…", show_default=False),
    ] = None,
    package_path: PackagePath = None,
    move_params: Annotated[
        Path | None,
        typer.Option(
            "--move-params",
            metavar="FILE",
            help="A robot's MoveParamsConfig: the limits of parameters that a .cha only names, for .cap and .pb.",
            show_default=False,
        ),
    ] = None,
    legs: Annotated[
        Literal["joints", "feet"] | None,
        typer.Option(
            "--legs",
            help="How a motion of Spot says its legs as an animation: by joints, or by where the feet are.",
            show_default=False,
        ),
    ] = None,
    bpm: Annotated[
        float | None,
        typer.Option(
            "--bpm",
            metavar="BPM",
            callback=positive,
            help="Beats per minute: of the animation that is made of a motion, or at which one is played.",
            show_default=False,
        ),
    ] = None,
    allow_outside: AllowOutside = False,
    every: Annotated[
        bool, typer.Option("--all", help="Name every loss; else a few of each kind, and how many there are.")
    ] = False,
) -> None:
    """Write a motion or a model in another format; a motion in another version, order or unit, too.

    Formats are known by content and extension. Motions: .seq .yaml .json (Choreonoid), .csv, .npz, .pos .waist .hip .zmp (OpenHRP).
    Models: .wrl (OpenHRP), .urdf, .xml (MJCF), and .body (Choreonoid) to read. Spot animations: .cha, and .cap or .pb, the vendor's
    message; logs of a Spot's states to read. A motion of Spot becomes an animation, and an animation is played. What the new file does
    not hold is listed on stderr, and the exit code is 3 then. OUT is written whole or not at all. From .seq to .seq a file of any size is
    copied piece by piece.

    \b
    Examples:
      bodymotion convert walk.seq old.seq --seq-version 1
      bodymotion convert walk.seq walk.json
      bodymotion convert table.csv walk.seq --input-rate 200 --degrees --body robot.wrl
      bodymotion convert lafan.csv dance.seq --layout unitree
      bodymotion convert Sample.pos sample.seq --from-zero
      bodymotion convert SR1.wrl sr1.urdf --mesh stl
      bodymotion convert SR1.wrl sr1.xml --fix-inertia
      bodymotion convert wave.cha wave.cap
      bodymotion convert trot.cha trot.seq
    """  # noqa: D301
    from bodymotion.cli.convert.model import convert_model
    from bodymotion.cli.convert.motion import convert_motion
    from bodymotion.cli.convert.options import Options
    from bodymotion.cli.convert.spot import convert_move, is_move
    from bodymotion.cli.failures import failures

    options = Options(
        {
            "version": version,
            "style": style,
            "se3_format": se3_format,
            "frame_time": frame_time,
            "digits": digits,
            "rate": rate,
            "method": method,
            "body": body,
            "layout": layout,
            "columns": columns.split(",") if columns else None,
            "joint_names": joint_names.split(",") if joint_names else None,
            "link_names": link_names.split(",") if link_names else None,
            "frame_rate": input_rate,
            "degrees": degrees,
            "quaternion_order": quaternion_order,
            "from_zero": from_zero or None,
            "mesh": mesh,
            "scale": scale,
            "root": root,
            "fix_inertia": fix_inertia or None,
            "package": package,
            "move_params_config": move_params,
            "legs": legs,
            "bpm": bpm,
            "package_paths": tuple(package_path) if package_path else None,
        },
        write_as=write_as,
        allow_outside=allow_outside,
        every=every,
    )
    with failures("convert"):
        came = _source_format(source, read_as, write_as)
        run = convert_motion if came.holds == "Motion" else convert_model
        if is_move(came, target, write_as):
            run = convert_move
        raise typer.Exit(run(source, target, came, options))


def _source_format(source: Path, read_as: str | None, write_as: str | None) -> Format:
    from bodymotion.diagnostics import FormatError
    from bodymotion.formats.registry import find_format, named_format

    try:
        if write_as is not None:
            named_format(write_as)
        return find_format(source) if read_as is None else named_format(read_as)
    except FormatError:
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--from, --to") from None
