"""Rules of the OpenHRP document about a whole model: names, lists, ids and fields that have no effect."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError, Location
from bodymotion.diagnostics.text import listed
from bodymotion.formats.openhrp import rules
from bodymotion.formats.openhrp.nodes import SEGMENT_FIELDS, VECTORS, label
from bodymotion.formats.openhrp.tree import Tree
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.access import ModelDiagnostics
from bodymotion.formats.vrml.nodes import Node

__all__ = ["check_tree"]

UNUSED = ("bboxCenter", "bboxSize", "sites", "coord", "displacers", "addChildren", "removeChildren")
KNOWN_NODES = {"children", "humanoidBody", "joints", "segments", "viewpoints", *UNUSED}
"""Fields that hold nodes and are read, or have no effect."""


def check_tree(tree: Tree, humanoid: Node, found: ModelDiagnostics) -> None:
    """Check names, lists, fields, ids and the sums of Segments."""
    for check in (_check_names, _check_fields, _check_names_in_fields, _check_sensors, _check_ids, _check_numbers):
        try:
            check(tree, humanoid, found)
        except FormatError as error:
            found.fault(error)


def _check_names(tree: Tree, humanoid: Node, found: Diagnostics) -> None:
    segments: dict[str, Node] = {}
    for node in tree.segment_nodes:
        if not node.name:
            found.report(rules.SEGMENT_NAME, "a Segment has no name", node.location)
        elif segments.setdefault(node.name, node) is not node:
            message = f"a second Segment has the name {node.name!r}"
            found.report(rules.SEGMENT_NAME, message, node.location, severity="warning")
    for name, nodes in (("joints", tree.joint_nodes), ("segments", tree.segment_nodes)):
        items = access.children(humanoid, name)
        in_list, in_tree = {id(item) for item in items}, {id(node) for node in nodes}
        missing = [label(node) for node in nodes if id(node) not in in_list]
        foreign = [label(item) for item in items if id(item) not in in_tree]
        counts = Counter(map(id, items))
        repeated = [label(node) for node in nodes if counts[id(node)] > 1]
        location = humanoid.location_of(name)
        if missing:
            found.report(rules.LISTS, f"the list {name} lacks {listed(missing)}", location)
        if foreign:
            found.report(rules.LISTS, f"the list {name} has {listed(foreign)}, outside of humanoidBody", location)
        if repeated:
            found.report(rules.LISTS, f"the list {name} repeats {listed(list(dict.fromkeys(repeated)))}", location)


def _check_fields(tree: Tree, humanoid: Node, found: Diagnostics) -> None:
    """Report fields that have no effect, and unknown ones that hold nodes."""
    unused: dict[str, Location] = {}
    of_document = (humanoid, *tree.joint_nodes, *tree.segment_nodes)
    for node in of_document:
        for name in UNUSED:
            if name in node.fields:
                unused.setdefault(name, node.location_of(name))
    for name, location in unused.items():
        found.report(rules.UNUSED_FIELD, f"the file has the field {name}, which has no effect", location)
    for node in (*of_document, *tree.device_nodes, *tree.extra_joint_nodes):
        for name, value in node.fields.items():
            if name not in KNOWN_NODES and _holds_nodes(value):
                message = f"the field {name} of {label(node)} is unknown and holds nodes"
                found.report(rules.UNKNOWN_NODES, message, node.location_of(name))


def _holds_nodes(value: object) -> bool:
    return isinstance(value, Node) or (isinstance(value, list) and any(isinstance(item, Node) for item in value))


def _check_names_in_fields(tree: Tree, _humanoid: Node, found: Diagnostics) -> None:
    for node in (*tree.joint_nodes, *tree.segment_nodes):
        name = node.fields.get("name")
        if isinstance(name, str) and name and node.name and name != node.name:
            found.report(rules.NAME_FIELD, f"name of {label(node)} is {name!r}", node.location_of("name"))


def _check_sensors(tree: Tree, _humanoid: Node, found: Diagnostics) -> None:
    for device, node in zip(tree.devices, tree.device_nodes, strict=True):
        for name in VECTORS.get(type(device), {}).values():
            limits = access.vector(node, name, (-1.0, -1.0, -1.0))
            if any(number <= 0 and number != -1 for number in limits):
                shown = " ".join(f"{number:g}" for number in limits)
                message = f"{name} of {label(node)} is {shown}, expected positive numbers, or -1 for no limit"
                found.report(rules.SENSOR_LIMIT, message, node.location_of(name))
        if device.id < 0 and (node.proto is None or "sensorId" in node.proto.fields):
            found.report(rules.SENSOR_ID_MISSING, f"{label(node)} has no sensorId", node.location)


def _check_ids(tree: Tree, humanoid: Node, found: Diagnostics) -> None:
    ids: dict[int, None] = {}
    for link, node in zip(tree.links, tree.joint_nodes, strict=True):
        joint = link.joint
        if joint.id < 0:
            if link.index and joint.type in ("rotate", "slide", "crawler"):
                found.report(rules.ID_MISSING, f"{label(node)} has no jointId", node.location)
            continue
        if joint.type in ("fixed", "free"):
            message = f"{label(node)} is {joint.type} and has jointId {joint.id}: this column has no effect"
            found.report(rules.ID_UNUSED, message, node.location_of("jointId"))
        ids.setdefault(joint.id)
    if list(ids) != sorted(ids):
        found.report(rules.ID_ORDER, "the jointIds do not have the order of the links", humanoid.location)


def _check_numbers(tree: Tree, _humanoid: Node, found: Diagnostics) -> None:
    """Report masses that are not finite only when the Segments of a Joint are added."""
    sums = np.array([[link.mass, *link.center_of_mass, *link.inertia.flat] for link in tree.links])
    for index in np.flatnonzero(~np.isfinite(sums).all(axis=1)).tolist():
        node = tree.joint_nodes[index]
        message = f"mass, centre of mass or inertia of {label(node)}, the sum of its Segments, is not finite"
        found.report(rules.NOT_FINITE, message, node.location, hint="its Segments have numbers that are too large")
        found.mark_unknown(*(("links", index, attribute) for attribute in SEGMENT_FIELDS))
