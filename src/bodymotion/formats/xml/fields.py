"""Which element and attribute of a file give a field of a value: for the locations of findings, and for what is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bodymotion.formats.xml.tree import Element

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Subject

FieldTable: TypeAlias = Mapping[str, Sequence[str]]
"""By field, what may give it, the first that is there: `inertial/mass@value` is the attribute of an element below, `@pos` an
attribute of the
element itself, `inertial/inertia` an element with all its attributes, `~inertial` an element that only stands in as the location.
"""


@dataclass(frozen=True)
class FieldLocator:
    """Finds the fields of one object of a value in its file; a `Locator` of a `SourceMap`.

    Attributes
    ----------
    element:
        The element of the object.
    table:
        What gives its fields.
    others:
        Elements that paths may start from, by the first name of the path, instead of a child of that name; None where there is none.
    """

    element: Element
    table: FieldTable
    others: Mapping[str, Element | None]

    def __call__(self, subject: Subject) -> Location | None:
        """Return where a field is given; None where the file does not have it. The object itself is where its element begins."""
        if not subject:
            return self.element.location
        for path in self.table.get(str(subject[0]), ()):
            element, name = self._find(path.removeprefix("~"))
            if element is not None and (not name or name in element.attributes):
                return element.location_of(name) if name else element.location
        # A field without a row is the attribute of its name, here or one level below.
        name = str(subject[0])
        around = [element for element in (self.element, *self.others.values()) if element is not None]
        near = (one for element in around for one in (element, *element.children) if name in one.attributes)
        found = None if name in self.table else next(near, None)
        return None if found is None else found.location_of(name)

    def unknown(self) -> Iterable[str]:
        """Return the fields that the file may have and that could not be read."""
        for field, paths in self.table.items():
            found = [self._find(path) for path in paths if not path.startswith("~")]
            there = [(element, name) for element, name in found if element is not None]
            faulty = any(name in element.faulty if name else element.faulty for element, name in there)
            given = any(not name or name in element.attributes for element, name in there)
            # Of a partial element the attributes are known, but not all children.
            below = [element for element, _ in there if element is not self.element]
            more = self.element.partial and not all(element is self.element for element, _ in found)
            if faulty or (not given and (more or any(element.partial for element in below))):
                yield field

    def _find(self, path: str) -> tuple[Element | None, str]:
        way, _, name = path.partition("@")
        first, *rest = way.split("/") if way else [""]
        if not first:
            return self.element, name
        element = self.others[first] if first in self.others else self.element.first(first)
        return (None if element is None else element.first(*rest)), name
