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
from typing import TYPE_CHECKING, TypeAlias
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


MAX_SHOWN = 1000  # [bytes] Of a line that are searched before and after a fault.
MAX_BYTES = 10**8
MAX_ELEMENTS = 300_000
MAX_DEPTH = 200
MAX_ENTITY = 12  # [characters] A longer text of an entity is not read: the file must not grow many times.
MAX_CORRECTIONS = (
    10  # How many faults, such as misspelt tags, are read as they are meant.
)
TAG_MISMATCH = expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]
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
    """A file that elements come from.

    Its path, its bytes, and the collector of its problems.

    `incomplete`: a part of the file, or of a file that it includes, could not be read,
    and may hold a name that is not found.
    """

    path: str | None = None
    data: bytes = b""
    found: Diagnostics = field(default_factory=Diagnostics)
    incomplete: bool = False


@dataclass
class Element:
    """An element: its name, attributes in order, text (without that of its children), children, and where it begins.

    Attributes
    ----------
    line, column:
        Of the `<`, from 1; None in a tree that is made to be written.
    document, offset:
        The file, and the byte of the `<` in it; None in a tree that is made to be
        written.
    partial:
        A part of the element is not known, because the file breaks off in it, or its
        class of defaults is missing: what it does not have is no fault.
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
        """Return where an attribute begins, in this element or in the one that it is inherited from.

        Else where the element begins.
        """
        element = self._owner(name)
        found = None
        if name in element.attributes and element.document is not None:
            found = syntax.attribute_position(
                element.document.data, element.offset, element.written.get(name, name)
            )
        if found is None or element.line is None or element.column is None:
            return element.location
        lines_below, columns = found
        if lines_below:
            column = columns
        else:
            column = element.column + columns
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
        return (inner for child in self.all(*names) for inner in child.children)

    def first(self, *path: str) -> Element | None:
        """Return the first element down a path of names, None where there is none."""
        found: Element | None = self
        for name in path:
            if found:
                found = next(
                    (child for child in found.children if child.name == name), None
                )
            else:
                found = None
        return found

    def every(self) -> Iterator[Element]:
        """Return this element and all below it, in order of the file."""
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
        """Record that a rule is broken at this element, or at its attribute `name`.

        A `fatal` problem makes the value unknown and lets `load` fail (see
        `Diagnostics.report`). Of one attribute one is recorded.
        """
        if fatal:
            owner = self._owner(name)
            what = name or message
            known = what in owner.faulty
            owner.faulty |= {what}
            self.faulty |= {what}
            if known:
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
        """Return whether further problems of a rule are only counted, because many were reported."""
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
        if default is not None:
            return tuple(default)
        return (math.nan,) * (
            1 if count is None else count if isinstance(count, int) else count[0]
        )

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
        raise ValueError(
            f"{title} is {_shown(text)}; expected numbers{f' ({slip})' if slip else ''}"
        )
    values = tuple(map(float, words))
    allowed = (count,) if isinstance(count, int) else count
    if allowed is not None and len(values) not in allowed:
        raise ValueError(
            f"{title} is {_shown(text)}: {len(values)} numbers; expected "
            f"{' or '.join(map(str, allowed))}"
        )
    return values


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")


def parse_xml(data: bytes, path: Path | None = None) -> Element:
    """Parse a document that must be well-formed, such as a part of one that was kept as text.

    Raises FormatError when it is not well-formed, declares entities, or is too large or
    nested too deep.
    """
    found = Diagnostics(path)
    return found.result(read_xml(data, path, found)).require()


def read_xml(data: bytes, path: Path | None, found: Diagnostics) -> Element | None:
    """Parse a document from the bytes of the file at `path`.

    Problems go to `found`.

    Returns
    -------
    The root; None where there is none. Of a document that is broken from some point on,
    what stands before it: the elements that were open there are `partial`, and the
    document is `incomplete`.
    """
    document = Document(str(path) if path is not None else None, data, found)
    try:
        if len(data) > MAX_BYTES:
            message = f"the file has {len(data)} bytes; at most {MAX_BYTES} are read"
            raise TOO_LARGE.error(message, Location(document.path))
        return _Builder(document).parse()
    except FormatError as error:
        found.add(error.problem, fatal=True)
        document.incomplete = True
        return None


def _in_utf8(data: bytes, path: str | None) -> tuple[bytes, str | None]:
    """Return a document in UTF-8, and that encoding, where it declares one that expat does not know.

    Else itself, and None.
    """
    # Expat itself reads UTF-16.
    if wide_encoding(data).startswith("utf-32"):
        return in_utf8(data)[0], "utf-8"
    found = _DECLARED.match(data)
    if found:
        name = found.group(1).decode("ascii")
    else:
        name = ""
    plain = re.sub("[._-]", "", name.lower())
    if not name or plain in _OF_EXPAT:
        return data, None
    try:
        text = data.decode("cp932" if plain in ("shiftjis", "sjis", "xsjis") else name)
    except (LookupError, UnicodeError, ValueError) as error:
        raise NOT_XML.error(
            f"its encoding {name!r} cannot be read: {error}"[:300], Location(path, 1, 1)
        ) from error
    return text.encode("utf-8", "surrogatepass"), "utf-8"


class _Builder:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.stack: list[Element]
        self.texts: list[list[str]]
        self.root: Element | None
        self.count: int
        self.corrected: bytes | None

    def parse(self) -> Element:
        self.document.data, encoding = _in_utf8(self.document.data, self.document.path)
        self.stand_in = next(
            (
                sign
                for sign in syntax.STAND_INS
                if sign.encode() not in self.document.data
            ),
            "",
        )
        for number in range(MAX_CORRECTIONS + 1):
            self.stack = []
            self.texts = []
            self.root = None
            self.count = 0
            self.corrected = None
            self.is_corrected = number > 0 and self.stand_in != ""
            self._parse(encoding, number < MAX_CORRECTIONS)
            if self.corrected is None:
                break
            self.document.data = self.corrected
        assert self.root is not None
        return self.root

    def _parse(self, encoding: str | None, may_correct: bool) -> None:
        """Parse the data once.

        Where a tag is misspelt, leave the data with that tag as it is meant in
        `corrected`.
        """
        document = self.document
        self.parser = parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.ordered_attributes = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = self.entity
        parser.UnparsedEntityDeclHandler = self.entity
        parser.AttlistDeclHandler = self.attribute
        try:
            try:
                parser.Parse(document.data, True)
            except expat.ExpatError as error:
                open_tags = [
                    (element.name, element.line or 1) for element in self.stack
                ]
                words, at = syntax.explain_syntax_error(
                    document.data, parser.ErrorByteIndex, error.code, open_tags
                )
                if error.code == TAG_MISMATCH and self.stack and may_correct:
                    inner = self.stack[-1]
                    found = syntax.with_tag_corrected(
                        document.data, parser.ErrorByteIndex, inner.name, inner.offset
                    )
                    if found is not None:
                        self.corrected, at = found
                elif may_correct and (self.stack or self.root is None):
                    where = parser.ErrorByteIndex if at is None else at
                    self.corrected = syntax.with_fault_replaced(
                        document.data, where, error.code, self.stand_in
                    )
                line = error.lineno
                column = error.offset + 1
                if at is not None:
                    line, column = syntax.line_and_column(document.data, at)
                message = words or str(error)
                fault = parser.ErrorByteIndex if at is None else at
                begin = document.data.rfind(b"\n", 0, max(fault, 0)) + 1
                begin = max(begin, fault - MAX_SHOWN)
                shown = document.data[begin : fault + MAX_SHOWN].partition(b"\n")[0]
                unusual = unusual_character(shown.decode("utf-8", "ignore"))
                if unusual and unusual not in message:
                    message = f"{message}: the line has the character {unusual}"
                raise NOT_XML.error(
                    message, Location(document.path, line, column)
                ) from error
        except FormatError as error:
            if (
                self.root is None and self.corrected is None
            ) or error.problem.rule == ENTITY.code:
                raise
            document.found.add(error.problem, fatal=True)
            # What is behind the end of the root is no part of the model.
            document.incomplete = bool(self.stack) and self.corrected is None
            for element in self.stack:
                element.partial = True

    def here(self) -> tuple[int, int]:
        return self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1

    def start(self, name: str, attributes: list[str]) -> None:
        line, column = self.here()
        self.count += 1
        if len(self.stack) >= MAX_DEPTH or self.count > MAX_ELEMENTS:
            limit = f"{MAX_ELEMENTS} elements, or elements nested more than {MAX_DEPTH} deep"
            raise TOO_LARGE.error(
                f"more than {limit}", Location(self.document.path, line, column)
            )
        if self.count % ITEMS_BETWEEN_CLOCKS == 0:
            check_time(Location(self.document.path, line, column))
        if self.is_corrected:
            attributes = [text.replace(self.stand_in, "&") for text in attributes]
        pairs = dict(zip(attributes[::2], attributes[1::2], strict=True))
        at = self.parser.CurrentByteIndex
        document = self.document
        element = Element(
            name, pairs, line=line, column=column, document=document, offset=at
        )
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)
        self.texts.append([])

    def end(self, name: str) -> None:
        self.stack.pop().text = "".join(self.texts.pop())

    def characters(self, text: str) -> None:
        self.texts[-1].append(
            text.replace(self.stand_in, "&") if self.is_corrected else text
        )

    def attribute(
        self, element: str, name: str, kind: str, default: str | None, required: bool
    ) -> None:
        """Refuse a declared default value: each element would get a copy of it."""
        if default is not None:
            line, column = self.here()
            message = (
                f"it declares a default of {name!r:.60} of <{element[:60]}>:"
                " no model with declared defaults is loaded"
            )
            raise ENTITY.error(message, Location(self.document.path, line, column))

    def entity(
        self,
        name: str,
        is_parameter: object = True,
        value: str | None = None,
        *rest: object,
    ) -> None:
        line, column = self.here()
        message = (
            f"it declares the entity {name!r:.60}: no model with entities is loaded"
        )
        error = ENTITY.error(message, Location(self.document.path, line, column))
        if (
            is_parameter
            or value is None
            or len(value) > MAX_ENTITY
            or set("&<%") & set(value)
        ):
            raise error
        # A short text with no other entity in it cannot expand without limit: what else
        # is wrong with the file is found.
        self.document.found.add(error.problem, fatal=True)


def is_xml_text(text: str) -> bool:
    """Return whether XML can hold a text.

    Not control characters, nor unpaired surrogates.
    """
    return _NO_CHARACTER.search(text) is None


def valid_text(text: str) -> str:
    """Return a text with U+FFFD in place of the characters that XML cannot hold."""
    return _NO_CHARACTER.sub("\ufffd", text)


def _escaped(text: str, escapes: dict[int, str]) -> str:
    return valid_text(text).translate(escapes)


def number_text(values: npt.ArrayLike) -> str:
    """Return numbers as text that reads back to the bit, separated by blanks.

    The shortest form, whole numbers without `.0`.
    """
    return " ".join(
        text[:-2] if text.endswith(".0") else text
        for text in map(repr, np.ravel(np.asarray(values, float)).tolist())
    )


def to_xml(root: Element, comment: str = "") -> bytes:
    """Return a tree as an indented document in UTF-8, with a comment above it.

    Characters that XML cannot hold become U+FFFD. The text of an element with children
    is left out, and so is white space.
    """
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    if comment:
        lines.append(
            f"<!-- {_NO_CHARACTER.sub(chr(0xFFFD), comment).replace('--', '- -')} -->"
        )
    return ("\n".join([*lines, *_lines(root, "")]) + "\n").encode()


def _lines(element: Element, indent: str) -> Iterator[str]:
    attributes = "".join(
        f' {key}="{_escaped(value, _IN_ATTRIBUTE)}"'
        for key, value in element.attributes.items()
    )
    start = f"{indent}<{element.name}{attributes}"
    if element.children:
        yield f"{start}>"
        for child in element.children:
            yield from _lines(child, indent + "  ")
        yield f"{indent}</{element.name}>"
    elif element.text and not element.text.isspace():
        yield f"{start}>{_escaped(element.text, _IN_TEXT)}</{element.name}>"
    else:
        yield f"{start}/>"


FieldTable: TypeAlias = Mapping[str, Sequence[str]]
"""By field, where its value may be, the first that exists: `inertial/mass@value` is the attribute of an element below, `@pos` an attribute
of the element itself, `inertial/inertia` an element with all its attributes, `~inertial` an element that is only a location.
"""


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
        for path in self.table.get(str(subject[0]), ()):
            element, name = self._find(path.removeprefix("~"))
            if element is not None and (not name or name in element.attributes):
                if name:
                    return element.location_of(name)
                return element.location
        # A field without a row is the attribute of its name, here or one level below.
        name = str(subject[0])
        around = [
            element
            for element in (self.element, *self.others.values())
            if element is not None
        ]
        near = (
            one
            for element in around
            for one in (element, *element.children)
            if name in one.attributes
        )
        if name in self.table:
            found = None
        else:
            found = next(near, None)
        if found is None:
            return None
        return found.location_of(name)

    def unknown(self) -> Iterable[str]:
        """Return the fields that the file may have and that could not be read."""
        for name_of_field, paths in self.table.items():
            found = [self._find(path) for path in paths if not path.startswith("~")]
            there = [(element, name) for element, name in found if element is not None]
            faulty = any(
                name in element.faulty if name else element.faulty
                for element, name in there
            )
            present = any(
                not name or name in element.attributes for element, name in there
            )
            # Of a partial element the attributes are known, but not all children.
            below = [element for element, _ in there if element is not self.element]
            more = self.element.partial and not all(
                element is self.element for element, _ in found
            )
            if faulty or (
                not present and (more or any(element.partial for element in below))
            ):
                yield name_of_field

    def _find(self, path: str) -> tuple[Element | None, str]:
        way, _, name = path.partition("@")
        first, *rest = way.split("/") if way else [""]
        if not first:
            return self.element, name
        if first in self.others:
            element = self.others[first]
        else:
            element = self.element.first(first)
        return (None if element is None else element.first(*rest)), name
