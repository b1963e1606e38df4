"""The text of a .body file as a tree, and the keys of its mappings as values, in either spelling: joint_type (2.0) and jointType (1.0).

Angles come in degrees or radians, as the file's header has it, and are returned in radians. A rotation is an axis and an angle, or
a list of such, of which the last is applied first; a translation is three numbers, or a list of such to be added up.

A value that a key cannot have is recorded, its key is marked unknown, and the default is returned.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError, Location, Rule
from bodymotion.diagnostics.spelling import camel, meant, number_slip
from bodymotion.diagnostics.text import with_article
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.text.source_text import Text, decode
from bodymotion.formats.yaml.tree import Dialect, Document, Mapping, Node, Scalar, Sequence, parse_yaml
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.units import MAX_ROTATION
from bodymotion.motion.rules import MAX_LENGTH_ERROR

DIALECT = Dialect(
    rules.NOT_YAML,
    rules.NOT_YAML,
    rules.ALIAS,
    rules.IGNORED,
    forbids_tags=False,
    merges=True,
    key_twice=rules.KEY_TWICE,
    bad_key=rules.WRONG_VALUE,
    max_depth=100,
    long_lists=True,
)
TWELFTHS_OF_PI = (2, 3, 4, 6, 8, 9, 12, 18, 24)
"""Angles by which links are rotated: 30°, 45°, 60°, 90° and so on, as numbers of π/12 rad."""
MAX_PLAIN = 200_000
"""Values of unknown keys that are kept, and lists of numbers in lists."""
MAX_TEXTS = 1_000
"""Texts of a list that are read."""
MAX_MISSPELT = 50
"""Unused keys of a mapping that are compared with known ones: spelling mistakes are few."""
MIN_KEY_LENGTH = 4
"""Shorter unused keys are not compared."""

_NULL = ("", "~", "null")
_TRUE = ("true", "yes", "on", "y")
_FALSE = ("false", "no", "off", "n")
_MASSES = ("mass", "center_of_mass", "inertia")
_NUMBER = re.compile(
    r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)([^\s,]*)|([-+]?)\.?(nan|inf|infinity)", re.IGNORECASE
)
"""A number, and what follows it: C++ programs read as far as they get, so files have `0.5f` and `0.t`."""

Reads = TypeVar("Reads", bound=Callable[..., Any])


@dataclass
class Context:
    """What reading any part of a file needs.

    Attributes
    ----------
    found:
        Gets all problems.
    angle_unit:
        [rad] An angle of 1 in the file.
    plain_left, nested_left:
        Values of unknown keys that may still be kept, and lists of numbers in lists that may still be read.
    rules:
        The module with the rules of the format.
    """

    found: Diagnostics
    angle_unit: float = math.pi / 180.0
    plain_left: int = MAX_PLAIN
    nested_left: int = MAX_PLAIN
    rules: ModuleType = rules


def open_text(
    data: bytes, path: Path | None, found: Diagnostics, anchors: AnyMapping[str, Node] | None = None
) -> Document:
    """Parse a YAML file.

    Parameters
    ----------
    data, path:
        Its bytes, in any of the encodings of model files, and the file.
    found:
        Gets the problems.
    anchors:
        Those of the file that includes this one.

    Raises
    ------
    FormatError
        BDY101 when it is no YAML, is nested too deep, or is empty; BDY105 when aliases unfold to too much.
    """
    characters, encoding = decode(data)
    text = Text(characters.rstrip("\0\x1a"), path, encoding)
    document = parse_yaml(text.data, text, DIALECT, found, anchors)
    if document.next_document is not None:
        found.report(rules.IGNORED, "a second document begins: it is not used", text.location(document.next_document))
    return document


def path_of(node: Node) -> Path | None:
    """Return the file that a node is in."""
    path = node.text.path
    return None if path is None else Path(path)


def default_on_error(fallback: object) -> Callable[[Reads], Reads]:
    """Make a reader of keys record a fault, mark the key unknown, and return its `default`, or else `fallback`."""

    def made(read: Reads) -> Reads:
        @wraps(read)
        def call(fields: Fields, *names: object, **options: object) -> object:
            try:
                return read(fields, *names, **options)
            except FormatError as error:
                fields.context.found.refuse(error)
                fields.unknown.update(str(name) for name in names[:1])
                return options.get("default", fallback)

        return cast("Reads", call)

    return made


@dataclass
class Fields:
    """The keys of one mapping.

    Attributes
    ----------
    node, context:
        The mapping, and what reading its values needs.
    title:
        What it is called in messages.
    used, unknown:
        The spellings of keys that were read; the names of keys whose values could not be.
    """

    node: Mapping
    context: Context
    title: str
    used: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)

    def report(self, rule: Rule, message: str, key: str | None = None, hint: str | None = None) -> None:
        """Record a problem with a key, or with the whole mapping."""
        self.context.found.report(rule, message, self.location(key), hint=hint)

    def location(self, key: str | None = None) -> Location:
        """Return the location of a key, in any spelling; without one, that of the mapping."""
        if key is None:
            return self.node.location
        return self.node.location_of(key if key in self.node.items else camel(key))

    def find(self, *names: str) -> Node | None:
        """Return the value of the first of several keys that is there, in any spelling, and count all of them as used."""
        found = None
        for name in names:
            for spelling in (name, camel(name)):
                if spelling in self.node.items:
                    self.used.add(spelling)
                    found = self.node.items[spelling] if found is None else found
        return None if isinstance(found, Scalar) and not found.quoted and found.value.lower() in _NULL else found

    def has(self, *names: str) -> bool:
        """Return whether one of several keys is there."""
        return self.find(*names) is not None

    def refuse(self, name: str, expected: str, value: Node) -> NoReturn:
        """Raise that a key has a wrong value."""
        kind = "a list" if isinstance(value, Sequence) else "a mapping"
        given = f"{value.value!r:.60}" if isinstance(value, Scalar) else kind
        hint = number_slip(value.value) if expected == "a number" and isinstance(value, Scalar) else ""
        message = f"{name} of {self.title} is {given}; it must be {expected}"
        raise self.context.rules.WRONG_VALUE.error(message, value.location, hint)

    @default_on_error("")
    def text(self, *names: str, default: str = "") -> str:
        """Return a text."""
        value = self.find(*names)
        if value is None:
            return default
        if not isinstance(value, Scalar):
            self.refuse(names[0], "a text", value)
        return value.value

    @default_on_error([])
    def texts(self, *names: str) -> list[str]:
        """Return a list of texts; a single one is a list of one."""
        value = self.find(*names)
        items = value.items if isinstance(value, Sequence) else [] if value is None else [value]
        texts = []
        for item in items[:MAX_TEXTS]:
            if not isinstance(item, Scalar):
                self.refuse(names[0], "a list of texts", item)
            texts.append(item.value)
        return texts

    @default_on_error(False)
    def flag(self, *names: str, default: bool) -> bool:
        """Return a truth value."""
        value = self.find(*names)
        if value is None:
            return default
        word = value.value.lower() if isinstance(value, Scalar) else ""
        if word not in _TRUE and word not in _FALSE:
            self.refuse(names[0], "true or false", value)
        return word in _TRUE

    def scalar_number(self, name: str, value: Node) -> float:
        """Return the number that a node holds; it may be infinite or nan."""
        found = _NUMBER.fullmatch(value.value) if isinstance(value, Scalar) else None
        if found is None:
            self.refuse(name, "a number", value)
        digits, suffix, sign, word = found.groups()
        if digits is None:
            return float(sign + word)
        if suffix:
            self.context.found.report(
                self.context.rules.SUFFIX, f"{name} of {self.title} is {found.group()}", value.location
            )
        return float(digits)

    @default_on_error(0.0)
    def number(self, *names: str, default: float) -> float:
        """Return a finite number."""
        value = self.find(*names)
        if value is None:
            return default
        number = self.scalar_number(names[0], value)
        if math.isfinite(number):
            return number
        self.not_finite(names[0], number)
        return default

    def not_finite(self, name: str, *numbers: float) -> None:
        """Record numbers that are not finite; the key is unknown."""
        self.unknown.add(name)
        self.report(self.context.rules.NOT_FINITE, f"{name} of {self.title} is {_shown(numbers)}, not finite", name)

    def angle(self, *names: str, default: float) -> float:
        """Return an angle [rad]; `default` is in radians."""
        given = self.number(*names, default=math.nan)
        return default if math.isnan(given) else given * self.context.angle_unit

    @default_on_error(0)
    def integer(self, *names: str, default: int) -> int:
        """Return a whole number."""
        value = self.find(*names)
        number = self.number(*names, default=default)
        if value is not None and number % 1 != 0:
            self.refuse(names[0], "a whole number", value)
        return int(number)

    @default_on_error(None)
    def numbers(self, *names: str) -> list[float] | None:
        """Return a list of numbers, infinite ones too; None where the key is missing."""
        value = self.find(*names)
        if value is None:
            return None
        if not isinstance(value, Sequence):
            self.refuse(names[0], "a list of numbers", value)
        if value.numbers:
            try:
                return [float(number) for number in value.numbers.rstrip(", \t\r\n").split(",")]
            except ValueError:
                # One of them is no number: its location is found below.
                pass
        return [self.scalar_number(names[0], item) for item in value.items]

    @default_on_error(())
    def vector(self, *names: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Return as many finite numbers as `default` has."""
        values = self.numbers(*names)
        if values is None:
            return default
        if len(values) != len(default):
            self.refuse_length(names, len(default))
        if all(map(math.isfinite, values)):
            return tuple(values)
        self.not_finite(names[0], *values)
        return default

    def refuse_length(self, names: Iterable[str], expected: int) -> NoReturn:
        """Raise that a list has a wrong length."""
        value = self.find(*names)
        length = len(value.items) if isinstance(value, Sequence) else 0
        name = next(iter(names))
        where = self.location(name) if value is None else value.location
        raise self.context.rules.WRONG_VALUE.error(
            f"{name} of {self.title} has {length} numbers; {expected} are needed", where
        )

    def rows(self, *names: str, width: int) -> Floats | None:
        """Return a flat list of numbers as rows (N, width), infinite ones too; None where the key is missing."""
        values = self.numbers(*names)
        if values is None:
            return None
        left = len(values) % width
        if left:
            message = f"{names[0]} of {self.title} has {len(values)} numbers; the last {left} are left over"
            self.report(self.context.rules.LEFT_OVER, message, names[0])
        return frozen(np.array(values[: len(values) - left], dtype=np.float64).reshape(-1, width))

    @default_on_error(None)
    def translation(self, name: str = "translation") -> tuple[float, ...] | None:
        """Return a translation (3,) [m], the sum where there are several; None where the key is missing."""
        value = self.find(name)
        if value is None:
            return None
        total = [0.0, 0.0, 0.0]
        for part in self._lists(value, name):
            total = [a + b for a, b in zip(total, self._list(part, name, 3), strict=True)]
        return tuple(total)

    @default_on_error(None)
    def rotation(self, name: str = "rotation") -> tuple[float, ...] | None:
        """Return a rotation as a quaternion w x y z, the product where there are several; None where the key is missing."""
        value = self.find(name)
        if value is None:
            return None
        total: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
        for part in self._lists(value, name):
            total = _product(total, self._rotation(part, name))
        return total

    def _lists(self, value: Node, name: str) -> Iterator[Sequence]:
        """Return the lists of numbers in a list, which may hold lists of them in any depth."""
        if not isinstance(value, Sequence):
            self.refuse(name, "a list of numbers", value)
        nested = [item for item in value.items if isinstance(item, Sequence)]
        if nested and len(nested) < len(value.items):
            self.refuse(name, "a list of numbers, or of lists of numbers", value)
        if not nested:
            yield value
        for item in nested:
            self.context.nested_left -= 1
            if self.context.nested_left < 0:
                raise self.context.rules.TOO_LARGE.error(
                    f"{name} of {self.title} unfolds to too many lists", value.location
                )
            yield from self._lists(item, name)

    def _list(self, part: Sequence, name: str, count: int) -> list[float]:
        numbers = [self.scalar_number(name, item) for item in part.items]
        if len(numbers) != count:
            message = f"{name} of {self.title} has {len(numbers)} numbers; {count} are needed"
            raise self.context.rules.WRONG_VALUE.error(message, part.location)
        if not all(map(math.isfinite, numbers)):
            self.unknown.add(name)
            message = f"{name} of {self.title} is {_shown(numbers)}, not finite"
            self.context.found.report(self.context.rules.NOT_FINITE, message, part.location)
            return [0.0] * count
        return numbers

    def _rotation(self, part: Sequence, name: str) -> tuple[float, ...]:
        x, y, z, angle = self._list(part, name, 4)
        # Without the large and the tiny, squares stay in range.
        largest = max(abs(x), abs(y), abs(z))
        found = self.context.found
        if largest == 0.0:
            if angle != 0.0:
                self.unknown.add(name)
                found.report(rules.NO_ROTATION_AXIS, f"{name} of {self.title} has the axis 0 0 0", part.location)
            return (1.0, 0.0, 0.0, 0.0)
        x, y, z = x / largest, y / largest, z / largest
        length = math.sqrt(x * x + y * y + z * z)
        error = abs(length * largest - 1.0)
        if angle != 0.0 and error > 1e-2:
            axis = _shown([x * largest, y * largest, z * largest])
            hint = "are these angles? A rotation is an axis and an angle, neither three angles nor a quaternion"
            found.report(
                rules.ROTATION_AXIS,
                f"{name} of {self.title} has the axis {axis}, of length {length * largest:.6g}",
                part.location,
                hint=hint if error > MAX_LENGTH_ERROR else None,
            )
        self._check_angle(part, name, angle)
        half = 0.5 * angle * self.context.angle_unit
        sine = math.sin(half) / length
        return (math.cos(half), x * sine, y * sine, z * sine)

    def _check_angle(self, part: Sequence, name: str, angle: float) -> None:
        """Report an angle that is probably in the other unit: many turns in radians, or a part of π in degrees."""
        message, hint = f"{name} of {self.title} has the angle {angle:g}", None
        if self.context.angle_unit == 1.0:
            if abs(angle) <= MAX_ROTATION:
                return
            message += f" rad, {abs(angle) / (2 * math.pi):.3g} full turns"
            hint = "it looks like degrees: multiply it by π/180, or write angle_unit: degree"
        elif abs(angle) > MAX_ROTATION:
            return
        else:
            twelfths = abs(angle) * 12 / math.pi
            whole = round(twelfths)
            if whole not in TWELFTHS_OF_PI or abs(twelfths - whole) > 1e-3 * whole:
                return
            message += f" degrees, and {abs(angle):g} rad would be {15 * whole}°"
        self.context.found.report(rules.DEGREES, message, part.location, hint=hint)

    def rest(self, also_used: Collection[str] = ()) -> dict[str, object]:
        """Return the keys that were not read, as plain values."""
        left = {}
        for key, value in self.node.items.items():
            if key not in self.used and key not in also_used:
                left[key] = _plain(value, self.context)
        return left

    def report_misspelt(self, known: Iterable[str], similarity: float = 0.87) -> set[str]:
        """Report unused keys that are almost those of the format; return the names that are probably meant, which are unknown."""
        by_spelling = {spelling: name for name in known for spelling in (name, camel(name))}
        present = {by_spelling[key] for key in by_spelling.keys() & self.node.items.keys()}
        names, slips = [spelling for spelling, name in by_spelling.items() if name not in present], set()
        in_camel = any(key != key.lower() for key in self.used & self.node.items.keys())
        unused = (key for key in self.node.offsets if key not in self.used and key not in by_spelling)
        for key in [key for key in unused if len(key) >= MIN_KEY_LENGTH][:MAX_MISSPELT]:
            almost = meant(key, names) or next(iter(difflib.get_close_matches(key, names, 1, similarity)), None)
            if almost is None:
                continue
            name = by_spelling[almost]
            slips.add(name)
            shown = camel(name) if in_camel else name
            rule = rules.MISSPELT_MASS if name in _MASSES else self.context.rules.MISSPELT
            message = f"the key {key[:60]} of {self.title} is not known: did you mean {shown!r}?"
            self.context.found.report(rule, message, self.location(key), data={"key": key, "meant": name})
        self.unknown |= slips
        return slips


def label(kind: str, name: object = None) -> str:
    """Return what a node is called in messages: `Camera 'EYE'`, or `a Camera`; `name` is the node with its name."""
    if isinstance(name, Scalar) and name.value:
        return f"{kind:.60} {name.value!r:.60}"
    return with_article(kind[:60])


@default_on_error(math.pi / 180.0)
def angle_unit(header: Fields, default: float) -> float:
    """Return an angle of 1 in radians, as a file's header defines it; `default` where it does not.

    Raises
    ------
    FormatError
        When it is neither degree nor radian.
    """
    word = header.text("angle_unit")
    if not word:
        return default
    if word not in ("degree", "radian"):
        message = f"angle_unit is {word!r:.60}, neither degree nor radian"
        raise rules.ANGLE_UNIT.error(message, header.location("angle_unit"))
    return 1.0 if word == "radian" else math.pi / 180.0


def _plain(node: Node, context: Context) -> object:
    """Return a node as plain values: dict, list, str, int, float, bool, None.

    Where aliases unfold to more values than can be held, the rest is left out.
    """
    before = context.plain_left
    context.plain_left -= 1
    if isinstance(node, Sequence) and node.numbers.count(",") > context.plain_left:
        context.plain_left = -1
    if context.plain_left < 0:
        if before >= 0:
            message = f"unknown keys have more than {MAX_PLAIN} values: the rest is left out"
            context.found.report(context.rules.TOO_LARGE, message, node.location)
        return None
    if isinstance(node, Sequence):
        return [_plain(item, context) for item in node.items] if context.plain_left else []
    if isinstance(node, Mapping):
        return {key: _plain(value, context) for key, value in node.items.items()} if context.plain_left else {}
    return node.value if node.quoted else _plain_scalar(node.value)


def _plain_scalar(text: str) -> object:
    word = text.lower()
    if word in _NULL:
        return None
    if word in ("true", "false"):
        return word == "true"
    if re.fullmatch(r"[-+]?[0-9]{1,18}", text):
        return int(text)
    found = _NUMBER.fullmatch(text)
    if found is None or found.group(2):
        return text
    return float(found.group(1) or found.group(3) + found.group(4))


def _product(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def _shown(values: Iterable[float]) -> str:
    return " ".join(f"{value:.6g}" for value in values)
