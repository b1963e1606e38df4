"""A motion in another format, version, order or unit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bodymotion.cli.convert.options import Options, known

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.registry import Format
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion
    from bodymotion.motion.interpolation import Method

__all__ = ["convert_motion"]

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


def convert_motion(source: Path, target: Path, came: Format, options: Options) -> int:
    """Convert; give the exit code."""
    from bodymotion.cli.changes import load_body
    from bodymotion.cli.convert.report import show_grouped
    from bodymotion.diagnostics import Findings
    from bodymotion.formats.registry import target_format
    from bodymotion.motion import Motion

    rate, method, model = (options.given[name] for name in ("rate", "method", "body"))
    if method is not None and rate is None:
        raise typer.BadParameter("it says how frames are put on a rate: give --rate, too", param_hint="--method")
    goes = target_format(Motion(), target, options.write_as)
    reading = options.some("columns", "frame_rate", "quaternion_order", "joint_names", "link_names", "from_zero")
    both = options.some("layout", "degrees")
    if came.name == "csv":
        # Of IN where that is a table without names, else of OUT.
        mine = [name for name in both if name == "degrees" or both[name] == "unitree"]
        reading |= {name: both.pop(name) for name in mine}
    writing = options.others({*reading, *options.some("rate", "method", "body")}) | both
    read = known(reading, READ.get(came.name, set()), came)
    write = known(writing, WRITE.get(goes.name, set()), goes)
    body = None if model is None else load_body(model, options.allow_outside)
    if body is not None:
        for given, names in ((read, READ.get(came.name, ())), (write, WRITE.get(goes.name, ()))):
            if "body" in names:
                given["body"] = body
    met = _run(source, target, came, goes, read, write, rate, method, body)
    show_grouped(met, options.every)
    return 3 if Findings(met).losses else 0


def _run(
    source: Path,
    target: Path,
    came: Format,
    goes: Format,
    read: dict[str, Any],
    write: dict[str, Any],
    rate: float | None,
    method: Method | None,
    body: Body | None,
) -> tuple[Problem, ...]:
    from bodymotion.cli.changes import load_motion
    from bodymotion.cli.progress import progress

    if came.name == goes.name == "seq":
        if target.suffix.lower() == ".json":
            write.setdefault("style", "json")
        problems = None if body is not None else _piece_by_piece(source, target, write, rate, method)
        if problems is not None:
            return problems
    with progress(f"converting {source.name}"):
        motion = (
            load_motion(source, whole="with a frame rate, hold and linear take less")
            if came.name == "seq" and not read
            else came.read(source, **read)
        )
        changed = motion if body is None or "body" in write else _in_order(motion, body)
        if rate is not None:
            stamped = any(component.timeline.stamps is not None for component in motion.timed)
            changed = changed.resample(rate, method or ("after" if stamped else "linear"))
        assert goes.write is not None
        return (*changed.problems, *goes.write(changed, target, **write))


def _piece_by_piece(
    source: Path, target: Path, write: dict[str, Any], rate: float | None, method: Method | None
) -> tuple[Problem, ...] | None:
    """Go from .seq to .seq in little memory; None where the motion is needed as a whole, or is small."""
    from bodymotion.cli.changes import is_large
    from bodymotion.cli.progress import progress
    from bodymotion.formats.seq import open_motion
    from bodymotion.formats.seq.writing import can_copy, copy_seq
    from bodymotion.motion.interpolation import HOLDING
    from bodymotion.system.atomic_files import whole_file

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


def _in_order(motion: Motion, body: Body) -> Motion:
    """Put columns that have names of a body's joints into the order of its joint ids; say it if there are none."""
    from bodymotion.editing.rules import IDLE
    from bodymotion.formats.tables.joint_names import by_joint_id
    from bodymotion.motion import MultiValueSeq

    joints = {*(joint.name for joint in body.joints), *(link.name for link in body.links)} - {""}
    components = [
        by_joint_id(c, body, whole=False) if isinstance(c, MultiValueSeq) and joints & set(c.part_labels) else c
        for c in motion.components
    ]
    if any(isinstance(c, MultiValueSeq) and joints & set(c.part_labels) for c in components):
        return motion.replaced(*components)
    said = f"no column has the name of a joint of {body.name or 'the body'}: all stay in their order"
    return replace(motion, problems=(*motion.problems, IDLE.problem(said)))
