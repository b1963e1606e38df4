"""Classes of defaults: an element has its own attributes, and else those of its class, which has them of the class around it."""

from __future__ import annotations

from dataclasses import replace

from bodymotion.formats.mjcf import rules
from bodymotion.formats.xml_tree import Element

__all__ = ["ORIENTATIONS", "Defaults"]

ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
"""The ways to say an orientation: an element that has one has none of its class."""
_ONE_OF = (ORIENTATIONS, ("fromto", *ORIENTATIONS), ("mass", "density"), ("fullinertia", "diaginertia"))
MOST = 10**6
"""So many attributes classes may have, taken together with those that they inherit."""


class Defaults:
    """The classes of a model, by name; "" is the one that holds where none is named."""

    def __init__(self, root: Element) -> None:
        self._classes: dict[str, dict[str, dict[str, str]]] = {"": {}}
        size = 0
        stack = [(element, "") for element in reversed(list(root.all("default")))]
        while stack:
            element, above = stack.pop()
            name = element.get("class")
            if above == "" and element in root.children:
                # Several top-level sections are one class; its name, if it has one, is another word for it.
                known = self._classes[""]
            else:
                if not name:
                    raise rules.CLASS.error("a <default> in another has no class", element.location)
                known = {tag: dict(values) for tag, values in self._classes[above].items()}
                size += sum(map(len, known.values()))
                if size > MOST:
                    raise rules.TOO_LARGE.error("the classes of <default> hold too much", element.location)
            for child in element.children:
                if child.name != "default":
                    _merge(known.setdefault(child.name, {}), child.attributes)
            own = name or above
            self._classes[own] = known
            stack += [(child, own) for child in reversed(list(element.all("default")))]

    def known(self, element: Element, name: str) -> str:
        """Give the name of a class that an element names; FormatError where there is none."""
        value = element.get(name)
        if value not in self._classes and value != "main":
            raise rules.CLASS.error(f"{name} of <{element.name}> is {value!r:.60}, which is no class", element.location)
        return value if value in self._classes else ""

    def full(self, element: Element, childclass: str = "") -> Element:
        """Give an element with what its class, or the class of the bodies around it, says of such elements."""
        chosen = self.known(element, "class") if element.get("class") else childclass
        inherited = self._classes.get(chosen, {}).get(element.name)
        if not inherited:
            return element
        merged = dict(inherited)
        _merge(merged, element.attributes)
        return replace(element, attributes=merged)


def _merge(into: dict[str, str], given: dict[str, str]) -> None:
    for group in _ONE_OF:
        if any(name in given for name in group):
            for name in group:
                into.pop(name, None)
    into.update(given)
