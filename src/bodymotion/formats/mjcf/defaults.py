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

# The attributes for an orientation. An element that has one of them inherits none of
# the others.
ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
_ONE_OF = (
    ORIENTATIONS,
    ("fromto", *ORIENTATIONS),
    ("mass", "density"),
    ("fullinertia", "diaginertia"),
)
# Attributes of all classes together, with those that they inherit.
MAX_ATTRIBUTES = 10**6

# The main class of a model that is attached without a prefix.
NO_PREFIX = "\1"
# Fields of `Settings` that are no plain attributes of <compiler>.
NO_PLAIN_SETTINGS = ("angle", "eulerseq", "path", "attached")
# The class of an element that names a missing one.
UNKNOWN = "\0"
# [m] A shorter vector has no direction.
MIN_LENGTH = 1e-10
# By form of an orientation, the number of its numbers.
_COUNTS = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}


@dataclass(frozen=True)
class Settings:
    """The settings of `<compiler>` with the defaults of MJCF.

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
        # Documents are compared by identity: one file may be attached twice.
        return self.attached.get(id(element.document), self)


class _Compiler:
    """The attributes of all `<compiler>` elements of a model.

    Of an attribute that is repeated, the last one.
    """

    def __init__(self, root: Element) -> None:
        self.elements: dict[str, Element] = {}
        # MuJoCo merges all <compiler> elements, those of included files too.
        for element in root.all("compiler"):
            for name in element.attributes:
                self.elements[name] = element

    def word(self, name: str, default: str, allowed: Sequence[str] = ()) -> str:
        """Return a word of `<compiler>`.

        The default where it is missing, or none of those allowed.
        """
        if name not in self.elements:
            return default
        element = self.elements[name]
        value = element.get(name)
        if not allowed or value in allowed:
            return value
        expected = ", ".join(allowed)
        message = f"{name} of <compiler> is {value!r:.60}; expected one of {expected}"
        element.wrong(message, name)
        return default

    def value(self, name: str, default: object) -> object:
        """Return a value of the type of its default."""
        # The type of the default in `Settings` is that of the attribute.
        match default:
            case bool():
                word = self.word(name, str(default).lower(), ("true", "false"))
                return word == "true"
            case float():
                return self.elements[name].number(name)
            case tuple():
                return self.elements[name].numbers(name, 2)
            case "auto":
                return self.word(name, default, ("auto", "true", "false"))
        return self.word(name, str(default))

    def eulerseq(self) -> str:
        """Return the axes of Euler angles."""
        axes = self.word("eulerseq", "xyz")
        if len(axes) == 3 and set(axes) <= set("xyzXYZ"):
            return axes
        message = f"eulerseq is {axes!r:.60}; expected three of x, y, z, X, Y and Z"
        self.elements["eulerseq"].wrong(message, "eulerseq")
        return "xyz"

    def check_coordinate(self) -> None:
        """Report global coordinates, which MuJoCo has no more."""
        coordinate = self.word("coordinate", "local")
        if coordinate != "local":
            message = f"coordinate is {coordinate!r:.60}; expected local"
            element = self.elements["coordinate"]
            element.report(rules.GLOBAL, message, "coordinate", fatal=True)


def read_settings(root: Element) -> Settings:
    """Return the settings of all `<compiler>` elements of a model."""
    compiler = _Compiler(root)
    compiler.check_coordinate()
    # assetdir stands for both folders; each may be replaced by its own attribute below.
    folder = compiler.word("assetdir", "")
    values: dict[str, object] = {
        "eulerseq": compiler.eulerseq(),
        "meshdir": folder,
        "texturedir": folder,
    }
    for each in fields(Settings):
        is_given = each.name in compiler.elements
        if is_given and each.name not in NO_PLAIN_SETTINGS:
            values[each.name] = compiler.value(each.name, each.default)
    # Degrees are the default of MJCF.
    unit = compiler.word("angle", "degree", ("degree", "radian"))
    if unit == "radian":
        values["angle"] = 1.0
    return Settings(**values)  # type: ignore[arg-type]


# Values of attributes, and the elements that have them.
_Attributes: TypeAlias = dict[str, tuple[str, Element]]


@dataclass(frozen=True)
class ClassTree:
    """The classes of an attached model, whose names have a prefix."""

    prefix: str
    root: Element


def main_class(prefix: str) -> str:
    """Return the name of the main class of an attached model.

    It is the class of elements that name none.
    """
    if prefix:
        return f"{prefix}main"
    return NO_PREFIX


class Defaults:
    """The classes of a model by name.

    "" is the class of elements that name none.
    """

    def __init__(self, root: Element, attached: Sequence[ClassTree] = ()) -> None:
        """Read the classes of a model, and of those attached to it."""
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
        """Read the classes of a model.

        `main` is the class of elements that name none.
        """
        # Depth first in the order of the file (hence the reversed stack): a class is
        # complete before those inside of it copy its attributes.
        stack = [(element, main) for element in reversed(list(root.all("default")))]
        top = {id(element) for element, _ in stack}
        while stack:
            element, parent = stack.pop()
            name = element.get("class")
            if name:
                name = prefix + name
            if id(element) in top:
                # All top-level sections are one class, whatever its name.
                attributes = self._classes[main]
            else:
                name = name or self._nameless_class(element)
                attributes = self._inherited(parent, element)
            for child in element.children:
                if child.name != "default":
                    _merge(attributes.setdefault(child.name, {}), child)
            # The main class may have a name, and elements may use either.
            name = name or parent
            self._classes[name] = attributes
            inner = list(element.all("default"))
            stack += [(child, name) for child in reversed(inner)]

    def _nameless_class(self, element: Element) -> str:
        """Report a class without a name.

        Return a name that no other class has.
        """
        message = "a <default> inside of another has no class"
        element.report(rules.CLASS, message, "class", fatal=True)
        self._nameless += 1
        # No name in a file begins with a null character: XML does not allow it.
        return f"{UNKNOWN}{len(self._classes)}"

    def _inherited(self, parent: str, element: Element) -> dict[str, _Attributes]:
        """Return a copy of the attributes of a class, for one inside of it."""
        attributes = {tag: dict(each) for tag, each in self._classes[parent].items()}
        # Each class copies all that it inherits, so a long chain of classes grows
        # quadratically; the limit bounds memory for a file from anywhere.
        self._size += sum(map(len, attributes.values()))
        if self._size > MAX_ATTRIBUTES:
            message = (
                f"the classes of <default> have more than {MAX_ATTRIBUTES} attributes "
                "with those that they inherit"
            )
            raise TOO_LARGE.error(message, element.location)
        return attributes

    def known(self, element: Element, name: str) -> str:
        """Return the name of the class in an attribute of an element.

        `UNKNOWN` where it is missing, which is reported.
        """
        value = element.get(name)
        # "main" is the class of elements that name none, even where no <default> has
        # the name.
        if value not in self._classes and value != "main":
            if value in self._missing:
                return UNKNOWN
            # A class that lost its name may be the one meant: each nameless class
            # excuses one missing name.
            if len(self._missing) >= self._nameless:
                message = (
                    f"{name} of <{element.name}> is {value!r:.60}, which is not a class"
                )
                element.report(rules.CLASS, message, name, fatal=True)
            self._missing.add(value)
            return UNKNOWN
        return value if value in self._classes else ""

    def full(self, element: Element, childclass: str = "") -> Element:
        """Return an element with the attributes of its class.

        Else of `childclass`, the class of the bodies around it.
        """
        if element.get("class"):
            childclass = self.known(element, "class")
        # What a missing class would give is unknown, so nothing must be concluded from
        # attributes that are not there.
        if childclass == UNKNOWN:
            return replace(element, partial=True)
        inherited = self._classes.get(childclass, {}).get(element.name)
        if not inherited:
            return element
        # Attributes of the element itself take precedence over those of its class.
        merged = dict(inherited)
        _merge(merged, element)
        attributes: dict[str, str] = {}
        # The elements of <default> that values come from, for the location of a
        # problem.
        origins: dict[str, Element] = {}
        for name, (value, origin) in merged.items():
            attributes[name] = value
            if origin is not element:
                origins[name] = origin
        return replace(element, attributes=attributes, inherited=origins)


def _merge(target: _Attributes, element: Element) -> None:
    # An element with `euler` must not keep an inherited `quat`, or it would have two
    # orientations.
    for group in _ONE_OF:
        if any(name in element.attributes for name in group):
            for name in group:
                target.pop(name, None)
    target.update(
        {name: (value, element) for name, value in element.attributes.items()}
    )


@dataclass(frozen=True)
class Item:
    """An element of a body with its defaults.

    `frame` is the pose (7,) in the body of the `<frame>`s around it, None without such.
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
    """Return the elements in a body and in its frames, in order."""
    # A stack instead of recursion: <frame>s may be nested as deep as a file likes.
    stack: list[tuple[Element, Floats | None, str]] = [
        (child, None, childclass) for child in reversed(body.children)
    ]
    while stack:
        element, frame, current = stack.pop()
        if element.name == "frame":
            if element.get("childclass"):
                current = defaults.known(element, "childclass")
            whole = pose(element, settings)
            if frame is not None:
                whole = poses.compose(frame, whole)
            stack += [(child, whole, current) for child in reversed(element.children)]
        # Bodies have no defaults; only what is in them has.
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
    """Return the orientation (4,) w x y z of an element.

    That of quat as it is in the file; the identity where it cannot be read.
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
    numbers = finite(element, name, _COUNTS[name])
    rotation = _rotation(name, numbers, settings)
    if rotation is None:
        message = f"{name} of <{element.name}> has length 0, expected more"
        hint = None if name == "quat" else ""
        element.report(ZERO_QUATERNION, message, name, hint=hint, fatal=True)
        return rotations.IDENTITY
    return rotation


def _rotation(form: str, numbers: Floats, settings: Settings) -> Floats | None:
    """Return the rotation (4,) of one of the five forms.

    None where the numbers are no rotation.
    """
    match form:
        case "quat":
            return numbers if np.linalg.norm(numbers) > MIN_LENGTH else None
        case "axisangle":
            axis = numbers[:3]
            if np.linalg.norm(axis) < MIN_LENGTH:
                return None
            return rotations.from_axis_angle(axis, numbers[3] * settings.angle)
        case "euler":
            return _euler(numbers * settings.angle, settings.eulerseq)
        case "xyaxes":
            return _xyaxes(numbers[:3], numbers[3:])
    # zaxis: the shortest rotation from z to this direction.
    return rotation_to(numbers)


def rotation_to(direction: Floats) -> Floats | None:
    """Return the smallest rotation (4,) of z to a direction.

    None where the direction has no length.
    """
    length = np.linalg.norm(direction)
    if length < MIN_LENGTH:
        return None
    x, y, z = direction / length
    # z × direction: the axis of the shortest rotation, of length sin(angle).
    side = np.array([-y, x, 0.0])
    sine = np.hypot(x, y)
    # Parallel to z the axis has no direction: no rotation, or half a turn about x.
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
    # Intrinsic rotations multiply on the right, extrinsic ones on the left.
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
    # Gram-Schmidt, as MuJoCo does it: x is exact, y is made normal to it, and z
    # follows.
    y = y - first * (first @ y)
    if min(np.linalg.norm(x), np.linalg.norm(y)) < MIN_LENGTH:
        return None
    second = unit(y)
    return rotations.from_matrix(
        np.stack([first, second, np.cross(first, second)], axis=1)
    )
