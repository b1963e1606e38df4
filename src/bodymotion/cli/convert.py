"""`bodymotion convert IN OUT`: a motion in another format, version, order or unit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bodymotion.cli.given import positive

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.table import Format
    from bodymotion.interpolation import Method

__all__ = ["convert"]

READ = {
    "csv": {"layout", "columns", "frame_rate", "degrees", "quaternion_order", "body", "from_zero"},
    "npz": {"body", "joint_names", "link_names"},
    "openhrp-text": {"body", "from_zero"},
}
WRITE = {
    "seq": {"version", "style", "se3_format", "frame_time", "digits"},
    "csv": {"layout", "body", "degrees", "digits"},
    "npz": {"layout", "body"},
    "openhrp-text": {"body", "digits"},
}
NAMES = {
    "version": "--seq-version",
    "style": "--style",
    "se3_format": "--se3-format",
    "frame_time": "--frame-time",
    "digits": "--digits",
    "layout": "--layout",
    "columns": "--columns",
    "frame_rate": "--input-rate",
    "degrees": "--degrees",
    "quaternion_order": "--quaternion-order",
    "joint_names": "--joint-names",
    "link_names": "--link-names",
    "from_zero": "--from-zero",
}


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A motion.", show_default=False)],
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
        Literal["block", "json"] | None,
        typer.Option("--style", help="YAML as in the documents, or JSON; by default as IN.", show_default=False),
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
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="Also read parts of the model that lie outside its folder.")
    ] = False,
) -> None:
    """Write a motion in another format, version, order or unit.

    Formats are known by content and extension: .seq .yaml .json (Choreonoid), .csv, .npz, .pos .waist .hip .zmp (OpenHRP). What the new
    file does not hold of the motion is listed on stderr, and the exit code is 3 then. OUT is written whole or not at all. From .seq to .seq
    a file of any size is copied piece by piece.

    \b
    Examples:
      bodymotion convert walk.seq old.seq --seq-version 1
      bodymotion convert walk.seq walk.json
      bodymotion convert table.csv walk.seq --input-rate 200 --degrees --body robot.wrl
      bodymotion convert lafan.csv dance.seq --layout unitree
      bodymotion convert Sample.pos sample.seq --from-zero
    """  # noqa: D301
    from bodymotion.cli.changes import failures, load_body
    from bodymotion.cli.messages import show_problem
    from bodymotion.diagnostics import Report

    reading: dict[str, Any] = {
        "columns": columns.split(",") if columns else None,
        "frame_rate": input_rate,
        "quaternion_order": quaternion_order,
        "joint_names": joint_names.split(",") if joint_names else None,
        "link_names": link_names.split(",") if link_names else None,
        "from_zero": from_zero or None,
    }
    writing: dict[str, Any] = {
        "version": version,
        "style": style,
        "se3_format": se3_format,
        "frame_time": frame_time,
        "digits": digits,
    }
    if method is not None and rate is None:
        raise typer.BadParameter("it says how frames are put on a rate: give --rate, too", param_hint="--method")
    with failures("convert"):
        came, goes = _formats(source, target, read_as, write_as)
        (reading if came.name == "csv" and layout == "unitree" else writing)["layout"] = layout
        (reading if came.name == "csv" else writing)["degrees"] = degrees
        read = _options(reading, READ.get(came.name, set()), came)
        write = _options(writing, WRITE.get(goes.name, set()), goes)
        if body is not None:
            takers = [
                options
                for options, known in ((read, READ.get(came.name, ())), (write, WRITE.get(goes.name, ())))
                if "body" in known
            ]
            if not takers:
                raise typer.BadParameter(
                    "no table is read or written whose columns could be joints", param_hint="--body"
                )
            model = load_body(body, allow_outside)
            for options in takers:
                options["body"] = model
        met = _run(source, target, came, goes, read, write, rate, method)
        for problem in met:
            show_problem(problem)
        raise typer.Exit(3 if Report(met).losses else 0)


def _formats(source: Path, target: Path, read_as: str | None, write_as: str | None) -> tuple[Format, Format]:
    from bodymotion.formats.table import find_format, named_format, target_format
    from bodymotion.motion import Motion

    try:
        came = find_format(source) if read_as is None else named_format(read_as)
        if write_as is not None:
            named_format(write_as)
    except ValueError as error:
        from bodymotion.diagnostics import FormatError

        if isinstance(error, FormatError):
            raise
        raise typer.BadParameter(str(error), param_hint="--from, --to") from None
    if came.holds != "Motion":
        raise typer.BadParameter(f"{source} is an {came.title}, not a motion", param_hint="IN")
    return came, target_format(Motion(), target, write_as)


def _options(asked: Mapping[str, object], known: set[str], format: Format) -> dict[str, Any]:
    """Keep what was asked for; an option that says nothing about the format is wrong use."""
    given = {name: value for name, value in asked.items() if value is not None}
    for name in given:
        if name not in known:
            raise typer.BadParameter(f"it says nothing about a {format.title}", param_hint=NAMES[name])
    return given


def _run(
    source: Path,
    target: Path,
    came: Format,
    goes: Format,
    read: dict[str, Any],
    write: dict[str, Any],
    rate: float | None,
    method: Method | None,
) -> tuple[Problem, ...]:
    from bodymotion.cli.changes import load_motion
    from bodymotion.cli.progress import progress

    if came.name == goes.name == "seq":
        if target.suffix.lower() == ".json":
            write.setdefault("style", "json")
        problems = _piece_by_piece(source, target, write, rate, method)
        if problems is not None:
            return problems
    with progress(f"converting {source.name}"):
        motion = (
            load_motion(source, whole="with a frame rate, hold and linear take less")
            if came.name == "seq" and not read
            else came.read(source, **read)
        )
        changed = motion
        if rate is not None:
            stamped = any(component.timeline.stamps is not None for component in motion.timed)
            changed = motion.resample(rate, method or ("after" if stamped else "linear"))
        assert goes.write is not None
        return (*changed.problems, *goes.write(changed, target, **write))


def _piece_by_piece(
    source: Path, target: Path, write: dict[str, Any], rate: float | None, method: Method | None
) -> tuple[Problem, ...] | None:
    """Go from .seq to .seq in little memory; None where the motion is needed as a whole, or is small."""
    from bodymotion.cli.changes import is_large
    from bodymotion.cli.progress import progress
    from bodymotion.formats.files import whole_file
    from bodymotion.formats.seq import open_motion
    from bodymotion.formats.seq.writing import can_copy, copy_seq
    from bodymotion.interpolation import HOLDING

    with progress(f"writing {target.name}") as report, open_motion(source) as reader:
        if rate is None and can_copy(reader, write.get("version"), write.get("frame_time")):
            with whole_file(target) as stream:
                return (*reader.problems, *copy_seq(reader, stream, **write, progress=report))
        stamped = any(header.has_frame_time for header in reader.components)
        used: Method = method or ("after" if stamped else "linear")
        if rate is None or write.get("frame_time") or used not in (*HOLDING, "linear") or not is_large(source, target):
            return None
        from bodymotion.editing.streaming import resample_file

        options = {name: value for name, value in write.items() if name != "frame_time"}
        return resample_file(source, target, rate, used, progress=report, **options)
