"""The <compiler> settings, the classes of <default>, and the poses of elements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bodymotion.formats.mjcf import rules
from bodymotion.formats.xml.tree import Element
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats

__all__ = [
    "ORIENTATIONS",
    "Defaults",
    "Item",
    "Settings",
    "contents",
    "finite",
    "orientation",
    "pose",
    "read_settings",
    "rotation_to",
]


@dataclass(frozen=True)
class Settings:
    """`angle`: what an angle of 1 is in radians; the others as in the documentation of MJCF, with its defaults."""

    angle: float = math.pi / 180.0
    eulerseq: str = "xyz"
    autolimits: bool = True
    inertiafromgeom: str = "auto"
    inertiagrouprange: tuple[float, float] = (0.0, 5.0)
    boundmass: float = 0.0
    boundinertia: float = 0.0
    balanceinertia: bool = False
    settotalmass: float = -1.0
    meshdir: str = ""
    texturedir: str = ""
    strippath: bool = False
    fitaabb: bool = False


def read_settings(root: Element) -> Settings:
    """Take all `<compiler>` elements of a model together; of an attribute given twice the last counts.

    Raises
    ------
    FormatError
        When a value is none that its attribute can have, or coordinates are global.
    """
    given: dict[str, Element] = {}
    for element in root.all("compiler"):
        for name in element.attributes:
            given[name] = element
    if "coordinate" in given and given["coordinate"].get("coordinate") != "local":
        given["coordinate"].report(rules.GLOBAL, "coordinate is not local", "coordinate", fatal=True)

    def word(name: str, default: str, *allowed: str) -> str:
        if name not in given:
            return default
        value = given[name].get(name)
        if allowed and value not in allowed:
            given[name].wrong(f"{name} of <compiler> is {value!r:.60}, not one of {', '.join(allowed)}", name)
            return default
        return value

    def number(name: str, default: float) -> float:
        return given[name].number(name) if name in given else default

    def truth(name: str, default: bool) -> bool:
        return word(name, "true" if default else "false", "true", "false") == "true"

    eulerseq = word("eulerseq", "xyz")
    if len(eulerseq) != 3 or not set(eulerseq) <= set("xyzXYZ"):
        given["eulerseq"].wrong(f"eulerseq is {eulerseq!r:.60}, not three of x, y, z, X, Y and Z", "eulerseq")
        eulerseq = "xyz"
    groups = given["inertiagrouprange"].numbers("inertiagrouprange", 2) if "inertiagrouprange" in given else (0.0, 5.0)
    assets = word("assetdir", "")
    return Settings(
        angle=1.0 if word("angle", "degree", "degree", "radian") == "radian" else math.pi / 180.0,
        eulerseq=eulerseq,
        autolimits=truth("autolimits", True),
        inertiafromgeom=word("inertiafromgeom", "auto", "auto", "true", "false"),
        inertiagrouprange=(groups[0], groups[1]),
        boundmass=number("boundmass", 0.0),
        boundinertia=number("boundinertia", 0.0),
        balanceinertia=truth("balanceinertia", False),
        settotalmass=number("settotalmass", -1.0),
        meshdir=word("meshdir", assets),
        texturedir=word("texturedir", assets),
        strippath=truth("strippath", False),
        fitaabb=truth("fitaabb", False),
    )


ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
"""The ways to say an orientation: an element that has one has none of its class."""
_ONE_OF = (ORIENTATIONS, ("fromto", *ORIENTATIONS), ("mass", "density"), ("fullinertia", "diaginertia"))
MOST = 10**6
"""So many attributes classes may have, taken together with those that they inherit."""


UNKNOWN = "\0"
"""Where a file is checked, this is the class of what names one that is not there."""


class Defaults:
    """The classes of a model, by name; "" is the one that holds where none is named."""

    def __init__(self, root: Element) -> None:
        self._classes: dict[str, dict[str, dict[str, str]]] = {"": {}}
        self._places: dict[str, dict[str, dict[str, Element]]] = {"": {}}
        """The elements that what is in the classes comes from."""
        self._nameless = 0
        self._missing: set[str] = set()
        """Names of classes that are not there. As many of them as classes have no name may be meant by these."""
        size = 0
        stack = [(element, "") for element in reversed(list(root.all("default")))]
        while stack:
            element, above = stack.pop()
            name = element.get("class")
            if above == "" and element in root.children:
                # Several top-level sections are one class; its name, if it has one, is another word for it.
                known, places = self._classes[""], self._places[""]
            else:
                if not name:
                    element.report(rules.CLASS, "a <default> in another has no class", "class", fatal=True)
                    name = f"{UNKNOWN}{len(self._classes)}"
                    self._nameless += 1
                known = {tag: dict(values) for tag, values in self._classes[above].items()}
                places = {tag: dict(values) for tag, values in self._places[above].items()}
                size += sum(map(len, known.values()))
                if size > MOST:
                    raise rules.TOO_LARGE.error("the classes of <default> hold too much", element.location)
            for child in element.children:
                if child.name != "default":
                    _merge(known.setdefault(child.name, {}), child.attributes)
                    places.setdefault(child.name, {}).update(dict.fromkeys(child.attributes, child))
            own = name or above
            self._classes[own], self._places[own] = known, places
            stack += [(child, own) for child in reversed(list(element.all("default")))]

    def known(self, element: Element, name: str) -> str:
        """Return the name of a class that an element names; FormatError where there is none (`UNKNOWN` where that is noted)."""
        value = element.get(name)
        if value not in self._classes and value != "main":
            if value in self._missing:
                return UNKNOWN
            if len(self._missing) >= self._nameless:
                element.report(
                    rules.CLASS, f"{name} of <{element.name}> is {value!r:.60}, which is no class", name, fatal=True
                )
            self._missing.add(value)
            return UNKNOWN
        return value if value in self._classes else ""

    def full(self, element: Element, childclass: str = "") -> Element:
        """Return an element with what its class, or the class of the bodies around it, says of such elements."""
        chosen = self.known(element, "class") if element.get("class") else childclass
        if chosen == UNKNOWN:
            return replace(element, partial=True)
        inherited = self._classes.get(chosen, {}).get(element.name)
        if not inherited:
            return element
        merged = dict(inherited)
        _merge(merged, element.attributes)
        places = self._places[chosen][element.name]
        origins = {name: places[name] for name in merged if name not in element.attributes}
        return replace(element, attributes=merged, inherited=origins)


def _merge(into: dict[str, str], given: dict[str, str]) -> None:
    for group in _ONE_OF:
        if any(name in given for name in group):
            for name in group:
                into.pop(name, None)
    into.update(given)


LEAST = 1e-10
MAX_SIZE = 1e100


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
    if not (np.abs(numbers) < MAX_SIZE).all():
        element.report(
            rules.NOT_FINITE, f"{name} of <{element.name}> is not finite, or of no ordinary size", name, fatal=True
        )
        return np.array(default if default is not None else [np.nan] * count)
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
        element.report(rules.ORIENTATION, f"<{element.name}> has {' and '.join(given)}", fatal=True)
    name = given[0]
    numbers = finite(element, name, {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}[name])
    found = _ORIENTED[name](numbers, settings)
    if found is None:
        element.report(rules.ORIENTATION, f"{name} of <{element.name}> has no length", name, fatal=True)
        return rotations.IDENTITY
    return found


def rotation_to(direction: Floats) -> Floats | None:
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
    return rotation_to(numbers)


_ORIENTED = {"quat": _quat, "axisangle": _axisangle, "euler": _euler, "xyaxes": _xyaxes, "zaxis": _zaxis}
