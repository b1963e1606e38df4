"""XML as a light tree of elements that know their line and column, and such a tree as XML.

The parser is the standard library's expat. What makes XML dangerous is left out: a document that declares entities is refused, nothing
outside it is opened, and depth and size are bounded. Namespaces are not resolved: a name is what stands in the file, prefix and all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

import numpy as np

from bodymotion.diagnostics import FormatError, Location, Rule
from bodymotion.formats.text.spelling import number_slip
from bodymotion.formats.xml.faults import stand_in
from bodymotion.formats.xml.places import attribute_place, line_and_column, nearest, what_is_wrong

if TYPE_CHECKING:
    import numpy.typing as npt

    from bodymotion.formats.xml.faults import XmlFaults

__all__ = ["RULES", "Element", "holds", "number_text", "parse_xml", "to_xml"]

UNREADABLE = Rule(
    "XML100",
    "error",
    "The file can be opened, and is not larger than can be held.",
    "judgement",
    example=("a .dae of 200 MB", "a .dae of 20 MB"),
)
NOT_XML = Rule("XML101", "error", "The file is well-formed XML.", example=('<mass value="5">', '<mass value="5"/>'))
ENTITY = Rule(
    "XML102",
    "error",
    "A model declares no entities: they can name other files, and unfold without bound.",
    "judgement",
    "write the text in place of its entity",
    example=('<!DOCTYPE robot [ <!ENTITY m "5"> ]>', "<!DOCTYPE robot>"),
)
TOO_DEEP = Rule(
    "XML103",
    "error",
    "Elements are not nested too deep, and not too many.",
    "judgement",
    example=("elements nested 300 deep", "elements nested 100 deep"),
)
WRONG_VALUE = Rule(
    "XML104",
    "error",
    "An attribute holds the numbers, or the word, that its element can use.",
    example=('<mass value="light"/>', '<mass value="5"/>'),
)
MISSING = Rule(
    "XML105",
    "error",
    "An element has the attributes and elements that it cannot do without.",
    example=("<mass/>", '<mass value="5"/>'),
)

RULES: tuple[Rule, ...] = (UNREADABLE, NOT_XML, ENTITY, TOO_DEEP, WRONG_VALUE, MISSING)

MOST_BYTES = 10**8
MOST_ELEMENTS = 300_000
DEEPEST = 200
MOST_SLIPS = 50
"""So many attributes of an element are looked at for one that is meant by another."""


@dataclass
class Element:
    """An element: its name, attributes in order, text (that between its elements joined) and elements, and where it begins.

    `path`, `line` and `column` are of the `<`, None in a tree that is made to be written. In a tree that is checked, `faults` takes what
    is wrong, and an element is `vague` where what it does not say may be said elsewhere. `inherited` are the elements that attributes come
    from which do not stand in this one. `source` is the document, and `at` where in it the `<` is.
    """

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""
    line: int | None = None
    column: int | None = None
    path: str | None = None
    faults: XmlFaults | None = field(default=None, repr=False, compare=False)
    vague: bool = field(default=False, repr=False, compare=False)
    inherited: Mapping[str, Element] | None = field(default=None, repr=False, compare=False)
    source: bytes = field(default=b"", repr=False, compare=False)
    at: int = field(default=0, repr=False, compare=False)

    @property
    def location(self) -> Location:
        """Where the element begins."""
        return Location(self.path, self.line, self.column, inside=f"<{self.name}>")

    def place(self, name: str) -> Location:
        """Where an attribute begins, in this element or the one that it is inherited from; where there is none, that of the element."""
        element = self if self.inherited is None else self.inherited.get(name, self)
        found = None if name not in element.attributes else attribute_place(element.source, element.at, name)
        if found is None or element.line is None or element.column is None:
            return element.location
        down, right = found
        column = right if down else element.column + right
        return replace(element.location, line=element.line + down, column=column)

    def all(self, *names: str) -> Iterator[Element]:
        """Return the elements in this one that have one of these names."""
        return (child for child in self.children if child.name in names)

    def first(self, *path: str) -> Element | None:
        """Return the first element down a path of names, None where there is none."""
        found: Element | None = self
        for name in path:
            found = next((child for child in found.children if child.name == name), None) if found else None
        return found

    def every(self) -> Iterator[Element]:
        """Return this element and all below it, in order of the file."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack += reversed(element.children)

    def add(self, name: str, attributes: dict[str, str] | None = None, text: str = "") -> Element:
        """Put a new element at the end and give it."""
        self.children.append(Element(name, attributes or {}, text=text))
        return self.children[-1]

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute, without the white space around it."""
        return self.attributes.get(name, default).strip()

    def fault(self, rule: Rule, message: str, name: str = "") -> None:
        """Raise FormatError by a rule at this element, or note the fault where the file is checked; `name` is that of the wrong attribute.

        Who calls it goes on with something else in place of what is wrong.
        """
        error = rule.error(message, self.place(name))
        if self.faults is None:
            raise error
        self.faults.note(error.problem, name or message)

    def need(self, name: str) -> str:
        """Return an attribute that must be there and not empty; FormatError XML105 where it is not (empty text where that is noted)."""
        value = self.get(name)
        if not value and not self.vague:
            self._missing(name)
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """Return the number of an attribute.

        Raises
        ------
        FormatError
            When it is none, or not there and there is no default (XML104, XML105).
        """
        return self.numbers(name, 1, None if default is None else (default,))[0]

    def numbers(
        self, name: str, count: int | Sequence[int] | None = None, default: Sequence[float] | None = None
    ) -> tuple[float, ...]:
        """Return the numbers of an attribute, separated by white space; so many as `count` (or as one of them), None any.

        Infinity is a number here, NaN is not.

        Raises
        ------
        FormatError
            When there are others, or none and there is no default (XML104, XML105).
        """
        if name in self.attributes:
            return self._numbers(self.attributes[name], f"{name} of <{self.name}>", count, name, default)
        if default is None and not self.vague:
            self._missing(name)
        return stand_in(count, default)

    def _missing(self, name: str) -> None:
        """Raise or note that an attribute is missing; where another is as good as it, that is shown."""
        slip = next((other for other in islice(self.attributes, MOST_SLIPS) if nearest(other, (name,))), None)
        if slip is None:
            self.fault(MISSING, f"<{self.name}> has no {name}", name)
        else:
            self.fault(MISSING, f"<{self.name}> has no {name}: is {slip!r:.60} meant for it?", slip)

    def text_numbers(self, count: int | Sequence[int] | None = None) -> tuple[float, ...]:
        """Return the numbers in the element's text, as `numbers` does."""
        return self._numbers(self.text, f"<{self.name}>", count)

    def _numbers(
        self,
        text: str,
        what: str,
        count: int | Sequence[int] | None,
        name: str = "",
        default: Sequence[float] | None = None,
    ) -> tuple[float, ...]:
        try:
            values = tuple(_number(word) for word in text.split())
        except ValueError:
            slip = number_slip(text)
            self.wrong(f"{what} is {_shown(text)}: not numbers{f' ({slip})' if slip else ''}", name)
            return stand_in(count, default)
        allowed = (count,) if isinstance(count, int) else count
        if allowed is not None and len(values) not in allowed:
            wanted = " or ".join(map(str, allowed))
            self.wrong(f"{what} is {_shown(text)}: {len(values)} numbers, not {wanted}", name)
            return stand_in(count, default)
        return values

    def integer(self, name: str, default: int | None = None) -> int:
        """Return the whole number of an attribute; FormatError as for `number`."""
        value = self.number(name, default)
        if not math.isfinite(value) or value != int(value):
            self.wrong(f"{name} of <{self.name}> is {_shown(self.attributes[name])}: not a whole number", name)
            return default or 0
        return int(value)

    def wrong(self, message: str, name: str = "") -> None:
        """Raise or note FormatError XML104 at this element, as `fault` does."""
        self.fault(WRONG_VALUE, message, name)


_PLAIN = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)


def _number(word: str) -> float:
    """Return the number that a word is; what Python alone takes for one (1_000, NaN) is none."""
    if _PLAIN.fullmatch(word) is None:
        raise ValueError(word)
    return float(word)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")


def parse_xml(data: bytes, path: Path | None = None, faults: XmlFaults | None = None) -> Element:
    """Parse a document from the bytes of the file at `path`.

    With `faults`, of a document that is broken from some place on its beginning is given: the elements that were open there are `vague`.

    Raises
    ------
    FormatError
        When it is not well-formed, declares entities, or is too large or nested too deep; with line and column.
    """
    place = str(path) if path is not None else None
    if len(data) > MOST_BYTES:
        raise UNREADABLE.error(f"the file is larger than {MOST_BYTES} bytes", Location(place))
    try:
        return _Builder(place, faults).parse(data, None)
    except _Encoding:
        text = _decoded(data, place)
        return _Builder(place, faults).parse(text.encode("utf-8", "surrogatepass"), "utf-8")


class _Encoding(Exception):  # noqa: N818
    """The encoding is one that expat does not know."""


_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")


def _decoded(data: bytes, place: str | None) -> str:
    """Decode what expat cannot: encodings of several bytes, such as Shift-JIS."""
    found = _DECLARED.search(data[:1000])
    name = found.group(1).decode("ascii") if found else ""
    try:
        return data.decode("cp932" if name.lower().replace("-", "_") in ("shift_jis", "sjis", "x_sjis") else name)
    except (LookupError, UnicodeError, ValueError) as error:
        raise NOT_XML.error(f"its encoding {name!r} cannot be read: {error}"[:300], Location(place, 1, 1)) from error


class _Builder:
    def __init__(self, path: str | None, faults: XmlFaults | None) -> None:
        self.path, self.faults = path, faults
        self.stack: list[Element] = []
        self.texts: list[list[str]] = []
        self.root: Element | None = None
        self.count = 0

    def parse(self, data: bytes, encoding: str | None) -> Element:
        try:
            return self._parse(data, encoding)
        except FormatError as error:
            if self.faults is None or self.root is None or error.problem.rule == ENTITY.code:
                raise
            self.faults.note(error.problem, error.problem.message)
            self.faults.incomplete = True
            for element in self.stack:
                element.vague = True
            return self.root

    def _parse(self, data: bytes, encoding: str | None) -> Element:
        self.data = data
        self.parser = parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.ordered_attributes = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = self.entity
        parser.UnparsedEntityDeclHandler = self.entity
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            if error.code in (expat.errors.codes[expat.errors.XML_ERROR_UNKNOWN_ENCODING],) and encoding is None:
                raise _Encoding from error
            open_tags = [(element.name, element.line or 1) for element in self.stack]
            words, at = what_is_wrong(data, parser.ErrorByteIndex, error.code, open_tags)
            line, column = (error.lineno, error.offset + 1) if at is None else line_and_column(data, at)
            raise NOT_XML.error(words or str(error), Location(self.path, line, column)) from error
        except (LookupError, UnicodeError) as error:
            raise _Encoding from error
        except ValueError as error:
            # expat refuses encodings of several bytes with it; a FormatError of a handler is one, too.
            if hasattr(error, "problem") or encoding is not None:
                raise
            raise _Encoding from error
        assert self.root is not None
        return self.root

    def here(self) -> tuple[int, int]:
        return self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1

    def start(self, name: str, attributes: list[str]) -> None:
        line, column = self.here()
        self.count += 1
        if len(self.stack) >= DEEPEST or self.count > MOST_ELEMENTS:
            words = (
                "too many elements" if self.count > MOST_ELEMENTS else f"more than {DEEPEST} elements in one another"
            )
            raise TOO_DEEP.error(words, Location(self.path, line, column))
        pairs = dict(zip(attributes[::2], attributes[1::2], strict=True))
        element = Element(
            name,
            pairs,
            line=line,
            column=column,
            path=self.path,
            faults=self.faults,
            source=self.data,
            at=self.parser.CurrentByteIndex,
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
        self.texts[-1].append(text)

    def entity(self, name: str, *rest: object) -> None:
        raise self.refused(name)

    def refused(self, name: str) -> FormatError:
        line, column = self.here()
        return ENTITY.error(f"it declares the entity {name!r:.60}", Location(self.path, line, column))


_NO_CHARACTER = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ATTRIBUTE_ESCAPES = {**_ESCAPES, '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_TEXT_SPECIAL = re.compile(r"[&<>\r]")
_ATTRIBUTE_SPECIAL = re.compile(r'[&<>"\t\n\r]')


def holds(text: str) -> bool:
    """Whether XML can hold a text: it has no place for control characters and halves of surrogate pairs."""
    return _NO_CHARACTER.search(text) is None


def _escaped(text: str, attribute: bool) -> str:
    text = _NO_CHARACTER.sub("\ufffd", text)
    if attribute:
        return _ATTRIBUTE_SPECIAL.sub(lambda found: _ATTRIBUTE_ESCAPES[found.group()], text)
    return _TEXT_SPECIAL.sub(lambda found: _ESCAPES.get(found.group(), "&#13;"), text)


def number_text(values: npt.ArrayLike) -> str:
    """Return numbers as text that reads back to the bit, separated by blanks: the shortest form, whole numbers without `.0`."""
    return " ".join(
        text[:-2] if text.endswith(".0") else text for text in map(repr, np.ravel(np.asarray(values, float)).tolist())
    )


def to_xml(root: Element, comment: str = "") -> bytes:
    """Return a tree as an indented document in UTF-8, with a comment above it.

    Characters that XML has no place for (`holds`) become U+FFFD. Of an element with others in it the text is left out,
    and so is one of white space.
    """
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    if comment:
        lines.append(f"<!-- {_NO_CHARACTER.sub(chr(0xFFFD), comment).replace('--', '- -')} -->")
    # Each entry is an element still to be written, or the line that closes one.
    stack: list[tuple[int, Element | str]] = [(0, root)]
    while stack:
        depth, item = stack.pop()
        indent = "  " * depth
        if isinstance(item, str):
            lines.append(f"{indent}</{item}>")
            continue
        attributes = "".join(f' {key}="{_escaped(value, True)}"' for key, value in item.attributes.items())
        text = item.text if not item.children and not item.text.isspace() else ""
        if text:
            lines.append(f"{indent}<{item.name}{attributes}>{_escaped(text, False)}</{item.name}>")
        elif not item.children:
            lines.append(f"{indent}<{item.name}{attributes}/>")
        else:
            lines.append(f"{indent}<{item.name}{attributes}>")
            stack.append((depth, item.name))
            stack += [(depth + 1, child) for child in reversed(item.children)]
    return ("\n".join(lines) + "\n").encode()
