"""Reading a whole model: its file and those it includes, and the body that is made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import FormatError
from bodymotion.diagnostics.source import Source
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.assets import Assets
from bodymotion.formats.mjcf.beside import plain_sections, with_efforts
from bodymotion.formats.mjcf.defaults import Defaults
from bodymotion.formats.mjcf.devices import DeviceReader
from bodymotion.formats.mjcf.document import included, read_bytes
from bodymotion.formats.mjcf.frames import MOST_SIZE
from bodymotion.formats.mjcf.geoms import GeomReader
from bodymotion.formats.mjcf.kept import Kept
from bodymotion.formats.mjcf.loops import LoopReader
from bodymotion.formats.mjcf.references import check_actuators
from bodymotion.formats.mjcf.settings import read_settings
from bodymotion.formats.mjcf.spelling import check_names
from bodymotion.formats.mjcf.tree import Tree, TreeReader
from bodymotion.formats.mjcf.units import check_unit
from bodymotion.formats.vrml.inline import InlineLoader
from bodymotion.formats.xml.faults import XmlFaults
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import frozen
from bodymotion.model import inertias
from bodymotion.model.body import Body, Viewpoint
from bodymotion.model.links import Link

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem
    from bodymotion.formats.xml.tree import Element
    from bodymotion.geometry.arrays import Floats

__all__ = ["check_mjcf", "parse_mjcf", "read_mjcf"]

OF_THE_WHOLE = (
    *(rules.CLASS, rules.ASSET, rules.REFERENCE, rules.NO_BODY, rules.NO_MASS),
    *(rules.BESIDE, rules.WORLD, rules.WORLD_SHAPES, rules.EQUALITY),
)
"""Rules that say nothing of a model of which a part cannot be read."""


def read_mjcf(path: str | Path, *, allow_outside: bool = False) -> Body:
    """Read an MJCF model.

    Parameters
    ----------
    path:
        The file.
    allow_outside:
        Open files (included ones, meshes, images) that lie outside the folder of the model, too.

    Returns
    -------
    The body. A body with several joints is a chain of links of which the last has its name; joint values are those of MuJoCo's qpos (with
    `ref` taken in). What is odd in the file and what has no place in a body is in `problems`.

    Raises
    ------
    FormatError
        When it is no MJCF, or no body can be made of what it says.
    """
    path = Path(path)
    return parse_mjcf(read_bytes(path), path, allow_outside=allow_outside)


def check_mjcf(path: str | Path, *, allow_outside: bool = False) -> tuple[Problem, ...]:
    """Return all that is wrong with an MJCF model, in the order of the file; arguments as for `read_mjcf`.

    What reading raises is among it, and does not hide what comes behind it. At most 200 problems of a rule are listed.
    """
    path, faults = Path(path), XmlFaults()
    try:
        with np.errstate(all="ignore"):
            return _read(read_bytes(path), path, allow_outside, faults).problems
    except FormatError as error:
        return faults.all(error, OF_THE_WHOLE, (rules.MISSPELT,))


def parse_mjcf(data: bytes, path: Path, *, allow_outside: bool = False) -> Body:
    """Read a model from the bytes of the file at `path`; see `read_mjcf`."""
    # Numbers near the largest there are may overflow on the way; what is not finite in the end is said.
    with np.errstate(all="ignore"):
        return _read(data, path, allow_outside)


def _read(data: bytes, path: Path, allow_outside: bool, faults: XmlFaults | None = None) -> Body:
    problems: list[Problem] = [] if faults is None else faults
    parts = InlineLoader(path.parent, allow_outside, model=path)
    root, files = included(data, path, parts, faults)
    check_names(root, problems)
    settings, defaults, kept = read_settings(root), Defaults(root), Kept()
    for custom in root.all("custom"):
        for text in custom.all("text"):
            kept.read(text.get("name"), text.attributes.get("data", ""))
    assets = Assets(root, settings, defaults, kept, parts, path, problems)
    tree = TreeReader(settings, defaults, GeomReader(settings, assets, kept, problems), kept, problems).read(root)
    _check_numbers(tree)
    check_unit(tree.links, settings, problems)
    links = tuple(
        Link(name=raw.name, index=i, parent=raw.parent, joint=raw.joint, offset=raw.offset, segments=raw.segments)
        for i, raw in enumerate(tree.links)
    )
    devices = DeviceReader(settings, defaults, kept, problems)
    devices.note_sites(tree.links)
    loops = LoopReader(defaults, kept, devices.sites, problems)
    # Where links of a faulty file are when their joints rest, nobody needs to know.
    faulty = faults is not None and faults.any
    resting = np.tile(poses.IDENTITY, (len(links), 1)) if faulty else _resting(links, tree)
    extra_joints = loops.read(root, tree.of_body, resting, tree.left_out)
    carried = devices.read(root, tree.links, loops.taken, tree.left_out)
    said = kept.get("body", "")
    check_actuators(root, problems)
    links = with_efforts(links, tree, root, defaults)
    extra = plain_sections(root, said, loops, devices, tree, problems)
    if faults is not None:
        faults.stop()
    own = said.get("extra")
    if isinstance(own, dict):
        extra = {**own, **extra}
    info = said.get("info")
    body = Body(
        name=root.get("model"),
        links=_of_total_mass(links, settings.settotalmass),
        devices=tuple(device for device, _ in carried),
        extra_joints=tuple(joint for joint, _ in extra_joints),
        viewpoints=_viewpoints(said.get("viewpoints")),
        root_pose=tree.root_pose,
        info=info if isinstance(info, dict) else {},
        extra=extra,
        source=Source(
            "mjcf",
            path,
            parts=tuple(files),
            encoding="utf-8",
            options={"motors": "made"} if "motors" in said else {},
            places={
                "links": tuple(raw.element.location for raw in tree.links),
                "devices": tuple(location for _, location in carried),
                "extra_joints": tuple(location for _, location in extra_joints),
            },
        ),
    )
    _check_masses(body, tree, problems)
    told = tuple(dict.fromkeys([*problems, *parts.problems]))
    return replace(body, problems=told)


def _check_numbers(tree: Tree) -> None:
    for raw in tree.links:
        masses = [np.append(s.inertia.ravel(), [s.mass, *s.center_of_mass]) for s in raw.segments]
        if not all((np.abs(numbers) < MOST_SIZE).all() for numbers in (raw.offset, raw.joint.axis, *masses)):
            what = f"the pose, axis or mass of body {raw.name!r:.60} is not finite, or of no ordinary size"
            raw.element.fault(rules.NOT_FINITE, what)


def _resting(links: tuple[Link, ...], tree: Tree) -> Floats:
    """Return the poses (L, 7) of the links where the joints have the values that the poses in the file are for."""
    body = Body(links=links, root_pose=tree.root_pose)
    if not any(raw.rest for raw in tree.links):
        return body.forward_kinematics(np.zeros(body.num_joints))
    rest = [tree.links[index].rest if index >= 0 else 0.0 for index in body.joint_links]
    return body.forward_kinematics(np.array(rest))


def _of_total_mass(links: tuple[Link, ...], total: float) -> tuple[Link, ...]:
    """Bring the masses to a total, where the compiler's settotalmass asks for one."""
    sum_of_all = sum(link.mass for link in links)
    if not (total > 0 and sum_of_all > 0):
        return links
    share = total / sum_of_all
    return tuple(
        replace(
            link,
            segments=tuple(
                replace(segment, mass=segment.mass * share, inertia=frozen(segment.inertia * share))
                for segment in link.segments
            ),
        )
        for link in links
    )


def _viewpoints(kept: object) -> tuple[Viewpoint, ...]:
    found = []
    for view in kept if isinstance(kept, list) else []:
        if not isinstance(view, dict):
            continue
        text, at, angle = view.get("description"), view.get("pose"), view.get("field_of_view")
        usable = isinstance(at, list) and len(at) == 7 and all(isinstance(n, (int, float)) for n in at)
        if isinstance(text, str) and usable and isinstance(angle, (int, float)):
            found.append(
                Viewpoint(description=text, pose=frozen(np.array(at, dtype=np.float64)), field_of_view=float(angle))
            )
    return tuple(found)


def _place_of_mass(element: Element, name: str) -> Location:
    """Where a body's mass (`name` is "mass") or inertia stands: of one whose geoms say it the place of the body."""
    inertial = element.first("inertial")
    if inertial is None:
        return element.location
    return inertial.place(name or ("fullinertia" if "fullinertia" in inertial.attributes else "diaginertia"))


def _check_masses(body: Body, tree: Tree, problems: list[Problem]) -> None:
    for one in inertias.faults(body):
        if one.why == "mass" and not body.links[one.link].segments:
            # A link of a chain that stands for several joints of one body.
            continue
        of_mass, negative = one.why in ("mass", "zero"), body.links[one.link].mass < 0
        rule = rules.NEGATIVE if negative else rules.NO_MASS if of_mass else rules.BAD_INERTIA
        place = _place_of_mass(tree.links[one.link].element, "mass" if of_mass else "")
        problems.append(rule.problem(f"body {body.links[one.link].name!r:.60}: {one.message}", place))
