"""A model, or any other thing that is no motion, in another format: read, scaled, hung up by another link, repaired, written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bodymotion.cli.convert.options import Options, known, one

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.registry import Format
    from bodymotion.model.body import Body

__all__ = ["convert_model"]

READ = {"urdf": {"package_paths"}}
CHANGES = ("scale", "root", "fix_inertia")
MESHES = {"openhrp": ("inline", "parts"), "urdf": ("obj", "stl", "glb"), "mjcf": ("obj", "stl")}
"""What the writers of models can do with meshes."""
WRITE = {
    "urdf": {"package"},
    "cha": {"style"},
    "cap": {"move_params_config"},
    "cap-bytes": {"move_params_config"},
}
"""Other options of writers."""


def convert_model(source: Path, target: Path, came: Format, options: Options) -> int:
    """Convert; give the exit code."""
    from bodymotion.cli.convert.report import show_grouped, show_reading
    from bodymotion.cli.progress import progress
    from bodymotion.diagnostics import Findings
    from bodymotion.formats.registry import load, target_format
    from bodymotion.model.body import Body

    is_model = came.holds == "Body"
    reading = known(options.some("package_paths"), READ.get(came.name, ()), came)
    writing = options.others({"package_paths", *(CHANGES if is_model else ())})
    with progress(f"converting {source.name}"):
        thing = load(source, format=came.name, allow_outside=options.allow_outside, **reading)
        goes = target_format(thing, target, options.write_as)
        given = _writing(known(writing, _written(goes), goes), goes)
        read: tuple[Problem, ...] = tuple(thing.problems)
        met: tuple[Problem, ...] = ()
        if isinstance(thing, Body):
            thing, met = _changed(thing, options)
            if goes.name == "mjcf":
                given |= options.some("fix_inertia")
        assert goes.write is not None
        met = (*met, *goes.write(thing, target, **given))
    show_reading(source, read, options.every)
    show_grouped(met, options.every)
    return 3 if Findings((*read, *met)).losses else 0


def _written(goes: Format) -> set[str]:
    return ({"mesh"} if goes.name in MESHES else set()) | WRITE.get(goes.name, set())


def _writing(given: dict[str, Any], goes: Format) -> dict[str, Any]:
    """Check the kind of meshes against what the writer can do."""
    from bodymotion.formats.urdf.packages import is_package_name

    package = given.get("package")
    if package is not None and not is_package_name(package):
        raise typer.BadParameter(f"{package!r:.60} is no name of a ROS package", param_hint="--package")
    mesh = given.pop("mesh", None)
    if mesh is not None:
        ways = MESHES[goes.name]
        if mesh not in ways:
            raise typer.BadParameter(f"the meshes of {one(goes)} go as {' or '.join(ways)}", param_hint="--mesh")
        given["mesh"] = mesh
    return given


def _changed(body: Body, options: Options) -> tuple[Body, tuple[Problem, ...]]:
    """Change the body as it was asked for; give what has to be said of that."""
    from bodymotion.editing import reroot, scale
    from bodymotion.model.inertias import repaired

    known = len(body.problems)
    root, factor = options.given["root"], options.given["scale"]
    if root is not None:
        try:
            body = reroot(body, root)
        except KeyError as error:
            raise typer.BadParameter(str(error.args[0]), param_hint="--root") from None
    if factor is not None:
        body = scale(body, factor)
    said = body.problems[known:]
    if options.given["fix_inertia"]:
        body, more = repaired(body)
        said = (*said, *more)
    return body, said
