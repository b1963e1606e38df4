"""Classes of defaults: an element has its own attributes, and else those of its class, which has them of the class around it."""

from __future__ import annotations

from dataclasses import replace

from bodymotion.formats.mjcf import rules
from bodymotion.formats.xml.tree import Element

__all__ = ["ORIENTATIONS", "Defaults"]

ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
"""The ways to say an orientation: an element that has one has none of its class."""
_ONE_OF = (ORIENTATIONS, ("fromto", *ORIENTATIONS), ("mass", "density"), ("fullinertia", "diaginertia"))
MOST = 10**6
"""So many attributes classes may have, taken together with those that they inherit."""


UNKNOWN = "\0"
"""Where a file is checked, this is the class of what names one that is not there."""


class Defaults:
    """The classes of a model, by name; "" is the one that holds where none is named."""

    def __init__(self, root: Element) -> None:
        self._classes: dict[str, dict[str, dict[str, str]]] = {"": {}}
        self._places: dict[str, dict[str, dict[str, Element]]] = {"": {}}
        """The elements that what is in the classes comes from."""
        self._nameless = 0
        self._missing: set[str] = set()
        """Names of classes that are not there. As many of them as classes have no name may be meant by these."""
        size = 0
        stack = [(element, "") for element in reversed(list(root.all("default")))]
        while stack:
            element, above = stack.pop()
            name = element.get("class")
            if above == "" and element in root.children:
                # Several top-level sections are one class; its name, if it has one, is another word for it.
                known, places = self._classes[""], self._places[""]
            else:
                if not name:
                    element.fault(rules.CLASS, "a <default> in another has no class", "class")
                    name = f"{UNKNOWN}{len(self._classes)}"
                    self._nameless += 1
                known = {tag: dict(values) for tag, values in self._classes[above].items()}
                places = {tag: dict(values) for tag, values in self._places[above].items()}
                size += sum(map(len, known.values()))
                if size > MOST:
                    raise rules.TOO_LARGE.error("the classes of <default> hold too much", element.location)
            for child in element.children:
                if child.name != "default":
                    _merge(known.setdefault(child.name, {}), child.attributes)
                    places.setdefault(child.name, {}).update(dict.fromkeys(child.attributes, child))
            own = name or above
            self._classes[own], self._places[own] = known, places
            stack += [(child, own) for child in reversed(list(element.all("default")))]

    def known(self, element: Element, name: str) -> str:
        """Return the name of a class that an element names; FormatError where there is none (`UNKNOWN` where that is noted)."""
        value = element.get(name)
        if value not in self._classes and value != "main":
            if value in self._missing:
                return UNKNOWN
            if len(self._missing) >= self._nameless:
                element.fault(rules.CLASS, f"{name} of <{element.name}> is {value!r:.60}, which is no class", name)
            self._missing.add(value)
            return UNKNOWN
        return value if value in self._classes else ""

    def full(self, element: Element, childclass: str = "") -> Element:
        """Return an element with what its class, or the class of the bodies around it, says of such elements."""
        chosen = self.known(element, "class") if element.get("class") else childclass
        if chosen == UNKNOWN:
            return replace(element, vague=True)
        inherited = self._classes.get(chosen, {}).get(element.name)
        if not inherited:
            return element
        merged = dict(inherited)
        _merge(merged, element.attributes)
        places = self._places[chosen][element.name]
        origins = {name: places[name] for name in merged if name not in element.attributes}
        return replace(element, attributes=merged, inherited=origins)


def _merge(into: dict[str, str], given: dict[str, str]) -> None:
    for group in _ONE_OF:
        if any(name in given for name in group):
            for name in group:
                into.pop(name, None)
    into.update(given)
