"""The <compiler> settings, the classes of <default>, and the poses of elements."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.names import finite
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.xml.tree import Element
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, unit
from bodymotion.model.rules import ZERO_QUATERNION

ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
"""The attributes for an orientation.

An element that has one of them inherits none of the others.
"""
_ONE_OF = (
    ORIENTATIONS,
    ("fromto", *ORIENTATIONS),
    ("mass", "density"),
    ("fullinertia", "diaginertia"),
)
MAX_ATTRIBUTES = (
    10**6
)  # Attributes of all classes together, with those that they inherit.

NO_PREFIX = "\1"  # The main class of a model that is attached without a prefix.
UNKNOWN = "\0"  # The class of an element that names a missing one.
MIN_LENGTH = 1e-10  # [m] A shorter vector has no direction.


@dataclass(frozen=True)
class Settings:
    """The settings of `<compiler>` with their defaults, as in the documentation of MJCF.

    `angle` [rad] is an angle of 1 in the file.
    """

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
    path: Path | None = None
    """The file of an attached model, which names of meshes are relative to."""
    attached: Mapping[int, "Settings"] = field(default_factory=dict)
    """By id of a document, the settings of the attached model that it is a part of."""

    def of(self, element: Element) -> "Settings":
        """Return the settings of the model that an element comes from."""
        return self.attached.get(id(element.document), self)


def read_settings(root: Element) -> Settings:
    """Return the settings of all `<compiler>` elements of a model.

    Of an attribute that is repeated, the last one.
    """
    elements: dict[str, Element] = {}
    for element in root.all("compiler"):
        for name in element.attributes:
            elements[name] = element
    if (
        "coordinate" in elements
        and (value := elements["coordinate"].get("coordinate")) != "local"
    ):
        message = f"coordinate is {value!r:.60}; expected local"
        elements["coordinate"].report(rules.GLOBAL, message, "coordinate", fatal=True)

    def word(name: str, default: str, *allowed: str) -> str:
        if name not in elements:
            return default
        value = elements[name].get(name)
        if allowed and value not in allowed:
            elements[name].wrong(
                f"{name} of <compiler> is {value!r:.60}; expected one of "
                f"{', '.join(allowed)}",
                name,
            )
            return default
        return value

    eulerseq = word("eulerseq", "xyz")
    if len(eulerseq) != 3 or not set(eulerseq) <= set("xyzXYZ"):
        elements["eulerseq"].wrong(
            f"eulerseq is {eulerseq!r:.60}; expected three of x, y, z, X, Y and Z",
            "eulerseq",
        )
        eulerseq = "xyz"
    values: dict[str, object] = {
        "eulerseq": eulerseq,
        **dict.fromkeys(("meshdir", "texturedir"), word("assetdir", "")),
    }
    for name, default in ((one.name, one.default) for one in fields(Settings)):
        if name not in elements or name in ("angle", "eulerseq"):
            continue
        match default:
            case bool():
                values[name] = (
                    word(name, "true" if default else "false", "true", "false")
                    == "true"
                )
            case float():
                values[name] = elements[name].number(name)
            case tuple():
                values[name] = elements[name].numbers(name, 2)
            case str():
                values[name] = word(
                    name,
                    default,
                    *(("auto", "true", "false") if default == "auto" else ()),
                )
    values["angle"] = (
        1.0
        if word("angle", "degree", "degree", "radian") == "radian"
        else math.pi / 180.0
    )
    return Settings(**values)  # type: ignore[arg-type]


_Attributes: TypeAlias = dict[
    str, tuple[str, Element]
]  # Values of attributes, and the elements that have them.


@dataclass(frozen=True)
class ClassTree:
    """The classes of an attached model, whose names have a prefix."""

    prefix: str
    root: Element


def main_class(prefix: str) -> str:
    """Return the name of the class of elements that name none, in an attached model."""
    if prefix:
        return f"{prefix}main"
    return NO_PREFIX


class Defaults:
    """The classes of a model by name.

    "" is the class of elements that name none.
    """

    def __init__(self, root: Element, attached: Sequence[ClassTree] = ()) -> None:
        self._classes: dict[str, dict[str, _Attributes]] = {"": {}}
        self._nameless = 0
        self._missing: set[str] = set()
        """Names of missing classes.

        Each class without a name may be one of them.
        """
        self._size = 0
        self._read(root, "", "")
        for tree in attached:
            main = main_class(tree.prefix)
            self._classes.setdefault(main, {})
            self._read(tree.root, tree.prefix, main)

    def _read(self, root: Element, prefix: str, main: str) -> None:
        """Read the classes of a model, in which `main` is that of elements that name none."""
        top = {id(element) for element in root.children}
        stack = [(element, main) for element in reversed(list(root.all("default")))]
        while stack:
            element, above = stack.pop()
            name = element.get("class")
            if name:
                name = prefix + name
            if id(element) in top:
                # All top-level sections are one class, whatever its name.
                known = self._classes[main]
            else:
                if not name:
                    element.report(
                        rules.CLASS,
                        "a <default> inside of another has no class",
                        "class",
                        fatal=True,
                    )
                    name = f"{UNKNOWN}{len(self._classes)}"
                    self._nameless += 1
                known = {
                    tag: dict(values) for tag, values in self._classes[above].items()
                }
                self._size += sum(map(len, known.values()))
                if self._size > MAX_ATTRIBUTES:
                    message = f"the classes of <default> have more than {MAX_ATTRIBUTES} attributes with those that they inherit"
                    raise TOO_LARGE.error(message, element.location)
            for child in element.children:
                if child.name != "default":
                    _merge(known.setdefault(child.name, {}), child)
            own = name or above
            self._classes[own] = known
            stack += [(child, own) for child in reversed(list(element.all("default")))]

    def known(self, element: Element, name: str) -> str:
        """Return the name of the class in an attribute of an element.

        `UNKNOWN` where it is missing, which is reported.
        """
        value = element.get(name)
        if value not in self._classes and value != "main":
            if value in self._missing:
                return UNKNOWN
            if len(self._missing) >= self._nameless:
                message = (
                    f"{name} of <{element.name}> is {value!r:.60}, which is not a class"
                )
                element.report(rules.CLASS, message, name, fatal=True)
            self._missing.add(value)
            return UNKNOWN
        return value if value in self._classes else ""

    def full(self, element: Element, childclass: str = "") -> Element:
        """Return an element with the attributes of its class, or of the class of the bodies around it."""
        if element.get("class"):
            chosen = self.known(element, "class")
        else:
            chosen = childclass
        if chosen == UNKNOWN:
            return replace(element, partial=True)
        inherited = self._classes.get(chosen, {}).get(element.name)
        if not inherited:
            return element
        merged = dict(inherited)
        _merge(merged, element)
        attributes = {name: value for name, (value, _) in merged.items()}
        origins = {
            name: origin
            for name, (_, origin) in merged.items()
            if origin is not element
        }
        return replace(element, attributes=attributes, inherited=origins)


def _merge(target: _Attributes, element: Element) -> None:
    for group in _ONE_OF:
        if any(name in element.attributes for name in group):
            for name in group:
                target.pop(name, None)
    target.update(
        {name: (value, element) for name, value in element.attributes.items()}
    )


@dataclass(frozen=True)
class Item:
    """An element of a body with its defaults, and the pose (7,) in the body of the `<frame>`s around it.

    None without such.
    """

    element: Element
    frame: Floats | None
    childclass: str

    def placed(self, pose: Floats) -> Floats:
        """Return a pose (7,) in the frame around the element as one in the body."""
        if self.frame is None:
            return pose
        return poses.compose(self.frame, pose)


def contents(
    body: Element, childclass: str, settings: Settings, defaults: Defaults
) -> Iterator[Item]:
    """Return the elements in a body, and in the frames in it, in order of the file."""
    stack: list[tuple[Element, Floats | None, str]] = [
        (child, None, childclass) for child in reversed(body.children)
    ]
    while stack:
        element, frame, current = stack.pop()
        if element.name == "frame":
            if element.get("childclass"):
                inner = defaults.known(element, "childclass")
            else:
                inner = current
            own = pose(element, settings)
            if frame is None:
                whole = own
            else:
                whole = poses.compose(frame, own)
            stack += [(child, whole, inner) for child in reversed(element.children)]
        elif element.name == "body":
            yield Item(element, frame, current)
        else:
            yield Item(defaults.full(element, current), frame, current)


def pose(element: Element, settings: Settings) -> Floats:
    """Return the pose (7,) of an element in the frame around it."""
    return poses.from_parts(
        finite(element, "pos", 3, (0.0, 0.0, 0.0)), orientation(element, settings)
    )


def orientation(element: Element, settings: Settings) -> Floats:
    """Return the orientation of an element (4,) w x y z, that of quat as it is in the file.

    The identity where it cannot be read.
    """
    settings = settings.of(element)
    names = [name for name in ORIENTATIONS if name in element.attributes]
    if not names:
        return rotations.IDENTITY
    if len(names) > 1:
        message = (
            f"<{element.name}> has {' and '.join(names)}; expected one orientation"
        )
        element.report(rules.ORIENTATION, message, fatal=True)
    name = names[0]
    numbers = finite(
        element,
        name,
        {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}[name],
    )
    found: Floats | None
    match name:
        case "quat":
            if np.linalg.norm(numbers) > MIN_LENGTH:
                found = numbers
            else:
                found = None
        case "axisangle":
            has_axis = np.linalg.norm(numbers[:3]) >= MIN_LENGTH
            if has_axis:
                found = rotations.from_axis_angle(
                    numbers[:3], numbers[3] * settings.angle
                )
            else:
                found = None
        case "euler":
            found = _euler(numbers * settings.angle, settings.eulerseq)
        case "xyaxes":
            found = _xyaxes(numbers[:3], numbers[3:])
        case _:
            found = rotation_to(numbers)
    if found is None:
        message = f"{name} of <{element.name}> has length 0, expected more"
        hint = None if name == "quat" else ""
        element.report(ZERO_QUATERNION, message, name, hint=hint, fatal=True)
        return rotations.IDENTITY
    return found


def rotation_to(direction: Floats) -> Floats | None:
    """Return the smallest rotation (4,) of z to a direction.

    None where the direction has no length.
    """
    length = np.linalg.norm(direction)
    if length < MIN_LENGTH:
        return None
    x, y, z = direction / length
    side = np.array([-y, x, 0.0])
    sine = np.hypot(x, y)
    if sine < MIN_LENGTH:
        if z > 0:
            return np.array(rotations.IDENTITY)
        return np.array([0.0, 1.0, 0.0, 0.0])
    return rotations.from_axis_angle(side, np.arctan2(sine, z))


def _euler(angles: Floats, sequence: str) -> Floats:
    """Rotate in the order of eulerseq.

    Lower case about the axes of the rotated frame, upper case about those of the
    parent.
    """
    result = np.array(rotations.IDENTITY)
    for letter, angle in zip(sequence, angles.tolist(), strict=True):
        step = rotations.from_axis_angle(np.eye(3)["xyz".index(letter.lower())], angle)
        if letter.islower():
            result = rotations.multiply(result, step)
        else:
            result = rotations.multiply(step, result)
    return result


def _xyaxes(x: Floats, y: Floats) -> Floats | None:
    first = unit(x)
    y = y - first * (first @ y)
    if min(np.linalg.norm(x), np.linalg.norm(y)) < MIN_LENGTH:
        return None
    second = unit(y)
    return rotations.from_matrix(
        np.stack([first, second, np.cross(first, second)], axis=1)
    )
