"""What a VRML97 file says, as Python values: nodes with their fields, prototypes, routes. Knows nothing of robots.

Values of fields, by the types of the standard (ISO/IEC 14772-1, clause 5):

====================================== =====================================================================
SFBool, SFInt32, SFFloat, SFTime       bool, int, float, float
SFString, MFString                     str, list of str
SFVec2f, SFVec3f, SFRotation, SFColor  float64 array (2,), (3,), (4,), (3,)
SFNode, MFNode                         `Node` or None, list of `Node`
MFInt32                                int32 array (N,)
MFFloat, MFTime                        float64 array (N,)
MFVec2f, MFVec3f, MFRotation, MFColor  float64 array (N, 2), (N, 3), (N, 4), (N, 3)
SFImage                                int64 array: width, height, components, pixels
====================================== =====================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem

__all__ = ["FieldDeclaration", "IsReference", "Node", "Proto", "Route", "Scene", "Value"]

Value: TypeAlias = "bool | int | float | str | npt.NDArray[Any] | Node | None | list[Node] | list[str] | IsReference"


@dataclass(frozen=True)
class IsReference:
    """`field IS name`, in the body of a prototype."""

    name: str


@dataclass(eq=False)
class Node:
    """A node: `type` as written, DEF `name` ("" none), the `fields` that the file gives, and where it stands.

    USE gives the very same object. For an instance of a prototype, `proto` is its declaration.
    """

    type: str
    name: str = ""
    fields: dict[str, Value] = field(default_factory=dict)
    proto: Proto | None = None
    location: Location = field(default_factory=Location)

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """Give a field's value: the file's, else that of the prototype's declaration or of the standard, else `default`."""
        value = self.fields.get(name)
        if value is None and name not in self.fields:
            declared = self.proto.fields.get(name) if self.proto is not None else None
            if declared is not None:
                return default if declared.value is None else declared.value
            return default
        return value


@dataclass(frozen=True)
class FieldDeclaration:
    """A field in the interface of a prototype: `access` is field, exposedField, eventIn or eventOut."""

    access: str
    type: str
    name: str
    value: Value = None


@dataclass(eq=False)
class Proto:
    """PROTO or EXTERNPROTO (`urls`): the interface and the nodes of the body."""

    name: str
    fields: Mapping[str, FieldDeclaration]
    body: list[Node] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    urls: tuple[str, ...] = ()
    location: Location = field(default_factory=Location)


@dataclass(frozen=True)
class Route:
    """ROUTE from_node.from_event TO to_node.to_event."""

    from_node: str
    from_event: str
    to_node: str
    to_event: str


@dataclass(eq=False)
class Scene:
    """A whole file: `nodes` at the top level, prototypes by name, routes, the problems met."""

    nodes: list[Node] = field(default_factory=list)
    protos: dict[str, Proto] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    path: Path | None = None
    encoding: str = "ascii"
    header: str = ""
    problems: list[Problem] = field(default_factory=list)
