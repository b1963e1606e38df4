"""The content of a VRML97 file as Python values.

Nodes with their fields, prototypes, routes.

Values of fields, by the types of the standard (ISO/IEC 14772-1, clause 5):

====================================== =======================================
SFBool, SFInt32, SFFloat, SFTime       bool, int, float, float
SFString, MFString                     str, list of str
SFVec2f, SFVec3f, SFRotation, SFColor  float64 array (2,), (3,), (4,), (3,)
SFNode, MFNode                         `Node` or None, list of `Node`
MFInt32                                int32 array (N,)
MFFloat, MFTime                        float64 array (N,)
MFVec2f, MFVec3f, MFRotation, MFColor  float64 array (N, K), K as above
SFImage                                int64 array: width, height, components, pixels
====================================== =======================================

Arrays are read-only. The type of a field that its node does not declare follows from
the form of its value: a number is int or float, several numbers are a float64 array
(N,), strings in brackets a list, nodes in brackets a list, empty brackets an empty
list.

A prototype in the file may declare any type for a field, and the types of a node
without a declaration are guesses. So the functions of this module return a field as the
type that the caller needs: a number from an array of one, a list from a single number.
What cannot be converted is an error with its location; `attempt` reads on without the
faulty field.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Diagnostics, FormatError, Location, Problem, Subject
from bodymotion.formats.text import Text
from bodymotion.formats.vrml.fields import FieldDeclaration, standard_fields
from bodymotion.formats.vrml.rules import UNUSABLE_VALUE, ZERO_AXIS
from bodymotion.geometry.arrays import Floats, frozen, frozen_ints

Value: TypeAlias = (
    "bool | int | float | str | npt.NDArray[Any] | Node | list[Node] | list[str] | "
    "IsReference | None"
)
NOTHING: dict[str, Any] = cast("dict[str, Any]", MappingProxyType({}))
"""The fields of all nodes without fields, which share it.

There may be a million of them.
"""
NO_INTEGERS = frozen_ints(np.zeros(0, dtype=np.int32))
NO_NUMBERS = frozen(np.zeros(0))


@dataclass(frozen=True)
class IsReference:
    """`field IS name`, in the body of a prototype."""

    name: str


class _Located:
    """What begins at an offset of a text."""

    __slots__ = ()
    text: Text | None
    offset: int

    @property
    def location(self) -> Location:
        """The location of a node's type, or of a prototype's name."""
        if self.text is not None:
            return self.text.location(self.offset)
        return Location()

    @property
    def path(self) -> Path | None:
        """The file that a node is written in, or a prototype declared in.

        Relative urls start from its folder.
        """
        if self.text is not None:
            return self.text.path
        return None


@dataclass(eq=False, slots=True)
class Node(_Located):
    """A node: its `type` as written, its fields and its location.

    `name` is that after DEF, "" without one; `fields` are those that the file has.
    USE gives the very same object. For an instance of a prototype, `proto` is its
    declaration. A Script (and nothing else) has
    `declarations`: the fields and events that it declares for itself. `text` and
    `offset` locate the node's type, `offsets` the name of
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

    def location_of(self, name: str) -> Location:
        """Return the location of a field's name.

        That of the node where the file does not have the field.
        """
        if self.text is None:
            return Location()
        return self.text.location(self.offsets.get(name, self.offset))

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """Return a field's value.

        That of the file, else the default of the prototype or of the standard, else
        `default`.
        """
        # The field of the file counts, also where its value is None (NULL).
        if name in self.fields:
            return self.fields[name]
        if self.proto is not None:
            declared = self.proto.fields.get(name)
        else:
            declared = standard_fields(self.type).get(name)
        if declared is None or declared.value is None:
            return default
        return declared.value


@dataclass(eq=False)
class Proto(_Located):
    """PROTO or EXTERNPROTO (`urls`).

    The interface and the nodes of the body; `text` and `offset` locate its name.
    """

    name: str
    fields: Mapping[str, FieldDeclaration]
    body: list[Node] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    urls: tuple[str, ...] = ()
    text: Text | None = field(default=None, repr=False)
    offset: int = 0


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
        The number of nodes with every USE and every instance of a prototype expanded:
        about what a walk through the scene visits.
    refused:
        The fields whose values are wrong: they have none.
    """

    nodes: list[Node] = field(default_factory=list)
    protos: dict[str, Proto] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    path: Path | None = None
    encoding: str = "ascii"
    header: str = ""
    problems: tuple[Problem, ...] = ()
    size: int = 0
    refused: RefusedValues | None = field(default=None, repr=False)


@dataclass
class RefusedValues:
    """What is incomplete in a scene because the values of fields are wrong."""

    text: Text
    offsets: set[int] = field(default_factory=set)
    """Offsets in `text` of these fields, and of the nodes that they are in."""

    def __bool__(self) -> bool:
        return bool(self.offsets)

    def touches(self, location: Location) -> bool:
        """Return whether something is incomplete at a location."""
        if self.text.path is None:
            path = None
        else:
            path = str(self.text.path)
        return location.path == path and location in self._locations

    def is_whole(self, node: Node) -> bool:
        """Return whether everything in a node was read."""
        return node.text is not self.text or node.offset not in self.offsets

    def has_all(self, node: Node, name: str) -> bool:
        """Return whether nothing is missing in a field of a node.

        It was read, or is not in the file.
        """
        if name in node.fields:
            return True
        return name not in node.offsets and self.is_whole(node)

    @cached_property
    def _locations(self) -> set[Location]:
        return {self.text.location(offset) for offset in self.offsets}


Made = TypeVar("Made")


class ModelDiagnostics(Diagnostics):
    """The problems of one model, without those that follow from refused values.

    Parameters
    ----------
    refused:
        The fields of the model's file that have wrong values: nothing is reported about
        them and the nodes that they are in.
    """

    def __init__(
        self, path: str | Path | None = None, refused: RefusedValues | None = None
    ) -> None:
        super().__init__(path)
        self.refused = refused or None

    def add(self, problem: Problem, *, fatal: bool = False) -> None:
        """Record a problem, unless it may follow from a refused value."""
        if self.refused is None or not self.refused.touches(problem.location):
            super().add(problem, fatal=fatal)

    def fault(self, error: FormatError, *unknown: Subject) -> None:
        """Record a fault for which the file is refused.

        Mark what it leaves unknown.
        """
        self.add(error.problem, fatal=True)
        self.mark_unknown(*unknown)


def attempt(
    read: Callable[[Node], Made],
    node: Node,
    found: ModelDiagnostics,
    subject: Subject = (),
    attributes: Mapping[str, str] | None = None,
) -> Made | None:
    """Read a node; record a fault and read again without the field that has it.

    None where that is impossible.

    Parameters
    ----------
    subject, attributes:
        What the node becomes in the value, and for its attributes the names of fields:
        those with faults are marked unknown.
    """
    rest: Node | None = node
    while rest is not None:
        # Each round removes one field, so this ends.
        try:
            return read(rest)
        except FormatError as error:
            name = _faulty_field(rest, error)
            # `attributes` are by attribute; the fault names the field.
            by_field = {field: key for key, field in (attributes or {}).items()}
            attribute = by_field.get(name or "", name)
            if not subject:
                found.fault(error)
            elif attribute:
                found.fault(error, (*subject, attribute))
            else:
                found.fault(error, subject)
            rest = without_fault(rest, error)
    return None


def without_fault(node: Node, error: FormatError) -> Node | None:
    """Return a node without the field that a fault is in.

    None where it is in none of them.
    """
    name = _faulty_field(node, error)
    if name is None:
        return None
    return replace(
        node,
        fields={other: value for other, value in node.fields.items() if other != name},
    )


def _faulty_field(node: Node, error: FormatError) -> str | None:
    # An error has no field, only a location: that of the field's name identifies it.
    location = error.problem.location
    return next(
        (
            name
            for name in node.fields
            if name in node.offsets and node.location_of(name) == location
        ),
        None,
    )


def visits(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes and those in their fields in the order of a file.

    The contents of a node that is used several times are yielded once.
    """
    seen: set[int] = set()
    # A stack in place of recursion: nodes may be nested deeper than Python's calls. The
    # order is reversed, because the last item is taken first.
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        yield node
        if id(node) not in seen:
            seen.add(id(node))
            for value in reversed(node.fields.values()):
                items = reversed(value) if isinstance(value, list) else [value]
                stack += [item for item in items if isinstance(item, Node)]


def _refused(node: Node, name: str, wanted: str) -> FormatError:
    """Return the exception for a value that cannot be converted."""
    value = node.get(name)
    # An array may have millions of numbers: the message has their count.
    if isinstance(value, np.ndarray):
        found = f"an array of {value.size} numbers"
    else:
        found = repr(value)
    if isinstance(value, (Node, list)):
        if isinstance(value, Node) or (value and isinstance(value[0], Node)):
            found = "nodes"
        else:
            found = "a list"
    return UNUSABLE_VALUE.error(
        f"{_title(node)}: {name} is {found:.60}, expected {wanted}",
        node.location_of(name),
    )


def _title(node: Node) -> str:
    if node.name:
        return f"{node.type} {node.name!r}"
    return node.type


def _value(node: Node, name: str) -> Value:
    """Return the value in the file, or the default of a prototype.

    Callers know the defaults of the standard.
    """
    value = node.fields.get(name)
    return node.get(name) if value is None and node.proto is not None else value


def numbers(node: Node, name: str, wanted: str = "a list of numbers") -> Floats:
    """Return a field's numbers (N,).

    None where the file does not have the field. `wanted` is what the message expects.
    """
    value = _value(node, name)
    # Empty brackets of a field that is not declared are read as an empty list.
    if value is None or (isinstance(value, list) and not value):
        return NO_NUMBERS
    if isinstance(value, (np.ndarray, bool, int, float)):
        # The kinds are bool, integer, unsigned and float; others are no numbers.
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            return frozen(array.reshape(-1))
    raise _refused(node, name, wanted)


def number(node: Node, name: str, default: float) -> float:
    """Return a field's number.

    The first, where there are several; `default` where there is none.
    """
    value = _value(node, name)
    if isinstance(value, (float, int)):
        return float(value)
    values = numbers(node, name, "a number")
    if len(values):
        return float(values[0])
    return default


def vector(node: Node, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    """Return as many numbers as `default` has; fewer are refused."""
    value = _value(node, name)
    if value is None:
        return default
    # The regular case, without the conversions below: most vectors are of this form.
    if (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.shape == (len(default),)
    ):
        return tuple(value.tolist())
    if len(default) == 1:
        wanted = "a number"
    else:
        wanted = f"{len(default)} numbers"
    values = numbers(node, name, wanted)[: len(default)].tolist()
    if 0 < len(values) < len(default):
        raise _refused(node, name, wanted)
    # An empty list means that no value is given: the default counts.
    return tuple(values) or default


def integer(node: Node, name: str, default: int) -> int:
    """Return a field's whole number; one with a fraction is refused."""
    value = number(node, name, default)
    if not math.isfinite(value) or value % 1 != 0:
        raise _refused(node, name, "a whole number")
    return int(value)


def integers(node: Node, name: str) -> npt.NDArray[np.integer]:
    """Return a field's whole numbers (N,)."""
    value = _value(node, name)
    if value is None:
        return NO_INTEGERS
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value.reshape(-1)
    values = numbers(node, name)
    # Out of this range the conversion to int32 is undefined; nan becomes 0. Both differ
    # from the value then and are refused.
    whole = np.clip(np.nan_to_num(values), -(2**31), 2**31 - 1)
    if (whole != values).any() or (whole % 1 != 0).any():
        raise _refused(node, name, "a list of whole numbers")
    return whole.astype(np.int32)


def rows(node: Node | None, name: str, width: int) -> Floats:
    """Return a field's numbers (N, width).

    An incomplete last row is not used.
    """
    if node is None:
        return frozen(np.zeros((0, width)))
    values = numbers(node, name)
    return values[: len(values) // width * width].reshape(-1, width)


def axis_angle(
    node: Node, name: str = "rotation"
) -> tuple[tuple[float, float, float], float]:
    """Return a field's rotation as an axis of length 1 and an angle [rad].

    A zero axis is refused.
    """
    if name not in node.fields and node.proto is None:
        return (0.0, 0.0, 1.0), 0.0
    x, y, z, angle = vector(node, name, (0.0, 0.0, 1.0, 0.0))
    # By its largest component, not its length: the squares of a tiny axis are 0.
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        raise ZERO_AXIS.error(
            f"{_title(node)}: the axis of {name} is 0 0 0", node.location_of(name)
        )
    # Infinite or nan components make the sum so, too.
    if not math.isfinite(x + y + z + angle):
        raise UNUSABLE_VALUE.error(
            f"{_title(node)}: {name} has numbers that are not finite",
            node.location_of(name),
        )
    return unit(x, y, z), angle


def unit(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector that is not zero, scaled to length 1."""
    # Scaled by a power of two, all digits are kept, and the squares of a tiny or a huge
    # axis stay in range.
    _, exponent = math.frexp(max(abs(x), abs(y), abs(z)))
    x = math.ldexp(x, -exponent)
    y = math.ldexp(y, -exponent)
    z = math.ldexp(z, -exponent)
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def quaternion(
    axis: tuple[float, float, float], angle: float
) -> tuple[float, float, float, float]:
    """Return the quaternion w x y z of a rotation about an axis of length 1."""
    # q = (cos θ/2, a · sin θ/2).
    x, y, z = axis
    sine = math.sin(0.5 * angle)
    return math.cos(0.5 * angle), x * sine, y * sine, z * sine


def flag(node: Node, name: str, default: bool) -> bool:
    """Return a field's TRUE or FALSE."""
    value = _value(node, name)
    if isinstance(value, (bool, int, float)):
        return bool(value)
    if value is None:
        return default
    raise _refused(node, name, "TRUE or FALSE")


def text(node: Node, name: str, default: str = "") -> str:
    """Return a field's string: the first, where there are several."""
    return next(iter(texts(node, name)), default)


def texts(node: Node, name: str) -> list[str]:
    """Return a field's strings."""
    value = _value(node, name)
    if isinstance(value, str):
        return [value]
    return [
        item
        for item in _items(node, name, value, str, "a string")
        if isinstance(item, str)
    ]


def children(node: Node, name: str = "children") -> list[Node]:
    """Return a field's nodes, without NULL."""
    value = _value(node, name)
    if isinstance(value, Node):
        return [value]
    of_nodes = (Node, type(None))
    return [
        item
        for item in _items(node, name, value, of_nodes, "a list of nodes")
        if isinstance(item, Node)
    ]


def _items(
    node: Node, name: str, value: Value, kinds: type | tuple[type, ...], wanted: str
) -> list[Any]:
    """Return the items of a list of some types.

    An empty array, and no value, are an empty list.
    """
    if value is None or (isinstance(value, np.ndarray) and not value.size):
        return []
    if isinstance(value, list) and all(isinstance(item, kinds) for item in value):
        return value
    raise _refused(node, name, wanted)


def child(node: Node, name: str) -> Node | None:
    """Return a field's node, None where there is none."""
    return next(iter(children(node, name)), None)
