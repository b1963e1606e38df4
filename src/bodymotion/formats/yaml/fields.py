"""The keys of a mapping as values, in either spelling.

Joint_type and jointType, for formats whose files people and programs write.

A value that a key cannot have is recorded, its key is marked unknown, and the default
is returned.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterable
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import NoReturn, TypeVar, cast

from bodymotion.diagnostics import Diagnostics, FormatError, Location, Rule
from bodymotion.diagnostics.spelling import camel, meant, number_slip
from bodymotion.diagnostics.text import counted, with_article
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.text import Text, decode
from bodymotion.formats.yaml.rules import MISSPELT, NOT_USED, SUFFIX, WRONG_VALUE
from bodymotion.formats.yaml.tree import (
    Document,
    Mapping,
    Node,
    Scalar,
    Sequence,
    parse_yaml,
)

MAX_BYTES = 2 * 10**8  # [bytes] One file.
MAX_PLAIN = (
    200_000  # Values of unknown keys that are kept, and lists of numbers in lists.
)
MAX_TEXTS = 1_000  # Texts of a list that are read.
MAX_MISSPELT = 50  # Unused keys of a mapping that are compared with known ones: spelling mistakes are few.
MIN_KEY_LENGTH = 3  # Shorter unused keys are not compared.

_NULL = ("", "~", "null")
_TRUE = ("true", "yes", "on", "y")
_FALSE = ("false", "no", "off", "n")
_NUMBER = re.compile(
    r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)([^\s,]*)|([-+]?)\.?(nan|inf|infinity)",
    re.IGNORECASE,
)
"""A number, and what follows it.

C++ programs read as far as they get, so files have `0.5f` and `0.t`.
"""


T = TypeVar("T")
Fallback = TypeVar("Fallback")


@dataclass
class Context:
    """What reading any part of a file needs.

    Attributes
    ----------
    found:
        Gets all problems.
    not_finite:
        The rule that numbers break that are not finite.
    angle_unit:
        [rad] An angle of 1 in the file.
    plain_left, nested_left:
        Values of unknown keys that may still be kept, and lists of numbers in lists
        that may still be read.
    """

    found: Diagnostics
    not_finite: Rule
    angle_unit: float = math.pi / 180.0
    plain_left: int = MAX_PLAIN
    nested_left: int = MAX_PLAIN


def open_text(
    data: bytes,
    path: Path | None,
    found: Diagnostics,
    anchors: AnyMapping[str, Node] | None = None,
) -> Document:
    """Parse a YAML file whose merge keys are followed.

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
        When it is no YAML, is nested too deep, or is empty, and when aliases unfold to
        too much.
    """
    characters, encoding = decode(data)
    text = Text(characters.rstrip("\0\x1a"), path, encoding)
    document = parse_yaml(text.data, text, found, anchors)
    if document.next_document is not None:
        found.report(
            NOT_USED,
            "a second document begins: it is not used",
            text.location(document.next_document),
        )
    return document


def reads(
    fallback: Fallback,
) -> Callable[[Callable[..., T | None]], Callable[..., T | Fallback]]:
    """Make a reader of keys `call(fields, *names, default=fallback, **options)` of one of a value, `read(fields, value, name, **options)`.

    It returns the default where no key is there, where `read` returns None, and where
    it raises a fault, which is recorded; then the key is unknown.
    """

    def made(read: Callable[..., T | None]) -> Callable[..., T | Fallback]:
        @wraps(read)
        def call(
            fields: Fields, *names: str, default: Fallback = fallback, **options: object
        ) -> T | Fallback:
            value = fields.find(*names)
            try:
                if value is None:
                    found = None
                else:
                    found = read(fields, value, names[0], **options)
            except FormatError as error:
                fields.context.found.refuse(error)
                fields.unknown.add(names[0])
                found = None
            return default if found is None else found

        return call

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
        The spellings of keys that were read; the names of keys whose values could not
        be.
    """

    node: Mapping
    context: Context
    title: str
    used: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)

    def report(
        self, rule: Rule, message: str, key: str | None = None, hint: str | None = None
    ) -> None:
        """Record a problem with a key, or with the whole mapping."""
        self.context.found.report(rule, message, self.location(key), hint=hint)

    def location(self, key: str | None = None) -> Location:
        """Return the location of a key, in any spelling.

        Without one, that of the mapping.
        """
        if key is None:
            return self.node.location
        return self.node.location_of(key)

    def find(self, *names: str) -> Node | None:
        """Return the value of the first of several keys that is there, in any spelling, and count all of them as used."""
        found = None
        for name in names:
            for spelling in (name, camel(name)):
                if spelling in self.node.items:
                    self.used.add(spelling)
                    if found is None:
                        found = self.node.items[spelling]
        if (
            isinstance(found, Scalar)
            and not found.quoted
            and found.value.lower() in _NULL
        ):
            return None
        return found

    def has(self, *names: str) -> bool:
        """Return whether one of several keys is there."""
        return self.find(*names) is not None

    def refuse(self, name: str, expected: str, value: Node) -> NoReturn:
        """Raise that a key has a wrong value."""
        if isinstance(value, Sequence):
            kind = "a list"
        else:
            kind = "a mapping"
        if isinstance(value, Scalar):
            found = f"{value.value!r:.60}"
        else:
            found = kind
        if expected == "a number" and isinstance(value, Scalar):
            hint = number_slip(value.value)
        else:
            hint = ""
        message = f"{name} of {self.title} is {found}; expected {expected}"
        raise WRONG_VALUE.error(message, value.location, hint)

    def reject(self, rule: Rule, message: str, name: str) -> None:
        """Record that a key has a value that it cannot have, and that its value is unknown."""
        self.context.found.refuse(rule.error(message, self.location(name)))
        self.unknown.add(name)

    @reads("")
    def text(self, value: Node, name: str) -> str:
        """Return a text."""
        if not isinstance(value, Scalar):
            self.refuse(name, "a text", value)
        return value.value

    @reads(())
    def texts(self, value: Node, name: str) -> tuple[str, ...]:
        """Return a list of texts.

        A single one is a list of one.
        """
        if isinstance(value, Sequence):
            items = value.items
        else:
            items = [value]
        texts = []
        for item in items[:MAX_TEXTS]:
            if not isinstance(item, Scalar):
                self.refuse(name, "a list of texts", item)
            texts.append(item.value)
        return tuple(texts)

    @reads(False)
    def flag(self, value: Node, name: str) -> bool:
        """Return a truth value."""
        if isinstance(value, Scalar):
            word = value.value.lower()
        else:
            word = ""
        if word not in _TRUE and word not in _FALSE:
            self.refuse(name, "true or false", value)
        return word in _TRUE

    def scalar_number(self, name: str, value: Node) -> float:
        """Return the number that a node holds.

        It may be infinite or nan.
        """
        if isinstance(value, Scalar):
            found = _NUMBER.fullmatch(value.value)
        else:
            found = None
        if found is None:
            self.refuse(name, "a number", value)
        digits, suffix, sign, word = found.groups()
        if suffix:
            message = f"{name} of {self.title} is {found.group()}"
            self.context.found.report(SUFFIX, message, value.location)
        return float(digits or sign + word)

    @reads(0.0)
    def number(self, value: Node, name: str) -> float | None:
        """Return a finite number."""
        number = self.scalar_number(name, value)
        if not math.isfinite(number):
            self.not_finite(name, number)
            return None
        return number

    def not_finite(
        self, name: str, *numbers: float, where: Location | None = None
    ) -> None:
        """Record numbers that are not finite, at the key unless another location is given.

        The key is unknown.
        """
        self.unknown.add(name)
        message = f"{name} of {self.title} is {shown(numbers)}, not finite"
        self.context.found.report(
            self.context.not_finite, message, where or self.location(name)
        )

    @reads(0)
    def integer(self, value: Node, name: str) -> int | None:
        """Return a whole number."""
        number = self.scalar_number(name, value)
        if not math.isfinite(number):
            self.not_finite(name, number)
            return None
        if number % 1 != 0 or abs(number) >= 2**63:
            self.refuse(
                name,
                "a whole number" if number % 1 else "a whole number of 64 bits",
                value,
            )
        return int(number)

    @reads(None)
    def numbers(self, value: Node, name: str) -> list[float]:
        """Return a list of numbers, infinite ones too.

        None where the key is missing.
        """
        if not isinstance(value, Sequence):
            self.refuse(name, "a list of numbers", value)
        if value.numbers:
            try:
                return [
                    float(number)
                    for number in value.numbers.rstrip(", \t\r\n").split(",")
                ]
            except ValueError:
                # One of them is no number: its location is found below.
                pass
        return [self.scalar_number(name, item) for item in value.items]

    def vector(self, *names: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Return as many finite numbers as `default` has."""
        values = self.numbers(*names)
        if values is None:
            return default
        if len(values) != len(default):
            message = f"{names[0]} of {self.title} has {counted(len(values), 'number')}; expected {len(default)}"
            where = cast("Node", self.find(*names)).location
            self.context.found.refuse(WRONG_VALUE.error(message, where))
            self.unknown.add(names[0])
        elif all(map(math.isfinite, values)):
            return tuple(values)
        else:
            self.not_finite(names[0], *values)
        return default

    def rest(self, also_used: Collection[str] = ()) -> dict[str, object]:
        """Return the keys that were not read, as plain values."""
        left = {
            key: value
            for key, value in self.node.items.items()
            if key not in self.used and key not in also_used
        }
        return {key: _plain(value, self.context) for key, value in left.items()}

    def report_misspelt(
        self,
        known: Iterable[str],
        similarity: float = 0.87,
        as_meant: Collection[str] = (),
    ) -> None:
        """Report unused keys that are almost those of the format.

        What they are probably meant for is unknown.

        With `as_meant`, do so only for these names, without which nothing can be made
        of the mapping, and read them as they are meant: that is an error for which no
        value is loaded.
        """
        by_spelling = {
            spelling: name for name in known for spelling in (name, camel(name))
        }
        present = {
            by_spelling[key] for key in by_spelling.keys() & self.node.items.keys()
        }
        names = [
            spelling for spelling, name in by_spelling.items() if name not in present
        ]
        in_camel = any(key != key.lower() for key in self.used & self.node.items.keys())
        unused = (
            key
            for key in self.node.offsets
            if key not in self.used and key not in by_spelling
        )
        for key in [key for key in unused if len(key) >= MIN_KEY_LENGTH][:MAX_MISSPELT]:
            almost = meant(key, names) or next(
                iter(difflib.get_close_matches(key, names, 1, similarity)), None
            )
            if almost is None or (as_meant and by_spelling[almost] not in as_meant):
                continue
            name = by_spelling[almost]
            if in_camel:
                shown = camel(name)
            else:
                shown = name
            message = f"the key {key[:60]} of {self.title} is not known: did you mean {shown!r}?"
            self.context.found.report(
                MISSPELT,
                message,
                self.location(key),
                data={"key": key, "meant": name},
                fatal=bool(as_meant),
            )
            if as_meant:
                self.node.items[name], self.node.offsets[name] = (
                    self.node.items.pop(key),
                    self.node.offsets[key],
                )
            else:
                self.unknown.add(name)


def label(kind: str, name: object = None) -> str:
    """Return what a node is called in messages.

    `Camera 'EYE'`, or `a Camera`; `name` is the node with its name.
    """
    if isinstance(name, Scalar) and name.value:
        return f"{kind:.60} {name.value!r:.60}"
    return with_article(kind[:60])


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
            message = (
                f"unknown keys have more than {MAX_PLAIN} values: the rest is left out"
            )
            context.found.report(TOO_LARGE, message, node.location)
        return None
    if isinstance(node, Sequence):
        if context.plain_left:
            return [_plain(item, context) for item in node.items]
        return []
    if isinstance(node, Mapping):
        if context.plain_left:
            return {key: _plain(value, context) for key, value in node.items.items()}
        return {}
    if node.quoted:
        return node.value
    return _plain_scalar(node.value)


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


def shown(values: Iterable[float]) -> str:
    """Return numbers as they are shown in messages."""
    return " ".join(f"{value:.6g}" for value in values)
