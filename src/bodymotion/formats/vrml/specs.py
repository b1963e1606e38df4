"""The standard nodes of VRML97 with their fields, types and defaults, which are in `nodes.txt`; scopes of names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bodymotion.diagnostics import Diagnostics
from bodymotion.formats.text.source_text import Text
from bodymotion.formats.vrml.nodes import FieldDeclaration, Node, Proto, Route, Value
from bodymotion.formats.vrml.values import READERS, Reader, guessed_value, read_event

OUTSIDE_PROTOTYPES = {("Joint", "gearEfficiency")}
"""Fields that the OpenHRP document describes and the prototypes that it prints lack."""
_ACCESS = {"x": "exposedField", "f": "field", "in": "eventIn", "out": "eventOut"}
_LINE = re.compile(r"(\w+) (\w+)((?: [a-z]\w*)+) ?(.*)")


def field_tables(path: Path) -> dict[str, str]:
    """Return the sections of a file such as `nodes.txt`: the lines of fields by their heading."""
    found: dict[str, str] = {}
    name = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("  + "):
            found[name] += found[line[4:]]
        elif line.startswith("  "):
            found[name] += line[2:] + "\n"
        elif line and not line.startswith("#"):
            name = line
            found[name] = ""
    return found


STANDARD_NODES = {
    name: table for name, table in field_tables(Path(__file__).with_name("nodes.txt")).items() if name[0].isupper()
}
"""By the names of nodes the lines of their fields; the other sections of the file are parts of several nodes."""


def standard_fields(node_type: str) -> Mapping[str, FieldDeclaration]:
    """Return the fields of a standard node by name; none for any other node."""
    return declared_fields(STANDARD_NODES[node_type]) if node_type in STANDARD_NODES else {}


@cache
def declared_fields(table: str) -> Mapping[str, FieldDeclaration]:
    """Return the fields in lines of the form of `nodes.txt`, by name."""
    return {
        name: FieldDeclaration(_ACCESS[access], field_type, name, _value(field_type, default))
        for access, field_type, names, default in _LINE.findall(table)
        for name in names.split()
    }


def _value(field_type: str, default: str) -> Value:
    from bodymotion.formats.vrml.parser import Parser

    return reader_of(field_type)(Parser(Text(default), Diagnostics(), []), 0)[0] if default else None


class Kind(NamedTuple):
    """A type of node: the readers of its fields, its prototype unless it is a standard node, and the size of an instance in nodes."""

    readers: dict[str, Reader]
    proto: Proto | None = None
    size: int = 1


UNKNOWN = Kind({})  # A type that is not declared.


@dataclass
class Scope:
    """The names in a file or in the body of a prototype: types, nodes by DEF with their size, fields that IS may refer to."""

    kinds: dict[str, Kind]
    routes: list[Route]
    nodes: dict[str, tuple[Node, int]] = field(default_factory=dict)
    interface: Mapping[str, FieldDeclaration] = field(default_factory=dict)
    outer: Scope | None = None

    def kind(self, name: str) -> Kind | None:
        """Return the type of this name: declared here, in a scope around this one, or by the standard."""
        found = self.kinds.get(name)
        if found is None:
            if self.outer is not None:
                found = self.outer.kind(name)
            elif name in STANDARD_NODES:
                found = _standard_kind(name)
            if found is not None:
                self.kinds[name] = found
        return found


def kind_of(proto: Proto, size: int) -> Kind:
    """Return the type that a prototype declares; `size` is the number of nodes in its body."""
    return Kind(_readers(proto.fields), proto, 1 + size)


def reader_of(field_type: str) -> Reader:
    """Return the reader of a field type; values of an unknown type are read by their form."""
    return READERS.get(field_type, guessed_value)


@cache
def _standard_kind(node_type: str) -> Kind:
    return Kind(_readers(standard_fields(node_type)))


def _readers(fields: Mapping[str, FieldDeclaration]) -> dict[str, Reader]:
    return {
        name: read_event if declared.access in ("eventIn", "eventOut") else reader_of(declared.type)
        for name, declared in fields.items()
    }
