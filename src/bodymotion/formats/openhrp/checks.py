"""What can be said of the links, ids and lists of a model only when all of it is read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import FormatError
from bodymotion.formats.faults import fault
from bodymotion.formats.openhrp import values
from bodymotion.formats.openhrp.rules import (
    FREE_INSIDE,
    ID_GAP,
    ID_MISSING,
    ID_ORDER,
    ID_TWICE,
    ID_UNUSED,
    LISTS,
    NAME_FIELD,
    NO_INERTIA,
    NO_MASS,
    NOT_FINITE,
    ROOT_MOVES,
    SAME_NAME,
    SENSOR_ID_GAP,
    SENSOR_ID_MISSING,
    SENSOR_ID_TWICE,
    SENSOR_LIMIT,
    TRIANGLE,
    UNKNOWN_NODES,
    UNNAMED_SEGMENT,
    UNUSED_FIELD,
)
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.nodes import Node
from bodymotion.formats.vrml.specs import STANDARD_NODES
from bodymotion.model.devices import AccelerationSensor, ForceSensor, Gyro

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem
    from bodymotion.formats.openhrp.tree import Tree
    from bodymotion.geometry.arrays import Floats

__all__ = ["check_tree"]


def check_tree(tree: Tree, humanoid: Node, problems: list[Problem]) -> None:
    """Note what is wrong with names, lists, ids and masses."""
    for check in (_check_names, _check_fields, _check_joint_ids, _check_sensor_ids, _check_masses):
        try:
            check(tree, humanoid, problems)
        except FormatError as error:
            fault(problems, error)


def _check_names(tree: Tree, humanoid: Node, problems: list[Problem]) -> None:
    seen: set[str] = set()
    for node in tree.joint_nodes:
        if node.name in seen and node.name:
            problems.append(SAME_NAME.problem(f"a second Joint has the name {node.name!r}", node.location))
        seen.add(node.name)
    segments: dict[str, Node] = {}
    for node in tree.segment_nodes:
        if not node.name:
            problems.append(UNNAMED_SEGMENT.problem("a Segment has no name", node.location))
        elif segments.setdefault(node.name, node) is not node:
            problems.append(SAME_NAME.problem(f"a second Segment has the name {node.name!r}", node.location))
    for name, nodes in (("joints", tree.joint_nodes), ("segments", tree.segment_nodes)):
        listed = access.children(humanoid, name)
        numbers, there = {id(item) for item in listed}, {id(node) for node in nodes}
        missing = [values.label(node) for node in nodes if id(node) not in numbers]
        strange = [values.label(item) for item in listed if id(item) not in there]
        if missing:
            problems.append(LISTS.problem(f"{name} lacks {_some(missing)}", humanoid.location_of(name)))
        if strange:
            problems.append(LISTS.problem(f"{name} has {_some(strange)} too", humanoid.location_of(name)))
        counts = Counter(map(id, listed))
        twice = [values.label(node) for node in nodes if counts[id(node)] > 1]
        if twice:
            problems.append(
                LISTS.problem(f"{name} has {_some(list(dict.fromkeys(twice)))} twice", humanoid.location_of(name))
            )


UNUSED = ("bboxCenter", "bboxSize", "sites", "coord", "displacers", "addChildren", "removeChildren")
KNOWN_NODES = {"children", "humanoidBody", "joints", "segments", "viewpoints", *UNUSED}
"""Fields that hold nodes and are read, or do nothing."""


def _check_fields(tree: Tree, humanoid: Node, problems: list[Problem]) -> None:
    """Note fields that do nothing, and names that say something else than DEF does."""
    unused: dict[str, Location] = {}
    for node in (humanoid, *tree.joint_nodes, *tree.segment_nodes):
        for name in UNUSED:
            if name in node.fields:
                unused.setdefault(name, node.location_of(name))
    for name, place in unused.items():
        problems.append(UNUSED_FIELD.problem(f"the file gives a {name}, which does nothing", place))
    for node in (humanoid, *tree.joint_nodes, *tree.segment_nodes, *tree.device_nodes, *tree.extra_joint_nodes):
        for name in (name for name in node.fields if name not in KNOWN_NODES and _holds_nodes(node.fields[name])):
            problems.append(
                UNKNOWN_NODES.problem(
                    f"{name} of {values.label(node)} holds nodes, and nobody knows what for", node.location_of(name)
                )
            )
    for node in (*tree.joint_nodes, *tree.segment_nodes):
        said = node.fields.get("name")
        if isinstance(said, str) and said and node.name and said != node.name:
            problems.append(NAME_FIELD.problem(f"name of {values.label(node)} is {said!r}", node.location_of("name")))
    for link, node in zip(tree.links[1:], tree.joint_nodes[1:], strict=True):
        if link.joint.type == "free":
            wrong = f"{values.label(node)} is free, and not the root"
            problems.append(FREE_INSIDE.problem(wrong, node.location_of("jointType")))
    for device, node in zip(tree.devices, tree.device_nodes, strict=True):
        limits = {
            AccelerationSensor: ("maxAcceleration",),
            Gyro: ("maxAngularVelocity",),
            ForceSensor: ("maxForce", "maxTorque"),
        }
        for name in limits.get(type(device), ()):
            given = access.vector(node, name, (-1.0, -1.0, -1.0))
            if any(number <= 0 and number != -1 for number in given):
                wrong = f"{name} of {values.label(node)} is {' '.join(f'{number:g}' for number in given)}, neither positive nor -1"
                problems.append(SENSOR_LIMIT.problem(wrong, node.location_of(name)))


def _check_joint_ids(tree: Tree, humanoid: Node, problems: list[Problem]) -> None:
    first: dict[int, str] = {}
    again: list[tuple[str, Location]] = []
    ids = []
    for link, node in zip(tree.links, tree.joint_nodes, strict=True):
        joint, title, place = link.joint, values.label(node), node.location_of("jointId")
        if joint.id < 0:
            if link.index and joint.type in ("rotate", "slide", "crawler"):
                problems.append(ID_MISSING.problem(f"{title} has no jointId", node.location))
            continue
        if not link.index and joint.type in ("rotate", "slide"):
            wrong = f"{title} is the root, of type {joint.type}: column {joint.id} moves nothing"
            problems.append(ROOT_MOVES.problem(wrong, node.location_of("jointType")))
        if joint.type in ("fixed", "free"):
            problems.append(
                ID_UNUSED.problem(f"{title} is {joint.type} and has jointId {joint.id}, which moves nothing", place)
            )
        if joint.id in first:
            again.append((f"{title} has jointId {joint.id}, as has {first[joint.id]}", place))
        else:
            first[joint.id] = title
            ids.append(joint.id)
    gaps = _gaps(ids)
    # Ids that are missing where others are there twice are, most likely, meant there.
    explained = bool(gaps) and len(gaps) <= len(again)
    hint = f"no Joint has jointId {_some(gaps)}: is that meant here?" if explained else None
    problems.extend(ID_TWICE.problem(wrong, place, hint) for wrong, place in again)
    if gaps and not explained:
        problems.append(ID_GAP.problem(f"no Joint has jointId {_some(gaps)}", humanoid.location))
    if ids != sorted(ids):
        problems.append(ID_ORDER.problem("the jointIds do not follow the order of the links", humanoid.location))


def _check_sensor_ids(tree: Tree, _humanoid: Node, problems: list[Problem]) -> None:
    by_kind: dict[str, set[int]] = defaultdict(set)
    places: dict[str, Location] = {}
    for device, node in zip(tree.devices, tree.device_nodes, strict=True):
        if device.id < 0:
            if node.proto is None or "sensorId" in node.proto.fields:
                problems.append(SENSOR_ID_MISSING.problem(f"{values.label(node)} has no sensorId", node.location))
            continue
        if device.id in by_kind[device.kind]:
            problems.append(
                SENSOR_ID_TWICE.problem(
                    f"{values.label(node)} has sensorId {device.id}, as has another {device.kind}",
                    node.location_of("sensorId"),
                )
            )
        by_kind[device.kind].add(device.id)
        places.setdefault(device.kind, node.location)
    for kind, ids in by_kind.items():
        gaps = _gaps(ids)
        if gaps:
            problems.append(SENSOR_ID_GAP.problem(f"no {kind} has sensorId {_some(gaps)}", places[kind]))


def _check_masses(tree: Tree, _humanoid: Node, problems: list[Problem]) -> None:
    heavy: list[tuple[int, Floats]] = []
    together = np.array([[link.mass, *link.center_of_mass, *link.inertia.flat] for link in tree.links])
    finite = np.isfinite(together).all(axis=1).tolist()
    # Masses that are not finite are read as 0: nothing needs to be said of that.
    told_of = {problem.location for problem in problems if problem.rule == NOT_FINITE.code}
    for link, node, is_finite in zip(tree.links, tree.joint_nodes, finite, strict=True):
        moves = link.joint.type != "fixed"
        if not is_finite:
            wrong = (
                f"mass, centre of mass or inertia of {values.label(node)}, put together of its Segments, is not finite"
            )
            problems.append(NOT_FINITE.problem(wrong, node.location, "its Segments have numbers that are too large"))
            continue
        if link.mass <= 0:
            owners = (own for own in tree.nodes_of_segments[link.index] if own is not None)
            if moves and link.mass == 0 and not any(own.location_of("mass") in told_of for own in owners):
                problems.append(
                    NO_MASS.problem(f"{values.label(node)} has a mass of 0 kg", node.location, _strange_part(node))
                )
        elif link.inertia.any():
            heavy.append((link.index, link.inertia))
        elif moves:
            wrong = f"{values.label(node)} has {link.mass:g} kg and no inertia"
            problems.append(NO_INERTIA.problem(wrong, node.location))
    if not heavy:
        return
    for (index, _), moments in zip(heavy, _principal([inertia for _, inertia in heavy]), strict=True):
        if (of_link := _impossible(moments)) is None:
            continue
        node, link = tree.joint_nodes[index], tree.links[index]
        named = [
            (own, s) for own, s in zip(tree.nodes_of_segments[index], link.segments, strict=True) if own is not None
        ]
        told = False
        for (own, _), of_own in zip(named, _principal([segment.inertia for _, segment in named]), strict=True):
            why = _impossible(of_own)
            if why is not None:
                told = True
                said = f"momentsOfInertia of {values.label(own)} of {values.label(node)}: {why}"
                problems.append(TRIANGLE.problem(said, own.location_of("momentsOfInertia")))
        if not told:
            said = f"the inertia of {values.label(node)}, put together of its Segments: {of_link}"
            problems.append(TRIANGLE.problem(said, node.location))


def _principal(inertias: list[Floats]) -> list[list[float]]:
    """Return the principal moments of inertias, the least first."""
    together = np.array(inertias).reshape(-1, 3, 3)
    found: list[list[float]] = np.linalg.eigvalsh(
        np.clip(0.5 * (together + together.swapaxes(1, 2)), -1e150, 1e150)
    ).tolist()
    return found


def _impossible(moments: list[float]) -> str | None:
    """Say why no rigid body has these principal moments; None where one may."""
    least, middle, most = moments
    if least < -1e-9 * most:
        return f"the principal moment {least:.4g} kg m² is negative"
    if most > (least + middle) * (1 + 1e-6):
        return (
            f"the principal moment {most:.4g} kg m² is more than {least:.4g} + {middle:.4g}, the sum of the other two"
        )
    return None


def _strange_part(node: Node) -> str | None:
    """Say that a Joint holds a node that is not known, and has nothing of what that may hold."""
    for part in access.children(node):
        if part.proto is None and part.type not in STANDARD_NODES and part.type not in ("Joint", "Segment"):
            line = part.location.line
            return f"its {part.type[:80]} in line {line} is no node that is known, and left out"
    return None


def _gaps(ids: Iterable[int]) -> list[str]:
    """Name the numbers below the highest that are not there, a few of them."""
    there = set(ids)
    highest = min(max(there, default=-1), len(there) + 20)
    return [str(number) for number in range(highest) if number not in there]


def _some(names: list[str]) -> str:
    if len(names) <= 6:
        return ", ".join(names)
    return f"{', '.join(names[:5])} and {len(names) - 5} more"


def _holds_nodes(value: object) -> bool:
    return isinstance(value, Node) or (isinstance(value, list) and any(isinstance(item, Node) for item in value))
