"""The prototypes that a written model declares, the fields that are only kept in `extra`, and names that are legal and unique."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import losses
from bodymotion.formats.vrml import FieldDeclaration, IsReference, Node, Proto, Value
from bodymotion.formats.vrml.specs import declared_fields, field_tables
from bodymotion.formats.vrml.writer import is_name, legal_name

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule


class Names:
    """The names that are used in one file."""

    def __init__(self, report: Callable[[Rule, str], None]) -> None:
        self.report = report
        self.used_names: set[str] = set()
        self._count: dict[str, int] = {}

    def unique(self, name: str, what: str) -> str:
        """Return the name where it is legal and unused, else a similar one, which is reported; an empty name stays empty."""
        if not name:
            return ""
        legal = legal_name(name)
        free = legal
        while free in self.used_names:
            # Counting continues from the last number, so many of one name do not become slower.
            self._count[legal] = self._count.get(legal, 1) + 1
            free = f"{legal}_{self._count[legal]}"
        self.used_names.add(free)
        if free != name:
            rule = losses.BODY_NAMES.as_note if what in ("the segment", "the shape") else losses.BODY_NAMES
            self.report(rule, f"{what} {name!r} is written as {free!r}")
        return free


ROWS = {2: ("MFVec2f",), 3: ("MFVec3f", "MFColor"), 4: ("MFRotation",)}
SINGLES = {2: ("SFVec2f",), 3: ("SFVec3f", "SFColor"), 4: ("SFRotation",)}
LISTS = ("MFFloat", "MFInt32", "MFString", "MFNode", "MFVec2f", "MFVec3f", "MFColor", "MFRotation", "MFTime")
WIDER = {"SFFloat": "MFFloat", "SFInt32": "MFInt32", "SFString": "MFString"}


def as_value(value: object) -> tuple[Value, tuple[str, ...]]:
    """Return a value in the form of a field, and the possible types of the field, the best first; none where no field can hold it."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value), ("SFBool",)
    if isinstance(value, (int, np.integer)):
        if -(2**31) <= value < 2**31:
            return int(value), ("SFInt32", "SFFloat", "SFTime")
        return float(value), ("SFFloat", "SFTime") if int(float(value)) == value else ()
    if isinstance(value, (float, np.floating)):
        return float(value), ("SFFloat", "SFTime") if math.isfinite(value) else ()
    if isinstance(value, str):
        return value, () if any("\ud800" <= letter <= "\udfff" for letter in value) else ("SFString",)
    if value is None:
        return None, ("SFNode",)
    if isinstance(value, (list, tuple)):
        if not len(value):
            return [], LISTS
        if all(isinstance(item, str) for item in value):
            return [str(item) for item in value], ("MFString",)
        if not all(isinstance(item, (int, float, np.number, list, tuple, np.ndarray)) for item in value):
            return None, ()
        try:
            value = np.asarray(value)
        except ValueError:
            return None, ()
    if isinstance(value, np.ndarray):
        return _array(value)
    return None, ()


def _array(value: np.ndarray) -> tuple[Value, tuple[str, ...]]:
    if value.dtype.kind not in "iuf" or value.ndim not in (1, 2) or not np.isfinite(value).all():
        return None, ()
    if not value.size:
        return [], LISTS if value.ndim == 1 else ROWS.get(value.shape[1], ())
    if value.ndim == 2:
        return value.astype(np.float64), ROWS.get(value.shape[1], ())
    if value.dtype.kind in "iu" and value.min() >= -(2**31) and value.max() < 2**31:
        return value.astype(np.int32), ("MFInt32", *SINGLES.get(len(value), ()), "MFFloat", "MFTime")
    return value.astype(np.float64), (*SINGLES.get(len(value), ()), "MFFloat", "MFTime")


class KeptFields:
    """The kept fields of all nodes of one kind; `types` are those that `proto` declares beside the fields of the document."""

    def __init__(self, kind: str, extras: Sequence[Mapping[str, object]], report: Callable[[Rule, str], None]) -> None:
        self.kind = kind
        self.report = report
        self.types: dict[str, str] = {}
        self.proto = prototype(kind)
        self._all = {name: field.type for name, field in self.proto.fields.items() if field.access.endswith("ield")}
        possible: dict[str, tuple[str, ...]] = {}
        for extra in extras:
            for name, value in extra.items():
                if name in self._all or not isinstance(name, str):
                    continue
                _, types = as_value(value)
                if types:
                    before = possible.get(name, types)
                    possible[name] = tuple(kind for kind in before if kind in types) or before
        for name, types in possible.items():
            if is_name(name):
                self.types[name] = OPTIONAL.get((kind, name), types[0])
        self._all |= self.types
        if self.types:
            added = {name: FieldDeclaration("exposedField", kind, name) for name, kind in self.types.items()}
            self.proto = Proto(self.proto.name, {**self.proto.fields, **added}, self.proto.body)

    def of(self, extra: Mapping[str, object], used: Collection[str] = ()) -> dict[str, Value]:
        """Return the fields of one node; report what cannot be kept. Names in `used` are written elsewhere, "mjcf" is reported so."""
        fields: dict[str, Value] = {}
        left: list[str] = []
        for name, item in extra.items():
            if name in used or name == "mjcf":
                continue
            value, types = as_value(item)
            kind = self._all.get(name, "")
            if kind in types:
                fields[name] = value
            elif any(WIDER.get(single) == kind for single in types):
                fields[name] = [value] if isinstance(value, str) else np.array([value])
                self.report(losses.KEPT_VALUE, f"{self.kind}: {name} {item!r:.60} becomes a list of one")
            else:
                left.append(str(name))
        if left:
            names = ", ".join(left[:8]) + (f" and {len(left) - 8} more" if len(left) > 8 else "")
            self.report(losses.KEPT_VALUE, f"{self.kind}: no field holds {names}")
        return fields


_TABLES = field_tables(Path(__file__).with_name("prototypes.txt"))
REMARKS = dict(heading.split(": ", 1) for heading in _TABLES if ": " in heading)
"""By the names of prototypes, the comments above their declarations."""
PROTOTYPES = {heading.partition(": ")[0]: table for heading, table in _TABLES.items()}
BODIES = {
    "Humanoid": "Transform bboxCenter bboxSize center rotation scale scaleOrientation translation",
    "Joint": "Transform center rotation scale scaleOrientation translation children",
    "Segment": "Group bboxCenter bboxSize children addChildren removeChildren",
    "Surface": "Group bboxCenter bboxSize children addChildren removeChildren",
    "RangeSensor": "Transform translation rotation children",
}
"""The nodes in the bodies of prototypes, and those fields of them that are IS a field of the interface; else Transform with a pose."""
OPTIONAL = {("Joint", "climit"): "MFFloat", ("Joint", "equivalentInertia"): "SFFloat"}
"""Fields that readers know and that the prototypes of the document do not declare; declared where a model has them."""


@cache
def prototype(name: str) -> Proto:
    """Return one of the document's prototypes, or that of a device which the document does not have."""
    node_type, *parts = BODIES.get(name, "Transform translation rotation").split()
    node = Node(node_type, fields={part: IsReference(part) for part in parts})
    if name == "Humanoid":
        groups = [Node("Group", fields={"children": IsReference(part)}) for part in ("viewpoints", "humanoidBody")]
        node.fields["children"] = groups
    elif name == "Surface":
        node.fields["children"] = IsReference("visual")
    return Proto(
        name, declared_fields(PROTOTYPES.get(name, PROTOTYPES["sensor"])), [] if name == "ExtraJoint" else [node]
    )


def prototypes_of(nodes: list[Node]) -> list[Proto]:
    """Return the prototypes of nodes and of all in them, in the order of the document."""
    found: dict[str, Proto] = {}
    seen: set[int] = set()
    stack: list[object] = list(nodes)
    while stack:
        node = stack.pop()
        if not isinstance(node, Node) or id(node) in seen:
            continue
        seen.add(id(node))
        if node.proto is not None:
            found[node.type] = node.proto
        for value in node.fields.values():
            stack.extend(value if isinstance(value, list) else [value])
    known = list(REMARKS)
    return [found[name] for name in sorted(found, key=lambda n: (known.index(n) if n in known else len(known), n))]
