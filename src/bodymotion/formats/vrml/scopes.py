"""What may be named in a VRML97 file or in the body of a prototype: types of nodes, nodes, and the fields that IS may mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from bodymotion.formats.vrml.nodes import FieldDeclaration, Node, Proto, Route
from bodymotion.formats.vrml.specs import STANDARD_NODES, standard_fields
from bodymotion.formats.vrml.values import READERS, Reader, by_look, read_event

__all__ = ["UNKNOWN", "Kind", "Scope", "kind_of", "reader_of"]


class Kind(NamedTuple):
    """A type of node: how its fields are read, its prototype if it is no node of the standard, and what an instance adds to the size."""

    readers: dict[str, Reader]
    proto: Proto | None = None
    size: int = 1


UNKNOWN = Kind({})
"""A type that nobody declares."""


@dataclass
class Scope:
    """What may be named in a file or in the body of a prototype: types, nodes by DEF with their size, fields that IS may mean."""

    kinds: dict[str, Kind]
    routes: list[Route]
    nodes: dict[str, tuple[Node, int]] = field(default_factory=dict)
    interface: Mapping[str, FieldDeclaration] = field(default_factory=dict)
    outer: Scope | None = None

    def kind(self, name: str) -> Kind | None:
        """Return the type of that name, declared here, around here, or by the standard."""
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
    """Return the type that a prototype makes; `size` counts the nodes of its body."""
    return Kind(_readers(proto.fields), proto, 1 + size)


def reader_of(field_type: str) -> Reader:
    """Return what reads the values of a type; those of a type that is none are told by their look."""
    return READERS.get(field_type, by_look)


@cache
def _standard_kind(node_type: str) -> Kind:
    return Kind(_readers(standard_fields(node_type)))


def _readers(fields: Mapping[str, FieldDeclaration]) -> dict[str, Reader]:
    return {
        name: read_event if declared.access in ("eventIn", "eventOut") else reader_of(declared.type)
        for name, declared in fields.items()
    }
