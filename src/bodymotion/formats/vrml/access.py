"""Fields of nodes as the type that is needed, and reading on after a faulty field.

A prototype in the file may declare any type for a field, and the types of a node without a declaration are guesses. So a number is read
from an array of one, a list from a single number; what cannot be converted is refused with its location.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Diagnostics, FormatError, Problem, Subject
from bodymotion.formats.vrml.nodes import Node, Value
from bodymotion.formats.vrml.rules import UNUSABLE_VALUE, ZERO_AXIS
from bodymotion.geometry.arrays import Floats, frozen, frozen_ints

if TYPE_CHECKING:
    from bodymotion.formats.vrml.recovery import Damage

__all__ = [
    "ModelDiagnostics",
    "attempt",
    "child",
    "children",
    "flag",
    "integer",
    "integers",
    "number",
    "numbers",
    "quaternion",
    "rotation",
    "rows",
    "text",
    "texts",
    "unit",
    "vector",
    "without_fault",
]

Made = TypeVar("Made")


class ModelDiagnostics(Diagnostics):
    """The problems of one model, without those that may follow from damage of its file.

    Parameters
    ----------
    damage:
        What faults of the grammar have left incomplete in the model's file: nothing is reported about that.
    doubtful:
        Codes of rules that may be broken only because of that damage; they are not reported in a damaged file.
    """

    def __init__(
        self, path: str | Path | None = None, damage: Damage | None = None, doubtful: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(path)
        self.damage = damage or None
        self.doubtful = doubtful

    def add(self, problem: Problem, *, fatal: bool = False) -> None:
        """Record a problem, unless it may follow from damage of the file."""
        if self.damage is None or not (problem.rule in self.doubtful or self.damage.touches(problem.location)):
            super().add(problem, fatal=fatal)

    def fault(self, error: FormatError, *unknown: Subject) -> None:
        """Record a fault for which the file is refused; mark what it leaves unknown."""
        self.add(error.problem, fatal=True)
        self.mark_unknown(*unknown)


def attempt(
    read: Callable[[Node], Made],
    node: Node,
    found: ModelDiagnostics,
    subject: Subject = (),
    attributes: Mapping[str, str] | None = None,
) -> Made | None:
    """Read a node; record a fault and read again without the field that has it. None where that is impossible.

    Parameters
    ----------
    subject, attributes:
        What the node becomes in the value, and its attributes by the names of fields: those with faults are marked unknown.
    """
    rest: Node | None = node
    while rest is not None:
        try:
            return read(rest)
        except FormatError as error:
            name = _faulty_field(rest, error)
            attribute = (attributes or {}).get(name or "", name)
            unknown = () if not subject else ((*subject, attribute),) if attribute else (subject,)
            found.fault(error, *unknown)
            rest = without_fault(rest, error)
    return None


def without_fault(node: Node, error: FormatError) -> Node | None:
    """Return a node without the field that a fault is in; None where it is in none of them."""
    name = _faulty_field(node, error)
    if name is None:
        return None
    return replace(node, fields={other: value for other, value in node.fields.items() if other != name})


def _faulty_field(node: Node, error: FormatError) -> str | None:
    location = error.problem.location
    return next((name for name in node.fields if name in node.offsets and node.location_of(name) == location), None)


NO_INTEGERS = frozen_ints(np.zeros(0, dtype=np.int32))


def _refused(node: Node, name: str, wanted: str) -> FormatError:
    value = node.get(name)
    given = f"an array of {value.size} numbers" if isinstance(value, np.ndarray) else repr(value)
    if isinstance(value, (Node, list)):
        given = "nodes" if isinstance(value, Node) or (value and isinstance(value[0], Node)) else "a list"
    return UNUSABLE_VALUE.error(f"{_title(node)}: {name} is {given:.60}, expected {wanted}", node.location_of(name))


def _title(node: Node) -> str:
    return f"{node.type} {node.name!r}" if node.name else node.type


def _value(node: Node, name: str) -> Value:
    """Return the value in the file, or the default of a prototype; callers know the defaults of the standard."""
    value = node.fields.get(name)
    return node.get(name) if value is None and node.proto is not None else value


def numbers(node: Node, name: str, wanted: str = "a list of numbers") -> Floats:
    """Return a field's numbers (N,); none where the file does not have the field. `wanted` is what the message expects."""
    value = _value(node, name)
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return frozen(value.reshape(-1))
    if value is None or (isinstance(value, list) and not value):
        return frozen(np.zeros(0))
    if isinstance(value, (np.ndarray, bool, int, float)):
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            return frozen(array.reshape(-1))
    raise _refused(node, name, wanted)


def number(node: Node, name: str, default: float) -> float:
    """Return a field's number: the first, where there are several; `default` where there is none."""
    value = _value(node, name)
    if value is None:
        return default
    if isinstance(value, (float, int)):
        return float(value)
    values = numbers(node, name, "a number")
    return float(values[0]) if len(values) else default


def vector(node: Node, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    """Return as many numbers as `default` has; fewer are refused."""
    value = _value(node, name)
    if value is None:
        return default
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype != np.float64:
        value = numbers(node, name, _so_many(default))
    values = value[: len(default)].tolist()
    if not values:
        return default
    if len(values) < len(default):
        raise _refused(node, name, _so_many(default))
    return tuple(values)


def _so_many(default: tuple[float, ...]) -> str:
    return "a number" if len(default) == 1 else f"{len(default)} numbers"


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
    whole = np.clip(np.nan_to_num(values), -(2**31), 2**31 - 1)
    if (whole != values).any() or (whole % 1 != 0).any():
        raise _refused(node, name, "a list of whole numbers")
    return whole.astype(np.int32)


def rows(node: Node | None, name: str, width: int) -> Floats:
    """Return a field's numbers (N, width); an incomplete last row is not used."""
    if node is None:
        return frozen(np.zeros((0, width)))
    values = numbers(node, name)
    return values[: len(values) // width * width].reshape(-1, width)


def axis_angle(node: Node, name: str = "rotation") -> tuple[tuple[float, float, float], float]:
    """Return a field's rotation as an axis of length 1 and an angle [rad]; a zero axis is refused."""
    if name not in node.fields and node.proto is None:
        return (0.0, 0.0, 1.0), 0.0
    x, y, z, angle = vector(node, name, (0.0, 0.0, 1.0, 0.0))
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        raise ZERO_AXIS.error(f"{_title(node)}: the axis of {name} is 0 0 0", node.location_of(name))
    if not math.isfinite(x + y + z + angle):
        raise UNUSABLE_VALUE.error(f"{_title(node)}: {name} has numbers that are not finite", node.location_of(name))
    return unit(x, y, z), angle


def unit(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector that is not zero, scaled to length 1."""
    # Scaled by a power of two, all digits are kept, and the squares of a tiny or a huge axis stay in range.
    _, exponent = math.frexp(max(abs(x), abs(y), abs(z)))
    x, y, z = math.ldexp(x, -exponent), math.ldexp(y, -exponent), math.ldexp(z, -exponent)
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def rotation(node: Node, name: str = "rotation") -> tuple[float, float, float, float]:
    """Return a field's rotation as a quaternion w x y z."""
    return quaternion(*axis_angle(node, name))


def quaternion(axis: tuple[float, float, float], angle: float) -> tuple[float, float, float, float]:
    """Return the quaternion w x y z of a rotation about an axis of length 1."""
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
    found = texts(node, name)
    return found[0] if found else default


def texts(node: Node, name: str) -> list[str]:
    """Return a field's strings."""
    value = _value(node, name)
    if isinstance(value, str):
        return [value]
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return [item for item in value if isinstance(item, str)]
    if isinstance(value, np.ndarray) and not value.size:
        return []
    raise _refused(node, name, "a string")


def children(node: Node, name: str = "children") -> list[Node]:
    """Return a field's nodes, without NULL."""
    value = _value(node, name)
    if value is None:
        return []
    if isinstance(value, Node):
        return [value]
    if isinstance(value, list) and all(item is None or isinstance(item, Node) for item in value):
        return [item for item in value if isinstance(item, Node)]
    if isinstance(value, np.ndarray) and not value.size:
        return []
    raise _refused(node, name, "a list of nodes")


def child(node: Node, name: str) -> Node | None:
    """Return a field's node, None where there is none."""
    value = node.fields.get(name)
    if isinstance(value, Node):
        return value
    found = children(node, name)
    return found[0] if found else None
