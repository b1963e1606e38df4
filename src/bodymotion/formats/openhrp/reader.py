"""Reading a whole model: the Humanoid and what stands beside it, or a scene without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import FormatError, Location
from bodymotion.diagnostics.source import Source
from bodymotion.formats.faults import Faults, with_first
from bodymotion.formats.openhrp import values
from bodymotion.formats.openhrp.checks import check_tree
from bodymotion.formats.openhrp.extra_joints import read_extra_joint
from bodymotion.formats.openhrp.rules import (
    EXTENSION,
    EXTRA_LINK,
    HUMANOID_POSE,
    HUMANOIDS,
    ID_GAP,
    LISTS,
    NO_JOINT,
    NOTHING,
    OUTSIDE,
    SENSOR_ID_GAP,
)
from bodymotion.formats.openhrp.tree import read_tree
from bodymotion.formats.vrml import InlineLoader, Node, access, read_vrml
from bodymotion.formats.vrml.mending import attempt
from bodymotion.formats.vrml.nodes import Scene, Value
from bodymotion.formats.vrml.reader import survey_vrml, vrml_bytes
from bodymotion.formats.vrml.rules import EMPTY, HEADER
from bodymotion.formats.vrml.scene import Place, SceneWalker
from bodymotion.formats.vrml.shape_rules import SCENERY
from bodymotion.geometry import poses
from bodymotion.model.body import Body, Viewpoint
from bodymotion.model.links import Joint, Link, Segment

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.geometry.arrays import Floats

__all__ = ["check_openhrp", "read_openhrp"]

USED = {"humanoidBody", "info", "joints", "name", "segments", "version", "viewpoints"}


def read_openhrp(path: str | Path, *, allow_outside: bool = False, apply_humanoid_pose: bool = False) -> Body:
    """Read an OpenHRP model, or any VRML97 scene, as a body.

    Parameters
    ----------
    path:
        The `.wrl` file.
    allow_outside:
        Open parts (Inline, textures) that lie outside the folder of the model, too.
    apply_humanoid_pose:
        Put the Humanoid's own translation and rotation, and those of Transforms around it, into `root_pose`. The document says that it is a
        Transform around the body; Choreonoid takes no notice of it. It is kept in `extra` either way.

    Returns
    -------
    The body of the file's Humanoid. A file without one is a body of a single fixed link "Root" that has the whole scene as its
    shapes. What is odd in the file, and which parts are missing, is in `problems`.

    Raises
    ------
    FormatError
        When the text is not VRML97, or the document forbids what it says and no body can be made of it.
    """
    # Numbers near the largest there are may overflow on the way; what is not finite in the end is said or left out.
    with np.errstate(all="ignore"):
        return _read(Path(path), allow_outside, apply_humanoid_pose)


def check_openhrp(
    path: str | Path, *, allow_outside: bool = False, apply_humanoid_pose: bool = False
) -> tuple[Problem, ...]:
    """Return all that is wrong with a model, errors too, where `read_openhrp` ends with the first of them; it takes the same options.

    Of one rule, 20 faults are listed, and the last of them says how many more there are. A model whose text does not follow the
    grammar has faults of the text, and those of Joints, Segments and other nodes that do not come from them.
    """
    path = Path(path)
    with np.errstate(all="ignore"):
        try:
            return _read(path, allow_outside, apply_humanoid_pose).problems
        except FormatError as error:
            first = FormatError(error.problem, error.problems)  # without what it was raised from: all that was read
        if first.problem.rule == NOTHING.code:
            return tuple(problem for problem in first.problems if problem.rule not in OF_NOTHING)
        try:
            found, quoted = _all_faults(path, allow_outside)
            return with_first(first, found) if quoted else found
        except FormatError as error:
            return with_first(first, error.problems)


def _all_faults(path: Path, allow_outside: bool) -> tuple[tuple[Problem, ...], bool]:
    """Return all faults of a file that has some, and whether all its strings are closed: else what is met first may come from that."""
    scene, damage = survey_vrml(vrml_bytes(path), path)
    text = scene.problems
    problems = Faults()
    parts = InlineLoader(path.parent, allow_outside, model=path)
    if scene.nodes or scene.protos:
        try:
            _made(scene, parts, problems, path, False)
        except FormatError as error:
            problems.append(error.problem)
    found = problems.told()
    told = tuple(text)
    if isinstance(text, Faults) and text.any:
        told = text.told()
        # What is said of nodes that are not whole, and of what others are missing, comes from that.
        found = tuple(p for p in found if p.severity == "error" and p.rule not in INCOMPLETE and not damage.touches(p))
    return tuple(dict.fromkeys([*told, *found, *parts.problems])), not damage.lines


OF_NOTHING = frozenset(rule.code for rule in (EMPTY, HEADER))
"""What need not be said of a file in which there is nothing."""
INCOMPLETE = frozenset(rule.code for rule in (EXTRA_LINK, ID_GAP, NO_JOINT, LISTS, SENSOR_ID_GAP))
"""What may be said of a model only because a part of it could not be read."""


def _read(path: Path, allow_outside: bool, apply_humanoid_pose: bool) -> Body:
    scene = read_vrml(path)
    if not scene.nodes and not scene.protos:
        raise NOTHING.error("there is nothing in the file", Location(str(path), 1, 1))
    problems: list[Problem] = list(scene.problems)
    if path.suffix and path.suffix.lower() != ".wrl":
        problems.append(EXTENSION.problem(f"the name ends with {path.suffix}", Location(str(path))))
    parts = InlineLoader(path.parent, allow_outside, model=path)
    try:
        return _made(scene, parts, problems, path, apply_humanoid_pose)
    except FormatError as error:
        # What was odd before the fault is to be known, too.
        met = dict.fromkeys([*problems, *parts.problems, error.problem])
        raise FormatError(error.problem, tuple(met)) from error


def _made(scene: Scene, parts: InlineLoader, problems: list[Problem], path: Path, apply_humanoid_pose: bool) -> Body:
    top = _Top(parts, problems)
    top.walker.walk(scene.nodes, Place(), top.meet)
    if scene.routes:
        first = scene.routes[0]
        words = f"ROUTE {first.from_node[:60]}.{first.from_event[:60]}, one of {len(scene.routes)}: no part of a body"
        problems.append(SCENERY.problem(words, Location(str(path))))
    if top.humanoids:
        humanoid, where = top.humanoids[0]
        for other, _ in top.humanoids[1:]:
            problems.append(HUMANOIDS.problem(f"{values.label(other)} is a second one", other.location))
        if top.walker.drawn:
            problems.append(
                OUTSIDE.problem(
                    f"{len(top.walker.drawn)} shapes stand beside the Humanoid: left out", humanoid.location
                )
            )
        body, places = _humanoid(humanoid, where, top, path)
        if apply_humanoid_pose:
            around = poses.compose(poses.from_matrix(poses.nearest_rigid(where)), values.own_pose(humanoid, []))
            body = replace(body, root_pose=poses.compose(around, body.root_pose))
        version = access.text(humanoid, "version", "1.1")
    else:
        body = _single_link(top, path)
        places = {}
        version = ""
    return replace(
        body,
        viewpoints=tuple(top.viewpoints),
        source=Source("openhrp", path, version, scene.encoding, {"header": scene.header}, parts.files, places),
        problems=tuple(dict.fromkeys([*problems, *parts.problems])),
    )


class _Top:
    """The walk through the top level: Humanoids, ExtraJoints, Viewpoints, and the shapes beside them."""

    def __init__(self, parts: InlineLoader, problems: list[Problem]) -> None:
        self.parts = parts
        self.problems = problems
        self.walker = SceneWalker(problems, parts)
        self.humanoids: list[tuple[Node, Floats]] = []
        self.extra_joints: list[Node] = []
        self.viewpoints: list[Viewpoint] = []
        self.world: dict[str, object] = {}

    def meet(self, node: Node, place: Place) -> bool:
        match node.type:
            case "Humanoid":
                self.humanoids.append((node, place.transform))
            case "ExtraJoint":
                self.extra_joints.append(node)
            case "Viewpoint":
                found = attempt(lambda node: _viewpoint(node, place.transform, self.problems), node, self.problems)
                self.viewpoints += [] if found is None else [found]
            case "WorldInfo":
                self.world |= {name: values.plain(value) for name, value in node.fields.items()}
            case _:
                return False
        return True


def _humanoid(node: Node, where: Floats, top: _Top, path: Path) -> tuple[Body, dict[str, tuple[Location, ...]]]:
    problems = top.problems
    own = attempt(lambda node: values.own_pose(node, problems), node, problems)
    default = np.array_equal(poses.IDENTITY if own is None else own, poses.IDENTITY) and np.array_equal(
        where, np.eye(4)
    )
    if not default or access.vector(node, "scale", (1.0, 1.0, 1.0)) != (1.0, 1.0, 1.0):
        problems.append(HUMANOID_POSE.problem(f"{values.label(node)} has a pose or a scale of its own", node.location))
    top.walker.walk(access.children(node, "viewpoints"), Place(), top.meet)
    before = list(problems)
    tree = read_tree(access.children(node, "humanoidBody"), top.parts, problems)
    if tree.links:
        check_tree(tree, node, problems)
    else:
        # The document allows that: what stands there is a body of one link that does not move.
        if not isinstance(problems, Faults):
            problems[:] = before
        problems.append(NO_JOINT.problem(f"{values.label(node)} has no Joint", node.location))
        fields: dict[str, Value] = {"jointType": "fixed", "children": access.children(node, "humanoidBody")}
        tree = read_tree([Node("Joint", "Root", fields)], top.parts, problems)
    numbers: dict[str, int] = {}
    for link in tree.links:
        numbers.setdefault(link.name, link.index)
    info: dict[str, object] = {
        "name": access.text(node, "name"),
        "version": access.text(node, "version", "1.1"),
        "info": "\n".join(access.texts(node, "info")),
    }
    extra_nodes = top.extra_joints + tree.extra_joint_nodes
    extra_joints = [
        attempt(lambda node: read_extra_joint(node, numbers, problems), extra, problems) for extra in extra_nodes
    ]
    places = {
        "links": tuple(joint.location for joint in tree.joint_nodes),
        "devices": tuple(device.location for device in tree.device_nodes),
        "extra_joints": tuple(extra.location for extra in extra_nodes),
    }
    extra = values.rest(node, USED)
    if not np.array_equal(where, np.eye(4)):
        extra["placed"] = where
    body = Body(
        name=node.name or access.text(node, "name") or path.stem,
        links=tuple(tree.links),
        devices=tuple(tree.devices),
        extra_joints=tuple(joint for joint in extra_joints if joint is not None),
        root_pose=tree.links[0].offset,
        info=info | _beside(top.world),
        extra=extra,
    )
    return body, places


def _beside(world: Mapping[str, object]) -> dict[str, object]:
    """Return the words of a WorldInfo beside a Humanoid, which has an info of its own."""
    return {"world_info" if name == "info" else name: value for name, value in world.items()}


def _single_link(top: _Top, path: Path) -> Body:
    drawn = top.walker.drawn
    segment = Segment(
        name="Root",
        visuals=tuple(d.shape for d in drawn if d.visual),
        collisions=tuple(d.shape for d in drawn if d.collision),
    )
    link = Link(name="Root", joint=Joint(name="Root", type="fixed"), segments=(segment,))
    return Body(name=path.stem, links=(link,), info=top.world)


def _viewpoint(node: Node, transform: Floats, problems: list[Problem]) -> Viewpoint:
    own = poses.from_parts(
        values.finite(node, "position", (0.0, 0.0, 10.0), problems), access.rotation(node, "orientation")
    )
    placed = transform @ poses.to_matrix(own)
    return Viewpoint(
        description=access.text(node, "description") or node.name,
        pose=own if np.array_equal(transform, np.eye(4)) else poses.from_matrix(placed),
        field_of_view=values.finite(node, "fieldOfView", (0.785398,), problems)[0],
    )
