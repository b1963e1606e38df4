"""The content of a VRML97 file as Python values: nodes with their fields, prototypes, routes.

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

Arrays are read-only. The type of a field that its node does not declare follows from the form of its value: a number is int or float,
several numbers are a float64 array (N,), strings in brackets a list, nodes in brackets a list, empty brackets an empty list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem

if TYPE_CHECKING:
    from bodymotion.formats.text.source_text import Text
    from bodymotion.formats.vrml.recovery import Damage

__all__ = ["NOTHING", "FieldDeclaration", "IsReference", "Node", "Proto", "Route", "Scene", "Value"]

Value: TypeAlias = "bool | int | float | str | npt.NDArray[Any] | Node | list[Node] | list[str] | IsReference | None"


@dataclass(frozen=True)
class IsReference:
    """`field IS name`, in the body of a prototype."""

    name: str


NOTHING: dict[str, Any] = cast("dict[str, Any]", MappingProxyType({}))
"""The fields of all nodes without fields, which share it: there may be a million of them."""


@dataclass(eq=False, slots=True)
class Node:
    """A node: `type` as written, DEF `name` ("" without one), the `fields` that the file has, and its location.

    USE gives the very same object. For an instance of a prototype, `proto` is its declaration. A Script (and nothing else) has
    `declarations`: the fields and events that it declares for itself. `text` and `offset` locate the node's type, `offsets` the name of
    each field, those whose value could not be read included.
    """

    type: str
    name: str = ""
    fields: dict[str, Value] = field(default_factory=dict)
    proto: Proto | None = None
    text: Text | None = field(default=None, repr=False)
    offset: int = 0
    offsets: dict[str, int] = field(default_factory=dict, repr=False)
    declarations: dict[str, FieldDeclaration] = field(default_factory=dict)

    @property
    def location(self) -> Location:
        """The location of the node's type."""
        return self.text.location(self.offset) if self.text is not None else Location()

    def location_of(self, name: str) -> Location:
        """Return the location of a field's name; that of the node where the file does not have the field."""
        if self.text is None:
            return Location()
        return self.text.location(self.offsets.get(name, self.offset))

    @property
    def path(self) -> Path | None:
        """The file that the node is written in: relative urls start from its folder."""
        return self.text.path if self.text is not None else None

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """Return a field's value: that of the file, else the default of the prototype or of the standard, else `default`."""
        if name in self.fields:
            return self.fields[name]
        if self.proto is not None:
            declared = self.proto.fields.get(name)
        else:
            from bodymotion.formats.vrml.specs import standard_fields

            declared = standard_fields(self.type).get(name)
        return default if declared is None or declared.value is None else declared.value


@dataclass(frozen=True)
class FieldDeclaration:
    """A field in the interface of a prototype: `access` is field, exposedField, eventIn or eventOut."""

    access: str
    type: str
    name: str
    value: Value = None


@dataclass(eq=False)
class Proto:
    """PROTO or EXTERNPROTO (`urls`): the interface and the nodes of the body; `text` and `offset` locate its name."""

    name: str
    fields: Mapping[str, FieldDeclaration]
    body: list[Node] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    urls: tuple[str, ...] = ()
    text: Text | None = field(default=None, repr=False)
    offset: int = 0

    @property
    def location(self) -> Location:
        """The location of the prototype's name."""
        return self.text.location(self.offset) if self.text is not None else Location()

    @property
    def path(self) -> Path | None:
        """The file that the prototype is declared in: relative urls start from its folder."""
        return self.text.path if self.text is not None else None


@dataclass(frozen=True)
class Route:
    """ROUTE from_node.from_event TO to_node.to_event."""

    from_node: str
    from_event: str
    to_node: str
    to_event: str


@dataclass(eq=False)
class Scene:
    """A whole file: `nodes` at the top level, prototypes by name, routes.

    Attributes
    ----------
    header:
        The line that names the language, "" where it is missing.
    problems:
        Everything that was found while the file was parsed.
    size:
        The number of nodes with every USE and every instance of a prototype expanded: about what a walk through the scene visits.
    damage:
        What faults of the grammar have left incomplete.
    """

    nodes: list[Node] = field(default_factory=list)
    protos: dict[str, Proto] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    path: Path | None = None
    encoding: str = "ascii"
    header: str = ""
    problems: tuple[Problem, ...] = ()
    size: int = 0
    damage: Damage | None = field(default=None, repr=False)
