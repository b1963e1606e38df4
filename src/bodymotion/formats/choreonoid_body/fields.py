"""Keys of mappings as the values that are needed, in either spelling: joint_type (version 2.0) and jointType (version 1.0).

Angles come in degrees or radians, as the file's header says, and are given in radians. A rotation is an axis and an angle, or a list of
such, of which the last is applied first; a translation is three numbers, or a list of such to be added up.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import numpy as np

from bodymotion.diagnostics import FormatError
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.document import Mapping, Node, Scalar, Sequence
from bodymotion.formats.choreonoid_body.plain import NULL, NUMBER, Context, plain
from bodymotion.formats.faults import fault
from bodymotion.formats.text.spelling import meant
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion.rules import MAX_LENGTH_ERROR

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Rule

__all__ = ["Fields", "angle_unit", "camel", "forgiving", "label"]

TURN = 2.0 * math.pi + 0.01
"""[rad] No rotation needs to be by more than a full turn."""
PARTS_OF_PI = (2, 3, 4, 6, 8, 9, 12, 18, 24)
"""Twelfths of π by which links are turned: 30°, 45°, 60°, 90° and so on."""

MOST_TEXTS = 1_000
MOST_MISSPELT = 50
"""How many unused keys of a mapping are looked at: a typing error is one of few."""

_MASSES = ("mass", "center_of_mass", "inertia")
_TRUE = ("true", "yes", "on", "y")
_FALSE = ("false", "no", "off", "n")


Reads = TypeVar("Reads", bound=Callable[..., Any])


def forgiving(fallback: object) -> Callable[[Reads], Reads]:
    """Make a reader of keys go on after a fault where all are wanted: it then gives its `default`, or else what is given here."""

    def made(read: Reads) -> Reads:
        @wraps(read)
        def call(fields: Fields, *names: object, **options: object) -> object:
            try:
                return read(fields, *names, **options)
            except FormatError as error:
                fault(fields.context.problems, error)
                return options.get("default", fallback)

        return cast("Reads", call)

    return made


@cache
def camel(name: str) -> str:
    """Return the spelling of version 1.0: jointType of joint_type."""
    first, *others = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


@dataclass
class Fields:
    """The keys of one mapping, `title` for messages; remembers which of them have been used."""

    node: Mapping
    context: Context
    title: str
    used: set[str] = field(default_factory=set)

    def tell(self, rule: Rule, message: str, key: str | None = None) -> None:
        """Note a problem with a key, or the whole mapping."""
        self.context.problems.append(rule.problem(message, self.place(key)))

    def place(self, key: str | None = None) -> Location:
        """Return the place of a key, in whatever spelling it stands."""
        if key is None:
            return self.node.location
        return self.node.location_of(key if key in self.node.items else camel(key))

    def find(self, *names: str) -> Node | None:
        """Return the value of the first of several names that is there, all spellings tried, and count them all as used."""
        found = None
        for name in names:
            for spelling in (name, camel(name)):
                if spelling in self.node.items:
                    self.used.add(spelling)
                    found = self.node.items[spelling] if found is None else found
        return None if isinstance(found, Scalar) and not found.quoted and found.value.lower() in NULL else found

    def has(self, *names: str) -> bool:
        """Whether one of several names is there."""
        return self.find(*names) is not None

    def refuse(self, name: str, wanted: str, value: Node) -> NoReturn:
        """Refuse the value of a key."""
        given = (
            f"{value.value!r:.60}"
            if isinstance(value, Scalar)
            else "a list"
            if isinstance(value, Sequence)
            else "a mapping"
        )
        raise rules.WRONG_VALUE.error(f"{name} of {self.title} must be {wanted}, here it is {given}", value.location)

    @forgiving("")
    def text(self, *names: str, default: str = "") -> str:
        """Return a text."""
        value = self.find(*names)
        if value is None:
            return default
        if not isinstance(value, Scalar):
            self.refuse(names[0], "a text", value)
        return value.value

    @forgiving([])
    def texts(self, *names: str) -> list[str]:
        """Return a list of texts; a single one is a list of one."""
        value = self.find(*names)
        items = value.items if isinstance(value, Sequence) else [] if value is None else [value]
        texts = []
        for item in items[:MOST_TEXTS]:
            if not isinstance(item, Scalar):
                self.refuse(names[0], "a list of texts", item)
            texts.append(item.value)
        return texts

    @forgiving(False)
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
        """Return the number that a node holds; it may be infinite."""
        found = NUMBER.fullmatch(value.value) if isinstance(value, Scalar) else None
        if found is None:
            self.refuse(name, "a number", value)
        digits, suffix, sign, word = found.groups()
        if digits is None:
            return float(sign + word)
        if suffix:
            self.context.problems.append(
                rules.SUFFIX.problem(f"{name} of {self.title} is {found.group()}", value.location)
            )
        return float(digits)

    @forgiving(0.0)
    def number(self, *names: str, default: float) -> float:
        """Return a finite number."""
        value = self.find(*names)
        if value is None:
            return default
        number = self.scalar_number(names[0], value)
        if math.isfinite(number):
            return number
        self.tell(rules.NOT_FINITE, f"{names[0]} of {self.title} is {number}, not finite", names[0])
        return default

    def angle(self, *names: str, default: float) -> float:
        """Return an angle [rad]; `default` is in radians."""
        given = self.number(*names, default=math.nan)
        return default if math.isnan(given) else given * self.context.angle_unit

    @forgiving(0)
    def integer(self, *names: str, default: int) -> int:
        """Return a whole number."""
        value = self.find(*names)
        number = self.number(*names, default=default)
        if value is not None and number % 1 != 0:
            self.refuse(names[0], "a whole number", value)
        return int(number)

    @forgiving(None)
    def numbers(self, *names: str) -> list[float] | None:
        """Return a list of numbers, infinite ones too; None where the key is not there."""
        value = self.find(*names)
        if value is None:
            return None
        if not isinstance(value, Sequence):
            self.refuse(names[0], "a list of numbers", value)
        if value.long:
            try:
                return [float(number) for number in value.long.rstrip(", \t\r\n").split(",")]
            except ValueError:
                # One of them is none: its place is found below.
                pass
        return [self.scalar_number(names[0], item) for item in value.items]

    @forgiving(())
    def vector(self, *names: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Return as many finite numbers as `default` has."""
        values = self.numbers(*names)
        if values is None:
            return default
        if len(values) != len(default):
            self.count(names, len(default))
        if all(map(math.isfinite, values)):
            return tuple(values)
        self.tell(rules.NOT_FINITE, f"{names[0]} of {self.title} is {_shown(values)}, not finite", names[0])
        return default

    def count(self, names: Iterable[str], wanted: int) -> NoReturn:
        """Refuse a list for its length."""
        value = self.find(*names)
        length = len(value.items) if isinstance(value, Sequence) else 0
        name = next(iter(names))
        place = self.place(name) if value is None else value.location
        raise rules.WRONG_VALUE.error(f"{name} of {self.title} has {length} numbers, {wanted} are needed", place)

    def rows(self, *names: str, width: int) -> Floats | None:
        """Return a flat list of numbers as rows (N, width), infinite ones too; None where the key is not there."""
        values = self.numbers(*names)
        if values is None:
            return None
        left = len(values) % width
        if left:
            self.tell(
                rules.LEFT_OVER, f"{names[0]} of {self.title} has {len(values)} numbers, {left} too many", names[0]
            )
        return frozen(np.array(values[: len(values) - left], dtype=np.float64).reshape(-1, width))

    @forgiving(None)
    def translation(self, name: str = "translation") -> tuple[float, ...] | None:
        """Return a translation [m], the sum where there are several; None where the key is not there."""
        value = self.find(name)
        if value is None:
            return None
        total = [0.0, 0.0, 0.0]
        for part in self._rows(value, name):
            total = [a + b for a, b in zip(total, self._row(part, name, 3), strict=True)]
        return tuple(total)

    @forgiving(None)
    def rotation(self, name: str = "rotation") -> tuple[float, ...] | None:
        """Return a rotation as a quaternion w x y z, the product where there are several; None where the key is not there."""
        value = self.find(name)
        if value is None:
            return None
        turn: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
        for part in self._rows(value, name):
            turn = _product(turn, self._turn(part, name))
        return turn

    def _rows(self, value: Node, name: str) -> Iterator[Sequence]:
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
                raise rules.TOO_LARGE.error(f"{name} of {self.title} unfolds to too many lists", value.location)
            yield from self._rows(item, name)

    def _row(self, part: Sequence, name: str, count: int) -> list[float]:
        numbers = [self.scalar_number(name, item) for item in part.items]
        if len(numbers) != count:
            wrong = f"{name} of {self.title} has {len(numbers)} numbers, {count} are needed"
            raise rules.WRONG_VALUE.error(wrong, part.location)
        if not all(map(math.isfinite, numbers)):
            self.context.problems.append(
                rules.NOT_FINITE.problem(f"{name} of {self.title} is {_shown(numbers)}, not finite", part.location)
            )
            return [0.0] * count
        return numbers

    def _turn(self, part: Sequence, name: str) -> tuple[float, ...]:
        x, y, z, angle = self._row(part, name, 4)
        # Without the large and the tiny, squares stay in range.
        largest = max(abs(x), abs(y), abs(z))
        if largest == 0.0:
            if angle != 0.0:
                wrong = f"{name} of {self.title} turns about an axis of no length"
                self.context.problems.append(rules.NO_TURN.problem(wrong, part.location))
            return (1.0, 0.0, 0.0, 0.0)
        x, y, z = x / largest, y / largest, z / largest
        length = math.sqrt(x * x + y * y + z * z)
        if angle != 0.0 and abs(length * largest - 1.0) > 1e-2:
            wrong = (
                f"{name} of {self.title} turns about {_shown([x * largest, y * largest, z * largest])}, not of length 1"
            )
            far = abs(length * largest - 1.0) > MAX_LENGTH_ERROR
            hint = (
                "are these angles? An axis and an angle belong here, no three angles and no quaternion" if far else None
            )
            self.context.problems.append(rules.ROTATION_AXIS.problem(wrong, part.location, hint))
        self._check_angle(part, name, angle)
        half = 0.5 * angle * self.context.angle_unit
        sine = math.sin(half) / length
        return (math.cos(half), x * sine, y * sine, z * sine)

    def _check_angle(self, part: Sequence, name: str, angle: float) -> None:
        """Note an angle that is in the other unit by its looks: many turns in radians, or a part of π in degrees."""
        said, hint = f"{name} of {self.title} is by {angle:g}", None
        if self.context.angle_unit == 1.0:
            if abs(angle) <= TURN:
                return
            said += f" rad, {abs(angle) / (2 * math.pi):.3g} full turns"
            hint = "it looks like degrees: multiply it by π/180, or write angle_unit: degree"
        elif abs(angle) > TURN:
            return
        else:
            twelfths = abs(angle) * 12 / math.pi
            whole = round(twelfths)
            if whole not in PARTS_OF_PI or abs(twelfths - whole) > 1e-3 * whole:
                return
            said += f" degrees, and {abs(angle):g} rad would be {15 * whole}°"
        self.context.problems.append(rules.DEGREES.problem(said, part.location, hint))

    def rest(self, also_used: Collection[str] = ()) -> dict[str, object]:
        """Return the keys that nobody has used, as plain values."""
        left = {}
        for key, value in self.node.items.items():
            if key not in self.used and key not in also_used:
                left[key] = plain(value, self.context)
        return left

    def warn_of_misspelt(self, known: Iterable[str], likeness: float = 0.87) -> set[str]:
        """Note unused keys that are almost those of the format; give the names for which they are meant."""
        by_spelling = {spelling: name for name in known for spelling in (name, camel(name))}
        there = {by_spelling[key] for key in by_spelling.keys() & self.node.items.keys()}
        names, slips = [spelling for spelling, name in by_spelling.items() if name not in there], set()
        old = any(key != key.lower() for key in self.used & self.node.items.keys())
        unused = [key for key in self.node.places if key not in self.used and key not in by_spelling and len(key) > 3]
        for key in unused[:MOST_MISSPELT]:
            almost = meant(key, names) or next(iter(difflib.get_close_matches(key, names, 1, likeness)), None)
            if almost is not None:
                slips.add(by_spelling[almost])
                spelt, almost = almost, camel(by_spelling[almost]) if old else by_spelling[almost]
                rule = rules.MISSPELT_MASS if by_spelling[spelt] in _MASSES else rules.MISSPELT
                self.tell(rule, f"{key[:60]} of {self.title} is not used: did you mean {almost!r}?", key)
        return slips


def label(kind: str, name: object = None) -> str:
    """Say which node is meant: `Camera 'EYE'`, or `a Camera`; `name` is the node with its name."""
    if isinstance(name, Scalar) and name.value:
        return f"{kind:.60} {name.value!r:.60}"
    return f"{'an' if kind[:1] in 'AEIO' else 'a'} {kind:.60}"


@forgiving(math.pi / 180.0)
def angle_unit(header: Fields, default: float) -> float:
    """Return what an angle of 1 is in radians, as a file's header says it; `default` where it does not.

    Raises
    ------
    FormatError
        When it is neither degree nor radian.
    """
    word = header.text("angle_unit")
    if not word:
        return default
    if word not in ("degree", "radian"):
        raise rules.ANGLE_UNIT.error(
            f"angle_unit is {word!r:.60}, neither degree nor radian", header.place("angle_unit")
        )
    return 1.0 if word == "radian" else math.pi / 180.0


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
