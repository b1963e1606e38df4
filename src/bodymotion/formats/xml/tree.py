"""XML as a tree of elements that know where they begin, and such a tree as XML.

The parser is the standard library's expat. It refuses what makes XML dangerous:
documents that declare entities, and documents that are too large or nested too deep. It
opens no other file. Namespaces are not resolved: a name keeps its prefix.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from xml.parsers import expat

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Rule,
    Severity,
    Subject,
    document,
    judgement,
)
from bodymotion.diagnostics.spelling import number_slip, unusual_character
from bodymotion.formats.encodings import in_utf8, wide_encoding
from bodymotion.formats.limits import ITEMS_BETWEEN_CLOCKS, check_time
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.xml import syntax

if TYPE_CHECKING:
    import numpy.typing as npt


NOT_XML = document.error(
    "XML101",
    "The file is well-formed XML.",
    example=('<mass value="5">', '<mass value="5"/>'),
)
ENTITY = judgement.error(
    "XML102",
    "A model declares no entities, and no default values of attributes. They can name "
    "other files, and expand without limit.",
    "write the text in place of its entity, and the attribute in its elements",
    example=('<!DOCTYPE robot [ <!ENTITY m "5"> ]>', "<!DOCTYPE robot>"),
)
WRONG_VALUE = document.error(
    "XML104",
    "An attribute holds the numbers, or one of the words, that its element accepts.",
    example=('<mass value="light"/>', '<mass value="5"/>'),
)
MISSING = document.error(
    "XML105",
    "An element has its required attributes and elements.",
    example=("<mass/>", '<mass value="5"/>'),
)
MISSPELT = document.error(
    "XML106",
    "The names of elements and attributes are spelt as in the format.",
    "correct the name: it is read as the name that it resembles, but other programs "
    "refuse the file or ignore it",
    example=('<origin xzy="0 0 0.3"/>', '<origin xyz="0 0 0.3"/>'),
)
RETIRED = dict.fromkeys(("MJCF115", "URDF105"), MISSPELT.code)


# [bytes] Of a line that are searched before and after a fault.
MAX_SHOWN = 1000
MAX_BYTES = 10**8
MAX_ELEMENTS = 300_000
MAX_DEPTH = 200
_NUMBER = re.compile(
    r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?|[+-]?inf(inity)?",
    re.IGNORECASE | re.ASCII,
)
_DECLARED = re.compile(
    rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']"""
)
_OF_EXPAT = ("utf8", "utf16", "iso88591", "usascii")

_NO_CHARACTER = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_IN_ATTRIBUTE = _IN_TEXT | str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


@dataclass(eq=False)
class Document:
    """A file that elements come from: path, bytes, and the collector of problems."""

    path: str | None = None
    data: bytes = b""
    found: Diagnostics = field(default_factory=Diagnostics)


@dataclass
class Element:
    """An element with its attributes in order, its text and its children.

    Attributes
    ----------
    text:
        Without that of the children.
    line, column:
        Of the `<`, from 1; None in a tree that is made to be written.
    document, offset:
        The file, and the byte of the `<` in it; None in a tree that is made to be
        written.
    partial:
        A part of the element is not known, because a model that it attaches cannot be
        read, or its class of defaults is missing: what it does not have is no fault.
    inherited:
        By name, the elements that give attributes which this one does not have itself
        (defaults of MJCF).
    written:
        By name, how attributes are misspelt in the file.
    faulty:
        Attributes that could not be read (`""` for the text, or the message where a
        problem concerns no single attribute).
    """

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""
    line: int | None = None
    column: int | None = None
    document: Document | None = field(default=None, repr=False, compare=False)
    offset: int = field(default=0, repr=False, compare=False)
    partial: bool = field(default=False, repr=False, compare=False)
    inherited: Mapping[str, Element] | None = field(
        default=None, repr=False, compare=False
    )
    written: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    faulty: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    @property
    def location(self) -> Location:
        """Where the element begins."""
        if self.document is None:
            path = None
        else:
            path = self.document.path
        return Location(path, self.line, self.column, inside=f"<{self.name}>")

    def location_of(self, name: str) -> Location:
        """Return where an attribute begins, in this element or in its defaults.

        Else where the element begins.
        """
        element = self._owner(name)
        position = None
        if name in element.attributes and element.document is not None:
            position = syntax.attribute_position(
                element.document.data, element.offset, element.written.get(name, name)
            )
        if position is None or element.line is None or element.column is None:
            return element.location
        lines_below, column = position
        # In the line of the tag, the column counts from the `<`.
        if not lines_below:
            column += element.column
        return replace(element.location, line=element.line + lines_below, column=column)

    def _owner(self, name: str) -> Element:
        if self.inherited is None:
            return self
        return self.inherited.get(name, self)

    def all(self, *names: str) -> Iterator[Element]:
        """Return the children with one of these names."""
        return (child for child in self.children if child.name in names)

    def inside(self, *names: str) -> Iterator[Element]:
        """Return the children of the children with one of these names."""
        for child in self.all(*names):
            yield from child.children

    def first(self, *path: str) -> Element | None:
        """Return the first element down a path of names.

        None where there is none.
        """
        element: Element | None = self
        for name in path:
            if element is None:
                return None
            element = next(element.all(name), None)
        return element

    def every(self) -> Iterator[Element]:
        """Return this element and all below it, in order of the file."""
        # A stack instead of recursion, whose depth a file could choose.
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack += reversed(element.children)

    def correct(self, misspelt: str, name: str) -> None:
        """Read a misspelt attribute as the one that is meant."""
        self.attributes = {
            name if key == misspelt else key: value
            for key, value in self.attributes.items()
        }
        self.written = {**self.written, name: misspelt}

    def add(
        self, name: str, attributes: dict[str, str] | None = None, text: str = ""
    ) -> Element:
        """Append a new child and return it."""
        self.children.append(Element(name, attributes or {}, text=text))
        return self.children[-1]

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute without the white space around it."""
        return self.attributes.get(name, default).strip()

    def report(
        self,
        rule: Rule,
        message: str,
        name: str = "",
        *,
        hint: str | None = None,
        severity: Severity | None = None,
        data: Mapping[str, object] | None = None,
        fatal: bool = False,
    ) -> None:
        """Record that a rule is broken at this element.

        With `name`, at this attribute.

        A `fatal` problem makes the value unknown and lets `load` fail (see
        `Diagnostics.report`). Of one attribute one is recorded.
        """
        if fatal:
            # An inherited value is faulty in <default>: it is reported once, not for
            # each element.
            owner = self._owner(name)
            fault = name or message
            was_reported = fault in owner.faulty
            owner.faulty |= {fault}
            self.faulty |= {fault}
            if was_reported:
                return
        if self.document is None:
            return
        if self.is_full(rule):
            # Finding the location of each would take long where there are very many.
            self.document.found.count_more(rule)
        else:
            self.document.found.report(
                rule,
                message,
                self.location_of(name),
                hint=hint,
                severity=severity,
                data=data,
                fatal=fatal,
            )

    def lacks(self, rule: Rule, message: str, *, fatal: bool = False) -> None:
        """Record that the element lacks something, unless the file breaks off in it."""
        if not self.partial:
            self.report(rule, message, fatal=fatal)

    def is_full(self, rule: Rule) -> bool:
        """Return whether further problems of a rule are only counted."""
        return self.document is not None and self.document.found.is_full(rule)

    def wrong(self, message: str, name: str = "") -> None:
        """Record XML104 for an attribute: a fatal problem."""
        self.report(WRONG_VALUE, message, name, fatal=True)

    def need(self, name: str) -> str:
        """Return a required attribute.

        "" where it is missing or empty, which is recorded (XML105).
        """
        value = self.get(name)
        if not value:
            self._missing(name)
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """Return the number in an attribute; see `numbers`."""
        return self.numbers(name, 1, None if default is None else (default,))[0]

    def numbers(
        self,
        name: str,
        count: int | Sequence[int] | None = None,
        default: Sequence[float] | None = None,
    ) -> tuple[float, ...]:
        """Return the numbers in an attribute, separated by white space.

        `count` of them, or one of several counts; None for any.

        Infinity is a number here, NaN is not. Where the attribute holds something else
        (XML104), or is missing and there is no default (XML105), the problem is
        recorded and the default, or else NaN, is returned.
        """
        if name in self.attributes:
            try:
                return numbers_in(
                    self.attributes[name], f"{name} of <{self.name}>", count
                )
            except ValueError as error:
                self.wrong(str(error), name)
        elif default is None:
            self._missing(name)
        # The default stands for a faulty value, too; `faulty` marks the difference.
        if default is not None:
            return tuple(default)
        if count is None:
            return (math.nan,)
        return (math.nan,) * (count if isinstance(count, int) else count[0])

    def text_number(self) -> float:
        """Return the number in the element's text.

        NaN where it is something else, which is recorded (XML104).
        """
        try:
            return numbers_in(self.text, f"<{self.name}>", 1)[0]
        except ValueError as error:
            self.wrong(str(error))
            return math.nan

    def _missing(self, name: str) -> None:
        """Record that an attribute is missing."""
        # Asked for twice, reported once.
        if name not in self.faulty:
            self.faulty |= {name}
            self.lacks(MISSING, f"<{self.name}> has no {name}", fatal=True)


def numbers_in(
    text: str, title: str, count: int | Sequence[int] | None = None
) -> tuple[float, ...]:
    """Return the numbers in a text, `count` of them.

    Raises ValueError when it holds something else; the message begins with `title`.
    """
    words = text.split()
    # What only Python accepts (1_000, NaN) is no number.
    if not all(map(_NUMBER.fullmatch, words)):
        slip = number_slip(text)
        message = f"{title} is {_shown(text)}; expected numbers"
        raise ValueError(f"{message} ({slip})" if slip else message)
    values = tuple(map(float, words))
    allowed = (count,) if isinstance(count, int) else count
    if allowed is not None and len(values) not in allowed:
        raise ValueError(
            f"{title} is {_shown(text)}: {len(values)} numbers; expected "
            f"{' or '.join(map(str, allowed))}"
        )
    return values


def _shown(text: str) -> str:
    if len(text) > 60:
        text = f"{text[:60]}…"
    return repr(text)


def parse_xml(data: bytes, path: Path | None = None) -> Element:
    """Parse a well-formed document.

    It may be a part of one that was kept as text.

    Raises FormatError when it is not well-formed, declares entities, or is too large or
    nested too deep.
    """
    found = Diagnostics(path)
    return found.result(read_xml(data, path, found)).require()


def read_xml(data: bytes, path: Path | None, found: Diagnostics) -> Element | None:
    """Parse a document from the bytes of the file at `path`.

    Problems go to `found`. Reading stops at the first fault of syntax.

    Returns
    -------
    The root; None where the document is not well-formed, or refused.
    """
    document = Document(str(path) if path is not None else None, data, found)
    try:
        if len(data) > MAX_BYTES:
            message = f"the file has {len(data)} bytes; at most {MAX_BYTES} are read"
            raise TOO_LARGE.error(message, Location(document.path))
        return _Parser(document).parse()
    except FormatError as error:
        found.add(error.problem, fatal=True)
        return None


class _Decoded(NamedTuple):
    """A document, and the encoding that expat is to use.

    None for the declared one.
    """

    data: bytes
    encoding: str | None = None


def _decode(data: bytes, path: str | None) -> _Decoded:
    """Return a document in an encoding that expat knows.

    UTF-8 in place of others.
    """
    # Expat itself reads UTF-16.
    if wide_encoding(data).startswith("utf-32"):
        return _Decoded(in_utf8(data)[0], "utf-8")
    # expat knows four encodings; the others are decoded here.
    declaration = _DECLARED.match(data)
    if declaration is None:
        return _Decoded(data)
    name = declaration[1].decode("ascii")
    plain = re.sub("[._-]", "", name.lower())
    if plain in _OF_EXPAT:
        return _Decoded(data)
    # Files from Windows in Japanese are called Shift JIS, and are in its extension.
    codec = "cp932" if plain in ("shiftjis", "sjis", "xsjis") else name
    try:
        text = data.decode(codec)
    except (LookupError, UnicodeError, ValueError) as error:
        message = f"its encoding {name!r} cannot be read: {error}"[:300]
        raise NOT_XML.error(message, Location(path, 1, 1)) from error
    return _Decoded(text.encode("utf-8", "surrogatepass"), "utf-8")


class _Parser:
    """Builds the tree of one document from the events of expat."""

    def __init__(self, document: Document) -> None:
        """Connect the handlers of expat, those that refuse entities too."""
        decoded = _decode(document.data, document.path)
        document.data = decoded.data
        self.document = document
        self.open: list[Element] = []
        """The elements that are open, the outermost first."""
        self.texts: list[list[str]] = []
        """The pieces of text of each open element."""
        self.root: Element | None = None
        self.count = 0
        """Of elements so far."""
        self.expat = expat.ParserCreate(decoded.encoding)
        # One event for each text, and attributes in pairs in the order of the file.
        self.expat.buffer_text = True
        self.expat.ordered_attributes = True
        self.expat.StartElementHandler = self.start
        self.expat.EndElementHandler = self.end
        self.expat.CharacterDataHandler = self.characters
        self.expat.EntityDeclHandler = self.refuse_entity
        self.expat.UnparsedEntityDeclHandler = self.refuse_entity
        self.expat.AttlistDeclHandler = self.refuse_default

    def parse(self) -> Element:
        try:
            self.expat.Parse(self.document.data, True)
        except expat.ExpatError as error:
            raise self.explained(error) from error
        assert self.root is not None
        return self.root

    def explained(self, error: expat.ExpatError) -> FormatError:
        """Return the error of a document that is not well-formed, in words."""
        data = self.document.data
        stop = self.expat.ErrorByteIndex
        # The elements that are open where expat stopped say which end tag is missing.
        open_tags = [
            syntax.OpenTag(element.name, element.line or 1) for element in self.open
        ]
        message, position = syntax.explain_syntax_error(
            data, stop, error.code, open_tags
        )
        line = error.lineno
        column = error.offset + 1
        if position is None:
            position = stop
        else:
            line, column = syntax.line_and_column(data, position)
        message = message or str(error)
        # A full-width quote or a hard space in the line is likely the cause.
        begin = data.rfind(b"\n", 0, max(position, 0)) + 1
        begin = max(begin, position - MAX_SHOWN)
        shown = data[begin : position + MAX_SHOWN].partition(b"\n")[0]
        unusual = unusual_character(shown.decode("utf-8", "ignore"))
        if unusual and unusual not in message:
            message = f"{message}: the line has the character {unusual}"
        return NOT_XML.error(message, Location(self.document.path, line, column))

    def here(self) -> Location:
        line = self.expat.CurrentLineNumber
        column = self.expat.CurrentColumnNumber + 1
        return Location(self.document.path, line, column)

    def start(self, name: str, attributes: list[str]) -> None:
        """Add an element to the one that is open; refuse too large documents."""
        self.count += 1
        if len(self.open) >= MAX_DEPTH or self.count > MAX_ELEMENTS:
            message = (
                f"more than {MAX_ELEMENTS} elements, or elements nested more than "
                f"{MAX_DEPTH} deep"
            )
            raise TOO_LARGE.error(message, self.here())
        # Reading the clock takes time: not for each element.
        if self.count % ITEMS_BETWEEN_CLOCKS == 0:
            check_time(self.here())
        element = Element(
            name,
            dict(zip(attributes[::2], attributes[1::2], strict=True)),
            line=self.expat.CurrentLineNumber,
            column=self.expat.CurrentColumnNumber + 1,
            document=self.document,
            offset=self.expat.CurrentByteIndex,
        )
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.texts.append([])

    def end(self, name: str) -> None:
        self.open.pop().text = "".join(self.texts.pop())

    def characters(self, text: str) -> None:
        self.texts[-1].append(text)

    def refuse_default(
        self, element: str, name: str, kind: str, default: str | None, required: bool
    ) -> None:
        """Refuse a declared default value: each element would get a copy of it."""
        if default is not None:
            message = (
                f"it declares a default of {name!r:.60} of <{element[:60]}>:"
                " no model with declared defaults is loaded"
            )
            raise ENTITY.error(message, self.here())

    def refuse_entity(self, name: str, *rest: object) -> None:
        """Refuse an entity: it may name a file, or expand without limit."""
        message = (
            f"it declares the entity {name!r:.60}: no model with entities is loaded"
        )
        raise ENTITY.error(message, self.here())


def is_xml_text(text: str) -> bool:
    """Return whether XML can hold a text.

    Not control characters, nor unpaired surrogates.
    """
    return _NO_CHARACTER.search(text) is None


def valid_text(text: str) -> str:
    """Return a text that XML can hold.

    U+FFFD takes the place of other characters.
    """
    return _NO_CHARACTER.sub("\ufffd", text)


def _escaped(text: str, escapes: dict[int, str]) -> str:
    return valid_text(text).translate(escapes)


def number_text(values: npt.ArrayLike) -> str:
    """Return numbers as text that reads back to the bit, separated by blanks.

    The shortest form, whole numbers without `.0`.
    """
    return " ".join(
        # `repr` of a float is the shortest text that reads back to the bit.
        text[:-2] if text.endswith(".0") else text
        for text in map(repr, np.ravel(np.asarray(values, float)).tolist())
    )


def to_xml(root: Element, comment: str = "") -> bytes:
    """Return a tree as an indented document in UTF-8.

    With a comment above it.

    Characters that XML cannot hold become U+FFFD. The text of an element with children
    is left out, and so is white space.
    """
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    if comment:
        # Two hyphens end a comment.
        lines.append(f"<!-- {valid_text(comment).replace('--', '- -')} -->")
    lines += _lines(root, "")
    return ("\n".join(lines) + "\n").encode()


def one_line(element: Element) -> str:
    """Return an element as XML without line breaks.

    As it is kept in `extra`.
    """
    lines = to_xml(element).decode().splitlines()
    # The first line is the declaration.
    return "".join(line.strip() for line in lines[1:])


def _lines(element: Element, indent: str) -> Iterator[str]:
    """Return the lines of an element and those in it."""
    tag = element.name
    for key, value in element.attributes.items():
        tag += f' {key}="{_escaped(value, _IN_ATTRIBUTE)}"'
    if element.children:
        yield f"{indent}<{tag}>"
        for child in element.children:
            yield from _lines(child, f"{indent}  ")
        yield f"{indent}</{element.name}>"
    elif element.text and not element.text.isspace():
        yield f"{indent}<{tag}>{_escaped(element.text, _IN_TEXT)}</{element.name}>"
    else:
        yield f"{indent}<{tag}/>"


# By field, the paths where its value may be; the first that exists counts.
# `inertial/mass@value` is the attribute of an element below, `@pos` an attribute of the
# element itself, `inertial/inertia` an element with all its attributes, `~inertial` an
# element that is only a location.
FieldTable: TypeAlias = Mapping[str, Sequence[str]]


class _Target(NamedTuple):
    """The element that a path leads to, and the name of an attribute or ""."""

    element: Element | None
    attribute: str

    @property
    def exists(self) -> bool:
        if self.element is None:
            return False
        return not self.attribute or self.attribute in self.element.attributes

    @property
    def location(self) -> Location | None:
        if self.element is None:
            return None
        if not self.attribute:
            return self.element.location
        return self.element.location_of(self.attribute)

    @property
    def is_faulty(self) -> bool:
        if self.element is None:
            return False
        if not self.attribute:
            return bool(self.element.faulty)
        return self.attribute in self.element.faulty


@dataclass(frozen=True)
class FieldLocator:
    """Finds the fields of one object of a value in its file.

    A `Locator` of a `SourceMap`.

    Attributes
    ----------
    element:
        The element of the object.
    table:
        What gives its fields.
    others:
        Elements that paths may start from, by the first name of the path, instead of a
        child of that name; None where there is none.
    """

    element: Element
    table: FieldTable
    others: Mapping[str, Element | None]

    def __call__(self, subject: Subject) -> Location | None:
        """Return where a field is given.

        None where the file does not have it. The object itself is where its element
        begins.
        """
        if not subject:
            return self.element.location
        name = str(subject[0])
        for path in self.table.get(name, ()):
            # Paths with ~ come last: where nothing gives the field, they are its
            # location.
            target = self._find(path.removeprefix("~"))
            if target.exists:
                return target.location
        if name in self.table:
            return None
        # A field without a row is the attribute of its name, here or one level below.
        for element in (self.element, *self.others.values()):
            if element is None:
                continue
            for inner in (element, *element.children):
                if name in inner.attributes:
                    return inner.location_of(name)
        return None

    def unknown(self) -> Iterable[str]:
        """Return the fields that could not be read.

        The file may have them.
        """
        for name, paths in self.table.items():
            targets = [self._find(path) for path in paths if not path.startswith("~")]
            is_faulty = any(target.is_faulty for target in targets)
            exists = any(target.exists for target in targets)
            if is_faulty or (not exists and self._may_be_missing(targets)):
                yield name

    def _may_be_missing(self, targets: Sequence[_Target]) -> bool:
        """Return whether a field may be in an unknown part of the file.

        Of a partial element the attributes are known, but not all children.
        """
        inner = [target for target in targets if target.element is not self.element]
        if inner and self.element.partial:
            return True
        return any(target.element and target.element.partial for target in inner)

    def _find(self, path: str) -> _Target:
        names, _, attribute = path.partition("@")
        if not names:
            return _Target(self.element, attribute)
        first, *rest = names.split("/")
        if first in self.others:
            element = self.others[first]
        else:
            element = self.element.first(first)
        if element is not None:
            element = element.first(*rest)
        return _Target(element, attribute)
