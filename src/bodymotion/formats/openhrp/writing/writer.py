"""A Body as the files of an OpenHRP model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from bodymotion.diagnostics import Location, Problem
from bodymotion.diagnostics.losses import SHAPE_LOOK
from bodymotion.formats.openhrp.writing.model import build
from bodymotion.formats.openhrp.writing.prototypes import REMARKS
from bodymotion.formats.vrml.writing import scene_pieces
from bodymotion.system.atomic_files import whole_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bodymotion.formats.vrml import Scene
    from bodymotion.geometry.shapes import Texture
    from bodymotion.model.body import Body

__all__ = ["openhrp_files", "write_openhrp"]

OPEN_AT_ONCE = 100
"""So many files are written at the same time at most: systems allow some hundreds."""


def write_openhrp(body: Body, path: str | Path, *, mesh: Literal["inline", "parts"] = "inline") -> tuple[Problem, ...]:
    """Write a body as an OpenHRP model, whole or not at all.

    Parameters
    ----------
    body:
        The body. One that was read from such a file is read back equal, but for the last bits of rotations that several Transforms made.
    path:
        The file.
    mesh:
        "inline": all in one file. "parts": the shapes of each segment that has a mesh go to a file of their own, in the folder
        `NAME-parts` beside the model, which the model names by Inline. A file that is there already, and is not just that, stays as it
        is: the part takes another name.

    Returns
    -------
    What the model does not hold of the body: rules LOSS020 to LOSS028. Images stay where they are and are named by their relative path.

    Raises
    ------
    ValueError
        When `mesh` is something else.
    OSError
        When a file cannot be written; the model's old file is as it was.
    """
    path = Path(path)
    contents, losses = _scenes(body, path, mesh)
    *parts, model = contents
    if parts:
        parts[0][0].parent.mkdir(exist_ok=True)
    for start in range(0, max(1, len(parts)), OPEN_AT_ONCE):
        # The model comes last, with the last of its parts: it never names one that is not there.
        batch = parts[start : start + OPEN_AT_ONCE]
        if start + OPEN_AT_ONCE >= len(parts):
            batch = [*batch, model]
        with whole_files(*(target for target, _ in batch)) as streams:
            for stream, (_, scene) in zip(streams, batch, strict=True):
                stream.writelines(scene_pieces(scene, REMARKS))
    return losses


def openhrp_files(
    body: Body, path: str | Path, *, mesh: Literal["inline", "parts"] = "inline"
) -> dict[Path, Iterator[bytes]]:
    """Return what `write_openhrp` would write: the content of each file in pieces, the model last."""
    contents, _ = _scenes(body, Path(path), mesh)
    return {target: scene_pieces(scene, REMARKS) for target, scene in contents}


def _scenes(body: Body, path: Path, mesh: str) -> tuple[list[tuple[Path, Scene]], tuple[Problem, ...]]:
    if mesh not in ("inline", "parts"):
        raise ValueError(f'mesh: "inline" or "parts", not {mesh!r}')
    folder = f"{path.stem}-parts" if mesh == "parts" else None
    outside: list[Problem] = []

    def url(texture: Texture, in_part: bool) -> str:
        return _texture_url(texture, path.parent, folder if in_part else None, outside)

    # Numbers near the largest there are may overflow on the way; what is not finite in the end is left out and said.
    with np.errstate(all="ignore"):
        model = build(body, path.stem, url, folder)
    contents = []
    taken = {name.lower() for name in model.parts}
    for name, scene in model.parts.items():
        assert folder is not None
        free, count = name, 1
        while (count > 1 and free.lower() in taken) or not _fits(path.parent / folder / free, scene):
            count += 1
            free = f"{name.removesuffix('.wrl')}_{count}.wrl"
            free = name if free.lower() in taken else free
        taken.add(free.lower())
        model.inlines[name].fields["url"] = [f"{folder}/{free}"]
        contents.append((path.parent / folder / free, scene))
    return [*contents, (path, model.scene)], (*model.losses, *dict.fromkeys(outside))


def _fits(path: Path, scene: Scene) -> bool:
    """Whether a part can be written here: nothing is there, or just this part."""
    if not os.path.lexists(path):
        return True
    try:
        with path.open("rb") as stream:
            return all(stream.read(len(piece)) == piece for piece in scene_pieces(scene, REMARKS)) and not stream.read(
                1
            )
    except OSError:
        return False


def _texture_url(texture: Texture, model_folder: Path, part_folder: str | None, outside: list[Problem]) -> str:
    """Return the url of an image: the one that it had where that leads to the file from here, too, else its relative path."""
    here = model_folder / part_folder if part_folder else model_folder
    wanted = texture.path.resolve()
    if not wanted.is_relative_to(model_folder.resolve()):
        message = (
            f"the image {texture.path.name} is not in the folder of the model: it is opened with allow_outside only"
        )
        outside.append(SHAPE_LOOK.problem(message, Location(), "copy it beside the model"))
    if texture.url and (here / texture.url).resolve() == wanted:
        return texture.url
    try:
        return Path(os.path.relpath(wanted, here.resolve())).as_posix()
    except ValueError:  # another drive
        return texture.url or wanted.as_posix()
