"""Fields of OpenHRP nodes: plain values for what is only kept, axes and poses for what is used."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.faults import fault
from bodymotion.formats.openhrp.rules import (
    AXIS_LENGTH,
    JOINT_AXIS,
    MORE_NUMBERS,
    NOT_FINITE,
    OLD_AXIS,
    ROTATION_ANGLE,
    ROTATION_AXIS,
)
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.nodes import Node
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion.rules import MAX_LENGTH_ERROR

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem

__all__ = ["axis", "finite", "label", "own_pose", "plain", "rest", "say_more"]

TURN = 2.0 * math.pi + 0.01
"""[rad] No rotation needs to be by more than a full turn."""
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def label(node: Node) -> str:
    """Say which node is meant: `Joint 'WAIST'`."""
    return f"{node.type} {node.name!r}" if node.name else f"a {node.type} without a name"


def plain(value: object) -> object:
    """Return a field's value without nodes: a node by its DEF name, or its type."""
    if isinstance(value, Node):
        return value.name or value.type
    if isinstance(value, list):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray)):
        return value
    return str(value)


def rest(node: Node, used: Iterable[str]) -> dict[str, object]:
    """Return the fields that the file gives to a node, but those in `used`."""
    used = set(used)
    return {name: plain(value) for name, value in node.fields.items() if name not in used}


def finite(node: Node, name: str, default: tuple[float, ...], problems: list[Problem]) -> tuple[float, ...]:
    """Return a field's numbers, `default` and a problem where one of them is not finite."""
    values = access.vector(node, name, default)
    say_more(node, name, len(default), problems)
    if all(map(math.isfinite, values)):
        return values
    problems.append(
        NOT_FINITE.problem(f"{name} of {label(node)} is {_shown(values)}, not finite", node.location_of(name))
    )
    return default


def say_more(node: Node, name: str, count: int, problems: list[Problem]) -> None:
    """Note that a field has more than the `count` numbers that are used: where its type is declared, the language refuses that."""
    value = node.fields.get(name)
    if isinstance(value, np.ndarray) and value.size > count:
        wrong = f"{name} of {label(node)} has {value.size} numbers, {count} {'is' if count == 1 else 'are'} used"
        problems.append(MORE_NUMBERS.problem(wrong, node.location_of(name)))


def axis(node: Node, default: tuple[float, float, float], problems: list[Problem]) -> Floats:
    """Return a jointAxis (3,) of length 1, or zero; a vector, or in old files the letter of an axis."""
    value = node.get("jointAxis")
    if isinstance(value, str):
        letter = value.strip().upper()
        if letter not in AXES:
            wrong = f"jointAxis of {label(node)} is {value!r}, no vector"
            fault(problems, JOINT_AXIS.error(wrong, node.location_of("jointAxis")))
            return frozen(default)
        if value not in AXES:
            problems.append(
                JOINT_AXIS.problem(
                    f"jointAxis of {label(node)} is {value!r}: read as {letter!r}", node.location_of("jointAxis")
                )
            )
        elif "jointAxis" in node.fields:
            problems.append(OLD_AXIS.problem(f"jointAxis of {label(node)} is {value!r}", node.location_of("jointAxis")))
        return frozen(AXES[letter])
    x, y, z = vector = finite(node, "jointAxis", default, problems)
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        return frozen(vector)
    x, y, z = x / largest, y / largest, z / largest
    length = math.sqrt(x * x + y * y + z * z)
    if abs(length * largest - 1.0) > 1e-6:
        problems.append(
            AXIS_LENGTH.problem(
                f"jointAxis of {label(node)} is {_shown(vector)}, not of length 1", node.location_of("jointAxis")
            )
        )
    # What is of length 1 but for rounding stays as it is: a vector that was divided by its length is not divided again.
    return frozen(vector if abs(length * largest - 1.0) < 1e-15 else (x / length, y / length, z / length))


def own_pose(node: Node, problems: list[Problem]) -> Floats:
    """Return the pose (7,) of a node in its parent, from its translation and rotation."""
    x, y, z, angle = turn = access.vector(node, "rotation", (0.0, 0.0, 1.0, 0.0))
    say_more(node, "rotation", 4, problems)
    if not all(map(math.isfinite, turn)):
        problems.append(
            NOT_FINITE.problem(f"rotation of {label(node)} is {_shown(turn)}, not finite", node.location_of("rotation"))
        )
        quaternion = (1.0, 0.0, 0.0, 0.0)
    else:
        quaternion = access.rotation(node)
        if abs(angle) > TURN:
            said = f"rotation of {label(node)} is {_shown(turn)}: {abs(angle) / (2 * math.pi):.3g} full turns"
            problems.append(ROTATION_ANGLE.problem(said, node.location_of("rotation")))
        if angle != 0.0 and not 0.98 < x * x + y * y + z * z < 1.02:
            far = abs(math.hypot(x, y, z) - 1) > MAX_LENGTH_ERROR
            problems.append(
                ROTATION_AXIS.problem(
                    f"rotation of {label(node)} is {_shown(turn)}, its axis not of length 1",
                    node.location_of("rotation"),
                    "are these angles? An axis and an angle belong here, no three angles and no quaternion"
                    if far
                    else None,
                )
            )
    return frozen((*finite(node, "translation", (0.0, 0.0, 0.0), problems), *quaternion))


def _shown(values: Iterable[float]) -> str:
    return " ".join(f"{value:.6g}" for value in values)
