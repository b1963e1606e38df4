"""Reading a whole model: its file, and the body that is made of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.body import Body
from bodymotion.diagnostics import FormatError
from bodymotion.formats.choreonoid_body.checks import check_links
from bodymotion.formats.choreonoid_body.model import ModelLoader, read_bytes
from bodymotion.formats.vrml.inline import InlineLoader
from bodymotion.links import Link
from bodymotion.source import Source

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem
    from bodymotion.formats.choreonoid_body.links import RawLink

__all__ = ["parse_body", "read_body"]


def read_body(path: str | Path, *, allow_outside: bool = False) -> Body:
    """Read a Choreonoid model.

    Parameters
    ----------
    path:
        The `.body` file.
    allow_outside:
        Open files (SubBodies, resources, textures) that lie outside the folder of the model, too.

    Returns
    -------
    The body, its links in link-index order. What is odd in the file, which parts are missing, and which types of element only plugins
    know, is in `problems`.

    Raises
    ------
    FormatError
        When the text is not YAML, or no body can be made of what it says.
    """
    path = Path(path)
    return parse_body(read_bytes(path), path, allow_outside=allow_outside)


def parse_body(data: bytes, path: Path, *, allow_outside: bool = False) -> Body:
    """Read a Choreonoid model from the bytes of the file at `path`; see `read_body`."""
    # Numbers near the largest there are may overflow on the way; what is not finite in the end is said.
    with np.errstate(all="ignore"):
        return _read(data, path, allow_outside)


def _read(data: bytes, path: Path, allow_outside: bool) -> Body:
    problems: list[Problem] = []
    parts = InlineLoader(path.parent, allow_outside, model=path)
    loader = ModelLoader(parts, problems)
    loader.start(path.resolve())
    try:
        model = loader.load(path, data)
    except FormatError as error:
        # What was odd before the fault is to be known, too.
        met = dict.fromkeys([*problems, *parts.problems, *error.problems])
        raise FormatError(error.problem, tuple(met)) from error
    numbers = {id(link): number for number, link in enumerate(model.links)}
    links = tuple(
        Link(
            name=raw.name,
            index=number,
            parent=-1 if isinstance(raw.parent, str) else numbers[id(raw.parent)],
            joint=raw.joint,
            offset=raw.offset,
            segments=tuple(raw.segments),
        )
        for number, raw in enumerate(model.links)
    )
    check_links(links, model.links, problems)
    by_name: dict[str, int] = {}
    for link in links:
        by_name.setdefault(link.name, link.index)
    joined = [(raw, raw.joined(by_name)) for raw in model.extra_joints]
    extra_joints = tuple(joint for _, joint in joined if joint is not None)
    places = _places(model.links)
    places["extra_joints"] = tuple(raw.fields.node.location for raw, joint in joined if joint is not None)
    return Body(
        name=model.name or path.stem,
        links=links,
        devices=tuple(replace(device, link=number) for number, raw in enumerate(model.links) for device in raw.devices),
        extra_joints=extra_joints,
        root_pose=links[0].offset,
        info={"name": model.name},
        extra=model.extra,
        source=Source("body", path, model.version, model.encoding, places=places),
        problems=tuple(dict.fromkeys([*problems, *parts.problems])),
    )


def _places(links: list[RawLink]) -> dict[str, tuple[Location, ...]]:
    """Say where links stand; devices by the link that they are on."""
    return {
        "links": tuple(link.location for link in links),
        "devices": tuple(link.location for link in links for _ in link.devices),
    }
