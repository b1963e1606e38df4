"""Where an element is: its pos and its orientation in one of five ways, and the frames around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import ORIENTATIONS, Defaults
from bodymotion.formats.xml.faults import stand_in
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.settings import Settings
    from bodymotion.formats.xml.tree import Element

__all__ = ["Item", "contents", "finite", "orientation", "pose", "turn_to"]

LEAST = 1e-10
MOST_SIZE = 1e100


@dataclass(frozen=True)
class Item:
    """An element of a body with its defaults, in the `<frame>`s around it: their pose (7,) in the body, None where there are none."""

    element: Element
    frame: Floats | None
    childclass: str


def contents(body: Element, childclass: str, settings: Settings, defaults: Defaults) -> Iterator[Item]:
    """Return what stands in a body, and in the frames in it, in order of the file."""
    stack: list[tuple[Element, Floats | None, str]] = [(child, None, childclass) for child in reversed(body.children)]
    while stack:
        element, frame, current = stack.pop()
        if element.name == "frame":
            inner = defaults.known(element, "childclass") if element.get("childclass") else current
            own = pose(element, settings)
            placed = own if frame is None else poses.compose(frame, own)
            stack += [(child, placed, inner) for child in reversed(element.children)]
        elif element.name == "body":
            yield Item(element, frame, current)
        else:
            yield Item(defaults.full(element, current), frame, current)


def finite(element: Element, name: str, count: int, default: tuple[float, ...] | None = None) -> Floats:
    """Return numbers of an attribute; FormatError where there are others, or one is infinite or of no ordinary size."""
    numbers = np.array(element.numbers(name, count, default))
    if not (np.abs(numbers) < MOST_SIZE).all():
        element.fault(rules.NOT_FINITE, f"{name} of <{element.name}> is not finite, or of no ordinary size", name)
        return np.array(stand_in(count, default))
    return numbers


def pose(element: Element, settings: Settings) -> Floats:
    """Return where an element is (7,), in what stands around it."""
    position = finite(element, "pos", 3, (0.0, 0.0, 0.0))
    return poses.from_parts(position, orientation(element, settings))


def orientation(element: Element, settings: Settings) -> Floats:
    """Return the orientation of an element (4,) w x y z; that of a quat as it stands there.

    Raises
    ------
    FormatError
        When there are two, or an axis has no length.
    """
    given = [name for name in ORIENTATIONS if name in element.attributes]
    if not given:
        return rotations.IDENTITY
    if len(given) > 1:
        element.fault(rules.ORIENTATION, f"<{element.name}> has {' and '.join(given)}")
    name = given[0]
    numbers = finite(element, name, {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}[name])
    found = _ORIENTED[name](numbers, settings)
    if found is None:
        element.fault(rules.ORIENTATION, f"{name} of <{element.name}> has no length", name)
        return rotations.IDENTITY
    return found


def turn_to(direction: Floats) -> Floats | None:
    """Return the smallest turn that takes z to a direction; None where that has no length."""
    length = np.linalg.norm(direction)
    if length < LEAST:
        return None
    x, y, z = direction / length
    side = np.array([-y, x, 0.0])
    sine = np.hypot(x, y)
    if sine < LEAST:
        return np.array(rotations.IDENTITY) if z > 0 else np.array([0.0, 1.0, 0.0, 0.0])
    return rotations.from_axis_angle(side, np.arctan2(sine, z))


def _quat(numbers: Floats, settings: Settings) -> Floats | None:
    return numbers if np.linalg.norm(numbers) > LEAST else None


def _axisangle(numbers: Floats, settings: Settings) -> Floats | None:
    if np.linalg.norm(numbers[:3]) < LEAST:
        return None
    return rotations.from_axis_angle(numbers[:3], numbers[3] * settings.angle)


def _euler(numbers: Floats, settings: Settings) -> Floats | None:
    """Turn in the order of eulerseq: small letters about the axes that turn along, large ones about those that stand still."""
    result = np.array(rotations.IDENTITY)
    for letter, angle in zip(settings.eulerseq, (numbers * settings.angle).tolist(), strict=True):
        step = rotations.from_axis_angle(np.eye(3)["xyz".index(letter.lower())], angle)
        result = rotations.multiply(result, step) if letter.islower() else rotations.multiply(step, result)
    return result


def _xyaxes(numbers: Floats, settings: Settings) -> Floats | None:
    x, y = numbers[:3], numbers[3:]
    if np.linalg.norm(x) < LEAST:
        return None
    x = x / np.linalg.norm(x)
    y = y - x * (x @ y)
    if np.linalg.norm(y) < LEAST:
        return None
    y = y / np.linalg.norm(y)
    return rotations.from_matrix(np.stack([x, y, np.cross(x, y)], axis=1))


def _zaxis(numbers: Floats, settings: Settings) -> Floats | None:
    return turn_to(numbers)


_ORIENTED = {"quat": _quat, "axisangle": _axisangle, "euler": _euler, "xyaxes": _xyaxes, "zaxis": _zaxis}
