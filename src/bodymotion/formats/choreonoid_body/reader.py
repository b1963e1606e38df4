"""Reading a whole model: its file, and the body that is made of it."""

from __future__ import annotations

import codecs
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import FormatError, ReadResult
from bodymotion.diagnostics.source import Source
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.checks import check_links
from bodymotion.formats.choreonoid_body.fields import camel
from bodymotion.formats.choreonoid_body.links import LINK_KEYS
from bodymotion.formats.choreonoid_body.model import HEADER_KEYS, Model, ModelLoader, read_bytes
from bodymotion.formats.faults import Faults, with_first
from bodymotion.formats.vrml.inline import InlineLoader
from bodymotion.formats.yaml.recovery import read_on
from bodymotion.model.body import Body
from bodymotion.model.links import Link

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem
    from bodymotion.formats.choreonoid_body.links import RawLink

_CERTAIN = (rules.NOT_YAML, rules.WRONG_VALUE, rules.KEY_TWICE, rules.MISSPELT, rules.SUFFIX, rules.NOT_FINITE)
"""What is wrong whatever else may stand in a line that was taken out."""

__all__ = ["check_body_file", "parse_body", "read_body"]


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
    return _made(model, parts, problems, path)


def check_body_file(path: str | Path, *, allow_outside: bool = False) -> tuple[Problem, ...]:
    """Return all that is wrong with a model, errors too, where `read_body` ends with the first of them; it takes the same options.

    Of one rule, 20 faults are listed, and the last of them says how many more there are.
    """
    path = Path(path)
    with np.errstate(all="ignore"):
        try:
            data = read_bytes(path)
        except FormatError as error:
            return error.problems
        try:
            return _read(data, path, allow_outside).problems
        except FormatError as error:
            first = FormatError(error.problem, error.problems)  # without what it was raised from: all that was read
        if first.problem.rule == rules.NOT_YAML.code and first.problem.location.path == str(path):
            return _read_on(data, path, first, allow_outside)
        return with_first(first, _all_faults(data, path, allow_outside))


def _read_on(data: bytes, path: Path, first: FormatError, allow_outside: bool) -> tuple[Problem, ...]:
    """Say why a file is no YAML, and what else is wrong with it."""

    def tried(text: bytes) -> ReadResult[None] | FormatError:
        found = _all_faults(text, path, allow_outside)
        not_yaml = [p for p in found if p.rule == rules.NOT_YAML.code and p.location.path == str(path)]
        return FormatError(not_yaml[0]) if not_yaml else ReadResult(None, found)

    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode().encode()
    except UnicodeDecodeError:
        return first.problems
    keys = {spelling for name in (*HEADER_KEYS, *LINK_KEYS) for spelling in (name, camel(name))}
    doubtful = {rule.code for rule in rules.RULES if rule not in _CERTAIN}
    recovered = read_on(text, first, tried, keys)
    others = (p for p in recovered.problems if not recovered.line_lost or p.rule not in doubtful)
    return (*recovered.faults, *others)


def _all_faults(data: bytes, path: Path, allow_outside: bool) -> tuple[Problem, ...]:
    problems = Faults()
    parts = InlineLoader(path.parent, allow_outside, model=path)
    loader = ModelLoader(parts, problems)
    loader.start(path.resolve())
    try:
        model = loader.load(path, data)
        if model.links:
            _made(model, parts, problems, path)
    except FormatError as error:
        problems.extend(error.problems)
    return tuple(dict.fromkeys([*problems.told(), *parts.problems]))


def _made(model: Model, parts: InlineLoader, problems: list[Problem], path: Path) -> Body:
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
    joined = [(raw, raw.joined(by_name, model.incomplete)) for raw in model.extra_joints]
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
    """Say where links and their devices stand."""
    return {
        "links": tuple(link.location for link in links),
        "devices": tuple(node.location for link in links for node in link.device_nodes),
    }
