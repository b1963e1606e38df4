"""The prototypes that a written model declares, the fields that are only kept in `extra`, and names that are legal and unique."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from bodymotion.diagnostics import losses
from bodymotion.diagnostics.losses import Report
from bodymotion.formats.vrml import FieldDeclaration, Node, Proto, Value, read_vrml
from bodymotion.formats.vrml.nodes import visits
from bodymotion.formats.vrml.writer import is_name, legal_name


class Names:
    """The names that are used in one file."""

    def __init__(self, report: Report) -> None:
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
    if value is None:
        return None, ("SFNode",)
    if isinstance(value, str):
        return value, () if any("\ud800" <= letter <= "\udfff" for letter in value) else ("SFString",)
    if isinstance(value, (list, tuple)) and len(value) and all(isinstance(item, str) for item in value):
        return [str(item) for item in value], ("MFString",)
    try:
        array = np.asarray(value)
    except ValueError:
        return None, ()
    kind, size = array.dtype.kind, array.shape[-1] if array.ndim else 1
    if kind == "b" and array.ndim == 0:
        return bool(array), ("SFBool",)
    if kind not in "iuf" or array.ndim > 2 or not np.isfinite(array).all():
        return None, ()
    if not array.size:
        return [], LISTS if array.ndim == 1 else ROWS.get(size, ())
    if array.ndim == 2:
        return array.astype(np.float64), ROWS.get(size, ())
    whole = kind in "iu" and array.min() >= -(2**31) and array.max() < 2**31
    if array.ndim == 0:
        single = ("SFInt32", "SFFloat", "SFTime") if whole else ("SFFloat", "SFTime")
        return (int(array) if whole else float(array)), single if whole or float(array) == array.item() else ()
    types = (*SINGLES.get(size, ()), "MFFloat", "MFTime")
    return (array.astype(np.int32), ("MFInt32", *types)) if whole else (array.astype(np.float64), types)


class KeptFields:
    """The kept fields of all nodes of one kind; `types` are those that `proto` declares beside the fields of the document."""

    def __init__(self, kind: str, extras: Sequence[Mapping[str, object]], report: Report) -> None:
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


_FILE = Path(__file__).with_name("prototypes.wrl")
REMARKS = {name: remark for remark, name in re.findall(r"# (.*)\nPROTO (\w+)", _FILE.read_text("utf-8"))}
"""By the names of prototypes, the comments above their declarations."""
OPTIONAL = {("Joint", "climit"): "MFFloat", ("Joint", "equivalentInertia"): "SFFloat"}
"""Fields that readers know and that the prototypes of the document do not declare; declared where a model has them."""


@cache
def _declared() -> Mapping[str, Proto]:
    return read_vrml(_FILE).protos


@cache
def prototype(name: str) -> Proto:
    """Return one of the document's prototypes, or that of a device which the document does not have."""
    return _declared().get(name) or replace(_declared()["Sensor"], name=name)


def prototypes_of(nodes: list[Node]) -> list[Proto]:
    """Return the prototypes of nodes and of all in them, in the order of the document."""
    found = {node.type: node.proto for node in visits(nodes) if node.proto is not None}
    known = list(REMARKS)
    return [found[name] for name in sorted(found, key=lambda n: (known.index(n) if n in known else len(known), n))]
