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
from contextlib import suppress
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

MAX_BYTES = 2 * 10**8
"""[bytes] One file."""
# Values of unknown keys that are kept, and lists of numbers in lists.
MAX_PLAIN = 200_000
# Texts of a list that are read.
MAX_TEXTS = 1_000
# Unused keys of a mapping that are compared with known ones. Spelling mistakes are few.
MAX_MISSPELT = 50
# Shorter unused keys are not compared: they are like many others.
MIN_KEY_LENGTH = 3

_NULL = ("", "~", "null")
_TRUE = ("true", "yes", "on", "y")
_FALSE = ("false", "no", "off", "n")
# A number, and what follows it. C++ programs read as far as they get, so files have
# `0.5f` and `0.t`.
_NUMBER = re.compile(
    r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)([^\s,]*)"
    r"|([-+]?)\.?(nan|inf|infinity)",
    re.IGNORECASE,
)


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
    # Old programs end a file with zeros or Ctrl-Z.
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
    """Make a reader of keys of one of a value.

    It is called as `call(fields, *names, default=fallback, **options)`; the one of a
    value is `read(fields, value, name, **options)`. It returns the default where no key
    is there, where `read` returns None, and where it raises a fault, which is recorded;
    then the key is unknown.
    """

    def decorate(read: Callable[..., T | None]) -> Callable[..., T | Fallback]:
        @wraps(read)
        def call(
            fields: Fields, *names: str, default: Fallback = fallback, **options: object
        ) -> T | Fallback:
            # Several names: old and new ones of a key.
            node = fields.find(*names)
            # A null value is None here, and the default counts.
            value = None
            if node is not None:
                try:
                    value = read(fields, node, names[0], **options)
                except FormatError as error:
                    fields.context.found.refuse(error)
                    fields.unknown.add(names[0])
            return default if value is None else value

        return call

    return decorate


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
        """Return the value of the first of several keys that is there.

        In any spelling. All of them count as used.
        """
        value = None
        for name in names:
            # Keys may be in snake_case (YAML of today) or camelCase.
            for spelling in (name, camel(name)):
                if spelling in self.node.items:
                    # All of them count as used, so none is reported as unknown.
                    self.used.add(spelling)
                    if value is None:
                        value = self.node.items[spelling]
        # A quoted "null" is a text.
        is_null = (
            isinstance(value, Scalar)
            and not value.quoted
            and value.value.lower() in _NULL
        )
        return None if is_null else value

    def has(self, *names: str) -> bool:
        """Return whether one of several keys is there."""
        return self.find(*names) is not None

    def refuse(self, name: str, expected: str, value: Node) -> NoReturn:
        """Raise that a key has a wrong value."""
        hint = ""
        if isinstance(value, Scalar):
            found = f"{value.value!r:.60}"
            # "1,5" and the like get a hint how to write the number.
            if expected == "a number":
                hint = number_slip(value.value)
        elif isinstance(value, Sequence):
            found = "a list"
        else:
            found = "a mapping"
        message = f"{name} of {self.title} is {found}; expected {expected}"
        raise WRONG_VALUE.error(message, value.location, hint)

    def reject(self, rule: Rule, message: str, name: str) -> None:
        """Record that a key has a wrong value.

        The key is unknown.
        """
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
        # A single text in place of a list.
        items = value.items if isinstance(value, Sequence) else [value]
        texts = []
        for item in items[:MAX_TEXTS]:
            if not isinstance(item, Scalar):
                self.refuse(name, "a list of texts", item)
            texts.append(item.value)
        return tuple(texts)

    @reads(False)
    def flag(self, value: Node, name: str) -> bool:
        """Return a truth value."""
        # Truth values as in YAML 1.1.
        word = value.value.lower() if isinstance(value, Scalar) else ""
        if word not in _TRUE and word not in _FALSE:
            self.refuse(name, "true or false", value)
        return word in _TRUE

    def scalar_number(self, name: str, value: Node) -> float:
        """Return the number that a node holds.

        It may be infinite or nan.
        """
        match = None
        if isinstance(value, Scalar):
            match = _NUMBER.fullmatch(value.value)
        if match is None:
            self.refuse(name, "a number", value)
        digits, suffix, sign, word = match.groups()
        # A suffix as in `0.5f`: the number is read, and reported.
        if suffix:
            message = f"{name} of {self.title} is {match.group()}"
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
        """Record numbers that are not finite: the key is unknown.

        They are at the key unless another location is given.
        """
        self.unknown.add(name)
        message = f"{name} of {self.title} is {shown(numbers)}, not finite"
        location = where or self.location(name)
        self.context.found.report(self.context.not_finite, message, location)

    @reads(0)
    def integer(self, value: Node, name: str) -> int | None:
        """Return a whole number."""
        number = self.scalar_number(name, value)
        if not math.isfinite(number):
            self.not_finite(name, number)
            return None
        # `1.0` is whole, `1.5` is not.
        if number % 1 != 0:
            self.refuse(name, "a whole number", value)
        # NumPy's integers have 64 bits.
        if abs(number) >= 2**63:
            self.refuse(name, "a whole number of 64 bits", value)
        return int(number)

    @reads(None)
    def numbers(self, value: Node, name: str) -> list[float]:
        """Return a list of numbers, infinite ones too.

        None where the key is missing.
        """
        if not isinstance(value, Sequence):
            self.refuse(name, "a list of numbers", value)
        # The text of a long list without nodes: one pass for all numbers.
        if value.numbers:
            # Where one of them is no number, its location is found below.
            with suppress(ValueError):
                words = value.numbers.rstrip(", \t\r\n").split(",")
                return list(map(float, words))
        return [self.scalar_number(name, item) for item in value.items]

    def vector(self, *names: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Return as many finite numbers as `default` has."""
        values = self.numbers(*names)
        if values is None:
            return default
        if len(values) != len(default):
            message = (
                f"{names[0]} of {self.title} has {counted(len(values), 'number')}; "
                f"expected {len(default)}"
            )
            # `vector` has found the key, so it is there.
            location = cast("Node", self.find(*names)).location
            self.context.found.refuse(WRONG_VALUE.error(message, location))
            self.unknown.add(names[0])
        elif all(map(math.isfinite, values)):
            return tuple(values)
        else:
            self.not_finite(names[0], *values)
        return default

    def rest(self, also_used: Collection[str] = ()) -> dict[str, object]:
        """Return the keys that were not read, as plain values."""
        # Unknown keys are kept, so a writer can write them again.
        return {
            key: _plain(value, self.context)
            for key, value in self.node.items.items()
            if key not in self.used and key not in also_used
        }

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
        by_spelling: dict[str, str] = {}
        # Both spellings of each name.
        for name in known:
            by_spelling[name] = name
            by_spelling[camel(name)] = name
        items = self.node.items
        # Names that have a value here: none of their keys is missing.
        present = {by_spelling[key] for key in by_spelling.keys() & items.keys()}
        missing = [key for key, name in by_spelling.items() if name not in present]
        # Messages show the spelling that the file has.
        in_camel = any(key != key.lower() for key in self.used & items.keys())
        # Each unused key is compared with all missing ones.
        for key in self._unused(by_spelling)[:MAX_MISSPELT]:
            almost = _nearest(key, missing, similarity)
            if almost is None:
                continue
            name = by_spelling[almost]
            if as_meant and name not in as_meant:
                continue
            shown = camel(name) if in_camel else name
            message = (
                f"the key {key[:60]} of {self.title} is not known: "
                f"did you mean {shown!r}?"
            )
            self.context.found.report(
                MISSPELT,
                message,
                self.location(key),
                data={"key": key, "meant": name},
                fatal=bool(as_meant),
            )
            # Read as meant: the caller reads on as if the key were right.
            if as_meant:
                items[name] = items.pop(key)
                self.node.offsets[name] = self.node.offsets[key]
            else:
                self.unknown.add(name)

    def _unused(self, known: Collection[str]) -> list[str]:
        """Return the keys that are long enough to be a misspelt one."""
        return [
            key
            for key in self.node.offsets
            if key not in self.used and key not in known and len(key) >= MIN_KEY_LENGTH
        ]


def _nearest(key: str, names: list[str], similarity: float) -> str | None:
    """Return the name that is probably meant, by the kind of mistake or similarity."""
    nearest = meant(key, names)
    if nearest:
        # Mistakes of typing first; else a text that is mostly equal.
        return nearest
    similar = difflib.get_close_matches(key, names, 1, similarity)
    return similar[0] if similar else None


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
    if not _takes_one(node, context):
        return None
    has_more = context.plain_left > 0
    if isinstance(node, Sequence):
        if not has_more:
            return []
        return [_plain(item, context) for item in node.items]
    if isinstance(node, Mapping):
        if not has_more:
            return {}
        return {key: _plain(value, context) for key, value in node.items.items()}
    if node.quoted:
        return node.value
    return _plain_scalar(node.value)


def _takes_one(node: Node, context: Context) -> bool:
    """Count a value; return whether there may be so many.

    The first one too many is reported.
    """
    was_full = context.plain_left < 0
    context.plain_left -= 1
    # A long list counts all its numbers, before they are made.
    if isinstance(node, Sequence) and node.numbers.count(",") > context.plain_left:
        context.plain_left = -1
    if context.plain_left >= 0:
        return True
    if not was_full:
        message = (
            f"unknown keys have more than {MAX_PLAIN} values: the rest is left out"
        )
        context.found.report(TOO_LARGE, message, node.location)
    return False


def _plain_scalar(text: str) -> object:
    word = text.lower()
    if word in _NULL:
        return None
    if word in ("true", "false"):
        return word == "true"
    # More digits would not fit into 64 bits.
    if re.fullmatch(r"[-+]?[0-9]{1,18}", text):
        return int(text)
    found = _NUMBER.fullmatch(text)
    # A number with a suffix is a text here: nobody has read it.
    if found is None or found.group(2):
        return text
    return float(found.group(1) or found.group(3) + found.group(4))


def shown(values: Iterable[float]) -> str:
    """Return numbers as they are shown in messages."""
    return " ".join(f"{value:.6g}" for value in values)
